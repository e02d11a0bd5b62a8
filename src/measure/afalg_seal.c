// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef WITH_KCAPI
#include "measure/afalg_seal.h"

#include <endian.h>
#include <errno.h>
#include <linux/if_alg.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/sha256.h"
#include "measure/afalg_ring.h"

#ifndef ALG_SET_AEAD_ASSOCLEN
#define ALG_SET_AEAD_ASSOCLEN 4
#endif
#ifndef ALG_SET_AEAD_AUTHSIZE
#define ALG_SET_AEAD_AUTHSIZE 5
#endif

/* The key of authenc: an attribute of type 1, CRYPTO_AUTHENC_KEYA_PARAM, with the length of the
 * cipher's key, then the MAC's key and the cipher's (Linux include/crypto/authenc.h). */
#define AUTHENC_PARAM 1
#define AUTHENC_HEAD  RTA_SPACE(sizeof(uint32_t))
#define KEY_MAX       (AUTHENC_HEAD + 64 + 32)

struct afalg_seal {
	int tfm, fd;
	size_t iv_size, tag;
	struct engine_key *essiv;     /* NULL for other IVs */
	uint8_t aad[8 + AUTH_IV_MAX]; /* the kernel gives back what was authenticated */
};

/* A request's control messages. */
union control {
	char bytes[2 * CMSG_SPACE(sizeof(uint32_t)) +
		   CMSG_SPACE(sizeof(struct af_alg_iv) + AUTH_IV_MAX)];
	struct cmsghdr align;
};

static struct cmsghdr *put(struct msghdr *msg, struct cmsghdr *at, int type, const void *data,
			   size_t size)
{
	at->cmsg_level = SOL_ALG;
	at->cmsg_type = type;
	at->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(at), data, size);
	return CMSG_NXTHDR(msg, at);
}

static void put_control(struct msghdr *msg, union control *control, uint32_t op, const uint8_t *iv,
			size_t iv_size, uint32_t aad_len)
{
	struct {
		uint32_t ivlen;
		uint8_t iv[AUTH_IV_MAX];
	} alg_iv = {.ivlen = (uint32_t)iv_size};
	struct cmsghdr *at;

	memset(control, 0, sizeof(*control));
	memcpy(alg_iv.iv, iv, iv_size);
	msg->msg_control = control;
	msg->msg_controllen = 2 * CMSG_SPACE(sizeof(uint32_t)) +
			      CMSG_SPACE(sizeof(struct af_alg_iv) + iv_size);
	at = put(msg, CMSG_FIRSTHDR(msg), ALG_SET_OP, &op, sizeof(op));
	at = put(msg, at, ALG_SET_AEAD_ASSOCLEN, &aad_len, sizeof(aad_len));
	put(msg, at, ALG_SET_IV, &alg_iv, sizeof(uint32_t) + iv_size);
}

/*
 * The kernel's ESSIV takes the sector's number as the IV, and puts what it makes of it into the
 * associated data before it encrypts. Before it decrypts it cannot, since AF_ALG has what comes in
 * and what goes out in two places; so it is there already.
 */
static bool make_essiv(void *state, uint8_t iv[AUTH_IV_MAX])
{
	const struct afalg_seal *seal = state;

	engine_crypt(seal->essiv, ENGINE_ENCRYPT, ENGINE_SERIAL, iv, iv, AUTH_IV_MAX, 1, 0);
	return true;
}

/* The key of ESSIV is the hash of the whole key, the MAC's too (Linux crypto/essiv.c). One block in
 * CBC with an IV of zeros, which sector 0 has, is that block encrypted. */
static int set_essiv(struct afalg_seal *seal, const struct backend_cell *cell, const uint8_t *raw)
{
	uint8_t salt[SHA256_SIZE];
	struct spec block;
	struct status st;
	int ret = spec_parse(&block, "aes-cbc-plain64/256", &st);

	sha256(salt, raw, spec_volume_key_bits(&cell->spec) / 8);
	if (!ret)
		ret = engine_key_new(&seal->essiv, engine_tier_best(&cell->facts->cpu), &block,
				     salt);
	explicit_bzero(salt, sizeof(salt));
	return ret;
}

/* Each of the three parts of a message goes in and comes out, but a tag only one way. */
static int request(struct afalg_seal *seal, uint32_t op, const uint8_t *iv,
		   const struct iovec in[3], size_t n_in, const struct iovec out[3], size_t n_out)
{
	struct msghdr msg = {.msg_iov = (struct iovec *)in, .msg_iovlen = n_in};
	uint8_t number[AUTH_IV_MAX] = {0};
	size_t sent = 0, wanted = 0;
	union control control;
	ssize_t n;

	for (size_t i = 0; i < n_in; i++)
		sent += in[i].iov_len;
	for (size_t i = 0; i < n_out; i++)
		wanted += out[i].iov_len;
	if (seal->essiv)
		memcpy(number, in[0].iov_base, 8);
	put_control(&msg, &control, op, seal->essiv ? number : iv, seal->iv_size,
		    (uint32_t)in[0].iov_len);
	n = sendmsg(seal->fd, &msg, 0);
	if (n < 0)
		return -errno;
	if ((size_t)n != sent)
		return -EMSGSIZE;
	n = readv(seal->fd, out, (int)n_out);
	if (n < 0)
		return -errno;
	return (size_t)n == wanted ? 0 : -EMSGSIZE;
}

