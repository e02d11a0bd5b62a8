// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/text_crossing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/table.h"
#include "util/units.h"

#define TIME_MAX 24

/* "412 ns", "12.3 us", "4.56 ms". */
static const char *print_ns(double ns, char buf[TIME_MAX])
{
	if (ns < 1000)
		snprintf(buf, TIME_MAX, ns < 10 ? "%.1f ns" : "%.0f ns", ns);
	else if (ns < 1e6)
		snprintf(buf, TIME_MAX, ns < 1e5 ? "%.1f us" : "%.0f us", ns / 1e3);
	else
		snprintf(buf, TIME_MAX, "%.2f ms", ns / 1e6);
	return buf;
}

static const char *direction_name(enum engine_direction direction)
{
	return direction == ENGINE_ENCRYPT ? "encryption" : "decryption";
}

void text_fits(const struct measurement *m)
{
	char spec[SPEC_TEXT_MAX], fixed[TIME_MAX], speed[UNITS_MAX];

	if (m->n_fits)
		printf("\nAF_ALG taken apart: a fixed cost per request and a speed without it (the "
		       "fit's error):\n");
	for (size_t i = 0; i < m->n_fits; i++) {
		const struct measure_fit *f = &m->fits[i];

		printf("  %s, %s, %s", spec_print(&f->spec, spec), direction_name(f->direction),
		       measure_path_name(f->path));
		if (f->depth > 1)
			printf(", %u in flight", f->depth);
		if (f->threads > 1)
			printf(", %u threads", f->threads);
		printf(": %s and %s (%.1f %%, at worst %.1f %%, %u sizes)\n",
		       print_ns(f->fixed_ns, fixed),
		       f->per_byte_ns > 0 ? units_speed(1e9 / f->per_byte_ns, speed) : "no limit",
		       f->error * 100, f->worst * 100, f->points);
	}
}

/* Of the cells of one engine and number of threads, from the first on; false when others before
 * them are of the same. */
static bool scaling_range(const struct measurement *m, size_t first, double *low, double *high)
{
	const struct measure_result *r = &m->results[first];

	*low = *high = r->scaling;
	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *o = &m->results[i];

		if (!(o->scaling > 0) || o->engine != r->engine || o->threads != r->threads)
			continue;
		if (i < first)
			return false;
		*low = o->scaling < *low ? o->scaling : *low;
		*high = o->scaling > *high ? o->scaling : *high;
	}
	return true;
}

void text_scaling(const struct measurement *m)
{
	bool title = false;
	double low, high;

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (!(r->scaling > 0) || !scaling_range(m, i, &low, &high))
			continue;
		if (!title)
			printf("\nMore threads:\n");
		title = true;
		printf("  %s: %u threads do %.2f to %.2f times what one does\n",
		       measure_engine_name(r->engine), r->threads, low, high);
	}
}

enum { SPEC, DIRECTION, PATH, SIZE, HERE, KERNEL, CROSSING, SWITCH, COPY, SHARE, COLUMNS };

static void add_row(struct table *table, const struct crossing_row *row)
{
	char spec[SPEC_TEXT_MAX], size[24], share[16], times[5][TIME_MAX];
	const char *cells[COLUMNS] = {NULL};

	snprintf(size, sizeof(size), "%" PRIu64, row->size);
	snprintf(share, sizeof(share), "%.0f %%", row->share * 100);
	cells[SPEC] = spec_print(&row->spec, spec);
	cells[DIRECTION] = direction_name(row->direction);
	cells[PATH] = measure_path_name(row->path);
	cells[SIZE] = size;
	cells[HERE] = row->in_process_ns > 0 ? print_ns(row->in_process_ns, times[0]) : NULL;
	cells[KERNEL] = print_ns(row->kernel_ns, times[1]);
	cells[CROSSING] = print_ns(row->crossing_ns, times[2]);
	cells[SWITCH] = print_ns(row->switch_ns, times[3]);
	cells[COPY] = print_ns(row->copy_ns, times[4]);
	cells[SHARE] = share;
	table_row(table, cells);
}

static int print_rows(const struct crossing *c)
{
	static const struct table_column columns[COLUMNS] = {
		[SPEC] = {"SPEC", false},        [DIRECTION] = {"DIRECTION", false},
		[PATH] = {"PATH", false},        [SIZE] = {"SIZE", true},
		[HERE] = {"IN-PROCESS", true},   [KERNEL] = {"AF_ALG", true},
		[CROSSING] = {"CROSSING", true}, [SWITCH] = {"SWITCH", true},
		[COPY] = {"COPY", true},         [SHARE] = {"SHARE", true},
	};
	struct table *table = table_new(columns, COLUMNS);
	int ret;

	for (size_t i = 0; i < c->n_rows; i++)
		add_row(table, &c->rows[i]);
	ret = table_print(table);
	table_free(table);
	return ret;
}

