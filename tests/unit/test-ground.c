// SPDX-License-Identifier: GPL-2.0-or-later
/* What a decision stands on: AF_ALG's crossing, threads, spread; and what the device's place says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

static const char *const all_sizes[] = {"512", "1024", "2048", "4096", NULL};

/* A cipher behind AF_ALG: microseconds a request, MB/s for its bytes; at the sector sizes given. */
static void afalg(struct scene *s, const char *spec, double us, double mbs,
		  const char *const *sizes)
{
	char text[SPEC_TEXT_MAX];
	double n;

	for (; *sizes; sizes++) {
		snprintf(text, sizeof(text), "%s@%s", spec, *sizes);
		n = atof(*sizes);
		add(s, MEASURE_AFALG, text, n / (us + n / mbs));
	}
}

static bool plan_of(struct scene *s, struct plan *plan)
{
	struct status st = {0};
	int ret = decide_plan(plan, &s->input, &st);

	return ok(!ret, "a plan is made %s", st.message);
}

static bool near(double value, double want)
{
	return value > want * 0.99 && value < want * 1.01;
}

static void test_crossing(void)
{
	static const char *const only_4096[] = {"4096", NULL};
	static struct scene s;
	struct plan plan;

	scene_init(&s);
	afalg(&s, "aes-xts-plain64/512", 20, 160, all_sizes);
	afalg(&s, "xchacha12,aes-adiantum-plain64/256", 21, 300, all_sizes);
	if (plan_of(&s, &plan)) {
		ok(plan.spec.kind->usual == 2 && near(plan.speed, 4096 / (1 + 4096 / 300.0) * 1e6),
		   "the crossing of 20 microseconds is taken off, Adiantum's own one stays: %.0f",
		   plan.speed);
		ok(plan.low < plan.speed / 1.2 && plan.low > plan.speed / 1.25 &&
			   plan.high > plan.speed * 1.2 && plan.high < plan.speed * 1.25,
		   "the interval has the model's fifth and the spread: %.0f to %.0f", plan.low,
		   plan.high);
		ok(strstr(plan.reasons[1], "20.0 microseconds") != NULL, "%s", plan.reasons[1]);
	}
	plan_free(&plan);

	scene_init(&s);
	afalg(&s, "aes-cbc-essiv:sha256/256", 100, 1000, all_sizes);
	afalg(&s, "aes-xts-plain64/512", 5, 60, all_sizes);
	chooses(&s, "aes-xts-plain64/512@4096",
		"a hardware engine's round trip is paid by dm-crypt too");

	scene_init(&s);
	afalg(&s, "xchacha12,aes-adiantum-plain64/256", 8, 130, all_sizes);
	afalg(&s, "aes-xts-plain64/512", 1, 100, all_sizes);
	s.input.sector = 512;
	chooses(&s, "aes-xts-plain64/512@512",
		"and so is Adiantum's cost per sector, at 512 bytes");

	scene_init(&s);
	afalg(&s, "aes-xts-plain64/512", 8, 1500, only_4096);
	afalg(&s, "xchacha12,aes-adiantum-plain64/256", 8, 900, all_sizes);
	chooses(&s, "aes-xts-plain64/512@4096",
		"measured at one size only: the same crossing is taken off");

	scene_init(&s);
	afalg(&s, "aes-xts-plain64/512", 2, 1000, only_4096);
	if (plan_of(&s, &plan))
		ok(near(plan.speed, 4096 / (2 + 4.096) * 1e6) &&
			   strstr(plan.reasons[1], "crossing into the kernel included"),
		   "no fit, and it is said: %.0f, %s", plan.speed, plan.reasons[1]);
	plan_free(&plan);
}

