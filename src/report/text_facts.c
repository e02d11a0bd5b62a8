// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libsmartcols.h>

#include "engine/engine.h"
#include "report/json_facts.h"
#include "report/paragraph.h"
#include "util/units.h"

#define INDENT 15 /* of what stands behind a label */

/* A table that keeps within the columns; the column `wrap` takes what is left. */
static struct libscols_table *new_table(FILE *out, const char *const *columns, int wrap)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return NULL;
	for (int i = 0; columns[i]; i++)
		if (!scols_table_new_column(table, columns[i], 0, i == wrap ? SCOLS_FL_WRAP : 0)) {
			scols_unref_table(table);
			return NULL;
		}
	scols_table_set_stream(table, out);
	scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(table, REPORT_COLUMNS);
	return table;
}

/* One line of strings, as many as there are columns. */
static void add_line(struct libscols_table *table, ...)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	va_list ap;

	if (!line)
		return;
	va_start(ap, table);
	for (size_t i = 0; i < scols_table_get_ncols(table); i++)
		scols_line_set_data(line, i, va_arg(ap, const char *));
	va_end(ap);
}

static void append(char *buf, size_t size, const char *word)
{
	size_t used = strlen(buf);

	snprintf(buf + used, size - used, "%s%s", used ? " " : "", word);
}

static void print_features(FILE *out, const struct cpu_facts *cpu)
{
	char usable[400] = "", unsaved[400] = "", disabled[400] = "";

	for (int f = 0; f < CPU_FEATURE_COUNT; f++) {
		const char *name = cpu_feature_name(f);

		if (cpu->usable >> f & 1)
			append(usable, sizeof(usable), name);
		else if (cpu->advertised & cpu->disabled & 1ULL << f)
			append(disabled, sizeof(disabled), name);
		else if (cpu->advertised >> f & 1)
			append(unsaved, sizeof(unsaved), name);
	}
	report_paragraph(out, INDENT, "  Features:", "%s",
			 *usable      ? usable
			 : cpu->known ? "none that matters here"
				      : "not known");
	report_paragraph(out, INDENT, "  Not saved:", "%s", unsaved);
	report_paragraph(out, INDENT, "  Disabled:", "%s", disabled);
}

static int put_count(char *buf, size_t size, unsigned n, const char *what)
{
	return n ? snprintf(buf, size, "%u %s", n, what)
		 : snprintf(buf, size, "not known how many %s", what);
}

static void print_cpu(FILE *out, const struct cpu_facts *cpu)
{
	char share[120];
	int n;

	report_paragraph(out, INDENT, "CPU", "%s%s%s", cpu->model[0] ? cpu->model : "not known",
			 cpu->arch[0] ? ", " : "", cpu->arch);
	print_features(out, cpu);
	n = put_count(share, sizeof(share), cpu->online, "online, ");
	n += put_count(share + n, sizeof(share) - (size_t)n, cpu->allowed, "allowed");
	if (!cpu->online && !cpu->allowed)
		n = snprintf(share, sizeof(share), "not known how many");
	if (cpu->quota > 0)
		snprintf(share + n, sizeof(share) - (size_t)n, ", %.2f by cgroup quota",
			 cpu->quota);
	report_paragraph(out, INDENT, "  CPUs:", "%s", share);
}

static void print_tiers(FILE *out, const struct cpu_facts *cpu)
{
	static const char *const columns[] = {"  ENGINE TIER", "AES BITS", "USABLE", "BECAUSE",
					      NULL};
	struct libscols_table *table = new_table(out, columns, 3);
	char reason[160], name[40], bits[16];
	bool usable;

	if (!table)
		return;
	for (const struct engine_tier *const *t = engine_tiers; *t; t++) {
		reason[0] = '\0';
		usable = engine_tier_usable(*t, cpu, reason, sizeof(reason));
		snprintf(name, sizeof(name), "  %s", engine_tier_name(*t));
		snprintf(bits, sizeof(bits), "%u", engine_tier_bits(*t));
		add_line(table, name, engine_tier_bits(*t) ? bits : "-", usable ? "yes" : "no",
			 usable ? "" : reason);
	}
	scols_print_table(table);
	scols_unref_table(table);
}