static void print_from(const struct crossing *c, const struct crossing_from *from)
{
	char spec[SPEC_TEXT_MAX], size[UNITS_MAX];

	(void)c;
	printf("  %s, %s, %s: the crossing ", spec_print(&from->spec, spec),
	       direction_name(from->direction), measure_path_name(from->path));
	if (from->crossing)
		printf("no longer matters from %s on", units_size(from->crossing, size));
	else
		printf("matters at every size");
	if (from->mode_switch && from->mode_switch != from->crossing)
		printf(", the switch alone from %s on", units_size(from->mode_switch, size));
	else if (!from->mode_switch)
		printf(", the switch alone, too");
	printf(".\n");
}

int text_crossing(const struct crossing *c)
{
	char a[TIME_MAX];
	int ret;

	if (!c->asked)
		return 0;
	if (!c->available) {
		printf("\nThe crossing into the kernel could not be measured: %s.\n",
		       *c->reason ? c->reason : "no message was measured through AF_ALG");
		return 0;
	}
	printf("\nThe crossing into the kernel and back, for one request (AF_ALG), %s:\n",
	       c->null_cipher ? "by the kernel's null cipher"
			      : "by what it takes longer than the tier like the kernel's driver");
	for (int i = MEASURE_COPY; i <= MEASURE_SPLICE; i++)
		if (c->paths[i].known)
			printf("  %s: %s for the system calls and %.3f ns a byte (the fit's error: %.1f %%)\n",
			       measure_path_name(i), print_ns(c->paths[i].switch_ns, a),
			       c->paths[i].copy_ns_per_byte, c->paths[i].error * 100);
	ret = print_rows(c);
	if (ret)
		return ret;
	printf("Less than %.0f %% of the time no longer matters:\n", CROSSING_MATTERS * 100);
	for (size_t i = 0; i < c->n_froms; i++)
		print_from(c, &c->froms[i]);
	return 0;
}

/* The axis that sizes are told by: the sector's, or the message's. */
static uint64_t unit(const struct versus *v)
{
	return v->a->spec.sector ? v->a->spec.sector : v->a->size;
}

static bool same_group(const struct versus *a, const struct versus *b)
{
	return a->left == b->left && a->right == b->right && a->a->engine == b->a->engine &&
	       a->a->direction == b->a->direction && a->a->shape == b->a->shape &&
	       a->a->threads == b->a->threads && a->a->depth == b->a->depth &&
	       a->a->path == b->a->path && a->a->flags == b->a->flags &&
	       a->b->spec.kind == b->b->spec.kind &&
	       (a->a->engine != MEASURE_CPU || !strcmp(a->a->tier, b->a->tier));
}

/* "faster at 512, 4096 bytes (2.1 to 3.4 times)" for one verdict in a group. */
static bool print_verdict(const struct versus_list *list, const struct versus *first,
			  enum versus_verdict verdict, bool more)
{
	double low = 0, high = 0;
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct versus *v = &list->list[i];

		if (v->verdict != verdict || !same_group(v, first))
			continue;
		low = !n || v->ratio < low ? v->ratio : low;
		high = v->ratio > high ? v->ratio : high;
		if (!n)
			printf("%s%s at ", more ? "; " : "", versus_verdict_name(verdict));
		if (unit(v) != last)
			printf("%s%" PRIu64, n ? ", " : "", unit(v));
		last = unit(v);
		n++;
	}
	if (!n)
		return more;
	if (high - low < 0.005)
		printf(" bytes (%.2f times as fast)", low);
	else
		printf(" bytes (%.2f to %.2f times as fast)", low, high);
	return true;
}

static void print_group(const struct versus_list *list, const struct versus *first)
{
	const struct measure_result *r = first->a;
	bool more;

	printf("  %s against %s here (%s%s%s", first->left, first->right,
	       measure_engine_name(r->engine), r->engine == MEASURE_CPU ? ", " : "",
	       r->engine == MEASURE_CPU ? r->tier : "");
	if (r->shape == ENGINE_MULTI)
		printf(", several sectors at once");
	if (r->threads > 1)
		printf(", %u threads", r->threads);
	if (r->depth > 1)
		printf(", %u in flight", r->depth);
	if (r->path == MEASURE_SPLICE)
		printf(", spliced");
	if (strcmp(first->b->spec.kind->iv, "essiv:sha256") == 0)
		printf(", with ESSIV");
	printf("), %s: ", direction_name(r->direction));
	more = print_verdict(list, first, VERSUS_FASTER, false);
	more = print_verdict(list, first, VERSUS_SLOWER, more);
	print_verdict(list, first, VERSUS_CANNOT_TELL, more);
	printf(".\n");
}

void text_versus(const struct versus_list *list)
{
	bool begun;

	if (list->n)
		printf("\nAgainst each other:\n");
	for (size_t i = 0; i < list->n; i++) {
		begun = false;
		for (size_t j = 0; j < i && !begun; j++)
			begun = same_group(&list->list[j], &list->list[i]);
		if (!begun)
			print_group(list, &list->list[i]);
	}
}
