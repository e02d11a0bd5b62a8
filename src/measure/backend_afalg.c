// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's ciphers through AF_ALG, by libkcapi: one request is one sector with its IV, as
 * dm-crypt makes them, but with a copy and two system calls each; or one message of any size.
 * Several at once, and what libkcapi cannot do as one request, go through sockets of our own.
 */
#ifdef WITH_KCAPI
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/afalg_ring.h"
#include "measure/afalg_seal.h"
#include "measure/backend.h"
#include "measure/kcapi_load.h"

/* The longest IV that an algorithm may have: adiantum's. */
#define IV_MAX 32
/* Pages beyond which libkcapi makes several requests of one. */
#define KCAPI_PAGES 16

struct state {
	struct auth *auth; /* of specs that have a tag: of the rest only the size is used then */
	const struct kcapi_library *kcapi;
	struct kcapi_handle *handle;
	struct afalg_ring *ring; /* NULL: by libkcapi */
	struct afalg_request *requests;
	uint8_t (*ivs)[IV_MAX];
	enum engine_direction direction;
	int access;
	unsigned depth;
	size_t size;
};

/* dm-crypt hands every spec that is offered a 64-bit little-endian sector number as the IV, padded
 * with zeros, or a random one; ESSIV is a template of the kernel's since 5.4. */
static bool afalg_implements(const struct spec *spec)
{
	if (spec->kind->integrity)
		return !spec->kind->record;
	return (!strcmp(spec->kind->iv, "plain64") || !strncmp(spec->kind->kernel, "essiv(", 6) ||
		spec->kind == &backend_null_kind);
}

static void afalg_describe(const struct backend_cell *cell, char *tier, size_t size)
{
	const struct kernel_driver *driver = kernel_driver_for(&cell->facts->kernel,
							       cell->spec.kind->kernel);

	snprintf(tier, size, "%s", driver ? driver->driver : "");
}

/* What the facts already know of the failure, which says more than an errno. */
static int known_failure(const struct backend_cell *cell, struct backend_error *error)
{
	const struct kernel_af_alg *af_alg = &cell->facts->kernel.af_alg;
	const struct kernel_attempt *attempt;

	if (!af_alg->available)
		return backend_fail(error, af_alg->error ? af_alg->error : EAFNOSUPPORT, "%s",
				    *af_alg->reason ? af_alg->reason : "AF_ALG is not to be had");
	attempt = kernel_attempt_for(&cell->facts->kernel, cell->spec.kind->kernel);
	if (attempt && attempt->tried && !attempt->available)
		return backend_fail(error, attempt->error ? attempt->error : ENOENT, "%s",
				    attempt->reason);
	if (cell->path == MEASURE_SPLICE && !afalg_can_splice(cell->size))
		return backend_fail(
			error, EMSGSIZE,
			"a pipe holds %ld bytes, so that no more can be spliced at once",
			KCAPI_PAGES * sysconf(_SC_PAGESIZE));
	return 0;
}

/* libkcapi asks for an algorithm's properties through another interface of the kernel's, a netlink
 * family of the module crypto_user, and cannot do without. */
static int init_failure(const struct backend_cell *cell, int err, struct backend_error *error)
{
	const char *name = cell->spec.kind->kernel;
	int level = cell->facts->kernel.af_alg.restrict_level;

	if (err == EPROTONOSUPPORT || err == EAFNOSUPPORT)
		return backend_fail(error, err,
				    "libkcapi needs the module crypto_user, which is not built, "
				    "not installed, or blocked");
	if (err == ENOENT && level >= 1)
		return backend_fail(error, err,
				    "AF_ALG gives no %s: the kernel has none, or the sysctl "
				    "crypto.af_alg_restrict (%d) hides it",
				    name, level);
	return backend_fail(error, err, "AF_ALG gives no %s: %s", name, strerror(err));
}

static void afalg_close(void *arg)
{
	struct state *state = arg;

	auth_close(state->auth);
	afalg_ring_free(state->ring);
	if (state->handle)
		state->kcapi->cipher_destroy(state->handle);
	free(state->requests);
	free(state->ivs);
	free(state);
}

static int open_kcapi(struct state *state, const struct backend_cell *cell, const uint8_t *raw,
		      size_t *iv_size, struct backend_error *error)
{
	const bool null = cell->spec.kind == &backend_null_kind;
	const char *name = cell->spec.kind->kernel;
	int ret;

	ret = state->kcapi->cipher_init(&state->handle, name, 0);
	if (ret) {
		state->handle = NULL;
		return init_failure(cell, abs(ret), error);
	}
	if (!null)
		ret = state->kcapi->cipher_setkey(state->handle, raw, cell->spec.key_bits / 8);
	if (ret)
		return backend_fail(error, abs(ret), "%s refuses a key of %u bits: %s", name,
				    cell->spec.key_bits, strerror(abs(ret)));
	*iv_size = state->kcapi->cipher_ivsize(state->handle);
	if (*iv_size > IV_MAX || (!null && *iv_size < sizeof(uint64_t)))
		return backend_fail(error, EPROTO, "%s wants an IV of %zu bytes", name, *iv_size);
	return 0;
}

