// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/saved_json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define REAL_MAX 1e15 /* a petabyte per second: more than memory moves */

int saved_wrong(const struct saved_place *at, const char *key, const char *wanted)
{
	struct json_object *value = NULL;
	const char *text = "absent";

	if (json_object_object_get_ex(at->obj, key, &value))
		text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
	return status_set(at->st, ST_USAGE, EINVAL, "%s: %s%s%s is %.80s%s; %s is expected.",
			  at->file, at->where, *at->where && *key ? "." : "", key,
			  text ? text : "?", text && strlen(text) > 80 ? "…" : "", wanted);
}

/* 1: there, 0: absent and allowed to be. */
static int find(const struct saved_place *at, const char *key, bool required, const char *wanted,
		struct json_object **value)
{
	*value = NULL;
	json_object_object_get_ex(at->obj, key, value);
	if (*value)
		return 1;
	return required ? saved_wrong(at, key, wanted) : 0;
}

/* json-c keeps what does not fit into 64 bits at the limit of the range, which no caller's range
 * reaches. A fraction like 512.0 or 1e6 is whole, too. */
static bool whole_number(struct json_object *value, uint64_t *n)
{
	double real;

	if (json_object_is_type(value, json_type_int)) {
		*n = json_object_get_uint64(value);
		return json_object_get_int64(value) >= 0;
	}
	if (!json_object_is_type(value, json_type_double))
		return false;
	real = json_object_get_double(value);
	if (!(real >= 0 && real <= 9007199254740992.0) || real != floor(real))
		return false;
	*n = (uint64_t)real;
	return true;
}

int saved_u64(const struct saved_place *at, const char *key, bool required, uint64_t min,
	      uint64_t max, uint64_t *value)
{
	struct json_object *found;
	char wanted[96];
	uint64_t n = 0;
	int ret;

	snprintf(wanted, sizeof(wanted), "a whole number from %" PRIu64 " to %" PRIu64, min, max);
	ret = find(at, key, required, wanted, &found);
	if (ret <= 0)
		return ret;
	if (!whole_number(found, &n) || n < min || n > max)
		return saved_wrong(at, key, wanted);
	*value = n;
	return 0;
}

static int read_number(const struct saved_place *at, const char *key, bool required, double least,
		       double *value)
{
	const char *wanted = least < 0 ? "a number from -1e15 to 1e15" : "a number from 0 to 1e15";
	struct json_object *found;
	double real;
	int ret;

	ret = find(at, key, required, wanted, &found);
	if (ret <= 0)
		return ret;
	if (!json_object_is_type(found, json_type_int) &&
	    !json_object_is_type(found, json_type_double))
		return saved_wrong(at, key, wanted);
	real = json_object_get_double(found);
	if (!(real >= least && real <= REAL_MAX))
		return saved_wrong(at, key, wanted);
	*value = real;
	return 0;
}

int saved_real(const struct saved_place *at, const char *key, bool required, double *value)
{
	return read_number(at, key, required, 0, value);
}

int saved_signed(const struct saved_place *at, const char *key, bool required, double *value)
{
	return read_number(at, key, required, -REAL_MAX, value);
}

int saved_bool(const struct saved_place *at, const char *key, bool *value)
{
	struct json_object *found;

	if (find(at, key, false, "", &found) <= 0)
		return 0;
	if (!json_object_is_type(found, json_type_boolean))
		return saved_wrong(at, key, "true or false");
	*value = json_object_get_boolean(found);
	return 0;
}

int saved_string(const struct saved_place *at, const char *key, bool required, char *buf,
		 size_t size)
{
	struct json_object *found;
	char wanted[64];
	size_t len;
	int ret;

	snprintf(wanted, sizeof(wanted), "a string of at most %zu bytes", size - 1);
	ret = find(at, key, required, wanted, &found);
	if (ret <= 0)
		return ret;
	if (!json_object_is_type(found, json_type_string))
		return saved_wrong(at, key, wanted);
	len = (size_t)json_object_get_string_len(found);
	if (len >= size || strlen(json_object_get_string(found)) != len)
		return saved_wrong(at, key, wanted);
	memcpy(buf, json_object_get_string(found), len + 1);
	return 0;
}

int saved_text(const struct saved_place *at, const char *key, char *buf, size_t size)
{
	struct json_object *found;

	if (find(at, key, false, "", &found) <= 0)
		return 0;
	if (!json_object_is_type(found, json_type_string))
		return saved_wrong(at, key, "a string");
	snprintf(buf, size, "%s", json_object_get_string(found));
	return 0;
}

int saved_member(const struct saved_place *at, const char *key, enum json_type type, bool required,
		 struct saved_place *member)
{
	const char *wanted = type == json_type_array ? "an array" : "an object";
	int ret;

	*member = *at;
	snprintf(member->where, sizeof(member->where), "%.60s%s%.30s", at->where,
		 *at->where ? "." : "", key);
	ret = find(at, key, required, wanted, &member->obj);
	if (ret <= 0)
		return ret;
	return json_object_is_type(member->obj, type) ? 0 : saved_wrong(at, key, wanted);
}

int saved_element(const struct saved_place *array, size_t i, struct saved_place *element)
{
	*element = *array;
	element->obj = json_object_array_get_idx(array->obj, i);
	snprintf(element->where, sizeof(element->where), "%.60s[%zu]", array->where, i);
	if (!json_object_is_type(element->obj, json_type_object))
		return status_set(array->st, ST_USAGE, EINVAL, "%s: %s is no object.", array->file,
				  element->where);
	return 0;
}