static const char *af_alg_word(const struct kernel_attempt *attempt)
{
	if (!attempt || !attempt->tried)
		return "-";
	return attempt->available ? "yes" : "no";
}

static void print_ciphers(FILE *out, const struct kernel_facts *kernel)
{
	static const char *const columns[] = {"  CIPHER", "PRIORITY", "AES BY",
					      "AF_ALG",   "DRIVER",   NULL};
	struct libscols_table *table = new_table(out, columns, 4);
	char priority[16], name[96], driver[220];
	const struct kernel_driver *d;
	enum kernel_aes_kind kind;
	const char *from;

	if (!table)
		return;
	for (const char *const *n = kernel_algorithms; *n; n++) {
		d = kernel_driver_for(kernel, *n);
		kind = kernel_aes_kind(kernel, *n, &from);
		snprintf(name, sizeof(name), "  %s", *n);
		snprintf(priority, sizeof(priority), "%d", d ? d->priority : 0);
		if (d)
			snprintf(driver, sizeof(driver), "%s", d->driver);
		else if (from)
			snprintf(driver, sizeof(driver), "none yet, over %s", from);
		else
			snprintf(driver, sizeof(driver), "none yet");
		add_line(table, name, d ? priority : "-",
			 strstr(*n, "aes)") && from ? report_aes_name(kind) : "-",
			 af_alg_word(kernel_attempt_for(kernel, *n)), driver);
	}
	scols_print_table(table);
	scols_unref_table(table);
}

static void print_kernel(FILE *out, const struct kernel_facts *kernel)
{
	const struct kernel_af_alg *a = &kernel->af_alg;
	const struct kernel_dm *dm = &kernel->dm;
	char features[400] = "", version[48] = "";

	report_paragraph(out, INDENT, "Kernel", "%s%s",
			 kernel->release[0] ? kernel->release : "not known",
			 kernel->fips ? ", FIPS mode" : "");
	report_paragraph(out, INDENT, "  AF_ALG:", "%s%s%s", a->available ? "available" : "no",
			 a->available ? "" : ": ", a->reason);
	if (a->restrict_level >= 0)
		report_paragraph(out, INDENT, "", "crypto.af_alg_restrict is %d",
				 a->restrict_level);
	if (dm->version[0])
		snprintf(version, sizeof(version), ", target version %u.%u.%u", dm->version[0],
			 dm->version[1], dm->version[2]);
	report_paragraph(out, INDENT, "  dm-crypt:", "%s%s%s%s", dm->available ? "available" : "no",
			 version, dm->available ? "" : ": ", dm->reason);
	for (size_t i = 0; i < dm->n; i++)
		append(features, sizeof(features), dm->features[i]);
	report_paragraph(out, INDENT, "", "%s", features);
	print_ciphers(out, kernel);
}

static void print_memory(FILE *out, const struct memory_facts *m)
{
	char total[UNITS_MAX], available[UNITS_MAX], swap[UNITS_MAX], limit[UNITS_MAX];

	if (!m->total) {
		report_paragraph(out, INDENT, "Memory", "not known");
		return;
	}
	report_paragraph(
		out, INDENT, "Memory", "%s, %s available, %s swap%s%s", units_size(m->total, total),
		units_size(m->available, available), m->swap ? units_size(m->swap, swap) : "no",
		m->limit ? ", cgroup limit " : "", m->limit ? units_size(m->limit, limit) : "");
}

void report_machine_text(FILE *out, const struct facts *facts)
{
	print_cpu(out, &facts->cpu);
	print_tiers(out, &facts->cpu);
	fputc('\n', out);
	print_kernel(out, &facts->kernel);
	fputc('\n', out);
	print_memory(out, &facts->memory);
}

