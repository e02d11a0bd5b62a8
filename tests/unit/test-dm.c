// SPDX-License-Identifier: GPL-2.0-or-later
/* The dm engine's pure parts: flags, names and whose they are, and the model that stands for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decide/model.h"
#include "measure/dm_name.h"
#include "measure/flags.h"
#include "scene.h"

static void test_flags(void)
{
	struct kernel_dm old = {.n = 0}, middle = {.n = 0}, fresh = {.n = 0};
	unsigned sets[FLAGS_SETS_MAX];
	char text[FLAGS_TEXT_MAX];

	kernel_dm_set_version(&old, (const unsigned[]){1, 14, 0});
	kernel_dm_set_version(&middle, (const unsigned[]){1, 24, 0});
	kernel_dm_set_version(&fresh, (const unsigned[]){1, 28, 0});
	ok(flags_parse(sets, "none", &old) == 1 && !sets[0], "none is one empty set");
	ok(flags_parse(sets, "no_read_workqueue+high_priority", &old) == 1 &&
		   sets[0] == (MEASURE_NO_READ_WORKQUEUE | MEASURE_HIGH_PRIORITY),
	   "flags are joined, whatever the target has: %x", sets[0]);
	ok(flags_missing(sets[0], &old) == sets[0] &&
		   flags_missing(sets[0], &middle) == MEASURE_HIGH_PRIORITY &&
		   !flags_missing(sets[0], &fresh),
	   "what a version lacks");
	ok(flags_parse(sets, "all", &old) == 3, "1.14: none and two flags");
	ok(flags_parse(sets, "all", &middle) == 6 && !sets[0] &&
		   sets[5] == (MEASURE_NO_READ_WORKQUEUE | MEASURE_NO_WRITE_WORKQUEUE),
	   "1.24: none, four flags, both work queues");
	ok(flags_parse(sets, "all", &fresh) == 7, "1.28: one more");
	for (const char *const *bad =
		     (const char *const[]){"", "+", "no_read_workqueue+", "None",
					   "no_read_workqueue++high_priority", "all+none",
					   "perf-no_read_workqueue", NULL};
	     *bad; bad++)
		ok(flags_parse(sets, *bad, &fresh) == -1, "\"%s\" is no set of flags", *bad);
	ok(!strcmp(flags_print(0, text), "none") &&
		   !strcmp(flags_print(MEASURE_NO_WRITE_WORKQUEUE | MEASURE_SAME_CPU_CRYPT, text),
			   "no_write_workqueue+same_cpu_crypt"),
	   "printed: %s", text);
	ok(strlen(flags_print(MEASURE_FLAGS_ALL, text)) + 1 < FLAGS_TEXT_MAX &&
		   flags_parse(sets, text, &fresh) == 1 && sets[0] == MEASURE_FLAGS_ALL,
	   "all of them, there and back: %s", text);
}

static void test_names(void)
{
	const struct dm_owner owner = {4711, 99, 4026531836};
	char name[DM_NAME_MAX_LEN], uuid[DM_UUID_MAX_LEN];
	struct dm_owner found = {0};

	dm_name_print(name, &owner, 12);
	dm_uuid_print(uuid, &owner, 12);
	ok(!strcmp(name, "dmcrypt-tune-4711-12") &&
		   !strcmp(uuid, "DMCRYPT-TUNE-4711-99-4026531836-12"),
	   "%s, %s", name, uuid);
	ok(dm_name_parse(name, uuid, &found) && found.pid == 4711 && found.start == 99 &&
		   found.namespace == 4026531836,
	   "read back");
	static const char *const strangers[][2] = {
		{"dmcrypt-tune-4711-13", "DMCRYPT-TUNE-4711-99-4026531836-12"},
		{"dmcrypt-tune-4712-12", "DMCRYPT-TUNE-4711-99-4026531836-12"},
		{"dmcrypt-tune-4711-12", "DMCRYPT-TUNE-4711-99-4026531836-12x"},
		{"dmcrypt-tune-4711-12", "DMCRYPT-TUNE-04711-99-4026531836-12"},
		{"dmcrypt-tune-4711-12", "DMCRYPT-TUNE--1-99-4026531836-12"},
		{"dmcrypt-tune-4711-12", "CRYPT-LUKS2-0123-dmcrypt-tune-4711-12"},
		{"dmcrypt-tune-4711-12", ""},
		{"luks-4711", "DMCRYPT-TUNE-4711-99-4026531836-12"},
	};
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
		ok(!dm_name_parse(strangers[i][0], strangers[i][1], &found),
		   "not ours: %s with \"%s\"", strangers[i][0], strangers[i][1]);
}

static void stale(bool want, struct dm_owner owner, struct dm_life life, const char *why)
{
	const struct dm_owner self = {100, 5000, 7};

	ok(dm_name_stale(&owner, &self, &life) == want, "%s: %s", why,
	   want ? "stale" : "left alone");
}

static void test_stale(void)
{
	struct dm_owner self;
	struct dm_life life;

	stale(true, (struct dm_owner){50, 10, 7}, (struct dm_life){false, 0}, "no such process");
	stale(false, (struct dm_owner){50, 10, 7}, (struct dm_life){true, 10}, "it lives");
	stale(true, (struct dm_owner){50, 10, 7}, (struct dm_life){true, 20},
	      "its number came again");
	stale(false, (struct dm_owner){50, 10, 7}, (struct dm_life){true, 0},
	      "a process whose start is not known");
	stale(false, (struct dm_owner){50, 0, 7}, (struct dm_life){true, 20},
	      "an owner whose start is not known");
	stale(false, (struct dm_owner){50, 10, 8}, (struct dm_life){false, 0},
	      "another PID namespace");
	stale(false, (struct dm_owner){50, 10, 0}, (struct dm_life){false, 0},
	      "a PID namespace that is not known");
	stale(false, (struct dm_owner){100, 5000, 7}, (struct dm_life){true, 5000}, "ourselves");
	stale(true, (struct dm_owner){100, 4000, 7}, (struct dm_life){true, 5000},
	      "our own number, of somebody before us");
	dm_owner_self(&self);
	dm_life_of(&life, self.pid);
	ok(life.exists && (!self.start || life.start == self.start), "we live, since %llu",
	   (unsigned long long)self.start);
	dm_life_of(&life, 0);
	ok(!life.exists, "nobody has number 0");
}

static bool near(double value, double want)
{
	return value > want * 0.999 && value < want * 1.001;
}

/* 64 KiB in so many microseconds. */
static double per_request(double us)
{
	return MODEL_REQUEST / us * 1e6;
}