/* Whether it has to be our own sockets. */
static bool wants_ring(const struct backend_cell *cell)
{
	return cell->depth > 1 || cell->size > (size_t)(KCAPI_PAGES * sysconf(_SC_PAGESIZE)) ||
	       (cell->path == MEASURE_COPY && cell->size > afalg_send_buffer());
}

static int open_auth(void **out, const struct backend_cell *cell, const uint8_t *raw,
		     struct backend_error *error)
{
	struct sealer sealer;
	struct state *state;
	int ret;

	if (cell->depth > 1 || cell->path != MEASURE_COPY)
		return backend_fail(error, EOPNOTSUPP,
				    "specs with an integrity mode are measured one request at a "
				    "time, and copied");
	state = calloc(1, sizeof(*state));
	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	state->size = cell->size;
	ret = afalg_sealer(&sealer, cell, raw, error);
	if (!ret)
		ret = auth_open(&state->auth, cell, &sealer, error);
	if (ret)
		free(state);
	else
		*out = state;
	return ret;
}

static int afalg_open(void **out, const struct backend_cell *cell, const uint8_t *raw,
		      struct backend_error *error)
{
	struct state *state;
	const char *reason;
	size_t iv_size = 0;
	int ret;

	ret = known_failure(cell, error);
	if (ret)
		return ret;
	if (cell->spec.kind->integrity)
		return open_auth(out, cell, raw, error);
	state = calloc(1, sizeof(*state));
	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	state->direction = cell->direction;
	state->size = cell->size;
	state->depth = cell->depth ? cell->depth : 1;
	/* For one sector sendmsg takes two system calls fewer. */
	state->access = cell->path == MEASURE_SPLICE ? KCAPI_ACCESS_VMSPLICE : KCAPI_ACCESS_SENDMSG;
	state->requests = calloc(state->depth, sizeof(*state->requests));
	state->ivs = calloc(state->depth, sizeof(*state->ivs));
	state->kcapi = kcapi_load(&reason);
	if (!state->requests || !state->ivs)
		ret = backend_fail(error, ENOMEM, "out of memory");
	else if (!state->kcapi)
		ret = backend_fail(error, ELIBACC, "%s", reason);
	if (!ret)
		ret = open_kcapi(state, cell, raw, &iv_size, error);
	if (!ret && wants_ring(cell))
		ret = afalg_ring_new(&state->ring, cell, cell->spec.kind->kernel, raw, iv_size,
				     error);
	if (ret)
		afalg_close(state);
	else
		*out = state;
	return ret;
}

static void put_request(struct state *state, unsigned i, uint8_t *data, uint64_t sector)
{
	sector = htole64(sector);
	memcpy(state->ivs[i], &sector, sizeof(sector));
	state->requests[i].data = data;
	state->requests[i].iv = state->ivs[i];
}

/* The first n of state->requests. */
static int crypt_requests(struct state *state, enum engine_direction direction, unsigned n)
{
	uint8_t *data = state->requests[0].data;
	const uint8_t *iv = state->ivs[0];
	ssize_t done;

	if (state->ring)
		return afalg_ring_run(state->ring, direction, state->requests, n);
	if (direction == ENGINE_ENCRYPT)
		done = state->kcapi->cipher_encrypt(state->handle, data, state->size, iv, data,
						    state->size, state->access);
	else
		done = state->kcapi->cipher_decrypt(state->handle, data, state->size, iv, data,
						    state->size, state->access);
	if (done < 0)
		return (int)done;
	return (size_t)done == state->size ? 0 : -EMSGSIZE;
}

static int afalg_crypt(void *arg, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	struct state *state = arg;

	if (state->auth)
		return auth_crypt(state->auth, direction, data, sector);
	put_request(arg, 0, data, sector);
	return crypt_requests(arg, direction, 1);
}

static int afalg_run(void *arg, struct backend_buffer *buffer, uint64_t rounds)
{
	struct state *state = arg;
	uint64_t sector;
	uint8_t *data;
	int ret = 0;

	if (state->auth)
		return auth_run(state->auth, buffer, rounds);
	while (rounds-- && !ret) {
		for (unsigned i = 0; i < state->depth; i++) {
			data = backend_next(buffer, state->size, &sector);
			put_request(state, i, data, sector);
		}
		ret = crypt_requests(state, state->direction, state->depth);
	}
	return ret;
}

static uint8_t *afalg_stored(void *arg, size_t i)
{
	const struct state *state = arg;

	return auth_stored(state->auth, i);
}

const struct backend backend_afalg = {
	.engine = MEASURE_AFALG,
	.may_stall = true,
	.in_rounds = true,
	.implements = afalg_implements,
	.describe = afalg_describe,
	.open = afalg_open,
	.crypt = afalg_crypt,
	.run = afalg_run,
	.stored = afalg_stored,
	.close = afalg_close,
};
#endif
