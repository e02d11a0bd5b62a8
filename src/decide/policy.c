// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/policy.h"

#include <string.h>

#define GIB (1024.0 * 1024 * 1024)

/* What all policies share. The reasons stand in policy_numbers[]. */
#define COMMON                                                                                     \
	.read_share = 0.7, .sector_allowance = 0.15, .overwrites = 100, .pbkdf_memory_share = 0.5, \
	.pbkdf_memory_max = GIB, .pbkdf_threads_max = 4, .pbkdf_time_ms = 2000

#define MARGINS(xts128, cbc) .margin = {[SPEC_CLASS_XTS128] = (xts128), [SPEC_CLASS_CBC] = (cbc)}

const struct policy policies[] = {
	{.name = "balanced",
	 .summary = "strength first, unless it costs a third (AES-128) or half (CBC) of the speed",
	 MARGINS(1.5, 2.0),
	 .rare_margin = 1.25,
	 COMMON},
	{.name = "performance",
	 .summary = "a weaker class as soon as it is clearly faster",
	 MARGINS(1.1, 1.25),
	 .rare_margin = 1.1,
	 COMMON},
	{.name = "strict",
	 .summary = "256-bit XTS or wide-block ciphers only",
	 MARGINS(0, 0),
	 .rare_margin = 1.25,
	 COMMON},
	{.name = "fips",
	 .summary = "approved ciphers and PBKDF2 only",
	 MARGINS(1.5, 2.0),
	 .rare_margin = 1.25,
	 .fips = true,
	 COMMON},
	{.name = NULL}};

#define AT(field) offsetof(struct policy, field)

const struct policy_number policy_numbers[] = {
	{"margin-xts128", AT(margin[SPEC_CLASS_XTS128]), 1, 100, true, "times",
	 "AES-128 does 10 rounds where AES-256 does 14, so a CPU with nothing else to do is 1.4 times as fast with the weaker key; more than that is asked for before half the strength is given up. 0: never."},
	{"margin-cbc", AT(margin[SPEC_CLASS_CBC]), 1, 100, true, "times",
	 "CBC is malleable and encrypts serially; it is taken where XTS would halve the speed, as on engines that accelerate CBC alone. CBC with 128 bits needs both margins. 0: never."},
	{"margin-rare", AT(rare_margin), 1, 100, false, "times",
	 "Serpent, Twofish and Camellia are as strong as AES, but fewer kernels and initramfs have them, and few people look at their code: a small gain is not worth that."},
	{"read-share", AT(read_share), 0, 1, false, "share",
	 "The common figure for general-purpose volumes: 70 % reads (SNIA's and fio's mixed profiles)."},
	{"sector-allowance", AT(sector_allowance), 0, 1, false, "share",
	 "How much slower a larger sector may look where the kernel's cost per sector (a request, a tweak or IV, a walk over the pages: some hundred nanoseconds) is not in the figures; that cost only speaks for the larger one."},
	{"overwrites", AT(overwrites), 1, 1000000, false, "times",
	 "How often a volume must bear being written over with one key: vendors rate disks for 0.3 to 3 times a day for years. Where random 96-bit nonces would run out before (2^32 sectors, NIST SP 800-38D, 8.3), the cipher is out."},
	{"min-strength", AT(min_strength), 128, 256, true, "bits",
	 "Bits of key search that a site's rules ask for; 0: the margins alone decide."},
	{"pbkdf-memory-share", AT(pbkdf_memory_share), 0.01, 0.9, false, "share",
	 "Of the memory of the machine that unlocks: half, as libcryptsetup has it, leaves room for the initramfs."},
	{"pbkdf-memory-max", AT(pbkdf_memory_max), 32768, 4 * GIB, false, "bytes",
	 "cryptsetup's own default since 2.1: 1 GiB costs a guesser with graphics cards most of their cores."},
	{"pbkdf-threads-max", AT(pbkdf_threads_max), 1, 4, false, "threads",
	 "LUKS2 takes no more than 4."},
	{"pbkdf-time", AT(pbkdf_time_ms), 100, 600000, false, "ms",
	 "cryptsetup's own default: what a person waits for at each start."},
	{.key = NULL}};

double policy_value(const struct policy *policy, const struct policy_number *number)
{
	return *(const double *)((const char *)policy + number->offset);
}

const struct policy *policy_find(const char *name)
{
	for (const struct policy *p = policies; p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}
