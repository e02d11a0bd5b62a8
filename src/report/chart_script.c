// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What gnuplot is told. Colours are Okabe and Ito's ("Color Universal Design", 2008), which people
 * of every colour vision tell apart; dashes and markers tell lines apart without any.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "measure/flags.h"
#include "report/chart_internal.h"

/* Without yellow, which is too light on white. Neighbours differ in lightness, too. */
static const char *const colours[] = {"#0072B2", "#E69F00", "#000000", "#56B4E9",
				      "#D55E00", "#009E73", "#CC79A7"};
static const int markers[] = {7, 5, 9, 11, 13, 6, 4, 8, 10, 12, 2, 1, 3};
static const char *const dashes[] = {"1", "'-'", "'.'", "'_.'", "'..-'"};

/* Thicker than any cipher's: what none of them makes faster. */
#define DISK_LINE "linecolor rgb '#404040' dashtype (20,6) linewidth 3"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define WIDTH      1200
#define PANEL      570 /* height of the two panels */
#define KEY_LINE   19  /* and of a line of the key below them */
#define KEY_COLUMN 2

struct line {
	const struct measure_result *first;
};

struct chart {
	FILE *out;
	const struct measurement *m;
	struct line *lines;
	size_t n_lines;
	bool by_size; /* over the size of calls of several sectors; else of a sector or message */
	bool tiers, shapes, threads, depths, paths; /* what tells lines apart */
	double least, most;                         /* speeds */
	double disk;                                /* its own; 0: not known */
	uint64_t smallest, largest;                 /* sizes */
};

static bool drawn(const struct measure_result *r)
{
	return !*r->error_code && r->median > 0;
}

static uint64_t unit(const struct chart *c, const struct measure_result *r)
{
	return r->spec.sector && !c->by_size ? r->spec.sector : r->size;
}

/* Points of the same line, in both panels. */
static bool same_line(const struct chart *c, const struct measure_result *a,
		      const struct measure_result *b)
{
	return a->spec.kind == b->spec.kind && a->spec.key_bits == b->spec.key_bits &&
	       a->engine == b->engine && a->shape == b->shape && a->threads == b->threads &&
	       a->depth == b->depth && a->path == b->path && a->flags == b->flags &&
	       (!c->by_size || a->spec.sector == b->spec.sector) &&
	       (a->engine != MEASURE_CPU || !strcmp(a->tier, b->tier));
}

static void find_ranges(struct chart *c)
{
	const struct measure_result *first = NULL, *sectors = NULL;

	for (size_t i = 0; i < c->m->n_results; i++) {
		const struct measure_result *r = &c->m->results[i];

		if (!drawn(r))
			continue;
		first = first ? first : r;
		if (r->spec.sector && r->size > r->spec.sector) {
			sectors = sectors ? sectors : r;
			c->by_size |= r->size != sectors->size;
		}
		c->tiers |= r->engine == MEASURE_CPU;
		c->shapes |= r->shape != ENGINE_SERIAL;
		c->threads |= r->threads != first->threads;
		c->depths |= r->depth > 1;
		c->paths |= r->path != MEASURE_COPY;
		c->least = c->least > 0 && c->least < r->low ? c->least : r->low;
		c->most = c->most > r->high ? c->most : r->high;
	}
	for (size_t i = 0; i < c->m->n_results; i++) {
		const struct measure_result *r = &c->m->results[i];

		if (!drawn(r))
			continue;
		if (!c->smallest || unit(c, r) < c->smallest)
			c->smallest = unit(c, r);
		if (unit(c, r) > c->largest)
			c->largest = unit(c, r);
	}
	for (size_t i = 0; i < c->m->n_rooflines; i++)
		if (c->m->rooflines[i].threads == 1 && c->m->rooflines[i].aes128 > c->most)
			c->most = c->m->rooflines[i].aes128;
	if (c->disk > c->most)
		c->most = c->disk;
	if (c->disk > 0 && c->disk < c->least)
		c->least = c->disk;
}

