// SPDX-License-Identifier: GPL-2.0-or-later
/* Why each of the others was not taken. */
#include <stdio.h>
#include <string.h>

#include "decide/explain_internal.h"
#include "util/units.h"

static void reject(struct plan *plan, const struct spec *spec, double speed, const char *reason)
{
	struct plan_rejected *r = &plan->rejected[plan->n_rejected++];

	r->spec = *spec;
	r->speed = speed;
	snprintf(r->reason, sizeof(r->reason), "%s", reason);
}

/* "weaker (CBC, 256 bits)" */
static const char *standing(char *text, size_t size, const struct choice *c, const struct choice *w)
{
	if (pick_prefers(c, w))
		snprintf(text, size, "stronger or more usual");
	else if (pick_as_strong(c, w))
		snprintf(text, size, "less usual");
	else
		snprintf(text, size, "weaker (%s, %u bits)", spec_class_words(&c->spec),
			 spec_strength(&c->spec));
	return text;
}

/* Measured, and weaker than one that was not. */
static void reject_unshown(struct plan *plan, const struct choice *c, const struct choice *w)
{
	char what[96], reason[256];

	snprintf(
		reason, sizeof(reason),
		"%s, and nothing as strong as the choice was measured that it could be faster than",
		standing(what, sizeof(what), c, w));
	reject(plan, &c->spec, c->speed.order_only ? 0 : c->speed.mixed, reason);
}

static void reject_measured(struct plan *plan, const struct decide_input *input,
			    const struct choice *c, const struct choice *w)
{
	double ratio = c->speed.mixed / w->speed.mixed, asked = explain_asked(c, w);
	char speed[UNITS_MAX], expected[UNITS_MAX + 16] = "", what[96], reason[256];
	char other[SPEC_TEXT_MAX], disk[UNITS_MAX];

	standing(what, sizeof(what), c, w);
	if (!c->speed.order_only)
		snprintf(expected, sizeof(expected), "%s expected, ",
			 units_speed(c->speed.mixed, speed));
	if (ratio < 1 && !speed_tie(&c->speed, &w->speed))
		snprintf(reason, sizeof(reason), "%s%.0f %% slower", expected, 100 * (1 - ratio));
	else if (pick_prefers(c, w) && c->beaten_by)
		snprintf(reason, sizeof(reason), "%s: %s%.0f %% slower than %s", what, expected,
			 100 * (1 - c->speed.mixed / c->beaten_by->speed.mixed),
			 spec_print(&c->beaten_by->spec, other));
	else if (asked > 1 && ratio > asked && plan->disk.needed > 0)
		snprintf(
			reason, sizeof(reason),
			"%s: %s%.2f times as fast, but the disk reads at %s, and no cipher makes it faster",
			what, expected, ratio, units_speed(plan->disk.speed.speed, disk));
	else if (asked > 1)
		snprintf(
			reason, sizeof(reason),
			"%s: %s%.2f times as fast, where policy %s asks for more than %.2f times, with the spread counted against it",
			what, expected, ratio, input->policy->name, asked);
	else
		snprintf(reason, sizeof(reason), "%s: %sno faster than the spread can tell", what,
			 expected);
	reject(plan, &c->spec, c->speed.order_only ? 0 : c->speed.mixed, reason);
}

static void reject_candidate(struct plan *plan, const struct decide_input *input,
			     const struct choice *c, const struct choice *w)
{
	char reason[256];

	switch (c->state) {
	case CHOICE_MEASURED:
		if (w->state == CHOICE_MEASURED)
			reject_measured(plan, input, c, w);
		else
			reject_unshown(plan, c, w);
		break;
	case CHOICE_UNMEASURED:
		if (plan->basis != PLAN_BASIS_FACTS)
			snprintf(reason, sizeof(reason), "%s", c->speed.reason);
		else if (spec_class(&c->spec) != spec_class(&w->spec))
			snprintf(
				reason, sizeof(reason),
				"weaker (%s, %u bits), and nothing was measured that would speak for it",
				spec_class_words(&c->spec), spec_strength(&c->spec));
		else
			snprintf(reason, sizeof(reason),
				 "less usual, and nothing was measured that would speak for it");
		reject(plan, &c->spec, 0, reason);
		break;
	case CHOICE_NOT_ADMITTED:
	case CHOICE_NO_SECTOR:
		reject(plan, &c->spec, 0, c->reason);
		break;
	}
}

static void reject_sector(struct plan *plan, const struct decide_input *input,
			  const struct speed *speed, const struct spec *spec,
			  const struct choice *w)
{
	char text[UNITS_MAX], reason[256];

	if (!sector_allowed(input, spec->kind, spec->sector, false, reason, sizeof(reason)))
		;
	else if (input->sector || (input->wanted && input->wanted->sector))
		snprintf(reason, sizeof(reason), "another sector size was asked for");
	else if (w->speed.mixed > 0 && !(speed->mixed > 0))
		snprintf(reason, sizeof(reason), "not measured with this sector size");
	else if (!(speed->mixed > 0) || speed->order_only || w->speed.order_only)
		snprintf(reason, sizeof(reason), "smaller sectors cost more requests");
	else if (speed_tie(speed, &w->speed) || speed->mixed >= w->speed.mixed)
		snprintf(reason, sizeof(reason), "%s expected, no difference that speaks for it",
			 units_speed(speed->mixed, text));
	else
		snprintf(reason, sizeof(reason), "%s expected, %.0f %% slower",
			 units_speed(speed->mixed, text),
			 100 * (1 - speed->mixed / w->speed.mixed));
	reject(plan, spec, speed->order_only ? 0 : speed->mixed, reason);
}

static void reject_sectors(struct plan *plan, const struct decide_input *input,
			   const struct ground *ground, const struct choice *w)
{
	struct spec spec = w->spec;
	struct speed speed;

	for (spec.sector = SPEC_SECTOR_MIN; spec.sector <= SPEC_SECTOR_MAX; spec.sector *= 2) {
		if (spec.sector == w->spec.sector)
			continue;
		speed_of(&speed, input, ground, &spec);
		reject_sector(plan, input, &speed, &spec, w);
	}
}

void explain_rejected(struct plan *plan, const struct decide_input *input,
		      const struct ground *ground, const struct choice *list, size_t n,
		      const struct choice *w)
{
	for (size_t i = 0; i < n; i++)
		if (&list[i] != w)
			reject_candidate(plan, input, &list[i], w);
	reject_sectors(plan, input, ground, w);
}
