/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AES-GCM on x86, written once. A tier file sets the target, defines vec, VEC_BLOCKS, PIPE and the
 * primitives below, and then includes this; it gives set_key() and crypt().
 *
 *   vec_load, vec_store, vec_xor
 *   vec_key(key)              a block for each of the vector's
 *   vec_aesenc(v, key), vec_aesenclast(v, key)
 *   vec_clmul(a, b, imm)      of each block's halves
 *   vec_shuffle(v, mask)      bytes within each block
 *   vec_add32(a, b)
 *   vec_first(block)          the block, then zeros
 *   vec_zero
 *   vec_sum(v)                the blocks' exclusive or
 *
 * GHASH on blocks with their bytes turned round: SP 800-38D's bit order is then that of the
 * multiplier but for one place, which the powers of H are shifted by once and for all. A product of
 * 256 bits is brought down by two multiplications with the field's polynomial (Gueron & Kounavis,
 * "Intel Carry-Less Multiplication Instruction and its Usage for Computing the GCM Mode", 2014). Of
 * the blocks of a pipeline, each times its power of H, the sum is brought down: once.
 */
#include <stdalign.h>
#include <string.h>

#include "engine/tier.h"

#define ALWAYS     static inline __attribute__((always_inline))
#define VEC_BYTES  ((size_t)VEC_BLOCKS * AES_BLOCK)
#define BLOCKS     (VEC_BLOCKS * PIPE)
#define PIPE_BYTES ((size_t)BLOCKS * AES_BLOCK)
#define UNROLL     UNROLL_ALL

struct gcm_key {
	__m128i round[AES_ROUNDS_MAX + 1];
	alignas(TIER_ALIGN) __m128i power[BLOCKS]; /* of H, the highest first */
	unsigned rounds;
};

ALWAYS __m128i load(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

ALWAYS __m128i turned(__m128i block)
{
	return _mm_shuffle_epi8(block,
				_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* low, middle and high of a product, or of a sum of them. */
ALWAYS __m128i bring_down(__m128i low, __m128i middle, __m128i high)
{
	const __m128i polynomial = _mm_set_epi64x(0, (long long)0xc200000000000000);

	middle = _mm_xor_si128(middle, _mm_shuffle_epi32(low, 0x4e));
	middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(low, polynomial, 0x00));
	high = _mm_xor_si128(high, _mm_shuffle_epi32(middle, 0x4e));
	return _mm_xor_si128(high, _mm_clmulepi64_si128(middle, polynomial, 0x00));
}

ALWAYS __m128i multiply(__m128i a, __m128i b)
{
	return bring_down(
		_mm_clmulepi64_si128(a, b, 0x00),
		_mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10)),
		_mm_clmulepi64_si128(a, b, 0x11));
}

ALWAYS __m128i encrypt_block(const struct gcm_key *k, __m128i v)
{
	v = _mm_xor_si128(v, k->round[0]);
	for (unsigned r = 1; r < k->rounds; r++)
		v = _mm_aesenc_si128(v, k->round[r]);
	return _mm_aesenclast_si128(v, k->round[k->rounds]);
}

static void set_key(void *to, const struct aes_schedule *from)
{
	struct gcm_key *k = to;
	__m128i h, carry;

	k->rounds = from->rounds;
	for (unsigned i = 0; i <= from->rounds; i++)
		k->round[i] = load(from->key[i]);
	h = turned(encrypt_block(k, _mm_setzero_si128()));
	/* Times x: a shift to the left, and what leaves comes in as the polynomial. */
	carry = _mm_srai_epi32(_mm_shuffle_epi32(h, 0xff), 31);
	h = _mm_or_si128(_mm_slli_epi64(h, 1), _mm_slli_si128(_mm_srli_epi64(h, 63), 8));
	h = _mm_xor_si128(h,
			  _mm_and_si128(carry, _mm_set_epi64x((long long)0xc200000000000000, 1)));
	k->power[BLOCKS - 1] = h;
	for (size_t i = BLOCKS - 1; i > 0; i--)
		k->power[i - 1] = multiply(k->power[i], h);
}

