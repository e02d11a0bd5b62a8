// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: every usable tier against `portable`, on arbitrary keys, sector numbers, sizes, counts
 * and alignments, in place and not, both directions and shapes. The buffers end where their heap
 * blocks do, so that AddressSanitizer sees a byte too far. scripts/check's job `fuzz` builds and
 * runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

#define SECTORS 40

/* The first bytes of an input; what is missing is zero. The rest is the text to encrypt, over and
 * over. */
struct head {
	uint8_t kind, bits, size, count, base, src_align, dst_align, flags;
	uint64_t offset;
	uint8_t key[64];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cpu_facts cpu;

static void die(const char *what, const struct engine_tier *tier, const struct spec *spec)
{
	char text[SPEC_TEXT_MAX];

	fprintf(stderr, "%s: %s: %s\n", engine_tier_name(tier), spec_print(spec, text), what);
	abort();
}

static void pick_spec(struct spec *spec, const struct head *head)
{
	static const char *const texts[] = {
		"aes-xts-plain64/256",      "aes-xts-plain64/512",      "aes-cbc-plain64/128",
		"aes-cbc-plain64/192",      "aes-cbc-plain64/256",      "aes-cbc-essiv:sha256/128",
		"aes-cbc-essiv:sha256/192", "aes-cbc-essiv:sha256/256",
	};
	struct status st;

	if (spec_parse(spec, texts[head->kind % 8], &st))
		abort();
	spec->sector = 512U << head->size % 4;
}

/* Arbitrary, or a little before or behind a place where arithmetic might go wrong. */
static uint64_t pick_sector(const struct head *head)
{
	static const uint64_t bases[] = {0, UINT64_C(1) << 32, UINT64_C(1) << 63, 0};

	if (head->base % 5 == 4)
		return head->offset;
	return bases[head->base % 5] + head->offset % 1024 - 512;
}

static uint8_t *block(size_t align, size_t n, uint8_t **whole)
{
	*whole = malloc(align + n);
	if (!*whole)
		exit(1);
	return *whole + align;
}

static void crypt(const struct engine_tier *tier, const struct spec *spec, const struct head *head,
		  enum engine_direction direction, uint8_t *dst, const uint8_t *src, size_t count)
{
	enum engine_shape shape = head->flags & 2 ? ENGINE_SERIAL : ENGINE_MULTI;
	struct engine_key *key;

	if (engine_key_new(&key, tier, spec, head->key))
		exit(1);
	engine_crypt(key, direction, shape, dst, src, spec->sector, count, pick_sector(head));
	engine_key_free(key);
}

/* One tier, from `from` to what must be `to`. */
static void check(const struct engine_tier *tier, const struct spec *spec, const struct head *head,
		  enum engine_direction direction, const uint8_t *from, const uint8_t *to,
		  size_t count)
{
	const size_t n = count * spec->sector;
	uint8_t *src_whole, *dst_whole = NULL, *src, *dst;

	src = dst = block(head->src_align % 64, n, &src_whole);
	if (head->flags & 1)
		dst = block(head->dst_align % 64, n, &dst_whole);
	memcpy(src, from, n);
	crypt(tier, spec, head, direction, dst, src, count);
	if (memcmp(dst, to, n) != 0)
		die(direction == ENGINE_ENCRYPT ? "encryption differs" : "decryption differs", tier,
		    spec);
	if (dst != src && memcmp(src, from, n) != 0)
		die("the source was changed", tier, spec);
	free(src_whole);
	free(dst_whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t plain[SECTORS * SPEC_SECTOR_MAX], cipher[sizeof(plain)];
	struct head head = {.kind = 0};
	struct spec spec;
	size_t n, count;

	if (!cpu.known && cpu_probe(&cpu, NULL, NULL, NULL))
		exit(1);
	n = size < sizeof(head) ? size : sizeof(head);
	memcpy(&head, data, n);
	data += n;
	size -= n;
	pick_spec(&spec, &head);
	count = head.count % (SECTORS + 1);
	n = count * spec.sector;
	for (size_t i = 0; i < n; i++)
		plain[i] = size ? data[i % size] : (uint8_t)i;
	crypt(engine_tier_find("portable"), &spec, &head, ENGINE_ENCRYPT, cipher, plain, count);
	for (size_t i = 0; engine_tiers[i]; i++) {
		if (!engine_tier_usable(engine_tiers[i], &cpu, NULL, 0))
			continue;
		check(engine_tiers[i], &spec, &head, ENGINE_ENCRYPT, plain, cipher, count);
		check(engine_tiers[i], &spec, &head, ENGINE_DECRYPT, cipher, plain, count);
	}
	return 0;
}
