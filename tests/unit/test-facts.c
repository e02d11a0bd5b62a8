// SPDX-License-Identifier: GPL-2.0-or-later
/* The facts stage on odd input that is easier made here than kept as a described machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "facts/facts.h"
#include "facts/kernel_internal.h"
#include "report/json_facts.h"
#include "sysroot.h"
#include "tap.h"
#include "util/sysfile.h"

static void cpu_of(struct cpu_facts *cpu, const char *info, size_t len)
{
	struct status st = {0};

	put("/proc/cpuinfo", info, len);
	memset(cpu, 0xff, sizeof(*cpu));
	if (cpu_probe(cpu, root, NULL, &st))
		printf("# cpu_probe: %s\n", st.message);
}

static void test_cpuinfo(void)
{
	static const char loongson[] = "processor : 0\nCPU Family : Loongson-64bit\n"
				       "Model Name : Loongson-3A6000\n"
				       "Features : cpucfg lam ual fpu lsx lasx\n";
	static const char powerbook[] = "processor : 0\ncpu : 7447A, altivec supported\n";
	static const char nul[] = "flags\t: sse2 a\0es xsave aes\0\nflags\t: aes sse2\n";
	static const struct {
		const char *text;
		enum cpu_family family;
		bool known;
		int aes;
	} cases[] = {
		{"", CPU_FAMILY_OTHER, false, -1},
		{"\n\n:\n: aes\nflags\n", CPU_FAMILY_OTHER, false, -1},
		{"flags\t\t:", CPU_FAMILY_X86, true, 0},
		{"flags : aes", CPU_FAMILY_X86, true, 1},
		{"flags : aesx xaes a es AES aes-ni", CPU_FAMILY_X86, true, 0},
		{"my flags : aes", CPU_FAMILY_OTHER, false, -1},
		{"Flags : aes", CPU_FAMILY_OTHER, false, -1},
		{"Features : aes", CPU_FAMILY_ARM, true, 1},
		{"Features : asimd\nFeatures : aes asimd\n", CPU_FAMILY_ARM, true, 0},
		{"features : msa", CPU_FAMILY_S390, true, 1},
		{"isa : rv64imac", CPU_FAMILY_RISCV, true, 0},
		{"isa : rv64imac_zvkng", CPU_FAMILY_RISCV, true, 1},
		{"isa : rv64imac_xzvkned", CPU_FAMILY_RISCV, true, 0},
		{"cpu : POWER8E (raw), altivec supported", CPU_FAMILY_PPC, true, 1},
		{"cpu : POWER7, altivec supported", CPU_FAMILY_PPC, true, 0},
		{"cpu : POWER10, altivec supported", CPU_FAMILY_PPC, true, 1},
		{"cpu : Power11 (architected), altivec supported", CPU_FAMILY_PPC, true, 1},
		{"cpu : 7447A, altivec supported", CPU_FAMILY_PPC, false, -1},
		{"cpu : e6500, altivec supported", CPU_FAMILY_PPC, false, -1},
		{"cpu : PPC970FX, altivec supported", CPU_FAMILY_PPC, true, 0},
		{"CPU Family : Loongson-64bit\nFeatures : cpucfg lam ual fpu lsx lasx crc32 lvz\n",
		 CPU_FAMILY_OTHER, false, -1},
		{"Features : cpucfg lam lsx\nCPU Family : Loongson-64bit\n", CPU_FAMILY_OTHER,
		 false, -1},
		{"arch : IA-64\nfeatures : branchlong, 16-byte atomic\n", CPU_FAMILY_OTHER, false,
		 -1},
		{"cpu : TI UltraSparc T2 (Niagara2)", CPU_FAMILY_OTHER, false, -1},
	};
	struct cpu_facts cpu;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cpu_of(&cpu, cases[i].text, strlen(cases[i].text));
		ok(cpu.family == cases[i].family && cpu.known == cases[i].known &&
			   cpu_has_aes(&cpu) == cases[i].aes,
		   "cpuinfo %zu: family %d, %s, AES %d", i, cpu.family,
		   cpu.known ? "known" : "not known", cpu_has_aes(&cpu));
	}
	cpu_of(&cpu, nul, sizeof(nul) - 1);
	ok(cpu_has_aes(&cpu) == 1 && cpu.advertised == (1ULL << CPU_SSE2 | 1ULL << CPU_AES),
	   "NUL bytes part words, and only what both CPUs have counts");
	cpu_of(&cpu, loongson, strlen(loongson));
	ok(!strcmp(cpu.arch, "loongarch64") && !strcmp(cpu.model, "Loongson-3A6000") &&
		   !cpu.advertised,
	   "LoongArch: %s, %s", cpu.arch, cpu.model);
	cpu_of(&cpu, powerbook, strlen(powerbook));
	ok(!strcmp(cpu.arch, "ppc") && cpu.advertised == 1ULL << CPU_PPC_ALTIVEC,
	   "32-bit PowerPC: %s", cpu.arch);
}

static void test_long_line(void)
{
	const size_t len = 1 << 20;
	char *line = malloc(len + 64);
	struct cpu_facts cpu;

	memset(line, 'x', len);
	memcpy(line, "flags : ", 8);
	strcpy(line + len, " aes");
	cpu_of(&cpu, line, len + 4);
	ok(cpu_has_aes(&cpu) == 1, "the last word of a line of a megabyte is read");
	memset(line + 8, 'x', len);
	cpu_of(&cpu, line, len);
	ok(cpu_has_aes(&cpu) == 0, "a word of a megabyte is no feature");
	free(line);
}

static void test_disable(void)
{
	static const struct {
		const char *list;
		bool aes, avx, vaes, avx512;
	} cases[] = {
		{"", true, true, true, true},
		{"aes", false, true, false, true},
		{"avx", true, false, false, false},
		{"avx2", true, true, true, false},
		{"avx512f", true, true, true, false},
		{"sse2", false, false, false, false},
		{"vaes,avx512vl", true, true, false, false},
	};
	static const char *const bad[] = {"aesx", "aes, avx", ",", "aes,,avx", "asimd", "AES"};
	struct cpu_facts cpu;
	struct status st;

	put_text("/proc/cpuinfo", "flags : sse2 aes xsave avx avx2 avx512f avx512vl vaes\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cpu_probe(&cpu, root, cases[i].list, &st);
		ok(cpu_can_use(&cpu, CPU_AES) == cases[i].aes &&
			   cpu_can_use(&cpu, CPU_AVX) == cases[i].avx &&
			   cpu_can_use(&cpu, CPU_VAES) == cases[i].vaes &&
			   cpu_can_use(&cpu, CPU_AVX512VL) == cases[i].avx512,
		   "without \"%s\"", cases[i].list);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&st, 0, sizeof(st));
		ok(cpu_probe(&cpu, root, bad[i], &st) == -EINVAL && st.code == ST_USAGE &&
			   strstr(st.message, "vpclmulqdq"),
		   "\"%s\" is refused: %s", bad[i], st.message);
	}
}

/* One skcipher of /proc/crypto. */
#define ENTRY(name, driver, priority, selftest, internal, type)                                    \
	"name : " name "\ndriver : " driver "\nmodule : m\npriority : " priority                   \
	"\nselftest : " selftest "\ninternal : " internal "\ntype : " type "\n\n"

