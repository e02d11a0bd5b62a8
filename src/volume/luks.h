/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LUKS2 through libcryptsetup: built and checked in memory, written, read back and verified. */
#ifndef DMCT_VOLUME_LUKS_H
#define DMCT_VOLUME_LUKS_H

#include "decide/decide.h"
#include "util/status.h"
#include "volume/change.h"
#include "volume/detached.h"
#include "volume/guard.h"
#include "volume/secret.h"

/* The two copies of LUKS2's metadata at their usual size (LUKS2 on-disk format, 2.1), which is what
 * libcryptsetup makes when nothing else is asked for. */
#define LUKS2_COPY     16384UL
#define LUKS2_METADATA (2 * LUKS2_COPY)

struct luks_request {
	const struct plan *plan; /* with PBKDF costs settled: pbkdf.iterations is not 0 */
	const char *label, *subsystem, *uuid; /* NULL: none, none, a random one */
	bool luks1; /* the plan then has PBKDF2, sectors of 512 bytes and no flags */
};

/* What stands in a header, as read back. */
struct luks_header {
	char uuid[40];
	char cipher[SPEC_TEXT_MAX]; /* "aes-xts-plain64" */
	unsigned key_bits, sector;  /* bits of the volume key, a MAC's with it */
	char integrity[32];         /* "hmac(sha256)", "aead", …; "" without */
	uint64_t data_offset;       /* bytes */
	char label[48], subsystem[48];
	struct plan_pbkdf pbkdf; /* of keyslot 0; type "" when there is no keyslot */
	char keyslot_cipher[SPEC_TEXT_MAX];
};

/*
 * Bytes of the header area: up to the data where those begin within 32 MiB, and 16 MiB, which is
 * what LUKS2 takes by itself, where they begin later or elsewhere.
 */
uint64_t luks_header_len(const struct plan *plan);
/* The least offset that data can have behind a header with one keyslot (LUKS2), or all (LUKS1). */
uint64_t luks_header_least(const struct plan *plan);

/* A volume's header area, whole, in memory. */
struct luks_image {
	int fd;                              /* a memfd as long as the device */
	uint64_t len;                        /* of the header area */
	unsigned char *bytes;                /* the header area, mapped */
	struct extent copies[CHANGE_COPIES]; /* of the header, in the order to write them in */
	struct luks_header header;           /* as read back from the memfd */
};

/*
 * Makes the volume in memory (a memfd of the device's size), password hash and all, and checks it
 * there: whatever libcryptsetup, its crypto backend or the kernel would refuse, they refuse here.
 * `secret` may be NULL (--dry-run without one): a stand-in is used, and the image is good for
 * nothing else. Writes nothing to any device. 0 or -errno with *st (ST_MISSING, ST_REFUSED,
 * ST_NOMEM, ST_CHECK). luks_image_free() releases it, also after a failure.
 */
int luks_build(struct luks_image *image, const struct luks_request *request,
	       const struct device_facts *device, const struct secret *secret, struct status *st);
void luks_image_free(struct luks_image *image);

/* What is to be done between the body of a volume and its header, on the data area. */
struct luks_between {
	int (*run)(void *arg, struct status *st); /* 0, or -errno with *st */
	bool (*undone)(void *arg); /* after a failure: whether nothing of the data area changed */
	void *arg;
};

/*
 * The write: of a change_prepare()d change. between: NULL, or what comes before the header; where
 * that fails, what was written stays unless nothing of the data area changed, and *st has its
 * words. On another failure what was written is taken back, and *st says
 * what state the device is in: taken back (ST_REFUSED), or not (ST_CHECK; undo_file, which may be
 * NULL, is then named as the way back). Signals are the caller's business (it holds them back from
 * here to the end).
 */
int luks_write(struct guard *guard, const struct change *change, struct luks_between *between,
	       const char *undo_file, struct status *st);

/*
 * The same of a volume whose header stands apart: the marks of old contents on the device (a
 * change_prepare()d change without a header area) and then the header, so that no old contents are
 * shown beside a header that opens. Of a header on a block device, detached->change is prepared.
 */
int luks_write_detached(struct guard *guard, const struct change *change, struct detached *detached,
			const struct luks_image *image, struct luks_between *between,
			const char *undo_file, struct status *st);

/*
 * Reads the header area back from the medium, compares it byte for byte with the image (NULL: not),
 * each copy of the header with the plan, and opens the keyslot with the secret; key (NULL: not
 * wanted) gets the volume key, for secret_free(). Returns 0, or -EBADMSG with *st (ST_CHECK) naming
 * what differs, as the second half of a sentence. *header is filled either way as far as it could
 * be read.
 */
int luks_verify(struct luks_header *header, struct guard *guard, const struct luks_image *image,
		const struct luks_request *request, const struct secret *secret, struct secret *key,
		struct status *st);

/*
 * Reads and writes a sector of the new volume through a dm-crypt mapping of our own, which changes
 * nothing on the disk; the guard's claim is given up for it. 0, with why it could not be tried in
 * reason ("" when it was); or -errno with *st (ST_CHECK): dm-crypt does not do what it should.
 */
int luks_try_mapping(struct guard *guard, const struct luks_request *request,
		     const struct secret *key, char *reason, size_t size, struct status *st);

/* What keyslots of a volume with this spec are encrypted with; *key_bits gets the key size. */
const char *luks_keyslot_cipher(const struct spec *spec, char buf[SPEC_TEXT_MAX],
				unsigned *key_bits);

#endif
