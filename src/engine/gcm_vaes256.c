// SPDX-License-Identifier: GPL-2.0-or-later
/* AES-GCM on 256-bit vectors. */
#include "engine/gcm_tier.h"

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
#define PIPE       4

#define vec_load(p)            _mm256_loadu_si256((const __m256i *)(p))
#define vec_store(p, v)        _mm256_storeu_si256((__m256i *)(p), v)
#define vec_xor(a, b)          _mm256_xor_si256(a, b)
#define vec_key(block)         _mm256_broadcastsi128_si256(block)
#define vec_aesenc(v, key)     _mm256_aesenc_epi128(v, key)
#define vec_aesenclast(v, key) _mm256_aesenclast_epi128(v, key)
#define vec_clmul(a, b, imm)   _mm256_clmulepi64_epi128(a, b, imm)
#define vec_shuffle(v, mask)   _mm256_shuffle_epi8(v, mask)
#define vec_add32(a, b)        _mm256_add_epi32(a, b)
#define vec_zero               _mm256_setzero_si256()
#define vec_first(block)       _mm256_inserti128_si256(_mm256_setzero_si256(), block, 0)
#define vec_sum(v)             _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))

#include "engine/gcm_template.h"

const struct gcm_tier gcm_vaes256 = {
	.name = "vaes256", .key_size = sizeof(struct gcm_key), .set_key = set_key, .crypt = crypt};

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
