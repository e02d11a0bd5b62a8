// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A disk's own speed. The reads go through threads of their own, which are left behind when the
 * disk does not answer: a read from a failing disk can take a minute and cannot be called off.
 */
#include "measure/disk_speed.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHUNK       (1U << 20)
#define ALIGN       4096U
#define PLACES      5
#define DEPTH       4           /* requests at once where nothing has to turn */
#define PLACE_BYTES (48U << 20) /* at most at one place: 240 MiB in all */
#define PATIENCE    3.0         /* seconds for an answer beyond the time for reading */

/* What the threads share. Freed by whoever is the last to let go of it. */
struct reader {
	atomic_uint users;
	int fd;
	bool rotates;
	uint64_t size;
	double place_seconds;
	atomic_uint next; /* chunk of the place that is read */
	uint64_t start;   /* of the place, */
	unsigned chunks;  /* and its length */
	double until;     /* when reading there is to end */
	atomic_int error;
	double speeds[PLACES];
	unsigned n;
	uint64_t bytes;
	atomic_bool done;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void let_go(struct reader *r)
{
	if (atomic_fetch_sub(&r->users, 1) != 1)
		return;
	close(r->fd);
	free(r);
}

/* Reads chunks of the place until its end or the time's. */
static void *read_chunks(void *arg)
{
	struct reader *r = arg;
	void *buf = NULL;
	unsigned i;
	ssize_t n;

	if (posix_memalign(&buf, ALIGN, CHUNK))
		return NULL;
	for (;;) {
		i = atomic_fetch_add(&r->next, 1);
		if (i >= r->chunks)
			break;
		n = pread(r->fd, buf, CHUNK, (off_t)(r->start + (uint64_t)i * CHUNK));
		if (n != CHUNK) {
			atomic_store(&r->error, n < 0 ? errno : EIO);
			break;
		}
		if (now() > r->until)
			break;
	}
	free(buf);
	return NULL;
}

/* One place: its speed joins the others. A failing place is no speed, and no end. */
static void read_place(struct reader *r, uint64_t start, uint64_t room)
{
	unsigned depth = r->rotates ? 1 : DEPTH, started = 0, read;
	pthread_t threads[DEPTH];
	double begun;

	r->start = start;
	r->chunks = (unsigned)((room < PLACE_BYTES ? room : PLACE_BYTES) / CHUNK);
	atomic_store(&r->next, 0);
	atomic_store(&r->error, 0);
	/* The way there is not what is measured. */
	r->until = 0;
	read_chunks(r);
	begun = now();
	r->until = begun + r->place_seconds;
	if (depth == 1)
		read_chunks(r);
	for (; depth > 1 && started < depth; started++)
		if (pthread_create(&threads[started], NULL, read_chunks, r))
			break;
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	read = atomic_load(&r->next);
	read = read > r->chunks ? r->chunks : read;
	r->bytes += (uint64_t)read * CHUNK;
	if (read > 1 && !atomic_load(&r->error))
		r->speeds[r->n++] = (double)(read - 1) * CHUNK / (now() - begun);
}

/* Whether bytes are there to be read: a hole in a file is not on the disk. */
static bool has_data(const struct reader *r, uint64_t start, uint64_t len)
{
	struct stat info;
	off_t data;

	if (fstat(r->fd, &info) || !S_ISREG(info.st_mode))
		return true;
	data = lseek(r->fd, (off_t)start, SEEK_DATA);
	return data >= 0 && (uint64_t)data == start &&
	       lseek(r->fd, (off_t)start, SEEK_HOLE) >= (off_t)(start + len);
}

static void *read_places(void *arg)
{
	struct reader *r = arg;
	uint64_t room = r->size / PLACES, start;
	int last = 0;

	room -= room % CHUNK;
	for (unsigned i = 0; i < PLACES; i++) {
		start = r->size / PLACES * i;
		start -= start % CHUNK;
		if (room < 2 * CHUNK || !has_data(r, start, 2 * CHUNK))
			continue;
		read_place(r, start, room);
		last = atomic_load(&r->error) ? atomic_load(&r->error) : last;
	}
	atomic_store(&r->error, last);
	atomic_store(&r->done, true);
	let_go(r);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void give_up(struct disk_speed *disk, const char *from, const char *reason)
{
	snprintf(disk->from, sizeof(disk->from), "%s", from);
	snprintf(disk->reason, sizeof(disk->reason), "%s", reason);
}

static int open_direct(struct disk_speed *disk, const struct device_facts *device)
{
	struct stat info;
	int fd = open(device->path, O_RDONLY | O_DIRECT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 && errno == EINVAL)
		give_up(disk, "failed",
			"reads past the page cache (O_DIRECT) cannot be had there, and memory's "
			"speed is not the disk's");
	else if (fd < 0)
		give_up(disk, "failed", strerror(errno));
	if (fd < 0)
		return -1;
	if (fstat(fd, &info) || (S_ISBLK(info.st_mode) ? info.st_rdev != device->rdev
						       : info.st_dev != device->file_dev ||
								 info.st_ino != device->file_ino)) {
		give_up(disk, "failed", "the path leads to something else by now");
		close(fd);
		return -1;
	}
	return fd;
}

/* Waits until the threads are done; false: the disk does not answer. */
static bool wait_for(struct reader *r, double until)
{
	const struct timespec pause = {0, 2000000};

	while (!atomic_load(&r->done) && now() < until)
		nanosleep(&pause, NULL);
	return atomic_load(&r->done);
}

static void conclude(struct disk_speed *disk, struct reader *r, double begun)
{
	disk->bytes = r->bytes;
	disk->seconds = now() - begun;
	if (r->n) {
		qsort(r->speeds, r->n, sizeof(r->speeds[0]), compare);
		disk->speed = r->speeds[r->n / 2];
		give_up(disk, "measured",
			"reads past the page cache; a place that was never written may read "
			"faster than the medium");
	} else if (atomic_load(&r->error)) {
		give_up(disk, "failed", strerror(atomic_load(&r->error)));
	} else {
		give_up(disk, "failed", "too small, or a sparse file: nothing on it to read");
	}
}

void disk_speed_measure(struct disk_speed *disk, const struct device_facts *device, double seconds)
{
	struct reader *r = calloc(1, sizeof(*r));
	double begun = now();
	pthread_t thread;
	int fd;

	memset(disk, 0, sizeof(*disk));
	fd = r ? open_direct(disk, device) : -1;
	if (fd < 0) {
		free(r);
		if (!*disk->from)
			give_up(disk, "failed", strerror(ENOMEM));
		return;
	}
	*r = (struct reader){.fd = fd,
			     .rotates = device->rotational == 1,
			     .size = device->size,
			     .place_seconds = seconds / PLACES};
	atomic_store(&r->users, 2);
	if (pthread_create(&thread, NULL, read_places, r)) {
		atomic_store(&r->users, 1);
		give_up(disk, "failed", "no thread could be started");
	} else {
		pthread_detach(thread);
		if (wait_for(r, begun + seconds + PATIENCE))
			conclude(disk, r, begun);
		else
			give_up(disk, "failed", "the disk did not answer in time");
	}
	let_go(r);
}
