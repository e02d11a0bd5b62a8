// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "cmd_plan.h"
#include "report/json_facts.h"
#include "report/save.h"
#include "util/json.h"
#include "util/output.h"

struct recommend_options {
	struct plan_options plan;
	const char *label, *save;
};

static struct recommend_options options = {.plan = PLAN_DEFAULTS};

static const struct opt table[] = {
	PLAN_OPTIONS(struct recommend_options, plan),
	{"label", 0, OPT_STRING, "LABEL", offsetof(struct recommend_options, label), 0, 0,
	 "Put this label into the cryptsetup command line."},
	{"save", 0, OPT_STRING, "FILE", offsetof(struct recommend_options, save), 0, 0,
	 "Save what was decided on as JSON, for --from."},
	OPT_END};

static int print_plan(const struct cmd_globals *globals, const struct plan *plan,
		      const struct plan_source *source, const char *device)
{
	struct json_object *doc;

	if (!globals->json) {
		cmd_plan_text(stdout, plan, source, device, options.label, true);
		return output_flush();
	}
	doc = json_document("recommend");
	cmd_plan_json(doc, plan, source, device, options.label, NULL);
	json_put(doc, "device", source->device ? report_device_json(source->device) : NULL);
	return json_print(doc);
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	const char *path = n ? operands[0] : NULL;
	struct device_facts device = {0};
	struct plan_source source = {0};
	struct plan plan = {0};
	bool empty;
	int ret;

	ret = cmd_plan_check(&options.plan, options.plan.from || globals->sysroot, st);
	if (!ret && options.save)
		ret = save_check(options.save, PLAN_SAVED_SCHEMA, st);
	if (!ret)
		ret = cmd_plan_label("label", options.label, st);
	if (!ret && path)
		ret = device_probe(&device, path, globals->sysroot, st);
	if (!ret)
		ret = cmd_plan_make(&plan, &source, globals, &options.plan, path ? &device : NULL,
				    st);
	/* What stands for a machine that is described is saved as that; a run without a figure is
	 * no results. */
	empty = options.save && !options.plan.from && !globals->sysroot &&
		!cmd_plan_any_figure(&source.measurement);
	if (!ret && options.save && !empty)
		ret = cmd_plan_save(&source, options.save, st);
	if (!ret)
		ret = print_plan(globals, &plan, &source, path);
	if (!ret && empty) {
		cmd_say("--save: nothing was measured, so that %s was not written.", options.save);
		ret = ST_MISSING;
	}
	plan_free(&plan);
	plan_source_free(&source);
	device_facts_free(&device);
	return ret;
}

const struct cmd cmd_recommend = {
	.name = "recommend",
	.operands = "[DEVICE]",
	.summary = "Recommend a cipher spec for this machine and DEVICE, with reasons.",
	.details =
		"Measures the candidates for about a second, decides, and prints the choice, why, what was\n"
		"not chosen and why not, and the cryptsetup command line and crypttab line that do the same.\n"
		"Writes nothing. With --sysroot and without --from it decides on facts alone.",
	.options = table,
	.dest = &options,
	.max_operands = 1,
	.run = run,
};