static void test_crypto(void)
{
	static const char text[] = ENTRY(
		"xts(aes)", "low", "100", "passed", "no",
		"skcipher") ENTRY("xts(aes)", "unknown", "900", "unknown", "no",
				  "skcipher") ENTRY("xts(aes)", "internal", "901", "passed", "yes",
						    "skcipher") ENTRY("xts(aes)", "larval", "999",
								      "passed", "no", "larval")
		ENTRY("xts(aes)", "first", "400", "passed", "no", "lskcipher") ENTRY(
			"xts(aes)", "second", "400", "passed", "no",
			"skcipher") ENTRY("xts(aes)", "hash", "800", "passed", "no", "shash")
			ENTRY("xts(aesx)", "other", "950", "passed", "no",
			      "skcipher") "driver : nameless\n\nname : gcm(last)\ndriver : d\npriority : -5\ntype : aead\nselftest : passed";
	struct kernel_facts kernel;
	const struct kernel_driver *d;

	put_text("/proc/crypto", text);
	ok(!kernel_probe(&kernel, root) && kernel.n_drivers == 9,
	   "%zu entries, the nameless left out", kernel.n_drivers);
	d = kernel_driver_for(&kernel, "xts(aes)");
	ok(d && !strcmp(d->driver, "first"), "of equals the first, of those that may be used: %s",
	   d ? d->driver : "none");
	d = kernel_driver_for(&kernel, "gcm(last)");
	ok(d && d->priority == -5, "the last entry needs no blank line after it");
	ok(!kernel_driver_for(&kernel, "xts(serpent)"), "what is not listed has no driver");
	kernel_facts_free(&kernel);
	put("/proc/crypto", "name : a\0b\ndriver : c\n", 22);
	ok(!kernel_probe(&kernel, root) && kernel.listed && kernel.n_drivers == 1,
	   "a NUL byte in a name");
	kernel_facts_free(&kernel);
	kernel_facts_free(NULL);
	put_text("/proc/crypto",
		 "name : xts(aes)\ndriver : a\nselftest : passed\ninternal : no\nfips : no\n"
		 "type : skcipher\npriority : 9\n\nname : xts(aes)\ndriver : b\nselftest : passed\n"
		 "internal : no\nfips : yes\ntype : skcipher\npriority : 1\n");
	ok(!kernel_probe(&kernel, root) && kernel_driver_for(&kernel, "xts(aes)") &&
		   !strcmp(kernel_driver_for(&kernel, "xts(aes)")->driver, "b"),
	   "in FIPS mode a driver that is not approved is passed over");
	kernel_facts_free(&kernel);
	put_text("/proc/crypto",
		 ENTRY("xts(aes)", "right", "1", "passed", "no",
		       "skcipher") ENTRY("xts(aes)", "aead", "9", "passed", "no", "aead")
			 ENTRY("xts(aes)", "ahash", "9", "passed", "no", "ahash")
				 ENTRY("xts(serpent)", "s", "1", "unknown", "no", "skcipher"));
	kernel_probe(&kernel, root);
	d = kernel_driver_for(&kernel, "xts(aes)");
	ok(d && !strcmp(d->driver, "right"), "an AEAD of a skcipher's name does not win: %s",
	   d ? d->driver : "none");
	ok(kernel_untested(&kernel, "xts(serpent)") && !kernel_untested(&kernel, "xts(aes)") &&
		   !kernel_untested(&kernel, "cbc(aes)"),
	   "what is listed and untested");
	ok(strstr(report_missing_driver(&kernel, "xts(serpent)"), "self-test has not passed") !=
		   NULL,
	   "is said so: %s", report_missing_driver(&kernel, "xts(serpent)"));
	kernel_facts_free(&kernel);
}

