// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/reencrypt_metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct json_object *member(struct json_object *obj, const char *key, enum json_type type)
{
	struct json_object *value = NULL;

	return obj && json_object_is_type(obj, json_type_object) &&
			       json_object_object_get_ex(obj, key, &value) &&
			       json_object_is_type(value, type)
		       ? value
		       : NULL;
}

static bool has_word(struct json_object *obj, const char *key, const char *word)
{
	struct json_object *value = member(obj, key, json_type_string);

	return value && !strcmp(json_object_get_string(value), word);
}

static bool lists(struct json_object *array, const char *word)
{
	size_t n = array ? json_object_array_length(array) : 0;

	for (size_t i = 0; i < n; i++) {
		const char *entry = json_object_get_string(json_object_array_get_idx(array, i));

		if (entry && !strcmp(entry, word))
			return true;
	}
	return false;
}

static bool has_flags(struct json_object *segment)
{
	struct json_object *flags = member(segment, "flags", json_type_array);

	return flags && json_object_array_length(flags);
}

static bool same(struct json_object *a, struct json_object *b, const char *key)
{
	struct json_object *x = NULL, *y = NULL;

	return json_object_object_get_ex(a, key, &x) && json_object_object_get_ex(b, key, &y) &&
	       json_object_equal(x, y);
}

/* What counts among the segments: the only one in use, and the two that are kept for reference. */
struct parts {
	const char *in_use_id, *final_id, *previous_id;
	struct json_object *in_use, *final, *previous;
};

static bool find_parts(struct json_object *segments, struct parts *p)
{
	size_t n = 0;

	*p = (struct parts){0};
	if (!segments)
		return false;
	json_object_object_foreach (segments, id, segment) {
		struct json_object *flags = member(segment, "flags", json_type_array);

		if (!has_flags(segment)) {
			p->in_use = segment;
			p->in_use_id = id;
			n++;
		} else if (lists(flags, "backup-final")) {
			p->final = segment;
			p->final_id = id;
		} else if (lists(flags, "backup-previous")) {
			p->previous = segment;
			p->previous_id = id;
		}
	}
	return n == 1 && p->final && p->previous;
}

static bool check_segments(const struct parts *p)
{
	return has_word(p->in_use, "type", "crypt") && has_word(p->previous, "type", "crypt") &&
	       same(p->in_use, p->final, "type") && same(p->in_use, p->final, "encryption") &&
	       same(p->in_use, p->final, "offset") && same(p->in_use, p->final, "size") &&
	       same(p->in_use, p->final, "iv_tweak") && same(p->in_use, p->final, "sector_size");
}

/*
 * The segment in use is the new key's, whatever the ciphers. The same key may be kept (cryptsetup
 * reencrypt --keep-key): then cipher or sector size tell which it is.
 */
static bool check_digests(struct json_object *digests, const struct parts *p)
{
	bool is_new = false, is_old = false;

	if (!digests)
		return false;
	json_object_object_foreach (digests, id, digest) {
		struct json_object *list = member(digest, "segments", json_type_array);
		bool in_use = lists(list, p->in_use_id), final = lists(list, p->final_id);

		(void)id;
		is_old |= in_use && lists(list, p->previous_id);
		is_new |= in_use && final;
		if (in_use != final)
			return false;
	}
	return is_new && (!is_old || !same(p->in_use, p->previous, "encryption") ||
			  !same(p->in_use, p->previous, "sector_size"));
}

static bool check_requirements(struct json_object *config)
{
	struct json_object *list = member(member(config, "requirements", json_type_object),
					  "mandatory", json_type_array);
	const char *word;

	if (!list || json_object_array_length(list) != 1)
		return false;
	word = json_object_get_string(json_object_array_get_idx(list, 0));
	return word && !strncmp(word, "online-reencrypt", 16);
}

/* Encrypting and decrypting in place end with more: what was moved is to be wiped. */
static bool check_mode(struct json_object *keyslots)
{
	struct json_object *type;
	size_t n = 0;

	if (!keyslots)
		return false;
	json_object_object_foreach (keyslots, id, slot) {
		(void)id;
		if (!has_word(slot, "type", "reencrypt"))
			continue;
		type = member(member(slot, "area", json_type_object), "type", json_type_string);
		if (!has_word(slot, "mode", "reencrypt") || !type ||
		    !strncmp(json_object_get_string(type), "datashift", 9))
			return false;
		n++;
	}
	return n == 1;
}

