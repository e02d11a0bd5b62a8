// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pick. There is one fixed order of preference: the stronger, then the more usual. A candidate
 * is beaten by another that is faster by more than the spread and by what their difference in
 * strength or rarity asks for; the most preferred one that nobody beats is chosen. So the answer
 * does not depend on the order of the input, a faster winner still wins (it is beaten by no more,
 * and beats no fewer), and what the spread cannot tell apart cannot change it.
 */
#include <string.h>

#include "decide/explain.h"
#include "decide/internal.h"

bool pick_prefers(const struct choice *a, const struct choice *b)
{
	if (spec_class(&a->spec) != spec_class(&b->spec))
		return spec_class(&a->spec) < spec_class(&b->spec);
	if (spec_strength(&a->spec) != spec_strength(&b->spec))
		return spec_strength(&a->spec) > spec_strength(&b->spec);
	return a->spec.kind->usual < b->spec.kind->usual;
}

bool pick_as_strong(const struct choice *a, const struct choice *b)
{
	return spec_class(&a->spec) == spec_class(&b->spec) &&
	       spec_strength(&a->spec) == spec_strength(&b->spec);
}

bool pick_rare(const struct spec *spec)
{
	return spec->kind->usual >= SPEC_USUAL_RARE && !spec->kind->integrity;
}

/* CPUs that worked for what was measured: no more than there are, however many threads. */
static double measured_cpus(const struct decide_input *input, const struct ground *ground)
{
	unsigned cpus = cpu_threads(&input->facts->cpu);

	return !ground->threads ? 1 : ground->threads < cpus ? ground->threads : cpus;
}

static double disk_speed(const struct decide_input *input)
{
	return input->disk && input->disk->speed > 0 ? input->disk->speed : 0;
}

double volume_speed(double speed, const struct decide_input *input, const struct ground *ground)
{
	double disk = disk_speed(input);

	speed *= cpu_worth(&input->facts->cpu) / measured_cpus(input, ground);
	return disk > 0 && disk < speed ? disk : speed;
}

double volume_cpus(double speed, const struct decide_input *input, const struct ground *ground)
{
	return speed > 0 ? disk_speed(input) / (speed / measured_cpus(input, ground)) : 0;
}

bool volume_disk_limits(const struct choice *list, size_t n, const struct decide_input *input,
			const struct ground *ground)
{
	double disk = disk_speed(input);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (list[i].state != CHOICE_MEASURED || list[i].speed.order_only)
			continue;
		if (volume_speed(list[i].speed.tie_low, input, ground) < disk)
			return false;
		any = true;
	}
	return any && disk > 0;
}

static struct speed scaled(const struct choice *c)
{
	struct speed s = c->speed;

	s.mixed /= c->rare;
	s.tie_low /= c->rare;
	s.tie_high /= c->rare;
	return s;
}

static void weigh(struct speed *s, double factor, const struct decide_input *input,
		  const struct ground *ground)
{
	s->tie_low = volume_speed(s->tie_low, input, ground) / factor;
	s->tie_high = volume_speed(s->tie_high, input, ground) / factor;
}

/*
 * Among equals the faster one is ahead even where the disk is the slower part: it leaves more of
 * the CPU. Strength is given up only for what the volume gains, so there the disk is a cap.
 */
static bool beats(const struct choice *a, const struct choice *b, const struct decide_input *input,
		  const struct ground *ground)
{
	struct speed x = scaled(a), y = scaled(b);

	if (!pick_as_strong(a, b)) {
		weigh(&x, a->factor, input, ground);
		weigh(&y, b->factor, input, ground);
	}
	return x.tie_low > y.tie_high && !speed_tie(&x, &y);
}

/* Speeds that only give an order are not held against a disk's. */
static bool figures_count(const struct choice *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].state == CHOICE_MEASURED && list[i].speed.order_only)
			return false;
	return true;
}

const struct choice *pick_measured(struct choice *list, size_t n, const struct decide_input *input,
				   const struct ground *ground)
{
	const struct choice *winner = NULL;
	struct decide_input seen = *input;

	if (!figures_count(list, n))
		seen.disk = NULL;
	for (size_t i = 0; i < n; i++) {
		if (list[i].state != CHOICE_MEASURED)
			continue;
		list[i].beaten_by = NULL;
		for (size_t j = 0; j < n; j++)
			if (list[j].state == CHOICE_MEASURED &&
			    beats(&list[j], &list[i], &seen, ground) &&
			    (!list[i].beaten_by || pick_prefers(&list[j], list[i].beaten_by)))
				list[i].beaten_by = &list[j];
		if (!list[i].beaten_by && (!winner || pick_prefers(&list[i], winner)))
			winner = &list[i];
	}
	return winner;
}

/*
 * Adiantum, on a CPU that is known to have no AES instructions and a kernel that is known to have
 * it: it was made for just that (Crowley and Biggers 2018, "Adiantum: length-preserving encryption
 * for entry-level processors").
 */
static bool made_for(const struct choice *c, const struct facts *facts)
{
	const char *kernel = c->spec.kind->kernel;
	const struct kernel_attempt *a = kernel_attempt_for(&facts->kernel, kernel);

	return c->state == CHOICE_UNMEASURED && !strcmp(c->spec.kind->mode, "adiantum") &&
	       cpu_has_aes(&facts->cpu) == 0 &&
	       ((a && a->available) || kernel_driver_for(&facts->kernel, kernel));
}

/* With nothing measured: AES-XTS, or what is made for such a machine. */
const struct choice *pick_unmeasured(const struct choice *list, size_t n, const struct facts *facts)
{
	const struct choice *winner = NULL;

	for (size_t i = 0; i < n; i++) {
		if (list[i].state != CHOICE_UNMEASURED)
			continue;
		if (made_for(&list[i], facts))
			return &list[i];
		if (!winner || pick_prefers(&list[i], winner))
			winner = &list[i];
	}
	return winner;
}

/* Whether the winner was held against something stronger. */
static bool shown(const struct choice *list, size_t n, const struct choice *winner)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].state == CHOICE_MEASURED && !pick_as_strong(&list[i], winner) &&
		    pick_prefers(&list[i], winner))
			return true;
	return false;
}

const struct choice *pick_before(const struct choice *list, size_t n, const struct choice *winner,
				 const struct facts *facts)
{
	const struct choice *best = NULL;

	if (shown(list, n, winner))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct choice *c = &list[i];

		if (c->state == CHOICE_UNMEASURED && !pick_rare(&c->spec) &&
		    !pick_as_strong(c, winner) && pick_prefers(c, winner) &&
		    (!best || pick_prefers(c, best)))
			best = c;
	}
	for (size_t i = 0; best && i < n; i++)
		if (made_for(&list[i], facts) && pick_as_strong(&list[i], best))
			return &list[i];
	return best;
}
