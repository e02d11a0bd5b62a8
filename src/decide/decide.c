// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The choice. Every candidate that is admitted (admit.c) gets its best sector size (sector.c) and
 * the speed to expect there (speed.c); one of them is picked (pick.c).
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
	free(plan->candidates);
	plan->rejected = NULL;
	plan->candidates = NULL;
	plan->n_rejected = plan->n_candidates = 0;
}

/*
 * Whether a larger sector may stand against the fastest of all. It costs fewer requests, tweaks and
 * IVs, which can only spare the CPU: what noise cannot tell apart is no reason for a smaller one.
 * On dm-crypt's own figures it must not be measurably slower, on others not by more than what they
 * leave out.
 */
static bool fast_enough(const struct decide_input *input, enum plan_basis basis,
			const struct speed *large, const struct speed *fastest)
{
	if (!(large->mixed > 0))
		return !(fastest->mixed > 0);
	if (basis == PLAN_BASIS_DM)
		return large->mixed >= fastest->mixed || speed_tie(fastest, large);
	return large->tie_high >= fastest->tie_low * (1 - input->policy->sector_allowance);
}

/* Which sizes are allowed, how fast each is, and the fastest. */
static bool try_sizes(struct choice *c, const struct decide_input *input,
		      const struct ground *ground, unsigned wanted, struct speed *fastest)
{
	struct spec spec = c->spec;
	bool found = false;

	memset(fastest, 0, sizeof(*fastest));
	for (int i = 0; i < CHOICE_SIZES; i++) {
		struct choice_size *size = &c->sizes[i];

		spec.sector = SPEC_SECTOR_MIN << i;
		if (wanted && spec.sector != wanted) {
			snprintf(size->reason, sizeof(size->reason),
				 "another sector size was asked for");
			continue;
		}
		size->allowed = sector_allowed(input, spec.kind, spec.sector, wanted != 0,
					       size->reason, sizeof(size->reason));
		found |= size->allowed;
		if (!size->allowed && !found)
			snprintf(c->reason, sizeof(c->reason), "%s", size->reason);
		if (size->allowed)
			speed_of(&size->speed, input, ground, &spec);
		if (size->speed.mixed > fastest->mixed)
			*fastest = size->speed;
	}
	return found;
}

/* The largest that is fast enough, from the largest down. */
static void choose_sector(struct choice *c, const struct decide_input *input,
			  const struct ground *ground, unsigned wanted)
{
	struct speed fastest;
	bool found = try_sizes(c, input, ground, wanted, &fastest);

	for (int i = CHOICE_SIZES - 1; i >= 0; i--) {
		if (!c->sizes[i].allowed ||
		    !fast_enough(input, ground->basis, &c->sizes[i].speed, &fastest))
			continue;
		c->spec.sector = SPEC_SECTOR_MIN << i;
		c->speed = c->sizes[i].speed;
		break;
	}
	c->state = !found               ? CHOICE_NO_SECTOR
		   : c->speed.mixed > 0 ? CHOICE_MEASURED
					: CHOICE_UNMEASURED;
}

/* Admits, finds the ground to compare on, and gives each its sector size and speed there. */
static void judge(struct choice *list, const struct candidates *candidates,
		  const struct decide_input *input, struct ground *ground)
{
	unsigned wanted = input->sector ? input->sector : input->wanted ? input->wanted->sector : 0;

	for (size_t i = 0; i < candidates->n; i++)
		if (admit(&list[i], &candidates->list[i], input))
			list[i].state = CHOICE_UNMEASURED;
	speed_ground(ground, input, list, candidates->n);
	for (size_t i = 0; i < candidates->n; i++)
		if (list[i].state != CHOICE_NOT_ADMITTED)
			choose_sector(&list[i], input, ground, wanted);
}

