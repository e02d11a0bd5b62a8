/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dm-crypt's optional parameters that change its speed, as a set. Pure. */
#ifndef DMCT_MEASURE_FLAGS_H
#define DMCT_MEASURE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "facts/kernel.h"

/* Linux Documentation/admin-guide/device-mapper/dm-crypt.rst. */
enum measure_flag {
	MEASURE_NO_READ_WORKQUEUE = 1 << 0,
	MEASURE_NO_WRITE_WORKQUEUE = 1 << 1,
	MEASURE_SAME_CPU_CRYPT = 1 << 2,
	MEASURE_SUBMIT_FROM_CRYPT_CPUS = 1 << 3,
	MEASURE_HIGH_PRIORITY = 1 << 4
};

#define MEASURE_FLAGS     5 /* how many there are */
#define MEASURE_FLAGS_ALL ((1U << MEASURE_FLAGS) - 1)

/* Room for a set in words, and for the sets that one word may mean. */
#define FLAGS_TEXT_MAX 112
#define FLAGS_SETS_MAX (MEASURE_FLAGS + 2)

/* dm-crypt's name of the i-th flag (its bit is 1 << i); NULL beyond the last. */
const char *flags_name(unsigned i);

/* "none", or the flags' names joined by "+". Returns buf. */
char *flags_print(unsigned flags, char buf[FLAGS_TEXT_MAX]);

/*
 * The sets that a word means: "none"; flags joined by "+"; "all": none, each flag that the target
 * has alone, and both workqueue flags together. Returns how many are in sets[], or -1 for a word
 * that means none.
 */
int flags_parse(unsigned sets[FLAGS_SETS_MAX], const char *word, const struct kernel_dm *dm);

/* The flags among these that the target's version lacks. */
unsigned flags_missing(unsigned flags, const struct kernel_dm *dm);

#endif
