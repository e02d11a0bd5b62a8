// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef WITH_OPENSSL
#include "measure/openssl_seal.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/provider.h>
#endif

/* Longest block of the hashes, and key of a cipher. */
#define BLOCK_MAX 64
#define KEY_MAX   64

struct seal {
	EVP_CIPHER_CTX *ctx[2]; /* 0: encrypt */
	EVP_CIPHER_CTX *essiv;  /* NULL for other IVs */
	/* HMAC: the hash after the key's inner and outer block, and one to work with. */
	EVP_MD_CTX *inner, *outer, *work;
	size_t tag, iv_size, key_len;
	bool aead, rc4;
	uint8_t key[KEY_MAX]; /* RC4's */
};

/* RC4 left OpenSSL's default provider with 3.0. */
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
static OSSL_LIB_CTX *legacy;
static EVP_CIPHER *legacy_rc4;

static void load_legacy(void)
{
	/* A library context of its own, so that nothing else of the process sees the provider. Both
	 * stay until the process ends. */
	legacy = OSSL_LIB_CTX_new();
	if (legacy && OSSL_PROVIDER_load(legacy, "legacy"))
		legacy_rc4 = EVP_CIPHER_fetch(legacy, "RC4", NULL);
}

static const EVP_CIPHER *find_rc4(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_legacy);
	return legacy_rc4;
}
#elif defined(OPENSSL_NO_RC4)
static const EVP_CIPHER *find_rc4(void)
{
	return NULL;
}
#else
static const EVP_CIPHER *find_rc4(void)
{
	return EVP_rc4();
}
#endif

static const EVP_CIPHER *find_cipher(const struct spec *spec)
{
	const char *cipher = spec->kind->cipher, *mode = spec->kind->mode;

	if (!strcmp(cipher, "rc4"))
		return find_rc4();
	if (!strcmp(cipher, "chacha20"))
		return EVP_chacha20_poly1305();
	if (!strcmp(mode, "gcm"))
		return spec->key_bits == 256 ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
	if (!strcmp(mode, "xts"))
		return spec->key_bits == 512 ? EVP_aes_256_xts() : EVP_aes_128_xts();
	return spec->key_bits == 256 ? EVP_aes_256_cbc() : EVP_aes_128_cbc();
}

static const EVP_MD *find_hash(const struct spec *spec)
{
	const char *integrity = spec->kind->integrity;

	if (!integrity || strncmp(integrity, "hmac-", 5) != 0)
		return NULL;
	integrity += 5;
	return !strcmp(integrity, "sha256") ? EVP_sha256()
	       : !strcmp(integrity, "sha1") ? EVP_sha1()
					    : EVP_md5();
}

bool seal_implements(const struct spec *spec)
{
	if (!strcmp(spec->kind->cipher, "rc4"))
		return true;
	return spec->kind->integrity && strcmp(spec->kind->cipher, "aegis128") != 0;
}

static EVP_MD_CTX *keyed(const EVP_MD *md, const uint8_t *key, size_t len, uint8_t pad)
{
	uint8_t block[BLOCK_MAX];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	memset(block, pad, sizeof(block));
	for (size_t i = 0; i < len; i++)
		block[i] ^= key[i];
	if (ctx && (EVP_DigestInit_ex(ctx, md, NULL) != 1 ||
		    EVP_DigestUpdate(ctx, block, sizeof(block)) != 1)) {
		EVP_MD_CTX_free(ctx);
		ctx = NULL;
	}
	OPENSSL_cleanse(block, sizeof(block));
	return ctx;
}

static bool set_keys(struct seal *seal, const struct spec *spec, const uint8_t *raw)
{
	const EVP_CIPHER *cipher = find_cipher(spec);
	const EVP_MD *md = find_hash(spec);
	const size_t mac = spec->kind->mac_bits / 8;

	for (int i = 0; i < 2; i++) {
		seal->ctx[i] = cipher ? EVP_CIPHER_CTX_new() : NULL;
		if (!seal->ctx[i] ||
		    EVP_CipherInit_ex(seal->ctx[i], cipher, NULL, raw, NULL, !i) != 1 ||
		    EVP_CIPHER_CTX_set_padding(seal->ctx[i], 0) != 1)
			return false;
	}
	if (!md)
		return true;
	/* RFC 2104; every hash here has blocks of 64 bytes, longer than its key. */
	seal->inner = keyed(md, raw + seal->key_len, mac, 0x36);
	seal->outer = keyed(md, raw + seal->key_len, mac, 0x5c);
	seal->work = EVP_MD_CTX_new();
	return seal->inner && seal->outer && seal->work;
}

