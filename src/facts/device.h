/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a device or image file is: geometry, what is on it, who uses it. Only looks: opens
 * read-only, writes nothing.
 */
#ifndef DMCT_FACTS_DEVICE_H
#define DMCT_FACTS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/status.h"

enum device_kind {
	DEVICE_FILE,
	DEVICE_DISK,
	DEVICE_PARTITION,
	DEVICE_LOOP,
	DEVICE_MAPPER,
	DEVICE_MD,
	DEVICE_OTHER
};
enum device_zoned { DEVICE_ZONED_NONE, DEVICE_ZONED_HOST_AWARE, DEVICE_ZONED_HOST_MANAGED };

/* Something found on the device. */
struct device_content {
	char usage[16]; /* libblkid's USAGE: filesystem, raid, crypto, other; "table" a partition
			   table; "data" unrecognised */
	char type[40];  /* "ext4", "crypto_LUKS", "gpt"; "ambiguous" when libblkid could not decide;
			   "unknown" for data */
	char label[128]; /* "" where there is none */
	char uuid[64];
	/* In bytes: where it (its partition, or its first non-blank data) begins; or, where that is
	 * a MiB or more further in, its mark itself: a backup at the end of a disk whose beginning
	 * was wiped, metadata that stand at the end. */
	uint64_t offset;
	int partition; /* number of the partition it is in; 0: the device itself */
};

/* Someone who uses the device or a part of it. */
struct device_user {
	char kind[16];  /* mount, swap, holder, loop, lock */
	char what[256]; /* mount point, holder's name ("dm-3 (vg-root)"), … */
	char part[64];  /* which part of the device: "sda1", or "" for the device itself */
};

struct device_facts {
	char path[4096];   /* as given */
	char target[4096]; /* with symbolic links resolved; "" when described or not known */
	char name[64];     /* the kernel's name ("sda1"), "" for a file */
	enum device_kind kind;
	dev_t rdev;      /* block devices: the device number */
	dev_t disk_rdev; /* that of the whole disk (the same as rdev on a disk) */
	dev_t file_dev;  /* files: st_dev and st_ino */
	ino_t file_ino;
	uint64_t diskseq; /* the kernel's number for this appearance of the disk; 0 where it has
			     none */
	uint64_t size;    /* bytes, exactly */
	char model[128], serial[128], wwn[128]; /* "" when not known */
	unsigned logical_block, physical_block; /* bytes; for a file 512 and the file system's
						   block, at most 4096 */
	uint64_t optimal_io;                    /* bytes, as the device says it; 0: says nothing */
	/* Writes of unit_min to unit_max bytes (powers of two) that the disk does whole or not at
	 * all, even when the power goes; 0: it promises none beyond its physical block. */
	uint64_t atomic_unit_min, atomic_unit_max;
	uint64_t alignment_offset;
	bool misaligned; /* the kernel says that it is, with no offset that would mend it */
	uint64_t start;  /* of a partition on its disk, in bytes */
	int rotational, discard, read_only; /* 1, 0, or -1 not known */
	enum device_zoned zoned;
	struct device_content *contents;
	size_t n_contents;
	bool contents_known; /* false: could not be read (contents_reason) */
	char contents_reason[160];
	struct device_user *users;
	size_t n_users;
	bool users_known; /* false: nobody in users[] is not "nobody" (users_reason) */
	char users_reason[160];
};

/*
 * Fills *facts about `path`; device_facts_free() releases it, also after a failure. Errors, each
 * with *st: no such file (ST_DEVICE), a directory or other thing that cannot hold a volume
 * (ST_DEVICE), no permission to look at all (ST_AUTH). A device that may be seen but not read is no
 * error: contents_known is false. Nor is it one that /sys or /proc is hidden: users_known is then
 * false. With a root (util/sysfile.h) `path` is only a name ("/dev/sda",
 * "sda"): everything comes from root's /sys and /proc, and the contents are not known. Contents are
 * looked for at the start and the end of the device, and in each partition of a table found on it;
 * what libblkid cannot decide between is listed. Data that nothing recognises counts as content,
 * unless all of it that was sampled is 0x00 or 0xff.
 */
int device_probe(struct device_facts *facts, const char *path, const char *root, struct status *st);
/* The same through an open descriptor (regular file or block device), `path` only naming it in
 * messages. */
int device_probe_fd(struct device_facts *facts, int fd, const char *path, struct status *st);
void device_facts_free(struct device_facts *facts);

const char *device_kind_name(enum device_kind kind);
const char *device_zoned_name(enum device_zoned zoned);

#endif