/* The candidates: all that are offered, or the one that the user insists on. */
static int list_candidates(struct candidates *candidates, const struct decide_input *input)
{
	struct candidate *c;
	const char *integrity = input->wanted && !input->integrity ? input->wanted->kind->integrity
								   : input->integrity;
	int ret = integrity ? candidates_list_integrity(candidates, input->facts,
							*integrity ? integrity : NULL)
			    : candidates_list(candidates, input->facts);

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

/* Modes that keep tags, of which policy or FIPS mode leaves none: what they are, and what is left.
 */
static int refuse_integrity(const struct choice *list, size_t n, const struct decide_input *input,
			    struct status *st)
{
	const char *approved = NULL;
	char text[SPEC_TEXT_MAX];
	bool all = n > 0;

	for (size_t i = 0; i < n; i++)
		all &= list[i].by_policy && !list[i].spec.kind->fips;
	if (!all)
		return 0;
	for (const struct spec_kind *k = spec_kinds; k->kernel && !approved; k++)
		if (k->integrity && k->fips)
			approved = k->integrity;
	return status_set(
		st, ST_REFUSED, EOPNOTSUPP,
		"--integrity %s and %s contradict each other: %s, %s, is not approved there%s%s%s.",
		*input->integrity ? input->integrity : "any",
		input->facts->kernel.fips ? "this kernel's FIPS mode" : "policy fips",
		spec_print(&list[0].spec, text), list[0].spec.kind->kernel,
		approved ? "; --integrity " : "", approved ? approved : "", approved ? " is" : "");
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
	if (input->integrity && refuse_integrity(list, n, input, st))
		return -EOPNOTSUPP;
	return status_set(st, ST_MISSING, EOPNOTSUPP,
			  "No cipher can be recommended here; the first one, %s, was refused: %s.",
			  spec_print(&list[0].spec, text), list[0].reason);
}

int decide_check_device(const struct device_facts *device, const struct plan_place *place,
			struct status *st)
{
	uint64_t offset = decide_data_offset(device, place);

	if (!device || decide_data_length(device, offset) >= SPEC_SECTOR_MIN)
		return 0;
	if (place->given || place->detached)
		return status_set(st, ST_DEVICE, ENOSPC,
				  "%s is too small: it has %" PRIu64
				  " bytes, and the data are to begin at byte %" PRIu64
				  "; at least %" PRIu64 " are needed.",
				  device->path, device->size, offset, offset + SPEC_SECTOR_MIN);
	if (place->luks1)
		return status_set(st, ST_DEVICE, ENOSPC,
				  "%s is too small: it has %" PRIu64
				  " bytes, and the data of a LUKS1 volume begin at byte %" PRIu64
				  " unless --offset says otherwise; at least %" PRIu64
				  " are needed.",
				  device->path, device->size, offset, offset + SPEC_SECTOR_MIN);
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

static void fill_disk(struct plan *plan, const struct decide_input *input,
		      const struct ground *ground, const struct choice *list, size_t n,
		      const struct choice *winner)
{
	struct plan_disk *disk = &plan->disk;

	disk->cpus = cpu_threads(&input->facts->cpu);
	disk->worth = cpu_worth(&input->facts->cpu);
	if (!input->disk)
		return;
	disk->speed = *input->disk;
	if (winner->state != CHOICE_MEASURED || winner->speed.order_only)
		return;
	disk->needed = volume_cpus(winner->speed.mixed, input, ground);
	disk->limits = volume_disk_limits(list, n, input, ground);
}

static const char *state_name(const struct choice *c, const struct choice *winner)
{
	if (c == winner)
		return "chosen";
	switch (c->state) {
	case CHOICE_MEASURED:
		return c->beaten_by ? "beaten" : "less-preferred";
	case CHOICE_UNMEASURED:
		return "not-measured";
	case CHOICE_NOT_ADMITTED:
		return "not-admitted";
	case CHOICE_NO_SECTOR:
		break;
	}
	return "no-sector-size";
}

static void fill_sizes(struct plan_candidate *p, const struct choice *c)
{
	for (int i = 0; i < CHOICE_SIZES && c->state != CHOICE_NOT_ADMITTED; i++) {
		const struct choice_size *from = &c->sizes[i];
		struct plan_size *to = &p->sizes[p->n_sizes++];

		to->sector = SPEC_SECTOR_MIN << i;
		to->allowed = from->allowed;
		snprintf(to->reason, sizeof(to->reason), "%s",
			 from->allowed ? from->speed.reason : from->reason);
		to->encrypt = from->speed.encrypt;
		to->decrypt = from->speed.decrypt;
		to->speed = from->speed.mixed;
		to->low = from->speed.tie_low;
		to->high = from->speed.tie_high;
	}
}

static void fill_arithmetic(struct plan *plan, const struct ground *ground)
{
	plan->arithmetic = (struct plan_arithmetic){
		.threads = ground->threads,
		.noise_floor = SPEED_NOISE_FLOOR,
		.error = model_error(ground->basis),
		.crossing_known = ground->crossing_known,
		.crossing = ground->model.crossing,
		.call = ground->model.call,
		.handover = ground->model.handover,
		.per_sector = model_per_sector(&ground->model),
		.copy = ground->model.copy,
		.turns = {[ENGINE_ENCRYPT] = model_turns(ENGINE_ENCRYPT),
			  [ENGINE_DECRYPT] = model_turns(ENGINE_DECRYPT)},
	};
}

/* Every number that the pick went by. */
static int fill_candidates(struct plan *plan, const struct decide_input *input,
			   const struct ground *ground, const struct choice *list, size_t n,
			   const struct choice *winner)
{
	plan->candidates = calloc(n + 1, sizeof(*plan->candidates));
	if (!plan->candidates)
		return -ENOMEM;
	for (plan->n_candidates = 0; plan->n_candidates < n; plan->n_candidates++) {
		struct plan_candidate *p = &plan->candidates[plan->n_candidates];
		const struct choice *c = &list[plan->n_candidates];

		p->spec = c->spec;
		p->state = state_name(c, winner);
		p->margin = c->factor;
		p->rare = c->rare;
		fill_sizes(p, c);
		if (c->state != CHOICE_MEASURED)
			continue;
		p->encrypt = c->speed.encrypt;
		p->decrypt = c->speed.decrypt;
		p->speed = c->speed.mixed;
		p->low = c->speed.tie_low;
		p->high = c->speed.tie_high;
		if (c->beaten_by)
			p->beaten_by = c->beaten_by->spec;
		if (c->speed.order_only)
			continue;
		p->volume = volume_speed(c->speed.mixed, input, ground);
		p->cpus = volume_cpus(c->speed.mixed, input, ground);
	}
	return 0;
}

static int choose(struct plan *plan, const struct decide_input *input,
		  const struct candidates *candidates, struct choice *list, struct status *st)
{
	const struct choice *winner, *before;
	struct ground ground;
	int ret;

	judge(list, candidates, input, &ground);
	winner = pick_measured(list, candidates->n, input, &ground);
	before = winner ? pick_before(list, candidates->n, winner, input->facts)
			: pick_unmeasured(list, candidates->n, input->facts);
	if (before) {
		ground.basis = PLAN_BASIS_FACTS;
		winner = before;
	}
	if (!winner)
		return refuse(list, candidates->n, input, st);
	fill_plan(plan, winner, ground.basis);
	fill_arithmetic(plan, &ground);
	fill_disk(plan, input, &ground, list, candidates->n, winner);
	ret = fill_candidates(plan, input, &ground, list, candidates->n, winner);
	if (!ret)
		ret = explain_plan(plan, input, &ground, list, candidates->n, winner);
	if (!ret)
		decide_flags(plan, input->measurement, ground.threads);
	return ret;
}

int decide_plan(struct plan *plan, const struct decide_input *input, struct status *st)
{
	struct candidates candidates = {NULL, 0};
	struct choice *list = NULL;
	int ret;

	memset(plan, 0, sizeof(*plan));
	plan->use = input->use;
	plan->rotates = input->device && input->device->rotational == 1;
	plan->data_offset = decide_data_offset(input->device, &input->place);
	ret = decide_check_device(input->device, &input->place, st);
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
	if (!ret && input->discards)
		plan->flags[plan->n_flags++] = "allow-discards";
	free(list);
	candidates_free(&candidates);
	return ret;
}
