/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quantities for people. */
#ifndef DMCT_UTIL_UNITS_H
#define DMCT_UTIL_UNITS_H

#include <stdint.h>

#define UNITS_MAX 32

/* "1.23 GB/s", "456 MB/s": decimal units, as disks are sold. Returns buf. */
char *units_speed(double bytes_per_second, char buf[UNITS_MAX]);

/* "64 MiB", "1.5 GiB", "513 bytes": binary units, exact where it says no fraction. Returns buf. */
char *units_size(uint64_t bytes, char buf[UNITS_MAX]);

#endif
