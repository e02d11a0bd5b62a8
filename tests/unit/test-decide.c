// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

static void test_classes(void)
{
	static struct scene s;

	scene_init(&s);
	add(&s, MEASURE_DM, "aes-xts-plain64/512@4096", 1000);
	add(&s, MEASURE_DM, "aes-xts-plain64/256@4096", 1350);
	add(&s, MEASURE_DM, "aes-cbc-essiv:sha256/256@4096", 900);
	add(&s, MEASURE_DM, "aes-cbc-essiv:sha256/128@4096", 1200);
	add(&s, MEASURE_DM, "xchacha12,aes-adiantum-plain64/256@4096", 600);
	chooses(&s, "aes-xts-plain64/512@4096",
		"AES instructions: ten rounds against fourteen do not buy half the strength");
	s.results[2].median = s.results[3].median = 1700e6;
	s.results[2].low = s.results[3].low = 1690e6;
	s.results[2].high = s.results[3].high = 1710e6;
	chooses(&s, "aes-xts-plain64/256@4096", "balanced takes AES-128 at 1.7 times the speed");
	s.input.policy = policy_find("strict");
	chooses(&s, "aes-xts-plain64/512@4096", "strict does not");

	scene_init(&s);
	add(&s, MEASURE_DM, "aes-xts-plain64/512@4096", 60);
	add(&s, MEASURE_DM, "aes-xts-plain64/256@4096", 80);
	add(&s, MEASURE_DM, "xchacha12,aes-adiantum-plain64/256@4096", 180);
	s.device.physical_block = 4096;
	s.input.device = &s.device;
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096",
		"no AES instructions: the fastest of the best class");
	s.input.policy = policy_find("fips");
	chooses(&s, "aes-xts-plain64/512@4096", "FIPS: no Adiantum");

	scene_init(&s);
	add(&s, MEASURE_DM, "aes-xts-plain64/512@512", 30);
	add(&s, MEASURE_DM, "aes-cbc-essiv:sha256/256@512", 150);
	add(&s, MEASURE_DM, "aes-cbc-essiv:sha256/128@512", 160);
	chooses(&s, "aes-cbc-essiv:sha256/256@512",
		"an engine that accelerates CBC and not XTS, five times");
	s.input.policy = policy_find("strict");
	chooses(&s, "aes-xts-plain64/512@512", "strict keeps to XTS");
}

static void test_noise(void)
{
	static struct scene s;
	struct measure_result swap;

	scene_init(&s);
	add(&s, MEASURE_DM, "xchacha12,aes-adiantum-plain64/256@512", 102);
	add(&s, MEASURE_DM, "aes-xts-plain64/512@512", 100);
	chooses(&s, "aes-xts-plain64/512@512", "within the spread the more usual wins");
	for (size_t i = 0; i < s.m.n_results / 2; i++) {
		swap = s.results[i];
		s.results[i] = s.results[s.m.n_results - 1 - i];
		s.results[s.m.n_results - 1 - i] = swap;
	}
	chooses(&s, "aes-xts-plain64/512@512", "in reverse order too");
	add(&s, MEASURE_DM, "aes-xts-plain64/512@1024", 100.5);
	chooses(&s, "aes-xts-plain64/512@1024",
		"a tie between sector sizes: the larger, which costs fewer requests and IVs");
	add(&s, MEASURE_DM, "aes-xts-plain64/512@2048", 99);
	chooses(&s, "aes-xts-plain64/512@2048", "also where noise puts it a little behind");
	add(&s, MEASURE_DM, "aes-xts-plain64/512@4096", 80);
	chooses(&s, "aes-xts-plain64/512@2048", "one that is measurably slower is not taken");
	s.results[s.m.n_results - 2].median = s.results[s.m.n_results - 1].median = 130e6;
	s.results[s.m.n_results - 2].low = s.results[s.m.n_results - 1].low = 130e6;
	s.results[s.m.n_results - 2].high = s.results[s.m.n_results - 1].high = 130e6;
	chooses(&s, "aes-xts-plain64/512@4096", "one that is faster is");

	scene_init(&s);
	add(&s, MEASURE_CPU, "aes-xts-plain64/512@512", 289);
	add(&s, MEASURE_CPU, "aes-xts-plain64/512@4096", 265);
	chooses(&s, "aes-xts-plain64/512@4096",
		"without the kernel's cost per sector, 8 % do not speak for small ones");
	add(&s, MEASURE_CPU, "aes-xts-plain64/512@2048", 280);
	s.results[2].median = s.results[3].median = s.results[2].high = s.results[3].high = 100e6;
	chooses(&s, "aes-xts-plain64/512@2048", "a third of the speed does");
}

