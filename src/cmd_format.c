// SPDX-License-Identifier: GPL-2.0-or-later
/* format: carries a plan out. The order is the point: the first write comes last. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_plan.h"
#include "report/json_facts.h"
#include "util/interrupt.h"
#include "util/json.h"
#include "util/terminal.h"
#include "util/units.h"
#include "volume/guard.h"
#include "volume/luks.h"
#include "volume/pbkdf.h"
#include "volume/secret.h"

#define KEY_FD_NONE UINT64_MAX

/* LUKS2 on-disk format, 2.1: 48 bytes with the NUL; libcryptsetup would cut a longer one off. */
#define LABEL_MAX 47

struct format_options {
	struct plan_options plan;
	bool automatic, yes, overwrite, dry_run;
	const char *label, *subsystem, *uuid, *key_file;
	uint64_t key_fd;
};

static struct format_options options = {.key_fd = KEY_FD_NONE};

#define FORMAT(field) offsetof(struct format_options, field)

static const struct opt table[] = {
	{"auto", 0, OPT_FLAG, NULL, FORMAT(automatic), 0, 0,
	 "Let the program choose the cipher, as recommend does."},
	PLAN_OPTIONS(struct format_options, plan),
	{"key-file", 'd', OPT_STRING, "FILE", FORMAT(key_file), 0, 0,
	 "Read the secret from FILE (-: standard input), all of\nit, newlines included. Without it "
	 "a passphrase is\nasked for."},
	{"key-fd", 0, OPT_UINT, "N", FORMAT(key_fd), 0, INT_MAX,
	 "Read the secret from the open file descriptor N."},
	{"label", 0, OPT_STRING, "LABEL", FORMAT(label), 0, 0,
	 "The volume's label, at most 47 bytes."},
	{"subsystem", 0, OPT_STRING, "LABEL", FORMAT(subsystem), 0, 0,
	 "The volume's subsystem label, at most 47 bytes."},
	{"uuid", 0, OPT_STRING, "UUID", FORMAT(uuid), 0, 0,
	 "The volume's UUID; a random one otherwise."},
	{"yes", 'y', OPT_FLAG, NULL, FORMAT(yes), 0, 0, "Do not ask."},
	{"overwrite", 0, OPT_FLAG, NULL, FORMAT(overwrite), 0, 0,
	 "Go on although something is on DEVICE; it will be lost."},
	{"dry-run", 0, OPT_FLAG, NULL, FORMAT(dry_run), 0, 0,
	 "Check everything, print the plan, write nothing."},
	OPT_END};

/* What a run holds; released in one place. */
struct format {
	const struct cmd_globals *globals;
	const char *path;
	struct guard guard;
	struct plan_source source;
	struct plan plan;
	struct luks_request request;
	struct secret secret;
	struct luks_header header;
	bool written, verified;
};

static int check_signal(struct status *st)
{
	int sig = interrupt_caught();

	return sig ? status_set(st, ST_SIGNAL + sig, EINTR, "Interrupted.") : 0;
}

static bool uuid_valid(const char *text)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (strlen(text) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == '-' ? text[i] != '-' : !strchr("0123456789abcdefABCDEF", text[i]))
			return false;
	return true;
}

static int check_label(const char *option, const char *label, struct status *st)
{
	if (label && strlen(label) > LABEL_MAX)
		return status_set(st, ST_USAGE, EINVAL,
				  "--%s: \"%s\" has %zu bytes; at most %d fit into the header.",
				  option, label, strlen(label), LABEL_MAX);
	return 0;
}

