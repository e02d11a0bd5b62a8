/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to AF_ALG on sockets of their own, so that several are in flight, each with its own IV.
 *
 * libkcapi's asynchronous calls give all requests of a call one IV, and its others cut what is
 * longer than 16 pages into pieces with one IV each: neither is what a disk's request is. The
 * kernel's side: Documentation/crypto/userspace-if.rst, and asynchronous I/O as io_submit(2) has
 * it.
 */
#ifndef DMCT_MEASURE_AFALG_RING_H
#define DMCT_MEASURE_AFALG_RING_H

#include <stddef.h>
#include <stdint.h>

#include "measure/backend.h"

#ifndef AF_ALG
#define AF_ALG 38
#endif
#ifndef SOL_ALG
#define SOL_ALG 279
#endif

/* A socket of the kernel's algorithm of that type ("skcipher", "aead") and name, without a key; or
 * -errno. */
int afalg_bind(const char *type, const char *name);

/* Lets a request socket take `size` bytes at once: what is more than its buffer would wait for a
 * reader that is this thread itself. 0, or -EMSGSIZE with *error. */
int afalg_make_room(int fd, size_t size, struct backend_error *error);

struct afalg_ring;

/* What one request is about. */
struct afalg_request {
	uint8_t *data; /* in place */
	const uint8_t *iv;
};

/*
 * Opens `depth` request sockets of the kernel's algorithm `name` for requests of `size` bytes. 0,
 * or -errno with *error: what is missing. afalg_ring_free() accepts NULL.
 */
int afalg_ring_new(struct afalg_ring **ring, const struct backend_cell *cell, const char *name,
		   const uint8_t *key, size_t iv_size, struct backend_error *error);
void afalg_ring_free(struct afalg_ring *ring);

/* Hands over n requests (at most the depth) and waits for all. 0, -errno, or -EMSGSIZE when less
 * came back than was sent. */
int afalg_ring_run(struct afalg_ring *ring, enum engine_direction direction,
		   const struct afalg_request *requests, unsigned n);

/* Bytes that a new request socket takes at once; 0 when there is none to be had. */
size_t afalg_send_buffer(void);

/* Whether a new pipe holds so many bytes, wherever in a page they begin. */
bool afalg_can_splice(size_t size);

#endif
