// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * OpenSSL's ciphers, one EVP initialisation a sector, as a program that encrypts a disk through it
 * has to do. A request is a call of any number of consecutive sectors.
 */
#ifdef WITH_OPENSSL
#include <endian.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/auth.h"
#include "measure/backend.h"
#include "measure/openssl_seal.h"

struct state {
	struct auth *auth; /* of specs that have a tag, and of RC4: the rest is then not used */
	EVP_CIPHER_CTX *ctx[2]; /* by direction */
	EVP_CIPHER_CTX *essiv;  /* NULL where the IV is the sector number itself */
	enum engine_direction direction;
	size_t size, sector;
};

static void openssl_describe(const struct backend_cell *cell, char *tier, size_t size)
{
	const char *text = OpenSSL_version(OPENSSL_VERSION), *number = strchr(text, ' ');

	/* "OpenSSL 3.0.17 1 Jul 2025": the number says it all. */
	(void)cell;
	number = number ? number + 1 : text;
	snprintf(tier, size, "%.*s", (int)strcspn(number, " "), number);
}

static void openssl_close(void *arg)
{
	struct state *state = arg;

	auth_close(state->auth);
	EVP_CIPHER_CTX_free(state->ctx[ENGINE_ENCRYPT]);
	EVP_CIPHER_CTX_free(state->ctx[ENGINE_DECRYPT]);
	EVP_CIPHER_CTX_free(state->essiv);
	free(state);
}

static bool openssl_implements(const struct spec *spec)
{
	return engine_supports(spec) || seal_implements(spec);
}

static const EVP_CIPHER *find_cipher(const struct spec *spec)
{
	if (!strcmp(spec->kind->mode, "xts"))
		return spec->key_bits == 512 ? EVP_aes_256_xts() : EVP_aes_128_xts();
	return spec->key_bits == 256   ? EVP_aes_256_cbc()
	       : spec->key_bits == 192 ? EVP_aes_192_cbc()
				       : EVP_aes_128_cbc();
}

static EVP_CIPHER_CTX *new_ctx(const EVP_CIPHER *cipher, const uint8_t *key, bool encrypt)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	if (ctx && EVP_CipherInit_ex(ctx, cipher, NULL, key, NULL, encrypt) == 1 &&
	    EVP_CIPHER_CTX_set_padding(ctx, 0) == 1)
		return ctx;
	EVP_CIPHER_CTX_free(ctx);
	return NULL;
}

/* ESSIV: the sector number encrypted with the hash of the key (dm-crypt's documentation). */
static EVP_CIPHER_CTX *new_essiv(const struct spec *spec, const uint8_t *raw)
{
	uint8_t salt[EVP_MAX_MD_SIZE];

	if (EVP_Digest(raw, spec->key_bits / 8, salt, NULL, EVP_sha256(), NULL) != 1)
		return NULL;
	return new_ctx(EVP_aes_256_ecb(), salt, true);
}

static int open_auth(void **out, const struct backend_cell *cell, const uint8_t *raw,
		     struct backend_error *error)
{
	struct state *state = calloc(1, sizeof(*state));
	const char *reason = "";
	struct sealer sealer;
	int ret;

	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	ret = seal_sealer(&sealer, &cell->spec, raw, &reason);
	if (ret)
		backend_fail(error, -ret, ret == -ENOMEM ? "out of memory" : "OpenSSL: %s", reason);
	else
		ret = auth_open(&state->auth, cell, &sealer, error);
	if (ret)
		free(state);
	else
		*out = state;
	return ret;
}

static int open_plain(void **out, const struct backend_cell *cell, const uint8_t *raw,
		      struct backend_error *error)
{
	struct state *state = calloc(1, sizeof(*state));
	const EVP_CIPHER *cipher = find_cipher(&cell->spec);
	bool essiv = !strncmp(cell->spec.kind->iv, "essiv", 5);
	const char *reason;

	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	state->direction = cell->direction;
	state->size = cell->size;
	state->sector = backend_unit(&cell->spec, cell->size);
	ERR_clear_error();
	state->ctx[ENGINE_ENCRYPT] = new_ctx(cipher, raw, true);
	state->ctx[ENGINE_DECRYPT] = new_ctx(cipher, raw, false);
	if (essiv)
		state->essiv = new_essiv(&cell->spec, raw);
	if (!state->ctx[ENGINE_ENCRYPT] || !state->ctx[ENGINE_DECRYPT] ||
	    (essiv && !state->essiv)) {
		reason = ERR_reason_error_string(ERR_peek_last_error());
		openssl_close(state);
		return backend_fail(error, EOPNOTSUPP, "OpenSSL: %s",
				    reason ? reason : "the cipher cannot be had");
	}
	*out = state;
	return 0;
}

static int openssl_open(void **out, const struct backend_cell *cell, const uint8_t *raw,
			struct backend_error *error)
{
	return seal_implements(&cell->spec) ? open_auth(out, cell, raw, error)
					    : open_plain(out, cell, raw, error);
}

static bool crypt_sector(const struct state *state, enum engine_direction direction, uint8_t *data,
			 uint64_t sector)
{
	EVP_CIPHER_CTX *ctx = state->ctx[direction];
	uint8_t iv[16] = {0};
	int n;

	sector = htole64(sector);
	memcpy(iv, &sector, sizeof(sector));
	if (state->essiv &&
	    (EVP_CipherUpdate(state->essiv, iv, &n, iv, sizeof(iv)) != 1 || n != sizeof(iv)))
		return false;
	return EVP_CipherInit_ex(ctx, NULL, NULL, NULL, iv, -1) == 1 &&
	       EVP_CipherUpdate(ctx, data, &n, data, (int)state->sector) == 1 &&
	       (size_t)n == state->sector;
}

static int openssl_crypt(void *arg, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	const struct state *state = arg;

	if (state->auth)
		return auth_crypt(state->auth, direction, data, sector);
	for (size_t at = 0; at < state->size; at += state->sector)
		if (!crypt_sector(state, direction, data + at, sector + at / 512))
			return -EIO;
	return 0;
}

static int openssl_run(void *arg, struct backend_buffer *buffer, uint64_t calls)
{
	const struct state *state = arg;
	uint64_t sector;
	uint8_t *data;
	int ret = 0;

	if (state->auth)
		return auth_run(state->auth, buffer, calls);
	while (calls-- && !ret) {
		data = backend_next(buffer, state->size, &sector);
		ret = openssl_crypt(arg, state->direction, data, sector);
	}
	return ret;
}

static uint8_t *openssl_stored(void *arg, size_t i)
{
	const struct state *state = arg;

	return auth_stored(state->auth, i);
}

const struct backend backend_openssl = {
	.engine = MEASURE_OPENSSL,
	.whole_calls = true,
	.implements = openssl_implements,
	.describe = openssl_describe,
	.open = openssl_open,
	.crypt = openssl_crypt,
	.run = openssl_run,
	.stored = openssl_stored,
	.close = openssl_close,
};
#endif
