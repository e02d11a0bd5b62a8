// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/crossing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/decide.h"
#include "measure/fit.h"

static double request_ns(const struct measure_result *r)
{
	return (double)r->size / r->median * 1e9;
}

static bool counts(const struct measure_result *r, enum measure_engine engine)
{
	return r->engine == engine && !*r->error_code && r->checked && r->median > 0 &&
	       !r->spec.sector && r->threads == 1 && r->depth <= 1 && r->shape == ENGINE_SERIAL;
}

static void find_path(struct crossing *c, const struct measurement *m, enum measure_path path)
{
	double x[FIT_POINTS_MAX], y[FIT_POINTS_MAX];
	struct crossing_path *p = &c->paths[path];
	struct fit_line line;
	size_t n = 0;

	for (size_t i = 0; i < m->n_crossings && n < FIT_POINTS_MAX; i++) {
		const struct measure_result *r = &m->crossings[i];

		if (*r->error_code && !*c->reason)
			snprintf(c->reason, sizeof(c->reason), "%s", r->error_reason);
		if (r->path != path || !counts(r, MEASURE_AFALG))
			continue;
		x[n] = (double)r->size;
		y[n++] = request_ns(r);
	}
	p->known = fit_line(&line, x, y, n);
	if (!p->known)
		return;
	p->switch_ns = line.fixed > 0 ? line.fixed : 0;
	p->copy_ns_per_byte = line.slope > 0 ? line.slope : 0;
	p->error = line.error;
}

/* The same message in this process, on the tier that mirrors the kernel's driver. */
static const struct measure_result *in_process(const struct measurement *m,
					       const struct facts *facts,
					       const struct measure_result *kernel)
{
	const char *tier = decide_mirror_tier(&facts->kernel, kernel->spec.kind->kernel);

	/* Else the cipher's own time would be taken for the crossing's. */
	if (decide_mirror_is_faster(&facts->kernel, kernel->spec.kind->kernel))
		return NULL;
	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (counts(r, MEASURE_CPU) && spec_equal(&r->spec, &kernel->spec) &&
		    r->direction == kernel->direction && r->size == kernel->size &&
		    !strcmp(r->tier, tier))
			return r;
	}
	return NULL;
}

/* The null cipher's time at that size by its line, which knows more than one cell does. */
static double null_ns(const struct crossing *c, const struct measure_result *kernel)
{
	const struct crossing_path *p = &c->paths[kernel->path];

	return p->switch_ns + p->copy_ns_per_byte * (double)kernel->size;
}

static void split(struct crossing_row *row, const struct crossing *c, double crossing)
{
	const struct crossing_path *p = &c->paths[row->path];

	/* Noise may make a part larger than the whole. */
	crossing = crossing < 0 ? 0 : crossing > row->kernel_ns ? row->kernel_ns : crossing;
	row->crossing_ns = crossing;
	row->switch_ns = p->switch_ns < crossing ? p->switch_ns : crossing;
	row->copy_ns = crossing - row->switch_ns;
	row->share = crossing / row->kernel_ns;
}

