/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sectors with a tag each, through OpenSSL, as dm-crypt and dm-integrity have them: the sector's
 * number and the IV are authenticated with the data (Linux drivers/md/dm-crypt.c,
 * crypt_convert_block_aead), and IVs that are random are kept with the tag. Also RC4.
 */
#ifndef DMCT_MEASURE_OPENSSL_AUTH_H
#define DMCT_MEASURE_OPENSSL_AUTH_H

#include "measure/backend.h"

struct auth;

/* As struct backend's functions of these names. */
int auth_open(struct auth **auth, const struct backend_cell *cell, const uint8_t *raw,
	      struct backend_error *error);
void auth_close(struct auth *auth);
/* In place. Decryption takes the tags that the last encryption made; -EBADMSG where one is wrong.
 */
int auth_crypt(struct auth *auth, enum engine_direction direction, uint8_t *data, uint64_t sector);
uint8_t *auth_stored(struct auth *auth, size_t i);
/*
 * Encryption is in place. Decryption is of one request's sectors, made at opening, into the buffer:
 * in place it would be the first time only that the tags are right.
 */
int auth_run(struct auth *auth, struct backend_buffer *buffer, uint64_t calls);

#endif
