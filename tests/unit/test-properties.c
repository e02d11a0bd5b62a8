// SPDX-License-Identifier: GPL-2.0-or-later
/* Properties of the decision, on thousands of generated machines, disks and runs. */
#include <errno.h>
#include <time.h>

#include "decide/explain.h"
#include "world.h"

#define ROUNDS 10400

static bool sector_wrong(const struct world *w, const struct plan *p)
{
	const struct device_facts *d = w->s.input.device;
	const struct spec_kind *kind = p->spec.kind;
	unsigned s = p->spec.sector, whole;
	uint64_t length;

	if (w->s.input.use == PLAN_FOR_GRUB && s != 512)
		return true;
	if ((w->s.input.use == PLAN_FOR_LVM || w->s.input.use == PLAN_FOR_VM) &&
	    s > (d ? d->logical_block : 512))
		return true;
	if (!d)
		return false;
	length = d->kind == DEVICE_FILE && s == 512 ? d->size & ~511ULL : d->size;
	if (length < p->data_offset + s || (length - p->data_offset) % s ||
	    (d->start + p->data_offset) % s)
		return true;
	if (s < d->logical_block && w->s.input.use != PLAN_FOR_GRUB)
		return true;
	whole = w->s.input.use == PLAN_FOR_IMAGE ? 512
		: d->atomic_unit_min && d->atomic_unit_min <= s && s <= d->atomic_unit_max
			? s
			: d->physical_block;
	if ((kind->wide_block || !strcmp(kind->mode, "cbc")) && s > whole)
		return true;
	return s > 512 &&
	       (p->data_offset + d->physical_block - d->alignment_offset) % d->physical_block % s;
}

static bool inadmissible(const struct world *w, const struct plan *p)
{
	const struct spec_kind *kind = p->spec.kind;
	unsigned bits = p->spec.key_bits / kind->key_halves;
	const struct kernel_attempt *a = kernel_attempt_for(&w->s.facts.kernel, kind->kernel);

	if ((w->policy.fips || w->s.facts.kernel.fips) &&
	    (!kind->fips || strcmp(p->pbkdf.type, "pbkdf2")))
		return true;
	if (w->s.input.use == PLAN_FOR_GRUB &&
	    (strcmp(kind->kernel, "xts(aes)") || strcmp(p->pbkdf.type, "pbkdf2")))
		return true;
	if (!strcmp(w->policy.name, "strict") && (bits < 256 || !strcmp(kind->mode, "cbc")))
		return true;
	return bits < w->policy.min_strength || !kind->offered ||
	       (a && a->tried && !a->available) || sector_wrong(w, p);
}

/* --- pairs of plans --- */

static bool same_plan(const struct plan *a, const struct plan *b)
{
	if (!spec_equal(&a->spec, &b->spec) || a->basis != b->basis || a->speed != b->speed ||
	    a->n_reasons != b->n_reasons || a->n_rejected != b->n_rejected ||
	    strcmp(a->summary, b->summary))
		return false;
	for (size_t i = 0; i < a->n_reasons; i++)
		if (strcmp(a->reasons[i], b->reasons[i]))
			return false;
	for (size_t i = 0; i < a->n_rejected; i++)
		if (!spec_equal(&a->rejected[i].spec, &b->rejected[i].spec) ||
		    strcmp(a->rejected[i].reason, b->rejected[i].reason))
			return false;
	return true;
}

static void shuffle(struct world *w)
{
	for (size_t i = w->s.m.n_results; i > 1; i--) {
		size_t j = below((unsigned)i);
		struct measure_result r = w->s.results[i - 1];

		w->s.results[i - 1] = w->s.results[j];
		w->s.results[j] = r;
	}
}

