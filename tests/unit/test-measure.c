// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics, the sampler on a clock of its own, the pool, signals, the check of outputs, and what
 * is concluded from timings. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/check.h"
#include "measure/clock.h"
#include "measure/conditions.h"
#include "measure/pool.h"
#include "measure/sampler.h"
#include "measure/stats.h"
#include "measure/stop.h"
#include "measure/trial.h"
#include "tap.h"

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

static void test_stats(void)
{
	static const struct {
		size_t n;
		double values[9], median, low, high;
	} cases[] = {
		{1, {7}, 7, 7, 7},
		{2, {3, 1}, 2, 1.5, 2.5},
		{3, {9, 1, 5}, 5, 3, 7},
		{4, {4, 1, 3, 2}, 2.5, 1.75, 3.25},
		{5, {5, 5, 5, 5, 5}, 5, 5, 5},
		{9, {9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 3, 7},
		{9, {1e9, 8, 7, 6, 5, 4, 3, 2, 0}, 5, 3, 7},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double values[9];
		struct stats s;

		memcpy(values, cases[i].values, sizeof(values));
		stats_of(&s, values, cases[i].n);
		ok(s.median == cases[i].median && s.low == cases[i].low && s.high == cases[i].high,
		   "quartiles of %zu values: %g %g %g", cases[i].n, s.low, s.median, s.high);
	}
	ok(stats_spread(4, 3, 5) == 0.5 && stats_spread(0, 0, 0) == 0, "spread");
}

/* A world in which a call takes `call` ns and a slice `fixed` ns beside its calls; `drift` slows
 * everything down as time passes. */
static uint64_t now_ns;
static double drift;

struct fake {
	double call, fixed;
	int fail_after; /* slices; 0: never */
	int error, slices;
	uint64_t calls;
};

static uint64_t fake_now(void)
{
	return now_ns;
}

static int fake_slice(void *arg, uint64_t calls, uint64_t *bytes, uint64_t *ns)
{
	struct fake *f = arg;

	f->slices++;
	f->calls = calls;
	if (f->fail_after && f->slices > f->fail_after)
		return f->error;
	*ns = (uint64_t)((f->fixed + f->call * (double)calls) * (1 + drift * (double)now_ns / 1e9));
	*bytes = calls * 1000;
	now_ns += *ns;
	return 0;
}

#define ITEMS 16

static int run_fakes(struct fake *fakes, struct sampler_item *items, size_t n, double seconds,
		     bool *cut_short)
{
	struct sampler_options options = {.now = fake_now};

	memset(items, 0, n * sizeof(*items));
	for (size_t i = 0; i < n; i++) {
		items[i].slice = fake_slice;
		items[i].arg = &fakes[i];
	}
	now_ns = 1000;
	options.deadline = now_ns + (uint64_t)(seconds * 1e9);
	return sampler_run(items, n, &options, cut_short);
}

static double median(struct sampler_item *item)
{
	struct stats s = {0, 0, 0};

	if (item->n)
		stats_of(&s, item->samples, item->n);
	return s.median;
}

static void test_calibration(void)
{
	static const double calls[] = {10, 1000, 6500, 500000, 6e6};
	struct sampler_item items[1];
	bool cut_short;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct fake fake = {.call = calls[i]};
		double slice;

		run_fakes(&fake, items, 1, 1, &cut_short);
		slice = (double)fake.calls * calls[i];
		ok(calls[i] > 1e6 ? fake.calls == 1 : slice > 0.5e6 && slice < 2e6,
		   "calls of %g ns are taken %g ms at a time", calls[i], slice / 1e6);
		ok(near(median(&items[0]), 1000 / calls[i] * 1e9, 0.001), "their speed is exact");
		sampler_free(items, 1);
	}
	struct fake costly = {.call = 1000, .fixed = 200000};

	run_fakes(&costly, items, 1, 1, &cut_short);
	ok((double)costly.calls * 1000 > 1.5e6,
	   "slices are lengthened (%g ms) where each costs 0.2 ms beside its calls",
	   (double)costly.calls / 1e3);
	sampler_free(items, 1);
}

