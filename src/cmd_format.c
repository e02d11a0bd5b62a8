// SPDX-License-Identifier: GPL-2.0-or-later
/* format: carries a plan out. The order is the point: the first write comes last. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_format.h"
#include "util/interrupt.h"
#include "util/output.h"
#include "volume/pbkdf.h"
#include "volume/quality.h"
#include "volume/undo.h"

static struct format_options options = {.plan = PLAN_DEFAULTS, .key_fd = FORMAT_KEY_FD_NONE};

#define FORMAT(field) offsetof(struct format_options, field)

static const struct opt table[] = {
	{"auto", 0, OPT_FLAG, NULL, FORMAT(automatic), 0, 0,
	 "Let the program choose the cipher, as recommend does."},
	PLAN_OPTIONS(struct format_options, plan),
	{"type", 0, OPT_STRING, "TYPE", FORMAT(type), 0, 0,
	 "luks2 (default), or luks1 for old boot loaders, with\npbkdf2 and sectors of 512 bytes."},
	{"offset", 'o', OPT_STRING, "OFFSET", FORMAT(offset), 0, 0,
	 "Where the data begin: a number of 512-byte sectors, as\ncryptsetup has it, or a size such as "
	 "32M."},
	{"header", 0, OPT_STRING, "PATH", FORMAT(header), 0, 0,
	 "Write the header to PATH, a new file or another block\ndevice, instead of DEVICE, where data then "
	 "begin at\nbyte 0. Without it the data are lost: keep a copy."},
	{"integrity-no-wipe", 0, OPT_FLAG, NULL, FORMAT(no_wipe), 0, 0,
	 "With --integrity: do not write the device once. Reading\nwhat was never written fails then."},
	{"key-file", 'd', OPT_STRING, "FILE", FORMAT(key_file), 0, 0,
	 "Read the secret from FILE (-: standard input), all of\nit, newlines included. Without it, or "
	 "from a\nterminal, a passphrase is asked for."},
	{"key-fd", 0, OPT_UINT, "N", FORMAT(key_fd), 0, INT_MAX,
	 "Read the secret from the open file descriptor N."},
	{"check-quality", 0, OPT_FLAG, NULL, FORMAT(check_quality), 0, 0,
	 "Refuse a passphrase that libpwquality finds too weak."},
	{"label", 0, OPT_STRING, "LABEL", FORMAT(label), 0, 0,
	 "The volume's label, at most 47 bytes."},
	{"subsystem", 0, OPT_STRING, "LABEL", FORMAT(subsystem), 0, 0,
	 "The volume's subsystem label, at most 47 bytes."},
	{"uuid", 0, OPT_STRING, "UUID", FORMAT(uuid), 0, 0,
	 "The volume's UUID; a random one otherwise."},
	{"undo-file", 0, OPT_STRING, "FILE", FORMAT(undo_file), 0, 0,
	 "Save what will be overwritten to FILE, a new file,\nfirst; undo FILE DEVICE puts it back."},
	{"yes", 'y', OPT_FLAG, NULL, FORMAT(yes), 0, 0, "Do not ask."},
	{"overwrite", 0, OPT_FLAG, NULL, FORMAT(overwrite), 0, 0,
	 "Go on although something is on DEVICE; it will be lost."},
	{"no-verify", 0, OPT_FLAG, NULL, FORMAT(no_verify), 0, 0,
	 "Do not use the volume once through dm-crypt. (The\nheader is read back in any case.)"},
	{"dry-run", 0, OPT_FLAG, NULL, FORMAT(dry_run), 0, 0,
	 "Check everything, print the plan, write nothing."},
	OPT_END};

static int check_signal(struct status *st)
{
	int sig = interrupt_caught();

	return sig ? status_set(st, ST_SIGNAL + sig, EINTR, "Interrupted.") : 0;
}

static bool key_given(void)
{
	return options.key_file || options.key_fd != FORMAT_KEY_FD_NONE;
}

static int read_secret(struct format *f, bool ask, struct status *st)
{
	struct secret_source source = {
		.key_file = options.key_file,
		.key_fd = options.key_fd == FORMAT_KEY_FD_NONE ? -1 : (int)options.key_fd,
		.prompt_for = f->path,
		.verify = true,
	};
	int ret;

	if (f->secret.bytes || key_given() == ask)
		return 0;
	secret_harden_process();
	ret = secret_read(&f->secret, &source, st);
	return ret || !options.check_quality ? ret : quality_check(&f->secret, st);
}

/* Bytes are stored as they were given; whether they can be given again is another question. */
static void note_keyboard(const struct format *f)
{
	bool grub = f->plan.use == PLAN_FOR_GRUB;
	const char *doubt = quality_boot_doubt(&f->secret, grub);

	if (!doubt || !(f->secret.typed || grub))
		return;
	cmd_note(
		f->globals,
		"The passphrase holds %s. It is stored byte for byte; a prompt at boot, with another "
		"keyboard layout or character set%s, may not give the same bytes.",
		doubt, grub ? " (GRUB has the American one)" : "");
}

