/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Undo files: what a format is about to overwrite, kept so that it can be put back.
 *
 * A file holds the device's identity, the stretches that the format overwrites with all their bytes
 * (a sparse file: blank blocks take no room), where the marks of the old contents are, a checksum
 * of every sector that the format writes, and checksums of samples of the data area, by which it
 * shows whether the new volume has been used since. Every part of it is checksummed (SHA-256). It
 * is written, and on the disk with its directory, before the first write to the device; its first
 * block comes last, so that a file that was cut short says so.
 */
#ifndef DMCT_VOLUME_UNDO_H
#define DMCT_VOLUME_UNDO_H

#include <sys/types.h>
#include <time.h>

#include "volume/change.h"

struct undo {
	uint64_t size, start; /* of the device, and of a partition on its disk; bytes */
	bool is_file;
	dev_t file_dev; /* what stat(2) says of the undo file itself */
	ino_t file_ino;
	char uuid[40]; /* of the volume that the format makes */
	char model[128], serial[128], wwn[128];
	time_t created;
	struct change change;     /* its `header` is NULL */
	uint64_t *before, *after; /* checksums of the areas' sectors as they were, and as the
				     format writes them */
	size_t n_sectors;         /* of all areas */
	struct extents samples;   /* of the data area … */
	uint64_t *sampled;        /* … and their checksums */
};

/* Whether such a file can be made: there is nothing of that name, and its directory takes a new
 * file, which is tried with one that has no name. To be asked early. 0 or -errno with *st
 * (ST_USAGE, ST_AUTH). */
int undo_check(const char *path, struct status *st);
/* Whether there is room for the undo file of a change_prepare()d change. 0 or -errno with *st
 * (ST_REFUSED). */
int undo_room(const char *path, const struct change *change, struct status *st);

/* Whether the file would be kept in memory only (tmpfs, ramfs), and so be lost with the power. */
bool undo_in_memory(const char *path);

/*
 * Writes the file, mode 0600, and has it on the disk. uuid: of the new volume. 0, or -errno with
 * *st (ST_REFUSED), and then there is no file.
 */
int undo_save(const char *path, const struct guard *guard, const struct change *change,
	      const char *uuid, struct status *st);

/* Reads a file, strictly: 0, or -errno with *st (ST_USAGE: none, not one, of a newer version,
 * incomplete or damaged; ST_NOMEM). undo_free() releases it, also after a failure. */
int undo_load(struct undo *undo, const char *path, struct status *st);
void undo_free(struct undo *undo);

/* How the device compares with an undo file. */
struct undo_finding {
	size_t before, blank, after; /* sectors as they were, as they were but for the marks, and as
					the format wrote them; each counted once, in this order */
	size_t other;                /* as neither knows them */
	uint64_t first_other;        /* where the first of those is, in bytes */
	size_t used;                 /* samples of the data area that have changed */
	uint64_t first_used;
	const char *identity; /* what is not the same of the device ("serial number"), or NULL */
};

/* 0, or -errno with *st (ST_DEVICE: it cannot be read; it ends before what is to be put back). */
int undo_compare(struct undo_finding *finding, const struct undo *undo, const struct guard *guard,
		 struct status *st);

#endif
