// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XTS_PROTECTS                                                                               \
	"Hides data at rest; equal 16-byte blocks at one place in time show, and each such block " \
	"can be damaged unnoticed."
#define ADIANTUM_PROTECTS                                                                          \
	"Hides data at rest; any change scrambles the whole sector, but old sectors can be put "   \
	"back unnoticed."
#define CBC_PROTECTS                                                                               \
	"Hides data at rest; whoever can write to the disk can flip chosen bits of a block by "    \
	"spoiling the one before it."

/*
 * Key sizes: Linux crypto/xts.c, crypto/adiantum.c and the block ciphers. Names: dm-crypt's
 * documentation (Documentation/admin-guide/device-mapper/dm-crypt.rst).
 */
const struct spec_kind spec_kinds[] = {{"aes",
					"xts",
					"plain64",
					"xts(aes)",
					"aes xts",
					{512, 256},
					2,
					false,
					true,
					true,
					0,
					XTS_PROTECTS},
				       {"aes",
					"cbc",
					"essiv:sha256",
					"essiv(cbc(aes),sha256)",
					"aes cbc essiv sha256",
					{256, 192, 128},
					1,
					false,
					true,
					true,
					1,
					CBC_PROTECTS},
				       {"xchacha12,aes",
					"adiantum",
					"plain64",
					"adiantum(xchacha12,aes)",
					"adiantum nhpoly1305 chacha aes",
					{256},
					1,
					true,
					false,
					true,
					2,
					ADIANTUM_PROTECTS},
				       {"xchacha20,aes",
					"adiantum",
					"plain64",
					"adiantum(xchacha20,aes)",
					"adiantum nhpoly1305 chacha aes",
					{256},
					1,
					true,
					false,
					true,
					3,
					ADIANTUM_PROTECTS},
				       {"serpent",
					"xts",
					"plain64",
					"xts(serpent)",
					"serpent xts",
					{512, 256},
					2,
					false,
					false,
					true,
					4,
					XTS_PROTECTS},
				       {"twofish",
					"xts",
					"plain64",
					"xts(twofish)",
					"twofish xts",
					{512, 256},
					2,
					false,
					false,
					true,
					5,
					XTS_PROTECTS},
				       {"camellia",
					"xts",
					"plain64",
					"xts(camellia)",
					"camellia xts",
					{512, 256},
					2,
					false,
					false,
					true,
					6,
					XTS_PROTECTS},
				       /* Its IVs can be predicted, so who chooses what is stored
					  can leave a mark: measured, never offered. */
				       {"aes",
					"cbc",
					"plain64",
					"cbc(aes)",
					"aes cbc",
					{256, 192, 128},
					1,
					false,
					false,
					false,
					7,
					CBC_PROTECTS},
				       {.kernel = NULL}};

bool spec_sector_valid(unsigned sector)
{
	return sector >= SPEC_SECTOR_MIN && sector <= SPEC_SECTOR_MAX && !(sector & (sector - 1));
}

static const struct spec_kind *find_kind(const char *cipher, const char *mode, const char *iv)
{
	for (const struct spec_kind *k = spec_kinds; k->kernel; k++)
		if (!strcmp(k->cipher, cipher) && !strcmp(k->mode, mode) && !strcmp(k->iv, iv))
			return k;
	return NULL;
}

/* "aes-xts-plain64, aes-cbc-essiv:sha256, …": what an error message offers. */
static const char *offered_list(char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (const struct spec_kind *k = spec_kinds; k->kernel && len < size; k++)
		len += snprintf(buf + len, size - len, "%s%s-%s-%s", len ? ", " : "", k->cipher,
				k->mode, k->iv);
	return buf;
}

