// SPDX-License-Identifier: GPL-2.0-or-later
/* Using a new volume once through dm-crypt itself, in such a way that nothing on the disk changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "measure/dm_key.h"
#include "measure/dm_task.h"
#include "volume/luks_internal.h"

/* What is read and written: whole sectors, whatever their size, and whole blocks of any disk. */
#define TRIAL_BYTES 4096

/* dm-crypt's table for the first bytes of the data area (Linux admin-guide/device-mapper/dm-crypt).
 * The key stands in it: the mapping lives for milliseconds, and only root can read it. */
static int make_mapping(struct dm_device *device, const struct guard *guard,
			const struct luks_request *request, const struct secret *key)
{
	const struct plan *plan = request->plan;
	char params[SPEC_TEXT_MAX + DM_KEY_TEXT_SIZE + 128], hex[DM_KEY_TEXT_SIZE];
	char cipher[SPEC_TEXT_MAX], sector[40] = "";
	struct dm_owner owner;
	int ret = -EBUSY;

	if (key->len > DM_KEY_MAX)
		return -EOPNOTSUPP;
	dm_key_hex(hex, key->bytes, key->len);
	if (plan->spec.sector != SPEC_SECTOR_MIN)
		snprintf(sector, sizeof(sector), " 1 sector_size:%u", plan->spec.sector);
	snprintf(params, sizeof(params), "%s %s 0 %u:%u %" PRIu64 "%s",
		 spec_cipher(&plan->spec, cipher), hex, major(guard->device.rdev),
		 minor(guard->device.rdev), plan->data_offset / SPEC_SECTOR_MIN, sector);
	dm_owner_self(&owner);
	/* Numbers that another container's process of our number may have taken. */
	for (unsigned n = 0; n < 16 && ret == -EBUSY; n++) {
		dm_name_print(device->name, &owner, 9000 + n);
		dm_uuid_print(device->uuid, &owner, 9000 + n);
		ret = dm_device_make(device, "crypt", TRIAL_BYTES / SPEC_SECTOR_MIN, params);
	}
	explicit_bzero(params, sizeof(params));
	explicit_bzero(hex, sizeof(hex));
	return ret;
}

static int open_mapping(const struct dm_device *device)
{
	char path[32];
	int fd = dm_device_open(device), both;

	if (fd < 0)
		return fd;
	dm_device_expire(device);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	both = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	both = both < 0 ? -errno : both;
	close(fd);
	return both;
}

/*
 * What is there decrypts to something; that, written back, must encrypt to the very same bytes. So
 * the disk is written to, through the whole of dm-crypt, and does not change, whenever that is cut
 * short.
 */
static int use(int fd, const struct guard *guard, uint64_t at, unsigned char *buf,
	       struct status *st)
{
	unsigned char *before = buf, *plain = buf + TRIAL_BYTES, *now = buf + 2 * TRIAL_BYTES;
	int ret;

	ret = extent_read(guard->fd, before, TRIAL_BYTES, at);
	if (!ret)
		ret = extent_read(fd, plain, TRIAL_BYTES, 0);
	if (!ret)
		ret = extent_write(fd, plain, TRIAL_BYTES, 0);
	if (!ret && fsync(fd))
		ret = -errno;
	if (ret)
		return status_set(st, ST_CHECK, -ret,
				  "a sector cannot be read and written through dm-crypt: %s.",
				  strerror(-ret));
	guard_drop_cache(guard);
	ret = extent_read(guard->fd, now, TRIAL_BYTES, at);
	if (!ret && memcmp(before, plain, TRIAL_BYTES) && !memcmp(before, now, TRIAL_BYTES))
		return 0;
	return status_set(st, ST_CHECK, EBADMSG,
			  "dm-crypt does not encrypt what it had decrypted to the same bytes.");
}

int luks_try_mapping(struct guard *guard, const struct luks_request *request,
		     const struct secret *key, char *reason, size_t size, struct status *st)
{
	struct dm_session session;
	struct dm_device device;
	unsigned char *buf = NULL;
	int fd = -1, ret;

	if (guard->device.size - request->plan->data_offset < TRIAL_BYTES) {
		snprintf(reason, size, "the data area is too small");
		return 0;
	}
	/* dm-crypt claims the disk for itself. */
	guard_release_claim(guard);
	dm_session_begin(&session);
	ret = make_mapping(&device, guard, request, key);
	if (ret) {
		snprintf(reason, size, "no mapping can be made (%s)", strerror(-ret));
		dm_session_end(&session);
		return 0;
	}
	fd = open_mapping(&device);
	if (fd < 0)
		snprintf(reason, size, "the mapping cannot be opened (%s)", strerror(-fd));
	else if (posix_memalign((void **)&buf, TRIAL_BYTES, 3 * TRIAL_BYTES))
		ret = status_nomem(st);
	else
		ret = use(fd, guard, request->plan->data_offset, buf, st);
	free(buf);
	if (fd >= 0)
		close(fd);
	dm_device_remove(&device);
	dm_session_end(&session);
	return ret;
}
