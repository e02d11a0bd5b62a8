// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/extent.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int extents_add(struct extents *e, uint64_t offset, uint64_t len)
{
	struct extent *grown = reallocarray(e->list, e->n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	e->list = grown;
	grown[e->n++] = (struct extent){offset, len};
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

void extents_merge(struct extents *e)
{
	size_t n = 0;

	if (e->n)
		qsort(e->list, e->n, sizeof(e->list[0]), by_offset);
	for (size_t i = 0; i < e->n; i++) {
		struct extent *last = n ? &e->list[n - 1] : NULL;
		uint64_t end = e->list[i].offset + e->list[i].len;

		if (!last || e->list[i].offset > last->offset + last->len)
			e->list[n++] = e->list[i];
		else if (end > last->offset + last->len)
			last->len = end - last->offset;
	}
	e->n = n;
}

uint64_t extents_total(const struct extents *e)
{
	uint64_t total = 0;

	for (size_t i = 0; i < e->n; i++)
		total += e->list[i].len;
	return total;
}

bool extents_overlap(const struct extents *e, uint64_t offset, uint64_t len)
{
	for (size_t i = 0; i < e->n && e->list[i].offset < offset + len; i++)
		if (e->list[i].offset + e->list[i].len > offset)
			return true;
	return false;
}

void extents_free(struct extents *e)
{
	free(e->list);
	e->list = NULL;
	e->n = 0;
}

int extent_read(int fd, void *buf, size_t len, uint64_t offset)
{
	unsigned char *at = buf;
	ssize_t n;

	while (len) {
		n = pread(fd, at, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int extent_write(int fd, const void *buf, size_t len, uint64_t offset)
{
	const unsigned char *at = buf;
	ssize_t n;

	while (len) {
		n = pwrite(fd, at, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}
