// SPDX-License-Identifier: GPL-2.0-or-later
/* The in-process engine. A request is a call of any number of consecutive sectors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gcm.h"
#include "measure/auth.h"
#include "measure/backend.h"

struct state {
	struct auth *auth; /* of AES-GCM: the rest is then not used */
	struct engine_key *key;
	enum engine_direction direction;
	enum engine_shape shape;
	size_t size, sector, count;
};

static void cpu_describe(const struct backend_cell *cell, char *tier, size_t size)
{
	snprintf(tier, size, "%s", engine_tier_name(cell->tier));
}

static bool cpu_implements(const struct spec *spec)
{
	return engine_supports(spec) || engine_gcm_supports(spec);
}

static int gcm_encrypt(void *state, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
		       uint8_t *dst, const uint8_t *src, size_t len, uint8_t *tag)
{
	engine_gcm_encrypt(state, iv, aad, aad_len, dst, src, len, tag);
	return 0;
}

static int gcm_decrypt(void *state, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
		       uint8_t *dst, const uint8_t *src, size_t len, const uint8_t *tag)
{
	return engine_gcm_decrypt(state, iv, aad, aad_len, dst, src, len, tag);
}

static void gcm_free(void *state)
{
	engine_gcm_free(state);
}

/* There is no other implementation here to compare with, so known answers come first. */
static int open_gcm(void **out, const struct backend_cell *cell, const uint8_t *raw,
		    struct backend_error *error)
{
	struct sealer sealer = {.iv_size = GCM_IV,
				.encrypt = gcm_encrypt,
				.decrypt = gcm_decrypt,
				.free = gcm_free};
	const char *tier = engine_tier_name(cell->tier);
	struct engine_gcm *gcm = NULL;
	struct state *state;
	int ret;

	if (!engine_gcm_on(cell->tier))
		return backend_fail(error, EOPNOTSUPP, "the tier %s has no AES-GCM", tier);
	ret = engine_gcm_selftest(cell->tier);
	if (ret == -EBADMSG) {
		backend_fail(error, EBADMSG, "AES-GCM on the tier %s fails its known-answer test",
			     tier);
		snprintf(error->code, sizeof(error->code), "mismatch");
		return ret;
	}
	state = calloc(1, sizeof(*state));
	if (ret || !state)
		goto out;
	ret = engine_gcm_new(&gcm, cell->tier, cell->spec.key_bits, raw);
	sealer.state = gcm;
	if (!ret)
		ret = auth_open(&state->auth, cell, &sealer, error);
	if (!ret) {
		*out = state;
		return 0;
	}
out:
	free(state);
	return *error->code ? ret : backend_fail(error, ENOMEM, "out of memory");
}

static int open_plain(void **out, const struct backend_cell *cell, const uint8_t *raw,
		      struct backend_error *error)
{
	struct state *state = calloc(1, sizeof(*state));
	int ret;

	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	state->direction = cell->direction;
	state->shape = cell->shape;
	state->size = cell->size;
	state->sector = backend_unit(&cell->spec, cell->size);
	state->count = cell->size / state->sector;
	ret = engine_key_new(&state->key, cell->tier, &cell->spec, raw);
	if (ret) {
		free(state);
		return backend_fail(error, -ret, "the key could not be set: %s", strerror(-ret));
	}
	*out = state;
	return 0;
}

static int cpu_open(void **out, const struct backend_cell *cell, const uint8_t *raw,
		    struct backend_error *error)
{
	return engine_gcm_supports(&cell->spec) ? open_gcm(out, cell, raw, error)
						: open_plain(out, cell, raw, error);
}

static int cpu_crypt(void *arg, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	const struct state *state = arg;

	if (state->auth)
		return auth_crypt(state->auth, direction, data, sector);
	engine_crypt(state->key, direction, state->shape, data, data, state->sector, state->count,
		     sector);
	return 0;
}

static int cpu_run(void *arg, struct backend_buffer *buffer, uint64_t calls)
{
	const struct state *state = arg;
	uint64_t sector;
	uint8_t *data;

	if (state->auth)
		return auth_run(state->auth, buffer, calls);
	while (calls--) {
		data = backend_next(buffer, state->size, &sector);
		cpu_crypt(arg, state->direction, data, sector);
	}
	return 0;
}

static void cpu_close(void *arg)
{
	struct state *state = arg;

	auth_close(state->auth);
	engine_key_free(state->key);
	free(state);
}

static uint8_t *cpu_stored(void *arg, size_t i)
{
	const struct state *state = arg;

	return auth_stored(state->auth, i);
}

const struct backend backend_cpu = {
	.engine = MEASURE_CPU,
	.whole_calls = true,
	.implements = cpu_implements,
	.describe = cpu_describe,
	.open = cpu_open,
	.crypt = cpu_crypt,
	.run = cpu_run,
	.stored = cpu_stored,
	.close = cpu_close,
};
