// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool spec_sector_valid(unsigned sector)
{
	return sector >= SPEC_SECTOR_MIN && sector <= SPEC_SECTOR_MAX && !(sector & (sector - 1));
}

/* "aes-xts-plain64+hmac-sha256", cut into its words; those that are not there are "". */
struct words {
	const char *cipher, *mode, *iv, *integrity;
};

static bool same_cipher(const struct spec_kind *kind, const struct words *w)
{
	return !strcmp(kind->cipher, w->cipher) && !strcmp(kind->mode, w->mode) &&
	       !strcmp(kind->iv, w->iv);
}

static const struct spec_kind *find_kind(const struct spec_kind *list, const struct words *w)
{
	for (const struct spec_kind *k = list; k->kernel; k++)
		if (same_cipher(k, w) && !strcmp(k->integrity ? k->integrity : "", w->integrity))
			return k;
	return NULL;
}

/* "-" between words that are there. */
static void print_words(const struct words *w, char buf[SPEC_TEXT_MAX])
{
	int n = snprintf(buf, SPEC_TEXT_MAX, "%s%s%s%s%s", w->cipher, *w->mode ? "-" : "", w->mode,
			 *w->iv ? "-" : "", w->iv);

	/* Too long for anything that is known: cut. */
	if (n >= SPEC_TEXT_MAX)
		buf[SPEC_TEXT_MAX - 1] = '\0';
}

static void kind_words(struct words *w, const struct spec_kind *kind)
{
	*w = (struct words){kind->cipher, kind->mode, kind->iv,
			    kind->integrity ? kind->integrity : ""};
}

/* What an error message offers: "aes-xts-plain64, aes-cbc-essiv:sha256, …", or only those that have
 * an integrity mode, with it. */
static const char *kind_list(char *buf, size_t size, bool with_integrity)
{
	char name[SPEC_TEXT_MAX];
	struct words w;
	size_t len = 0;

	buf[0] = '\0';
	for (const struct spec_kind *k = spec_kinds; k->kernel && len < size; k++) {
		if (with_integrity && !k->integrity)
			continue;
		kind_words(&w, k);
		print_words(&w, name);
		len += (size_t)snprintf(buf + len, size - len, "%s%s%s%s", len ? ", " : "", name,
					k->integrity ? "+" : "", w.integrity);
	}
	return buf;
}

/* The integrity modes that a cipher may have: "hmac-sha256". "" when there are none. */
static const char *integrity_list(const struct words *w, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (const struct spec_kind *k = spec_kinds; k->kernel && len < size; k++)
		if (same_cipher(k, w) && k->integrity)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " or " : "",
						k->integrity);
	return buf;
}

static bool known_cipher(const struct words *w)
{
	for (const struct spec_kind *k = spec_kinds; k->kernel; k++)
		if (same_cipher(k, w))
			return true;
	return false;
}

/* Of a cipher that is known, but not with this integrity mode, or not without one. */
static int explain_integrity(const struct words *w, const char *name, struct status *st)
{
	char list[SPEC_TEXT_MAX], all[512];

	integrity_list(w, list, sizeof(list));
	if (!*w->integrity)
		return status_set(
			st, ST_USAGE, EINVAL,
			"%s stores an IV and a tag with each sector, so it needs an integrity mode: write %s+%s.",
			name, name, list);
	if (*list)
		return status_set(st, ST_USAGE, EINVAL, "Integrity mode \"%s\" of %s: it takes %s.",
				  w->integrity, name, list);
	return status_set(st, ST_USAGE, EINVAL,
			  "Integrity mode \"%s\" of %s: it takes none; those that have one are %s.",
			  w->integrity, name, kind_list(all, sizeof(all), true));
}

/* Modes that give themselves away when an IV comes twice, as a sector number does. */
static bool needs_nonce(const struct words *w)
{
	return (!strcmp(w->mode, "gcm") && *w->iv) ||
	       ((!strcmp(w->cipher, "chacha20") || !strcmp(w->cipher, "aegis128")) && *w->mode);
}

