// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "util/sysfile.h"

/* udev holds the lock of a disk while it looks at it, for tens of milliseconds after each change.
 */
#define LOCK_TRIES    100
#define LOCK_PAUSE_MS 30

/* Open files that a format comes near to, libcryptsetup's included. */
#define FILES_MIN 32

static int open_error(const char *path, int err, struct status *st)
{
	int ro = 0, fd;

	switch (err) {
	case ENXIO: /* a socket, or a terminal that is not there */
		return status_set(st, ST_DEVICE, err,
				  "%s is neither a block device nor a regular file.", path);
	case ENOTDIR:
		return status_set(st, ST_DEVICE, err,
				  "%s does not exist: a part of its path is no directory.", path);
	case ENOENT:
		return status_set(st, ST_DEVICE, err,
				  "%s does not exist. (Nothing is created: make an image file "
				  "first, with truncate -s SIZE.)",
				  path);
	case EISDIR:
		return status_set(st, ST_DEVICE, err,
				  "%s is a directory; a block device or an image file is needed.",
				  path);
	case EROFS:
		return status_set(st, ST_DEVICE, err, "%s is read-only.", path);
	case ETXTBSY:
		return status_set(st, ST_BUSY, err,
				  "%s is in use, as a swap file or as a running program.", path);
	case EACCES:
	case EPERM:
		/* Kernels before 6.5 say EACCES of a read-only block device. */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0 && ioctl(fd, BLKROGET, &ro))
			ro = 0;
		if (fd >= 0)
			close(fd);
		if (ro)
			return status_set(st, ST_DEVICE, EROFS, "%s is read-only.", path);
		return status_set(st, ST_AUTH, err, "%s: no permission to write to it (%s).", path,
				  strerror(err));
	default:
		return status_set(st, ST_DEVICE, err, "%s cannot be opened: %s.", path,
				  strerror(err));
	}
}

static int check_type(int fd, const char *path, struct stat *info, struct status *st)
{
	int ro = 0;

	if (fstat(fd, info))
		return status_set(st, ST_DEVICE, errno, "%s: %s.", path, strerror(errno));
	if (S_ISREG(info->st_mode))
		return 0;
	if (!S_ISBLK(info->st_mode))
		return status_set(st, ST_DEVICE, ENOTBLK,
				  "%s is %s, neither a block device nor a regular file.", path,
				  S_ISCHR(info->st_mode)    ? "a character device"
				  : S_ISFIFO(info->st_mode) ? "a pipe"
							    : "something else");
	if (!ioctl(fd, BLKROGET, &ro) && ro)
		return status_set(st, ST_DEVICE, EROFS, "%s is read-only.", path);
	return 0;
}

/* Says who holds the record lock that stands in the way, where that can be known: an
 * open-file-description lock (QEMU's) has no process. */
static int lock_error(struct guard *guard, const char *path, struct status *st)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char name[64] = "";

	if (!fcntl(guard->fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK && lock.l_pid > 0)
		sysfile_line(NULL, name, sizeof(name), "/proc/%d/comm", (int)lock.l_pid);
	if (*name)
		return status_set(st, ST_BUSY, EBUSY, "%s is locked by process %d (%s).", path,
				  (int)lock.l_pid, name);
	return status_set(
		st, ST_BUSY, EBUSY,
		"%s is locked by another program, such as another dmcrypt-tune or a running "
		"virtual machine.",
		path);
}

/*
 * A regular file: a record lock on the open file description, as QEMU sets them on images, and a
 * flock(), as libcryptsetup does. The latter would make libcryptsetup wait for us, so luks.c
 * switches its locking off for files; that also spares waiting on a lock of someone else's.
 */
