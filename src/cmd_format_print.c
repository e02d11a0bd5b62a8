// SPDX-License-Identifier: GPL-2.0-or-later
/* What format shows before it asks, and what it reports after. */
#include "cmd_format.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/json_facts.h"
#include "util/json.h"
#include "util/output.h"
#include "util/text.h"
#include "util/units.h"

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
		text_print(out, c->label);
		fputc('"', out);
	}
	fprintf(out, " at byte %" PRIu64, c->offset);
}

char *format_contents(const struct device_facts *device, const char *separator)
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

bool format_has_contents(const struct device_facts *device)
{
	return device->n_contents || !device->contents_known;
}

static void show_device(FILE *out, const struct device_facts *device)
{
	char size[UNITS_MAX], *list;

	text_print(out, device->path);
	fprintf(out, ": %s, %s", device_kind_name(device->kind), units_size(device->size, size));
	if (*device->model) {
		fputs(", ", out);
		text_print(out, device->model);
	}
	if (*device->serial) {
		fputs(", serial ", out);
		text_print(out, device->serial);
	}
	if (!format_has_contents(device)) {
		fputs("; nothing was found on it\n", out);
		return;
	}
	list = format_contents(device, "\n  ");
	fprintf(out, "\nThis on it will be LOST:\n  %s\n", list ? list : "?");
	free(list);
}

static void show_header(FILE *out, const struct format *f)
{
	const struct detached *d = &f->detached;

	if (!f->options->header)
		return;
	fputs("\nThe header goes to another place:\n", out);
	if (!d->is_file) {
		show_device(out, &d->guard.device);
		return;
	}
	text_print(out, d->path);
	fprintf(out, ": %s\n",
		detached_holds(d) ? "a file; what is in it will be LOST" : "a new file");
}

/* A pipe that nobody reads any more takes no report: known without writing to it. */
static int check_reader(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) == 1 && out.revents & POLLERR ? -EPIPE : 0;
}

int format_show(const struct format *f, struct status *st)
{
	bool json = f->globals->json;
	FILE *out = json ? stderr : stdout;
	int ret = json ? check_reader() : 0;

	if (!ret && !(json && f->globals->quiet)) {
		show_device(out, &f->guard.device);
		show_header(out, f);
		fputc('\n', out);
		cmd_plan_text(out, &f->plan, &f->source, f->path, f->options->label,
			      f->options->dry_run);
		fputc('\n', out);
		errno = 0;
		ret = !json                        ? output_flush()
		      : fflush(out) || ferror(out) ? -(errno ? errno : EIO)
						   : 0;
	}
	if (!ret)
		return 0;
	/* What nobody could read nobody can have meant. */
	return status_set(st, ST_MISSING, -ret,
			  "standard %s: %s. The plan could not be shown, so nothing was written to "
			  "%s.",
			  json && ret != -EPIPE ? "error" : "output", strerror(-ret), f->path);
}

/* What crypttab finds the volume by, or NULL: nothing looks into image files for a UUID, and a
 * device without a header has none. */
static const char *crypttab_uuid(const struct format *f)
{
	return *f->header.uuid && !f->options->header && f->guard.device.kind != DEVICE_FILE
		       ? f->header.uuid
		       : NULL;
}

/* Where a detached header is; null without one. */
static struct json_object *detached_json(const struct format *f)
{
	const struct detached *d = &f->detached;
	struct json_object *obj;

	if (!f->options->header)
		return NULL;
	obj = json_object_new_object();
	json_put_path(obj, "path", f->plan.header);
	json_put_string(obj, "kind",
			device_kind_name(d->is_file ? DEVICE_FILE : d->guard.device.kind));
	json_put_u64(obj, "bytes", luks_header_len(&f->plan));
	json_put_bool(obj, "replaces", detached_holds(d) != 0);
	return obj;
}

/* Of a volume with an integrity mode that was made. */
static struct json_object *wipe_json(const struct format *f)
{
	struct json_object *obj;