static void test_what_counts(void)
{
	static struct scene s;
	struct measure_result *r;

	scene_init(&s);
	add(&s, MEASURE_AFALG, "aes-xts-plain64/512@4096", 500);
	add_way(&s, MEASURE_AFALG, "xchacha12,aes-adiantum-plain64/256@4096", ENGINE_DECRYPT, 900,
		0.01);
	chooses(&s, "aes-xts-plain64/512@4096", "one direction alone does not count");
	r = add_way(&s, MEASURE_AFALG, "xchacha12,aes-adiantum-plain64/256@4096", ENGINE_ENCRYPT,
		    900, 0.01);
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096", "with both it does");
	r->checked = false;
	chooses(&s, "aes-xts-plain64/512@4096", "an unchecked output does not count");
	r->checked = true;
	strcpy(r->error_code, "mismatch");
	chooses(&s, "aes-xts-plain64/512@4096", "nor does a failed cell");

	scene_init(&s);
	for (int i = 0; i < 2; i++) {
		r = add_way(&s, MEASURE_DM, "aes-xts-plain64/512@512", i, 1, 0);
		strcpy(r->error_code, "ENOENT");
		strcpy(r->error_reason, "dm-crypt has no such cipher");
	}
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096",
		"nothing measured, but one tried: not that one");
	strcpy(r->error_code, "mismatch");
	s.results[0].error_code[0] = '\0';
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096", "nor one that gives wrong output");
	s.input.wanted = &s.wanted;
	spec_parse(&s.wanted, "aes-xts-plain64/512", NULL);
	refuses(&s, ST_MISSING, "tried here with dm, and failed: dm-crypt has no",
		"nor when it is insisted on");

	scene_init(&s);
	add(&s, MEASURE_DM, "aes-xts-plain64/256@4096", 1000);
	add(&s, MEASURE_DM, "aes-cbc-essiv:sha256/128@4096", 1500);
	chooses(&s, "aes-xts-plain64/512@4096",
		"what is weaker is not taken because what is stronger was not measured");
	add(&s, MEASURE_AFALG, "aes-xts-plain64/512@4096", 500);
	add(&s, MEASURE_AFALG, "xchacha12,aes-adiantum-plain64/256@4096", 900);
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096",
		"nor because it was measured on a layer that is trusted more");
	s.results[2].threads = s.results[3].threads = 8;
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096", "or with more threads");

	scene_init(&s);
	add(&s, MEASURE_CPU, "aes-xts-plain64/512@4096", 5000);
	add(&s, MEASURE_AFALG, "aes-xts-plain64/512@4096", 100);
	add(&s, MEASURE_AFALG, "xchacha12,aes-adiantum-plain64/256@4096", 200);
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096",
		"the kernel's own figures go before the in-process engine's");
}

/* Encryption three times slower than decryption: 1 / (0.7 / 900 + 0.3 / 300) MB/s. */
static void test_read_share(void)
{
	static struct scene s;
	struct status st = {0};
	struct plan plan;
	bool decided;

	scene_init(&s);
	add_way(&s, MEASURE_DM, "aes-xts-plain64/512@512", ENGINE_ENCRYPT, 300, 0);
	add_way(&s, MEASURE_DM, "aes-xts-plain64/512@512", ENGINE_DECRYPT, 900, 0);
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.speed > 562.4e6 && plan.speed < 562.6e6 && plan.encrypt == 300e6 &&
		   plan.decrypt == 900e6,
	   "expected %.0f, encrypt %.0f, decrypt %.0f", plan.speed, plan.encrypt, plan.decrypt);
	ok(strstr(plan.reasons[0], "70 % reads") && strstr(plan.reasons[0], "900 MB/s") &&
		   strstr(plan.reasons[0], "300 MB/s"),
	   "the read share and both directions are stated: %s", plan.reasons[0]);
	plan_free(&plan);
}

/* A microsecond a request and half a nanosecond a byte: the crossing is taken off, 2 GB/s are left.
 */
