/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dm-crypt's sectors by OpenSSL, for test-engine.c alone. */
#ifndef DMCT_TESTS_ENGINE_EVP_H
#define DMCT_TESTS_ENGINE_EVP_H

#include <openssl/evp.h>
#include <string.h>

#include "engine/sha256.h"
#include "engine/tier.h"

static const EVP_CIPHER *evp_cipher(const struct spec *spec)
{
	const bool xts = spec->kind->key_halves == 2;

	switch (spec->key_bits / spec->kind->key_halves) {
	case 128:
		return xts ? EVP_aes_128_xts() : EVP_aes_128_cbc();
	case 192:
		return EVP_aes_192_cbc();
	default:
		return xts ? EVP_aes_256_xts() : EVP_aes_256_cbc();
	}
}

/* dm-crypt's essiv:sha256, from its definition: AES under the key's hash, over plain64's IV. */
static void evp_essiv(uint8_t iv[AES_BLOCK], const uint8_t *raw, size_t len)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t salt[SHA256_SIZE];
	int n;

	EVP_Digest(raw, len, salt, NULL, EVP_sha256(), NULL);
	EVP_EncryptInit_ex(ctx, EVP_aes_256_ecb(), NULL, salt, NULL);
	EVP_EncryptUpdate(ctx, iv, &n, iv, AES_BLOCK);
	EVP_CIPHER_CTX_free(ctx);
}

/* What dm-crypt has on disk, by OpenSSL. */
static void evp_encrypt(const struct spec *spec, const uint8_t *raw, uint8_t *dst,
			const uint8_t *src, size_t size, size_t count, uint64_t sector)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t iv[AES_BLOCK];
	int n;

	for (size_t i = 0; i < count; i++) {
		memset(iv, 0, sizeof(iv));
		for (size_t b = 0; b < 8; b++)
			iv[b] = (uint8_t)((sector + i * (size / 512)) >> 8 * b);
		if (!strcmp(spec->kind->iv, "essiv:sha256"))
			evp_essiv(iv, raw, spec->key_bits / 8);
		EVP_EncryptInit_ex(ctx, evp_cipher(spec), NULL, raw, iv);
		EVP_CIPHER_CTX_set_padding(ctx, 0);
		EVP_EncryptUpdate(ctx, dst + i * size, &n, src + i * size, (int)size);
	}
	EVP_CIPHER_CTX_free(ctx);
}

#endif