static void test_aes_kind(void)
{
	static const struct {
		const char *name, *driver;
		enum kernel_aes_kind kind;
	} cases[] = {
		{"xts(aes)", "xts-aes-aesni", KERNEL_AES_CPU},
		{"xts(aes)", "xts-aes-aesni-avx", KERNEL_AES_CPU},
		{"xts(aes)", "xts-aes-vaes-avx2", KERNEL_AES_VAES256},
		{"xts(aes)", "xts-aes-vaes-avx10_256", KERNEL_AES_VAES256},
		{"xts(aes)", "xts-aes-vaes-avx10_512", KERNEL_AES_VAES512},
		{"xts(aes)", "xts-aes-vaes-avx512", KERNEL_AES_VAES512},
		{"xts(aes)", "xts-aes-vaes-avx12", KERNEL_AES_VAES256},
		{"xts(aes)", "xts-aes-ce", KERNEL_AES_CPU},
		{"xts(aes)", "xts-aes-qce", KERNEL_AES_UNKNOWN},
		{"xts(aes)", "xts-aes-sun8i-ce", KERNEL_AES_UNKNOWN},
		{"xts(aes)", "xts-aes-neonbs", KERNEL_AES_SIMD},
		{"xts(aes)", "xts-aes-neon", KERNEL_AES_SIMD},
		{"xts(aes)", "xts(ecb(aes-generic))", KERNEL_AES_GENERIC},
		{"xts(aes)", "xts(ecb(aes-fixed-time))", KERNEL_AES_FIXED},
		{"xts(aes)", "xts(ecb(aes-arm64))", KERNEL_AES_GENERIC},
		{"xts(aes)", "xts(ecb(aes-lib))", KERNEL_AES_UNKNOWN},
		{"xts(aes)", "xts(ecb(aes-ce))", KERNEL_AES_CPU},
		{"xts(aes)", "cryptd(__xts-aes-aesni)", KERNEL_AES_CPU},
		{"xts(aes)", "p8_aes_xts", KERNEL_AES_CPU},
		{"xts(aes)", "xts-aes-s390", KERNEL_AES_CPU},
		{"xts(aes)", "xts-ppc-spe", KERNEL_AES_GENERIC},
		{"xts(aes)", "qat_aes_xts", KERNEL_AES_UNKNOWN},
		{"xts(aes)", "xts-aes-ccp", KERNEL_AES_UNKNOWN},
		{"xts(aes)", "aesnix", KERNEL_AES_UNKNOWN},
		{"xts(aes)", "---", KERNEL_AES_UNKNOWN},
		{"xts(aes)", "()(),", KERNEL_AES_UNKNOWN},
		{"essiv(cbc(aes),sha256)", "essiv(cbc-aes-aesni,sha256-generic)", KERNEL_AES_CPU},
		{"essiv(cbc(aes),sha256)", "essiv(cbc(aes-generic),sha256-ce)", KERNEL_AES_GENERIC},
		{"gcm(aes)", "generic-gcm-vaes-avx512", KERNEL_AES_VAES512},
		{"gcm(aes)", "gcm_base(ctr(aes-generic),ghash-clmulni)", KERNEL_AES_GENERIC},
		{"adiantum(xchacha12,aes)", "adiantum(xchacha12-simd,aes-aesni,nhpoly1305-avx2)",
		 KERNEL_AES_CPU},
	};
	struct kernel_driver d = {.type = "skcipher", .priority = 1, .selftest_passed = true};
	struct kernel_facts kernel = {.drivers = &d, .n_drivers = 1};
	const char *from = NULL;
	enum kernel_aes_kind kind;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(d.name, sizeof(d.name), "%s", cases[i].name);
		snprintf(d.driver, sizeof(d.driver), "%s", cases[i].driver);
		kind = kernel_aes_kind(&kernel, cases[i].name, &from);
		ok(kind == cases[i].kind && from && !strcmp(from, d.driver), "%s is of kind %d",
		   cases[i].driver, kind);
	}
	strcpy(d.name, "aes");
	strcpy(d.driver, "aes-aesni");
	strcpy(d.type, "cipher");
	kind = kernel_aes_kind(&kernel, "authenc(hmac(sha256),xts(aes))", &from);
	ok(kind == KERNEL_AES_CPU && from == d.driver,
	   "what is not made yet goes by its block cipher");
	kind = kernel_aes_kind(&kernel, "xts(serpent)", &from);
	ok(kind == KERNEL_AES_UNKNOWN && !from, "another cipher has nothing to do with it");
	for (const char *const *name =
		     (const char *const[]){"", "(", ")", "x(", "x(aes", "x((((aes", NULL};
	     *name; name++)
		kernel_aes_kind(&kernel, *name, NULL);
	ok(true, "names that are none");
}

