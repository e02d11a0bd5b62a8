/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LUKS2 through libcryptsetup: rehearse, format, verify. */
#ifndef DMCT_VOLUME_LUKS_H
#define DMCT_VOLUME_LUKS_H

#include "decide/decide.h"
#include "util/status.h"
#include "volume/guard.h"
#include "volume/secret.h"

struct luks_request {
	const struct plan *plan; /* with PBKDF costs settled: pbkdf.iterations is not 0 */
	const char *label, *subsystem, *uuid; /* NULL: none, none, a random one */
};

/* What stands in a header, as read back. */
struct luks_header {
	char uuid[40];
	char cipher[SPEC_TEXT_MAX]; /* "aes-xts-plain64" */
	unsigned key_bits, sector;
	uint64_t data_offset; /* bytes */
	char label[48], subsystem[48];
	struct plan_pbkdf pbkdf; /* of keyslot 0; type "" when there is no keyslot */
	char keyslot_cipher[SPEC_TEXT_MAX];
};

/*
 * Makes the same volume in memory first (a memfd), with the plan's cipher and the least PBKDF cost:
 * whatever libcryptsetup, its crypto backend or the kernel would refuse, they refuse here. `secret`
 * may be NULL (--dry-run without one). Writes nothing to any device. 0 or -errno with *st
 * (ST_MISSING, ST_REFUSED, ST_NOMEM).
 */
int luks_rehearse(const struct luks_request *request, const struct device_facts *device,
		  const struct secret *secret, struct status *st);

/*
 * The write: checks guard_recheck(), formats, wipes stale signatures at both ends, adds the
 * keyslot. On failure *st says what state the device is in. Signals are the caller's business (it
 * holds them back from here to the end).
 */
int luks_format(struct guard *guard, const struct luks_request *request,
		const struct secret *secret, struct status *st);

/*
 * Reads the header back from the medium, compares each of its two copies with the plan, and opens
 * the keyslot with the secret. Returns 0, or -EBADMSG with *st (ST_CHECK) naming what differs, as
 * the second half of a sentence. *header is filled either way as far as it could be read.
 */
int luks_verify(struct luks_header *header, struct guard *guard, const struct luks_request *request,
		const struct secret *secret, struct status *st);

#endif
