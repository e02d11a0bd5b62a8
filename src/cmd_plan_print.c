// SPDX-License-Identifier: GPL-2.0-or-later
/* A plan in words, as JSON, and as the cryptsetup command line that does the same. */
#include "cmd_plan.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_measure.h"
#include "report/paragraph.h"
#include "util/json.h"
#include "util/text.h"
#include "util/units.h"

#define ARGV_MAX 40

/* An argument vector under construction; its strings are its own. */
struct argv {
	char *words[ARGV_MAX + 1];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void argv_add(struct argv *argv, const char *format,
							   ...)
{
	va_list ap;
	char *word;

	va_start(ap, format);
	if (vasprintf(&word, format, ap) < 0)
		word = NULL;
	va_end(ap);
	if (word && argv->n < ARGV_MAX)
		argv->words[argv->n++] = word;
	else
		free(word);
}

static void argv_free(struct argv *argv)
{
	for (size_t i = 0; i < argv->n; i++)
		free(argv->words[i]);
}

/* What keeps a path from being taken for an option. */
static const char *path_prefix(const char *path)
{
	return path && *path == '-' ? "./" : "";
}

/* cryptsetup(8) luksFormat with everything that the plan says, so that the header comes out the
 * same. */
static void cryptsetup_argv(struct argv *argv, const struct plan *plan, const char *device,
			    const char *label)
{
	const struct plan_pbkdf *p = &plan->pbkdf;
	char cipher[SPEC_TEXT_MAX];

	argv->n = 0;
	argv_add(argv, "cryptsetup");
	argv_add(argv, "luksFormat");
	argv_add(argv, "--type");
	argv_add(argv, "luks2");
	argv_add(argv, "--cipher");
	argv_add(argv, "%s", spec_cipher(&plan->spec, cipher));
	argv_add(argv, "--key-size");
	argv_add(argv, "%u", plan->spec.key_bits);
	if (plan->spec.kind->integrity) {
		argv_add(argv, "--integrity");
		argv_add(argv, "%s", plan->spec.kind->integrity);
	}
	argv_add(argv, "--sector-size");
	argv_add(argv, "%u", plan->spec.sector);
	argv_add(argv, "--offset");
	argv_add(argv, "%" PRIu64, plan->data_offset / 512);
	argv_add(argv, "--hash");
	argv_add(argv, "%s", p->hash);
	argv_add(argv, "--pbkdf");
	argv_add(argv, "%s", p->type);
	if (p->memory) {
		argv_add(argv, "--pbkdf-memory");
		argv_add(argv, "%" PRIu64, p->memory >> 10);
		argv_add(argv, "--pbkdf-parallel");
		argv_add(argv, "%u", p->threads);
	}
	argv_add(argv, p->iterations ? "--pbkdf-force-iterations" : "--iter-time");
	argv_add(argv, "%" PRIu64, p->iterations ? p->iterations : p->time_ms);
	if (label) {
		argv_add(argv, "--label");
		argv_add(argv, "%s", label);
	}
	argv_add(argv, "%s%s", path_prefix(device), device ? device : "DEVICE");
}

/* cryptsetup(8) open, which alone can write flags into the header, for the plan's. */
static void cryptsetup_flags_argv(struct argv *argv, const struct plan *plan, const char *device)
{
	argv->n = 0;
	if (!plan->n_flags)
		return;
	argv_add(argv, "cryptsetup");
	argv_add(argv, "open");
	argv_add(argv, "--persistent");
	for (size_t i = 0; i < plan->n_flags; i++)
		argv_add(argv, "--%s", plan->flags[i]);
	argv_add(argv, "%s%s", path_prefix(device), device ? device : "DEVICE");
	argv_add(argv, "NAME");
}

/* The mapping's name: the device's last component, with nothing in it that /dev/mapper or a
 * blank-separated file minds. */
static void mapping_name(char *buf, size_t size, const char *device)
{
	const char *base = device ? strrchr(device, '/') : NULL;
	size_t n;

	base = base ? base + 1 : device ? device : "NAME";
	n = snprintf(buf, size, "luks-%s", base);
	for (size_t i = 0; i < n && i < size && buf[i]; i++)
		if (!isalnum((unsigned char)buf[i]) && !strchr("-_.+", buf[i]))
			buf[i] = '_';
}

/* Blanks, control characters and backslashes as octal, as in fstab(5), which crypttab(5) follows.
 */
static void escape_field(FILE *out, const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text <= ' ' || *text == 0x7f || *text == '\\')
			fprintf(out, "\\%03o", (unsigned char)*text);
		else
			fputc(*text, out);
	}
}

