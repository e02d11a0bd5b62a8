// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "util/newfile.h"

int directory_try(const char *dir)
{
	struct newfile file;
	int ret = newfile_open(&file, dir);

	newfile_drop(&file);
	return ret;
}

int directory_sync(const char *path)
{
	char copy[PATH_MAX];
	int fd, ret = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) && errno != EINVAL)
		ret = -errno;
	close(fd);
	return ret;
}
