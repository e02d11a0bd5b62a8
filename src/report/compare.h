/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons of saved results, for a person and as compare.v1. */
#ifndef DMCT_REPORT_COMPARE_H
#define DMCT_REPORT_COMPARE_H

#include <json.h>

#include "facts/facts.h"
#include "measure/compare.h"

/* A file of results. */
struct report_side {
	const char *file;
	const struct measurement *m;
	const struct facts *facts; /* NULL: the file does not describe its machine */
	size_t unchecked;          /* cells that do not count for that */
};

/* Prints the other against the first: what differs of the machines, the cells, and what only one of
 * the two has. Returns 0 or -errno. */
int report_compare_text(const struct comparison *comparison, const struct report_side *first,
			const struct report_side *other);

/* The element of `files`, and that of `comparisons`. limit: of --fail-below, or 0. NULL when out of
 * memory. */
struct json_object *report_compare_file(const struct report_side *side);
struct json_object *report_compare_json(const struct comparison *comparison,
					const struct report_side *first,
					const struct report_side *other, double limit);

#endif
