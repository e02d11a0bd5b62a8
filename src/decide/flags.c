// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dm-crypt's work queues. Without one, a request is encrypted or decrypted where it is handed in,
 * which saves a hand-over to another thread and takes the other CPUs out of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/internal.h"
#include "measure/flags.h"

/*
 * What a flag must bring with one request at a time. Who hands a request in then waits for the
 * cipher, and so does what else runs there: a gain that somebody would notice, and not one that the
 * spread only just lets through.
 */
#define GAIN 1.10
/* What it may cost with several in flight: no more than is never believed to be a difference. */
#define LOSS 0.95
/* Slices below which quartiles mean nothing. */
#define SLICES 5

static const struct {
	enum engine_direction direction;
	unsigned flag;
	const char *name, *what; /* cryptsetup's name */
} queues[] = {
	{ENGINE_DECRYPT, MEASURE_NO_READ_WORKQUEUE, "perf-no_read_workqueue", "reads"},
	{ENGINE_ENCRYPT, MEASURE_NO_WRITE_WORKQUEUE, "perf-no_write_workqueue", "writes"},
};

#define QUEUES (sizeof(queues) / sizeof(queues[0]))

/* Of a direction with or without its queue, and one request or several in flight; of several sizes
 * or depths the first. */
static const struct measure_result *find(const struct decide_input *input,
					 const struct ground *ground, const struct spec *spec,
					 size_t queue, bool without, bool several)
{
	static const unsigned both = MEASURE_NO_READ_WORKQUEUE | MEASURE_NO_WRITE_WORKQUEUE;
	const struct measurement *m = input->measurement;

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (r->engine == MEASURE_DM && spec_equal(&r->spec, spec) && r->checked &&
		    !*r->error_code && r->median > 0 && r->threads == ground->threads &&
		    r->direction == queues[queue].direction && !(r->flags & ~both) &&
		    (without ? (r->flags & queues[queue].flag) != 0 : !r->flags) &&
		    (several ? r->depth >= PLAN_FLAGS_DEPTH : r->depth == 1))
			return r;
	}
	return NULL;
}

/* Saved results may not say how many there were. */
static bool enough(const struct measure_result *r)
{
	return !r->slices || r->slices >= SLICES;
}

/* Without the queue over with it: the ratio of the medians, and whether their quartiles lie apart,
 * of enough slices to have any. 0: not measured. */
static double ratio(const struct decide_input *input, const struct ground *ground,
		    const struct spec *spec, size_t queue, bool several, bool *sure)
{
	const struct measure_result *with = find(input, ground, spec, queue, false, several);
	const struct measure_result *without = find(input, ground, spec, queue, true, several);

	if (!with || !without || with->size != without->size || with->depth != without->depth)
		return 0;
	*sure = without->low > with->high && enough(with) && enough(without);
	return without->median / with->median;
}

/* Whether the flag is worth it; the sentence says why or why not. */
static bool choose(char *text, size_t size, const struct decide_input *input,
		   const struct ground *ground, const struct spec *spec, size_t queue)
{
	bool one_sure = false, many_sure;
	double one = ratio(input, ground, spec, queue, false, &one_sure);
	double many = ratio(input, ground, spec, queue, true, &many_sure);

	snprintf(text, size,
		 "%s %.2f times as fast with one request at a time, %.2f times with %d in flight",
		 queues[queue].what, one, many, PLAN_FLAGS_DEPTH);
	return one >= GAIN && one_sure && many >= LOSS;
}

void flags_choose(struct plan *plan, const struct decide_input *input, const struct ground *ground)
{
	char text[QUEUES][128];
	bool sure, known = true;

	if (plan->basis != PLAN_BASIS_DM)
		return;
	for (size_t i = 0; i < QUEUES; i++)
		known &= ratio(input, ground, &plan->spec, i, false, &sure) > 0 &&
			 ratio(input, ground, &plan->spec, i, true, &sure) > 0;
	if (!known)
		return;
	for (size_t i = 0; i < QUEUES; i++)
		if (choose(text[i], sizeof(text[i]), input, ground, &plan->spec, i))
			plan->flags[plan->n_flags++] = queues[i].name;
	plan_reason(
		plan,
		"Flags: %s%s%s. Without dm-crypt's work queues %s, and %s; a flag is set for 1.1 times with one, and nothing lost with several.",
		plan->n_flags ? plan->flags[0] : "none", plan->n_flags > 1 ? ", " : "",
		plan->n_flags > 1 ? plan->flags[1] : "", text[0], text[1]);
}