static void test_afalg_fit(void)
{
	static struct scene s;
	struct status st = {0};
	struct plan plan;
	bool decided;
	char spec[64];

	scene_init(&s);
	for (unsigned n = 512; n <= 4096; n *= 2) {
		snprintf(spec, sizeof(spec), "aes-xts-plain64/512@%u", n);
		add(&s, MEASURE_AFALG, spec, n / (1e-6 + n * 0.5e-9) / 1e6);
	}
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.basis == PLAN_BASIS_AFALG && plan.speed > 1.99e9 &&
		   plan.speed < 2.01e9 && plan.spec.sector == 4096,
	   "AF_ALG's figure without the crossing: %.0f", plan.speed);
	plan_free(&plan);
}

/* The figure of each tier on its own, for a kernel's driver: a throughput or only an order, and the
 * sentence that names both tiers. */
static void check_tier(const char *driver, const char *measured, bool figure, const char *says)
{
	static struct scene s;
	struct status st = {0};
	struct plan plan;
	bool decided;

	scene_init(&s);
	kernel_has(&s, "xts(aes)", driver);
	add(&s, MEASURE_CPU, "aes-xts-plain64/512@4096", 300);
	add(&s, MEASURE_CPU, "aes-xts-plain64/256@4096", 310);
	for (size_t i = 0; i < s.m.n_results; i++)
		strcpy(s.results[i].tier, measured);
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.basis == PLAN_BASIS_CPU && (plan.speed > 0) == figure,
	   "%s measured, %s in the kernel: %s", measured, driver,
	   figure ? "a throughput" : "an order");
	ok(decided && strstr(plan.reasons[1], says), "says so: %s", plan.reasons[1]);
	for (size_t i = 0; decided && i < plan.n_rejected; i++)
		if (!figure &&
		    (strstr(plan.rejected[i].reason, "expected") || plan.rejected[i].speed > 0))
			decided = ok(false, "no figure for what was rejected: %s",
				     plan.rejected[i].reason);
	plan_free(&plan);
}

static void test_tiers(void)
{
	const char *generic = "xts(ecb(aes-generic))";

	check_tier(generic, "table", true, "the table tier, which stands for xts(ecb(");
	check_tier(generic, "portable", false,
		   "the portable tier, not on the table tier, which stands for xts(ecb(");
	check_tier("nosuch", "portable", false, "not on the table tier, which stands for the slow");
	check_tier("nosuch", "table", true, "the table tier, which stands for the slowest");
	if (!engine_tier_find("aesni")) {
		tap_skip("no aesni tier on this architecture");
		return;
	}
	check_tier(generic, "aesni", false, "the aesni tier, not on the table tier, which");
	check_tier("xts-aes-aesni", "aesni", true, "the aesni tier, which stands for xts-aes-");
}

/* Portable says nothing of a kernel that uses AES instructions: neither a figure nor an order. */
static void test_not_comparable(void)
{
	static struct scene s;
	struct status st = {0};
	struct plan plan;
	bool decided;

	scene_init(&s);
	kernel_has(&s, "xts(aes)", "xts-aes-ce");
	ok(!strcmp(decide_mirror_tier(&s.facts.kernel, "xts(aes)"), "portable"),
	   "no x86 tier stands for ARM's instructions: %s",
	   decide_mirror_tier(&s.facts.kernel, "xts(aes)"));
	for (int d = 0; d < 2; d++)
		strcpy(add_way(&s, MEASURE_CPU, "aes-xts-plain64/512@4096", d, 100, 0.01)->tier,
		       "portable");
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.basis == PLAN_BASIS_FACTS && plan.speed == 0,
	   "portable's figures do not stand for xts-aes-ce: basis %s, %.0f",
	   plan_basis_name(plan.basis), plan.speed);
	plan_free(&plan);
}

