// SPDX-License-Identifier: GPL-2.0-or-later
/* Making a LUKS volume: all of it in memory, then onto the device. */
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

static void pbkdf_params(struct crypt_pbkdf_type *params, const struct plan_pbkdf *pbkdf)
{
	memset(params, 0, sizeof(*params));
	params->type = pbkdf->type;
	params->hash = pbkdf->hash;
	params->flags = CRYPT_PBKDF_NO_BENCHMARK;
	params->iterations = pbkdf->iterations;
	if (strncmp(pbkdf->type, "argon2", 6))
		return;
	params->max_memory_kb = pbkdf->memory >> 10;
	params->parallel_threads = pbkdf->threads;
}

static const char step_keyslot[] = "the keyslot";

int luks_format_header(struct crypt_device *cd, const struct luks_request *request,
		       const char *data)
{
	const struct plan *plan = request->plan;
	struct crypt_params_luks1 luks1 = {.hash = plan->pbkdf.hash, .data_device = data};
	struct crypt_params_luks2 luks2 = {
		.sector_size = plan->spec.sector,
		.data_device = data,
		.integrity = luks_integrity(plan->spec.kind),
		.label = request->label,
		.subsystem = request->subsystem,
	};
	char mode[SPEC_TEXT_MAX];
	int ret;

	ret = crypt_set_data_offset(cd, plan->data_offset >> SECTOR_SHIFT);
	/* Else the keyslots' area would grow with the offset. */
	if (!ret && data && !request->luks1)
		ret = crypt_set_metadata_size(cd, LUKS2_COPY,
					      luks_header_len(plan) - LUKS2_METADATA);
	if (ret)
		return ret;
	return crypt_format(cd, request->luks1 ? CRYPT_LUKS1 : CRYPT_LUKS2, plan->spec.kind->cipher,
			    spec_cipher_mode(&plan->spec, mode), request->uuid, NULL,
			    spec_volume_key_bits(&plan->spec) / 8,
			    request->luks1 ? (void *)&luks1 : &luks2);
}

/* *step says what failed. */
static int make_volume(struct crypt_device *cd, const struct luks_request *request,
		       const char *data, const struct secret *secret, const char **step)
{
	const struct plan *plan = request->plan;
	char slot_cipher[SPEC_TEXT_MAX];
	struct crypt_pbkdf_type pbkdf;
	unsigned slot_bits;
	int ret;

	pbkdf_params(&pbkdf, &plan->pbkdf);
	*step = "the password hash";
	ret = crypt_set_pbkdf_type(cd, &pbkdf);
	if (ret)
		return ret;
	*step = "the header";
	ret = luks_format_header(cd, request, data);
	if (ret)
		return ret;
	*step = step_keyslot;
	luks_keyslot_cipher(&plan->spec, slot_cipher, &slot_bits);
	/* LUKS1 encrypts keyslots as it does the data, and with tags nothing can be said of it. */
	if (!request->luks1 && !plan->spec.kind->integrity)
		ret = crypt_keyslot_set_encryption(cd, slot_cipher, slot_bits / 8);
	if (!ret)
		ret = crypt_keyslot_add_by_volume_key(cd, 0, NULL, 0, (const char *)secret->bytes,
						      secret->len);
	if (ret < 0)
		return ret;
	*step = "the flags";
	return luks_flags(plan)
		       ? crypt_persistent_flags_set(cd, CRYPT_FLAGS_ACTIVATION, luks_flags(plan))
		       : 0;
}

/* What likely lies behind an error, as a sentence to add. */
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

static int build_error(int err, const char *step, const struct luks_request *request,
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
			  "A volume with %s cannot be made here: %s could not be made in "
			  "memory: %s Nothing was written.%s",
			  spec_print(&request->plan->spec, text), step, luks_words(log, err),
			  cause);
}

