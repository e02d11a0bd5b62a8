// SPDX-License-Identifier: GPL-2.0-or-later
/* AES-GCM on 512-bit vectors. */
#include "engine/gcm_tier.h"

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
/* All of a 512-byte sector: no pipeline of it waits for the hash of the one before. */
#define PIPE 8

#define vec_load(p)            _mm512_loadu_si512(p)
#define vec_store(p, v)        _mm512_storeu_si512(p, v)
#define vec_xor(a, b)          _mm512_xor_si512(a, b)
#define vec_key(block)         _mm512_broadcast_i32x4(block)
#define vec_aesenc(v, key)     _mm512_aesenc_epi128(v, key)
#define vec_aesenclast(v, key) _mm512_aesenclast_epi128(v, key)
#define vec_clmul(a, b, imm)   _mm512_clmulepi64_epi128(a, b, imm)
#define vec_shuffle(v, mask)   _mm512_shuffle_epi8(v, mask)
#define vec_add32(a, b)        _mm512_add_epi32(a, b)
#define vec_zero               _mm512_setzero_si512()
#define vec_first(block)       _mm512_inserti32x4(_mm512_setzero_si512(), block, 0)

static inline __attribute__((always_inline)) __m128i vec_sum(vec v)
{
	const __m256i half = _mm256_xor_si256(_mm512_castsi512_si256(v),
					      _mm512_extracti64x4_epi64(v, 1));

	return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

#include "engine/gcm_template.h"

const struct gcm_tier gcm_vaes512 = {
	.name = "vaes512", .key_size = sizeof(struct gcm_key), .set_key = set_key, .crypt = crypt};

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
