// SPDX-License-Identifier: GPL-2.0-or-later
/* reencrypt: a volume that there is gets another cipher, in place. */
#include "cmd_reencrypt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/interrupt.h"
#include "volume/reencrypt_finish.h"

static struct reencrypt_options options = {
	.plan = PLAN_DEFAULTS, .key = {.key_fd = KEY_FD_NONE}, .resilience = "checksum"};

#define REENCRYPT(field) offsetof(struct reencrypt_options, field)
#define PLAN(field)      PLAN_OPTION(struct reencrypt_options, plan, field)

static const struct opt table[] = {
	{"auto", 0, OPT_FLAG, NULL, REENCRYPT(automatic), 0, 0,
	 "Let the program choose the cipher, as recommend does."},
	{"cipher", 'c', OPT_STRING, "SPEC", PLAN(cipher), 0, 0,
	 "To this cipher, e.g. aes-xts-plain64/512."},
	{"key-size", 's', OPT_UINT, "BITS", PLAN(key_size), 1, 4096,
	 "With --cipher: its key size in bits (XTS: 512 is\nAES-256)."},
	{"sector-size", 0, OPT_UINT, "BYTES", PLAN(sector_size), 1, 65536,
	 "To this encryption sector size: 512, 1024, 2048 or\n4096. Otherwise it stays."},
	KEY_OPTIONS(struct reencrypt_options, key),
	{"header", 0, OPT_STRING, "FILE", REENCRYPT(header), 0, 0,
	 "The header is in FILE; DEVICE has the data."},
	{"resilience", 0, OPT_STRING, "MODE", REENCRYPT(resilience), 0, 0,
	 "What protects the area at work: checksum (default) or\njournal."},
	{"drop-keyslots", 0, OPT_FLAG, NULL, REENCRYPT(drop_keyslots), 0, 0,
	 "Go on although the other keyslots, which this secret\ndoes not open, will be gone."},
	{"yes", 'y', OPT_FLAG, NULL, REENCRYPT(yes), 0, 0, "Do not ask."},
	{"dry-run", 0, OPT_FLAG, NULL, REENCRYPT(dry_run), 0, 0,
	 "Check everything, show what it takes, write nothing."},
	{"policy", 0, OPT_STRING, "NAME", PLAN(policy), 0, 0,
	 "balanced (default), performance, strict or fips."},
	{"config", 0, OPT_STRING, "FILE", PLAN(config), 0, 0,
	 "Read the policy's numbers from FILE."},
	{"for", 0, OPT_STRING, "USE", PLAN(use), 0, 0,
	 "What the volume is for: lvm, vm, grub or image."},
	{"time", 0, OPT_REAL, "SECONDS", PLAN(time), 0, 3600,
	 "Measure the ciphers for this long (default 1.2, at\nleast 0.2)."},
	{"from", 0, OPT_STRING, "FILE", PLAN(from), 0, 0,
	 "Decide on saved results, and measure nothing."},
	{"device-speed", 0, OPT_STRING, "WHAT", PLAN(device_speed), 0, 0,
	 "The disk's own speed: measure (default, by reading\nfor 0.3 seconds), skip, or a number of "
	 "MB/s."},
	OPT_END};

static int check_options(const struct cmd_globals *globals, struct status *st)
{
	int ret;

	if (globals->sysroot)
		return status_set(
			st, ST_USAGE, EINVAL,
			"reencrypt works on this machine; --sysroot makes no sense with it.");
	if (!strcmp(options.resilience, "none"))
		return status_set(
			st, ST_REFUSED, EINVAL,
			"--resilience none: what is cut short then is lost, and cannot be "
			"gone on with. Nothing was written.");
	if (strcmp(options.resilience, "checksum") && strcmp(options.resilience, "journal"))
		return status_set(st, ST_USAGE, EINVAL,
				  "--resilience: \"%s\" is neither checksum nor journal.",
				  options.resilience);
	ret = cmd_key_check(&options.key, st);
	return ret ? ret : cmd_plan_check(&options.plan, options.plan.from != NULL, st);
}

