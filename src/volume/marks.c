// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/marks.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copies of one superblock (ZFS keeps hundreds of uberblocks) each count. */
#define MARKS_MAX      4096
#define PARTITIONS_MAX 512

struct area {
	int fd;
	uint64_t start, len;
	unsigned block; /* that a partition table counts in */
};

/* 0 or -errno: one whose device became smaller meanwhile cannot be probed. */
static int new_probe(const struct area *area, blkid_probe *probe)
{
	blkid_probe pr = blkid_new_probe();

	if (!pr)
		return -ENOMEM;
	errno = 0;
	if (blkid_probe_set_device(pr, area->fd, (blkid_loff_t)area->start,
				   (blkid_loff_t)area->len) ||
	    blkid_probe_set_sectorsize(pr, area->block) || blkid_probe_enable_superblocks(pr, 1) ||
	    blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_TYPE |
							  BLKID_SUBLKS_BADCSUM) ||
	    blkid_probe_enable_partitions(pr, 1) ||
	    /* FORCE_GPT: the second copy counts without the protective MBR, which is gone. */
	    blkid_probe_set_partitions_flags(pr, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT)) {
		blkid_free_probe(pr);
		return errno ? -errno : -EIO;
	}
	*probe = pr;
	return 0;
}

/* The mark just found, counted from the start of the area. False when it has none. */
static bool found_mark(blkid_probe pr, struct extent *mark)
{
	const char *offset = NULL, *magic = NULL;
	size_t len = 0;

	if ((blkid_probe_lookup_value(pr, "SBMAGIC_OFFSET", &offset, NULL) ||
	     blkid_probe_lookup_value(pr, "SBMAGIC", &magic, &len)) &&
	    (blkid_probe_lookup_value(pr, "PTMAGIC_OFFSET", &offset, NULL) ||
	     blkid_probe_lookup_value(pr, "PTMAGIC", &magic, &len)))
		return false;
	*mark = (struct extent){strtoull(offset, NULL, 10), len};
	return len != 0;
}

/* Each mark is hidden from the prober once it is known, and the same prober asked again: it may
 * know another place. */
static int area_marks(struct extents *marks, const struct area *area)
{
	struct extent mark, last = {UINT64_MAX, 0};
	blkid_probe pr;
	int found = 1, ret = new_probe(area, &pr);

	if (ret)
		return ret;
	for (int i = 0; !ret && i < MARKS_MAX; i++) {
		found = blkid_do_probe(pr);
		if (found)
			break;
		if (!found_mark(pr, &mark) || mark.offset == last.offset ||
		    mark.offset >= area->len || mark.len > area->len - mark.offset)
			continue;
		last = mark;
		ret = extents_add(marks, area->start + mark.offset, mark.len);
		if (blkid_probe_hide_range(pr, mark.offset, mark.len) == 0)
			blkid_probe_step_back(pr);
	}
	blkid_free_probe(pr);
	if (ret)
		return ret;
	return found == 1 ? 0 : found ? -EIO : -EOVERFLOW;
}

static int partition_marks(struct extents *marks, const struct area *whole)
{
	blkid_partlist ls;
	blkid_probe pr;
	int n, ret = new_probe(whole, &pr);

	if (ret)
		return ret;
	ls = blkid_probe_get_partitions(pr);
	n = ls ? blkid_partlist_numof_partitions(ls) : 0;
	for (int i = 0; i < n && i < PARTITIONS_MAX && !ret; i++) {
		blkid_partition p = blkid_partlist_get_partition(ls, i);
		struct area part = *whole;

		/* In units of 512 bytes, also where the table counts in larger blocks. */
		part.start = (uint64_t)blkid_partition_get_start(p) * 512;
		part.len = (uint64_t)blkid_partition_get_size(p) * 512;
		if (blkid_partition_is_extended(p) || part.start >= whole->len || !part.len)
			continue;
		if (part.len > whole->len - part.start)
			part.len = whole->len - part.start;
		ret = area_marks(marks, &part);
	}
	blkid_free_probe(pr);
	return ret;
}

int marks_find(struct extents *marks, int fd, const struct device_facts *device)
{
	struct area whole = {.fd = fd, .len = device->size, .block = device->logical_block};
	int ret = 0;

	if (whole.block < 512 || whole.block > 65536)
		whole.block = 512;
	/* A copy of a disk with blocks of another size has its table elsewhere. */
	for (int i = 0; i < 2 && !ret; i++) {
		ret = area_marks(marks, &whole);
		if (!ret)
			ret = partition_marks(marks, &whole);
		whole.block = whole.block == 512 ? 4096 : 512;
	}
	if (ret)
		extents_free(marks);
	else
		extents_merge(marks);
	return ret;
}
