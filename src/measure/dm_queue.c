// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure/dm_queue_internal.h"

#define PAGE 4096

int dm_queue_new(struct dm_queue **out, int fd, bool write, size_t size, unsigned depth,
		 uint64_t at, uint64_t end)
{
	struct dm_queue *queue = calloc(1, sizeof(*queue));
	int ret = 0;

	if (!queue)
		return -ENOMEM;
	queue->fd = fd;
	queue->write = write;
	queue->size = size;
	queue->depth = depth;
	queue->at = at;
	queue->end = end;
	if (depth > 1 && dm_aio_new(&queue->aio, depth))
		ret = dm_crew_new(&queue->crew, depth);
	if (ret) {
		free(queue);
		return ret;
	}
	*out = queue;
	return 0;
}

void dm_queue_free(struct dm_queue *queue)
{
	if (!queue)
		return;
	dm_aio_free(queue->aio);
	dm_crew_free(queue->crew);
	free(queue);
}

const char *dm_queue_kind(const struct dm_queue *queue)
{
	return queue->aio ? "aio" : queue->crew ? "threads" : "sync";
}

uint64_t dm_queue_place(struct dm_queue *queue)
{
	uint64_t place;

	if (queue->size > queue->end - queue->at)
		queue->at = 0;
	place = queue->at;
	queue->at += queue->size;
	return place;
}

int dm_queue_request(const struct dm_queue *queue, uint8_t *data, uint64_t place)
{
	ssize_t n;

	do
		n = queue->write ? pwrite(queue->fd, data, queue->size, (off_t)place)
				 : pread(queue->fd, data, queue->size, (off_t)place);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == queue->size ? 0 : -EMSGSIZE;
}

int dm_queue_run(struct dm_queue *queue, struct backend_buffer *buffer, uint64_t calls)
{
	size_t at = (buffer->at + PAGE - 1) / PAGE * PAGE;
	uint64_t sector;
	int ret = 0;

	/* O_DIRECT wants the memory aligned as the sectors are; other cells leave it anywhere. */
	buffer->at = at < buffer->size ? at : 0;
	if (queue->aio)
		return dm_aio_run(queue->aio, queue, buffer, calls);
	if (queue->crew)
		return dm_crew_run(queue->crew, queue, buffer, calls);
	while (calls-- && !ret)
		ret = dm_queue_request(queue, backend_next(buffer, queue->size, &sector),
				       dm_queue_place(queue));
	return ret;
}
