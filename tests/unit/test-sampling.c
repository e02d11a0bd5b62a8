// SPDX-License-Identifier: GPL-2.0-or-later
/* What is made of samples: intervals, pairs, contests, drift, fits, crossings, one cipher against
 * another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decide/crossing.h"
#include "decide/versus.h"
#include "measure/backend.h"
#include "measure/clock.h"
#include "measure/conditions.h"
#include "measure/fit.h"
#include "measure/sampler.h"
#include "tap.h"

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

static uint64_t random_state = 88172645463325252;

/* From 0 to 1: xorshift64 (Marsaglia 2003). */
static double chance(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static void test_confidence(void)
{
	static const struct {
		size_t n, low, high; /* which, counted from 0 */
	} cases[] = {{1, 0, 0}, {2, 0, 1},   {6, 0, 5},    {8, 0, 7},
		     {9, 1, 7}, {20, 5, 14}, {40, 13, 26}, {100, 39, 60}};
	double values[1000];
	struct stats s;
	unsigned inside = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t k = 0; k < cases[i].n; k++)
			values[k] = (double)(cases[i].n - 1 - k);
		stats_confidence(&s, values, cases[i].n);
		ok(s.low == (double)cases[i].low && s.high == (double)cases[i].high,
		   "of %zu values the interval is from the %g. to the %g.", cases[i].n, s.low + 1,
		   s.high + 1);
	}
	for (size_t k = 0; k < 1000; k++)
		values[k] = (double)k;
	stats_confidence(&s, values, 1000);
	ok(fabs(s.low - 468.5) <= 1 && fabs(s.high - 530.5) <= 1, "of many, too: from %g to %g",
	   s.low, s.high);
	/* Skewed as slices are: the true median of x^4 is 1/16. */
	for (int run = 0; run < 1000; run++) {
		for (size_t k = 0; k < 40; k++)
			values[k] = pow(chance(), 4);
		stats_confidence(&s, values, 40);
		inside += s.low <= 0.0625 && 0.0625 <= s.high;
	}
	ok(inside >= 935 && inside <= 985, "the interval holds the true median in %u of 1000 runs",
	   inside);
}

static uint64_t now_ns;
/* How fast the machine is: other programs' doing. */
static double pace = 1;

struct fake {
	double call;
	unsigned slices;
};

static uint64_t fake_now(void)
{
	return now_ns;
}

static int fake_slice(void *arg, uint64_t calls, uint64_t *bytes, uint64_t *ns)
{
	struct fake *f = arg;

	f->slices++;
	*ns = (uint64_t)(f->call * (double)calls / pace * (1 + 0.002 * chance()));
	*bytes = calls * 1000;
	now_ns += *ns;
	/* Half of the time everything takes twice as long, for 40 ms at a time. */
	if (pace < 1 || pace > 1)
		pace = now_ns / 40000000 % 2 ? 0.5 : 1.0001;
	return 0;
}

static void run_fakes_on(struct fake *fakes, struct sampler_item *items, size_t n, double seconds,
			 bool contest, double reserve)
{
	struct sampler_options options = {
		.now = fake_now, .contest = contest, .reserve = (uint64_t)(reserve * 1e9)};
	bool cut_short;

	memset(items, 0, n * sizeof(*items));
	for (size_t i = 0; i < n; i++) {
		fakes[i].slices = 0;
		items[i].slice = fake_slice;
		items[i].arg = &fakes[i];
		items[i].group = 1 + (unsigned)i % 2;
	}
	now_ns = 0;
	options.deadline = (uint64_t)(seconds * 1e9);
	sampler_run(items, n, &options, &cut_short);
}

static void run_fakes(struct fake *fakes, struct sampler_item *items, size_t n, double seconds,
		      bool contest)
{
	run_fakes_on(fakes, items, n, seconds, contest, 0);
}