static void test_dm_versions(void)
{
	static const struct {
		unsigned version[3];
		size_t n;
		const char *last;
	} cases[] = {{{1, 10, 0}, 0, ""},
		     {{1, 14, 0}, 3, "submit_from_crypt_cpus"},
		     {{1, 18, 0}, 6, "integrity"},
		     {{1, 18, 1}, 7, "keyring"},
		     {{1, 24, 0}, 9, "no_write_workqueue"},
		     {{1, 28, 0}, 11, "integrity_key_size"},
		     {{2, 0, 0}, 11, "integrity_key_size"}};
	struct kernel_dm dm = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kernel_dm_set_version(&dm, cases[i].version);
		ok(dm.n == cases[i].n && (!dm.n || !strcmp(dm.features[dm.n - 1], cases[i].last)),
		   "dm-crypt %u.%u.%u has %zu features", dm.version[0], dm.version[1],
		   dm.version[2], dm.n);
	}
}

static void test_limits(void)
{
	struct memory_facts memory;
	struct cpu_facts cpu;
	struct status st;

	put_text("/proc/meminfo",
		 "XMemTotal: 5 kB\nMemTotal:  2048 kB\nMemFree: 512 kB\nCached: 256 kB\n"
		 "SwapTotal: 18446744073709551615 kB\n");
	put_text("/proc/self/cgroup", "garbage\n0:\n0::/a/b\n");
	put_text("/proc/self/mountinfo",
		 "short - cgroup2\n\n30 1 0:1 / /my\\040cg rw - cgroup2 none rw\n");
	put_text("/my cg/a/b/memory.max", "max\n");
	put_text("/my cg/a/memory.max", "1000000\n");
	put_text("/my cg/a/b/cpu.max", "max 100000\n");
	put_text("/my cg/a/cpu.max", "junk\n");
	put_text("/my cg/cpu.max", "250000 100000\n");
	ok(!memory_probe(&memory, root) && memory.total == 2097152 && memory.available == 786432 &&
		   !memory.swap && memory.limit == 1000000,
	   "memory %" PRIu64 ", available %" PRIu64 ", swap %" PRIu64 ", limit %" PRIu64,
	   memory.total, memory.available, memory.swap, memory.limit);
	ok(memory_ceiling(&memory) == 1000000, "the limit is the ceiling");
	put_text("/sys/devices/system/cpu/online", "0-3,8,100000-100001,x\n");
	put_text("/proc/self/status", "Cpus_allowed:\t1,00000106\n");
	ok(!cpu_probe(&cpu, root, NULL, &st) && cpu.quota == 2.5 && cpu.allowed == 3,
	   "quota %.2f; %u CPUs allowed of %u", cpu.quota, cpu.allowed, cpu.online);
	ok(cpu_threads(&cpu) == 3, "%u threads", cpu_threads(&cpu));
	put_text("/proc/self/cgroup", "0::/../outside\n");
	ok(!memory_probe(&memory, root) && !memory.limit, "a group outside of the namespace");
	/* Version 1, by the name of the directory alone. */
	put_text("/proc/self/cgroup", "3:cpu,cpuacct:/job\n2:memory:/job\n");
	put_text("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n");
	put_text("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
	ok(!cpu_probe(&cpu, root, NULL, &st) && cpu.quota == 1.5,
	   "a quota below the joined name, mountinfo being another's: %.2f", cpu.quota);
	put_text("/proc/self/mountinfo", "");
	ok(!cpu_probe(&cpu, root, NULL, &st) && cpu.quota == 1.5, "or nobody's: %.2f", cpu.quota);
	cpu = (struct cpu_facts){.allowed = 8, .quota = 0.25};
	ok(cpu_threads(&cpu) == 1, "a quarter of a CPU is one thread");
	cpu = (struct cpu_facts){.quota = 4};
	ok(cpu_threads(&cpu) == 1, "nothing known is one thread");
}

static void test_unescape(void)
{
	char text[] = "/my\\040disk\\134x\\9\\04";

	sysfile_unescape(text, text);
	ok(!strcmp(text, "/my disk\\x\\9\\04"), "octal escapes: %s", text);
}

/* Why AF_ALG cannot be had, from the errno and the sysctl crypto.af_alg_restrict: -1 there is none.
 */
static void test_af_alg_reasons(void)
{
	static const struct {
		int error, level;
		const char *says;
	} sockets[] = {
		{EAFNOSUPPORT, -1, "the kernel has no such address family"},
		{EAFNOSUPPORT, 0, "the kernel has no such address family"},
		{EAFNOSUPPORT, 1, "the kernel has no such address family"},
		{EAFNOSUPPORT, 2, "the sysctl crypto.af_alg_restrict (2) turns AF_ALG off"},
		{ESOCKTNOSUPPORT, 2, "the sysctl crypto.af_alg_restrict (2) turns AF_ALG off"},
		{EPERM, -1, "a container or a seccomp filter forbids AF_ALG sockets"},
		{EACCES, 2, "a container or a seccomp filter forbids AF_ALG sockets"},
		{EMFILE, 0, "Too many open files"},
	};
	static const struct {
		int error, level;
		bool type_works, tried;
		const char *name, *says;
	} binds[] = {
		{ENOENT, -1, true, true, "xts(aes)",
		 "its module is not built, not installed, or blocked"},
		{ENOENT, 0, false, true, "xts(aes)", "the module algif_skcipher is missing"},
		{ENOENT, 0, false, true, "gcm(aes)", "the module algif_aead is missing"},
		{ENOENT, 1, true, false, "xts(aes)", "the sysctl crypto.af_alg_restrict hides it"},
		{ENOENT, 1, false, false, "gcm(aes)", "the sysctl crypto.af_alg_restrict hides it"},
		{EPERM, 1, true, true, "xts(aes)", "a container or a seccomp filter forbids it"},
		{EACCES, -1, true, true, "xts(aes)", "a container or a seccomp filter forbids it"},
		{ELIBBAD, -1, true, true, "xts(aes)", "failed the kernel's self-test"},
		{ENOMEM, -1, true, true, "xts(aes)", "Cannot allocate memory"},
	};

	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		struct kernel_af_alg a = {.error = sockets[i].error,
					  .restrict_level = sockets[i].level};

		kernel_af_alg_socket_reason(&a);
		ok(strstr(a.reason, sockets[i].says), "a socket, %s, restrict %d: %s",
		   errno_name(sockets[i].error), sockets[i].level, a.reason);
	}
	for (size_t i = 0; i < sizeof(binds) / sizeof(binds[0]); i++) {
		struct kernel_attempt a = {.error = binds[i].error, .tried = true};

		snprintf(a.name, sizeof(a.name), "%s", binds[i].name);
		kernel_af_alg_bind_reason(&a, binds[i].level, binds[i].type_works);
		ok(strstr(a.reason, binds[i].says) && a.tried == binds[i].tried,
		   "%s, %s, restrict %d: %s", binds[i].name, errno_name(binds[i].error),
		   binds[i].level, a.reason);
	}
}

int main(void)
{
	if (!sysroot_make())
		return tap_done();
	test_cpuinfo();
	test_long_line();
	test_disable();
	test_crypto();
	test_aes_kind();
	test_dm_versions();
	test_limits();
	test_unescape();
	test_af_alg_reasons();
	return sysroot_remove() ? 1 : tap_done();
}
