// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How a driver does AES, read off its name. Names are put together from words ("xts-aes-vaes-avx2",
 * "__ecb-aes-ce", "xts(ecb(aes-generic))"), and it is words that are looked at here, not names:
 * those change from one kernel to the next (xts-aes-vaes-avx10_512 of 6.10 is xts-aes-vaes-avx512
 * since 6.16). Word for word so that one that is not known is not taken for another: "ce" stands
 * for ARM's instructions in xts-aes-ce, and for a device in cbc-aes-sun8i-ce.
 */
#include <ctype.h>
#include <string.h>

#include "facts/kernel_internal.h"

enum word_kind {
	WORD_NEUTRAL, /* mode, template, or other part that says nothing about how */
	WORD_GENERIC,
	WORD_FIXED,
	WORD_SIMD,
	WORD_CPU,
	WORD_AESNI, /* says so whatever stands beside it */
	WORD_VAES,
	WORD_512,
	WORD_LIB,
	WORD_UNKNOWN
};

static const struct {
	const char *word;
	enum word_kind kind;
} words[] = {
	{"aes", WORD_NEUTRAL},
	{"xts", WORD_NEUTRAL},
	{"cbc", WORD_NEUTRAL},
	{"ecb", WORD_NEUTRAL},
	{"ctr", WORD_NEUTRAL},
	{"cts", WORD_NEUTRAL},
	{"xctr", WORD_NEUTRAL},
	{"lrw", WORD_NEUTRAL},
	{"essiv", WORD_NEUTRAL},
	{"sha256", WORD_NEUTRAL},
	{"gcm", WORD_NEUTRAL},
	{"ccm", WORD_NEUTRAL},
	{"rfc4106", WORD_NEUTRAL},
	{"all", WORD_NEUTRAL},
	{"avx", WORD_NEUTRAL},
	{"avx2", WORD_NEUTRAL},
	{"avx10", WORD_NEUTRAL},
	{"256", WORD_NEUTRAL},
	{"riscv64", WORD_NEUTRAL},
	{"zvbb", WORD_NEUTRAL},
	{"zvkb", WORD_NEUTRAL},
	{"zvkg", WORD_NEUTRAL},
	{"ppc", WORD_NEUTRAL},
	{"generic", WORD_GENERIC},
	{"fixed", WORD_FIXED}, /* aes-fixed-time */
	{"time", WORD_FIXED},
	{"arm", WORD_GENERIC}, /* scalar assembly with tables: aes-arm, aes-arm64, aes-x86_64 */
	{"arm64", WORD_GENERIC},
	{"asm", WORD_GENERIC},
	{"x86", WORD_GENERIC},
	{"64", WORD_GENERIC},
	{"i586", WORD_GENERIC},
	{"spe", WORD_GENERIC}, /* PowerPC e500's 64-bit registers, with tables */
	{"neon", WORD_SIMD},
	{"neonbs", WORD_SIMD},
	{"vpaes", WORD_SIMD},
	{"ce", WORD_CPU},      /* ARMv8 cryptography extensions */
	{"p8", WORD_CPU},      /* POWER8 */
	{"p10", WORD_CPU},     /* POWER10 */
	{"s390", WORD_CPU},    /* CPACF */
	{"sparc64", WORD_CPU}, /* SPARC T4 */
	{"padlock", WORD_CPU}, /* VIA */
	{"zvkned", WORD_CPU},  /* RISC-V */
	{"aesni", WORD_AESNI},
	{"vaes", WORD_VAES},
	{"512", WORD_512},
	{"avx512", WORD_512},
	/* The kernel's own library, which takes whatever the architecture has (since 7.0). */
	{"lib", WORD_LIB},
};

static enum word_kind word_kind(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == len && !memcmp(words[i].word, s, len))
			return words[i].kind;
	return WORD_UNKNOWN;
}

