// SPDX-License-Identifier: GPL-2.0-or-later
/* x86's VAES on 512-bit vectors. */
#include "engine/tier.h"

#if defined(__x86_64__) || defined(__i386__)

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(                                                                      \
	__attribute__((target("aes,pclmul,avx512f,avx512bw,avx512vl,vaes,vpclmulqdq"))),           \
	apply_to = function)
#else
#pragma GCC target("aes,pclmul,avx512f,avx512bw,avx512vl,vaes,vpclmulqdq")
#endif

typedef __m512i vec;

#define VEC_BLOCKS 4
/* Covers the latency of both kinds of AES units that have this width (Golden Cove: 3 cycles, Zen 4:
 * 4, one vector a cycle). More would ask for more sectors in CBC encryption: 16 it is. */
#define PIPE 4
/* CBC encryption of several sectors: 16 at once, by measurement (Golden Cove, shares of the
 * roofline at 4096 bytes: 16 sectors 0.92, 20 0.84, 24 0.83, 28 0.73, 32 0.82). Fewer than 16 wait
 * for the latency, so a rest of up to 24 goes at once. */
#define LANES(use) use(2, n <= 8) use(3, n <= 12) use(6, n > 16 && n <= 24) use(4, true)
#define LANES_MAX  6
#define UNROLL     UNROLL_ALL

#define vec_load(p)            _mm512_loadu_si512(p)
#define vec_store(p, v)        _mm512_storeu_si512(p, v)
#define vec_xor(a, b)          _mm512_xor_si512(a, b)
#define vec_key(key)           _mm512_broadcast_i32x4(_mm_load_si128(key))
#define vec_aesenc(v, key)     _mm512_aesenc_epi128(v, key)
#define vec_aesenclast(v, key) _mm512_aesenclast_epi128(v, key)
#define vec_aesdec(v, key)     _mm512_aesdec_epi128(v, key)
#define vec_aesdeclast(v, key) _mm512_aesdeclast_epi128(v, key)
#define block_load(p)          _mm_loadu_si128((const __m128i *)(p))

#define vec_numbers(n, step)                                                                       \
	_mm512_set_epi64(0, (long long)((n) + 3 * (step)), 0, (long long)((n) + 2 * (step)), 0,    \
			 (long long)((n) + (step)), 0, (long long)(n))

#define vec_chain(p, v) _mm512_alignr_epi64(v, _mm512_broadcast_i32x4(block_load(p)), 6)

#define LINE_STEPS 4

/* 4 × 4 blocks: rows become columns, and back. */
static inline __attribute__((always_inline)) void transpose(vec v[LINE_STEPS])
{
	const vec a = _mm512_shuffle_i32x4(v[0], v[1], 0x44);
	const vec b = _mm512_shuffle_i32x4(v[0], v[1], 0xee);
	const vec c = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
	const vec d = _mm512_shuffle_i32x4(v[2], v[3], 0xee);

	v[0] = _mm512_shuffle_i32x4(a, c, 0x88);
	v[1] = _mm512_shuffle_i32x4(a, c, 0xdd);
	v[2] = _mm512_shuffle_i32x4(b, d, 0x88);
	v[3] = _mm512_shuffle_i32x4(b, d, 0xdd);
}

static inline __attribute__((always_inline)) void line_gather(vec v[LINE_STEPS], const uint8_t *p,
							      size_t stride)
{
	UNROLL
	for (size_t i = 0; i < LINE_STEPS; i++)
		v[i] = vec_load(p + i * stride);
	transpose(v);
}

static inline __attribute__((always_inline)) void line_scatter(uint8_t *p, size_t stride,
							       const vec v[LINE_STEPS])
{
	vec line[LINE_STEPS];

	UNROLL
	for (size_t i = 0; i < LINE_STEPS; i++)
		line[i] = v[i];
	transpose(line);
	UNROLL
	for (size_t i = 0; i < LINE_STEPS; i++)
		vec_store(p + i * stride, line[i]);
}

/* The block's high bits that leave, times x^7 + x^2 + x + 1, and those of its low half. */
static inline __attribute__((always_inline)) vec vec_mul_x(vec v, int n)
{
	const vec polynomial = _mm512_set1_epi64(0x87);
	vec out;

	if (n == 8)
		return vec_xor(_mm512_bslli_epi128(v, 1),
			       _mm512_clmulepi64_epi128(_mm512_bsrli_epi128(v, 15), polynomial, 0));
	if (n == PIPE * VEC_BLOCKS)
		return vec_xor(_mm512_bslli_epi128(v, PIPE * VEC_BLOCKS / 8),
			       _mm512_clmulepi64_epi128(
				       _mm512_bsrli_epi128(v, AES_BLOCK - PIPE * VEC_BLOCKS / 8),
				       polynomial, 0));
	out = _mm512_srli_epi64(v, (unsigned)(64 - n));
	return vec_xor(vec_xor(_mm512_slli_epi64(v, (unsigned)n), _mm512_bslli_epi128(out, 8)),
		       _mm512_clmulepi64_epi128(out, polynomial, 1));
}

static inline __attribute__((always_inline)) vec vec_tweaks(const uint8_t *p)
{
	const vec v = _mm512_broadcast_i32x4(block_load(p));
	const vec n = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
	const vec out = _mm512_srlv_epi64(v, _mm512_sub_epi64(_mm512_set1_epi64(64), n));

	return vec_xor(vec_xor(_mm512_sllv_epi64(v, n), _mm512_bslli_epi128(out, 8)),
		       _mm512_clmulepi64_epi128(out, _mm512_set1_epi64(0x87), 1));
}

#include "engine/tier_x86.h"

const struct engine_tier engine_tier_vaes512 = {
	.name = "vaes512",
	.bits = 512,
	.family = CPU_FAMILY_X86,
	.needs = 1ULL << CPU_AES | 1ULL << CPU_PCLMULQDQ | 1ULL << CPU_AVX512F |
		 1ULL << CPU_AVX512BW | 1ULL << CPU_AVX512VL | 1ULL << CPU_VAES |
		 1ULL << CPU_VPCLMULQDQ,
	.roofline = roofline,
	TIER_MODES,
};

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
