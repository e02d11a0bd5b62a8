/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that stay for the whole run, each with the buffer that it walks. All that touches a
 * backend happens in them: a request that the kernel never answers then hangs a thread, not the
 * program.
 */
#ifndef DMCT_MEASURE_POOL_H
#define DMCT_MEASURE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/backend.h"

struct pool;

/* A worker's part of a job. Returns 0 or -errno. */
typedef int (*pool_fn)(unsigned worker, struct backend_buffer *buffer, void *arg);

#define POOL_FOREVER UINT64_MAX

/*
 * Starts up to `threads` workers, the first `walkers` (at least 1) of them each with a page-aligned
 * buffer of `buffer` bytes; the others have a page. Where one cannot be
 * had there are fewer (pool_threads()), and pool_error() is the errno that said so. With no thread
 * at all the caller's own does the work of the first. Returns 0 or -ENOMEM, when there is memory
 * for not even one buffer.
 */
int pool_new(struct pool **pool, unsigned threads, unsigned walkers, size_t buffer);
/*
 * Fills the buffers, once, before the first job. 0; -EINTR when a signal asked to stop; -ETIME when
 * it is later than `until` (on clock_ns()): the workers then leave it, and the pool is good for
 * nothing but pool_free(). *filled (may be NULL): the bytes that all of them have done by then.
 */
int pool_fill(struct pool *pool, uint64_t until, uint64_t *filled);
unsigned pool_threads(const struct pool *pool);
int pool_error(const struct pool *pool);

/*
 * Runs lead (may be NULL), and then, all at once, fn on the first n workers and waits for all of
 * them. *ns (may be NULL) is the time from the first one's start of fn to the last one's end: lead
 * is there to warm caches up. Returns 0, the error of the first worker that
 * failed, -ETIMEDOUT when one is still at it after `timeout` nanoseconds (counted while this
 * process runs, not while it is stopped), or -EINTR when a signal asked to stop and the workers did
 * not come to an end soon. After those two, pool_stuck() is true: the workers may still use *arg
 * and what hangs on it, so neither may be freed, and the pool takes no more jobs.
 */
int pool_run(struct pool *pool, unsigned n, pool_fn lead, pool_fn fn, void *arg, uint64_t timeout,
	     uint64_t *ns);
bool pool_stuck(const struct pool *pool);

/* Ends the threads and frees. A stuck pool is left to its threads, which end if they ever wake. */
void pool_free(struct pool *pool);

#endif
