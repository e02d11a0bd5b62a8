/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard: opens a device once, makes sure that nobody uses it, knows what is on it, and makes
 * sure, just before the first write, that it still is the same device. Every command that writes
 * goes through it. Looking never writes.
 */
#ifndef DMCT_VOLUME_GUARD_H
#define DMCT_VOLUME_GUARD_H

#include "facts/device.h"
#include "util/status.h"

struct guard {
	int fd;       /* the device, read-write; everything after goes through it */
	int claim_fd; /* a block device: opened exclusively, so that nobody mounts or maps it */
	int lock_fd;  /* the whole disk, flock()ed; -1 for a file (which carries an OFD lock on fd
			 instead) */
	char fd_path[32]; /* "/proc/self/fd/N", to open it again by, whatever its path leads to */
	struct device_facts device;
};

/*
 * Opens `path` and leaves it locked, with its facts in guard->device. Never creates a file.
 * Refuses, with *st: missing, a directory, not a block device or regular file, read-only, zoned
 * without conventional space (ST_DEVICE); no permission (ST_AUTH); mounted (in any mount
 * namespace), swap, held by dm, md, loop …, a partition of it in use, or locked by another program
 * (ST_BUSY, naming the user); /proc or /sys not there to see the users by, or too few open files
 * allowed (ST_MISSING). A block device is claimed exclusively, which also tells of uses that are
 * not visible here; claim and lock are held until guard_close(), to be called after a failure too.
 */
int guard_open(struct guard *guard, const char *path, struct status *st);

/*
 * The same for a second device, beside one that is held: both may be partitions of one disk, whose
 * lock is then held already.
 */
int guard_open_beside(struct guard *guard, const char *path, const struct guard *held,
		      struct status *st);

/*
 * Looks again, under lock and claim: the same device number, disk sequence number, model, serial
 * number, WWN, size, inode and contents, still in use by nobody, and the path at which it was found
 * still leads to it. Returns 0, or -errno with *st (ST_DEVICE: it changed,
 * ST_BUSY: someone took it).
 */
int guard_recheck(struct guard *guard, struct status *st);

/*
 * Makes sure that the first `bytes` of an image file can be written, which a sparse file on a full
 * file system cannot. reserve: has the file system set the blocks aside, which the contents do not
 * show but the times of the file may; else only reckons. Nothing to do for a block device. Returns
 * 0 or -errno with *st (ST_REFUSED).
 */
int guard_room(struct guard *guard, uint64_t bytes, bool reserve, struct status *st);

/* What is read next comes from the medium, as far as that can be had: nothing unwritten being left,
 * the cache is dropped. */
void guard_drop_cache(const struct guard *guard);

/* Gives up the claim, for a mapping over the device to take. The lock stays. */
void guard_release_claim(struct guard *guard);

/* Has the kernel look for partitions anew, after what told of them was overwritten or put back. */
void guard_reread_table(const struct guard *guard);

void guard_close(struct guard *guard);

#endif
