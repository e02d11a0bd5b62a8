// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dm-crypt itself: a crypt target on a zero target. Reads decrypt zeros; writes encrypt, and the
 * zero target drops them. A request is what one read or write asks for, of any number of sectors.
 *
 * What is written cannot be read back: the check is of what the same mapping, with the same key and
 * driver, makes of zeros.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/backend.h"
#include "measure/dm_map.h"
#include "measure/dm_queue.h"

/* Bytes that are compared at most: the reference is slow, and all sectors are done alike. */
#define COMPARED (16U << 10)
/* How far apart the jobs begin. */
#define JOB_STRIDE (64ULL << 20)

struct state {
	struct dm_map *map;
	int fd, check_fd;
	struct dm_queue *queue;
	size_t size;
};

/* Tags are kept by dm-integrity, which writes to what it stands on, and a zero target keeps
 * nothing. */
static bool dm_implements(const struct spec *spec)
{
	return !spec->kind->integrity;
}

static void dm_describe(const struct backend_cell *cell, char *tier, size_t size)
{
	const struct kernel_driver *driver = kernel_driver_for(&cell->facts->kernel,
							       cell->spec.kind->kernel);

	snprintf(tier, size, "%s", driver ? driver->driver : "");
}

static void dm_close(void *arg)
{
	struct state *state = arg;

	dm_queue_free(state->queue);
	if (state->fd >= 0)
		close(state->fd);
	if (state->check_fd >= 0)
		close(state->check_fd);
	dm_map_put(state->map);
	free(state);
}

static int dm_open(void **out, const struct backend_cell *cell, const uint8_t *raw,
		   struct backend_error *error)
{
	static atomic_uint jobs;
	struct state *state = calloc(1, sizeof(*state));
	uint64_t at = atomic_fetch_add(&jobs, 1) * JOB_STRIDE % DM_MAP_SIZE;
	bool write = cell->direction == ENGINE_ENCRYPT;
	int ret;

	(void)raw; /* the mappings have a random key of their own */
	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	ret = dm_map_get(&state->map, cell, error);
	if (ret) {
		free(state);
		return ret;
	}
	state->size = cell->size;
	state->fd = dm_map_open(state->map, write);
	state->check_fd = write ? dm_map_open(state->map, false) : -1;
	ret = state->fd < 0 ? state->fd : write && state->check_fd < 0 ? state->check_fd : 0;
	if (!ret)
		ret = dm_queue_new(&state->queue, state->fd, write, cell->size, cell->depth, at,
				   DM_MAP_SIZE);
	if (ret) {
		backend_fail(error, -ret, "the mapping cannot be used: %s", strerror(-ret));
		dm_close(state);
		return ret;
	}
	*out = state;
	return 0;
}

static int dm_run(void *arg, struct backend_buffer *buffer, uint64_t calls)
{
	const struct state *state = arg;

	return dm_queue_run(state->queue, buffer, calls);
}

static int dm_check(void *arg, uint8_t *data)
{
	const struct state *state = arg;
	size_t size = state->size < COMPARED ? state->size : COMPARED;
	ssize_t n;

	do
		n = pread(state->check_fd >= 0 ? state->check_fd : state->fd, data, size, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? dm_map_compare(state->map, data, size) : -EMSGSIZE;
}

static void dm_details(const void *arg, char *tier, size_t tier_size, const char **queue)
{
	const struct state *state = arg;

	if (*dm_map_driver(state->map))
		snprintf(tier, tier_size, "%s", dm_map_driver(state->map));
	*queue = dm_queue_kind(state->queue);
}

const struct backend backend_dm = {
	.engine = MEASURE_DM,
	.whole_calls = true,
	.may_stall = true,
	.implements = dm_implements,
	.describe = dm_describe,
	.open = dm_open,
	.run = dm_run,
	.check = dm_check,
	.details = dm_details,
	.close = dm_close,
};
