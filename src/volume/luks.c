// SPDX-License-Identifier: GPL-2.0-or-later
/* Making a LUKS2 volume: in memory first, then for real. */
#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "volume/luks_internal.h"

#define SECTOR_SHIFT 9

/* The least that libcryptsetup takes; a rehearsal is to be quick. Four lanes fit into 32 KiB. */
static const struct {
	uint32_t pbkdf2, argon2, argon2_kib;
} least = {1000, 4, 32};

static void pbkdf_params(struct crypt_pbkdf_type *params, const struct plan_pbkdf *pbkdf,
			 bool rehearsal)
{
	bool argon2 = !strncmp(pbkdf->type, "argon2", 6);

	memset(params, 0, sizeof(*params));
	params->type = pbkdf->type;
	params->hash = pbkdf->hash;
	params->flags = CRYPT_PBKDF_NO_BENCHMARK;
	params->iterations = !rehearsal ? pbkdf->iterations : argon2 ? least.argon2 : least.pbkdf2;
	if (!argon2)
		return;
	params->max_memory_kb = rehearsal ? least.argon2_kib : pbkdf->memory >> 10;
	params->parallel_threads = pbkdf->threads;
}

static const char step_keyslot[] = "the keyslot";

/* The same calls for the rehearsal and for the real thing. *step says what failed. */
static int make_volume(struct crypt_device *cd, const struct luks_request *request, bool rehearsal,
		       const void *secret, size_t secret_len, const char **step)
{
	const struct plan *plan = request->plan;
	struct crypt_params_luks2 params = {
		.sector_size = plan->spec.sector,
		.label = request->label,
		.subsystem = request->subsystem,
	};
	char mode[SPEC_TEXT_MAX], slot_cipher[SPEC_TEXT_MAX];
	struct crypt_pbkdf_type pbkdf;
	unsigned slot_bits;
	int ret;

	pbkdf_params(&pbkdf, &plan->pbkdf, rehearsal);
	*step = "the password hash";
	ret = crypt_set_pbkdf_type(cd, &pbkdf);
	if (ret)
		return ret;
	*step = "the header";
	ret = crypt_set_data_offset(cd, plan->data_offset >> SECTOR_SHIFT);
	if (!ret)
		ret = crypt_format(cd, CRYPT_LUKS2, plan->spec.kind->cipher,
				   spec_cipher_mode(&plan->spec, mode), request->uuid, NULL,
				   plan->spec.key_bits / 8, &params);
	if (ret)
		return ret;
	*step = step_keyslot;
	luks_keyslot_cipher(&plan->spec, slot_cipher, &slot_bits);
	ret = crypt_keyslot_set_encryption(cd, slot_cipher, slot_bits / 8);
	if (!ret)
		ret = crypt_keyslot_add_by_volume_key(cd, 0, NULL, 0, secret, secret_len);
	if (ret < 0)
		return ret;
	*step = "the flags";
	return luks_flags(plan)
		       ? crypt_persistent_flags_set(cd, CRYPT_FLAGS_ACTIVATION, luks_flags(plan))
		       : 0;
}

/* What likely lies behind a rehearsal's error, as a sentence to add. */
static const char *likely_cause(int err, const char *step, const struct plan *plan)
{
	switch (-err) {
	case EMFILE:
	case ENFILE:
		return " (Too many files are open, in this process or in all: ulimit -n.)";
	case EFBIG:
		return " (The limit on a file's size, ulimit -f, is less than the device has.)";
	case EAGAIN:
		return " (A limit on processes or on memory, ulimit -u or -l, may be in the way.)";
	case EINVAL:
		return !strcmp(step, step_keyslot) && !strncmp(plan->pbkdf.type, "argon2", 6)
			       ? " " LUKS_ARGON2_HINT
			       : "";
	case ENOSPC:
	case EINTR:
		return "";
	default:
		return luks_in_user_space(&plan->spec)
			       ? ""
			       : " (This kernel may lack the cipher, or keep programs from it.)";
	}
}

static int rehearse_error(int err, const char *step, const struct luks_request *request,
			  struct luks_log *log, struct status *st)
{
	const char *cause = likely_cause(err, step, request->plan);
	char text[SPEC_TEXT_MAX];

	if (err == -ENOMEM)
		return status_nomem(st);
	if (err == -EINVAL)
		return status_set(st, ST_REFUSED, EINVAL,
				  "A volume with %s cannot be made here (%s): %s Nothing was "
				  "written.%s",
				  spec_print(&request->plan->spec, text), step,
				  luks_words(log, err), cause);
	return status_set(st, ST_MISSING, -err,
			  "A volume with %s cannot be made here: %s could not be made in a trial "
			  "run in memory: %s Nothing was written.%s",
			  spec_print(&request->plan->spec, text), step, luks_words(log, err),
			  cause);
}

/* dm-integrity's own metadata would have to be written, and the whole device once, for its tags. */
static int refuse_integrity(const struct spec *spec, struct status *st)
{
	char text[SPEC_TEXT_MAX];

	return status_set(st, ST_REFUSED, EOPNOTSUPP,
			  "%s: volumes with an integrity mode are not made here; cryptsetup "
			  "luksFormat --integrity %s makes one. Nothing was written.",
			  spec_print(spec, text), spec->kind->integrity);
}

