/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking slices of everything in turn, round after round, within a budget of time.
 *
 * Drift and noise then hit all alike. Each round goes in another order, shuffled from a fixed seed,
 * so that nobody is always first after a pause or always follows the same neighbour.
 */
#ifndef DMCT_MEASURE_SAMPLER_H
#define DMCT_MEASURE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/stats.h"

/* Slices that every item gets, however short the time. The first call of one that takes long enough
 * for a slice is one of them. */
#define SAMPLER_MIN_SLICES 3

struct sampler_item {
	/*
	 * Does `calls` (at least 1) of its work: *bytes and *ns get how much and how long. Returns
	 * 0 or -errno; -EINTR and -ENOMEM end the whole sampling, another error this item alone.
	 */
	int (*slice)(void *arg, uint64_t calls, uint64_t *bytes, uint64_t *ns);
	void *arg;

	uint64_t calls;   /* a slice: found at warm-up, and raised where that was disturbed */
	double fastest;   /* nanoseconds a call, at the best so far */
	double wanted;    /* nanoseconds a slice */
	double *samples;  /* bytes per second; sampler_free() releases them */
	unsigned *rounds; /* in which each was taken, ascending: what was taken in the same one is a
			     pair; from 1 on, 0 for a slice of the warm-up */
	size_t n, room;
	unsigned group; /* of a contest: those that stand against each other; 0: nobody */
	bool out;       /* it can no longer win, and gets no more slices */
	int error;      /* of slice() */
	bool settled;   /* the warm-up's slices agreed */
};

struct sampler_options {
	uint64_t deadline;     /* on the clock of now() */
	uint64_t (*now)(void); /* nanoseconds */
	bool after; /* leaves time for a call of each item after the last of its slices, where a
		       slice is more than one */
	int (*stopped)(void); /* whether to give up (-EINTR); may be NULL */
	bool contest;     /* only the winner of each group is of interest: what cannot win any more
			     drops out, and when all that is left is known closely enough, it is over */
	uint64_t reserve; /* nanoseconds after the deadline, which a contest takes where it is in
			     doubt then (sampler_in_doubt()) */
	void (*progress)(void *arg, const char *what); /* called often; may be NULL */
	void *progress_arg;
};

/*
 * Fills the samples of items[0..n). Ends by the deadline (and the reserve), unless that leaves an
 * item with fewer than SAMPLER_MIN_SLICES slices: *cut_short is then true. Returns 0, -ENOMEM or
 * -EINTR.
 */
int sampler_run(struct sampler_item *items, size_t n, const struct sampler_options *options,
		bool *cut_short);
void sampler_free(struct sampler_item *items, size_t n);

/* The statistics of an item's samples (n at least 1), which stay in their order. 0 or -ENOMEM. */
int sampler_stats(struct stats *stats, const struct sampler_item *item);

/*
 * Of a to b, slice by slice of the same round: *ratio is the median with its confidence interval
 * (stats.h), *pairs their number; 0 pairs when there are none. Returns 0 or -ENOMEM.
 */
int sampler_ratio(struct stats *ratio, size_t *pairs, const struct sampler_item *a,
		  const struct sampler_item *b);

/*
 * After a round of a contest: takes out what can no longer win. True when all that is left in every
 * group is known closely enough.
 */
bool sampler_contest(struct sampler_item *items, size_t n);

/*
 * Whether a group's best, by their medians, differs from another of it by enough to matter and by
 * less than the spread can tell.
 */
bool sampler_in_doubt(const struct sampler_item *items, size_t n);

/*
 * How much faster (or, negative, slower) the second half of the run was than the first, as a share:
 * the median over the items with enough slices. 0 when there are none.
 */
double sampler_drift(const struct sampler_item *items, size_t n);

#endif
