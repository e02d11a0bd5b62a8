// SPDX-License-Identifier: GPL-2.0-or-later
/* What a killed process of this program's left behind. */
#include <libdevmapper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "measure/dm_internal.h"

static bool same_owner(const struct dm_owner *a, const struct dm_owner *b)
{
	return a->pid == b->pid && a->start == b->start && a->namespace == b->namespace;
}

/* A mapping of ours: who made it, and what it looks like. */
struct mine {
	struct dm_owner owner;
	struct dm_look look;
};

static bool is_mine(struct mine *mine, const char *name)
{
	return !strncmp(name, "dmcrypt-tune-", 13) && !dm_look(&mine->look, name) &&
	       dm_name_parse(name, mine->look.uuid, &mine->owner);
}

/* Whether "MAJOR:MINOR" is the zero target of that owner. */
static bool on_our_zero(const char *on, const struct dm_owner *owner, const struct dm_listed *list,
			size_t n)
{
	struct mine below;
	char dev[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(dev, sizeof(dev), "%u:%u", major(list[i].dev), minor(list[i].dev));
		if (!strcmp(dev, on))
			return is_mine(&below, list[i].name) && same_owner(&below.owner, owner) &&
			       !strcmp(below.look.target, "zero");
	}
	return false;
}

static void remove_if_stale(const struct mine *mine, const char *name, const struct dm_owner *self)
{
	struct dm_device device;
	struct dm_life life;

	dm_life_of(&life, mine->owner.pid);
	if (!dm_name_stale(&mine->owner, self, &life))
		return;
	snprintf(device.name, sizeof(device.name), "%s", name);
	snprintf(device.uuid, sizeof(device.uuid), "%s", mine->look.uuid);
	dm_device_remove(&device);
}

void dm_remove_stale(const struct dm_owner *self)
{
	struct dm_listed *list;
	struct mine mine;
	size_t n;

	if (dm_list(&list, &n))
		n = 0;
	/* What stands on a zero target goes before it; and what was killed before its table was in
	 * use, which may hold one all the same. */
	for (size_t i = 0; i < n; i++)
		if (is_mine(&mine, list[i].name) && !strcmp(mine.look.target, "crypt") &&
		    on_our_zero(mine.look.on, &mine.owner, list, n))
			remove_if_stale(&mine, list[i].name, self);
	for (size_t i = 0; i < n; i++)
		if (is_mine(&mine, list[i].name) && mine.look.empty)
			remove_if_stale(&mine, list[i].name, self);
	for (size_t i = 0; i < n; i++)
		if (is_mine(&mine, list[i].name) && !strcmp(mine.look.target, "zero"))
			remove_if_stale(&mine, list[i].name, self);
	free(list);
}
