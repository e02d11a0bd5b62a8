/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From bench's options to what is to be measured. */
#ifndef DMCT_CMD_BENCH_H
#define DMCT_CMD_BENCH_H

#include "facts/facts.h"
#include "measure/measure.h"

/* As they stand on the command line; NULL: not given. */
struct bench_options {
	const char *engine, *sector_size, *size, *threads, *depth, *flags, *path, *tier, *shape,
		*save, *plot, *device;
	const char *experiment;
	double seconds;
	double device_speed; /* MB/s; 0: not given */
	uint64_t buffer;
	bool size_of_experiment; /* size is the experiment's, and not the user's */
};

#define BENCH_SECONDS_MIN 0.01
#define BENCH_SPECS_MAX   64
#define BENCH_SECTORS_MAX 4
#define BENCH_SIZES_MAX   64
#define BENCH_THREADS_MAX 64
#define BENCH_DEPTHS_MAX  16
#define BENCH_TIERS_MAX   16
#define BENCH_FLAGS_MAX   32

/* A request and the arrays that it points into. */
struct bench_plan {
	struct measure_request request;
	struct spec specs[BENCH_SPECS_MAX];
	unsigned sectors[BENCH_SECTORS_MAX];
	uint64_t sizes[BENCH_SIZES_MAX];
	unsigned threads[BENCH_THREADS_MAX];
	unsigned depths[BENCH_DEPTHS_MAX];
	const struct engine_tier *tiers[BENCH_TIERS_MAX];
	unsigned flags[BENCH_FLAGS_MAX];
};

/* The option of the dm engine alone, --flags. As bench_plan(). */
int bench_plan_dm(struct bench_plan *plan, const struct bench_options *options,
		  const struct facts *facts, struct status *st);
/*
 * With --experiment, sets what it stands for: options and specs that are not given. specs[] may
 * then be the experiment's own, static. 0, or -EINVAL with *st for a name that is none.
 */
int bench_experiment(struct bench_options *options, char ***specs, int *n_specs, struct status *st);
/* The command line without --experiment that does the same, for the caller to free; NULL when out
 * of memory. */
char *bench_experiment_words(const struct bench_options *options, char **specs, int n_specs);

/* Fills *plan, which is zeroed. -EINVAL or another -errno with *st: what was wrong, and what is
 * allowed. */
int bench_plan(struct bench_plan *plan, const struct bench_options *options, char **specs,
	       int n_specs, const struct facts *facts, struct status *st);

#endif