/* The chosen cipher in less time a byte; what AF_ALG's crossing costs stays. */
static void raise(struct world *w, const struct plan *p, double times)
{
	for (size_t i = 0; i < w->s.m.n_results; i++) {
		struct measure_result *r = &w->s.results[i];
		double cost = w->crossing, *speeds[] = {&r->low, &r->median, &r->high};

		if (r->spec.kind != p->spec.kind || r->spec.key_bits != p->spec.key_bits)
			continue;
		for (int k = 0; k < 3; k++) {
			double time = r->size / *speeds[k], bytes = time - cost;

			*speeds[k] = r->engine != MEASURE_AFALG
					     ? *speeds[k] * times
					     : r->size /
						       ((bytes > 0 ? bytes / times : bytes) + cost);
		}
	}
}

/* The true speed of a spec with its sector size; 0: not measured in both directions. */
static double true_speed(const struct world *w, const struct spec *spec)
{
	double way[2] = {0, 0};

	for (size_t i = 0; i < w->s.m.n_results; i++)
		if (spec_equal(&w->s.results[i].spec, spec))
			way[w->s.results[i].direction == ENGINE_DECRYPT] = w->truth[i];
	return way[0] > 0 && way[1] > 0
		       ? 1 / (w->policy.read_share / way[1] + (1 - w->policy.read_share) / way[0])
		       : 0;
}

/* Whether both directions were measured on one layer. */
static bool comparable(const struct world *w, const struct spec *spec)
{
	unsigned seen_on[4] = {0};

	for (size_t i = 0; i < w->s.m.n_results; i++)
		if (spec_equal(&w->s.results[i].spec, spec))
			seen_on[w->s.results[i].engine] |= 1U << w->s.results[i].direction;
	return seen_on[MEASURE_DM] == 3 || seen_on[MEASURE_AFALG] == 3 || seen_on[MEASURE_CPU] == 3;
}

/*
 * Whether the true best of the chosen one's class and strength is ahead by more than what is never
 * believed, the noise of both, and a rare cipher's margin. (What AF_ALG's crossing hides of a
 * truth no noise bounds.)
 */
static bool regretted(const struct world *w, const struct plan *p)
{
	double chosen = true_speed(w, &p->spec), noise = (1 + w->noise) / (1 - w->noise), most, c;
	double rare = 1;

	if (p->basis == PLAN_BASIS_FACTS)
		return comparable(w, &p->spec);
	if (p->basis == PLAN_BASIS_AFALG)
		return false;
	if (p->spec.kind->usual >= SPEC_USUAL_RARE)
		rare = w->policy.rare_margin;
	for (size_t i = 0; i < p->n_candidates; i++) {
		const struct spec *spec = &p->candidates[i].spec;

		if (!(p->candidates[i].speed > 0) || spec_class(spec) != spec_class(&p->spec) ||
		    spec_strength(spec) != p->strength)
			continue;
		c = true_speed(w, spec);
		most = p->candidates[i].rare / rare * 1.05 * noise * noise;
		if (c > chosen * most * 1.000001)
			return true;
	}
	return false;
}

static double margin_of(const struct world *w, const struct spec *spec)
{
	double m = 1;

	if (spec_class(spec) == SPEC_CLASS_CBC)
		m *= w->policy.margin[SPEC_CLASS_CBC];
	if (spec_class(spec) != SPEC_CLASS_STRONG && spec_strength(spec) < 256)
		m *= w->policy.margin[SPEC_CLASS_XTS128];
	return m;
}

/* What the disk and the CPUs make of a cipher's speed. */
static double capped(const struct world *w, double speed)
{
	speed *= w->s.facts.cpu.allowed;
	return w->s.input.disk && w->disk.speed < speed ? w->disk.speed : speed;
}

