// SPDX-License-Identifier: GPL-2.0-or-later
/* What a volume is that is to be re-encrypted, who uses it, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd_reencrypt.h"
#include "volume/header_lock.h"

/* LUKS2 on-disk format, 2.1 (as in LUKS1): where the UUID stands in the header. */
#define LUKS_UUID     168
#define LUKS_UUID_END 208

static int open_header(struct reencryption *r, const struct device_facts *device, struct status *st)
{
	const char *path = r->options->header ? r->options->header : r->path;
	struct device_facts file = {0};
	int ret = 0;

	r->header_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->header_fd < 0)
		return status_set(st, errno == EACCES ? ST_AUTH : ST_DEVICE, errno,
				  "%s cannot be read: %s.", path, strerror(errno));
	if (r->options->header)
		ret = device_probe_fd(&file, r->header_fd, path, st);
	if (!ret)
		ret = inspect_header(&r->header, r->header_fd,
				     r->options->header ? file.size : device->size, path, st);
	device_facts_free(&file);
	return ret;
}

static int refuse(const struct reencryption *r, const char *why, struct status *st)
{
	return status_set(st, ST_REFUSED, EOPNOTSUPP, "%s %s Nothing was written.", r->path, why);
}

/* What cannot be re-encrypted so that it could be cut short and gone on with. */
static int check_header(struct reencryption *r, struct status *st)
{
	const struct inspect *h = &r->header;

	if (h->headers.kind == HEADER_NONE)
		return status_set(st, ST_DEVICE, EINVAL, "%s is no LUKS volume.", r->path);
	if (h->headers.kind == HEADER_LUKS1)
		return refuse(
			r,
			"is LUKS1, which cannot be re-encrypted so that it could be cut short; "
			"convert it first (cryptsetup convert --type luks2).",
			st);
	/* One damaged copy is what a cut leaves, and libcryptsetup mends it from the other. */
	if (!h->loaded)
		return refuse(r, "has a damaged header; see inspect, and mend it first.", st);
	if (*h->integrity)
		return refuse(r, "has integrity tags, and such a volume cannot be re-encrypted.",
			      st);
	r->left = h->reencrypt_left;
	r->resumed = *h->reencrypt || r->left;
	if (r->left)
		return 0;
	if (*h->unknown)
		return status_set(st, ST_REFUSED, EOPNOTSUPP,
				  "%s: its header requires %s, which this libcryptsetup does not "
				  "know. Nothing was written.",
				  r->path, h->unknown);
	if (!strcmp(h->reencrypt, "invalid") || (!r->resumed && h->requirements))
		return refuse(r, "asks for something that this libcryptsetup does not know.", st);
	if (r->resumed && !*h->reencrypt_mode)
		return refuse(r,
			      "has a re-encryption under way that an old cryptsetup began and "
			      "whose metadata it must bring up to date first (cryptsetup repair).",
			      st);
	if (r->resumed && strcmp(h->reencrypt_mode, "reencrypt"))
		return refuse(r,
			      "is being encrypted or decrypted in place by cryptsetup, which is "
			      "more than a re-encryption: go on with that there (cryptsetup "
			      "reencrypt --resume-only).",
			      st);
	if (!r->resumed && !r->options->automatic && !r->options->plan.cipher)
		return status_set(
			st, ST_USAGE, EINVAL,
			"reencrypt: say --auto (let the program choose) or --cipher SPEC.");
	return 0;
}

/* Whether the data device begins with this very header, whatever name it goes by. */
static bool holds_header(const struct reencryption *r)
{
	unsigned char first[LUKS_UUID_END] = {0};
	int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool same;

	if (fd < 0)
		return false;
	same = pread(fd, first, sizeof(first), 0) == (ssize_t)sizeof(first) &&
	       !memcmp(first, "LUKS\xba\xbe", 6) &&
	       !strncmp((const char *)first + LUKS_UUID, r->header.uuid, LUKS_UUID_END - LUKS_UUID);
	close(fd);
	return same;
}

