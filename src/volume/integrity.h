/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data area of a volume that keeps a tag beside each sector: dm-integrity's own metadata, and
 * the first write of every sector, without which reading it fails (Linux
 * admin-guide/device-mapper/dm-integrity). Through libcryptsetup and device-mapper, as root.
 */
#ifndef DMCT_VOLUME_INTEGRITY_H
#define DMCT_VOLUME_INTEGRITY_H

#include "volume/luks.h"

struct integrity_area {
	struct guard *guard; /* of the data device; its claim is given up */
	const struct luks_image *image;
	const struct luks_request *request;
	const struct secret *secret;
	bool no_wipe; /* only a sector is written and read, to see that it works */
	/* Told of the wipe: bytes in all, and done. Other than 0 ends it. NULL: nobody. */
	int (*progress)(void *arg, uint64_t size, uint64_t done);
	void *arg;
	bool formatted;      /* dm-integrity's metadata are there */
	uint64_t size, done; /* bytes of the volume, and how many of them were wiped */
};

/*
 * Makes it, and uses the volume once through a mapping of our own, which is gone afterwards,
 * however this process ends. arg: a struct integrity_area, as struct luks_between has it. 0; -EINTR
 * when progress() ended it; or -errno with *st (ST_CHECK, ST_MISSING), a sentence on what failed.
 */
int integrity_make(void *arg, struct status *st);

/* After a failure: whether nothing was done, by the data area's first block, which is written
 * first.
 */
bool integrity_untouched(const struct integrity_area *area, const unsigned char before[4096]);

#endif
