/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to a mapping, several at a time, one after the other along it. */
#ifndef DMCT_MEASURE_DM_QUEUE_H
#define DMCT_MEASURE_DM_QUEUE_H

#include "measure/backend.h"

#define DM_DEPTH_MAX 1024

struct dm_queue;

/*
 * A queue of `depth` requests of `size` bytes on fd, from byte `at` of `end` on. It is a plain
 * read or write with one request at a time; with more, Linux's asynchronous I/O (io_submit(2)),
 * which hands a request to the block layer as a file system does; and where that cannot be had, a
 * thread for each. (Not io_uring: dm-crypt does not take requests that must not wait, so that
 * io_uring hands each to a thread of its own, and that thread's waking up would be measured.)
 * Returns 0 or -errno. fd stays the caller's.
 */
int dm_queue_new(struct dm_queue **queue, int fd, bool write, size_t size, unsigned depth,
		 uint64_t at, uint64_t end);
void dm_queue_free(struct dm_queue *queue);

/* "sync", "aio" or "threads". */
const char *dm_queue_kind(const struct dm_queue *queue);

/* `calls` requests from or to the buffer, which has room for `depth` of them. 0 or -errno; a
 * request that moves fewer bytes is -EMSGSIZE. Nothing is in flight afterwards. */
int dm_queue_run(struct dm_queue *queue, struct backend_buffer *buffer, uint64_t calls);

#endif