static int read_secret(struct reencryption *r, bool ask, struct status *st)
{
	bool given = options.key.key_file || options.key.key_fd != KEY_FD_NONE;

	if (r->secret.bytes || given == ask)
		return 0;
	return cmd_key_read(&r->secret, &options.key, r->path, st);
}

static void fill_request(struct reencrypt_request *q, const struct reencryption *r)
{
	*q = (struct reencrypt_request){
		.device = r->guard.fd >= 0 ? r->guard.fd_path : r->path,
		.device_name = r->path,
		.header = options.header,
		.mapping = r->online ? r->mapping : NULL,
		.spec = r->resumed ? NULL : &r->spec,
		.resilience = options.resilience,
	};
}

static int rehearse(const struct reencryption *r, struct status *st)
{
	struct reencrypt_request q;

	if (!r->secret.bytes)
		return 0;
	if (r->left)
		return reencrypt_finish_rehearse(r->header_fd, reencryption_device(r)->size,
						 &r->secret, r->path, st);
	fill_request(&q, r);
	return reencrypt_rehearse(&q, &r->header, r->header_fd, reencryption_device(r)->size,
				  &r->secret, st);
}

static double elapsed(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - since->tv_sec) + (double)(now.tv_nsec - since->tv_nsec) / 1e9;
}

static int on_progress(uint64_t size, uint64_t done, void *arg)
{
	struct reencryption *r = arg;
	double seconds, rate;
	char text[80];

	if (!r->size) {
		r->first = done;
		clock_gettime(CLOCK_MONOTONIC, &r->begun);
	}
	r->size = size;
	r->done = done;
	seconds = elapsed(&r->begun);
	rate = seconds > 0 && done > r->first ? (double)(done - r->first) / seconds : 0;
	if (rate > 0)
		snprintf(text, sizeof(text), "%.0f MB/s, %.0f min %02.0f s left", rate / 1e6,
			 (double)((uint64_t)((double)(size - done) / rate) / 60),
			 (double)((uint64_t)((double)(size - done) / rate) % 60));
	else
		snprintf(text, sizeof(text), "re-encrypting");
	progress_show(&r->progress, size ? (double)done / (double)size : 0, text);
	return interrupt_caught();
}

/* Read back from the device: no longer under way, what was to be had, and the secret opens it. */
static int verify(struct reencryption *r, struct status *st)
{
	struct reencrypt_request q;
	struct inspect after;
	uint64_t size = reencryption_device(r)->size;
	off_t end = options.header ? lseek(r->header_fd, 0, SEEK_END) : (off_t)size;
	int ret = inspect_header(&after, r->header_fd, end > 0 ? (uint64_t)end : size, r->path, st);

	if (ret)
		return ret;
	if (!after.loaded || *after.reencrypt || !after.known ||
	    (r->spec.kind && !spec_equal(&after.spec, &r->spec)))
		return status_set(
			st, ST_CHECK, EBADMSG,
			"%s was re-encrypted, and its header does not say so; see inspect.",
			r->path);
	r->spec = after.spec;
	fill_request(&q, r);
	return reencrypt_opens(&q, &r->secret, st);
}

static int stopped(const struct reencryption *r, struct status *st)
{
	int sig = interrupt_caught();

	return status_set(st, ST_SIGNAL + (sig ? sig : SIGINT), EINTR,
			  "Stopped after %.1f %% of %s. It can be used as it is; dmcrypt-tune "
			  "reencrypt %.300s%s%.300s goes on with it.",
			  r->size ? 100.0 * (double)r->done / (double)r->size : 0, r->path, r->path,
			  options.header ? " --header " : "", options.header ? options.header : "");
}

/* libcryptsetup claims a device itself, and locks a file; the disk's lock stays. */
static void release_claim(struct guard *guard)
{
	if (guard->claim_fd >= 0)
		close(guard->claim_fd);
	guard->claim_fd = -1;
	if (guard->device.kind != DEVICE_FILE)
		return;
	close(guard->fd);
	guard->fd = -1;
}

