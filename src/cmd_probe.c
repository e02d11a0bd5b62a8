// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "facts/device.h"
#include "facts/facts.h"
#include "report/findings.h"
#include "report/json_facts.h"
#include "report/text_facts.h"
#include "util/json.h"

/* Everything that the command looks at. */
struct probe {
	struct facts facts;
	struct device_facts device;
	bool has_device;
	struct findings findings;
};

static int look(struct probe *p, const struct cmd_globals *globals, const char *path,
		struct status *st)
{
	bool described = globals->sysroot && *globals->sysroot;
	struct findings_input in = {
		.facts = &p->facts,
		.described = described,
		.privileged = geteuid() == 0,
	};
	int ret;

	/* The device first: a wrong name should not wait for the rest. */
	if (path) {
		ret = device_probe(&p->device, path, globals->sysroot, st);
		if (ret < 0)
			return ret;
		p->has_device = true;
		in.device = &p->device;
	}
	ret = facts_probe(&p->facts, globals->sysroot, globals->cpu_disable, st);
	if (ret < 0)
		return ret;
	ret = findings_make(&p->findings, &in);
	return ret == -ENOMEM ? status_nomem(st) : ret;
}

static int print_json(const struct probe *p)
{
	struct json_object *doc = json_document("probe");

	json_put(doc, "cpu", report_cpu_json(&p->facts.cpu));
	json_put(doc, "kernel", report_kernel_json(&p->facts.kernel));
	json_put(doc, "memory", report_memory_json(&p->facts.memory));
	json_put(doc, "device", p->has_device ? report_device_json(&p->device) : NULL);
	json_put(doc, "findings", report_findings_json(&p->findings));
	return json_print(doc);
}

static void print_text(const struct probe *p)
{
	report_machine_text(stdout, &p->facts);
	if (p->has_device)
		report_device_text(stdout, &p->device);
	report_findings_text(stdout, &p->findings);
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	struct probe p = {0};
	int ret;

	ret = look(&p, globals, n ? operands[0] : NULL, st);
	if (ret == 0 && globals->json)
		ret = print_json(&p);
	else if (ret == 0)
		print_text(&p);
	findings_free(&p.findings);
	facts_free(&p.facts);
	device_facts_free(&p.device);
	return ret;
}

static const struct opt table[] = {OPT_END};
static char no_options;

const struct cmd cmd_probe = {
	.name = "probe",
	.operands = "[DEVICE]",
	.summary = "Show what this machine and DEVICE are, and what is wrong with them.",
	.details =
		"CPU features and the in-process engine's tiers; the kernel's cipher drivers and which one\n"
		"dm-crypt would get; whether AF_ALG and dm-crypt can be used, and if not why; memory and CPU\n"
		"limits; DEVICE's geometry, contents and users; and findings, each with its cure. Measures\n"
		"nothing and writes nothing. Works as any user and says what it could not see.",
	.options = table,
	.dest = &no_options,
	.max_operands = 1,
	.run = run,
};
