// SPDX-License-Identifier: GPL-2.0-or-later
/* From facts to a plan: what `recommend` prints and `format` carries out. */
#include "cmd_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decide/crossing.h"
#include "decide/model.h"
#include "decide/versus.h"
#include "measure/saved.h"
#include "report/json_crossing.h"
#include "report/json_model.h"
#include "util/text.h"
#include "report/json_facts.h"
#include "report/json_measure.h"
#include "report/save.h"
#include "util/json.h"
#include "volume/pbkdf.h"

#define DEFAULT_SECONDS 1.2
#define DISK_SECONDS    0.3
/* Of the time, for dm-crypt's flags. */
#define FLAGS_SHARE 0.3

/* LUKS2 on-disk format, 2.1: 48 bytes with the NUL; libcryptsetup would cut a longer one off. */
#define LABEL_MAX 47

int cmd_plan_label(const char *option, const char *label, struct status *st)
{
	const char *fault = label ? text_fault(label) : NULL;

	if (fault)
		return status_set(st, ST_USAGE, EINVAL, "--%s: \"%s\" holds %s.", option, label,
				  fault);
	if (label && strlen(label) > LABEL_MAX)
		return status_set(st, ST_USAGE, EINVAL,
				  "--%s: \"%s\" has %zu bytes; at most %d fit into the header.",
				  option, label, strlen(label), LABEL_MAX);
	return 0;
}

int cmd_plan_check(const struct plan_options *options, bool described, struct status *st)
{
	struct plan_source source = {0};

	return cmd_plan_parse(&source, options, described, st);
}

/* Saved results bring the facts of the machine that they were made on, and where they have none,
 * nothing is known of it: what decides here must decide the same elsewhere. --sysroot's description
 * goes before those. */
static int load_saved(struct plan_source *source, const struct cmd_globals *globals,
		      const char *path, struct status *st)
{
	struct facts facts;
	bool has_facts;
	int ret;

	ret = saved_load(&source->measurement, &facts, &has_facts, &source->saved, path, st);
	source->measured = !ret;
	if (ret || globals->sysroot) {
		facts_free(&facts);
		return ret;
	}
	facts_free(&source->facts);
	source->facts = facts;
	return 0;
}

/* The disk's own speed: given, saved with the results, or measured where there is a disk to read.
 */
static void find_disk_speed(struct plan_source *source, const struct device_facts *device,
			    bool described)
{
	struct disk_speed *disk = &source->disk;

	source->has_disk = true;
	switch (source->disk_wish) {
	case PLAN_DISK_GIVEN:
		*disk = (struct disk_speed){source->disk_given, "given", 0, 0,
					    "as --device-speed says"};
		return;
	case PLAN_DISK_SKIP:
		*disk = (struct disk_speed){0, "skipped", 0, 0, "--device-speed skip"};
		return;
	case PLAN_DISK_DEFAULT:
	case PLAN_DISK_MEASURE:
		break;
	}
	if (described && source->saved.speed_found)
		*disk = source->saved.speed;
	else if (!described && device)
		disk_speed_measure(disk, device, DISK_SECONDS);
	else
		source->has_disk = false;
}

/* Facts and figures: from the file, from a description, or by measuring. */
static int find_out(struct plan_source *source, const struct cmd_globals *globals,
		    const struct plan_options *o, const struct device_facts **device,
		    double seconds, struct status *st)
{
	bool described = o->from || globals->sysroot;
	int ret;

	ret = facts_probe(&source->facts, globals->sysroot, globals->cpu_disable, st);
	if (!ret && o->from)
		ret = load_saved(source, globals, o->from, st);
	if (!ret && !*device && source->saved.found)
		*device = &source->saved.facts;
	if (!ret)
		ret = decide_check_device(*device, &o->place, st);
	if (ret)
		return ret;
	find_disk_speed(source, *device, described);
	return described ? 0
			 : cmd_plan_measure(source, globals, o, *device,
					    seconds * (1 - FLAGS_SHARE), st);
}

