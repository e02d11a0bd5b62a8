// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_crossing.h"

#include "report/json_measure.h"
#include "util/json.h"

static struct json_object *path_object(const struct crossing_path *path, enum measure_path which)
{
	struct json_object *obj = json_object_new_object();

	json_put_string(obj, "path", measure_path_name(which));
	json_put_real(obj, "switch_ns", path->switch_ns);
	json_put_real(obj, "copy_ns_per_byte", path->copy_ns_per_byte);
	json_put_real(obj, "error", path->error);
	return obj;
}

static void put_cipher(struct json_object *obj, const struct spec *spec,
		       enum engine_direction direction, enum measure_path path)
{
	char text[SPEC_TEXT_MAX];

	json_put_string(obj, "spec", spec_print(spec, text));
	json_put_string(obj, "direction", direction == ENGINE_ENCRYPT ? "encrypt" : "decrypt");
	json_put_string(obj, "path", measure_path_name(path));
}

static struct json_object *row_object(const struct crossing_row *row)
{
	struct json_object *obj = json_object_new_object();

	put_cipher(obj, &row->spec, row->direction, row->path);
	json_put_u64(obj, "size", row->size);
	json_put_string(obj, "tier", *row->tier ? row->tier : NULL);
	json_put_string(obj, "driver", *row->driver ? row->driver : NULL);
	if (row->in_process_ns > 0)
		json_put_real(obj, "in_process_ns", row->in_process_ns);
	else
		json_put(obj, "in_process_ns", NULL);
	json_put_real(obj, "kernel_ns", row->kernel_ns);
	json_put_real(obj, "crossing_ns", row->crossing_ns);
	json_put_real(obj, "switch_ns", row->switch_ns);
	json_put_real(obj, "copy_ns", row->copy_ns);
	json_put_real(obj, "share", row->share);
	return obj;
}

static struct json_object *from_object(const struct crossing_from *from)
{
	struct json_object *obj = json_object_new_object();

	put_cipher(obj, &from->spec, from->direction, from->path);
	json_put_u64_or_null(obj, "crossing", from->crossing);
	json_put_u64_or_null(obj, "switch", from->mode_switch);
	return obj;
}

void json_put_crossing(struct json_object *doc, const struct crossing *c)
{
	struct json_object *obj, *array;

	if (!c->asked) {
		json_put(doc, "crossing", NULL);
		return;
	}
	obj = json_object_new_object();
	json_put_bool(obj, "available", c->available);
	json_put_string(obj, "reason", *c->reason ? c->reason : NULL);
	json_put_string(obj, "basis",
			!c->available    ? NULL
			: c->null_cipher ? "null-cipher"
					 : "difference");
	array = json_object_new_array();
	for (int i = MEASURE_COPY; i <= MEASURE_SPLICE; i++)
		if (c->paths[i].known)
			json_append(array, path_object(&c->paths[i], i));
	json_put(obj, "paths", array);
	array = json_object_new_array();
	for (size_t i = 0; i < c->n_rows; i++)
		json_append(array, row_object(&c->rows[i]));
	json_put(obj, "sizes", array);
	array = json_object_new_array();
	for (size_t i = 0; i < c->n_froms; i++)
		json_append(array, from_object(&c->froms[i]));
	json_put(obj, "small_from", array);
	json_put(doc, "crossing", obj);
}

void json_put_versus(struct json_object *doc, const struct versus_list *list)
{
	struct json_object *array = json_object_new_array(), *obj;
	char text[SPEC_TEXT_MAX];

	for (size_t i = 0; i < list->n; i++) {
		const struct versus *v = &list->list[i];

		obj = json_object_new_object();
		json_put_string(obj, "left", v->left);
		json_put_string(obj, "right", v->right);
		json_put_string(obj, "left_spec", spec_print(&v->a->spec, text));
		json_put_string(obj, "right_spec", spec_print(&v->b->spec, text));
		json_put_string(obj, "engine", measure_engine_name(v->a->engine));
		json_put_string(obj, "tier", *v->a->tier ? v->a->tier : NULL);
		json_put_string(obj, "direction",
				v->a->direction == ENGINE_ENCRYPT ? "encrypt" : "decrypt");
		json_put_string(obj, "shape", v->a->shape == ENGINE_MULTI ? "multi" : "serial");
		json_put_u64(obj, "size", v->a->size);
		json_put_u64(obj, "threads", v->a->threads);
		json_put_u64(obj, "depth", v->a->depth);
		json_put_real(obj, "ratio", v->ratio);
		json_put_real(obj, "low", v->low);
		json_put_real(obj, "high", v->high);
		json_put_string(obj, "verdict", versus_verdict_name(v->verdict));
		json_append(array, obj);
	}
	json_put(doc, "versus", array);
}
