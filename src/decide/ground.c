// SPDX-License-Identifier: GPL-2.0-or-later
/* What the speeds of one decision stand on: a layer, a number of threads, the cost of a crossing.
 */
#include <stdlib.h>
#include <string.h>

#include "decide/explain.h"
#include "decide/internal.h"

#define SIZES     4  /* sector sizes from 512 to 4096 */
#define TRIED_MAX 96 /* layers and numbers of threads that are looked at */

/* Which admitted candidates have a speed on a ground, with a sector size that may be. */
struct coverage {
	size_t n;
	const struct choice *first; /* the most preferred of those that are not rare, or NULL */
	bool rival; /* and whether one that is as strong is there to hold against it */
};

static bool has_speed(const struct decide_input *input, const struct ground *ground,
		      struct spec spec)
{
	unsigned wanted = input->sector ? input->sector : input->wanted ? input->wanted->sector : 0;
	struct speed speed = {.mixed = 0};
	char reason[192];

	for (spec.sector = SPEC_SECTOR_MIN; spec.sector <= SPEC_SECTOR_MAX && !(speed.mixed > 0);
	     spec.sector *= 2)
		if ((!wanted || spec.sector == wanted) &&
		    sector_allowed(input, spec.kind, spec.sector, wanted != 0, reason,
				   sizeof(reason)))
			speed_of(&speed, input, ground, &spec);
	return speed.mixed > 0;
}

static void cover(struct coverage *cover, const struct decide_input *input,
		  const struct ground *ground, const struct choice *list, size_t n)
{
	memset(cover, 0, sizeof(*cover));
	for (size_t i = 0; i < n; i++) {
		const struct choice *c = &list[i];

		if (c->state == CHOICE_NOT_ADMITTED || !has_speed(input, ground, c->spec))
			continue;
		cover->n++;
		if (pick_rare(&c->spec))
			continue;
		if (!cover->first || pick_prefers(c, cover->first)) {
			cover->rival = cover->first && pick_as_strong(c, cover->first);
			cover->first = c;
		} else if (pick_as_strong(c, cover->first)) {
			cover->rival = true;
		}
	}
}

static bool tried(const struct ground *list, size_t n, const struct ground *one)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].threads == one->threads && list[i].basis == one->basis)
			return true;
	return false;
}

/*
 * Whether a layer and a number of threads say more than another. A cipher that was measured
 * elsewhere only must not lose to a weaker one for that: what has the most preferred candidate goes
 * first, then what has something as strong beside it. After that the layer counts, then the number
 * of candidates, then that of threads.
 */
static bool says_more(const struct ground *a, const struct coverage *x, const struct ground *b,
		      const struct coverage *y)
{
	if (!x->n || !y->n)
		return x->n > 0;
	if (x->first != y->first)
		return x->first && (!y->first || pick_prefers(x->first, y->first));
	if (x->rival != y->rival)
		return x->rival;
	if (a->basis != b->basis)
		return a->basis < b->basis;
	return x->n != y->n ? x->n > y->n : a->threads > b->threads;
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

static bool layer_of(enum measure_engine engine, enum plan_basis *basis)
{
	*basis = engine == MEASURE_DM      ? PLAN_BASIS_DM
		 : engine == MEASURE_AFALG ? PLAN_BASIS_AFALG
					   : PLAN_BASIS_CPU;
	return engine != MEASURE_OPENSSL;
}

void speed_ground(struct ground *ground, const struct decide_input *input,
		  const struct choice *list, size_t n)
{
	const struct measurement *m = input->measurement;
	struct coverage covered, best = {.n = 0};
	struct ground one, done[TRIED_MAX];
	size_t n_done = 0;

	memset(ground, 0, sizeof(*ground));
	ground->basis = PLAN_BASIS_FACTS;
	for (size_t i = 0; m && i < m->n_results && n_done < TRIED_MAX; i++) {
		memset(&one, 0, sizeof(one));
		one.threads = m->results[i].threads;
		if (!layer_of(m->results[i].engine, &one.basis) || tried(done, n_done, &one))
			continue;
		done[n_done++] = one;
		cover(&covered, input, &one, list, n);
		if (!says_more(&one, &covered, ground, &best))
			continue;
		*ground = one;
		best = covered;
	}
	if (ground->basis != PLAN_BASIS_FACTS)
		ground_fill(ground, input);
}
