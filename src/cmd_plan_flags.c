// SPDX-License-Identifier: GPL-2.0-or-later
/* The second stage of a plan's measuring: whether dm-crypt's work queues are worth having here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_plan.h"
#include "measure/flags.h"
#include "report/progress.h"

/* The choice, and the one that would take its place. */
#define SPECS 2

/* A read is only moved by the one, and a write by the other: both at once tell of each. */
#define BOTH (MEASURE_NO_READ_WORKQUEUE | MEASURE_NO_WRITE_WORKQUEUE)

static const unsigned one_thread[] = {1}, flag_sets[] = {0, BOTH}, depths[] = {1, PLAN_FLAGS_DEPTH};

/* Whether a cell was measured anew. */
static bool replaced(const struct measure_result *old, const struct measurement *fresh)
{
	for (size_t i = 0; i < fresh->n_results; i++) {
		const struct measure_result *r = &fresh->results[i];

		if (r->engine == old->engine && spec_equal(&r->spec, &old->spec) &&
		    r->direction == old->direction && r->size == old->size &&
		    r->threads == old->threads && r->flags == old->flags && r->depth == old->depth)
			return true;
	}
	return false;
}

/* Flags are compared within one run: where that measured a cell again, the old figure goes. */
static int merge(struct measurement *m, const struct measurement *fresh)
{
	struct measure_result *list;
	size_t n = 0;

	list = malloc((m->n_results + fresh->n_results + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_results; i++)
		if (!replaced(&m->results[i], fresh))
			list[n++] = m->results[i];
	memcpy(list + n, fresh->results, fresh->n_results * sizeof(*list));
	n += fresh->n_results;
	free(m->results);
	m->results = list;
	m->n_results = n;
	return 0;
}

static size_t list_specs(struct spec specs[SPECS], const struct plan *plan)
{
	const struct plan_rejected *next = NULL;

	specs[0] = plan->spec;
	for (size_t i = 0; i < plan->n_rejected; i++) {
		const struct plan_rejected *r = &plan->rejected[i];
		bool same = r->spec.kind == plan->spec.kind &&
			    r->spec.key_bits == plan->spec.key_bits;

		if (!same && r->spec.sector && r->speed > 0 && (!next || r->speed > next->speed))
			next = r;
	}
	if (!next)
		return 1;
	specs[1] = next->spec;
	return 2;
}

int cmd_plan_measure_flags(struct plan_source *source, const struct cmd_globals *globals,
			   const struct plan *plan, double seconds, bool *measured,
			   struct status *st)
{
	struct measurement fresh = {0};
	struct spec specs[SPECS];
	struct progress progress;
	struct measure_request request = {.specs = specs,
					  .threads = one_thread,
					  .n_threads = 1,
					  .flags = flag_sets,
					  .n_flags = 2,
					  .depths = depths,
					  .n_depths = 2,
					  .engines = 1U << MEASURE_DM,
					  .shapes = 1U << ENGINE_SERIAL,
					  .seconds = seconds};
	int ret;

	*measured = false;
	if (plan->basis != PLAN_BASIS_DM || flags_missing(BOTH, &source->facts.kernel.dm))
		return 0;
	request.n_specs = list_specs(specs, plan);
	progress_begin(&progress, globals->quiet);
	request.progress = progress_show;
	request.progress_arg = &progress;
	ret = measure_run(&fresh, &request, &source->facts, st);
	progress_end(&progress);
	if (!ret)
		ret = merge(&source->measurement, &fresh);
	*measured = !ret;
	measurement_free(&fresh);
	return ret == -ENOMEM ? status_nomem(st) : ret;
}
