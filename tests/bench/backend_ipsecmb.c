// SPDX-License-Identifier: GPL-2.0-or-later
/* intel-ipsec-mb, at its best: bursts without its checks, as its documentation has the fast path.
 */
#ifdef WITH_IPSECMB
#include <endian.h>
#include <errno.h>
#include <intel-ipsec-mb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench-engine.h"

#define BURST 128

struct state {
	DECLARE_ALIGNED(uint32_t encrypt[4 * 15], 16);
	DECLARE_ALIGNED(uint32_t decrypt[4 * 15], 16);
	IMB_MGR *manager;
	IMB_JOB jobs[BURST];
	uint64_t iv[BURST][2];
	size_t size, sector, key_bytes;
	enum engine_direction direction;
};

static bool ipsecmb_implements(const struct spec *spec)
{
	return !strcmp(spec->kind->mode, "cbc") && !strcmp(spec->kind->iv, "plain64");
}

static void ipsecmb_describe(const struct backend_cell *cell, char *tier, size_t size)
{
	(void)cell;
	snprintf(tier, size, "%s", imb_get_version_str());
}

static void ipsecmb_close(void *arg)
{
	struct state *state = arg;

	if (state->manager)
		free_mb_mgr(state->manager);
	free(state);
}

static int ipsecmb_open(void **out, const struct backend_cell *cell, const uint8_t *raw,
			struct backend_error *error)
{
	struct state *state = aligned_alloc(64, (sizeof(*state) + 63) / 64 * 64);
	IMB_ARCH arch;

	if (!state)
		return backend_fail(error, ENOMEM, "out of memory");
	memset(state, 0, sizeof(*state));
	state->manager = alloc_mb_mgr(0);
	if (!state->manager) {
		ipsecmb_close(state);
		return backend_fail(error, ENOMEM, "out of memory");
	}
	init_mb_mgr_auto(state->manager, &arch);
	state->direction = cell->direction;
	state->size = cell->size;
	state->sector = cell->spec.sector;
	state->key_bytes = cell->spec.key_bits / 8;
	if (state->key_bytes == IMB_KEY_256_BYTES)
		IMB_AES_KEYEXP_256(state->manager, raw, state->encrypt, state->decrypt);
	else if (state->key_bytes == IMB_KEY_192_BYTES)
		IMB_AES_KEYEXP_192(state->manager, raw, state->encrypt, state->decrypt);
	else
		IMB_AES_KEYEXP_128(state->manager, raw, state->encrypt, state->decrypt);
	*out = state;
	return 0;
}

/* All that a job of a cipher burst is asked for (the library's header says which fields). */
static void fill_job(struct state *state, size_t i, uint8_t *data, uint64_t sector)
{
	IMB_JOB *job = &state->jobs[i];

	state->iv[i][0] = htole64(sector);
	job->enc_keys = state->encrypt;
	job->dec_keys = state->decrypt;
	job->key_len_in_bytes = state->key_bytes;
	job->src = job->dst = data;
	job->msg_len_to_cipher_in_bytes = state->sector;
	job->iv = (const uint8_t *)state->iv[i];
	job->iv_len_in_bytes = sizeof(state->iv[i]);
}

static int ipsecmb_crypt(void *arg, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	const IMB_CIPHER_DIRECTION way = direction == ENGINE_ENCRYPT ? IMB_DIR_ENCRYPT
								     : IMB_DIR_DECRYPT;
	struct state *state = arg;
	size_t left = state->size / state->sector, n;

	for (; left; left -= n) {
		n = left < BURST ? left : BURST;
		for (size_t i = 0; i < n; i++) {
			fill_job(state, i, data, sector);
			data += state->sector;
			sector += state->sector / 512;
		}
		if (IMB_SUBMIT_CIPHER_BURST_NOCHECK(state->manager, state->jobs, (uint32_t)n,
						    IMB_CIPHER_CBC, way, state->key_bytes) != n)
			return -EIO;
	}
	return 0;
}

static int ipsecmb_run(void *arg, struct backend_buffer *buffer, uint64_t calls)
{
	const struct state *state = arg;
	uint64_t sector;
	uint8_t *data;
	int ret = 0;

	while (calls-- && !ret) {
		data = backend_next(buffer, state->size, &sector);
		ret = ipsecmb_crypt(arg, state->direction, data, sector);
	}
	return ret;
}

const struct backend backend_ipsecmb = {
	.engine = MEASURE_CPU,
	.whole_calls = true,
	.implements = ipsecmb_implements,
	.describe = ipsecmb_describe,
	.open = ipsecmb_open,
	.crypt = ipsecmb_crypt,
	.run = ipsecmb_run,
	.close = ipsecmb_close,
};
#endif
