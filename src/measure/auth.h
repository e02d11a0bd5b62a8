/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sectors with a tag each, as dm-crypt and dm-integrity have them: the sector's number and the IV
 * are authenticated with the data (Linux drivers/md/dm-crypt.c, crypt_convert_block_aead), and IVs
 * that are random, drawn for each sector, are kept with the tag. Also RC4.
 */
#ifndef DMCT_MEASURE_AUTH_H
#define DMCT_MEASURE_AUTH_H

#include "measure/backend.h"

#define AUTH_IV_MAX  16
#define AUTH_TAG_MAX 32

/* What encrypts one message: OpenSSL, or the engine. */
struct sealer {
	void *state;
	size_t iv_size;
	/*
	 * dst may be src. A tag of spec.kind->tag bytes comes out, or is compared with what it
	 * should be, in constant time: -EBADMSG, and dst then holds nothing of use. Another -errno
	 * when the library fails.
	 */
	int (*encrypt)(void *state, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
		       uint8_t *dst, const uint8_t *src, size_t len, uint8_t *tag);
	int (*decrypt)(void *state, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
		       uint8_t *dst, const uint8_t *src, size_t len, const uint8_t *tag);
	/* From the sector's number to ESSIV's IV, in place; NULL for other IVs. */
	bool (*essiv)(void *state, uint8_t iv[AUTH_IV_MAX]);
	void (*free)(void *state);
};

struct auth;

/*
 * As struct backend's functions of these names. auth_open() takes *sealer over, also when it fails.
 */
int auth_open(struct auth **auth, const struct backend_cell *cell, const struct sealer *sealer,
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
