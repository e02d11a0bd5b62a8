// SPDX-License-Identifier: GPL-2.0-or-later
/* From measured cells to the throughput to expect of a volume. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/internal.h"

/*
 * Differences below this are never believed, however close the quartiles are: code layout, and what
 * else the machine does during one run, move medians by as much.
 */
#define NOISE_FLOOR 0.05
/* The size of a call that stands for streaming in the cpu engine. */
#define USUAL_CALL 65536

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
	 * the driver. Table look-ups stand for whatever does without AES instructions: bitslicing
	 * on the baseline's vectors outruns generic C, except where blocks wait for each other. */
	static const char *const vaes512[] = {"vaes512", "vaes256", "aesni", "portable", NULL};
	static const char *const vaes256[] = {"vaes256", "aesni", "portable", NULL};
	static const char *const cpu[] = {"aesni", "armce", "portable", NULL};
	static const char *const generic[] = {"table", NULL};
	const char *const *wanted = generic;

	switch (kernel_aes_kind(kernel, kernel_name, NULL)) {
	case KERNEL_AES_VAES512:
		wanted = vaes512;
		break;
	case KERNEL_AES_VAES256:
		wanted = vaes256;
		break;
	case KERNEL_AES_CPU:
		wanted = cpu;
		break;
	case KERNEL_AES_UNKNOWN:
	case KERNEL_AES_GENERIC:
	case KERNEL_AES_SIMD:
		break;
	}
	while (wanted[1] && !engine_tier_find(*wanted))
		wanted++;
	return *wanted;
}

static enum measure_engine basis_engine(enum plan_basis basis)
{
	return basis == PLAN_BASIS_DM      ? MEASURE_DM
	       : basis == PLAN_BASIS_AFALG ? MEASURE_AFALG
					   : MEASURE_CPU;
}

static bool usable(const struct measure_result *r)
{
	return !r->error_code[0] && r->checked && r->median > 0 && r->shape == ENGINE_SERIAL;
}

/* The sector size of a cell: said by its spec, or, for one request a sector, by the request's size.
 */
static unsigned cell_sector(const struct measure_result *r)
{
	return r->spec.sector ? r->spec.sector : spec_sector_valid(r->size) ? r->size : 0;
}

/*
 * Whether cell a stands for dm-crypt better than cell b: the tier that mirrors the kernel's driver
 * (else the next slower, else, last, a faster one), more threads, a call nearer to the usual size.
 * Ties keep the earlier one, so that the answer does not depend on more than the cells' own
 * contents when they are all different.
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
	if (a->threads != b->threads)
		return a->threads > b->threads;
	da = a->size > USUAL_CALL ? a->size - USUAL_CALL : USUAL_CALL - a->size;
	db = b->size > USUAL_CALL ? b->size - USUAL_CALL : USUAL_CALL - b->size;
	return a->engine != MEASURE_AFALG && da < db;
}

static const struct measure_result *find_cell(const struct decide_input *input,
					      enum measure_engine engine, const struct spec *spec,
					      enum engine_direction direction)
{
	const char *tier = decide_mirror_tier(&input->facts->kernel, spec->kind->kernel);
	const struct measurement *m = input->measurement;
	const struct measure_result *best = NULL;
	int mirror = tier_rank(tier);

	for (size_t i = 0; m && i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (r->engine != engine || !usable(r) || r->direction != direction ||
		    r->spec.kind != spec->kind || r->spec.key_bits != spec->key_bits ||
		    cell_sector(r) != spec->sector)
			continue;
		if (!best || better_cell(r, best, mirror))
			best = r;
	}
	return best;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * AF_ALG's cost per byte without the crossing: the slope of time over request size, as the median
 * of the slopes between all pairs (Theil 1950, Sen 1968), which one disturbed cell cannot move. 0
 * when there are no two sizes to fit.
 */
static double afalg_slope(const struct decide_input *input, const struct spec *spec,
			  enum engine_direction direction)
{
	const struct measure_result *cells[4];
	struct spec s = *spec;
	double slopes[6], ta, tb;
	size_t n = 0, k = 0;

