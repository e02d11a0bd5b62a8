// SPDX-License-Identifier: GPL-2.0-or-later
/* What the speeds of one decision stand on: a layer, a number of threads, the cost of a crossing.
 */
#include <stdlib.h>
#include <string.h>

#include "decide/internal.h"

#define SIZES     4  /* sector sizes from 512 to 4096 */
#define TRIED_MAX 32 /* different numbers of threads that are looked at */

/* How many admitted candidates have a speed at some sector size on that ground. */
static size_t count_complete(const struct decide_input *input, const struct ground *ground,
			     const struct candidates *candidates)
{
	struct speed speed;
	size_t n = 0;

	for (size_t i = 0; i < candidates->n; i++) {
		struct spec spec = candidates->list[i].spec;

		if (!candidates->list[i].admitted)
			continue;
		speed.mixed = 0;
		for (spec.sector = SPEC_SECTOR_MIN;
		     spec.sector <= SPEC_SECTOR_MAX && !(speed.mixed > 0); spec.sector *= 2)
			speed_of(&speed, input, ground, &spec);
		n += speed.mixed > 0;
	}
	return n;
}

static bool tried(const unsigned *list, size_t n, unsigned threads)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == threads)
			return true;
	return false;
}

/* The number of threads that most candidates were measured with, the larger one of equals. 0: none
 * was measured on that layer. */
static unsigned common_threads(const struct decide_input *input, enum plan_basis basis,
			       const struct candidates *candidates)
{
	const struct measurement *m = input->measurement;
	struct ground ground = {.basis = basis};
	unsigned done[TRIED_MAX], best = 0;
	size_t most = 0, count, n = 0;

	for (size_t i = 0; m && i < m->n_results && n < TRIED_MAX; i++) {
		ground.threads = m->results[i].threads;
		if (tried(done, n, ground.threads))
			continue;
		done[n++] = ground.threads;
		count = count_complete(input, &ground, candidates);
		if (count > most || (count && count == most && ground.threads > best)) {
			most = count;
			best = ground.threads;
		}
	}
	return best;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/*
 * What a request of no bytes would take: the intercept of time over size, by the median of the
 * slopes between all pairs (Theil 1950, Sen 1968), which one disturbed cell cannot move. False with
 * fewer than two sizes.
 */
static bool intercept(const struct decide_input *input, const struct ground *ground,
		      const struct spec *spec, enum engine_direction direction, double *seconds)
{
	double size[SIZES], time[SIZES], slopes[SIZES * (SIZES - 1) / 2], rest[SIZES], slope;
	const struct measure_result *r;
	struct spec s = *spec;
	size_t n = 0, k = 0;

	for (s.sector = SPEC_SECTOR_MIN; s.sector <= SPEC_SECTOR_MAX; s.sector *= 2) {
		r = speed_cell(input, ground, &s, direction);
		if (!r)
			continue;
		size[n] = s.sector;
		time[n++] = s.sector / r->median;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			slopes[k++] = (time[j] - time[i]) / (size[j] - size[i]);
	if (!k)
		return false;
	slope = median(slopes, k);
	for (size_t i = 0; i < n; i++)
		rest[i] = time[i] - slope * size[i];
	*seconds = median(rest, n);
	return true;
}

/* What a sector of no bytes takes in the engine that stands for the kernel's driver: tweak or IV.
 * 0: not known. */
static double engine_per_sector(const struct decide_input *input, const struct ground *ground,
				const struct spec *spec, enum engine_direction direction)
{
	const struct ground cpu = {.basis = PLAN_BASIS_CPU, .threads = ground->threads};
	double seconds;

	return intercept(input, &cpu, spec, direction, &seconds) && seconds > 0 ? seconds : 0;
}

/* The crossing as this cipher would have it, in one direction. */
static bool crossing_of(const struct decide_input *input, const struct ground *ground,
			const struct spec *spec, enum engine_direction direction, double *seconds)
{
	if (!intercept(input, ground, spec, direction, seconds))
		return false;
	*seconds -= engine_per_sector(input, ground, spec, direction) +
		    model_per_sector(&ground->model) / ground->threads;
	return true;
}

/*
 * The part of a request's time that is no cipher's own cannot be more than any cipher's intercept.
 * A cipher's own cost per request (a hardware engine's round trip, Adiantum's hashing) dm-crypt
 * pays too, and it stays in the figures.
 */
static void find_crossing(struct ground *ground, const struct decide_input *input)
{
	double seconds, least = 0;
	struct spec spec = {NULL, 0, 0};

	for (spec.kind = spec_kinds; spec.kind->kernel; spec.kind++) {
		for (size_t i = 0;
		     i < sizeof(spec.kind->key_bits) / sizeof(spec.kind->key_bits[0]) &&
		     spec.kind->key_bits[i];
		     i++) {
			spec.key_bits = spec.kind->key_bits[i];
			for (int d = ENGINE_ENCRYPT; d <= ENGINE_DECRYPT; d++) {
				if (!crossing_of(input, ground, &spec, d, &seconds))
					continue;
				if (!ground->crossing_known || seconds < least)
					least = seconds;
				ground->crossing_known = true;
			}
		}
	}
	ground->model.crossing = least > 0 ? least : 0;
}

void ground_fill(struct ground *ground, const struct decide_input *input)
{
	if (!input->measurement)
		return;
	model_costs(&ground->model, input->measurement);
	if (ground->basis == PLAN_BASIS_AFALG)
		find_crossing(ground, input);
}

void speed_ground(struct ground *ground, const struct decide_input *input,
		  const struct candidates *candidates)
{
	static const enum plan_basis order[] = {PLAN_BASIS_DM, PLAN_BASIS_AFALG, PLAN_BASIS_CPU};

	memset(ground, 0, sizeof(*ground));
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		ground->basis = order[i];
		ground->threads = common_threads(input, order[i], candidates);
		if (ground->threads)
			break;
	}
	if (!ground->threads)
		ground->basis = PLAN_BASIS_FACTS;
	else
		ground_fill(ground, input);
}
