// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/reencrypt_finish.h"

#include <errno.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/sha256.h"
#include "volume/extent.h"
#include "volume/luks_internal.h"

/* LUKS2 On-Disk Format Specification 1.1.1, 2.1. */
#define BINARY       4096U
#define AT_SEQUENCE  16
#define AT_OFFSET    256
#define AT_CHECKSUM  448
#define CHECKSUM_LEN 64

/* The newer sound copy: the one that counts. NULL: none, or its checksum is none of ours. */
static const struct header_copy *newest(const struct inspect *in)
{
	const struct header_copy *best = NULL;

	for (unsigned i = 0; i < in->headers.n; i++) {
		const struct header_copy *c = &in->headers.copies[i];

		if (c->valid && c->checksum_known && in->load[i].loads &&
		    (!best || c->sequence > best->sequence))
			best = c;
	}
	return best;
}

static struct json_object *member(struct json_object *obj, const char *key, enum json_type type)
{
	struct json_object *value = NULL;

	return obj && json_object_object_get_ex(obj, key, &value) &&
			       json_object_is_type(value, type)
		       ? value
		       : NULL;
}

static bool has_flag(struct json_object *segment, const char *wanted)
{
	struct json_object *flags = member(segment, "flags", json_type_array);
	size_t n = flags ? json_object_array_length(flags) : 0;

	for (size_t i = 0; i < n; i++) {
		const char *flag = json_object_get_string(json_object_array_get_idx(flags, i));

		if (!wanted || (flag && !strcmp(flag, wanted)))
			return true;
	}
	return false;
}

static bool same(struct json_object *a, struct json_object *b, const char *key)
{
	struct json_object *x = NULL, *y = NULL;

	return json_object_object_get_ex(a, key, &x) && json_object_object_get_ex(b, key, &y) &&
	       json_object_equal(x, y);
}

static bool lists(struct json_object *array, const char *word)
{
	size_t n = array ? json_object_array_length(array) : 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(array, i)), word))
			return true;
	return false;
}

/* The ids of what counts among the segments. */
struct ids {
	const char *plain, *final, *previous;
};

/* A single segment without flags, which is what the new volume is to have. */
static bool check_segments(struct json_object *segments, struct ids *ids)
{
	struct json_object *plain = NULL, *final = NULL;
	size_t n = 0;

	*ids = (struct ids){0};
	json_object_object_foreach (segments, id, segment) {
		if (!has_flag(segment, NULL)) {
			plain = segment;
			ids->plain = id;
			n++;
		}
		if (has_flag(segment, "backup-final")) {
			final = segment;
			ids->final = id;
		}
		if (has_flag(segment, "backup-previous"))
			ids->previous = id;
	}
	return n == 1 && final && ids->previous && same(plain, final, "encryption") &&
	       same(plain, final, "offset") && same(plain, final, "size") &&
	       same(plain, final, "iv_tweak") && same(plain, final, "sector_size");
}

/* The segment is the new key's and not the old one's, whatever the ciphers. */
static bool check_digests(struct json_object *digests, const struct ids *ids)
{
	bool is_new = false;

	json_object_object_foreach (digests, id, digest) {
		struct json_object *list = member(digest, "segments", json_type_array);

		(void)id;
		if (lists(list, ids->previous) &&
		    (lists(list, ids->plain) || lists(list, ids->final)))
			return false;
		is_new |= lists(list, ids->plain) && lists(list, ids->final);
	}
	return is_new;
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

static bool is_left(struct json_object *doc)
{
	struct json_object *segments = member(doc, "segments", json_type_object);
	struct json_object *digests = member(doc, "digests", json_type_object);
	struct ids ids;

	return segments && digests && member(doc, "keyslots", json_type_object) &&
	       check_requirements(member(doc, "config", json_type_object)) &&
	       check_segments(segments, &ids) && check_digests(digests, &ids);
}

/* Reads a copy whole and its JSON. The bytes are the caller's to free, the document to put. */
static int read_copy(const struct header_copy *c, int fd, unsigned char **bytes,
		     struct json_object **doc)
{
	int ret;

	*bytes = malloc(c->size);
	*doc = NULL;
	if (!*bytes)
		return -ENOMEM;
	ret = extent_read(fd, *bytes, c->size, c->offset);
	if (ret)
		return ret;
	(*bytes)[c->size - 1] = '\0';
	*doc = json_tokener_parse((const char *)*bytes + BINARY);
	return *doc && json_object_is_type(*doc, json_type_object) ? 0 : -EINVAL;
}

int reencrypt_is_left(const struct inspect *inspect, int fd)
{
	const struct header_copy *c = newest(inspect);
	struct json_object *doc = NULL;
	unsigned char *bytes = NULL;
	int ret;

	if (!c || inspect->headers.kind != HEADER_LUKS2)
		return 0;
	ret = read_copy(c, fd, &bytes, &doc);
	if (!ret)
		ret = is_left(doc);
	json_object_put(doc);
	free(bytes);
	return ret == -EINVAL ? 0 : ret;
}

/* An array without the words that name no member of `objects`. */
static void keep_known(struct json_object *holder, const char *key, struct json_object *objects)
{
	struct json_object *old = member(holder, key, json_type_array);
	struct json_object *kept = json_object_new_array();
	size_t n = old ? json_object_array_length(old) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *word = json_object_array_get_idx(old, i);

		if (json_object_object_get_ex(objects, json_object_get_string(word), NULL))
			json_object_array_add(kept, json_object_get(word));
	}
	json_object_object_add(holder, key, kept);
}

