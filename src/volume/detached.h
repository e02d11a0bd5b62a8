/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a detached header goes: a block device, guarded as the data's is and written in the same
 * order (volume/change.h); or a file, made whole beside its place, on the disk, and then put there
 * under its name, so that whatever cuts that short leaves what was there or the new header.
 */
#ifndef DMCT_VOLUME_DETACHED_H
#define DMCT_VOLUME_DETACHED_H

#include <limits.h>

#include "util/newfile.h"
#include "volume/change.h"
#include "volume/guard.h"

struct detached {
	const char *path;        /* as given */
	bool is_file;            /* else a block device */
	bool exists;             /* something of that name is there: guard is of it */
	char target[PATH_MAX];   /* the file's name with links resolved */
	struct newfile file;     /* being made */
	bool named;              /* the new file has its name */
	char left[NAME_MAX + 1]; /* beside a file's place: what a run left that was killed, or "" */
	struct guard guard;      /* fd -1: nothing is there yet */
	struct change change;    /* of a block device */
};

/*
 * Looks at the place, and locks what is there. data: the guard of the data device, which must be
 * another one. Errors as guard_open() has them, and: the same file or device by whatever name
 * (ST_USAGE); nothing can be made there (ST_USAGE, ST_AUTH), or would not outlive the power, being
 * in /dev (ST_DEVICE). Writes nothing. detached_close() releases it, also after a failure.
 */
int detached_open(struct detached *d, const char *path, const struct guard *data,
		  struct status *st);

/* Whether there is room for a header of that length: 0, or -errno with *st (ST_DEVICE: the device
 * is too small; ST_REFUSED: the file system is full). */
int detached_room(const struct detached *d, uint64_t len, struct status *st);

/* Bytes that are there: of a file, its size; of a device, its size where anything was found. */
uint64_t detached_holds(const struct detached *d);

/* Makes the file, whole and on the disk, without its name. 0 or -errno; then there is none. */
int detached_stage(struct detached *d, const unsigned char *bytes, uint64_t len);
/* Gives it its name, and has that on the disk. guard is then of it. 0 or -errno: then it is gone,
 * and what was there is as it was, but where `named` says that only the last step failed. */
int detached_commit(struct detached *d);

void detached_close(struct detached *d);

#endif
