// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/interrupt.h"
#include "util/terminal.h"

/* One byte over the limit shows that there is more; the rest rounds up to the chunk. */
#define SECRET_CHUNK (64UL << 10)
#define SECRET_MAP   (SECRET_FILE_MAX + SECRET_CHUNK)

/* How long a named pipe that nobody writes to may stay so. */
#define SECRET_WRITER_MS 3000

void secret_harden_process(void)
{
	static const struct rlimit none = {0, 0};

	/* A core pattern that pipes to a program ignores the limit; not being dumpable holds there
	 * too, and keeps other processes of the user from attaching (prctl(2), ptrace(2)). */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
}

/* Address space for the longest secret; memory is taken, and locked, only as bytes arrive. */
static unsigned char *secret_map(void)
{
	void *map = mmap(NULL, SECRET_MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);

	if (map == MAP_FAILED)
		return NULL;
	madvise(map, SECRET_MAP, MADV_DONTDUMP);
	return map;
}

static void secret_unmap(unsigned char *bytes, size_t used)
{
	explicit_bzero(bytes, used);
	munmap(bytes, SECRET_MAP);
}

void secret_free(struct secret *secret)
{
	if (!secret || !secret->bytes)
		return;
	secret_unmap(secret->bytes, secret->len);
	secret->bytes = NULL;
	secret->len = 0;
}

int secret_make(struct secret *secret, size_t len)
{
	unsigned char *map = len <= SECRET_FILE_MAX ? secret_map() : NULL;

	if (!map)
		return -ENOMEM;
	mlock(map, len);
	secret->bytes = map;
	secret->len = len;
	return 0;
}

/* The wait before a read: returns 0 to read, or the error. `idle` for a pipe without a writer. */
static int wait_input(struct interrupt *in, int fd, bool idle, struct status *st)
{
	int sig = 0, ret;

	ret = interrupt_wait(in, fd, idle ? SECRET_WRITER_MS : -1, &sig);
	if (ret == -EINTR)
		return status_set(st, ST_SIGNAL + sig, EINTR,
				  "Interrupted while the key was read.");
	return ret;
}

/*
 * Reads all of fd into map, chunk by chunk, each locked (as far as RLIMIT_MEMLOCK lets us) before
 * bytes of the secret come into it. Returns how many; SECRET_FILE_MAX + 1 when there are more than
 * allowed; or -errno. fifo: a named pipe, opened without blocking: "nobody has it open for writing"
 * then reads as an end of file.
 */
static ssize_t read_whole(struct interrupt *in, unsigned char *map, int fd, bool fifo,
			  struct status *st)
{
	size_t have = 0, room;
	bool idle = false, look = fifo;
	ssize_t n;
	int ret;

	while (have <= SECRET_FILE_MAX) {
		/* A pipe is read first: only that tells whether it has a writer to wait for. */
		ret = look ? 0 : wait_input(in, fd, idle, st);
		if (ret)
			return ret;
		look = false;
		if (have % SECRET_CHUNK == 0)
			mlock(map + have, SECRET_CHUNK);
		room = SECRET_CHUNK - have % SECRET_CHUNK;
		if (room > SECRET_FILE_MAX + 1 - have)
			room = SECRET_FILE_MAX + 1 - have;
		n = read(fd, map + have, room);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (!n && (!fifo || have || idle))
			break;
		idle = !n;
		if (n > 0)
			have += n;
	}
	return have;
}

static int read_error(const char *name, int err, struct status *st)
{
	switch (-err) {
	case EINTR:
		return err;
	case ETIMEDOUT:
		return status_set(
			st, ST_USAGE, EINVAL,
			"Key file %s: a pipe that nobody writes to; waited for %d seconds.", name,
			SECRET_WRITER_MS / 1000);
	case EISDIR:
		return status_set(st, ST_USAGE, EISDIR, "Key file %s is a directory.", name);
	default:
		return status_set(st, ST_USAGE, -err, "Key file %s: %s.", name, strerror(-err));
	}
}

static int secret_from_fd(struct secret *secret, int fd, bool fifo, const char *name,
			  struct status *st)
{
	unsigned char *map = secret_map();
	struct interrupt in;
	ssize_t n;

	if (!map)
		return status_nomem(st);
	interrupt_begin(&in, false);
	n = read_whole(&in, map, fd, fifo, st);
	interrupt_end(&in);
	if (n > 0 && (size_t)n <= SECRET_FILE_MAX) {
		secret->bytes = map;
		secret->len = n;
		return 0;
	}
	secret_unmap(map, SECRET_MAP);
	if (n < 0)
		return read_error(name, n, st);
	if (!n)
		return status_set(st, ST_AUTH, ENODATA, "Key file %s is empty.", name);
	return status_set(
		st, ST_USAGE, EFBIG,
		"Key file %s is longer than %lu bytes, the most that a key file may have.", name,
		SECRET_FILE_MAX);
}

