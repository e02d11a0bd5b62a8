// SPDX-License-Identifier: GPL-2.0-or-later
/* intel-ipsec-mb's AES-GCM, by its direct calls: a tag a sector, as the OpenSSL backend has them.
 */
#ifdef WITH_IPSECMB
#include <endian.h>
#include <errno.h>
#include <intel-ipsec-mb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bench-engine.h"

#define IV_SIZE       12
#define TAG_SIZE      16
#define POOL          4092
#define SOURCE_SECTOR 8

struct stored {
	uint8_t iv[IV_SIZE], tag[TAG_SIZE];
};

struct state {
	struct gcm_key_data key;
	IMB_MGR *manager;
	aes_gcm_enc_dec_t encrypt, decrypt;
	size_t size, sector;
	enum engine_direction direction;
	struct stored *stored, *source_stored;
	uint8_t *source;
	uint8_t pool[POOL];
	size_t pool_left;
};

static bool gcm_implements(const struct spec *spec)
{
	return !strcmp(spec->kind->mode, "gcm");
}

static void gcm_describe(const struct backend_cell *cell, char *tier, size_t size)
{
	(void)cell;
	snprintf(tier, size, "%s", imb_get_version_str());
}

static void gcm_close(void *arg)
{
	struct state *state = arg;

	if (state->manager)
		free_mb_mgr(state->manager);
	free(state->stored);
	free(state->source_stored);
	free(state->source);
	free(state);
}

static void make_aad(uint8_t aad[8 + IV_SIZE], uint64_t sector, const uint8_t *iv)
{
	sector = htole64(sector);
	memcpy(aad, &sector, 8);
	memcpy(aad + 8, iv, IV_SIZE);
}

static int encrypt(struct state *state, struct stored *list, uint8_t *data, uint64_t sector)
{
	struct gcm_context_data context;
	uint8_t aad[8 + IV_SIZE];

	for (size_t i = 0; i < state->size / state->sector; i++) {
		if (!state->pool_left) {
			for (size_t at = 0; at < POOL; at += 256)
				if (getrandom(state->pool + at, POOL - at < 256 ? POOL - at : 256,
					      0) < 0)
					return -errno;
			state->pool_left = POOL;
		}
		state->pool_left -= IV_SIZE;
		memcpy(list[i].iv, state->pool + state->pool_left, IV_SIZE);
		make_aad(aad, sector, list[i].iv);
		state->encrypt(&state->key, &context, data, data, state->sector, list[i].iv, aad,
			       sizeof(aad), list[i].tag, TAG_SIZE);
		data += state->sector;
		sector += state->sector / 512;
	}
	return 0;
}

static int decrypt(struct state *state, const struct stored *list, uint8_t *dst, const uint8_t *src,
		   uint64_t sector)
{
	struct gcm_context_data context;
	uint8_t aad[8 + IV_SIZE], tag[TAG_SIZE], wrong = 0;

	for (size_t i = 0; i < state->size / state->sector; i++) {
		make_aad(aad, sector, list[i].iv);
		state->decrypt(&state->key, &context, dst, src, state->sector, list[i].iv, aad,
			       sizeof(aad), tag, TAG_SIZE);
		for (size_t t = 0; t < TAG_SIZE; t++)
			wrong |= tag[t] ^ list[i].tag[t];
		dst += state->sector;
		src += state->sector;
		sector += state->sector / 512;
	}
	return wrong ? -EBADMSG : 0;
}

static int gcm_open(void **out, const struct backend_cell *cell, const uint8_t *raw,
		    struct backend_error *error)
{
	struct state *state = aligned_alloc(64, (sizeof(*state) + 63) / 64 * 64);
	const size_t n = cell->size / cell->spec.sector;
	struct backend_buffer buffer = {.size = cell->size};
	IMB_ARCH arch;

	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	memset(state, 0, sizeof(*state));
	state->manager = alloc_mb_mgr(0);
	state->stored = calloc(n, sizeof(*state->stored));
	state->source_stored = calloc(n, sizeof(*state->source_stored));
	state->source = buffer.data = malloc(cell->size);
	if (!state->manager || !state->stored || !state->source_stored || !state->source) {
		gcm_close(state);
		return backend_fail(error, ENOMEM, "out of memory");
	}
	init_mb_mgr_auto(state->manager, &arch);
	state->direction = cell->direction;
	state->size = cell->size;
	state->sector = cell->spec.sector;
	if (cell->spec.key_bits == 256)
		IMB_AES256_GCM_PRE(state->manager, raw, &state->key);
	else
		IMB_AES128_GCM_PRE(state->manager, raw, &state->key);
	state->encrypt = cell->spec.key_bits == 256 ? state->manager->gcm256_enc
						    : state->manager->gcm128_enc;
	state->decrypt = cell->spec.key_bits == 256 ? state->manager->gcm256_dec
						    : state->manager->gcm128_dec;
	backend_buffer_fill(&buffer);
	if (encrypt(state, state->source_stored, state->source, SOURCE_SECTOR)) {
		gcm_close(state);
		return backend_fail(error, EIO, "no random bytes");
	}
	*out = state;
	return 0;
}

static int gcm_crypt(void *arg, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	struct state *state = arg;

	return direction == ENGINE_ENCRYPT ? encrypt(state, state->stored, data, sector)
					   : decrypt(state, state->stored, data, data, sector);
}

static uint8_t *gcm_stored(void *arg, size_t i)
{
	struct state *state = arg;

	return state->stored[i].iv;
}

static int gcm_run(void *arg, struct backend_buffer *buffer, uint64_t calls)
{
	struct state *state = arg;
	uint64_t sector;
	uint8_t *data;
	int ret = 0;

	while (calls-- && !ret) {
		data = backend_next(buffer, state->size, &sector);
		ret = state->direction == ENGINE_ENCRYPT
			      ? encrypt(state, state->stored, data, sector)
			      : decrypt(state, state->source_stored, data, state->source,
					SOURCE_SECTOR);
	}
	return ret;
}

const struct backend backend_ipsecmb_gcm = {
	.engine = MEASURE_CPU,
	.whole_calls = true,
	.implements = gcm_implements,
	.describe = gcm_describe,
	.open = gcm_open,
	.crypt = gcm_crypt,
	.run = gcm_run,
	.stored = gcm_stored,
	.close = gcm_close,
};
#endif
