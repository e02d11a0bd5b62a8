// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics, the sampler on a clock of its own, the pool, and the reader of saved results. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/check.h"
#include "measure/clock.h"
#include "measure/pool.h"
#include "measure/sampler.h"
#include "measure/saved.h"
#include "measure/stats.h"
#include "measure/stop.h"
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
	sampler_free(items, ITEMS);
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

	if (pool_new(&pool, 4, 65536) || pool_threads(pool) != 4) {
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

/* Saved documents. */

static char path[64];

static int load(const char *text, struct measurement *m, struct facts *facts, bool *has_facts,
		struct status *st)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	memset(st, 0, sizeof(*st));
	return saved_load(m, facts, has_facts, path, st);
}

#define HEAD "{\"schema\":\"dmcrypt-tune.bench.v1\",\"results\":["
#define TAIL "]}"
#define CELL(s)                                                                                    \
	"{\"spec\":\"aes-xts-plain64/512@4096\",\"engine\":\"cpu\",\"direction\":\"encrypt\"," s "}"

static void test_saved_good(void)
{
	struct measurement m;
	struct facts facts;
	struct status st;
	bool has_facts;
	int ret;

	ret = load(HEAD TAIL, &m, &facts, &has_facts, &st);
	ok(!ret && m.n_results == 0 && !has_facts, "no results");
	measurement_free(&m);
	ret = load(
		HEAD CELL(
			"\"tier\":\"aesni\",\"shape\":\"multi\",\"size\":65536,\"threads\":2,"
			"\"median\":5e9,\"low\":4000000000,\"high\":6.5e9,"
			"\"roofline_share\":0.8,\"checked\":true,\"more\":[{}]") "," CELL("\"median\":7") "," CELL("\"tier\":\"x\",\"error\":{\"code\":\"ENOENT\",\"reason\":\"none\"}") "],\"seconds\":8.5,\"conditions\":[{\"id\":\"noisy\",\"message\":\"m\"}],"
																							 "\"roofline\":[{\"bits\":128,\"threads\":1,\"bytes_per_second_aes128\":9,"
																							 "\"bytes_per_second_aes256\":8}],\"new\":{\"a\":1}}",
		&m, &facts, &has_facts, &st);
	ok(!ret && m.n_results == 3, "unknown keys and absent ones: %s", st.message);
	if (ret)
		return;
	ok(m.results[0].median == 5e9 && m.results[0].low == 4e9 && m.results[0].high == 6.5e9 &&
		   m.results[0].roofline_share == 0.8 && m.results[0].checked &&
		   m.results[0].shape == ENGINE_MULTI && m.results[0].size == 65536 &&
		   m.results[0].threads == 2 && m.results[0].spec.sector == 4096 &&
		   !strcmp(m.results[0].tier, "aesni") && m.results[0].engine == MEASURE_CPU,
	   "all of a cell");
	ok(!m.results[1].checked && m.results[1].low == 7 && m.results[1].high == 7 &&
		   m.results[1].threads == 1 && m.results[1].size == 4096,
	   "what a cell does not say; it is not checked");
	ok(!strcmp(m.results[2].error_code, "ENOENT") && !strcmp(m.results[2].error_reason, "none"),
	   "a failed cell");
	ok(m.seconds == 8.5 && m.n_conditions == 1 && m.rooflines[0].aes256 == 8, "the rest");
	measurement_free(&m);
	facts_free(&facts);
}