static void note_files(const struct format *f)
{
	if (*f->detached.left)
		cmd_note(
			f->globals,
			"%s, beside %s, was left by a run that was killed; nothing needs it, and it "
			"may be removed.",
			f->detached.left, options.header);
	if (options.undo_file && undo_in_memory(options.undo_file))
		cmd_note(
			f->globals,
			"%s is kept in memory: without power it is lost, and with it the way back.",
			options.undo_file);
	if (options.header && f->detached.is_file && undo_in_memory(f->detached.target))
		cmd_note(
			f->globals,
			"%s is kept in memory: without power it is lost, and with it every way to the "
			"data.",
			options.header);
}

/* Steps 1 to 4 of the order: everything that can be known and checked without a write. */
static int prepare(struct format *f, struct status *st)
{
	const struct device_facts *device = &f->guard.device;
	int ret;

	ret = decide_check_device(device, &options.plan.place, st);
	if (!ret)
		ret = format_check_contents(f, st);
	if (!ret && !options.yes && !options.dry_run)
		ret = cmd_can_ask(f->path, "format", st);
	if (!ret && !options.dry_run && !key_given())
		ret = secret_check_terminal(st);
	if (!ret)
		ret = read_secret(f, false, st);
	if (!ret)
		ret = cmd_plan_make(&f->plan, &f->source, f->globals, &options.plan, device, st);
	if (!ret && f->request.luks1)
		ret = format_fit_luks1(&f->plan, st);
	f->plan.header = options.header;
	if (!ret)
		ret = format_check_integrity(f, st);
	if (!ret)
		ret = format_check_offset(&f->plan, &options, st);
	/* Not done by cmd_plan_make() for saved results; does nothing twice. */
	if (!ret)
		ret = pbkdf_settle(&f->plan.pbkdf, f->plan.spec.key_bits / 8, st);
	if (!ret)
		ret = options.header ? detached_room(&f->detached, luks_header_len(&f->plan), st)
				     : guard_room(&f->guard, luks_header_len(&f->plan), false, st);
	if (!ret)
		ret = check_signal(st);
	if (ret)
		return ret;
	ret = format_show(f, st);
	if (!ret && !options.dry_run)
		ret = read_secret(f, true, st);
	if (!ret && f->secret.bytes)
		note_keyboard(f);
	if (!ret)
		note_files(f);
	if (!ret)
		ret = luks_build(&f->image, &f->request, device,
				 f->secret.bytes ? &f->secret : NULL, st);
	/* Ahead of the question whether that can be had; read for good it is just before the write.
	 */
	if (!ret)
		ret = format_find_before(f, st);
	change_free(&f->change);
	change_free(&f->detached.change);
	return ret ? ret : check_signal(st);
}

