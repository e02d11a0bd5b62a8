// SPDX-License-Identifier: GPL-2.0-or-later
/* x86's VAES on 256-bit vectors, with AVX2 alone. */
#include "engine/tier.h"

#if defined(__x86_64__) || defined(__i386__)

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("aes,pclmul,avx2,vaes,vpclmulqdq"))),           \
			     apply_to = function)
#else
#pragma GCC target("aes,pclmul,avx2,vaes,vpclmulqdq")
#endif

typedef __m256i vec;

#define VEC_BLOCKS 2
/* As for 128 bits: tier_aesni.c. */
#define PIPE 8
/* As in tier_vaes512.c: 16 sectors (shares at 4096 bytes: 8 sectors 0.62, 12 0.67, 14 0.61, 16
 * 0.72); there are no registers for more. */
#define LANES(use) use(4, n <= 8) use(6, n <= 12) use(8, true)
#define LANES_MAX  8
#define UNROLL     UNROLL_ALL

#define vec_load(p)            _mm256_loadu_si256((const __m256i *)(p))
#define vec_store(p, v)        _mm256_storeu_si256((__m256i *)(p), v)
#define vec_xor(a, b)          _mm256_xor_si256(a, b)
#define vec_key(key)           _mm256_broadcastsi128_si256(_mm_load_si128(key))
#define vec_aesenc(v, key)     _mm256_aesenc_epi128(v, key)
#define vec_aesenclast(v, key) _mm256_aesenclast_epi128(v, key)
#define vec_aesdec(v, key)     _mm256_aesdec_epi128(v, key)
#define vec_aesdeclast(v, key) _mm256_aesdeclast_epi128(v, key)
#define block_load(p)          _mm_loadu_si128((const __m128i *)(p))

#define vec_numbers(n, step) _mm256_set_epi64x(0, (long long)((n) + (step)), 0, (long long)(n))

#define vec_chain(p, v)                                                                            \
	_mm256_permute2x128_si256(_mm256_broadcastsi128_si256(block_load(p)), v, 0x21)

#define LINE_STEPS 4

/* The 2 × 2 blocks of each half of a cache line transposed. */
static inline __attribute__((always_inline)) void line_gather(vec v[LINE_STEPS], const uint8_t *p,
							      size_t stride)
{
	UNROLL
	for (size_t i = 0; i < LINE_STEPS; i += VEC_BLOCKS) {
		const vec a = vec_load(p + i * AES_BLOCK);
		const vec b = vec_load(p + i * AES_BLOCK + stride);

		v[i] = _mm256_permute2x128_si256(a, b, 0x20);
		v[i + 1] = _mm256_permute2x128_si256(a, b, 0x31);
	}
}

static inline __attribute__((always_inline)) void line_scatter(uint8_t *p, size_t stride,
							       const vec v[LINE_STEPS])
{
	UNROLL
	for (size_t i = 0; i < LINE_STEPS; i += VEC_BLOCKS) {
		vec_store(p + i * AES_BLOCK, _mm256_permute2x128_si256(v[i], v[i + 1], 0x20));
		vec_store(p + i * AES_BLOCK + stride,
			  _mm256_permute2x128_si256(v[i], v[i + 1], 0x31));
	}
}

/* The block's high bits that leave, times x^7 + x^2 + x + 1, and those of its low half. */
static inline __attribute__((always_inline)) vec vec_mul_x(vec v, int n)
{
	const vec polynomial = _mm256_set1_epi64x(0x87);
	vec out;

	if (n == 8)
		return vec_xor(_mm256_bslli_epi128(v, 1),
			       _mm256_clmulepi64_epi128(_mm256_bsrli_epi128(v, 15), polynomial, 0));
	if (n == PIPE * VEC_BLOCKS)
		return vec_xor(_mm256_bslli_epi128(v, PIPE * VEC_BLOCKS / 8),
			       _mm256_clmulepi64_epi128(
				       _mm256_bsrli_epi128(v, AES_BLOCK - PIPE * VEC_BLOCKS / 8),
				       polynomial, 0));
	out = _mm256_srli_epi64(v, 64 - n);
	return vec_xor(vec_xor(_mm256_slli_epi64(v, n), _mm256_bslli_epi128(out, 8)),
		       _mm256_clmulepi64_epi128(out, polynomial, 1));
}

static inline __attribute__((always_inline)) vec vec_tweaks(const uint8_t *p)
{
	const vec v = _mm256_broadcastsi128_si256(block_load(p));
	const vec out = _mm256_srlv_epi64(v, _mm256_set_epi64x(63, 63, 64, 64));

	return vec_xor(vec_xor(_mm256_sllv_epi64(v, _mm256_set_epi64x(1, 1, 0, 0)),
			       _mm256_bslli_epi128(out, 8)),
		       _mm256_clmulepi64_epi128(out, _mm256_set1_epi64x(0x87), 1));
}

#include "engine/tier_x86.h"

const struct engine_tier engine_tier_vaes256 = {
	.name = "vaes256",
	.bits = 256,
	.family = CPU_FAMILY_X86,
	.needs = 1ULL << CPU_AES | 1ULL << CPU_PCLMULQDQ | 1ULL << CPU_AVX2 | 1ULL << CPU_VAES |
		 1ULL << CPU_VPCLMULQDQ,
	.roofline = roofline,
	TIER_MODES,
};

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
