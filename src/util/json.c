// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/json.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/output.h"
#include "util/text.h"

static struct json_object *json_string(const char *value)
{
	const char *in = value;
	struct json_object *obj;
	char *clean, *out;
	size_t n;

	clean = out = malloc(3 * strlen(value) + 1);
	if (!clean)
		return NULL;
	for (; *in; in += n ? n : 1) {
		n = text_utf8(in);
		memcpy(out, n ? in : "\xef\xbf\xbd", n ? n : 3);
		out += n ? n : 3;
	}
	*out = '\0';
	obj = json_object_new_string(clean);
	free(clean);
	return obj;
}

struct json_object *json_document(const char *name)
{
	struct json_object *obj = json_object_new_object();
	char schema[64];

	snprintf(schema, sizeof(schema), "dmcrypt-tune.%s.v1", name);
	json_put_string(obj, "schema", schema);
	return obj;
}

void json_put(struct json_object *obj, const char *key, struct json_object *value)
{
	if (!obj || json_object_object_add(obj, key, value))
		json_object_put(value);
}

void json_put_string(struct json_object *obj, const char *key, const char *value)
{
	json_put(obj, key, value ? json_string(value) : NULL);
}

struct json_object *json_hex(const char *text)
{
	struct json_object *obj;
	char *hex = malloc(2 * strlen(text) + 1);

	if (!hex)
		return NULL;
	for (size_t i = 0; text[i]; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)text[i]);
	hex[2 * strlen(text)] = '\0';
	obj = json_object_new_string(hex);
	free(hex);
	return obj;
}

void json_put_path(struct json_object *obj, const char *key, const char *path)
{
	char hex[64];

	json_put_string(obj, key, path);
	if (!path || text_is_utf8(path))
		return;
	snprintf(hex, sizeof(hex), "%s_hex", key);
	json_put(obj, hex, json_hex(path));
}

void json_put_u64(struct json_object *obj, const char *key, uint64_t value)
{
	json_put(obj, key, json_object_new_uint64(value));
}

void json_put_u64_or_null(struct json_object *obj, const char *key, uint64_t value)
{
	json_put(obj, key, value ? json_object_new_uint64(value) : NULL);
}

void json_put_bool(struct json_object *obj, const char *key, bool value)
{
	json_put(obj, key, json_object_new_boolean(value));
}

void json_put_real(struct json_object *obj, const char *key, double value)
{
	struct json_object *real = NULL;

	/* json-c prints the shortest form that reads back exactly, or 17 digits: four decimals are
	 * what is meant. */
	static char format[] = "%.4f";

	if (isfinite(value)) {
		real = json_object_new_double(value);
		if (real)
			json_object_set_serializer(real, json_object_double_to_json_string, format,
						   NULL);
	}
	json_put(obj, key, real);
}

void json_append(struct json_object *array, struct json_object *value)
{
	if (!array || json_object_array_add(array, value))
		json_object_put(value);
}

void json_append_string(struct json_object *array, const char *value)
{
	json_append(array, value ? json_string(value) : NULL);
}

int json_print(struct json_object *obj)
{
	const char *text;
	int ret;

	text = obj ? json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_SPACED |
								 JSON_C_TO_STRING_NOSLASHESCAPE)
		   : NULL;
	if (!text)
		ret = -ENOMEM;
	else
		ret = puts(text) < 0 && errno ? -errno : output_flush();
	json_object_put(obj);
	return ret;
}
