/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Authenticated encryption of one message through OpenSSL: AES-GCM (NIST SP 800-38D),
 * ChaCha20-Poly1305 (RFC 8439), or a cipher and then a MAC of the associated data and the
 * ciphertext (encrypt-then-MAC, as the kernel's authenc template does it; HMAC: RFC 2104).
 */
#ifndef DMCT_MEASURE_OPENSSL_SEAL_H
#define DMCT_MEASURE_OPENSSL_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/auth.h"
#include "spec/spec.h"

struct seal;

/* Whether OpenSSL could have it: every spec with an integrity mode but AEGIS, and RC4. */
bool seal_implements(const struct spec *spec);

/*
 * raw: the cipher's key and, where there is one, the MAC's behind it: spec_volume_key_bits() of it.
 * Returns 0, -ENOMEM, or -EOPNOTSUPP with *reason (OpenSSL's, static) where this OpenSSL lacks it.
 */
int seal_new(struct seal **seal, const struct spec *spec, const uint8_t *raw, const char **reason);
void seal_free(struct seal *seal);

/* The same as a struct sealer, with ESSIV as the kernel makes it where the spec has it. */
int seal_sealer(struct sealer *sealer, const struct spec *spec, const uint8_t *raw,
		const char **reason);

/* Bytes of IV that it takes. RC4, which has none, is keyed anew with the key and eight bytes of it
 * put together by exclusive or. */
size_t seal_iv_size(const struct seal *seal);

/*
 * One message, dst may be src. A tag of spec.kind->tag bytes comes out, or is compared with what it
 * should be, in constant time: -EBADMSG, and dst then holds nothing of use. -EIO when OpenSSL
 * fails.
 */
int seal_encrypt(struct seal *seal, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
		 uint8_t *dst, const uint8_t *src, size_t len, uint8_t *tag);
int seal_decrypt(struct seal *seal, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
		 uint8_t *dst, const uint8_t *src, size_t len, const uint8_t *tag);

#endif
