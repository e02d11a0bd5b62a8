// SPDX-License-Identifier: GPL-2.0-or-later
/* A plan in words. */
#include "cmd_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_measure.h"
#include "report/paragraph.h"
#include "util/text.h"
#include "util/units.h"

static void print_argv(FILE *out, struct cmd_argv *argv)
{
	int column = fprintf(out, " ");

	for (size_t i = 0; i < argv->n; i++) {
		if (column + strlen(argv->words[i]) > 92 && i + 1 < argv->n &&
		    argv->words[i][0] == '-') {
			fputs(" \\\n     ", out);
			column = 5;
		}
		fputc(' ', out);
		cmd_shell_word(out, argv->words[i]);
		column += (int)strlen(argv->words[i]) + 1;
	}
	fputc('\n', out);
	cmd_argv_free(argv);
}

/* Those that share a reason share a line. */
static void print_rejected(FILE *out, const struct plan *plan)
{
	const struct plan_rejected *r = plan->rejected;
	char spec[SPEC_TEXT_MAX], *specs;
	size_t size, first;
	FILE *list;

	for (size_t i = 0; i < plan->n_rejected; i++) {
		for (first = 0; strcmp(r[first].reason, r[i].reason); first++)
			;
		if (first < i)
			continue;
		list = open_memstream(&specs, &size);
		if (!list)
			return;
		for (size_t j = i; j < plan->n_rejected; j++)
			if (!strcmp(r[j].reason, r[i].reason))
				fprintf(list, "%s%s", j > i ? ", " : "",
					spec_print(&r[j].spec, spec));
		if (!fclose(list))
			report_paragraph(out, 4, "  -", "%s: %s.", specs, r[i].reason);
		free(specs);
	}
}

static void print_pbkdf(FILE *out, const struct plan_pbkdf *p)
{
	const double ms = p->time_ms ? p->time_ms : p->predicted_ms;
	char here[UNITS_MAX], there[UNITS_MAX];

	fprintf(out, "  Password hash:  %s", p->type);
	if (p->memory)
		fprintf(out, ", %.4g MiB, %u thread%s", (double)p->memory / (1 << 20), p->threads,
			p->threads == 1 ? "" : "s");
	if (p->iterations)
		fprintf(out, ", %" PRIu64 " iterations", p->iterations);
	if (ms > 0 && p->iterations)
		fprintf(out, ", about %s to unlock here", units_time(ms, here));
	else if (ms > 0)
		fprintf(out, ", for %s to unlock here (not tried)", units_time(ms, here));
	if (ms > 0 && p->slower > 1)
		fprintf(out, ", %s on a machine %.4g times slower",
			units_time(ms * p->slower, there), p->slower);
	fputc('\n', out);
	if (*p->warning)
		report_paragraph(out, 4, "  !", "%s.", p->warning);
}

static void print_conditions(FILE *out, const struct measurement *m)
{
	if (m->n_conditions)
		fprintf(out, "\nTo bear in mind of the measuring:\n");
	for (size_t i = 0; i < m->n_conditions; i++)
		report_paragraph(out, 4, "  -", "%s", m->conditions[i].message);
}

static void print_disk(FILE *out, const struct plan_disk *d)
{
	char speed[UNITS_MAX], busy[UNITS_MAX];

	if (!(d->speed.speed > 0))
		return;
	fprintf(out, "  Disk:           %s", units_speed(d->speed.speed, speed));
	if (d->needed > 0)
		fprintf(out, ", %s of %.3g CPU%s busy at that speed", units_count(d->needed, busy),
			d->worth, d->worth == 1 ? "" : "s");
	fputc('\n', out);
}

static void print_whole(FILE *out, const struct plan *plan, const struct plan_source *source,
			const char *device, const char *label)
{
	struct cmd_argv argv;

	fprintf(out, "\nNot chosen:\n");
	print_rejected(out, plan);
	if (source->explain)
		cmd_plan_explain(out, plan, source);
	fprintf(out, "\nThe same by hand:\n");
	cmd_plan_argv(&argv, plan, device, label);
	print_argv(out, &argv);
	if (plan->n_flags) {
		fprintf(out, "and, at the first opening, for the flags:\n");
		cmd_plan_flags_argv(&argv, plan, device);
		print_argv(out, &argv);
	}
	fputs("In /etc/crypttab:\n  ", out);
	cmd_print_crypttab(out, plan, device, NULL);
	fputc('\n', out);
}

void cmd_plan_text(FILE *out, const struct plan *plan, const struct plan_source *source,
		   const char *device, const char *label, bool whole)
{
	char text[SPEC_TEXT_MAX], speed[UNITS_MAX], low[UNITS_MAX], high[UNITS_MAX];

	if (!device && source->device)
		device = source->device->path;
	fputs(device ? "Recommended for " : "Recommended", out);
	text_print(out, device ? device : "");
	fprintf(out, ": %s\n", spec_print(&plan->spec, text));
	fprintf(out, "  Strength:       %u bits (%s)\n", plan->strength,
		spec_class_words(&plan->spec));
	if (plan->speed > 0)
		fprintf(out, "  Expected:       %s (%s to %s)\n", units_speed(plan->speed, speed),
			units_speed(plan->low, low), units_speed(plan->high, high));
	fprintf(out, "  Basis:          %s, policy %s\n", plan_basis_name(plan->basis),
		source->policy->name);
	print_disk(out, &plan->disk);
	print_pbkdf(out, &plan->pbkdf);
	fprintf(out, "  Modules:        %s (what an initramfs needs beside dm-crypt)\n",
		plan->spec.kind->modules);
	fputc('\n', out);
	report_paragraph(out, 0, "", "%s", plan->summary);
	fprintf(out, "\nWhy:\n");
	for (size_t i = 0; i < plan->n_reasons; i++)
		report_paragraph(out, 4, "  -", "%s", plan->reasons[i]);
	print_conditions(out, &source->measurement);
	if (!whole)
		return;
	print_whole(out, plan, source, device, label);
}