/* The data are all done, and the header is not; or an area is at work of which nothing is written.
 */
static int mend_header(struct reencryption *r, struct status *st)
{
	int fd = options.header ? open(options.header, O_RDWR | O_CLOEXEC) : r->guard.fd;
	int ret;

	if (fd < 0)
		return status_set(st, ST_DEVICE, errno, "%s cannot be written: %s.", options.header,
				  strerror(errno));
	r->started = true;
	ret = r->left ? reencrypt_finish(fd, reencryption_device(r)->size, &r->secret, r->path, st)
		      : reencrypt_roll_back(fd, r->path, st);
	if (options.header)
		close(fd);
	r->finished = r->left && !ret;
	return ret;
}

static int carry_out(struct reencryption *r, struct status *st)
{
	struct reencrypt_request q;
	int ret;

	ret = r->online ? 0 : guard_recheck(&r->guard, st);
	if (!ret && interrupt_caught())
		return status_set(st, ST_SIGNAL + interrupt_caught(), EINTR,
				  "Interrupted. Nothing was written.");
	if (!ret && !r->online && (r->left || !strcmp(r->header.reencrypt, "crashed")))
		ret = mend_header(r, st);
	if (ret)
		return ret;
	if (!r->online)
		release_claim(&r->guard);
	if (r->left)
		return verify(r, st);
	fill_request(&q, r);
	q.progress = on_progress;
	q.progress_arg = r;
	r->started = true;
	progress_begin(&r->progress, r->globals->quiet);
	ret = reencrypt_run(&q, &r->secret, &r->finished, st);
	progress_end(&r->progress);
	if (!ret && !r->finished)
		ret = stopped(r, st);
	return ret ? ret : verify(r, st);
}

static int go(struct reencryption *r, struct status *st)
{
	int ret = reencryption_look(r, st);

	if (!ret)
		ret = reencryption_plan(r, st);
	if (!ret && !r->nothing)
		ret = read_secret(r, false, st);
	if (!ret && !r->nothing)
		ret = rehearse(r, st);
	if (ret || r->nothing)
		return ret;
	reencryption_show(r);
	if (options.dry_run)
		return 0;
	ret = options.yes
		      ? 0
		      : cmd_ask_yes(r->path, "re-encrypt", "All data on",
				    "will be rewritten. Have a backup. Type YES to go on: ", st);
	if (!ret && !r->secret.bytes) {
		ret = read_secret(r, true, st);
		if (!ret)
			ret = rehearse(r, st);
	}
	return ret ? ret : carry_out(r, st);
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	struct reencryption r = {
		.globals = globals, .options = &options, .path = operands[0], .header_fd = -1};
	int ret;

	(void)n;
	r.guard.fd = r.guard.lock_fd = r.guard.claim_fd = -1;
	ret = check_options(globals, st);
	if (ret)
		return ret;
	interrupt_catch();
	ret = go(&r, st);
	if (!ret) {
		ret = reencryption_report(&r);
		if (ret && r.finished)
			ret = cmd_unreported(r.path, "is re-encrypted", -ret, st);
	}
	secret_free(&r.secret);
	plan_free(&r.plan);
	plan_free(&r.now);
	plan_source_free(&r.source);
	device_facts_free(&r.device);
	guard_close(&r.guard);
	if (r.header_fd >= 0)
		close(r.header_fd);
	return ret;
}

const struct cmd cmd_reencrypt = {
	.name = "reencrypt",
	.operands = "DEVICE",
	.summary = "Re-encrypt a LUKS2 volume in place; cut short, it goes on where it was.",
	.details =
		"DEVICE may be closed or open; what is open stays in use. Rehearses on a copy of the "
		"header, shows\n"
		"what it takes, asks, and re-encrypts area after area. Interrupted (Ctrl-C, also kill "
		"-9 or a power\n"
		"cut), the same command goes on with it. The sector size stays unless --sector-size "
		"says otherwise,\n"
		"since what is in the volume may depend on it. There is one keyslot afterwards.",
	.options = table,
	.dest = &options,
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
