// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Users that keep no list of holders, or whose name says more than that list: bcache, whose cache
 * devices have no holder at all, and ZFS, whose pools are known to the kernel by name and number
 * and to the disk by what stands on it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts/device_internal.h"
#include "util/sysfile.h"

#define POOLS "/proc/spl/kstat/zfs"

/* The last part of where the link below SYS_BLOCK leads. False where it is none. */
static bool link_name(char *name, size_t size, const char *root, const char *device,
		      const char *link)
{
	char target[512], *base;
	char *path = sysfile_path(root, SYS_BLOCK "%s/bcache/%s", device, link);
	ssize_t len = path ? readlink(path, target, sizeof(target) - 1) : -1;

	free(path);
	if (len <= 0)
		return false;
	target[len] = '\0';
	base = strrchr(target, '/');
	snprintf(name, size, "%.63s", base ? base + 1 : target);
	return true;
}

/*
 * A cache device has a link "set"; a backing device that runs one "dev", and a state ("no cache",
 * "clean", "dirty", "inconsistent") also where it waits for its cache (the kernel's
 * admin-guide/bcache).
 */
int device_add_bcache(struct device_facts *facts, const char *name, const char *part,
		      const char *root)
{
	char other[64], state[64];

	if (sysfile_exists(root, SYS_BLOCK "%s/bcache", name) != 1)
		return 0;
	if (link_name(other, sizeof(other), root, name, "set"))
		return device_add_user(facts, "holder", part, "bcache, cache of the set %s", other);
	/* A bcache device itself shows the directory of the one below it. */
	if (link_name(other, sizeof(other), root, name, "dev"))
		return strcmp(other, name) ? device_add_user(facts, "holder", part,
							     "bcache, backing device of %s", other)
					   : 0;
	if (sysfile_line(root, state, sizeof(state), SYS_BLOCK "%s/bcache/state", name) > 0)
		return device_add_user(facts, "holder", part,
				       "bcache, backing device that does not run (%s)", state);
	return device_add_user(facts, "holder", part, "bcache");
}

/* A pool of that name may be another one: only its number (OpenZFS 2.2 and later show it) tells. */
static bool is_imported(const struct device_content *c, const char *root)
{
	uint64_t number;
	char *end;

	return *c->label && !strchr(c->label, '/') && *c->label != '.' &&
	       !sysfile_u64(root, &number, POOLS "/%s/guid", c->label) &&
	       number == strtoull(c->uuid, &end, 10) && end != c->uuid && !*end;
}

int device_read_pools(struct device_facts *facts, const char *root)
{
	const struct device_content *c;
	char part[64] = "";
	int ret = 0;

	for (size_t i = 0; i < facts->n_contents && !ret; i++) {
		c = &facts->contents[i];
		if (strcmp(c->type, "zfs_member") || !is_imported(c, root))
			continue;
		if (c->partition && *facts->name)
			snprintf(part, sizeof(part), "%.50s%s%d", facts->name,
				 facts->name[strlen(facts->name) - 1] <= '9' ? "p" : "",
				 c->partition);
		else
			part[0] = '\0';
		ret = device_add_user(facts, "holder", part, "ZFS pool %s", c->label);
	}
	return ret;
}
