// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/reencrypt_finish.h"

#include <errno.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "engine/sha256.h"
#include "volume/header_lock.h"
#include "volume/luks_internal.h"
#include "volume/reencrypt_metadata.h"

/* LUKS2 On-Disk Format Specification 1.1.1, 2.1. */
#define BINARY       4096U
#define AT_SEQUENCE  16
#define AT_SALT      104
#define SALT_LEN     64
#define AT_OFFSET    256
#define AT_CHECKSUM  448
#define CHECKSUM_LEN 64

static bool is_sound(const struct inspect *in, unsigned i)
{
	const struct header_copy *c = &in->headers.copies[i];

	return i < in->headers.n && c->valid && c->checksum_known && in->load[i].loads;
}

/* Which is the newer sound copy, the one that counts; -1: none. */
static int newest(const struct inspect *in)
{
	int best = -1;

	for (unsigned i = 0; i < in->headers.n; i++)
		if (is_sound(in, i) && (best < 0 || in->headers.copies[i].sequence >
							    in->headers.copies[best].sequence))
			best = (int)i;
	return best;
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
	return *doc ? 0 : -EINVAL;
}

static void put_number(unsigned char *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = (unsigned char)(value >> (56 - 8 * i));
}

static void put_checksum(unsigned char *bytes, size_t size)
{
	uint8_t digest[SHA256_SIZE];

	memset(bytes + AT_CHECKSUM, 0, CHECKSUM_LEN);
	sha256(digest, bytes, size);
	memcpy(bytes + AT_CHECKSUM, digest, sizeof(digest));
}

