// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ciphers that the program knows. Key sizes: Linux crypto/xts.c, crypto/adiantum.c and the
 * block ciphers. Names: dm-crypt's documentation
 * (Documentation/admin-guide/device-mapper/dm-crypt.rst); of integrity modes, with what is stored
 * for each, cryptsetup(8), --integrity.
 */
#include "spec/spec.h"

#define XTS_PROTECTS                                                                               \
	"Hides data at rest; equal 16-byte blocks at one place in time show, and each such block " \
	"can be damaged unnoticed."
#define ADIANTUM_PROTECTS                                                                          \
	"Hides data at rest; any change scrambles the whole sector, but old sectors can be put "   \
	"back unnoticed."
#define CBC_PROTECTS                                                                               \
	"Hides data at rest; whoever can write to the disk can flip chosen bits of a block by "    \
	"spoiling the one before it."
#define INTEGRITY_PROTECTS                                                                         \
	"Hides data at rest, and a sector that was changed is refused when it is read; a whole "   \
	"sector can still be put back with its tag as it was before, unnoticed."
/* NIST SP 800-38D, 8.3: with random IVs of 96 bits, no more than 2^32 uses of a key. RFC 8439 wants
 * nonces that never come twice; the odds are the same. */
#define NONCE_PROTECTS                                                                             \
	" No more than 2^32 sectors are to be written with one key: with its random 96-bit "       \
	"nonces, one that comes twice lets tags be forged."
#define NONCE_WRITES (1ULL << 32)

#define XTS_KIND(name, rank, is_fips)                                                              \
	{                                                                                          \
		.cipher = name, .mode = "xts", .iv = "plain64", .kernel = "xts(" name ")",         \
		.modules = name " xts", .key_bits = {512, 256}, .key_halves = 2, .fips = is_fips,  \
		.offered = true, .usual = rank, .protects = XTS_PROTECTS                           \
	}
#define ADIANTUM_KIND(name, rank)                                                                  \
	{                                                                                          \
		.cipher = name ",aes", .mode = "adiantum", .iv = "plain64",                        \
		.kernel = "adiantum(" name ",aes)", .modules = "adiantum nhpoly1305 chacha aes",   \
		.key_bits = {256}, .key_halves = 1, .wide_block = true, .offered = true,           \
		.usual = rank, .protects = ADIANTUM_PROTECTS                                       \
	}

