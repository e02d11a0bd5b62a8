// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "measure/cell.h"
#include "measure/clock.h"
#include "measure/conditions.h"
#include "measure/dm_map.h"
#include "measure/fit.h"
#include "measure/handoff.h"
#include "measure/pairs.h"
#include "measure/roofline.h"
#include "measure/sampler.h"
#include "measure/stats.h"
#include "measure/stop.h"
#include "measure/trial.h"
#include "util/units.h"

#define DEFAULT_BUFFER (1U << 20)

static const char *const engine_names[MEASURE_ENGINE_COUNT] = {
	[MEASURE_DM] = "dm",
	[MEASURE_AFALG] = "afalg",
	[MEASURE_CPU] = "cpu",
	[MEASURE_OPENSSL] = "openssl",
};

struct job {
	struct measurement *m;
	const struct measure_request *request;
	struct run run;
	struct cells cells;
	struct roofs roofs;
	struct sampler_item *items; /* the cells that opened, then the roofs */
	size_t n_cell_items, n_items;
	uint64_t start, budget;
	bool cut_short;
};

const char *measure_engine_name(enum measure_engine engine)
{
	return engine_names[engine];
}

const char *measure_path_name(enum measure_path path)
{
	return path == MEASURE_SPLICE ? "splice" : "copy";
}

int measure_engine_find(const char *name)
{
	for (int i = 0; i < MEASURE_ENGINE_COUNT; i++)
		if (!strcmp(engine_names[i], name))
			return i;
	return -1;
}

int measure_order(const struct measure_result *x, const struct measure_result *y)
{
	const uint64_t kx[] = {(uintptr_t)x->spec.kind,
			       x->spec.key_bits,
			       x->spec.sector,
			       x->engine,
			       x->shape,
			       x->direction,
			       x->size,
			       x->threads,
			       x->flags,
			       x->path,
			       x->depth};
	const uint64_t ky[] = {(uintptr_t)y->spec.kind,
			       y->spec.key_bits,
			       y->spec.sector,
			       y->engine,
			       y->shape,
			       y->direction,
			       y->size,
			       y->threads,
			       y->flags,
			       y->path,
			       y->depth};

	for (size_t i = 0; i < sizeof(kx) / sizeof(kx[0]); i++)
		if (kx[i] != ky[i])
			return kx[i] < ky[i] ? -1 : 1;
	return 0;
}

void measurement_free(struct measurement *m)
{
	if (!m)
		return;
	free(m->results);
	free(m->fits);
	free(m->crossings);
	free(m->rooflines);
	free(m->multis);
	free(m->conditions);
	memset(m, 0, sizeof(*m));
}

static void tell(void *arg, const char *what)
{
	const struct job *job = arg;
	double done = job->budget ? (double)(clock_ns() - job->start) / (double)job->budget : 1;

	if (job->request->progress)
		job->request->progress(job->request->progress_arg, done > 1 ? 1 : done, what);
}

/* What is only known of a cell when it is open. */
static void put_details(struct job *job, const struct cell *cell)
{
	struct measure_result *r = &job->m->results[cell->result];
	const char *queue = "";

	if (!cell->backend->details || *cell->error.code)
		return;
	cell->backend->details(cell->states[0], r->tier, sizeof(r->tier), &queue);
	snprintf(r->queue, sizeof(r->queue), "%s", queue);
}

static int open_all(struct job *job)
{
	int ret = 0;

	for (size_t i = 0; i < job->cells.n && !ret; i++) {
		struct cell *cell = &job->cells.list[i];

		tell(job, "preparing");
		if (cell->backend) {
			/* A backend with a check of its own needs no pattern. */
			cell->pattern = cell->backend->check
						? 0
						: check_prepare(&job->run.patterns,
								&cell->what.spec, cell->what.size);
			ret = cell->pattern < 0 ? cell->pattern : cell_open(cell);
			if (!ret)
				put_details(job, cell);
		}
		if (!ret && stop_signal())
			ret = -EINTR;
	}
	return ret;
}

/* Those of one direction and sector or message size stand against each other. */
static unsigned contest_group(const struct cell *cell)
{
	const size_t unit = backend_unit(&cell->what.spec, cell->what.size);

	return 1 + (cell->what.direction == ENGINE_DECRYPT) + 2 * (unsigned)unit;
}

static int list_items(struct job *job)
{
	size_t n = 0;

	job->items = calloc(job->cells.n + job->roofs.n + 1, sizeof(*job->items));
	if (!job->items)
		return -ENOMEM;
	for (size_t i = 0; i < job->cells.n; i++) {
		struct cell *cell = &job->cells.list[i];

		if (!*cell->error.code) {
			job->items[n].slice = cell_slice;
			job->items[n].group = contest_group(cell);
			job->items[n++].arg = cell;
		}
	}
	job->n_cell_items = n;
	/* A roofline is there to compare with. */
	for (size_t i = 0; i < job->roofs.n && job->n_cell_items; i++) {
		job->items[n].slice = roof_slice;
		job->items[n++].arg = &job->roofs.list[i];
	}
	job->n_items = n;
	return 0;
}

