// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the CPU says of itself. x86: CPUID and XCR0 (Intel SDM vol. 1 ch. 13 to 15, vol. 2 CPUID),
 * since user space may ask directly and the two together are what decides whether an instruction
 * faults. ARM: the kernel's hwcaps, the only thing that user space may ask
 * (Linux Documentation/arch/arm64/elf_hwcaps.rst, arch/arm/include/uapi/asm/hwcap.h).
 */
#include "facts/cpu_internal.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#define XCR0_SSE_AVX 0x06 /* XMM and the upper halves of YMM */
#define XCR0_AVX512  0xe6 /* and opmask, the upper halves of ZMM0-15, ZMM16-31 */

struct cpuid_regs {
	unsigned eax, ebx, ecx, edx;
};

/* Without the compiler's -mxsave, which would let it use XSAVE elsewhere too. */
static uint64_t read_xcr0(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

static uint64_t bit_if(unsigned reg, unsigned bit, enum cpu_feature feature)
{
	return reg >> bit & 1 ? CPU_BIT(feature) : 0;
}

static uint64_t cpuid_features(const struct cpuid_regs *one, const struct cpuid_regs *seven)
{
	return bit_if(one->edx, 26, CPU_SSE2) | bit_if(one->ecx, 9, CPU_SSSE3) |
	       bit_if(one->ecx, 19, CPU_SSE4_1) | bit_if(one->ecx, 1, CPU_PCLMULQDQ) |
	       bit_if(one->ecx, 25, CPU_AES) | bit_if(one->ecx, 28, CPU_AVX) |
	       bit_if(seven->ebx, 5, CPU_AVX2) | bit_if(seven->ebx, 29, CPU_SHA_NI) |
	       bit_if(seven->ebx, 16, CPU_AVX512F) | bit_if(seven->ebx, 30, CPU_AVX512BW) |
	       bit_if(seven->ebx, 31, CPU_AVX512VL) | bit_if(seven->ecx, 8, CPU_GFNI) |
	       bit_if(seven->ecx, 9, CPU_VAES) | bit_if(seven->ecx, 10, CPU_VPCLMULQDQ);
}

bool cpu_ask(enum cpu_family *family, uint64_t *advertised, uint64_t *usable)
{
	/* VAES and VPCLMULQDQ have no form without VEX: they need the YMM state at least. */
	const uint64_t ymm = CPU_BIT(CPU_AVX) | CPU_BIT(CPU_AVX2) | CPU_BIT(CPU_VAES) |
			     CPU_BIT(CPU_VPCLMULQDQ);
	const uint64_t zmm = CPU_BIT(CPU_AVX512F) | CPU_BIT(CPU_AVX512BW) | CPU_BIT(CPU_AVX512VL);
	struct cpuid_regs one = {0}, seven = {0};
	uint64_t xcr0 = 0;

	if (!__get_cpuid(1, &one.eax, &one.ebx, &one.ecx, &one.edx))
		return false;
	if (!__get_cpuid_count(7, 0, &seven.eax, &seven.ebx, &seven.ecx, &seven.edx))
		seven = (struct cpuid_regs){0};
	if (one.ecx & 1u << 27) /* OSXSAVE: the OS has enabled XGETBV */
		xcr0 = read_xcr0();
	*family = CPU_FAMILY_X86;
	*advertised = *usable = cpuid_features(&one, &seven);
	if ((xcr0 & XCR0_SSE_AVX) != XCR0_SSE_AVX)
		*usable &= ~(ymm | zmm);
	if ((xcr0 & XCR0_AVX512) != XCR0_AVX512)
		*usable &= ~zmm;
	return true;
}

#elif defined(__aarch64__) || defined(__arm__)
#include <sys/auxv.h>

#if defined(__aarch64__)
static const struct {
	unsigned long type, bit;
	enum cpu_feature feature;
} hwcaps[] = {
	{AT_HWCAP, 1UL << 1, CPU_ARM_ASIMD}, {AT_HWCAP, 1UL << 3, CPU_ARM_AES},
	{AT_HWCAP, 1UL << 4, CPU_ARM_PMULL}, {AT_HWCAP, 1UL << 6, CPU_ARM_SHA2},
	{AT_HWCAP, 1UL << 22, CPU_ARM_SVE},
};
#else
static const struct {
	unsigned long type, bit;
	enum cpu_feature feature;
} hwcaps[] = {
	{AT_HWCAP, 1UL << 12, CPU_ARM_NEON},
	{AT_HWCAP2, 1UL << 0, CPU_ARM_AES},
	{AT_HWCAP2, 1UL << 1, CPU_ARM_PMULL},
	{AT_HWCAP2, 1UL << 3, CPU_ARM_SHA2},
};
#endif

bool cpu_ask(enum cpu_family *family, uint64_t *advertised, uint64_t *usable)
{
	uint64_t mask = 0;

	/* Both CPU architectures always have some bit set: nothing at all means no auxiliary
	 * vector. */
	if (!getauxval(AT_HWCAP))
		return false;
	for (unsigned i = 0; i < sizeof(hwcaps) / sizeof(hwcaps[0]); i++)
		if (getauxval(hwcaps[i].type) & hwcaps[i].bit)
			mask |= CPU_BIT(hwcaps[i].feature);
	*family = CPU_FAMILY_ARM;
	*advertised = *usable = mask;
	return true;
}

#else
bool cpu_ask(enum cpu_family *family, uint64_t *advertised, uint64_t *usable)
{
	(void)family;
	(void)advertised;
	(void)usable;
	return false;
}
#endif