static void test_model(void)
{
	const struct measurement m = {.handoff = 10e-6, .syscall = 0.75e-6, .copy = 0.3e-9};
	const struct measurement slow_calls = {.handoff = 40e-6, .syscall = 10e-6};
	struct model model = {.crossing = 2e-6};
	const struct model_stream none = {0};
	double speed = 4096 / 6e-6;

	model_costs(&model, &m);
	ok(near(model.handover, 7e-6) && near(model.call, 0.75e-6), "a turn without its calls: %g",
	   model.handover);
	ok(near(model_per_sector(&model), 0.5e-6), "a fourteenth of that for a sector: %g",
	   model_per_sector(&model));
	ok(model_speed(&model, PLAN_BASIS_DM, ENGINE_DECRYPT, 4096, 1, 123e6, &none) == 123e6,
	   "dm stands for itself");
	/* A sector: 6 us, without 2 of crossing and two thirds of copying 4096 bytes (0.8192 us);
	 * 16 of them, a call, and 1.3 turns. */
	ok(near(model_speed(&model, PLAN_BASIS_AFALG, ENGINE_DECRYPT, 4096, 1, speed, &none),
		per_request(16 * (4 - 0.8192) + 0.75 + 1.3 * 7)),
	   "AF_ALG, reading");
	ok(near(model_speed(&model, PLAN_BASIS_AFALG, ENGINE_ENCRYPT, 4096, 1, speed, &none),
		per_request(16 * (4 + 0.4096) + 0.75 + 1.9 * 7)),
	   "AF_ALG, writing: a third of the copying more, and 1.9 turns");
	ok(near(model_speed(&model, PLAN_BASIS_CPU, ENGINE_DECRYPT, 512, 1, 512 / 1e-6, &none),
		per_request(128 * (1 + 0.5 + 0.0512) + 0.75 + 1.3 * 7)),
	   "the engine: no crossing, the sector's cost on top");
	ok(near(model_speed(&model, PLAN_BASIS_CPU, ENGINE_DECRYPT, 512, 2, 2 * 512 / 1e-6, &none),
		2 * per_request(128 * (1 + 0.5 + 0.0512) + 0.75 + 1.3 * 7)),
	   "two threads: each pays its own");
	model.crossing = 5.99e-6;
	model.copy = 0;
	ok(near(model_speed(&model, PLAN_BASIS_AFALG, ENGINE_DECRYPT, 4096, 1, speed, &none),
		per_request(16 * 0.3 + 0.75 + 1.3 * 7)),
	   "never less than a twentieth of what was measured");
	model_costs(&model, &slow_calls);
	ok(near(model.handover, 2e-6), "slow calls: a twentieth of the turn at least: %g",
	   model.handover);
	ok(model_error(PLAN_BASIS_DM) == 0 &&
		   model_error(PLAN_BASIS_AFALG) < model_error(PLAN_BASIS_CPU),
	   "the engine alone may be further off");
}

