// SPDX-License-Identifier: GPL-2.0-or-later
/* Measures what this machine can do, layer by layer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "cmd_bench.h"
#include "cmd_plan.h"
#include "decide/crossing.h"
#include "decide/model.h"
#include "decide/versus.h"
#include "measure/clock.h"
#include "measure/disk_speed.h"
#include "measure/stop.h"
#include "report/chart.h"
#include "report/json_crossing.h"
#include "report/json_facts.h"
#include "report/json_measure.h"
#include "report/json_model.h"
#include "report/progress.h"
#include "report/save.h"
#include "report/text_crossing.h"
#include "report/text_measure.h"
#include "report/text_model.h"
#include "util/json.h"
#include "util/output.h"
#include "util/units.h"

static struct bench_options options = {.seconds = 8, .buffer = 1 << 20};

/* What a file must hold to be replaced by --save. */
#define SCHEMA "dmcrypt-tune.bench.v1"

#define BENCH(field) offsetof(struct bench_options, field)

static const struct opt table[] = {
	{"experiment", 0, OPT_STRING, "NAME", BENCH(experiment), 0, 0,
	 "What people measure by hand: sizes, crossing,\nmulti-buffer, xts-cbc or authenticated, each in place\n"
	 "of other options and specs; those given count."},
	{"engine", 0, OPT_STRING, "LIST", BENCH(engine), 0, 0,
	 "Layers to measure: dm, afalg, cpu, openssl (default:\nall; dm where this process can use device-mapper)."},
	{"sector-size", 0, OPT_STRING, "LIST", BENCH(sector_size), 0, 0,
	 "Encryption sector sizes in bytes (default 512,1024,2048,4096)."},
	{"size", 0, OPT_STRING, "LIST", BENCH(size), 0, 0,
	 "Bytes a request, from 16 on: one message with one IV;\nwith a sector size, dm's requests and "
	 "cpu's and\nopenssl's calls of so many sectors (default 65536;\nafalg: one sector)."},
	{"threads", 0, OPT_STRING, "LIST", BENCH(threads), 0, 0,
	 "Numbers of threads, or all (default 1)."},
	{"depth", 0, OPT_STRING, "LIST", BENCH(depth), 0, 0,
	 "Requests in flight at once, per thread, of dm and\nafalg (default 1)."},
	{"flags", 0, OPT_STRING, "LIST", BENCH(flags), 0, 0,
	 "Sets of dm-crypt's flags, each joined by +, none, or\nall that this kernel has (default none)."},
	{"path", 0, OPT_STRING, "LIST", BENCH(path), 0, 0,
	 "How afalg's data go in: copy (default), splice, both."},
	{"time", 0, OPT_REAL, "SECONDS", BENCH(seconds), 0, 3600,
	 "Measure for this long in all (default 8)."},
	{"buffer", 0, OPT_UINT, "BYTES", BENCH(buffer), 4096, 1ULL << 40,
	 "Memory that each thread walks (default 1048576)."},
	{"tier", 0, OPT_STRING, "LIST", BENCH(tier), 0, 0,
	 "Tiers of the cpu engine, all, or kernel: what stands\nfor the kernel's drivers (default: the fastest here, by\na short trial)."},
	{"shape", 0, OPT_STRING, "SHAPE", BENCH(shape), 0, 0,
	 "CBC encryption of cpu: serial (default), multi for\nseveral sectors at once, or both."},
	{"save", 0, OPT_STRING, "FILE", BENCH(save), 0, 0,
	 "Save the results as JSON, for recommend --from and\ncompare."},
	{"device", 0, OPT_STRING, "DEVICE", BENCH(device), 0, 0,
	 "Also read this disk for 0.3 seconds (it is only read):\nits own speed, which --plot draws and --save keeps."},
	{"device-speed", 0, OPT_REAL, "MB/S", BENCH(device_speed), 0, 1000000,
	 "The disk's own speed, where it is known."},
	{"plot", 0, OPT_STRING, "FILE", BENCH(plot), 0, 0,
	 "Draw them over size, by gnuplot: FILE.svg or FILE.png."},
	OPT_END};

/* Seconds that a disk is read for. */
#define DISK_SECONDS 0.3

/* The disk, where there is one or its speed is given. */
static struct {
	struct device_facts device;
	bool probed, known;
	struct disk_speed speed;
} disk;

/* What the cells say together. */
struct conclusions {
	struct crossing crossing;
	struct versus_list versus;
	struct predictions predictions;
};

