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
/* "80 ms", "2.0 s", "37 minutes", "5 hours", "8 days". */
char *units_time(double ms, char buf[UNITS_MAX]);

/* A count that may have a fraction, to two digits where it is small: "0.33", "1.6", "159"; "less
 * than 0.01". */
char *units_count(double count, char buf[UNITS_MAX]);

/* A decimal number such as "3" or "0.5", a dot in every locale: 0, or -EINVAL with *value
 * untouched. */
int units_parse_number(const char *text, double *value);

/* The same in bytes, with K, M or G (binary, also as KiB, MiB, GiB) behind it where it says so:
 * "512M", "1.5GiB", "4096". */
int units_parse_size(const char *text, double *bytes);

#endif