/* Words are runs of letters and digits. Returns a bit 1 << kind for each kind of word in it. */
static unsigned word_kinds(const char *s, size_t len, bool *aes)
{
	unsigned kinds = 0;
	size_t n;

	*aes = false;
	for (size_t i = 0; i < len; i += n ? n : 1) {
		for (n = 0; i + n < len && isalnum((unsigned char)s[i + n]); n++)
			;
		if (!n)
			continue;
		kinds |= 1u << word_kind(s + i, n);
		*aes |= (n == 3 && !memcmp(s + i, "aes", 3)) ||
			(n == 5 && !memcmp(s + i, "aesni", 5));
	}
	return kinds;
}

static enum kernel_aes_kind kind_of(unsigned kinds)
{
	if (kinds & 1u << WORD_VAES)
		return kinds & 1u << WORD_512 ? KERNEL_AES_VAES512 : KERNEL_AES_VAES256;
	if (kinds & 1u << WORD_AESNI)
		return KERNEL_AES_CPU;
	/* Anything else counts only when every word is understood. */
	if (kinds & (1u << WORD_UNKNOWN | 1u << WORD_LIB | 1u << WORD_512))
		return KERNEL_AES_UNKNOWN;
	if (kinds & 1u << WORD_CPU)
		return KERNEL_AES_CPU;
	if (kinds & 1u << WORD_SIMD)
		return KERNEL_AES_SIMD;
	if (kinds & 1u << WORD_FIXED)
		return KERNEL_AES_FIXED;
	return kinds & 1u << WORD_GENERIC ? KERNEL_AES_GENERIC : KERNEL_AES_UNKNOWN;
}

/* A driver's name is one word group, or templates around several: "essiv(cbc-aes-aesni,sha256-ni)".
 * The group about AES decides. */
static enum kernel_aes_kind driver_kind(const char *driver)
{
	enum kernel_aes_kind kind = KERNEL_AES_UNKNOWN;
	unsigned kinds;
	size_t n;
	bool aes;

	for (const char *p = driver; *p; p += n + (p[n] != '\0')) {
		n = strcspn(p, "(),");
		kinds = word_kinds(p, n, &aes);
		/* A name without templates is about AES even where it does not say so
		 * (xts-ppc-spe). */
		if (aes || (p == driver && !p[n]))
			kind = kind_of(kinds);
	}
	return kind;
}

static const struct kernel_driver *aes_driver(const struct kernel_facts *facts, const char *name,
					      size_t len);

/*
 * What a template would be built on: of "xts(aes)", "ecb(aes)" or else "aes" (crypto/xts.c asks in
 * that order of preference), of "essiv(cbc(aes),sha256)" "cbc(aes)", of adiantum's its block cipher
 * "aes", which stands last but one at most.
 */
static const struct kernel_driver *inner_driver(const struct kernel_facts *facts, const char *name,
						size_t len)
{
	const char *open = memchr(name, '(', len), *p, *end;
	const struct kernel_driver *d;
	size_t n, depth;

	if (!open || name[len - 1] != ')')
		return NULL;
	end = name + len - 1;
	for (p = open + 1; p < end; p += n + 1) {
		depth = 0;
		for (n = 0; p + n < end && (depth || p[n] != ','); n++)
			depth += p[n] == '(' ? 1 : p[n] == ')' ? (size_t)-1 : 0;
		if (n == 3 && !memcmp(p, "aes", 3)) {
			d = kernel_driver_for(facts, "ecb(aes)");
			if (d && len >= 3 && !memcmp(name, "xts", 3))
				return d;
			return kernel_best_driver(facts, p, n, "cipher");
		}
		if (memmem(p, n, "(aes)", 5))
			return aes_driver(facts, p, n);
	}
	return NULL;
}

static const struct kernel_driver *aes_driver(const struct kernel_facts *facts, const char *name,
					      size_t len)
{
	const struct kernel_driver *d = kernel_best_driver(facts, name, len, kernel_types_of(name));

	return d ? d : inner_driver(facts, name, len);
}

enum kernel_aes_kind kernel_aes_kind(const struct kernel_facts *facts, const char *name,
				     const char **driver)
{
	const struct kernel_driver *d = aes_driver(facts, name, strlen(name));

	if (driver)
		*driver = d ? d->driver : NULL;
	return d ? driver_kind(d->driver) : KERNEL_AES_UNKNOWN;
}
