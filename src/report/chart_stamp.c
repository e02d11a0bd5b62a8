// SPDX-License-Identifier: GPL-2.0-or-later
/* A comment in a picture, by which this program knows its own again. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart_internal.h"

/* PNG (ISO/IEC 15948): a signature of 8 bytes, then the chunk IHDR, which is 25 long. */
#define PNG_HEAD     "\x89PNG\r\n\x1a\n"
#define AFTER_HEADER 33

/* Inserts text at a place of the picture. */
static int insert(char **picture, size_t *size, size_t at, const void *text, size_t len)
{
	char *grown = realloc(*picture, *size + len + 1);

	if (!grown)
		return -ENOMEM;
	memmove(grown + at + len, grown + at, *size - at);
	memcpy(grown + at, text, len);
	*picture = grown;
	*size += len;
	grown[*size] = '\0';
	return 0;
}

/* PNG's CRC (ISO/IEC 15948, annex D): of a chunk's type and data. */
static uint32_t crc32(const unsigned char *data, size_t len)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < len; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

static void put_be32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* The chunk tEXt: a keyword, NUL, the text. */
static int stamp_png(char **picture, size_t *size)
{
	static const char text[] = "tEXtComment\0" CHART_STAMP;
	const size_t len = sizeof(text) - 1;
	unsigned char chunk[4 + sizeof(text) - 1 + 4];

	put_be32(chunk, (uint32_t)len - 4);
	memcpy(chunk + 4, text, len);
	put_be32(chunk + 4 + len, crc32(chunk + 4, len));
	return insert(picture, size, AFTER_HEADER, chunk, sizeof(chunk));
}

int chart_stamp(char **picture, size_t *size)
{
	static const char comment[] = "<!-- " CHART_STAMP " -->\n";
	const char *svg;

	if (*size > AFTER_HEADER && !memcmp(*picture, PNG_HEAD, strlen(PNG_HEAD)))
		return stamp_png(picture, size);
	svg = memmem(*picture, *size, "<svg", strlen("<svg"));
	if (!svg)
		return -EINVAL;
	return insert(picture, size, (size_t)(svg - *picture), comment, sizeof(comment) - 1);
}