static int check_options(const struct cmd_globals *globals, struct status *st)
{
	const struct format_options *o = &options;
	int ret;

	if (globals->sysroot)
		return status_set(
			st, ST_USAGE, EINVAL,
			"format works on this machine; --sysroot makes no sense with it.");
	if (!o->automatic && !o->plan.cipher)
		return status_set(st, ST_USAGE, EINVAL,
				  "format: say --auto (let the program choose) or --cipher SPEC.");
	if (o->key_file && o->key_fd != KEY_FD_NONE)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--key-file and --key-fd both say where the secret is: give one.");
	if (o->key_fd != KEY_FD_NONE && fcntl((int)o->key_fd, F_GETFD) < 0)
		return status_set(st, ST_USAGE, EBADF,
				  "--key-fd: descriptor %" PRIu64 " is not open.", o->key_fd);
	if (o->plan.from && !strcmp(o->plan.from, "-") &&
	    ((o->key_file && !strcmp(o->key_file, "-")) || !o->key_fd))
		return status_set(st, ST_USAGE, EINVAL,
				  "--from and the key cannot both be read from standard input.");
	if (o->uuid && !uuid_valid(o->uuid))
		return status_set(st, ST_USAGE, EINVAL,
				  "--uuid: \"%s\" is not of the form "
				  "01234567-89ab-cdef-0123-456789abcdef.",
				  o->uuid);
	ret = check_label("label", o->label, st);
	if (!ret)
		ret = check_label("subsystem", o->subsystem, st);
	return ret ? ret : cmd_plan_check(&o->plan, st);
}

/* Text off a disk, for a terminal: no control characters. */
static void print_clean(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
}

static void print_content(FILE *out, const struct device_content *c)
{
	if (c->partition)
		fprintf(out, "in partition %d ", c->partition);
	if (!strcmp(c->usage, "data"))
		fprintf(out, "data that nothing here recognises");
	else
		fprintf(out, "%s%s", c->type, !strcmp(c->usage, "table") ? " partition table" : "");
	if (*c->label) {
		fputs(" \"", out);
		print_clean(out, c->label);
		fputc('"', out);
	}
	fprintf(out, " at byte %" PRIu64, c->offset);
}

