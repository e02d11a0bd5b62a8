// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/stats.h"

#include <math.h>
#include <stdlib.h>

/* Beyond this many values the normal distribution will do. */
#define EXACT_MAX 500

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

/* Counted from 0, the order statistic that the interval begins at: as many of n values as are below
 * it are below the median with a chance of 2.5 % at most, by the binomial distribution. */
static size_t confidence_rank(size_t n)
{
	double chance, sum;
	size_t rank = 0;

	if (n > EXACT_MAX)
		return (size_t)((double)n / 2 - 1.96 * sqrt((double)n) / 2);
	chance = sum = pow(0.5, (double)n);
	while (rank + 1 < (n + 1) / 2) {
		chance *= (double)(n - rank) / (double)(rank + 1);
		sum += chance;
		if (sum > 0.025)
			break;
		rank++;
	}
	return rank;
}

void stats_confidence(struct stats *stats, double *values, size_t n)
{
	const size_t low = confidence_rank(n), high = n - 1 - low;

	qsort(values, n, sizeof(*values), compare);
	stats->median = quantile(values, n, 0.5);
	stats->low = values[low];
	stats->high = values[high];
}

double stats_spread(double median, double low, double high)
{
	return median > 0 ? (high - low) / median : 0;
}
