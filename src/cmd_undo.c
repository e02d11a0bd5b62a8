// SPDX-License-Identifier: GPL-2.0-or-later
/* undo: puts back what a format overwrote, from the file that its --undo-file made. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "report/json_facts.h"
#include "util/interrupt.h"
#include "util/json.h"
#include "util/output.h"
#include "util/text.h"
#include "util/units.h"
#include "volume/undo.h"

struct undo_options {
	bool yes, force, dry_run;
};

static struct undo_options options;

#define UNDO(field) offsetof(struct undo_options, field)

static const struct opt table[] = {
	{"yes", 'y', OPT_FLAG, NULL, UNDO(yes), 0, 0, "Do not ask."},
	{"force", 0, OPT_FLAG, NULL, UNDO(force), 0, 0,
	 "Go on although DEVICE seems another one, or something\nwas written to it since."},
	{"dry-run", 0, OPT_FLAG, NULL, UNDO(dry_run), 0, 0,
	 "Check everything, say what would be done, write\nnothing."},
	OPT_END};

/* What a run holds; released in one place. */
struct run {
	const struct cmd_globals *globals;
	const char *file, *path;
	struct guard guard;
	struct undo undo;
	struct undo_finding found;
	char differences[3][200]; /* what speaks against putting it back */
	size_t n_differences;
	bool written, verified;
};

__attribute__((format(printf, 2, 3))) static void differs(struct run *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->differences[r->n_differences++], sizeof(r->differences[0]), format, ap);
	va_end(ap);
}

static bool as_before(const struct undo_finding *f)
{
	return !f->blank && !f->after && !f->other;
}

static void list_differences(struct run *r)
{
	const struct undo_finding *f = &r->found;

	if (f->identity)
		differs(r, "the %s is not that of the device that was formatted", f->identity);
	if (f->other)
		differs(r,
			"%zu of the %zu sectors that the format wrote hold something else now, the "
			"first at byte %" PRIu64,
			f->other, r->undo.n_sectors, f->first_other);
	if (f->used)
		differs(r,
			"the new volume has been used: its data area has changed, first seen at "
			"byte %" PRIu64,
			f->first_used);
}

static int refuse_differences(const struct run *r, struct status *st)
{
	char text[640] = "";
	size_t used = 0;

	if (!r->n_differences || options.force)
		return 0;
	for (size_t i = 0; i < r->n_differences; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%s", i ? "; " : "",
				 r->differences[i]);
	return status_set(st, ST_REFUSED, ESTALE,
			  "%s is not as the format left it: %s. Nothing was written; --force puts "
			  "back all the same what was there.",
			  r->path, text);
}