const struct spec_kind spec_kinds[] = {
	XTS_KIND("aes", 0, true),
	{.cipher = "aes",
	 .mode = "cbc",
	 .iv = "essiv:sha256",
	 .kernel = "essiv(cbc(aes),sha256)",
	 .modules = "aes cbc essiv sha256",
	 .key_bits = {256, 192, 128},
	 .key_halves = 1,
	 .fips = true,
	 .offered = true,
	 .usual = 1,
	 .protects = CBC_PROTECTS},
	ADIANTUM_KIND("xchacha12", 2),
	ADIANTUM_KIND("xchacha20", 3),
	XTS_KIND("serpent", 4, false),
	XTS_KIND("twofish", 5, false),
	XTS_KIND("camellia", 6, false),
	/* Its IVs can be predicted, so who chooses what is stored can leave a mark: measured, never
	 * offered. */
	{.cipher = "aes",
	 .mode = "cbc",
	 .iv = "plain64",
	 .kernel = "cbc(aes)",
	 .modules = "aes cbc",
	 .key_bits = {256, 192, 128},
	 .key_halves = 1,
	 .usual = 7,
	 .protects = CBC_PROTECTS},
	/* Authenticated. Both of its parts are approved. */
	{.cipher = "aes",
	 .mode = "xts",
	 .iv = "plain64",
	 .kernel = "authenc(hmac(sha256),xts(aes))",
	 .modules = "aes xts authenc hmac sha256 dm-integrity",
	 .key_bits = {512, 256},
	 .key_halves = 2,
	 .fips = true,
	 .usual = 8,
	 .protects = INTEGRITY_PROTECTS,
	 .integrity = "hmac-sha256",
	 .mac_bits = 256,
	 .tag = 32},
	/* Not for FIPS mode: nothing keeps the count that NIST SP 800-38D asks for. */
	{.cipher = "aes",
	 .mode = "gcm",
	 .iv = "random",
	 .kernel = "gcm(aes)",
	 .modules = "aes gcm ghash dm-integrity",
	 .key_bits = {256, 128},
	 .key_halves = 1,
	 .usual = 9,
	 .protects = INTEGRITY_PROTECTS NONCE_PROTECTS,
	 .integrity = "aead",
	 .iv_stored = 12,
	 .tag = 16,
	 .writes_limit = NONCE_WRITES},
	{.cipher = "chacha20",
	 .mode = "random",
	 .iv = "",
	 .kernel = "rfc7539(chacha20,poly1305)",
	 .modules = "chacha20poly1305 chacha poly1305 dm-integrity",
	 .key_bits = {256},
	 .key_halves = 1,
	 .usual = 10,
	 .protects = INTEGRITY_PROTECTS NONCE_PROTECTS,
	 .integrity = "poly1305",
	 .iv_stored = 12,
	 .tag = 16,
	 .writes_limit = NONCE_WRITES},
	{.cipher = "aegis128",
	 .mode = "random",
	 .iv = "",
	 .kernel = "aegis128",
	 .modules = "aegis128 dm-integrity",
	 .key_bits = {128},
	 .key_halves = 1,
	 .usual = 11,
	 .protects = INTEGRITY_PROTECTS,
	 .integrity = "aead",
	 .iv_stored = 16,
	 .tag = 16},
	/* Random IVs hide, beside all else, that a sector is written as it was before. */
	{.cipher = "aes",
	 .mode = "xts",
	 .iv = "random",
	 .kernel = "authenc(hmac(sha256),xts(aes))",
	 .modules = "aes xts authenc hmac sha256 dm-integrity",
	 .key_bits = {512, 256},
	 .key_halves = 2,
	 .fips = true,
	 .usual = 12,
	 .protects = INTEGRITY_PROTECTS,
	 .integrity = "hmac-sha256",
	 .mac_bits = 256,
	 .iv_stored = 16,
	 .tag = 32},
	{.cipher = "aes",
	 .mode = "cbc",
	 .iv = "essiv:sha256",
	 .kernel = "essiv(authenc(hmac(sha256),cbc(aes)),sha256)",
	 .modules = "aes cbc essiv authenc hmac sha256 dm-integrity",
	 .key_bits = {256, 128},
	 .key_halves = 1,
	 .fips = true,
	 .usual = 13,
	 .protects = INTEGRITY_PROTECTS,
	 .integrity = "hmac-sha256",
	 .mac_bits = 256,
	 .tag = 32},
	{.kernel = NULL}};

#define RECORD_PROTECTS                                                                            \
	"Measured for the record; never recommended: RC4's output can be told from noise, and it " \
	"has no IVs."

const struct spec_kind spec_records[] = {
	{.cipher = "aes",
	 .mode = "cbc",
	 .iv = "essiv:sha256",
	 .kernel = "essiv(authenc(hmac(sha1),cbc(aes)),sha256)",
	 .modules = "aes cbc essiv authenc hmac sha1 sha256 dm-integrity",
	 .key_bits = {256, 128},
	 .key_halves = 1,
	 .usual = SPEC_USUAL_RARE,
	 .protects = INTEGRITY_PROTECTS " Measured for the record; never recommended: SHA-1 is no "
					"longer used for anything new.",
	 .integrity = "hmac-sha1",
	 .mac_bits = 160,
	 .tag = 20,
	 .record = true},
	{.cipher = "rc4",
	 .mode = "",
	 .iv = "",
	 .kernel = "ecb(arc4)",
	 .modules = "arc4",
	 .key_bits = {128},
	 .key_halves = 1,
	 .usual = SPEC_USUAL_RARE,
	 .protects = RECORD_PROTECTS,
	 .record = true},
	{.cipher = "rc4",
	 .mode = "",
	 .iv = "",
	 .kernel = "authenc(hmac(md5),ecb(arc4))",
	 .modules = "arc4 authenc hmac md5 dm-integrity",
	 .key_bits = {128},
	 .key_halves = 1,
	 .usual = SPEC_USUAL_RARE,
	 .protects = RECORD_PROTECTS,
	 .integrity = "hmac-md5",
	 .mac_bits = 128,
	 .tag = 16,
	 .record = true},
	{.kernel = NULL}};
