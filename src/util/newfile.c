// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/newfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX ".dmcrypt-tune-"
#define RANDOM 6U /* letters after it */
#define TRIES  100

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

int newfile_open(struct newfile *file, const char *dir)
{
	file->fd = -1;
	*file->name = '\0';
	/* What has no name is named by way of /proc. */
	if (!access("/proc/self/fd", X_OK))
		file->fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (file->fd < 0) {
		if (snprintf(file->name, sizeof(file->name), "%s/" PREFIX "XXXXXX", dir) >=
		    (int)sizeof(file->name)) {
			*file->name = '\0';
			return -ENAMETOOLONG;
		}
		/* With mode 0600. */
		file->fd = mkostemp(file->name, O_CLOEXEC);
		if (file->fd < 0) {
			*file->name = '\0';
			return -errno;
		}
	}
	/* Nobody else has it; where there are no locks it does without. */
	flock(file->fd, LOCK_EX | LOCK_NB);
	return 0;
}

static int link_as(const struct newfile *file, const char *path)
{
	char from[32];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* A link cannot replace; a renaming can. */
static int link_beside(struct newfile *file, const char *path)
{
	unsigned char bytes[RANDOM];
	char copy[PATH_MAX], *dir, *end;
	int ret = -EEXIST;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		return -ENAMETOOLONG;
	dir = dirname(copy);
	if (strlen(dir) + strlen("/" PREFIX) + RANDOM >= sizeof(file->name))
		return -ENAMETOOLONG;
	for (unsigned i = 0; i < TRIES && ret == -EEXIST; i++) {
		if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
			return -errno;
		end = stpcpy(stpcpy(file->name, dir), "/" PREFIX);
		for (unsigned j = 0; j < RANDOM; j++)
			*end++ = letters[bytes[j] % (sizeof(letters) - 1)];
		*end = '\0';
		ret = link_as(file, file->name);
	}
	if (ret)
		*file->name = '\0';
	return ret;
}

static int rename_over(struct newfile *file, const char *path)
{
	int ret = *file->name ? 0 : link_beside(file, path);

	return ret || !rename(file->name, path) ? ret : -errno;
}

/* Where nothing was, nothing that came meanwhile is replaced. */
static int rename_new(struct newfile *file, const char *path)
{
	if (!renameat2(AT_FDCWD, file->name, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(file->name, path))
		return -errno;
	unlink(file->name);
	return 0;
}

int newfile_give(struct newfile *file, const char *path, bool replace)
{
	int ret = replace       ? rename_over(file, path)
		  : *file->name ? rename_new(file, path)
				: link_as(file, path);

	if (!ret)
		*file->name = '\0';
	return ret;
}

void newfile_drop(struct newfile *file)
{
	if (*file->name)
		unlink(file->name);
	*file->name = '\0';
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static bool is_left(int dir, const char *name)
{
	const char *letter = name + strlen(PREFIX);
	struct stat info;
	bool left;
	int fd;

	if (strncmp(name, PREFIX, strlen(PREFIX)) || strlen(letter) != RANDOM ||
	    letter[strspn(letter, letters)])
		return false;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	left = fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode) &&
	       !flock(fd, LOCK_EX | LOCK_NB);
	if (fd >= 0)
		close(fd);
	return left;
}

bool newfile_left(const char *dir, char name[NAME_MAX + 1])
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	bool left = false;

	while (stream && !left && (entry = readdir(stream))) {
		left = is_left(dirfd(stream), entry->d_name);
		if (left)
			snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
	}
	if (stream)
		closedir(stream);
	return left;
}
