/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cipher spec as a value: CIPHER/KEYBITS[+INTEGRITY][@SECTOR], e.g. aes-xts-plain64/512@4096 or
 * aes-gcm-random/256+aead@4096, with dm-crypt's and cryptsetup's names for the cipher and for the
 * integrity mode. Pure: no I/O.
 */
#ifndef DMCT_SPEC_SPEC_H
#define DMCT_SPEC_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/status.h"

#define SPEC_TEXT_MAX   128
#define SPEC_SECTOR_MIN 512
#define SPEC_SECTOR_MAX 4096
#define SPEC_USUAL_RARE 4 /* spec_kind.usual from here on: few systems use it */

/* Strongest first: a weaker class is chosen only where it is faster by its margin
 * (decide/policy.h). */
enum spec_class {
	SPEC_CLASS_STRONG, /* XTS and Adiantum at 256-bit strength */
	SPEC_CLASS_XTS128, /* XTS at 128-bit strength */
	SPEC_CLASS_CBC,    /* CBC with ESSIV: malleable block by block, known watermarking limits */
	SPEC_CLASS_COUNT
};

/* What the program knows of a cipher, mode and IV generator that go together. Static. */
struct spec_kind {
	const char *cipher;   /* "aes", "xchacha12,aes" */
	const char *mode;     /* "xts" */
	const char *iv;       /* "plain64", "essiv:sha256"; "" for "aegis128-random" */
	const char *kernel;   /* the kernel crypto API's name: "xts(aes)" */
	const char *modules;  /* what an initramfs must hold, space-separated */
	unsigned key_bits[4]; /* allowed key sizes, best first; 0 ends */
	unsigned key_halves;  /* 2 for XTS: the key is two keys, strength is half of it */
	bool wide_block; /* a change anywhere scrambles the whole sector: a torn write loses it */
	bool fips;       /* approved in FIPS mode */
	bool offered;    /* may be recommended: a candidate */
	bool record;     /* measured for the record, and nothing else: of spec_records[] */
	unsigned usual;  /* rank for ties, 0 the most usual */
	const char *protects; /* in a sentence or two: what it gives and what not */

	/*
	 * Authenticated modes: dm-crypt on dm-integrity, which keeps a tag, and where the IV is
	 * random that too, beside each sector. cryptsetup's name for --integrity ("aead",
	 * "hmac-sha256", "poly1305"); NULL: none.
	 */
	const char *integrity;
	unsigned mac_bits;     /* key of the MAC, which comes on top of key_bits */
	unsigned iv_stored;    /* bytes of IV kept beside each sector */
	unsigned tag;          /* bytes of tag */
	uint64_t writes_limit; /* sectors that may be written with one key before a random IV is
				  likely enough to come twice, where that is the end; 0: no limit
				  that a disk reaches */
};

struct spec {
	const struct spec_kind *kind;
	unsigned key_bits;
	unsigned sector; /* bytes; 0: not said */
};

/*
 * Parses CIPHER/KEYBITS[+INTEGRITY][@SECTOR]. KEYBITS may be left out (256-bit strength, else the
 * best there is). -EINVAL with *st (ST_USAGE) says what is wrong and what is allowed; 32-bit IVs
 * ("plain"), ECB and stream modes, known but never offered, are explained. *spec is untouched on
 * failure.
 */
int spec_parse(struct spec *spec, const char *text, struct status *st);

/* The same, with those of spec_records[]: for measuring and for what was measured. */
int spec_parse_any(struct spec *spec, const char *text, struct status *st);

/*
 * Builds a spec from cryptsetup's four options: cipher "aes-xts-plain64" (or a whole spec text);
 * integrity NULL, key_bits and sector 0 when not given. Contradictions ("…/512" with --key-size
 * 256) are errors. As spec_parse() otherwise.
 */
int spec_from_options(struct spec *spec, const char *cipher, const char *integrity,
		      unsigned key_bits, unsigned sector, struct status *st);

/* Writes the text form, "aes-xts-plain64/512@4096", to buf; "@…" only when the sector is said.
 * Returns buf. */
char *spec_print(const struct spec *spec, char buf[SPEC_TEXT_MAX]);
/* dm-crypt's and cryptsetup's name alone: "aes-xts-plain64". Returns buf. */
char *spec_cipher(const struct spec *spec, char buf[SPEC_TEXT_MAX]);
/* libcryptsetup's second half: "xts-plain64". Returns buf. */
char *spec_cipher_mode(const struct spec *spec, char buf[SPEC_TEXT_MAX]);

/* True strength in bits against key search: AES-XTS with 512 key bits is 256. */
unsigned spec_strength(const struct spec *spec);
/* Bits of the volume key: the cipher's and, where there is one, the MAC's behind it. */
unsigned spec_volume_key_bits(const struct spec *spec);
/* Bytes that dm-integrity keeps beside each sector: IV and tag; 0 without an integrity mode. */
unsigned spec_stored(const struct spec *spec);
/* Bytes that go through dm-integrity's journal for each sector written, before they are written to
 * their place: the sector and its entry. For specs with a sector size; 0 without an integrity
 * mode. */
unsigned spec_journalled(const struct spec *spec);
enum spec_class spec_class(const struct spec *spec);
const char *spec_class_name(enum spec_class class);
/* The same of a spec, with what keeps tags named apart. */
const char *spec_class_words(const struct spec *spec);
bool spec_equal(const struct spec *a, const struct spec *b);
/* A power of two from 512 to 4096. */
bool spec_sector_valid(unsigned sector);

/* All kinds, NULL-kernel-terminated, in order of `usual`. */
extern const struct spec_kind spec_kinds[];
/* Ciphers that nobody should take any more, for comparing with. Ends alike. */
extern const struct spec_kind spec_records[];

#endif