/* Takes a keyslot out; where it was is to be wiped. */
static int drop_keyslot(struct json_object *keyslots, const char *id, struct extents *areas)
{
	struct json_object *slot = member(keyslots, id, json_type_object);
	struct json_object *area = member(slot, "area", json_type_object);
	struct json_object *offset = member(area, "offset", json_type_string);
	struct json_object *size = member(area, "size", json_type_string);
	int ret = 0;

	if (offset && size)
		ret = extents_add(areas, strtoull(json_object_get_string(offset), NULL, 10),
				  strtoull(json_object_get_string(size), NULL, 10));
	json_object_object_del(keyslots, id);
	return ret;
}

/* The keyslots of the old key's digest, and of the re-encryption. */
static int drop_keyslots(struct json_object *doc, struct json_object *old, struct extents *areas)
{
	struct json_object *keyslots = member(doc, "keyslots", json_type_object), *type;
	int ret = 0;

	json_object_object_foreach (keyslots, id, slot) {
		type = member(slot, "type", json_type_string);
		if (!ret && ((type && !strcmp(json_object_get_string(type), "reencrypt")) ||
			     lists(old, id)))
			ret = drop_keyslot(keyslots, id, areas);
	}
	return ret;
}

/* What libcryptsetup would have done with the rest: flagged segments go, the keyslots of the old
 * key and of the re-encryption, the digests that then belong to nothing, and the requirement. */
static int clear(struct json_object *doc, struct extents *areas)
{
	struct json_object *segments = member(doc, "segments", json_type_object);
	struct json_object *keyslots = member(doc, "keyslots", json_type_object);
	struct json_object *digests = member(doc, "digests", json_type_object);
	struct ids ids;
	int ret = check_segments(segments, &ids) ? 0 : -EINVAL;

	json_object_object_foreach (digests, old_id, old) {
		(void)old_id;
		if (!ret && lists(member(old, "segments", json_type_array), ids.previous))
			ret = drop_keyslots(doc, member(old, "keyslots", json_type_array), areas);
	}
	if (ret)
		return ret;
	json_object_object_foreach (segments, segment_id, segment) {
		if (has_flag(segment, NULL))
			json_object_object_del(segments, segment_id);
	}
	json_object_object_foreach (digests, digest_id, digest) {
		keep_known(digest, "segments", segments);
		keep_known(digest, "keyslots", keyslots);
		if (!json_object_array_length(member(digest, "segments", json_type_array)) &&
		    !json_object_array_length(member(digest, "keyslots", json_type_array)))
			json_object_object_del(digests, digest_id);
	}
	json_object_object_del(member(doc, "config", json_type_object), "requirements");
	return 0;
}

static void put_number(unsigned char *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = (unsigned char)(value >> (56 - 8 * i));
}

