// SPDX-License-Identifier: GPL-2.0-or-later
/* bench's option that only dm-crypt has. */
#include <errno.h>
#include <string.h>

#include "cmd_bench.h"
#include "measure/flags.h"
#include "util/list.h"

static int plan_flags(struct bench_plan *plan, const char *list, const struct facts *facts,
		      struct status *st)
{
	unsigned sets[FLAGS_SETS_MAX];
	char word[FLAGS_TEXT_MAX];
	size_t n = 0;
	int found;

	while (list_next(&list, word, sizeof(word))) {
		found = flags_parse(sets, word, &facts->kernel.dm);
		if (found < 0)
			return status_set(
				st, ST_USAGE, EINVAL,
				"--flags: \"%s\" is none; none, all, and no_read_workqueue, no_write_workqueue, same_cpu_crypt, submit_from_crypt_cpus and high_priority, joined by \"+\", are.",
				word);
		if (n + (size_t)found > BENCH_FLAGS_MAX)
			return status_set(st, ST_USAGE, EINVAL, "--flags: more than %d sets.",
					  BENCH_FLAGS_MAX);
		memcpy(plan->flags + n, sets, (size_t)found * sizeof(*sets));
		n += (size_t)found;
	}
	plan->request.flags = plan->flags;
	plan->request.n_flags = n;
	return 0;
}

int bench_plan_dm(struct bench_plan *plan, const struct bench_options *o, const struct facts *facts,
		  struct status *st)
{
	if (o->flags && !(plan->request.engines & 1U << MEASURE_DM))
		return status_set(st, ST_USAGE, EINVAL, "--flags is for the dm engine, which %s.",
				  o->engine ? "--engine leaves out"
					    : "cannot be had here (see --engine dm)");
	return plan_flags(plan, o->flags, facts, st);
}