int luks_rehearse(const struct luks_request *request, const struct device_facts *device,
		  const struct secret *secret, struct status *st)
{
	static const char stand_in[] = "rehearsal";
	struct luks_log log = {.name = device->path};
	struct crypt_device *cd = NULL;
	const char *step = "the context";
	char path[32];
	int fd, ret;

	if (request->plan->spec.kind->integrity)
		return refuse_integrity(&request->plan->spec, st);
	fd = memfd_create("dmcrypt-tune-rehearsal", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, device->size)) {
		ret = -errno;
		goto out;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	log.path = path;
	ret = luks_begin(&cd, &log);
	if (!ret)
		ret = make_volume(cd, request, true, secret ? (void *)secret->bytes : stand_in,
				  secret ? secret->len : strlen(stand_in), &step);
	luks_end(cd);
out:
	if (fd >= 0)
		close(fd);
	return ret ? rehearse_error(ret, step, request, &log, st) : 0;
}

/* What is there before the first write, so that a format that fails can take itself back: the
 * first len bytes, to be freed by the caller. */
static int save_head(const struct guard *guard, size_t len, unsigned char **out, struct status *st)
{
	unsigned char *head = malloc(len);
	size_t have = 0;
	ssize_t n;
	int err;

	if (!head)
		return status_nomem(st);
	while (have < len) {
		n = pread(guard->fd, head + have, len - have, have);
		if (n > 0) {
			have += n;
			continue;
		}
		if (n && errno == EINTR)
			continue;
		err = n ? errno : EIO;
		free(head);
		return status_set(st, ST_REFUSED, err,
				  "%s cannot be read at byte %zu (%s): what cannot be read there "
				  "could not be put back if formatting failed. Nothing was "
				  "written.",
				  guard->device.path, have, strerror(err));
	}
	*out = head;
	return 0;
}

/* Puts back what differs from `head`. Returns how many chunks did, or -errno. */
static int restore_head(int fd, const unsigned char *head, size_t len)
{
	unsigned char now[4096];
	int changed = 0;
	size_t part;

	for (size_t at = 0; at < len; at += part) {
		part = len - at < sizeof(now) ? len - at : sizeof(now);
		if (pread(fd, now, part, at) == (ssize_t)part && !memcmp(now, head + at, part))
			continue;
		if (pwrite(fd, head + at, part, at) != (ssize_t)part)
			return -EIO;
		changed++;
	}
	return changed && fsync(fd) ? -errno : changed;
}

static int take_back(struct guard *guard, const unsigned char *head, size_t len, int err,
		     const char *step, struct luks_log *log, struct status *st)
{
	int changed = restore_head(guard->fd, head, len);
	enum exit_status code = err == -ENOMEM ? ST_NOMEM : err == -EBUSY ? ST_BUSY : ST_REFUSED;

	if (changed >= 0)
		return status_set(st, code, -err, "%s was not formatted (%s): %s %s",
				  guard->device.path, step, luks_words(log, err),
				  changed ? "What had been written was taken back: its contents "
					    "are what they were."
					  : "Nothing on it was changed.");
	return status_set(
		st, ST_CHECK, -err,
		"Formatting %s failed (%s): %s The first %zu bytes of it are damaged, and could "
		"not be put back; it holds no volume that opens.",
		guard->device.path, step, luks_words(log, err), len);
}

/* After the header is in place: what it did not reach. */
static int finish(struct guard *guard, const struct plan *plan, struct status *st)
{
	char what[64] = "";
	int ret;

	ret = luks_wipe_stale(guard->fd, plan->data_offset, what, sizeof(what));
	if (!ret && fsync(guard->fd))
		ret = -errno;
	if (ret)
		return status_set(st, ST_CHECK, -ret,
				  "%s was formatted, but %s%s%s. Run wipefs on it, or format it "
				  "again.",
				  guard->device.path,
				  *what ? "an old signature at its end would not go: "
					: "the disk does not confirm the write: ",
				  what, *what ? "" : strerror(-ret));
	/* The kernel still has the old table's partitions. Devices without partitions, and old
	 * partitions taken by someone meanwhile, refuse, which is right. */
	if (guard->device.kind != DEVICE_FILE && guard->device.kind != DEVICE_PARTITION)
		for (size_t i = 0; i < guard->device.n_contents; i++)
			if (!strcmp(guard->device.contents[i].usage, "table"))
				ioctl(guard->fd, BLKRRPART);
	return 0;
}

int luks_format(struct guard *guard, const struct luks_request *request,
		const struct secret *secret, struct status *st)
{
	const struct plan *plan = request->plan;
	struct luks_log log = {.path = guard->fd_path, .name = guard->device.path};
	struct crypt_device *cd = NULL;
	const char *step = "opening it";
	unsigned char *head = NULL;
	int ret;

	if (plan->spec.kind->integrity)
		return refuse_integrity(&plan->spec, st);
	ret = guard_recheck(guard, st);
	if (!ret)
		ret = guard_room(guard, plan->data_offset, true, st);
	if (!ret)
		ret = save_head(guard, plan->data_offset, &head, st);
	if (ret)
		return ret;
	/* We hold the lock that it would wait for without end (volume/guard.c). It cannot be
	 * switched on again, which one command does not need. */
	if (guard->device.kind == DEVICE_FILE)
		crypt_metadata_locking(NULL, 0);
	ret = luks_begin(&cd, &log);
	if (!ret)
		ret = make_volume(cd, request, false, secret->bytes, secret->len, &step);
	luks_end(cd);
	ret = ret < 0 ? take_back(guard, head, plan->data_offset, ret, step, &log, st)
		      : finish(guard, plan, st);
	free(head);
	return ret;
}
