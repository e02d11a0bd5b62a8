/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two measurements side by side: cell by cell, and whether a difference is one. Pure. */
#ifndef DMCT_MEASURE_COMPARE_H
#define DMCT_MEASURE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/measure.h"

enum compare_verdict {
	COMPARE_FASTER,     /* the other than the first, surely */
	COMPARE_SLOWER,     /* surely */
	COMPARE_UNCLEAR,    /* the interval holds 1, or the spread is not known */
	COMPARE_LOST,       /* measured in the first; could not be in the other */
	COMPARE_GAINED,     /* the other way round */
	COMPARE_ONLY_FIRST, /* no such cell in the other */
	COMPARE_ONLY_OTHER,
	COMPARE_VERDICTS
};

struct compare_cell {
	const struct measure_result *first, *other; /* NULL: there is none */
	enum compare_verdict verdict;
	/* Where both were measured: other / first, and the interval that it lies in with 95 %
	 * confidence; low and high 0 when the spread is not known. */
	double ratio, low, high;
};

struct comparison {
	struct compare_cell *cells; /* in the first's order, then what only the other has */
	size_t n;
	size_t count[COMPARE_VERDICTS];
	double median; /* ratio; 0 when no cell was measured in both */
};

/*
 * Marks figures whose output was not checked as failed ("unchecked"), as deciding passes them over:
 * what came out may be anything. Returns how many there are.
 */
size_t compare_drop_unchecked(struct measurement *m);

/*
 * Cells are the same when spec, engine, shape, direction, size, threads, flags, path and depth are,
 * and the tier, too; where only one is left of each side that differ in that alone (another driver,
 * another OpenSSL), these are compared. Cells that failed on both sides are left out. Points into
 * both measurements. Returns 0 or -ENOMEM.
 */
int compare_make(struct comparison *comparison, const struct measurement *first,
		 const struct measurement *other);
void compare_free(struct comparison *comparison);

/*
 * The interval of a ratio of medians. Of each, the standard error as the quartiles and the number
 * of slices give it (McGill, Tukey & Larsen 1978: 0.93 times their distance over the square root of
 * the number), and COMPARE_DRIFT for what two runs of the same differ by although each is steady:
 * clocks, heat, where memory lies. Slices of a run that was disturbed (compare_disturbed()) were
 * all hit by the same, and count as one. False when a spread is not known.
 */
#define COMPARE_DRIFT 0.01
bool compare_interval(const struct measure_result *first, bool first_disturbed,
		      const struct measure_result *other, bool other_disturbed, double *low,
		      double *high);

/* Whether its conditions say that something else took time meanwhile, or that it was not steady:
 * busy, steal, throttled, noisy, drift, hot. */
bool compare_disturbed(const struct measurement *m);

/*
 * Whether a cell is a regression: lost, or its ratio below `limit` and surely below 1 (a limit
 * above 1: surely below that).
 */
bool compare_below(const struct compare_cell *cell, double limit);

/* "faster", "slower", "cannot-tell", "lost", "gained", "only-first", "only-other" */
const char *compare_verdict_name(enum compare_verdict verdict);

#endif
