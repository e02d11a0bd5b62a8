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
static const struct measure_result *find(const struct measurement *m, unsigned threads,
					 const struct spec *spec, size_t queue, bool without,
					 bool several)
{
	static const unsigned both = MEASURE_NO_READ_WORKQUEUE | MEASURE_NO_WRITE_WORKQUEUE;

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (r->engine == MEASURE_DM && spec_equal(&r->spec, spec) && r->checked &&
		    !*r->error_code && r->median > 0 && r->threads == threads &&
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
static double ratio(const struct measurement *m, unsigned threads, const struct spec *spec,
		    size_t queue, bool several, bool *sure)
{
	const struct measure_result *with = find(m, threads, spec, queue, false, several);
	const struct measure_result *without = find(m, threads, spec, queue, true, several);

	if (!with || !without || with->size != without->size || with->depth != without->depth)
		return 0;
	*sure = without->low > with->high && enough(with) && enough(without);
	return without->median / with->median;
}

/* Whether the flag is worth it; the sentence says why or why not. */
static bool choose(char *text, size_t size, struct plan *plan, const struct measurement *m,
		   unsigned threads, size_t queue)
{
	struct plan_flag *f = &plan->flag_figures[queue];
	bool many_sure;

	f->name = queues[queue].name;
	f->one = ratio(m, threads, &plan->spec, queue, false, &f->sure);
	f->several = ratio(m, threads, &plan->spec, queue, true, &many_sure);
	plan->n_flag_figures = queue + 1;
	snprintf(text, size,
		 "%s %.2f times as fast with one request at a time, %.2f times with %d in flight",
		 queues[queue].what, f->one, f->several, PLAN_FLAGS_DEPTH);
	return f->one >= GAIN && f->sure && f->several >= LOSS;
}

/* What the figures, which know no disk, do not say: its write queue is where dm-crypt sorts writes
 * by their place (drivers/md/dm-crypt.c, dmcrypt_write()). */
static bool sorts(const struct plan *plan, size_t queue)
{
	return plan->rotates && queues[queue].direction == ENGINE_ENCRYPT;
}

static bool has_flag(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_flags; i++)
		if (!strcmp(plan->flags[i], name))
			return true;
	return false;
}

void decide_flags(struct plan *plan, const struct measurement *m, unsigned threads)
{
	const char *chosen[QUEUES] = {NULL};
	char text[QUEUES][128];
	size_t n = 0;
	bool sure, kept = false;

	if (!m || plan->basis != PLAN_BASIS_DM)
		return;
	for (size_t i = 0; i < QUEUES; i++)
		if (has_flag(plan, queues[i].name) ||
		    !(ratio(m, threads, &plan->spec, i, false, &sure) > 0) ||
		    !(ratio(m, threads, &plan->spec, i, true, &sure) > 0))
			return;
	for (size_t i = 0; i < QUEUES; i++) {
		if (!choose(text[i], sizeof(text[i]), plan, m, threads, i))
			continue;
		plan->flag_figures[i].set = !sorts(plan, i);
		if (plan->flag_figures[i].set)
			chosen[n++] = plan->flags[plan->n_flags++] = queues[i].name;
		else
			kept = true;
	}
	plan_reason(
		plan,
		"Flags: %s%s%s. Without dm-crypt's work queues %s, and %s; a flag is set for 1.1 times with one, and nothing lost with several.%s",
		n ? chosen[0] : "none", n > 1 ? ", " : "", n > 1 ? chosen[1] : "", text[0], text[1],
		kept ? " The queue of writes stays: there dm-crypt sorts them, which spares a disk that rotates its seeks."
		     : "");
}
