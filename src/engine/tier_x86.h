/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What x86's tiers share, whatever the width of their vectors. A tier file sets the target, defines
 * vec, VEC_BLOCKS, PIPE, UNROLL and the primitives below, and then includes this, which goes on to
 * the modes.
 *
 *   vec_load, vec_store, vec_xor, vec_mul_x, vec_tweaks, vec_chain, line_gather, line_scatter
 *                        as modes_template.h wants them
 *   vec_key(key)         a round key for each block
 *   vec_aesenc(v, key), vec_aesenclast, vec_aesdec, vec_aesdeclast    one round
 */
#define ALWAYS static inline __attribute__((always_inline))

struct schedule {
	__m128i encrypt[AES_ROUNDS_MAX + 1];
	__m128i decrypt[AES_ROUNDS_MAX + 1];
	unsigned rounds;
};

/* Decryption runs the equivalent inverse cipher (FIPS 197, 5.3.5). */
static void make_schedule(void *to, const struct aes_schedule *from)
{
	struct schedule *k = to;
	const unsigned rounds = from->rounds;

	k->rounds = rounds;
	for (unsigned i = 0; i <= rounds; i++)
		k->encrypt[i] = _mm_loadu_si128((const __m128i *)from->key[i]);
	k->decrypt[0] = k->encrypt[rounds];
	for (unsigned i = 1; i < rounds; i++)
		k->decrypt[i] = _mm_aesimc_si128(k->encrypt[rounds - i]);
	k->decrypt[rounds] = k->encrypt[0];
}

/* n rounds on a pipeline, without a loop: in one, gcc copies and spills vectors where the target
 * has 16 registers. */
#define ROUNDS(n, round, v, vecs, keys)                                                            \
	do {                                                                                       \
		_Pragma("GCC unroll 9") for (size_t r = 0; r < (n); r++)                           \
		{                                                                                  \
			UNROLL                                                                     \
			for (size_t i = 0; i < (vecs); i++)                                        \
				(v)[i] = round((v)[i], vec_key((keys) + r));                       \
		}                                                                                  \
	} while (0)

ALWAYS void lanes_encrypt(const struct schedule *k, vec *v, const size_t n)
{
	const __m128i *key = k->encrypt;

	UNROLL
	for (size_t i = 0; i < n; i++)
		v[i] = vec_xor(v[i], vec_key(key));
	ROUNDS(9, vec_aesenc, v, n, key + 1);
	if (k->rounds > 10) {
		ROUNDS(2, vec_aesenc, v, n, key + 10);
		if (k->rounds > 12)
			ROUNDS(2, vec_aesenc, v, n, key + 12);
	}
	UNROLL
	for (size_t i = 0; i < n; i++)
		v[i] = vec_aesenclast(v[i], vec_key(key + k->rounds));
}

ALWAYS void lanes_decrypt(const struct schedule *k, vec *v, const size_t n)
{
	const __m128i *key = k->decrypt;

	UNROLL
	for (size_t i = 0; i < n; i++)
		v[i] = vec_xor(v[i], vec_key(key));
	ROUNDS(9, vec_aesdec, v, n, key + 1);
	if (k->rounds > 10) {
		ROUNDS(2, vec_aesdec, v, n, key + 10);
		if (k->rounds > 12)
			ROUNDS(2, vec_aesdec, v, n, key + 12);
	}
	UNROLL
	for (size_t i = 0; i < n; i++)
		v[i] = vec_aesdeclast(v[i], vec_key(key + k->rounds));
}

#define pipe_encrypt(k, v) lanes_encrypt(k, v, PIPE)
#define pipe_decrypt(k, v) lanes_decrypt(k, v, PIPE)
/* A part of a pipeline takes as long. */
#define ivs_encrypt(k, v, n) ((void)(n), pipe_encrypt(k, v))

/* A chain of single blocks waits for the latency of each round; the width of vectors is no help. */
static void cbc_encrypt_sector(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			       size_t size, const uint8_t *iv)
{
	__m128i v = _mm_loadu_si128((const __m128i *)iv), next;

	for (size_t at = 0; at < size; at += AES_BLOCK) {
		/* What does not depend on the block before comes first. */
		next = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(src + at)), k->encrypt[0]);
		v = _mm_xor_si128(v, next);
		for (unsigned round = 1; round < k->rounds; round++)
			v = _mm_aesenc_si128(v, k->encrypt[round]);
		v = _mm_aesenclast_si128(v, k->encrypt[k->rounds]);
		_mm_storeu_si128((__m128i *)(dst + at), v);
	}
}

#define ROOFLINE_CHAINS 8

/* Nothing but AES rounds. No pass waits for the one before it, so the CPU overlaps them and the AES
 * units never idle; the empty asm keeps the compiler from seeing that they are all the same. The
 * key is zero: the speed does not depend on it. */
static uint64_t roofline(unsigned rounds, uint64_t passes)
{
	static const uint8_t zero[sizeof(vec)];
	vec v[ROOFLINE_CHAINS], key = vec_load(zero);

	for (uint64_t n = 0; n < passes; n++) {
		UNROLL
		for (size_t i = 0; i < ROOFLINE_CHAINS; i++) {
			v[i] = key;
			__asm__ volatile("" : "+x"(v[i]));
		}
		for (unsigned round = 0; round < rounds; round++) {
			UNROLL
			for (size_t i = 0; i < ROOFLINE_CHAINS; i++)
				v[i] = vec_aesenc(v[i], key);
		}
		UNROLL
		for (size_t i = 0; i < ROOFLINE_CHAINS; i++)
			__asm__ volatile("" : : "x"(v[i]));
	}
	return passes * sizeof(v);
}

#include "engine/modes_template.h"
