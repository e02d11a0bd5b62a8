// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/backend.h"
#include "measure/check.h"
#include "measure/clock.h"

#define CALL (64U << 10)
/* Turns that each gets, by turns. The fastest counts: others only ever make it slower. */
#define TURNS 4
/* How long one turn lasts at least. */
#define TURN_NS (CLOCK_MILLISECOND / 20)
/* How much faster is faster. */
#define CLEARLY 1.10

/* Nanoseconds a call, at this turn. */
static double time_call(const struct engine_key *key, enum engine_shape shape, uint8_t *data,
			size_t sector, size_t count)
{
	const uint64_t begun = clock_ns();
	uint64_t ns, calls = 0;

	do {
		engine_crypt(key, ENGINE_ENCRYPT, shape, data, data, sector, count, CHECK_SECTOR);
		calls++;
		ns = clock_ns() - begun;
	} while (ns < TURN_NS);
	return (double)ns / (double)calls;
}

static void keep_least(double *least, double value)
{
	if (!(*least > 0) || value < *least)
		*least = value;
}

size_t trial_choose(const double *ns, size_t n)
{
	size_t stands = n;

	for (size_t i = 0; i < n; i++)
		if (ns[i] > 0 && (stands == n || ns[i] * CLEARLY <= ns[stands]))
			stands = i;
	return stands;
}

const struct engine_tier *trial_best_tier(const struct cpu_facts *cpu)
{
	const struct engine_tier *best = engine_tier_best(cpu);
	struct engine_key *keys[16] = {NULL};
	double least[16] = {0};
	struct spec spec;
	struct status st;
	size_t n = 0, chosen;
	uint8_t *data;

	data = calloc(1, CALL);
	if (!data || spec_parse(&spec, "aes-xts-plain64/512", &st))
		goto out;
	for (; engine_tiers[n] && n < 16; n++)
		if (engine_tier_bits(engine_tiers[n]) &&
		    engine_tier_usable(engine_tiers[n], cpu, NULL, 0) &&
		    engine_key_new(&keys[n], engine_tiers[n], &spec, check_key))
			goto out;
	for (int turn = 0; turn < TURNS; turn++)
		for (size_t i = 0; i < n; i++)
			if (keys[i])
				keep_least(&least[i],
					   time_call(keys[i], ENGINE_SERIAL, data, SPEC_SECTOR_MAX,
						     CALL / SPEC_SECTOR_MAX));
	chosen = trial_choose(least, n);
	if (chosen < n)
		best = engine_tiers[chosen];
out:
	for (size_t i = 0; i < n; i++)
		engine_key_free(keys[i]);
	free(data);
	return best;
}

/* Serial and multi at one count: how many times as fast the latter is. */
static double gain_at(const struct engine_key *key, uint8_t *data, size_t sector, size_t count)
{
	double serial = 0, multi = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		keep_least(&serial, time_call(key, ENGINE_SERIAL, data, sector, count));
		keep_least(&multi, time_call(key, ENGINE_MULTI, data, sector, count));
	}
	return serial / multi;
}

static bool same_output(const struct engine_key *key, uint8_t *data, size_t sector)
{
	uint8_t *other = data + CALL;

	memcpy(other, data, CALL);
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_SERIAL, data, data, sector, CALL / sector,
		     CHECK_SECTOR);
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_MULTI, other, other, sector, CALL / sector,
		     CHECK_SECTOR);
	return !memcmp(data, other, CALL);
}

static int try_counts(struct measure_multi *multi, const struct engine_tier *tier)
{
	const size_t sector = multi->spec.sector, most = CALL / sector;
	struct backend_buffer buffer = {.size = CALL, .data = malloc(2 * CALL)};
	struct engine_key *key = NULL;
	int ret = buffer.data ? 0 : -ENOMEM;

	if (!ret)
		ret = engine_key_new(&key, tier, &multi->spec, check_key);
	if (ret)
		goto out;
	backend_buffer_fill(&buffer);
	ret = same_output(key, buffer.data, sector) ? 0 : -EBADMSG;
	/* From the most down to where it stops paying. */
	multi->sectors = (unsigned)most;
	for (size_t count = most; count >= 2 && !ret; count = count > 4 ? count / 2 : count - 1) {
		const double gain = gain_at(key, buffer.data, sector, count);

		if (count == most)
			multi->gain = gain;
		if (gain < CLEARLY)
			break;
		multi->from = (unsigned)count;
	}
out:
	engine_key_free(key);
	free(buffer.data);
	return ret;
}

