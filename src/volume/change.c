// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/change.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "volume/marks.h"

/* One write: small enough to be cut short between any two, large enough for a disk. */
#define CHUNK (256UL << 10)

static uint64_t sector_floor(uint64_t offset)
{
	return offset / CHANGE_SECTOR * CHANGE_SECTOR;
}

static uint64_t sector_ceil(uint64_t offset)
{
	return sector_floor(offset + CHANGE_SECTOR - 1);
}

/* The areas: the header's, and the sectors of each mark; none beyond the end of the device. */
static int list_areas(struct change *c, uint64_t size)
{
	/* Without a header area the first sector counts, changed or not: there always is an area.
	 */
	uint64_t first = c->header_len ? c->header_len : CHANGE_SECTOR;
	int ret = extents_add(&c->areas, 0, first < size ? first : size);

	for (size_t i = 0; i < c->marks.n && !ret; i++) {
		const struct extent *mark = &c->marks.list[i];
		uint64_t start = sector_floor(mark->offset);
		uint64_t end = sector_ceil(mark->offset + mark->len);

		ret = extents_add(&c->areas, start, (end < size ? end : size) - start);
	}
	extents_merge(&c->areas);
	return ret;
}

/* Reads chunk by chunk; what fails is then read by the sector, to say where. */
static int read_area(const struct guard *guard, const struct extent *area, unsigned char *to,
		     struct status *st)
{
	uint64_t at = 0;
	size_t part = CHUNK;
	int ret = 0;

	while (at < area->len) {
		if (part > area->len - at)
			part = area->len - at;
		ret = extent_read(guard->fd, to + at, part, area->offset + at);
		if (ret && part <= CHANGE_SECTOR)
			break;
		if (ret)
			part = CHANGE_SECTOR;
		else
			at += part;
	}
	if (!ret)
		return 0;
	return status_set(st, ST_REFUSED, -ret,
			  "%s cannot be read at byte %" PRIu64
			  " (%s): what cannot be read there could not be put back if formatting "
			  "failed. Nothing was written.",
			  guard->device.path, area->offset + at, strerror(-ret));
}

static int read_before(struct change *c, const struct guard *guard, struct status *st)
{
	unsigned char *to;
	int ret = 0;

	c->before = malloc(extents_total(&c->areas));
	if (!c->before)
		return status_nomem(st);
	to = c->before;
	for (size_t i = 0; i < c->areas.n && !ret; i++) {
		ret = read_area(guard, &c->areas.list[i], to, st);
		to += c->areas.list[i].len;
	}
	return ret;
}

/* Ahead of the search for marks, which cannot say where it fails. */
static int check_header_area(const struct change *c, const struct guard *guard, struct status *st)
{
	const struct extent area = {0, c->header_len};
	unsigned char *buf = malloc(area.len);
	int ret = buf ? read_area(guard, &area, buf, st) : status_nomem(st);

	free(buf);
	return ret;
}

int change_prepare(struct change *c, const struct guard *guard, struct status *st)
{
	int ret;

	ret = check_header_area(c, guard, st);
	if (ret)
		return ret;
	ret = marks_find(&c->marks, guard->fd, &guard->device);
	if (!ret)
		ret = list_areas(c, guard->device.size);
	if (ret == -ENOMEM)
		return status_nomem(st);
	if (ret)
		return status_set(st, ST_REFUSED, -ret,
				  "%s cannot be searched for the marks of old contents: %s. "
				  "Nothing was written.",
				  guard->device.path, strerror(-ret));
	return read_before(c, guard, st);
}

/* The area that byte `at` of all of them is in; *within: how far in. */
static const struct extent *area_at(const struct change *c, uint64_t at, uint64_t *within)
{
	const struct extent *area = c->areas.list;

	while (at >= area->len) {
		at -= area->len;
		area++;
	}
	*within = at;
	return area;
}

static void blank_marks(const struct change *c, uint64_t offset, size_t len, unsigned char *out)
{
	for (size_t i = 0; i < c->marks.n; i++) {
		const struct extent *mark = &c->marks.list[i];
		uint64_t from = mark->offset > offset ? mark->offset : offset;
		uint64_t to = mark->offset + mark->len;

		if (to > offset + len)
			to = offset + len;
		if (from < to)
			memset(out + (from - offset), 0, to - from);
	}
}

void change_bytes(const struct change *c, enum change_state state, uint64_t at, size_t len,
		  unsigned char *out)
{
	uint64_t within, offset;
	size_t head = 0;

	offset = area_at(c, at, &within)->offset + within;
	if (state == CHANGE_AFTER && c->header && offset < c->header_len) {
		head = c->header_len - offset < len ? c->header_len - offset : len;
		memcpy(out, c->header + offset, head);
	}
	memcpy(out + head, c->before + at + head, len - head);
	if (state != CHANGE_BEFORE)
		blank_marks(c, offset + head, len - head, out + head);
}

/* Which parts of the areas a step writes. */
enum part {
	PART_ALL,
	PART_MARKS,  /* the sectors that marks are in */
	PART_BODY,   /* the header area without the header's copies */
	PART_COPY_0, /* the first copy … */
	PART_COPY_1,
	PART_COPIES
};

