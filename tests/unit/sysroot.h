/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A described machine, made file by file in a directory of its own. */
#ifndef DMCT_TESTS_SYSROOT_H
#define DMCT_TESTS_SYSROOT_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tap.h"

static char root[] = "/tmp/dmct-unit-XXXXXX";

/* Writes a file below the root, with the directories that it needs. */
static void put(const char *path, const char *text, size_t len)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0700);
	}
	f = fopen(full, "w");
	if (!f || fwrite(text, 1, len, f) != len || fclose(f))
		printf("Bail out! %s: %s\n", full, strerror(errno));
}

__attribute__((unused)) static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

/* Before anything else. False, with a skipped test, where no directory can be made. */
static bool sysroot_make(void)
{
	if (mkdtemp(root))
		return true;
	tap_skip("no temporary directory: %s", strerror(errno));
	return false;
}

static int sysroot_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

#endif
