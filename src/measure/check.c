// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Two different halves: XTS implementations refuse a key whose halves are the same. */
const uint8_t check_key[CHECK_KEY_MAX] = {
	0x8d, 0x31, 0x5e, 0xf7, 0x02, 0xc9, 0x44, 0xab, 0x70, 0x1b, 0xe6, 0x93, 0x5c, 0x28,
	0xd5, 0x0f, 0xa6, 0x79, 0x10, 0xbd, 0x3f, 0x82, 0xe4, 0x57, 0xc1, 0x6e, 0x9a, 0x05,
	0xfb, 0x30, 0x48, 0xd7, 0x1c, 0xe9, 0x73, 0x8f, 0x56, 0x04, 0xb8, 0x2d, 0x91, 0xca,
	0x67, 0xfe, 0x13, 0xa0, 0x4b, 0xd8, 0x65, 0x3a, 0xf2, 0x0c, 0x89, 0xde, 0x77, 0x41,
	0xb5, 0x2f, 0x98, 0xe3, 0x5a, 0x16, 0xcd, 0x80, 0x3c, 0xf1, 0x6a, 0x95, 0x0e, 0xd2,
	0x47, 0xb9, 0x24, 0x8b, 0x71, 0xec, 0x50, 0x1f, 0xc6, 0x39, 0xa4, 0x07, 0xda, 0x62,
	0xfd, 0x18, 0x83, 0xbe, 0x45, 0xe0, 0x2b, 0x96, 0x7c, 0xd9};

static int encrypt_portable(const struct check_pattern *pattern, const struct spec *spec,
			    uint8_t **cipher)
{
	struct engine_key *key = NULL;
	size_t at = 0;
	int ret;

	*cipher = malloc(pattern->total);
	if (!*cipher)
		return -ENOMEM;
	ret = engine_key_new(&key, engine_tier_find("portable"), spec, check_key);
	if (ret)
		return ret;
	/* The shape changes the time that it takes, not the output. */
	for (size_t i = 0; i < pattern->n_parts; at += pattern->parts[i++].len)
		engine_crypt(key, ENGINE_ENCRYPT, ENGINE_MULTI, *cipher + at, pattern->plain + at,
			     backend_unit(&pattern->spec, pattern->size),
			     pattern->parts[i].len / backend_unit(&pattern->spec, pattern->size),
			     CHECK_SECTOR + pattern->parts[i].offset / 512);
	engine_key_free(key);
	return 0;
}

/* What no cipher makes of it. */
static int copy_plain(struct check_pattern *pattern)
{
	pattern->cipher = malloc(pattern->total);
	if (!pattern->cipher)
		return -ENOMEM;
	memcpy(pattern->cipher, pattern->plain, pattern->total);
	return 0;
}

static void choose_parts(struct check_pattern *pattern)
{
	size_t size = pattern->size, sector = backend_unit(&pattern->spec, size);
	size_t len = CHECK_BYTES / CHECK_PARTS / sector * sector;

	pattern->n_parts = 1;
	pattern->parts[0].len = size;
	/* Of a message all: its middle depends on what comes before. */
	if (size > CHECK_BYTES && pattern->spec.sector) {
		pattern->n_parts = CHECK_PARTS;
		pattern->parts[0].len = pattern->parts[1].len = pattern->parts[2].len = len;
		pattern->parts[1].offset = (size - len) / 2 / sector * sector;
		pattern->parts[2].offset = size - len;
	}
	for (size_t i = 0; i < pattern->n_parts; i++)
		pattern->total += pattern->parts[i].len;
}

/* Whether a spec that is sealed gives the same ciphertext as one that the engine has. ESSIV does
 * not: the MAC's key has a part in its IVs. */
static bool open_spec(struct spec *open, const struct spec *sealed)
{
	*open = *sealed;
	for (open->kind = spec_kinds; open->kind->kernel; open->kind++)
		if (sealed->kind->integrity && !open->kind->integrity &&
		    !strcmp(open->kind->cipher, sealed->kind->cipher) &&
		    !strcmp(open->kind->mode, sealed->kind->mode) &&
		    !strcmp(open->kind->iv, sealed->kind->iv) && !strcmp(open->kind->iv, "plain64"))
			return engine_supports(open);
	return false;
}

static int fill_pattern(struct check_pattern *pattern, const struct spec *spec, size_t size)
{
	struct backend_buffer buffer = {.size = 0};
	struct spec open;

	pattern->spec = *spec;
	pattern->size = size;
	choose_parts(pattern);
	buffer.size = pattern->total;
	pattern->plain = buffer.data = malloc(pattern->total);
	if (!pattern->plain)
		return -ENOMEM;
	backend_buffer_fill(&buffer);
	if (spec->kind == &backend_null_kind)
		return copy_plain(pattern);
	if (open_spec(&open, spec))
		return encrypt_portable(pattern, &open, &pattern->unsealed);
	return engine_supports(spec) ? encrypt_portable(pattern, spec, &pattern->cipher) : 0;
}

static void free_pattern(struct check_pattern *pattern)
{
	free(pattern->plain);
	free(pattern->cipher);
	free(pattern->unsealed);
}

int check_prepare(struct check_patterns *patterns, const struct spec *spec, size_t size)
{
	struct check_pattern fresh = {.size = 0}, *grown;
	int ret;

	for (size_t i = 0; i < patterns->n; i++)
		if (patterns->list[i].size == size && spec_equal(&patterns->list[i].spec, spec))
			return (int)i;
	ret = fill_pattern(&fresh, spec, size);
	grown = ret ? NULL : realloc(patterns->list, (patterns->n + 1) * sizeof(*patterns->list));
	if (!grown) {
		free_pattern(&fresh);
		return ret ? ret : -ENOMEM;
	}
	patterns->list = grown;
	grown[patterns->n] = fresh;
	return (int)patterns->n++;
}

