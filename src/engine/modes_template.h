/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The disk modes, written once: XTS (IEEE 1619, whole blocks) and CBC (NIST SP 800-38A) over
 * dm-crypt's sectors. A tier file defines the following and then includes this; it gives the tier's
 * functions and the initialiser TIER_MODES for its struct engine_tier.
 *
 * - vec: a vector of VEC_BLOCKS AES blocks.
 * - PIPE: how many vectors go through the AES units together.
 * - UNROLL: stands before a loop over a pipeline; a literal unroll pragma. Left to itself gcc -O2
 *   keeps the vectors in memory: two to three times slower. So does clang 14, told to unroll to a
 *   count, where that is an argument of an inline function.
 * - struct schedule: the round keys, made by make_schedule(to, from).
 * - vec_load(p), vec_store(p, v), vec_xor(a, b).
 * - vec_mul_x(v, n): each block times x^n in XTS's field; n is literal, VEC_BLOCKS, PIPE_BLOCKS
 *   or 8.
 * - vec_tweaks(p): T, T x, ... T x^(VEC_BLOCKS - 1) for the block T at p.
 * - vec_numbers(n, step): n, n + step, … as blocks, little-endian.
 * - vec_chain(p, v): the block at p, then v without its last block.
 * - LINE_STEPS: how many blocks of a sector CBC's multi-buffer encryption takes at a time.
 * - line_gather(v, p, stride), line_scatter(p, stride, v): that many blocks, v[0] to
 *   v[LINE_STEPS - 1], from and to each of VEC_BLOCKS sectors, `stride` bytes apart.
 * - LANES(use): use(vecs, when) for each number of vectors that these take, with the condition on
 * n, the sectors that are left; the first that holds is taken, the last is true. LANES_MAX: the
 * most vectors.
 * - lanes_encrypt(schedule, v, vecs): so many vectors in place.
 * - pipe_encrypt(schedule, v), pipe_decrypt(schedule, v): PIPE vectors in place.
 * - ivs_encrypt(schedule, v, n): the same, with only the first n blocks wanted.
 * - cbc_encrypt_sector(schedule, dst, src, size, iv): one block after the other.
 */
#include <endian.h>
#include <stdalign.h>
#include <string.h>

#define VEC_BYTES   ((size_t)VEC_BLOCKS * AES_BLOCK)
#define PIPE_BLOCKS (VEC_BLOCKS * PIPE)
#define PIPE_BYTES  ((size_t)PIPE_BLOCKS * AES_BLOCK)
/* Sectors whose IVs are made together: whole pipelines, small beside the first-level cache. */
#define IV_BATCH (PIPE_BLOCKS > 32 ? PIPE_BLOCKS : 32)
#define IV_BYTES ((size_t)IV_BATCH * AES_BLOCK)
/* Vectors from a tweak to the one x^8 further on: x^8 is a shift of whole bytes. */
#define BYTE_VECS (8 / VEC_BLOCKS)
#define INLINE    static inline __attribute__((always_inline))

_Static_assert(SPEC_SECTOR_MIN % PIPE_BYTES == 0, "a sector is whole pipelines");
_Static_assert(IV_BATCH % PIPE_BLOCKS == 0, "a batch of IVs is whole pipelines");

/* The IVs of up to IV_BATCH sectors: "plain64", and encrypted where the mode asks for it. The
 * numbers go straight into vectors: written to memory block by block and read as vectors, each of
 * these loads would wait until the CPU had nothing else left to do (no store forwarding). */
static __attribute__((noinline)) void make_ivs(const struct tier_job *job, size_t first, size_t n,
					       uint8_t *iv)
{
	const uint64_t step = job->sector_size / SPEC_SECTOR_MIN;
	uint64_t number = job->sector + first * step;
	vec v[PIPE];

	for (size_t at = 0; at < n * AES_BLOCK; at += PIPE_BYTES) {
		UNROLL
		for (size_t i = 0; i < PIPE; i++) {
			v[i] = vec_numbers(number, step);
			number += VEC_BLOCKS * step;
		}
		if (job->iv)
			ivs_encrypt(job->iv, v, n - at / AES_BLOCK);
		UNROLL
		for (size_t i = 0; i < PIPE; i++)
			vec_store(iv + at + i * VEC_BYTES, v[i]);
	}
}

/* What a mode does with up to IV_BATCH consecutive sectors. */
typedef void batch_fn(const struct schedule *k, uint8_t *dst, const uint8_t *src, size_t size,
		      size_t n, const uint8_t *iv);

