/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a LUKS header says, without writing to where it stands: libcryptsetup loads, and may mend, a
 * copy of its metadata in memory. No secret is needed. Of the keyslots' areas only how their bytes
 * are distributed is looked at.
 */
#ifndef DMCT_VOLUME_INSPECT_H
#define DMCT_VOLUME_INSPECT_H

#include "decide/decide.h"
#include "util/status.h"
#include "volume/header.h"

#define INSPECT_KEYSLOTS 32 /* LUKS2_KEYSLOTS_MAX; LUKS1 has 8 */
#define INSPECT_ABSURD   64

struct inspect_keyslot {
	int slot;
	bool bound;              /* it opens this volume's key; otherwise another one */
	char priority[12];       /* "ignore", "normal", "prefer" */
	char cipher[64];         /* that guards it; "" not known */
	unsigned key_bits;       /* of the key that it holds */
	struct plan_pbkdf pbkdf; /* type "": it has none */
	double unlock_ms;        /* here; 0: not known. The caller's, by inspect_unlock_times() */
	/* A cost that cannot be ("-1 iterations"), or "". */
	char absurd[INSPECT_ABSURD];
	/* Where the key is, split and encrypted, in bytes; size 0: not known. */
	uint64_t area_offset, area_size;
	bool area_outside; /* beyond the device's end */
	unsigned area_bad; /* of its 512-byte sectors so many are no ciphertext: overwritten */
};

/* What libcryptsetup says of each copy alone. */
struct inspect_load {
	bool loads;
	char reason[256];
};

struct inspect {
	struct headers headers;
	struct inspect_load load[HEADER_COPIES];
	bool loaded; /* what follows is known */

	char uuid[48], label[48], subsystem[48];
	char cipher[SPEC_TEXT_MAX]; /* "aes-xts-plain64" */
	unsigned key_bits;          /* of the whole volume key, a MAC's included */
	unsigned sector;
	uint64_t data_offset;                  /* bytes */
	uint64_t metadata_size, keyslots_size; /* LUKS2: bytes */
	uint64_t header_end;                   /* LUKS1: where the last keyslot's area ends */
	char integrity[40];                    /* "hmac(sha256)", "aead", …; "" without */
	unsigned tag;                          /* bytes beside each sector */
	bool known;                            /* spec is set: a cipher that this program knows */
	struct spec spec;

	struct inspect_keyslot keyslots[INSPECT_KEYSLOTS];
	unsigned n_keyslots, n_tokens;
	uint32_t flags;        /* persistent, libcryptsetup's CRYPT_ACTIVATE_* */
	uint32_t requirements; /* CRYPT_REQUIREMENT_* */
	char unknown[200];     /* those that are not known, by name: "\"a\", \"b\"", or "" */
	char digest_absurd[INSPECT_ABSURD]; /* as a keyslot's, of the volume key's digest */
	char reencrypt[16];                 /* "", "clean", "crashed", "invalid" */
	char resilience[24];                /* of a re-encryption under way */
	/* "reencrypt", "encrypt", "decrypt"; "" without one, or begun by a cryptsetup before 2.4.3
	 */
	char reencrypt_mode[12];
	bool reencrypt_left; /* all its data are done, its header is not */
};

/*
 * Reads the header on fd, of `size` bytes, which messages call `name`. 0 also where there is none
 * (headers.kind) or none that loads (loaded false, and load[] says why). -errno with *st: it cannot
 * be read (ST_DEVICE), no memory (ST_NOMEM), no memfd (ST_MISSING).
 */
int inspect_header(struct inspect *inspect, int fd, uint64_t size, const char *name,
		   struct status *st);

/*
 * Fills the keyslots' unlock_ms from short trials here: one for each password hash and number of
 * threads among them, four at most, each a second at most. A trial that cannot be had leaves 0 and
 * *reason (size bytes) saying why.
 */
void inspect_unlock_times(struct inspect *inspect, char *reason, size_t size);

/* How many bytes a copy of the header made by cryptsetup luksHeaderBackup has; 0: not known. */
uint64_t inspect_backup_size(const struct inspect *inspect);

/* The persistent activation flags in words, cryptsetup's: "no-read-workqueue", …; NULL beyond the
 * i-th that is set. */
const char *inspect_flag(uint32_t flags, unsigned i);
/* The requirements likewise: "offline-reencrypt", "online-reencrypt", "unknown". */
const char *inspect_requirement(uint32_t requirements, unsigned i);

#endif
