/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control groups that this process is in: version 1, version 2, and both at once (hybrid). */
#ifndef DMCT_FACTS_CGROUP_H
#define DMCT_FACTS_CGROUP_H

#include <stdbool.h>

/*
 * Calls visit() for the directory of every group that this process is in and that `controller`
 * ("cpu", "memory") may limit, from its own upwards to the topmost that is visible here; `dir` is a
 * path for util/sysfile.h below `root`. v2: the directory has that version's files. Stops at the
 * first error of visit() and returns it; 0 otherwise, also where there are no cgroups; -ENOMEM.
 */
int cgroup_visit(const char *root, const char *controller,
		 int (*visit)(const char *root, const char *dir, bool v2, void *arg), void *arg);

#endif
