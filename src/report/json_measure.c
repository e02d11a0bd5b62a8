// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_measure.h"

#include "measure/backend.h"
#include "measure/flags.h"
#include "report/multi_curve.h"
#include "util/json.h"

/* Whole bytes per second: a fraction of one is no information. */
static void put_speed(struct json_object *obj, const char *key, double speed)
{
	json_put_u64(obj, key, (uint64_t)(speed + 0.5));
}

static struct json_object *roofline_object(const struct measure_roofline *r)
{
	struct json_object *obj = json_object_new_object();

	json_put_u64(obj, "bits", r->bits);
	json_put_u64(obj, "threads", r->threads);
	json_put_u64_or_null(obj, "bytes_per_second_aes128", (uint64_t)(r->aes128 + 0.5));
	json_put_u64_or_null(obj, "bytes_per_second_aes256", (uint64_t)(r->aes256 + 0.5));
	return obj;
}

static struct json_object *condition_object(const struct measure_condition *c)
{
	struct json_object *obj = json_object_new_object();

	json_put_string(obj, "id", c->id);
	json_put_string(obj, "message", c->message);
	return obj;
}

static struct json_object *error_object(const struct measure_result *r)
{
	struct json_object *obj = json_object_new_object();

	json_put_string(obj, "code", r->error_code);
	json_put_string(obj, "reason", r->error_reason);
	return obj;
}

static void put_dm(struct json_object *obj, const struct measure_result *r)
{
	struct json_object *flags = json_object_new_array();

	for (unsigned i = 0; i < MEASURE_FLAGS; i++)
		if (r->flags & 1U << i)
			json_append_string(flags, flags_name(i));
	json_put(obj, "flags", flags);
	json_put_string(obj, "queue", *r->queue ? r->queue : NULL);
}

static struct json_object *ratio_object(const struct measure_ratio *ratio)
{
	struct json_object *obj;

	if (!ratio->pairs)
		return NULL;
	obj = json_object_new_object();
	json_put_real(obj, "ratio", ratio->ratio);
	json_put_real(obj, "low", ratio->low);
	json_put_real(obj, "high", ratio->high);
	json_put_u64(obj, "pairs", ratio->pairs);
	return obj;
}

static struct json_object *result_object(const struct measure_result *r)
{
	struct json_object *obj = json_object_new_object();
	char spec[SPEC_TEXT_MAX];

	json_put_string(obj, "spec",
			r->spec.kind == &backend_null_kind ? NULL : spec_print(&r->spec, spec));
	json_put_string(obj, "engine", measure_engine_name(r->engine));
	json_put_string(obj, "tier", *r->tier ? r->tier : NULL);
	if (r->spec.kind->record)
		json_put_bool(obj, "for_the_record", true);
	json_put_string(obj, "shape", r->shape == ENGINE_MULTI ? "multi" : "serial");
	json_put_string(obj, "direction", r->direction == ENGINE_ENCRYPT ? "encrypt" : "decrypt");
	json_put_u64(obj, "size", r->size);
	json_put_u64(obj, "threads", r->threads);
	json_put_u64(obj, "depth", r->depth);
	json_put_string(obj, "path",
			r->engine == MEASURE_AFALG ? measure_path_name(r->path) : NULL);
	if (r->engine == MEASURE_DM)
		put_dm(obj, r);
	if (*r->error_code) {
		json_put(obj, "error", error_object(r));
		return obj;
	}
	put_speed(obj, "median", r->median);
	put_speed(obj, "low", r->low);
	put_speed(obj, "high", r->high);
	json_put_u64_or_null(obj, "slices", r->slices);
	if (r->roofline_share > 0)
		json_put_real(obj, "roofline_share", r->roofline_share);
	else
		json_put(obj, "roofline_share", NULL);
	json_put(obj, "to_roofline", ratio_object(&r->to_roofline));
	json_put(obj, "to_best", ratio_object(&r->to_best));
	if (r->scaling > 0)
		json_put_real(obj, "scaling", r->scaling);
	else
		json_put(obj, "scaling", NULL);
	json_put_bool(obj, "checked", r->checked);
	return obj;
}

void json_put_conditions(struct json_object *obj, const struct measurement *m)
{
	struct json_object *array = json_object_new_array();

	/* A saved file need not have the sentence. */
	for (size_t i = 0; i < m->n_conditions; i++)
		if (*m->conditions[i].message)
			json_append(array, condition_object(&m->conditions[i]));
	json_put(obj, "conditions", array);
}

static struct json_object *fit_object(const struct measure_fit *fit)
{
	struct json_object *obj = json_object_new_object();
	char spec[SPEC_TEXT_MAX];

	json_put_string(obj, "spec", spec_print(&fit->spec, spec));
	json_put_string(obj, "direction", fit->direction == ENGINE_ENCRYPT ? "encrypt" : "decrypt");
	json_put_string(obj, "path", measure_path_name(fit->path));
	json_put_u64(obj, "depth", fit->depth);
	json_put_u64(obj, "threads", fit->threads);
	json_put_string(obj, "tier", *fit->tier ? fit->tier : NULL);
	json_put_u64(obj, "sizes", fit->points);
	json_put_real(obj, "fixed_ns", fit->fixed_ns);
	json_put_real(obj, "per_byte_ns", fit->per_byte_ns);
	json_put_real(obj, "per_byte_ns_low", fit->per_byte_low);
	json_put_real(obj, "per_byte_ns_high", fit->per_byte_high);
	json_put_u64_or_null(obj, "bytes_per_second",
			     fit->per_byte_ns > 0 ? (uint64_t)(1e9 / fit->per_byte_ns + 0.5) : 0);
	json_put_real(obj, "error", fit->error);
	json_put_real(obj, "error_worst", fit->worst);
	return obj;
}

static struct json_object *costs_object(const struct measurement *m)
{
	struct json_object *obj = json_object_new_object();

	if (m->handoff > 0) {
		json_put_real(obj, "handoff_ns", m->handoff * 1e9);
		json_put_real(obj, "copy_ns_per_kib", m->copy * 1e9 * 1024);
		json_put_real(obj, "syscall_ns", m->syscall * 1e9);
	} else {
		json_put(obj, "handoff_ns", NULL);
		json_put(obj, "copy_ns_per_kib", NULL);
		json_put(obj, "syscall_ns", NULL);
	}
	return obj;
}

void json_put_measurement(struct json_object *obj, const struct measurement *m)
{
	struct json_object *array;

	array = json_object_new_array();
	for (size_t i = 0; i < m->n_rooflines; i++)
		json_append(array, roofline_object(&m->rooflines[i]));
	json_put(obj, "roofline", array);
	array = json_object_new_array();
	for (size_t i = 0; i < m->n_multis; i++)
		json_append(array, multi_curve_json(m, &m->multis[i]));
	json_put(obj, "multi_buffer", array);
	json_put_conditions(obj, m);
	array = json_object_new_array();
	for (size_t i = 0; i < m->n_results; i++)
		json_append(array, result_object(&m->results[i]));
	json_put(obj, "results", array);
	array = json_object_new_array();
	for (size_t i = 0; i < m->n_fits; i++)
		json_append(array, fit_object(&m->fits[i]));
	json_put(obj, "fits", array);
	array = json_object_new_array();
	for (size_t i = 0; i < m->n_crossings; i++)
		json_append(array, result_object(&m->crossings[i]));
	json_put(obj, "crossing_cells", array);
	json_put(obj, "kernel_costs", costs_object(m));
	json_put_real(obj, "seconds", m->seconds);
}