static int seal_encrypt(void *state, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
			uint8_t *dst, const uint8_t *src, size_t len, uint8_t *tag)
{
	struct afalg_seal *seal = state;
	const struct iovec in[3] = {{(void *)aad, aad_len}, {(void *)src, len}};
	const struct iovec out[3] = {{seal->aad, aad_len}, {dst, len}, {tag, seal->tag}};

	return request(seal, ALG_OP_ENCRYPT, iv, in, 2, out, 3);
}

static int seal_decrypt(void *state, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
			uint8_t *dst, const uint8_t *src, size_t len, const uint8_t *tag)
{
	struct afalg_seal *seal = state;
	const struct iovec in[3] = {
		{(void *)aad, aad_len}, {(void *)src, len}, {(void *)tag, seal->tag}};
	const struct iovec out[3] = {{seal->aad, aad_len}, {dst, len}};

	return request(seal, ALG_OP_DECRYPT, iv, in, 3, out, 2);
}

static void seal_free(void *state)
{
	struct afalg_seal *seal = state;

	if (seal->fd >= 0)
		close(seal->fd);
	if (seal->tfm >= 0)
		close(seal->tfm);
	engine_key_free(seal->essiv);
	free(seal);
}

static int set_key(int tfm, const struct spec *spec, const uint8_t *raw)
{
	const size_t cipher = spec->key_bits / 8, mac = spec->kind->mac_bits / 8;
	const struct rtattr head = {.rta_len = RTA_LENGTH(sizeof(uint32_t)),
				    .rta_type = AUTHENC_PARAM};
	const uint32_t length = htobe32((uint32_t)cipher);
	uint8_t key[KEY_MAX] = {0};
	size_t size = 0;
	int ret;

	if (cipher + mac > KEY_MAX - AUTHENC_HEAD)
		return -EINVAL;
	if (mac) {
		memcpy(key, &head, sizeof(head));
		memcpy(key + RTA_LENGTH(0), &length, sizeof(length));
		size = AUTHENC_HEAD;
	}
	memcpy(key + size, raw + cipher, mac);
	memcpy(key + size + mac, raw, cipher);
	ret = setsockopt(tfm, SOL_ALG, ALG_SET_KEY, key, (socklen_t)(size + mac + cipher)) ? -errno
											   : 0;
	explicit_bzero(key, sizeof(key));
	return ret;
}

static int set_up(struct afalg_seal *seal, const struct backend_cell *cell, const uint8_t *raw,
		  struct backend_error *error)
{
	const char *name = cell->spec.kind->kernel;
	int ret;

	seal->tfm = afalg_bind("aead", name);
	if (seal->tfm < 0)
		return backend_fail(error, -seal->tfm, "AF_ALG gives no %s: %s", name,
				    strerror(-seal->tfm));
	ret = set_key(seal->tfm, &cell->spec, raw);
	if (ret)
		return backend_fail(error, -ret, "%s refuses a key of %u bits: %s", name,
				    spec_volume_key_bits(&cell->spec), strerror(-ret));
	/* The length alone counts. */
	if (setsockopt(seal->tfm, SOL_ALG, ALG_SET_AEAD_AUTHSIZE, NULL, (socklen_t)seal->tag))
		return backend_fail(error, errno, "%s refuses tags of %zu bytes: %s", name,
				    seal->tag, strerror(errno));
	seal->fd = accept4(seal->tfm, NULL, NULL, SOCK_CLOEXEC);
	if (seal->fd < 0)
		return backend_fail(error, errno, "request socket: %s", strerror(errno));
	return afalg_make_room(seal->fd, sizeof(seal->aad) + cell->size + seal->tag, error);
}

int afalg_sealer(struct sealer *sealer, const struct backend_cell *cell, const uint8_t *raw,
		 struct backend_error *error)
{
	const struct spec_kind *kind = cell->spec.kind;
	const bool essiv = !strncmp(kind->iv, "essiv", 5);
	struct afalg_seal *seal = calloc(1, sizeof(*seal));
	int ret;

	if (!seal)
		return backend_fail(error, ENOMEM, "out of memory");
	seal->tfm = seal->fd = -1;
	seal->tag = kind->tag;
	seal->iv_size = kind->iv_stored ? kind->iv_stored : AUTH_IV_MAX;
	ret = set_up(seal, cell, raw, error);
	if (!ret && essiv && set_essiv(seal, cell, raw))
		ret = backend_fail(error, ENOMEM, "out of memory");
	if (ret) {
		seal_free(seal);
		return ret;
	}
	*sealer = (struct sealer){.state = seal,
				  .iv_size = seal->iv_size,
				  .encrypt = seal_encrypt,
				  .decrypt = seal_decrypt,
				  .essiv = essiv ? make_essiv : NULL,
				  .free = seal_free};
	return 0;
}
#endif
