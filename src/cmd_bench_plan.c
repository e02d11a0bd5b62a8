// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd_bench.h"
#include "cmd_plan.h"
#include "measure/trial.h"
#include "util/list.h"
#include "util/units.h"

#define SIZE_MAX_BYTES (16U << 20)
/* A message is checked as a whole, against an engine that does one block after the other. */
#define MESSAGE_MIN 16
#define MESSAGE_MAX (1U << 20)
/* Of a request where none is asked for (measure/cell_list.c). */
#define USUAL_SIZE  65536ULL
#define THREADS_MAX 1024
#define DEPTH_MAX   256
/* Cells of a run: more than anybody reads, and each is to get its slices. */
#define CELLS_MAX 4096

static const unsigned all_sectors[BENCH_SECTORS_MAX] = {512, 1024, 2048, 4096};

static int plan_engines(struct bench_plan *plan, const char *list, const struct facts *facts,
			struct status *st)
{
	char word[64];
	int engine;

	if (!list)
		list = facts->kernel.dm.available ? "dm,afalg,cpu,openssl" : "afalg,cpu,openssl";
	while (list_next(&list, word, sizeof(word))) {
		engine = measure_engine_find(word);
		if (engine < 0)
			return status_set(
				st, ST_USAGE, EINVAL,
				"--engine: \"%s\" is none; dm, afalg, cpu and openssl are.", word);
		plan->request.engines |= 1U << engine;
	}
	return 0;
}

static int plan_sectors(struct bench_plan *plan, const char *list, struct status *st)
{
	uint64_t value = 0;
	char word[64];
	size_t n = 0;

	memcpy(plan->sectors, all_sectors, sizeof(all_sectors));
	plan->request.n_sectors = BENCH_SECTORS_MAX;
	if (!list)
		return 0;
	while (list_next(&list, word, sizeof(word))) {
		if (list_number(word, &value) || value > SPEC_SECTOR_MAX ||
		    !spec_sector_valid((unsigned)value))
			return status_set(st, ST_USAGE, EINVAL,
					  "--sector-size: \"%s\" is none; 512, 1024, 2048 and 4096 "
					  "are.",
					  word);
		for (size_t i = 0; i < n; i++)
			if (plan->sectors[i] == value)
				value = 0;
		if (value)
			plan->sectors[n++] = (unsigned)value;
	}
	plan->request.n_sectors = n;
	return 0;
}

static int default_specs(struct bench_plan *plan, struct status *st)
{
	/* The last is for the kernel alone: no other layer has it. */
	static const char *const texts[] = {"aes-xts-plain64/512", "aes-xts-plain64/256",
					    "aes-cbc-essiv:sha256/256", "aes-cbc-essiv:sha256/128",
					    "xchacha12,aes-adiantum-plain64/256"};
	size_t n = sizeof(texts) / sizeof(texts[0]);
	int ret = 0;

	if (!(plan->request.engines & (1U << MEASURE_AFALG | 1U << MEASURE_DM)))
		n--;
	for (size_t i = 0; i < n && !ret; i++)
		ret = spec_parse(&plan->specs[i], texts[i], st);
	plan->request.n_specs = n;
	return ret;
}

static bool sector_asked(const struct bench_plan *plan, unsigned sector)
{
	for (size_t i = 0; i < plan->request.n_sectors; i++)
		if (plan->sectors[i] == sector)
			return true;
	return false;
}

static int plan_specs(struct bench_plan *plan, char **texts, int n, struct status *st)
{
	int ret;

	if (!n)
		return default_specs(plan, st);
	if (n > BENCH_SPECS_MAX)
		return status_set(st, ST_USAGE, EINVAL, "bench: %d specs; at most %d are taken.", n,
				  BENCH_SPECS_MAX);
	for (int i = 0; i < n; i++) {
		ret = spec_parse_any(&plan->specs[i], texts[i], st);
		if (ret)
			return ret;
		if (plan->specs[i].sector && !sector_asked(plan, plan->specs[i].sector))
			return status_set(st, ST_USAGE, EINVAL,
					  "\"%s\" has a sector size that --sector-size leaves out.",
					  texts[i]);
	}
	plan->request.n_specs = (size_t)n;
	return 0;
}

/* Whether some sector size that would be measured divides the request; with `all`, each of them. */
static bool fits(const struct bench_plan *plan, uint64_t size, bool all)
{
	size_t good = 0, n = 0;

	for (size_t i = 0; i < plan->request.n_specs; i++) {
		const unsigned *sectors = &plan->specs[i].sector;
		size_t count = 1;

		if (!*sectors && plan->request.messages) {
			n++;
			good += !(size % MESSAGE_MIN) && size <= MESSAGE_MAX;
			continue;
		}
		if (!*sectors) {
			sectors = plan->sectors;
			count = plan->request.n_sectors;
		}
		n += count;
		for (size_t s = 0; s < count; s++)
			good += !(size % sectors[s]);
	}
	return all ? good == n : good > 0;
}

