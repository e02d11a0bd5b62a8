// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decide/internal.h"

/*
 * The model's constants. They are ratios to costs that are measured on the machine itself, since
 * what takes 3 microseconds here takes 100 there; found and checked against dm-crypt in the lab
 * (doc/measuring.md).
 */

/* A request is handed to a worker thread, which wakes the caller when it is done: a turn of two
 * threads, and the block layer's part. A write passes through a second thread, which submits it. */
static const double request_turns[2] = {[ENGINE_ENCRYPT] = 1.9, [ENGINE_DECRYPT] = 1.3};

/* For each sector dm-crypt sets up a cipher request, its scatter list and its IV: hundreds of
 * instructions, where a turn of two threads is some ten thousand. */
#define SECTOR_TURNS (1.0 / 14)

/* A turn through pipes is four system calls and the waking; and, where calls are so slow that
 * little is left between two noisy figures, at least that share of it is the waking. */
#define TURN_CALLS 4
#define LEAST_TURN (1.0 / 20)

/*
 * Bytes are moved, in units of copying one. AF_ALG copies each once, which dm-crypt does not. What
 * dm-crypt reads was written first, here by the zero target: a third, stores without loads. What it
 * writes goes to pages of its own, which the kernel allocates and clears: four thirds.
 */
static const double moved[3][2] = {
	[PLAN_BASIS_DM] = {[ENGINE_ENCRYPT] = 0, [ENGINE_DECRYPT] = 0},
	[PLAN_BASIS_AFALG] = {[ENGINE_ENCRYPT] = 4.0 / 3 - 1, [ENGINE_DECRYPT] = 1.0 / 3 - 1},
	[PLAN_BASIS_CPU] = {[ENGINE_ENCRYPT] = 4.0 / 3, [ENGINE_DECRYPT] = 1.0 / 3},
};

/* How far off: AF_ALG runs the very driver; the engine's tier only does the same instructions. */
static const double errors[4] = {[PLAN_BASIS_DM] = 0,
				 [PLAN_BASIS_AFALG] = 0.2,
				 [PLAN_BASIS_CPU] = 0.4,
				 [PLAN_BASIS_FACTS] = 0};

/* Of a measured time, at least that share is left: more than that no correction is believed. */
#define LEAST_LEFT (1.0 / 20)

/* What two figures of one run may differ by for nothing, however close their quartiles are, and how
 * many times that a difference has to be to be more than half believed. */
#define WANDER   0.005
#define BELIEVED 2

double model_error(enum plan_basis basis)
{
	return errors[basis];
}

double model_turns(enum engine_direction direction)
{
	return request_turns[direction];
}

void model_costs(struct model *model, const struct measurement *m)
{
	double waking = m->handoff - TURN_CALLS * m->syscall;

	model->call = m->syscall;
	model->handover = waking > m->handoff * LEAST_TURN ? waking : m->handoff * LEAST_TURN;
	model->copy = m->copy;
}

double model_per_sector(const struct model *model)
{
	return model->handover * SECTOR_TURNS;
}

/*
 * A sector's time in the kernel's driver, without the crossing. Where the crossing is most of what
 * was measured, little is left between two large figures that wander; a long message, which crosses
 * once, knows better what the bytes take, and nothing of what the cipher has to do for each sector
 * (Adiantum's hashing, a hardware engine's round trip). So of the difference between the two as
 * much is believed as it stands out of what these figures wander by: Wiener's filter, square over
 * sum of squares.
 */
static double without_crossing(const struct model *model, unsigned sector, unsigned threads,
			       double measured, const struct model_stream *stream)
{
	double alone = measured - model->crossing, bytes, own, doubt;
	double wander = stream->wander > WANDER ? stream->wander : WANDER;

	if (!(stream->speed > 0))
		return alone;
	bytes = stream->size / stream->speed;
	bytes -= model->crossing < bytes * (1 - LEAST_LEFT) ? model->crossing
							    : bytes * (1 - LEAST_LEFT);
	bytes = bytes * sector / stream->size + model_per_sector(model) / threads;
	own = alone - bytes;
	doubt = BELIEVED * wander * (bytes + 2 * model->crossing);
	own *= own * own / (own * own + doubt * doubt);
	return own > -bytes / 2 ? bytes + own : bytes / 2;
}