/* The combinations that people ask for and should not have, each with its reason. */
static int explain_refused(const char *cipher, const char *mode, const char *iv, struct status *st)
{
	char list[512];

	if (!strcmp(iv, "plain"))
		return status_set(
			st, ST_USAGE, EINVAL,
			"%s-%s-plain: its IV is the low 32 bits of the sector number, so that sectors 2 TiB apart are encrypted alike; use %s-%s-plain64.",
			cipher, mode, cipher, mode);
	if (!strcmp(mode, "ecb"))
		return status_set(
			st, ST_USAGE, EINVAL,
			"%s-ecb: equal 16-byte blocks give equal ciphertext anywhere on the disk; use aes-xts-plain64.",
			cipher);
	if (!strcmp(mode, "ctr") || !strcmp(mode, "ofb") || !strcmp(mode, "cfb"))
		return status_set(
			st, ST_USAGE, EINVAL,
			"%s-%s: a stream mode uses the same key stream each time a sector is written, so two versions of it give its contents away; use aes-xts-plain64.",
			cipher, mode);
	if (!strncmp(iv, "plain64:", 8))
		return status_set(st, ST_USAGE, EINVAL,
				  "%s-%s-%s: plain64 takes no hash; write %s-%s-plain64.", cipher,
				  mode, iv, cipher, mode);
	return status_set(st, ST_USAGE, EINVAL, "Unknown cipher \"%s%s%s%s%s\"; known are %s.",
			  cipher, *mode ? "-" : "", mode, *iv ? "-" : "", iv,
			  offered_list(list, sizeof(list)));
}

static int parse_cipher(const struct spec_kind **kind, char *text, struct status *st)
{
	char *mode, *iv;

	if (!strncmp(text, "capi:", 5))
		return status_set(
			st, ST_USAGE, EINVAL,
			"\"%s\": names of the kernel's crypto API are not taken; write dm-crypt's, such as aes-xts-plain64.",
			text);
	mode = strchr(text, '-');
	if (mode)
		*mode++ = '\0';
	iv = mode ? strchr(mode, '-') : NULL;
	if (iv)
		*iv++ = '\0';
	*kind = find_kind(text, mode ? mode : "", iv ? iv : "");
	return *kind ? 0 : explain_refused(text, mode ? mode : "", iv ? iv : "", st);
}

/* Digits only, no sign, no blank, no leading zero. */
static int parse_number(unsigned *number, const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || text[digits] || digits > 6 || text[0] == '0')
		return -EINVAL;
	*number = strtoul(text, NULL, 10);
	return 0;
}

#define KEY_SIZES (sizeof(spec_kinds->key_bits) / sizeof(spec_kinds->key_bits[0]))

/* "256, 192 or 128". */
static const char *key_list(const struct spec_kind *kind, char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < KEY_SIZES && kind->key_bits[i] && len < size; i++) {
		const bool last = i + 1 == KEY_SIZES || !kind->key_bits[i + 1];

		len += (size_t)snprintf(buf + len, size - len, "%s%u",
					!i     ? ""
					: last ? " or "
					       : ", ",
					kind->key_bits[i]);
	}
	return buf;
}

static int check_key_bits(const struct spec_kind *kind, unsigned bits, const char *text,
			  struct status *st)
{
	char list[64];

	for (size_t i = 0; i < KEY_SIZES && kind->key_bits[i]; i++)
		if (kind->key_bits[i] == bits)
			return 0;
	return status_set(
		st, ST_USAGE, EINVAL, "Key size \"%s\" of %s-%s-%s: it takes %s bits%s.", text,
		kind->cipher, kind->mode, kind->iv, key_list(kind, list, sizeof(list)),
		kind->key_halves == 2 ? " (two keys: 512 is 256-bit strength, 256 is 128-bit)"
				      : "");
}

static int parse_sector(unsigned *sector, const char *text, struct status *st)
{
	if (parse_number(sector, text) || !spec_sector_valid(*sector))
		return status_set(st, ST_USAGE, EINVAL,
				  "Sector size \"%s\": it is 512, 1024, 2048 or 4096 bytes.", text);
	return 0;
}

