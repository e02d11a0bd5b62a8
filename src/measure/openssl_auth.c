// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef WITH_OPENSSL
#include "measure/openssl_auth.h"

#include <endian.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "measure/openssl_seal.h"

/* Random bytes that are fetched at once: a call for each IV would cost more than some sectors. */
#define POOL 4096
/* The number of the first sector that is decrypted. */
#define SOURCE_SECTOR 8

struct stored {
	uint8_t bytes[SEAL_IV_MAX + SEAL_TAG_MAX]; /* IV, where it is kept, and tag */
};

struct auth {
	struct seal *seal;
	EVP_CIPHER_CTX *essiv; /* NULL for other IVs */
	enum engine_direction direction;
	size_t size, sector, iv_size, iv_stored;
	struct stored *stored;        /* of the request that was encrypted last */
	struct stored *source_stored; /* of source */
	uint8_t *source;              /* a request's ciphertext; NULL for encryption */
	uint8_t pool[POOL];
	size_t pool_left;
};

static bool random_iv(struct auth *auth, uint8_t *iv)
{
	if (auth->pool_left < auth->iv_size) {
		if (RAND_bytes(auth->pool, sizeof(auth->pool)) != 1)
			return false;
		auth->pool_left = sizeof(auth->pool);
	}
	auth->pool_left -= auth->iv_size;
	memcpy(iv, auth->pool + auth->pool_left, auth->iv_size);
	return true;
}

/* The IV, behind the sector's number: the data that is authenticated beside a sector's own. */
static bool make_aad(struct auth *auth, uint8_t aad[8 + SEAL_IV_MAX], uint64_t sector,
		     const struct stored *stored)
{
	uint8_t *iv = aad + 8;
	int n;

	sector = htole64(sector);
	memcpy(aad, &sector, 8);
	if (auth->iv_stored && stored) {
		memcpy(iv, stored->bytes, auth->iv_size);
		return true;
	}
	if (auth->iv_stored)
		return random_iv(auth, iv);
	memset(iv, 0, SEAL_IV_MAX);
	memcpy(iv, &sector, 8);
	return !auth->essiv ||
	       (EVP_CipherUpdate(auth->essiv, iv, &n, iv, SEAL_IV_MAX) == 1 && n == SEAL_IV_MAX);
}

static int encrypt(struct auth *auth, struct stored *list, uint8_t *data, uint64_t sector)
{
	uint8_t aad[8 + SEAL_IV_MAX];
	int ret = 0;

	for (size_t i = 0; i < auth->size / auth->sector && !ret; i++) {
		struct stored *s = &list[i];

		if (!make_aad(auth, aad, sector, NULL))
			return -EIO;
		memcpy(s->bytes, aad + 8, auth->iv_stored);
		ret = seal_encrypt(auth->seal, aad + 8, aad, 8 + auth->iv_size, data, data,
				   auth->sector, s->bytes + auth->iv_stored);
		data += auth->sector;
		sector += auth->sector / 512;
	}
	return ret;
}

static int decrypt(struct auth *auth, const struct stored *list, uint8_t *dst, const uint8_t *src,
		   uint64_t sector)
{
	uint8_t aad[8 + SEAL_IV_MAX];
	int ret = 0;

	for (size_t i = 0; i < auth->size / auth->sector && !ret; i++) {
		if (!make_aad(auth, aad, sector, &list[i]))
			return -EIO;
		ret = seal_decrypt(auth->seal, aad + 8, aad, 8 + auth->iv_size, dst, src,
				   auth->sector, list[i].bytes + auth->iv_stored);
		dst += auth->sector;
		src += auth->sector;
		sector += auth->sector / 512;
	}
	return ret;
}

/* The kernel hashes the MAC's key with the cipher's (crypto/essiv.c, essiv_aead_setkey). */
static bool set_essiv(struct auth *auth, const struct spec *spec, const uint8_t *raw)
{
	uint8_t salt[EVP_MAX_MD_SIZE];

	auth->essiv = EVP_CIPHER_CTX_new();
	return auth->essiv &&
	       EVP_Digest(raw, spec_volume_key_bits(spec) / 8, salt, NULL, EVP_sha256(), NULL) ==
		       1 &&
	       EVP_CipherInit_ex(auth->essiv, EVP_aes_256_ecb(), NULL, salt, NULL, 1) == 1 &&
	       EVP_CIPHER_CTX_set_padding(auth->essiv, 0) == 1;
}

static int make_source(struct auth *auth)
{
	struct backend_buffer buffer = {.size = auth->size};

	auth->source = buffer.data = malloc(auth->size);
	auth->source_stored = calloc(auth->size / auth->sector, sizeof(*auth->source_stored));
	if (!auth->source || !auth->source_stored)
		return -ENOMEM;
	backend_buffer_fill(&buffer);
	return encrypt(auth, auth->source_stored, auth->source, SOURCE_SECTOR);
}

int auth_open(struct auth **out, const struct backend_cell *cell, const uint8_t *raw,
	      struct backend_error *error)
{
	const struct spec *spec = &cell->spec;
	struct auth *auth = calloc(1, sizeof(*auth));
	const char *reason = "";
	int ret = -ENOMEM;

	if (!auth)
		goto out;
	auth->direction = cell->direction;
	auth->size = cell->size;
	auth->sector = backend_unit(spec, cell->size);
	auth->iv_stored = spec->kind->iv_stored;
	auth->stored = calloc(auth->size / auth->sector, sizeof(*auth->stored));
	if (!auth->stored)
		goto out;
	ret = seal_new(&auth->seal, spec, raw, &reason);
	if (ret)
		goto out;
	auth->iv_size = seal_iv_size(auth->seal);
	if (!strncmp(spec->kind->iv, "essiv", 5) && !set_essiv(auth, spec, raw)) {
		ret = -EOPNOTSUPP;
		reason = "the IVs' cipher cannot be had";
		goto out;
	}
	if (auth->direction == ENGINE_DECRYPT)
		ret = make_source(auth);
out:
	if (!ret) {
		*out = auth;
		return 0;
	}
	auth_close(auth);
	return ret == -ENOMEM ? backend_fail(error, ENOMEM, "out of memory")
	       : *reason      ? backend_fail(error, -ret, "OpenSSL: %s", reason)
			      : backend_fail(error, -ret, "OpenSSL cannot encrypt with it");
}

void auth_close(struct auth *auth)
{
	if (!auth)
		return;
	seal_free(auth->seal);
	EVP_CIPHER_CTX_free(auth->essiv);
	free(auth->stored);
	free(auth->source_stored);
	free(auth->source);
	free(auth);
}

int auth_crypt(struct auth *auth, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	return direction == ENGINE_ENCRYPT ? encrypt(auth, auth->stored, data, sector)
					   : decrypt(auth, auth->stored, data, data, sector);
}

uint8_t *auth_stored(struct auth *auth, size_t i)
{
	return auth->stored[i].bytes;
}

int auth_run(struct auth *auth, struct backend_buffer *buffer, uint64_t calls)
{
	uint64_t sector;
	uint8_t *data;
	int ret = 0;

	while (calls-- && !ret) {
		data = backend_next(buffer, auth->size, &sector);
		ret = auth->direction == ENGINE_ENCRYPT ? encrypt(auth, auth->stored, data, sector)
							: decrypt(auth, auth->source_stored, data,
								  auth->source, SOURCE_SECTOR);
	}
	return ret;
}
#endif
