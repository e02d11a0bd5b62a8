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
/* A sector of 512 bytes at once; with tweaks and round keys it fits the 32 registers. */
#define PIPE   8
#define UNROLL _Pragma("GCC unroll 8")

#define vec_load(p)            _mm512_loadu_si512(p)
#define vec_store(p, v)        _mm512_storeu_si512(p, v)
#define vec_xor(a, b)          _mm512_xor_si512(a, b)
#define vec_xor3(a, b, c)      _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define vec_key(key)           _mm512_broadcast_i32x4(_mm_load_si128(key))
#define vec_aesenc(v, key)     _mm512_aesenc_epi128(v, key)
#define vec_aesenclast(v, key) _mm512_aesenclast_epi128(v, key)
#define vec_aesdec(v, key)     _mm512_aesdec_epi128(v, key)
#define vec_aesdeclast(v, key) _mm512_aesdeclast_epi128(v, key)
#define block_load(p)          _mm_loadu_si128((const __m128i *)(p))
#define block_store(p, v)      _mm_storeu_si128((__m128i *)(p), v)

#define vec_chain(p, v) _mm512_alignr_epi64(v, _mm512_broadcast_i32x4(block_load(p)), 6)

static inline __attribute__((always_inline)) vec vec_gather(const uint8_t *p, size_t stride)
{
	const vec a = _mm512_castsi128_si512(block_load(p));
	const vec b = _mm512_inserti32x4(a, block_load(p + stride), 1);
	const vec c = _mm512_inserti32x4(b, block_load(p + 2 * stride), 2);

	return _mm512_inserti32x4(c, block_load(p + 3 * stride), 3);
}

static inline __attribute__((always_inline)) void vec_scatter(uint8_t *p, size_t stride, vec v)
{
	block_store(p, _mm512_castsi512_si128(v));
	block_store(p + stride, _mm512_extracti32x4_epi32(v, 1));
	block_store(p + 2 * stride, _mm512_extracti32x4_epi32(v, 2));
	block_store(p + 3 * stride, _mm512_extracti32x4_epi32(v, 3));
}

/* The block's high bits that leave, times x^7 + x^2 + x + 1, and those of its low half. */
static inline __attribute__((always_inline)) vec vec_mul_x(vec v, int n)
{
	const vec polynomial = _mm512_set1_epi64(0x87);
	vec out;

	if (n == PIPE * VEC_BLOCKS)
		return vec_xor(_mm512_bslli_epi128(v, PIPE * VEC_BLOCKS / 8),
			       _mm512_clmulepi64_epi128(
				       _mm512_bsrli_epi128(v, AES_BLOCK - PIPE * VEC_BLOCKS / 8),
				       polynomial, 0));
	out = _mm512_srli_epi64(v, (unsigned)(64 - n));
	return vec_xor3(_mm512_slli_epi64(v, (unsigned)n), _mm512_bslli_epi128(out, 8),
			_mm512_clmulepi64_epi128(out, polynomial, 1));
}

static inline __attribute__((always_inline)) vec vec_tweaks(const uint8_t *p)
{
	const vec v = _mm512_broadcast_i32x4(block_load(p));
	const vec n = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
	const vec out = _mm512_srlv_epi64(v, _mm512_sub_epi64(_mm512_set1_epi64(64), n));

	return vec_xor3(_mm512_sllv_epi64(v, n), _mm512_bslli_epi128(out, 8),
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