static int lock_file(struct guard *guard, const char *path, struct status *st)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(guard->fd, F_OFD_SETLK, &lock) && (errno == EAGAIN || errno == EACCES))
		return lock_error(guard, path, st);
	if (flock(guard->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return status_set(st, ST_BUSY, EBUSY,
				  "%s is locked by another program (flock), such as cryptsetup.",
				  path);
	return 0;
}

/* The whole disk's device number: the partition's parent in sysfs, else the device's own. */
static dev_t whole_disk(dev_t rdev)
{
	unsigned major_number, minor_number;
	char line[32];

	if (sysfile_exists(NULL, "/sys/dev/block/%u:%u/partition", major(rdev), minor(rdev)) != 1)
		return rdev;
	if (sysfile_line(NULL, line, sizeof(line), "/sys/dev/block/%u:%u/../dev", major(rdev),
			 minor(rdev)) < 0 ||
	    sscanf(line, "%u:%u", &major_number, &minor_number) != 2)
		return rdev;
	return makedev(major_number, minor_number);
}

/* Opens a device by number, by the kernel's name for its node, and checks that it is that one. */
static int open_by_number(dev_t rdev)
{
	char uevent[4096], *text = NULL, *name, *end, path[128] = "";
	struct stat info;
	int fd, err;

	snprintf(uevent, sizeof(uevent), "/sys/dev/block/%u:%u/uevent", major(rdev), minor(rdev));
	if (!sysfile_read(NULL, uevent, &text, NULL)) {
		name = strstr(text, "DEVNAME=");
		if (name) {
			end = strchrnul(name, '\n');
			*end = '\0';
			snprintf(path, sizeof(path), "/dev/%s", name + strlen("DEVNAME="));
		}
		free(text);
	}
	if (!*path)
		return -ENODEV;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &info) || !S_ISBLK(info.st_mode) || info.st_rdev != rdev) {
		err = -ENODEV;
		close(fd);
		return err;
	}
	return fd;
}

/*
 * The block device locking that udev, systemd-repart, partitioners and so on keep
 * (systemd.io/BLOCK_DEVICE_LOCKING): flock() on the node of the whole disk, never on a partition's.
 */
static int lock_disk(struct guard *guard, const char *path, dev_t rdev, const struct guard *held,
		     struct status *st)
{
	static const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};
	dev_t disk = whole_disk(rdev);

	if (held && held->lock_fd >= 0 && whole_disk(held->device.rdev) == disk)
		return 0;
	guard->lock_fd = disk == rdev ? open(guard->fd_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
				      : open_by_number(disk);
	if (guard->lock_fd < 0)
		return status_set(st, ST_DEVICE, ENODEV,
				  "The disk %u:%u that %s is on cannot be opened to lock it: %s.",
				  major(disk), minor(disk), path,
				  strerror(disk == rdev ? errno : -guard->lock_fd));
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(guard->lock_fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		nanosleep(&pause, NULL);
	}
	return status_set(st, ST_BUSY, EBUSY,
			  "%s: another program holds the lock of the disk that it is on (%s).",
			  path, strerror(errno));
}

/* Who it may be that holds a device and is seen nowhere: what is on it tells. */
static const char *likely_user(const struct device_facts *device, char *by, size_t size)
{
	static const struct {
		const char *type, *user;
	} users[] = {
		{"zfs_member", "ZFS"},      {"bcache", "bcache"},   {"drbd", "DRBD"},
		{"ceph_bluestore", "Ceph"}, {"LVM2_member", "LVM"}, {"linux_raid_member", "MD"},
	};

	snprintf(by, size, "a mount in another namespace");
	for (size_t i = 0; i < device->n_contents; i++)
		for (size_t j = 0; j < sizeof(users) / sizeof(users[0]); j++)
			if (!strcmp(device->contents[i].type, users[j].type)) {
				snprintf(by, size, "%s, of which it is a member%s%.100s",
					 users[j].user, *device->contents[i].label ? ": " : "",
					 device->contents[i].label);
				return by;
			}
	return by;
}

/*
 * The kernel grants one exclusive claim; mounts, swap, md, dm and loop hold one. That is how uses
 * that cannot be seen from here show themselves, and how none can begin while this one is held.
 */
static int claim(struct guard *guard, const char *path, struct status *st)
{
	char by[160];

	guard->claim_fd = open(guard->fd_path, O_RDWR | O_EXCL | O_CLOEXEC | O_NONBLOCK);
	if (guard->claim_fd >= 0)
		return 0;
	if (errno == EBUSY)
		return status_set(
			st, ST_BUSY, EBUSY,
			"%s is in use, by something that is not visible here, such as %s.", path,
			likely_user(&guard->device, by, sizeof(by)));
	return status_set(st, ST_DEVICE, errno, "%s cannot be opened again: %s.", path,
			  strerror(errno));
}

/* Where mounts and holders cannot be seen, none being seen means nothing: a mounted disk would be
 * taken for a free one. */
static int refuse_unseen(const struct device_facts *device, struct status *st)
{
	if (device->users_known)
		return 0;
	return status_set(st, ST_MISSING, ENOTSUP,
			  "Who uses %s cannot be seen here (%s), so it may be in use. Mount /proc "
			  "and /sys.",
			  device->path, device->users_reason);
}