/* A stronger measured one that was passed over although nothing is ahead of it by the margin. */
static bool given_away(const struct world *w, const struct plan *p)
{
	for (size_t i = 0; i < p->n_candidates; i++) {
		const struct plan_candidate *c = &p->candidates[i], *o;
		bool beaten = false;

		if (!(c->speed > 0) || spec_class(&c->spec) > spec_class(&p->spec) ||
		    (spec_class(&c->spec) == spec_class(&p->spec) &&
		     spec_strength(&c->spec) <= p->strength))
			continue;
		for (o = p->candidates; o < p->candidates + p->n_candidates && !beaten; o++) {
			double x = o->low / o->rare, y = c->high / c->rare;

			if (spec_class(&o->spec) != spec_class(&c->spec) ||
			    spec_strength(&o->spec) != spec_strength(&c->spec)) {
				x = capped(w, x) / margin_of(w, &o->spec);
				y = capped(w, y) / margin_of(w, &c->spec);
			}
			beaten = o->speed > 0 && x > y * 1.0499;
		}
		if (!beaten)
			return true;
	}
	return false;
}

static struct {
	unsigned made, refused, inadmissible, lost, order, regret, weaker, given, scaled, useless,
		tried;
	uint64_t first[10];
} seen;

static void count(unsigned *counter, size_t which, uint64_t seed)
{
	if (!(*counter)++)
		seen.first[which] = seed;
}

/* A slower disk never makes the choice a weaker one. */
static void check_disk(struct world *w, const struct plan *p, uint64_t seed)
{
	struct plan slower;

	if (!w->s.input.disk)
		return;
	w->disk.speed /= 1 + 9 * unit();
	if (!decide_plan(&slower, &w->s.input, NULL) &&
	    (spec_class(&slower.spec) > spec_class(&p->spec) ||
	     (spec_class(&slower.spec) == spec_class(&p->spec) && slower.strength < p->strength)))
		count(&seen.weaker, 6, seed);
	plan_free(&slower);
}

/* A faster or slower machine with the same proportions, and no disk to hold against it. */
static void check_scale(const struct world *w, uint64_t seed)
{
	static struct world a, b;
	double times = spread_over(0.05, 20);
	struct plan p, q;
	int ret;

	for (int i = 0; i < 2; i++) {
		struct world *x = i ? &b : &a;

		*x = *w;
		x->s.input.disk = NULL;
		x->s.m.results = x->s.results;
		x->s.input.measurement = &x->s.m;
		x->s.input.facts = &x->s.facts;
	}
	for (size_t i = 0; i < b.s.m.n_results; i++) {
		b.s.results[i].low *= times;
		b.s.results[i].median *= times;
		b.s.results[i].high *= times;
	}
	ret = decide_plan(&p, &a.s.input, NULL);
	if (ret != decide_plan(&q, &b.s.input, NULL) || (!ret && !spec_equal(&p.spec, &q.spec)))
		count(&seen.scaled, 8, seed);
	plan_free(&p);
	plan_free(&q);
}

/* Whether the world has a figure of that cipher. */
static bool measured(const struct world *w, const struct spec *spec)
{
	for (size_t i = 0; i < w->s.m.n_results; i++)
		if (w->s.results[i].spec.kind == spec->kind &&
		    w->s.results[i].spec.key_bits == spec->key_bits)
			return true;
	return false;
}

/* One more candidate, less preferred than the choice and slower than all, changes nothing. (Through
 * AF_ALG it may tell more of the crossing.) */
static void check_useless(struct world *w, const struct plan *p, uint64_t seed)
{
	struct choice chosen = {.spec = p->spec}, useless = {.state = CHOICE_MEASURED};
	char text[SPEC_TEXT_MAX];
	double least = 1e15;
	struct plan q;

	if (p->basis == PLAN_BASIS_FACTS || p->basis == PLAN_BASIS_AFALG)
		return;
	for (size_t i = 0; i < w->s.m.n_results; i++)
		if (w->s.results[i].low < least)
			least = w->s.results[i].low;
	for (size_t i = 0; i < CANDIDATES; i++) {
		spec_parse(&useless.spec, specs[i], NULL);
		if (measured(w, &useless.spec) || pick_prefers(&useless, &chosen))
			continue;
		snprintf(text, sizeof(text), "%s@%u", specs[i], p->spec.sector);
		for (int d = 0; d < 2; d++)
			add_way(&w->s, p->basis == PLAN_BASIS_DM ? MEASURE_DM : MEASURE_CPU, text,
				d, least / 4e6, 0.01);
		seen.tried++;
		if (decide_plan(&q, &w->s.input, NULL) || !spec_equal(&q.spec, &p->spec))
			count(&seen.useless, 9, seed);
		plan_free(&q);
		w->s.m.n_results -= 2;
		return;
	}
}