/* Puts the document and the checksum into a copy's bytes. */
static int fill(unsigned char *bytes, size_t size, struct json_object *doc)
{
	const char *text = json_object_to_json_string_ext(
		doc, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	if (!text || strlen(text) >= size - BINARY)
		return -ENOSPC;
	memset(bytes + BINARY, 0, size - BINARY);
	memcpy(bytes + BINARY, text, strlen(text));
	put_checksum(bytes, size);
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
	if (ret == -EPERM || ret == -ENOENT)
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

/* The copy that counts last: whatever a power cut leaves of the other one, there is this one. */
static int write_copies(const struct inspect *in, int fd, unsigned char *const bytes[2],
			const char *name, struct status *st)
{
	uint64_t size = in->metadata_size;
	int last = newest(in), ret = 0;

	for (int i = 0; i < 2 && !ret; i++) {
		int which = i ? last : !last;

		ret = extent_write(fd, bytes[which], size, (uint64_t)which * size);
		if (!ret && fsync(fd))
			ret = -errno;
	}
	return ret ? status_set(st, ST_CHECK, -ret,
				"%s: the header cannot be written: %s. Do the same again.", name,
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

/* Each copy has a salt of its own, which makes it differ from other headers. */
static int put_salt(unsigned char *bytes, const struct inspect *in, unsigned i, int fd)
{
	if (is_sound(in, i))
		return extent_read(fd, bytes + AT_SALT, SALT_LEN,
				   in->headers.copies[i].offset + AT_SALT);
	return getrandom(bytes + AT_SALT, SALT_LEN, 0) == SALT_LEN ? 0 : -EIO;
}

static const char *const marks[] = {"LUKS\xba\xbe", "SKUL\xba\xbe"};

/* The two copies from one: they differ in mark, place and salt. */
static int make_copies(unsigned char *bytes[2], const struct inspect *in, int fd,
		       struct extents *areas)
{
	int which = newest(in);
	const struct header_copy *c = &in->headers.copies[which < 0 ? 0 : which];
	struct json_object *doc = NULL;
	int ret = which < 0 ? -EINVAL : read_copy(c, fd, &bytes[0], &doc);

	if (!ret)
		ret = reencrypt_metadata_clear(doc, areas);
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
		ret = put_salt(bytes[i], in, i, fd);
		if (!ret)
			ret = fill(bytes[i], c->size, doc);
	}
	json_object_put(doc);
	return ret;
}

/* Under the lock: what was looked at before may be another by now. */
static int finish(int fd, uint64_t device_size, const struct secret *secret, bool write,
		  const char *name, struct status *st)
{
	unsigned char *bytes[2] = {NULL, NULL};
	struct extents areas = {0};
	struct inspect in;
	off_t end = lseek(fd, 0, SEEK_END);
	int ret = inspect_header(&in, fd, end > 0 ? (uint64_t)end : 0, name, st);

	if (ret)
		return ret;
	ret = make_copies(bytes, &in, fd, &areas);
	if (ret)
		ret = status_set(st, ST_REFUSED, -ret,
				 "%s: the header is not one whose end could be made here. Nothing "
				 "was written.",
				 name);
	else
		ret = try_copy(&in, fd, bytes, device_size, secret, name, st);
	if (!ret && write)
		ret = write_copies(&in, fd, bytes, name, st);
	if (!ret && write)
		wipe_areas(&in, fd, &areas);
	extents_free(&areas);
	free(bytes[0]);
	free(bytes[1]);
	return ret;
}

/* The first copy from the second, and newer. */
static int roll_back(const struct inspect *in, int fd, unsigned char **bytes)
{
	const struct header_copy *first = &in->headers.copies[0], *second = &in->headers.copies[1];
	struct json_object *doc = NULL;
	int ret;

	if (strcmp(in->reencrypt, "crashed") || !is_sound(in, 0) || !is_sound(in, 1) ||
	    first->sequence != second->sequence + 1)
		return 0;
	ret = read_copy(second, fd, bytes, &doc);
	if (!ret && reencrypt_metadata_between(doc)) {
		memcpy(*bytes, marks[0], 6);
		put_number(*bytes + AT_OFFSET, 0);
		put_number(*bytes + AT_SEQUENCE, first->sequence + 1);
		ret = put_salt(*bytes, in, 0, fd);
		put_checksum(*bytes, second->size);
		if (!ret)
			ret = extent_write(fd, *bytes, second->size, 0);
		if (!ret && fsync(fd))
			ret = -errno;
	}
	json_object_put(doc);
	return ret;
}

static int lock_header(int fd, const char *name, struct status *st)
{
	int lock = header_lock(fd);

	if (lock == -EBUSY)
		return status_set(st, ST_BUSY, EBUSY,
				  "%s: another program (cryptsetup?) holds the lock of its header. "
				  "Nothing was written.",
				  name);
	if (lock < 0)
		return status_set(st, ST_REFUSED, -lock,
				  "%s: its header cannot be locked as cryptsetup does it: %s. "
				  "Nothing was written.",
				  name, strerror(-lock));
	return lock;
}

int reencrypt_roll_back(int fd, const char *name, struct status *st)
{
	int lock = lock_header(fd, name, st), ret;
	off_t end = lseek(fd, 0, SEEK_END);
	unsigned char *bytes = NULL;
	struct inspect in;

	if (lock < 0)
		return lock;
	ret = inspect_header(&in, fd, end > 0 ? (uint64_t)end : 0, name, st);
	if (!ret) {
		ret = roll_back(&in, fd, &bytes);
		if (ret)
			status_set(st, ST_CHECK, -ret, "%s: the header cannot be written: %s.",
				   name, strerror(-ret));
	}
	free(bytes);
	header_unlock(lock, fd);
	return ret;
}

int reencrypt_finish_rehearse(int fd, uint64_t device_size, const struct secret *secret,
			      const char *name, struct status *st)
{
	return finish(fd, device_size, secret, false, name, st);
}

int reencrypt_finish(int fd, uint64_t device_size, const struct secret *secret, const char *name,
		     struct status *st)
{
	int lock = lock_header(fd, name, st), ret;

	if (lock < 0)
		return lock;
	ret = finish(fd, device_size, secret, true, name, st);
	header_unlock(lock, fd);
	return ret;
}