int seal_new(struct seal **out, const struct spec *spec, const uint8_t *raw, const char **reason)
{
	struct seal *seal = calloc(1, sizeof(*seal));
	const char *why;

	if (!seal)
		return -ENOMEM;
	seal->rc4 = !strcmp(spec->kind->cipher, "rc4");
	seal->aead = spec->kind->integrity && !find_hash(spec);
	seal->tag = spec->kind->tag;
	seal->iv_size = seal->aead ? 12 : 16;
	seal->key_len = spec->key_bits / 8;
	memcpy(seal->key, raw, seal->key_len);
	ERR_clear_error();
	if (!set_keys(seal, spec, raw)) {
		why = ERR_reason_error_string(ERR_peek_last_error());
		*reason = why         ? why
			  : seal->rc4 ? "no RC4, nor the legacy provider that would have it"
				      : "the cipher cannot be had";
		seal_free(seal);
		return -EOPNOTSUPP;
	}
	*out = seal;
	return 0;
}

void seal_free(struct seal *seal)
{
	if (!seal)
		return;
	for (int i = 0; i < 2; i++)
		EVP_CIPHER_CTX_free(seal->ctx[i]);
	EVP_CIPHER_CTX_free(seal->essiv);
	EVP_MD_CTX_free(seal->inner);
	EVP_MD_CTX_free(seal->outer);
	EVP_MD_CTX_free(seal->work);
	OPENSSL_cleanse(seal, sizeof(*seal));
	free(seal);
}

size_t seal_iv_size(const struct seal *seal)
{
	return seal->iv_size;
}

static bool hmac(const struct seal *seal, const uint8_t *aad, size_t aad_len, const uint8_t *data,
		 size_t len, uint8_t tag[EVP_MAX_MD_SIZE])
{
	unsigned n;

	return EVP_MD_CTX_copy_ex(seal->work, seal->inner) == 1 &&
	       EVP_DigestUpdate(seal->work, aad, aad_len) == 1 &&
	       EVP_DigestUpdate(seal->work, data, len) == 1 &&
	       EVP_DigestFinal_ex(seal->work, tag, &n) == 1 &&
	       EVP_MD_CTX_copy_ex(seal->work, seal->outer) == 1 &&
	       EVP_DigestUpdate(seal->work, tag, n) == 1 &&
	       EVP_DigestFinal_ex(seal->work, tag, &n) == 1 && n == seal->tag;
}

static bool start(struct seal *seal, EVP_CIPHER_CTX *ctx, const uint8_t *iv)
{
	uint8_t key[KEY_MAX];
	bool good;

	if (!seal->rc4)
		return EVP_CipherInit_ex(ctx, NULL, NULL, NULL, iv, -1) == 1;
	memcpy(key, seal->key, seal->key_len);
	for (size_t i = 0; i < 8; i++)
		key[i] ^= iv[i];
	good = EVP_CipherInit_ex(ctx, NULL, NULL, key, NULL, -1) == 1;
	OPENSSL_cleanse(key, sizeof(key));
	return good;
}

static bool crypt(struct seal *seal, EVP_CIPHER_CTX *ctx, const uint8_t *iv, const uint8_t *aad,
		  size_t aad_len, uint8_t *dst, const uint8_t *src, size_t len)
{
	int n;

	if (!start(seal, ctx, iv))
		return false;
	if (seal->aead && aad_len && EVP_CipherUpdate(ctx, NULL, &n, aad, (int)aad_len) != 1)
		return false;
	return !len || (EVP_CipherUpdate(ctx, dst, &n, src, (int)len) == 1 && (size_t)n == len);
}