static void test_mirror(void)
{
	static struct scene s;
	struct measure_result *r;
	struct status st = {0};
	struct plan plan;
	bool decided;

	scene_init(&s);
	kernel_has(&s, "xts(aes)", "xts(ecb(aes-generic))");
	ok(!strcmp(decide_mirror_tier(&s.facts.kernel, "xts(aes)"), "table"),
	   "a generic driver is mirrored by table look-ups");
	add(&s, MEASURE_CPU, "aes-xts-plain64/512@4096", 120);
	for (int i = 0; i < 2; i++) {
		r = add_way(&s, MEASURE_CPU, "aes-xts-plain64/512@4096",
			    i ? ENGINE_DECRYPT : ENGINE_ENCRYPT, 9000, 0);
		strcpy(r->tier, "aesni");
	}
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.speed > 119e6 && plan.speed < 121e6,
	   "a kernel that ignores the CPU's AES is not promised its speed: %.0f", plan.speed);
	plan_free(&plan);
	kernel_has(&s, "xts(aes)", "xts(ecb(aes-fixed-time))");
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.speed == 0 && strstr(plan.reasons[0], "faster implementation"),
	   "table look-ups promise nothing of a driver in fixed time: %s", plan.reasons[0]);
	plan_free(&plan);
	if (!engine_tier_find("aesni")) {
		tap_skip("no aesni tier on this architecture");
		return;
	}
	kernel_has(&s, "xts(aes)", "xts-aes-aesni");
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.speed > 8.9e9, "one that uses it is: %.0f", plan.speed);
	plan_free(&plan);
	kernel_has(&s, "xts(aes)", "xts(ecb(aes-generic))");
	s.results[0].checked = s.results[1].checked = false;
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.speed == 0 && strstr(plan.reasons[0], "faster implementation"),
	   "figures of a faster tier alone give an order, no throughput: %s", plan.reasons[0]);
	plan_free(&plan);
}

static void test_sectors(void)
{
	static struct scene s;

	scene_init(&s);
	s.input.measurement = NULL;
	s.input.device = &s.device;
	chooses(&s, "aes-xts-plain64/512@4096", "nothing measured, 512n disk");
	s.device.size += 2048;
	chooses(&s, "aes-xts-plain64/512@2048",
		"a size that 4096 does not divide: the largest that does");
	s.device.size += 512;
	chooses(&s, "aes-xts-plain64/512@512", "an odd number of 512-byte blocks");
	s.device.size -= 2560;
	s.device.kind = DEVICE_PARTITION;
	s.device.start = 63 * 512;
	chooses(&s, "aes-xts-plain64/512@512", "a partition from the days of cylinders");
	s.device.start = 1 << 20;
	s.device.logical_block = s.device.physical_block = 4096;
	chooses(&s, "aes-xts-plain64/512@4096", "4Kn");
	s.input.sector = 512;
	chooses(&s, "aes-xts-plain64/512@512", "--sector-size 512 always wins");
	s.device.logical_block = 512;
	s.device.size += 512;
	s.input.sector = 4096;
	refuses(&s, ST_REFUSED, "does not divide", "an impossible wish");
	s.input.sector = 0;
	s.device.size = 16 << 20;
	refuses(&s, ST_DEVICE, "too small", "no room behind the header");
	s.device.size += 512;
	chooses(&s, "aes-xts-plain64/512@512", "room for one sector");
	s.device.size = 3ULL << 40;
	s.device.kind = DEVICE_FILE;
	s.device.size += 4096 + 100;
	chooses(&s, "aes-xts-plain64/512@512",
		"3 TiB and a tail that a loop device does not see, but libcryptsetup does");

	scene_init(&s);
	spec_parse(&s.wanted, "xchacha12,aes-adiantum-plain64", NULL);
	s.input.wanted = &s.wanted;
	s.input.measurement = NULL;
	s.input.device = &s.device;
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@512",
		"a wide-block sector must not tear over 512-byte blocks");
	s.device.physical_block = 4096;
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096", "on 512e it does not");
}

static void test_pbkdf(void)
{
	static struct scene s;
	struct status st = {0};
	struct plan plan;
	bool decided;

	scene_init(&s);
	s.input.measurement = NULL;
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && !strcmp(plan.pbkdf.type, "argon2id") && plan.pbkdf.memory == 1ULL << 30 &&
		   plan.pbkdf.threads == 4 && plan.pbkdf.time_ms == 2000,
	   "8 GiB, 4 CPUs: %s, %llu bytes, %u threads", plan.pbkdf.type,
	   (unsigned long long)plan.pbkdf.memory, plan.pbkdf.threads);
	plan_free(&plan);
	s.facts.memory.limit = 384 << 20;
	s.facts.cpu.quota = 0.5;
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && plan.pbkdf.memory == 192 << 20 && plan.pbkdf.threads == 1,
	   "a cgroup of 384 MiB and half a CPU: %llu bytes, %u threads",
	   (unsigned long long)plan.pbkdf.memory, plan.pbkdf.threads);
	plan_free(&plan);
	s.facts.kernel.fips = 1;
	decided = !decide_plan(&plan, &s.input, &st);
	ok(decided && !strcmp(plan.pbkdf.type, "pbkdf2") && !plan.pbkdf.memory &&
		   strstr(plan.pbkdf.reason, "FIPS"),
	   "FIPS: %s, because %s", plan.pbkdf.type, plan.pbkdf.reason);
	plan_free(&plan);
	s.input.pbkdf.type = "argon2id";
	refuses(&s, ST_REFUSED, "FIPS", "Argon2 under FIPS");
	s.input.pbkdf = (struct plan_pbkdf_wish){.memory = 1 << 20};
	refuses(&s, ST_USAGE, "Argon2's", "memory for pbkdf2");
}

