// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does everything that a tier does with keys and data of which valgrind's memcheck is told that
 * they are undefined: a branch or an address that depends on them is then reported (the method of
 * A. Langley's ctgrind). tests/constant-time.bats runs it.
 *
 *   secret-work TIER      status 0, or 77 with the reason why nothing was done
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/gcm.h"

#ifndef __has_feature
#define __has_feature(what) 0
#endif

#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define MARK(p, size) __msan_poison(p, size)
#define MARKED(p)     (__msan_test_shadow(p, 1) == 0)
#define WATCHED       true
#elif __has_include(<valgrind/memcheck.h>) && !defined(__SANITIZE_ADDRESS__) &&                    \
	!__has_feature(address_sanitizer)
#include <valgrind/memcheck.h>
#define MARK(p, size) VALGRIND_MAKE_MEM_UNDEFINED(p, size)
#define MARKED(p)     marked(p)
#define WATCHED       RUNNING_ON_VALGRIND

static bool marked(const uint8_t *p)
{
	uint8_t bits = 0;

	return VALGRIND_GET_VBITS(p, &bits, 1) == 1 && bits;
}
#endif

#ifdef MARK
#define SECTORS 37 /* whole pipelines, whole vectors, and some over */

static uint8_t raw[64], from[SECTORS * SPEC_SECTOR_MAX], to[sizeof(from)];

static void run(const struct engine_tier *tier, const char *text, unsigned sector_size,
		size_t count)
{
	struct engine_key *key;
	struct status st;
	struct spec spec;

	if (spec_parse(&spec, text, &st))
		exit(1);
	memset(raw, 0x5a, sizeof(raw));
	MARK(raw, sizeof(raw));
	MARK(from, sizeof(from));
	if (engine_key_new(&key, tier, &spec, raw))
		exit(1);
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_SERIAL, to, from, sector_size,
		     count < 3 ? count : 3, 7);
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_MULTI, to, from, sector_size, count, 7);
	engine_crypt(key, ENGINE_DECRYPT, ENGINE_MULTI, to, to, sector_size, count, 7);
	engine_key_free(key);
	/* The marks are real: what went in undefined came out so. */
	if (!MARKED(to))
		exit(1);
}

/* AES-GCM, whose tag is public only once it stands. */
static void run_gcm(const struct engine_tier *tier, unsigned bits, size_t len)
{
	uint8_t iv[GCM_IV] = {1}, aad[20] = {2}, tag[GCM_TAG];
	struct engine_gcm *gcm;

	MARK(raw, sizeof(raw));
	MARK(from, sizeof(from));
	if (engine_gcm_new(&gcm, tier, bits, raw))
		exit(1);
	engine_gcm_encrypt(gcm, iv, aad, sizeof(aad), to, from, len, tag);
	engine_gcm_free(gcm);
	if (!MARKED(to) || !MARKED(tag))
		exit(1);
}

int main(int argc, char **argv)
{
	static const char *const specs[] = {"aes-xts-plain64/256",      "aes-xts-plain64/512",
					    "aes-cbc-plain64/128",      "aes-cbc-plain64/192",
					    "aes-cbc-plain64/256",      "aes-cbc-essiv:sha256/128",
					    "aes-cbc-essiv:sha256/192", "aes-cbc-essiv:sha256/256"};
	static const size_t counts[] = {1, 2, 3, 5, 9, SECTORS};
	const struct engine_tier *tier = engine_tier_find(argc > 1 ? argv[1] : "");
	struct cpu_facts cpu;
	char reason[100];

	if (!tier || cpu_probe(&cpu, NULL, NULL, NULL))
		return 1;
	if (!WATCHED) {
		puts("nothing watches it");
		return 77;
	}
	if (!engine_tier_usable(tier, &cpu, reason, sizeof(reason))) {
		printf("%s\n", reason);
		return 77;
	}
	for (size_t s = 0; s < sizeof(specs) / sizeof(specs[0]); s++)
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
			run(tier, specs[s], s % 2 ? 512 : 1024, counts[c]);
	for (unsigned bits = 128; engine_gcm_on(tier) && bits <= 256; bits += 128) {
		run_gcm(tier, bits, 4096);
		run_gcm(tier, bits, 1335);
	}
	return 0;
}
#else
int main(void)
{
	puts("built without valgrind's headers, or with AddressSanitizer");
	return 77;
}
#endif
