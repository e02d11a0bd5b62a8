// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/saved_run.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Far more threads than a machine runs. */
#define THREADS_LIMIT 65536

static int read_rooflines(struct measurement *m, const struct saved_place *doc)
{
	struct saved_place array, element;
	size_t n;
	int ret;

	ret = saved_member(doc, "roofline", json_type_array, false, &array);
	if (ret || !array.obj)
		return ret;
	n = json_object_array_length(array.obj);
	m->rooflines = calloc(n + 1, sizeof(*m->rooflines));
	if (!m->rooflines)
		return status_nomem(doc->st);
	for (m->n_rooflines = 0; m->n_rooflines < n && !ret; m->n_rooflines++) {
		struct measure_roofline *r = &m->rooflines[m->n_rooflines];
		uint64_t bits = 0, threads = 1;

		ret = saved_element(&array, m->n_rooflines, &element);
		if (!ret)
			ret = saved_u64(&element, "bits", true, 64, 65536, &bits);
		if (!ret)
			ret = saved_u64(&element, "threads", false, 1, THREADS_LIMIT, &threads);
		if (!ret)
			ret = saved_real(&element, "bytes_per_second_aes128", false, &r->aes128);
		if (!ret)
			ret = saved_real(&element, "bytes_per_second_aes256", false, &r->aes256);
		r->bits = (unsigned)bits;
		r->threads = (unsigned)threads;
	}
	return ret;
}

static int read_conditions(struct measurement *m, const struct saved_place *doc)
{
	struct saved_place array, element;
	size_t n;
	int ret;

	ret = saved_member(doc, "conditions", json_type_array, false, &array);
	if (ret || !array.obj)
		return ret;
	n = json_object_array_length(array.obj);
	m->conditions = calloc(n + 1, sizeof(*m->conditions));
	if (!m->conditions)
		return status_nomem(doc->st);
	for (m->n_conditions = 0; m->n_conditions < n && !ret; m->n_conditions++) {
		struct measure_condition *c = &m->conditions[m->n_conditions];

		ret = saved_element(&array, m->n_conditions, &element);
		if (!ret)
			ret = saved_string(&element, "id", true, c->id, sizeof(c->id));
		if (!ret)
			ret = saved_text(&element, "message", c->message, sizeof(c->message));
	}
	return ret;
}

static int read_multi(struct measure_multi *multi, const struct saved_place *at)
{
	char text[SPEC_TEXT_MAX] = "";
	struct status why = {ST_OK, ""};
	uint64_t from = 0, sectors = 0;
	int ret;

	ret = saved_string(at, "spec", true, text, sizeof(text));
	if (ret)
		return ret;
	if (spec_parse_any(&multi->spec, text, &why))
		return status_set(at->st, ST_USAGE, EINVAL, "%s: %s.spec: %s", at->file, at->where,
				  why.message);
	ret = saved_string(at, "tier", false, multi->tier, sizeof(multi->tier));
	if (!ret)
		ret = saved_bool(at, "available", &multi->available);
	if (!ret)
		ret = saved_u64(at, "pays_from_sectors", false, 2, UINT_MAX, &from);
	if (!ret)
		ret = saved_u64(at, "sectors", false, 1, UINT_MAX, &sectors);
	multi->from = (unsigned)from;
	multi->sectors = (unsigned)sectors;
	return ret ? ret : saved_real(at, "gain", false, &multi->gain);
}

static int read_multis(struct measurement *m, const struct saved_place *doc)
{
	struct saved_place array, element;
	size_t n;
	int ret;

	ret = saved_member(doc, "multi_buffer", json_type_array, false, &array);
	if (ret || !array.obj)
		return ret;
	n = json_object_array_length(array.obj);
	m->multis = calloc(n + 1, sizeof(*m->multis));
	if (!m->multis)
		return status_nomem(doc->st);
	for (m->n_multis = 0; m->n_multis < n && !ret; m->n_multis++) {
		ret = saved_element(&array, m->n_multis, &element);
		if (!ret)
			ret = read_multi(&m->multis[m->n_multis], &element);
	}
	return ret;
}

int saved_run(struct measurement *m, const struct saved_place *doc)
{
	int ret = read_rooflines(m, doc);

	if (!ret)
		ret = read_conditions(m, doc);
	return ret ? ret : read_multis(m, doc);
}
