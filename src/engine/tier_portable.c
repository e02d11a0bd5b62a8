// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES bitsliced in plain C: constant time on any architecture and byte order.
 *
 * Many blocks at once, each bit of a byte in a word of its own, so that SubBytes is a Boolean
 * circuit. The rows of the state are in words of their own too: state[row][bit], and within 64 bits
 * of such a word bit 16 * column + 8 * (block >= 8) + block % 8. So ShiftRows is one rotation of
 * a word by a multiple of 16, and MixColumns, which mixes rows, moves nothing at all. The price is
 * 16 blocks for 64 bits, instead of the usual 4: no loss on disk sectors, which have at least 32.
 */
#include "engine/tier.h"

#include "engine/vec_words.h"

/* Where the architecture's baseline has 128-bit vectors, a word is two independent 64-bit halves:
 * the compiler's generic vectors, no instruction set of ours. */
#if (defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__)) && !defined(PORTABLE_SCALAR)
#define HALVES 2
typedef uint64_t word __attribute__((vector_size(16)));
#define WORD(a, b) ((word){a, b})
#define HALF(w, i) ((w)[i])
#else
#define HALVES     1
typedef uint64_t word;
#define WORD(a, b) (a)
#define HALF(w, i) (w)
#endif

#define SBOX_WORD word
#include "engine/sbox_template.h"

#define ROWS      4
#define BITS      8
#define HALF_PIPE 16 /* blocks for 64 bits of a word */
#define PIPE      (HALVES * HALF_PIPE)

struct schedule {
	word key[AES_ROUNDS_MAX + 1][ROWS][BITS];
	word narrow[AES_ROUNDS_MAX + 1][BITS]; /* see bitslice_narrow.h */
	unsigned rounds;
};

static void make_schedule(void *to, const struct aes_schedule *from)
{
	struct schedule *k = to;
	uint64_t bits;
	uint8_t byte;

	memset(k, 0, sizeof(*k));
	k->rounds = from->rounds;
	for (unsigned round = 0; round <= k->rounds; round++) {
		for (int row = 0; row < ROWS; row++) {
			for (int bit = 0; bit < BITS; bit++) {
				bits = 0;
				for (int col = 0; col < 4; col++) {
					/* The S-box's constant: see sbox_template.h. */
					byte = from->key[round][4 * col + row] ^ (round ? 0x63 : 0);
					bits |= (uint64_t)(byte >> bit & 1) * 0xffff << 16 * col;
					k->narrow[round][bit] |= WORD(1, 1) *
								 ((uint64_t)(byte >> bit & 1) * 0xf
								  << (16 * row + 4 * col));
				}
				k->key[round][row][bit] = WORD(bits, bits);
			}
		}
	}
}

/* Exchanges the bits of a at mask << n with those of b at mask. */
#define EXCHANGE(a, b, mask, n)                                                                    \
	do {                                                                                       \
		const word t_ = ((a) >> (n) ^ (b)) & WORD(mask, mask);                             \
		(b) ^= t_;                                                                         \
		(a) ^= t_ << (n);                                                                  \
	} while (0)

/* Between bytes and bit planes, and back: an 8 × 8 transposition in each byte position. */
ALWAYS void transpose_bits(word q[BITS])
{
	for (int i = 0; i < BITS; i += 2)
		EXCHANGE(q[i], q[i + 1], 0x5555555555555555, 1);
	for (int i = 0; i < BITS; i++)
		if (!(i & 2))
			EXCHANGE(q[i], q[i + 2], 0x3333333333333333, 2);
	for (int i = 0; i < BITS / 2; i++)
		EXCHANGE(q[i], q[i + 4], 0x0f0f0f0f0f0f0f0f, 4);
}

/*
 * Each pair of blocks k, k + 8 is four words of 8 bytes, a byte's number in them being block,
 * column (2 bits), row (2 bits). Three exchanges, each of one bit of the word's number with one of
 * the byte's number, sort them into words of one row, in the order column, block.
 */
