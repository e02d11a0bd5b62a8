// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/integrity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "measure/dm_task.h"
#include "util/sysfile.h"
#include "volume/luks_internal.h"

/* What the wipe writes at once, and what is read back at either end. */
#define BLOCK (1UL << 20)
#define TRIAL 4096UL

#define MAPPING_NUMBER 9100

/* Until a mapping that nobody has open is gone. */
#define CLOSE_TRIES    200
#define CLOSE_PAUSE_MS 25

static int failed(const char *what, int err, struct luks_log *log, struct status *st)
{
	return status_set(st, ST_CHECK, -err, "%s: %s", what, luks_words(log, err));
}

/* dm-integrity's superblock and journal, as libcryptsetup makes them where it formats: with a
 * header that is thrown away, since nothing of it goes into them. */
static int make_metadata(const struct integrity_area *a, struct status *st)
{
	struct luks_log log = {.name = a->guard->device.path};
	struct crypt_device *cd = NULL;
	char path[32];
	int fd, ret;

	fd = luks_memory_file(a->image->len, path);
	ret = fd < 0 ? fd : 0;
	log.path = a->guard->fd_path;
	if (!ret)
		ret = luks_begin_on(&cd, path, &log);
	if (!ret)
		ret = luks_format_header(cd, a->request, a->guard->fd_path);
	if (ret)
		ret = failed("dm-integrity's metadata cannot be made", ret, &log, st);
	luks_end(cd);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The volume, open for us under that name, by the header that is not on the device yet. */
static int open_volume(const struct integrity_area *a, struct crypt_device **cd, const char *name,
		       struct luks_log *log, struct status *st)
{
	char path[32];
	int ret;

	*log = (struct luks_log){.path = a->guard->fd_path, .name = a->guard->device.path};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", a->image->fd);
	luks_log_to(log);
	ret = crypt_init_data_device(cd, path, a->guard->fd_path);
	luks_log_to(NULL);
	if (!ret) {
		luks_log_of(*cd, log);
		ret = crypt_load(*cd, CRYPT_LUKS2, NULL);
	}
	if (!ret)
		ret = crypt_activate_by_passphrase(
			*cd, name, 0, (const char *)a->secret->bytes, a->secret->len,
			CRYPT_ACTIVATE_PRIVATE | CRYPT_ACTIVATE_NO_JOURNAL);
	return ret < 0 ? failed("it cannot be opened", ret, log, st) : 0;
}

/* The mapping of dm-integrity below that of dm-crypt. False: it cannot be seen. */
static bool find_below(struct dm_device *below, const struct stat *top)
{
	char path[64], at[320];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/slaves", major(top->st_rdev),
		 minor(top->st_rdev));
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(at, sizeof(at), "/sys/class/block/%s/dm", entry->d_name);
		found = sysfile_line(NULL, below->name, sizeof(below->name), "%s/name", at) > 0 &&
			sysfile_line(NULL, below->uuid, sizeof(below->uuid), "%s/uuid", at) > 0 &&
			sysfile_line(NULL, path, sizeof(path), "/sys/class/block/%s/dev",
				     entry->d_name) > 0 &&
			sscanf(path, "%u:%u", &below->major, &below->minor) == 2;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Both go by themselves when nobody has the upper one open any more. */
static void expire(struct crypt_device *cd, const char *name, struct dm_device *below, int fd)
{
	struct stat info;

	*below->name = '\0';
	if (!fstat(fd, &info) && find_below(below, &info))
		dm_device_expire(below);
	else
		*below->name = '\0';
	crypt_deactivate_by_name(cd, name, CRYPT_DEACTIVATE_DEFERRED);
}

/* A scanner may have it open for a moment. */
static int close_volume(struct crypt_device *cd, const char *name, const struct dm_device *below)
{
	static const struct timespec pause = {0, CLOSE_PAUSE_MS * 1000000L};
	int ret;

	for (int i = 0; i < CLOSE_TRIES; i++) {
		if (crypt_status(cd, name) == CRYPT_INACTIVE &&
		    (!*below->name ||
		     sysfile_exists(NULL, "/sys/dev/block/%u:%u", below->major, below->minor) == 0))
			return 0;
		nanosleep(&pause, NULL);
	}
	ret = crypt_deactivate_by_name(cd, name, CRYPT_DEACTIVATE_FORCE);
	if ((ret && ret != -ENODEV) || !*below->name)
		return ret;
	return dm_device_remove(below);
}

static int wipe_progress(uint64_t size, uint64_t done, void *arg)
{
	struct integrity_area *a = arg;

	a->size = size;
	a->done = done;
	return a->progress ? a->progress(a->arg, size, done) : 0;
}

/* What is read must be what was written, and its tag must agree. */
static int try_block(int fd, uint64_t at, bool write, unsigned char *buf)
{
	int ret = 0;

	memset(buf, 0, TRIAL);
	if (write)
		ret = extent_write(fd, buf, TRIAL, at);
	if (!ret && fsync(fd))
		ret = -errno;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	memset(buf, 0xff, TRIAL);
	if (!ret)
		ret = extent_read(fd, buf, TRIAL, at);
	for (size_t i = 0; i < TRIAL && !ret; i++)
		ret = buf[i] ? -EBADMSG : 0;
	return ret;
}

static int try_ends(struct integrity_area *a, int fd, struct status *st)
{
	unsigned char buf[TRIAL];
	int ret;

	if (ioctl(fd, BLKGETSIZE64, &a->size))
		return status_set(st, ST_CHECK, errno, "its size cannot be asked for: %s.",
				  strerror(errno));
	if (a->size < TRIAL)
		return status_set(st, ST_CHECK, ENOSPC, "it has no room for data.");
	ret = try_block(fd, 0, a->no_wipe, buf);
	if (!ret)
		ret = try_block(fd, a->size - TRIAL, a->no_wipe, buf);
	return ret ? status_set(st, ST_CHECK, -ret,
				"what was written through it does not come back: %s.",
				strerror(-ret))
		   : 0;
}

/* By descriptor: the mapping goes by itself when nobody has it open any more. */
static int use_volume(struct integrity_area *a, struct crypt_device *cd, const char *name,
		      struct dm_device *below, struct luks_log *log, struct status *st)
{
	char path[96];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "/dev/mapper/%s", name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return status_set(st, ST_CHECK, errno, "it cannot be opened: %s.", strerror(errno));
	expire(cd, name, below, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!a->no_wipe)
		ret = crypt_wipe(cd, path, CRYPT_WIPE_ZERO, 0, 0, BLOCK, 0, wipe_progress, a);
	if (ret && ret != -EINTR)
		ret = failed("it cannot be wiped", ret, log, st);
	if (!ret)
		ret = try_ends(a, fd, st);
	close(fd);
	return ret;
}

int integrity_make(void *arg, struct status *st)
{
	struct integrity_area *a = arg;
	struct crypt_device *cd = NULL;
	struct dm_device below = {.name = ""};
	struct dm_session session;
	char name[DM_NAME_MAX_LEN];
	struct dm_owner owner;
	struct luks_log log;
	int ret, err;

	dm_owner_self(&owner);
	dm_name_print(name, &owner, MAPPING_NUMBER);
	guard_release_claim(a->guard);
	ret = make_metadata(a, st);
	a->formatted = !ret;
	if (!ret)
		ret = open_volume(a, &cd, name, &log, st);
	if (!ret) {
		/* To the end of the context: without, libdevmapper has its say on standard output.
		 */
		dm_session_begin(&session);
		ret = use_volume(a, cd, name, &below, &log, st);
		err = close_volume(cd, name, &below);
		if (!ret && err)
			ret = status_set(st, ST_CHECK, -err,
					 "the mapping %s over it cannot be removed: %s.", name,
					 strerror(-err));
		luks_end(cd);
		dm_session_end(&session);
		return ret;
	}
	luks_end(cd);
	return ret;
}

bool integrity_untouched(const struct integrity_area *a, const unsigned char before[TRIAL])
{
	unsigned char now[TRIAL];

	/* The metadata of an earlier attempt are the same. */
	if (a->formatted)
		return false;
	guard_drop_cache(a->guard);
	return !extent_read(a->guard->fd, now, TRIAL, a->request->plan->data_offset) &&
	       !memcmp(now, before, TRIAL);
}
