// SPDX-License-Identifier: GPL-2.0-or-later
/* Correct or nothing: what a tier must show before its speed means anything. */
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sha256.h"
#include "engine/tier.h"
#include "engine/vectors.h"

/* Whole pipelines of every tier and a rest. */
#define SECTORS 37
#define BYTES   ((size_t)SECTORS * VECTOR_SECTOR)
/* Enough for CBC's serial shape: in `portable` a block costs a pipeline. */
#define SERIAL 2

static bool cipher_is_known(const struct engine_vector *vector, const uint8_t *sector)
{
	uint8_t want[VECTOR_SECTOR], digest[SHA256_SIZE];
	const size_t n = vector_bytes(want, sizeof(want), vector->cipher);

	if (memcmp(want, sector, n) != 0)
		return false;
	if (!vector->digest)
		return true;
	sha256(digest, sector, VECTOR_SECTOR);
	vector_bytes(want, SHA256_SIZE, vector->digest);
	return !memcmp(want, digest, SHA256_SIZE);
}

static int known_answer(const struct engine_tier *tier, const struct engine_vector *vector)
{
	const struct spec_kind kind = {.cipher = "aes", .mode = vector->mode, .iv = vector->iv};
	uint8_t raw[VECTOR_KEY], plain[VECTOR_SECTOR], out[VECTOR_SECTOR];
	struct spec spec = {.kind = &kind};
	struct engine_key *key;
	int err;

	spec.key_bits = 8 * (unsigned)vector_bytes(raw, sizeof(raw), vector->key);
	vector_plain(plain, vector);
	err = engine_key_new(&key, tier, &spec, raw);
	if (err)
		return err;
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_SERIAL, out, plain, VECTOR_SECTOR, 1,
		     vector->sector);
	if (!cipher_is_known(vector, out))
		err = -EBADMSG;
	engine_crypt(key, ENGINE_DECRYPT, ENGINE_SERIAL, out, out, VECTOR_SECTOR, 1,
		     vector->sector);
	if (memcmp(out, plain, VECTOR_SECTOR) != 0)
		err = -EBADMSG;
	engine_key_free(key);
	return err;
}

/* Encrypts by both, in both shapes, and decrypts again, across 2^32 and 2^64. buffer: 3 * BYTES. */
static bool agree(const struct engine_key *a, const struct engine_key *b, uint8_t *buffer)
{
	static const uint64_t first[] = {UINT32_MAX - 4, UINT64_MAX - 4};
	uint8_t *plain = buffer, *x = buffer + BYTES, *y = buffer + 2 * BYTES;
	bool same = true;

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		engine_crypt(a, ENGINE_ENCRYPT, ENGINE_MULTI, x, plain, VECTOR_SECTOR, SECTORS,
			     first[i]);
		engine_crypt(b, ENGINE_ENCRYPT, ENGINE_MULTI, y, plain, VECTOR_SECTOR, SECTORS,
			     first[i]);
		same &= !memcmp(x, y, BYTES);
		engine_crypt(a, ENGINE_ENCRYPT, ENGINE_SERIAL, y, plain, VECTOR_SECTOR, SERIAL,
			     first[i]);
		same &= !memcmp(x, y, SERIAL * VECTOR_SECTOR);
		engine_crypt(a, ENGINE_DECRYPT, ENGINE_MULTI, y, x, VECTOR_SECTOR, SECTORS,
			     first[i]);
		same &= !memcmp(y, plain, BYTES);
	}
	return same;
}

static int compare(const struct engine_tier *tier, const struct spec *spec, uint8_t *buffer)
{
	struct engine_key *key = NULL, *reference = NULL;
	uint8_t raw[VECTOR_KEY];
	int err;

	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t)(37 * i + 11);
	err = engine_key_new(&key, tier, spec, raw);
	if (!err)
		err = engine_key_new(&reference, &engine_tier_portable, spec, raw);
	if (!err && !agree(key, reference, buffer))
		err = -EBADMSG;
	engine_key_free(key);
	engine_key_free(reference);
	return err;
}

static int compare_all(const struct engine_tier *tier, char *what, size_t size)
{
	static const struct spec_kind xts = {.cipher = "aes", .mode = "xts", .iv = "plain64"};
	static const struct spec_kind essiv = {
		.cipher = "aes", .mode = "cbc", .iv = "essiv:sha256"};
	static const struct spec_kind plain = {.cipher = "aes", .mode = "cbc", .iv = "plain64"};
	static const struct spec specs[] = {
		{.kind = &xts, .key_bits = 256},   {.kind = &xts, .key_bits = 512},
		{.kind = &essiv, .key_bits = 128}, {.kind = &essiv, .key_bits = 256},
		{.kind = &plain, .key_bits = 192},
	};
	uint8_t *buffer = malloc(3 * BYTES);
	int err = 0;

	if (!buffer)
		return -ENOMEM;
	for (size_t i = 0; i < BYTES; i++)
		buffer[i] = (uint8_t)(i * i >> 3 ^ i);
	for (size_t i = 0; !err && i < sizeof(specs) / sizeof(specs[0]); i++) {
		err = compare(tier, &specs[i], buffer);
		if (err && what)
			snprintf(what, size, "aes-%s-%s/%u against portable", specs[i].kind->mode,
				 specs[i].kind->iv, specs[i].key_bits);
	}
	free(buffer);
	return err;
}

int engine_selftest(const struct engine_tier *tier, char *what, size_t size)
{
	int err;

	for (const struct engine_vector *vector = engine_vectors; vector->name; vector++) {
		err = known_answer(tier, vector);
		if (err) {
			if (what)
				snprintf(what, size, "%s", vector->name);
			return err;
		}
	}
	return compare_all(tier, what, size);
}