char *cmd_crypttab(const char *device, const char *uuid)
{
	char name[80], *line = NULL, *real;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	mapping_name(name, sizeof(name), uuid ? uuid : device);
	fprintf(out, "%s ", name);
	/* What reads the line at boot has another working directory. */
	real = device && !uuid ? realpath(device, NULL) : NULL;
	if (uuid)
		fprintf(out, "UUID=%s", uuid);
	else
		escape_field(out, real ? real : device ? device : "DEVICE");
	free(real);
	fputs(" none luks", out);
	if (fclose(out)) {
		free(line);
		return NULL;
	}
	return line;
}

static struct json_object *choice_json(const struct plan *plan)
{
	struct json_object *choice = json_object_new_object();
	char text[SPEC_TEXT_MAX];

	json_put_string(choice, "spec", spec_print(&plan->spec, text));
	json_put_string(choice, "cipher", spec_cipher(&plan->spec, text));
	json_put_u64(choice, "key_bits", plan->spec.key_bits);
	json_put_u64(choice, "sector_size", plan->spec.sector);
	json_put_u64(choice, "strength_bits", plan->strength);
	json_put_string(choice, "class", spec_class_name(spec_class(&plan->spec)));
	json_put_string(choice, "protects", plan->spec.kind->protects);
	json_put_string(choice, "modules", plan->spec.kind->modules);
	json_put_string(choice, "basis", plan_basis_name(plan->basis));
	json_put_u64_or_null(choice, "expected_bytes_per_second", (uint64_t)plan->speed);
	json_put_u64_or_null(choice, "low", (uint64_t)plan->low);
	json_put_u64_or_null(choice, "high", (uint64_t)plan->high);
	json_put_u64_or_null(choice, "encrypt_bytes_per_second", (uint64_t)plan->encrypt);
	json_put_u64_or_null(choice, "decrypt_bytes_per_second", (uint64_t)plan->decrypt);
	return choice;
}

static struct json_object *pbkdf_json(const struct plan_pbkdf *p)
{
	struct json_object *obj = json_object_new_object();

	json_put_string(obj, "type", p->type);
	json_put_string(obj, "hash", p->hash);
	json_put_u64_or_null(obj, "memory", p->memory);
	json_put_u64_or_null(obj, "iterations", p->iterations);
	json_put_u64_or_null(obj, "threads", p->threads);
	json_put_u64_or_null(obj, "time_ms", p->time_ms);
	json_put_string(obj, "reason", p->reason);
	return obj;
}

static struct json_object *rejected_json(const struct plan *plan)
{
	struct json_object *list = json_object_new_array(), *item;
	char text[SPEC_TEXT_MAX];

	for (size_t i = 0; i < plan->n_rejected; i++) {
		item = json_object_new_object();
		json_put_string(item, "spec", spec_print(&plan->rejected[i].spec, text));
		json_put_string(item, "reason", plan->rejected[i].reason);
		json_put_u64_or_null(item, "expected_bytes_per_second",
				     (uint64_t)plan->rejected[i].speed);
		json_append(list, item);
	}
	return list;
}

void cmd_plan_json(struct json_object *obj, const struct plan *plan,
		   const struct plan_source *source, const char *device, const char *label,
		   const char *uuid)
{
	struct json_object *list;
	struct argv argv;
	char *crypttab;

	json_put(obj, "choice", choice_json(plan));
	json_put_string(obj, "policy", source->policy->name);
	json_put_real(obj, "read_share", source->policy->read_share);
	list = json_object_new_array();
	for (size_t i = 0; i < plan->n_reasons; i++)
		json_append_string(list, plan->reasons[i]);
	json_put(obj, "reasons", list);
	json_put_conditions(obj, &source->measurement);
	json_put(obj, "rejected", rejected_json(plan));
	json_put(obj, "pbkdf", pbkdf_json(&plan->pbkdf));
	list = json_object_new_array();
	for (size_t i = 0; i < plan->n_flags; i++)
		json_append_string(list, plan->flags[i]);
	json_put(obj, "flags", list);
	json_put_u64(obj, "data_offset", plan->data_offset);
	cryptsetup_argv(&argv, plan, device, label);
	list = json_object_new_array();
	for (size_t i = 0; i < argv.n; i++)
		json_append_string(list, argv.words[i]);
	json_put(obj, "cryptsetup_argv", list);
	argv_free(&argv);
	cryptsetup_flags_argv(&argv, plan, device);
	list = json_object_new_array();
	for (size_t i = 0; i < argv.n; i++)
		json_append_string(list, argv.words[i]);
	json_put(obj, "cryptsetup_flags_argv", list);
	argv_free(&argv);
	crypttab = cmd_crypttab(device, uuid);
	json_put_string(obj, "crypttab", crypttab);
	free(crypttab);
}

