// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/cpuinfo, which every architecture writes in its own way: x86 "flags", ARM "Features",
 * s390 "features", RISC-V "isa", PowerPC part of "cpu". Lines are taken by exact key and features
 * by exact token. A file without any such line leaves the features unknown.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/cpu_internal.h"
#include "util/sysfile.h"

struct text {
	const char *s;
	size_t len;
};

/* While reading: what the lines seen so far come to. */
struct reader {
	struct cpu_info *info;
	bool xsave, lm, asimd;
	bool power32;      /* a PowerPC from before it had 64 bits */
	bool foreign;      /* an architecture whose features are none of those known here */
	unsigned loongson; /* bits */
	unsigned arm_architecture, arm_implementer, arm_part;
	unsigned feature_lines;
};

static bool is(struct text t, const char *word)
{
	return strlen(word) == t.len && !memcmp(t.s, word, t.len);
}

static struct text trim(struct text t)
{
	while (t.len && isspace((unsigned char)t.s[0]))
		t.s++, t.len--;
	while (t.len && isspace((unsigned char)t.s[t.len - 1]))
		t.len--;
	return t;
}

/* The next token of *rest that ends at one of `separators` (or a NUL byte); false at the end. */
static bool next_token(struct text *rest, const char *separators, struct text *token)
{
	size_t n;

	while (rest->len && (!*rest->s || strchr(separators, *rest->s)))
		rest->s++, rest->len--;
	for (n = 0; n < rest->len && rest->s[n] && !strchr(separators, rest->s[n]); n++)
		;
	*token = (struct text){rest->s, n};
	rest->s += n;
	rest->len -= n;
	return n > 0;
}

static void copy_model(struct cpu_info *info, struct text value)
{
	size_t len = value.len < sizeof(info->model) ? value.len : sizeof(info->model) - 1;

	if (info->model[0])
		return;
	memcpy(info->model, value.s, len);
	info->model[len] = '\0';
}

/* A feature counts when every CPU has it: the kernel may run us on any of them. */
static void add_features(struct reader *r, enum cpu_family family, uint64_t mask)
{
	if (r->feature_lines++ && r->info->family == family)
		mask &= r->info->listed;
	r->info->family = family;
	r->info->listed = mask;
	r->info->known = true;
}

static bool has_word(struct text value, const char *word)
{
	struct text token;

	while (next_token(&value, " \t", &token))
		if (is(token, word))
			return true;
	return false;
}

static void read_features(struct reader *r, enum cpu_family family, struct text value)
{
	struct text token;
	uint64_t mask = 0;
	char name[24];
	int feature;

	while (next_token(&value, " \t", &token)) {
		r->xsave |= is(token, "xsave");
		r->lm |= is(token, "lm");
		r->asimd |= is(token, "asimd");
		if (token.len >= sizeof(name))
			continue;
		memcpy(name, token.s, token.len);
		name[token.len] = '\0';
		feature = cpu_feature_find(family, name);
		if (feature >= 0)
			mask |= CPU_BIT(feature);
	}
	add_features(r, family, mask);
}

/* "rv64imafdcv_zicbom_zvkned": single letters up to the first underscore, then whole names. zvkn,
 * zvknc and zvkng each stand for zvkned among others (RISC-V vector cryptography extensions 1.0).
 */
static void read_isa(struct reader *r, struct text value)
{
	static const char *const with_aes[] = {"zvkned", "zvkn", "zvknc", "zvkng"};
	struct text token;
	uint64_t mask = 0;

	if (value.len < 4 || memcmp(value.s, "rv", 2))
		return;
	snprintf(r->info->arch, sizeof(r->info->arch), "riscv%.2s", value.s + 2);
	while (next_token(&value, "_ \t", &token))
		for (size_t i = 0; i < sizeof(with_aes) / sizeof(with_aes[0]); i++)
			if (is(token, with_aes[i]))
				mask |= CPU_BIT(CPU_RISCV_ZVKNED);
	add_features(r, CPU_FAMILY_RISCV, mask);
}