static void pack(word state[ROWS][BITS], const vec v[PIPE])
{
	const word low = WORD(0xffffffff, 0xffffffff);
	word x[2][2], a, b;

	for (int i = 0; i < BITS; i++) {
		for (int block = 0; block < 2; block++) {
			a = WORD(v[i + 8 * block].lo, v[PIPE - HALF_PIPE + i + 8 * block].lo);
			b = WORD(v[i + 8 * block].hi, v[PIPE - HALF_PIPE + i + 8 * block].hi);
			x[block][0] = (a & low) | b << 32;
			x[block][1] = a >> 32 | (b & ~low);
			EXCHANGE(x[block][0], x[block][1], 0x0000ffff0000ffff, 16);
		}
		EXCHANGE(x[0][0], x[1][0], 0x00ff00ff00ff00ff, 8);
		EXCHANGE(x[0][1], x[1][1], 0x00ff00ff00ff00ff, 8);
		state[0][i] = x[0][0];
		state[1][i] = x[1][0];
		state[2][i] = x[0][1];
		state[3][i] = x[1][1];
	}
	for (int row = 0; row < ROWS; row++)
		transpose_bits(state[row]);
}

static void unpack(vec v[PIPE], word state[ROWS][BITS])
{
	const word low = WORD(0xffffffff, 0xffffffff);
	word x[2][2], a, b;

	for (int row = 0; row < ROWS; row++)
		transpose_bits(state[row]);
	for (int i = 0; i < BITS; i++) {
		x[0][0] = state[0][i];
		x[1][0] = state[1][i];
		x[0][1] = state[2][i];
		x[1][1] = state[3][i];
		EXCHANGE(x[0][0], x[1][0], 0x00ff00ff00ff00ff, 8);
		EXCHANGE(x[0][1], x[1][1], 0x00ff00ff00ff00ff, 8);
		for (int block = 0; block < 2; block++) {
			EXCHANGE(x[block][0], x[block][1], 0x0000ffff0000ffff, 16);
			a = (x[block][0] & low) | x[block][1] << 32;
			b = x[block][0] >> 32 | (x[block][1] & ~low);
			for (int half = 0; half < HALVES; half++) {
				v[HALF_PIPE * half + i + 8 * block].lo = HALF(a, half);
				v[HALF_PIPE * half + i + 8 * block].hi = HALF(b, half);
			}
		}
	}
}

/* Column c takes the bits of column c + columns. */
ALWAYS word rotate(word w, int columns)
{
	return columns % 4 ? w >> 16 * (columns % 4) | w << (64 - 16 * (columns % 4)) : w;
}

ALWAYS void add_key(word state[ROWS][BITS], const word key[ROWS][BITS])
{
	for (int row = 0; row < ROWS; row++)
		for (int bit = 0; bit < BITS; bit++)
			state[row][bit] ^= key[row][bit];
}

/* MixColumns as a_r' = x (a_r + a_r+1) + a_r+1 + a_r+2 + a_r+3, bit by bit, with the multiplication
 * by x being the next lower bit, and bit 7 coming back at 0, 1, 3 and 4 (x^8 = 0x1b). `rows` is 1
 * to do ShiftRows on the way, else 0. The round key is added. */
ALWAYS void mix_columns(word state[ROWS][BITS], const word key[ROWS][BITS], int rows)
{
	word a[ROWS], sum[ROWS], carry[ROWS], top[ROWS];

#pragma GCC unroll 4
	for (int r = 0; r < ROWS; r++)
		top[r] = carry[r] = rotate(state[r][7], rows * r) ^
				    rotate(state[(r + 1) % ROWS][7], rows * ((r + 1) % ROWS));
#pragma GCC unroll 8
	for (int bit = 0; bit < BITS; bit++) {
#pragma GCC unroll 4
		for (int r = 0; r < ROWS; r++)
			a[r] = rotate(state[r][bit], rows * r);
#pragma GCC unroll 4
		for (int r = 0; r < ROWS; r++) {
			sum[r] = a[r] ^ a[(r + 1) % ROWS];
			if (bit == 1 || bit == 3 || bit == 4)
				carry[r] ^= top[r];
		}
#pragma GCC unroll 4
		for (int r = 0; r < ROWS; r++) {
			state[r][bit] = carry[r] ^ a[(r + 1) % ROWS] ^ sum[(r + 2) % ROWS] ^
					key[r][bit];
			carry[r] = sum[r];
		}
	}
}