static void test_budget(void)
{
	struct sampler_item items[ITEMS];
	struct fake fakes[ITEMS];
	bool cut_short;
	size_t least;

	for (double seconds = 0.1; seconds < 30; seconds *= 4) {
		for (int i = 0; i < ITEMS; i++)
			fakes[i] = (struct fake){.call = 100 << (i % 8)};
		run_fakes(fakes, items, ITEMS, seconds, &cut_short);
		ok(near((double)now_ns / 1e9, seconds, 0.1) && !cut_short,
		   "a budget of %g s takes %g s", seconds, (double)now_ns / 1e9);
		sampler_free(items, ITEMS);
	}
	for (int i = 0; i < ITEMS; i++)
		fakes[i] = (struct fake){.call = 5e6};
	run_fakes(fakes, items, ITEMS, 0.01, &cut_short);
	least = items[0].n;
	for (int i = 1; i < ITEMS; i++)
		least = items[i].n < least ? items[i].n : least;
	ok(least == SAMPLER_MIN_SLICES && cut_short,
	   "too small a budget still gives each item %zu slices, and says so", least);
	least = 0;
	for (int i = 0; i < ITEMS; i++)
		least += fakes[i].slices;
	ok(least == ITEMS * SAMPLER_MIN_SLICES, "and does nothing else: %zu slices", least);
	sampler_free(items, ITEMS);
	fakes[0] = (struct fake){.call = 3e8};
	run_fakes(fakes, items, 1, 1, &cut_short);
	ok(now_ns < CLOCK_SECOND && items[0].n == 3 && !cut_short,
	   "no slice is begun that would not end in time: %zu of 0.3 s in %g s", items[0].n,
	   (double)now_ns / 1e9);
	sampler_free(items, 1);
}

/* The same items in the opposite order, on a machine that gets slower all the time. */
static void test_order(void)
{
	struct sampler_item there[ITEMS], back[ITEMS];
	struct fake fakes[ITEMS], reversed[ITEMS];
	double worst = 0, ratio;
	bool cut_short;

	drift = 0.5;
	for (int i = 0; i < ITEMS; i++)
		fakes[i] = reversed[ITEMS - 1 - i] = (struct fake){.call = 1000};
	run_fakes(fakes, there, ITEMS, 2, &cut_short);
	run_fakes(reversed, back, ITEMS, 2, &cut_short);
	drift = 0;
	for (int i = 0; i < ITEMS; i++) {
		ratio = fabs(median(&there[i]) / median(&back[ITEMS - 1 - i]) - 1);
		worst = ratio > worst ? ratio : worst;
	}
	ok(worst < 0.02, "reversed order changes no median by more than %.2f %%", worst * 100);
	for (int i = 1; i < ITEMS; i++)
		worst = fmax(worst, fabs(median(&there[i]) / median(&there[0]) - 1));
	ok(worst < 0.02, "equal items get equal medians while the machine slows down");
	sampler_free(there, ITEMS);
	sampler_free(back, ITEMS);
}

static int interrupted(void)
{
	return now_ns > 50000000;
}

static void test_failures(void)
{
	struct fake fakes[3] = {{.call = 1000},
				{.call = 1000, .fail_after = 20, .error = -EIO},
				{.call = 1000, .fail_after = 1, .error = -EIO}};
	struct sampler_options options = {.now = fake_now, .stopped = interrupted};
	struct sampler_item items[3];
	bool cut_short;
	int ret;

	ret = run_fakes(fakes, items, 3, 0.5, &cut_short);
	ok(!ret && !items[0].error && items[0].n > 50, "an item goes on while others fail");
	ok(items[1].error == -EIO && fakes[1].slices == 21 && items[2].error == -EIO &&
		   fakes[2].slices == 2,
	   "a failed item gets no more slices");
	sampler_free(items, 3);
	fakes[1] = (struct fake){.call = 1000, .fail_after = 10, .error = -ENOMEM};
	ok(run_fakes(fakes, items, 2, 0.5, &cut_short) == -ENOMEM, "lack of memory ends the run");
	sampler_free(items, 2);
	memset(items, 0, sizeof(items));
	items[0].slice = fake_slice;
	items[0].arg = &fakes[0];
	now_ns = 0;
	options.deadline = CLOCK_SECOND;
	ok(sampler_run(items, 1, &options, &cut_short) == -EINTR && now_ns < 60000000,
	   "asked to stop, it stops");
	sampler_free(items, 1);
}

