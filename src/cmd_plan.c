// SPDX-License-Identifier: GPL-2.0-or-later
/* From facts to a plan: what `recommend` prints and `format` carries out. */
#include "cmd_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/saved.h"
#include "report/progress.h"
#include "volume/pbkdf.h"

#define DEFAULT_SECONDS 1.2
#define MAX_TIERS       4

static const unsigned sectors[] = {512, 1024, 2048, 4096};
static const unsigned one_thread[] = {1};

static int parse_wanted(struct plan_source *source, const struct plan_options *o, struct status *st)
{
	if (!o->cipher && o->key_size)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--key-size needs --cipher; without them the program chooses both.");
	if (!o->cipher)
		return 0;
	source->has_wanted = true;
	return spec_from_options(&source->wanted, o->cipher, o->key_size, o->sector_size, st);
}

static int check_pbkdf(const struct plan_options *o, struct status *st)
{
	bool pbkdf2 = o->pbkdf && !strcmp(o->pbkdf, "pbkdf2");

	if (o->pbkdf && !pbkdf2 && strcmp(o->pbkdf, "argon2id") && strcmp(o->pbkdf, "argon2i"))
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf: \"%s\" is none of argon2id, argon2i and pbkdf2.",
				  o->pbkdf);
	if (pbkdf2 && (o->pbkdf_memory || o->pbkdf_parallel))
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-memory and --pbkdf-parallel are Argon2's; pbkdf2 has neither.");
	if (o->pbkdf_iterations && o->iter_time)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-force-iterations and --iter-time contradict each other: give one.");
	return 0;
}

static int check_options(struct plan_source *source, const struct plan_options *o,
			 struct status *st)
{
	int ret;

	source->policy = policy_find(o->policy ? o->policy : "balanced");
	if (!source->policy)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--policy: \"%s\" is none of balanced, performance, strict and fips.",
			o->policy);
	if (o->sector_size && !spec_sector_valid(o->sector_size))
		return status_set(st, ST_USAGE, EINVAL,
				  "--sector-size: %llu is none of 512, 1024, 2048 and 4096 bytes.",
				  (unsigned long long)o->sector_size);
	if (o->from && o->time > 0)
		return status_set(st, ST_USAGE, EINVAL,
				  "--from measures nothing, so --time says nothing: give one.");
	ret = parse_wanted(source, o, st);
	return ret ? ret : check_pbkdf(o, st);
}

int cmd_plan_check(const struct plan_options *options, struct status *st)
{
	struct plan_source source = {0};

	return check_options(&source, options, st);
}

/* The tier that stands for the kernel's driver, or the next slower one that --cpu-disable leaves.
 */
static const struct engine_tier *mirror(const struct facts *facts, const char *kernel)
{
	const char *name = decide_mirror_tier(&facts->kernel, kernel);
	bool reached = false;

	for (const struct engine_tier *const *t = engine_tiers; *t; t++) {
		reached = reached || !strcmp(engine_tier_name(*t), name);
		if (reached && engine_tier_usable(*t, &facts->cpu, NULL, 0))
			return *t;
	}
	return engine_tier_find("portable");
}

static void add_tier(const struct engine_tier **tiers, size_t *n, const struct engine_tier *tier)
{
	for (size_t i = 0; i < *n; i++)
		if (tiers[i] == tier)
			return;
	if (*n < MAX_TIERS)
		tiers[(*n)++] = tier;
}

