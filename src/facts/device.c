// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/device.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "facts/device_internal.h"
#include "util/sysfile.h"

#ifndef BLKGETDISKSEQ
#define BLKGETDISKSEQ _IOR(0x12, 128, uint64_t) /* since Linux 5.15 */
#endif

const char *device_kind_name(enum device_kind kind)
{
	static const char *const names[] = {
		[DEVICE_FILE] = "file",           [DEVICE_DISK] = "disk",
		[DEVICE_PARTITION] = "partition", [DEVICE_LOOP] = "loop",
		[DEVICE_MAPPER] = "mapper",       [DEVICE_MD] = "md",
		[DEVICE_OTHER] = "other",
	};

	return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "other";
}

const char *device_zoned_name(enum device_zoned zoned)
{
	switch (zoned) {
	case DEVICE_ZONED_HOST_AWARE:
		return "host-aware";
	case DEVICE_ZONED_HOST_MANAGED:
		return "host-managed";
	default:
		return "none";
	}
}

void device_facts_free(struct device_facts *facts)
{
	if (!facts)
		return;
	free(facts->contents);
	free(facts->users);
	facts->contents = NULL;
	facts->users = NULL;
	facts->n_contents = facts->n_users = 0;
}

static void start_facts(struct device_facts *facts, const char *path)
{
	memset(facts, 0, sizeof(*facts));
	snprintf(facts->path, sizeof(facts->path), "%s", path);
	facts->rotational = facts->discard = facts->read_only = -1;
}

static int refuse_type(const struct stat *info, const char *path, struct status *st)
{
	const char *what = "is neither a block device nor a regular file";

	if (S_ISREG(info->st_mode) || S_ISBLK(info->st_mode))
		return 0;
	if (S_ISDIR(info->st_mode))
		what = "is a directory";
	else if (S_ISCHR(info->st_mode))
		what = "is a character device";
	return status_set(st, ST_DEVICE, S_ISDIR(info->st_mode) ? EISDIR : ENOTBLK,
			  "%s %s; a block device or an image file is needed.", path, what);
}

static int cannot_look(const char *path, int err, struct status *st)
{
	switch (err) {
	case EACCES:
	case EPERM:
		return status_set(st, ST_AUTH, err, "%s: no permission to look at it.", path);
	case ENOENT:
	case ENOTDIR:
		return status_set(st, ST_DEVICE, err, "%s: there is no such device or file.", path);
	case ENOMEM:
		return status_nomem(st);
	default:
		return status_set(st, ST_DEVICE, err, "%s: %s.", path, strerror(err));
	}
}

static void file_facts(struct device_facts *facts, int fd, const struct stat *info)
{
	struct statvfs fs;

	facts->kind = DEVICE_FILE;
	facts->file_dev = info->st_dev;
	facts->file_ino = info->st_ino;
	facts->size = info->st_size;
	facts->logical_block = 512;
	facts->physical_block = 512;
	if (info->st_blksize >= 512)
		facts->physical_block = info->st_blksize < 4096 ? info->st_blksize : 4096;
	if ((fd >= 0 ? fstatvfs(fd, &fs) : statvfs(facts->path, &fs)) == 0)
		facts->read_only = !!(fs.f_flag & ST_RDONLY);
}

/* The kernel's name, from the device number: a node may be called anything. */
static void name_of(char *name, size_t size, dev_t rdev)
{
	char link[PATH_MAX], path[64];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(rdev), minor(rdev));
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = '\0';
	base = strrchr(link, '/');
	snprintf(name, size, "%.63s", base ? base + 1 : link);
}

/* sysfs first, and what the descriptor says over it: it is exact and works where sysfs is hidden.
 */
static int block_facts(struct device_facts *facts, int fd, const struct stat *info)
{
	uint64_t size, diskseq;
	unsigned physical;
	int value, ret;

	facts->kind = DEVICE_OTHER;
	facts->rdev = facts->disk_rdev = info->st_rdev;
	name_of(facts->name, sizeof(facts->name), info->st_rdev);
	if (facts->name[0]) {
		ret = device_read_sysfs(facts, NULL);
		if (ret == -ENOMEM)
			return ret;
	}
	if (fd < 0)
		return 0;
	if (!ioctl(fd, BLKGETSIZE64, &size))
		facts->size = size;
	if (!ioctl(fd, BLKSSZGET, &value) && value > 0)
		facts->logical_block = value;
	if (!ioctl(fd, BLKPBSZGET, &physical) && physical)
		facts->physical_block = physical;
	if (!ioctl(fd, BLKROGET, &value))
		facts->read_only = !!value;
	if (!ioctl(fd, BLKGETDISKSEQ, &diskseq))
		facts->diskseq = diskseq;
	return 0;
}

