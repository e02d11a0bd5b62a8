// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "util/directory.h"

#define CHUNK (1UL << 20)

static int cannot_make(const char *path, int err, struct status *st)
{
	return status_set(st, err == EACCES || err == EPERM ? ST_AUTH : ST_USAGE, err,
			  "--header: %s cannot be made: %s.", path, strerror(err));
}

static int refuse_same(const struct detached *d, const struct guard *data, struct status *st)
{
	return status_set(st, ST_USAGE, EINVAL,
			  "--header: %s is %s itself: the header is to stand elsewhere than the "
			  "data.",
			  d->path, data->device.path);
}

/* The directory of a path, links resolved. 0 or -errno. */
static int directory_of(const char *path, char out[PATH_MAX])
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	return realpath(dirname(copy), out) ? 0 : -errno;
}

/* A mistyped disk must not become a file that is gone when the machine is switched off. */
static int refuse_dev(const char *path, const char *dir, struct status *st)
{
	if (strcmp(dir, "/dev") && strncmp(dir, "/dev/", 5))
		return 0;
	if (!strncmp(dir, "/dev/shm", 8))
		return 0;
	return status_set(st, ST_DEVICE, ENOENT,
			  "--header: %s does not exist, and no file is made in /dev, which is gone "
			  "when the machine is switched off.",
			  path);
}

/* Nothing is there: a file is to be made. */
static int open_new(struct detached *d, struct status *st)
{
	char dir[PATH_MAX], copy[PATH_MAX];
	struct stat info;
	int ret;

	if (!lstat(d->path, &info))
		return status_set(st, ST_USAGE, ENOENT,
				  "--header: %s is a symbolic link that leads to nothing.",
				  d->path);
	if (d->path[strlen(d->path) - 1] == '/')
		return cannot_make(d->path, EISDIR, st);
	ret = directory_of(d->path, dir);
	if (ret)
		return cannot_make(d->path, -ret, st);
	ret = refuse_dev(d->path, dir, st);
	if (ret)
		return ret;
	ret = directory_try(dir);
	if (ret)
		return cannot_make(d->path, -ret, st);
	snprintf(copy, sizeof(copy), "%s", d->path);
	if (snprintf(d->target, sizeof(d->target), "%s/%s", dir, basename(copy)) >=
	    (int)sizeof(d->target))
		return cannot_make(d->path, ENAMETOOLONG, st);
	d->is_file = true;
	newfile_left(dir, d->left);
	return 0;
}

static int open_there(struct detached *d, const struct stat *info, const struct guard *data,
		      struct status *st)
{
	char dir[PATH_MAX];
	struct stat other;
	int ret;

	d->is_file = S_ISREG(info->st_mode);
	d->exists = true;
	if (fstat(data->fd, &other))
		return status_set(st, ST_DEVICE, errno, "%s: %s.", data->device.path,
				  strerror(errno));
	if (S_ISREG(info->st_mode) && S_ISREG(other.st_mode) && info->st_dev == other.st_dev &&
	    info->st_ino == other.st_ino)
		return refuse_same(d, data, st);
	if (S_ISBLK(info->st_mode) && S_ISBLK(other.st_mode) && info->st_rdev == other.st_rdev)
		return refuse_same(d, data, st);
	if (d->is_file && !realpath(d->path, d->target))
		return cannot_make(d->path, errno, st);
	/* It is replaced, not written into. */
	ret = d->is_file ? directory_of(d->target, dir) : 0;
	if (!ret && d->is_file)
		ret = directory_try(dir);
	if (ret)
		return cannot_make(d->path, -ret, st);
	if (d->is_file)
		newfile_left(dir, d->left);
	return guard_open_beside(&d->guard, d->path, data, st);
}