/* All of it in words, for the caller to free, or NULL when out of memory. */
static char *list_contents(const struct device_facts *device, const char *separator)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (!device->contents_known)
		fprintf(out, "something that could not be read (%s)", device->contents_reason);
	for (size_t i = 0; i < device->n_contents; i++) {
		if (i || !device->contents_known)
			fputs(separator, out);
		print_content(out, &device->contents[i]);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static bool has_contents(const struct device_facts *device)
{
	return device->n_contents || !device->contents_known;
}

static int refuse_contents(const struct device_facts *device, struct status *st)
{
	char *list;

	if (!has_contents(device) || options.overwrite)
		return 0;
	list = list_contents(device, "; ");
	/* The message has room for a thousand bytes; a table of many partitions is longer. */
	status_set(st, ST_REFUSED, EEXIST,
		   "%s is not empty. It holds: %.700s%s. Nothing was written; --overwrite "
		   "destroys what is there.",
		   device->path, list ? list : "?", list && strlen(list) > 700 ? " …" : "");
	free(list);
	return -EEXIST;
}

static int refuse_size(const struct device_facts *device, struct status *st)
{
	char least[UNITS_MAX];

	if (decide_data_length(device, PLAN_DATA_OFFSET) >= SPEC_SECTOR_MIN)
		return 0;
	return status_set(st, ST_DEVICE, ENOSPC,
			  "%s is too small: it has %" PRIu64
			  " bytes, and at least %llu are needed (a header of %s and one sector).",
			  device->path, device->size, PLAN_DATA_OFFSET + SPEC_SECTOR_MIN,
			  units_size(PLAN_DATA_OFFSET, least));
}

static void show_device(FILE *out, const struct device_facts *device)
{
	char size[UNITS_MAX], *list;

	fprintf(out, "%s: %s, %s", device->path, device_kind_name(device->kind),
		units_size(device->size, size));
	if (*device->model) {
		fputs(", ", out);
		print_clean(out, device->model);
	}
	if (*device->serial) {
		fputs(", serial ", out);
		print_clean(out, device->serial);
	}
	if (!has_contents(device)) {
		fputs("; nothing was found on it\n\n", out);
		return;
	}
	list = list_contents(device, "\n  ");
	fprintf(out, "\nThis on it will be LOST:\n  %s\n\n", list ? list : "?");
	free(list);
}

static void show(const struct format *f)
{
	FILE *out = f->globals->json ? stderr : stdout;

	if (f->globals->json && f->globals->quiet)
		return;
	show_device(out, &f->guard.device);
	cmd_plan_text(out, &f->plan, &f->source, f->path, options.label);
	fputc('\n', out);
	fflush(out);
}

static int read_secret(struct format *f, bool ask, struct status *st)
{
	struct secret_source source = {
		.key_file = options.key_file,
		.key_fd = options.key_fd == KEY_FD_NONE ? -1 : (int)options.key_fd,
		.prompt_for = f->path,
		.verify = true,
	};
	bool given = source.key_file || source.key_fd >= 0;

	if (f->secret.bytes || given == ask)
		return 0;
	secret_harden_process();
	return secret_read(&f->secret, &source, st);
}

static int ask_yes(const struct format *f, struct status *st)
{
	unsigned char answer[16];
	char question[4300];
	size_t len = 0;
	int sig = 0, ret;

	if (options.yes)
		return 0;
	snprintf(question, sizeof(question),
		 "Everything on %s will be lost. Type YES to format it: ", f->path);
	ret = terminal_ask(STDIN_FILENO, question, true, answer, sizeof(answer), &len, &sig);
	if (ret == -EINTR)
		return status_set(st, ST_SIGNAL + sig, EINTR, "Interrupted.");
	if (ret || len != 3 || memcmp(answer, "YES", 3))
		return status_set(st, ST_REFUSED, ECANCELED,
				  "The answer was not YES. Nothing was written.");
	return 0;
}

/* Steps 1 to 4 of the order: everything that can be known and checked without a write. */
static int prepare(struct format *f, struct status *st)
{
	const struct device_facts *device = &f->guard.device;
	int ret;

	ret = refuse_size(device, st);
	if (!ret)
		ret = refuse_contents(device, st);
	if (!ret && !options.yes && !options.dry_run && !isatty(STDIN_FILENO))
		ret = status_set(st, ST_REFUSED, ENOTTY,
				 "There is no terminal to ask on whether to format %s; --yes says "
				 "that you mean it. Nothing was written.",
				 f->path);
	if (!ret)
		ret = read_secret(f, false, st);
	if (!ret)
		ret = cmd_plan_make(&f->plan, &f->source, f->globals, &options.plan, device, st);
	/* Not done by cmd_plan_make() for saved results; does nothing twice. */
	if (!ret)
		ret = pbkdf_settle(&f->plan.pbkdf, f->plan.spec.key_bits / 8, st);
	if (!ret)
		ret = guard_room(&f->guard, f->plan.data_offset, false, st);
	if (!ret)
		ret = check_signal(st);
	if (ret)
		return ret;
	show(f);
	if (!options.dry_run)
		ret = read_secret(f, true, st);
	if (!ret)
		ret = luks_rehearse(&f->request, device, f->secret.bytes ? &f->secret : NULL, st);
	return ret ? ret : check_signal(st);
}

/* From here to the end of the program signals wait: a volume is finished or taken back. */
static int carry_out(struct format *f, struct status *st)
{
	sigset_t before;
	int ret;

	interrupt_hold(&before);
	ret = check_signal(st);
	if (ret)
		return ret;
	ret = luks_format(&f->guard, &f->request, &f->secret, st);
	if (ret)
		return ret;
	f->written = true;
	ret = luks_verify(&f->header, &f->guard, &f->request, &f->secret, st);
	f->verified = !ret;
	if (ret)
		fprintf(stderr, PACKAGE ": %s was formatted, but the check failed: %s\n", f->path,
			st->message);
	return ret ? ST_CHECK : 0;
}

/* What crypttab finds the volume by, or NULL: nothing looks into image files for a UUID. */
static const char *crypttab_uuid(const struct format *f)
{
	return *f->header.uuid && f->guard.device.kind != DEVICE_FILE ? f->header.uuid : NULL;
}

static int print_json(const struct format *f)
{
	const char *uuid = *f->header.uuid ? f->header.uuid : NULL;
	struct json_object *doc = json_document("format"), *plan = json_object_new_object();

	json_put(doc, "device", report_device_json(&f->guard.device));
	cmd_plan_json(plan, &f->plan, &f->source, f->path, options.label, crypttab_uuid(f));
	json_put(doc, "plan", plan);
	json_put_bool(doc, "dry_run", options.dry_run);
	json_put_bool(doc, "written", f->written);
	json_put_string(doc, "uuid", uuid);
	json_put_bool(doc, "verified", f->verified);
	return json_print(doc);
}

static void print_text(const struct format *f)
{
	char spec[SPEC_TEXT_MAX], *crypttab;

	if (options.dry_run) {
		printf("Dry run: every check passed%s; nothing was written to %s.\n",
		       f->secret.bytes ? "" : " (without a secret)", f->path);
		return;
	}
	if (!f->verified)
		return;
	printf("%s is a LUKS2 volume now: header read back, keyslot opened with the secret.\n",
	       f->path);
	printf("  UUID:           %s\n", f->header.uuid);
	printf("  Cipher:         %s\n", spec_print(&f->plan.spec, spec));
	printf("  Password hash:  %s, %" PRIu64 " iterations", f->header.pbkdf.type,
	       f->header.pbkdf.iterations);
	if (f->header.pbkdf.memory)
		printf(", %" PRIu64 " KiB, %u thread%s", f->header.pbkdf.memory >> 10,
		       f->header.pbkdf.threads, f->header.pbkdf.threads == 1 ? "" : "s");
	printf("\n  Open it with:   cryptsetup open ");
	cmd_shell_word(stdout, f->path);
	crypttab = cmd_crypttab(f->path, crypttab_uuid(f));
	printf(" NAME\n  /etc/crypttab:  %s\n", crypttab ? crypttab : "");
	free(crypttab);
}

static int report(const struct format *f)
{
	if (f->globals->json)
		return print_json(f);
	print_text(f);
	return 0;
}

static void release(struct format *f)
{
	secret_free(&f->secret);
	plan_free(&f->plan);
	plan_source_free(&f->source);
	guard_close(&f->guard);
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	struct format f = {.globals = globals, .path = operands[0]};
	int ret, printed;

	(void)n;
	f.request = (struct luks_request){&f.plan, options.label, options.subsystem, options.uuid};
	ret = check_options(globals, st);
	if (ret)
		return ret;
	interrupt_catch();
	ret = guard_open(&f.guard, f.path, st);
	if (!ret)
		ret = prepare(&f, st);
	if (!ret && !options.dry_run)
		ret = ask_yes(&f, st);
	if (!ret && !options.dry_run)
		ret = carry_out(&f, st);
	if (ret >= 0) {
		printed = report(&f);
		ret = printed < 0 ? printed : ret;
	} else if (st->code > ST_SIGNAL) {
		status_set(st, st->code, EINTR, "Interrupted. Nothing was written to %s.", f.path);
	}
	release(&f);
	return ret;
}

const struct cmd cmd_format = {
	.name = "format",
	.operands = "DEVICE",
	.summary = "Make a LUKS2 volume on DEVICE, a block device or an image file.",
	.details =
		"Chooses as recommend does, checks everything that can be checked without a "
		"write, shows the\n"
		"plan and what is on DEVICE, asks, writes, and reads the result back. What is in "
		"use is\n"
		"refused whatever the options; what is not empty needs --overwrite. Nothing is "
		"created: an\n"
		"image file must be there, with its size (truncate -s SIZE FILE).",
	.options = table,
	.dest = &options,
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