void check_free(struct check_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		free_pattern(&patterns->list[i]);
	free(patterns->list);
	patterns->list = NULL;
	patterns->n = 0;
}

static void put_parts(const struct check_pattern *pattern, const uint8_t *from, uint8_t *data)
{
	for (size_t i = 0; i < pattern->n_parts; from += pattern->parts[i++].len)
		memcpy(data + pattern->parts[i].offset, from, pattern->parts[i].len);
}

static bool parts_equal(const struct check_pattern *pattern, const uint8_t *want,
			const uint8_t *data)
{
	for (size_t i = 0; i < pattern->n_parts; want += pattern->parts[i++].len)
		if (memcmp(data + pattern->parts[i].offset, want, pattern->parts[i].len))
			return false;
	return true;
}

void check_put(const struct check_pattern *pattern, enum engine_direction direction, uint8_t *data)
{
	put_parts(pattern, direction == ENGINE_ENCRYPT ? pattern->plain : pattern->cipher, data);
}

int check_compare(const struct check_pattern *pattern, enum engine_direction direction,
		  const uint8_t *data)
{
	const uint8_t *want = direction == ENGINE_ENCRYPT ? pattern->cipher : pattern->plain;

	return parts_equal(pattern, want, data) ? 0 : -EBADMSG;
}

/* Against the portable tier. */
static int check_output(const struct check_pattern *pattern, const struct backend *backend,
			void *state, enum engine_direction direction, uint8_t *data)
{
	int ret;

	check_put(pattern, direction, data);
	ret = backend->crypt(state, direction, data, CHECK_SECTOR);
	return ret ? ret : check_compare(pattern, direction, data);
}

static bool block_unchanged(const struct check_pattern *pattern, const uint8_t *data)
{
	const uint8_t *plain = pattern->plain;

	for (size_t i = 0; i < pattern->n_parts; plain += pattern->parts[i++].len)
		for (size_t at = 0; at + 16 <= pattern->parts[i].len; at += 16)
			if (!memcmp(data + pattern->parts[i].offset + at, plain + at, 16))
				return true;
	return false;
}

/* Against itself. A change of the sector number changes the first block in every mode that is
 * offered. */
static int check_round_trip(const struct check_pattern *pattern, const struct backend *backend,
			    void *state, uint8_t *data)
{
	uint8_t first[16];
	int ret;

	put_parts(pattern, pattern->plain, data);
	ret = backend->crypt(state, ENGINE_ENCRYPT, data, CHECK_SECTOR + 8);
	if (ret)
		return ret;
	memcpy(first, data, sizeof(first));
	put_parts(pattern, pattern->plain, data);
	ret = backend->crypt(state, ENGINE_ENCRYPT, data, CHECK_SECTOR);
	if (ret)
		return ret;
	if (!memcmp(first, data, sizeof(first)) || block_unchanged(pattern, data))
		return -EBADMSG;
	if (pattern->unsealed && !parts_equal(pattern, pattern->unsealed, data))
		return -EBADMSG;
	ret = backend->crypt(state, ENGINE_DECRYPT, data, CHECK_SECTOR);
	if (ret)
		return ret;
	return parts_equal(pattern, pattern->plain, data) ? 0 : -EBADMSG;
}

/* Encrypts, changes a bit, and wants decryption to refuse. what: 0 the data, 1 the tag, 2 a stored
 * IV, 3 the sector number; where: the sector, of those of the request. */
static int check_tampered(const struct check_pattern *pattern, const struct backend *backend,
			  void *state, uint8_t *data, int what, size_t where)
{
	const struct spec_kind *kind = pattern->spec.kind;
	const size_t unit = backend_unit(&pattern->spec, pattern->size);
	int ret;

	if (what == 2 && !kind->iv_stored)
		return 0;
	put_parts(pattern, pattern->plain, data);
	ret = backend->crypt(state, ENGINE_ENCRYPT, data, CHECK_SECTOR);
	if (ret)
		return ret;
	if (what == 0)
		data[where * unit + unit / 2] ^= 0x10;
	else if (what == 1)
		backend->stored(state, where)[kind->iv_stored + kind->tag - 1] ^= 0x01;
	else if (what == 2)
		backend->stored(state, where)[0] ^= 0x80;
	ret = backend->crypt(state, ENGINE_DECRYPT, data, CHECK_SECTOR + (what == 3) * 8);
	return ret == -EBADMSG ? 0 : ret ? ret : -EBADMSG;
}

static int check_sealed(const struct check_pattern *pattern, const struct backend *backend,
			void *state, uint8_t *data)
{
	const size_t last = pattern->size / backend_unit(&pattern->spec, pattern->size) - 1;
	int ret = 0;

	for (int what = 0; what < 4 && !ret; what++) {
		ret = check_tampered(pattern, backend, state, data, what, 0);
		if (!ret && last)
			ret = check_tampered(pattern, backend, state, data, what, last);
	}
	return ret ? ret : check_round_trip(pattern, backend, state, data);
}

int check_state(const struct check_pattern *pattern, const struct backend *backend, void *state,
		enum engine_direction direction, uint8_t *data)
{
	if (pattern->cipher)
		return check_output(pattern, backend, state, direction, data);
	return pattern->spec.kind->integrity ? check_sealed(pattern, backend, state, data)
					     : check_round_trip(pattern, backend, state, data);
}
