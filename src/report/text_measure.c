// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/flags.h"
#include "measure/stats.h"
#include "report/multi_curve.h"
#include "report/table.h"
#include "util/units.h"

enum {
	SPEC,
	ENGINE,
	SHAPE,
	SIZE,
	THREADS,
	DEPTH,
	PATH,
	FLAGS,
	ENCRYPT,
	ENCRYPT_SPREAD,
	ENCRYPT_SHARE,
	DECRYPT,
	DECRYPT_SPREAD,
	DECRYPT_SHARE,
	TIER, /* last: the kernel's names are long */
	COLUMNS
};

/* Which columns say something. */
struct varies {
	bool shape, size, threads, depth, path, flags, share;
};

static bool whole_calls(const struct measure_result *r)
{
	return r->engine != MEASURE_AFALG;
}

static void find_varies(struct varies *varies, const struct measurement *m)
{
	uint64_t size = 0;

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (*r->error_code)
			continue;
		varies->shape |= r->shape != ENGINE_SERIAL;
		varies->threads |= r->threads != 1;
		varies->depth |= r->depth > 1;
		varies->path |= r->path != MEASURE_COPY;
		varies->flags |= r->flags != 0;
		varies->share |= r->roofline_share > 0;
		/* A request of one sector is said by the spec. */
		if (!whole_calls(r) && r->spec.sector)
			continue;
		varies->size |= size && size != r->size;
		size = r->size;
	}
}

static bool same_row(const struct measure_result *a, const struct measure_result *b)
{
	return spec_equal(&a->spec, &b->spec) && a->engine == b->engine && a->shape == b->shape &&
	       a->size == b->size && a->threads == b->threads && a->depth == b->depth &&
	       a->flags == b->flags && a->path == b->path && !strcmp(a->tier, b->tier);
}

/* The measured cell of the other direction, or NULL. Cells of one row are neighbours in all but
 * their sizes and threads, so the search is short in practice. */
static const struct measure_result *other(const struct measurement *m,
					  const struct measure_result *r)
{
	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *o = &m->results[i];

		if (!*o->error_code && o->direction != r->direction && same_row(o, r))
			return o;
	}
	return NULL;
}

struct texts {
	char spec[SPEC_TEXT_MAX], size[24], threads[16], depth[16], flags[FLAGS_TEXT_MAX];
	char speed[2][UNITS_MAX], spread[2][16], share[2][16];
};

static void put_direction(const char **cells, struct texts *t, int i,
			  const struct measure_result *r)
{
	if (!r)
		return;
	snprintf(t->spread[i], sizeof(t->spread[i]), "%.1f %%",
		 stats_spread(r->median, r->low, r->high) * 50);
	if (r->roofline_share > 0)
		snprintf(t->share[i], sizeof(t->share[i]), "%.*f %%", r->roofline_share < 0.01,
			 r->roofline_share * 100);
	cells[i ? DECRYPT : ENCRYPT] = units_speed(r->median, t->speed[i]);
	cells[i ? DECRYPT_SPREAD : ENCRYPT_SPREAD] = t->spread[i];
	cells[i ? DECRYPT_SHARE : ENCRYPT_SHARE] = t->share[i];
}

static void add_row(struct table *table, const struct measure_result *r,
		    const struct measure_result *encrypt, const struct measure_result *decrypt)
{
	const char *cells[COLUMNS] = {NULL};
	struct texts t = {.spec = ""};

	snprintf(t.size, sizeof(t.size), "%" PRIu64, r->size);
	snprintf(t.threads, sizeof(t.threads), "%u", r->threads);
	cells[SPEC] = spec_print(&r->spec, t.spec);
	cells[ENGINE] = measure_engine_name(r->engine);
	cells[TIER] = r->tier;
	cells[SHAPE] = r->shape == ENGINE_MULTI ? "multi" : "serial";
	cells[SIZE] = t.size;
	cells[THREADS] = t.threads;
	snprintf(t.depth, sizeof(t.depth), "%u", r->depth);
	cells[DEPTH] = t.depth;
	cells[PATH] = r->engine == MEASURE_AFALG ? measure_path_name(r->path) : NULL;
	cells[FLAGS] = r->engine == MEASURE_DM ? flags_print(r->flags, t.flags) : NULL;
	put_direction(cells, &t, 0, encrypt);
	put_direction(cells, &t, 1, decrypt);
	table_row(table, cells);
}

