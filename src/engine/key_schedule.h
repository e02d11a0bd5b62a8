/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AES key expansion (FIPS 197, 5.2), in constant time. */
#ifndef DMCT_ENGINE_KEY_SCHEDULE_H
#define DMCT_ENGINE_KEY_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#define AES_BLOCK            16
#define AES_ROUNDS_MAX       14
#define AES_ROUNDS(key_bits) ((key_bits) / 32 + 6)

/* Round keys in FIPS 197's byte order: what each tier makes its own form from. */
struct aes_schedule {
	uint8_t key[AES_ROUNDS_MAX + 1][AES_BLOCK];
	unsigned rounds; /* 10, 12 or 14 */
};

/* key_len: 16, 24 or 32 bytes. The caller wipes *schedule. */
void aes_expand(struct aes_schedule *schedule, const uint8_t *key, size_t key_len);

#endif
