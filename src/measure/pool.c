// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "measure/clock.h"
#include "measure/stop.h"

/* How often a waiting caller looks for a signal. */
#define TICK (50 * CLOCK_MILLISECOND)
/* How long workers have to come to an end after a signal: a slice takes about a millisecond. */
#define STOP_GRACE (10 * TICK)
/* The engine keeps its batches on the stack; the rest is room for sanitizers. */
#define STACK_SIZE (1U << 20)
#define PAGE       4096
/* So many threads a CPU do not wait for each other. */
#define CROWD 4
/* What threads leave free, so that an address space that they fill still has room for the results.
 */
#define SPARE (32U << 20)
/* Between two looks at whether to go on filling. */
#define FILL_STEP (1U << 20)

struct worker {
	struct pool *pool;
	unsigned index;
	pthread_cond_t wake;
	bool job;
	int ret;
	uint64_t start, end;
	struct backend_buffer buffer;
};

struct pool {
	pthread_mutex_t lock; /* guards everything below but the atomic ones and the buffers */
	pthread_cond_t done;
	struct worker *workers;
	pthread_t *ids;
	unsigned threads; /* workers that run; 0: the caller's thread stands in for the first */
	int error;
	unsigned n, pending;
	pool_fn lead, fn;
	void *arg;
	bool fill, quit, stuck;
	unsigned left; /* threads of a stuck pool that have not ended: the last one frees it */
	atomic_uint arrived;
	unsigned filling;  /* workers that are at it */
	atomic_bool hurry; /* they are to leave it */
	atomic_uint_fast64_t filled;
	unsigned cpus; /* that this process may use; 0: not known */
};

static void free_pool(struct pool *pool)
{
	for (unsigned i = 0; pool->workers && i < pool_threads(pool); i++) {
		if (pool->workers[i].buffer.data)
			pthread_cond_destroy(&pool->workers[i].wake);
		free(pool->workers[i].buffer.data);
	}
	pthread_cond_destroy(&pool->done);
	pthread_mutex_destroy(&pool->lock);
	free(pool->workers);
	free(pool->ids);
	free(pool);
}

/* Waits until all workers of the job are awake, so that their times overlap. Yields after a while:
 * there may be more threads than CPUs. Far more cannot all be at it at once anyway, and would only
 * take the CPUs away from those that are still to wake up. */
static void meet(struct pool *pool, unsigned n)
{
	unsigned spins = 0;

	if (pool->cpus && n > CROWD * pool->cpus)
		return;
	atomic_fetch_add(&pool->arrived, 1);
	while (atomic_load(&pool->arrived) < n)
		if (++spins > 2000)
			sched_yield();
}

static void fill(struct pool *pool, struct backend_buffer *buffer)
{
	for (size_t at = 0; at < buffer->size && !atomic_load(&pool->hurry); at += FILL_STEP) {
		const size_t left = buffer->size - at;
		struct backend_buffer part = {.data = buffer->data + at,
					      .size = left < FILL_STEP ? left : FILL_STEP};

		backend_buffer_fill(&part);
		atomic_fetch_add(&pool->filled, part.size);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pool *pool = w->pool;
	bool last;

	pthread_mutex_lock(&pool->lock);
	while (!pool->fill && !pool->quit)
		pthread_cond_wait(&w->wake, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
	fill(pool, &w->buffer);
	pthread_mutex_lock(&pool->lock);
	if (!--pool->filling)
		pthread_cond_signal(&pool->done);
	for (;;) {
		while (!w->job && !pool->quit)
			pthread_cond_wait(&w->wake, &pool->lock);
		if (!w->job)
			break;
		pool_fn lead = pool->lead, fn = pool->fn;
		void *job = pool->arg;
		unsigned n = pool->n;

		pthread_mutex_unlock(&pool->lock);
		w->ret = lead ? lead(w->index, &w->buffer, job) : 0;
		meet(pool, n);
		w->start = clock_ns();
		if (!w->ret)
			w->ret = fn(w->index, &w->buffer, job);
		w->end = clock_ns();
		pthread_mutex_lock(&pool->lock);
		w->job = false;
		if (!--pool->pending)
			pthread_cond_signal(&pool->done);
	}
	last = pool->stuck && !--pool->left;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		free_pool(pool);
	return NULL;
}

/* A thread with all signals blocked, so that they reach the one that waits. */
static int start_thread(pthread_t *id, struct worker *w)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int ret;

	ret = pthread_attr_init(&attr);
	if (ret)
		return ret;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(id, &attr, work, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}

static int start_worker(struct pool *pool, unsigned i, size_t buffer)
{
	struct worker *w = &pool->workers[i];
	void *data;
	int ret;

	ret = posix_memalign(&data, PAGE, buffer);
	if (ret)
		return ret;
	w->pool = pool;
	w->index = i;
	w->buffer.data = data;
	w->buffer.size = buffer;
	ret = pthread_cond_init(&w->wake, NULL);
	if (!ret) {
		ret = start_thread(&pool->ids[i], w);
		if (!ret || !i)
			return ret;
		pthread_cond_destroy(&w->wake);
	}
	free(w->buffer.data);
	w->buffer.data = NULL;
	return ret;
}

/* CPUs that this process may use; 0: not known. */
static unsigned count_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 0 : (unsigned)CPU_COUNT(&set);
}

static int start_workers(struct pool *pool, unsigned threads, unsigned walkers, size_t buffer)
{
	void *spare = malloc(SPARE);

	if (!spare)
		return -ENOMEM;
	for (; pool->threads < threads && !pool->error; pool->threads += !pool->error)
		pool->error = start_worker(pool, pool->threads,
					   pool->threads < walkers ? buffer : PAGE);
	free(spare);
	if (pool->threads)
		return 0;
	if (!pool->workers[0].buffer.data)
		return -ENOMEM;
	pool->workers[0].pool = pool;
	return 0;
}

int pool_new(struct pool **out, unsigned threads, unsigned walkers, size_t buffer)
{
	struct pool *pool = calloc(1, sizeof(*pool));
	pthread_condattr_t attr;
	int ret;

	if (!pool)
		return -ENOMEM;
	pool->cpus = count_cpus();
	pthread_mutex_init(&pool->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->done, &attr);
	pthread_condattr_destroy(&attr);
	pool->workers = calloc(threads, sizeof(*pool->workers));
	pool->ids = calloc(threads, sizeof(*pool->ids));
	ret = pool->workers && pool->ids ? start_workers(pool, threads, walkers, buffer) : -ENOMEM;
	if (ret) {
		free_pool(pool);
		return ret;
	}
	*out = pool;
	return 0;
}

unsigned pool_threads(const struct pool *pool)
{
	return pool->threads ? pool->threads : 1;
}

int pool_error(const struct pool *pool)
{
	return pool->error;
}

bool pool_stuck(const struct pool *pool)
{
	return pool->stuck;
}

static void add_tick(struct timespec *ts)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_nsec += TICK;
	if (ts->tv_nsec >= (long)CLOCK_SECOND) {
		ts->tv_nsec -= CLOCK_SECOND;
		ts->tv_sec++;
	}
}