	if (!f->written || !f->plan.spec.kind->integrity)
		return NULL;
	obj = json_object_new_object();
	json_put_bool(obj, "done", !f->options->no_wipe);
	json_put_u64(obj, "bytes", f->area.size);
	json_put_real(obj, "seconds", f->options->no_wipe ? 0 : f->wipe_seconds);
	return obj;
}

static int print_json(const struct format *f)
{
	const char *uuid = *f->header.uuid ? f->header.uuid : NULL;
	struct json_object *doc = json_document("format"), *plan = json_object_new_object();

	json_put(doc, "device", report_device_json(&f->guard.device));
	cmd_plan_json(plan, &f->plan, &f->source, f->path, f->options->label, crypttab_uuid(f));
	json_put(doc, "plan", plan);
	json_put_string(doc, "type", f->request.luks1 ? "luks1" : "luks2");
	json_put_string(doc, "label", *f->image.header.label ? f->image.header.label : NULL);
	json_put_string(doc, "subsystem",
			*f->image.header.subsystem ? f->image.header.subsystem : NULL);
	json_put(doc, "header", detached_json(f));
	json_put_bool(doc, "dry_run", f->options->dry_run);
	json_put_bool(doc, "written", f->written);
	json_put_string(doc, "uuid", uuid);
	json_put_bool(doc, "verified", f->verified);
	json_put_bool(doc, "mapped", f->mapped);
	json_put(doc, "wipe", wipe_json(f));
	json_put_string(doc, "not_mapped", *f->unmapped ? f->unmapped : NULL);
	json_put_path(doc, "undo_file", f->written ? f->options->undo_file : NULL);
	return json_print(doc);
}

static void print_text(const struct format *f)
{
	char spec[SPEC_TEXT_MAX], size[UNITS_MAX];

	if (f->options->dry_run) {
		printf("Dry run: every check passed%s; nothing was written to ",
		       f->secret.bytes ? "" : " (without a secret)");
		text_print(stdout, f->path);
		puts(".");
		return;
	}
	if (!f->verified)
		return;
	text_print(stdout, f->path);
	printf(" is a LUKS%d volume now: header read back, keyslot opened with the secret.\n",
	       f->request.luks1 ? 1 : 2);
	if (f->options->header) {
		printf("  Header:         ");
		text_print(stdout, f->plan.header);
		printf(" (%s: without it the data are lost; keep a copy)\n",
		       units_size(luks_header_len(&f->plan), size));
	}
	printf("  UUID:           %s\n", f->header.uuid);
	printf("  Cipher:         %s\n", spec_print(&f->plan.spec, spec));
	printf("  Password hash:  %s, %" PRIu64 " iterations", f->header.pbkdf.type,
	       f->header.pbkdf.iterations);
	if (f->header.pbkdf.memory)
		printf(", %" PRIu64 " KiB, %u thread%s", f->header.pbkdf.memory >> 10,
		       f->header.pbkdf.threads, f->header.pbkdf.threads == 1 ? "" : "s");
	if (f->plan.spec.kind->integrity)
		printf("\n  Room:           %s; %s", units_size(f->area.size, size),
		       f->options->no_wipe ? "not wiped: reading what was never written fails"
					   : "all of it written once");
	printf("\n  Tried:          ");
	if (f->mapped)
		printf("a sector read and written through dm-crypt");
	else
		printf("not through dm-crypt (%s)", f->unmapped);
	printf("\n  Open it with:   cryptsetup open ");
	if (f->options->header) {
		printf("--header ");
		cmd_shell_path(stdout, f->plan.header);
		putchar(' ');
	}
	cmd_shell_path(stdout, f->path);
	printf(" NAME\n  /etc/crypttab:  ");
	cmd_print_crypttab(stdout, &f->plan, f->path, crypttab_uuid(f));
	putchar('\n');
	if (!f->options->undo_file)
		return;
	printf("  Undo it with:   " PACKAGE " undo ");
	cmd_shell_path(stdout, f->options->undo_file);
	putchar(' ');
	cmd_shell_path(stdout, f->path);
	puts("\n                  (before anything is written into the volume)");
}

int format_report(const struct format *f)
{
	if (f->globals->json)
		return print_json(f);
	print_text(f);
	return output_flush();
}