/* One sector in microseconds, with nothing that is paid a request. */
static double sector_us(double crossing, double sector, unsigned size, double stream)
{
	const struct model model = {.crossing = crossing * 1e-6};
	const struct model_stream s = {65536, stream > 0 ? 65536 / stream * 1e6 : 0, 0.02};

	return size * 1e6 /
	       model_speed(&model, PLAN_BASIS_AFALG, ENGINE_DECRYPT, size, 1, size / sector * 1e6,
			   &s);
}

static void test_stream(void)
{
	double us;

	ok(near(sector_us(240, 280, 4096, 0), 40), "no long message: what is left");
	/* 64 KiB without a crossing of 240: 660, a sixteenth of it is 41.25. The rest, 18.75, is
	 * less than 4 % of 2 crossings and those bytes, 20.85: 351.6 of 786.3 of it are believed.
	 */
	ok(near(sector_us(240, 281.25, 4096, 900), 41.25), "both say the same: that");
	us = sector_us(240, 300, 4096, 900);
	ok(fabs(us - (41.25 + 18.75 * 0.44713)) < 0.01, "noise is mostly not believed: %g", us);
	us = sector_us(240, 262.5, 4096, 900);
	ok(fabs(us - (41.25 - 18.75 * 0.44713)) < 0.01, "nor when it is good news: %g", us);
	us = sector_us(240, 1240, 4096, 900);
	ok(us > 999 && us <= 1000, "a round trip of a millisecond is: %g", us);
	us = sector_us(0.5, 1.9, 512, 16.5);
	ok(us > 1.39 && us <= 1.4, "and one of a microsecond, where crossings are quick: %g", us);
	us = sector_us(890, 891, 4096, 900);
	ok(us > 1.4 && us < 2.9, "where the crossing is all but all, between the two: %g", us);
}