	for (s.sector = SPEC_SECTOR_MIN; s.sector <= SPEC_SECTOR_MAX; s.sector *= 2) {
		cells[n] = find_cell(input, MEASURE_AFALG, &s, direction);
		n += cells[n] != NULL;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			ta = (double)cell_sector(cells[i]) / cells[i]->median;
			tb = (double)cell_sector(cells[j]) / cells[j]->median;
			slopes[k++] = (tb - ta) /
				      ((double)cell_sector(cells[j]) - cell_sector(cells[i]));
		}
	}
	if (!k)
		return 0;
	qsort(slopes, k, sizeof(slopes[0]), compare_doubles);
	return k % 2 ? slopes[k / 2] : (slopes[k / 2 - 1] + slopes[k / 2]) / 2;
}

struct one_way {
	double median, low, high;
};

/*
 * One direction. A raw AF_ALG figure is mostly the system call, so the fit's figure is taken
 * instead; its relative spread is the raw one's. A fit that contradicts the raw figures (a slope of
 * nothing, or a speed below what was seen) falls back to them.
 */
static bool one_way(struct one_way *way, const struct decide_input *input, enum plan_basis basis,
		    const struct spec *spec, enum engine_direction direction, struct speed *speed)
{
	const struct measure_result *r = find_cell(input, basis_engine(basis), spec, direction);
	double slope, scale = 1;

	if (!r)
		return false;
	if (basis == PLAN_BASIS_AFALG) {
		slope = afalg_slope(input, spec, direction);
		if (slope > 0 && 1 / slope > r->median)
			scale = 1 / slope / r->median;
	}
	if (basis == PLAN_BASIS_CPU &&
	    tier_rank(r->tier) <
		    tier_rank(decide_mirror_tier(&input->facts->kernel, spec->kind->kernel)))
		speed->order_only = true;
	way->median = r->median * scale;
	way->low = (r->low > 0 && r->low < r->median ? r->low : r->median) * scale;
	way->high = (r->high > r->median ? r->high : r->median) * scale;
	speed->threads = r->threads;
	speed->tier[direction] = r->tier;
	return true;
}

/* Time adds up, not speed: the mean of reads and writes is harmonic. */
static double mix(double decrypt, double encrypt, double read_share)
{
	return 1 / (read_share / decrypt + (1 - read_share) / encrypt);
}

void speed_of(struct speed *speed, const struct decide_input *input, enum plan_basis basis,
	      const struct spec *spec)
{
	struct one_way e, d;
	bool has_e, has_d;

	memset(speed, 0, sizeof(*speed));
	if (basis == PLAN_BASIS_FACTS) {
		snprintf(speed->reason, sizeof(speed->reason), "nothing was measured");
		return;
	}
	has_e = one_way(&e, input, basis, spec, ENGINE_ENCRYPT, speed);
	has_d = one_way(&d, input, basis, spec, ENGINE_DECRYPT, speed);
	if (!has_e || !has_d) {
		snprintf(speed->reason, sizeof(speed->reason),
			 has_e || has_d ? "only one direction was measured (%s)"
					: "not measured by the %s engine",
			 measure_engine_name(basis_engine(basis)));
		return;
	}
	speed->encrypt = e.median;
	speed->decrypt = d.median;
	speed->mixed = mix(d.median, e.median, input->policy->read_share);
	speed->low = mix(d.low, e.low, input->policy->read_share);
	speed->high = mix(d.high, e.high, input->policy->read_share);
}

bool speed_tie(const struct speed *a, const struct speed *b)
{
	return a->high * (1 + NOISE_FLOOR) >= b->low && b->high * (1 + NOISE_FLOOR) >= a->low;
}

enum plan_basis speed_basis(const struct decide_input *input, const struct candidates *candidates)
{
	static const enum plan_basis order[] = {PLAN_BASIS_DM, PLAN_BASIS_AFALG, PLAN_BASIS_CPU};
	struct speed speed;

	for (size_t b = 0; b < sizeof(order) / sizeof(order[0]); b++) {
		for (size_t i = 0; i < candidates->n; i++) {
			struct spec spec = candidates->list[i].spec;

			if (!candidates->list[i].admitted)
				continue;
			for (spec.sector = SPEC_SECTOR_MIN; spec.sector <= SPEC_SECTOR_MAX;
			     spec.sector *= 2) {
				speed_of(&speed, input, order[b], &spec);
				if (speed.mixed > 0)
					return order[b];
			}
		}
	}
	return PLAN_BASIS_FACTS;
}
