// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"

static const char *cpus(unsigned threads)
{
	return threads == 1 ? "one CPU" : "all measured CPUs";
}

static void explain_speed(struct plan *plan, const struct decide_input *input,
			  const struct choice *w)
{
	char text[SPEC_TEXT_MAX], mixed[UNITS_MAX], enc[UNITS_MAX], dec[UNITS_MAX];
	const char *spec = spec_print(&w->spec, text);
	const char *why = input->wanted ? "was asked for"
					: "is the best of the measured candidates";

	if (plan->basis == PLAN_BASIS_FACTS) {
		plan_reason(plan, "%s %s; nothing comparable was measured.", spec,
			    input->wanted ? "was asked for"
			    : !strcmp(w->spec.kind->mode, "adiantum")
				    ? "is made for CPUs without AES instructions, as this one is"
				    : "is the strongest of the usual ciphers");
		return;
	}
	if (w->speed.order_only) {
		plan_reason(
			plan,
			"%s %s, in order of speed on a faster implementation than the kernel's; no throughput can be told from that.",
			spec, why);
		return;
	}
	plan_reason(
		plan,
		"%s %s: %s expected on %s with %.0f %% reads (reads decrypt at %s, writes encrypt at %s); strength %u bits.",
		spec, why, units_speed(w->speed.mixed, mixed), cpus(w->speed.threads),
		100 * input->policy->read_share, units_speed(w->speed.decrypt, dec),
		units_speed(w->speed.encrypt, enc), spec_strength(&w->spec));
}

static const char *tier_or_unnamed(const char *tier)
{
	return *tier ? tier : "unnamed";
}

/* Names the tiers that the figures come from, and the one that they should come from. */
static void explain_cpu(struct plan *plan, const struct decide_input *input, const struct choice *w)
{
	const char *driver = NULL, *kernel = w->spec.kind->kernel;
	enum kernel_aes_kind kind = kernel_aes_kind(&input->facts->kernel, kernel, &driver);
	const char *mirror = decide_mirror_tier(&input->facts->kernel, kernel);
	const char *writes = tier_or_unnamed(w->speed.tier[ENGINE_ENCRYPT]);
	const char *reads = tier_or_unnamed(w->speed.tier[ENGINE_DECRYPT]);
	char on[sizeof(plan->reasons[0])];

	if (strcmp(writes, reads) != 0)
		snprintf(on, sizeof(on), "%s tier (writes) and the %s tier (reads), not on the %s",
			 writes, reads, mirror);
	else if (strcmp(writes, mirror) != 0)
		snprintf(on, sizeof(on), "%s tier, not on the %s", writes, mirror);
	else
		snprintf(on, sizeof(on), "%s", mirror);
	if (kind == KERNEL_AES_UNKNOWN)
		driver = "the slowest that the kernel may have, since its driver is not known";
	plan_reason(
		plan,
		"Measured in-process on the %s tier, which stands for %s; the kernel's cost per request is not in it.",
		on, driver ? driver : "the kernel's driver");
}

static void explain_afalg(struct plan *plan, const struct ground *ground)
{
	if (ground->crossing > 0)
		plan_reason(
			plan,
			"Measured on the kernel's own ciphers through AF_ALG, a request a sector. The crossing into the kernel, %.1f microseconds at most and alike for all ciphers, is taken off: a disk does not pay it. The low figure is without that.",
			ground->crossing * 1e6);
	else
		plan_reason(
			plan,
			"Measured on the kernel's own ciphers through AF_ALG, a request a sector, the crossing into the kernel included%s: dm-crypt does without it and is faster.",
			ground->crossing_known
				? ""
				: ", since no cipher was measured at two sector sizes");
}

static void explain_basis(struct plan *plan, const struct decide_input *input,
			  const struct ground *ground, const struct choice *w)
{
	switch (plan->basis) {
	case PLAN_BASIS_DM:
		plan_reason(plan, "Measured through dm-crypt itself.");
		break;
	case PLAN_BASIS_AFALG:
		explain_afalg(plan, ground);
		break;
	case PLAN_BASIS_CPU:
		explain_cpu(plan, input, w);
		break;
	case PLAN_BASIS_FACTS:
		plan_reason(plan,
			    "Rests on what is known of this CPU and kernel, not on a measurement.");
		break;
	}
	if (plan->basis != PLAN_BASIS_DM && plan->basis != PLAN_BASIS_AFALG &&
	    cpu_has_aes(&input->facts->cpu) == 0 && !strcmp(w->spec.kind->cipher, "aes"))
		plan_reason(
			plan,
			"This CPU has no AES instructions: Adiantum may be faster, and could not be measured here.");
}