static void print_geometry(FILE *out, const struct device_facts *d)
{
	char size[UNITS_MAX], optimal[UNITS_MAX], start[80] = "", align[80] = "";

	if (d->start)
		snprintf(start, sizeof(start), ", starts at byte %" PRIu64, d->start);
	if (d->alignment_offset)
		snprintf(align, sizeof(align), ", alignment offset %" PRIu64, d->alignment_offset);
	if (d->misaligned)
		snprintf(align, sizeof(align), ", misaligned");
	report_paragraph(out, INDENT, "  Size:", "%" PRIu64 " bytes (%s)%s", d->size,
			 units_size(d->size, size), start);
	report_paragraph(out, INDENT, "  Blocks:", "%u logical, %u physical, optimal I/O %s%s",
			 d->logical_block, d->physical_block,
			 d->optimal_io ? units_size(d->optimal_io, optimal) : "not said", align);
	report_paragraph(out, INDENT, "  Properties:", "%s%s%s%s%s%s%s",
			 d->read_only == 1 ? "read-only" : "writable",
			 d->rotational == 1   ? ", rotational"
			 : d->rotational == 0 ? ", not rotational"
					      : "",
			 d->discard == 1   ? ", discards"
			 : d->discard == 0 ? ", no discards"
					   : "",
			 d->zoned ? ", zoned: " : "", d->zoned ? device_zoned_name(d->zoned) : "",
			 d->serial[0] ? ", serial " : "", d->serial);
}

static void print_contents(FILE *out, const struct device_facts *d)
{
	static const char *const columns[] = {"  ON IT", "TYPE",  "PART", "OFFSET",
					      "UUID",    "LABEL", NULL};
	struct libscols_table *table;
	char part[16], offset[32], usage[24];

	if (!d->contents_known)
		report_paragraph(out, INDENT, "  Contents:", "not known: %s", d->contents_reason);
	else if (!d->n_contents)
		report_paragraph(out, INDENT, "  Contents:",
				 "nothing found, and what was sampled "
				 "is blank");
	table = d->n_contents ? new_table(out, columns, 5) : NULL;
	if (!table)
		return;
	for (size_t i = 0; i < d->n_contents; i++) {
		const struct device_content *c = &d->contents[i];

		snprintf(usage, sizeof(usage), "  %s", c->usage);
		snprintf(part, sizeof(part), "%d", c->partition);
		snprintf(offset, sizeof(offset), "%" PRIu64, c->offset);
		add_line(table, usage, c->type, c->partition ? part : "-", offset,
			 c->uuid[0] ? c->uuid : "-", c->label[0] ? c->label : "-");
	}
	scols_print_table(table);
	scols_unref_table(table);
}

void report_device_text(FILE *out, const struct device_facts *d)
{
	fputc('\n', out);
	report_paragraph(out, INDENT, "Device", "%s (%s%s%s)%s%s%s%s", d->path,
			 device_kind_name(d->kind), d->name[0] ? " " : "", d->name,
			 d->target[0] && strcmp(d->target, d->path) ? ", that is " : "",
			 d->target[0] && strcmp(d->target, d->path) ? d->target : "",
			 d->model[0] ? ", " : "", d->model);
	print_geometry(out, d);
	for (size_t i = 0; i < d->n_users; i++)
		report_paragraph(out, INDENT, i ? "" : "  In use by:", "%s %s%s%s%s",
				 d->users[i].kind, d->users[i].what,
				 d->users[i].part[0] ? " (" : "", d->users[i].part,
				 d->users[i].part[0] ? ")" : "");
	if (!d->users_known)
		report_paragraph(out, INDENT, d->n_users ? "" : "  In use by:",
				 "who uses it could not be seen: %s", d->users_reason);
	print_contents(out, d);
}

void report_findings_text(FILE *out, const struct findings *findings)
{
	if (!findings->n)
		return;
	fputs("\nFindings\n", out);
	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->list[i];
		char label[INDENT + 1];

		snprintf(label, sizeof(label), "  %s:", finding_severity_name(f->severity));
		report_paragraph(out, INDENT, label, "%s (%s)", f->message, f->id);
		report_paragraph(out, INDENT, "", "%s", f->fix);
	}
}