static int measure_candidates(struct plan_source *source, const struct candidates *candidates,
			      const struct cmd_globals *globals, double seconds, struct status *st)
{
	struct spec *specs = calloc(candidates->n + 1, sizeof(*specs));
	const struct engine_tier *tiers[MAX_TIERS];
	struct measure_request request = {
		.specs = specs,
		.sectors = sectors,
		.n_sectors = sizeof(sectors) / sizeof(sectors[0]),
		.tiers = tiers,
		.engines = 1U << MEASURE_CPU,
		.shapes = 1U << ENGINE_SERIAL,
		.threads = one_thread,
		.n_threads = 1,
		.seconds = seconds,
		.progress = progress_show,
	};
	struct progress progress;
	int ret;

	if (!specs)
		return -ENOMEM;
	if (source->facts.kernel.af_alg.available)
		request.engines |= 1U << MEASURE_AFALG;
	for (size_t i = 0; i < candidates->n; i++) {
		const struct candidate *c = &candidates->list[i];

		if (!c->admitted ||
		    (!engine_supports(&c->spec) && !source->facts.kernel.af_alg.available))
			continue;
		specs[request.n_specs++] = c->spec;
		if (engine_supports(&c->spec))
			add_tier(tiers, &request.n_tiers,
				 mirror(&source->facts, c->spec.kind->kernel));
	}
	progress_begin(&progress, globals->quiet);
	request.progress_arg = &progress;
	ret = measure_run(&source->measurement, &request, &source->facts, st);
	progress_end(&progress);
	free(specs);
	source->measured = !ret;
	return ret;
}

/* What is worth a share of the time: all candidates, or the one that the user insists on. */
static int measure_here(struct plan_source *source, const struct cmd_globals *globals,
			double seconds, struct status *st)
{
	struct candidate one = {.spec = source->wanted, .admitted = true};
	struct candidates candidates = {&one, 1};
	int ret;

	one.spec.sector = 0;
	if (source->has_wanted)
		return measure_candidates(source, &candidates, globals, seconds, st);
	ret = candidates_list(&candidates, &source->facts);
	if (!ret)
		ret = measure_candidates(source, &candidates, globals, seconds, st);
	candidates_free(&candidates);
	return ret;
}

/* Saved results bring the facts of the machine that they were made on; --sysroot's description goes
 * before those. */
static int load_saved(struct plan_source *source, const struct cmd_globals *globals,
		      const char *path, struct status *st)
{
	struct facts facts;
	bool has_facts = false;
	int ret;

	ret = saved_load(&source->measurement, &facts, &has_facts, path, st);
	if (ret)
		return ret;
	source->measured = true;
	if (!has_facts || globals->sysroot) {
		facts_free(&facts);
		return 0;
	}
	facts_free(&source->facts);
	source->facts = facts;
	return 0;
}

int cmd_plan_make(struct plan *plan, struct plan_source *source, const struct cmd_globals *globals,
		  const struct plan_options *o, const struct device_facts *device,
		  struct status *st)
{
	struct decide_input input = {
		.facts = &source->facts, .device = device, .sector = o->sector_size};
	int ret;

	memset(plan, 0, sizeof(*plan));
	memset(source, 0, sizeof(*source));
	ret = check_options(source, o, st);
	if (!ret)
		ret = facts_probe(&source->facts, globals->sysroot, globals->cpu_disable, st);
	if (!ret && o->from)
		ret = load_saved(source, globals, o->from, st);
	else if (!ret && !globals->sysroot)
		ret = measure_here(source, globals, o->time > 0 ? o->time : DEFAULT_SECONDS, st);
	if (ret)
		return ret;
	input.policy = source->policy;
	input.measurement = source->measured ? &source->measurement : NULL;
	input.wanted = source->has_wanted ? &source->wanted : NULL;
	input.pbkdf = (struct plan_pbkdf_wish){o->pbkdf, o->pbkdf_memory << 10, o->pbkdf_iterations,
					       o->pbkdf_parallel, o->iter_time};
	ret = decide_plan(plan, &input, st);
	if (!ret && !globals->sysroot && !o->from)
		ret = pbkdf_settle(&plan->pbkdf, plan->spec.key_bits / 8, st);
	return ret;
}

void plan_source_free(struct plan_source *source)
{
	measurement_free(&source->measurement);
	facts_free(&source->facts);
}
