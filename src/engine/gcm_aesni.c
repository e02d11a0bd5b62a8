// SPDX-License-Identifier: GPL-2.0-or-later
/* AES-GCM on 128-bit vectors. */
#include "engine/gcm_tier.h"

#if defined(__x86_64__) || defined(__i386__)

#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("aes,pclmul,sse4.1"))), apply_to = function)
#else
#pragma GCC target("aes,pclmul,sse4.1")
#endif

typedef __m128i vec;

#define VEC_BLOCKS 1
#define PIPE       8

#define vec_load(p)            _mm_loadu_si128((const __m128i *)(p))
#define vec_store(p, v)        _mm_storeu_si128((__m128i *)(p), v)
#define vec_xor(a, b)          _mm_xor_si128(a, b)
#define vec_key(block)         (block)
#define vec_aesenc(v, key)     _mm_aesenc_si128(v, key)
#define vec_aesenclast(v, key) _mm_aesenclast_si128(v, key)
#define vec_clmul(a, b, imm)   _mm_clmulepi64_si128(a, b, imm)
#define vec_shuffle(v, mask)   _mm_shuffle_epi8(v, mask)
#define vec_add32(a, b)        _mm_add_epi32(a, b)
#define vec_zero               _mm_setzero_si128()
#define vec_first(block)       (block)
#define vec_sum(v)             (v)

#include "engine/gcm_template.h"

const struct gcm_tier gcm_aesni = {
	.name = "aesni", .key_size = sizeof(struct gcm_key), .set_key = set_key, .crypt = crypt};

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