static void test_facts_only(void)
{
	static struct kernel_attempt attempt = {
		.name = "adiantum(xchacha12,aes)", .tried = true, .available = true};
	static struct scene s;

	scene_init(&s);
	s.input.measurement = NULL;
	s.facts.kernel.af_alg.attempts = &attempt;
	s.facts.kernel.af_alg.n = 1;
	chooses(&s, "xchacha12,aes-adiantum-plain64/256@4096",
		"no AES instructions and a kernel with Adiantum");
	s.facts.cpu.known = false;
	chooses(&s, "aes-xts-plain64/512@4096", "unknown is not \"no\"");
	s.facts.cpu.known = true;
	s.facts.cpu.advertised = 1ULL << CPU_AES;
	chooses(&s, "aes-xts-plain64/512@4096", "AES instructions");
}

/* Deterministic everywhere, unlike rand(). */
static double random_unit(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(*state >> 40) / (1 << 24);
}

/* Properties: the winner is admissible; making it faster never makes it lose; no measured candidate
 * of its class is faster by more than the spread. */
static void test_properties(void)
{
	static const char *const specs[] = {"aes-xts-plain64/512@4096",
					    "aes-xts-plain64/256@4096",
					    "aes-cbc-essiv:sha256/256@4096",
					    "aes-cbc-essiv:sha256/128@4096",
					    "xchacha12,aes-adiantum-plain64/256@4096",
					    "serpent-xts-plain64/512@4096"};
	unsigned lost = 0, inadmissible = 0, regret = 0;
	uint64_t seed = 20261130;
	static struct scene s;
	struct plan a, b;

	for (int round = 0; round < 3000; round++) {
		scene_init(&s);
		for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
			add(&s, MEASURE_DM, specs[i], 50 + 1000 * random_unit(&seed));
		s.input.policy = &policies[round % 4];
		if (decide_plan(&a, &s.input, NULL)) {
			inadmissible++;
			continue;
		}
		inadmissible += s.input.policy->fips && !a.spec.kind->fips;
		for (size_t i = 0; i < s.m.n_results; i++) {
			regret += spec_class(&s.results[i].spec) == spec_class(&a.spec) &&
				  spec_strength(&s.results[i].spec) == spec_strength(&a.spec) &&
				  (!s.input.policy->fips || s.results[i].spec.kind->fips) &&
				  s.results[i].median >
					  a.speed * 1.08 *
						  (s.results[i].spec.kind->usual >= SPEC_USUAL_RARE
							   ? s.input.policy->rare_margin
							   : 1);
			if (!spec_equal(&s.results[i].spec, &a.spec))
				continue;
			s.results[i].median *= 1.3;
			s.results[i].low *= 1.3;
			s.results[i].high *= 1.3;
		}
		if (decide_plan(&b, &s.input, NULL) || !spec_equal(&a.spec, &b.spec))
			lost++;
		plan_free(&a);
		plan_free(&b);
	}
	ok(!lost,
	   "raising the winner's speed made it lose in %u of 3000 generated runs (seed 20261130)",
	   lost);
	ok(!inadmissible, "%u inadmissible choices in 3000 generated runs", inadmissible);
	ok(!regret, "%u choices slower than another of the same class by more than the spread",
	   regret);
}

int main(void)
{
	test_classes();
	test_noise();
	test_what_counts();
	test_read_share();
	test_afalg_fit();
	test_mirror();
	test_tiers();
	test_not_comparable();
	test_sectors();
	test_pbkdf();
	test_facts_only();
	test_properties();
	return tap_done();
}