/* In $'…', in which every byte has an octal form. */
static void print_escaped(FILE *out, const char *word)
{
	fputs("$'", out);
	for (; *word; word++) {
		if ((unsigned char)*word < ' ' || (unsigned char)*word >= 0x7f ||
		    strchr("'\\", *word))
			fprintf(out, "\\%03o", (unsigned char)*word);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

void cmd_shell_path(FILE *out, const char *path)
{
	fputs(path_prefix(path), out);
	cmd_shell_word(out, path);
}

void cmd_shell_word(FILE *out, const char *word)
{
	if (*word &&
	    !word[strspn(
		    word,
		    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%")]) {
		fputs(word, out);
		return;
	}
	if (text_fault(word)) {
		print_escaped(out, word);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
	fputc('\'', out);
}

static void print_argv(FILE *out, const struct argv *argv)
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
		column += strlen(argv->words[i]) + 1;
	}
	fputc('\n', out);
}

static void print_command_line(FILE *out, const struct plan *plan, const char *device,
			       const char *label)
{
	struct argv argv;

	cryptsetup_argv(&argv, plan, device, label);
	print_argv(out, &argv);
	argv_free(&argv);
	cryptsetup_flags_argv(&argv, plan, device);
	if (argv.n)
		print_argv(out, &argv);
	argv_free(&argv);
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
	fprintf(out, "  Password hash:  %s", p->type);
	if (p->memory)
		fprintf(out, ", %.4g MiB, %u thread%s", (double)p->memory / (1 << 20), p->threads,
			p->threads == 1 ? "" : "s");
	if (p->iterations)
		fprintf(out, ", %" PRIu64 " iterations", p->iterations);
	if (p->time_ms)
		fprintf(out, ", about %.1f s to unlock here", p->time_ms / 1000.0);
	fputc('\n', out);
}

static void print_conditions(FILE *out, const struct measurement *m)
{
	if (m->n_conditions)
		fprintf(out, "\nTo bear in mind of the measuring:\n");
	for (size_t i = 0; i < m->n_conditions; i++)
		report_paragraph(out, 4, "  -", "%s", m->conditions[i].message);
}

void cmd_plan_text(FILE *out, const struct plan *plan, const struct plan_source *source,
		   const char *device, const char *label, bool whole)
{
	char text[SPEC_TEXT_MAX], speed[UNITS_MAX], low[UNITS_MAX], high[UNITS_MAX], *crypttab;

	fputs(device ? "Recommended for " : "Recommended", out);
	text_print(out, device ? device : "");
	fprintf(out, ": %s\n", spec_print(&plan->spec, text));
	fprintf(out, "  Strength:       %u bits (%s)\n", plan->strength,
		spec_class_name(spec_class(&plan->spec)));
	if (plan->speed > 0)
		fprintf(out, "  Expected:       %s (%s to %s)\n", units_speed(plan->speed, speed),
			units_speed(plan->low, low), units_speed(plan->high, high));
	fprintf(out, "  Basis:          %s, policy %s\n", plan_basis_name(plan->basis),
		source->policy->name);
	print_pbkdf(out, &plan->pbkdf);
	fprintf(out, "\nWhy:\n");
	for (size_t i = 0; i < plan->n_reasons; i++)
		report_paragraph(out, 4, "  -", "%s", plan->reasons[i]);
	print_conditions(out, &source->measurement);
	if (!whole)
		return;
	fprintf(out, "\nNot chosen:\n");
	print_rejected(out, plan);
	fprintf(out, "\nThe same by hand:\n");
	print_command_line(out, plan, device, label);
	crypttab = cmd_crypttab(device, NULL);
	fprintf(out, "In /etc/crypttab:\n  %s\n", crypttab ? crypttab : "");
	free(crypttab);
}
