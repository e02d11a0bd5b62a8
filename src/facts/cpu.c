// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/cpu.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "facts/cpu_internal.h"
#include "util/sysfile.h"

/*
 * needs: features without which this one cannot be used; disabling one of them disables this one.
 * The x86 ones are those of the instructions' own encodings (Intel SDM vol. 2: VEX and EVEX forms),
 * as Linux arch/x86/kernel/cpu/cpuid-deps.c has them, too.
 */
static const struct {
	const char *name;
	enum cpu_family family;
	uint64_t needs;
} features[CPU_FEATURE_COUNT] = {
	[CPU_SSE2] = {"sse2", CPU_FAMILY_X86, 0},
	[CPU_SSSE3] = {"ssse3", CPU_FAMILY_X86, CPU_BIT(CPU_SSE2)},
	[CPU_SSE4_1] = {"sse4_1", CPU_FAMILY_X86, CPU_BIT(CPU_SSSE3)},
	[CPU_PCLMULQDQ] = {"pclmulqdq", CPU_FAMILY_X86, CPU_BIT(CPU_SSE2)},
	[CPU_AES] = {"aes", CPU_FAMILY_X86, CPU_BIT(CPU_SSE2)},
	[CPU_AVX] = {"avx", CPU_FAMILY_X86, CPU_BIT(CPU_SSE2)},
	[CPU_AVX2] = {"avx2", CPU_FAMILY_X86, CPU_BIT(CPU_AVX)},
	[CPU_SHA_NI] = {"sha_ni", CPU_FAMILY_X86, CPU_BIT(CPU_SSE2)},
	[CPU_AVX512F] = {"avx512f", CPU_FAMILY_X86, CPU_BIT(CPU_AVX2)},
	[CPU_AVX512BW] = {"avx512bw", CPU_FAMILY_X86, CPU_BIT(CPU_AVX512F)},
	[CPU_AVX512VL] = {"avx512vl", CPU_FAMILY_X86, CPU_BIT(CPU_AVX512F)},
	[CPU_GFNI] = {"gfni", CPU_FAMILY_X86, CPU_BIT(CPU_SSE2)},
	[CPU_VAES] = {"vaes", CPU_FAMILY_X86, CPU_BIT(CPU_AES) | CPU_BIT(CPU_AVX)},
	[CPU_VPCLMULQDQ] = {"vpclmulqdq", CPU_FAMILY_X86,
			    CPU_BIT(CPU_PCLMULQDQ) | CPU_BIT(CPU_AVX)},
	[CPU_ARM_NEON] = {"neon", CPU_FAMILY_ARM, CPU_BIT(CPU_ARM_ASIMD)},
	[CPU_ARM_ASIMD] = {"asimd", CPU_FAMILY_ARM, CPU_BIT(CPU_ARM_NEON)},
	[CPU_ARM_AES] = {"aes", CPU_FAMILY_ARM, CPU_BIT(CPU_ARM_NEON) | CPU_BIT(CPU_ARM_ASIMD)},
	[CPU_ARM_PMULL] = {"pmull", CPU_FAMILY_ARM, CPU_BIT(CPU_ARM_NEON) | CPU_BIT(CPU_ARM_ASIMD)},
	[CPU_ARM_SHA2] = {"sha2", CPU_FAMILY_ARM, CPU_BIT(CPU_ARM_NEON) | CPU_BIT(CPU_ARM_ASIMD)},
	[CPU_ARM_SVE] = {"sve", CPU_FAMILY_ARM, CPU_BIT(CPU_ARM_NEON) | CPU_BIT(CPU_ARM_ASIMD)},
	[CPU_PPC_ALTIVEC] = {"altivec", CPU_FAMILY_PPC, 0},
	[CPU_PPC_VCRYPTO] = {"vcrypto", CPU_FAMILY_PPC, CPU_BIT(CPU_PPC_ALTIVEC)},
	[CPU_S390_MSA] = {"msa", CPU_FAMILY_S390, 0},
	[CPU_RISCV_ZVKNED] = {"zvkned", CPU_FAMILY_RISCV, 0},
};

const char *cpu_feature_name(enum cpu_feature feature)
{
	return (unsigned)feature < CPU_FEATURE_COUNT ? features[feature].name : "";
}

static int find_token(enum cpu_family family, const char *name, size_t len)
{
	for (int f = 0; f < CPU_FEATURE_COUNT; f++)
		if (features[f].family == family && strlen(features[f].name) == len &&
		    !memcmp(features[f].name, name, len))
			return f;
	return -1;
}

int cpu_feature_find(enum cpu_family family, const char *name)
{
	return find_token(family, name, strlen(name));
}

