// SPDX-License-Identifier: GPL-2.0-or-later
/* A cell's life: opened, checked, sampled, checked, closed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "measure/cell.h"
#include "measure/clock.h"
#include "measure/sampler.h"

/* A sector takes microseconds, and a slice milliseconds: a request without an answer for that long
 * has none coming. Opening may load a module and wait for its self-tests. */
#define STALL_TIMEOUT CLOCK_SECOND
#define OPEN_TIMEOUT  (10 * CLOCK_SECOND)

static bool has_stalled(const struct cell *cell)
{
	const struct run *run = cell->run;

	for (size_t i = 0; i < run->n_stalled && cell->backend->may_stall; i++)
		if (run->stalled[i] == cell->what.spec.kind)
			return true;
	return false;
}

/* Puts a failure into cell->error: what a worker's open() said, or what the errno means here. */
static void cell_fail(struct cell *cell, int err)
{
	struct backend_error *error = &cell->error;
	const char *reason;

	if (*error->code)
		return;
	for (unsigned i = 0; err != -ETIMEDOUT && i < cell->threads; i++) {
		if (*cell->errors[i].code) {
			*error = cell->errors[i];
			return;
		}
	}
	backend_fail(error, -err, "a request failed: %s", strerror(-err));
	if (err == -EBADMSG) {
		reason =
			engine_supports(&cell->what.spec)
				? "the output differs from the portable tier's"
			: cell->what.spec.kind->integrity
				? "decryption does not undo encryption, or a change was not noticed"
				: "decryption does not undo encryption, or encryption does nothing";
		snprintf(error->code, sizeof(error->code), "mismatch");
		snprintf(error->reason, sizeof(error->reason), "%s", reason);
	} else if (err == -ETIMEDOUT) {
		snprintf(error->code, sizeof(error->code), "timeout");
		snprintf(error->reason, sizeof(error->reason),
			 "a request of this algorithm was never answered");
	} else if (err == -EMSGSIZE) {
		snprintf(error->reason, sizeof(error->reason),
			 "fewer bytes came back than were sent");
	}
}

/* A worker that hangs keeps its pool; the others go on in a new one. */
static int replace_pool(struct run *run)
{
	unsigned threads = pool_threads(run->pool);
	int ret;

	run->leaked = true;
	pool_free(run->pool);
	run->pool = NULL;
	ret = pool_new(&run->pool, threads, run->walkers, run->buffer);
	return ret ? ret : pool_fill(run->pool, UINT64_MAX, NULL);
}

/* Runs fn in the first n of the cell's threads. A failure of the cell goes to cell->error and comes
 * back as -EIO; -ENOMEM and -EINTR are failures of the run. */
static int run_in_pool(struct cell *cell, unsigned n, pool_fn lead, pool_fn fn, uint64_t timeout,
		       uint64_t *ns)
{
	struct run *run = cell->run;
	bool stuck;
	int ret;

	ret = -ETIMEDOUT;
	stuck = false;
	if (!has_stalled(cell)) {
		ret = pool_run(run->pool, n, lead, fn, cell,
			       cell->backend->may_stall ? timeout : POOL_FOREVER, ns);
		stuck = pool_stuck(run->pool);
	}
	if (!ret)
		return 0;
	if (stuck && ret == -EINTR) {
		run->leaked = true;
		return ret;
	}
	cell_fail(cell, ret);
	if (!stuck)
		return -EIO;
	if (run->n_stalled < sizeof(run->stalled) / sizeof(run->stalled[0]))
		run->stalled[run->n_stalled++] = cell->what.spec.kind;
	ret = replace_pool(run);
	return ret ? ret : -EIO;
}

static int open_one(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	struct cell *cell = arg;

	(void)buffer;
	if (cell->states[worker])
		return 0;
	return cell->backend->open(&cell->states[worker], &cell->what, check_key,
				   &cell->errors[worker]);
}

static const struct check_pattern *pattern_of(const struct cell *cell)
{
	return &cell->run->patterns.list[cell->pattern];
}

static int check_one(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	struct cell *cell = arg;

	buffer->at = 0;
	if (cell->backend->check)
		return cell->backend->check(cell->states[worker], buffer->data);
	return check_state(pattern_of(cell), cell->backend, cell->states[worker],
			   cell->what.direction, buffer->data);
}

