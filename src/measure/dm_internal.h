/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files around libdevmapper share. Not for others. */
#ifndef DMCT_MEASURE_DM_INTERNAL_H
#define DMCT_MEASURE_DM_INTERNAL_H

#include <limits.h>
#include <stddef.h>

#include "measure/dm_task.h"

/* A mapping of the machine's; names too long for one of ours are cut. */
struct dm_listed {
	char name[DM_NAME_MAX_LEN];
	uint64_t dev;
};

/* All mappings, for the caller to free. 0 or -errno. */
int dm_list(struct dm_listed **list, size_t *n);

/* What stands behind a name. */
struct dm_look {
	char uuid[DM_UUID_MAX_LEN];
	char target[32]; /* of the only one; "" when there is none, or more than one */
	bool empty;      /* no table is in use */
	char on[32];     /* crypt: the device below, "MAJOR:MINOR" */
};

int dm_look(struct dm_look *look, const char *name);

#endif
