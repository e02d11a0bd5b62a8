// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/gcm.h"
#include "measure/roofline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/stats.h"

static int add(struct roofs *roofs, struct roof *roof)
{
	struct roof *grown;

	for (size_t i = 0; i < roofs->n; i++)
		if (engine_tier_bits(roofs->list[i].tier) == engine_tier_bits(roof->tier) &&
		    roofs->list[i].key_bits == roof->key_bits &&
		    roofs->list[i].threads == roof->threads)
			return 0;
	grown = realloc(roofs->list, (roofs->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	roofs->list = grown;
	roof->bytes = calloc(roof->threads, sizeof(*roof->bytes));
	if (!roof->bytes)
		return -ENOMEM;
	grown[roofs->n++] = *roof;
	return 0;
}

/* Both key sizes. */
static int add_tier(struct roofs *roofs, const struct engine_tier *tier, unsigned threads,
		    struct run *run)
{
	struct roof roof = {.run = run, .tier = tier, .key_bits = 128, .threads = threads};
	int ret;

	if (threads > pool_threads(run->pool))
		return 0;
	ret = add(roofs, &roof);
	roof.key_bits = 256;
	return ret ? ret : add(roofs, &roof);
}

unsigned roofs_threads(const struct roofs *roofs, unsigned threads)
{
	return roofs->cpus && threads > roofs->cpus ? roofs->cpus : threads;
}

int roofs_list(struct roofs *roofs, const struct measure_request *request,
	       const struct facts *facts, struct run *run)
{
	bool widest = true;
	int ret = 0;

	roofs->cpus = facts->cpu.allowed;
	for (const struct engine_tier *const *t = engine_tiers; *t && !ret; t++) {
		if (!engine_tier_bits(*t) || !engine_tier_usable(*t, &facts->cpu, NULL, 0))
			continue;
		for (size_t i = 0; i < request->n_threads && !ret; i++)
			ret = add_tier(roofs, *t, roofs_threads(roofs, request->threads[i]), run);
		if (widest && request->roof_threads > 1) {
			ret = ret ? ret : add_tier(roofs, *t, 1, run);
			ret = ret ? ret : add_tier(roofs, *t, request->roof_threads, run);
		}
		widest = false;
	}
	return ret;
}

void roofs_free(struct roofs *roofs)
{
	for (size_t i = 0; i < roofs->n; i++)
		free(roofs->list[i].bytes);
	free(roofs->list);
	roofs->list = NULL;
	roofs->n = 0;
}

static struct measure_roofline *row(struct measurement *m, const struct roof *roof)
{
	struct measure_roofline *grown;
	unsigned bits = engine_tier_bits(roof->tier);

	for (size_t i = 0; i < m->n_rooflines; i++)
		if (m->rooflines[i].bits == bits && m->rooflines[i].threads == roof->threads)
			return &m->rooflines[i];
	grown = realloc(m->rooflines, (m->n_rooflines + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	m->rooflines = grown;
	grown += m->n_rooflines++;
	memset(grown, 0, sizeof(*grown));
	grown->bits = bits;
	grown->threads = roof->threads;
	return grown;
}

/* Of the widest that is fastest; 0: none. */
static double best(const struct measurement *m, const struct roofs *roofs,
		   const struct measure_result *r)
{
	/* The data key's size: XTS has a second key for the tweak. */
	unsigned bits = r->spec.key_bits / (r->spec.kind->key_halves == 2 ? 2 : 1);
	double most = 0;

	for (size_t i = 0; i < m->n_rooflines; i++) {
		double speed = bits == 128 ? m->rooflines[i].aes128 : m->rooflines[i].aes256;

		if (m->rooflines[i].threads == roofs_threads(roofs, r->threads) && speed > most)
			most = speed;
	}
	return most;
}

int roofs_fill(struct measurement *m, const struct roofs *roofs, struct sampler_item *items,
	       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct roof *roof = &roofs->list[i];
		struct measure_roofline *roofline;
		struct stats stats;

		if (!items[i].n)
			continue;
		roofline = row(m, roof);
		if (!roofline)
			return -ENOMEM;
		if (sampler_stats(&stats, &items[i]))
			return -ENOMEM;
		*(roof->key_bits == 128 ? &roofline->aes128 : &roofline->aes256) = stats.median;
	}
	for (size_t i = 0; i < m->n_results; i++) {
		struct measure_result *r = &m->results[i];
		/* In GCM, too, each block goes through AES once. */
		const bool aes = engine_supports(&r->spec) || engine_gcm_supports(&r->spec);
		double most = aes ? best(m, roofs, r) : 0;

		if (!*r->error_code && most > 0 && !(r->roofline_share > 0))
			r->roofline_share = r->median / most;
	}
	return 0;
}