int luks_memory_file(uint64_t size, char path[32])
{
	int fd = memfd_create("dmcrypt-tune-volume", MFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	if (!ftruncate(fd, (off_t)size))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

/* The volume in the image's memfd, as libcryptsetup makes it on a device of that size. */
static int make_in_memory(struct luks_image *image, const struct luks_request *request,
			  const struct device_facts *device, const struct secret *secret,
			  struct luks_log *log, const char **step)
{
	bool apart = luks_apart(request->plan);
	struct crypt_device *cd = NULL;
	char path[32], data[32];
	int data_fd = -1, ret;

	image->fd = luks_memory_file(apart ? luks_header_len(request->plan) : device->size, path);
	if (apart && image->fd >= 0)
		data_fd = luks_memory_file(device->size, data);
	ret = image->fd < 0 ? image->fd : apart && data_fd < 0 ? data_fd : 0;
	log->path = path;
	if (!ret)
		ret = luks_begin(&cd, log);
	if (!ret)
		ret = make_volume(cd, request, apart ? data : NULL, secret, step);
	luks_end(cd);
	log->path = NULL;
	if (data_fd >= 0)
		close(data_fd);
	return ret;
}

static int map_image(struct luks_image *image, bool luks1, uint64_t len)
{
	void *map = mmap(NULL, len, PROT_READ, MAP_SHARED, image->fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	image->bytes = map;
	image->len = len;
	/* The one sector with its mark last (LUKS1 on-disk format, 2.3.1): all else is there then,
	 * and a disk writes a sector whole. */
	if (luks1) {
		image->copies[0] = (struct extent){0, CHANGE_SECTOR};
		return 0;
	}
	/* The second copy first: one that is there alone counts as well (LUKS2 on-disk format,
	 * 2.2), so a write that is cut short after it has made a volume. */
	image->copies[0] = (struct extent){LUKS2_COPY, LUKS2_COPY};
	image->copies[1] = (struct extent){0, LUKS2_COPY};
	return 0;
}

/* Checking blanks each copy of the metadata in turn; afterwards they are as they were. */
static int check_image(struct luks_image *image, const struct luks_request *request,
		       const struct secret *secret, const char *name, struct status *st)
{
	unsigned char *metadata = malloc(LUKS2_METADATA);
	int ret;

	if (!metadata)
		return status_nomem(st);
	memcpy(metadata, image->bytes, LUKS2_METADATA);
	ret = luks_check_copy(&image->header, image->fd, request, secret, NULL, name, st);
	if (!ret && extent_write(image->fd, metadata, LUKS2_METADATA, 0))
		ret = status_nomem(st);
	free(metadata);
	return ret;
}

int luks_build(struct luks_image *image, const struct luks_request *request,
	       const struct device_facts *device, const struct secret *secret, struct status *st)
{
	static unsigned char stand_in_bytes[] = "dry run";
	struct secret stand_in = {stand_in_bytes, sizeof(stand_in_bytes) - 1};
	struct luks_log log = {.name = device->path};
	const char *step = "the context";
	struct status why = {0};
	int ret;

	memset(image, 0, sizeof(*image));
	if (!secret)
		secret = &stand_in;
	ret = make_in_memory(image, request, device, secret, &log, &step);
	if (!ret)
		ret = map_image(image, request->luks1, luks_header_len(request->plan));
	if (ret < 0)
		return build_error(ret, step, request, &log, st);
	ret = check_image(image, request, secret, device->path, &why);
	if (ret < 0)
		return status_set(st, why.code, -ret,
				  "The volume that was made in memory is not what it should be: "
				  "%.800s Nothing was written.",
				  why.message);
	return 0;
}

void luks_image_free(struct luks_image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->len);
	if (image->fd > 0)
		close(image->fd);
	memset(image, 0, sizeof(*image));
}

int luks_take_back(struct guard *guard, const struct change *change, int err, const char *step,
		   const char *undo_file, struct status *st)
{
	const char *path = guard->device.path;
	bool opens;
	int ret;

	ret = change_revert(change, guard->fd, &opens);
	if (ret >= 0)
		return status_set(st, ST_REFUSED, -err, "%s was not formatted (%s): %s. %s", path,
				  step, strerror(-err),
				  ret ? "What had been written was taken back: its contents are "
					"what they were."
				      : "Nothing on it was changed.");
	if (!change->header_len)
		return status_set(
			st, ST_CHECK, -err,
			"Formatting %s failed (%s): %s. The marks of its old contents could "
			"not be put back (%s): its data are there, and it may show "
			"nothing.",
			path, step, strerror(-err), strerror(-ret));
	return status_set(st, ST_CHECK, -err,
			  "Formatting %s failed (%s): %s. What had been written could not be taken "
			  "back (%s): the first %" PRIu64
			  " bytes of it are damaged, and it %s.%s%s",
			  path, step, strerror(-err), strerror(-ret), change->header_len,
			  opens ? "may hold the new volume or nothing that opens"
				: "holds no volume that opens",
			  undo_file ? " When the disk takes writes again, dmcrypt-tune undo puts "
				      "back what was there, from "
				    : "",
			  undo_file ? undo_file : "");
}

/* Between the body and the header something failed that had its say in *st. */
static int take_back_quietly(struct guard *guard, const struct change *change, int err,
			     struct status *st)
{
	size_t used = strlen(st->message);
	bool opens;
	int ret = change_revert(change, guard->fd, &opens);

	st->code = ret < 0 ? ST_CHECK : st->code == ST_CHECK ? ST_REFUSED : st->code;
	snprintf(
		st->message + used, sizeof(st->message) - used, "%s",
		ret < 0 ? " What had been written could not be taken back; it holds no volume that "
			  "opens."
			: " What had been written was taken back.");
	return err;
}

int luks_between(struct guard *guard, const struct change *change, struct luks_between *between,
		 struct status *st)
{
	int ret;

	if (!between)
		return 0;
	ret = between->run(between->arg, st);
	if (!ret)
		return 0;
	return between->undone(between->arg) ? take_back_quietly(guard, change, ret, st) : ret;
}

int luks_write(struct guard *guard, const struct change *change, struct luks_between *between,
	       const char *undo_file, struct status *st)
{
	const char *step = "";
	int ret;

	ret = change_begin(change, guard->fd, &step);
	if (ret)
		return luks_take_back(guard, change, ret, step, undo_file, st);
	ret = luks_between(guard, change, between, st);
	if (ret)
		return ret;
	ret = change_finish(change, guard->fd, &step);
	if (ret && between)
		return status_set(st, ST_CHECK, -ret, "Formatting %s failed (%s): %s.",
				  guard->device.path, step, strerror(-ret));
	if (ret)
		return luks_take_back(guard, change, ret, step, undo_file, st);
	guard_reread_table(guard);
	return 0;
}
