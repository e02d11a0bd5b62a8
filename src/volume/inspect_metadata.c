// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <json.h>
#include <libcryptsetup.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "volume/inspect_internal.h"
#include "volume/reencrypt_metadata.h"

#define BINARY 4096U /* LUKS2 On-Disk Format Specification 1.1.1, 2.1 */
/* LUKS1 On-Disk Format Specification 1.2.3, 2.1: mk-digest-iter. */
#define LUKS1_DIGEST_ITERATIONS 164U

static struct json_object *member(struct json_object *obj, const char *key, enum json_type type)
{
	struct json_object *value = NULL;

	return obj && json_object_is_type(obj, json_type_object) &&
			       json_object_object_get_ex(obj, key, &value) &&
			       json_object_is_type(value, type)
		       ? value
		       : NULL;
}

/* The copy that counts: the newer of those that are sound. */
static struct json_object *parse(const struct inspect *in, const unsigned char *bytes, size_t len)
{
	const struct header_copy *best = NULL;
	struct json_object *doc = NULL;
	char *text;

	for (unsigned i = 0; i < in->headers.n; i++) {
		const struct header_copy *c = &in->headers.copies[i];

		if (c->valid && c->offset + c->size <= len &&
		    (!best || c->sequence > best->sequence))
			best = c;
	}
	if (!best)
		return NULL;
	text = strndup((const char *)bytes + best->offset + BINARY, best->size - BINARY);
	if (text)
		doc = json_tokener_parse(text);
	free(text);
	return doc;
}

/* Quoted, and as far as it can be printed: what stands there is anybody's. */
static void add_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	if (used + strlen(name) + 5 > size)
		return;
	used += (size_t)snprintf(list + used, size - used, "%s\"", used ? ", " : "");
	for (; *name; name++)
		list[used++] = *name >= ' ' && *name < 0x7f ? *name : '?';
	snprintf(list + used, size - used, "\"");
}

static bool is_reencryption(const char *name)
{
	return !strcmp(name, "offline-reencrypt") || !strncmp(name, "online-reencrypt", 16);
}

static void find_requirements(struct inspect *in, struct json_object *config)
{
	struct json_object *list = member(member(config, "requirements", json_type_object),
					  "mandatory", json_type_array);
	size_t n = list ? json_object_array_length(list) : 0;
	const char *name;

	if (!(in->requirements & CRYPT_REQUIREMENT_UNKNOWN))
		return;
	for (size_t i = 0; i < n; i++) {
		name = json_object_get_string(json_object_array_get_idx(list, i));
		if (name && !is_reencryption(name))
			add_name(in->unknown, sizeof(in->unknown), name);
	}
	/* A version of the re-encryption, then. */
	for (size_t i = 0; i < n && !*in->unknown; i++) {
		name = json_object_get_string(json_object_array_get_idx(list, i));
		if (name)
			add_name(in->unknown, sizeof(in->unknown), name);
	}
}

/* Says of a number that it cannot be, if so: libcryptsetup takes them as an int. */
static void check_number(char text[INSPECT_ABSURD], struct json_object *kdf, const char *key,
			 const char *what)
{
	struct json_object *value = member(kdf, key, json_type_int);
	int64_t number = json_object_get_int64(value);

	if (value && !*text && (number < 1 || number > INT_MAX))
		snprintf(text, INSPECT_ABSURD, "%" PRId64 " %s", number, what);
}

static void check_kdf(char text[INSPECT_ABSURD], struct json_object *kdf)
{
	check_number(text, kdf, "iterations", "iterations");
	check_number(text, kdf, "time", "iterations");
	check_number(text, kdf, "memory", "KiB of memory");
	check_number(text, kdf, "cpus", "threads");
}

static void check_luks1(struct inspect *in, const unsigned char *bytes, size_t len)
{
	static const unsigned char none[4];

	for (unsigned i = 0; i < in->n_keyslots; i++)
		if (!in->keyslots[i].pbkdf.iterations)
			snprintf(in->keyslots[i].absurd, INSPECT_ABSURD, "0 iterations");
	if (len >= LUKS1_DIGEST_ITERATIONS + sizeof(none) &&
	    !memcmp(bytes + LUKS1_DIGEST_ITERATIONS, none, sizeof(none)))
		snprintf(in->digest_absurd, INSPECT_ABSURD, "0 iterations");
}

void inspect_metadata(struct inspect *in, const unsigned char *bytes, size_t len)
{
	struct json_object *doc, *digests;
	char slot[16];

	if (in->headers.kind == HEADER_LUKS1) {
		check_luks1(in, bytes, len);
		return;
	}
	doc = parse(in, bytes, len);
	find_requirements(in, member(doc, "config", json_type_object));
	in->reencrypt_left = reencrypt_metadata_left(doc);
	for (unsigned i = 0; i < in->n_keyslots; i++) {
		snprintf(slot, sizeof(slot), "%d", in->keyslots[i].slot);
		check_kdf(in->keyslots[i].absurd,
			  member(member(member(doc, "keyslots", json_type_object), slot,
					json_type_object),
				 "kdf", json_type_object));
	}
	digests = member(doc, "digests", json_type_object);
	if (digests) {
		json_object_object_foreach (digests, id, digest) {
			(void)id;
			check_number(in->digest_absurd, digest, "iterations", "iterations");
		}
	}
	json_object_put(doc);
}
