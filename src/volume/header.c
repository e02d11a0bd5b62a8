// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sha256.h"
#include "volume/extent.h"

#define BINARY_SIZE     4096
#define MARK_SIZE       8           /* with the version */
#define COPY_SIZE_FIRST 0x4000ULL   /* sizes, and places of the second copy, double from here … */
#define COPY_SIZE_LAST  0x400000ULL /* … to here */

/* Offsets in the binary header of LUKS2; numbers are big-endian. */
enum {
	AT_VERSION = 6,
	AT_SIZE = 8,
	AT_SEQUENCE = 16,
	AT_CHECKSUM_NAME = 72,
	AT_UUID = 168,
	AT_OFFSET = 256,
	AT_CHECKSUM = 448,
	CHECKSUM_LEN = 64,
	LUKS1_AT_UUID = 168,
};

static const unsigned char first_magic[6] = {'L', 'U', 'K', 'S', 0xba, 0xbe};
static const unsigned char second_magic[6] = {'S', 'K', 'U', 'L', 0xba, 0xbe};

static uint64_t number(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* A text field as far as it can be printed: what stands there is anybody's. */
static void text(char *to, const unsigned char *from, size_t len)
{
	size_t i;

	for (i = 0; i < len && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] < 0x7f ? (char)from[i] : '?';
	to[i] = '\0';
}

__attribute__((format(printf, 2, 3))) static void unsound(struct header_copy *c, const char *format,
							  ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->reason, sizeof(c->reason), format, ap);
	va_end(ap);
	c->valid = false;
}

static bool size_possible(uint64_t size)
{
	return size >= COPY_SIZE_FIRST && size <= COPY_SIZE_LAST && !(size & (size - 1));
}

/* The checksum is of the whole copy with zeros in its own place. */
static int check_sum(struct header_copy *c, int fd)
{
	unsigned char *whole, found[CHECKSUM_LEN];
	uint8_t digest[SHA256_SIZE];
	int ret;

	c->checksum_known = !strcmp(c->checksum, "sha256");
	if (!c->checksum_known)
		return 0;
	whole = malloc(c->size);
	if (!whole)
		return -ENOMEM;
	ret = extent_read(fd, whole, c->size, c->offset);
	if (!ret) {
		memcpy(found, whole + AT_CHECKSUM, sizeof(found));
		memset(whole + AT_CHECKSUM, 0, CHECKSUM_LEN);
		sha256(digest, whole, c->size);
		if (memcmp(found, digest, sizeof(digest)))
			unsound(c, "its checksum does not agree with its contents");
	}
	free(whole);
	return ret;
}

/* Whether the mark and a version of LUKS2 begin a copy whose whole is on the device; if not, says
 * why. */
static bool check_begin(struct header_copy *c, const unsigned char *b, uint64_t there,
			const unsigned char magic[6])
{
	if (memcmp(b, magic, 6)) {
		unsound(c, "its mark is not there");
		return false;
	}
	c->version = (unsigned)number(b + AT_VERSION, 2);
	if (c->version != 2) {
		unsound(c, "it says that it is of version %u, not 2", c->version);
		return false;
	}
	c->size = number(b + AT_SIZE, 8);
	c->sequence = number(b + AT_SEQUENCE, 8);
	text(c->checksum, b + AT_CHECKSUM_NAME, 32);
	text(c->uuid, b + AT_UUID, 40);
	if (!size_possible(c->size)) {
		unsound(c, "it claims a size of %" PRIu64 " bytes", c->size);
		c->size = 0;
		return false;
	}
	if (c->size > there) {
		unsound(c,
			"it has %" PRIu64 " bytes, and the device ends after %" PRIu64 " of them",
			c->size, there);
		c->cut = true;
		return false;
	}
	return true;
}

/* A copy of LUKS2 at `offset`, with the magic that belongs there. */
static int read_copy(struct header_copy *c, int fd, uint64_t size, uint64_t offset,
		     const unsigned char magic[6])
{
	unsigned char b[BINARY_SIZE] = {0};
	uint64_t there = size > offset ? size - offset : 0;
	int ret;

	*c = (struct header_copy){.offset = offset};
	if (!there) {
		unsound(c, "the device ends before it");
		c->cut = true;
		return 0;
	}
	ret = extent_read(fd, b, there < sizeof(b) ? there : sizeof(b), offset);
	if (ret || !check_begin(c, b, there, magic))
		return ret;
	c->found = c->valid = true;
	if (number(b + AT_OFFSET, 8) != offset || (offset && offset != c->size)) {
		unsound(c, "it says that it stands at byte %" PRIu64, number(b + AT_OFFSET, 8));
		return 0;
	}
	return check_sum(c, fd);
}

/* It follows the first one; where that is unsound or gone, what it says of its size may be wrong.
 */
static int read_second(struct headers *h, int fd, uint64_t size)
{
	struct header_copy *first = &h->copies[0], *c = &h->copies[1];
	int ret = 0;

	if (first->size)
		ret = read_copy(c, fd, size, first->size, second_magic);
	if (ret || c->found || first->valid)
		return ret;
	for (uint64_t at = COPY_SIZE_FIRST; at <= COPY_SIZE_LAST && !ret && !c->found; at *= 2)
		ret = read_copy(c, fd, size, at, second_magic);
	if (!ret && !c->found)
		ret = read_copy(c, fd, size, first->size ? first->size : COPY_SIZE_FIRST,
				second_magic);
	return ret;
}

static int read_luks2(struct headers *h, int fd, uint64_t size)
{
	int ret = read_copy(&h->copies[0], fd, size, 0, first_magic);

	if (!ret)
		ret = read_second(h, fd, size);
	if (ret || (h->copies[0].version != 2 && !h->copies[1].found))
		return ret;
	h->kind = HEADER_LUKS2;
	h->n = 2;
	return 0;
}

int headers_read(struct headers *headers, int fd, uint64_t size)
{
	unsigned char b[HEADER_LUKS1_SIZE] = {0};
	struct header_copy *c = headers->copies;
	int ret;

	*headers = (struct headers){0};
	if (size < MARK_SIZE)
		return 0;
	ret = extent_read(fd, b, size < sizeof(b) ? size : sizeof(b), 0);
	if (ret)
		return ret;
	if (memcmp(b, first_magic, 6) || number(b + AT_VERSION, 2) != 1)
		return read_luks2(headers, fd, size);
	headers->kind = HEADER_LUKS1;
	headers->n = 1;
	c->version = 1;
	c->size = HEADER_LUKS1_SIZE;
	text(c->uuid, b + LUKS1_AT_UUID, 40);
	c->found = c->valid = size >= sizeof(b);
	if (!c->valid)
		unsound(c, "it has %lu bytes, and the device ends after %" PRIu64 " of them",
			HEADER_LUKS1_SIZE, size);
	c->cut = !c->valid;
	return 0;
}
