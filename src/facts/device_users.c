// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who uses a device: what is mounted from it, swap on it, and drivers that hold it (device-mapper,
 * md, btrfs; bcache and ZFS: device_pools.c); the same of its partitions, and of the disk it is a
 * partition of. Who uses a file: loop devices and swap. Matched by device number, since a node may
 * be called anything. What other mount namespaces do is not visible here: only an exclusive open
 * tells. Where /sys or /proc is not mounted, that nobody is found says nothing, and the facts say
 * so.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <linux/loop.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "facts/device_internal.h"
#include "util/sysfile.h"

/* The device and what shares its sectors. */
struct part {
	char name[64];
	char label[64]; /* "" for the device itself */
	dev_t rdev;
};

struct parts {
	struct part *list;
	size_t n;
};

int device_add_user(struct device_facts *facts, const char *kind, const char *part,
		    const char *format, ...)
{
	struct device_user *grown, *user;
	va_list ap;

	grown = reallocarray(facts->users, facts->n_users + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	facts->users = grown;
	user = &grown[facts->n_users++];
	snprintf(user->kind, sizeof(user->kind), "%s", kind);
	snprintf(user->part, sizeof(user->part), "%s", part);
	va_start(ap, format);
	vsnprintf(user->what, sizeof(user->what), format, ap);
	va_end(ap);
	return 0;
}

static int add_part(struct parts *parts, const char *name, bool itself, const char *root)
{
	struct part *grown, *part;
	unsigned maj, min;
	char line[64];

	grown = reallocarray(parts->list, parts->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	parts->list = grown;
	part = &grown[parts->n++];
	memset(part, 0, sizeof(*part));
	snprintf(part->name, sizeof(part->name), "%.63s", name);
	if (!itself)
		memcpy(part->label, part->name, sizeof(part->label));
	if (sysfile_line(root, line, sizeof(line), SYS_BLOCK "%s/dev", name) > 0 &&
	    sscanf(line, "%u:%u", &maj, &min) == 2)
		part->rdev = makedev(maj, min);
	return 0;
}

/* The device; its partitions; the disk, whose whole-disk users use this part of it as well. */
static int list_parts(struct parts *parts, const struct device_facts *facts, const char *root)
{
	char disk[64], other[64];
	const char *entry;
	int ret;
	DIR *dir;

	ret = add_part(parts, facts->name, true, root);
	if (ret < 0)
		return ret;
	parts->list[0].rdev = facts->rdev;
	device_disk_name(disk, facts->name, root);
	if (strcmp(disk, facts->name))
		return add_part(parts, disk, false, root);
	dir = device_open_dir(root, SYS_BLOCK);
	while (dir && ret == 0 && (entry = device_next_entry(dir))) {
		if (strlen(entry) >= sizeof(other) || !strcmp(entry, facts->name))
			continue;
		device_disk_name(other, entry, root);
		if (!strcmp(other, facts->name))
			ret = add_part(parts, entry, false, root);
	}
	if (dir)
		closedir(dir);
	return ret;
}

static const struct part *find_part(const struct parts *parts, dev_t rdev, const char *path,
				    const char *root)
{
	const char *base = strrchr(path, '/');
	struct stat info;

	if (!rdev && (!root || !*root) && !stat(path, &info) && S_ISBLK(info.st_mode))
		rdev = info.st_rdev;
	for (size_t i = 0; i < parts->n; i++) {
		if (rdev && rdev == parts->list[i].rdev)
			return &parts->list[i];
		if (!rdev && root && *root && base && !strcmp(base + 1, parts->list[i].name))
			return &parts->list[i];
	}
	return NULL;
}

static int add_holders(struct device_facts *facts, const struct part *part, const char *root)
{
	char path[160], name[160];
	const char *entry;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), SYS_BLOCK "%s/holders", part->name);
	dir = device_open_dir(root, path);
	while (dir && ret == 0 && (entry = device_next_entry(dir))) {
		/* device_add_bcache() says more. */
		if (!strncmp(entry, "bcache", 6))
			continue;
		if (sysfile_line(root, name, sizeof(name), SYS_BLOCK "%s/dm/name", entry) > 0)
			ret = device_add_user(facts, "holder", part->label, "%s (%s)", entry, name);
		else
			ret = device_add_user(facts, "holder", part->label, "%s", entry);
	}
	if (dir)
		closedir(dir);
	return ret;
}

