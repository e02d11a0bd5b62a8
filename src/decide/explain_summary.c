// SPDX-License-Identifier: GPL-2.0-or-later
/* The decision in a few sentences: what, why, how sure, what would change it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decide/explain_internal.h"
#include "util/units.h"

__attribute__((format(printf, 2, 3))) static void say(struct plan *plan, const char *format, ...)
{
	size_t used = strlen(plan->summary);
	va_list ap;

	va_start(ap, format);
	vsnprintf(plan->summary + used, sizeof(plan->summary) - used, format, ap);
	va_end(ap);
}

static void say_what(struct plan *plan, const struct choice *w)
{
	char text[SPEC_TEXT_MAX], speed[UNITS_MAX];

	say(plan, "%s: %u bits of strength", spec_print(&w->spec, text), plan->strength);
	if (plan->speed > 0)
		say(plan, " at %s%s", units_speed(plan->speed, speed),
		    w->speed.threads == 1 ? " on one CPU" : "");
	say(plan, ", %s.", plan->pbkdf.type);
}

/* The fastest measured one that it was preferred to, or that it beat, in the order given. */
static const struct choice *best_of(const struct choice *list, size_t n, const struct choice *w,
				    bool preferred)
{
	const struct choice *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (&list[i] != w && list[i].state == CHOICE_MEASURED &&
		    pick_prefers(&list[i], w) == preferred &&
		    (!best || list[i].speed.mixed > best->speed.mixed))
			best = &list[i];
	return best;
}

static void say_why(struct plan *plan, const struct decide_input *input, const struct choice *list,
		    size_t n, const struct choice *w)
{
	const struct choice *stronger = best_of(list, n, w, true);
	char text[SPEC_TEXT_MAX];

	if (input->wanted)
		say(plan, " It was asked for.");
	else if (plan->basis == PLAN_BASIS_FACTS && explain_any_measured(list, n))
		say(plan, " What is weaker is only taken where it is shown to be faster by its "
			  "margin.");
	else if (plan->basis == PLAN_BASIS_FACTS)
		say(plan, " It is what is known to suit this CPU and kernel best.");
	else if (plan->disk.limits && stronger)
		say(plan,
		    " The disk is slower than every cipher on all CPUs; this one takes them %.2f of "
		    "the time of %s, which would else be taken.",
		    stronger->speed.mixed / w->speed.mixed, spec_print(&stronger->spec, text));
	else if (stronger)
		say(plan, " It is %.2f times as fast as %s, which would else be taken.",
		    w->speed.mixed / stronger->speed.mixed, spec_print(&stronger->spec, text));
	else if (plan->disk.limits)
		say(plan,
		    " The disk is slower than every cipher on all CPUs, so the strongest and most "
		    "usual one costs nothing but CPU time.");
	else
		say(plan, " Nothing measured here is stronger, and nothing as strong is faster by "
			  "more than the spread.");
}

/* Why nothing stands behind the choice: other figures there may be. */
static const char *missing(const struct decide_input *input, const struct choice *list, size_t n)
{
	const struct measurement *m = input->measurement;

	if (explain_any_measured(list, n))
		return "as strong ";
	for (size_t i = 0; m && i < m->n_results; i++)
		if (!*m->results[i].error_code)
			return "comparable ";
	return "";
}

static void say_how_sure(struct plan *plan, const struct decide_input *input,
			 const struct choice *list, size_t n, const struct choice *w)
{
	static const char *const from[] = {
		[PLAN_BASIS_DM] = "dm-crypt itself",
		[PLAN_BASIS_AFALG] = "the kernel's own ciphers",
		[PLAN_BASIS_CPU] = "this program's engine, standing for the kernel's driver",
	};
	double half;

	if (plan->basis == PLAN_BASIS_FACTS) {
		say(plan, " Nothing %swas measured.", missing(input, list, n));
		return;
	}
	half = 50 * (w->speed.tie_high - w->speed.tie_low) / w->speed.mixed;
	say(plan, " Measured on %s, to about %.1f %%", from[plan->basis], half);
	if (plan->speed > 0 && model_error(plan->basis) > 0)
		say(plan, "; what dm-crypt makes of it may be off by %.0f %% more, for all alike",
		    100 * model_error(plan->basis));
	say(plan, ".");
}

/* The rival that is nearest to what would make it win. */
static void say_what_would_change(struct plan *plan, const struct decide_input *input,
				  const struct choice *list, size_t n, const struct choice *w)
{
	const struct choice *best = NULL;
	double nearest = 0, share;
	char text[SPEC_TEXT_MAX];

	if (w->state != CHOICE_MEASURED || input->wanted)
		return;
	for (size_t i = 0; i < n; i++) {
		if (&list[i] == w || list[i].state != CHOICE_MEASURED)
			continue;
		share = list[i].speed.mixed / w->speed.mixed / explain_asked(&list[i], w);
		if (best &&
		    (share < nearest || (share == nearest && !pick_prefers(&list[i], best))))
			continue;
		nearest = share;
		best = &list[i];
	}
	if (!best)
		return;
	if (pick_prefers(best, w))
		say(plan, " %s would be taken if it were not slower by what the margins ask for.",
		    spec_print(&best->spec, text));
	else if (explain_asked(best, w) > 1)
		say(plan,
		    " %s would be taken if it were more than %.2f times as fast, spread "
		    "included (it is %.2f times)%s.",
		    spec_print(&best->spec, text), explain_asked(best, w),
		    best->speed.mixed / w->speed.mixed,
		    plan->disk.limits ? " and the disk faster" : "");
	else
		say(plan,
		    " %s would be taken if it were clearly faster (it is %.2f times as fast).",
		    spec_print(&best->spec, text), best->speed.mixed / w->speed.mixed);
}

void explain_summary(struct plan *plan, const struct decide_input *input, const struct choice *list,
		     size_t n, const struct choice *w)
{
	*plan->summary = '\0';
	say_what(plan, w);
	say_why(plan, input, list, n, w);
	say_how_sure(plan, input, list, n, w);
	say_what_would_change(plan, input, list, n, w);
}