static int print_table(const struct measurement *m)
{
	struct varies v = {.share = false};
	struct table *table;
	int ret;

	find_varies(&v, m);
	const struct table_column columns[COLUMNS] = {
		[SPEC] = {"SPEC", false},
		[ENGINE] = {"ENGINE", false},
		[SHAPE] = {v.shape ? "SHAPE" : NULL, false},
		[SIZE] = {v.size ? "SIZE" : NULL, true},
		[THREADS] = {v.threads ? "THREADS" : NULL, true},
		[DEPTH] = {v.depth ? "DEPTH" : NULL, true},
		[PATH] = {v.path ? "PATH" : NULL, false},
		[FLAGS] = {v.flags ? "FLAGS" : NULL, false},
		[ENCRYPT] = {"ENCRYPT", true},
		[ENCRYPT_SPREAD] = {"+/-", true},
		[ENCRYPT_SHARE] = {v.share ? "ROOF" : NULL, true},
		[DECRYPT] = {"DECRYPT", true},
		[DECRYPT_SPREAD] = {"+/-", true},
		[DECRYPT_SHARE] = {v.share ? "ROOF" : NULL, true},
		[TIER] = {"TIER", false},
	};

	table = table_new(columns, COLUMNS);
	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i], *o;

		if (*r->error_code)
			continue;
		o = other(m, r);
		if (r->direction == ENGINE_ENCRYPT)
			add_row(table, r, r, o);
		else if (!o)
			add_row(table, r, NULL, r);
	}
	ret = table_print(table);
	table_free(table);
	return ret;
}

static bool same_failure(const struct measure_result *a, const struct measure_result *b)
{
	return a->engine == b->engine && !strcmp(a->error_code, b->error_code) &&
	       !strcmp(a->error_reason, b->error_reason);
}

/* Whether a result before i, back to `from`, has the same cipher and key size, and fails alike. */
static bool named(const struct measurement *m, size_t from, size_t i)
{
	for (size_t j = from; j < i; j++)
		if (m->results[j].spec.kind == m->results[i].spec.kind &&
		    m->results[j].spec.key_bits == m->results[i].spec.key_bits &&
		    same_failure(&m->results[j], &m->results[i]))
			return true;
	return false;
}

/* One line for all that failed alike. */
static void print_failure(const struct measurement *m, size_t first)
{
	const struct measure_result *r = &m->results[first];
	char text[SPEC_TEXT_MAX];
	struct spec spec;
	size_t n = 0;

	printf("  %s: ", measure_engine_name(r->engine));
	for (size_t i = first; i < m->n_results; i++) {
		if (!same_failure(&m->results[i], r))
			continue;
		n++;
		if (named(m, first, i))
			continue;
		spec = m->results[i].spec;
		spec.sector = 0;
		printf("%s%s", i == first ? "" : ", ", spec_print(&spec, text));
	}
	printf(" (%zu cell%s): %s [%s]\n", n, n == 1 ? "" : "s", r->error_reason, r->error_code);
}

static void print_failures(const struct measurement *m)
{
	bool title = false, first;

	for (size_t i = 0; i < m->n_results; i++) {
		if (!*m->results[i].error_code)
			continue;
		first = true;
		for (size_t j = 0; j < i && first; j++)
			first = !same_failure(&m->results[j], &m->results[i]);
		if (!first)
			continue;
		if (!title)
			printf("\nNot measured:\n");
		title = true;
		print_failure(m, i);
	}
}

static void print_rooflines(const struct measurement *m)
{
	char a[UNITS_MAX], b[UNITS_MAX];

	if (m->n_rooflines)
		printf("\nThe most that the CPU's AES units do (ROOF is a share of the best of "
		       "these):\n");
	for (size_t i = 0; i < m->n_rooflines; i++) {
		const struct measure_roofline *r = &m->rooflines[i];

		printf("  %u-bit vectors, %u thread%s: AES-128 %s, AES-256 %s\n", r->bits,
		       r->threads, r->threads == 1 ? "" : "s", units_speed(r->aes128, a),
		       units_speed(r->aes256, b));
	}
}

/* Ciphers that stand in the table although nobody should take them. */
static void print_records(const struct measurement *m)
{
	const struct spec_kind *last = NULL;
	char text[SPEC_TEXT_MAX];
	struct spec spec;

	for (size_t i = 0; i < m->n_results; i++) {
		spec = m->results[i].spec;
		if (!spec.kind->record || spec.kind == last || *m->results[i].error_code)
			continue;
		spec.sector = 0;
		printf("%s%s", last ? ", " : "\nFor the record; never recommended: ",
		       spec_print(&spec, text));
		last = spec.kind;
	}
	if (last)
		printf(".\n");
}

int text_measurement(const struct measurement *m)
{
	size_t measured = 0;
	int ret;

	for (size_t i = 0; i < m->n_results; i++)
		measured += !*m->results[i].error_code;
	if (measured) {
		ret = print_table(m);
		if (ret)
			return ret;
	}
	print_failures(m);
	print_records(m);
	print_rooflines(m);
	multi_curve_text(m);
	return 0;
}

void text_measurement_end(const struct measurement *m)
{
	size_t measured = 0;

	for (size_t i = 0; i < m->n_results; i++)
		measured += !*m->results[i].error_code;
	if (m->n_conditions)
		printf("\nTo bear in mind:\n");
	for (size_t i = 0; i < m->n_conditions; i++)
		printf("  %s\n", m->conditions[i].message);
	printf("\n%zu of %zu cells measured in %.1f s: medians, +/- half the distance between the "
	       "quartiles.\n",
	       measured, m->n_results, m->seconds);
}
