// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES by table look-ups, one block at a time, as the kernel's generic C has it (aes-generic). It
 * exists to stand for that driver in a measurement, and for nothing else: it is NOT constant time,
 * since which lines of the tables are in the cache tells of key and data. So it stands behind
 * `portable`, although it is the faster one in CBC's serial shape, and is never chosen as the best.
 *
 * After FIPS 197 and J. Daemen and V. Rijmen, "AES Proposal: Rijndael", 5.2.1: SubBytes, ShiftRows
 * and MixColumns of a column are the sum of four 32-bit words, each looked up by one byte.
 * Decryption is the equivalent inverse cipher (FIPS 197, 5.3.5), so that it has the same shape.
 *
 * Not in it: what the kernel's templates add, such as xts()'s two passes of XOR over the request.
 */
#include "engine/tier.h"

#include <string.h>

#include "engine/vec_words.h"

#define COLUMNS                4
#define PIPE                   1
#define LANES(use)             use(1, true)
#define LANES_MAX              1
#define lanes_encrypt(k, v, n) pipe_encrypt(k, v)
#define ivs_encrypt(k, v, n)   pipe_encrypt(k, v)

/* FIPS 197, figures 7 and 14. */
/* clang-format off */
#define SBOX(F) \
	F(0x63), F(0x7c), F(0x77), F(0x7b), F(0xf2), F(0x6b), F(0x6f), F(0xc5), \
	F(0x30), F(0x01), F(0x67), F(0x2b), F(0xfe), F(0xd7), F(0xab), F(0x76), \
	F(0xca), F(0x82), F(0xc9), F(0x7d), F(0xfa), F(0x59), F(0x47), F(0xf0), \
	F(0xad), F(0xd4), F(0xa2), F(0xaf), F(0x9c), F(0xa4), F(0x72), F(0xc0), \
	F(0xb7), F(0xfd), F(0x93), F(0x26), F(0x36), F(0x3f), F(0xf7), F(0xcc), \
	F(0x34), F(0xa5), F(0xe5), F(0xf1), F(0x71), F(0xd8), F(0x31), F(0x15), \
	F(0x04), F(0xc7), F(0x23), F(0xc3), F(0x18), F(0x96), F(0x05), F(0x9a), \
	F(0x07), F(0x12), F(0x80), F(0xe2), F(0xeb), F(0x27), F(0xb2), F(0x75), \
	F(0x09), F(0x83), F(0x2c), F(0x1a), F(0x1b), F(0x6e), F(0x5a), F(0xa0), \
	F(0x52), F(0x3b), F(0xd6), F(0xb3), F(0x29), F(0xe3), F(0x2f), F(0x84), \
	F(0x53), F(0xd1), F(0x00), F(0xed), F(0x20), F(0xfc), F(0xb1), F(0x5b), \
	F(0x6a), F(0xcb), F(0xbe), F(0x39), F(0x4a), F(0x4c), F(0x58), F(0xcf), \
	F(0xd0), F(0xef), F(0xaa), F(0xfb), F(0x43), F(0x4d), F(0x33), F(0x85), \
	F(0x45), F(0xf9), F(0x02), F(0x7f), F(0x50), F(0x3c), F(0x9f), F(0xa8), \
	F(0x51), F(0xa3), F(0x40), F(0x8f), F(0x92), F(0x9d), F(0x38), F(0xf5), \
	F(0xbc), F(0xb6), F(0xda), F(0x21), F(0x10), F(0xff), F(0xf3), F(0xd2), \
	F(0xcd), F(0x0c), F(0x13), F(0xec), F(0x5f), F(0x97), F(0x44), F(0x17), \
	F(0xc4), F(0xa7), F(0x7e), F(0x3d), F(0x64), F(0x5d), F(0x19), F(0x73), \
	F(0x60), F(0x81), F(0x4f), F(0xdc), F(0x22), F(0x2a), F(0x90), F(0x88), \
	F(0x46), F(0xee), F(0xb8), F(0x14), F(0xde), F(0x5e), F(0x0b), F(0xdb), \
	F(0xe0), F(0x32), F(0x3a), F(0x0a), F(0x49), F(0x06), F(0x24), F(0x5c), \
	F(0xc2), F(0xd3), F(0xac), F(0x62), F(0x91), F(0x95), F(0xe4), F(0x79), \
	F(0xe7), F(0xc8), F(0x37), F(0x6d), F(0x8d), F(0xd5), F(0x4e), F(0xa9), \
	F(0x6c), F(0x56), F(0xf4), F(0xea), F(0x65), F(0x7a), F(0xae), F(0x08), \
	F(0xba), F(0x78), F(0x25), F(0x2e), F(0x1c), F(0xa6), F(0xb4), F(0xc6), \
	F(0xe8), F(0xdd), F(0x74), F(0x1f), F(0x4b), F(0xbd), F(0x8b), F(0x8a), \
	F(0x70), F(0x3e), F(0xb5), F(0x66), F(0x48), F(0x03), F(0xf6), F(0x0e), \
	F(0x61), F(0x35), F(0x57), F(0xb9), F(0x86), F(0xc1), F(0x1d), F(0x9e), \
	F(0xe1), F(0xf8), F(0x98), F(0x11), F(0x69), F(0xd9), F(0x8e), F(0x94), \
	F(0x9b), F(0x1e), F(0x87), F(0xe9), F(0xce), F(0x55), F(0x28), F(0xdf), \
	F(0x8c), F(0xa1), F(0x89), F(0x0d), F(0xbf), F(0xe6), F(0x42), F(0x68), \
	F(0x41), F(0x99), F(0x2d), F(0x0f), F(0xb0), F(0x54), F(0xbb), F(0x16)