/* Times as a busy virtual machine gave them, where a fit a cipher had Twofish at 1 GB/s. */
static void test_noise(void)
{
	static const struct {
		const char *spec;
		double us[4];
	} seen[] = {{"aes-xts-plain64/512", {24.3, 27.1, 34.0, 45.9}},
		    {"aes-xts-plain64/256", {24.9, 26.0, 31.1, 38.8}},
		    {"xchacha12,aes-adiantum-plain64/256", {23.6, 25.5, 27.9, 33.1}},
		    {"xchacha20,aes-adiantum-plain64/256", {25.0, 26.9, 29.0, 36.5}},
		    {"twofish-xts-plain64/512", {29.9, 31.0, 33.0, 55.1}}};
	static struct scene s;
	char text[SPEC_TEXT_MAX];
	struct plan plan;

	scene_init(&s);
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		for (unsigned k = 0, n = 512; k < 4; k++, n *= 2) {
			snprintf(text, sizeof(text), "%s@%u", seen[i].spec, n);
			add(&s, MEASURE_AFALG, text, n / seen[i].us[k]);
		}
	}
	for (size_t i = 0; i < s.m.n_results; i++) {
		s.results[i].low = s.results[i].median * 0.8;
		s.results[i].high = s.results[i].median * 1.2;
		s.results[i].slices = 40;
	}
	if (plan_of(&s, &plan))
		ok(plan.spec.kind->usual == 2 && plan.speed < 500e6 && plan.speed > 150e6,
		   "wide quartiles over forty slices: Adiantum, at %.0f", plan.speed);
	plan_free(&plan);
	for (size_t i = 0; i < s.m.n_results; i++)
		s.results[i].slices = 0;
	chooses(&s, "aes-xts-plain64/512@4096",
		"over nobody knows how many: no difference can be told");
}

static void test_rare(void)
{
	static struct scene s;

	scene_init(&s);
	add(&s, MEASURE_DM, "aes-xts-plain64/512@512", 100);
	add(&s, MEASURE_DM, "twofish-xts-plain64/512@512", 115);
	chooses(&s, "aes-xts-plain64/512@512",
		"15 % do not speak for a cipher that few systems use");
	add(&s, MEASURE_DM, "serpent-xts-plain64/512@512", 150);
	chooses(&s, "serpent-xts-plain64/512@512", "half as much again does");
}

static void test_threads(void)
{
	static struct scene s;

	scene_init(&s);
	add(&s, MEASURE_DM, "aes-xts-plain64/512@512", 1000);
	s.results[0].threads = s.results[1].threads = 4;
	add(&s, MEASURE_DM, "aes-xts-plain64/512@512", 300);
	add(&s, MEASURE_DM, "xchacha12,aes-adiantum-plain64/256@512", 900);
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@512",
		"four threads of one are not held against one of the other");
}

static void test_policy(void)
{
	static struct scene s;

	scene_init(&s);
	s.input.policy = policy_find("strict");
	s.input.wanted = &s.wanted;
	s.input.measurement = NULL;
	spec_parse(&s.wanted, "aes-xts-plain64/256", NULL);
	refuses(&s, ST_REFUSED, "policy strict never takes", "a wish against the policy");
	spec_parse(&s.wanted, "xchacha12,aes-adiantum-plain64", NULL);
	s.facts.kernel.fips = 1;
	refuses(&s, ST_REFUSED, "FIPS", "a wish against FIPS mode");
}

static void test_place(void)
{
	static struct scene s;
	struct plan plan;

	scene_init(&s);
	s.input.measurement = NULL;
	s.facts.kernel.dm.version[0] = 1;
	s.facts.kernel.dm.version[1] = 15;
	chooses(&s, "aes-xts-plain64/512@512", "dm-crypt 1.15 has no sector sizes");
	s.facts.kernel.dm.version[1] = 17;
	chooses(&s, "aes-xts-plain64/512@4096", "1.17 has");

	scene_init(&s);
	s.input.measurement = NULL;
	s.input.device = &s.device;
	s.device.physical_block = 4096;
	s.device.alignment_offset = 3584;
	chooses(&s, "aes-xts-plain64/512@512",
		"blocks that begin 3584 bytes off: no sector across two");
	s.device.alignment_offset = 0;
	s.device.optimal_io = 3 << 20;
	if (plan_of(&s, &plan))
		ok(plan.data_offset == 18 << 20 && plan.spec.sector == 4096,
		   "stripes of 3 MiB: data at %llu", (unsigned long long)plan.data_offset);
	plan_free(&plan);
	s.device.optimal_io = 33553920;
	if (plan_of(&s, &plan))
		ok(plan.data_offset == PLAN_DATA_OFFSET,
		   "65535 blocks of optimal I/O: data at %llu",
		   (unsigned long long)plan.data_offset);
	plan_free(&plan);
	s.device.optimal_io = 65535ULL * 4096;
	if (plan_of(&s, &plan))
		ok(plan.data_offset == PLAN_DATA_OFFSET, "also of 4096 bytes each: data at %llu",
		   (unsigned long long)plan.data_offset);
	plan_free(&plan);
}

int main(void)
{
	test_crossing();
	test_noise();
	test_rare();
	test_threads();
	test_policy();
	test_place();
	return tap_done();
}
