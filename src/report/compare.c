// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "measure/flags.h"
#include "report/table.h"
#include "util/json.h"
#include "util/text.h"
#include "util/units.h"

/* What of a machine may differ and matter. */
enum trait { TRAIT_CPU, TRAIT_ARCH, TRAIT_KERNEL, TRAIT_FIPS, TRAIT_CPUS, TRAIT_DISABLED, TRAITS };

static const char *const trait_names[TRAITS] = {
	[TRAIT_CPU] = "cpu",   [TRAIT_ARCH] = "arch", [TRAIT_KERNEL] = "kernel",
	[TRAIT_FIPS] = "fips", [TRAIT_CPUS] = "cpus", [TRAIT_DISABLED] = "disabled",
};
static const char *const trait_words[TRAITS] = {
	[TRAIT_CPU] = "CPU",        [TRAIT_ARCH] = "architecture",
	[TRAIT_KERNEL] = "kernel",  [TRAIT_FIPS] = "FIPS mode",
	[TRAIT_CPUS] = "CPUs used", [TRAIT_DISABLED] = "CPU features disabled",
};

static void put_disabled(const struct cpu_facts *cpu, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	for (unsigned i = 0; i < CPU_FEATURE_COUNT && len < size; i++)
		if (cpu->disabled & 1ULL << i)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? "," : "",
						cpu_feature_name(i));
	if (!len)
		snprintf(buf, size, "none");
}

/* "" when it is not known. */
static void trait_value(const struct facts *facts, enum trait trait, char *buf, size_t size)
{
	*buf = '\0';
	if (!facts)
		return;
	switch (trait) {
	case TRAIT_CPU:
		snprintf(buf, size, "%s", facts->cpu.model);
		break;
	case TRAIT_ARCH:
		snprintf(buf, size, "%s", facts->cpu.arch);
		break;
	case TRAIT_KERNEL:
		snprintf(buf, size, "%s", facts->kernel.release);
		break;
	case TRAIT_FIPS:
		snprintf(buf, size, "%s", facts->kernel.fips ? "yes" : "no");
		break;
	case TRAIT_CPUS:
		snprintf(buf, size, "%u", cpu_threads(&facts->cpu));
		break;
	default:
		put_disabled(&facts->cpu, buf, size);
	}
}

static bool trait_differs(const struct report_side *first, const struct report_side *other,
			  enum trait trait, char a[256], char b[256])
{
	trait_value(first->facts, trait, a, 256);
	trait_value(other->facts, trait, b, 256);
	return strcmp(a, b) != 0;
}

static const struct measure_result *either(const struct compare_cell *cell)
{
	return cell->first ? cell->first : cell->other;
}

static const char *shape_name(const struct measure_result *r)
{
	return r->shape == ENGINE_MULTI ? "multi" : "serial";
}

static const char *direction_name(const struct measure_result *r)
{
	return r->direction == ENGINE_ENCRYPT ? "encrypt" : "decrypt";
}

static void print_name(const char *file)
{
	text_print(stdout, file);
}

static void print_machines(const struct report_side *first, const struct report_side *other)
{
	char a[256], b[256];

	if (!first->facts || !other->facts) {
		print_name(first->facts ? other->file : first->file);
		printf(" does not say what machine it is of.\n");
		return;
	}
	for (int t = 0; t < TRAITS; t++) {
		if (!trait_differs(first, other, t, a, b))
			continue;
		printf("  %s: ", trait_words[t]);
		text_print(stdout, *b ? b : "not known");
		printf(", not ");
		text_print(stdout, *a ? a : "not known");
		putchar('\n');
	}
}

