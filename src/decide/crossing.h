/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same cipher in this process and through AF_ALG: what the way into the kernel costs. */
#ifndef DMCT_DECIDE_CROSSING_H
#define DMCT_DECIDE_CROSSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/facts.h"
#include "measure/measure.h"

/* Shares of a request's time below this no longer matter. */
#define CROSSING_MATTERS 0.10

/* A way in, of which the kernel's null cipher tells the cost: fixed, and per byte. */
struct crossing_path {
	bool known;
	double switch_ns;        /* a request: the system calls */
	double copy_ns_per_byte; /* with the null cipher's own copy, which others do in passing */
	double error;            /* the fit's median relative distance */
};

struct crossing_row {
	struct spec spec;
	enum engine_direction direction;
	enum measure_path path;
	uint64_t size;
	char tier[32], driver[128]; /* in-process, "" where that was not measured; the kernel's */
	double in_process_ns;       /* a request; 0: not measured */
	double kernel_ns;           /* through AF_ALG */
	double crossing_ns;         /* of it; switch_ns and copy_ns add up to it */
	double switch_ns, copy_ns, share;
};

/* From which measured size on the crossing, and the switch alone, are below CROSSING_MATTERS; 0:
 * at none. */
struct crossing_from {
	struct spec spec;
	enum engine_direction direction;
	enum measure_path path;
	uint64_t crossing, mode_switch;
};

struct crossing {
	bool asked;       /* it was measured for */
	bool available;   /* there are rows */
	bool null_cipher; /* the crossing's cost is the null cipher's; else the difference to the
			     in-process tier that mirrors the kernel's driver */
	char reason[200]; /* why not available, or why not by the null cipher */
	struct crossing_path paths[2];
	struct crossing_row *rows;
	size_t n_rows;
	struct crossing_from *froms;
	size_t n_froms;
};

/* Fills *crossing from measured messages, one at a time on one thread. crossing_free() releases
 * it. Returns 0 or -ENOMEM. */
int crossing_find(struct crossing *crossing, const struct measurement *m,
		  const struct facts *facts);
void crossing_free(struct crossing *crossing);

#endif
