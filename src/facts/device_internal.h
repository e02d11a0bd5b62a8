/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make up a device's facts. All return 0 or -errno and print nothing. */
#ifndef DMCT_FACTS_DEVICE_INTERNAL_H
#define DMCT_FACTS_DEVICE_INTERNAL_H

#include <dirent.h>

#include "facts/device.h"

#define SYS_BLOCK "/sys/class/block/"

/*
 * Fills geometry and identity from /sys/class/block/NAME, facts->name being set. What sysfs does
 * not say stays as it is. -ENOENT: there is no such device in sysfs.
 */
int device_read_sysfs(struct device_facts *facts, const char *root);
/* The name of the disk that a partition is on; the name itself for anything else. */
void device_disk_name(char disk[64], const char *name, const char *root);

/* Opens a directory below root for reading, or NULL with errno. */
DIR *device_open_dir(const char *root, const char *path);
/* The next entry that is not "." or "..", or NULL. */
const char *device_next_entry(DIR *dir);

/* Fills users of a block device, its partitions and the disk it is a partition of; or of a file. */
int device_read_users(struct device_facts *facts, const char *root);
int device_add_user(struct device_facts *facts, const char *kind, const char *part,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds bcache where it has that device, and ZFS where a pool that the disk is a member of, by its
 * contents, is imported. */
int device_add_bcache(struct device_facts *facts, const char *name, const char *part,
		      const char *root);
int device_read_pools(struct device_facts *facts, const char *root);

/* Fills contents, contents_known and contents_reason from the open device or file. -ENOMEM. */
int device_read_contents(struct device_facts *facts, int fd);
int device_add_content(struct device_facts *facts, const struct device_content *content);

/*
 * Looks for anything but 0x00 and 0xff in samples of [start, start + len). Returns 1 with its place
 * in *where, 0 when all of them are blank, or -errno. spread: how many samples between the first
 * and the last MiB. Holes of a sparse file are not read.
 */
int device_find_data(int fd, bool sparse, uint64_t start, uint64_t len, unsigned spread,
		     uint64_t *where);

#endif
