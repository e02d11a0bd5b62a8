// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/vectors.h"

#include <string.h>

/* IEEE 1619: digits of e and pi. */
#define KEYS_XTS128 "2718281828459045235360287471352631415926535897932384626433832795"
#define KEYS_XTS256                                                                                \
	"2718281828459045235360287471352662497757247093699959574966967627"                         \
	"3141592653589793238462643383279502884197169399375105820974944592"
#define FOURS "4444444444444444444444444444444444444444444444444444444444444444"
/* SP 800-38A's four blocks, the first with the IV 000102…0f added: at sector 0 dm-crypt's plain64
 * IV is zero, and CBC adds the IV to the first block. */
#define SP800_38A_PLAIN                                                                            \
	"6bc0bce12a459991e134741a7f9e1925ae2d8a571e03ac9c9eb76fac45af8e51"                         \
	"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"

const struct engine_vector engine_vectors[] = {
	/* IEEE 1619-2007, annex B. */
	{
		.name = "IEEE 1619 vector 2",
		.mode = "xts",
		.iv = "plain64",
		.key = "1111111111111111111111111111111122222222222222222222222222222222",
		.sector = 0x3333333333,
		.plain = FOURS,
		.cipher = "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
	},
	{
		.name = "IEEE 1619 vector 3",
		.mode = "xts",
		.iv = "plain64",
		.key = "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f022222222222222222222222222222222",
		.sector = 0x3333333333,
		.plain = FOURS,
		.cipher = "af85336b597afc1a900b2eb21ec949d292df4c047e0b21532186a5971a227a89",
	},
	{
		.name = "IEEE 1619 vector 4",
		.mode = "xts",
		.iv = "plain64",
		.key = KEYS_XTS128,
		.sector = 0,
		.cipher = "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89c",
		.digest = "ebee4d64dd2395bb2d6a2d37a0a48ecb2bf4913cfc99d27c2214f2f4144715ea",
	},
	{
		.name = "IEEE 1619 vector 10",
		.mode = "xts",
		.iv = "plain64",
		.key = KEYS_XTS256,
		.sector = 0xff,
		.cipher = "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b",
		.digest = "e97e974fa393af794f7a4684395814cf820de60a01eaec677d87b452e316b364",
	},
	{
		.name = "IEEE 1619 vector 11",
		.mode = "xts",
		.iv = "plain64",
		.key = KEYS_XTS256,
		.sector = 0xffff,
		.cipher = "77a31251618a15e6b92d1d66dffe7b50b50bad552305ba0217a610688eff7e11",
		.digest = "def4fad29e95dfe1a24b1ad4620f86d7be094cced5b19e0b121aa82d9e6baf98",
	},
	{
		.name = "IEEE 1619 vector 14",
		.mode = "xts",
		.iv = "plain64",
		.key = KEYS_XTS256,
		.sector = 0xffffffffff,
		.cipher = "64497e5a831e4a932c09be3e5393376daa599548b816031d224bbf50a818ed23",
		.digest = "afba71abc4e95b186d89a63a5437c1bafcfd1a18ca273970c534aba4f8d05282",
	},
	/* NIST CAVP, XTSTestVectors.zip, "format tweak value input - data unit seq no", count 1 of
	 * XTSGenAES128.rsp and the first of 256 bits of XTSGenAES256.rsp. */
	{
		.name = "NIST CAVP XTSGenAES128",
		.mode = "xts",
		.iv = "plain64",
		.key = "a3e40d5bd4b6bbedb2d18c700ad2db2210c81190646d673cbca53f133eab373c",
		.sector = 141,
		.plain = "20e0719405993f09a66ae5bb500e562c",
		.cipher = "74623551210216ac926b9650b6d3fa52",
	},
	{
		.name = "NIST CAVP XTSGenAES256",
		.mode = "xts",
		.iv = "plain64",
		.key = "ef010ca1a3663e32534349bc0bae62232a1573348568fb9ef41768a7674f507a"
		       "727f98755397d0e0aa32f830338cc7a926c773f09e57b357cd156afbca46e1a0",
		.sector = 187,
		.plain = "ed98e01770a853b49db9e6aaf88f0a41b9b56e91a5a2b11d40529254f5523e75",
		.cipher = "ca20c55e8dc149687d2541de39c3df6300bb5a163c10ced3666b1357db8bd39d",
	},
	/* NIST SP 800-38A, F.2.1, F.2.3 and F.2.5. */
	{
		.name = "SP 800-38A CBC-AES128",
		.mode = "cbc",
		.iv = "plain64",
		.key = "2b7e151628aed2a6abf7158809cf4f3c",
		.plain = SP800_38A_PLAIN,
		.cipher = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
			  "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
	},
	{
		.name = "SP 800-38A CBC-AES192",
		.mode = "cbc",
		.iv = "plain64",
		.key = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
		.plain = SP800_38A_PLAIN,
		.cipher = "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
			  "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
	},
	{
		.name = "SP 800-38A CBC-AES256",
		.mode = "cbc",
		.iv = "plain64",
		.key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
		.plain = SP800_38A_PLAIN,
		.cipher = "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
			  "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
	},
	/* No standard has ESSIV: made with OpenSSL from dm-crypt's definition, as test-engine.c
	 * does again. */
	{
		.name = "CBC-ESSIV AES128",
		.mode = "cbc",
		.iv = "essiv:sha256",
		.key = "000102030405060708090a0b0c0d0e0f",
		.sector = 0x0123456789abcdef,
		.cipher = "90cf4cc2e9eb399a6700ec3f731cfd14c4cbae1091d1f34c1032a9afd7f8e230",
		.digest = "e0b2368856f6628bd040fb9d3860b3e78cc0042a110ddfb77f3f8c16ceb52ad0",
	},
	{
		.name = "CBC-ESSIV AES256",
		.mode = "cbc",
		.iv = "essiv:sha256",
		.key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		.sector = 0x0123456789abcdef,
		.cipher = "cbb1ab69cf7aa62aeb89c98a11e6037869f2993c0f1f10bb63786d8098fc156c",
		.digest = "da4f38f95c1eddaf53bd8dca66acee2b505b006c1396dd01d7d54067b8d43244",
	},
	{.name = NULL},
};

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

size_t vector_bytes(uint8_t *to, size_t size, const char *hex)
{
	size_t n = strlen(hex) / 2;

	if (n > size)
		n = size;
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	return n;
}

void vector_plain(uint8_t sector[VECTOR_SECTOR], const struct engine_vector *vector)
{
	memset(sector, 0, VECTOR_SECTOR);
	if (vector->plain) {
		vector_bytes(sector, VECTOR_SECTOR, vector->plain);
		return;
	}
	for (size_t i = 0; i < VECTOR_SECTOR; i++)
		sector[i] = (uint8_t)i;
}