static void test_saved_bad(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "unexpected end"},
		{"{", "unexpected end"},
		{"nonsense", "not JSON"},
		{"[]", "no object"},
		{"null", "no object"},
		{"{}", "schema"},
		{"{\"schema\":\"dmcrypt-tune.probe.v1\",\"results\":[]}", "probe.v1"},
		{"{\"schema\":7,\"results\":[]}", "schema"},
		{"{\"schema\":\"dmcrypt-tune.bench.v1\"}", "results"},
		{"{\"schema\":\"dmcrypt-tune.bench.v1\",\"results\":{}}", "results"},
		{HEAD TAIL "x", "byte 47"},
		{HEAD TAIL "{}", "byte 47"},
		{HEAD "7" TAIL, "results[0]"},
		{HEAD "{}" TAIL, "spec"},
		{HEAD CELL("\"median\":0") TAIL, "median is 0"},
		{HEAD CELL("\"median\":-1") TAIL, "median is -1"},
		{HEAD CELL("\"median\":NaN") TAIL, "NaN"},
		{HEAD CELL("\"median\":Infinity") TAIL, "Infinity"},
		{HEAD CELL("\"median\":1e400") TAIL, "median"},
		{HEAD CELL("\"median\":null") TAIL, "median"},
		{HEAD CELL("\"median\":\"5\"") TAIL, "median"},
		{HEAD CELL("\"median\":5,\"low\":6") TAIL, "low"},
		{HEAD CELL("\"median\":5,\"high\":4") TAIL, "high"},
		{HEAD CELL("\"median\":5,\"low\":-1") TAIL, "low"},
		{HEAD CELL("\"median\":5,\"checked\":1") TAIL, "checked"},
		{HEAD CELL("\"median\":5,\"threads\":0") TAIL, "threads"},
		{HEAD CELL("\"median\":5,\"threads\":1.5") TAIL, "threads"},
		{HEAD CELL("\"median\":5,\"threads\":99999999999999999999999") TAIL, "threads"},
		{HEAD CELL("\"median\":5,\"size\":-512") TAIL, "size"},
		{HEAD CELL("\"median\":5,\"shape\":\"round\"") TAIL, "shape"},
		{HEAD CELL("\"median\":5,\"tier\":7") TAIL, "tier"},
		{HEAD CELL("\"median\":5,\"tier\":\"a\\u0000b\"") TAIL, "tier"},
		{HEAD CELL("\"error\":{}") TAIL, "error.code"},
		{HEAD CELL("\"error\":{\"code\":\"\"}") TAIL, "error.code"},
		{HEAD CELL("\"error\":\"ENOENT\"") TAIL, "error"},
		{HEAD CELL("\"median\":5") "," CELL("\"median\":6") TAIL, "same cell"},
		{HEAD CELL("\"median\":5") "," CELL("\"error\":{\"code\":\"EIO\"}") TAIL,
		 "same cell"},
		{HEAD "{\"spec\":\"aes-xts-plain64/512@4096\",\"engine\":\"gpu\","
		      "\"direction\":\"encrypt\",\"median\":5}" TAIL,
		 "gpu"},
		{HEAD "{\"spec\":\"rot13/512@4096\",\"engine\":\"cpu\",\"direction\":\"encrypt\","
		      "\"median\":5}" TAIL,
		 "rot13"},
		{HEAD "{\"spec\":\"aes-xts-plain64/512\",\"engine\":\"cpu\","
		      "\"direction\":\"encrypt\",\"median\":5}" TAIL,
		 "size"},
		{HEAD "{\"spec\":\"aes-xts-plain64/512@4096\",\"engine\":\"cpu\","
		      "\"direction\":\"sideways\",\"median\":5}" TAIL,
		 "sideways"},
		{HEAD "],\"roofline\":[{\"bits\":-1}]}", "bits"},
		{HEAD "],\"conditions\":[7]}", "conditions[0]"},
		{HEAD "],\"seconds\":-1}", "seconds"},
		{HEAD "],\"cpu\":7}", "cpu"},
		{HEAD "],\"cpu\":{\"features\":\"aes\"},\"kernel\":{},\"memory\":{}}",
		 "cpu.features"},
		{HEAD "],\"cpu\":{},\"kernel\":{\"af_alg\":{\"error\":\"EMADEUP\"}},"
		      "\"memory\":{}}",
		 "EMADEUP"},
		{HEAD "],\"cpu\":{},\"kernel\":{},\"memory\":{\"total\":-5}}", "memory.total"},
		{HEAD "[[[[[[[[[[[[[[[[[[[[[[7]]]]]]]]]]]]]]]]]]]]]]" TAIL, "not JSON"},
		{HEAD "\"\xff\"" TAIL, "not JSON"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct measurement m;
		struct facts facts;
		struct status st;
		bool has_facts;
		int ret;

		ret = load(cases[i].text, &m, &facts, &has_facts, &st);
		ok(ret == -EINVAL && st.code == ST_USAGE && strstr(st.message, cases[i].says) &&
			   !has_facts,
		   "refused: %.60s: %s", cases[i].text, st.message);
		measurement_free(&m);
		facts_free(&facts);
	}
}

