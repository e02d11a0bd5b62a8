/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block without vector instructions, for modes_template.h: the tiers in plain C share it. */
#ifndef DMCT_ENGINE_VEC_WORDS_H
#define DMCT_ENGINE_VEC_WORDS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/key_schedule.h"

#define VEC_BLOCKS 1
#define LINE_STEPS 4
#define UNROLL     _Pragma("GCC unroll 1")
#define ALWAYS     static inline __attribute__((always_inline))

/* A block as two little-endian numbers. */
typedef struct {
	uint64_t lo, hi;
} vec;

ALWAYS vec vec_load(const uint8_t *p)
{
	vec v;

	memcpy(&v, p, sizeof(v));
	v.lo = le64toh(v.lo);
	v.hi = le64toh(v.hi);
	return v;
}

ALWAYS void vec_store(uint8_t *p, vec v)
{
	v.lo = htole64(v.lo);
	v.hi = htole64(v.hi);
	memcpy(p, &v, sizeof(v));
}

ALWAYS vec vec_xor(vec a, vec b)
{
	return (vec){a.lo ^ b.lo, a.hi ^ b.hi};
}

/* n up to 32: what leaves at the top comes back times x^7 + x^2 + x + 1. */
ALWAYS vec vec_mul_x(vec v, int n)
{
	const uint64_t out = v.hi >> (64 - n);

	return (vec){v.lo << n ^ out ^ out << 1 ^ out << 2 ^ out << 7,
		     v.hi << n | v.lo >> (64 - n)};
}

ALWAYS vec vec_numbers(uint64_t n, uint64_t step)
{
	(void)step;
	return (vec){n, 0};
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

ALWAYS void line_gather(vec v[LINE_STEPS], const uint8_t *p, size_t stride)
{
	(void)stride;
	for (int i = 0; i < LINE_STEPS; i++)
		v[i] = vec_load(p + i * AES_BLOCK);
}

ALWAYS void line_scatter(uint8_t *p, size_t stride, const vec v[LINE_STEPS])
{
	(void)stride;
	for (int i = 0; i < LINE_STEPS; i++)
		vec_store(p + i * AES_BLOCK, v[i]);
}

#endif
