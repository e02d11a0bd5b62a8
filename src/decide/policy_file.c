// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/policy_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/units.h"

#define KEYS_MAX 32

struct reader {
	const char *name;
	unsigned line;
	struct status *st;
	unsigned seen[KEYS_MAX]; /* the line that each number stood on; the last: "policy" */
	double value[KEYS_MAX];
	const struct policy *base;
};

__attribute__((format(printf, 2, 3))) static int wrong(const struct reader *r, const char *format,
						       ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return status_set(r->st, ST_USAGE, EINVAL, "%s:%u: %s", r->name, r->line, text);
}

/* Cuts blanks off both ends. */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

static int take_policy(struct reader *r, const char *value)
{
	r->base = policy_find(value);
	return r->base ? 0
		       : wrong(r,
			       "policy: \"%.40s\" is none of balanced, performance, strict and "
			       "fips.",
			       value);
}

static int take_number(struct reader *r, size_t i, const char *value)
{
	const struct policy_number *n = &policy_numbers[i];
	double number = 0;
	int ret;

	ret = !strcmp(n->unit, "bytes") ? units_parse_size(value, &number)
					: units_parse_number(value, &number);
	if (ret || ((number < n->min || number > n->max) && !(n->or_zero && number == 0)))
		return wrong(r, "%s: \"%.40s\" is no number from %.10g to %.10g%s (%s).", n->key,
			     value, n->min, n->max, n->or_zero ? ", or 0" : "", n->unit);
	if (strcmp(n->unit, "share") && !strstr(n->key, "margin") && number != floor(number))
		return wrong(r, "%s: \"%.40s\" is no whole number (%s).", n->key, value, n->unit);
	r->value[i] = number;
	return 0;
}

static int wrong_key(struct reader *r, const char *key)
{
	char known[256] = "policy";

	for (size_t i = 0; policy_numbers[i].key; i++) {
		size_t used = strlen(known);

		snprintf(known + used, sizeof(known) - used, "%s%s",
			 policy_numbers[i + 1].key ? ", " : " and ", policy_numbers[i].key);
	}
	return wrong(r, "\"%.40s\" is no key of a policy file; there are %s.", key, known);
}

static int take_line(struct reader *r, char *line)
{
	char *equals, *key, *value;
	size_t i;

	if (!text_is_utf8(line))
		return wrong(r, "the line holds bytes that are not UTF-8.");
	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return wrong(r, "\"%.40s\" is no \"key = value\".", line);
	*equals = '\0';
	key = trim(line);
	value = trim(equals + 1);
	for (i = 0; policy_numbers[i].key && strcmp(policy_numbers[i].key, key); i++)
		;
	if (!policy_numbers[i].key && strcmp(key, "policy"))
		return wrong_key(r, key);
	if (r->seen[i])
		return wrong(r, "%s stands a second time; the first is line %u.", key, r->seen[i]);
	if (!*value)
		return wrong(r, "%s has no value.", key);
	r->seen[i] = r->line;
	return policy_numbers[i].key ? take_number(r, i, value) : take_policy(r, value);
}

/* No NUL and no other control character but blanks: a binary file is none of ours. A carriage
 * return is the end of a line only before a line feed. */
static int check_bytes(struct reader *r, const char *text, size_t len)
{
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		return wrong(
			r, "the file begins with a byte order mark; save it as UTF-8 without one.");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < ' ' && !strchr("\t\r\n", c)) || !c || c == 0x7f)
			return wrong(r, "byte %zu of the file (0x%02x) is not text.", i, c);
		if (c == '\r' && (i + 1 == len || text[i + 1] != '\n'))
			return wrong(
				r,
				"byte %zu of the file is a carriage return without a line feed; "
				"lines end with a line feed.",
				i);
		r->line += c == '\n';
	}
	r->line = 0;
	return 0;
}

static int take_lines(struct reader *r, char *text)
{
	char *next;
	int ret = 0;

	for (; text && !ret; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		r->line++;
		ret = take_line(r, text);
	}
	return ret;
}

/* What makes a policy what its name says: "strict" with another's margins would not be that. */
static bool is_margin(const struct policy_number *n)
{
	return !strncmp(n->key, "margin-", strlen("margin-"));
}

int policy_file_parse(struct policy *policy, const char *text, size_t len, const char *name,
		      const char *forced, struct status *st)
{
	struct reader r = {.name = name, .line = 1, .st = st};
	const struct policy *base;
	char *copy;
	int ret;

	ret = check_bytes(&r, text, len);
	if (ret)
		return ret;
	copy = strndup(text, len);
	if (!copy)
		return status_nomem(st);
	ret = take_lines(&r, copy);
	free(copy);
	if (ret)
		return ret;
	base = forced ? policy_find(forced) : NULL;
	if (!r.base)
		r.base = policies;
	*policy = base ? *base : *r.base;
	for (size_t i = 0; policy_numbers[i].key; i++)
		if (r.seen[i] && !(base && base != r.base && is_margin(&policy_numbers[i])))
			*(double *)((char *)policy + policy_numbers[i].offset) = r.value[i];
	return 0;
}