INLINE void each_batch(const struct tier_job *job, batch_fn *batch)
{
	/* One more, which XTS reads behind the last sector's and does not use. */
	alignas(TIER_ALIGN) uint8_t iv[IV_BYTES + AES_BLOCK] = {0};
	size_t n;

	for (size_t at = 0; at < job->count; at += n) {
		n = job->count - at < IV_BATCH ? job->count - at : IV_BATCH;
		make_ivs(job, at, n, iv);
		batch(job->data, job->dst + at * job->sector_size, job->src + at * job->sector_size,
		      job->sector_size, n, iv);
	}
	/* Encrypted tweaks are as secret as the tweak key to whoever sees the disk. */
	explicit_bzero(iv, sizeof(iv));
}

/* Of a sector's first pipeline. */
INLINE void first_tweaks(vec tweak[PIPE], const uint8_t *iv)
{
	tweak[0] = vec_tweaks(iv);
	UNROLL
	for (size_t i = 1; i < PIPE; i++)
		tweak[i] = i < BYTE_VECS ? vec_mul_x(tweak[i - 1], VEC_BLOCKS)
					 : vec_mul_x(tweak[i - BYTE_VECS], 8);
}

/* Each vector of a pipeline keeps its own tweak and steps it by a whole pipeline, so that no tweak
 * waits for the one before it. Those of the pipeline to come, of the next sector too, are made
 * while this one is under way, so that a sector's end drains nothing. */
INLINE void xts_batch(const struct schedule *k, enum engine_direction direction, uint8_t *dst,
		      const uint8_t *src, size_t size, size_t n, const uint8_t *iv)
{
	vec tweak[PIPE], next[PIPE], v[PIPE];

	first_tweaks(next, iv);
	for (size_t at = 0; at < n * size; at += PIPE_BYTES) {
		UNROLL
		for (size_t i = 0; i < PIPE; i++) {
			tweak[i] = next[i];
			v[i] = vec_xor(vec_load(src + at + i * VEC_BYTES), tweak[i]);
		}
		if ((at + PIPE_BYTES) & (size - 1)) {
			UNROLL
			for (size_t i = 0; i < PIPE; i++)
				next[i] = vec_mul_x(tweak[i], PIPE_BLOCKS);
		} else {
			iv += AES_BLOCK;
			first_tweaks(next, iv);
		}
		if (direction == ENGINE_ENCRYPT)
			pipe_encrypt(k, v);
		else
			pipe_decrypt(k, v);
		UNROLL
		for (size_t i = 0; i < PIPE; i++)
			vec_store(dst + at + i * VEC_BYTES, vec_xor(v[i], tweak[i]));
	}
}

static void xts_encrypt_batch(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			      size_t size, size_t n, const uint8_t *iv)
{
	xts_batch(k, ENGINE_ENCRYPT, dst, src, size, n, iv);
}

static void xts_decrypt_batch(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			      size_t size, size_t n, const uint8_t *iv)
{
	xts_batch(k, ENGINE_DECRYPT, dst, src, size, n, iv);
}

/* Writes a pipeline from its end to its start, so that in place the ciphertext that a block is
 * chained to is still there. */
INLINE void cbc_decrypt_sector(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			       size_t size, const uint8_t *iv)
{
	uint8_t before[AES_BLOCK], last[AES_BLOCK];
	vec v[PIPE], c;

	memcpy(before, iv, AES_BLOCK);
	for (size_t at = 0; at < size; at += PIPE_BYTES) {
		memcpy(last, src + at + PIPE_BYTES - AES_BLOCK, AES_BLOCK);
		UNROLL
		for (size_t i = 0; i < PIPE; i++)
			v[i] = vec_load(src + at + i * VEC_BYTES);
		pipe_decrypt(k, v);
		UNROLL
		for (size_t i = PIPE - 1; i > 0; i--) {
			c = vec_load(src + at + i * VEC_BYTES - AES_BLOCK);
			vec_store(dst + at + i * VEC_BYTES, vec_xor(v[i], c));
		}
		c = vec_chain(before, vec_load(src + at));
		vec_store(dst + at, vec_xor(v[0], c));
		memcpy(before, last, AES_BLOCK);
	}
}

static void cbc_decrypt_batch(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			      size_t size, size_t n, const uint8_t *iv)
{
	for (size_t i = 0; i < n; i++)
		cbc_decrypt_sector(k, dst + i * size, src + i * size, size, iv + i * AES_BLOCK);
}

