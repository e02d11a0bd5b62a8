// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/luks_internal.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies of one superblock (ZFS keeps hundreds of uberblocks) each count. */
#define WIPE_MAX 4096

static blkid_probe new_probe(int fd)
{
	blkid_probe pr = blkid_new_probe();

	if (!pr)
		return NULL;
	if (blkid_probe_set_device(pr, fd, 0, 0) || blkid_probe_enable_superblocks(pr, 1) ||
	    blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_TYPE |
							  BLKID_SUBLKS_BADCSUM) ||
	    blkid_probe_enable_partitions(pr, 1) ||
	    /* FORCE_GPT: the second copy counts without the protective MBR, which is gone. */
	    blkid_probe_set_partitions_flags(pr, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT)) {
		blkid_free_probe(pr);
		return NULL;
	}
	return pr;
}

/* Where the signature just found is; the name goes to what. -ENOENT when it has no place. */
static int found_at(blkid_probe pr, uint64_t *offset, char *what, size_t size)
{
	const char *text = NULL, *type = NULL;

	if (blkid_probe_lookup_value(pr, "SBMAGIC_OFFSET", &text, NULL) &&
	    blkid_probe_lookup_value(pr, "PTMAGIC_OFFSET", &text, NULL))
		return -ENOENT;
	if (blkid_probe_lookup_value(pr, "TYPE", &type, NULL))
		blkid_probe_lookup_value(pr, "PTTYPE", &type, NULL);
	*offset = strtoull(text, NULL, 10);
	snprintf(what, size, "%s", type ? type : "unknown");
	return 0;
}

int luks_wipe_stale(int fd, uint64_t from, char *what, size_t size)
{
	blkid_probe pr = new_probe(fd);
	uint64_t offset, last = UINT64_MAX;
	int ret = 0, found;

	if (!pr)
		return -ENOMEM;
	for (int i = 0; i < WIPE_MAX; i++) {
		found = blkid_do_probe(pr);
		if (found)
			break;
		if (found_at(pr, &offset, what, size) || offset < from)
			continue;
		/* Found again where it was just wiped: it does not go. */
		ret = offset == last || blkid_do_wipe(pr, 0) ? -EIO : 0;
		if (ret)
			break;
		last = offset;
		/* The same prober once more: it may know another place. */
		blkid_probe_step_back(pr);
	}
	blkid_free_probe(pr);
	/* The new volume's own signatures were found on the way. */
	if (!ret)
		*what = '\0';
	return ret;
}