static int check_all(struct job *job)
{
	int ret = 0;

	for (size_t i = 0; i < job->n_cell_items && !ret; i++) {
		tell(job, "checking");
		ret = cell_check(job->items[i].arg);
	}
	return ret;
}

/* What is known of the cells' failures so far. */
static void fill_errors(struct job *job)
{
	for (size_t i = 0; i < job->cells.n; i++) {
		const struct cell *cell = &job->cells.list[i];
		struct measure_result *r = &job->m->results[cell->result];

		snprintf(r->error_code, sizeof(r->error_code), "%s", cell->error.code);
		snprintf(r->error_reason, sizeof(r->error_reason), "%s", cell->error.reason);
		r->checked = cell->checked && !*cell->error.code;
	}
}

static int fill_results(struct job *job)
{
	fill_errors(job);
	for (size_t i = 0; i < job->n_cell_items; i++) {
		const struct cell *cell = job->items[i].arg;
		struct measure_result *r = &job->m->results[cell->result];
		struct stats stats;

		if (*r->error_code)
			continue;
		if (sampler_stats(&stats, &job->items[i]))
			return -ENOMEM;
		r->median = stats.median;
		r->low = stats.low;
		r->high = stats.high;
		r->slices = (unsigned)job->items[i].n;
	}
	return pairs_fill(job->m, job->items, job->n_cell_items, &job->roofs,
			  job->items + job->n_cell_items, job->n_items - job->n_cell_items);
}

/* The crossings alone, which stand last, are no results of specs. */
static int part_crossings(struct measurement *m)
{
	size_t first = m->n_results;

	while (first && m->results[first - 1].spec.kind == &backend_null_kind)
		first--;
	if (first == m->n_results)
		return 0;
	m->crossings = calloc(m->n_results - first, sizeof(*m->crossings));
	if (!m->crossings)
		return -ENOMEM;
	m->n_crossings = m->n_results - first;
	memcpy(m->crossings, m->results + first, m->n_crossings * sizeof(*m->crossings));
	m->n_results = first;
	return 0;
}

static int sample(struct job *job)
{
	struct sampler_options options = {
		.deadline = job->start + job->budget,
		.after = true,
		.contest = job->request->contest,
		.reserve = (uint64_t)(job->request->reserve * CLOCK_SECOND),
		.now = clock_ns,
		.stopped = stop_signal,
		.progress = tell,
		.progress_arg = job};
	int ret;

	ret = list_items(job);
	if (!ret)
		ret = sampler_run(job->items, job->n_items, &options, &job->cut_short);
	return ret;
}

/* What filling buffers may take of the time. */
#define FILL_SHARE 2
/* And giving them back, of what filling them took. */
#define GIVE_BACK 4
/* So much takes no time worth counting. */
#define FILL_ALWAYS (64U << 20)

/* Buffers that fill in a reasonable share of the time; the rest of it is that much shorter. */
static int fill_buffers(struct job *job, const struct facts *facts, struct status *st)
{
	const unsigned n = job->run.walkers < pool_threads(job->run.pool)
				   ? job->run.walkers
				   : pool_threads(job->run.pool);
	const uint64_t total = (uint64_t)n * job->run.buffer, begun = clock_ns();
	const bool usual = job->run.buffer <= DEFAULT_BUFFER && n <= facts->cpu.allowed;
	uint64_t filled = 0, spent;
	char each[UNITS_MAX], fit[UNITS_MAX];
	double needed;
	int ret;

	ret = pool_fill(job->run.pool,
			usual || total <= FILL_ALWAYS ? UINT64_MAX
						      : job->start + job->budget / FILL_SHARE,
			&filled);
	spent = clock_ns() - begun;
	if (!ret)
		job->budget -= spent / GIVE_BACK < job->budget ? spent / GIVE_BACK : job->budget;
	if (ret != -ETIME)
		return ret;
	needed = (double)spent / CLOCK_SECOND * (double)total / (double)(filled ? filled : 1);
	return status_set(
		st, ST_USAGE, ETIME,
		"Filling %u buffer%s of %s takes more than half of --time %.4g: about "
		"%s in all would fit. Give it %.0f seconds, or choose a smaller --buffer or "
		"fewer --threads.",
		n, n == 1 ? "" : "s", units_size(job->run.buffer, each), job->request->seconds,
		units_size(filled >> 20 << 20, fit), needed * FILL_SHARE * 1.2 + 1);
}

