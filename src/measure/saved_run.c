// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/saved_run.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

static int read_fit_line(struct measure_fit *fit, const struct saved_place *at)
{
	uint64_t points = 0;
	int ret;

	ret = saved_u64(at, "sizes", true, 1, UINT_MAX, &points);
	if (!ret)
		ret = saved_signed(at, "fixed_ns", true, &fit->fixed_ns);
	if (!ret)
		ret = saved_signed(at, "per_byte_ns", true, &fit->per_byte_ns);
	if (!ret)
		ret = saved_signed(at, "per_byte_ns_low", true, &fit->per_byte_low);
	if (!ret)
		ret = saved_signed(at, "per_byte_ns_high", true, &fit->per_byte_high);
	if (!ret)
		ret = saved_real(at, "error", true, &fit->error);
	fit->points = (unsigned)points;
	return ret ? ret : saved_real(at, "error_worst", true, &fit->worst);
}

static int read_fit(struct measure_fit *fit, const struct saved_place *at)
{
	char text[SPEC_TEXT_MAX] = "", direction[16] = "", path[16] = "copy";
	struct status why = {ST_OK, ""};
	uint64_t depth = 1, threads = 1;
	int ret;

	ret = saved_string(at, "spec", true, text, sizeof(text));
	if (ret)
		return ret;
	if (spec_parse_any(&fit->spec, text, &why))
		return status_set(at->st, ST_USAGE, EINVAL, "%s: %s.spec: %s", at->file, at->where,
				  why.message);
	if (saved_string(at, "direction", true, direction, sizeof(direction)) ||
	    (strcmp(direction, "encrypt") && strcmp(direction, "decrypt")))
		return saved_wrong(at, "direction", "\"encrypt\" or \"decrypt\"");
	if (saved_string(at, "path", false, path, sizeof(path)) ||
	    (strcmp(path, "copy") && strcmp(path, "splice")))
		return saved_wrong(at, "path", "\"copy\" or \"splice\"");
	ret = saved_string(at, "tier", false, fit->tier, sizeof(fit->tier));
	if (!ret)
		ret = saved_u64(at, "depth", false, 1, THREADS_LIMIT, &depth);
	if (!ret)
		ret = saved_u64(at, "threads", false, 1, THREADS_LIMIT, &threads);
	fit->direction = *direction == 'd' ? ENGINE_DECRYPT : ENGINE_ENCRYPT;
	fit->path = *path == 's' ? MEASURE_SPLICE : MEASURE_COPY;
	fit->depth = (unsigned)depth;
	fit->threads = (unsigned)threads;
	return ret ? ret : read_fit_line(fit, at);
}

static int read_fits(struct measurement *m, const struct saved_place *doc)
{
	struct saved_place array, element;
	size_t n;
	int ret;

	ret = saved_member(doc, "fits", json_type_array, false, &array);
	if (ret || !array.obj)
		return ret;
	n = json_object_array_length(array.obj);
	m->fits = calloc(n + 1, sizeof(*m->fits));
	if (!m->fits)
		return status_nomem(doc->st);
	for (m->n_fits = 0; m->n_fits < n && !ret; m->n_fits++) {
		ret = saved_element(&array, m->n_fits, &element);
		if (!ret)
			ret = read_fit(&m->fits[m->n_fits], &element);
	}
	return ret;
}

int saved_run(struct measurement *m, const struct saved_place *doc)
{
	int ret = read_rooflines(m, doc);

	if (!ret)
		ret = read_conditions(m, doc);
	if (!ret)
		ret = read_fits(m, doc);
	return ret ? ret : read_multis(m, doc);
}
