/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of an undo file, version 1. Numbers are little-endian. One block of UNDO_BLOCK bytes;
 * the table: areas, marks (16 bytes each: offset, length), sectors' checksums (8 bytes each),
 * samples (16), samples' checksums (8); blank up to the next block; the areas' bytes, one after the
 * other. A checksum of 8 bytes is undo_sum()'s.
 */
#ifndef DMCT_VOLUME_UNDO_FORMAT_H
#define DMCT_VOLUME_UNDO_FORMAT_H

#include "engine/sha256.h"
#include "volume/undo.h"

#define UNDO_MAGIC   "dmcrypt-tune undo file\n"
#define UNDO_VERSION 1
#define UNDO_BLOCK   4096U

/* More than any format makes; a damaged number is not believed. */
#define UNDO_MAX_AREAS   16384U
#define UNDO_MAX_SAMPLES 4096U
#define UNDO_MAX_BYTES   (1ULL << 30)
#define UNDO_SAMPLE      4096U

struct undo_block {
	char magic[24]; /* with its NUL */
	uint32_t version, is_file;
	uint64_t size, start, header_len, created;
	uint64_t n_areas, n_marks, n_sectors, n_samples;
	uint64_t table_len, bytes_len;
	uint64_t copies[CHANGE_COPIES][2];
	char uuid[40], model[128], serial[128], wwn[128];
	uint8_t table_sum[SHA256_SIZE];
	uint8_t pad[UNDO_BLOCK - 632];
	uint8_t sum[SHA256_SIZE]; /* of all before it */
} __attribute__((packed));

_Static_assert(sizeof(struct undo_block) == UNDO_BLOCK, "the first block");

/* Where the areas' bytes begin. */
static inline uint64_t undo_bytes_at(uint64_t table_len)
{
	return UNDO_BLOCK + (table_len + UNDO_BLOCK - 1) / UNDO_BLOCK * UNDO_BLOCK;
}

/* The checksum of a sector or sample: against damage and mistakes, not against malice. */
uint64_t undo_sum(const void *bytes, size_t len);

/* How many sectors the areas have; the last of an area may be shorter. */
size_t undo_sectors(const struct extents *areas);

#endif