/* The combinations that people ask for and should not have, each with its reason. */
static int explain_refused(const struct words *w, struct status *st)
{
	const char *cipher = w->cipher, *mode = w->mode, *iv = w->iv;
	char list[1024], name[SPEC_TEXT_MAX];

	print_words(w, name);
	if (known_cipher(w))
		return explain_integrity(w, name, st);
	if (needs_nonce(w))
		return status_set(
			st, ST_USAGE, EINVAL,
			"%s: its IV would come again when a sector is written again, which gives away the data and lets tags be forged; only random does.",
			name);
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
	return status_set(st, ST_USAGE, EINVAL, "Unknown cipher \"%s\"; known are %s.", name,
			  kind_list(list, sizeof(list), false));
}

/* text is cut up. integrity: what an option says, or NULL. */
static int parse_cipher(const struct spec_kind **kind, char *text, const char *integrity,
			bool records, struct status *st)
{
	const struct spec_kind *record;
	char name[SPEC_TEXT_MAX];
	struct words w = {.cipher = text, .mode = "", .iv = "", .integrity = ""};
	char *at;

	if (!strncmp(text, "capi:", 5))
		return status_set(
			st, ST_USAGE, EINVAL,
			"\"%s\": names of the kernel's crypto API are not taken; write dm-crypt's, such as aes-xts-plain64.",
			text);
	at = strchr(text, '+');
	if (at) {
		*at++ = '\0';
		w.integrity = at;
		if (!*at)
			return status_set(st, ST_USAGE, EINVAL,
					  "\"%s+\": an integrity mode is missing after the plus.",
					  text);
		if (integrity && strcmp(integrity, at) != 0)
			return status_set(
				st, ST_USAGE, EINVAL,
				"--cipher with +%s and --integrity %s contradict each other.", at,
				integrity);
	} else if (integrity) {
		w.integrity = integrity;
	}
	at = strchr(text, '-');
	if (at) {
		*at++ = '\0';
		w.mode = at;
		at = strchr(at, '-');
	}
	if (at) {
		*at++ = '\0';
		w.iv = at;
	}
	*kind = find_kind(spec_kinds, &w);
	record = *kind ? NULL : find_kind(spec_records, &w);
	if (record && !records) {
		print_words(&w, name);
		return status_set(
			st, ST_USAGE, EINVAL,
			"%s%s%s: it is measured for the record (bench), and for nothing else.",
			name, *w.integrity ? "+" : "", w.integrity);
	}
	if (record)
		*kind = record;
	return *kind ? 0 : explain_refused(&w, st);
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
	char list[64], name[SPEC_TEXT_MAX];
	struct words w;

	for (size_t i = 0; i < KEY_SIZES && kind->key_bits[i]; i++)
		if (kind->key_bits[i] == bits)
			return 0;
	kind_words(&w, kind);
	print_words(&w, name);
	return status_set(
		st, ST_USAGE, EINVAL, "Key size \"%s\" of %s: it takes %s bits%s%s.", text, name,
		key_list(kind, list, sizeof(list)),
		kind->key_halves == 2 ? " (two keys: 512 is 256-bit strength, 256 is 128-bit)" : "",
		kind->mac_bits ? "; the key of its MAC comes on top" : "");
}

static int parse_sector(unsigned *sector, const char *text, struct status *st)
{
	if (parse_number(sector, text) || !spec_sector_valid(*sector))
		return status_set(st, ST_USAGE, EINVAL,
				  "Sector size \"%s\": it is 512, 1024, 2048 or 4096 bytes.", text);
	return 0;
}

/* Moves "+INTEGRITY" to where the cipher is, behind which the key size no longer stands. */
static int split(char *buf, char **key, char **sector, struct status *st)
{
	char *plus;

	*sector = strchr(buf, '@');
	if (*sector)
		*(*sector)++ = '\0';
	*key = strchr(buf, '/');
	if (!*key)
		return 0;
	plus = strchr(*key, '+');
	if (plus && memchr(buf, '+', (size_t)(*key - buf)))
		return status_set(st, ST_USAGE, EINVAL,
				  "\"%s\": more than one integrity mode; one spec reads "
				  "aes-gcm-random/256+aead@4096.",
				  buf);
	*(*key)++ = '\0';
	return 0;
}

