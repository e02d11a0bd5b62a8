// SPDX-License-Identifier: GPL-2.0-or-later
/* The plan as other programs take it: cryptsetup's command lines and a shell's words. */
#include "cmd_plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "volume/luks.h"

__attribute__((format(printf, 2, 3))) static void argv_add(struct cmd_argv *argv,
							   const char *format, ...)
{
	va_list ap;
	char *word;

	va_start(ap, format);
	if (vasprintf(&word, format, ap) < 0)
		word = NULL;
	va_end(ap);
	if (word && argv->n < CMD_ARGV_MAX)
		argv->words[argv->n++] = word;
	else
		free(word);
}

void cmd_argv_free(struct cmd_argv *argv)
{
	for (size_t i = 0; i < argv->n; i++)
		free(argv->words[i]);
}

/* What keeps a path from being taken for an option. */
const char *cmd_path_prefix(const char *path)
{
	return path && *path == '-' ? "./" : "";
}

/* Where format encrypts the keyslot otherwise than the data. */
static void keyslot_argv(struct cmd_argv *argv, const struct spec *spec)
{
	char cipher[SPEC_TEXT_MAX], slot[SPEC_TEXT_MAX];
	unsigned bits;

	luks_keyslot_cipher(spec, slot, &bits);
	/* With tags cryptsetup takes what it does by itself, and no word of it. */
	if (spec->kind->integrity ||
	    (!strcmp(slot, spec_cipher(spec, cipher)) && bits == spec->key_bits))
		return;
	argv_add(argv, "--keyslot-cipher");
	argv_add(argv, "%s", slot);
	argv_add(argv, "--keyslot-key-size");
	argv_add(argv, "%u", bits);
}

static void header_argv(struct cmd_argv *argv, const struct plan *plan)
{
	if (!plan->header)
		return;
	argv_add(argv, "--header");
	argv_add(argv, "%s%s", cmd_path_prefix(plan->header), plan->header);
}

/* cryptsetup(8) luksFormat with everything that the plan says, so that the header comes out the
 * same. */
void cmd_plan_argv(struct cmd_argv *argv, const struct plan *plan, const char *device,
		   const char *label)
{
	const struct plan_pbkdf *p = &plan->pbkdf;
	char cipher[SPEC_TEXT_MAX];

	argv->n = 0;
	argv_add(argv, "cryptsetup");
	argv_add(argv, "luksFormat");
	argv_add(argv, "--type");
	argv_add(argv, plan->luks1 ? "luks1" : "luks2");
	argv_add(argv, "--cipher");
	argv_add(argv, "%s", spec_cipher(&plan->spec, cipher));
	argv_add(argv, "--key-size");
	argv_add(argv, "%u", plan->spec.key_bits);
	if (plan->spec.kind->integrity) {
		argv_add(argv, "--integrity");
		argv_add(argv, "%s", plan->spec.kind->integrity);
		if (plan->no_wipe)
			argv_add(argv, "--integrity-no-wipe");
	}
	if (!plan->luks1) {
		argv_add(argv, "--sector-size");
		argv_add(argv, "%u", plan->spec.sector);
	}
	if (!plan->luks1)
		keyslot_argv(argv, &plan->spec);
	argv_add(argv, "--offset");
	argv_add(argv, "%" PRIu64, plan->data_offset / 512);
	header_argv(argv, plan);
	/* Else cryptsetup has it grow with the offset. */
	if (!plan->luks1 && luks_header_len(plan) != plan->data_offset) {
		argv_add(argv, "--luks2-keyslots-size");
		argv_add(argv, "%" PRIu64, luks_header_len(plan) - LUKS2_METADATA);
	}
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
	argv_add(argv, "%s%s", cmd_path_prefix(device), device ? device : "DEVICE");
}

/* cryptsetup(8) open, which alone can write flags into the header. */
void cmd_plan_flags_argv(struct cmd_argv *argv, const struct plan *plan, const char *device)
{
	char name[CMD_MAPPING_NAME_MAX];

	argv->n = 0;
	if (!plan->n_flags)
		return;
	argv_add(argv, "cryptsetup");
	argv_add(argv, "open");
	header_argv(argv, plan);
	argv_add(argv, "--persistent");
	for (size_t i = 0; i < plan->n_flags; i++)
		argv_add(argv, "--%s", plan->flags[i]);
	argv_add(argv, "%s%s", cmd_path_prefix(device), device ? device : "DEVICE");
	cmd_mapping_name(name, device);
	argv_add(argv, "%s", name);
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
	fputs(cmd_path_prefix(path), out);
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