/* Data that begin inside of the header are somewhere else: here they would be the header. */
static int check_apart(const struct reencryption *r, struct status *st)
{
	const struct inspect *h = &r->header;

	if (h->data_offset >= 2 * h->metadata_size + h->keyslots_size ||
	    (r->options->header && !holds_header(r)))
		return 0;
	return status_set(
		st, ST_REFUSED, EINVAL,
		"%s is a header that stands apart from its data: what it describes is on "
		"another device. Name that one, and the header with --header. Nothing was "
		"written.",
		r->path);
}

static int check_keyslots(const struct reencryption *r, struct status *st)
{
	unsigned bound = 0;

	for (unsigned i = 0; i < r->header.n_keyslots; i++)
		bound += r->header.keyslots[i].bound;
	if (!bound && !r->resumed)
		return refuse(r, "has no keyslot in use.", st);
	if (bound > 1 && !r->resumed && !r->options->drop_keyslots)
		return status_set(
			st, ST_REFUSED, EEXIST,
			"%s has %u keyslots, and the new key gets one, that of the secret "
			"given: the others would be gone. --drop-keyslots says that they "
			"may; add them again afterwards. Nothing was written.",
			r->path, bound);
	return 0;
}

/* A killed run leaves libcryptsetup's helpers below the mapping, and it cannot go on with those. */
static int check_helpers(const struct reencryption *r, struct status *st)
{
	struct mapping_helper helpers[MAPPING_HELPERS];
	unsigned n = mapping_helpers(helpers, r->mapping);
	char free_it[600] = "", remove[600] = "";

	if (!n)
		return 0;
	if (header_reencrypting(r->header.uuid))
		return status_set(st, ST_BUSY, EBUSY,
				  "%s is open as %s, and another process re-encrypts it.", r->path,
				  r->mapping);
	for (unsigned i = 0; i < n; i++) {
		snprintf(remove + strlen(remove), sizeof(remove) - strlen(remove), " %s",
			 helpers[i].name);
		if (helpers[i].suspended)
			snprintf(free_it + strlen(free_it), sizeof(free_it) - strlen(free_it),
				 "dmsetup wipe_table --noflush --nolockfs %s (who waits for that "
				 "area gets an error, as of a failing disk); ",
				 helpers[i].name);
	}
	return status_set(
		st, ST_BUSY, EBUSY,
		"%s is open as %s, and its re-encryption was killed%s. Take away what that "
		"left, in this order: %sunmount it; cryptsetup close %s; and if they are "
		"still there, dmsetup remove%s. This command then goes on.",
		r->path, r->mapping, *free_it ? ", so that the kernel holds back a part of it" : "",
		free_it, r->mapping, remove);
}

/* Of what a killed run left over the device, it is said how to get rid of it. */
static int explain_busy(const struct reencryption *r, int ret, struct status *st)
{
	char name[MAPPING_NAME_MAX];

	if (st->code != ST_BUSY || !mapping_orphan(r->device.rdev, name))
		return ret;
	return status_set(
		st, ST_BUSY, EBUSY,
		"%s is in use by %s, which a run that was killed has left: dmsetup remove "
		"%s. This command then goes on.",
		r->path, name, name);
}

/* Open: through its mapping, and everybody goes on using it. Closed: nobody else may use it. */
int reencryption_look(struct reencryption *r, struct status *st)
{
	int ret = device_probe(&r->device, r->path, NULL, st);

	if (!ret)
		ret = open_header(r, &r->device, st);
	if (!ret)
		ret = check_header(r, st);
	if (!ret)
		ret = check_apart(r, st);
	if (!ret)
		ret = check_keyslots(r, st);
	if (ret)
		return ret;
	r->online = mapping_find(r->header.uuid, r->device.rdev, r->mapping);
	if (r->online && r->left)
		return status_set(st, ST_BUSY, EBUSY,
				  "%s is open as %s, and all but the end of its re-encryption is "
				  "done: close it for that (cryptsetup close).",
				  r->path, r->mapping);
	if (r->online && geteuid())
		return status_set(st, ST_AUTH, EPERM,
				  "%s is open as %s: only root can re-encrypt it.", r->path,
				  r->mapping);
	if (r->online)
		return check_helpers(r, st);
	ret = guard_open(&r->guard, r->path, st);
	return ret ? explain_busy(r, ret, st) : 0;
}
