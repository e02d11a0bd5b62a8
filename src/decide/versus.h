/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One cipher against another, cell by cell: XTS against CBC, 256 bits against 128. */
#ifndef DMCT_DECIDE_VERSUS_H
#define DMCT_DECIDE_VERSUS_H

#include <stddef.h>

#include "measure/measure.h"

enum versus_verdict { VERSUS_SLOWER, VERSUS_FASTER, VERSUS_CANNOT_TELL };

struct versus {
	const char *left, *right;           /* "AES-256-XTS", "AES-128-CBC" */
	const struct measure_result *a, *b; /* the measurement's; alike in all but the cipher */
	double ratio, low, high;            /* of a's speed to b's, and how far it can be trusted */
	enum versus_verdict verdict;
};

struct versus_list {
	struct versus *list;
	size_t n;
};

/*
 * Every pair of checked cells that differ in the cipher alone, for the questions that people ask:
 * grouped by question, then by engine, tier and direction in the results' order. The interval of a
 * ratio is that of the medians' notches (McGill, Tukey and Larsen 1978); where it holds 1, nobody
 * can tell. Returns 0 or -ENOMEM; versus_free() releases the list.
 */
int versus_find(struct versus_list *list, const struct measurement *m);
void versus_free(struct versus_list *list);

const char *versus_verdict_name(enum versus_verdict verdict);

#endif