/*
 * "POWER9, altivec supported", "POWER8E (raw), altivec supported", "Power11 (architected), …".
 * The kernel lists no cryptography there: it is part of the architecture from POWER8 (Power ISA
 * 2.07, category Vector.Crypto) on. Names of another kind ("7447A", "e6500") say nothing of it.
 */
static void read_power(struct reader *r, struct text value)
{
	struct text token, rest = value;
	uint64_t mask = 0;
	bool named;

	if (memmem(value.s, value.len, "altivec supported", 17))
		mask |= CPU_BIT(CPU_PPC_ALTIVEC);
	if (next_token(&rest, " ,", &token) && token.len > 5 && !strncasecmp(token.s, "power", 5) &&
	    isdigit((unsigned char)token.s[5]) && atoi(token.s + 5) >= 8)
		mask |= CPU_BIT(CPU_PPC_VCRYPTO);
	/* Other architectures have a line "cpu", too, which says nothing of features. */
	named = token.len >= 3 && (!strncasecmp(token.s, "power", 3) || !memcmp(token.s, "PPC", 3));
	if (!mask && !named)
		return;
	copy_model(r->info, token);
	add_features(r, CPU_FAMILY_PPC, mask);
	r->info->known = named;
	r->power32 = isdigit((unsigned char)token.s[0]);
}

/* LoongArch writes "Features", as ARM does, and IA-64 "features", as s390 does, but of their own.
 */
static void read_foreign(struct reader *r, struct text key, struct text value)
{
	if (is(key, "CPU Family") && value.len > 8 && !memcmp(value.s, "Loongson", 8)) {
		r->foreign = true;
		r->loongson = memmem(value.s, value.len, "64", 2) ? 64 : 32;
	} else if ((is(key, "Features") && has_word(value, "cpucfg")) ||
		   (is(key, "arch") && is(value, "IA-64"))) {
		r->foreign = true;
	}
}

static void read_line(struct reader *r, struct text key, struct text value)
{
	static const char *const models[] = {"model name", "Model Name", "cpu model", "Processor"};

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (is(key, models[i]))
			copy_model(r->info, value);
	if (is(key, "processor") ||
	    (key.len > 10 && !memcmp(key.s, "processor ", 10))) /* s390: "processor 0: …" */
		r->info->processors++;
	read_foreign(r, key, value);
	if (is(key, "flags"))
		read_features(r, CPU_FAMILY_X86, value);
	else if (is(key, "Features") && !r->foreign)
		read_features(r, CPU_FAMILY_ARM, value);
	else if (is(key, "features") && !r->foreign)
		read_features(r, CPU_FAMILY_S390, value);
	else if (is(key, "isa"))
		read_isa(r, value);
	else if (is(key, "cpu") && value.len)
		read_power(r, value);
	else if (is(key, "CPU architecture"))
		r->arm_architecture = strtoul(value.s, NULL, 0);
	else if (is(key, "CPU implementer"))
		r->arm_implementer = strtoul(value.s, NULL, 0);
	else if (is(key, "CPU part"))
		r->arm_part = strtoul(value.s, NULL, 0);
	else if (is(key, "vendor_id") && is(value, "IBM/S390"))
		copy_model(r->info, value);
	else if (is(key, "uarch"))
		copy_model(r->info, value);
}

