// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Two different halves: XTS implementations refuse a key whose halves are the same. */
const uint8_t check_key[CHECK_KEY_MAX] = {
	0x8d, 0x31, 0x5e, 0xf7, 0x02, 0xc9, 0x44, 0xab, 0x70, 0x1b, 0xe6, 0x93, 0x5c,
	0x28, 0xd5, 0x0f, 0xa6, 0x79, 0x10, 0xbd, 0x3f, 0x82, 0xe4, 0x57, 0xc1, 0x6e,
	0x9a, 0x05, 0xfb, 0x30, 0x48, 0xd7, 0x1c, 0xe9, 0x73, 0x8f, 0x56, 0x04, 0xb8,
	0x2d, 0x91, 0xca, 0x67, 0xfe, 0x13, 0xa0, 0x4b, 0xd8, 0x65, 0x3a, 0xf2, 0x0c,
	0x89, 0xde, 0x77, 0x41, 0xb5, 0x2f, 0x98, 0xe3, 0x5a, 0x16, 0xcd, 0x80};

static int encrypt_portable(struct check_pattern *pattern)
{
	struct engine_key *key = NULL;
	int ret;

	pattern->cipher = malloc(pattern->size);
	if (!pattern->cipher)
		return -ENOMEM;
	ret = engine_key_new(&key, engine_tier_find("portable"), &pattern->spec, check_key);
	if (ret)
		return ret;
	/* The shape changes the time that it takes, not the output. */
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_MULTI, pattern->cipher, pattern->plain,
		     pattern->spec.sector, pattern->size / pattern->spec.sector, CHECK_SECTOR);
	engine_key_free(key);
	return 0;
}

static int fill_pattern(struct check_pattern *pattern, const struct spec *spec, size_t size)
{
	struct backend_buffer buffer = {.size = size};

	pattern->spec = *spec;
	pattern->size = size;
	pattern->plain = buffer.data = malloc(size);
	if (!pattern->plain)
		return -ENOMEM;
	backend_buffer_fill(&buffer);
	return engine_supports(spec) ? encrypt_portable(pattern) : 0;
}

static void free_pattern(struct check_pattern *pattern)
{
	free(pattern->plain);
	free(pattern->cipher);
}

int check_prepare(struct check_patterns *patterns, const struct spec *spec, size_t size)
{
	struct check_pattern fresh = {.size = 0}, *grown;
	int ret;

	for (size_t i = 0; i < patterns->n; i++)
		if (patterns->list[i].size == size && spec_equal(&patterns->list[i].spec, spec))
			return (int)i;
	ret = fill_pattern(&fresh, spec, size);
	grown = ret ? NULL : realloc(patterns->list, (patterns->n + 1) * sizeof(*patterns->list));
	if (!grown) {
		free_pattern(&fresh);
		return ret ? ret : -ENOMEM;
	}
	patterns->list = grown;
	grown[patterns->n] = fresh;
	return (int)patterns->n++;
}

void check_free(struct check_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		free_pattern(&patterns->list[i]);
	free(patterns->list);
	patterns->list = NULL;
	patterns->n = 0;
}

/* Against the portable tier. */
static int check_output(const struct check_pattern *pattern, const struct backend *backend,
			void *state, enum engine_direction direction, uint8_t *data)
{
	bool encrypt = direction == ENGINE_ENCRYPT;
	int ret;

	memcpy(data, encrypt ? pattern->plain : pattern->cipher, pattern->size);
	ret = backend->crypt(state, direction, data, CHECK_SECTOR);
	if (ret)
		return ret;
	return memcmp(data, encrypt ? pattern->cipher : pattern->plain, pattern->size) ? -EBADMSG
										       : 0;
}

static bool block_unchanged(const uint8_t *a, const uint8_t *b, size_t size)
{
	for (size_t i = 0; i + 16 <= size; i += 16)
		if (!memcmp(a + i, b + i, 16))
			return true;
	return false;
}

/* Against itself. A change of the sector number changes the first block in every mode that is
 * offered. */
static int check_round_trip(const struct check_pattern *pattern, const struct backend *backend,
			    void *state, uint8_t *data)
{
	uint8_t first[16];
	int ret;

	memcpy(data, pattern->plain, pattern->size);
	ret = backend->crypt(state, ENGINE_ENCRYPT, data, CHECK_SECTOR + 8);
	if (ret)
		return ret;
	memcpy(first, data, sizeof(first));
	memcpy(data, pattern->plain, pattern->size);
	ret = backend->crypt(state, ENGINE_ENCRYPT, data, CHECK_SECTOR);
	if (ret)
		return ret;
	if (!memcmp(first, data, sizeof(first)) ||
	    block_unchanged(data, pattern->plain, pattern->size))
		return -EBADMSG;
	ret = backend->crypt(state, ENGINE_DECRYPT, data, CHECK_SECTOR);
	if (ret)
		return ret;
	return memcmp(data, pattern->plain, pattern->size) ? -EBADMSG : 0;
}

int check_state(const struct check_pattern *pattern, const struct backend *backend, void *state,
		enum engine_direction direction, uint8_t *data)
{
	return pattern->cipher ? check_output(pattern, backend, state, direction, data)
			       : check_round_trip(pattern, backend, state, data);
}
