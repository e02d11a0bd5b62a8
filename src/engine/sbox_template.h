/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The AES S-box and its inverse as Boolean circuits, for bitslicing: q[i] holds bit i of as
 * many bytes as SBOX_WORD has bits, so there is no table and no branch, whatever the bytes
 * are.
 *
 * A template: define SBOX_WORD, an unsigned integer or a vector of them, and include this.
 *
 * Derivation. GF(2^8) is taken as a tower of quadratic extensions, each with a normal basis
 * {Y, Y^16}, {Z, Z^4}, {W, W^2} of trace 1 (after D. Canright, "A Very Compact S-Box for
 * AES", CHES 2005). For g = a Y + b Y^16 with a and b in GF(2^4), g^-1 = (b E) Y + (a E)
 * Y^16, where E = (a b + Y^17 (a + b)^2)^-1. Products in GF(2^4) are Karatsuba's, 9 AND
 * each, on the same 18 linear forms of the input; the inversion in GF(2^4) is the circuit
 * of 16 gates by J. Boyar and R. Peralta ("A New Combinational Logic Minimization Technique
 * with Applications to Cryptology", SEA 2010). All 128 such towers were searched for the
 * one whose linear layers, the affine map included, take the fewest XOR when shared
 * greedily: (W, Z, Y) = (0xbc, 0xe0, 0x42) forwards and (0xbc, 0x5c, 0xa2) backwards.
 * Either circuit has 118 gates.
 *
 * The constant 0x63 is left out: after ShiftRows and MixColumns, and before their inverses,
 * it is still 0x63 in each byte, so the round keys take it in.
 */

/* SubBytes without its constant: x -> A x^-1. */
static inline __attribute__((always_inline)) void sbox_forward(SBOX_WORD q[8])
{
	const SBOX_WORD x0 = q[0], x1 = q[1], x2 = q[2], x3 = q[3], x4 = q[4], x5 = q[5], x6 = q[6],
			x7 = q[7];
	const SBOX_WORD l0 = x4 ^ x5, l1 = x7 ^ l0, l2 = x0 ^ x5, l3 = x3 ^ l2, l4 = x0 ^ x2,
			l5 = x2 ^ x5, l6 = x4 ^ l1, l7 = x1 ^ x6, l8 = x7 ^ l7, l9 = l4 ^ l8,
			l10 = l3 ^ l9, l11 = x3 ^ l8, l12 = x4 ^ l11, l13 = x7 ^ l12,
			l14 = l0 ^ l13, l15 = x3 ^ l12, l16 = l5 ^ l13, l17 = x1 ^ l4,
			l18 = x5 ^ l17, l19 = l12 ^ l18, l20 = x7 ^ l18, l21 = x4 ^ l17,
			l22 = l3 ^ l18;
	const SBOX_WORD p0 = l19 & l2, p1 = l18 & l3, p2 = l12 & x3, p3 = l20 & l4, p4 = l21 & l9,
			p5 = l1 & l8, p6 = l13 & l5, p7 = l0 & l10, p8 = l14 & l11, t0 = p6 ^ p7,
			t1 = p6 ^ p8, t2 = l6 ^ t1, t3 = l22 ^ t1, t4 = p5 ^ l16, t5 = l15 ^ t0,
			t6 = p4 ^ t2, t7 = p5 ^ t6, t8 = p2 ^ t3, t9 = p3 ^ t0, t10 = p2 ^ t5,
			t11 = t4 ^ t9, t12 = p1 ^ t8, t13 = p0 ^ t10;
	const SBOX_WORD u0 = t12 ^ t13, u1 = t12 & t7, u2 = t11 ^ u1, u3 = u0 & u2, e3 = t13 ^ u3,
			u4 = t7 ^ t11, u5 = t13 ^ u1, u6 = u5 & u4, e1 = t11 ^ u6, u7 = t7 ^ e1,
			u8 = u2 ^ e1, u9 = t11 & u8, e0 = u9 ^ u7, u10 = u2 ^ u9, u11 = e3 & u10,
			e2 = u11 ^ u0, e4 = e1 ^ e0, e5 = e3 ^ e2, e6 = e1 ^ e3, e7 = e0 ^ e2,
			e8 = e6 ^ e7;
	const SBOX_WORD m0 = e1 & l19, m1 = e0 & l18, m2 = e4 & l12, m3 = e3 & l20, m4 = e2 & l21,
			m5 = e5 & l1, m6 = e6 & l13, m7 = e7 & l0, m8 = e8 & l14, m9 = e1 & l2,
			m10 = e0 & l3, m11 = e4 & x3, m12 = e3 & l4, m13 = e2 & l9, m14 = e5 & l8,
			m15 = e6 & l5, m16 = e7 & l10, m17 = e8 & l11;
	const SBOX_WORD s0 = m13 ^ m15, s1 = m8 ^ s0, s2 = m17 ^ s1, s3 = m14 ^ s2, s4 = m3 ^ m11,
			s5 = m2 ^ m6, s6 = m7 ^ s4, s7 = m0 ^ m7, s8 = m4 ^ s6, s9 = m5 ^ m6,
			s10 = s3 ^ s7, s11 = m4 ^ m8, s12 = m1 ^ s5, s13 = m12 ^ s8, s14 = m9 ^ s2,
			s15 = m2 ^ s10, s16 = m4 ^ s15, s17 = m1 ^ s10, s18 = m16 ^ s9,
			s19 = m3 ^ s11, s20 = m9 ^ m15, s21 = s12 ^ s13, s22 = m16 ^ s0,
			s23 = m0 ^ s19, s24 = s21 ^ s22, s25 = m10 ^ s24, s26 = s13 ^ s14,
			s27 = s6 ^ s18, s28 = s9 ^ s11, s29 = m5 ^ s16, s30 = s20 ^ s27,
			s31 = s3 ^ s12, s32 = s5 ^ s23;

	q[0] = s29;
	q[1] = s32;
	q[2] = s28;
	q[3] = s26;
	q[4] = s17;
	q[5] = s31;
	q[6] = s25;
	q[7] = s30;
}

/* InvSubBytes of a byte from which the constant was removed: x -> (A^-1 x)^-1. */
static inline __attribute__((always_inline)) void sbox_inverse(SBOX_WORD q[8])
{
	const SBOX_WORD x0 = q[0], x1 = q[1], x2 = q[2], x3 = q[3], x4 = q[4], x5 = q[5], x6 = q[6],
			x7 = q[7];
	const SBOX_WORD l0 = x1 ^ x4, l1 = x0 ^ x3, l2 = x7 ^ l1, l3 = x5 ^ l2, l4 = x2 ^ l2,
			l5 = l0 ^ l4, l6 = x7 ^ l5, l7 = x6 ^ l6, l8 = l2 ^ l7, l9 = x6 ^ l1,
			l10 = x1 ^ x5, l11 = x6 ^ l10, l12 = x0 ^ l11, l13 = l8 ^ l12,
			l14 = x5 ^ l13, l15 = l3 ^ l12, l16 = l6 ^ l11, l17 = l4 ^ l11,
			l18 = x7 ^ l17, l19 = l0 ^ l12, l20 = l11 ^ l14, l21 = l1 ^ l20,
			l22 = l19 ^ l20;
	const SBOX_WORD p0 = l8 & l5, p1 = l13 & l4, p2 = l12 & l0, p3 = l7 & l6, p4 = l14 & l11,
			p5 = l15 & l16, p6 = l2 & x7, p7 = x5 & l17, p8 = l3 & l18, t0 = p7 ^ p8,
			t1 = p6 ^ p7, t2 = p3 ^ t0, t3 = p0 ^ p2, t4 = p5 ^ t2, t5 = l9 ^ t4,
			t6 = p2 ^ l22, t7 = l21 ^ t3, t8 = p5 ^ l19, t9 = t1 ^ t8, t10 = t1 ^ t6,
			t11 = t0 ^ t7, t12 = p1 ^ t10, t13 = p4 ^ t9;
	const SBOX_WORD u0 = t11 ^ t12, u1 = t11 & t5, u2 = t13 ^ u1, u3 = u0 & u2, e3 = t12 ^ u3,
			u4 = t5 ^ t13, u5 = t12 ^ u1, u6 = u5 & u4, e1 = t13 ^ u6, u7 = t5 ^ e1,
			u8 = u2 ^ e1, u9 = t13 & u8, e0 = u9 ^ u7, u10 = u2 ^ u9, u11 = e3 & u10,
			e2 = u11 ^ u0, e4 = e0 ^ e1, e5 = e2 ^ e3, e6 = e0 ^ e2, e7 = e1 ^ e3,
			e8 = e6 ^ e7;
	const SBOX_WORD m0 = e0 & l8, m1 = e1 & l13, m2 = e4 & l12, m3 = e2 & l7, m4 = e3 & l14,
			m5 = e5 & l15, m6 = e6 & l2, m7 = e7 & x5, m8 = e8 & l3, m9 = e0 & l5,
			m10 = e1 & l4, m11 = e4 & l0, m12 = e2 & l6, m13 = e3 & l11, m14 = e5 & l16,
			m15 = e6 & x7, m16 = e7 & l17, m17 = e8 & l18;
	const SBOX_WORD s0 = m3 ^ m5, s1 = m0 ^ m12, s2 = s0 ^ s1, s3 = m13 ^ s2, s4 = m16 ^ m17,
			s5 = m7 ^ s4, s6 = m1 ^ m6, s7 = m9 ^ m10, s8 = m5 ^ m13, s9 = m15 ^ m17,
			s10 = s3 ^ s7, s11 = m14 ^ s5, s12 = m4 ^ s8, s13 = m2 ^ s9, s14 = m2 ^ m8,
			s15 = s0 ^ s14, s16 = m0 ^ m9, s17 = s7 ^ s11, s18 = m11 ^ s5,
			s19 = m7 ^ s10, s20 = m2 ^ s10, s21 = m1 ^ s13, s22 = s12 ^ s17,
			s23 = m6 ^ s22, s24 = s2 ^ s6, s25 = s6 ^ s15, s26 = s12 ^ s21,
			s27 = m12 ^ s26, s28 = s14 ^ s18, s29 = s11 ^ s24, s30 = s3 ^ s13,
			s31 = s16 ^ s28, s32 = s6 ^ s19;

	q[0] = s32;
	q[1] = s31;
	q[2] = s25;
	q[3] = s27;
	q[4] = s30;
	q[5] = s23;
	q[6] = s20;
	q[7] = s29;
}
