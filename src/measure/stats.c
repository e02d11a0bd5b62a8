// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/stats.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

void stats_of(struct stats *stats, double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	stats->median = quantile(values, n, 0.5);
	stats->low = quantile(values, n, 0.25);
	stats->high = quantile(values, n, 0.75);
}

double stats_spread(double median, double low, double high)
{
	return median > 0 ? (high - low) / median : 0;
}
