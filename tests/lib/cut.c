// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to preload: it counts what a program does to one file or disk (writes, flushes, room
 * set aside) and records it, or cuts in at the Nth: kills it there, or has the call fail.
 *
 * CUT_TARGET  the file
 * CUT_LOG     where to append what is done: "w OFFSET LENGTH\n" and the bytes, "s\n" for a flush,
 *             "r\n" for room set aside
 * CUT_WRITE   write() is counted, too; without it the program is aborted there
 * CUT_AT      the call to cut in at, from 1
 * CUT_DO      kill: SIGKILL before it; torn: after half of it was written; stop: SIGSTOP before it;
 *             int, term: that signal before it; eio, enospc: it fails; eio-on: it and all after it
 *             fail; short: it and all after it write a part only; exit: SIGSTOP when the program
 * ends
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned long count;

static bool on_target(int fd)
{
	const char *path = getenv("CUT_TARGET");
	struct stat target, this;

	if (!path || stat(path, &target) || fstat(fd, &this))
		return false;
	if (S_ISBLK(target.st_mode))
		return S_ISBLK(this.st_mode) && target.st_rdev == this.st_rdev;
	return target.st_dev == this.st_dev && target.st_ino == this.st_ino;
}

static bool doing(const char *what)
{
	const char *text = getenv("CUT_DO");

	return text && !strcmp(text, what);
}

/* Whether to cut in at this call: counted once for each. */
static bool here(bool also_after)
{
	const char *at = getenv("CUT_AT");
	unsigned long n = at ? strtoul(at, NULL, 10) : 0;

	return n && (count == n || (also_after && count > n));
}

/* 0: go on; an errno: fail. */
static int cut(void)
{
	count++;
	if (here(false)) {
		if (doing("kill"))
			raise(SIGKILL);
		if (doing("stop"))
			raise(SIGSTOP);
		if (doing("int"))
			raise(SIGINT);
		if (doing("term"))
			raise(SIGTERM);
		if (doing("eio"))
			return EIO;
		if (doing("enospc"))
			return ENOSPC;
	}
	return here(true) && doing("eio-on") ? EIO : 0;
}

static void record(const void *head, size_t head_len, const void *bytes, size_t len)
{
	const char *path = getenv("CUT_LOG");
	FILE *log = path ? fopen(path, "a") : NULL;

	if (!log)
		return;
	fwrite(head, 1, head_len, log);
	fwrite(bytes, 1, len, log);
	fclose(log);
}

static ssize_t real_pwrite(int fd, const void *buf, size_t len, off64_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off64_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
	return real(fd, buf, len, at);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t at)
{
	char head[64];
	int err;

	if (!on_target(fd))
		return real_pwrite(fd, buf, len, at);
	err = cut();
	if (err) {
		errno = err;
		return -1;
	}
	if (here(false) && doing("torn")) {
		real_pwrite(fd, buf, len / 2 / 512 * 512, at);
		raise(SIGKILL);
	}
	if (here(true) && doing("short") && len > 512)
		len = 512 + (len - 512) / 3;
	record(head, snprintf(head, sizeof(head), "w %lld %zu\n", (long long)at, len), buf, len);
	return real_pwrite(fd, buf, len, at);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
	return pwrite64(fd, buf, len, at);
}

__attribute__((destructor)) static void at_exit(void)
{
	if (doing("exit"))
		raise(SIGSTOP);
}

/* Of libcryptsetup, which seeks and writes (CUT_WRITE). */
static ssize_t cut_write(int fd, const void *buf, size_t len,
			 ssize_t (*real)(int, const void *, size_t))
{
	char head[64];
	int err = cut();

	if (err) {
		errno = err;
		return -1;
	}
	if (here(false) && doing("torn")) {
		real(fd, buf, len / 2 / 512 * 512);
		raise(SIGKILL);
	}
	record(head,
	       snprintf(head, sizeof(head), "w %lld %zu\n", (long long)lseek(fd, 0, SEEK_CUR), len),
	       buf, len);
	return real(fd, buf, len);
}

/* Of this program nothing is to be written but through pwrite(): a record of it could not be
 * replayed. */
ssize_t write(int fd, const void *buf, size_t len)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "write");
	if (on_target(fd) && getenv("CUT_WRITE"))
		return cut_write(fd, buf, len, real);
	if (on_target(fd))
		abort();
	return real(fd, buf, len);
}

int fsync(int fd)
{
	static int (*real)(int);
	int err;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fsync");
	if (!on_target(fd))
		return real(fd);
	err = cut();
	if (err) {
		errno = err;
		return -1;
	}
	if (real(fd))
		return -1;
	record("s\n", 2, "", 0);
	return 0;
}

int fallocate64(int fd, int mode, off64_t at, off64_t len)
{
	static int (*real)(int, int, off64_t, off64_t);
	int err;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fallocate64");
	if (!on_target(fd))
		return real(fd, mode, at, len);
	err = cut();
	if (err) {
		errno = err;
		return -1;
	}
	record("r\n", 2, "", 0);
	return real(fd, mode, at, len);
}

int fallocate(int fd, int mode, off_t at, off_t len)
{
	return fallocate64(fd, mode, at, len);
}