static void show(const struct run *r)
{
	FILE *out = r->globals->json ? stderr : stdout;
	char size[UNITS_MAX], when[64] = "?";
	struct tm tm;

	if (r->globals->json && r->globals->quiet)
		return;
	if (localtime_r(&r->undo.created, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	text_print(out, r->file);
	fprintf(out, ": what was overwritten on %s, when volume %s was made\n", when, r->undo.uuid);
	text_print(out, r->path);
	fprintf(out, ": %s, %s; of %zu sectors that were overwritten %zu are as they were\n",
		device_kind_name(r->guard.device.kind), units_size(r->guard.device.size, size),
		r->undo.n_sectors, r->found.before);
	for (size_t i = 0; i < r->n_differences; i++)
		fprintf(out, "  But %s.\n", r->differences[i]);
}

static int prepare(struct run *r, struct status *st)
{
	int ret;

	ret = undo_load(&r->undo, r->file, st);
	if (!ret)
		ret = guard_open(&r->guard, r->path, st);
	if (!ret && r->guard.device.file_dev == r->undo.file_dev &&
	    r->guard.device.file_ino == r->undo.file_ino)
		ret = status_set(st, ST_USAGE, EINVAL,
				 "%s is %s itself: it cannot be put back into itself.", r->file,
				 r->path);
	if (!ret)
		ret = undo_compare(&r->found, &r->undo, &r->guard, st);
	if (ret)
		return ret;
	list_differences(r);
	show(r);
	return refuse_differences(r, st);
}

static int put_back(struct run *r, struct status *st)
{
	bool opens;
	int ret;

	ret = change_revert(&r->undo.change, r->guard.fd, &opens);
	if (ret < 0)
		return status_set(st, ST_CHECK, -ret,
				  "Putting back what was on %s failed: %s. It %s; run undo again "
				  "when the disk takes writes.",
				  r->path, strerror(-ret),
				  opens ? "may still hold the volume"
					: "holds neither the volume nor all that was there");
	r->written = true;
	return 0;
}

/* From the medium, where that can be had past the cache. */
static int verify(struct run *r, struct status *st)
{
	int ret;

	guard_drop_cache(&r->guard);
	ret = undo_compare(&r->found, &r->undo, &r->guard, st);
	if (!ret && !as_before(&r->found))
		ret = status_set(st, ST_CHECK, EBADMSG,
				 "%s was written, but does not give back what was put there.",
				 r->path);
	r->verified = !ret;
	if (!ret)
		guard_reread_table(&r->guard);
	return ret;
}

static int carry_out(struct run *r, struct status *st)
{
	uint64_t len = r->undo.change.header_len;
	sigset_t before;
	int ret;

	interrupt_hold(&before);
	ret = guard_recheck(&r->guard, st);
	if (!ret)
		ret = guard_room(&r->guard, len, true, st);
	if (!ret)
		ret = put_back(r, st);
	return ret ? ret : verify(r, st);
}

static int print_json(const struct run *r)
{
	struct json_object *doc = json_document("undo"), *found = json_object_new_object();
	struct json_object *differences = json_object_new_array();

	json_put(doc, "device", report_device_json(&r->guard.device));
	json_put_path(doc, "file", r->file);
	json_put_string(doc, "uuid", r->undo.uuid);
	json_put_u64(doc, "created", (uint64_t)r->undo.created);
	json_put_u64(found, "total", r->undo.n_sectors);
	json_put_u64(found, "before", r->found.before);
	json_put_u64(found, "blank", r->found.blank);
	json_put_u64(found, "after", r->found.after);
	json_put_u64(found, "other", r->found.other);
	json_put(doc, "sectors", found);
	for (size_t i = 0; i < r->n_differences; i++)
		json_append_string(differences, r->differences[i]);
	json_put(doc, "differences", differences);
	json_put_bool(doc, "dry_run", options.dry_run);
	json_put_bool(doc, "written", r->written);
	json_put_bool(doc, "verified", r->verified);
	return json_print(doc);
}

static int report(const struct run *r)
{
	if (r->globals->json)
		return print_json(r);
	text_print(stdout, r->path);
	if (r->verified)
		puts(" has back what the format overwrote: written, and read back.");
	else if (as_before(&r->found))
		puts(" is as it was before the format; there is nothing to undo.");
	else
		puts(": every check passed; nothing was written (dry run).");
	return output_flush();
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	struct run r = {.globals = globals, .file = operands[0], .path = operands[1]};
	int ret;

	(void)n;
	r.guard.fd = r.guard.lock_fd = r.guard.claim_fd = -1;
	if (globals->sysroot)
		return status_set(st, ST_USAGE, EINVAL,
				  "undo works on this machine; --sysroot makes no sense with it.");
	interrupt_catch();
	ret = prepare(&r, st);
	if (!ret && !options.dry_run && !as_before(&r.found)) {
		ret = options.yes
			      ? 0
			      : cmd_ask_yes(
					r.path, "change", "The volume on",
					"will be lost. Type YES to put back what was there: ", st);
		if (!ret)
			ret = carry_out(&r, st);
	}
	if (!ret)
		ret = report(&r);
	if (ret && r.verified)
		ret = cmd_unreported(r.path, "has back what the format overwrote", -ret, st);
	undo_free(&r.undo);
	guard_close(&r.guard);
	return ret;
}

const struct cmd cmd_undo = {
	.name = "undo",
	.operands = "FILE DEVICE",
	.summary = "Put back what a format with --undo-file FILE overwrote on DEVICE.",
	.details =
		"Checks that DEVICE is the one that was formatted, and that nothing but the format "
		"was written\n"
		"where it wrote, asks, writes, and reads the result back. It can be repeated when it "
		"was cut\n"
		"short, and undoes a format that was cut short. What was written into the new volume "
		"stays:\n"
		"where that hit old data, they are lost.",
	.options = table,
	.dest = &options,
	.min_operands = 2,
	.max_operands = 2,
	.run = run,
};
