// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The choice. Every candidate gets its best sector size and the speed to expect there; its speed is
 * divided by what its class must be faster by; the highest quotient wins, and among those that the
 * spread cannot tell apart the stronger, then the more usual one.
 */
#include "decide/decide.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/explain.h"
#include "decide/internal.h"

void plan_reason(struct plan *plan, const char *format, ...)
{
	va_list ap;

	if (plan->n_reasons == sizeof(plan->reasons) / sizeof(plan->reasons[0]))
		return;
	va_start(ap, format);
	vsnprintf(plan->reasons[plan->n_reasons++], sizeof(plan->reasons[0]), format, ap);
	va_end(ap);
}

const char *plan_basis_name(enum plan_basis basis)
{
	static const char *const names[] = {[PLAN_BASIS_DM] = "dm",
					    [PLAN_BASIS_AFALG] = "afalg",
					    [PLAN_BASIS_CPU] = "cpu",
					    [PLAN_BASIS_FACTS] = "facts"};

	return names[basis];
}

void plan_free(struct plan *plan)
{
	free(plan->rejected);
	plan->rejected = NULL;
	plan->n_rejected = 0;
}

/* What a candidate's speed is divided by: 1 for the strongest, 0 when the policy never takes it. */
static double handicap(const struct policy *policy, const struct spec *spec)
{
	enum spec_class class = spec_class(spec);
	double factor = class == SPEC_CLASS_STRONG ? 1 : policy->margin[class];

	if (spec->kind->usual >= SPEC_USUAL_RARE)
		factor *= policy->rare_margin;
	/* Half the strength costs the same again within CBC. */
	if (class == SPEC_CLASS_CBC && spec_strength(spec) < 256)
		factor *= policy->margin[SPEC_CLASS_XTS128];
	return factor;
}

/*
 * How much slower a larger sector may look before it is dropped, where the kernel's cost per sector
 * (a request, a tweak or IV, a walk over the pages) is not in the figures: that cost, some hundred
 * nanoseconds, only ever speaks for the larger one.
 */
#define SECTOR_ALLOWANCE 0.15

/* On dm-crypt's own figures a larger sector must be faster; on others it must not be much slower.
 */
static bool prefer_larger(enum plan_basis basis, const struct speed *small,
			  const struct speed *large)
{
	if (!(large->mixed > 0))
		return !(small->mixed > 0);
	if (!(small->mixed > 0))
		return true;
	if (basis == PLAN_BASIS_DM)
		return large->mixed > small->mixed && !speed_tie(small, large);
	return large->tie_high >= small->tie_low * (1 - SECTOR_ALLOWANCE);
}

static void choose_sector(struct choice *c, const struct decide_input *input,
			  const struct ground *ground, unsigned wanted)
{
	struct spec spec = c->spec;
	struct speed speed;
	bool found = false;
	char reason[192];

	for (spec.sector = SPEC_SECTOR_MIN; spec.sector <= SPEC_SECTOR_MAX; spec.sector *= 2) {
		if (wanted && spec.sector != wanted)
			continue;
		if (!sector_allowed(input, spec.kind, spec.sector, wanted != 0, reason,
				    sizeof(reason))) {
			if (!found)
				snprintf(c->reason, sizeof(c->reason), "%s", reason);
			continue;
		}
		speed_of(&speed, input, ground, &spec);
		if (found && !prefer_larger(ground->basis, &c->speed, &speed))
			continue;
		found = true;
		c->spec = spec;
		c->speed = speed;
	}
	c->state = !found               ? CHOICE_NO_SECTOR
		   : c->speed.mixed > 0 ? CHOICE_MEASURED
					: CHOICE_UNMEASURED;
}

