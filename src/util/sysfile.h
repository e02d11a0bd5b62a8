/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading /proc and /sys, of this machine or below --sysroot.
 *
 * Every function takes the root as `root`: NULL or "" means this machine; otherwise paths are
 * looked up below that directory. `path` is absolute ("/proc/cpuinfo"). Nothing is ever written.
 */
#ifndef DMCT_UTIL_SYSFILE_H
#define DMCT_UTIL_SYSFILE_H

#include <stddef.h>
#include <stdint.h>

/* The most that is read of one file: longer ones are cut there, at the last whole line. */
#define SYSFILE_MAX (16U << 20)

/*
 * Reads the whole file into *text, NUL-terminated, for the caller to free; *len (may be NULL) is
 * its length without that NUL. NUL bytes inside are kept. Returns 0, or -errno with *text
 * untouched.
 */
int sysfile_read(const char *root, const char *path, char **text, size_t *len);

/*
 * Reads the first line of a small file into buf, without its newline and trailing blanks. Returns
 * the length or -errno
 * (-EOVERFLOW when it does not fit into size bytes with its NUL).
 */
int sysfile_line(const char *root, char *buf, size_t size, const char *path, ...)
	__attribute__((format(printf, 4, 5)));

/* Reads a file that holds one unsigned decimal number. Returns 0, -EINVAL when it holds something
 * else, or -errno. */
int sysfile_u64(const char *root, uint64_t *value, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether the path exists (1), does not (0), or -errno when that cannot be told (EACCES, …). */
int sysfile_exists(const char *root, const char *path, ...) __attribute__((format(printf, 2, 3)));

/*
 * Undoes the octal escapes ("\\040") with which /proc writes blanks and backslashes in paths. out
 * has room for as much as `in` takes and may be the same.
 */
void sysfile_unescape(char *out, const char *in);

/* root + path as a new string for the caller to free, or NULL when out of memory. */
char *sysfile_path(const char *root, const char *path, ...) __attribute__((format(printf, 2, 3)));

#endif
