/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DMCT_UTIL_DIRECTORY_H
#define DMCT_UTIL_DIRECTORY_H

/*
 * Whether a directory takes a new file, tried with one that has no name, or had one for a moment:
 * some file systems (/proc) say that they can be written to, and take none. 0 or -errno.
 */
int directory_try(const char *dir);

/* Has the name of a file, its directory's entry, on the disk. 0 or -errno. */
int directory_sync(const char *path);

#endif
