/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bitsliced cipher for few blocks at a time, for tier_portable.c alone: four for 64 bits of a
 * word, at half a full pipeline's price. What waits for one block (CBC encryption), or
 * has only a few (the IVs of a short call), goes this way.
 *
 * All rows are in one word here: state[bit], and within 64 bits bit 16 * row + 4 * column + block.
 * MixColumns is then rotations of whole words by multiples of 16, and ShiftRows moves each row's 16
 * bits within themselves.
 */
#define NARROW (HALVES * 4)

/* Bytes to every second byte, from the lowest. */
ALWAYS uint64_t spread_bytes(uint64_t column)
{
	column = (column | column << 16) & 0x0000ffff0000ffff;
	return (column | column << 8) & 0x00ff00ff00ff00ff;
}

ALWAYS uint64_t gather_bytes(uint64_t w)
{
	w &= 0x00ff00ff00ff00ff;
	w = (w | w >> 8) & 0x0000ffff0000ffff;
	return (w | w >> 16) & 0xffffffff;
}

/* Word `block` has the bytes of columns 0 and 2 by turns, word 4 + block those of 1 and 3; then a
 * byte's place in its word, and the word's number, are what is wanted of a bit's place. */
ALWAYS void narrow_pack(word q[BITS], const vec v[NARROW])
{
	uint64_t even[2], odd[2];

	for (int block = 0; block < 4; block++) {
		for (int half = 0; half < HALVES; half++) {
			const vec b = v[4 * half + block];

			even[half] = spread_bytes(b.lo & 0xffffffff) |
				     spread_bytes(b.hi & 0xffffffff) << 8;
			odd[half] = spread_bytes(b.lo >> 32) | spread_bytes(b.hi >> 32) << 8;
		}
		q[block] = WORD(even[0], even[HALVES - 1]);
		q[4 + block] = WORD(odd[0], odd[HALVES - 1]);
	}
	transpose_bits(q);
}

ALWAYS void narrow_unpack(vec v[NARROW], word q[BITS])
{
	transpose_bits(q);
	for (int block = 0; block < 4; block++) {
		for (int half = 0; half < HALVES; half++) {
			const uint64_t even = HALF(q[block], half), odd = HALF(q[4 + block], half);

			v[4 * half + block] = (vec){gather_bytes(even) | gather_bytes(odd) << 32,
						    gather_bytes(even >> 8) | gather_bytes(odd >> 8)
										      << 32};
		}
	}
}

/* The bits of w at mask, from n places higher and, wrapped within 16, from 16 - n lower. */
#define ROW(w, r, n)                                                                               \
	(((w) >> (n)&WORD((0xffffULL >> (n)) << 16 * (r), (0xffffULL >> (n)) << 16 * (r))) |       \
	 ((w) << (16 - (n)) & WORD((0xffffULL << (16 - (n)) & 0xffff) << 16 * (r),                 \
				   (0xffffULL << (16 - (n)) & 0xffff) << 16 * (r))))

ALWAYS word narrow_shift_rows(word w)
{
	return (w & WORD(0xffff, 0xffff)) | ROW(w, 1, 4) | ROW(w, 2, 8) | ROW(w, 3, 12);
}

#define ROTATE(w, n) ((w) >> (n) | (w) << (64 - (n)))

/* As mix_columns() in tier_portable.c: row r takes row r + 1 by a rotation. */
ALWAYS void narrow_mix_columns(word q[BITS], const word key[BITS])
{
	word next, sum, carry, top = q[BITS - 1] ^ ROTATE(q[BITS - 1], 16);

	carry = top;
#pragma GCC unroll 8
	for (int bit = 0; bit < BITS; bit++) {
		next = ROTATE(q[bit], 16);
		sum = q[bit] ^ next;
		if (bit == 1 || bit == 3 || bit == 4)
			carry ^= top;
		q[bit] = carry ^ next ^ ROTATE(sum, 32) ^ key[bit];
		carry = sum;
	}
}

static __attribute__((noinline)) void narrow_encrypt(const struct schedule *k, vec v[NARROW])
{
	word q[BITS];

	narrow_pack(q, v);
	for (int bit = 0; bit < BITS; bit++)
		q[bit] ^= k->narrow[0][bit];
	for (unsigned round = 1;; round++) {
		sbox_forward(q);
#pragma GCC unroll 8
		for (int bit = 0; bit < BITS; bit++)
			q[bit] = narrow_shift_rows(q[bit]);
		if (round == k->rounds)
			break;
		narrow_mix_columns(q, k->narrow[round]);
	}
	for (int bit = 0; bit < BITS; bit++)
		q[bit] ^= k->narrow[k->rounds][bit];
	narrow_unpack(v, q);
}