static unsigned ran[8];

static int add_one(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	ran[worker]++;
	buffer->data[0] = (uint8_t)worker;
	return worker == 2 ? *(int *)arg : 0;
}

static int pause_long(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	(void)worker;
	(void)buffer;
	(void)arg;
	usleep(600000);
	return 0;
}

static void test_pool(void)
{
	struct pool *pool = NULL;
	uint64_t ns = 0;
	int error = 0;
	bool even = true;

	if (pool_new(&pool, 4, 4, 65536) || pool_fill(pool, UINT64_MAX, NULL) ||
	    pool_threads(pool) != 4) {
		tap_skip("no four threads");
		pool_free(pool);
		return;
	}
	for (int i = 0; i < 200; i++)
		even &= !pool_run(pool, 1 + i % 4, add_one, add_one, &error, POOL_FOREVER, &ns);
	ok(even && ran[0] == 400 && ran[3] == 100 && ns > 0, "workers run what they are asked to");
	error = -EPROTO;
	ok(pool_run(pool, 4, NULL, add_one, &error, POOL_FOREVER, NULL) == -EPROTO &&
		   pool_run(pool, 2, NULL, add_one, &error, POOL_FOREVER, NULL) == 0,
	   "a worker's error comes back");
	ok(pool_run(pool, 5, NULL, add_one, &error, POOL_FOREVER, NULL) == -EINVAL,
	   "more workers than there are");
	ok(pool_run(pool, 1, NULL, pause_long, NULL, CLOCK_SECOND / 5, NULL) == -ETIMEDOUT &&
		   pool_stuck(pool),
	   "a worker that does not come back is a timeout");
	/* It comes back after all and ends; its pool is left to it. */
	pool_free(pool);
	usleep(700000);
}

static void test_stop(void)
{
	struct stop stop;

	signal(SIGHUP, SIG_IGN);
	stop_begin(&stop);
	raise(SIGHUP);
	ok(stop_signal() == 0, "an ignored signal stays ignored");
	raise(SIGTERM);
	ok(stop_signal() == SIGTERM, "a signal is noticed");
	stop_end(&stop);
	stop_begin(&stop);
	ok(stop_signal() == 0, "and forgotten at the next run");
	stop_end(&stop);
	signal(SIGHUP, SIG_DFL);
}

/* A backend that does something else than it should. */
static int broken_crypt(void *state, enum engine_direction direction, uint8_t *data,
			uint64_t sector)
{
	const char *kind = state;

	(void)sector;
	if (!strcmp(kind, "swaps"))
		for (int i = 0; i < 512; i++)
			data[i] ^= direction == ENGINE_ENCRYPT ? 0x55 : 0x55;
	else if (!strcmp(kind, "forgets"))
		data[511]++;
	return !strcmp(kind, "fails") ? -EPROTO : 0;
}