int spec_parse(struct spec *spec, const char *text, struct status *st)
{
	char buf[SPEC_TEXT_MAX], *key, *sector;
	struct spec parsed = {NULL, 0, 0};
	int ret;

	if (!*text || strlen(text) >= sizeof(buf))
		return status_set(
			st, ST_USAGE, EINVAL,
			*text ? "\"%.40s…\" is too long for a cipher spec; one reads aes-xts-plain64/512@4096."
			      : "The cipher spec is empty%s; one reads aes-xts-plain64/512@4096.",
			*text ? text : "");
	strcpy(buf, text);
	sector = strchr(buf, '@');
	if (sector)
		*sector++ = '\0';
	key = strchr(buf, '/');
	if (key)
		*key++ = '\0';
	ret = parse_cipher(&parsed.kind, buf, st);
	if (ret)
		return ret;
	parsed.key_bits = parsed.kind->key_bits[0];
	if (key) {
		if (parse_number(&parsed.key_bits, key))
			parsed.key_bits = 0;
		ret = check_key_bits(parsed.kind, parsed.key_bits, key, st);
		if (ret)
			return ret;
	}
	if (sector) {
		ret = parse_sector(&parsed.sector, sector, st);
		if (ret)
			return ret;
	}
	*spec = parsed;
	return 0;
}

int spec_from_options(struct spec *spec, const char *cipher, unsigned key_bits, unsigned sector,
		      struct status *st)
{
	struct spec parsed;
	char text[16];
	int ret;

	ret = spec_parse(&parsed, cipher, st);
	if (ret)
		return ret;
	if (key_bits) {
		snprintf(text, sizeof(text), "%u", key_bits);
		ret = check_key_bits(parsed.kind, key_bits, text, st);
		if (ret)
			return ret;
		if (strchr(cipher, '/') && key_bits != parsed.key_bits)
			return status_set(st, ST_USAGE, EINVAL,
					  "--cipher %s and --key-size %u contradict each other.",
					  cipher, key_bits);
		parsed.key_bits = key_bits;
	}
	if (sector) {
		snprintf(text, sizeof(text), "%u", sector);
		if (parsed.sector && parsed.sector != sector)
			return status_set(st, ST_USAGE, EINVAL,
					  "--cipher %s and --sector-size %u contradict each other.",
					  cipher, sector);
		ret = parse_sector(&parsed.sector, text, st);
		if (ret)
			return ret;
	}
	*spec = parsed;
	return 0;
}

char *spec_cipher_mode(const struct spec *spec, char buf[SPEC_TEXT_MAX])
{
	snprintf(buf, SPEC_TEXT_MAX, "%s-%s", spec->kind->mode, spec->kind->iv);
	return buf;
}

char *spec_cipher(const struct spec *spec, char buf[SPEC_TEXT_MAX])
{
	snprintf(buf, SPEC_TEXT_MAX, "%s-%s-%s", spec->kind->cipher, spec->kind->mode,
		 spec->kind->iv);
	return buf;
}

char *spec_print(const struct spec *spec, char buf[SPEC_TEXT_MAX])
{
	char cipher[SPEC_TEXT_MAX];
	int len;

	len = snprintf(buf, SPEC_TEXT_MAX, "%s/%u", spec_cipher(spec, cipher), spec->key_bits);
	if (spec->sector && len > 0 && len < SPEC_TEXT_MAX)
		snprintf(buf + len, SPEC_TEXT_MAX - len, "@%u", spec->sector);
	return buf;
}

unsigned spec_strength(const struct spec *spec)
{
	return spec->key_bits / spec->kind->key_halves;
}

enum spec_class spec_class(const struct spec *spec)
{
	if (!strcmp(spec->kind->mode, "cbc"))
		return SPEC_CLASS_CBC;
	return spec_strength(spec) >= 256 ? SPEC_CLASS_STRONG : SPEC_CLASS_XTS128;
}

const char *spec_class_name(enum spec_class class)
{
	static const char *const names[SPEC_CLASS_COUNT] = {
		[SPEC_CLASS_STRONG] = "XTS or wide-block with 256-bit strength",
		[SPEC_CLASS_XTS128] = "XTS with 128-bit strength",
		[SPEC_CLASS_CBC] = "CBC",
	};

	return names[class];
}

bool spec_equal(const struct spec *a, const struct spec *b)
{
	return a->kind == b->kind && a->key_bits == b->key_bits && a->sector == b->sector;
}
