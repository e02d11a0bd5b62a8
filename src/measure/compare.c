// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/stats.h"

/* Of the normal distribution, both sides. */
#define CONFIDENCE_95 1.96
/* The standard error of a median from its quartiles: McGill, Tukey & Larsen 1978, "Variations of
 * box plots", section 7. */
#define QUARTILES_TO_ERROR 0.93

/* A result on its way to its partner. */
struct half {
	const struct measure_result *result;
	size_t index;
};

static int compare_halves(const void *a, const void *b)
{
	const struct half *x = a, *y = b;
	int ret = measure_order(x->result, y->result);

	return ret ? ret : strcmp(x->result->tier, y->result->tier);
}

static struct half *sorted_halves(const struct measurement *m)
{
	struct half *halves = malloc((m->n_results + 1) * sizeof(*halves));

	if (!halves)
		return NULL;
	for (size_t i = 0; i < m->n_results; i++)
		halves[i] = (struct half){&m->results[i], i};
	qsort(halves, m->n_results, sizeof(*halves), compare_halves);
	return halves;
}

/* One side of the matching: halves in order, and the index of each one's partner. */
struct side {
	struct half *halves;
	size_t n, *partner;
};

#define NONE ((size_t)-1)

static void pair(const struct side *a, size_t i, const struct side *b, size_t j)
{
	a->partner[a->halves[i].index] = b->halves[j].index;
	b->partner[b->halves[j].index] = a->halves[i].index;
}

/* Of a run of cells that differ in their tier alone, from `at` to `end`: the one that has no
 * partner yet, or NONE when there are more or none. */
static size_t left_over(const struct side *side, size_t at, size_t end)
{
	size_t found = NONE;

	for (; at < end; at++) {
		if (side->partner[side->halves[at].index] != NONE)
			continue;
		if (found != NONE)
			return NONE;
		found = at;
	}
	return found;
}

static size_t run_end(const struct side *side, size_t at, const struct measure_result *key)
{
	while (at < side->n && !measure_order(side->halves[at].result, key))
		at++;
	return at;
}

static void match_run(const struct side *a, size_t a_at, size_t a_end, const struct side *b,
		      size_t b_at, size_t b_end)
{
	size_t i = a_at, j = b_at;

	while (i < a_end && j < b_end) {
		int order = strcmp(a->halves[i].result->tier, b->halves[j].result->tier);

		if (!order)
			pair(a, i, b, j);
		i += order <= 0;
		j += order >= 0;
	}
	i = left_over(a, a_at, a_end);
	j = left_over(b, b_at, b_end);
	if (i != NONE && j != NONE)
		pair(a, i, b, j);
}

static void match(const struct side *a, const struct side *b)
{
	size_t i = 0, j = 0, i_end, j_end;

	while (i < a->n && j < b->n) {
		int order = measure_order(a->halves[i].result, b->halves[j].result);

		if (order) {
			i += order < 0;
			j += order > 0;
			continue;
		}
		i_end = run_end(a, i, a->halves[i].result);
		j_end = run_end(b, j, a->halves[i].result);
		match_run(a, i, i_end, b, j, j_end);
		i = i_end;
		j = j_end;
	}
}

/* The square of the relative standard error; negative when the spread is not known. */
static double variance(const struct measure_result *r, bool disturbed)
{
	double error;

	if (!r->slices && !(r->high > r->low))
		return -1;
	error = QUARTILES_TO_ERROR * stats_spread(r->median, r->low, r->high) /
		sqrt(r->slices && !disturbed ? r->slices : 1);
	return error * error + COMPARE_DRIFT * COMPARE_DRIFT;
}

bool compare_disturbed(const struct measurement *m)
{
	static const char *const ids[] = {"busy", "steal", "throttled", "noisy", "drift", "hot"};

	for (size_t i = 0; i < m->n_conditions; i++)
		for (size_t j = 0; j < sizeof(ids) / sizeof(ids[0]); j++)
			if (!strcmp(m->conditions[i].id, ids[j]))
				return true;
	return false;
}

bool compare_interval(const struct measure_result *first, bool first_disturbed,
		      const struct measure_result *other, bool other_disturbed, double *low,
		      double *high)
{
	double a = variance(first, first_disturbed), b = variance(other, other_disturbed), factor;
	double ratio = other->median / first->median;

	if (a < 0 || b < 0)
		return false;
	/* On the scale of logarithms: a ratio is as far below 1 as its inverse is above. */
	factor = exp(CONFIDENCE_95 * sqrt(a + b));
	*low = ratio / factor;
	*high = ratio * factor;
	return true;
}

static bool failed(const struct measure_result *r)
{
	return *r->error_code;
}