static void fill_input(struct decide_input *input, const struct plan_source *source,
		       const struct plan_options *o, const struct device_facts *device)
{
	*input = (struct decide_input){
		.facts = &source->facts,
		.measurement = source->measured ? &source->measurement : NULL,
		.device = device,
		.policy = source->policy,
		.wanted = source->has_wanted ? &source->wanted : NULL,
		.sector = (unsigned)o->sector_size,
		.use = source->use,
		.integrity = source->integrity,
		.discards = o->allow_discards,
		.place = o->place,
		.disk = source->has_disk ? &source->disk : NULL,
		.pbkdf = {.type = o->pbkdf,
			  .memory = o->pbkdf_memory << 10,
			  .iterations = o->pbkdf_iterations,
			  .threads = (unsigned)o->pbkdf_parallel,
			  .time_ms = (unsigned)o->iter_time,
			  .unlock_memory = source->unlock_memory,
			  .unlock_time_ms = (unsigned)o->unlock_time,
			  .slower = o->unlock_slower},
	};
}

int cmd_plan_make(struct plan *plan, struct plan_source *source, const struct cmd_globals *globals,
		  const struct plan_options *o, const struct device_facts *device,
		  struct status *st)
{
	bool described = o->from || globals->sysroot;
	struct decide_input input;
	double seconds = o->time > 0 ? o->time : DEFAULT_SECONDS;
	int ret;

	memset(plan, 0, sizeof(*plan));
	memset(source, 0, sizeof(*source));
	ret = cmd_plan_parse(source, o, described, st);
	/* Before time is spent. */
	if (!ret)
		ret = decide_check_device(device, &o->place, st);
	if (!ret)
		ret = find_out(source, globals, o, &device, seconds, st);
	if (ret)
		return ret;
	source->device = device;
	source->explain = o->explain;
	fill_input(&input, source, o, device);
	ret = decide_plan(plan, &input, st);
	if (device && device == &source->saved.facts)
		plan->target = *device->target ? device->target : device->path;
	if (!ret && !described)
		ret = cmd_plan_flags(plan, source, globals, seconds * FLAGS_SHARE, st);
	if (!ret && !described)
		ret = pbkdf_settle(&plan->pbkdf, plan->spec.key_bits / 8, st);
	return ret;
}

int cmd_plan_judge(struct plan *plan, const struct plan_source *source, const struct spec *spec,
		   struct status *st)
{
	struct policy any = *source->policy;
	struct decide_input input = {
		.facts = &source->facts,
		.measurement = source->measured ? &source->measurement : NULL,
		.policy = &any,
		.wanted = spec,
		.sector = spec->sector,
		.disk = source->has_disk ? &source->disk : NULL,
	};

	memset(plan, 0, sizeof(*plan));
	any.fips = false;
	any.min_strength = 0;
	for (size_t i = 0; i < SPEC_CLASS_COUNT; i++)
		any.margin[i] = 1;
	return decide_plan(plan, &input, st);
}

/* What bench concludes from the same figures. */
static int put_conclusions(struct json_object *doc, const struct plan_source *source)
{
	struct crossing crossing = {.asked = false};
	struct versus_list versus = {0};
	struct predictions predictions = {0};
	int ret;

	ret = crossing_find(&crossing, &source->measurement, &source->facts);
	if (!ret)
		ret = versus_find(&versus, &source->measurement);
	if (!ret)
		ret = model_predict(&predictions, &source->measurement, &source->facts);
	if (!ret) {
		json_put_crossing(doc, &crossing);
		json_put_versus(doc, &versus);
		json_put_predictions(doc, &predictions);
	}
	crossing_free(&crossing);
	versus_free(&versus);
	predictions_free(&predictions);
	return ret;
}

int cmd_plan_save(const struct plan_source *source, const char *path, struct status *st)
{
	struct json_object *doc = json_document("bench");
	int ret;

	json_put_measurement(doc, &source->measurement);
	ret = put_conclusions(doc, source);
	json_put(doc, "cpu", report_cpu_json(&source->facts.cpu));
	json_put(doc, "kernel", report_kernel_json(&source->facts.kernel));
	json_put(doc, "memory", report_memory_json(&source->facts.memory));
	if (source->device)
		json_put(doc, "device", report_device_json(source->device));
	if (source->has_disk)
		json_put(doc, "device_speed", cmd_plan_disk_json(&source->disk));
	ret = ret ? status_nomem(st) : save_document(doc, path, PLAN_SAVED_SCHEMA, st);
	json_object_put(doc);
	return ret;
}

void plan_source_free(struct plan_source *source)
{
	measurement_free(&source->measurement);
	facts_free(&source->facts);
}