/* Whether every spec has a sector size of its own. */
static bool all_sectors_said(const struct bench_plan *plan)
{
	for (size_t i = 0; i < plan->request.n_specs; i++)
		if (!plan->specs[i].sector)
			return false;
	return plan->request.n_specs > 0;
}

/* Which sector size does not divide a request, who says so, and what to do. */
static int broken_sectors(const struct bench_plan *plan, const struct bench_options *o,
			  uint64_t size, struct status *st)
{
	const unsigned *sectors = o->sector_size ? plan->sectors : &plan->specs[0].sector;
	const char *by = o->sector_size ? "--sector-size names" : "the spec names";
	size_t i = 0;

	while (o->sector_size && i + 1 < plan->request.n_sectors && !(size % sectors[i]))
		i++;
	if (o->size_of_experiment)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--experiment %s has requests of %" PRIu64
			" bytes: that is not a multiple of the sector size %u that %s; leave the "
			"sector size out, or say a --size for it.",
			o->experiment, size, sectors[i], by);
	return status_set(st, ST_USAGE, EINVAL,
			  "--size: %" PRIu64 " is not a multiple of the sector size %u that %s. "
			  "Choose another size, or leave the sector size out: requests are then "
			  "messages, of any multiple of %d bytes.",
			  size, sectors[i], by, MESSAGE_MIN);
}

static int wrong_size(const char *word, bool messages, struct status *st)
{
	if (messages)
		return status_set(st, ST_USAGE, EINVAL,
				  "--size: \"%s\" is none; multiples of %d from %d to %u are, or, "
				  "with a sector size, of that up to %u.",
				  word, MESSAGE_MIN, MESSAGE_MIN, MESSAGE_MAX, SIZE_MAX_BYTES);
	return status_set(st, ST_USAGE, EINVAL, "--size: \"%s\" is none; bytes from %u to %u are.",
			  word, SPEC_SECTOR_MIN, SIZE_MAX_BYTES);
}

/* With sector sizes of one's own choice, all must fit. Without, each request is a message. */
static int plan_sizes(struct bench_plan *plan, const struct bench_options *o, struct status *st)
{
	const bool sectors_given = o->sector_size != NULL;
	const char *list = o->size;
	uint64_t value = 0;
	char word[64];
	size_t n = 0;

	bool messages = list && !sectors_given && !all_sectors_said(plan);

	plan->request.messages = messages;
	if (list && !messages && plan->request.engines == 1U << MEASURE_AFALG)
		return status_set(st, ST_USAGE, EINVAL,
				  "--size: with a sector size, an afalg request is one sector; "
				  "leave the sector size out.");
	while (list_next(&list, word, sizeof(word))) {
		if (list_number(word, &value) || value > SIZE_MAX_BYTES || !value ||
		    (messages && value < MESSAGE_MIN))
			return wrong_size(word, messages, st);
		if (messages && !fits(plan, value, false))
			return wrong_size(word, messages, st);
		if (!fits(plan, value, sectors_given))
			return broken_sectors(plan, o, value, st);
		if (n == BENCH_SIZES_MAX)
			return status_set(st, ST_USAGE, EINVAL, "--size: more than %d sizes.",
					  BENCH_SIZES_MAX);
		plan->sizes[n++] = value;
	}
	plan->request.n_sizes = n;
	plan->request.crossing = messages && plan->request.engines & 1U << MEASURE_CPU &&
				 plan->request.engines & 1U << MEASURE_AFALG;
	return 0;
}

static int plan_threads(struct bench_plan *plan, const char *list, const struct facts *facts,
			struct status *st)
{
	uint64_t value = 0;
	char word[64];
	size_t n = 0;

	if (!list)
		list = "1";
	while (list_next(&list, word, sizeof(word))) {
		if (!strcmp(word, "all"))
			value = cpu_threads(&facts->cpu);
		else if (list_number(word, &value) || !value || value > THREADS_MAX)
			return status_set(st, ST_USAGE, EINVAL,
					  "--threads: \"%s\" is none; 1 to %d and \"all\" are.",
					  word, THREADS_MAX);
		if (n == BENCH_THREADS_MAX)
			return status_set(st, ST_USAGE, EINVAL, "--threads: more than %d numbers.",
					  BENCH_THREADS_MAX);
		plan->threads[n++] = (unsigned)value;
	}
	plan->request.n_threads = n;
	return 0;
}