static void judge(struct choice *c, const struct candidate *candidate,
		  const struct decide_input *input, const struct ground *ground)
{
	unsigned wanted = input->sector ? input->sector : input->wanted ? input->wanted->sector : 0;

	c->spec = candidate->spec;
	c->factor = handicap(input->policy, &c->spec);
	c->state = CHOICE_NOT_ADMITTED;
	c->by_policy = true;
	if (!c->spec.kind->fips && (input->policy->fips || input->facts->kernel.fips)) {
		snprintf(c->reason, sizeof(c->reason), "%s",
			 input->facts->kernel.fips
				 ? "not approved, and the kernel runs in FIPS mode"
				 : "not approved for FIPS");
	} else if (c->factor == 0) {
		snprintf(c->reason, sizeof(c->reason), "policy %s never takes %s",
			 input->policy->name, spec_class_name(spec_class(&c->spec)));
	} else if (!candidate->admitted) {
		c->by_policy = false;
		snprintf(c->reason, sizeof(c->reason), "%s", candidate->reason);
	} else {
		choose_sector(c, input, ground, wanted);
	}
}

static struct speed scaled(const struct choice *c)
{
	struct speed s = c->speed;

	s.tie_low /= c->factor;
	s.tie_high /= c->factor;
	return s;
}

/* Whether a is the better known of two that speed does not tell apart. */
static bool stronger(const struct choice *a, const struct choice *b)
{
	if (spec_class(&a->spec) != spec_class(&b->spec))
		return spec_class(&a->spec) < spec_class(&b->spec);
	if (spec_strength(&a->spec) != spec_strength(&b->spec))
		return spec_strength(&a->spec) > spec_strength(&b->spec);
	return a->spec.kind->usual < b->spec.kind->usual;
}

static const struct choice *pick_measured(const struct choice *list, size_t n)
{
	const struct choice *best = NULL, *winner;
	struct speed top, other;

	for (size_t i = 0; i < n; i++) {
		if (list[i].state != CHOICE_MEASURED)
			continue;
		if (!best ||
		    list[i].speed.mixed / list[i].factor > best->speed.mixed / best->factor)
			best = &list[i];
	}
	if (!best)
		return NULL;
	winner = best;
	top = scaled(best);
	for (size_t i = 0; i < n; i++) {
		if (list[i].state != CHOICE_MEASURED)
			continue;
		other = scaled(&list[i]);
		if (speed_tie(&top, &other) && stronger(&list[i], winner))
			winner = &list[i];
	}
	return winner;
}

/*
 * With nothing measured: AES-XTS, unless the CPU is known to have no AES instructions and the
 * kernel to have Adiantum, which was made for just that (Crowley and Biggers 2018, "Adiantum:
 * length-preserving encryption for entry-level processors").
 */
static const struct choice *pick_unmeasured(const struct choice *list, size_t n,
					    const struct facts *facts)
{
	const struct choice *winner = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct kernel_attempt *a = kernel_attempt_for(&facts->kernel,
								    list[i].spec.kind->kernel);

		if (list[i].state != CHOICE_UNMEASURED)
			continue;
		if (!strcmp(list[i].spec.kind->mode, "adiantum") && cpu_has_aes(&facts->cpu) == 0 &&
		    ((a && a->available) ||
		     kernel_driver_for(&facts->kernel, list[i].spec.kind->kernel)))
			return &list[i];
		if (!winner || stronger(&list[i], winner))
			winner = &list[i];
	}
	return winner;
}

/* The candidates: all that are offered, or the one that the user insists on. */
static int list_candidates(struct candidates *candidates, const struct decide_input *input)
{
	struct candidate *c;
	int ret = candidates_list(candidates, input->facts);

	if (ret || !input->wanted)
		return ret;
	for (c = candidates->list; c < candidates->list + candidates->n; c++)
		if (c->spec.kind == input->wanted->kind &&
		    c->spec.key_bits == input->wanted->key_bits)
			break;
	if (c == candidates->list + candidates->n) {
		/* Known, but never offered: there is always at least one offered spec to overwrite.
		 */
		c = candidates->list;
		c->admitted = true;
	}
	c->spec.kind = input->wanted->kind;
	c->spec.key_bits = input->wanted->key_bits;
	candidates->list[0] = *c;
	candidates->n = 1;
	return 0;
}