/* ARM's kernel gives numbers (MIDR_EL1, Linux arch/arm64/include/asm/cputype.h). */
static void name_arm(struct reader *r)
{
	static const struct {
		unsigned implementer, part;
		const char *name;
	} cores[] = {
		{0x41, 0xd03, "ARM Cortex-A53"},   {0x41, 0xd04, "ARM Cortex-A35"},
		{0x41, 0xd05, "ARM Cortex-A55"},   {0x41, 0xd07, "ARM Cortex-A57"},
		{0x41, 0xd08, "ARM Cortex-A72"},   {0x41, 0xd09, "ARM Cortex-A73"},
		{0x41, 0xd0a, "ARM Cortex-A75"},   {0x41, 0xd0b, "ARM Cortex-A76"},
		{0x41, 0xd0c, "ARM Neoverse-N1"},  {0x41, 0xd40, "ARM Neoverse-V1"},
		{0x41, 0xd49, "ARM Neoverse-N2"},  {0x41, 0xd4f, "ARM Neoverse-V2"},
		{0x41, 0xc07, "ARM Cortex-A7"},    {0x41, 0xc08, "ARM Cortex-A8"},
		{0x41, 0xc09, "ARM Cortex-A9"},    {0x41, 0xc0f, "ARM Cortex-A15"},
		{0x61, 0x022, "Apple M1 (small)"}, {0x61, 0x023, "Apple M1"},
	};

	if (r->info->model[0] || !r->arm_implementer)
		return;
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
		if (cores[i].implementer == r->arm_implementer && cores[i].part == r->arm_part)
			snprintf(r->info->model, sizeof(r->info->model), "%s", cores[i].name);
	if (!r->info->model[0])
		snprintf(r->info->model, sizeof(r->info->model), "implementer 0x%02x, part 0x%03x",
			 r->arm_implementer, r->arm_part);
}

/* uname(2)'s machine, as far as cpuinfo shows it; /proc/sys/kernel/arch (since 6.1) says it. */
static void name_arch(struct reader *r, const char *root)
{
	char release[256] = "", arch[sizeof(r->info->arch)];
	const char *guess = "";

	if (sysfile_line(root, arch, sizeof(arch), "/proc/sys/kernel/arch") > 0) {
		memcpy(r->info->arch, arch, sizeof(arch));
		return;
	}
	switch (r->info->family) {
	case CPU_FAMILY_X86:
		guess = r->lm ? "x86_64" : "i686";
		break;
	case CPU_FAMILY_ARM:
		/* "asimd" is the 64-bit view's name; the 32-bit one of an ARMv8 says "neon". */
		if (r->asimd)
			guess = "aarch64";
		else
			guess = r->arm_architecture >= 8 ? "armv8l" : "armv7l";
		break;
	case CPU_FAMILY_PPC:
		if (r->power32)
			guess = "ppc";
		else if (sysfile_line(root, release, sizeof(release),
				      "/proc/sys/kernel/osrelease") > 0)
			guess = strstr(release, "64le") ? "ppc64le" : "ppc64";
		break;
	case CPU_FAMILY_S390:
		guess = "s390x";
		break;
	default:
		if (!r->loongson)
			return;
		guess = r->loongson == 64 ? "loongarch64" : "loongarch32";
	}
	snprintf(r->info->arch, sizeof(r->info->arch), "%s", guess);
}

/* AVX and later need registers that only XSAVE saves: a kernel booted without it ("noxsave") may
 * still list them. */
static uint64_t usable_of(const struct reader *r)
{
	const uint64_t extended = CPU_BIT(CPU_AVX) | CPU_BIT(CPU_AVX2) | CPU_BIT(CPU_AVX512F) |
				  CPU_BIT(CPU_AVX512BW) | CPU_BIT(CPU_AVX512VL) |
				  CPU_BIT(CPU_VAES) | CPU_BIT(CPU_VPCLMULQDQ);

	if (r->info->family == CPU_FAMILY_X86 && !r->xsave)
		return r->info->listed & ~extended;
	return r->info->listed;
}

int cpu_info_read(struct cpu_info *info, const char *root)
{
	struct reader r = {.info = info};
	const char *colon, *end;
	char *text = NULL;
	size_t len = 0;
	int ret;

	memset(info, 0, sizeof(*info));
	ret = sysfile_read(root, "/proc/cpuinfo", &text, &len);
	if (ret < 0 && ret != -ENOMEM)
		ret = 0;
	for (const char *p = text; ret == 0 && text && p < text + len; p = end + 1) {
		end = memchr(p, '\n', text + len - p);
		if (!end)
			end = text + len;
		colon = memchr(p, ':', end - p);
		if (!colon)
			continue;
		read_line(&r, trim((struct text){p, colon - p}),
			  trim((struct text){colon + 1, end - colon - 1}));
	}
	free(text);
	if (ret < 0)
		return ret;
	info->usable = usable_of(&r);
	name_arm(&r);
	name_arch(&r, root);
	return 0;
}
