// SPDX-License-Identifier: GPL-2.0-or-later
/* Linux's asynchronous I/O by its four system calls. */
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/dm_queue_internal.h"

struct dm_aio {
	aio_context_t context;
	unsigned depth;
	struct io_event *events;
	struct iocb **idle; /* those not in flight: the first n_idle */
	unsigned n_idle;
	struct iocb blocks[];
};

int dm_aio_new(struct dm_aio **out, unsigned depth)
{
	struct dm_aio *aio = calloc(1, sizeof(*aio) + depth * sizeof(aio->blocks[0]));
	int ret = -ENOMEM;

	if (!aio)
		return ret;
	aio->depth = depth;
	aio->events = calloc(depth, sizeof(*aio->events));
	aio->idle = calloc(depth, sizeof(struct iocb *));
	if (aio->events && aio->idle)
		ret = syscall(SYS_io_setup, depth, &aio->context) ? -errno : 0;
	if (ret) {
		aio->context = 0;
		dm_aio_free(aio);
		return ret;
	}
	for (unsigned i = 0; i < depth; i++)
		aio->idle[aio->n_idle++] = &aio->blocks[i];
	*out = aio;
	return 0;
}

void dm_aio_free(struct dm_aio *aio)
{
	if (!aio)
		return;
	if (aio->context)
		syscall(SYS_io_destroy, aio->context);
	free(aio->events);
	free(aio->idle);
	free(aio);
}

static void fill(struct iocb *block, struct dm_queue *queue, struct backend_buffer *buffer)
{
	uint64_t sector;

	memset(block, 0, sizeof(*block));
	block->aio_fildes = (uint32_t)queue->fd;
	block->aio_lio_opcode = queue->write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
	block->aio_buf = (uintptr_t)backend_next(buffer, queue->size, &sector);
	block->aio_nbytes = queue->size;
	block->aio_offset = (int64_t)dm_queue_place(queue);
}

/* Sends as many of n requests as there are idle blocks. Returns how many, or -errno. */
static long submit(struct dm_aio *aio, struct dm_queue *queue, struct backend_buffer *buffer,
		   uint64_t n)
{
	struct iocb **first;
	long sent;

	n = n < aio->n_idle ? n : aio->n_idle;
	if (!n)
		return 0;
	/* From the end of the list, so that what is left of it stays in place. */
	first = aio->idle + (aio->n_idle - n);
	for (uint64_t i = 0; i < n; i++)
		fill(first[i], queue, buffer);
	sent = syscall(SYS_io_submit, aio->context, n, first);
	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	/* Those that were not taken come after those that were. */
	memmove(first, first + sent, (n - (uint64_t)sent) * sizeof(struct iocb *));
	aio->n_idle -= (unsigned)sent;
	return sent;
}

/* Waits for one at least. 0 or -errno, the first failed request's too. */
static int reap(struct dm_aio *aio, const struct dm_queue *queue)
{
	long n = syscall(SYS_io_getevents, aio->context, 1, aio->depth, aio->events, NULL);
	int ret = 0;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (long i = 0; i < n; i++) {
		const struct io_event *event = &aio->events[i];

		aio->idle[aio->n_idle++] = (struct iocb *)(uintptr_t)event->obj;
		if (!ret && event->res != (int64_t)queue->size)
			ret = event->res < 0 ? (int)event->res : -EMSGSIZE;
	}
	return ret;
}

int dm_aio_run(struct dm_aio *aio, struct dm_queue *queue, struct backend_buffer *buffer,
	       uint64_t calls)
{
	int ret = 0, failed;
	long sent;

	while ((calls && !ret) || aio->n_idle < aio->depth) {
		sent = ret ? 0 : submit(aio, queue, buffer, calls);
		if (sent < 0) {
			ret = (int)sent;
			continue;
		}
		calls -= (uint64_t)sent;
		if (aio->n_idle == aio->depth)
			continue;
		failed = reap(aio, queue);
		ret = ret ? ret : failed;
	}
	return ret;
}