static int plan_depths(struct bench_plan *plan, const char *list, struct status *st)
{
	uint64_t value = 0;
	char word[64];
	size_t n = 0;

	if (list && !(plan->request.engines & (1U << MEASURE_AFALG | 1U << MEASURE_DM)))
		return status_set(st, ST_USAGE, EINVAL,
				  "--depth is for dm and afalg, and neither is measured here.");
	while (list && list_next(&list, word, sizeof(word))) {
		if (list_number(word, &value) || !value || value > DEPTH_MAX)
			return status_set(st, ST_USAGE, EINVAL,
					  "--depth: \"%s\" is none; 1 to %d are.", word, DEPTH_MAX);
		if (n == BENCH_DEPTHS_MAX)
			return status_set(st, ST_USAGE, EINVAL, "--depth: more than %d numbers.",
					  BENCH_DEPTHS_MAX);
		plan->depths[n++] = (unsigned)value;
	}
	plan->request.n_depths = n;
	return 0;
}

static int plan_paths(struct bench_plan *plan, const char *list, struct status *st)
{
	char word[64];

	if (list && !(plan->request.engines & 1U << MEASURE_AFALG))
		return status_set(st, ST_USAGE, EINVAL,
				  "--path is for afalg, which --engine leaves out.");
	while (list && list_next(&list, word, sizeof(word))) {
		if (!strcmp(word, "copy") || !strcmp(word, "both"))
			plan->request.paths |= 1U << MEASURE_COPY;
		if (!strcmp(word, "splice") || !strcmp(word, "both"))
			plan->request.paths |= 1U << MEASURE_SPLICE;
		if (strcmp(word, "copy") && strcmp(word, "splice") && strcmp(word, "both"))
			return status_set(st, ST_USAGE, EINVAL,
					  "--path: \"%s\" is none; copy, splice and both are.",
					  word);
	}
	return 0;
}

static void add_tier(struct bench_plan *plan, const struct engine_tier *tier)
{
	size_t n = plan->request.n_tiers;

	for (size_t i = 0; i < n; i++)
		if (plan->tiers[i] == tier)
			return;
	if (n < BENCH_TIERS_MAX) {
		plan->tiers[n] = tier;
		plan->request.n_tiers = n + 1;
	}
}

static void add_usable_tiers(struct bench_plan *plan, const struct facts *facts)
{
	for (const struct engine_tier *const *t = engine_tiers; *t; t++)
		if (engine_tier_usable(*t, &facts->cpu, NULL, 0))
			add_tier(plan, *t);
}

/* Those that stand for the kernel's drivers of what is measured. */
static void add_mirrors(struct bench_plan *plan, const struct facts *facts)
{
	for (size_t i = 0; i < plan->request.n_specs; i++)
		if (engine_supports(&plan->specs[i]))
			add_tier(plan, cmd_mirror_tier(facts, plan->specs[i].kind->kernel));
}

static int unknown_tier(const char *word, struct status *st)
{
	char names[256] = "";
	size_t len = 0;

	for (const struct engine_tier *const *t = engine_tiers; *t && len < sizeof(names); t++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					engine_tier_name(*t));
	return status_set(st, ST_USAGE, EINVAL, "--tier: \"%s\" is none; all, kernel, %s are.",
			  word, names);
}

static int plan_tiers(struct bench_plan *plan, const char *list, const struct facts *facts,
		      struct status *st)
{
	const struct engine_tier *tier;
	char word[64], reason[160];

	if (!list) {
		if (plan->request.engines & 1U << MEASURE_CPU)
			add_tier(plan, trial_best_tier(&facts->cpu));
		/* Beside the kernel belongs what does as the kernel. */
		if (plan->request.crossing && facts->kernel.af_alg.available)
			add_mirrors(plan, facts);
		return 0;
	}
	if (!(plan->request.engines & 1U << MEASURE_CPU))
		return status_set(st, ST_USAGE, EINVAL,
				  "--tier is for the cpu engine, which --engine leaves out.");
	while (list_next(&list, word, sizeof(word))) {
		if (!strcmp(word, "all")) {
			add_usable_tiers(plan, facts);
			continue;
		}
		if (!strcmp(word, "kernel")) {
			add_mirrors(plan, facts);
			continue;
		}
		tier = engine_tier_find(word);
		if (!tier)
			return unknown_tier(word, st);
		if (!engine_tier_usable(tier, &facts->cpu, reason, sizeof(reason)))
			return status_set(st, ST_MISSING, EOPNOTSUPP,
					  "--tier: %s cannot be used here: %s.", word, reason);
		add_tier(plan, tier);
	}
	return 0;
}

