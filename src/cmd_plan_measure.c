// SPDX-License-Identifier: GPL-2.0-or-later
/* The measuring behind a plan: few cells, so that each gets many slices in a second. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_plan.h"
#include "report/progress.h"

#define MAX_TIERS 4

/* One run's request and what it points to. */
struct run {
	struct measure_request request;
	struct progress progress;
	struct spec *specs;
	const struct engine_tier *tiers[MAX_TIERS];
	unsigned sectors[2];
};

static const unsigned one_thread[] = {1};

const struct engine_tier *cmd_mirror_tier(const struct facts *facts, const char *kernel)
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

static void add_tier(struct run *run, const struct engine_tier *tier)
{
	for (size_t i = 0; i < run->request.n_tiers; i++)
		if (run->tiers[i] == tier)
			return;
	if (run->request.n_tiers < MAX_TIERS)
		run->tiers[run->request.n_tiers++] = tier;
}

/*
 * Two sizes tell AF_ALG's crossing from the cipher: the least, and the one that will be chosen if
 * speed allows. The sizes between them are only chosen where they are the largest that there is.
 */
static void choose_sectors(struct run *run, const struct plan_source *source,
			   const struct plan_options *options, const struct device_facts *device)
{
	unsigned wanted = options->sector_size ? options->sector_size
			  : source->has_wanted ? source->wanted.sector
					       : 0;
	unsigned large = wanted ? wanted : decide_largest_sector(&source->facts, device);

	run->sectors[0] = SPEC_SECTOR_MIN;
	run->sectors[1] = large > SPEC_SECTOR_MIN ? large : SPEC_SECTOR_MAX;
	run->request.sectors = run->sectors;
	run->request.n_sectors = 2;
}

/*
 * Whether a rare cipher can win, so that time is spent on it: of full strength, there (tried, where
 * that could be), and on a machine whose kernel does AES without the CPU's instructions. With them
 * nothing of this kind comes near AES.
 */
static bool rare_may_win(const struct spec *spec, const struct facts *facts)
{
	const struct kernel_attempt *a = kernel_attempt_for(&facts->kernel, spec->kind->kernel);
	bool there = a && a->tried ? a->available
				   : kernel_driver_for(&facts->kernel, spec->kind->kernel) != NULL;
	enum kernel_aes_kind aes = kernel_aes_kind(&facts->kernel, "xts(aes)", NULL);

	return there && spec_class(spec) == SPEC_CLASS_STRONG &&
	       (aes == KERNEL_AES_UNKNOWN ? cpu_has_aes(&facts->cpu) == 0 : aes < KERNEL_AES_CPU);
}

/* The candidates that the layer can do; rare ciphers when asked for by name, or where they may win.
 */
static void add_specs(struct run *run, const struct candidates *candidates,
		      const struct plan_source *source, bool kernel)
{
	for (size_t i = 0; i < candidates->n; i++) {
		const struct candidate *c = &candidates->list[i];
		bool rare = c->spec.kind->usual >= SPEC_USUAL_RARE && !source->has_wanted &&
			    !source->integrity && !rare_may_win(&c->spec, &source->facts);

		if (!c->admitted || rare || (!kernel && !engine_supports(&c->spec)))
			continue;
		run->specs[run->request.n_specs++] = c->spec;
		if (!kernel)
			add_tier(run, cmd_mirror_tier(&source->facts, c->spec.kind->kernel));
	}
}

/* The spec of a volume that there is, where it is none of the candidates measured. */
static void add_also(struct run *run, const struct spec *also, const struct plan_source *source,
		     bool kernel)
{
	if (!also || (!kernel && !engine_supports(also)))
		return;
	for (size_t i = 0; i < run->request.n_specs; i++)
		if (run->specs[i].kind == also->kind && run->specs[i].key_bits == also->key_bits)
			return;
	run->specs[run->request.n_specs] = *also;
	run->specs[run->request.n_specs++].sector = 0;
	if (!kernel)
		add_tier(run, cmd_mirror_tier(&source->facts, also->kind->kernel));
}

bool cmd_plan_any_figure(const struct measurement *m)
{
	for (size_t i = 0; i < m->n_results; i++)
		if (!*m->results[i].error_code)
			return true;
	return false;
}

static int measure(struct run *run, struct plan_source *source, const struct cmd_globals *globals,
		   struct status *st)
{
	int ret;

	progress_begin(&run->progress, globals->quiet);
	run->request.progress = progress_show;
	run->request.progress_arg = &run->progress;
	ret = measure_run(&source->measurement, &run->request, &source->facts, st);
	progress_end(&run->progress);
	source->measured = !ret;
	return ret;
}

/* The layers that could be had, most trusted first. */
static size_t list_layers(enum measure_engine layers[3], const struct facts *facts)
{
	size_t n = 0;

	if (facts->kernel.dm.available)
		layers[n++] = MEASURE_DM;
	if (facts->kernel.af_alg.available)
		layers[n++] = MEASURE_AFALG;
	layers[n++] = MEASURE_CPU;
	return n;
}

/* A layer may be there and what it needs not (AF_ALG without libkcapi, dm-crypt without the zero
 * target): then the next. */
static int measure_list(struct plan_source *source, const struct candidates *candidates,
			const struct cmd_globals *globals, const struct plan_options *options,
			const struct device_facts *device, double seconds, struct status *st)
{
	enum measure_engine layers[3];
	size_t n = list_layers(layers, &source->facts);
	struct run run;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		measurement_free(&source->measurement);
		memset(&run, 0, sizeof(run));
		run.specs = calloc(candidates->n + 2, sizeof(*run.specs));
		if (!run.specs)
			return -ENOMEM;
		run.request = (struct measure_request){.specs = run.specs,
						       .tiers = run.tiers,
						       .threads = one_thread,
						       .n_threads = 1,
						       .engines = 1U << layers[i],
						       .shapes = 1U << ENGINE_SERIAL,
						       .contest = true,
						       .stream = true,
						       .seconds = seconds,
						       /* A time that was asked for is kept. */
						       .reserve = options->time > 0 ? 0 : seconds};
		choose_sectors(&run, source, options, device);
		add_specs(&run, candidates, source, layers[i] != MEASURE_CPU);
		add_also(&run, options->also, source, layers[i] != MEASURE_CPU);
		if (run.request.n_specs)
			ret = measure(&run, source, globals, st);
		free(run.specs);
		if (cmd_plan_any_figure(&source->measurement))
			break;
	}
	return ret;
}

int cmd_plan_measure(struct plan_source *source, const struct cmd_globals *globals,
		     const struct plan_options *options, const struct device_facts *device,
		     double seconds, struct status *st)
{
	struct candidate one = {.spec = source->wanted, .admitted = true};
	struct candidates candidates = {&one, 1};
	int ret;

	one.spec.sector = 0;
	if (source->has_wanted)
		return measure_list(source, &candidates, globals, options, device, seconds, st);
	ret = source->integrity
		      ? candidates_list_integrity(&candidates, &source->facts,
						  *source->integrity ? source->integrity : NULL)
		      : candidates_list(&candidates, &source->facts);
	if (!ret)
		ret = measure_list(source, &candidates, globals, options, device, seconds, st);
	candidates_free(&candidates);
	return ret;
}
