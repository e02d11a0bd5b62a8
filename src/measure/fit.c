// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX (FIT_POINTS_MAX * (FIT_POINTS_MAX - 1) / 2)

struct weighted {
	double value, weight;
};

static int compare(const void *a, const void *b)
{
	double x = ((const struct weighted *)a)->value, y = ((const struct weighted *)b)->value;

	return (x > y) - (x < y);
}

/* The value below which a share q of the weight lies; the mean of two where it lies between them.
 */
static double quantile(const struct weighted *sorted, size_t n, double q)
{
	double sum = 0, at = 0;

	for (size_t i = 0; i < n; i++)
		sum += sorted[i].weight;
	for (size_t i = 0; i + 1 < n; i++) {
		at += sorted[i].weight;
		if (fabs(at - q * sum) <= 1e-12 * sum)
			return (sorted[i].value + sorted[i + 1].value) / 2;
		if (at > q * sum)
			return sorted[i].value;
	}
	return sorted[n - 1].value;
}

static void find_error(struct fit_line *line, const double *x, const double *y, size_t n)
{
	struct weighted errors[FIT_POINTS_MAX];

	for (size_t i = 0; i < n; i++) {
		errors[i].value = fabs(line->fixed + line->slope * x[i] - y[i]) / y[i];
		errors[i].weight = 1;
	}
	qsort(errors, n, sizeof(*errors), compare);
	line->error = quantile(errors, n, 0.5);
	line->worst = errors[n - 1].value;
}

bool fit_line(struct fit_line *line, const double *x, const double *y, size_t n)
{
	struct weighted slopes[PAIRS_MAX], rest[FIT_POINTS_MAX];
	size_t k = 0;

	if (n < 2 || n > FIT_POINTS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			if (x[i] == x[j])
				continue;
			slopes[k].value = (y[j] - y[i]) / (x[j] - x[i]);
			slopes[k++].weight = fabs(x[j] - x[i]);
		}
	}
	if (!k)
		return false;
	qsort(slopes, k, sizeof(*slopes), compare);
	line->slope = quantile(slopes, k, 0.5);
	line->slope_low = quantile(slopes, k, 0.25);
	line->slope_high = quantile(slopes, k, 0.75);
	for (size_t i = 0; i < n; i++) {
		rest[i].value = y[i] - line->slope * x[i];
		rest[i].weight = 1 / y[i];
	}
	qsort(rest, n, sizeof(*rest), compare);
	line->fixed = quantile(rest, n, 0.5);
	find_error(line, x, y, n);
	return true;
}

static bool has_time(const struct measure_result *r)
{
	return r->engine == MEASURE_AFALG && !*r->error_code && r->checked && r->median > 0 &&
	       r->size >= FIT_SIZE_MIN && r->size <= FIT_SIZE_MAX;
}

/* Whether two cells are points of the same line. */
static bool same_line(const struct measure_result *a, const struct measure_result *b)
{
	return a->spec.kind == b->spec.kind && a->spec.key_bits == b->spec.key_bits &&
	       a->direction == b->direction && a->path == b->path && a->depth == b->depth &&
	       a->threads == b->threads;
}

/* The fit of the line that result `first` begins; false when there are too few sizes. */
static bool fit_from(struct measure_fit *fit, const struct measurement *m, size_t first)
{
	const struct measure_result *r = &m->results[first];
	double x[FIT_POINTS_MAX], y[FIT_POINTS_MAX];
	struct fit_line line;
	size_t n = 0;

	for (size_t i = first; i < m->n_results && n < FIT_POINTS_MAX; i++) {
		if (!has_time(&m->results[i]) || !same_line(&m->results[i], r))
			continue;
		x[n] = (double)m->results[i].size;
		/* Of all threads and all requests in flight together, one by one. */
		y[n] = x[n] / m->results[i].median * 1e9;
		n++;
	}
	if (n < FIT_POINTS_MIN || !fit_line(&line, x, y, n))
		return false;
	*fit = (struct measure_fit){.spec = r->spec,
				    .direction = r->direction,
				    .path = r->path,
				    .depth = r->depth,
				    .threads = r->threads,
				    .points = (unsigned)n,
				    .fixed_ns = line.fixed,
				    .per_byte_ns = line.slope,
				    .per_byte_low = line.slope_low,
				    .per_byte_high = line.slope_high,
				    .error = line.error,
				    .worst = line.worst};
	fit->spec.sector = 0;
	memcpy(fit->tier, r->tier, sizeof(fit->tier));
	return true;
}

int fit_results(struct measurement *m)
{
	struct measure_fit fit, *grown;
	bool begun;

	for (size_t i = 0; i < m->n_results; i++) {
		begun = !has_time(&m->results[i]);
		for (size_t j = 0; j < i && !begun; j++)
			begun = has_time(&m->results[j]) &&
				same_line(&m->results[j], &m->results[i]);
		if (begun || !fit_from(&fit, m, i))
			continue;
		grown = realloc(m->fits, (m->n_fits + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->fits = grown;
		grown[m->n_fits++] = fit;
	}
	return 0;
}
