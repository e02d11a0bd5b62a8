// SPDX-License-Identifier: GPL-2.0-or-later
/* Noise within the spread never changes the choice. */
#include "world.h"

/* Cells of one sector size, each drawn again. */
static void again(struct world *w)
{
	for (size_t i = 0; i < w->s.m.n_results; i++)
		set_cell(w, i);
}

static void bare_world(struct world *w, uint64_t seed)
{
	make_world(w, seed);
	memset(w->s.results, 0, sizeof(w->s.results));
	w->s.m.n_results = 0;
	w->s.input.device = NULL;
	w->s.input.use = PLAN_FOR_ANY;
	w->s.facts.kernel.fips = 0;
	w->s.facts.kernel.af_alg.n = 0;
	w->policy = policies[below(3)];
	w->crossing = 0;
	w->noise = spread_over(0.002, 0.1);
}

static void add_cell(struct world *w, const char *spec, double mbs)
{
	char text[SPEC_TEXT_MAX];

	snprintf(text, sizeof(text), "%s@512", spec);
	for (int d = 0; d < 2; d++) {
		w->truth[w->s.m.n_results] = mbs * 1e6;
		add_way(&w->s, MEASURE_DM, text, d, mbs, 0);
		set_cell(w, w->s.m.n_results - 1);
	}
}

/* All of one class are equally fast: whatever the noise, the most usual is taken. */
static void test_ties(uint64_t seed)
{
	unsigned changed = 0;
	static struct world w;
	struct plan p;

	for (uint64_t i = 0; i < 2000; i++) {
		double mbs;

		bare_world(&w, seed + i);
		mbs = spread_over(20, 5000);
		for (size_t k = 0; k < CANDIDATES; k++)
			add_cell(&w, specs[k], mbs);
		for (int draw = 0; draw < 4; draw++) {
			again(&w);
			if (decide_plan(&p, &w.s.input, NULL) ||
			    strcmp(p.spec.kind->kernel, "xts(aes)") || p.spec.key_bits != 512)
				changed++;
			plan_free(&p);
		}
	}
	ok(!changed, "equally fast: noise changed the choice %u of 8000 times", changed);
}

/* Whether any two truths stand so near to where one would beat the other that the spread may tell
 * it either way. */
static bool unclear(const struct world *w)
{
	double edge, ratio,
		slack = (1 + w->noise) * (1 + w->noise) / (1 - w->noise) / (1 - w->noise) * 1.001;
	struct spec a, b;

	for (size_t i = 0; i < w->s.m.n_results; i += 2) {
		for (size_t j = 0; j < w->s.m.n_results; j += 2) {
			double ma, mb;

			a = w->s.results[i].spec;
			b = w->s.results[j].spec;
			ma = a.kind->usual >= SPEC_USUAL_RARE ? w->policy.rare_margin : 1;
			mb = b.kind->usual >= SPEC_USUAL_RARE ? w->policy.rare_margin : 1;
			if (spec_class(&a) != spec_class(&b) ||
			    spec_strength(&a) != spec_strength(&b)) {
				double x = w->policy.margin[1], c = w->policy.margin[2];

				ma *= spec_class(&a) == SPEC_CLASS_STRONG ? 1
				      : spec_class(&a) == SPEC_CLASS_CBC
					      ? c * (spec_strength(&a) < 256 ? x : 1)
					      : x;
				mb *= spec_class(&b) == SPEC_CLASS_STRONG ? 1
				      : spec_class(&b) == SPEC_CLASS_CBC
					      ? c * (spec_strength(&b) < 256 ? x : 1)
					      : x;
			}
			if (!(ma > 0) || !(mb > 0) || i == j)
				continue;
			ratio = w->truth[i] / ma / (w->truth[j] / mb);
			edge = 1.05 * slack;
			/* Beats for sure above 1.05 times the slack; for sure not below 1.05. */
			if (ratio > 1.05 / slack && ratio < edge * slack)
				return true;
		}
	}
	return false;
}

/* Where the truths are further apart than the spread can blur, no draw changes the choice. */
static void test_clear(uint64_t seed)
{
	unsigned changed = 0, clear = 0;
	static struct world w;
	struct plan first, p;

	for (uint64_t i = 0; i < 6000; i++) {
		bare_world(&w, seed + i);
		w.noise = spread_over(0.001, 0.02);
		w.s.input.disk = NULL;
		for (size_t k = 0; k < 6; k++)
			add_cell(&w, specs[below(CANDIDATES - 1)], spread_over(20, 5000));
		/* A cipher drawn twice is one cell too many. */
		for (size_t a = 0; a < w.s.m.n_results; a += 2)
			for (size_t b = w.s.m.n_results - 2; b > a; b -= 2)
				if (spec_equal(&w.s.results[a].spec, &w.s.results[b].spec)) {
					memmove(&w.s.results[b], &w.s.results[b + 2],
						(w.s.m.n_results - b - 2) * sizeof(w.s.results[0]));
					memmove(&w.truth[b], &w.truth[b + 2],
						(w.s.m.n_results - b - 2) * sizeof(w.truth[0]));
					w.s.m.n_results -= 2;
				}
		if (unclear(&w))
			continue;
		if (decide_plan(&first, &w.s.input, NULL)) {
			plan_free(&first);
			continue;
		}
		clear++;
		for (int draw = 0; draw < 4; draw++) {
			again(&w);
			changed += decide_plan(&p, &w.s.input, NULL) ||
				   !spec_equal(&p.spec, &first.spec);
			plan_free(&p);
		}
		plan_free(&first);
	}
	ok(clear > 2000 && !changed,
	   "further apart than the spread: noise changed the choice %u of %u times", changed,
	   4 * clear);
}

/* All sector sizes are equally fast: whatever the noise, the largest is taken. */
static void test_sectors(uint64_t seed)
{
	unsigned changed = 0;
	static struct world w;
	struct plan p;

	for (uint64_t i = 0; i < 2000; i++) {
		double mbs;

		bare_world(&w, seed + i);
		w.s.input.disk = NULL;
		mbs = spread_over(20, 5000);
		for (unsigned sector = 512; sector <= 4096; sector *= 2) {
			char text[SPEC_TEXT_MAX];

			snprintf(text, sizeof(text), "aes-xts-plain64/512@%u", sector);
			for (int d = 0; d < 2; d++) {
				w.truth[w.s.m.n_results] = mbs * 1e6;
				add_way(&w.s, MEASURE_DM, text, d, mbs, 0);
				set_cell(&w, w.s.m.n_results - 1);
			}
		}
		for (int draw = 0; draw < 4; draw++) {
			again(&w);
			changed += decide_plan(&p, &w.s.input, NULL) || p.spec.sector != 4096;
			plan_free(&p);
		}
	}
	ok(!changed, "equally fast sector sizes: noise changed the choice %u of 8000 times",
	   changed);
}

int main(void)
{
	uint64_t seed = world_seed();

	test_ties(seed);
	test_sectors(seed);
	test_clear(seed);
	return tap_done();
}