static void test_check(void)
{
	static const struct {
		const char *kind, *spec;
		int want;
	} cases[] = {
		{"idle", "aes-xts-plain64/512@512", -EBADMSG},
		{"forgets", "aes-cbc-essiv:sha256/256@512", -EBADMSG},
		{"fails", "aes-xts-plain64/256@512", -EPROTO},
		{"idle", "xchacha12,aes-adiantum-plain64/256@512", -EBADMSG},
		{"forgets", "serpent-xts-plain64/512@512", -EBADMSG},
		/* It comes back, but the sector number plays no part. */
		{"swaps", "serpent-xts-plain64/512@512", -EBADMSG},
		{"fails", "xchacha12,aes-adiantum-plain64/256@512", -EPROTO},
	};
	static const struct backend broken = {.crypt = broken_crypt};
	struct check_patterns patterns = {NULL, 0};
	uint8_t data[512];
	struct spec spec;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int got, at;

		spec_parse(&spec, cases[i].spec, NULL);
		at = check_prepare(&patterns, &spec, 512);
		got = check_state(&patterns.list[at], &broken, (void *)(uintptr_t)cases[i].kind,
				  ENGINE_ENCRYPT, data);
		ok(got == cases[i].want, "a backend that %s on %s is found out: %d", cases[i].kind,
		   cases[i].spec, got);
	}
	ok(patterns.n == 5, "patterns are shared");
	check_free(&patterns);
}

/* The real thing, but for one byte of a long request. */
static size_t spoilt;

static int spoiling_crypt(void *state, enum engine_direction direction, uint8_t *data,
			  uint64_t sector)
{
	int ret = backend_cpu.crypt(state, direction, data, sector);

	data[spoilt]++;
	return ret;
}

static void test_long_check(void)
{
	static struct facts facts;
	struct backend spoiling = backend_cpu;
	struct check_patterns patterns = {NULL, 0};
	const size_t size = 16 << 20;
	struct backend_cell cell = {.size = size, .tier = engine_tiers[0], .facts = &facts};
	const size_t places[] = {0, 511, size / 2, size - 512, size - 1};
	uint8_t *data = malloc(size);
	struct backend_error error;
	void *state = NULL;
	int at;

	for (const struct engine_tier *const *t = engine_tiers; *t; t++)
		if (engine_tier_usable(*t, &facts.cpu, NULL, 0))
			cell.tier = *t;
	spoiling.crypt = spoiling_crypt;
	spec_parse(&cell.spec, "aes-xts-plain64/512@512", NULL);
	at = check_prepare(&patterns, &cell.spec, size);
	ok(patterns.list[at].total <= CHECK_BYTES, "of 16 MiB %zu bytes are compared",
	   patterns.list[at].total);
	backend_cpu.open(&state, &cell, check_key, &error);
	ok(!check_state(&patterns.list[at], &backend_cpu, state, ENGINE_ENCRYPT, data) &&
		   !check_state(&patterns.list[at], &backend_cpu, state, ENGINE_DECRYPT, data),
	   "they agree, sector numbers included");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		spoilt = places[i];
		ok(check_state(&patterns.list[at], &spoiling, state, ENGINE_ENCRYPT, data) ==
			   -EBADMSG,
		   "byte %zu of it is wrong", spoilt);
	}
	backend_cpu.close(state);
	check_free(&patterns);
	free(data);
}

/* Tiers best first, as engine_tiers[]: vaes512, vaes256, aesni, portable. */
static void test_trial_choice(void)
{
	static const struct {
		double ns[4];
		size_t want;
		const char *why;
	} cases[] = {
		{{100, 130, 200, 0}, 0, "the widest is the fastest"},
		{{100, 100, 200, 0}, 0, "no faster with half the width: the wider one stands"},
		{{100, 95, 200, 0}, 0, "5 % faster is not clearly faster"},
		{{109, 100, 200, 0}, 0, "nor are 9 %"},
		{{115, 100, 200, 0}, 1, "a CPU that slows down for 512-bit vectors"},
		{{300, 250, 200, 0}, 2, "each half faster than the one before it"},
		{{115, 108, 100, 0}, 2, "clearly faster than the widest, if not than the next"},
		{{300, 100, 95, 0}, 1, "what follows has to be clearly faster than that"},
		{{0, 100, 200, 0}, 1, "no 512-bit vectors"},
		{{0, 0, 200, 0}, 2, "128-bit vectors alone"},
		{{0, 0, 0, 0}, 4, "no AES instructions"},
	};
	const struct engine_tier *best;
	struct cpu_facts cpu = {.family = CPU_FAMILY_X86, .known = true};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(trial_choose(cases[i].ns, 4) == cases[i].want, "%s: %zu", cases[i].why,
		   trial_choose(cases[i].ns, 4));
	ok(trial_choose(NULL, 0) == 0, "of no tiers none");
	best = trial_best_tier(&cpu);
	ok(best == engine_tier_find("portable"), "without AES instructions it is %s",
	   engine_tier_name(best));
	if (cpu_probe(&cpu, NULL, NULL, NULL) != 0)
		return;
	best = trial_best_tier(&cpu);
	ok(engine_tier_usable(best, &cpu, NULL, 0) &&
		   !engine_tier_bits(best) == !engine_tier_bits(engine_tier_best(&cpu)),
	   "timed here, it is %s", engine_tier_name(best));
}

