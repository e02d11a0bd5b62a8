/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast the disk itself reads: what no cipher makes faster. */
#ifndef DMCT_MEASURE_DISK_SPEED_H
#define DMCT_MEASURE_DISK_SPEED_H

#include <stdint.h>

#include "facts/device.h"

struct disk_speed {
	double speed;  /* bytes per second; 0: not known (reason) */
	char from[16]; /* "measured", "given", "skipped", "failed" */
	uint64_t bytes;
	double seconds; /* that were read, and that it took */
	char reason[200];
};

/*
 * Reads here and there on the device, at most 256 MiB within about `seconds`, past the page cache
 * (O_DIRECT), several requests at once unless it rotates; the median of the places counts. Opens
 * read-only and not exclusively, writes nothing. Nothing that goes wrong is an error: the figure is
 * then not known, and the reason says why (no permission, a path that leads elsewhere than
 * `device`, no O_DIRECT, a file without data, a disk that does not answer).
 */
void disk_speed_measure(struct disk_speed *disk, const struct device_facts *device, double seconds);

#endif
