// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/header_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* libcryptsetup's, as distributions build it. */
#define DIRECTORY "/run/cryptsetup"

#define TRIES    100
#define PAUSE_MS 50

static void lock_path(char path[64], dev_t dev)
{
	snprintf(path, 64, DIRECTORY "/L_%u:%u", major(dev), minor(dev));
}

/* Who gave it back before may have removed the file: then it is not the one that others lock. */
static bool still_there(int lock, const char *path)
{
	struct stat locked, named;

	return !fstat(lock, &locked) && !stat(path, &named) && locked.st_dev == named.st_dev &&
	       locked.st_ino == named.st_ino;
}

/* -EBUSY: another has it, or had it until now. */
static int lock_device(dev_t dev)
{
	char path[64];
	int lock;

	if (mkdir(DIRECTORY, 0700) && errno != EEXIST)
		return -errno;
	lock_path(path, dev);
	lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0777);
	if (lock < 0)
		return -errno;
	if (!flock(lock, LOCK_EX | LOCK_NB) && still_there(lock, path))
		return lock;
	close(lock);
	return -EBUSY;
}

/* On its own descriptor: whoever guards the file may have that lock already. */
static int lock_file(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

int header_lock(int fd)
{
	static const struct timespec pause = {0, PAUSE_MS * 1000000L};
	struct stat info;
	int lock = -EBUSY;

	if (fstat(fd, &info))
		return -errno;
	for (int i = 0; i < TRIES && lock == -EBUSY; i++) {
		if (i)
			nanosleep(&pause, NULL);
		lock = S_ISBLK(info.st_mode) ? lock_device(info.st_rdev) : lock_file(fd);
	}
	return lock;
}

void header_unlock(int lock, int fd)
{
	struct stat info;
	char path[64];

	if (lock < 0)
		return;
	if (!fstat(fd, &info) && S_ISBLK(info.st_mode)) {
		lock_path(path, info.st_rdev);
		if (still_there(lock, path))
			unlink(path);
	}
	close(lock);
}

bool header_reencrypting(const char *uuid)
{
	char path[128];
	bool held;
	int lock;

	snprintf(path, sizeof(path), DIRECTORY "/LN_LUKS2-reencryption-%s", uuid);
	lock = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0)
		return false;
	held = flock(lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	close(lock);
	return held;
}