static void print_conditions(const struct report_side *side)
{
	if (side->unchecked) {
		printf("  ");
		print_name(side->file);
		printf(": %zu cell%s not counted: the file does not say that %s output was checked.\n",
		       side->unchecked, side->unchecked == 1 ? " is" : "s are",
		       side->unchecked == 1 ? "its" : "their");
	}
	for (size_t i = 0; i < side->m->n_conditions; i++) {
		printf("  ");
		print_name(side->file);
		printf(": ");
		text_print(stdout, side->m->conditions[i].message);
		putchar('\n');
	}
}

enum {
	SPEC,
	ENGINE,
	SHAPE,
	DIRECTION,
	SIZE,
	THREADS,
	DEPTH,
	PATH,
	FLAGS,
	FIRST,
	OTHER,
	RATIO,
	INTERVAL,
	VERDICT,
	TIER,
	COLUMNS
};

struct varies {
	bool shape, threads, depth, path, flags, tier;
};

static bool same_tier(const struct compare_cell *cell)
{
	return !cell->first || !cell->other || !strcmp(cell->first->tier, cell->other->tier);
}

static void find_varies(struct varies *v, const struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!(c->cells[i].ratio > 0))
			continue;
		v->shape |= either(&c->cells[i])->shape != ENGINE_SERIAL;
		v->threads |= either(&c->cells[i])->threads != 1;
		v->depth |= either(&c->cells[i])->depth != 1;
		v->path |= either(&c->cells[i])->path != MEASURE_COPY;
		v->flags |= either(&c->cells[i])->flags != 0;
		v->tier |= !same_tier(&c->cells[i]);
	}
}

static void add_row(struct table *table, const struct compare_cell *cell)
{
	char spec[SPEC_TEXT_MAX], size[24], threads[16], first[UNITS_MAX], other[UNITS_MAX];
	char flags[FLAGS_TEXT_MAX], depth[16], ratio[24], interval[48] = "not known",
							  tier[300] = "";
	const struct measure_result *r = cell->first;

	snprintf(size, sizeof(size), "%" PRIu64, r->size);
	snprintf(threads, sizeof(threads), "%u", r->threads);
	snprintf(depth, sizeof(depth), "%u", r->depth);
	snprintf(ratio, sizeof(ratio), "%.3f", cell->ratio);
	if (cell->high > 0)
		snprintf(interval, sizeof(interval), "%.3f .. %.3f", cell->low, cell->high);
	if (!same_tier(cell))
		snprintf(tier, sizeof(tier), "%s -> %s", r->tier, cell->other->tier);
	const char *cells[COLUMNS] = {
		[SPEC] = spec_print(&r->spec, spec),
		[ENGINE] = measure_engine_name(r->engine),
		[SHAPE] = shape_name(r),
		[DIRECTION] = direction_name(r),
		[SIZE] = size,
		[THREADS] = threads,
		[DEPTH] = depth,
		[PATH] = r->engine == MEASURE_AFALG ? measure_path_name(r->path) : "",
		[FLAGS] = r->engine == MEASURE_DM ? flags_print(r->flags, flags) : "",
		[FIRST] = units_speed(r->median, first),
		[OTHER] = units_speed(cell->other->median, other),
		[RATIO] = ratio,
		[INTERVAL] = interval,
		[VERDICT] = cell->verdict == COMPARE_UNCLEAR ? "cannot tell"
							     : compare_verdict_name(cell->verdict),
		[TIER] = tier,
	};

	table_row(table, cells);
}