int seal_encrypt(struct seal *seal, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
		 uint8_t *dst, const uint8_t *src, size_t len, uint8_t *tag)
{
	EVP_CIPHER_CTX *ctx = seal->ctx[0];
	uint8_t mac[EVP_MAX_MD_SIZE];
	bool good;
	int n;

	good = crypt(seal, ctx, iv, aad, aad_len, dst, src, len);
	if (seal->aead) {
		good = good && EVP_EncryptFinal_ex(ctx, mac, &n) == 1 && !n &&
		       EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, (int)seal->tag, tag) == 1;
	} else if (seal->inner) {
		good = good && hmac(seal, aad, aad_len, dst, len, mac);
		if (good)
			memcpy(tag, mac, seal->tag);
	}
	return good ? 0 : -EIO;
}

/* OpenSSL sets a tag from memory that it does not write to, but does not say so. */
static bool set_tag(const struct seal *seal, const uint8_t *tag)
{
	uint8_t copy[AUTH_TAG_MAX];

	memcpy(copy, tag, seal->tag);
	return EVP_CIPHER_CTX_ctrl(seal->ctx[1], EVP_CTRL_AEAD_SET_TAG, (int)seal->tag, copy) == 1;
}

int seal_decrypt(struct seal *seal, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
		 uint8_t *dst, const uint8_t *src, size_t len, const uint8_t *tag)
{
	EVP_CIPHER_CTX *ctx = seal->ctx[1];
	uint8_t mac[EVP_MAX_MD_SIZE];
	int n;

	if (seal->inner) {
		if (!hmac(seal, aad, aad_len, src, len, mac))
			return -EIO;
		if (CRYPTO_memcmp(mac, tag, seal->tag) != 0)
			return -EBADMSG;
	}
	if (!crypt(seal, ctx, iv, aad, aad_len, dst, src, len))
		return -EIO;
	if (!seal->aead)
		return 0;
	if (!set_tag(seal, tag))
		return -EIO;
	return EVP_DecryptFinal_ex(ctx, mac, &n) == 1 && !n ? 0 : -EBADMSG;
}

/* The kernel hashes the MAC's key with the cipher's (crypto/essiv.c, essiv_aead_setkey). */
static bool set_essiv(struct seal *seal, const struct spec *spec, const uint8_t *raw)
{
	uint8_t salt[EVP_MAX_MD_SIZE];
	bool good;

	seal->essiv = EVP_CIPHER_CTX_new();
	good = seal->essiv &&
	       EVP_Digest(raw, spec_volume_key_bits(spec) / 8, salt, NULL, EVP_sha256(), NULL) ==
		       1 &&
	       EVP_CipherInit_ex(seal->essiv, EVP_aes_256_ecb(), NULL, salt, NULL, 1) == 1 &&
	       EVP_CIPHER_CTX_set_padding(seal->essiv, 0) == 1;
	OPENSSL_cleanse(salt, sizeof(salt));
	return good;
}

static bool make_essiv(void *state, uint8_t iv[AUTH_IV_MAX])
{
	const struct seal *seal = state;
	int n;

	return EVP_CipherUpdate(seal->essiv, iv, &n, iv, AUTH_IV_MAX) == 1 && n == AUTH_IV_MAX;
}

static int sealer_encrypt(void *state, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
			  uint8_t *dst, const uint8_t *src, size_t len, uint8_t *tag)
{
	return seal_encrypt(state, iv, aad, aad_len, dst, src, len, tag);
}

static int sealer_decrypt(void *state, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
			  uint8_t *dst, const uint8_t *src, size_t len, const uint8_t *tag)
{
	return seal_decrypt(state, iv, aad, aad_len, dst, src, len, tag);
}

static void sealer_free(void *state)
{
	seal_free(state);
}

int seal_sealer(struct sealer *sealer, const struct spec *spec, const uint8_t *raw,
		const char **reason)
{
	const bool essiv = !strncmp(spec->kind->iv, "essiv", 5);
	struct seal *seal;
	int ret;

	ret = seal_new(&seal, spec, raw, reason);
	if (ret)
		return ret;
	if (essiv && !set_essiv(seal, spec, raw)) {
		seal_free(seal);
		*reason = "the IVs' cipher cannot be had";
		return -EOPNOTSUPP;
	}
	*sealer = (struct sealer){.state = seal,
				  .iv_size = seal->iv_size,
				  .encrypt = sealer_encrypt,
				  .decrypt = sealer_decrypt,
				  .essiv = essiv ? make_essiv : NULL,
				  .free = sealer_free};
	return 0;
}
#endif
