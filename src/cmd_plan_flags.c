// SPDX-License-Identifier: GPL-2.0-or-later
/* The second stage of a plan's measuring: whether dm-crypt's work queues are worth having here. */
#include "cmd_plan.h"
#include "measure/flags.h"
#include "report/progress.h"

/* A read is only moved by the one, and a write by the other: both at once tell of each. */
#define BOTH (MEASURE_NO_READ_WORKQUEUE | MEASURE_NO_WRITE_WORKQUEUE)

static const unsigned one_thread[] = {1}, flag_sets[] = {0, BOTH}, depths[] = {1, PLAN_FLAGS_DEPTH};

int cmd_plan_flags(struct plan *plan, const struct plan_source *source,
		   const struct cmd_globals *globals, double seconds, struct status *st)
{
	struct measurement m = {0};
	struct progress progress;
	struct measure_request request = {.specs = &plan->spec,
					  .n_specs = 1,
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

	if (plan->basis != PLAN_BASIS_DM || flags_missing(BOTH, &source->facts.kernel.dm))
		return 0;
	progress_begin(&progress, globals->quiet);
	request.progress = progress_show;
	request.progress_arg = &progress;
	ret = measure_run(&m, &request, &source->facts, st);
	progress_end(&progress);
	if (!ret)
		decide_flags(plan, &m, *one_thread);
	measurement_free(&m);
	return ret;
}