/* Puts the document and the checksum into a copy's bytes. */
static int fill(unsigned char *bytes, size_t size, struct json_object *doc)
{
	const char *text = json_object_to_json_string_ext(
		doc, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	uint8_t digest[SHA256_SIZE];

	if (!text || strlen(text) >= size - BINARY)
		return -ENOSPC;
	memset(bytes + BINARY, 0, size - BINARY);
	memcpy(bytes + BINARY, text, strlen(text));
	memset(bytes + AT_CHECKSUM, 0, CHECKSUM_LEN);
	sha256(digest, bytes, size);
	memcpy(bytes + AT_CHECKSUM, digest, sizeof(digest));
	return 0;
}

/* Loaded by libcryptsetup, and opened with the secret, before anything is written. */
static int try_copy(const struct inspect *in, int fd, unsigned char *const bytes[2],
		    uint64_t device_size, const struct secret *secret, const char *name,
		    struct status *st)
{
	uint64_t size = in->metadata_size, len = 2 * size + in->keyslots_size;
	struct luks_log log = {.name = name};
	struct crypt_device *cd = NULL;
	unsigned char *area = malloc(len);
	char path[32];
	int copy, ret;

	copy = memfd_create("dmcrypt-tune-finish", MFD_CLOEXEC);
	ret = copy < 0 || !area || ftruncate(copy, (off_t)(device_size > len ? device_size : len))
		      ? -ENOMEM
		      : extent_read(fd, area, len, 0);
	if (!ret)
		ret = extent_write(copy, area, len, 0);
	for (int i = 0; i < 2 && !ret; i++)
		ret = extent_write(copy, bytes[i], size, (uint64_t)i * size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	log.path = path;
	if (!ret)
		ret = luks_begin(&cd, &log);
	if (!ret)
		ret = crypt_load(cd, CRYPT_LUKS2, NULL);
	if (!ret && crypt_reencrypt_status(cd, NULL) != CRYPT_REENCRYPT_NONE)
		ret = -EINVAL;
	if (!ret)
		ret = crypt_activate_by_passphrase(cd, NULL, CRYPT_ANY_SLOT,
						   (const char *)secret->bytes, secret->len, 0);
	if (ret == -EPERM)
		ret = status_set(st, ST_AUTH, EPERM, "No keyslot opens with this secret.");
	else if (ret < 0)
		ret = status_set(st, ST_REFUSED, -ret,
				 "%s: the end of the re-encryption cannot be made: %s Nothing was "
				 "written.",
				 name, luks_words(&log, ret));
	luks_end(cd);
	if (copy >= 0)
		close(copy);
	free(area);
	return ret < 0 ? ret : 0;
}

static int write_copies(const struct inspect *in, int fd, unsigned char *const bytes[2],
			const char *name, struct status *st)
{
	uint64_t size = in->metadata_size;
	int ret = 0;

	for (int i = 0; i < 2 && !ret; i++) {
		ret = extent_write(fd, bytes[i], size, (uint64_t)i * size);
		if (!ret && fsync(fd))
			ret = -errno;
	}
	return ret ? status_set(st, ST_CHECK, -ret, "%s: the header cannot be written: %s.", name,
				strerror(-ret))
		   : 0;
}

/* Where keyslots were that nothing tells of any more. The header is sound without that. */
static void wipe_areas(const struct inspect *in, int fd, const struct extents *areas)
{
	uint64_t from = 2 * in->metadata_size, to = from + in->keyslots_size;
	unsigned char *zeros;

	for (size_t i = 0; i < areas->n; i++) {
		const struct extent *e = &areas->list[i];

		if (e->offset < from || e->offset > to || e->len > to - e->offset)
			continue;
		zeros = calloc(1, e->len);
		if (zeros)
			extent_write(fd, zeros, e->len, e->offset);
		free(zeros);
	}
	fsync(fd);
}

/* The two copies from one: they differ in mark and place. */
static int make_copies(unsigned char *bytes[2], const struct inspect *in, int fd,
		       struct extents *areas)
{
	static const char *const marks[] = {"LUKS\xba\xbe", "SKUL\xba\xbe"};
	const struct header_copy *c = newest(in);
	struct json_object *doc = NULL;
	int ret = c ? read_copy(c, fd, &bytes[0], &doc) : -EINVAL;

	if (!ret)
		ret = is_left(doc) ? clear(doc, areas) : -EINVAL;
	if (!ret) {
		bytes[1] = malloc(c->size);
		ret = bytes[1] ? 0 : -ENOMEM;
	}
	if (!ret)
		memcpy(bytes[1], bytes[0], BINARY);
	for (unsigned i = 0; i < 2 && !ret; i++) {
		memcpy(bytes[i], marks[i], 6);
		put_number(bytes[i] + AT_OFFSET, i * c->size);
		put_number(bytes[i] + AT_SEQUENCE, c->sequence + 1);
		ret = fill(bytes[i], c->size, doc);
	}
	json_object_put(doc);
	return ret;
}

int reencrypt_finish(const struct inspect *inspect, int fd, uint64_t device_size,
		     const struct secret *secret, const char *name, struct status *st)
{
	unsigned char *bytes[2] = {NULL, NULL};
	struct extents areas = {0};
	int ret = make_copies(bytes, inspect, fd, &areas);

	if (ret)
		ret = status_set(st, ST_REFUSED, -ret,
				 "%s: the header is not one whose end could be made here. Nothing "
				 "was written.",
				 name);
	else
		ret = try_copy(inspect, fd, bytes, device_size, secret, name, st);
	if (!ret)
		ret = write_copies(inspect, fd, bytes, name, st);
	if (!ret)
		wipe_areas(inspect, fd, &areas);
	extents_free(&areas);
	free(bytes[0]);
	free(bytes[1]);
	return ret;
}