static int add(struct measurement *m, const struct measure_result *r)
{
	struct measure_multi *grown;

	for (size_t i = 0; i < m->n_multis; i++)
		if (spec_equal(&m->multis[i].spec, &r->spec) && !strcmp(m->multis[i].tier, r->tier))
			return 0;
	grown = realloc(m->multis, (m->n_multis + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->multis = grown;
	grown += m->n_multis++;
	*grown = (struct measure_multi){.spec = r->spec,
					.available = r->engine == MEASURE_CPU &&
						     !strcmp(r->spec.kind->mode, "cbc")};
	memcpy(grown->tier, r->tier, sizeof(grown->tier));
	return grown->available ? try_counts(grown, engine_tier_find(r->tier)) : 0;
}

/* Of OpenSSL, which cannot: only what the cpu engine does not have, so that it is said once. */
static bool concerned(const struct measure_result *r)
{
	/* Without a tier it is no backend's. */
	if (*r->error_code || !*r->tier || !r->spec.sector)
		return false;
	return r->engine == MEASURE_CPU ||
	       (r->engine == MEASURE_OPENSSL && r->spec.kind->integrity &&
		!strcmp(r->spec.kind->mode, "cbc"));
}

int trial_multi_buffer(struct measurement *m)
{
	int ret = 0;

	for (size_t i = 0; i < m->n_results && !ret; i++)
		if (concerned(&m->results[i]))
			ret = add(m, &m->results[i]);
	return ret;
}

const struct measure_result *trial_serial(const struct measurement *m,
					  const struct measure_multi *multi,
					  const struct measure_result *r)
{
	if (r->engine != MEASURE_CPU || *r->error_code || r->direction != ENGINE_ENCRYPT ||
	    r->shape != ENGINE_MULTI || !spec_equal(&r->spec, &multi->spec) ||
	    strcmp(r->tier, multi->tier))
		return NULL;
	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *s = &m->results[i];

		if (s->engine == MEASURE_CPU && !*s->error_code && s->shape == ENGINE_SERIAL &&
		    s->direction == r->direction && spec_equal(&s->spec, &multi->spec) &&
		    s->size == r->size && s->threads == r->threads && s->median > 0 &&
		    !strcmp(s->tier, multi->tier))
			return s;
	}
	return NULL;
}

/* The fewest threads that both shapes were measured with; 0: none. */
static unsigned fewest_threads(const struct measurement *m, const struct measure_multi *multi)
{
	unsigned threads = 0;

	for (size_t i = 0; i < m->n_results; i++)
		if (trial_serial(m, multi, &m->results[i]) &&
		    (!threads || m->results[i].threads < threads))
			threads = m->results[i].threads;
	return threads;
}

/* Sectors a call of the curve's points: the fewest, the most that do not pay, the fewest beyond
 * those. */
struct curve {
	unsigned least, vain, from;
};

/* Sectors that r encrypts at once where it is a point of the curve, with the gain; else 0. */
static unsigned point(const struct measurement *m, const struct measure_multi *multi,
		      unsigned threads, const struct measure_result *r, double *gain)
{
	const struct measure_result *s = trial_serial(m, multi, r);
	const unsigned n = s && r->threads == threads ? (unsigned)(r->size / r->spec.sector) : 0;

	*gain = s ? r->median / s->median : 0;
	return n > 1 ? n : 0;
}

static void agree(const struct measurement *m, struct measure_multi *multi)
{
	const unsigned threads = fewest_threads(m, multi);
	struct curve c = {.least = 0};
	unsigned n, said = 0;
	double gain;

	for (size_t i = 0; i < m->n_results && threads; i++) {
		n = point(m, multi, threads, &m->results[i], &gain);
		if (n && (!c.least || n < c.least))
			c.least = n;
		if (n > c.vain && gain < CLEARLY)
			c.vain = n;
		/* The largest, but for that of 64 KiB. */
		if (n > said && said * multi->spec.sector != CALL) {
			said = multi->sectors = n;
			multi->gain = gain;
		}
		if (n * multi->spec.sector == CALL) {
			said = multi->sectors = n;
			multi->gain = gain;
		}
	}
	for (size_t i = 0; i < m->n_results && threads; i++) {
		n = point(m, multi, threads, &m->results[i], &gain);
		if (n > c.vain && (!c.from || n < c.from))
			c.from = n;
	}
	if (c.least && (c.vain || !multi->from || multi->from > c.least))
		multi->from = c.from;
}

void trial_agree(struct measurement *m)
{
	for (size_t i = 0; i < m->n_multis; i++)
		if (m->multis[i].available)
			agree(m, &m->multis[i]);
}