uint64_t cpu_family_features(enum cpu_family family)
{
	uint64_t mask = 0;

	for (int f = 0; f < CPU_FEATURE_COUNT; f++)
		if (features[f].family == family)
			mask |= CPU_BIT(f);
	return mask;
}

/* Adds everything that cannot be used without something in `disabled`. */
static uint64_t with_dependents(uint64_t disabled)
{
	uint64_t before;

	do {
		before = disabled;
		for (int f = 0; f < CPU_FEATURE_COUNT; f++)
			if (features[f].needs & disabled)
				disabled |= CPU_BIT(f);
	} while (disabled != before);
	return disabled;
}

static int unknown_feature(enum cpu_family family, const char *name, size_t len, struct status *st)
{
	char allowed[400] = "";
	size_t used = 0;

	for (int f = 0; f < CPU_FEATURE_COUNT && used < sizeof(allowed); f++)
		if (features[f].family == family)
			used += snprintf(allowed + used, sizeof(allowed) - used, "%s%s",
					 used ? ", " : "", features[f].name);
	return status_set(st, ST_USAGE, EINVAL,
			  "--cpu-disable: \"%.*s\" is no CPU feature known here; this CPU's are: "
			  "%s.",
			  (int)(len < 64 ? len : 64), name,
			  *allowed ? allowed : "none (the CPU is not known)");
}

static int parse_disable(uint64_t *disabled, enum cpu_family family, const char *list,
			 struct status *st)
{
	uint64_t mask = 0;
	int feature;
	size_t len;

	for (const char *p = list; p && *p; p += len + (p[len] == ',')) {
		len = strcspn(p, ",");
		feature = find_token(family, p, len);
		/* Where nothing says what the CPU is, a name that some CPU has is no mistake. */
		for (int other = 0;
		     feature < 0 && family == CPU_FAMILY_OTHER && other <= CPU_FAMILY_RISCV;
		     other++)
			feature = find_token((enum cpu_family)other, p, len);
		if (feature < 0)
			return unknown_feature(family, p, len, st);
		mask |= CPU_BIT(feature);
	}
	*disabled = with_dependents(mask);
	return 0;
}

int cpu_probe(struct cpu_facts *facts, const char *root, const char *disable, struct status *st)
{
	bool live = !root || !*root;
	struct cpu_info info;
	struct utsname name;
	int ret;

	memset(facts, 0, sizeof(*facts));
	ret = cpu_info_read(&info, root);
	if (ret < 0)
		return ret == -ENOMEM ? status_nomem(st) : ret;
	facts->family = info.family;
	facts->known = info.known;
	facts->advertised = facts->listed = info.listed;
	facts->usable = info.usable;
	memcpy(facts->arch, info.arch, sizeof(facts->arch));
	memcpy(facts->model, info.model, sizeof(facts->model));
	if (live && cpu_ask(&facts->family, &facts->advertised, &facts->usable))
		facts->known = true;
	if (live && !uname(&name))
		snprintf(facts->arch, sizeof(facts->arch), "%.31s", name.machine);
	ret = parse_disable(&facts->disabled, facts->family, disable, st);
	if (ret < 0)
		return ret;
	facts->usable &= ~facts->disabled;
	ret = cpu_count(facts, root, info.processors);
	return ret == -ENOMEM ? status_nomem(st) : ret;
}

bool cpu_advertises(const struct cpu_facts *facts, enum cpu_feature feature)
{
	return facts->advertised & CPU_BIT(feature);
}

bool cpu_can_use(const struct cpu_facts *facts, enum cpu_feature feature)
{
	return facts->usable & CPU_BIT(feature);
}

int cpu_has_aes(const struct cpu_facts *facts)
{
	const uint64_t aes = CPU_BIT(CPU_AES) | CPU_BIT(CPU_ARM_AES) | CPU_BIT(CPU_PPC_VCRYPTO) |
			     CPU_BIT(CPU_S390_MSA) | CPU_BIT(CPU_RISCV_ZVKNED);

	if (facts->advertised & aes)
		return 1;
	return facts->known ? 0 : -1;
}

unsigned cpu_threads(const struct cpu_facts *facts)
{
	unsigned n = facts->allowed ? facts->allowed : facts->online;
	unsigned whole;

	if (!n)
		n = 1;
	if (facts->quota > 0 && facts->quota < n) {
		whole = (unsigned)facts->quota;
		n = whole + (facts->quota > whole);
	}
	return n ? n : 1;
}

double cpu_worth(const struct cpu_facts *facts)
{
	double n = cpu_threads(facts);

	return facts->quota > 0 && facts->quota < n ? facts->quota : n;
}
