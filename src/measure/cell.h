/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is sampled: cells of the results table, and the roofline loops beside them. */
#ifndef DMCT_MEASURE_CELL_H
#define DMCT_MEASURE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/backend.h"
#include "measure/check.h"
#include "measure/pool.h"

/* What all cells of a run share. */
struct run {
	struct pool *pool;
	size_t buffer; /* bytes a thread, of the first `walkers`: a roofline has no use for one */
	unsigned walkers;
	struct check_patterns patterns;
	/* Algorithms of which a request was never answered: not tried again. */
	const struct spec_kind *stalled[16];
	size_t n_stalled;
	bool leaked; /* a thread hangs in a cell: nothing that it may touch is freed */
};

struct cell {
	struct run *run;
	size_t result;                 /* its index */
	const struct backend *backend; /* NULL: this program has none (error says why) */
	struct backend_cell what;
	unsigned threads;
	int pattern;                  /* index into run->patterns */
	void **states;                /* one per thread, NULL where not open */
	struct backend_error *errors; /* one per thread, of open() */
	uint64_t calls;               /* of the slice that runs */
	struct backend_error error;   /* code "": none */
	bool checking;                /* the slice that runs is compared */
	bool checked;                 /* the last that it did was, and came out right */
};

struct cells {
	struct cell *list;
	size_t n;
};

/* A roofline loop: a tier's AES units, at one key size. */
struct roof {
	struct run *run;
	const struct engine_tier *tier;
	unsigned key_bits, threads;
	uint64_t calls, *bytes; /* bytes: one per thread */
};

/*
 * The cells of a request, each with its result; what no requested engine implements is there as a
 * failed cell. A request that names something twice gets it once. Returns 0 or -ENOMEM.
 */
int cells_list(struct cells *cells, struct measurement *m, const struct measure_request *request,
	       const struct facts *facts, struct run *run);
void cells_free(struct cells *cells);
/* The most bytes in flight of one thread, and the largest number of threads, among them. */
size_t cells_max_buffer(const struct cells *cells);
unsigned cells_max_threads(const struct cells *cells);

/*
 * Opens; checks, unless the last slice was; closes. A slice of a single call, as the first one
 * always is, is checked as it runs, outside of what is timed. Checked is one of the cell's threads:
 * all run the same code with the same key. Whatever fails of a cell is in cell->error and no error
 * to these; -ENOMEM and -EINTR end the run.
 */
int cell_open(struct cell *cell);
int cell_check(struct cell *cell);
void cell_close(struct cell *cell);

/* A struct sampler_item's slice(), for a struct cell and for a struct roof. -EIO: the cell failed.
 */
int cell_slice(void *arg, uint64_t calls, uint64_t *bytes, uint64_t *ns);
int roof_slice(void *arg, uint64_t calls, uint64_t *bytes, uint64_t *ns);

#endif
