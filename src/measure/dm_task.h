/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making and removing our own mappings through libdevmapper. udev is told to leave them alone, and
 * never waited for. One thread at a time: libdevmapper is one state for the whole process.
 */
#ifndef DMCT_MEASURE_DM_TASK_H
#define DMCT_MEASURE_DM_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/dm_name.h"

struct dm_device {
	char name[DM_NAME_MAX_LEN], uuid[DM_UUID_MAX_LEN];
	unsigned major, minor; /* set by dm_device_make() */
};

/* What libdevmapper was set to before. */
struct dm_session {
	int sync;
};

/* Around any number of the calls below: silences libdevmapper and takes udev out of it. */
void dm_session_begin(struct dm_session *session);
void dm_session_end(const struct dm_session *session);

/*
 * Makes a mapping of one target, `sectors` of 512 bytes long; params may hold a key, which is wiped
 * from libdevmapper's memory. The node /dev/mapper/NAME is there afterwards. Returns 0 or -errno.
 */
int dm_device_make(struct dm_device *device, const char *target, uint64_t sectors,
		   const char *params);

/* Opens what dm_device_make() made, and nothing else: a node that leads to another device is never
 * opened. Returns a descriptor for reading, or -errno. */
int dm_device_open(const struct dm_device *device);

/*
 * Has the kernel remove the mapping as soon as nobody has it open, however this process ends, and
 * removes the node. Where the kernel cannot (before 3.13), dm_device_remove() is all there is.
 */
void dm_device_expire(const struct dm_device *device);

/*
 * Removes the mapping and its node; it may be gone already. Somebody who has it open (a scanner)
 * is waited for, two seconds at most; then it goes when they are done. Returns 0 or -errno.
 */
int dm_device_remove(const struct dm_device *device);

/*
 * Removes the mappings of this program's whose process is known to be dead (measure/dm_name.h): of
 * our names and UUIDs, and no other tables than ours: a zero target, a crypt target on it, or none
 * yet.
 */
void dm_remove_stale(const struct dm_owner *self);

#endif
