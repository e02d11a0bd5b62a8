// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_model.h"

#include <stdio.h>
#include <string.h>

#include "report/table.h"
#include "util/units.h"

enum { SPEC, THREADS, DIRECTION, MEASURED, AFALG, CPU, COLUMNS };

#define CELL_MAX (3 * UNITS_MAX)

static const struct prediction *find(const struct predictions *p, const struct prediction *like,
				     enum plan_basis basis)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].basis == basis && spec_equal(&p->list[i].spec, &like->spec) &&
		    p->list[i].direction == like->direction && p->list[i].threads == like->threads)
			return &p->list[i];
	return NULL;
}

/* Whether an earlier one has the same row. */
static bool shown(const struct predictions *p, size_t i)
{
	for (int basis = 0; basis < PLAN_BASIS_FACTS; basis++) {
		const struct prediction *other = find(p, &p->list[i], basis);

		if (other && other < &p->list[i])
			return true;
	}
	return false;
}

/* A speed, and how far it may be off. */
static const char *cell(char text[CELL_MAX], const struct prediction *p)
{
	char speed[UNITS_MAX];
	double down = (p->speed - p->low) / p->speed, up = (p->high - p->speed) / p->speed;

	snprintf(text, CELL_MAX, "%s -%.0f/+%.0f %%", units_speed(p->speed, speed), 100 * down,
		 100 * up);
	return text;
}

static void add_row(struct table *table, const struct predictions *p,
		    const struct prediction *first)
{
	static const int columns[] = {
		[PLAN_BASIS_DM] = MEASURED, [PLAN_BASIS_AFALG] = AFALG, [PLAN_BASIS_CPU] = CPU};
	char spec[SPEC_TEXT_MAX], threads[16], texts[PLAN_BASIS_FACTS][CELL_MAX];
	const char *cells[COLUMNS] = {NULL};

	snprintf(threads, sizeof(threads), "%u", first->threads);
	cells[SPEC] = spec_print(&first->spec, spec);
	cells[THREADS] = threads;
	cells[DIRECTION] = first->direction == ENGINE_ENCRYPT ? "write" : "read";
	for (int basis = 0; basis < PLAN_BASIS_FACTS; basis++) {
		const struct prediction *found = find(p, first, basis);

		if (found)
			cells[columns[basis]] = cell(texts[basis], found);
	}
	table_row(table, cells);
}

int text_predictions(const struct predictions *p)
{
	bool has[PLAN_BASIS_FACTS] = {false}, threads = false;
	struct table *table;
	int ret;

	for (size_t i = 0; i < p->n; i++) {
		has[p->list[i].basis] = true;
		threads |= p->list[i].threads != 1;
	}
	/* What was measured alone is in the table of results. */
	if (!has[PLAN_BASIS_AFALG] && !has[PLAN_BASIS_CPU])
		return 0;
	const struct table_column columns[COLUMNS] = {
		[SPEC] = {"SPEC", false},
		[THREADS] = {threads ? "THREADS" : NULL, true},
		[DIRECTION] = {"DOES", false},
		[MEASURED] = {has[PLAN_BASIS_DM] ? "MEASURED" : NULL, true},
		[AFALG] = {has[PLAN_BASIS_AFALG] ? "BY AFALG" : NULL, true},
		[CPU] = {has[PLAN_BASIS_CPU] ? "BY CPU" : NULL, true},
	};

	printf("\nWhat dm-crypt would do, a request of 64 KiB at a time:\n");
	table = table_new(columns, COLUMNS);
	for (size_t i = 0; i < p->n; i++)
		if (!shown(p, i))
			add_row(table, p, &p->list[i]);
	ret = table_print(table);
	table_free(table);
	return ret;
}
