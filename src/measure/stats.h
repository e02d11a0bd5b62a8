/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The middle of a set of slices and how wide it is. Order statistics, since a slice that was
 * interrupted is slow without limit and would drag a mean along. */
#ifndef DMCT_MEASURE_STATS_H
#define DMCT_MEASURE_STATS_H

#include <stddef.h>

struct stats {
	double median, low, high; /* low and high: the quartiles */
};

/*
 * Sorts values[] (n at least 1, all finite) and fills *stats. Quantiles between two values are
 * interpolated: Hyndman & Fan 1996, definition 7.
 */
void stats_of(struct stats *stats, double *values, size_t n);

/*
 * Sorts values[] and fills *stats with the median and a confidence interval of it, of at least 95 %
 * where there are six values or more (of fewer all): order statistics, which assume no distribution
 * (Conover, Practical Nonparametric Statistics).
 */
void stats_confidence(struct stats *stats, double *values, size_t n);

/* (high - low) / median; 0 when the median is. */
double stats_spread(double median, double low, double high);

#endif