static int refuse_users(const struct device_facts *device, struct status *st)
{
	char list[700] = "";
	size_t used = 0;

	if (!device->n_users)
		return 0;
	for (size_t i = 0; i < device->n_users && used < sizeof(list); i++) {
		const struct device_user *u = &device->users[i];

		used += snprintf(list + used, sizeof(list) - used, "%s%s%s%s %s", i ? ", " : "",
				 u->part, *u->part ? ": " : "", u->kind, u->what);
	}
	return status_set(st, ST_BUSY, EBUSY, "%s is in use: %s.", device->path, list);
}

static int refuse_kind(const struct device_facts *device, struct status *st)
{
	if (device->zoned == DEVICE_ZONED_HOST_MANAGED)
		return status_set(st, ST_DEVICE, ENOTSUP,
				  "%s is a host-managed zoned device, which must be written zone "
				  "by zone: a LUKS header cannot be kept on it.",
				  device->path);
	if (device->read_only == 1)
		return status_set(st, ST_DEVICE, EROFS, "%s is read-only.", device->path);
	return 0;
}

/* What looking and writing need of the process, before they fail with a word of something else. */
static int check_process(struct status *st)
{
	struct rlimit limit;

	if (access("/proc/self/fd", R_OK | X_OK))
		return status_set(st, ST_MISSING, errno,
				  "/proc is not mounted, and without it a device cannot be named "
				  "to libcryptsetup by the descriptor that was checked.");
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < FILES_MIN)
		return status_set(st, ST_MISSING, EMFILE,
				  "The program may have only %llu files open (ulimit -n), and it "
				  "needs up to %d.",
				  (unsigned long long)limit.rlim_cur, FILES_MIN);
	return 0;
}

int guard_open(struct guard *guard, const char *path, struct status *st)
{
	return guard_open_beside(guard, path, NULL, st);
}

int guard_open_beside(struct guard *guard, const char *path, const struct guard *held,
		      struct status *st)
{
	struct stat info;
	int ret;

	memset(guard, 0, sizeof(*guard));
	guard->fd = guard->lock_fd = guard->claim_fd = -1;
	ret = check_process(st);
	if (ret)
		return ret;
	/* O_NONBLOCK: no waiting on a pipe or for a medium. No O_CREAT, ever. */
	guard->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (guard->fd < 0)
		return open_error(path, errno, st);
	snprintf(guard->fd_path, sizeof(guard->fd_path), "/proc/self/fd/%d", guard->fd);
	ret = check_type(guard->fd, path, &info, st);
	if (ret)
		return ret;
	ret = S_ISBLK(info.st_mode) ? lock_disk(guard, path, info.st_rdev, held, st)
				    : lock_file(guard, path, st);
	/* The facts before the claim: they can name who uses it. */
	if (!ret)
		ret = device_probe_fd(&guard->device, guard->fd, path, st);
	if (!ret)
		ret = refuse_users(&guard->device, st);
	if (!ret)
		ret = refuse_unseen(&guard->device, st);
	if (!ret && S_ISBLK(info.st_mode))
		ret = claim(guard, path, st);
	if (!ret)
		ret = refuse_kind(&guard->device, st);
	return ret;
}

static bool same_contents(const struct device_facts *a, const struct device_facts *b)
{
	if (a->contents_known != b->contents_known || a->n_contents != b->n_contents)
		return false;
	for (size_t i = 0; i < a->n_contents; i++)
		if (a->contents[i].offset != b->contents[i].offset ||
		    strcmp(a->contents[i].type, b->contents[i].type) ||
		    strcmp(a->contents[i].uuid, b->contents[i].uuid))
			return false;
	return true;
}

static int compare(const struct device_facts *before, const struct device_facts *now,
		   struct status *st)
{
	const char *what = NULL;

