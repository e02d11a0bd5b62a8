// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether there is data that nothing recognises: the first sectors being blank proves nothing.
 * Reads the beginning, the end, and samples spread evenly between; all of it where it is small.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts/device_internal.h"

#define SAMPLE      4096U
#define ENDS        (1U << 20) /* read in full at both ends */
#define WHOLE       (4U << 20) /* so little is read in full */
#define EXTENTS_MAX 65536

/* A run of bytes that may hold data. */
struct extent {
	uint64_t start, len;
};

struct extents {
	struct extent *list;
	size_t n;
	uint64_t total;
};

static int add_extent(struct extents *e, uint64_t start, uint64_t len)
{
	struct extent *grown;

	/* Powers of two, so that many are not many copies. */
	if (!(e->n & (e->n - 1))) {
		grown = reallocarray(e->list, e->n ? 2 * e->n : 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		e->list = grown;
	}
	e->list[e->n++] = (struct extent){start, len};
	e->total += len;
	return 0;
}

/* The parts of [start, end) that are not holes. */
static int list_extents(struct extents *e, int fd, uint64_t start, uint64_t end)
{
	off_t data, hole;
	int ret = 0;

	while (ret == 0 && start < end && e->n < EXTENTS_MAX) {
		data = lseek(fd, (off_t)start, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			return 0;
		if (data < 0) /* a file system without holes */
			return add_extent(e, start, end - start);
		if ((uint64_t)data >= end)
			return 0;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole <= data || (uint64_t)hole > end || e->n == EXTENTS_MAX - 1)
			hole = (off_t)end;
		ret = add_extent(e, (uint64_t)data, (uint64_t)(hole - data));
		start = (uint64_t)hole;
	}
	return ret;
}

/* Reads len bytes at pos; 1 with the place of the first one in a sample that is not blank, 0, or
 * -errno. */
static int check_run(int fd, unsigned char *buf, uint64_t pos, uint64_t len, uint64_t *where)
{
	size_t want, i;
	ssize_t n;

	while (len) {
		want = len < SAMPLE ? len : SAMPLE;
		n = pread(fd, buf, want, (off_t)pos);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0) /* shorter than it was a moment ago */
			return 0;
		for (i = 0; i < (size_t)n; i++)
			if (buf[i] != buf[0] || (buf[0] != 0x00 && buf[0] != 0xff))
				break;
		if (i < (size_t)n) {
			*where = pos + (buf[0] == 0x00 || buf[0] == 0xff ? i : 0);
			return 1;
		}
		pos += n;
		len -= n;
	}
	return 0;
}

/* The same over [from, from + len) counted along the extents. */
static int check(int fd, unsigned char *buf, const struct extents *e, uint64_t from, uint64_t len,
		 uint64_t *where)
{
	uint64_t here;
	int ret = 0;

	for (size_t i = 0; i < e->n && len && ret == 0; i++) {
		if (from >= e->list[i].len) {
			from -= e->list[i].len;
			continue;
		}
		here = e->list[i].len - from < len ? e->list[i].len - from : len;
		ret = check_run(fd, buf, e->list[i].start + from, here, where);
		len -= here;
		from = 0;
	}
	return ret;
}

static int check_samples(int fd, unsigned char *buf, const struct extents *e, unsigned spread,
			 uint64_t *where)
{
	uint64_t step, from;
	int ret;

	if (e->total <= WHOLE)
		return check(fd, buf, e, 0, e->total, where);
	ret = check(fd, buf, e, 0, ENDS, where);
	step = (e->total - 2 * ENDS) / (spread + 1);
	for (unsigned i = 1; i <= spread && ret == 0; i++) {
		from = ENDS + i * step;
		ret = check(fd, buf, e, from - from % SAMPLE, SAMPLE, where);
	}
	return ret ? ret : check(fd, buf, e, e->total - ENDS, ENDS, where);
}

int device_find_data(int fd, bool sparse, uint64_t start, uint64_t len, unsigned spread,
		     uint64_t *where)
{
	struct extents e = {0};
	unsigned char *buf = malloc(SAMPLE);
	int ret;

	if (!buf)
		return -ENOMEM;
	if (sparse)
		ret = list_extents(&e, fd, start, start + len);
	else
		ret = add_extent(&e, start, len);
	if (ret == 0)
		ret = check_samples(fd, buf, &e, spread, where);
	free(e.list);
	free(buf);
	return ret;
}