#define INVERSE_SBOX(F) \
	F(0x52), F(0x09), F(0x6a), F(0xd5), F(0x30), F(0x36), F(0xa5), F(0x38), \
	F(0xbf), F(0x40), F(0xa3), F(0x9e), F(0x81), F(0xf3), F(0xd7), F(0xfb), \
	F(0x7c), F(0xe3), F(0x39), F(0x82), F(0x9b), F(0x2f), F(0xff), F(0x87), \
	F(0x34), F(0x8e), F(0x43), F(0x44), F(0xc4), F(0xde), F(0xe9), F(0xcb), \
	F(0x54), F(0x7b), F(0x94), F(0x32), F(0xa6), F(0xc2), F(0x23), F(0x3d), \
	F(0xee), F(0x4c), F(0x95), F(0x0b), F(0x42), F(0xfa), F(0xc3), F(0x4e), \
	F(0x08), F(0x2e), F(0xa1), F(0x66), F(0x28), F(0xd9), F(0x24), F(0xb2), \
	F(0x76), F(0x5b), F(0xa2), F(0x49), F(0x6d), F(0x8b), F(0xd1), F(0x25), \
	F(0x72), F(0xf8), F(0xf6), F(0x64), F(0x86), F(0x68), F(0x98), F(0x16), \
	F(0xd4), F(0xa4), F(0x5c), F(0xcc), F(0x5d), F(0x65), F(0xb6), F(0x92), \
	F(0x6c), F(0x70), F(0x48), F(0x50), F(0xfd), F(0xed), F(0xb9), F(0xda), \
	F(0x5e), F(0x15), F(0x46), F(0x57), F(0xa7), F(0x8d), F(0x9d), F(0x84), \
	F(0x90), F(0xd8), F(0xab), F(0x00), F(0x8c), F(0xbc), F(0xd3), F(0x0a), \
	F(0xf7), F(0xe4), F(0x58), F(0x05), F(0xb8), F(0xb3), F(0x45), F(0x06), \
	F(0xd0), F(0x2c), F(0x1e), F(0x8f), F(0xca), F(0x3f), F(0x0f), F(0x02), \
	F(0xc1), F(0xaf), F(0xbd), F(0x03), F(0x01), F(0x13), F(0x8a), F(0x6b), \
	F(0x3a), F(0x91), F(0x11), F(0x41), F(0x4f), F(0x67), F(0xdc), F(0xea), \
	F(0x97), F(0xf2), F(0xcf), F(0xce), F(0xf0), F(0xb4), F(0xe6), F(0x73), \
	F(0x96), F(0xac), F(0x74), F(0x22), F(0xe7), F(0xad), F(0x35), F(0x85), \
	F(0xe2), F(0xf9), F(0x37), F(0xe8), F(0x1c), F(0x75), F(0xdf), F(0x6e), \
	F(0x47), F(0xf1), F(0x1a), F(0x71), F(0x1d), F(0x29), F(0xc5), F(0x89), \
	F(0x6f), F(0xb7), F(0x62), F(0x0e), F(0xaa), F(0x18), F(0xbe), F(0x1b), \
	F(0xfc), F(0x56), F(0x3e), F(0x4b), F(0xc6), F(0xd2), F(0x79), F(0x20), \
	F(0x9a), F(0xdb), F(0xc0), F(0xfe), F(0x78), F(0xcd), F(0x5a), F(0xf4), \
	F(0x1f), F(0xdd), F(0xa8), F(0x33), F(0x88), F(0x07), F(0xc7), F(0x31), \
	F(0xb1), F(0x12), F(0x10), F(0x59), F(0x27), F(0x80), F(0xec), F(0x5f), \
	F(0x60), F(0x51), F(0x7f), F(0xa9), F(0x19), F(0xb5), F(0x4a), F(0x0d), \
	F(0x2d), F(0xe5), F(0x7a), F(0x9f), F(0x93), F(0xc9), F(0x9c), F(0xef), \
	F(0xa0), F(0xe0), F(0x3b), F(0x4d), F(0xae), F(0x2a), F(0xf5), F(0xb0), \
	F(0xc8), F(0xeb), F(0xbb), F(0x3c), F(0x83), F(0x53), F(0x99), F(0x61), \
	F(0x17), F(0x2b), F(0x04), F(0x7e), F(0xba), F(0x77), F(0xd6), F(0x26), \
	F(0xe1), F(0x69), F(0x14), F(0x63), F(0x55), F(0x21), F(0x0c), F(0x7d)
