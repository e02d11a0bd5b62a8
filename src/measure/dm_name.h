/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What our mappings are called, and whose they are. Name: dmcrypt-tune-PID-N. UUID:
 * DMCRYPT-TUNE-PID-START-NAMESPACE-N, which also has what a process number that comes again, or
 * another container's, is told by.
 */
#ifndef DMCT_MEASURE_DM_NAME_H
#define DMCT_MEASURE_DM_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DM_NAME_MAX_LEN 64
#define DM_UUID_MAX_LEN 112

/* A process, for as long as the machine runs. */
struct dm_owner {
	unsigned pid;   /* in its own namespace */
	uint64_t start; /* clock ticks after boot (proc(5), /proc/PID/stat, field 22); 0: not known
			 */
	uint64_t namespace; /* inode of its PID namespace; 0: not known */
};

/* This process. */
void dm_owner_self(struct dm_owner *owner);

void dm_name_print(char name[DM_NAME_MAX_LEN], const struct dm_owner *owner, unsigned n);
void dm_uuid_print(char uuid[DM_UUID_MAX_LEN], const struct dm_owner *owner, unsigned n);

/* Whether a mapping is one of this program's: its name and UUID have the two forms and agree. Then
 * *owner is whose. */
bool dm_name_parse(const char *name, const char *uuid, struct dm_owner *owner);

/* What became of a process's number. */
struct dm_life {
	bool exists;    /* there is a process of that number */
	uint64_t start; /* and it started then; 0: not known */
};

/*
 * Whether the owner is known to be dead: of our own PID namespace, and no process has its number,
 * or one that started at another time. What cannot be known is not stale.
 */
bool dm_name_stale(const struct dm_owner *owner, const struct dm_owner *self,
		   const struct dm_life *life);

/* Asks the kernel about a process of our namespace. */
void dm_life_of(struct dm_life *life, unsigned pid);

#endif