	if (now->size != before->size)
		return status_set(st, ST_DEVICE, ESTALE,
				  "%s changed while the program ran: it has %" PRIu64
				  " bytes now and had %" PRIu64 ". Nothing was written.",
				  before->path, now->size, before->size);
	if (now->rdev != before->rdev || now->file_dev != before->file_dev ||
	    now->file_ino != before->file_ino)
		what = "it is another device";
	/* The same number may come to stand for another disk; the sequence number does not. */
	else if (now->diskseq != before->diskseq)
		what = "another disk has taken its place";
	else if (strcmp(now->model, before->model) || strcmp(now->serial, before->serial) ||
		 strcmp(now->wwn, before->wwn))
		what = "it says another model, serial number or WWN";
	else if (!same_contents(before, now))
		what = "somebody wrote to it, and its contents are not those that were shown";
	if (what)
		return status_set(st, ST_DEVICE, ESTALE,
				  "%s changed while the program ran: %s. Nothing was written.",
				  before->path, what);
	return 0;
}

/* Whether the path, links resolved when it was opened, still leads to what was opened: what stands
 * there now is what the user means. */
static int check_place(const struct guard *guard, struct status *st)
{
	const struct device_facts *before = &guard->device;
	struct stat open, named;

	if (fstat(guard->fd, &open))
		return status_set(st, ST_DEVICE, errno, "%s: %s.", before->path, strerror(errno));
	if (*before->target &&
	    (stat(before->target, &named) || (named.st_mode & S_IFMT) != (open.st_mode & S_IFMT) ||
	     (S_ISBLK(open.st_mode) ? named.st_rdev != open.st_rdev
				    : named.st_dev != open.st_dev || named.st_ino != open.st_ino)))
		return status_set(
			st, ST_DEVICE, ESTALE,
			"%s was deleted or replaced while the program ran. Nothing was written.",
			before->path);
	return 0;
}

int guard_recheck(struct guard *guard, struct status *st)
{
	const struct device_facts *before = &guard->device;
	struct device_facts now;
	int ret;

	ret = check_place(guard, st);
	if (ret)
		return ret;
	ret = device_probe_fd(&now, guard->fd, before->path, st);
	if (!ret)
		ret = compare(before, &now, st);
	if (!ret)
		ret = refuse_users(&now, st);
	if (!ret)
		ret = refuse_unseen(&now, st);
	device_facts_free(&now);
	return ret;
}

static int no_room(const struct guard *guard, int err, uint64_t bytes, struct status *st)
{
	return status_set(st, ST_REFUSED, err,
			  "%s: its file system has no room for the first %" PRIu64
			  " bytes of it, which hold the header (%s). Nothing was written.",
			  guard->device.path, bytes, strerror(err));
}

int guard_room(struct guard *guard, uint64_t bytes, bool reserve, struct status *st)
{
	struct statvfs fs;
	struct rlimit limit;
	struct stat info;
	uint64_t there;

	if (guard->device.kind != DEVICE_FILE || !bytes)
		return 0;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
		return no_room(guard, EFBIG, bytes, st);
	if (reserve) {
		if (!fallocate(guard->fd, FALLOC_FL_KEEP_SIZE, 0, bytes))
			return 0;
		if (errno != EOPNOTSUPP && errno != EINTR)
			return no_room(guard, errno, bytes, st);
	}
	/* An estimate: blocks that the file has may lie elsewhere in it. */
	if (fstat(guard->fd, &info) || fstatvfs(guard->fd, &fs))
		return 0;
	there = (uint64_t)info.st_blocks * 512;
	if (there < bytes && (bytes - there) / fs.f_frsize >= fs.f_bavail)
		return no_room(guard, ENOSPC, bytes, st);
	return 0;
}

void guard_drop_cache(const struct guard *guard)
{
	if (guard->device.kind != DEVICE_FILE)
		ioctl(guard->fd, BLKFLSBUF);
	posix_fadvise(guard->fd, 0, 0, POSIX_FADV_DONTNEED);
}

void guard_reread_table(const struct guard *guard)
{
	/* Through the claim: the kernel refuses while another holds one. Devices without
	 * partitions, and partitions taken by someone meanwhile, refuse, which is right. */
	if (guard->claim_fd >= 0 && guard->device.kind != DEVICE_PARTITION)
		ioctl(guard->claim_fd, BLKRRPART);
}

void guard_release_claim(struct guard *guard)
{
	if (guard->claim_fd >= 0)
		close(guard->claim_fd);
	guard->claim_fd = -1;
}

void guard_close(struct guard *guard)
{
	/* Closing gives up the locks. */
	if (guard->fd >= 0)
		close(guard->fd);
	guard_release_claim(guard);
	if (guard->lock_fd >= 0)
		close(guard->lock_fd);
	guard->fd = guard->lock_fd = -1;
	device_facts_free(&guard->device);
}
