/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live dm-crypt mapping as the kernel has it. Its key, which the table may hold, is neither kept
 * nor shown: it is wiped from what was read before anything else is looked at.
 */
#ifndef DMCT_VOLUME_MAPPING_H
#define DMCT_VOLUME_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spec/spec.h"
#include "util/status.h"

#define MAPPING_NAME_MAX 128
#define MAPPING_FLAGS    12

struct mapping {
	char name[MAPPING_NAME_MAX];
	char uuid[160];       /* device-mapper's: "CRYPT-LUKS2-…" */
	char type[16];        /* of it: "LUKS1", "LUKS2", "PLAIN", …; "" none */
	char volume_uuid[40]; /* of the header, from it; "" none */
	dev_t dev;            /* its own number */
	bool suspended, read_only;
	uint64_t size;              /* bytes */
	char cipher[SPEC_TEXT_MAX]; /* as the table has it */
	unsigned key_bits;
	bool key_in_keyring;
	uint64_t iv_offset;            /* 512-byte sectors */
	char on[32];                   /* the device below: "MAJOR:MINOR" */
	uint64_t offset;               /* bytes on it where the data begin */
	unsigned sector;               /* bytes */
	char integrity[40];            /* "hmac(sha256)", "aead", …; "" */
	unsigned tag;                  /* bytes beside each sector */
	char flags[MAPPING_FLAGS][32]; /* optional parameters without a value, dm-crypt's names */
	unsigned n_flags;
	bool known; /* spec is set */
	struct spec spec;
};

/*
 * Reads a mapping of that name. Errors, with *st: there is none, or it is not one crypt target
 * (ST_DEVICE), no permission (ST_AUTH), no device-mapper in this kernel (ST_MISSING).
 */
int mapping_read(struct mapping *mapping, const char *name, struct status *st);

/* Reads the parameters of a crypt target (Linux Documentation/admin-guide/device-mapper/
 * dm-crypt.rst), wiping the key in them. 0, or -EINVAL for what is none. */
int mapping_parse(struct mapping *mapping, char *params);

/* The name of the mapping that has this device number, from /sys: 1, or 0 when it is none. */
int mapping_name_of(dev_t dev, char name[MAPPING_NAME_MAX]);

/*
 * The name of the crypt mapping over the LUKS volume of this UUID, from /sys, which everybody may
 * read; 0 when there is none. dev: of the device that it must lie on, directly or on dm-integrity;
 * 0: any.
 */
int mapping_find(const char *volume_uuid, dev_t dev, char name[MAPPING_NAME_MAX]);

/* Where the header's device is: /dev/NAME of the device below, and where that is the dm-integrity
 * that cryptsetup puts between, of the one below that. 0 or -errno. */
int mapping_device(const struct mapping *mapping, char *path, size_t size);

/*
 * What libcryptsetup puts below the volume open as `name` while it re-encrypts it:
 * NAME-hotzone-forward, the area at work, which it suspends as it writes it, and NAME-overlay. A
 * re-encryption that was killed leaves them, and one that is suspended lets nobody end who uses the
 * volume, nor change the tables above it. Returns how many there are.
 */
struct mapping_helper {
	char name[MAPPING_NAME_MAX];
	bool suspended;
};
#define MAPPING_HELPERS 3
unsigned mapping_helpers(struct mapping_helper helpers[MAPPING_HELPERS], const char *name);

/*
 * Finds a mapping directly on the device `dev` that libcryptsetup made for its own use
 * (temporary-cryptsetup-PID-N) in a process that is gone. 1: its name is in `name`; 0: none.
 */
int mapping_orphan(dev_t dev, char name[MAPPING_NAME_MAX]);

#endif