/* Through dm-crypt, where that can be had. */
static int use_once(struct format *f, const struct secret *key, struct status *st)
{
	const struct kernel_dm *dm = &f->source.facts.kernel.dm;
	int ret;

	if (f->mapped)
		return 0;
	if (options.no_verify)
		snprintf(f->unmapped, sizeof(f->unmapped), "--no-verify");
	else if (f->guard.device.kind == DEVICE_FILE)
		snprintf(f->unmapped, sizeof(f->unmapped), "it is a file");
	else if (!dm->available)
		snprintf(f->unmapped, sizeof(f->unmapped), "%.*s", (int)sizeof(f->unmapped) - 1,
			 *dm->reason ? dm->reason : "device-mapper is not to be had");
	if (*f->unmapped)
		return 0;
	ret = luks_try_mapping(&f->guard, &f->request, key, f->unmapped, sizeof(f->unmapped), st);
	f->mapped = !ret && !*f->unmapped;
	return ret;
}

static const char *still(const char *path, const char *target)
{
	char *real = realpath(path, NULL);
	bool same = !*target || (real && !strcmp(real, target));

	free(real);
	return same ? path : target;
}

/* A link may lead to something else by now: what is told is of what was written. */
static void tell_apart(struct format *f)
{
	const struct detached *d = &f->detached;

	f->path = still(f->path, f->guard.device.target);
	if (options.header)
		f->plan.header = still(options.header,
				       d->is_file ? d->target : d->guard.device.target);
}

/* From here to the end of the program signals wait: a volume is finished or taken back. */
static int carry_out(struct format *f, struct status *st)
{
	struct secret key = {0};
	sigset_t before;
	int ret;

	interrupt_hold(&before);
	ret = check_signal(st);
	if (!ret)
		ret = format_save_before(f, st);
	if (!ret)
		ret = format_write(f, st);
	if (ret)
		return ret;
	f->written = true;
	tell_apart(f);
	ret = luks_verify(&f->header, options.header ? &f->detached.guard : &f->guard, &f->image,
			  &f->request, &f->secret, &key, st);
	f->verified = !ret;
	if (!ret)
		ret = use_once(f, &key, st);
	secret_free(&key);
	if (ret)
		cmd_say("%s was formatted, but the check failed: %s", f->path, st->message);
	return ret ? ST_CHECK : 0;
}

/* A volume that nobody was told of is told of on standard error. `ret`: how the work ended. */
static int report(const struct format *f, int ret, struct status *st)
{
	int err = format_report(f);
	char done[100];

	if (!err || !f->written)
		return err ? err : ret;
	snprintf(done, sizeof(done), "was formatted%s (UUID %s)",
		 f->verified ? " and verified" : "", f->header.uuid);
	return cmd_unreported(f->path, done, -err, st);
}

static void release(struct format *f)
{
	secret_free(&f->secret);
	change_free(&f->change);
	luks_image_free(&f->image);
	plan_free(&f->plan);
	plan_source_free(&f->source);
	if (options.header)
		detached_close(&f->detached);
	guard_close(&f->guard);
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	/* Not on the stack, which may be small. */
	static struct format f;
	int ret;

	(void)n;
	f = (struct format){.globals = globals, .options = &options, .path = operands[0]};
	f.detached.guard.fd = f.detached.guard.lock_fd = f.detached.guard.claim_fd = -1;
	f.detached.file.fd = -1;
	ret = format_check_options(&options, globals, st);
	if (ret)
		return ret;
	f.request = (struct luks_request){&f.plan, options.label, options.subsystem, options.uuid,
					  format_luks1(&options)};
	interrupt_catch();
	ret = guard_open(&f.guard, f.path, st);
	if (!ret)
		ret = format_open_header(&f, st);
	if (!ret)
		ret = format_check_files(&f, st);
	if (!ret)
		ret = prepare(&f, st);
	if (!ret && !options.dry_run)
		ret = options.yes ? 0
				  : cmd_ask_yes(f.path, "format", "Everything on",
						"will be lost. Type YES to format it: ", st);
	if (!ret && !options.dry_run)
		ret = carry_out(&f, st);
	if (ret >= 0)
		ret = report(&f, ret, st);
	else if (st->code > ST_SIGNAL && !f.area_begun)
		status_set(st, st->code, EINTR, "Interrupted. Nothing was written to %s.", f.path);
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