static int open_key_file(const char *path, bool *fifo, struct status *st)
{
	struct stat info;
	int fd, err;

	/* O_NONBLOCK: opening a pipe that nobody writes to would wait without end. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		err = errno;
		return status_set(st, err == EACCES || err == EPERM ? ST_AUTH : ST_USAGE, err,
				  "Key file %s: %s.", path, strerror(err));
	}
	if (fstat(fd, &info))
		memset(&info, 0, sizeof(info));
	if (S_ISDIR(info.st_mode)) {
		close(fd);
		return status_set(st, ST_USAGE, EISDIR, "Key file %s is a directory.", path);
	}
	*fifo = S_ISFIFO(info.st_mode);
	return fd;
}

static int ask_error(int err, int sig, struct status *st)
{
	switch (-err) {
	case EINTR:
		return status_set(st, ST_SIGNAL + sig, EINTR,
				  "Interrupted while the passphrase was asked for.");
	case EMSGSIZE:
		return status_set(st, ST_USAGE, EMSGSIZE,
				  "A passphrase that is typed may have at most %d bytes; use "
				  "--key-file for a longer one.",
				  SECRET_PROMPT_MAX);
	case ENODATA:
		return status_set(st, ST_AUTH, ENODATA, "No passphrase was given.");
	default:
		return status_set(st, ST_AUTH, -err, "The passphrase cannot be asked for: %s.",
				  strerror(-err));
	}
}

/* The line of SECRET_PROMPT_MAX bytes and its newline just fit. */
static int ask_secret(struct secret *secret, int tty, const char *question, struct status *st)
{
	unsigned char *map = secret_map();
	size_t len = 0;
	int sig = 0, ret;

	if (!map)
		return status_nomem(st);
	mlock(map, SECRET_CHUNK);
	ret = terminal_ask(tty, question, false, map, SECRET_PROMPT_MAX + 1, &len, &sig);
	if (!ret && len > SECRET_PROMPT_MAX)
		ret = -EMSGSIZE;
	if (!ret && len) {
		secret->bytes = map;
		secret->len = len;
		return 0;
	}
	secret_unmap(map, SECRET_CHUNK);
	return ask_error(ret ? ret : -ENODATA, sig, st);
}

static int no_terminal(struct status *st)
{
	return status_set(st, ST_AUTH, ENOTTY,
			  "There is no terminal to ask for a passphrase on; give --key-file FILE, "
			  "--key-file - or --key-fd N.");
}

int secret_check_terminal(struct status *st)
{
	bool opened;
	int tty = terminal_open(&opened);

	if (tty < 0)
		return no_terminal(st);
	if (opened)
		close(tty);
	return 0;
}

static int ask_twice(struct secret *secret, int tty, const struct secret_source *source,
		     struct status *st)
{
	struct secret first = {0}, second = {0};
	char question[4200];
	int ret;

	snprintf(question, sizeof(question), "Passphrase for %s: ", source->prompt_for);
	ret = ask_secret(&first, tty, question, st);
	if (ret || !source->verify)
		goto out;
	ret = ask_secret(&second, tty, "The same again: ", st);
	if (!ret && (first.len != second.len || memcmp(first.bytes, second.bytes, first.len)))
		ret = status_set(st, ST_AUTH, EINVAL, "The two passphrases differ.");
out:
	secret_free(&second);
	if (ret)
		secret_free(&first);
	else
		*secret = first;
	secret->typed = !ret;
	return ret;
}

static int secret_from_terminal(struct secret *secret, const struct secret_source *source,
				struct status *st)
{
	bool opened;
	int tty = terminal_open(&opened), ret;

	if (tty < 0)
		return no_terminal(st);
	ret = ask_twice(secret, tty, source, st);
	if (opened)
		close(tty);
	return ret;
}

/* An open descriptor: a terminal would show what is typed, and end at Ctrl-D only. */
static int secret_from_open(struct secret *secret, int fd, const char *name,
			    const struct secret_source *source, struct status *st)
{
	return isatty(fd) ? ask_twice(secret, fd, source, st)
			  : secret_from_fd(secret, fd, false, name, st);
}

int secret_read(struct secret *secret, const struct secret_source *source, struct status *st)
{
	bool fifo = false, terminal;
	char name[32];
	int fd, ret;

	if (source->key_fd >= 0) {
		snprintf(name, sizeof(name), "(--key-fd %d)", source->key_fd);
		return secret_from_open(secret, source->key_fd, name, source, st);
	}
	if (!source->key_file)
		return secret_from_terminal(secret, source, st);
	if (!strcmp(source->key_file, "-"))
		return secret_from_open(secret, STDIN_FILENO, "- (standard input)", source, st);
	fd = open_key_file(source->key_file, &fifo, st);
	if (fd < 0)
		return fd;
	terminal = isatty(fd);
	ret = terminal ? ask_twice(secret, fd, source, st)
		       : secret_from_fd(secret, fd, fifo, source->key_file, st);
	/* Standard input, descriptors and terminals that give nothing gave no passphrase; a file
	 * that was named is the wrong one, as one that is not there is. */
	if (ret == -ENODATA && !terminal)
		st->code = ST_USAGE;
	close(fd);
	return ret;
}
