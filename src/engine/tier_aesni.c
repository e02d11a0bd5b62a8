// SPDX-License-Identifier: GPL-2.0-or-later
/* x86's AES instructions on 128-bit vectors. */
#include "engine/tier.h"

#if defined(__x86_64__) || defined(__i386__)

#include <immintrin.h>
#include <string.h>

/* For this file's functions alone: nothing may run on a CPU without before the tier is chosen. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("aes,pclmul,sse4.1"))), apply_to = function)
#else
#pragma GCC target("aes,pclmul,sse4.1")
#endif

#define VEC_BLOCKS 1
/* Twice what covers the latency of the fastest AES units (3 cycles, 2 a cycle), and what covers
 * that of the slowest (8 cycles, 1 a cycle); with their tweaks they still fit the registers. */
#define PIPE   8
#define UNROLL _Pragma("GCC unroll 8")
#define ALWAYS static inline __attribute__((always_inline))

typedef __m128i vec;

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

ALWAYS void pipe_encrypt(const struct schedule *k, vec v[PIPE])
{
	const unsigned rounds = k->rounds;
	__m128i key = k->encrypt[0];

	UNROLL
	for (size_t i = 0; i < PIPE; i++)
		v[i] = _mm_xor_si128(v[i], key);
	for (unsigned round = 1; round < rounds; round++) {
		key = k->encrypt[round];
		UNROLL
		for (size_t i = 0; i < PIPE; i++)
			v[i] = _mm_aesenc_si128(v[i], key);
	}
	key = k->encrypt[rounds];
	UNROLL
	for (size_t i = 0; i < PIPE; i++)
		v[i] = _mm_aesenclast_si128(v[i], key);
}

ALWAYS void pipe_decrypt(const struct schedule *k, vec v[PIPE])
{
	const unsigned rounds = k->rounds;
	__m128i key = k->decrypt[0];

	UNROLL
	for (size_t i = 0; i < PIPE; i++)
		v[i] = _mm_xor_si128(v[i], key);
	for (unsigned round = 1; round < rounds; round++) {
		key = k->decrypt[round];
		UNROLL
		for (size_t i = 0; i < PIPE; i++)
			v[i] = _mm_aesdec_si128(v[i], key);
	}
	key = k->decrypt[rounds];
	UNROLL
	for (size_t i = 0; i < PIPE; i++)
		v[i] = _mm_aesdeclast_si128(v[i], key);
}

ALWAYS vec vec_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

ALWAYS void vec_store(uint8_t *p, vec v)
{
	_mm_storeu_si128((__m128i *)p, v);
}

ALWAYS vec vec_xor(vec a, vec b)
{
	return _mm_xor_si128(a, b);
}

/* By one: add to itself and bring in what left the halves. By eight: shift by a byte and bring in
 * the byte that left times x^7 + x^2 + x + 1. */
ALWAYS vec vec_mul_x(vec v, int n)
{
	const __m128i carry = _mm_srai_epi32(_mm_shuffle_epi32(v, 0x13), 31);

	if (n == 1)
		return _mm_xor_si128(_mm_add_epi64(v, v),
				     _mm_and_si128(carry, _mm_set_epi32(0, 1, 0, 0x87)));
	return _mm_xor_si128(_mm_slli_si128(v, PIPE / 8),
			     _mm_clmulepi64_si128(_mm_srli_si128(v, AES_BLOCK - PIPE / 8),
						  _mm_cvtsi32_si128(0x87), 0));
}

ALWAYS vec vec_tweaks(const uint8_t *p)
{
	return vec_load(p);
}

ALWAYS vec vec_chain(const uint8_t *p, vec v)
{
	(void)v;
	return vec_load(p);
}

ALWAYS vec vec_gather(const uint8_t *p, size_t stride)
{
	(void)stride;
	return vec_load(p);
}

ALWAYS void vec_scatter(uint8_t *p, size_t stride, vec v)
{
	(void)stride;
	vec_store(p, v);
}

static void cbc_encrypt_sector(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			       size_t size, const uint8_t *iv)
{
	__m128i v = vec_load(iv);

	for (size_t at = 0; at < size; at += AES_BLOCK) {
		v = _mm_xor_si128(v, _mm_xor_si128(vec_load(src + at), k->encrypt[0]));
		for (unsigned round = 1; round < k->rounds; round++)
			v = _mm_aesenc_si128(v, k->encrypt[round]);
		v = _mm_aesenclast_si128(v, k->encrypt[k->rounds]);
		vec_store(dst + at, v);
	}
}

#include "engine/modes_template.h"

/* Nothing but AES, in the shape in which the modes use it. No pass waits for the one before it, so
 * the CPU overlaps them and the AES units never idle; the empty asm keeps the compiler from seeing
 * that they are all the same. */
static uint64_t roofline(const void *schedule, uint64_t passes)
{
	vec v[PIPE];

	for (uint64_t n = 0; n < passes; n++) {
		UNROLL
		for (size_t i = 0; i < PIPE; i++) {
			v[i] = _mm_setzero_si128();
			__asm__ volatile("" : "+x"(v[i]));
		}
		pipe_encrypt(schedule, v);
		UNROLL
		for (size_t i = 0; i < PIPE; i++)
			__asm__ volatile("" : : "x"(v[i]));
	}
	return passes * PIPE_BYTES;
}

const struct engine_tier engine_tier_aesni = {
	.name = "aesni",
	.bits = 128,
	.family = CPU_FAMILY_X86,
	.needs = 1ULL << CPU_AES | 1ULL << CPU_PCLMULQDQ | 1ULL << CPU_SSE4_1,
	.roofline = roofline,
	TIER_MODES,
};

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
