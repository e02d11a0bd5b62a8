/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known answers for the engine: facts from the standards, checked against OpenSSL by its test. */
#ifndef DMCT_ENGINE_VECTORS_H
#define DMCT_ENGINE_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#define VECTOR_SECTOR 512
#define VECTOR_KEY    64 /* bytes at most */

/*
 * One sector of 512 bytes. In both modes a block's ciphertext depends on nothing behind it, so a
 * vector shorter than a sector is tested as the sector's beginning.
 */
struct engine_vector {
	const char *name;
	const char *mode, *iv; /* as in struct spec_kind */
	const char *key;       /* these four in hexadecimal */
	const char *plain;     /* padded with zeros; NULL: 00 01 … ff, twice */
	const char *cipher;    /* the beginning */
	const char *digest;    /* SHA-256 of the whole sector's ciphertext; NULL: not known */
	uint64_t sector;
};

extern const struct engine_vector engine_vectors[]; /* the last one's name is NULL */

/* Digits to bytes; returns their number, at most size. */
size_t vector_bytes(uint8_t *to, size_t size, const char *hex);
/* The whole sector before encryption. */
void vector_plain(uint8_t sector[VECTOR_SECTOR], const struct engine_vector *vector);

#endif
