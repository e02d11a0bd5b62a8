// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int directory_try(const char *dir)
{
	char path[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	if (fd < 0) {
		/* It has no files without a name. */
		if (snprintf(path, sizeof(path), "%s/.dmcrypt-tune-XXXXXX", dir) >=
		    (int)sizeof(path))
			return -ENAMETOOLONG;
		fd = mkostemp(path, O_CLOEXEC);
		if (fd < 0)
			return -errno;
		unlink(path);
	}
	close(fd);
	return 0;
}
