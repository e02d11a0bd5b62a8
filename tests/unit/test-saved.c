// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of saved results: what it takes, and what it refuses with which words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/saved.h"
#include "report/json_facts.h"
#include "tap.h"
#include "util/json.h"

static char path[64];

static int load(const char *text, struct measurement *m, struct facts *facts, bool *has_facts,
		struct status *st)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	memset(st, 0, sizeof(*st));
	return saved_load(m, facts, has_facts, NULL, path, st);
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
		{HEAD CELL("\"median\":1e19") TAIL, "from 0 to 1e15"},
		{HEAD CELL("\"median\":1e308") TAIL, "from 0 to 1e15"},
		{HEAD CELL("\"median\":5,\"high\":1.1e15") TAIL, "from 0 to 1e15"},
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
		{HEAD "{\"spec\":\"aes-xts-plain64/512@4096\",\"engine\":\"afalg\","
		      "\"direction\":\"encrypt\",\"median\":5,\"size\":65536}" TAIL,
		 "size is 65536; the sector size of the spec"},
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

/* What bench says of multi-buffer, and results that are there for the record. */
/* A file with these objects beside its results. */
static int load_device(struct saved_device *device, const char *objects, struct status *st)
{
	struct measurement m;
	struct facts facts;
	bool has_facts;
	char text[1024];
	FILE *f = fopen(path, "w");
	int ret;

	snprintf(text, sizeof(text), HEAD "],%s}", objects);
	fputs(text, f);
	fclose(f);
	memset(st, 0, sizeof(*st));
	ret = saved_load(&m, &facts, &has_facts, device, path, st);
	measurement_free(&m);
	facts_free(&facts);
	return ret;
}

static void test_device(void)
{
	static const struct {
		const char *objects, *says;
	} bad[] = {
		{"\"device\":{}", "device.path is absent"},
		{"\"device\":{\"path\":\"x\"}", "device.size is absent"},
		{"\"device\":{\"path\":\"x\",\"size\":-1}", "device.size is -1"},
		{"\"device\":{\"path\":\"x\",\"size\":1,\"kind\":\"tape\"}",
		 "file, disk, partition"},
		{"\"device\":{\"path\":\"x\",\"size\":1,\"logical_block\":600}", "a power of two"},
		{"\"device\":{\"path\":\"x\",\"size\":1,\"physical_block\":16}", "from 512"},
		{"\"device\":{\"path\":\"x\",\"size\":1,\"zoned\":\"very\"}", "host-managed"},
		{"\"device\":{\"path\":\"x\",\"size\":1,\"rotational\":2}", "true or false"},
		{"\"device\":[]", "an object"},
		{"\"device_speed\":{\"bytes_per_second\":\"fast\"}", "a number"},
	};
	struct saved_device d;
	struct status st;

	ok(!load_device(&d, "\"seconds\":1", &st) && !d.found && !d.speed_found, "no disk");
	ok(!load_device(
		   &d,
		   "\"device\":{\"path\":\"/dev/sdb\",\"size\":1000,\"kind\":\"partition\",\"start\":512,"
		   "\"logical_block\":512,\"physical_block\":4096,\"rotational\":false,\"discard\":null,"
		   "\"zoned\":\"host-aware\",\"atomic_write_unit_max\":16384,\"new\":1},"
		   "\"device_speed\":{\"bytes_per_second\":1.5e8,\"from\":\"given\"}",
		   &st) &&
		   d.found && !strcmp(d.facts.path, "/dev/sdb") && d.facts.size == 1000 &&
		   d.facts.kind == DEVICE_PARTITION && d.facts.physical_block == 4096 &&
		   d.facts.rotational == 0 && d.facts.discard == -1 && d.facts.read_only == -1 &&
		   d.facts.zoned == DEVICE_ZONED_HOST_AWARE && d.facts.atomic_unit_max == 16384 &&
		   d.speed_found && d.speed.speed == 1.5e8 && !strcmp(d.speed.from, "given"),
	   "a disk and its speed: %s", st.message);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(load_device(&d, bad[i].objects, &st) == -EINVAL && st.code == ST_USAGE &&
			   strstr(st.message, bad[i].says),
		   "%s: %s", bad[i].objects, st.message);
}

static void test_multis(void)
{
	struct measurement m;
	struct facts facts;
	struct status st;
	bool has_facts;
	int ret;

	ret = load(HEAD
		   "{\"spec\":\"rc4/128@4096\",\"engine\":\"openssl\",\"direction\":\"encrypt\","
		   "\"median\":7,\"slices\":40}],\"multi_buffer\":["
		   "{\"spec\":\"aes-cbc-essiv:sha256/256@4096\",\"tier\":\"vaes512\","
		   "\"available\":true,\"pays_from_sectors\":2,\"sectors\":16,\"gain\":9.5},"
		   "{\"spec\":\"aes-xts-plain64/512@4096\",\"tier\":\"vaes512\",\"available\":"
		   "false,\"pays_from_sectors\":null,\"sectors\":null,\"gain\":null}" TAIL,
		   &m, &facts, &has_facts, &st);
	ok(!ret && m.n_multis == 2, "two of multi-buffer %s", st.message);
	ok(!ret && m.multis[0].available && m.multis[0].from == 2 && m.multis[0].sectors == 16 &&
		   m.multis[0].gain == 9.5 && !strcmp(m.multis[0].tier, "vaes512") &&
		   m.multis[0].spec.sector == 4096,
	   "the first with all that it says");
	ok(!ret && !m.multis[1].available && !m.multis[1].from && !(m.multis[1].gain > 0),
	   "the second is not available");
	ok(!ret && m.results[0].spec.kind->record && m.results[0].slices == 40,
	   "what was measured for the record comes back as such");
	measurement_free(&m);
	ret = load(HEAD "],\"multi_buffer\":[{\"spec\":\"aes-xts-plain64\",\"gain\":-2}]}", &m,
		   &facts, &has_facts, &st);
	ok(ret == -EINVAL && strstr(st.message, "multi_buffer[0].gain is -2"), "%s", st.message);
	measurement_free(&m);
}

