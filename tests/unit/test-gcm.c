// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine's AES-GCM: known answers on every tier, and against OpenSSL's on lengths, alignments
 * and keys of all kinds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gcm.h"
#include "facts/facts.h"
#include "tap.h"

#ifdef WITH_OPENSSL
#include "measure/openssl_seal.h"
#endif

#define LEN_MAX 9000

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void fill(uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)next();
}

static void test_forgery(const struct engine_tier *tier)
{
	uint8_t key[32], iv[GCM_IV], aad[20], data[4096], copy[4096], tag[GCM_TAG];
	struct engine_gcm *gcm;
	bool refused = true;

	fill(key, sizeof(key));
	fill(iv, sizeof(iv));
	fill(aad, sizeof(aad));
	fill(data, sizeof(data));
	if (!ok(!engine_gcm_new(&gcm, tier, 256, key), "%s: a key", engine_tier_name(tier)))
		return;
	engine_gcm_encrypt(gcm, iv, aad, sizeof(aad), data, data, sizeof(data), tag);
	for (size_t i = 0; i < sizeof(data); i += 97) {
		data[i] ^= (uint8_t)(1U << i % 8);
		refused &= engine_gcm_decrypt(gcm, iv, aad, sizeof(aad), copy, data, sizeof(data),
					      tag) == -EBADMSG;
		data[i] ^= (uint8_t)(1U << i % 8);
	}
	ok(refused, "%s: a changed bit of data is refused", engine_tier_name(tier));
	refused = true;
	for (size_t i = 0; i < GCM_TAG; i++) {
		tag[i] ^= (uint8_t)(1U << i % 8);
		refused &= engine_gcm_decrypt(gcm, iv, aad, sizeof(aad), copy, data, sizeof(data),
					      tag) == -EBADMSG;
		tag[i] ^= (uint8_t)(1U << i % 8);
	}
	aad[19] ^= 1;
	refused &= engine_gcm_decrypt(gcm, iv, aad, sizeof(aad), copy, data, sizeof(data), tag) ==
		   -EBADMSG;
	aad[19] ^= 1;
	iv[0] ^= 1;
	refused &= engine_gcm_decrypt(gcm, iv, aad, sizeof(aad), copy, data, sizeof(data), tag) ==
		   -EBADMSG;
	iv[0] ^= 1;
	ok(refused, "%s: so is one of the tag, the associated data or the IV",
	   engine_tier_name(tier));
	ok(!engine_gcm_decrypt(gcm, iv, aad, sizeof(aad), copy, data, sizeof(data), tag),
	   "%s: and the right ones are taken", engine_tier_name(tier));
	engine_gcm_free(gcm);
}

#ifdef WITH_OPENSSL
/* One message by both; where: of alignment. */
static bool agree(const struct engine_tier *tier, unsigned bits, size_t len, size_t aad_len,
		  size_t where)
{
	static uint8_t plain[LEN_MAX + 64], ours[LEN_MAX + 64], theirs[LEN_MAX + 64];
	uint8_t key[32], iv[GCM_IV], aad[600], tag[GCM_TAG], other[GCM_TAG];
	struct engine_gcm *gcm = NULL;
	struct seal *seal = NULL;
	const char *reason;
	struct status st;
	struct spec spec;
	bool same;

	fill(key, sizeof(key));
	fill(iv, sizeof(iv));
	fill(aad, aad_len);
	fill(plain, len);
	memmove(plain + where, plain, len);
	if (spec_parse(&spec, bits == 256 ? "aes-gcm-random/256+aead" : "aes-gcm-random/128+aead",
		       &st) ||
	    engine_gcm_new(&gcm, tier, bits, key) || seal_new(&seal, &spec, key, &reason))
		return false;
	engine_gcm_encrypt(gcm, iv, aad, aad_len, ours + where, plain + where, len, tag);
	same = !seal_encrypt(seal, iv, aad, aad_len, theirs, plain + where, len, other) &&
	       !memcmp(ours + where, theirs, len) && !memcmp(tag, other, GCM_TAG);
	/* In place. */
	same &= !engine_gcm_decrypt(gcm, iv, aad, aad_len, ours + where, ours + where, len, tag) &&
		!memcmp(ours + where, plain + where, len);
	engine_gcm_free(gcm);
	seal_free(seal);
	return same;
}

static void test_openssl(const struct engine_tier *tier)
{
	const char *name = engine_tier_name(tier);
	size_t wrong = 0, n = 0;

	for (unsigned bits = 128; bits <= 256; bits += 128) {
		for (size_t len = 0; len <= 1100; len += len < 300 ? 1 : 37, n++)
			wrong += !agree(tier, bits, len, 20, len % 17);
		for (size_t aad = 0; aad <= 600; aad += 23, n++)
			wrong += !agree(tier, bits, 512, aad, 0);
		for (size_t i = 0; i < 60; i++, n++)
			wrong += !agree(tier, bits, next() % LEN_MAX, next() % 600, next() % 64);
	}
	ok(!wrong, "%s: as OpenSSL has it, %zu messages (%zu differ)", name, n, wrong);
}
#endif

int main(void)
{
	struct facts facts;
	struct status st;

	if (facts_probe(&facts, NULL, NULL, &st))
		return 1;
	for (size_t i = 0; engine_tiers[i]; i++) {
		const struct engine_tier *tier = engine_tiers[i];

		if (!engine_gcm_on(tier)) {
			ok(engine_gcm_selftest(tier) == -EOPNOTSUPP, "%s has none, and says so",
			   engine_tier_name(tier));
			continue;
		}
		if (!engine_tier_usable(tier, &facts.cpu, NULL, 0)) {
			tap_skip("this CPU cannot run %s", engine_tier_name(tier));
			continue;
		}
		ok(!engine_gcm_selftest(tier), "%s: known answers", engine_tier_name(tier));
		test_forgery(tier);
#ifdef WITH_OPENSSL
		test_openssl(tier);
#endif
	}
	facts_free(&facts);
	return tap_done();
}
