// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's ciphers through AF_ALG, by libkcapi: one request is one sector with its IV, as
 * dm-crypt makes them, but with a copy and two system calls each.
 */
#ifdef WITH_KCAPI
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/backend.h"
#include "measure/kcapi_load.h"

/* The longest IV that an algorithm may have: adiantum's. */
#define IV_MAX 32

struct state {
	const struct kcapi_library *kcapi;
	struct kcapi_handle *handle;
	enum engine_direction direction;
	size_t size;
};

/* dm-crypt hands every spec that is offered a 64-bit little-endian sector number as the IV, padded
 * with zeros; ESSIV is a template of the kernel's since 5.4. */
static bool afalg_implements(const struct spec *spec)
{
	return !spec->kind->integrity &&
	       (!strcmp(spec->kind->iv, "plain64") || !strncmp(spec->kind->kernel, "essiv(", 6));
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
	return 0;
}

/* libkcapi asks for an algorithm's properties through another interface of the kernel's, a netlink
 * family of the module crypto_user, and cannot do without. */
static int init_failure(const char *name, int err, struct backend_error *error)
{
	if (err == EPROTONOSUPPORT || err == EAFNOSUPPORT)
		return backend_fail(error, err,
				    "libkcapi needs the module crypto_user, which is not built, "
				    "not installed, or blocked");
	return backend_fail(error, err, "AF_ALG gives no %s: %s", name, strerror(err));
}

static int afalg_open(void **out, const struct backend_cell *cell, const uint8_t *raw,
		      struct backend_error *error)
{
	const char *name = cell->spec.kind->kernel, *reason;
	const struct kcapi_library *kcapi;
	struct state *state;
	int ret;

	ret = known_failure(cell, error);
	if (ret)
		return ret;
	kcapi = kcapi_load(&reason);
	if (!kcapi)
		return backend_fail(error, ELIBACC, "%s", reason);
	state = calloc(1, sizeof(*state));
	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	state->kcapi = kcapi;
	state->direction = cell->direction;
	state->size = cell->size;
	ret = kcapi->cipher_init(&state->handle, name, 0);
	if (ret) {
		free(state);
		return init_failure(name, abs(ret), error);
	}
	ret = kcapi->cipher_setkey(state->handle, raw, cell->spec.key_bits / 8);
	if (ret)
		backend_fail(error, abs(ret), "%s refuses a key of %u bits: %s", name,
			     cell->spec.key_bits, strerror(abs(ret)));
	else if (kcapi->cipher_ivsize(state->handle) > IV_MAX ||
		 kcapi->cipher_ivsize(state->handle) < sizeof(uint64_t))
		ret = backend_fail(error, EPROTO, "%s wants an IV of %u bytes", name,
				   kcapi->cipher_ivsize(state->handle));
	if (ret) {
		kcapi->cipher_destroy(state->handle);
		free(state);
		return -abs(ret);
	}
	*out = state;
	return 0;
}

static int afalg_crypt(void *arg, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	const struct state *state = arg;
	uint8_t iv[IV_MAX] = {0};
	ssize_t n;

	sector = htole64(sector);
	memcpy(iv, &sector, sizeof(sector));
	/* sendmsg, not vmsplice: for one sector it takes two system calls fewer, and newer kernels
	 * copy spliced pages anyway. */
	if (direction == ENGINE_ENCRYPT)
		n = state->kcapi->cipher_encrypt(state->handle, data, state->size, iv, data,
						 state->size, KCAPI_ACCESS_SENDMSG);
	else
		n = state->kcapi->cipher_decrypt(state->handle, data, state->size, iv, data,
						 state->size, KCAPI_ACCESS_SENDMSG);
	if (n < 0)
		return (int)n;
	return (size_t)n == state->size ? 0 : -EMSGSIZE;
}

static int afalg_run(void *arg, struct backend_buffer *buffer, uint64_t calls)
{
	const struct state *state = arg;
	uint64_t sector;
	uint8_t *data;
	int ret = 0;

	while (calls-- && !ret) {
		data = backend_next(buffer, state->size, &sector);
		ret = afalg_crypt(arg, state->direction, data, sector);
	}
	return ret;
}

static void afalg_close(void *arg)
{
	struct state *state = arg;

	state->kcapi->cipher_destroy(state->handle);
	free(state);
}

const struct backend backend_afalg = {
	.engine = MEASURE_AFALG,
	.may_stall = true,
	.implements = afalg_implements,
	.describe = afalg_describe,
	.open = afalg_open,
	.crypt = afalg_crypt,
	.run = afalg_run,
	.close = afalg_close,
};
#endif
