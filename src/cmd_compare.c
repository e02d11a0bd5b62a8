// SPDX-License-Identifier: GPL-2.0-or-later
/* Saved results side by side: for regressions between kernels, and for a fleet. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "measure/saved.h"
#include "report/compare.h"
#include "util/json.h"
#include "util/output.h"

#define FILES_MAX 64
/* Cells that a sentence names. */
#define NAMED_MAX 5

static struct compare_options {
	double fail_below;
} options;

static const struct opt table[] = {
	{"fail-below", 0, OPT_REAL, "RATIO", offsetof(struct compare_options, fail_below), 0, 1000,
	 "End with status 8 where a cell's ratio is below\nRATIO and that is no noise, or a cell is lost."},
	OPT_END};

/* A file and what it holds. */
struct loaded {
	const char *file;
	struct measurement m;
	struct facts facts;
	bool has_facts;
	size_t unchecked;
	struct comparison comparison; /* against the first */
};

struct set {
	struct loaded list[FILES_MAX];
	size_t n;
};

static struct report_side side_of(const struct loaded *l)
{
	return (struct report_side){l->file, &l->m, l->has_facts ? &l->facts : NULL, l->unchecked};
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	if (!strcmp(a, b))
		return true;
	return strcmp(a, "-") != 0 && strcmp(b, "-") != 0 && !stat(a, &x) && !stat(b, &y) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int check_names(char **files, int n, struct status *st)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			if (same_file(files[i], files[j]))
				return status_set(st, ST_USAGE, EINVAL,
						  "compare: %s and %s are one file; what it holds "
						  "says nothing against itself.",
						  files[j], files[i]);
	return 0;
}

static int load(struct set *set, char **files, int n, struct status *st)
{
	int ret = 0;

	for (int i = 0; i < n && !ret; i++) {
		struct loaded *l = &set->list[set->n++];

		l->file = files[i];
		ret = saved_load(&l->m, &l->facts, &l->has_facts, NULL, files[i], st);
		l->unchecked = ret ? 0 : compare_drop_unchecked(&l->m);
		if (!ret && i)
			ret = compare_make(&l->comparison, &set->list[0].m, &l->m);
	}
	return ret == -ENOMEM ? status_nomem(st) : ret;
}

static int print_json(const struct set *set)
{
	struct json_object *doc = json_document("compare"), *files = json_object_new_array();
	struct json_object *comparisons = json_object_new_array();
	const struct report_side first = side_of(&set->list[0]);

	for (size_t i = 0; i < set->n; i++) {
		const struct report_side side = side_of(&set->list[i]);

		json_append(files, report_compare_file(&side));
		if (i)
			json_append(comparisons,
				    report_compare_json(&set->list[i].comparison, &first, &side,
							options.fail_below));
	}
	json_put(doc, "files", files);
	if (options.fail_below > 0)
		json_put_real(doc, "fail_below", options.fail_below);
	else
		json_put(doc, "fail_below", NULL);
	json_put(doc, "comparisons", comparisons);
	return json_print(doc);
}

static int print_text(const struct set *set)
{
	const struct report_side first = side_of(&set->list[0]);
	int ret = 0;

	for (size_t i = 1; i < set->n && !ret; i++) {
		const struct report_side side = side_of(&set->list[i]);

		if (i > 1)
			putchar('\n');
		ret = report_compare_text(&set->list[i].comparison, &first, &side);
	}
	return ret ? ret : output_flush();
}

/* One failing cell, in as many words as it takes to find it. */
static void name_cell(FILE *out, const struct loaded *l, const struct compare_cell *cell)
{
	const struct measure_result *r = cell->first;
	char spec[SPEC_TEXT_MAX];

	fprintf(out, "%s %s %s of %llu bytes ", spec_print(&r->spec, spec),
		measure_engine_name(r->engine),
		r->direction == ENGINE_ENCRYPT ? "encrypt" : "decrypt",
		(unsigned long long)r->size);
	if (r->threads > 1)
		fprintf(out, "in %u threads ", r->threads);
	if (cell->ratio > 0)
		fprintf(out, "at %.3f", cell->ratio);
	else
		fprintf(out, "not measured any more");
	fprintf(out, " in %s", l->file);
}

/* ST_CHECK with a sentence on standard error where cells are below --fail-below. */
static int verdict(const struct set *set)
{
	size_t below = 0, len;
	char *names = NULL;
	FILE *out;

	if (!(options.fail_below > 0))
		return 0;
	out = open_memstream(&names, &len);
	if (!out)
		return -ENOMEM;
	for (size_t i = 1; i < set->n; i++) {
		const struct comparison *c = &set->list[i].comparison;

		for (size_t j = 0; j < c->n; j++) {
			if (!compare_below(&c->cells[j], options.fail_below))
				continue;
			if (below++ >= NAMED_MAX)
				continue;
			if (below > 1)
				fputs("; ", out);
			name_cell(out, &set->list[i], &c->cells[j]);
		}
	}
	if (below > NAMED_MAX)
		fprintf(out, "; and %zu more", below - NAMED_MAX);
	if (fclose(out)) {
		free(names);
		return -ENOMEM;
	}
	if (below)
		cmd_say("below %g of %s: %s.", options.fail_below, set->list[0].file, names);
	free(names);
	return below ? ST_CHECK : 0;
}

static int nothing_common(const struct set *set, struct status *st)
{
	for (size_t i = 1; i < set->n; i++)
		if (set->list[i].comparison.median > 0 ||
		    set->list[i].comparison.count[COMPARE_LOST] ||
		    set->list[i].comparison.count[COMPARE_GAINED])
			return 0;
	return status_set(
		st, ST_USAGE, EINVAL,
		"compare: no cell of %s stands in %s; measure both with the same options.",
		set->list[0].file, set->n == 2 ? set->list[1].file : "any of the others");
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	struct set *set = calloc(1, sizeof(*set));
	int ret;

	if (!set)
		return status_nomem(st);
	ret = check_names(operands, n, st);
	if (!ret)
		ret = load(set, operands, n, st);
	if (!ret)
		ret = nothing_common(set, st);
	if (!ret)
		ret = globals->json ? print_json(set) : print_text(set);
	if (!ret)
		ret = verdict(set);
	for (size_t i = 0; i < set->n; i++) {
		compare_free(&set->list[i].comparison);
		measurement_free(&set->list[i].m);
		facts_free(&set->list[i].facts);
	}
	free(set);
	return ret;
}

const struct cmd cmd_compare = {
	.name = "compare",
	.operands = "FIRST OTHER...",
	.summary = "Compare saved results: other kernels, other machines.",
	.details =
		"FIRST and OTHER are files that bench --save or --json wrote (one may be -: standard input).\n"
		"Each OTHER is compared with FIRST, cell by cell: how many times as fast it is, the interval\n"
		"that this lies in with 95 % confidence, and whether it is faster, slower, or cannot be told.",
	.options = table,
	.dest = &options,
	.min_operands = 2,
	.max_operands = FILES_MAX,
	.run = run,
};