/* With the lock held. Counts ticks instead of reading the clock: after a Ctrl-Z and fg an hour has
 * passed, and nothing is stuck. */
static int wait_done(struct pool *pool, uint64_t timeout)
{
	uint64_t waited = 0, stopping = 0;
	struct timespec until;

	while (pool->pending) {
		add_tick(&until);
		if (pthread_cond_timedwait(&pool->done, &pool->lock, &until) != ETIMEDOUT)
			continue;
		waited += TICK;
		stopping += stop_signal() ? TICK : 0;
		if (stopping >= STOP_GRACE)
			return -EINTR;
		if (waited >= timeout)
			return -ETIMEDOUT;
	}
	return 0;
}

int pool_fill(struct pool *pool, uint64_t until, uint64_t *filled)
{
	struct timespec tick;
	int ret = 0;

	pthread_mutex_lock(&pool->lock);
	if (!pool->fill)
		pool->filling = pool->threads;
	pool->fill = true;
	for (unsigned i = 0; i < pool->threads; i++)
		pthread_cond_signal(&pool->workers[i].wake);
	while (pool->filling && !ret) {
		add_tick(&tick);
		pthread_cond_timedwait(&pool->done, &pool->lock, &tick);
		if (pool->filling && stop_signal())
			ret = -EINTR;
		else if (pool->filling && clock_ns() > until)
			ret = -ETIME;
	}
	pthread_mutex_unlock(&pool->lock);
	atomic_store(&pool->hurry, ret != 0);
	if (!pool->threads)
		fill(pool, &pool->workers[0].buffer);
	if (filled)
		*filled = atomic_load(&pool->filled);
	return ret;
}

static int collect(const struct pool *pool, unsigned n, uint64_t *ns)
{
	uint64_t start = UINT64_MAX, end = 0;
	int ret = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct worker *w = &pool->workers[i];

		if (!ret)
			ret = w->ret;
		start = w->start < start ? w->start : start;
		end = w->end > end ? w->end : end;
	}
	if (ns)
		*ns = end > start ? end - start : 1;
	return ret;
}

int pool_run(struct pool *pool, unsigned n, pool_fn lead, pool_fn fn, void *arg, uint64_t timeout,
	     uint64_t *ns)
{
	struct worker *w = &pool->workers[0];
	int ret;

	if (pool->stuck || !n || n > pool_threads(pool))
		return -EINVAL;
	if (!pool->threads) {
		w->ret = lead ? lead(0, &w->buffer, arg) : 0;
		w->start = clock_ns();
		if (!w->ret)
			w->ret = fn(0, &w->buffer, arg);
		w->end = clock_ns();
		return collect(pool, 1, ns);
	}
	pthread_mutex_lock(&pool->lock);
	pool->lead = lead;
	pool->fn = fn;
	pool->arg = arg;
	pool->n = pool->pending = n;
	atomic_store(&pool->arrived, 0);
	for (unsigned i = 0; i < n; i++) {
		pool->workers[i].job = true;
		pthread_cond_signal(&pool->workers[i].wake);
	}
	ret = wait_done(pool, timeout);
	pool->stuck = ret < 0;
	pthread_mutex_unlock(&pool->lock);
	return ret < 0 ? ret : collect(pool, n, ns);
}

void pool_free(struct pool *pool)
{
	bool stuck;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	atomic_store(&pool->hurry, true);
	pool->left = pool->threads;
	stuck = pool->stuck;
	for (unsigned i = 0; i < pool->threads; i++) {
		pthread_cond_signal(&pool->workers[i].wake);
		if (stuck)
			pthread_detach(pool->ids[i]);
	}
	pthread_mutex_unlock(&pool->lock);
	if (stuck)
		return;
	for (unsigned i = 0; i < pool->threads; i++)
		pthread_join(pool->ids[i], NULL);
	free_pool(pool);
}