/* Members of a btrfs have the file system's device number nowhere in mountinfo. */
static int add_btrfs(struct device_facts *facts, const struct part *part, const char *root)
{
	DIR *dir = device_open_dir(root, "/sys/fs/btrfs");
	const char *entry;
	int ret = 0;

	while (dir && ret == 0 && (entry = device_next_entry(dir)))
		if (sysfile_exists(root, "/sys/fs/btrfs/%s/devices/%s", entry, part->name) == 1)
			ret = device_add_user(facts, "holder", part->label, "btrfs %s", entry);
	if (dir)
		closedir(dir);
	return ret;
}

static bool mounted_already(const struct device_facts *facts, const struct part *part)
{
	for (size_t i = 0; i < facts->n_users; i++)
		if (!strcmp(facts->users[i].kind, "mount") &&
		    !strcmp(facts->users[i].part, part->label))
			return true;
	return false;
}

/* Each device once, by its first mount of the whole file system if there is one: the others are
 * bind mounts of the same. */
static int add_mounts(struct device_facts *facts, const struct parts *parts,
		      struct libmnt_table *table, bool whole, const char *root)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	const char *source, *target, *top;
	const struct part *part;
	struct libmnt_fs *fs;
	dev_t rdev;
	int ret = iter ? 0 : -ENOMEM;

	while (ret == 0 && mnt_table_next_fs(table, iter, &fs) == 0) {
		source = mnt_fs_get_source(fs);
		target = mnt_fs_get_target(fs);
		top = mnt_fs_get_root(fs);
		rdev = mnt_fs_get_devno(fs);
		/* Anonymous numbers (btrfs): the source is a device all the same. */
		if (major(rdev) == 0)
			rdev = 0;
		if (!target || (whole && top && strcmp(top, "/")))
			continue;
		if (!rdev && (!source || strncmp(source, "/dev/", 5)))
			continue;
		part = find_part(parts, rdev, source ? source : "", root);
		if (part && !mounted_already(facts, part))
			ret = device_add_user(facts, "mount", part->label, "%s", target);
	}
	mnt_free_iter(iter);
	return ret;
}

static int add_all_mounts(struct device_facts *facts, const struct parts *parts, const char *root)
{
	struct libmnt_table *table = NULL;
	char *text = NULL;
	FILE *stream;
	size_t len;
	int ret;

	ret = sysfile_read(root, "/proc/self/mountinfo", &text, &len);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	stream = len ? fmemopen(text, len, "r") : NULL;
	table = mnt_new_table();
	if (stream && table && !mnt_table_parse_stream(table, stream, "mountinfo")) {
		ret = add_mounts(facts, parts, table, true, root);
		if (ret == 0)
			ret = add_mounts(facts, parts, table, false, root);
	}
	mnt_unref_table(table);
	if (stream)
		fclose(stream);
	free(text);
	return ret;
}

/* /proc/swaps: a line of headings, then "path type size used priority", blanks in the path written
 * in octal. */
static int add_swaps(struct device_facts *facts, const struct parts *parts, const char *root)
{
	char *text = NULL, *save = NULL, *path;
	const struct part *part;
	struct stat info;
	int ret;

	ret = sysfile_read(root, "/proc/swaps", &text, NULL);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	strtok_r(text, "\n", &save);
	for (char *line = strtok_r(NULL, "\n", &save); line && ret == 0;
	     line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, " \t")] = '\0';
		path = malloc(strlen(line) + 1);
		if (!path) {
			ret = -ENOMEM;
			break;
		}
		sysfile_unescape(path, line);
		if (facts->kind == DEVICE_FILE && !stat(path, &info) &&
		    info.st_dev == facts->file_dev && info.st_ino == facts->file_ino)
			ret = device_add_user(facts, "swap", "", "%s", path);
		part = facts->kind == DEVICE_FILE ? NULL : find_part(parts, 0, path, root);
		if (part)
			ret = device_add_user(facts, "swap", part->label, "%s", path);
		free(path);
	}
	free(text);
	return ret;
}

/* By inode, asked of the loop device where that may be opened (the path may be of another mount
 * namespace), else by the path that sysfs has. */
