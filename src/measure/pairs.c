// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/pairs.h"

#include <string.h>

#include "measure/cell.h"

/* Pairs from which on their median says more than the ratio of two medians. */
#define PAIRS_MIN 5

static int put_ratio(struct measure_ratio *to, const struct sampler_item *a,
		     const struct sampler_item *b)
{
	struct stats stats = {0, 0, 0};
	size_t pairs = 0;
	int ret;

	ret = sampler_ratio(&stats, &pairs, a, b);
	if (ret || !pairs)
		return ret;
	*to = (struct measure_ratio){stats.median, stats.low, stats.high, (unsigned)pairs};
	return 0;
}

/* The roofline loop that did most of its key size and number of threads, or NULL. */
static const struct sampler_item *best_roof(const struct measure_result *r,
					    const struct roofs *roofs,
					    const struct sampler_item *items, size_t n)
{
	/* The data key's size: XTS has a second key for the tweak. */
	const unsigned bits = r->spec.key_bits / (r->spec.kind->key_halves == 2 ? 2 : 1);
	const struct sampler_item *best = NULL;
	struct stats stats, most = {0, 0, 0};

	for (size_t i = 0; i < n; i++) {
		const struct roof *roof = &roofs->list[i];

		if (roof->key_bits != (bits == 128 ? 128 : 256) ||
		    roof->threads != roofs_threads(roofs, r->threads) || !items[i].n ||
		    sampler_stats(&stats, &items[i]) || stats.median <= most.median)
			continue;
		most = stats;
		best = &items[i];
	}
	return best;
}

static size_t unit(const struct measure_result *r)
{
	return r->spec.sector ? r->spec.sector : r->size;
}

static bool alike(const struct measure_result *a, const struct measure_result *b)
{
	return a->direction == b->direction && a->threads == b->threads && unit(a) == unit(b);
}

/* The fastest cell of the same direction, sector or message size and number of threads: any cipher,
 * any layer. */
static const struct sampler_item *best_cell(const struct measurement *m,
					    const struct measure_result *r,
					    const struct sampler_item *cells, size_t n)
{
	const struct sampler_item *best = NULL;
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cell *cell = cells[i].arg;
		const struct measure_result *other = &m->results[cell->result];

		if (*other->error_code || !alike(other, r) || other->median <= most ||
		    other->spec.kind == &backend_null_kind)
			continue;
		most = other->median;
		best = &cells[i];
	}
	return best;
}

/* The same cell on one thread, or NULL. */
static const struct measure_result *alone(const struct measurement *m,
					  const struct measure_result *r)
{
	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *o = &m->results[i];

		if (o->threads == 1 && !*o->error_code && spec_equal(&o->spec, &r->spec) &&
		    o->engine == r->engine && o->direction == r->direction &&
		    o->shape == r->shape && o->size == r->size && o->depth == r->depth &&
		    o->path == r->path && o->flags == r->flags && !strcmp(o->tier, r->tier) &&
		    o->median > 0)
			return o;
	}
	return NULL;
}

int pairs_fill(struct measurement *m, const struct sampler_item *cells, size_t n,
	       const struct roofs *roofs, const struct sampler_item *roof_items, size_t n_roofs)
{
	const struct sampler_item *best;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		const struct cell *cell = cells[i].arg;
		struct measure_result *r = &m->results[cell->result];
		const struct measure_result *one = r->threads > 1 ? alone(m, r) : NULL;

		if (*r->error_code)
			continue;
		best = engine_supports(&r->spec) ? best_roof(r, roofs, roof_items, n_roofs) : NULL;
		if (best)
			ret = put_ratio(&r->to_roofline, &cells[i], best);
		if (r->to_roofline.pairs >= PAIRS_MIN)
			r->roofline_share = r->to_roofline.ratio;
		best = ret ? NULL : best_cell(m, r, cells, n);
		if (best)
			ret = put_ratio(&r->to_best, &cells[i], best);
		r->scaling = one ? r->median / one->median : 0;
	}
	return ret;
}
