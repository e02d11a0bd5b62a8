/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GCM on a tier, within the engine: gcm.c dispatches to it, gcm_*.c make one each. */
#ifndef DMCT_ENGINE_GCM_TIER_H
#define DMCT_ENGINE_GCM_TIER_H

#include "engine/gcm.h"
#include "engine/key_schedule.h"

/* One message. */
struct gcm_job {
	const uint8_t *iv, *aad;
	size_t aad_len;
	uint8_t *dst;
	const uint8_t *src;
	size_t len;
	bool encrypt;
	bool one_by_one; /* block after block, for the comparison */
	uint8_t *tag;
};

struct gcm_tier {
	const char *name; /* of the struct engine_tier */
	size_t key_size;  /* at TIER_ALIGN */
	void (*set_key)(void *key, const struct aes_schedule *schedule);
	void (*crypt)(const void *key, const struct gcm_job *job);
};

#if defined(__x86_64__) || defined(__i386__)
extern const struct gcm_tier gcm_aesni;
extern const struct gcm_tier gcm_vaes256;
extern const struct gcm_tier gcm_vaes512;
#endif

#endif