static int find_lines(struct chart *c)
{
	bool known;

	c->lines = calloc(c->m->n_results + 1, sizeof(*c->lines));
	if (!c->lines)
		return -ENOMEM;
	for (size_t i = 0; i < c->m->n_results; i++) {
		const struct measure_result *r = &c->m->results[i];

		known = !drawn(r);
		for (size_t j = 0; j < c->n_lines && !known; j++)
			known = same_line(c, c->lines[j].first, r);
		if (!known)
			c->lines[c->n_lines++].first = r;
	}
	return 0;
}

/* In gnuplot's double quotes. */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text != '"' && *text != '\\' && *text != '`' && (unsigned char)*text >= ' ')
			fputc(*text, out);
}

static void put_name(const struct chart *c, const struct measure_result *r)
{
	char text[SPEC_TEXT_MAX], flags[FLAGS_TEXT_MAX];
	struct spec spec = r->spec;

	spec.sector = c->by_size ? spec.sector : 0;
	put_text(c->out, spec_print(&spec, text));
	fprintf(c->out, ", %s", measure_engine_name(r->engine));
	if (r->engine == MEASURE_CPU) {
		fputc(' ', c->out);
		put_text(c->out, r->tier);
	}
	if (r->shape == ENGINE_MULTI)
		fprintf(c->out, ", multi");
	if (c->threads)
		fprintf(c->out, ", %u thread%s", r->threads, r->threads == 1 ? "" : "s");
	if (c->depths && r->depth)
		fprintf(c->out, ", %u in flight", r->depth);
	if (r->flags)
		fprintf(c->out, ", %s", flags_print(r->flags, flags));
	if (c->paths && r->engine == MEASURE_AFALG)
		fprintf(c->out, ", %s", measure_path_name(r->path));
}

static int compare(const void *a, const void *b)
{
	const struct measure_result *x = *(const struct measure_result *const *)a;
	const struct measure_result *y = *(const struct measure_result *const *)b;
	uint64_t sx = x->spec.sector + x->size, sy = y->spec.sector + y->size;

	return (sx > sy) - (sx < sy);
}

/* Size, median, quartiles: a data block for each line and direction; a line that lacks a direction
 * gets a point that is nowhere. Returns 0 or -ENOMEM. */
static int put_data(const struct chart *c, size_t line, enum engine_direction direction)
{
	const struct measure_result **sorted;
	size_t n = 0;

	sorted = calloc(c->m->n_results + 1, sizeof(const struct measure_result *));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < c->m->n_results; i++) {
		const struct measure_result *r = &c->m->results[i];

		if (drawn(r) && r->direction == direction && same_line(c, c->lines[line].first, r))
			sorted[n++] = r;
	}
	qsort(sorted, n, sizeof(*sorted), compare);
	fprintf(c->out, "$line%zu_%d << END\n", line, direction);
	for (size_t i = 0; i < n; i++)
		fprintf(c->out, "%" PRIu64 " %.6g %.6g %.6g\n", unit(c, sorted[i]),
			sorted[i]->median / 1e9, sorted[i]->low / 1e9, sorted[i]->high / 1e9);
	if (!n)
		fprintf(c->out, "NaN NaN NaN NaN\n");
	fprintf(c->out, "END\n");
	free(sorted);
	return 0;
}

/* The best of one thread, of each key size that is drawn; 0: none. */
static double roofline(const struct chart *c, unsigned bits)
{
	double most = 0, speed;
	bool wanted = false;

	for (size_t i = 0; i < c->m->n_results && !wanted; i++) {
		const struct spec *spec = &c->m->results[i].spec;

		wanted = drawn(&c->m->results[i]) && !strcmp(spec->kind->cipher, "aes") &&
			 (spec->key_bits / (spec->kind->key_halves == 2 ? 2 : 1) == 128) ==
				 (bits == 128);
	}
	for (size_t i = 0; i < c->m->n_rooflines && wanted; i++) {
		speed = bits == 128 ? c->m->rooflines[i].aes128 : c->m->rooflines[i].aes256;
		if (c->m->rooflines[i].threads == 1 && speed > most)
			most = speed;
	}
	return most / 1e9;
}