/* Takes in up to a pipeline's bytes of associated data, the last block filled with zeros. */
ALWAYS __m128i hash_part(const struct gcm_key *k, __m128i sum, const uint8_t *data, size_t len)
{
	const size_t blocks = (len + AES_BLOCK - 1) / AES_BLOCK;
	__m128i low = _mm_setzero_si128(), middle = low, high = low;

	for (size_t i = 0; i < blocks; i++) {
		uint8_t last[AES_BLOCK] = {0};
		__m128i x, h = k->power[BLOCKS - blocks + i];

		if (len - i * AES_BLOCK < AES_BLOCK) {
			memcpy(last, data + i * AES_BLOCK, len - i * AES_BLOCK);
			x = turned(load(last));
		} else {
			x = turned(load(data + i * AES_BLOCK));
		}
		x = i ? x : _mm_xor_si128(x, sum);
		low = _mm_xor_si128(low, _mm_clmulepi64_si128(x, h, 0x00));
		middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(x, h, 0x01));
		middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(x, h, 0x10));
		high = _mm_xor_si128(high, _mm_clmulepi64_si128(x, h, 0x11));
	}
	return bring_down(low, middle, high);
}

ALWAYS __m128i hash_aad(const struct gcm_key *k, const uint8_t *aad, size_t len)
{
	__m128i sum = _mm_setzero_si128();
	size_t part;

	for (; len; aad += part, len -= part) {
		part = len < PIPE_BYTES ? len : PIPE_BYTES;
		sum = hash_part(k, sum, aad, part);
	}
	return sum;
}

/* A product, or the sum of several, before it is brought down. */
struct product {
	vec low, middle, high;
};

/* Adds the i-th vector of a pipeline of ciphertext. */
ALWAYS void take(struct product *p, const struct gcm_key *k, size_t i, vec x)
{
	const vec h = vec_load((const uint8_t *)k->power + i * VEC_BYTES);

	p->low = vec_xor(p->low, vec_clmul(x, h, 0x00));
	p->middle = vec_xor(p->middle, vec_clmul(x, h, 0x01));
	p->middle = vec_xor(p->middle, vec_clmul(x, h, 0x10));
	p->high = vec_xor(p->high, vec_clmul(x, h, 0x11));
}

