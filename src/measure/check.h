/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether what is measured also comes out right.
 *
 * For specs that the engine has, a cell's output is compared byte for byte with that of the
 * portable tier: encryption's with its ciphertext, decryption's, from that ciphertext, with the
 * plaintext. Of a long request that is its first, middle and last sectors, with their numbers: to
 * compare all of 16 MiB would take longer than to measure them. For the others (Adiantum, Serpent
 * …), of which there is no second implementation here, the check is that decryption undoes
 * encryption, that every 16-byte block of the ciphertext differs from the plaintext, and that
 * another sector number gives another ciphertext.
 *
 * Of specs with an integrity mode, one changed bit of the data, of the tag or of a stored IV, or
 * another sector number, must be refused besides. XTS under a MAC is compared with the portable
 * tier's XTS.
 */
#ifndef DMCT_MEASURE_CHECK_H
#define DMCT_MEASURE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "measure/backend.h"

/* Bytes of key that any spec needs at most. */
#define CHECK_KEY_MAX 96

/* The key that everything is measured with: fixed, so that outputs can be compared. Nothing is
 * ever protected by it. */
extern const uint8_t check_key[CHECK_KEY_MAX];

/* Bytes of a request that are compared at most: all of it, or else as much of its beginning, its
 * middle and its end. */
#define CHECK_BYTES (64U << 10)
#define CHECK_PARTS 3

struct check_part {
	size_t offset, len; /* whole sectors of the request */
};

/* What the output must be for a spec with its sector size and a request size: shared by all cells
 * that have these. */
struct check_pattern {
	struct spec spec;
	size_t size;
	struct check_part parts[CHECK_PARTS];
	size_t n_parts, total; /* total: bytes of the parts */
	uint8_t *plain;        /* of the parts, one after the other */
	uint8_t *cipher;       /* NULL for specs that the engine lacks */
	uint8_t *unsealed; /* what the engine makes of it without the MAC, where that is the same
			      ciphertext; else NULL */
};

struct check_patterns {
	struct check_pattern *list;
	size_t n;
};

/* Number of the first sector that is checked: beyond 32 bits, where a truncated IV shows. */
#define CHECK_SECTOR 0x123456780ULL

/* Makes the pattern of a spec and size unless it is there. Pointers into *patterns->list do not
 * outlive the next call. Returns its index or -ENOMEM. */
int check_prepare(struct check_patterns *patterns, const struct spec *spec, size_t size);
void check_free(struct check_patterns *patterns);

/*
 * The two halves of a check around one request of the pattern's size at CHECK_SECTOR: puts the
 * input into data, and compares the output, 0 or -EBADMSG. For patterns with a cipher.
 */
void check_put(const struct check_pattern *pattern, enum engine_direction direction, uint8_t *data);
int check_compare(const struct check_pattern *pattern, enum engine_direction direction,
		  const uint8_t *data);

/*
 * Checks a direction of a state in `data`, room for the pattern's size that is overwritten. Returns
 * 0, -EBADMSG when the output is wrong, or what the backend returned.
 */
int check_state(const struct check_pattern *pattern, const struct backend *backend, void *state,
		enum engine_direction direction, uint8_t *data);

#endif
