// SPDX-License-Identifier: GPL-2.0-or-later
/* From measured cells to the throughput to expect of a volume. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/internal.h"

/* The size of a call that stands for streaming in the cpu engine. */
#define USUAL_CALL 65536
/* Of a median, what a spread that reaches down to nothing leaves. */
#define LEAST_LOW (1.0 / 1000)
/* The shortest message that tells what bytes take, apart from what a request takes. */
#define STREAM_CALL 16384

static int tier_rank(const char *name)
{
	for (int i = 0; engine_tiers[i]; i++)
		if (!strcmp(engine_tier_name(engine_tiers[i]), name))
			return i;
	return -1;
}

const char *decide_mirror_tier(const struct kernel_facts *kernel, const char *kernel_name)
{
	/* Best first; the first one that is compiled in stands for the driver. None is faster than
	 * the driver, but for one in fixed time. Table look-ups stand for
	 * whatever does without AES instructions: bitslicing on the baseline's vectors outruns
	 * generic C, except where blocks wait for each other. */
	static const char *const vaes512[] = {"vaes512", "vaes256", "aesni", "portable", NULL};
	static const char *const vaes256[] = {"vaes256", "aesni", "portable", NULL};
	static const char *const aesni[] = {"aesni", "portable", NULL};
	/* No tier uses other architectures' instructions: one that does without is slower. */
	static const char *const others[] = {"portable", NULL};
	static const char *const generic[] = {"table", NULL};
	const char *const *wanted = generic;
	const char *driver = NULL;

	switch (kernel_aes_kind(kernel, kernel_name, &driver)) {
	case KERNEL_AES_VAES512:
		wanted = vaes512;
		break;
	case KERNEL_AES_VAES256:
		wanted = vaes256;
		break;
	case KERNEL_AES_CPU:
		wanted = strstr(driver, "aesni") ? aesni : others;
		break;
	case KERNEL_AES_UNKNOWN:
	case KERNEL_AES_GENERIC:
	case KERNEL_AES_FIXED:
	case KERNEL_AES_SIMD:
		break;
	}
	while (wanted[1] && !engine_tier_find(*wanted))
		wanted++;
	return *wanted;
}

/* aes-fixed-time takes 2.4 times as long as table look-ups to encrypt and 4 times to decrypt (6.1
 * on Golden Cove), and no tier does as it does: an order of speeds is all that there is then. */
bool decide_mirror_is_faster(const struct kernel_facts *kernel, const char *kernel_name)
{
	return kernel_aes_kind(kernel, kernel_name, NULL) == KERNEL_AES_FIXED;
}

static enum measure_engine basis_engine(enum plan_basis basis)
{
	return basis == PLAN_BASIS_DM      ? MEASURE_DM
	       : basis == PLAN_BASIS_AFALG ? MEASURE_AFALG
					   : MEASURE_CPU;
}

/* A kernel that uses AES instructions is not described by a tier that does without. */
static bool comparable(const struct decide_input *input, const struct measure_result *r)
{
	const struct engine_tier *tier = engine_tier_find(r->tier);

	return r->engine != MEASURE_CPU || !tier || engine_tier_bits(tier) ||
	       kernel_aes_kind(&input->facts->kernel, r->spec.kind->kernel, NULL) < KERNEL_AES_CPU;
}

static bool usable(const struct measure_result *r)
{
	/* Through AF_ALG dm-crypt's requests are one at a time; which way in is faster says nothing
	 * of dm-crypt, which has none. */
	bool own_way = r->engine == MEASURE_AFALG && (r->depth > 1 || r->path != MEASURE_COPY);

	return !r->error_code[0] && r->checked && r->median > 0 && r->shape == ENGINE_SERIAL &&
	       !own_way;
}

/* The sector size of a cell: said by its spec, or, for one request a sector, by the request's size.
 */
static unsigned cell_sector(const struct measure_result *r)
{
	return r->spec.sector ? r->spec.sector : spec_sector_valid(r->size) ? r->size : 0;
}

/*
 * Whether cell a stands for dm-crypt better than cell b: the tier that mirrors the kernel's driver
 * (else the next slower, else, last, a faster one), then fewer requests in flight, then a call
 * nearer to the usual size. Ties keep the earlier one, so that the answer does not depend on more
 * than the cells' own contents when they are all different.
 */
static bool better_cell(const struct measure_result *a, const struct measure_result *b, int mirror)
{
	uint64_t da, db;

	if (a->engine == MEASURE_CPU) {
		int ra = tier_rank(a->tier), rb = tier_rank(b->tier);

		if ((ra >= mirror) != (rb >= mirror))
			return ra >= mirror;
		if (ra != rb)
			return (ra < rb) == (ra >= mirror);
	}
	if (a->depth != b->depth)
		return a->depth < b->depth;
	da = a->size > USUAL_CALL ? a->size - USUAL_CALL : USUAL_CALL - a->size;
	db = b->size > USUAL_CALL ? b->size - USUAL_CALL : USUAL_CALL - b->size;
	return a->engine != MEASURE_AFALG && da < db;
}

const struct measure_result *speed_cell(const struct decide_input *input,
					const struct ground *ground, const struct spec *spec,
					enum engine_direction direction)
{
	const char *tier = decide_mirror_tier(&input->facts->kernel, spec->kind->kernel);
	const struct measurement *m = input->measurement;
	const struct measure_result *best = NULL;
	int mirror = tier_rank(tier);

