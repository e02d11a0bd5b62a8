/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Re-encryption of a LUKS2 volume in place, by libcryptsetup: area after area, each protected while
 * it is written (checksums or a journal in the header's keyslot area), so that it can be cut short
 * anywhere, and gone on with.
 */
#ifndef DMCT_VOLUME_REENCRYPT_H
#define DMCT_VOLUME_REENCRYPT_H

#include "spec/spec.h"
#include "util/status.h"
#include "volume/inspect.h"
#include "volume/secret.h"

struct reencrypt_request {
	const char *device;      /* what to open: the device, or a descriptor's path */
	const char *device_name; /* what the user calls it */
	const char *header;      /* of a detached header, or NULL */
	const char *mapping;     /* the live mapping over it, or NULL: offline */
	const struct spec *spec; /* with a sector size; NULL: what is under way goes on */
	const char *resilience;  /* "checksum" or "journal" */
	/* Called after each area: bytes done of size. Non-zero: stop there. May be NULL. */
	int (*progress)(uint64_t size, uint64_t done, void *arg);
	void *progress_arg;
};

/*
 * Begins it on a copy of the header in memory: the secret, room for the new keyslot and for what
 * protects an area, and the new cipher are all tried, and nothing is written. Where one is under
 * way (spec NULL) only the secret is tried. header_fd: where the header is, with what
 * inspect_header() said of it. 0, or -errno with *st (ST_AUTH: the secret; ST_REFUSED: what
 * libcryptsetup does not take).
 */
int reencrypt_rehearse(const struct reencrypt_request *request, const struct inspect *inspect,
		       int header_fd, uint64_t device_size, const struct secret *secret,
		       struct status *st);

/*
 * Begins it, or goes on with it, and runs it until it is finished or progress() says to stop
 * (*finished false, and 0). An area that a kill left half written is put right first. The new key
 * gets one keyslot, with the old one's password hash; all keyslots of the old key go when it is
 * finished. -errno with *st: ST_AUTH; ST_REFUSED (nothing was written); ST_CHECK (it has begun and
 * can be gone on with).
 */
int reencrypt_run(const struct reencrypt_request *request, const struct secret *secret,
		  bool *finished, struct status *st);

/* Whether a keyslot opens with the secret, without a mapping: 0, or -errno with *st (ST_CHECK). */
int reencrypt_opens(const struct reencrypt_request *request, const struct secret *secret,
		    struct status *st);

#endif