/* clang-format on */

/* In GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
#define TIMES_2(s)  ((s) << 1 ^ ((s) >> 7) * 0x11bU)
#define TIMES_4(s)  TIMES_2(TIMES_2(s))
#define TIMES_8(s)  TIMES_2(TIMES_4(s))
#define TIMES_3(s)  (TIMES_2(s) ^ (s))
#define TIMES_9(s)  (TIMES_8(s) ^ (s))
#define TIMES_11(s) (TIMES_8(s) ^ TIMES_3(s))
#define TIMES_13(s) (TIMES_9(s) ^ TIMES_4(s))
#define TIMES_14(s) (TIMES_8(s) ^ TIMES_4(s) ^ TIMES_2(s))

/* Rows 0 to 3 of a column, the first in the lowest byte. */
#define COLUMN(a, b, c, d)                                                                         \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define BYTE(s)  s
#define MIX_0(s) COLUMN(TIMES_2(s), s, s, TIMES_3(s))
#define MIX_1(s) COLUMN(TIMES_3(s), TIMES_2(s), s, s)
#define MIX_2(s) COLUMN(s, TIMES_3(s), TIMES_2(s), s)
#define MIX_3(s) COLUMN(s, s, TIMES_3(s), TIMES_2(s))

#define UNMIX_0(s) COLUMN(TIMES_14(s), TIMES_9(s), TIMES_13(s), TIMES_11(s))
#define UNMIX_1(s) COLUMN(TIMES_11(s), TIMES_14(s), TIMES_9(s), TIMES_13(s))
#define UNMIX_2(s) COLUMN(TIMES_13(s), TIMES_11(s), TIMES_14(s), TIMES_9(s))
#define UNMIX_3(s) COLUMN(TIMES_9(s), TIMES_13(s), TIMES_11(s), TIMES_14(s))

static const uint8_t sbox[256] = {SBOX(BYTE)};
static const uint8_t inverse_sbox[256] = {INVERSE_SBOX(BYTE)};
/* What a byte of each row gives to its column, from SubBytes to MixColumns, and the inverses. */
static const uint32_t mix[4][256] = {{SBOX(MIX_0)}, {SBOX(MIX_1)}, {SBOX(MIX_2)}, {SBOX(MIX_3)}};
static const uint32_t unmix[4][256] = {{INVERSE_SBOX(UNMIX_0)},
				       {INVERSE_SBOX(UNMIX_1)},
				       {INVERSE_SBOX(UNMIX_2)},
				       {INVERSE_SBOX(UNMIX_3)}};

struct schedule {
	uint32_t encrypt[AES_ROUNDS_MAX + 1][COLUMNS];
	uint32_t decrypt[AES_ROUNDS_MAX + 1][COLUMNS]; /* in the order of use */
	unsigned rounds;
};

/* The look-up gives InvMixColumns of the inverse S-box; the S-box before it leaves the first. */
static uint32_t unmix_column(const uint8_t byte[COLUMNS])
{
	return unmix[0][sbox[byte[0]]] ^ unmix[1][sbox[byte[1]]] ^ unmix[2][sbox[byte[2]]] ^
	       unmix[3][sbox[byte[3]]];
}