static void put_style(const struct chart *c, size_t i)
{
	fprintf(c->out, "linecolor rgb '%s' dashtype %s linewidth 2 pointtype %d pointsize 1.1",
		colours[i % COUNT(colours)], dashes[(i / COUNT(colours) + i) % COUNT(dashes)],
		markers[i % COUNT(markers)]);
}

static void put_panel(const struct chart *c, enum engine_direction direction)
{
	static const unsigned roofs[] = {256, 128};

	fprintf(c->out, "set title '%s'\nplot ",
		direction == ENGINE_ENCRYPT ? "Encryption" : "Decryption");
	/* Bands first, so that lines are over all of them. */
	for (size_t i = 0; i < c->n_lines; i++)
		fprintf(c->out,
			"$line%zu_%d using 1:3:4 with filledcurves fillcolor rgb '%s' "
			"fillstyle transparent solid 0.18 noborder notitle, \\\n",
			i, direction, colours[i % COUNT(colours)]);
	for (size_t i = 0; i < COUNT(roofs); i++)
		if (roofline(c, roofs[i]) > 0)
			fprintf(c->out,
				"%.6g with lines linecolor rgb '#808080' dashtype %s linewidth 1.5 "
				"notitle, \\\n",
				roofline(c, roofs[i]), roofs[i] == 256 ? "(12,4)" : "(3,3)");
	if (c->disk > 0)
		fprintf(c->out, "%.6g with lines " DISK_LINE " notitle, \\\n", c->disk / 1e9);
	for (size_t i = 0; i < c->n_lines; i++) {
		fprintf(c->out, "$line%zu_%d using 1:2 with linespoints ", i, direction);
		put_style(c, i);
		fprintf(c->out, " notitle%s", i + 1 < c->n_lines ? ", \\\n" : "\n");
	}
}

/* The key, as a plot of its own that shows nothing else, under both panels. */
static void put_key(const struct chart *c, double height)
{
	fprintf(c->out,
		"set lmargin at screen 0.02\nset rmargin at screen 0.98\n"
		"set bmargin at screen 0.005\nset tmargin at screen %.4f\n"
		"unset title\nunset border\nunset tics\nunset xlabel\nunset ylabel\nunset logscale\n"
		"unset grid\nunset label\nset xrange [0:1]\nset yrange [0:1]\n"
		"set key inside center center Left reverse maxcols %d samplen 5 spacing 1.05 noenhanced "
		"\nset samples 2\nplot ",
		height, KEY_COLUMN);
	for (size_t i = 0; i < c->n_lines; i++) {
		fprintf(c->out, "NaN with linespoints ");
		put_style(c, i);
		fprintf(c->out, " title \"");
		put_name(c, c->lines[i].first);
		fprintf(c->out, "\", \\\n");
	}
	if (c->disk > 0)
		fprintf(c->out,
			"NaN with lines " DISK_LINE
			" title \"the disk alone, reading: %.3g GB/s\", \\\n",
			c->disk / 1e9);
	if (roofline(c, 256) > 0)
		fprintf(c->out, "NaN with lines linecolor rgb '#808080' dashtype (12,4) linewidth "
				"1.5 title \"AES-256 rounds alone, the most of one thread\", \\\n");
	if (roofline(c, 128) > 0)
		fprintf(c->out, "NaN with lines linecolor rgb '#808080' dashtype (3,3) linewidth "
				"1.5 title \"AES-128 rounds alone, the most of one thread\", \\\n");
	fprintf(c->out, "NaN with filledcurves fillcolor rgb '#808080' fillstyle transparent solid "
			"0.3 noborder title \"between the quartiles\"\n");
}

