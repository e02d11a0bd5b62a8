/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stretches of a device, and reading and writing them whole. */
#ifndef DMCT_VOLUME_EXTENT_H
#define DMCT_VOLUME_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
	uint64_t offset, len; /* bytes */
};

struct extents {
	struct extent *list;
	size_t n;
};

/* 0 or -ENOMEM. */
int extents_add(struct extents *e, uint64_t offset, uint64_t len);
/* In order of their offsets, with those that overlap or touch made one. */
void extents_merge(struct extents *e);
uint64_t extents_total(const struct extents *e);
/* Whether one of them (in order) overlaps [offset, offset + len). */
bool extents_overlap(const struct extents *e, uint64_t offset, uint64_t len);
void extents_free(struct extents *e);

/* All len bytes at that place: 0, -errno, or -EIO where the device ends before. */
int extent_read(int fd, void *buf, size_t len, uint64_t offset);
int extent_write(int fd, const void *buf, size_t len, uint64_t offset);

#endif
