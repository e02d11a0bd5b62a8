/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was going on beside the measuring, and makes its numbers mean less. */
#ifndef DMCT_MEASURE_CONDITIONS_H
#define DMCT_MEASURE_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/measure.h"

/* What the sampling knows of itself. */
struct conditions_run {
	double cut_short;        /* the seconds that were too short, or 0 */
	double drift;            /* sampler_drift() */
	size_t cells, unsettled; /* unsettled: whose slices still differed after the warm-up */
};

/* The machine's counters at one moment; -1 where not known. */
struct conditions_mark {
	int64_t steal, busy; /* ticks of all CPUs: taken by the hypervisor; used by anyone */
	int64_t own;         /* ticks used by this process */
	int64_t throttled;   /* times that a cgroup's quota held this process up */
	int64_t hot;         /* times that a CPU was slowed down for its heat */
	uint64_t ns;
};

void conditions_mark(struct conditions_mark *mark);

/*
 * Adds to m->conditions what holds between two marks, of the machine (facts) and of the results.
 * Returns 0 or -ENOMEM.
 */
int conditions_find(struct measurement *m, const struct facts *facts,
		    const struct conditions_mark *before, const struct conditions_mark *after,
		    const struct conditions_run *run);

/*
 * Whether CPUs share AES units, by the AES rounds (in bytes per second) of one thread and of
 * `threads` at once: how many times one thread's the latter are, or 0 when they are as many as they
 * should be, when it is not known, or when there are fewer CPUs than threads to run them.
 */
double conditions_shared_units(double one, double all, unsigned threads,
			       const struct cpu_facts *cpu);

#endif