/* Sizes as people say them, where they are powers of two. */
static void put_ticks(const struct chart *c)
{
	bool first = true;
	uint64_t from = 1;

	while (from * 2 <= c->smallest)
		from *= 2;
	fprintf(c->out, "set xtics (");
	for (uint64_t x = from; x <= c->largest * 2; x *= 2) {
		if (c->largest / (from ? from : 1) > 512 && (x / from) % 3 == 2)
			continue;
		fprintf(c->out, "%s\"%" PRIu64 "%s\" %" PRIu64, first ? "" : ", ",
			x < 1024      ? x
			: x < 1048576 ? x / 1024
				      : x / 1048576,
			x < 1024      ? ""
			: x < 1048576 ? "K"
				      : "M",
			x);
		first = false;
	}
	fprintf(c->out, ")\n");
}

static void put_frame(const struct chart *c, const char *cpu, const char *terminal, double key)
{
	const int height = PANEL + (int)(key + 0.5);
	const char *what = c->by_size ? "bytes a request" : "bytes a sector or message";

	fprintf(c->out,
		"set terminal %s size %d,%d font 'sans,12' background rgb 'white'%s noenhanced\n",
		terminal, WIDTH, height, !strcmp(terminal, "pngcairo") ? " fontscale 1.0" : "");
	fprintf(c->out, "set multiplot title \"Throughput");
	if (cpu && *cpu) {
		fprintf(c->out, " on ");
		put_text(c->out, cpu);
	}
	fprintf(c->out, "\" noenhanced\nset datafile missing 'NaN'\n");
	fprintf(c->out, "set logscale x 2\nset xrange [%.6g:%.6g]\n", (double)c->smallest / 1.25,
		(double)c->largest * 1.25);
	put_ticks(c);
	/* Ciphers that differ twentyfold are not seen on one scale otherwise. */
	if (c->most > 20 * c->least)
		fprintf(c->out, "set logscale y 10\nset yrange [%.6g:%.6g]\n", c->least / 1e9 / 1.3,
			c->most / 1e9 * 1.3);
	else
		fprintf(c->out, "set yrange [0:%.6g]\n", c->most / 1e9 * 1.08);
	fprintf(c->out,
		"set format y '%%g'\nset grid xtics ytics linetype 1 linecolor rgb '#E4E4E4' linewidth 1\n"
		"set xlabel '%s'\nset border 3\nset tics nomirror out\nunset key\n"
		"set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
		what, 1 - 70.0 / height, (key + 66) / height);
}

static int put_all(const struct chart *c, const char *cpu, const char *terminal)
{
	/* The lines, the rooflines, the disk and the band. */
	const size_t entries = c->n_lines + 3 + (c->disk > 0);
	const double key = KEY_LINE * (double)((entries + KEY_COLUMN - 1) / KEY_COLUMN) + 14;
	int ret = 0;

	for (size_t i = 0; i < c->n_lines && !ret; i++) {
		ret = put_data(c, i, ENGINE_ENCRYPT);
		if (!ret)
			ret = put_data(c, i, ENGINE_DECRYPT);
	}
	if (ret)
		return ret;
	put_frame(c, cpu, terminal, key);
	fprintf(c->out,
		"set ylabel 'GB/s%s'\nset lmargin at screen 0.07\nset rmargin at screen "
		"0.51\n",
		c->most > 20 * c->least ? ", logarithmic" : "");
	put_panel(c, ENGINE_ENCRYPT);
	fprintf(c->out, "unset ylabel\nset lmargin at screen 0.55\nset rmargin at screen 0.985\n");
	put_panel(c, ENGINE_DECRYPT);
	put_key(c, key / (PANEL + (int)(key + 0.5)));
	fprintf(c->out, "unset multiplot\n");
	return ferror(c->out) ? -ENOMEM : 0;
}

int chart_script(FILE *out, const struct measurement *m, const char *cpu, double disk,
		 const char *terminal)
{
	struct chart c = {.out = out, .m = m, .disk = disk};
	int ret;

	find_ranges(&c);
	ret = find_lines(&c);
	if (!ret)
		ret = c.n_lines ? put_all(&c, cpu, terminal) : -ENODATA;
	free(c.lines);
	return ret;
}