static int compare_one(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	const struct cell *cell = arg;

	(void)worker;
	return check_compare(pattern_of(cell), cell->what.direction, buffer->data);
}

/* The share of a slice that goes before it, not timed, so that it begins with warm caches. */
static uint64_t lead_calls(uint64_t calls)
{
	return calls / 16;
}

static int lead_one(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	struct cell *cell = arg;

	if (cell->checking && !worker) {
		buffer->at = 0;
		buffer->sector = CHECK_SECTOR;
		check_put(pattern_of(cell), cell->what.direction, buffer->data);
	}
	return cell->backend->run(cell->states[worker], buffer, lead_calls(cell->calls));
}

static int run_one(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	struct cell *cell = arg;

	return cell->backend->run(cell->states[worker], buffer, cell->calls);
}

int cell_check(struct cell *cell)
{
	int ret;

	if (*cell->error.code || cell->checked)
		return 0;
	ret = run_in_pool(cell, 1, NULL, check_one, STALL_TIMEOUT, NULL);
	cell->checked = !ret;
	return ret == -EIO ? 0 : ret;
}

int cell_open(struct cell *cell)
{
	const struct run *run = cell->run;
	int ret;

	if (*cell->error.code)
		return 0;
	if (cell->threads > pool_threads(run->pool)) {
		backend_fail(&cell->error, pool_error(run->pool),
			     "only %u of %u threads could be started: %s", pool_threads(run->pool),
			     cell->threads, strerror(pool_error(run->pool)));
		return 0;
	}
	/* One first: what it fails for, a thousand would fail for, too. */
	ret = run_in_pool(cell, 1, NULL, open_one, OPEN_TIMEOUT, NULL);
	if (!ret && cell->threads > 1)
		ret = run_in_pool(cell, cell->threads, NULL, open_one, OPEN_TIMEOUT, NULL);
	if (!ret && (cell->backend->check || !pattern_of(cell)->cipher)) {
		ret = cell_check(cell);
		cell->checked = false; /* again after the slices */
	}
	return ret == -EIO ? 0 : ret;
}

void cell_close(struct cell *cell)
{
	for (unsigned i = 0; cell->states && i < cell->threads; i++) {
		if (cell->states[i])
			cell->backend->close(cell->states[i]);
		cell->states[i] = NULL;
	}
}

int cell_slice(void *arg, uint64_t calls, uint64_t *bytes, uint64_t *ns)
{
	struct cell *cell = arg;
	int ret;

	cell->calls = calls;
	cell->checking = calls == 1 && !cell->backend->check && pattern_of(cell)->cipher;
	*bytes = calls * cell->what.size * cell->threads *
		 (cell->backend->in_rounds ? cell->what.depth : 1);
	ret = run_in_pool(cell, cell->threads, lead_one, run_one, STALL_TIMEOUT, ns);
	if (!ret && cell->checking)
		ret = run_in_pool(cell, 1, NULL, compare_one, STALL_TIMEOUT, NULL);
	cell->checked = !ret && cell->checking;
	return ret;
}

static int roof_one(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	struct roof *roof = arg;

	(void)buffer;
	roof->bytes[worker] = engine_roofline(roof->tier, roof->key_bits, roof->calls);
	return 0;
}

static int roof_lead(unsigned worker, struct backend_buffer *buffer, void *arg)
{
	struct roof *roof = arg;

	(void)buffer;
	roof->bytes[worker] = engine_roofline(roof->tier, roof->key_bits, lead_calls(roof->calls));
	return 0;
}

int roof_slice(void *arg, uint64_t calls, uint64_t *bytes, uint64_t *ns)
{
	struct roof *roof = arg;
	int ret;

	roof->calls = calls;
	ret = pool_run(roof->run->pool, roof->threads, roof_lead, roof_one, roof, POOL_FOREVER, ns);
	if (pool_stuck(roof->run->pool))
		roof->run->leaked = true;
	*bytes = 0;
	for (unsigned i = 0; i < roof->threads && !ret; i++)
		*bytes += roof->bytes[i];
	return ret;
}