static struct json_object *document(const struct conclusions *c, const struct measurement *m,
				    const struct facts *facts)
{
	struct json_object *doc = json_document("bench");

	if (options.experiment)
		json_put_string(doc, "experiment", options.experiment);
	json_put_measurement(doc, m);
	json_put_crossing(doc, &c->crossing);
	json_put_versus(doc, &c->versus);
	json_put_predictions(doc, &c->predictions);
	json_put(doc, "cpu", report_cpu_json(&facts->cpu));
	json_put(doc, "kernel", report_kernel_json(&facts->kernel));
	json_put(doc, "memory", report_memory_json(&facts->memory));
	if (disk.probed)
		json_put(doc, "device", report_device_json(&disk.device));
	if (disk.known)
		json_put(doc, "device_speed", cmd_plan_disk_json(&disk.speed));
	return doc;
}

static void print_disk(void)
{
	char speed[UNITS_MAX];

	if (!disk.known)
		return;
	if (disk.speed.speed > 0)
		printf("\nThe disk alone: %s (%s).\n", units_speed(disk.speed.speed, speed),
		       disk.probed ? "reading" : disk.speed.reason);
	else
		printf("\nThe disk alone: not known: %s.\n", disk.speed.reason);
}

static int print_text(const struct conclusions *c, const struct measurement *m)
{
	int ret;

	ret = text_measurement(m);
	if (ret)
		return ret;
	text_scaling(m);
	text_fits(m);
	ret = text_crossing(&c->crossing);
	if (ret)
		return ret;
	text_versus(&c->versus);
	print_disk();
	ret = text_predictions(&c->predictions);
	if (!ret)
		text_measurement_end(m);
	return ret;
}

/* What the results as a whole amount to: an exit status, with a sentence on standard error. */
static int verdict(const struct measurement *m)
{
	size_t measured = 0, wrong = 0;

	output_flush();
	for (size_t i = 0; i < m->n_results; i++) {
		measured += !*m->results[i].error_code;
		wrong += !strcmp(m->results[i].error_code, "mismatch");
	}
	if (wrong) {
		cmd_say("wrong output: %zu of %zu cells.", wrong, m->n_results);
		return ST_CHECK;
	}
	if (!measured) {
		cmd_say("nothing could be measured: %s.",
			m->n_results ? m->results[0].error_reason : "there are no cells");
		return ST_MISSING;
	}
	return 0;
}

static bool any_measured(const struct measurement *m)
{
	for (size_t i = 0; i < m->n_results; i++)
		if (!*m->results[i].error_code)
			return true;
	return false;
}

static int report(const struct cmd_globals *globals, const struct conclusions *c,
		  const struct measurement *m, const struct facts *facts, struct status *st)
{
	struct json_object *doc = document(c, m, facts);
	struct status plot_st = {ST_OK, ""};
	int ret, saved = 0, plotted = 0;

	/* A file without a figure is no results, and what it would replace may have some. */
	if (options.save && !any_measured(m))
		saved = status_set(st, ST_MISSING, ENODATA,
				   "--save: nothing was measured, so that %s was not written.",
				   options.save);
	else if (options.save)
		saved = save_document(doc, options.save, SCHEMA, st);
	if (options.plot)
		plotted = chart_save(m, facts->cpu.model, disk.speed.speed, options.plot, &plot_st);
	if (globals->json) {
		ret = json_print(doc);
	} else {
		json_object_put(doc);
		ret = print_text(c, m);
	}
	if (ret)
		return ret;
	/* The results are out: an error document after them would be a second one. */
	output_flush();
	if (saved)
		cmd_say("%s", st->message);
	if (plotted)
		cmd_say("%s", plot_st.message);
	ret = verdict(m);
	if (saved)
		return st->code;
	return ret || !plotted ? ret : (int)plot_st.code;
}

static int conclude(const struct cmd_globals *globals, const struct measurement *m,
		    const struct facts *facts, struct status *st)
{
	struct conclusions c = {.crossing = {.asked = false}};
	int ret;

	ret = crossing_find(&c.crossing, m, facts);
	if (!ret)
		ret = versus_find(&c.versus, m);
	if (!ret)
		ret = model_predict(&c.predictions, m, facts);
	ret = ret ? status_nomem(st) : report(globals, &c, m, facts, st);
	crossing_free(&c.crossing);
	versus_free(&c.versus);
	predictions_free(&c.predictions);
	return ret;
}