/* fd -1: the thing may be seen but not read. */
static int look(struct device_facts *facts, int fd, const struct stat *info, struct status *st)
{
	int ret = 0;

	if (S_ISREG(info->st_mode))
		file_facts(facts, fd, info);
	else
		ret = block_facts(facts, fd, info);
	if (ret == 0)
		ret = device_read_users(facts, NULL);
	if (ret == 0 && fd >= 0)
		ret = device_read_contents(facts, fd);
	else if (ret == 0)
		snprintf(facts->contents_reason, sizeof(facts->contents_reason),
			 "no permission to read it");
	if (ret == 0)
		ret = device_read_pools(facts, NULL);
	return ret == -ENOMEM ? status_nomem(st) : ret;
}

/* The path that the descriptor was opened by, as the kernel has it, for as long as it leads there.
 */
static void target_of(struct device_facts *facts, int fd)
{
	struct stat open, named;
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, facts->target, sizeof(facts->target) - 1);
	facts->target[n > 0 ? n : 0] = '\0';
	if (n > 0 && (fstat(fd, &open) || stat(facts->target, &named) ||
		      open.st_dev != named.st_dev || open.st_ino != named.st_ino))
		facts->target[0] = '\0';
}

int device_probe_fd(struct device_facts *facts, int fd, const char *path, struct status *st)
{
	struct stat info;
	int ret;

	start_facts(facts, path);
	target_of(facts, fd);
	if (fstat(fd, &info))
		return cannot_look(path, errno, st);
	ret = refuse_type(&info, path, st);
	return ret < 0 ? ret : look(facts, fd, &info, st);
}

static int probe_live(struct device_facts *facts, const char *path, struct status *st)
{
	struct stat info;
	int fd, ret;

	/* Before open(2), which on a character device may do something (rewind a tape, say). */
	if (stat(path, &info))
		return cannot_look(path, errno, st);
	ret = refuse_type(&info, path, st);
	if (ret < 0)
		return ret;
	/* O_NONBLOCK: neither a FIFO put there just now nor a drive without a medium may hang us.
	 */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return look(facts, -1, &info, st);
	if (fd < 0)
		return cannot_look(path, errno, st);
	if (fstat(fd, &info))
		ret = cannot_look(path, errno, st);
	else
		ret = refuse_type(&info, path, st);
	if (ret == 0)
		ret = look(facts, fd, &info, st);
	close(fd);
	return ret;
}

/* "/dev/mapper/NAME" is known to sysfs as dm-N with that name. */
static void find_mapper(char *name, size_t size, const char *wanted, const char *root)
{
	DIR *dir = device_open_dir(root, SYS_BLOCK);
	const char *entry;
	char line[256];

	while (dir && (entry = device_next_entry(dir)))
		if (!strncmp(entry, "dm-", 3) &&
		    sysfile_line(root, line, sizeof(line), SYS_BLOCK "%s/dm/name", entry) > 0 &&
		    !strcmp(line, wanted))
			snprintf(name, size, "%s", entry);
	if (dir)
		closedir(dir);
}

static int probe_described(struct device_facts *facts, const char *path, const char *root,
			   struct status *st)
{
	const char *base = strncmp(path, "/dev/", 5) ? path : path + 5;
	int ret = -ENOENT;

	snprintf(facts->contents_reason, sizeof(facts->contents_reason),
		 "this is a described machine");
	/* sysfs writes '!' for a '/' in a name; that keeps ".." out as well. */
	snprintf(facts->name, sizeof(facts->name), "%.63s", base);
	for (char *p = facts->name; *p; p++)
		if (*p == '/')
			*p = '!';
	if (!strncmp(base, "mapper/", 7))
		find_mapper(facts->name, sizeof(facts->name), base + 7, root);
	if (facts->name[0] && facts->name[0] != '.' && strlen(base) < sizeof(facts->name))
		ret = device_read_sysfs(facts, root);
	if (ret == -ENOENT)
		return status_set(st, ST_DEVICE, ENOENT,
				  "%s: the machine below %s has no such device in " SYS_BLOCK ".",
				  path, root);
	if (ret == 0)
		ret = device_read_users(facts, root);
	return ret == -ENOMEM ? status_nomem(st) : ret;
}

int device_probe(struct device_facts *facts, const char *path, const char *root, struct status *st)
{
	char *real;

	start_facts(facts, path);
	if (strlen(path) >= sizeof(facts->path))
		return cannot_look(path, ENAMETOOLONG, st);
	if (root && *root)
		return probe_described(facts, path, root, st);
	real = realpath(path, NULL);
	if (real)
		snprintf(facts->target, sizeof(facts->target), "%s", real);
	free(real);
	return probe_live(facts, path, st);
}
