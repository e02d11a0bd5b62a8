// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/key_schedule.h"
#include "engine/sha256.h"
#include "engine/tier.h"

enum key_mode { KEY_XTS, KEY_CBC };

struct engine_key {
	const struct engine_tier *tier;
	enum key_mode mode;
	size_t size;    /* of the whole allocation */
	const void *iv; /* a schedule behind this struct, or NULL */
	const void *data;
};

const struct engine_tier *const engine_tiers[] = {
#if defined(__x86_64__) || defined(__i386__)
	&engine_tier_vaes512,
	&engine_tier_vaes256,
	&engine_tier_aesni,
#endif
	&engine_tier_portable,
	&engine_tier_table, /* last: never the best */
	NULL,
};

const char *engine_tier_name(const struct engine_tier *tier)
{
	return tier->name;
}

unsigned engine_tier_bits(const struct engine_tier *tier)
{
	return tier->bits;
}

/* Why a feature that the tier needs cannot be used. */
static void lacking(const struct cpu_facts *cpu, enum cpu_feature feature, char *reason,
		    size_t size)
{
	if (!cpu->known)
		snprintf(reason, size, "nothing says whether the CPU has %s",
			 cpu_feature_name(feature));
	else if (!cpu_advertises(cpu, feature))
		snprintf(reason, size, "the CPU has no %s", cpu_feature_name(feature));
	else if (cpu->disabled >> feature & 1)
		snprintf(reason, size, "disabled by --cpu-disable");
	else
		snprintf(reason, size, "the operating system does not save its registers");
}

bool engine_tier_usable(const struct engine_tier *tier, const struct cpu_facts *cpu, char *reason,
			size_t size)
{
	if (reason && size)
		reason[0] = '\0';
	if (tier->needs && cpu->known && cpu->family != tier->family) {
		if (reason)
			snprintf(reason, size, "for another kind of CPU");
		return false;
	}
	for (int feature = 0; feature < CPU_FEATURE_COUNT; feature++) {
		if (!(tier->needs >> feature & 1) || cpu_can_use(cpu, feature))
			continue;
		if (reason)
			lacking(cpu, feature, reason, size);
		return false;
	}
	return true;
}

const struct engine_tier *engine_tier_best(const struct cpu_facts *cpu)
{
	size_t i = 0;

	while (!engine_tier_usable(engine_tiers[i], cpu, NULL, 0))
		i++;
	return engine_tiers[i];
}

const struct engine_tier *engine_tier_find(const char *name)
{
	for (size_t i = 0; engine_tiers[i]; i++)
		if (!strcmp(engine_tiers[i]->name, name))
			return engine_tiers[i];
	return NULL;
}

bool engine_supports(const struct spec *spec)
{
	const struct spec_kind *kind = spec->kind;
	const unsigned bits = spec->key_bits;

	if (strcmp(kind->cipher, "aes") != 0 || kind->integrity)
		return false;
	if (!strcmp(kind->mode, "xts"))
		return !strcmp(kind->iv, "plain64") && (bits == 256 || bits == 512);
	if (!strcmp(kind->mode, "cbc"))
		return (!strcmp(kind->iv, "plain64") || !strcmp(kind->iv, "essiv:sha256")) &&
		       (bits == 128 || bits == 192 || bits == 256);
	return false;
}

static void expand(const struct engine_tier *tier, void *to, const uint8_t *raw, size_t len)
{
	struct aes_schedule schedule;

	aes_expand(&schedule, raw, len);
	tier->schedule(to, &schedule);
	explicit_bzero(&schedule, sizeof(schedule));
}

static size_t align_up(size_t size)
{
	return (size + TIER_ALIGN - 1) / TIER_ALIGN * TIER_ALIGN;
}

int engine_key_new(struct engine_key **key, const struct engine_tier *tier, const struct spec *spec,
		   const uint8_t *raw)
{
	const size_t head = align_up(sizeof(struct engine_key));
	const size_t each = align_up(tier->schedule_size);
	size_t len = spec->key_bits / 8;
	uint8_t digest[SHA256_SIZE];
	struct engine_key *k;
	uint8_t *data, *iv;

	if (!engine_supports(spec))
		return -EOPNOTSUPP;
	k = aligned_alloc(TIER_ALIGN, head + 2 * each);
	if (!k)
		return -ENOMEM;
	data = (uint8_t *)k + head;
	iv = data + each;
	*k = (struct engine_key){.tier = tier,
				 .mode = strcmp(spec->kind->mode, "xts") ? KEY_CBC : KEY_XTS,
				 .size = head + 2 * each,
				 .data = data};
	if (k->mode == KEY_XTS) {
		len /= 2;
		expand(tier, iv, raw + len, len);
		k->iv = iv;
	} else if (!strcmp(spec->kind->iv, "essiv:sha256")) {
		sha256(digest, raw, len);
		expand(tier, iv, digest, sizeof(digest));
		explicit_bzero(digest, sizeof(digest));
		k->iv = iv;
	}
	expand(tier, data, raw, len);
	*key = k;
	return 0;
}

void engine_key_free(struct engine_key *key)
{
	if (!key)
		return;
	explicit_bzero(key, key->size);
	free(key);
}

void engine_crypt(const struct engine_key *key, enum engine_direction direction,
		  enum engine_shape shape, uint8_t *dst, const uint8_t *src, size_t sector_size,
		  size_t count, uint64_t sector)
{
	const struct engine_tier *tier = key->tier;
	const struct tier_job job = {.data = key->data,
				     .iv = key->iv,
				     .dst = dst,
				     .src = src,
				     .sector_size = sector_size,
				     .count = count,
				     .sector = sector};

	if (key->mode == KEY_XTS && direction == ENGINE_ENCRYPT)
		tier->xts_encrypt(&job);
	else if (key->mode == KEY_XTS)
		tier->xts_decrypt(&job);
	else if (direction == ENGINE_DECRYPT)
		tier->cbc_decrypt(&job);
	else if (shape == ENGINE_MULTI)
		tier->cbc_encrypt_multi(&job);
	else
		tier->cbc_encrypt_serial(&job);
}

uint64_t engine_roofline(const struct engine_tier *tier, unsigned key_bits, uint64_t rounds)
{
	return tier->roofline ? tier->roofline(AES_ROUNDS(key_bits), rounds) : 0;
}