static int measure_all(struct job *job, const struct facts *facts, struct status *st)
{
	const struct measure_request *request = job->request;
	size_t buffer = request->buffer ? request->buffer : DEFAULT_BUFFER, size;
	unsigned threads;
	int ret;

	ret = cells_list(&job->cells, job->m, request, facts, &job->run);
	if (ret)
		return ret;
	size = cells_max_buffer(&job->cells);
	job->run.buffer = buffer > size ? buffer : size;
	job->run.walkers = cells_max_threads(&job->cells);
	threads = job->run.walkers > request->roof_threads ? job->run.walkers
							   : request->roof_threads;
	ret = pool_new(&job->run.pool, threads, job->run.walkers, job->run.buffer);
	if (!ret)
		ret = fill_buffers(job, facts, st);
	if (!ret)
		ret = open_all(job);
	if (!ret)
		ret = roofs_list(&job->roofs, request, facts, &job->run);
	/* Within the time, too. */
	fill_errors(job);
	if (!ret)
		ret = trial_multi_buffer(job->m);
	if (ret)
		return ret;
	ret = sample(job);
	if (!ret)
		ret = check_all(job);
	if (ret)
		return ret;
	ret = fill_results(job);
	if (!ret)
		trial_agree(job->m);
	if (!ret)
		ret = part_crossings(job->m);
	if (!ret)
		ret = fit_results(job->m);
	if (ret)
		return ret;
	return roofs_fill(job->m, &job->roofs, job->items + job->n_cell_items,
			  job->n_items - job->n_cell_items);
}

static void free_job(struct job *job)
{
	/* What a hanging thread may still touch stays. */
	if (!job->run.leaked) {
		for (size_t i = 0; i < job->cells.n; i++)
			cell_close(&job->cells.list[i]);
		cells_free(&job->cells);
		check_free(&job->run.patterns);
		roofs_free(&job->roofs);
	}
	pool_free(job->run.pool);
	dm_map_abandon();
	sampler_free(job->items, job->n_items);
	free(job->items);
}

/* Each thread of each AF_ALG cell has a socket or more: up to what is allowed. select(2), which is
 * why the usual limit is low, is not used here. */
static void raise_files(struct rlimit *before)
{
	struct rlimit raised;

	if (getrlimit(RLIMIT_NOFILE, before)) {
		before->rlim_max = 0;
		return;
	}
	raised = *before;
	raised.rlim_cur = raised.rlim_max;
	setrlimit(RLIMIT_NOFILE, &raised);
}

/* Every output is compared with this tier's, so it has to be right itself, as built and here. */
static int check_reference(struct status *st)
{
	char what[80] = "";
	int ret = engine_selftest(engine_tier_find("portable"), what, sizeof(what));

	if (ret == -EBADMSG)
		return status_set(
			st, ST_CHECK, EBADMSG,
			"The portable engine, which every output is compared with, fails its known-answer test %s. Nothing was measured.",
			what);
	return ret ? status_nomem(st) : 0;
}

/* What conditions want to know of the sampling. */
static void describe_run(struct conditions_run *about, const struct job *job)
{
	about->cut_short = job->cut_short ? job->request->seconds : 0;
	about->drift = job->items ? sampler_drift(job->items, job->n_items) : 0;
	for (size_t i = 0; i < job->n_cell_items; i++) {
		about->cells += !job->items[i].error;
		about->unsettled += !job->items[i].error && !job->items[i].settled;
	}
}

int measure_run(struct measurement *m, const struct measure_request *request,
		const struct facts *facts, struct status *st)
{
	struct conditions_run about = {.cut_short = 0};
	struct conditions_mark before, after;
	struct rlimit files;
	struct stop stop;
	struct job *job;
	int ret;

	memset(m, 0, sizeof(*m));
	ret = check_reference(st);
	if (ret)
		return ret;
	/* On the heap, since a hanging thread may outlive this call. */
	job = calloc(1, sizeof(*job));
	if (!job)
		return status_nomem(st);
	job->m = m;
	job->request = request;
	job->start = clock_ns();
	job->budget = (uint64_t)(request->seconds * CLOCK_SECOND);
	conditions_mark(&before);
	raise_files(&files);
	stop_begin(&stop);
	handoff_measure(m);
	ret = measure_all(job, facts, st);
	if (ret == -EINTR)
		ret = stop_status(st);
	stop_end(&stop);
	conditions_mark(&after);
	describe_run(&about, job);
	if (!ret)
		ret = conditions_find(m, facts, &before, &after, &about);
	free_job(job);
	if (files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files);
	m->seconds = (double)(clock_ns() - job->start) / CLOCK_SECOND;
	if (!job->run.leaked)
		free(job);
	return ret == -ENOMEM ? status_nomem(st) : ret;
}