/* The cipher with "+INTEGRITY" behind it, as it stands without a key size. */
static void join(char out[SPEC_TEXT_MAX], const char *cipher, char *key)
{
	char *plus = key ? strchr(key, '+') : NULL;

	snprintf(out, SPEC_TEXT_MAX, "%s%s", cipher, plus ? plus : "");
	if (plus)
		*plus = '\0';
}

static int parse(struct spec *spec, const char *text, const char *integrity, bool records,
		 struct status *st)
{
	char buf[SPEC_TEXT_MAX], cipher[SPEC_TEXT_MAX], *key, *sector;
	struct spec parsed = {NULL, 0, 0};
	int ret;

	if (!*text || strlen(text) >= sizeof(buf))
		return status_set(
			st, ST_USAGE, EINVAL,
			*text ? "\"%.40s…\" is too long for a cipher spec; one reads aes-xts-plain64/512@4096."
			      : "The cipher spec is empty%s; one reads aes-xts-plain64/512@4096.",
			*text ? text : "");
	strcpy(buf, text);
	ret = split(buf, &key, &sector, st);
	if (ret)
		return ret;
	join(cipher, buf, key);
	ret = parse_cipher(&parsed.kind, cipher, integrity, records, st);
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

int spec_parse(struct spec *spec, const char *text, struct status *st)
{
	return parse(spec, text, NULL, false, st);
}

int spec_parse_any(struct spec *spec, const char *text, struct status *st)
{
	return parse(spec, text, NULL, true, st);
}

int spec_from_options(struct spec *spec, const char *cipher, const char *integrity,
		      unsigned key_bits, unsigned sector, struct status *st)
{
	struct spec parsed;
	char text[16];
	int ret;

	ret = parse(&parsed, cipher, integrity, false, st);
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
	snprintf(buf, SPEC_TEXT_MAX, "%s%s%s", spec->kind->mode, *spec->kind->iv ? "-" : "",
		 spec->kind->iv);
	return buf;
}

char *spec_cipher(const struct spec *spec, char buf[SPEC_TEXT_MAX])
{
	struct words w;

	kind_words(&w, spec->kind);
	print_words(&w, buf);
	return buf;
}

char *spec_print(const struct spec *spec, char buf[SPEC_TEXT_MAX])
{
	const char *integrity = spec->kind->integrity;
	char cipher[SPEC_TEXT_MAX];
	int len;

	len = snprintf(buf, SPEC_TEXT_MAX, "%s/%u%s%s", spec_cipher(spec, cipher), spec->key_bits,
		       integrity ? "+" : "", integrity ? integrity : "");
	if (spec->sector && len > 0 && len < SPEC_TEXT_MAX)
		snprintf(buf + len, SPEC_TEXT_MAX - len, "@%u", spec->sector);
	return buf;
}

unsigned spec_strength(const struct spec *spec)
{
	return spec->key_bits / spec->kind->key_halves;
}

unsigned spec_volume_key_bits(const struct spec *spec)
{
	return spec->key_bits + spec->kind->mac_bits;
}

unsigned spec_stored(const struct spec *spec)
{
	return spec->kind->iv_stored + spec->kind->tag;
}

unsigned spec_journalled(const struct spec *spec)
{
	/* A sector number and, of each 512 bytes, the last eight, whose place in the journal's
	 * data the commit ID takes (drivers/md/dm-integrity.c, struct journal_entry). */
	const unsigned entry = 8 + spec->sector / 512 * 8 + spec_stored(spec);

	return spec->kind->integrity ? spec->sector + (entry + 7) / 8 * 8 : 0;
}

enum spec_class spec_class(const struct spec *spec)
{
	/* Whoever flips bits under a MAC is found out, so that CBC's malleability does not count.
	 */
	if (!strcmp(spec->kind->mode, "cbc") && !spec->kind->integrity)
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

const char *spec_class_words(const struct spec *spec)
{
	enum spec_class class = spec_class(spec);

	if (!spec->kind->integrity)
		return spec_class_name(class);
	return class == SPEC_CLASS_STRONG ? "authenticated, with 256-bit strength"
					  : "authenticated, with 128-bit strength";
}

bool spec_equal(const struct spec *a, const struct spec *b)
{
	return a->kind == b->kind && a->key_bits == b->key_bits && a->sector == b->sector;
}