static void test_pairs(void)
{
	struct fake fakes[2] = {{.call = 1000}, {.call = 1250}};
	struct sampler_item items[2], empty = {.n = 0};
	struct stats ratio = {0, 0, 0}, alone;
	size_t pairs;

	pace = 0.5;
	run_fakes(fakes, items, 2, 1, false);
	pace = 1;
	sampler_stats(&alone, &items[0]);
	ok(stats_spread(alone.median, alone.low, alone.high) > 0.5,
	   "a machine that halves its pace: the quartiles are %.0f %% apart",
	   stats_spread(alone.median, alone.low, alone.high) * 100);
	sampler_ratio(&ratio, &pairs, &items[0], &items[1]);
	ok(pairs > 300 && near(ratio.median, 1.25, 0.01) && ratio.low <= ratio.median &&
		   ratio.median <= ratio.high && ratio.high - ratio.low < 0.01,
	   "but slices of the same round are in proportion: %.4f (%.4f to %.4f) of %zu pairs",
	   ratio.median, ratio.low, ratio.high, pairs);
	ok(!sampler_ratio(&ratio, &pairs, &items[0], &empty) && pairs == 0, "no pairs, no ratio");
	sampler_free(items, 2);
}

static void test_doubt(void)
{
	/* One group: the second and the fourth of each. */
	struct fake near_by[4] = {{.call = 1000}, {.call = 1000}, {.call = 1250}, {.call = 1250}};
	struct fake alike[4] = {{.call = 1000}, {.call = 1000}, {.call = 1050}, {.call = 1050}};
	struct sampler_item items[4];

	pace = 0.5;
	run_fakes_on(near_by, items, 4, 0.1, true, 0);
	ok(sampler_in_doubt(items, 4), "a quarter faster, and a pace that halves: in doubt");
	sampler_free(items, 4);
	run_fakes_on(near_by, items, 4, 0.1, true, 0.9);
	ok(near((double)now_ns, 1e9, 0.1), "then a contest takes its reserve: %.2f s",
	   (double)now_ns / 1e9);
	sampler_free(items, 4);
	run_fakes_on(near_by, items, 4, 0.1, false, 0.9);
	ok(near((double)now_ns, 1e8, 0.2), "without a contest it does not: %.2f s",
	   (double)now_ns / 1e9);
	sampler_free(items, 4);
	run_fakes_on(alike, items, 4, 0.1, true, 0.9);
	ok(!sampler_in_doubt(items, 4) && near((double)now_ns, 1e8, 0.2),
	   "nor for what is a twentieth faster: %.2f s", (double)now_ns / 1e9);
	sampler_free(items, 4);
	pace = 1;
	run_fakes_on(near_by, items, 4, 0.1, true, 0.9);
	ok(!sampler_in_doubt(items, 4) && now_ns < 12e7,
	   "nor on a machine that keeps its pace: %.2f s", (double)now_ns / 1e9);
	sampler_free(items, 4);
}

static void test_contest(void)
{
	/* Of each of two groups: the best, a rival, one without hope. */
	struct fake fakes[6] = {{.call = 1000}, {.call = 3000}, {.call = 1100},
				{.call = 3100}, {.call = 9000}, {.call = 11000}};
	struct fake reversed[6];
	struct sampler_item items[6], back[6];

	run_fakes(fakes, items, 6, 1, true);
	ok(items[4].out && !items[0].out && !items[2].out && !items[1].out && !items[3].out &&
		   !items[5].out,
	   "what is nine times slower drops out, what is 3.7 times slower than the best does not");
	ok(fakes[4].slices < fakes[0].slices && items[4].n >= 8,
	   "it gets %u slices, the others %u: its figure stands", fakes[4].slices, fakes[0].slices);
	ok(now_ns < CLOCK_SECOND / 2, "known closely enough, it is over after %.2f s",
	   (double)now_ns / 1e9);
	for (int i = 0; i < 6; i++)
		reversed[5 - i] = fakes[i];
	run_fakes(reversed, back, 6, 1, true);
	ok(back[1].out && !back[0].out && !back[2].out && !back[3].out && !back[4].out &&
		   !back[5].out,
	   "in the opposite order the same one drops out");
	sampler_free(back, 6);
	sampler_free(items, 6);
	run_fakes(fakes, items, 6, 1, false);
	ok(!items[4].out && near((double)now_ns, 1e9, 0.1),
	   "without a contest all stay to the end");
	sampler_free(items, 6);
}

