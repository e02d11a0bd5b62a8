// SPDX-License-Identifier: GPL-2.0-or-later
/* The in-process engine. A request is a call of any number of consecutive sectors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/backend.h"

struct state {
	struct engine_key *key;
	enum engine_direction direction;
	enum engine_shape shape;
	size_t size, sector, count;
};

static void cpu_describe(const struct backend_cell *cell, char *tier, size_t size)
{
	snprintf(tier, size, "%s", engine_tier_name(cell->tier));
}

static int cpu_open(void **out, const struct backend_cell *cell, const uint8_t *raw,
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

static int cpu_crypt(void *arg, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	const struct state *state = arg;

	engine_crypt(state->key, direction, state->shape, data, data, state->sector, state->count,
		     sector);
	return 0;
}

static int cpu_run(void *arg, struct backend_buffer *buffer, uint64_t calls)
{
	const struct state *state = arg;
	uint64_t sector;
	uint8_t *data;

	while (calls--) {
		data = backend_next(buffer, state->size, &sector);
		cpu_crypt(arg, state->direction, data, sector);
	}
	return 0;
}

static void cpu_close(void *arg)
{
	struct state *state = arg;

	engine_key_free(state->key);
	free(state);
}

const struct backend backend_cpu = {
	.engine = MEASURE_CPU,
	.whole_calls = true,
	.implements = engine_supports,
	.describe = cpu_describe,
	.open = cpu_open,
	.crypt = cpu_crypt,
	.run = cpu_run,
	.close = cpu_close,
};