int detached_open(struct detached *d, const char *path, const struct guard *data, struct status *st)
{
	struct stat info;

	memset(d, 0, sizeof(*d));
	d->path = path;
	d->guard.fd = d->guard.lock_fd = d->guard.claim_fd = d->file.fd = -1;
	if (strlen(path) >= PATH_MAX - 16)
		return cannot_make(path, ENAMETOOLONG, st);
	if (!stat(path, &info))
		return open_there(d, &info, data, st);
	if (errno == ENOENT)
		return open_new(d, st);
	return cannot_make(path, errno, st);
}

uint64_t detached_holds(const struct detached *d)
{
	const struct device_facts *device = &d->guard.device;

	if (!d->exists)
		return 0;
	return d->is_file || device->n_contents || !device->contents_known ? device->size : 0;
}

int detached_room(const struct detached *d, uint64_t len, struct status *st)
{
	struct rlimit limit;
	struct statvfs fs;
	char dir[PATH_MAX];

	if (!d->is_file && d->guard.device.size < len)
		return status_set(st, ST_DEVICE, ENOSPC,
				  "--header: %s is too small: it has %" PRIu64
				  " bytes, and the header takes %" PRIu64 ".",
				  d->path, d->guard.device.size, len);
	if (!d->is_file)
		return 0;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < len)
		return status_set(st, ST_REFUSED, EFBIG,
				  "--header: %s takes %" PRIu64
				  " bytes, and the limit on a file's size (ulimit -f) is %" PRIu64
				  ". Nothing was written.",
				  d->path, len, (uint64_t)limit.rlim_cur);
	if (directory_of(d->target, dir) || statvfs(dir, &fs) ||
	    len / fs.f_frsize < (uint64_t)fs.f_bavail)
		return 0;
	return status_set(st, ST_REFUSED, ENOSPC,
			  "--header: the file system of %s has no room for its %" PRIu64
			  " bytes. Nothing was written.",
			  d->path, len);
}

/* As private as a new file can be, or as the one that it replaces. */
static int set_owner(const struct detached *d, int fd)
{
	struct stat info;

	if (!d->exists)
		return 0;
	if (fstat(d->guard.fd, &info))
		return -errno;
	/* Somebody else's file in one's own directory: the new one is one's own. */
	if (fchown(fd, info.st_uid, info.st_gid) && errno != EPERM)
		return -errno;
	return fchmod(fd, info.st_mode & 0777) ? -errno : 0;
}

int detached_stage(struct detached *d, const unsigned char *bytes, uint64_t len)
{
	char dir[PATH_MAX];
	int ret = directory_of(d->target, dir);

	if (!ret)
		ret = newfile_open(&d->file, dir);
	if (!ret)
		ret = set_owner(d, d->file.fd);
	for (uint64_t at = 0; at < len && !ret; at += CHUNK)
		ret = extent_write(d->file.fd, bytes + at, len - at < CHUNK ? len - at : CHUNK, at);
	if (!ret && fsync(d->file.fd))
		ret = -errno;
	if (ret)
		newfile_drop(&d->file);
	return ret;
}

/* What now has the name, for reading it back. */
static int open_made(struct detached *d)
{
	struct guard *g = &d->guard;
	struct stat info;

	guard_close(g);
	g->fd = open(d->target, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (g->fd < 0 || fstat(g->fd, &info))
		return -errno;
	snprintf(g->fd_path, sizeof(g->fd_path), "/proc/self/fd/%d", g->fd);
	snprintf(g->device.path, sizeof(g->device.path), "%s", d->path);
	g->device.kind = DEVICE_FILE;
	g->device.size = (uint64_t)info.st_size;
	return 0;
}

int detached_commit(struct detached *d)
{
	int ret = newfile_give(&d->file, d->target, d->exists);

	d->named = !ret;
	/* Of one that had no name the number of its names has changed as well. */
	if (!ret && fsync(d->file.fd))
		ret = -errno;
	newfile_drop(&d->file);
	if (!ret)
		ret = directory_sync(d->target);
	return ret ? ret : open_made(d);
}

void detached_close(struct detached *d)
{
	newfile_drop(&d->file);
	change_free(&d->change);
	guard_close(&d->guard);
}