/* InvMixColumns is MixColumns after a_r += x^2 (a_r + a_r+2): 0e 0b 0d 09 is the product of
 * 02 03 01 01 and 05 00 04 00. */
ALWAYS void unmix_columns(word state[ROWS][BITS])
{
	static const word none[ROWS][BITS];
	word s[BITS + 2];

	for (int r = 0; r < 2; r++) {
#pragma GCC unroll 8
		for (int bit = 0; bit < BITS; bit++)
			s[bit + 2] = state[r][bit] ^ state[r + 2][bit];
		/* Times x^2, with x^8 and x^9 reduced. */
		s[0] = s[8];
		s[1] = s[8] ^ s[9];
		s[2] ^= s[9];
		s[3] ^= s[8];
		s[4] ^= s[8] ^ s[9];
		s[5] ^= s[9];
#pragma GCC unroll 8
		for (int bit = 0; bit < BITS; bit++) {
			state[r][bit] ^= s[bit];
			state[r + 2][bit] ^= s[bit];
		}
	}
	mix_columns(state, none, 0);
}

static __attribute__((noinline)) void pipe_encrypt(const struct schedule *k, vec v[PIPE])
{
	word state[ROWS][BITS];

	pack(state, v);
	add_key(state, k->key[0]);
	for (unsigned round = 1; round < k->rounds; round++) {
		for (int row = 0; row < ROWS; row++)
			sbox_forward(state[row]);
		mix_columns(state, k->key[round], 1);
	}
	for (int row = 0; row < ROWS; row++) {
		sbox_forward(state[row]);
		for (int bit = 0; bit < BITS; bit++)
			state[row][bit] = rotate(state[row][bit], row);
	}
	add_key(state, k->key[k->rounds]);
	unpack(v, state);
}

static __attribute__((noinline)) void pipe_decrypt(const struct schedule *k, vec v[PIPE])
{
	word state[ROWS][BITS];

	pack(state, v);
	add_key(state, k->key[k->rounds]);
	for (unsigned round = k->rounds - 1;; round--) {
		for (int row = 0; row < ROWS; row++) {
			for (int bit = 0; bit < BITS; bit++)
				state[row][bit] = rotate(state[row][bit], ROWS - row);
			sbox_inverse(state[row]);
		}
		add_key(state, k->key[round]);
		if (round == 0)
			break;
		unmix_columns(state);
	}
	unpack(v, state);
}

#include "engine/bitslice_narrow.h"

/* A full pipeline takes as long as two narrow ones. */
#define LANES(use) use(NARROW, n <= NARROW) use(PIPE, true)
#define LANES_MAX  PIPE

ALWAYS void lanes_encrypt(const struct schedule *k, vec *v, size_t n)
{
	if (n > NARROW)
		pipe_encrypt(k, v);
	else
		narrow_encrypt(k, v);
}

#define ivs_encrypt(k, v, n) lanes_encrypt(k, v, n)

/* A block waits for the one before it: the price is that of NARROW blocks. */
static void cbc_encrypt_sector(const struct schedule *k, uint8_t *dst, const uint8_t *src,
			       size_t size, const uint8_t *iv)
{
	vec v[NARROW] = {{0}};

	v[0] = vec_load(iv);
	for (size_t at = 0; at < size; at += AES_BLOCK) {
		v[0] = vec_xor(v[0], vec_load(src + at));
		narrow_encrypt(k, v);
		vec_store(dst + at, v[0]);
	}
}

#include "engine/modes_template.h"

const struct engine_tier engine_tier_portable = {.name = "portable", TIER_MODES};