ALWAYS vec turn_mask(void)
{
	return vec_key(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

ALWAYS __m128i hash_pipe(const struct gcm_key *k, __m128i sum, const uint8_t *cipher)
{
	struct product p = {vec_zero, vec_zero, vec_zero};

	UNROLL
	for (size_t i = 0; i < PIPE; i++) {
		vec x = vec_shuffle(vec_load(cipher + i * VEC_BYTES), turn_mask());

		take(&p, k, i, i ? x : vec_xor(x, vec_first(sum)));
	}
	return bring_down(vec_sum(p.low), vec_sum(p.middle), vec_sum(p.high));
}

ALWAYS void first_round(const struct gcm_key *k, vec *v, vec counter)
{
	const vec step = vec_key(_mm_set_epi32(0, 0, 0, VEC_BLOCKS));

	UNROLL
	for (size_t i = 0; i < PIPE; i++) {
		v[i] = vec_xor(vec_shuffle(counter, turn_mask()), vec_key(k->round[0]));
		counter = vec_add32(counter, step);
	}
}

ALWAYS void one_round(const struct gcm_key *k, vec *v, unsigned r)
{
	const vec key = vec_key(k->round[r]);

	UNROLL
	for (size_t i = 0; i < PIPE; i++)
		v[i] = vec_aesenc(v[i], key);
}

ALWAYS void last_rounds(const struct gcm_key *k, vec *v, unsigned from)
{
	for (unsigned r = from; r < k->rounds; r++)
		one_round(k, v, r);
	UNROLL
	for (size_t i = 0; i < PIPE; i++)
		v[i] = vec_aesenclast(v[i], vec_key(k->round[k->rounds]));
}

_Static_assert(PIPE < 10, "AES-128 has a round for each vector that is hashed meanwhile");

/* The key stream of a pipeline of counters, whose bytes are turned round; between its rounds, which
 * take the AES units, a pipeline of ciphertext is hashed, which takes the multiplier. */
ALWAYS __m128i stream_and_hash(const struct gcm_key *k, vec *v, vec counter, __m128i sum,
			       const uint8_t *cipher)
{
	struct product p = {vec_zero, vec_zero, vec_zero};

	first_round(k, v, counter);
	UNROLL
	for (unsigned i = 0; i < PIPE; i++) {
		vec x = vec_shuffle(vec_load(cipher + i * VEC_BYTES), turn_mask());

		one_round(k, v, i + 1);
		take(&p, k, i, i ? x : vec_xor(x, vec_first(sum)));
	}
	last_rounds(k, v, PIPE + 1);
	return bring_down(vec_sum(p.low), vec_sum(p.middle), vec_sum(p.high));
}

/* Whole pipelines; returns how many bytes that was. What is encrypted is hashed a pipeline later,
 * when it is there; what is decrypted, at once, before it is overwritten. */
ALWAYS size_t crypt_pipes(const struct gcm_key *k, const struct gcm_job *job, bool encrypt,
			  __m128i first, __m128i *sum)
{
	alignas(TIER_ALIGN) uint32_t numbers[VEC_BLOCKS][4] = {{0}};
	const vec step = vec_key(_mm_set_epi32(0, 0, 0, BLOCKS));
	vec counter, v[PIPE];
	size_t at = 0;

	for (unsigned i = 0; i < VEC_BLOCKS; i++)
		numbers[i][0] = i;
	counter = vec_add32(vec_key(first), vec_load((const uint8_t *)numbers));
	for (; at + PIPE_BYTES <= job->len; at += PIPE_BYTES) {
		if (!encrypt) {
			*sum = stream_and_hash(k, v, counter, *sum, job->src + at);
		} else if (at) {
			*sum = stream_and_hash(k, v, counter, *sum, job->dst + at - PIPE_BYTES);
		} else {
			first_round(k, v, counter);
			last_rounds(k, v, 1);
		}
		counter = vec_add32(counter, step);
		UNROLL
		for (size_t i = 0; i < PIPE; i++)
			vec_store(job->dst + at + i * VEC_BYTES,
				  vec_xor(v[i], vec_load(job->src + at + i * VEC_BYTES)));
	}
	if (encrypt && at)
		*sum = hash_pipe(k, *sum, job->dst + at - PIPE_BYTES);
	return at;
}

/* What is less than a pipeline, or all of it one by one. */
static __m128i crypt_rest(const struct gcm_key *k, const struct gcm_job *job, size_t at,
			  __m128i counter, __m128i sum)
{
	uint8_t block[AES_BLOCK];
	__m128i in, out;
	size_t n;

	for (; at < job->len; at += n) {
		n = job->len - at < AES_BLOCK ? job->len - at : AES_BLOCK;
		memset(block, 0, sizeof(block));
		memcpy(block, job->src + at, n);
		in = load(block);
		out = _mm_xor_si128(in, encrypt_block(k, turned(counter)));
		counter = _mm_add_epi32(counter, _mm_set_epi32(0, 0, 0, 1));
		_mm_storeu_si128((__m128i *)block, out);
		memset(block + n, 0, sizeof(block) - n);
		memcpy(job->dst + at, block, n);
		sum = _mm_xor_si128(sum, turned(job->encrypt ? load(block) : in));
		sum = multiply(sum, k->power[BLOCKS - 1]);
	}
	explicit_bzero(block, sizeof(block));
	return sum;
}

static void crypt(const void *key, const struct gcm_job *job)
{
	const struct gcm_key *k = key;
	uint8_t j0[AES_BLOCK] = {[AES_BLOCK - 1] = 1};
	__m128i counter, sum, mask;
	size_t done = 0;

	memcpy(j0, job->iv, GCM_IV);
	mask = encrypt_block(k, load(j0));
	counter = _mm_add_epi32(turned(load(j0)), _mm_set_epi32(0, 0, 0, 1));
	sum = hash_aad(k, job->aad, job->aad_len);
	if (!job->one_by_one)
		done = job->encrypt ? crypt_pipes(k, job, true, counter, &sum)
				    : crypt_pipes(k, job, false, counter, &sum);
	if (done < job->len)
		sum = crypt_rest(
			k, job, done,
			_mm_add_epi32(counter, _mm_set_epi32(0, 0, 0, (int)(done / AES_BLOCK))),
			sum);
	sum = _mm_xor_si128(
		sum, _mm_set_epi64x((long long)(job->aad_len * 8), (long long)(job->len * 8)));
	sum = multiply(sum, k->power[BLOCKS - 1]);
	_mm_storeu_si128((__m128i *)job->tag, _mm_xor_si128(turned(sum), mask));
}