static void test_drift(void)
{
	double samples[2][10] = {{1, 1, 1, 1, 1, 0.9, 0.9, 0.9, 0.9, 0.9},
				 {2, 2, 9, 2, 2, 1.8, 1.8, 1.8, 0.1, 1.8}};
	struct sampler_item items[3] = {
		{.samples = samples[0], .n = 10}, {.samples = samples[1], .n = 10}, {.n = 0}};

	ok(near(sampler_drift(items, 3), -0.1, 1e-9), "speeds fell by %.0f %%",
	   -100 * sampler_drift(items, 3));
	items[0].n = items[1].n = 5;
	ok(sampler_drift(items, 3) == 0, "too few slices say nothing of a drift");
}

static void test_fit(void)
{
	static const double sizes[] = {512, 1024, 2048, 4096, 16384, 65536};
	double y[6];
	struct fit_line line;
	bool found;

	for (size_t i = 0; i < 6; i++)
		y[i] = 1200 + 0.25 * sizes[i];
	found = fit_line(&line, sizes, y, 6);
	ok(found && near(line.fixed, 1200, 1e-9) && near(line.slope, 0.25, 1e-9) &&
		   line.error < 1e-9 && line.worst < 1e-9,
	   "an exact line is found exactly");
	y[2] *= 3;
	found = fit_line(&line, sizes, y, 6);
	ok(found && near(line.fixed, 1200, 0.01) && near(line.slope, 0.25, 0.01) &&
		   line.error < 0.01 && line.worst > 0.5,
	   "one disturbed size moves it little (%.0f, %.4f) and is the worst (%.0f %%)", line.fixed,
	   line.slope, line.worst * 100);
	for (size_t i = 0; i < 6; i++)
		y[i] = (1200 + 0.25 * sizes[i]) * (i % 2 ? 1.02 : 0.98);
	found = fit_line(&line, sizes, y, 6);
	ok(found && near(line.fixed, 1200, 0.06) && near(line.slope, 0.25, 0.05) &&
		   line.error <= 0.03,
	   "with 2 %% of noise: %.0f and %.4f, an error of %.1f %%", line.fixed, line.slope,
	   line.error * 100);
	ok(!fit_line(&line, sizes, y, 1), "one point is no line");
	y[1] = y[0];
	ok(!fit_line(&line, (const double[]){512, 512}, y, 2), "nor are two of one size");
}

/* A result whose requests take so many nanoseconds. */
static struct measure_result *cell(struct measurement *m, enum measure_engine engine,
				   const char *spec, size_t size, double ns)
{
	struct measure_result *r = &m->results[m->n_results++];

	memset(r, 0, sizeof(*r));
	spec_parse(&r->spec, spec, NULL);
	r->engine = engine;
	r->size = size;
	r->threads = r->depth = 1;
	r->median = r->low = r->high = (double)size / ns * 1e9;
	r->slices = 20;
	r->checked = true;
	return r;
}

static void test_results(void)
{
	struct measurement m = {.results = calloc(64, sizeof(*m.results))};

	for (size_t size = 256; size <= 131072; size *= 2) {
		cell(&m, MEASURE_AFALG, "aes-xts-plain64/512", size, 1500 + 0.5 * (double)size);
		cell(&m, MEASURE_CPU, "aes-xts-plain64/512", size, 0.4 * (double)size);
	}
	/* Neither of these is a point of the line. */
	cell(&m, MEASURE_AFALG, "aes-xts-plain64/256", 512, 100);
	cell(&m, MEASURE_AFALG, "aes-xts-plain64/512", 8192, 9)->depth = 8;
	if (fit_results(&m))
		abort();
	ok(m.n_fits == 1 && m.fits[0].points == 8 && near(m.fits[0].fixed_ns, 1500, 1e-6) &&
		   near(m.fits[0].per_byte_ns, 0.5, 1e-6),
	   "AF_ALG's cells of one cipher and 512 bytes to 64 KiB are a fit: %u sizes",
	   m.fits[0].points);
	measurement_free(&m);
}