static bool in_copy(const struct change *c, unsigned i, uint64_t offset, size_t len)
{
	return offset < c->copies[i].offset + c->copies[i].len &&
	       offset + len > c->copies[i].offset;
}

static bool in_part(const struct change *c, enum part part, uint64_t offset, size_t len)
{
	switch (part) {
	case PART_MARKS:
		return extents_overlap(&c->marks, offset, len);
	case PART_BODY:
		return offset < c->header_len && !in_copy(c, 0, offset, len) &&
		       !in_copy(c, 1, offset, len);
	case PART_COPY_0:
	case PART_COPY_1:
		return in_copy(c, part - PART_COPY_0, offset, len);
	case PART_COPIES:
		return in_copy(c, 0, offset, len) || in_copy(c, 1, offset, len);
	default:
		return true;
	}
}

/* How many bytes from `at`, in whole sectors up to CHUNK, are all in the part or all out of it. */
static size_t run_length(const struct change *c, enum part part, const struct extent *area,
			 uint64_t within, bool *in)
{
	size_t len = 0;

	while (within + len < area->len && len < CHUNK) {
		uint64_t rest = area->len - within - len;
		size_t sector = rest < CHANGE_SECTOR ? rest : CHANGE_SECTOR;
		bool here = in_part(c, part, area->offset + within + len, sector);

		if (len && here != *in)
			break;
		*in = here;
		len += sector;
	}
	return len;
}

/*
 * Writes a part in that state, and sees to it that it is on the medium. sparing: not what is there
 * already, so that a file keeps its holes. Returns how many writes that took, or -errno.
 */
static int step(const struct change *c, int fd, enum part part, enum change_state state,
		bool sparing)
{
	unsigned char *buf = malloc(2 * CHUNK);
	uint64_t total = extents_total(&c->areas), within;
	int writes = 0, ret = buf ? 0 : -ENOMEM;
	bool in = false;
	size_t len;

	for (uint64_t at = 0; at < total && !ret; at += len) {
		const struct extent *area = area_at(c, at, &within);
		uint64_t offset = area->offset + within;

		len = run_length(c, part, area, within, &in);
		if (!in)
			continue;
		change_bytes(c, state, at, len, buf);
		if (sparing && !extent_read(fd, buf + CHUNK, len, offset) &&
		    !memcmp(buf, buf + CHUNK, len))
			continue;
		ret = extent_write(fd, buf, len, offset);
		writes++;
	}
	free(buf);
	if (!ret && writes && fsync(fd))
		ret = -errno;
	return ret ? ret : writes;
}

static int apply(const struct change *c, int fd, size_t from, size_t to, const char **what)
{
	static const struct {
		enum part part;
		enum change_state state;
		const char *what;
	} steps[] = {
		{PART_MARKS, CHANGE_BLANK, "the marks of the old contents"},
		{PART_BODY, CHANGE_AFTER, "the keyslot area"},
		{PART_COPY_0, CHANGE_AFTER, "the header"},
		{PART_COPY_1, CHANGE_AFTER, "the header"},
	};
	int ret = 0;

	for (size_t i = from; i < to && ret >= 0; i++) {
		*what = steps[i].what;
		ret = step(c, fd, steps[i].part, steps[i].state, false);
	}
	return ret < 0 ? ret : 0;
}

int change_begin(const struct change *c, int fd, const char **what)
{
	return apply(c, fd, 0, 2, what);
}

int change_finish(const struct change *c, int fd, const char **what)
{
	return apply(c, fd, 2, 4, what);
}

int change_apply(const struct change *c, int fd, const char **what)
{
	return apply(c, fd, 0, 4, what);
}

/* 1: something differs from how it was, or cannot be read; 0: nothing does. */
static int differs_from_before(const struct change *c, int fd)
{
	unsigned char *buf = malloc(CHUNK);
	const unsigned char *before = c->before;
	int ret = buf ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->areas.n && !ret; i++) {
		const struct extent *area = &c->areas.list[i];

		for (uint64_t done = 0; done < area->len && !ret; done += CHUNK) {
			size_t len = area->len - done < CHUNK ? area->len - done : CHUNK;

			ret = extent_read(fd, buf, len, area->offset + done) ||
			      memcmp(buf, before + done, len);
		}
		before += area->len;
	}
	free(buf);
	return ret < 0 ? ret : !!ret;
}

int change_revert(const struct change *c, int fd, bool *opens)
{
	int ret;

	*opens = true;
	ret = differs_from_before(c, fd);
	if (ret <= 0)
		return ret;
	ret = step(c, fd, PART_COPIES, CHANGE_BLANK, true);
	if (ret < 0)
		return ret;
	*opens = false;
	ret = step(c, fd, PART_ALL, CHANGE_BLANK, true);
	if (ret < 0)
		return ret;
	ret = step(c, fd, PART_MARKS, CHANGE_BEFORE, true);
	return ret < 0 ? ret : 1;
}

void change_free(struct change *c)
{
	free(c->before);
	c->before = NULL;
	extents_free(&c->marks);
	extents_free(&c->areas);
}
