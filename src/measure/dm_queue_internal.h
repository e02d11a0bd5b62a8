/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between a queue and the ways of keeping it filled. */
#ifndef DMCT_MEASURE_DM_QUEUE_INTERNAL_H
#define DMCT_MEASURE_DM_QUEUE_INTERNAL_H

#include "measure/dm_queue.h"

struct dm_queue {
	int fd;
	bool write;
	size_t size;
	unsigned depth;
	uint64_t at, end; /* where the next request goes; behind the last byte */
	struct dm_aio *aio;
	struct dm_crew *crew;
};

/* Where the next request goes. */
uint64_t dm_queue_place(struct dm_queue *queue);
/* A request, waited for. 0 or -errno. */
int dm_queue_request(const struct dm_queue *queue, uint8_t *data, uint64_t place);

int dm_aio_new(struct dm_aio **aio, unsigned depth);
void dm_aio_free(struct dm_aio *aio);
int dm_aio_run(struct dm_aio *aio, struct dm_queue *queue, struct backend_buffer *buffer,
	       uint64_t calls);

int dm_crew_new(struct dm_crew **crew, unsigned depth);
void dm_crew_free(struct dm_crew *crew);
int dm_crew_run(struct dm_crew *crew, struct dm_queue *queue, struct backend_buffer *buffer,
		uint64_t calls);

#endif
