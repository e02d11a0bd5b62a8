// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/gcm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gcm_tier.h"
#include "engine/tier.h"

struct engine_gcm {
	const struct gcm_tier *tier;
	size_t size; /* of the whole allocation */
	void *key;
};

static const struct gcm_tier *const tiers[] = {
#if defined(__x86_64__) || defined(__i386__)
	&gcm_vaes512, &gcm_vaes256, &gcm_aesni,
#endif
	NULL};

static const struct gcm_tier *find(const struct engine_tier *tier)
{
	for (size_t i = 0; tiers[i]; i++)
		if (!strcmp(tiers[i]->name, engine_tier_name(tier)))
			return tiers[i];
	return NULL;
}

bool engine_gcm_supports(const struct spec *spec)
{
	return !strcmp(spec->kind->cipher, "aes") && !strcmp(spec->kind->mode, "gcm") &&
	       !strcmp(spec->kind->iv, "random") &&
	       (spec->key_bits == 128 || spec->key_bits == 256);
}

bool engine_gcm_on(const struct engine_tier *tier)
{
	return find(tier) != NULL;
}

int engine_gcm_new(struct engine_gcm **out, const struct engine_tier *tier, unsigned key_bits,
		   const uint8_t *raw)
{
	const size_t head = (sizeof(struct engine_gcm) + TIER_ALIGN - 1) / TIER_ALIGN * TIER_ALIGN;
	const struct gcm_tier *on = find(tier);
	struct aes_schedule schedule;
	struct engine_gcm *gcm;
	size_t size;

	if (!on)
		return -EOPNOTSUPP;
	size = head + (on->key_size + TIER_ALIGN - 1) / TIER_ALIGN * TIER_ALIGN;
	gcm = aligned_alloc(TIER_ALIGN, size);
	if (!gcm)
		return -ENOMEM;
	*gcm = (struct engine_gcm){.tier = on, .size = size, .key = (uint8_t *)gcm + head};
	aes_expand(&schedule, raw, key_bits / 8);
	on->set_key(gcm->key, &schedule);
	explicit_bzero(&schedule, sizeof(schedule));
	*out = gcm;
	return 0;
}

void engine_gcm_free(struct engine_gcm *gcm)
{
	if (!gcm)
		return;
	explicit_bzero(gcm, gcm->size);
	free(gcm);
}

void engine_gcm_encrypt(const struct engine_gcm *gcm, const uint8_t iv[GCM_IV], const uint8_t *aad,
			size_t aad_len, uint8_t *dst, const uint8_t *src, size_t len,
			uint8_t tag[GCM_TAG])
{
	const struct gcm_job job = {.iv = iv,
				    .aad = aad,
				    .aad_len = aad_len,
				    .dst = dst,
				    .src = src,
				    .len = len,
				    .encrypt = true,
				    .tag = tag};

	gcm->tier->crypt(gcm->key, &job);
}

int engine_gcm_decrypt(const struct engine_gcm *gcm, const uint8_t iv[GCM_IV], const uint8_t *aad,
		       size_t aad_len, uint8_t *dst, const uint8_t *src, size_t len,
		       const uint8_t tag[GCM_TAG])
{
	uint8_t is[GCM_TAG], wrong = 0;
	const struct gcm_job job = {.iv = iv,
				    .aad = aad,
				    .aad_len = aad_len,
				    .dst = dst,
				    .src = src,
				    .len = len,
				    .tag = is};

	gcm->tier->crypt(gcm->key, &job);
	for (size_t i = 0; i < GCM_TAG; i++)
		wrong |= is[i] ^ tag[i];
	return wrong ? -EBADMSG : 0;
}

/* The GCM specification's test cases 4 and 16 (McGrew & Viega, 2005; NIST): key, IV, associated
 * data and plaintext are the same, the second key twice as long. */
static const uint8_t case_key[32] = {0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c,
				     0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08,
				     0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c,
				     0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
static const uint8_t case_iv[GCM_IV] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce,
					0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const uint8_t case_aad[20] = {0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed,
				     0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2};
static const uint8_t case_plain[60] = {
	0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26,
	0x9a, 0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34, 0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31,
	0x8a, 0x72, 0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24, 0x49,
	0xa6, 0xb5, 0x25, 0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39};
static const uint8_t case_tags[2][GCM_TAG] = {{0x5b, 0xc9, 0x4f, 0xbc, 0x32, 0x21, 0xa5, 0xdb, 0x94,
					       0xfa, 0xe9, 0x5a, 0xe7, 0x12, 0x1a, 0x47},
					      {0x76, 0xfc, 0x6e, 0xce, 0x0f, 0x4e, 0x17, 0x68, 0xcd,
					       0xdf, 0x88, 0x53, 0xbb, 0x2d, 0x55, 0x1b}};

/* The tag is of the ciphertext, so that it proves this, too; and decryption by the plaintext. */
static bool known_answer(const struct engine_gcm *gcm, const uint8_t want[GCM_TAG])
{
	uint8_t data[sizeof(case_plain)], tag[GCM_TAG];

	engine_gcm_encrypt(gcm, case_iv, case_aad, sizeof(case_aad), data, case_plain,
			   sizeof(case_plain), tag);
	return !memcmp(tag, want, GCM_TAG) &&
	       !engine_gcm_decrypt(gcm, case_iv, case_aad, sizeof(case_aad), data, data,
				   sizeof(data), tag) &&
	       !memcmp(data, case_plain, sizeof(data));
}

/* Whole pipelines of every tier, and a rest. */
#define LONG 1335

static bool same_at_once(const struct engine_gcm *gcm, uint8_t *buffer)
{
	uint8_t *plain = buffer, *at_once = buffer + LONG, *singly = buffer + 2 * LONG;
	uint8_t tag[GCM_TAG], other[GCM_TAG];
	const struct gcm_job job = {.iv = case_iv,
				    .aad = case_aad,
				    .aad_len = sizeof(case_aad),
				    .dst = singly,
				    .src = plain,
				    .len = LONG,
				    .encrypt = true,
				    .one_by_one = true,
				    .tag = other};

	for (size_t i = 0; i < LONG; i++)
		plain[i] = (uint8_t)(i * i >> 3 ^ i);
	engine_gcm_encrypt(gcm, case_iv, case_aad, sizeof(case_aad), at_once, plain, LONG, tag);
	gcm->tier->crypt(gcm->key, &job);
	return !memcmp(at_once, singly, LONG) && !memcmp(tag, other, GCM_TAG) &&
	       !engine_gcm_decrypt(gcm, case_iv, case_aad, sizeof(case_aad), at_once, at_once, LONG,
				   tag) &&
	       !memcmp(at_once, plain, LONG);
}

int engine_gcm_selftest(const struct engine_tier *tier)
{
	uint8_t *buffer = malloc(3 * LONG);
	struct engine_gcm *gcm = NULL;
	int ret = buffer ? 0 : -ENOMEM;

	for (unsigned i = 0; i < 2 && !ret; i++) {
		ret = engine_gcm_new(&gcm, tier, 128 << i, case_key);
		if (ret)
			break;
		if (!known_answer(gcm, case_tags[i]) || !same_at_once(gcm, buffer))
			ret = -EBADMSG;
		engine_gcm_free(gcm);
	}
	free(buffer);
	return ret;
}
