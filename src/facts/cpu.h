/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the CPU can do and how many of them this process may use. */
#ifndef DMCT_FACTS_CPU_H
#define DMCT_FACTS_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "util/status.h"

enum cpu_family {
	CPU_FAMILY_OTHER,
	CPU_FAMILY_X86,
	CPU_FAMILY_ARM,
	CPU_FAMILY_PPC,
	CPU_FAMILY_S390,
	CPU_FAMILY_RISCV
};

/* Named as /proc/cpuinfo names them on their architecture: cpu_feature_name(). Oldest first within
 * a family. */
enum cpu_feature {
	CPU_SSE2,
	CPU_SSSE3,
	CPU_SSE4_1,
	CPU_PCLMULQDQ,
	CPU_AES,
	CPU_AVX,
	CPU_AVX2,
	CPU_SHA_NI,
	CPU_AVX512F,
	CPU_AVX512BW,
	CPU_AVX512VL,
	CPU_GFNI,
	CPU_VAES,
	CPU_VPCLMULQDQ, /* x86 */
	CPU_ARM_NEON,
	CPU_ARM_ASIMD,
	CPU_ARM_AES,
	CPU_ARM_PMULL,
	CPU_ARM_SHA2,
	CPU_ARM_SVE, /* ARM, 32 and 64 bits */
	CPU_PPC_ALTIVEC,
	CPU_PPC_VCRYPTO,
	CPU_S390_MSA,
	CPU_RISCV_ZVKNED,
	CPU_FEATURE_COUNT
};

struct cpu_facts {
	char arch[32];          /* as uname(2)'s machine: "x86_64", "aarch64"; "" when not known */
	enum cpu_family family; /* of the CPU, not of the program: a 32-bit ARM program on aarch64
				   is CPU_FAMILY_ARM */
	char model[256];        /* "" when not known */
	bool known; /* false: nothing said what the CPU can do; an absent feature is then unknown,
		       not "no" */
	uint64_t advertised; /* bit 1 << CPU_x: the CPU (CPUID, hwcap, cpuinfo) has it */
	uint64_t usable; /* of those, the ones that the OS saves the registers for and --cpu-disable
			    leaves */
	uint64_t disabled; /* by --cpu-disable */
	uint64_t listed;   /* that /proc/cpuinfo names: what the kernel itself goes by */
	unsigned online;   /* CPUs; 0 when not known */
	unsigned allowed;  /* of them, by this process's affinity mask; 0 when not known */
	double quota;      /* CPUs' worth of time that the cgroups allow; 0: no limit */
};

/*
 * Fills *facts. root: see util/sysfile.h; with a root, features come from its /proc/cpuinfo and
 * affinity from its /proc/self/status. disable: a comma-separated list of feature names to do
 * without, or NULL. Disabling a feature disables those that need it (sse2 → all of x86's, avx512f →
 * avx512bw …, aes → vaes). Returns 0, -ENOMEM, or -EINVAL with *st (ST_USAGE) for an unknown name
 * in `disable`. Something that could not be read is "not known", no error. Sources: Intel SDM vol.
 * 1 ch. 13-15 (XCR0), vol. 2 (CPUID leaves 1, 7, 0xd); Linux Documentation/arch/arm64/elf_hwcaps.
 */
int cpu_probe(struct cpu_facts *facts, const char *root, const char *disable, struct status *st);

const char *cpu_feature_name(enum cpu_feature feature);
/* The feature of that exact name in that family, or -1. */
int cpu_feature_find(enum cpu_family family, const char *name);
bool cpu_advertises(const struct cpu_facts *facts, enum cpu_feature feature);
bool cpu_can_use(const struct cpu_facts *facts, enum cpu_feature feature);

/* Whether the CPU has AES instructions: 1 yes, 0 no, -1 not known. --cpu-disable does not count. */
int cpu_has_aes(const struct cpu_facts *facts);

/* Threads worth starting: the allowed CPUs, bounded by the quota rounded up; at least 1. */
unsigned cpu_threads(const struct cpu_facts *facts);
/* CPUs' worth of time that they get: as many, or what a quota leaves of them, such as 0.5. */
double cpu_worth(const struct cpu_facts *facts);

#endif