/* The largest sector size that could be had, for a refusal to name; 0: none. */
static unsigned largest_sector(const struct decide_input *input, const struct spec_kind *kind)
{
	char reason[192];
	unsigned s;

	for (s = SPEC_SECTOR_MAX; s >= SPEC_SECTOR_MIN; s /= 2)
		if (sector_allowed(input, kind, s, true, reason, sizeof(reason)))
			return s;
	return 0;
}

static int refuse(const struct choice *list, size_t n, const struct decide_input *input,
		  struct status *st)
{
	char text[SPEC_TEXT_MAX];
	unsigned wanted = input->sector ? input->sector : input->wanted ? input->wanted->sector : 0;

	for (size_t i = 0; i < n; i++)
		if (list[i].state == CHOICE_NO_SECTOR && wanted)
			return status_set(
				st, ST_REFUSED, EINVAL,
				"Sectors of %u bytes cannot be used here: %s; the largest that can is %u. Nothing was written.",
				wanted, list[i].reason, largest_sector(input, list[i].spec.kind));
	if (n == 1 && input->wanted)
		return status_set(st, list[0].by_policy ? ST_REFUSED : ST_MISSING, EOPNOTSUPP,
				  "%s cannot be used here: %s. Nothing was written.",
				  spec_print(&list[0].spec, text), list[0].reason);
	return status_set(st, ST_MISSING, EOPNOTSUPP,
			  "No cipher can be recommended here; the first one, %s, was refused: %s.",
			  spec_print(&list[0].spec, text), list[0].reason);
}

int decide_check_device(const struct device_facts *device, struct status *st)
{
	uint64_t offset = decide_data_offset(device);

	if (!device || decide_data_length(device, offset) >= SPEC_SECTOR_MIN)
		return 0;
	return status_set(st, ST_DEVICE, ENOSPC,
			  "%s is too small: it has %" PRIu64
			  " bytes, and a LUKS2 header takes %" PRIu64 "; at least %" PRIu64
			  " are needed.",
			  device->path, device->size, offset, offset + SPEC_SECTOR_MIN);
}

static void fill_plan(struct plan *plan, const struct choice *winner, enum plan_basis basis)
{
	plan->spec = winner->spec;
	plan->strength = spec_strength(&winner->spec);
	plan->basis = basis;
	if (winner->speed.order_only)
		return;
	plan->speed = winner->speed.mixed;
	plan->low = winner->speed.low;
	plan->high = winner->speed.high;
	plan->encrypt = winner->speed.encrypt;
	plan->decrypt = winner->speed.decrypt;
}

static int choose(struct plan *plan, const struct decide_input *input,
		  const struct candidates *candidates, struct choice *list, struct status *st)
{
	const struct choice *winner;
	struct ground ground;
	int ret;

	speed_ground(&ground, input, candidates);
	for (size_t i = 0; i < candidates->n; i++)
		judge(&list[i], &candidates->list[i], input, &ground);
	winner = pick_measured(list, candidates->n);
	if (!winner) {
		ground.basis = PLAN_BASIS_FACTS;
		winner = pick_unmeasured(list, candidates->n, input->facts);
	}
	if (!winner)
		return refuse(list, candidates->n, input, st);
	fill_plan(plan, winner, ground.basis);
	ret = explain_plan(plan, input, &ground, list, candidates->n, winner);
	if (!ret)
		flags_choose(plan, input, &ground);
	return ret;
}

int decide_plan(struct plan *plan, const struct decide_input *input, struct status *st)
{
	struct candidates candidates = {NULL, 0};
	struct choice *list = NULL;
	int ret;

	memset(plan, 0, sizeof(*plan));
	plan->data_offset = decide_data_offset(input->device);
	ret = decide_check_device(input->device, st);
	if (ret)
		return ret;
	ret = pbkdf_choose(&plan->pbkdf, input, st);
	if (ret)
		return ret;
	ret = list_candidates(&candidates, input);
	if (!ret) {
		list = calloc(candidates.n, sizeof(*list));
		ret = list ? choose(plan, input, &candidates, list, st) : -ENOMEM;
	}
	free(list);
	candidates_free(&candidates);
	return ret;
}