static void check_world(uint64_t seed)
{
	static struct world w, other;
	struct plan p, q;

	make_world(&w, seed);
	if (decide_plan(&p, &w.s.input, NULL)) {
		seen.refused++;
		plan_free(&p);
		return;
	}
	seen.made++;
	if (inadmissible(&w, &p))
		count(&seen.inadmissible, 2, seed);
	if (regretted(&w, &p))
		count(&seen.regret, 5, seed);
	if (given_away(&w, &p))
		count(&seen.given, 7, seed);
	if (seed % 4 == 0)
		check_scale(&w, seed);
	check_useless(&w, &p, seed);
	shuffle(&w);
	if (decide_plan(&q, &w.s.input, NULL) || !same_plan(&p, &q))
		count(&seen.order, 4, seed);
	plan_free(&q);
	other = w;
	other.s.m.results = other.s.results;
	other.s.input.measurement = &other.s.m;
	raise(&other, &p, 1 + 3 * unit());
	if (decide_plan(&q, &other.s.input, NULL) || q.spec.kind != p.spec.kind ||
	    q.spec.key_bits != p.spec.key_bits)
		count(&seen.lost, 3, seed);
	plan_free(&q);
	check_disk(&w, &p, seed);
	plan_free(&p);
}

static void test_generated(uint64_t seed)
{
	struct timespec begun, ended;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (uint64_t i = 0; i < ROUNDS; i++)
		check_world(seed + i);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	ok(seen.made >= 10000, "%u of %u generated inputs gave a plan, %u none (seed %llu)",
	   seen.made, ROUNDS, seen.refused, (unsigned long long)seed);
	ok(!seen.inadmissible, "%u inadmissible choices (first: seed %llu)", seen.inadmissible,
	   (unsigned long long)seen.first[2]);
	ok(!seen.lost, "raising the winner's speed made it lose %u times (first: seed %llu)",
	   seen.lost, (unsigned long long)seen.first[3]);
	ok(!seen.order, "the order of the input mattered %u times (first: seed %llu)", seen.order,
	   (unsigned long long)seen.first[4]);
	ok(!seen.regret,
	   "%u choices behind their class's best by more than its margin (first: seed %llu)",
	   seen.regret, (unsigned long long)seen.first[5]);
	ok(!seen.weaker, "a slower disk made the choice weaker %u times (first: seed %llu)",
	   seen.weaker, (unsigned long long)seen.first[6]);
	ok(!seen.given,
	   "%u times strength was given up for less than its margin (first: seed %llu)", seen.given,
	   (unsigned long long)seen.first[7]);
	ok(!seen.scaled, "all speeds times the same changed the choice %u times (first: seed %llu)",
	   seen.scaled, (unsigned long long)seen.first[8]);
	ok(!seen.useless && seen.tried > 500,
	   "one more useless candidate changed the choice %u of %u times (first: seed %llu)",
	   seen.useless, seen.tried, (unsigned long long)seen.first[9]);
	printf("# %.2f s\n", (double)(ended.tv_sec - begun.tv_sec) +
				     (double)(ended.tv_nsec - begun.tv_nsec) / 1e9);
}

int main(void)
{
	test_generated(world_seed());
	return tap_done();
}