static bool same_drivers(const struct kernel_facts *a, const struct kernel_facts *b)
{
	if (a->n_drivers != b->n_drivers || a->listed != b->listed)
		return false;
	for (size_t i = 0; i < a->n_drivers; i++) {
		const struct kernel_driver *x = &a->drivers[i], *y = &b->drivers[i];

		if (strcmp(x->name, y->name) || strcmp(x->driver, y->driver) ||
		    strcmp(x->module, y->module) || strcmp(x->type, y->type) ||
		    x->priority != y->priority || x->internal != y->internal ||
		    x->async != y->async || x->selftest_passed != y->selftest_passed ||
		    x->min_keysize != y->min_keysize || x->max_keysize != y->max_keysize ||
		    x->ivsize != y->ivsize)
			return false;
	}
	return true;
}

static bool same_af_alg(const struct kernel_af_alg *a, const struct kernel_af_alg *b)
{
	if (a->available != b->available || a->error != b->error || a->n != b->n ||
	    a->restrict_level != b->restrict_level || strcmp(a->reason, b->reason))
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->attempts[i].name, b->attempts[i].name) ||
		    a->attempts[i].tried != b->attempts[i].tried ||
		    a->attempts[i].available != b->attempts[i].available ||
		    a->attempts[i].error != b->attempts[i].error ||
		    strcmp(a->attempts[i].reason, b->attempts[i].reason))
			return false;
	return true;
}

/* What this machine's facts are after being written and read. */
static void test_round_trip(void)
{
	struct json_object *doc = json_document("bench");
	struct facts facts, back;
	struct measurement m;
	struct status st;
	bool has_facts;
	int ret;

	if (facts_probe(&facts, NULL, "avx2", NULL))
		facts_probe(&facts, NULL, NULL, NULL);
	json_put(doc, "results", json_object_new_array());
	json_put(doc, "cpu", report_cpu_json(&facts.cpu));
	json_put(doc, "kernel", report_kernel_json(&facts.kernel));
	json_put(doc, "memory", report_memory_json(&facts.memory));
	ret = load(json_object_to_json_string(doc), &m, &back, &has_facts, &st);
	ok(!ret && has_facts, "this machine's own document: %s", st.message);
	ok(!strcmp(facts.cpu.arch, back.cpu.arch) && facts.cpu.family == back.cpu.family &&
		   !strcmp(facts.cpu.model, back.cpu.model) && facts.cpu.known == back.cpu.known &&
		   facts.cpu.advertised == back.cpu.advertised &&
		   facts.cpu.usable == back.cpu.usable && facts.cpu.disabled == back.cpu.disabled &&
		   facts.cpu.listed == back.cpu.listed && facts.cpu.online == back.cpu.online &&
		   facts.cpu.allowed == back.cpu.allowed,
	   "the CPU comes back as it was");
	ok(!strcmp(facts.kernel.release, back.kernel.release) &&
		   facts.kernel.fips == back.kernel.fips &&
		   same_drivers(&facts.kernel, &back.kernel),
	   "so do the kernel's %zu drivers", facts.kernel.n_drivers);
	ok(same_af_alg(&facts.kernel.af_alg, &back.kernel.af_alg), "and AF_ALG");
	ok(facts.kernel.dm.available == back.kernel.dm.available &&
		   facts.kernel.dm.denied == back.kernel.dm.denied &&
		   !strcmp(facts.kernel.dm.reason, back.kernel.dm.reason) &&
		   facts.kernel.dm.n == back.kernel.dm.n,
	   "and device-mapper");
	ok(facts.memory.total == back.memory.total &&
		   facts.memory.available == back.memory.available &&
		   facts.memory.swap == back.memory.swap && facts.memory.limit == back.memory.limit,
	   "and the memory");
	json_object_put(doc);
	measurement_free(&m);
	facts_free(&facts);
	facts_free(&back);
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
		ret = saved_load(&m, &facts, &has_facts, NULL, paths[i], &st);
		ok(ret < 0 && st.code == ST_USAGE, "%s is refused: %s", paths[i], st.message);
	}
	remove(path);
	if (mkfifo(path, 0600)) {
		tap_skip("no FIFO: %s", strerror(errno));
		return;
	}
	ret = saved_load(&m, &facts, &has_facts, NULL, path, &st);
	ok(ret < 0 && st.code == ST_USAGE, "a FIFO without a writer is refused at once");
	remove(path);
	if (truncate(path, 0) && errno == ENOENT) {
		FILE *f = fopen(path, "w");

		fclose(f);
	}
	ok(!truncate(path, (64 << 20) + 1) &&
		   saved_load(&m, &facts, &has_facts, NULL, path, &st) == -EFBIG,
	   "more than 64 MiB: %s", st.message);
}

int main(void)
{
	char dir[] = "/tmp/dmct-saved-XXXXXX";

	if (!mkdtemp(dir)) {
		tap_skip("no temporary directory: %s", strerror(errno));
		return tap_done();
	}
	snprintf(path, sizeof(path), "%s/saved.json", dir);
	test_saved_good();
	test_saved_bad();
	test_saved_facts();
	test_device();
	test_multis();
	test_round_trip();
	test_saved_files();
	remove(path);
	remove(dir);
	return tap_done();
}
