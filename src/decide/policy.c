// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/policy.h"

#include <string.h>

/*
 * Margins: AES-128 does 10 rounds where AES-256 does 14, so that a CPU with nothing else to do is
 * 1.4 times faster with the weaker key; `balanced` asks for more than that before it gives up half
 * the strength. CBC is malleable, and its encryption is serial; `balanced` takes it only where XTS
 * would halve the speed, as on engines that accelerate CBC alone. Serpent, Twofish and Camellia are
 * as strong as AES, but fewer kernels and initramfs have them, and few people look at their code:
 * a small gain is not worth that. Read share: the common figure for general-purpose volumes, 70 %
 * reads (SNIA's and fio's mixed profiles).
 */
#define BALANCED                                                                                   \
	{                                                                                          \
		[SPEC_CLASS_XTS128] = 1.5, [SPEC_CLASS_CBC] = 2.0                                  \
	}
#define PERFORMANCE                                                                                \
	{                                                                                          \
		[SPEC_CLASS_XTS128] = 1.1, [SPEC_CLASS_CBC] = 1.25                                 \
	}
#define STRICT                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}

const struct policy policies[] = {
	{"balanced", "strength first, unless it costs a third (AES-128) or half (CBC) of the speed",
	 BALANCED, 1.25, false, 0.7},
	{"performance", "a weaker class as soon as it is clearly faster", PERFORMANCE, 1.1, false,
	 0.7},
	{"strict", "256-bit XTS or wide-block ciphers only", STRICT, 1.25, false, 0.7},
	{"fips", "approved ciphers and PBKDF2 only", BALANCED, 1.25, true, 0.7},
	{.name = NULL}};

const struct policy *policy_find(const char *name)
{
	for (const struct policy *p = policies; p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}