static int print_cells(const struct comparison *c)
{
	struct varies v = {.shape = false};
	struct table *table;
	int ret;

	find_varies(&v, c);
	const struct table_column columns[COLUMNS] = {
		[SPEC] = {"SPEC", false},
		[ENGINE] = {"ENGINE", false},
		[SHAPE] = {v.shape ? "SHAPE" : NULL, false},
		[DIRECTION] = {"DIRECTION", false},
		[SIZE] = {"SIZE", true},
		[THREADS] = {v.threads ? "THREADS" : NULL, true},
		[DEPTH] = {v.depth ? "DEPTH" : NULL, true},
		[PATH] = {v.path ? "PATH" : NULL, false},
		[FLAGS] = {v.flags ? "FLAGS" : NULL, false},
		[FIRST] = {"FIRST", true},
		[OTHER] = {"OTHER", true},
		[RATIO] = {"RATIO", true},
		[INTERVAL] = {"95 %", true},
		[VERDICT] = {"OTHER IS", false},
		[TIER] = {v.tier ? "TIER" : NULL, false},
	};

	table = table_new(columns, COLUMNS);
	for (size_t i = 0; i < c->n; i++)
		if (c->cells[i].ratio > 0)
			add_row(table, &c->cells[i]);
	ret = table_print(table);
	table_free(table);
	putchar('\n');
	return ret;
}

/* Cells that cannot be compared, a line each under what becomes of them. */
static void print_verdict(const struct comparison *c, enum compare_verdict verdict,
			  const char *title)
{
	char spec[SPEC_TEXT_MAX], flags[FLAGS_TEXT_MAX];

	if (c->count[verdict])
		printf("%s:\n", title);
	for (size_t i = 0; i < c->n; i++) {
		const struct compare_cell *cell = &c->cells[i];
		const struct measure_result *r = either(cell);

		if (cell->verdict != verdict)
			continue;
		printf("  %s, %s", spec_print(&r->spec, spec), measure_engine_name(r->engine));
		if (*r->tier) {
			printf(" (");
			text_print(stdout, r->tier);
			putchar(')');
		}
		printf(", %s, %s, %" PRIu64 " bytes, %u thread%s", shape_name(r), direction_name(r),
		       r->size, r->threads, r->threads == 1 ? "" : "s");
		if (r->depth > 1)
			printf(", %u in flight", r->depth);
		if (r->path != MEASURE_COPY)
			printf(", %s", measure_path_name(r->path));
		if (r->flags)
			printf(", %s", flags_print(r->flags, flags));
		if (verdict == COMPARE_LOST) {
			printf(": ");
			text_print(stdout, cell->other->error_reason);
			printf(" [%s]", cell->other->error_code);
		}
		putchar('\n');
	}
}

int report_compare_text(const struct comparison *c, const struct report_side *first,
			const struct report_side *other)
{
	int ret = 0;

	print_name(other->file);
	printf(" against ");
	print_name(first->file);
	printf(":\n");
	print_machines(first, other);
	print_conditions(first);
	print_conditions(other);
	putchar('\n');
	if (c->median > 0)
		ret = print_cells(c);
	print_verdict(c, COMPARE_LOST, "Measured in the first, and failed in the other");
	print_verdict(c, COMPARE_GAINED, "Failed in the first, and measured in the other");
	print_verdict(c, COMPARE_ONLY_FIRST, "Only in the first");
	print_verdict(c, COMPARE_ONLY_OTHER, "Only in the other");
	printf("%zu faster, %zu slower, %zu that cannot be told", c->count[COMPARE_FASTER],
	       c->count[COMPARE_SLOWER], c->count[COMPARE_UNCLEAR]);
	if (c->median > 0)
		printf("; the median ratio is %.3f", c->median);
	printf(".\n");
	return ret;
}

static struct json_object *machine_object(const struct report_side *side)
{
	struct json_object *obj = json_object_new_object();
	char text[256];

	for (int t = 0; t < TRAITS; t++) {
		trait_value(side->facts, t, text, sizeof(text));
		json_put_string(obj, trait_names[t], *text ? text : NULL);
	}
	return obj;
}

struct json_object *report_compare_file(const struct report_side *side)
{
	struct json_object *obj = json_object_new_object(), *array = json_object_new_array();

