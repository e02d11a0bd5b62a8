/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 (FIPS 180-4) of a short message: the hash of ESSIV. */
#ifndef DMCT_ENGINE_SHA256_H
#define DMCT_ENGINE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32

/* In constant time with regard to the bytes. Leaves nothing of them on the stack. */
void sha256(uint8_t digest[SHA256_SIZE], const uint8_t *message, size_t len);

#endif