static void test_predict(void)
{
	static struct scene s;
	struct predictions p;
	struct measure_result *r;

	scene_init(&s);
	add(&s, MEASURE_DM, "aes-xts-plain64/512@4096", 100);
	r = add_way(&s, MEASURE_DM, "aes-xts-plain64/512@4096", ENGINE_DECRYPT, 300, 0.01);
	r->flags = MEASURE_NO_READ_WORKQUEUE;
	add(&s, MEASURE_AFALG, "aes-xts-plain64/512@4096", 80);
	add(&s, MEASURE_CPU, "aes-xts-plain64/512@4096", 120);
	add(&s, MEASURE_OPENSSL, "aes-xts-plain64/512@4096", 500);
	r = add_way(&s, MEASURE_AFALG, "aes-xts-plain64/512@512", ENGINE_DECRYPT, 10, 0.01);
	strcpy(r->error_code, "ENOENT");
	if (!ok(!model_predict(&p, &s.m, &s.facts), "predicted"))
		return;
	ok(p.n == 6, "two directions by three layers, without flags, OpenSSL and failures: %zu",
	   p.n);
	ok(p.n == 6 && p.list[0].basis == PLAN_BASIS_DM && near(p.list[0].speed, 100e6) &&
		   p.list[0].low > 98e6 && p.list[0].high < 102e6,
	   "dm's is what was measured");
	ok(p.n == 6 && p.list[2].basis == PLAN_BASIS_AFALG && near(p.list[2].speed, 80e6) &&
		   p.list[2].low < 70e6 && p.list[2].high > 95e6,
	   "nothing known of the kernel: AF_ALG's own figure, with the model's error");
	predictions_free(&p);
	ok(!p.list && !p.n, "freed");
}

/* Both directions of dm, without flags and without work queues, one request at a time and eight. */
static void add_flags(struct scene *s, double with_one, double with_many)
{
	static const unsigned both = MEASURE_NO_READ_WORKQUEUE | MEASURE_NO_WRITE_WORKQUEUE;

	for (int d = ENGINE_ENCRYPT; d <= ENGINE_DECRYPT; d++) {
		for (int i = 0; i < 4; i++) {
			double mbs = 100 * (i & 2 ? 2 : 1) *
				     (i & 1 ? (i & 2 ? with_many : with_one) : 1);
			struct measure_result *r = add_way(
				s, MEASURE_DM, "aes-xts-plain64/512@4096", d, mbs, 0.02);

			r->flags = i & 1 ? both : 0;
			r->depth = i & 2 ? PLAN_FLAGS_DEPTH : 1;
			r->slices = 9;
		}
	}
}

static void flags(double with_one, double with_many, size_t want, const char *why)
{
	static struct scene s;
	struct status st = {0};
	struct plan plan;

	scene_init(&s);
	add_flags(&s, with_one, with_many);
	if (!ok(!decide_plan(&plan, &s.input, &st), "a plan is made %s", st.message))
		return;
	ok(plan.n_flags == want && near(plan.speed, 100e6), "%s: %zu flags, %.0f", why,
	   plan.n_flags, plan.speed);
	if (want == 2)
		ok(!strcmp(plan.flags[0], "perf-no_read_workqueue") &&
			   !strcmp(plan.flags[1], "perf-no_write_workqueue"),
		   "%s, %s", plan.flags[0], plan.flags[1]);
	plan_free(&plan);
}

static void test_flags_chosen(void)
{
	static struct scene s;
	struct status st = {0};
	struct plan plan;

	flags(1.4, 1.0, 2, "a gain with one, nothing lost with several");
	flags(1.4, 0.6, 0, "a gain with one, a loss with several");
	flags(1.05, 1.0, 0, "too small a gain");
	flags(0.8, 1.5, 0, "a loss with one");
	scene_init(&s);
	add(&s, MEASURE_AFALG, "aes-xts-plain64/512@4096", 100);
	ok(!decide_plan(&plan, &s.input, &st) && !plan.n_flags, "not measured by dm: no flags");
	plan_free(&plan);
	scene_init(&s);
	add_flags(&s, 1.4, 1.0);
	for (size_t i = 0; i < s.m.n_results; i++)
		s.results[i].slices = 3;
	ok(!decide_plan(&plan, &s.input, &st) && !plan.n_flags, "three slices tell nothing");
	plan_free(&plan);
}

int main(void)
{
	test_flags();
	test_names();
	test_stale();
	test_model();
	test_stream();
	test_predict();
	test_flags_chosen();
	return tap_done();
}