static void test_shared_units(void)
{
	static const struct {
		double one, all, quota, want;
		unsigned threads, allowed;
		const char *why;
	} cases[] = {
		{13e9, 13e9, 0, 1, 2, 2, "two siblings of one core"},
		{10e9, 12.9e9, 0, 1.29, 2, 2, "1.29 times: still far from two"},
		{13e9, 25e9, 0, 0, 2, 2, "two cores"},
		{13e9, 17e9, 0, 0, 2, 2, "a core that clocks down with its neighbour"},
		{13e9, 52e9, 0, 4, 8, 8, "four cores of two siblings"},
		{13e9, 96e9, 0, 0, 8, 8, "eight cores"},
		{13e9, 13e9, 0, 0, 2, 1, "two threads on one CPU say nothing"},
		{13e9, 13e9, 1.5, 0, 2, 2, "nor under a quota of less than two"},
		{13e9, 13e9, 2, 1, 2, 2, "a quota of two is enough"},
		{13e9, 13e9, 0, 1, 2, 0, "the number of CPUs is not known"},
		{13e9, 12e9, 0, 0, 1, 2, "one thread"},
		{0, 12e9, 0, 0, 2, 2, "one thread was not measured"},
		{13e9, 0, 0, 0, 2, 2, "nor were two"},
	};
	const struct conditions_mark mark = {
		.steal = -1, .busy = -1, .own = -1, .throttled = -1, .hot = -1};
	const struct conditions_run run = {.cut_short = 0};
	struct measure_roofline roofs[] = {
		{512, 1, 18e9, 13e9}, {256, 2, 1, 1}, {512, 2, 19e9, 14e9}};
	struct measurement m = {.rooflines = roofs, .n_rooflines = 3};
	static struct facts facts;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct cpu_facts cpu = {.allowed = cases[i].allowed, .quota = cases[i].quota};
		const double got = conditions_shared_units(cases[i].one, cases[i].all,
							   cases[i].threads, &cpu);

		ok(fabs(got - cases[i].want) < 0.001, "%s: %g", cases[i].why, got);
	}
	facts.cpu.allowed = 2;
	if (conditions_find(&m, &facts, &mark, &mark, &run))
		exit(99);
	ok(m.n_conditions == 1 && !strcmp(m.conditions[0].id, "shared-aes-units") &&
		   !strcmp(m.conditions[0].message,
			   "2 threads did 1.08 times the AES rounds of one (AES-256: 14.00 GB/s "
			   "together, not 26.00 GB/s): CPUs share AES units, as siblings of one "
			   "core do."),
	   "said once, with numbers: %s", m.n_conditions ? m.conditions[0].message : "nothing");
	free(m.conditions);
}

int main(void)
{
	test_stats();
	test_calibration();
	test_budget();
	test_order();
	test_failures();
	test_pool();
	test_stop();
	test_check();
	test_long_check();
	test_trial_choice();
	test_shared_units();
	return tap_done();
}