static void cbc_encrypt_serial_batch(const struct schedule *k, uint8_t *dst, const uint8_t *src,
				     size_t size, size_t n, const uint8_t *iv)
{
	for (size_t i = 0; i < n; i++)
		cbc_encrypt_sector(k, dst + i * size, src + i * size, size, iv + i * AES_BLOCK);
}

/* Which of n sectors is the first of vector i's. Where they do not fill the vectors, the last ones
 * share sectors with those before: both do the same, and write the same. */
INLINE size_t lane_of(size_t i, size_t n)
{
	return (i + 1) * VEC_BLOCKS <= n ? i * VEC_BLOCKS : n - VEC_BLOCKS;
}

/* Of a line of one block every step brings in all. */
#if LINE_STEPS == 1
#define UNROLL_PART UNROLL
#else
#define UNROLL_PART
#endif

#define LINE_BYTES ((size_t)LINE_STEPS * AES_BLOCK)

/* n sectors side by side, one a lane, in `vecs` (literal) vectors. While a line's blocks are
 * encrypted, step by step, each step also brings in a part of the next line and takes out one of
 * the line before, so that the AES units do not wait for either. */
INLINE void cbc_encrypt_lanes(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			      size_t size, size_t n, const uint8_t *iv, const size_t vecs)
{
	vec in[2][LANES_MAX][LINE_STEPS], out[2][LANES_MAX][LINE_STEPS], v[LANES_MAX];
	size_t at, i;
	unsigned now = 0;

	UNROLL
	for (i = 0; i < vecs; i++)
		v[i] = vec_load(iv + lane_of(i, n) * AES_BLOCK);
	for (i = 0; i < vecs; i++)
		line_gather(in[0][i], src + lane_of(i, n) * size, size);
	for (at = 0; at < size; at += LINE_BYTES, now ^= 1) {
		for (size_t step = 0; step < LINE_STEPS; step++) {
			const bool more = at + LINE_BYTES < size;

			UNROLL_PART
			for (i = step; i < vecs && more; i += LINE_STEPS)
				line_gather(in[!now][i],
					    src + at + LINE_BYTES + lane_of(i, n) * size, size);
			UNROLL
			for (i = 0; i < vecs; i++)
				v[i] = vec_xor(v[i], in[now][i][step]);
			lanes_encrypt(k, v, vecs);
			UNROLL
			for (i = 0; i < vecs; i++)
				out[now][i][step] = v[i];
			UNROLL_PART
			for (i = step; i < vecs && at; i += LINE_STEPS)
				line_scatter(dst + at - LINE_BYTES + lane_of(i, n) * size, size,
					     out[!now][i]);
		}
	}
	for (i = 0; i < vecs; i++)
		line_scatter(dst + at - LINE_BYTES + lane_of(i, n) * size, size, out[!now][i]);
}

#if VEC_BLOCKS > 1
/* Fewer sectors than a vector has lanes. The others take part in the arithmetic and are never
 * written. */
static void cbc_encrypt_few(const struct schedule *k, uint8_t *dst, const uint8_t *src, size_t size,
			    size_t n, const uint8_t *iv)
{
	alignas(TIER_ALIGN) uint8_t lanes[VEC_BYTES] = {0};
	vec v = vec_load(iv);

	for (size_t at = 0; at < size; at += AES_BLOCK) {
		for (size_t i = 0; i < n; i++)
			memcpy(lanes + i * AES_BLOCK, src + at + i * size, AES_BLOCK);
		v = vec_xor(v, vec_load(lanes));
		lanes_encrypt(k, &v, 1);
		vec_store(lanes, v);
		for (size_t i = 0; i < n; i++)
			memcpy(dst + at + i * size, lanes + i * AES_BLOCK, AES_BLOCK);
	}
}
#endif

static void cbc_encrypt_multi_batch(const struct schedule *k, uint8_t *dst, const uint8_t *src,
				    size_t size, size_t n, const uint8_t *iv)
{
	size_t done;

	for (; n > 1 && n >= VEC_BLOCKS; n -= done) {
#define LANES_CASE(vecs, when)                                                                     \
	if (when) {                                                                                \
		done = n < (vecs)*VEC_BLOCKS ? n : (vecs)*VEC_BLOCKS;                              \
		cbc_encrypt_lanes(k, dst, src, size, done, iv, vecs);                              \
	} else
		LANES(LANES_CASE)
		return;
		dst += done * size;
		src += done * size;
		iv += done * AES_BLOCK;
	}
#if VEC_BLOCKS > 1
	if (n > 1)
		cbc_encrypt_few(k, dst, src, size, n, iv);
#endif
	if (n == 1)
		cbc_encrypt_sector(k, dst, src, size, iv);
}

