// SPDX-License-Identifier: GPL-2.0-or-later
/* x86's AES instructions on 128-bit vectors. */
#include "engine/tier.h"

#if defined(__x86_64__) || defined(__i386__)

#include <immintrin.h>

/* For this file's functions alone: nothing of it may run before the tier is chosen. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("aes,pclmul,sse4.1"))), apply_to = function)
#else
#pragma GCC target("aes,pclmul,sse4.1")
#endif

typedef __m128i vec;

#define VEC_BLOCKS 1
/* Covers the latency of the slowest AES units (8 cycles, one block a cycle) and more than that of
 * the fastest (3 cycles, two a cycle). With their tweaks, eight vectors fill the registers. */
#define PIPE 8
/* As in tier_vaes512.c: from 5 sectors on all is alike on Golden Cove; older units have a latency
 * of up to 8 blocks. */
#define LANES(use) use(4, n <= 4) use(6, n <= 6) use(8, true)
#define LANES_MAX  8
#define UNROLL     UNROLL_ALL

#define vec_load(p)            _mm_loadu_si128((const __m128i *)(p))
#define vec_store(p, v)        _mm_storeu_si128((__m128i *)(p), v)
#define vec_xor(a, b)          _mm_xor_si128(a, b)
#define vec_key(key)           _mm_load_si128(key)
#define vec_aesenc(v, key)     _mm_aesenc_si128(v, key)
#define vec_aesenclast(v, key) _mm_aesenclast_si128(v, key)
#define vec_aesdec(v, key)     _mm_aesdec_si128(v, key)
#define vec_aesdeclast(v, key) _mm_aesdeclast_si128(v, key)

#define vec_numbers(n, step) ((void)(step), _mm_set_epi64x(0, (long long)(n)))

/* One block a vector: nothing to put together. */
#define vec_tweaks(p)              vec_load(p)
#define vec_chain(p, v)            ((void)(v), vec_load(p))
#define LINE_STEPS                 1
#define line_gather(v, p, stride)  ((v)[0] = vec_load(p))
#define line_scatter(p, stride, v) vec_store(p, (v)[0])

/* By x, add to itself and bring in what left the halves. By x^8, shift by a byte and bring in the
 * one that left, times x^7 + x^2 + x + 1. */
static inline __attribute__((always_inline)) vec vec_mul_x(vec v, int n)
{
	const vec polynomial = _mm_set_epi32(0, 1, 0, 0x87);
	const vec signs = _mm_srai_epi32(_mm_shuffle_epi32(v, 0x13), 31);

	if (n == 1)
		return vec_xor(_mm_add_epi64(v, v), _mm_and_si128(signs, polynomial));
	return vec_xor(_mm_slli_si128(v, 1),
		       _mm_clmulepi64_si128(_mm_srli_si128(v, 15), polynomial, 0));
}

#include "engine/tier_x86.h"

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
