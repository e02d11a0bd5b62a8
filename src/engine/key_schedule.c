// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/key_schedule.h"

#include <string.h>

#define SBOX_WORD uint32_t
#include "engine/sbox_template.h"

#define WORD_BYTES 4

/* SubWord() and RotWord() of FIPS 197 on four bytes. The S-box circuit works on bit planes, so the
 * bytes are taken apart and put together again; a table look-up would tell the key to the cache. */
static void sub_word(uint8_t word[WORD_BYTES], int rotate)
{
	uint32_t plane[8];
	uint8_t out[WORD_BYTES];

	for (int bit = 0; bit < 8; bit++) {
		plane[bit] = 0;
		for (int i = 0; i < WORD_BYTES; i++)
			plane[bit] |= (uint32_t)(word[i] >> bit & 1) << i;
	}
	sbox_forward(plane);
	for (int i = 0; i < WORD_BYTES; i++) {
		out[i] = 0x63;
		for (int bit = 0; bit < 8; bit++)
			out[i] ^= (uint8_t)((plane[bit] >> i & 1) << bit);
	}
	for (int i = 0; i < WORD_BYTES; i++)
		word[i] = out[(i + rotate) % WORD_BYTES];
	explicit_bzero(plane, sizeof(plane));
	explicit_bzero(out, sizeof(out));
}

void aes_expand(struct aes_schedule *schedule, const uint8_t *key, size_t key_len)
{
	const size_t nk = key_len / WORD_BYTES;
	uint8_t(*w)[WORD_BYTES] = (uint8_t(*)[WORD_BYTES])schedule->key;
	uint8_t t[WORD_BYTES];
	uint8_t rcon = 1;

	schedule->rounds = AES_ROUNDS(8 * (unsigned)key_len);
	memcpy(w, key, key_len);
	for (size_t i = nk; i < 4 * (schedule->rounds + 1); i++) {
		memcpy(t, w[i - 1], WORD_BYTES);
		if (i % nk == 0) {
			sub_word(t, 1);
			t[0] ^= rcon;
			rcon = (uint8_t)(rcon << 1 ^ (rcon >> 7) * 0x1b);
		} else if (nk > 6 && i % nk == 4) {
			sub_word(t, 0);
		}
		for (int b = 0; b < WORD_BYTES; b++)
			w[i][b] = w[i - nk][b] ^ t[b];
	}
	explicit_bzero(t, sizeof(t));
}
