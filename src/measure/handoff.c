// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/handoff.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/clock.h"

#define PAGE 4096
/* So many slices of each, each of so long. The clock is read once in so many turns: there are
 * kernels where that is a system call. The quickest counts: it is what the kernel takes, and all
 * else is what others took. */
#define SLICES 11
#define SLICE  (CLOCK_MILLISECOND / 2)
#define BATCH  4

struct pipes {
	int there[2], back[2];
	unsigned char page[PAGE];
};

static bool send_bytes(int fd, const unsigned char *data, size_t size)
{
	return write(fd, data, size) == (ssize_t)size;
}

/* A page through a pipe comes in one piece, since it went in as one. */
static bool receive(int fd, unsigned char *data, size_t size)
{
	return read(fd, data, size) == (ssize_t)size;
}

/* Sends back what comes, a page at most, until the pipe is closed. */
static void *echo(void *arg)
{
	struct pipes *pipes = arg;
	unsigned char page[PAGE] = {0};
	ssize_t n;

	while ((n = read(pipes->there[0], page, sizeof(page))) > 0)
		if (!send_bytes(pipes->back[1], page, (size_t)n))
			break;
	close(pipes->back[1]);
	return NULL;
}

static bool turn(struct pipes *pipes, size_t size)
{
	return send_bytes(pipes->there[1], pipes->page, size) &&
	       receive(pipes->back[0], pipes->page, size);
}

static bool turns(struct pipes *pipes, size_t size)
{
	for (int i = 0; i < BATCH; i++)
		if (!turn(pipes, size))
			return false;
	return true;
}

static bool calls(struct pipes *pipes, size_t size)
{
	(void)pipes;
	(void)size;
	for (int i = 0; i < BATCH; i++)
		syscall(SYS_getppid);
	return true;
}

enum { CALL, BYTE, WHOLE_PAGE, KINDS };

static const struct {
	bool (*batch)(struct pipes *pipes, size_t size);
	size_t size;
} kinds[KINDS] = {{calls, 0}, {turns, 1}, {turns, PAGE}};

/* Batches for the length of a slice; *seconds gets the quickest one's time for each of its parts,
 * where that is less. */
static bool time_slice(struct pipes *pipes, int kind, double *seconds)
{
	uint64_t start = clock_ns(), begin = start, now;
	double each;

	do {
		if (!kinds[kind].batch(pipes, kinds[kind].size))
			return false;
		now = clock_ns();
		each = (double)(now - begin) / BATCH / CLOCK_SECOND;
		*seconds = each < *seconds ? each : *seconds;
		begin = now;
	} while (now - start < SLICE);
	return true;
}

/* Slices of each kind in turn, so that what disturbs one disturbs the others. */
static bool time_all(struct pipes *pipes, double seconds[KINDS])
{
	for (int kind = 0; kind < KINDS; kind++)
		seconds[kind] = 1;
	for (int i = 0; i < SLICES; i++)
		for (int kind = 0; kind < KINDS; kind++)
			if (!time_slice(pipes, kind, &seconds[kind]))
				return false;
	return true;
}

static void fill(struct measurement *m, const double seconds[KINDS])
{
	double bytes = seconds[WHOLE_PAGE] - seconds[BYTE];

	m->syscall = seconds[CALL];
	m->handoff = seconds[BYTE];
	/* Four copies: into a pipe and out of it, there and back. */
	m->copy = bytes > 0 ? bytes / 4 / (PAGE - 1) : 0;
}

static void close_all(const struct pipes *pipes)
{
	close(pipes->there[0]);
	close(pipes->there[1]);
	close(pipes->back[0]);
}

static bool open_pipes(struct pipes *pipes)
{
	if (pipe2(pipes->there, O_CLOEXEC))
		return false;
	if (!pipe2(pipes->back, O_CLOEXEC))
		return true;
	close(pipes->there[0]);
	close(pipes->there[1]);
	return false;
}

void handoff_measure(struct measurement *m)
{
	struct pipes pipes = {.page = {0}};
	sigset_t every, before;
	double seconds[KINDS];
	pthread_t id;
	int ret;

	if (!open_pipes(&pipes))
		return;
	/* Signals are for the thread that looks for them; and a broken pipe is an error here. */
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	ret = pthread_create(&id, NULL, echo, &pipes);
	if (!ret) {
		if (time_all(&pipes, seconds))
			fill(m, seconds);
		close(pipes.there[1]);
		pthread_join(id, NULL);
		pipes.there[1] = -1;
	} else {
		close(pipes.back[1]);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close_all(&pipes);
}