	json_put_string(obj, "file", side->file);
	json_put(obj, "machine", side->facts ? machine_object(side) : NULL);
	for (size_t i = 0; i < side->m->n_conditions; i++) {
		struct json_object *condition = json_object_new_object();

		json_put_string(condition, "id", side->m->conditions[i].id);
		json_put_string(condition, "message", side->m->conditions[i].message);
		json_append(array, condition);
	}
	json_put(obj, "conditions", array);
	json_put_u64(obj, "cells", side->m->n_results);
	json_put_u64(obj, "unchecked", side->unchecked);
	return obj;
}

static struct json_object *differences(const struct report_side *first,
				       const struct report_side *other)
{
	struct json_object *array = json_object_new_array(), *obj;
	char a[256], b[256];

	for (int t = 0; t < TRAITS && first->facts && other->facts; t++) {
		if (!trait_differs(first, other, t, a, b))
			continue;
		obj = json_object_new_object();
		json_put_string(obj, "what", trait_names[t]);
		json_put_string(obj, "first", *a ? a : NULL);
		json_put_string(obj, "other", *b ? b : NULL);
		json_append(array, obj);
	}
	return array;
}

static void put_speed(struct json_object *obj, const char *key, const struct measure_result *r)
{
	json_put_u64_or_null(obj, key, r && !*r->error_code ? (uint64_t)(r->median + 0.5) : 0);
}

static void put_positive(struct json_object *obj, const char *key, double value)
{
	if (value > 0)
		json_put_real(obj, key, value);
	else
		json_put(obj, key, NULL);
}

static struct json_object *cell_object(const struct compare_cell *cell, double limit)
{
	const struct measure_result *r = either(cell), *first = cell->first, *other = cell->other;
	struct json_object *obj = json_object_new_object(), *error;
	char spec[SPEC_TEXT_MAX], flags[FLAGS_TEXT_MAX];

	json_put_string(obj, "spec", spec_print(&r->spec, spec));
	json_put_string(obj, "engine", measure_engine_name(r->engine));
	json_put_string(obj, "first_tier", first && *first->tier ? first->tier : NULL);
	json_put_string(obj, "other_tier", other && *other->tier ? other->tier : NULL);
	json_put_string(obj, "shape", shape_name(r));
	json_put_string(obj, "direction", direction_name(r));
	json_put_u64(obj, "size", r->size);
	json_put_u64(obj, "threads", r->threads);
	json_put_u64(obj, "depth", r->depth);
	json_put_string(obj, "path",
			r->engine == MEASURE_AFALG ? measure_path_name(r->path) : NULL);
	json_put_string(obj, "flags",
			r->engine == MEASURE_DM ? flags_print(r->flags, flags) : NULL);
	put_speed(obj, "first", first);
	put_speed(obj, "other", other);
	put_positive(obj, "ratio", cell->ratio);
	put_positive(obj, "low", cell->low);
	put_positive(obj, "high", cell->high);
	json_put_string(obj, "verdict", compare_verdict_name(cell->verdict));
	if (cell->verdict == COMPARE_LOST) {
		error = json_object_new_object();
		json_put_string(error, "code", other->error_code);
		json_put_string(error, "reason", other->error_reason);
		json_put(obj, "error", error);
	}
	if (limit > 0)
		json_put_bool(obj, "below", compare_below(cell, limit));
	return obj;
}

struct json_object *report_compare_json(const struct comparison *c, const struct report_side *first,
					const struct report_side *other, double limit)
{
	struct json_object *obj = json_object_new_object(), *array = json_object_new_array();
	struct json_object *count = json_object_new_object();

	json_put_string(obj, "file", other->file);
	json_put(obj, "differs", differences(first, other));
	for (int v = 0; v < COMPARE_VERDICTS; v++)
		json_put_u64(count, compare_verdict_name(v), c->count[v]);
	json_put(obj, "count", count);
	put_positive(obj, "median_ratio", c->median);
	for (size_t i = 0; i < c->n; i++)
		json_append(array, cell_object(&c->cells[i], limit));
	json_put(obj, "cells", array);
	return obj;
}