static void test_crossing(void)
{
	struct measurement m = {.results = calloc(64, sizeof(*m.results))};
	struct facts facts = {0};
	struct measure_result *r;
	struct crossing c;

	for (size_t size = 16; size <= 65536; size *= 4) {
		r = cell(&m, MEASURE_AFALG, "aes-xts-plain64/512", size, 1000 + 2.1 * (double)size);
		/* What stands for a kernel of which nothing is known. */
		r = cell(&m, MEASURE_CPU, "aes-xts-plain64/512", size, 2 * (double)size);
		strcpy(r->tier, "table");
	}
	if (crossing_find(&c, &m, &facts))
		abort();
	ok(!c.asked, "nobody asked for the crossing");
	crossing_free(&c);
	m.crossings = calloc(8, sizeof(*m.crossings));
	for (size_t size = 16; size <= 65536; size *= 4) {
		r = cell(&m, MEASURE_AFALG, "aes-xts-plain64/512", size, 1000 + 0.1 * (double)size);
		r->spec = (struct spec){.kind = &backend_null_kind};
		m.crossings[m.n_crossings++] = *r;
		m.n_results--;
	}
	if (crossing_find(&c, &m, &facts))
		abort();
	ok(c.available && c.null_cipher && c.n_rows == 7 &&
		   near(c.paths[MEASURE_COPY].switch_ns, 1000, 1e-6) &&
		   near(c.paths[MEASURE_COPY].copy_ns_per_byte, 0.1, 1e-6),
	   "the null cipher takes it apart: %.0f ns and %.2f ns a byte",
	   c.paths[MEASURE_COPY].switch_ns, c.paths[MEASURE_COPY].copy_ns_per_byte);
	ok(near(c.rows[4].kernel_ns, 1000 + 2.1 * 4096, 1e-6) &&
		   near(c.rows[4].in_process_ns, 2 * 4096, 1e-6) &&
		   near(c.rows[4].crossing_ns, 1409.6, 1e-6) &&
		   near(c.rows[4].copy_ns, 409.6, 1e-6),
	   "of 4096 bytes %.0f ns are crossing, %.0f ns of them copying", c.rows[4].crossing_ns,
	   c.rows[4].copy_ns);
	ok(c.n_froms == 1 && c.froms[0].crossing == 16384 && c.froms[0].mode_switch == 16384,
	   "it is less than a tenth from %zu bytes on", (size_t)c.froms[0].crossing);
	crossing_free(&c);
	for (size_t i = 0; i < m.n_crossings; i++)
		strcpy(m.crossings[i].error_code, "ENOENT");
	if (crossing_find(&c, &m, &facts))
		abort();
	ok(c.available && !c.null_cipher && c.n_rows == 7 &&
		   near(c.paths[MEASURE_COPY].switch_ns, 1000, 1e-6) &&
		   near(c.paths[MEASURE_COPY].copy_ns_per_byte, 0.1, 1e-6),
	   "without the null cipher the difference to this process does");
	crossing_free(&c);
	measurement_free(&m);
}

/* The ids of the conditions, in their order. */
static const char *ids(const struct measurement *m, char text[256])
{
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < m->n_conditions && len < 256; i++)
		len += (size_t)snprintf(text + len, 256 - len, "%s%s", i ? " " : "",
					m->conditions[i].id);
	return text;
}

