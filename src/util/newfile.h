/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is written whole before it has its name: without any name where the file system has
 * such files (O_TMPFILE), so that nothing is left of one that was killed, and under a temporary
 * name elsewhere.
 */
#ifndef DMCT_UTIL_NEWFILE_H
#define DMCT_UTIL_NEWFILE_H

#include <limits.h>
#include <stdbool.h>

struct newfile {
	int fd;              /* for writing, locked (flock); -1: there is none */
	char name[PATH_MAX]; /* its temporary name, or "" */
};

/* In that directory, with mode 0600. 0 or -errno. newfile_drop() releases it, also after a failure.
 */
int newfile_open(struct newfile *file, const char *dir);

/*
 * Gives it its name, in that directory, which was resolved. replace: whatever has the name loses
 * it, in one step; else that is -EEXIST. 0 or -errno; then it still is to be dropped. Neither its
 * bytes nor its name are then known to be on the disk.
 */
int newfile_give(struct newfile *file, const char *path, bool replace);

/* Closes it; one that has not been given its name is gone. */
void newfile_drop(struct newfile *file);

/*
 * Whether the directory holds a file under a temporary name that no running program has: what a
 * run left that was killed, where the file system has no files without a name, or in the middle of
 * newfile_give() with replace. name gets it, without the directory.
 */
bool newfile_left(const char *dir, char name[NAME_MAX + 1]);

#endif
