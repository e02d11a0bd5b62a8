// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages of any number of blocks: the engine beyond dm-crypt's sectors. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "facts/cpu.h"
#include "tap.h"

#define LONGEST 8192
#define GUARD   64

static const uint8_t raw[64] = {1,  2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47,
				53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 2,  4,  6,  8,  10, 12,
				14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44,
				46, 48, 50, 52, 54, 56, 58, 60, 62, 64, 66, 68, 70, 72, 74, 76};

static uint8_t plain[LONGEST], sector[LONGEST], message[LONGEST + GUARD];

/* Whether the message of so many bytes is the beginning of the longest one, nothing behind it is
 * written, and decryption undoes it. Blocks of XTS and of CBC depend on none that follow. */
static bool prefix(const struct engine_key *key, size_t size)
{
	bool right;

	memcpy(message, plain, size);
	memset(message + size, 0x5a, GUARD);
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_SERIAL, message, message, size, 1, 0x123456789);
	right = !memcmp(message, sector, size);
	engine_crypt(key, ENGINE_DECRYPT, ENGINE_SERIAL, message, message, size, 1, 0x123456789);
	right &= !memcmp(message, plain, size);
	for (size_t i = 0; i < GUARD; i++)
		right &= message[size + i] == 0x5a;
	return right;
}

static void test_tier(const struct engine_tier *tier, const char *text)
{
	const struct engine_tier *reference = engine_tier_find("table");
	struct engine_key *key = NULL, *ours = NULL;
	unsigned wrong = 0, tried = 0;
	struct spec spec;

	if (spec_parse(&spec, text, NULL) || engine_key_new(&ours, reference, &spec, raw) ||
	    engine_key_new(&key, tier, &spec, raw))
		abort();
	/* 4096 bytes are a sector, which the vectors of test-engine vouch for. */
	engine_crypt(ours, ENGINE_ENCRYPT, ENGINE_SERIAL, sector, plain, LONGEST, 1, 0x123456789);
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_SERIAL, message, plain, 4096, 1, 0x123456789);
	ok(!memcmp(sector, message, 4096), "%s on %s: the tables agree on a sector", text,
	   engine_tier_name(tier));
	for (size_t size = 16; size <= LONGEST; size += size < 2560 ? 16 : 1040) {
		tried++;
		wrong += !prefix(key, size);
	}
	wrong += !prefix(key, LONGEST);
	ok(!wrong, "%s on %s: %u of %u lengths are wrong", text, engine_tier_name(tier), wrong,
	   tried + 1);
	engine_key_free(key);
	engine_key_free(ours);
}

int main(void)
{
	static const char *const specs[] = {"aes-xts-plain64/512", "aes-xts-plain64/256",
					    "aes-cbc-essiv:sha256/256", "aes-cbc-plain64/128"};
	struct cpu_facts cpu;
	char reason[100];

	if (cpu_probe(&cpu, NULL, NULL, NULL))
		abort();
	for (size_t i = 0; i < LONGEST; i++)
		plain[i] = (uint8_t)(i * 7 + (i >> 8));
	for (const struct engine_tier *const *t = engine_tiers; *t; t++) {
		if (!engine_tier_usable(*t, &cpu, reason, sizeof(reason))) {
			tap_skip("%s: %s", engine_tier_name(*t), reason);
			continue;
		}
		for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
			test_tier(*t, specs[i]);
	}
	return tap_done();
}
