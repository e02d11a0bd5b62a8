/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings that are measured: crypt targets on one zero target, which reads as zeros and drops
 * what is written. There is no disk below them. Each is made when it is first asked for and shared
 * by all cells and threads that differ in neither spec nor flags.
 */
#ifndef DMCT_MEASURE_DM_MAP_H
#define DMCT_MEASURE_DM_MAP_H

#include "measure/backend.h"

/* Bytes of a mapping. */
#define DM_MAP_SIZE (1ULL << 30)

struct dm_map;

/*
 * The mapping for a cell's spec, sector size and flags, made where there is none. -errno with
 * *error: no root, no device-mapper, no target, no cipher, a flag that the target does not have.
 * Any thread may call these.
 */
int dm_map_get(struct dm_map **map, const struct backend_cell *cell, struct backend_error *error);
/* Gives it back; the last one removes it. */
void dm_map_put(struct dm_map *map);

/* A descriptor of one's own, O_DIRECT, for reading or for writing; or -errno. */
int dm_map_open(const struct dm_map *map, bool write);

/* The kernel's driver that the mapping got; "" where that cannot be told. */
const char *dm_map_driver(const struct dm_map *map);

/*
 * Compares what was read from the mapping's first `size` bytes with what zeros decrypt to on the
 * portable tier with the mapping's random key; for specs that the engine lacks, with nothing but
 * itself: no block of it is left zero, and two sectors differ. 0, -EBADMSG or -ENOMEM.
 */
int dm_map_compare(struct dm_map *map, const uint8_t *data, size_t size);

/* Removes what there is, whoever still has it: for the end of a run with a thread that hangs. */
void dm_map_abandon(void);

#endif
