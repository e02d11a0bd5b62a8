// SPDX-License-Identifier: GPL-2.0-or-later
/* A thread for each request in flight. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

#include "measure/dm_queue_internal.h"

#define STACK_SIZE (256U << 10)

struct dm_crew {
	pthread_t *ids;
	unsigned n;
	sem_t start, done;
	pthread_mutex_t lock; /* guards what is below while a run is on */
	struct dm_queue *queue;
	struct backend_buffer *buffer;
	uint64_t left;
	int ret;
	bool quit;
};

/* The next request: false when there is none. */
static bool take(struct dm_crew *crew, uint8_t **data, uint64_t *place)
{
	uint64_t sector;
	bool more;

	pthread_mutex_lock(&crew->lock);
	more = crew->left && !crew->ret;
	if (more) {
		crew->left--;
		*data = backend_next(crew->buffer, crew->queue->size, &sector);
		*place = dm_queue_place(crew->queue);
	}
	pthread_mutex_unlock(&crew->lock);
	return more;
}

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

static void *work(void *arg)
{
	struct dm_crew *crew = arg;
	uint64_t place;
	uint8_t *data;
	int ret;

	for (;;) {
		wait_for(&crew->start);
		if (crew->quit)
			return NULL;
		while (take(crew, &data, &place)) {
			ret = dm_queue_request(crew->queue, data, place);
			if (!ret)
				continue;
			pthread_mutex_lock(&crew->lock);
			crew->ret = crew->ret ? crew->ret : ret;
			pthread_mutex_unlock(&crew->lock);
		}
		sem_post(&crew->done);
	}
}

/* Signals are for the thread that waits for them. */
static int start_threads(struct dm_crew *crew, unsigned depth)
{
	sigset_t every, before;
	pthread_attr_t attr;
	int ret;

	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	for (; crew->n < depth && !ret; crew->n += !ret)
		ret = pthread_create(&crew->ids[crew->n], &attr, work, crew);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -ret;
}

int dm_crew_new(struct dm_crew **out, unsigned depth)
{
	struct dm_crew *crew = calloc(1, sizeof(*crew));
	int ret = -ENOMEM;

	if (!crew)
		return ret;
	sem_init(&crew->start, 0, 0);
	sem_init(&crew->done, 0, 0);
	pthread_mutex_init(&crew->lock, NULL);
	crew->ids = calloc(depth, sizeof(*crew->ids));
	if (crew->ids)
		ret = start_threads(crew, depth);
	if (ret) {
		dm_crew_free(crew);
		return ret;
	}
	*out = crew;
	return 0;
}

void dm_crew_free(struct dm_crew *crew)
{
	if (!crew)
		return;
	crew->quit = true;
	for (unsigned i = 0; i < crew->n; i++)
		sem_post(&crew->start);
	for (unsigned i = 0; i < crew->n; i++)
		pthread_join(crew->ids[i], NULL);
	sem_destroy(&crew->start);
	sem_destroy(&crew->done);
	pthread_mutex_destroy(&crew->lock);
	free(crew->ids);
	free(crew);
}

int dm_crew_run(struct dm_crew *crew, struct dm_queue *queue, struct backend_buffer *buffer,
		uint64_t calls)
{
	crew->queue = queue;
	crew->buffer = buffer;
	crew->left = calls;
	crew->ret = 0;
	for (unsigned i = 0; i < crew->n; i++)
		sem_post(&crew->start);
	for (unsigned i = 0; i < crew->n; i++)
		wait_for(&crew->done);
	return crew->ret;
}