/* The options that an experiment stands for, set and said. */
static int choose_experiment(const struct cmd_globals *globals, char ***operands, int *n,
			     struct status *st)
{
	char *words;
	int ret;

	ret = bench_experiment(&options, operands, n, st);
	if (ret || !options.experiment)
		return ret;
	words = bench_experiment_words(&options, *operands, *n);
	if (!words)
		return status_nomem(st);
	cmd_note(globals, "this is %s", words);
	free(words);
	return 0;
}

/* The files to be written, before hours of work. */
static int check_files(struct status *st)
{
	int ret;

	ret = options.save ? save_check(options.save, SCHEMA, st) : 0;
	if (!ret && options.save && options.plot && !strcmp(options.save, options.plot))
		ret = status_set(st, ST_USAGE, EINVAL,
				 "--save and --plot: both name %s; results and picture are a file "
				 "each.",
				 options.save);
	return ret || !options.plot ? ret : chart_check(options.plot, st);
}

/* The disk's speed, of what the time has left for it. */
static int find_disk(struct bench_plan *plan, struct status *st)
{
	const uint64_t begun = clock_ns();
	int ret;

	if (options.device && options.device_speed > 0)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--device and --device-speed contradict each other: the one measures "
			"what the other says.");
	disk.known = options.device || options.device_speed > 0;
	if (options.device_speed > 0)
		disk.speed = (struct disk_speed){options.device_speed * 1e6, "given", 0, 0,
						 "as --device-speed says"};
	if (!options.device)
		return 0;
	ret = device_probe(&disk.device, options.device, NULL, st);
	if (ret)
		return ret;
	disk.probed = true;
	disk_speed_measure(&disk.speed, &disk.device,
			   options.seconds < 4 * DISK_SECONDS ? options.seconds / 4 : DISK_SECONDS);
	plan->request.seconds -= (double)(clock_ns() - begun) / CLOCK_SECOND;
	if (plan->request.seconds < BENCH_SECONDS_MIN)
		plan->request.seconds = BENCH_SECONDS_MIN;
	return 0;
}

/* From the options to the figures; a signal ends it from the first moment on. */
static int measure(const struct cmd_globals *globals, struct measurement *m, struct facts *facts,
		   struct bench_plan *plan, char **operands, int n, struct status *st)
{
	struct progress progress;
	struct stop stop;
	int ret;

	stop_begin(&stop);
	ret = facts_probe(facts, NULL, globals->cpu_disable, st);
	if (!ret && !stop_signal())
		ret = bench_plan(plan, &options, operands, n, facts, st);
	if (!ret && !stop_signal())
		ret = find_disk(plan, st);
	if (!ret && !stop_signal()) {
		progress_begin(&progress, globals->quiet);
		plan->request.progress = progress_show;
		plan->request.progress_arg = &progress;
		ret = measure_run(m, &plan->request, facts, st);
		progress_end(&progress);
	}
	if (stop_signal())
		ret = stop_status(st);
	stop_end(&stop);
	return ret;
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	struct facts facts = {0};
	struct measurement m = {0};
	struct bench_plan *plan;
	int ret;

	if (globals->sysroot)
		return status_set(st, ST_USAGE, EINVAL,
				  "bench: nothing is measured under --sysroot.");
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return status_nomem(st);
	ret = check_files(st);
	if (!ret)
		ret = choose_experiment(globals, &operands, &n, st);
	if (!ret)
		ret = measure(globals, &m, &facts, plan, operands, n, st);
	if (!ret)
		ret = conclude(globals, &m, &facts, st);
	measurement_free(&m);
	facts_free(&facts);
	device_facts_free(&disk.device);
	free(plan);
	return ret;
}

const struct cmd cmd_bench = {
	.name = "bench",
	.operands = "[SPEC...]",
	.summary = "Measure disk ciphers: in dm-crypt, in the kernel, in this CPU, in OpenSSL.",
	.details = "SPEC is CIPHER/KEYBITS[+INTEGRITY][@SECTOR], e.g. aes-xts-plain64/512@4096 or\n"
		   "aes-gcm-random/256+aead@4096. Every output is checked before it\n"
		   "is timed. Speeds are medians of many short slices, taken in turn. AF_ALG's "
		   "figures hold the cost\n"
		   "of a system call per sector, which dm-crypt does not have: they are no disk "
		   "speeds. dm is dm-crypt\n"
		   "itself, on a device of zeros that drops what is written: as root, and no "
		   "disk is touched.",
	.options = table,
	.dest = &options,
	.max_operands = -1,
	.run = run,
};