static bool loop_is_of(const struct device_facts *facts, const char *loop)
{
	char path[PATH_MAX], node[80];
	struct loop_info64 info;
	struct stat st;
	int fd, got = -1;

	/* Without /sys every node is asked. */
	if (sysfile_line(NULL, path, sizeof(path), SYS_BLOCK "%s/loop/backing_file", loop) <= 0) {
		if (sysfile_exists(NULL, SYS_BLOCK) == 1)
			return false;
		path[0] = '\0';
	}
	snprintf(node, sizeof(node), "/dev/%.63s", loop);
	fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		got = ioctl(fd, LOOP_GET_STATUS64, &info);
		close(fd);
	}
	if (got == 0)
		return info.lo_inode == facts->file_ino && (dev_t)info.lo_device == facts->file_dev;
	return !stat(path, &st) && st.st_dev == facts->file_dev && st.st_ino == facts->file_ino;
}

static int add_loops(struct device_facts *facts)
{
	DIR *dir = device_open_dir(NULL, SYS_BLOCK);
	const char *entry;
	int ret = 0;

	if (!dir)
		dir = device_open_dir(NULL, "/dev");
	while (dir && ret == 0 && (entry = device_next_entry(dir)))
		if (!strncmp(entry, "loop", 4) && isdigit((unsigned char)entry[4]) &&
		    loop_is_of(facts, entry))
			ret = device_add_user(facts, "loop", "", "/dev/%s", entry);
	if (dir)
		closedir(dir);
	return ret;
}

/* Directories have no order, and the same machine should read the same each time. */
static int by_part(const void *a, const void *b)
{
	const struct device_user *x = a, *y = b;
	int order = strverscmp(x->part, y->part);

	if (!order)
		order = strcmp(x->kind, y->kind);
	return order ? order : strverscmp(x->what, y->what);
}

static void not_seen(struct device_facts *facts, const char *path, const char *why)
{
	facts->users_known = false;
	snprintf(facts->users_reason, sizeof(facts->users_reason), "%s: %s", path, why);
}

/* Whether what users are looked for in is there: drivers and loops in /sys, mounts and swap in
 * /proc (a kernel without swap has no /proc/swaps). */
static int look_at_sources(struct device_facts *facts, const char *root)
{
	static const char mounts[] = "/proc/self/mountinfo";
	char *text = NULL;
	size_t len = 0;
	int ret;
	DIR *dir;

	facts->users_known = true;
	ret = sysfile_read(root, mounts, &text, &len);
	free(text);
	if (ret == -ENOMEM)
		return ret;
	if (ret < 0)
		not_seen(facts, mounts, strerror(-ret));
	else if (!len)
		not_seen(facts, mounts, "it is empty");
	dir = device_open_dir(root, SYS_BLOCK);
	if (!dir) {
		not_seen(facts, "/sys/class/block", strerror(errno));
		return 0;
	}
	closedir(dir);
	if (facts->kind != DEVICE_FILE &&
	    (!facts->name[0] || sysfile_exists(root, SYS_BLOCK "%s", facts->name) != 1))
		not_seen(facts, "/sys/class/block", "the device is not there");
	return 0;
}

int device_read_users(struct device_facts *facts, const char *root)
{
	struct parts parts = {0};
	int ret;

	ret = look_at_sources(facts, root);
	if (ret < 0)
		return ret;

	if (facts->kind == DEVICE_FILE) {
		ret = add_loops(facts);
		return ret ? ret : add_swaps(facts, &parts, root);
	}
	ret = list_parts(&parts, facts, root);
	if (ret == 0)
		ret = add_all_mounts(facts, &parts, root);
	if (ret == 0)
		ret = add_swaps(facts, &parts, root);
	for (size_t i = 0; i < parts.n && ret == 0; i++) {
		ret = add_holders(facts, &parts.list[i], root);
		if (ret == 0)
			ret = device_add_bcache(facts, parts.list[i].name, parts.list[i].label,
						root);
		if (ret == 0 && !mounted_already(facts, &parts.list[i]))
			ret = add_btrfs(facts, &parts.list[i], root);
	}
	free(parts.list);
	if (facts->n_users > 1)
		qsort(facts->users, facts->n_users, sizeof(facts->users[0]), by_part);
	return ret;
}
