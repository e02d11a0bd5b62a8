// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_model.h"

#include "util/json.h"

static struct json_object *prediction_object(const struct prediction *p)
{
	struct json_object *obj = json_object_new_object();
	char spec[SPEC_TEXT_MAX];

	json_put_string(obj, "spec", spec_print(&p->spec, spec));
	json_put_string(obj, "direction", p->direction == ENGINE_ENCRYPT ? "encrypt" : "decrypt");
	json_put_u64(obj, "threads", p->threads);
	json_put_string(obj, "basis", plan_basis_name(p->basis));
	json_put_u64(obj, "bytes_per_second", (uint64_t)(p->speed + 0.5));
	json_put_u64(obj, "low", (uint64_t)(p->low + 0.5));
	json_put_u64(obj, "high", (uint64_t)(p->high + 0.5));
	return obj;
}

void json_put_predictions(struct json_object *obj, const struct predictions *predictions)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < predictions->n; i++)
		json_append(array, prediction_object(&predictions->list[i]));
	json_put(obj, "predictions", array);
}
