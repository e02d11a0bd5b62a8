// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/auth.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Random bytes that are fetched at once: a call for each IV would cost more than some sectors. */
#define POOL 4096
/* The number of the first sector that is decrypted. */
#define SOURCE_SECTOR 8

struct stored {
	uint8_t bytes[AUTH_IV_MAX + AUTH_TAG_MAX]; /* IV, where it is kept, and tag */
};

struct auth {
	struct sealer sealer;
	enum engine_direction direction;
	size_t size, sector, iv_stored;
	struct stored *stored;        /* of the request that was encrypted last */
	struct stored *source_stored; /* of source */
	uint8_t *source;              /* a request's ciphertext; NULL for encryption */
	uint8_t pool[POOL];
	size_t pool_left;
};

static bool fill_pool(struct auth *auth)
{
	ssize_t n;

	for (size_t at = 0; at < sizeof(auth->pool); at += (size_t)n) {
		n = getrandom(auth->pool + at, sizeof(auth->pool) - at, 0);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return false;
	}
	auth->pool_left = sizeof(auth->pool);
	return true;
}

static bool random_iv(struct auth *auth, uint8_t *iv)
{
	if (auth->pool_left < auth->sealer.iv_size && !fill_pool(auth))
		return false;
	auth->pool_left -= auth->sealer.iv_size;
	memcpy(iv, auth->pool + auth->pool_left, auth->sealer.iv_size);
	return true;
}

/* The IV, behind the sector's number: the data that is authenticated beside a sector's own. */
static bool make_aad(struct auth *auth, uint8_t aad[8 + AUTH_IV_MAX], uint64_t sector,
		     const struct stored *stored)
{
	uint8_t *iv = aad + 8;
	sector = htole64(sector);
	memcpy(aad, &sector, 8);
	if (auth->iv_stored && stored) {
		memcpy(iv, stored->bytes, auth->sealer.iv_size);
		return true;
	}
	if (auth->iv_stored)
		return random_iv(auth, iv);
	memset(iv, 0, AUTH_IV_MAX);
	memcpy(iv, &sector, 8);
	return !auth->sealer.essiv || auth->sealer.essiv(auth->sealer.state, iv);
}

static int encrypt(struct auth *auth, struct stored *list, uint8_t *data, uint64_t sector)
{
	uint8_t aad[8 + AUTH_IV_MAX];
	int ret = 0;

	for (size_t i = 0; i < auth->size / auth->sector && !ret; i++) {
		struct stored *s = &list[i];

		if (!make_aad(auth, aad, sector, NULL))
			return -EIO;
		memcpy(s->bytes, aad + 8, auth->iv_stored);
		ret = auth->sealer.encrypt(auth->sealer.state, aad + 8, aad,
					   8 + auth->sealer.iv_size, data, data, auth->sector,
					   s->bytes + auth->iv_stored);
		data += auth->sector;
		sector += auth->sector / 512;
	}
	return ret;
}

static int decrypt(struct auth *auth, const struct stored *list, uint8_t *dst, const uint8_t *src,
		   uint64_t sector)
{
	uint8_t aad[8 + AUTH_IV_MAX];
	int ret = 0;

	for (size_t i = 0; i < auth->size / auth->sector && !ret; i++) {
		if (!make_aad(auth, aad, sector, &list[i]))
			return -EIO;
		ret = auth->sealer.decrypt(auth->sealer.state, aad + 8, aad,
					   8 + auth->sealer.iv_size, dst, src, auth->sector,
					   list[i].bytes + auth->iv_stored);
		dst += auth->sector;
		src += auth->sector;
		sector += auth->sector / 512;
	}
	return ret;
}

static int make_source(struct auth *auth)
{
	struct backend_buffer buffer = {.size = auth->size};

	auth->source = buffer.data = malloc(auth->size);
	auth->source_stored = calloc(auth->size / auth->sector, sizeof(*auth->source_stored));
	if (!auth->source || !auth->source_stored)
		return -ENOMEM;
	backend_buffer_fill(&buffer);
	return encrypt(auth, auth->source_stored, auth->source, SOURCE_SECTOR);
}

int auth_open(struct auth **out, const struct backend_cell *cell, const struct sealer *sealer,
	      struct backend_error *error)
{
	const struct spec *spec = &cell->spec;
	struct auth *auth = calloc(1, sizeof(*auth));
	int ret = -ENOMEM;

	if (!auth) {
		sealer->free(sealer->state);
		return backend_fail(error, ENOMEM, "out of memory");
	}
	auth->sealer = *sealer;
	auth->direction = cell->direction;
	auth->size = cell->size;
	auth->sector = backend_unit(spec, cell->size);
	auth->iv_stored = spec->kind->iv_stored;
	auth->stored = calloc(auth->size / auth->sector, sizeof(*auth->stored));
	if (auth->stored)
		ret = auth->direction == ENGINE_DECRYPT ? make_source(auth) : 0;
	if (!ret) {
		*out = auth;
		return 0;
	}
	auth_close(auth);
	return ret == -ENOMEM ? backend_fail(error, ENOMEM, "out of memory")
			      : backend_fail(error, -ret, "encryption fails");
}

void auth_close(struct auth *auth)
{
	if (!auth)
		return;
	auth->sealer.free(auth->sealer.state);
	free(auth->stored);
	free(auth->source_stored);
	free(auth->source);
	free(auth);
}

int auth_crypt(struct auth *auth, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	return direction == ENGINE_ENCRYPT ? encrypt(auth, auth->stored, data, sector)
					   : decrypt(auth, auth->stored, data, data, sector);
}

uint8_t *auth_stored(struct auth *auth, size_t i)
{
	return auth->stored[i].bytes;
}

int auth_run(struct auth *auth, struct backend_buffer *buffer, uint64_t calls)
{
	uint64_t sector;
	uint8_t *data;
	int ret = 0;

	while (calls-- && !ret) {
		data = backend_next(buffer, auth->size, &sector);
		ret = auth->direction == ENGINE_ENCRYPT ? encrypt(auth, auth->stored, data, sector)
							: decrypt(auth, auth->source_stored, data,
								  auth->source, SOURCE_SECTOR);
	}
	return ret;
}