bool reencrypt_metadata_left(struct json_object *doc)
{
	struct parts parts;

	return check_requirements(member(doc, "config", json_type_object)) &&
	       check_mode(member(doc, "keyslots", json_type_object)) &&
	       find_parts(member(doc, "segments", json_type_object), &parts) &&
	       check_segments(&parts) &&
	       check_digests(member(doc, "digests", json_type_object), &parts);
}

bool reencrypt_metadata_between(struct json_object *doc)
{
	struct json_object *segments = member(doc, "segments", json_type_object);

	if (!segments || !check_requirements(member(doc, "config", json_type_object)))
		return false;
	json_object_object_foreach (segments, id, segment) {
		(void)id;
		if (lists(member(segment, "flags", json_type_array), "in-reencryption"))
			return false;
	}
	return true;
}

/* An array without the words that name no member of `objects`. */
static int keep_known(struct json_object *holder, const char *key, struct json_object *objects)
{
	struct json_object *old = member(holder, key, json_type_array);
	struct json_object *kept = json_object_new_array();
	size_t n = old ? json_object_array_length(old) : 0;

	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *word = json_object_array_get_idx(old, i);

		if (json_object_object_get_ex(objects, json_object_get_string(word), NULL))
			json_object_array_add(kept, json_object_get(word));
	}
	return json_object_object_add(holder, key, kept) ? -ENOMEM : 0;
}

/* Takes a keyslot out; where it was is to be wiped. */
static int drop_keyslot(struct json_object *keyslots, const char *id, struct extents *areas)
{
	struct json_object *area = member(member(keyslots, id, json_type_object), "area",
					  json_type_object);
	struct json_object *offset = member(area, "offset", json_type_string);
	struct json_object *size = member(area, "size", json_type_string);
	int ret = 0;

	if (offset && size)
		ret = extents_add(areas, strtoull(json_object_get_string(offset), NULL, 10),
				  strtoull(json_object_get_string(size), NULL, 10));
	json_object_object_del(keyslots, id);
	return ret;
}

/* The keyslots of these, and the one of the re-encryption. */
static int drop_keyslots(struct json_object *keyslots, struct json_object *old,
			 struct extents *areas)
{
	int ret = 0;

	json_object_object_foreach (keyslots, id, slot) {
		if (!ret && (has_word(slot, "type", "reencrypt") || lists(old, id)))
			ret = drop_keyslot(keyslots, id, areas);
	}
	return ret;
}

/* The keyslots of the old key alone; NULL where the key is kept. */
static struct json_object *old_keyslots(struct json_object *digests, const struct parts *p)
{
	json_object_object_foreach (digests, id, digest) {
		struct json_object *list = member(digest, "segments", json_type_array);

		(void)id;
		if (lists(list, p->previous_id) && !lists(list, p->in_use_id))
			return member(digest, "keyslots", json_type_array);
	}
	return NULL;
}

/* What refers to nothing any more: words in lists, and digests without any. */
static int drop_references(struct json_object *doc)
{
	struct json_object *segments = member(doc, "segments", json_type_object);
	struct json_object *keyslots = member(doc, "keyslots", json_type_object);
	struct json_object *digests = member(doc, "digests", json_type_object);
	struct json_object *tokens = member(doc, "tokens", json_type_object);
	int ret = 0;

	json_object_object_foreach (digests, digest_id, digest) {
		if (!ret)
			ret = keep_known(digest, "segments", segments);
		if (!ret)
			ret = keep_known(digest, "keyslots", keyslots);
		if (!ret &&
		    !json_object_array_length(member(digest, "segments", json_type_array)) &&
		    !json_object_array_length(member(digest, "keyslots", json_type_array)))
			json_object_object_del(digests, digest_id);
	}
	if (ret || !tokens)
		return ret;
	json_object_object_foreach (tokens, token_id, token) {
		(void)token_id;
		if (!ret)
			ret = keep_known(token, "keyslots", keyslots);
	}
	return ret;
}

int reencrypt_metadata_clear(struct json_object *doc, struct extents *areas)
{
	struct json_object *segments = member(doc, "segments", json_type_object);
	struct parts parts;
	int ret;

	if (!reencrypt_metadata_left(doc) || !find_parts(segments, &parts))
		return -EINVAL;
	ret = drop_keyslots(member(doc, "keyslots", json_type_object),
			    old_keyslots(member(doc, "digests", json_type_object), &parts), areas);
	if (ret)
		return ret;
	json_object_object_foreach (segments, id, segment) {
		if (has_flags(segment))
			json_object_object_del(segments, id);
	}
	ret = drop_references(doc);
	if (!ret)
		json_object_object_del(member(doc, "config", json_type_object), "requirements");
	return ret;
}
