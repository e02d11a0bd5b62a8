// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct table {
	struct libscols_table *scols;
	struct libscols_column **columns; /* NULL: left out */
	size_t n;
	int error;
};

static int add_columns(struct table *table, const struct table_column *columns, bool colors)
{
	struct libscols_column *c;

	for (size_t i = 0; i < table->n; i++) {
		if (!columns[i].name)
			continue;
		c = scols_table_new_column(table->scols, columns[i].name, 0,
					   columns[i].right ? SCOLS_FL_RIGHT : 0);
		if (!c)
			return -ENOMEM;
		table->columns[i] = c;
		if (colors)
			scols_cell_set_color(scols_column_get_header(c), "bold");
	}
	return 0;
}

struct table *table_new(const struct table_column *columns, size_t n)
{
	struct table *table = calloc(1, sizeof(*table));
	bool terminal = isatty(STDOUT_FILENO), colors = terminal && !getenv("NO_COLOR");

	if (!table)
		return NULL;
	table->n = n;
	table->scols = scols_new_table();
	table->columns = calloc(n, sizeof(struct libscols_column *));
	if (!table->scols || !table->columns) {
		table->error = -ENOMEM;
		return table;
	}
	scols_table_set_stream(table->scols, stdout);
	scols_table_enable_colors(table->scols, colors);
	if (!terminal)
		scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_NEVER);
	table->error = add_columns(table, columns, colors);
	return table;
}

void table_row(struct table *table, const char *const *cells)
{
	struct libscols_line *line;

	if (!table || table->error)
		return;
	line = scols_table_new_line(table->scols, NULL);
	if (!line)
		table->error = -ENOMEM;
	for (size_t i = 0; i < table->n && !table->error; i++)
		if (table->columns[i])
			table->error = scols_line_set_column_data(line, table->columns[i],
								  cells[i]);
}

int table_print(struct table *table)
{
	if (!table)
		return -ENOMEM;
	if (!table->error)
		table->error = scols_print_table(table->scols);
	return table->error < 0 ? table->error : table->error ? -EIO : 0;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->scols);
	free(table->columns);
	free(table);
}