	for (size_t i = 0; m && i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (r->engine != basis_engine(ground->basis) || r->threads != ground->threads ||
		    r->direction != direction || r->spec.kind != spec->kind ||
		    r->spec.key_bits != spec->key_bits || cell_sector(r) != spec->sector ||
		    r->flags || !usable(r) || !comparable(input, r))
			continue;
		if (!best || better_cell(r, best, mirror))
			best = r;
	}
	return best;
}

/* The longest message with one IV of that cipher, in that direction and layer; or NULL. */
static const struct measure_result *stream_cell(const struct decide_input *input,
						const struct ground *ground,
						const struct spec *spec,
						enum engine_direction direction)
{
	const struct measurement *m = input->measurement;
	const struct measure_result *best = NULL;

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (r->engine == basis_engine(ground->basis) && r->threads == ground->threads &&
		    r->direction == direction && r->spec.kind == spec->kind &&
		    r->spec.key_bits == spec->key_bits && !r->spec.sector &&
		    r->size >= STREAM_CALL && usable(r) && (!best || r->size > best->size))
			best = r;
	}
	return best;
}

/*
 * How far the median of a cell can be trusted: 1.57 times the distance between the quartiles over
 * the root of the number of slices, the notch at which two medians differ (McGill, Tukey and Larsen
 * 1978, "Variations of box plots"); the quartiles themselves where nobody counted the slices.
 */
static void trusted_interval(const struct measure_result *r, double *low, double *high)
{
	double notch = r->slices ? 1.57 * (r->high - r->low) / sqrt(r->slices) : 0;

	*low = r->slices ? r->median - notch : r->low;
	*high = r->slices ? r->median + notch : r->high;
	if (*low > r->median)
		*low = r->median;
	/* Wider than the figure itself: as low as the quartile, or as good as nothing is known. */
	if (!(*low > 0))
		*low = r->low > 0 && r->low < r->median ? r->low : r->median * LEAST_LOW;
	if (*high < r->median)
		*high = r->median;
}

/* What the model makes of the cell and of its spread; the model's own error comes on top of that,
 * and moves all ciphers alike. */
bool speed_way(struct way *way, const struct decide_input *input, const struct ground *ground,
	       const struct spec *spec, enum engine_direction direction)
{
	const struct measure_result *r = speed_cell(input, ground, spec, direction);
	const char *mirror = decide_mirror_tier(&input->facts->kernel, spec->kind->kernel);
	const struct measure_result *stream = NULL;
	double speed[3], streams[3] = {0}, ways[3], error = model_error(ground->basis);

	if (!r)
		return false;
	if (ground->basis == PLAN_BASIS_AFALG)
		stream = stream_cell(input, ground, spec, direction);
	speed[1] = r->median;
	trusted_interval(r, &speed[0], &speed[2]);
	if (stream) {
		streams[1] = stream->median;
		trusted_interval(stream, &streams[0], &streams[2]);
	}
	for (int i = 0; i < 3; i++) {
		const struct model_stream s = {stream ? (double)stream->size : 0, streams[i],
					       (speed[2] - speed[0]) / 2 / speed[1]};

		ways[i] = model_speed(&ground->model, ground->basis, direction, spec->sector,
				      r->threads, speed[i], &s);
	}
	way->median = ways[1];
	way->tie_low = ways[0] < ways[1] ? ways[0] : ways[1];
	way->tie_high = ways[2] > ways[1] ? ways[2] : ways[1];
	way->low = way->tie_low / (1 + error);
	way->high = way->tie_high * (1 + error);
	way->order_only = ground->basis == PLAN_BASIS_CPU &&
			  (tier_rank(r->tier) < tier_rank(mirror) ||
			   decide_mirror_is_faster(&input->facts->kernel, spec->kind->kernel));
	way->tier = r->tier;
	return true;
}

/* Time adds up, not speed: the mean of reads and writes is harmonic. */
static double mix(double decrypt, double encrypt, double read_share)
{
	return 1 / (read_share / decrypt + (1 - read_share) / encrypt);
}

void speed_of(struct speed *speed, const struct decide_input *input, const struct ground *ground,
	      const struct spec *spec)
{
	double share = input->policy->read_share;
	struct way e, d;
	bool has_e, has_d;

	memset(speed, 0, sizeof(*speed));
	if (ground->basis == PLAN_BASIS_FACTS) {
		snprintf(speed->reason, sizeof(speed->reason), "nothing was measured");
		return;
	}
	has_e = speed_way(&e, input, ground, spec, ENGINE_ENCRYPT);
	has_d = speed_way(&d, input, ground, spec, ENGINE_DECRYPT);
	if (!has_e || !has_d) {
		snprintf(speed->reason, sizeof(speed->reason),
			 has_e || has_d ? "only one direction was measured (%s)"
					: "not measured by the %s engine",
			 measure_engine_name(basis_engine(ground->basis)));
		return;
	}
	speed->threads = ground->threads;
	speed->order_only = e.order_only || d.order_only;
	speed->tier[ENGINE_ENCRYPT] = e.tier;
	speed->tier[ENGINE_DECRYPT] = d.tier;
	speed->encrypt = e.median;
	speed->decrypt = d.median;
	speed->mixed = mix(d.median, e.median, share);
	speed->low = mix(d.low, e.low, share);
	speed->high = mix(d.high, e.high, share);
	speed->tie_low = mix(d.tie_low, e.tie_low, share);
	speed->tie_high = mix(d.tie_high, e.tie_high, share);
}

bool speed_tie(const struct speed *a, const struct speed *b)
{
	return a->tie_high * (1 + SPEED_NOISE_FLOOR) >= b->tie_low &&
	       b->tie_high * (1 + SPEED_NOISE_FLOOR) >= a->tie_low;
}
