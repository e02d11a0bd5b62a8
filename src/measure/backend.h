/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a layer must be able to do to be measured: one struct of functions each. */
#ifndef DMCT_MEASURE_BACKEND_H
#define DMCT_MEASURE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "facts/facts.h"
#include "measure/measure.h"
#include "spec/spec.h"

/* A thread's memory, walked from end to end and over again. */
struct backend_buffer {
	uint8_t *data;
	size_t size;
	size_t at;       /* where the next request begins */
	uint64_t sector; /* its number, in units of 512 bytes */
};

/* Fills with bytes that look random: some memory and buses notice zeros. */
void backend_buffer_fill(struct backend_buffer *buffer);

/* The next `size` bytes (at most the buffer's). */
static inline uint8_t *backend_next(struct backend_buffer *buffer, size_t size, uint64_t *sector)
{
	uint8_t *data;

	if (size > buffer->size - buffer->at)
		buffer->at = 0;
	data = buffer->data + buffer->at;
	*sector = buffer->sector;
	buffer->at += size;
	buffer->sector += size < 512 ? 1 : size / 512;
	return data;
}

struct backend_error {
	char code[24];
	char reason[200];
};

/* Fills *error with errno's name and a sentence without a full stop; returns -err. */
int backend_fail(struct backend_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What one cell asks of a backend. */
struct backend_cell {
	struct spec spec; /* with its sector size */
	enum engine_direction direction;
	enum engine_shape shape;
	size_t size;    /* bytes a request: whole sectors */
	unsigned depth; /* requests in flight at once */
	unsigned flags; /* of the dm backend: enum measure_flag */
	enum measure_path path;
	const struct engine_tier *tier; /* of the cpu backend */
	const struct facts *facts;
};

struct backend {
	enum measure_engine engine;
	bool whole_calls; /* a request may be many sectors; otherwise it is exactly one */
	bool may_stall;   /* requests are answered by something that might never do so */
	bool in_rounds;   /* run() counts rounds of the cell's depth, not requests */
	bool (*implements)(const struct spec *spec);
	/* The text of a result's `tier`. */
	void (*describe)(const struct backend_cell *cell, char *tier, size_t size);
	/* One state per thread. raw: spec_volume_key_bits() of key. */
	int (*open)(void **state, const struct backend_cell *cell, const uint8_t *raw,
		    struct backend_error *error);
	/* One request of the cell's size, in place, in any direction. NULL where there is check().
	 */
	int (*crypt)(void *state, enum engine_direction direction, uint8_t *data, uint64_t sector);
	/* Instead of crypt() where a single request's output cannot be had in place: 0, or -EBADMSG
	 * when the output is wrong. data: room for a request. */
	int (*check)(void *state, uint8_t *data);
	/* May be NULL: what is known of a cell once it is open. tier: as describe()'s; *queue: how
	 * its requests are kept in flight. */
	void (*details)(const void *state, char *tier, size_t tier_size, const char **queue);
	/* `calls` requests in the cell's direction along the buffer. */
	int (*run)(void *state, struct backend_buffer *buffer, uint64_t calls);
	/*
	 * Of specs with an integrity mode: the spec_stored() bytes of IV and tag of the i-th sector
	 * of the request that crypt() encrypted last, which decryption takes.
	 */
	uint8_t *(*stored)(void *state, size_t i);
	void (*close)(void *state);
};

/* The kernel's cipher that does nothing, by which a crossing is measured alone. No spec of users'.
 */
extern const struct spec_kind backend_null_kind;

/* What has one IV: a sector, or, where the spec says none, the whole request. */
static inline size_t backend_unit(const struct spec *spec, size_t size)
{
	return spec->sector ? spec->sector : size;
}

extern const struct backend backend_cpu;
extern const struct backend backend_dm;
#ifdef WITH_KCAPI
extern const struct backend backend_afalg;
#endif
#ifdef WITH_OPENSSL
extern const struct backend backend_openssl;
#endif

/* The backend of an engine, or NULL with the reason why this program has none. */
const struct backend *backend_find(enum measure_engine engine, const char **reason);

#endif
