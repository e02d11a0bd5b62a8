// SPDX-License-Identifier: GPL-2.0-or-later
/* What samples say: alone, in pairs, in a contest, over time. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/sampler.h"

/*
 * What cannot win: so many times slower, of quartiles, than the best of its group, after so many
 * slices. The deciding takes a slower cipher for its strength where it costs no more than half the
 * speed, or 2.5 times for one that is strong and rare (decide/policy.c), so that this is far
 * outside of what can matter.
 */
#define HOPELESS        4
#define HOPELESS_SLICES 9
/* Known closely enough: the notch of the median (McGill, Tukey and Larsen 1978) is this share of
 * it, of so many slices. */
#define CLOSE        0.01
#define CLOSE_SLICES 30
/* What a choice would gain by knowing better: as much is said of a tie (decide/explain.c). */
#define MATTERS 1.1
/* Slices in each half of the run for a drift. */
#define DRIFT_SLICES 4

static double *copy(const double *samples, size_t n)
{
	double *values = malloc((n ? n : 1) * sizeof(*values));

	if (values)
		memcpy(values, samples, n * sizeof(*values));
	return values;
}

int sampler_stats(struct stats *stats, const struct sampler_item *item)
{
	double *values = copy(item->samples, item->n);

	if (!values)
		return -ENOMEM;
	stats_of(stats, values, item->n);
	free(values);
	return 0;
}

int sampler_ratio(struct stats *ratio, size_t *pairs, const struct sampler_item *a,
		  const struct sampler_item *b)
{
	double *values = malloc((a->n ? a->n : 1) * sizeof(*values));
	size_t n = 0;

	*pairs = 0;
	if (!values)
		return -ENOMEM;
	for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
		if (!a->rounds[i] || a->rounds[i] < b->rounds[j]) {
			i++;
		} else if (a->rounds[i] > b->rounds[j]) {
			j++;
		} else {
			values[n++] = a->samples[i++] / b->samples[j++];
		}
	}
	if (n)
		stats_confidence(ratio, values, n);
	*pairs = n;
	free(values);
	return 0;
}

/* Half the width of the median's interval. */
static double notch(const struct stats *s, size_t n)
{
	return 1.57 * (s->high - s->low) / sqrt((double)n);
}

static bool known_closely(const struct stats *s, size_t n)
{
	return n >= CLOSE_SLICES && notch(s, n) < CLOSE * s->median;
}

bool sampler_contest(struct sampler_item *items, size_t n)
{
	struct stats *stats = calloc(n, sizeof(*stats));
	bool over = stats && n;

	for (size_t i = 0; stats && i < n; i++)
		if (items[i].n && sampler_stats(&stats[i], &items[i]))
			over = false;
	for (size_t i = 0; stats && i < n; i++) {
		struct sampler_item *item = &items[i];

		if (item->error || item->out || !item->group)
			continue;
		for (size_t j = 0; j < n && item->n >= HOPELESS_SLICES; j++)
			if (items[j].group == item->group && items[j].n >= HOPELESS_SLICES &&
			    stats[i].high * HOPELESS < stats[j].low)
				item->out = true;
		over &= item->out || known_closely(&stats[i], item->n);
	}
	free(stats);
	return over;
}

static bool stands(const struct sampler_item *item)
{
	return item->group && item->n && !item->error && !item->out;
}

/* Whether stats[i], the less, is below stats[j] by what matters, but not surely below. */
static bool doubtful(const struct sampler_item *items, const struct stats *stats, size_t i,
		     size_t j)
{
	const struct stats *less = &stats[i], *more = &stats[j];

	return items[i].group == items[j].group && more->median > MATTERS * less->median &&
	       less->median + notch(less, items[i].n) >= more->median - notch(more, items[j].n);
}

bool sampler_in_doubt(const struct sampler_item *items, size_t n)
{
	struct stats *stats = calloc(n ? n : 1, sizeof(*stats));
	bool doubt = false, known = stats;

	for (size_t i = 0; i < n && known; i++)
		known = !stands(&items[i]) || !sampler_stats(&stats[i], &items[i]);
	for (size_t j = 0; j < n && known && !doubt; j++) {
		bool best = stands(&items[j]);

		for (size_t i = 0; i < n && best; i++)
			best = !stands(&items[i]) || items[i].group != items[j].group ||
			       stats[i].median <= stats[j].median;
		for (size_t i = 0; i < n && best && !doubt; i++)
			doubt = stands(&items[i]) && doubtful(items, stats, i, j);
	}
	free(stats);
	return doubt;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool half_to_half(double *ratio, const struct sampler_item *item)
{
	size_t half = item->n / 2;
	struct stats first, second;
	double *values;

	if (half < DRIFT_SLICES)
		return false;
	values = copy(item->samples, item->n);
	if (!values)
		return false;
	stats_of(&first, values, half);
	stats_of(&second, values + item->n - half, half);
	free(values);
	*ratio = second.median / first.median - 1;
	return true;
}

double sampler_drift(const struct sampler_item *items, size_t n)
{
	double *ratios = malloc((n ? n : 1) * sizeof(*ratios)), drift = 0;
	size_t k = 0;

	for (size_t i = 0; ratios && i < n; i++)
		k += half_to_half(&ratios[k], &items[i]);
	if (k) {
		qsort(ratios, k, sizeof(*ratios), compare);
		drift = k % 2 ? ratios[k / 2] : (ratios[k / 2 - 1] + ratios[k / 2]) / 2;
	}
	free(ratios);
	return drift;
}
