/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DMCT_MEASURE_CLOCK_H
#define DMCT_MEASURE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND      1000000000ULL
#define CLOCK_MILLISECOND 1000000ULL

/* Nanoseconds on a clock that nobody sets. */
static inline uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * CLOCK_SECOND + (uint64_t)ts.tv_nsec;
}

#endif