static void make_schedule(void *to, const struct aes_schedule *from)
{
	struct schedule *k = to;
	const uint8_t *byte;
	unsigned last;

	k->rounds = last = from->rounds;
	for (unsigned round = 0; round <= last; round++) {
		for (int c = 0; c < COLUMNS; c++) {
			byte = &from->key[round][4 * c];
			k->encrypt[round][c] = COLUMN(byte[0], byte[1], byte[2], byte[3]);
			k->decrypt[last - round][c] = round == 0 || round == last
							      ? k->encrypt[round][c]
							      : unmix_column(byte);
		}
	}
}

/* Each column in a register of its own, as in the kernel, which is built without vectors. Left to
 * itself gcc -O2 puts the four together for the sum with the key and takes them apart again, which
 * takes nearly as long as the look-ups. */
#define APART(word) __asm__("" : "+r"(word))

/* Column c of the next state takes its row r from column c + r * step: ShiftRows for a step of 1,
 * its inverse for one of 3. */
#define ROW(state, c, r, step)                                                                     \
	row_index((uint8_t)((state)[((c) + (r) * (step)) % COLUMNS] >> 8 * (r)))

/* clang 14 needs an instruction less for an index than gcc 12, which kernels are usually built
 * with, and would outrun their driver by 6 to 9 %: this is the instruction. */
ALWAYS uint32_t row_index(uint32_t byte)
{
#ifdef __clang__
	APART(byte);
#endif
	return byte;
}

ALWAYS void full_round(uint32_t state[COLUMNS], const uint32_t table[4][256],
		       const uint32_t key[COLUMNS], int step)
{
	uint32_t next[COLUMNS];

#pragma GCC unroll 4
	for (int c = 0; c < COLUMNS; c++)
		next[c] = key[c] ^ table[0][ROW(state, c, 0, step)] ^
			  table[1][ROW(state, c, 1, step)] ^ table[2][ROW(state, c, 2, step)] ^
			  table[3][ROW(state, c, 3, step)];
#pragma GCC unroll 4
	for (int c = 0; c < COLUMNS; c++) {
		APART(next[c]);
		state[c] = next[c];
	}
}

/* Without MixColumns. */
ALWAYS void last_round(uint32_t state[COLUMNS], const uint8_t table[256],
		       const uint32_t key[COLUMNS], int step)
{
	uint32_t next[COLUMNS];

#pragma GCC unroll 4
	for (int c = 0; c < COLUMNS; c++)
		next[c] = key[c] ^
			  COLUMN(table[ROW(state, c, 0, step)], table[ROW(state, c, 1, step)],
				 table[ROW(state, c, 2, step)], table[ROW(state, c, 3, step)]);
	memcpy(state, next, sizeof(next));
}

ALWAYS void block(vec *v, const uint32_t key[AES_ROUNDS_MAX + 1][COLUMNS], unsigned rounds,
		  const uint32_t table[4][256], const uint8_t last[256], int step)
{
	uint32_t state[COLUMNS] = {(uint32_t)v->lo ^ key[0][0], (uint32_t)(v->lo >> 32) ^ key[0][1],
				   (uint32_t)v->hi ^ key[0][2],
				   (uint32_t)(v->hi >> 32) ^ key[0][3]};

	for (unsigned round = 1; round < rounds; round++)
		full_round(state, table, key[round], step);
	last_round(state, last, key[rounds], step);
	v->lo = state[0] | (uint64_t)state[1] << 32;
	v->hi = state[2] | (uint64_t)state[3] << 32;
}

/* A call for each block, as the kernel's templates make it. */
static __attribute__((noinline)) void pipe_encrypt(const struct schedule *k, vec v[PIPE])
{
	block(v, k->encrypt, k->rounds, mix, sbox, 1);
}

static __attribute__((noinline)) void pipe_decrypt(const struct schedule *k, vec v[PIPE])
{
	block(v, k->decrypt, k->rounds, unmix, inverse_sbox, 3);
}

static void cbc_encrypt_sector(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			       size_t size, const uint8_t *iv)
{
	vec v[PIPE] = {vec_load(iv)};

	for (size_t at = 0; at < size; at += AES_BLOCK) {
		v[0] = vec_xor(v[0], vec_load(src + at));
		pipe_encrypt(k, v);
		vec_store(dst + at, v[0]);
	}
}

#include "engine/modes_template.h"

const struct engine_tier engine_tier_table = {.name = "table", TIER_MODES};