/* Whether a larger sector size, though it could be had, has no figure to compare. */
static bool larger_unmeasured(const struct decide_input *input, const struct ground *ground,
			      const struct choice *w)
{
	struct spec spec = w->spec;
	struct speed speed;
	char reason[192];

	if (!(w->speed.mixed > 0))
		return false;
	for (spec.sector *= 2; spec.sector <= SPEC_SECTOR_MAX; spec.sector *= 2) {
		speed_of(&speed, input, ground, &spec);
		if (!(speed.mixed > 0) &&
		    sector_allowed(input, spec.kind, spec.sector, false, reason, sizeof(reason)))
			return true;
	}
	return false;
}

static void explain_sector(struct plan *plan, const struct decide_input *input,
			   const struct ground *ground, const struct choice *w)
{
	const struct device_facts *d = input->device;
	const char *where = d ? "the data area's place and length allow" : "dm-crypt has";

	if (input->sector || (input->wanted && input->wanted->sector))
		plan_reason(plan, "Sector size %u as asked for.", w->spec.sector);
	else if (larger_unmeasured(input, ground, w))
		plan_reason(plan, "Sector size %u: a larger one was not measured.", w->spec.sector);
	else if (ground->basis == PLAN_BASIS_DM)
		plan_reason(
			plan,
			"Sector size %u: of those that %s, the largest that is measurably faster.",
			w->spec.sector, where);
	else
		plan_reason(
			plan,
			"Sector size %u: the largest that %s%s; fewer, larger sectors cost fewer requests, tweaks and IVs.",
			w->spec.sector, where,
			ground->basis == PLAN_BASIS_FACTS ? "" : " and that does not cost speed");
	if (d && d->kind != DEVICE_FILE && d->physical_block &&
	    w->spec.sector > d->physical_block && !w->spec.kind->wide_block)
		plan_reason(
			plan,
			"It is larger than the disk's physical block of %u bytes: each 16-byte block stands alone in %s, so a torn write leaves what it would leave without encryption.",
			d->physical_block, w->spec.kind->mode);
}

/* What `format` would say of the device as it is now. */
static void explain_device(struct plan *plan, const struct device_facts *d)
{
	if (d->n_users)
		plan_reason(plan, "%s is in use (%s %s): format will refuse it until it is not.",
			    d->path, d->users[0].kind, d->users[0].what);
	if (d->read_only == 1)
		plan_reason(plan, "%s is read-only: format will refuse it.", d->path);
	if (d->zoned == DEVICE_ZONED_HOST_MANAGED)
		plan_reason(plan, "%s is a host-managed zoned device: format will refuse it.",
			    d->path);
	if (d->optimal_io && !decide_optimal_io_sane(d))
		plan_reason(
			plan,
			"The device's optimal I/O size of %" PRIu64
			" bytes is not taken for aligning: it is no multiple of 4096, or absurdly large.",
			d->optimal_io);
	else if (plan->data_offset != PLAN_DATA_OFFSET)
		plan_reason(plan,
			    "The data begins at byte %" PRIu64
			    ", the next multiple of the device's optimal I/O size of %" PRIu64 ".",
			    plan->data_offset, d->optimal_io);
}

static void explain_place(struct plan *plan, const struct decide_input *input)
{
	const struct kernel_dm *dm = &input->facts->kernel.dm;

	if (!dm->available && dm->reason[0])
		plan_reason(plan, "This machine cannot open the volume now: %s.", dm->reason);
	if (input->device)
		explain_device(plan, input->device);
	plan_reason(plan, "Password hash: %s.", plan->pbkdf.reason);
}

static void reject(struct plan *plan, const struct spec *spec, double speed, const char *reason)
{
	struct plan_rejected *r = &plan->rejected[plan->n_rejected++];

	r->spec = *spec;
	r->speed = speed;
	snprintf(r->reason, sizeof(r->reason), "%s", reason);
}

