/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AES-GCM (NIST SP 800-38D) with IVs of 96 bits, as dm-crypt and dm-integrity take it a sector at a
 * time: what this CPU can do for an authenticated disk. In constant time. On the tiers that have
 * both AES and carry-less multiplication.
 */
#ifndef DMCT_ENGINE_GCM_H
#define DMCT_ENGINE_GCM_H

#include "engine/engine.h"

#define GCM_IV  12
#define GCM_TAG 16

struct engine_gcm;

/* Whether the engine implements the spec: AES-GCM with 128 or 256 bits. */
bool engine_gcm_supports(const struct spec *spec);
bool engine_gcm_on(const struct engine_tier *tier);

/*
 * key_bits: 128 or 256, so many bits at raw. Returns 0, -EOPNOTSUPP when the tier has no GCM,
 * -ENOMEM. engine_gcm_free() wipes the keys and accepts NULL.
 */
int engine_gcm_new(struct engine_gcm **gcm, const struct engine_tier *tier, unsigned key_bits,
		   const uint8_t *raw);
void engine_gcm_free(struct engine_gcm *gcm);

/* dst may be src. Of any length up to 2^36 - 32 bytes; no key may see an IV twice. */
void engine_gcm_encrypt(const struct engine_gcm *gcm, const uint8_t iv[GCM_IV], const uint8_t *aad,
			size_t aad_len, uint8_t *dst, const uint8_t *src, size_t len,
			uint8_t tag[GCM_TAG]);
/* 0, or -EBADMSG when the tag is not that of the rest; dst then holds nothing of use. */
int engine_gcm_decrypt(const struct engine_gcm *gcm, const uint8_t iv[GCM_IV], const uint8_t *aad,
		       size_t aad_len, uint8_t *dst, const uint8_t *src, size_t len,
		       const uint8_t tag[GCM_TAG]);

/*
 * Known answers (the GCM specification's test cases 4 and 16), and that many blocks at once come
 * out as one after the other do. 0, -ENOMEM, -EOPNOTSUPP, or -EBADMSG. Takes microseconds.
 */
int engine_gcm_selftest(const struct engine_tier *tier);

#endif