/* What add() knows beside a cell. */
struct runs {
	bool first_disturbed, other_disturbed;
};

static void judge(struct compare_cell *cell, const struct runs *runs)
{
	const struct measure_result *first = cell->first, *other = cell->other;

	if (!other) {
		cell->verdict = COMPARE_ONLY_FIRST;
	} else if (!first) {
		cell->verdict = COMPARE_ONLY_OTHER;
	} else if (failed(first) || failed(other)) {
		cell->verdict = failed(first) ? COMPARE_GAINED : COMPARE_LOST;
	} else {
		cell->ratio = other->median / first->median;
		cell->verdict = COMPARE_UNCLEAR;
		if (!compare_interval(first, runs->first_disturbed, other, runs->other_disturbed,
				      &cell->low, &cell->high))
			return;
		if (cell->low > 1)
			cell->verdict = COMPARE_FASTER;
		else if (cell->high < 1)
			cell->verdict = COMPARE_SLOWER;
	}
}

static void add(struct comparison *c, const struct runs *runs, const struct measure_result *first,
		const struct measure_result *other)
{
	struct compare_cell *cell = &c->cells[c->n];

	if ((!first || failed(first)) && (!other || failed(other)))
		return;
	*cell = (struct compare_cell){.first = first, .other = other};
	judge(cell, runs);
	c->count[cell->verdict]++;
	c->n++;
}

static int find_median(struct comparison *c)
{
	double *ratios = malloc((c->n + 1) * sizeof(*ratios));
	struct stats stats;
	size_t n = 0;

	if (!ratios)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (c->cells[i].ratio > 0)
			ratios[n++] = c->cells[i].ratio;
	if (n) {
		stats_of(&stats, ratios, n);
		c->median = stats.median;
	}
	free(ratios);
	return 0;
}

static int side_new(struct side *side, const struct measurement *m)
{
	side->n = m->n_results;
	side->halves = sorted_halves(m);
	side->partner = malloc((m->n_results + 1) * sizeof(*side->partner));
	if (!side->halves || !side->partner)
		return -ENOMEM;
	for (size_t i = 0; i < side->n; i++)
		side->partner[i] = NONE;
	return 0;
}

static void side_free(struct side *side)
{
	free(side->halves);
	free(side->partner);
}

size_t compare_drop_unchecked(struct measurement *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_results; i++) {
		struct measure_result *r = &m->results[i];

		if (*r->error_code || r->checked)
			continue;
		snprintf(r->error_code, sizeof(r->error_code), "unchecked");
		snprintf(r->error_reason, sizeof(r->error_reason),
			 "the file does not say that its output was checked");
		n++;
	}
	return n;
}

int compare_make(struct comparison *c, const struct measurement *first,
		 const struct measurement *other)
{
	const struct runs runs = {compare_disturbed(first), compare_disturbed(other)};
	struct side a = {NULL, 0, NULL}, b = {NULL, 0, NULL};
	int ret;

	memset(c, 0, sizeof(*c));
	ret = side_new(&a, first);
	if (!ret)
		ret = side_new(&b, other);
	if (!ret) {
		c->cells = calloc(a.n + b.n + 1, sizeof(*c->cells));
		ret = c->cells ? 0 : -ENOMEM;
	}
	if (ret)
		goto out;
	match(&a, &b);
	for (size_t i = 0; i < a.n; i++)
		add(c, &runs, &first->results[i],
		    a.partner[i] == NONE ? NULL : &other->results[a.partner[i]]);
	for (size_t i = 0; i < b.n; i++)
		if (b.partner[i] == NONE)
			add(c, &runs, NULL, &other->results[i]);
	ret = find_median(c);
out:
	side_free(&a);
	side_free(&b);
	return ret;
}

void compare_free(struct comparison *c)
{
	free(c->cells);
	memset(c, 0, sizeof(*c));
}

bool compare_below(const struct compare_cell *cell, double limit)
{
	if (cell->verdict == COMPARE_LOST)
		return true;
	return cell->ratio > 0 && cell->high > 0 && cell->ratio < limit &&
	       cell->high < (limit > 1 ? limit : 1);
}

const char *compare_verdict_name(enum compare_verdict verdict)
{
	static const char *const names[COMPARE_VERDICTS] = {
		[COMPARE_FASTER] = "faster",         [COMPARE_SLOWER] = "slower",
		[COMPARE_UNCLEAR] = "cannot-tell",   [COMPARE_LOST] = "lost",
		[COMPARE_GAINED] = "gained",         [COMPARE_ONLY_FIRST] = "only-first",
		[COMPARE_ONLY_OTHER] = "only-other",
	};

	return names[verdict];
}