static bool same_strength(const struct spec *a, const struct spec *b)
{
	return spec_class(a) == spec_class(b) && spec_strength(a) == spec_strength(b);
}

static void reject_measured(struct plan *plan, const struct decide_input *input,
			    const struct choice *c, const struct choice *w)
{
	double ratio = c->speed.mixed / w->speed.mixed, margin = c->factor / w->factor;
	char speed[UNITS_MAX], expected[UNITS_MAX + 16] = "", what[80], reason[256];

	if (!c->speed.order_only)
		snprintf(expected, sizeof(expected), "%s expected, ",
			 units_speed(c->speed.mixed, speed));
	if (same_strength(&c->spec, &w->spec))
		snprintf(what, sizeof(what), "less usual");
	else
		snprintf(what, sizeof(what), "weaker (%s, %u bits)",
			 spec_class_name(spec_class(&c->spec)), spec_strength(&c->spec));
	if (ratio < 1 && !speed_tie(&c->speed, &w->speed))
		snprintf(reason, sizeof(reason), "%s%.0f %% slower", expected, 100 * (1 - ratio));
	else if (margin > 1)
		snprintf(
			reason, sizeof(reason),
			"%s: %s%.2f times as fast, where policy %s asks for more than %.2f times, with the spread counted against it",
			what, expected, ratio, input->policy->name, margin);
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
		reject_measured(plan, input, c, w);
		break;
	case CHOICE_UNMEASURED:
		if (plan->basis != PLAN_BASIS_FACTS)
			snprintf(reason, sizeof(reason), "%s", c->speed.reason);
		else if (spec_class(&c->spec) != spec_class(&w->spec))
			snprintf(
				reason, sizeof(reason),
				"weaker (%s, %u bits), and nothing was measured that would speak for it",
				spec_class_name(spec_class(&c->spec)), spec_strength(&c->spec));
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

/* A weaker class that won owes a word on what it won against. */
static void explain_weaker(struct plan *plan, const struct decide_input *input,
			   const struct choice *list, size_t n, const struct choice *w)
{
	const struct choice *best = NULL;
	char text[SPEC_TEXT_MAX];

	if (w->state != CHOICE_MEASURED || input->wanted)
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].state == CHOICE_MEASURED && list[i].factor < w->factor &&
		    (!best || list[i].speed.mixed > best->speed.mixed))
			best = &list[i];
	if (best)
		plan_reason(
			plan,
			"It goes before %s, which is stronger or more usual, since it is %.2f times as fast: policy %s asks for more than %.2f times.",
			spec_print(&best->spec, text), w->speed.mixed / best->speed.mixed,
			input->policy->name, w->factor / best->factor);
}

/* A faster candidate that only the spread kept from winning: more measuring would tell. */
static void explain_undecided(struct plan *plan, const struct choice *list, size_t n,
			      const struct choice *w)
{
	const struct choice *best = NULL;
	char text[SPEC_TEXT_MAX];

	if (w->state != CHOICE_MEASURED)
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].state == CHOICE_MEASURED &&
		    list[i].speed.mixed / list[i].factor > w->speed.mixed / w->factor * 1.1 &&
		    (!best || list[i].speed.mixed > best->speed.mixed))
			best = &list[i];
	if (best)
		plan_reason(
			plan,
			"A tie: the figures spread too widely to tell it from %s, whose median is higher; the stronger or more usual one is taken. A longer run (--time) on a quiet machine would tell.",
			spec_print(&best->spec, text));
}

int explain_plan(struct plan *plan, const struct decide_input *input, const struct ground *ground,
		 const struct choice *list, size_t n, const struct choice *winner)
{
	plan->rejected = calloc(n + 3, sizeof(*plan->rejected));
	if (!plan->rejected)
		return -ENOMEM;
	explain_speed(plan, input, winner);
	explain_weaker(plan, input, list, n, winner);
	explain_undecided(plan, list, n, winner);
	explain_basis(plan, input, ground, winner);
	explain_sector(plan, input, ground, winner);
	explain_place(plan, input);
	for (size_t i = 0; i < n; i++)
		if (&list[i] != winner)
			reject_candidate(plan, input, &list[i], winner);
	reject_sectors(plan, input, ground, winner);
	return 0;
}