static void test_saved_facts(void)
{
	struct measurement m;
	struct facts facts;
	struct status st;
	bool has_facts;
	int ret;

	ret = load(HEAD "],\"cpu\":{\"arch\":\"x86_64\",\"model\":\"M\",\"features\":[\"sse2\","
			"\"aes\",\"not-yet-known\"],\"allowed\":4,\"quota\":1.5},\"kernel\":{"
			"\"release\":\"6.1\",\"fips\":false,\"ciphers\":[{\"name\":\"xts(aes)\","
			"\"driver\":\"xts-aes-aesni\",\"priority\":401,\"reason\":null},{\"name\":"
			"\"adiantum(xchacha12,aes)\",\"driver\":null}],\"af_alg\":{\"available\":"
			"false,\"error\":\"EAFNOSUPPORT\",\"reason\":\"none\",\"ciphers\":[{"
			"\"name\":\"xts(aes)\",\"available\":false,\"reason\":\"r\"}]},\"dm\":{"
			"\"available\":true,\"crypt_version\":\"1.24.0\"}},\"memory\":{\"total\":"
			"1024,\"available\":512,\"limit\":null}}",
		   &m, &facts, &has_facts, &st);
	ok(!ret && has_facts, "the documented keys of a machine: %s", st.message);
	ok(facts.cpu.family == CPU_FAMILY_X86 && cpu_can_use(&facts.cpu, CPU_AES) &&
		   facts.cpu.known && facts.cpu.allowed == 4 && facts.cpu.quota == 1.5,
	   "its CPU");
	ok(facts.kernel.n_drivers == 1 &&
		   kernel_aes_kind(&facts.kernel, "xts(aes)", NULL) == KERNEL_AES_CPU &&
		   facts.kernel.af_alg.error == EAFNOSUPPORT && facts.kernel.af_alg.n == 1 &&
		   facts.kernel.dm.version[1] == 24 && facts.kernel.dm.n > 0,
	   "its kernel");
	ok(facts.memory.total == 1024 && facts.memory.available == 512 && !facts.memory.limit,
	   "its memory");
	measurement_free(&m);
	facts_free(&facts);
}

/* Files that are none, or never end. */
static void test_saved_files(void)
{
	static const char *const paths[] = {"/dev/zero", "/dev/null", "/", "/nonexistent/file"};
	struct measurement m;
	struct facts facts;
	struct status st = {ST_OK, ""};
	bool has_facts;
	int ret;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ret = saved_load(&m, &facts, &has_facts, paths[i], &st);
		ok(ret < 0 && st.code == ST_USAGE, "%s is refused: %s", paths[i], st.message);
	}
	remove(path);
	if (mkfifo(path, 0600)) {
		tap_skip("no FIFO: %s", strerror(errno));
		return;
	}
	ret = saved_load(&m, &facts, &has_facts, path, &st);
	ok(ret < 0 && st.code == ST_USAGE, "a FIFO without a writer is refused at once");
	remove(path);
	if (truncate(path, 0) && errno == ENOENT) {
		FILE *f = fopen(path, "w");

		fclose(f);
	}
	ok(!truncate(path, (64 << 20) + 1) &&
		   saved_load(&m, &facts, &has_facts, path, &st) == -EFBIG,
	   "more than 64 MiB: %s", st.message);
}

int main(void)
{
	char dir[] = "/tmp/dmct-measure-XXXXXX";

	test_stats();
	test_calibration();
	test_budget();
	test_order();
	test_failures();
	test_pool();
	test_stop();
	test_check();
	if (!mkdtemp(dir)) {
		tap_skip("no temporary directory: %s", strerror(errno));
		return tap_done();
	}
	snprintf(path, sizeof(path), "%s/saved.json", dir);
	test_saved_good();
	test_saved_bad();
	test_saved_facts();
	test_saved_files();
	remove(path);
	remove(dir);
	return tap_done();
}