static void test_conditions(void)
{
	static const struct {
		double drift, scaling;
		size_t unsettled;
		int64_t hot;
		unsigned allowed;
		const char *want;
	} cases[] = {
		{0.04, 1.9, 5, 0, 2, ""},
		{-0.06, 1.9, 0, 0, 2, "drift"},
		{0.06, 1.9, 0, 0, 2, "drift"},
		{0, 1.9, 6, 0, 2, "unsettled"},
		{0, 1.05, 0, 0, 2, "threads-add-nothing"},
		/* Two threads on one CPU cannot add anything. */
		{0, 1.0, 0, 0, 1, "one-cpu oversubscribed"},
		{0, 1.9, 0, 3, 2, "hot"},
	};
	const struct conditions_mark before = {
		.steal = -1, .busy = -1, .own = -1, .throttled = -1, .hot = 0, .ns = 0};
	struct conditions_mark after = before;
	struct facts facts = {0};
	char text[256];

	after.ns = CLOCK_SECOND;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct measurement m = {.results = calloc(4, sizeof(*m.results))};
		struct conditions_run run = {
			.drift = cases[i].drift, .cells = 10, .unsettled = cases[i].unsettled};
		struct measure_result *r = cell(&m, MEASURE_CPU, "aes-xts-plain64/512@512", 65536,
						6000);

		r->threads = 2;
		r->scaling = cases[i].scaling;
		after.hot = cases[i].hot;
		facts.cpu.allowed = cases[i].allowed;
		if (conditions_find(&m, &facts, &before, &after, &run))
			abort();
		ok(!strcmp(ids(&m, text), cases[i].want),
		   "a drift of %g, %zu of 10 unsettled, %g times with 2 threads on %u CPUs, %d "
		   "times hot: \"%s\"",
		   cases[i].drift, cases[i].unsettled, cases[i].scaling, cases[i].allowed,
		   (int)cases[i].hot, text);
		measurement_free(&m);
	}
}

static void test_versus(void)
{
	struct measurement m = {.results = calloc(64, sizeof(*m.results))};
	struct versus_list list;
	struct measure_result *r;

	strcpy(cell(&m, MEASURE_CPU, "aes-xts-plain64/512", 512, 100)->tier, "aesni");
	strcpy(cell(&m, MEASURE_CPU, "aes-cbc-plain64/128", 512, 400)->tier, "aesni");
	strcpy(cell(&m, MEASURE_CPU, "aes-cbc-plain64/128", 512, 40)->tier, "vaes256");
	strcpy(cell(&m, MEASURE_CPU, "aes-xts-plain64/256", 512, 80)->tier, "aesni");
	r = cell(&m, MEASURE_CPU, "aes-cbc-plain64/256", 512, 105);
	strcpy(r->tier, "aesni");
	r->low *= 0.8;
	r->high *= 1.2;
	if (versus_find(&list, &m))
		abort();
	ok(list.n == 4, "four pairs that differ in the cipher alone: %zu", list.n);
	ok(!strcmp(list.list[0].right, "AES-128-CBC") && near(list.list[0].ratio, 4, 1e-9) &&
		   list.list[0].verdict == VERSUS_FASTER,
	   "AES-256-XTS is %.1f times as fast as AES-128-CBC", list.list[0].ratio);
	ok(!strcmp(list.list[1].right, "AES-256-CBC") && list.list[1].low < 1 &&
		   list.list[1].high > 1 && list.list[1].verdict == VERSUS_CANNOT_TELL,
	   "within the spread nobody can tell: %.2f (%.2f to %.2f)", list.list[1].ratio,
	   list.list[1].low, list.list[1].high);
	ok(!strcmp(list.list[2].right, "AES-128-XTS") && list.list[2].verdict == VERSUS_SLOWER,
	   "and AES-256-XTS is slower than AES-128-XTS: %.2f", list.list[2].ratio);
	versus_free(&list);
	measurement_free(&m);
}

int main(void)
{
	test_confidence();
	test_pairs();
	test_contest();
	test_doubt();
	test_drift();
	test_fit();
	test_results();
	test_crossing();
	test_conditions();
	test_versus();
	return tap_done();
}
