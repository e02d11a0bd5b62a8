// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/saved_twice.h"

#include <errno.h>
#include <json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Where the scan stands: for each level the names of its object so far, or NULL for an array. */
struct scan {
	struct json_object *names[SAVED_DEPTH + 1];
	int depth;
	bool name; /* a string that comes next is a name */
};

/* Behind the string that begins at `at`. */
static const char *string_end(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/* A name without its quotes and escapes; NULL when out of memory. */
static struct json_object *parse_name(const char *at, size_t len)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *name = NULL;

	if (tokener)
		name = json_tokener_parse_ex(tokener, at, (int)len);
	json_tokener_free(tokener);
	return name;
}

/* 1: it has been there before; 0, or -ENOMEM. */
static int note(struct json_object *names, const char *at, size_t len)
{
	struct json_object *name = parse_name(at, len);
	const char *text = name ? json_object_get_string(name) : NULL;
	int ret = -ENOMEM;

	if (text && json_object_object_get_ex(names, text, NULL))
		ret = 1;
	else if (text && !json_object_object_add(names, text, NULL))
		ret = 0;
	json_object_put(name);
	return ret;
}

static int begin(struct scan *s, bool object)
{
	if (s->depth >= SAVED_DEPTH)
		return -EINVAL;
	s->names[++s->depth] = object ? json_object_new_object() : NULL;
	s->name = object;
	return object && !s->names[s->depth] ? -ENOMEM : 0;
}

static void end(struct scan *s)
{
	json_object_put(s->names[s->depth]);
	s->names[s->depth] = NULL;
	s->depth -= s->depth > 0;
	s->name = false;
}

/* One step: 0 and *at moves on, 1 at a name that stands twice (up to *behind), or -errno. */
static int step(struct scan *s, const char **at, const char **behind)
{
	int ret = 0;

	*behind = *at + 1;
	switch (**at) {
	case '{':
	case '[':
		ret = begin(s, **at == '{');
		break;
	case '}':
	case ']':
		end(s);
		break;
	case ',':
		s->name = s->names[s->depth];
		break;
	case '"':
		*behind = string_end(*at);
		if (s->name)
			ret = note(s->names[s->depth], *at, (size_t)(*behind - *at));
		s->name = false;
		break;
	}
	if (!ret)
		*at = *behind;
	return ret;
}

int saved_twice(const char *text, const char *file, struct status *st)
{
	struct scan s = {.depth = 0};
	const char *at = text, *behind = text;
	int ret = 0;

	while (*at && !ret)
		ret = step(&s, &at, &behind);
	while (s.depth)
		end(&s);
	if (ret == 1)
		return status_set(
			st, ST_USAGE, EINVAL,
			"%s: the key %.*s stands twice in one object, the second time at byte "
			"%td; which of them is meant cannot be told.",
			file, (int)(behind - at > 80 ? 80 : behind - at), at, at - text);
	if (ret == -ENOMEM)
		return status_nomem(st);
	return ret ? status_set(st, ST_USAGE, EINVAL, "%s: too many levels of JSON.", file) : 0;
}