/* Messages: any number of blocks. What is left behind whole pipelines goes through a copy as a
 * pipeline of its own, of which only that much counts. Not for sectors, which are spared the
 * question. */
INLINE void xts_message(const struct schedule *k, enum engine_direction direction, uint8_t *dst,
			const uint8_t *src, size_t size, const uint8_t *iv)
{
	alignas(TIER_ALIGN) uint8_t rest[PIPE_BYTES] = {0};
	vec tweak[PIPE], v[PIPE];

	first_tweaks(tweak, iv);
	for (size_t at = 0; at < size; at += PIPE_BYTES) {
		const bool whole = size - at >= PIPE_BYTES;
		const uint8_t *from = whole ? src + at : rest;
		uint8_t *to = whole ? dst + at : rest;

		if (!whole)
			memcpy(rest, src + at, size - at);
		UNROLL
		for (size_t i = 0; i < PIPE; i++)
			v[i] = vec_xor(vec_load(from + i * VEC_BYTES), tweak[i]);
		if (direction == ENGINE_ENCRYPT)
			pipe_encrypt(k, v);
		else
			pipe_decrypt(k, v);
		UNROLL
		for (size_t i = 0; i < PIPE; i++) {
			vec_store(to + i * VEC_BYTES, vec_xor(v[i], tweak[i]));
			tweak[i] = vec_mul_x(tweak[i], PIPE_BLOCKS);
		}
		if (!whole)
			memcpy(dst + at, rest, size - at);
	}
}

static void xts_encrypt_messages(const struct schedule *k, uint8_t *dst, const uint8_t *src,
				 size_t size, size_t n, const uint8_t *iv)
{
	for (size_t i = 0; i < n; i++)
		xts_message(k, ENGINE_ENCRYPT, dst + i * size, src + i * size, size,
			    iv + i * AES_BLOCK);
}

static void xts_decrypt_messages(const struct schedule *k, uint8_t *dst, const uint8_t *src,
				 size_t size, size_t n, const uint8_t *iv)
{
	for (size_t i = 0; i < n; i++)
		xts_message(k, ENGINE_DECRYPT, dst + i * size, src + i * size, size,
			    iv + i * AES_BLOCK);
}

/* The whole pipelines as of a sector, then the rest in a copy. */
static void cbc_decrypt_messages(const struct schedule *k, uint8_t *dst, const uint8_t *src,
				 size_t size, size_t n, const uint8_t *iv)
{
	const size_t whole = size / PIPE_BYTES * PIPE_BYTES;
	alignas(TIER_ALIGN) uint8_t rest[PIPE_BYTES] = {0};
	uint8_t before[AES_BLOCK];

	for (; n; n--, dst += size, src += size, iv += AES_BLOCK) {
		memcpy(before, whole ? src + whole - AES_BLOCK : iv, AES_BLOCK);
		cbc_decrypt_sector(k, dst, src, whole, iv);
		memcpy(rest, src + whole, size - whole);
		cbc_decrypt_sector(k, rest, rest, PIPE_BYTES, before);
		memcpy(dst + whole, rest, size - whole);
	}
}

static bool is_message(size_t size)
{
	return size % PIPE_BYTES || size & (size - 1);
}

static void xts_encrypt(const struct tier_job *job)
{
	if (is_message(job->sector_size))
		each_batch(job, xts_encrypt_messages);
	else
		each_batch(job, xts_encrypt_batch);
}

static void xts_decrypt(const struct tier_job *job)
{
	if (is_message(job->sector_size))
		each_batch(job, xts_decrypt_messages);
	else
		each_batch(job, xts_decrypt_batch);
}

static void cbc_encrypt_serial(const struct tier_job *job)
{
	each_batch(job, cbc_encrypt_serial_batch);
}

static void cbc_encrypt_multi(const struct tier_job *job)
{
	each_batch(job, cbc_encrypt_multi_batch);
}

static void cbc_decrypt(const struct tier_job *job)
{
	if (is_message(job->sector_size))
		each_batch(job, cbc_decrypt_messages);
	else
		each_batch(job, cbc_decrypt_batch);
}

#define TIER_MODES                                                                                 \
	.schedule_size = sizeof(struct schedule), .schedule = make_schedule,                       \
	.xts_encrypt = xts_encrypt, .xts_decrypt = xts_decrypt,                                    \
	.cbc_encrypt_serial = cbc_encrypt_serial, .cbc_encrypt_multi = cbc_encrypt_multi,          \
	.cbc_decrypt = cbc_decrypt
