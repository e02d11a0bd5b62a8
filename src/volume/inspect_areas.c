// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "volume/extent.h"
#include "volume/inspect_internal.h"

#define SECTOR 512U
/*
 * Of 256 values 512 random bytes have 221 on average, with a standard deviation of 4.5: a sector of
 * ciphertext with fewer than this is not to be met.
 */
#define VALUES_LEAST 170

static bool is_random(const unsigned char *sector)
{
	bool seen[256] = {false};
	unsigned values = 0;

	for (unsigned i = 0; i < SECTOR; i++) {
		values += !seen[sector[i]];
		seen[sector[i]] = true;
	}
	return values >= VALUES_LEAST;
}

static int look_at(struct inspect_keyslot *k, int fd, uint64_t size)
{
	unsigned char *bytes;
	int ret;

	if (k->area_offset > size || k->area_size > size - k->area_offset) {
		k->area_outside = true;
		return 0;
	}
	bytes = malloc(k->area_size);
	if (!bytes)
		return -ENOMEM;
	ret = extent_read(fd, bytes, k->area_size, k->area_offset);
	for (uint64_t at = 0; at < k->area_size && !ret; at += SECTOR)
		k->area_bad += !is_random(bytes + at);
	explicit_bzero(bytes, k->area_size);
	free(bytes);
	return ret;
}

int inspect_areas(struct inspect *in, int fd, uint64_t size)
{
	int ret = 0;

	for (unsigned i = 0; i < in->n_keyslots && !ret; i++)
		/* Without a cipher the last sector may end in zeros. */
		if (in->keyslots[i].area_size && !strstr(in->keyslots[i].cipher, "cipher_null"))
			ret = look_at(&in->keyslots[i], fd, size);
	return ret;
}