static int plan_shapes(struct bench_plan *plan, const char *shape, struct status *st)
{
	plan->request.shapes = 1U << ENGINE_SERIAL;
	if (!shape || !strcmp(shape, "serial"))
		return 0;
	plan->request.shapes = 1U << ENGINE_MULTI;
	if (!strcmp(shape, "multi"))
		return 0;
	plan->request.shapes |= 1U << ENGINE_SERIAL;
	if (!strcmp(shape, "both"))
		return 0;
	return status_set(st, ST_USAGE, EINVAL,
			  "--shape: \"%s\" is none; serial, multi and both are.", shape);
}

/* A buffer that does not fit into memory is found out by the kernel when it is filled, and then by
 * killing. */
static int check_memory(struct bench_plan *plan, const struct facts *facts, struct status *st)
{
	uint64_t buffer = plan->request.buffer, most = memory_ceiling(&facts->memory);
	char wanted[UNITS_MAX], have[UNITS_MAX];
	unsigned threads = 1;
	uint64_t depth = 1;

	if (facts->memory.available && facts->memory.available < most)
		most = facts->memory.available;
	for (size_t i = 0; i < plan->request.n_threads; i++)
		threads = plan->threads[i] > threads ? plan->threads[i] : threads;
	for (size_t i = 0; i < plan->request.n_depths; i++)
		depth = plan->depths[i] > depth ? plan->depths[i] : depth;
	for (size_t i = 0; i < plan->request.n_sizes; i++)
		buffer = plan->sizes[i] * depth > buffer ? plan->sizes[i] * depth : buffer;
	if (!plan->request.n_sizes && depth * USUAL_SIZE > buffer)
		buffer = depth * USUAL_SIZE;
	if (most && buffer > most / threads)
		return status_set(st, ST_USAGE, EINVAL,
				  "%u thread%s with a buffer of %s each: more than the %s that "
				  "are free.",
				  threads, threads == 1 ? "" : "s", units_size(buffer, wanted),
				  units_size(most, have));
	plan->request.roof_threads = cpu_threads(&facts->cpu);
	return 0;
}

static int check_cells(const struct bench_plan *plan, struct status *st)
{
	const struct measure_request *r = &plan->request;
	uint64_t depths = r->n_depths ? r->n_depths : 1, cells, specs = 0;
	uint64_t kinds = r->n_tiers + 1;

	if (r->engines & 1U << MEASURE_AFALG)
		kinds += 2 * depths;
	if (r->engines & 1U << MEASURE_DM)
		kinds += (r->n_flags ? r->n_flags : 1) * depths;
	cells = 2 * r->n_threads * (r->n_sizes ? r->n_sizes : 1) * kinds;
	for (size_t i = 0; i < r->n_specs; i++)
		specs += plan->specs[i].sector ? 1 : r->n_sectors;
	cells *= specs;
	if (cells > CELLS_MAX)
		return status_set(st, ST_USAGE, EINVAL,
				  "bench: up to %" PRIu64 " cells at once; %d are the most.", cells,
				  CELLS_MAX);
	return 0;
}

int bench_plan(struct bench_plan *plan, const struct bench_options *o, char **specs, int n_specs,
	       const struct facts *facts, struct status *st)
{
	struct measure_request *r = &plan->request;
	int ret;

	r->specs = plan->specs;
	r->sectors = plan->sectors;
	r->sizes = plan->sizes;
	r->threads = plan->threads;
	r->depths = plan->depths;
	r->tiers = plan->tiers;
	r->seconds = o->seconds;
	r->fit = !o->sector_size;
	r->stream = true;
	r->buffer = o->buffer;
	if (o->seconds < BENCH_SECONDS_MIN)
		return status_set(st, ST_USAGE, EINVAL, "--time: at least %.2f seconds are needed.",
				  BENCH_SECONDS_MIN);
	ret = plan_engines(plan, o->engine, facts, st);
	if (!ret)
		ret = plan_sectors(plan, o->sector_size, st);
	if (!ret)
		ret = plan_specs(plan, specs, n_specs, st);
	if (!ret)
		ret = plan_sizes(plan, o, st);
	if (!ret)
		ret = plan_threads(plan, o->threads, facts, st);
	if (!ret)
		ret = plan_depths(plan, o->depth, st);
	if (!ret)
		ret = plan_paths(plan, o->path, st);
	if (!ret)
		ret = plan_tiers(plan, o->tier, facts, st);
	if (!ret)
		ret = bench_plan_dm(plan, o, facts, st);
	if (!ret)
		ret = plan_shapes(plan, o->shape, st);
	if (!ret)
		ret = check_memory(plan, facts, st);
	return ret ? ret : check_cells(plan, st);
}
