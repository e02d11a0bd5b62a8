// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/dm_name.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/sysfile.h"

#define NAME_FORMAT "dmcrypt-tune-%u-%u"
#define UUID_FORMAT "DMCRYPT-TUNE-%u-%" PRIu64 "-%" PRIu64 "-%u"

/* The 22nd field of /proc/PID/stat; the second, a name in brackets, may hold anything. 0: not
 * known. */
static uint64_t start_of(unsigned pid)
{
	char path[32], *text = NULL, *at;
	uint64_t start = 0;
	int field;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (sysfile_read(NULL, path, &text, NULL) < 0)
		return 0;
	at = strrchr(text, ')');
	for (field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (at)
		start = strtoull(at, NULL, 10);
	free(text);
	return start;
}

void dm_owner_self(struct dm_owner *owner)
{
	struct stat info;

	owner->pid = (unsigned)getpid();
	owner->start = start_of(owner->pid);
	owner->namespace = stat("/proc/self/ns/pid", &info) ? 0 : info.st_ino;
}

void dm_name_print(char name[DM_NAME_MAX_LEN], const struct dm_owner *owner, unsigned n)
{
	snprintf(name, DM_NAME_MAX_LEN, NAME_FORMAT, owner->pid, n);
}

void dm_uuid_print(char uuid[DM_UUID_MAX_LEN], const struct dm_owner *owner, unsigned n)
{
	snprintf(uuid, DM_UUID_MAX_LEN, UUID_FORMAT, owner->pid, owner->start, owner->namespace, n);
}

bool dm_name_parse(const char *name, const char *uuid, struct dm_owner *owner)
{
	char name_again[DM_NAME_MAX_LEN], uuid_again[DM_UUID_MAX_LEN];
	struct dm_owner found;
	unsigned number;

	if (sscanf(uuid, UUID_FORMAT, &found.pid, &found.start, &found.namespace, &number) != 4)
		return false;
	/* Printed again: no sign, no blank, no leading zero, nothing behind it. */
	dm_name_print(name_again, &found, number);
	dm_uuid_print(uuid_again, &found, number);
	if (strcmp(name, name_again) != 0 || strcmp(uuid, uuid_again) != 0)
		return false;
	*owner = found;
	return true;
}

bool dm_name_stale(const struct dm_owner *owner, const struct dm_owner *self,
		   const struct dm_life *life)
{
	if (!owner->namespace || owner->namespace != self->namespace)
		return false;
	if (owner->pid == self->pid && owner->start == self->start)
		return false;
	if (!life->exists)
		return true;
	return owner->start && life->start && owner->start != life->start;
}

void dm_life_of(struct dm_life *life, unsigned pid)
{
	life->exists = pid && (!kill((pid_t)pid, 0) || errno != ESRCH);
	life->start = life->exists ? start_of(pid) : 0;
}
