/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables on standard output, over libsmartcols: headings stand out on a terminal (unless NO_COLOR
 * is set), and nothing is cut off anywhere. */
#ifndef DMCT_REPORT_TABLE_H
#define DMCT_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table;

struct table_column {
	const char *name; /* NULL: left out of the table, and its cells with it */
	bool right;       /* aligned to the right */
};

/* columns: n of them. The errors of all of these come out of table_print(). */
struct table *table_new(const struct table_column *columns, size_t n);
/* A row of n cells; NULL is an empty one. */
void table_row(struct table *table, const char *const *cells);
/* 0, -ENOMEM, or another -errno. */
int table_print(struct table *table);
void table_free(struct table *table);

#endif