double model_speed(const struct model *model, enum plan_basis basis,
		   enum engine_direction direction, unsigned sector, unsigned threads, double speed,
		   const struct model_stream *stream)
{
	double measured = sector / speed, time = measured, least = measured, request;

	if (basis != PLAN_BASIS_AFALG && basis != PLAN_BASIS_CPU)
		return speed;
	/* With several threads, so many sectors are done in the time of one. */
	if (basis == PLAN_BASIS_AFALG)
		time = without_crossing(model, sector, threads, measured, stream);
	else
		time += model_per_sector(model) / threads;
	if (basis == PLAN_BASIS_AFALG && stream->speed > 0)
		least = time;
	time += moved[basis][direction] * model->copy * sector / threads;
	if (time < least * LEAST_LEFT)
		time = least * LEAST_LEFT;
	request = time * MODEL_REQUEST / sector +
		  (model->call + request_turns[direction] * model->handover) / threads;
	return MODEL_REQUEST / request;
}

static bool predicted(const struct predictions *p, const struct prediction *one)
{
	for (size_t i = 0; i < p->n; i++)
		if (spec_equal(&p->list[i].spec, &one->spec) &&
		    p->list[i].direction == one->direction && p->list[i].threads == one->threads &&
		    p->list[i].basis == one->basis)
			return true;
	return false;
}

static bool basis_of(enum measure_engine engine, enum plan_basis *basis)
{
	static const enum plan_basis bases[] = {[MEASURE_DM] = PLAN_BASIS_DM,
						[MEASURE_AFALG] = PLAN_BASIS_AFALG,
						[MEASURE_CPU] = PLAN_BASIS_CPU};

	if (engine == MEASURE_OPENSSL)
		return false;
	*basis = bases[engine];
	return true;
}

/* A cell's prediction; false: it stands for nothing that dm-crypt does. */
static bool predict(struct prediction *p, const struct measure_result *r,
		    const struct ground *ground, const struct decide_input *input)
{
	struct way way;

	memset(p, 0, sizeof(*p));
	p->spec = r->spec;
	if (!p->spec.sector && spec_sector_valid((unsigned)r->size))
		p->spec.sector = (unsigned)r->size;
	if (!p->spec.sector || !speed_way(&way, input, ground, &p->spec, r->direction) ||
	    way.order_only)
		return false;
	p->direction = r->direction;
	p->threads = r->threads;
	p->basis = ground->basis;
	p->speed = way.median;
	p->low = way.low;
	p->high = way.high;
	return true;
}

/* Whether a cell before the i-th has its layer and number of threads: then both are done. */
static bool done_before(const struct measurement *m, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (m->results[j].engine == m->results[i].engine &&
		    m->results[j].threads == m->results[i].threads)
			return true;
	return false;
}

int model_predict(struct predictions *p, const struct measurement *m, const struct facts *facts)
{
	const struct decide_input input = {.facts = facts, .measurement = m};

	p->n = 0;
	p->list = calloc(m->n_results + 1, sizeof(*p->list));
	if (!p->list)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_results; i++) {
		struct ground ground = {.threads = m->results[i].threads};

		if (!basis_of(m->results[i].engine, &ground.basis) || done_before(m, i))
			continue;
		ground_fill(&ground, &input);
		for (size_t j = i; j < m->n_results; j++) {
			const struct measure_result *r = &m->results[j];

			if (r->engine == m->results[i].engine && r->threads == ground.threads &&
			    !*r->error_code && predict(&p->list[p->n], r, &ground, &input) &&
			    !predicted(p, &p->list[p->n]))
				p->n++;
		}
	}
	return 0;
}

void predictions_free(struct predictions *p)
{
	free(p->list);
	p->list = NULL;
	p->n = 0;
}
