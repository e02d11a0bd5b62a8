// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/explain_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"

double explain_asked(const struct choice *c, const struct choice *w)
{
	return c->rare / w->rare * (pick_as_strong(c, w) ? 1 : c->factor / w->factor);
}

static const char *cpus(unsigned threads)
{
	return threads == 1 ? "one CPU" : "all measured CPUs";
}

bool explain_any_measured(const struct choice *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].state == CHOICE_MEASURED)
			return true;
	return false;
}

static void explain_speed(struct plan *plan, const struct decide_input *input,
			  const struct choice *list, size_t n, const struct choice *w)
{
	char text[SPEC_TEXT_MAX], mixed[UNITS_MAX], enc[UNITS_MAX], dec[UNITS_MAX];
	const char *spec = spec_print(&w->spec, text);
	const char *why = input->wanted ? "was asked for"
					: "is the best of the measured candidates";

	if (plan->basis == PLAN_BASIS_FACTS) {
		plan_reason(plan, "%s %s; %s.", spec,
			    input->wanted ? "was asked for"
			    : !strcmp(w->spec.kind->mode, "adiantum")
				    ? "is made for CPUs without AES instructions, as this one is"
				    : "is the strongest of the usual ciphers",
			    explain_any_measured(list, n)
				    ? "nothing as strong was measured, and what is weaker is only "
				      "taken where it is shown to be faster by its margin"
				    : "nothing comparable was measured");
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
		"Measured in-process on the %s tier, which %s %s; the kernel's cost per request is not in it.",
		on,
		decide_mirror_is_faster(&input->facts->kernel, kernel) ? "is faster than"
								       : "stands for",
		driver ? driver : "the kernel's driver");
}

static void explain_afalg(struct plan *plan, const struct ground *ground)
{
	if (ground->model.crossing > 0)
		plan_reason(
			plan,
			"Measured on the kernel's own ciphers through AF_ALG, a request a sector. The crossing into the kernel, %.1f microseconds at most and alike for all ciphers, is taken off: a disk does not pay it.",
			ground->model.crossing * 1e6);
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

/* A thousandth of what the slowest machine does. */
#define ABSURD 100e3

/* Figures in megabytes, or of something that is no cipher. */
static void explain_absurd(struct plan *plan, const struct choice *list, size_t n)
{
	char text[UNITS_MAX];
	double most = 0;

	for (size_t i = 0; i < n; i++)
		if (list[i].state == CHOICE_MEASURED && list[i].speed.mixed > most)
			most = list[i].speed.mixed;
	if (most > 0 && most < ABSURD)
		plan_reason(
			plan,
			"Warning: the fastest figure here is %s, which no machine is as slow as: results are "
			"bytes per second.",
			units_speed(most, text));
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
		if (list[i].state == CHOICE_MEASURED && explain_asked(w, &list[i]) > 1 &&
		    (!best || pick_prefers(&list[i], best)))
			best = &list[i];
	if (best)
		plan_reason(
			plan,
			"It goes before %s, which is stronger or more usual, since it is %.2f times as fast: policy %s asks for more than %.2f times.",
			spec_print(&best->spec, text), w->speed.mixed / best->speed.mixed,
			input->policy->name, explain_asked(w, best));
}

/* A faster candidate that only the spread kept from winning: more measuring would tell. */
static void explain_undecided(struct plan *plan, const struct choice *list, size_t n,
			      const struct choice *w)
{
	const struct choice *best = NULL;
	char text[SPEC_TEXT_MAX];

	if (w->state != CHOICE_MEASURED || plan->disk.limits)
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].state == CHOICE_MEASURED &&
		    list[i].speed.mixed > 1.1 * explain_asked(&list[i], w) * w->speed.mixed &&
		    (!best || list[i].speed.mixed > best->speed.mixed))
			best = &list[i];
	if (best)
		plan_reason(
			plan,
			"A tie: the figures spread too widely to tell it from %s, whose median is higher; the stronger or more usual one is taken. A longer run (--time) on a quiet machine would tell.",
			spec_print(&best->spec, text));
}

/* Saarinen 2004, "Encrypted watermarks and Linux laptop security": what ESSIV was made against. */
static void explain_watermark(struct plan *plan, const struct choice *w)
{
	char text[SPEC_TEXT_MAX];

	if (strcmp(w->spec.kind->mode, "cbc") || strncmp(w->spec.kind->iv, "plain", 5))
		return;
	plan_reason(
		plan,
		"Warning: %s can be watermarked. Its IVs are the sectors' numbers, which everybody can foresee, so whoever brings a file of his making onto the volume can prove later, without the key, that it is there. aes-cbc-essiv:sha256 has no such weakness, and neither has aes-xts-plain64.",
		spec_print(&w->spec, text));
}

int explain_plan(struct plan *plan, const struct decide_input *input, const struct ground *ground,
		 const struct choice *list, size_t n, const struct choice *winner)
{
	plan->rejected = calloc(n + 3, sizeof(*plan->rejected));
	if (!plan->rejected)
		return -ENOMEM;
	explain_speed(plan, input, list, n, winner);
	explain_weaker(plan, input, list, n, winner);
	explain_undecided(plan, list, n, winner);
	explain_absurd(plan, list, n);
	explain_watermark(plan, winner);
	explain_basis(plan, input, ground, winner);
	if (!winner->spec.kind->integrity)
		plan_reason(plan, "%s", winner->spec.kind->protects);
	explain_disk(plan, winner);
	explain_sector(plan, input, ground, winner);
	explain_integrity(plan, input, winner);
	explain_place(plan, input);
	explain_rejected(plan, input, ground, list, n, winner);
	explain_summary(plan, input, list, n, winner);
	return 0;
}
