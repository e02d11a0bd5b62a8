// SPDX-License-Identifier: GPL-2.0-or-later
/* /proc/crypto: entries of "key : value" lines, apart by blank lines (Linux crypto/proc.c). */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "facts/kernel_internal.h"
#include "util/sysfile.h"

static void copy_value(char *dest, size_t size, const char *value, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(dest, value, len);
	dest[len] = '\0';
}

static bool is(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(s, word, len);
}

static unsigned number(const char *value)
{
	unsigned long n = strtoul(value, NULL, 10);

	return n > UINT_MAX ? 0 : (unsigned)n;
}

static void set_field(struct kernel_driver *d, const char *key, size_t key_len, const char *value,
		      size_t len)
{
	if (is(key, key_len, "name"))
		copy_value(d->name, sizeof(d->name), value, len);
	else if (is(key, key_len, "driver"))
		copy_value(d->driver, sizeof(d->driver), value, len);
	else if (is(key, key_len, "module"))
		copy_value(d->module, sizeof(d->module), value, len);
	else if (is(key, key_len, "type"))
		copy_value(d->type, sizeof(d->type), value, len);
	else if (is(key, key_len, "priority"))
		d->priority = (int)strtol(value, NULL, 10);
	else if (is(key, key_len, "internal"))
		d->internal |= is(value, len, "yes");
	/* Only listed in FIPS mode, where "no" means: only as a part of an approved algorithm. */
	else if (is(key, key_len, "fips"))
		d->internal |= is(value, len, "no");
	else if (is(key, key_len, "async"))
		d->async = is(value, len, "yes");
	else if (is(key, key_len, "selftest"))
		d->selftest_passed = is(value, len, "passed");
	else if (is(key, key_len, "min keysize"))
		d->min_keysize = number(value);
	else if (is(key, key_len, "max keysize"))
		d->max_keysize = number(value);
	else if (is(key, key_len, "ivsize"))
		d->ivsize = number(value);
}

/* Takes the entry if it is one: with a name and a driver. */
static int finish(struct kernel_facts *facts, struct kernel_driver *d, size_t *room)
{
	struct kernel_driver *grown;

	if (d->name[0] && d->driver[0]) {
		if (facts->n_drivers == *room) {
			*room = *room ? 2 * *room : 64;
			grown = reallocarray(facts->drivers, *room, sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			facts->drivers = grown;
		}
		facts->drivers[facts->n_drivers++] = *d;
	}
	memset(d, 0, sizeof(*d));
	return 0;
}

static int parse_line(struct kernel_facts *facts, struct kernel_driver *d, size_t *room,
		      const char *line, const char *end)
{
	const char *colon, *key_end, *value;

	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	if (end == line)
		return finish(facts, d, room);
	colon = memchr(line, ':', end - line);
	if (!colon)
		return 0;
	for (key_end = colon; key_end > line && isspace((unsigned char)key_end[-1]); key_end--)
		;
	for (value = colon + 1; value < end && isspace((unsigned char)*value); value++)
		;
	/* An entry begins with its name: also where the blank line before it is missing. */
	if (is(line, key_end - line, "name") && d->name[0] && finish(facts, d, room))
		return -ENOMEM;
	set_field(d, line, key_end - line, value, end - value);
	return 0;
}

int kernel_crypto_read(struct kernel_facts *facts, const char *root)
{
	struct kernel_driver d;
	char *text = NULL, *end;
	size_t len = 0, room = 0;
	int ret;

	ret = sysfile_read(root, "/proc/crypto", &text, &len);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	facts->listed = true;
	memset(&d, 0, sizeof(d));
	for (char *p = text; p < text + len && ret == 0; p = end + 1) {
		end = memchr(p, '\n', text + len - p);
		if (!end)
			end = text + len;
		ret = parse_line(facts, &d, &room, p, end);
	}
	if (ret == 0)
		ret = finish(facts, &d, &room);
	free(text);
	return ret;
}

static bool type_in(const char *types, const char *type)
{
	size_t len = strlen(type), n;

	for (; *types; types += n + (types[n] == ' ')) {
		n = strcspn(types, " ");
		if (n == len && !memcmp(types, type, n))
			return true;
	}
	return false;
}

const struct kernel_driver *kernel_best_driver(const struct kernel_facts *facts, const char *name,
					       size_t name_len, const char *types)
{
	const struct kernel_driver *best = NULL;

	for (size_t i = 0; i < facts->n_drivers; i++) {
		const struct kernel_driver *d = &facts->drivers[i];

		if (!is(name, name_len, d->name) || d->internal || !d->selftest_passed ||
		    !type_in(types, d->type))
			continue;
		if (!best || d->priority > best->priority)
			best = d;
	}
	return best;
}

bool kernel_is_aead(const char *name)
{
	static const char *const aeads[] = {"gcm(", "ccm(", "aegis128", "rfc7539(", "authenc("};

	for (size_t i = 0; i < sizeof(aeads) / sizeof(aeads[0]); i++)
		if (!strncmp(name, aeads[i], strlen(aeads[i])))
			return true;
	return false;
}

const char *kernel_types_of(const char *name)
{
	/* blkcipher and ablkcipher: what skcipher was called before Linux 5.5. */
	return kernel_is_aead(name) ? "aead skcipher lskcipher blkcipher ablkcipher"
				    : "skcipher lskcipher blkcipher ablkcipher";
}

const struct kernel_driver *kernel_driver_for(const struct kernel_facts *facts, const char *name)
{
	return kernel_best_driver(facts, name, strlen(name), kernel_types_of(name));
}

bool kernel_untested(const struct kernel_facts *facts, const char *name)
{
	bool any = false;

	for (size_t i = 0; i < facts->n_drivers; i++) {
		const struct kernel_driver *d = &facts->drivers[i];

		if (strcmp(d->name, name) || d->internal ||
		    !type_in(kernel_types_of(name), d->type))
			continue;
		if (d->selftest_passed)
			return false;
		any = true;
	}
	return any;
}