static int add_row(struct crossing *c, const struct measurement *m, const struct facts *facts,
		   const struct measure_result *kernel)
{
	const struct measure_result *here = in_process(m, facts, kernel);
	struct crossing_row *grown;

	if (!c->null_cipher && !here)
		return 0;
	grown = realloc(c->rows, (c->n_rows + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->rows = grown;
	grown += c->n_rows++;
	*grown = (struct crossing_row){.spec = kernel->spec,
				       .direction = kernel->direction,
				       .path = kernel->path,
				       .size = kernel->size,
				       .kernel_ns = request_ns(kernel),
				       .in_process_ns = here ? request_ns(here) : 0};
	memcpy(grown->driver, kernel->tier, sizeof(grown->driver));
	snprintf(grown->tier, sizeof(grown->tier), "%.31s", here ? here->tier : "");
	split(grown, c,
	      c->null_cipher ? null_ns(c, kernel) : grown->kernel_ns - grown->in_process_ns);
	return 0;
}

/* Without the null cipher: the line through what the kernel takes longer than this process. */
static void find_differences(struct crossing *c, enum measure_path path)
{
	double x[FIT_POINTS_MAX], y[FIT_POINTS_MAX];
	struct crossing_path *p = &c->paths[path];
	struct fit_line line;
	size_t n = 0;

	for (size_t i = 0; i < c->n_rows && n < FIT_POINTS_MAX; i++) {
		if (c->rows[i].path != path || c->rows[i].kernel_ns <= c->rows[i].in_process_ns)
			continue;
		x[n] = (double)c->rows[i].size;
		y[n] = c->rows[i].kernel_ns - c->rows[i].in_process_ns;
		n++;
	}
	p->known = fit_line(&line, x, y, n);
	if (!p->known)
		return;
	p->switch_ns = line.fixed > 0 ? line.fixed : 0;
	p->copy_ns_per_byte = line.slope > 0 ? line.slope : 0;
	p->error = line.error;
	for (size_t i = 0; i < c->n_rows; i++)
		if (c->rows[i].path == path)
			split(&c->rows[i], c, c->rows[i].kernel_ns - c->rows[i].in_process_ns);
}

static bool same_cipher(const struct crossing_row *a, const struct crossing_row *b)
{
	return spec_equal(&a->spec, &b->spec) && a->direction == b->direction && a->path == b->path;
}

static int find_from(struct crossing *c, const struct crossing_row *first)
{
	uint64_t from = UINT64_MAX, without_copy = UINT64_MAX, last = 0, last_switch = 0;
	struct crossing_from *grown;

	/* The smallest size beyond the last at which it matters. */
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct crossing_row *r = &c->rows[i];

		if (!same_cipher(r, first))
			continue;
		if (r->share >= CROSSING_MATTERS && r->size > last)
			last = r->size;
		if (r->switch_ns >= CROSSING_MATTERS * r->kernel_ns && r->size > last_switch)
			last_switch = r->size;
	}
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct crossing_row *r = &c->rows[i];

		if (!same_cipher(r, first))
			continue;
		from = r->size > last && r->size < from ? r->size : from;
		if (r->size > last_switch && r->size < without_copy)
			without_copy = r->size;
	}
	grown = realloc(c->froms, (c->n_froms + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->froms = grown;
	grown[c->n_froms++] = (struct crossing_from){first->spec, first->direction, first->path,
						     from == UINT64_MAX ? 0 : from,
						     without_copy == UINT64_MAX ? 0 : without_copy};
	return 0;
}

int crossing_find(struct crossing *c, const struct measurement *m, const struct facts *facts)
{
	bool begun;
	int ret = 0;

	memset(c, 0, sizeof(*c));
	c->asked = m->n_crossings > 0;
	if (!c->asked)
		return 0;
	find_path(c, m, MEASURE_COPY);
	find_path(c, m, MEASURE_SPLICE);
	c->null_cipher = c->paths[MEASURE_COPY].known || c->paths[MEASURE_SPLICE].known;
	for (size_t i = 0; i < m->n_results && !ret; i++) {
		const struct measure_result *r = &m->results[i];

		if (counts(r, MEASURE_AFALG) && (!c->null_cipher || c->paths[r->path].known))
			ret = add_row(c, m, facts, r);
	}
	if (!c->null_cipher) {
		find_differences(c, MEASURE_COPY);
		find_differences(c, MEASURE_SPLICE);
	}
	for (size_t i = 0; i < c->n_rows && !ret; i++) {
		begun = false;
		for (size_t j = 0; j < i && !begun; j++)
			begun = same_cipher(&c->rows[j], &c->rows[i]);
		if (!begun)
			ret = find_from(c, &c->rows[i]);
	}
	c->available = c->n_rows > 0;
	return ret;
}

void crossing_free(struct crossing *c)
{
	free(c->rows);
	free(c->froms);
	memset(c, 0, sizeof(*c));
}
