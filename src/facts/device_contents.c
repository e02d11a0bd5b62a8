// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is on a device, as libblkid recognises it: at its start, at its end, and in each partition
 * of a table found on it. Images and disks alike, since partitions are looked at through the whole
 * device's descriptor, at their offset.
 */
#include <blkid/blkid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/device_internal.h"

#define FAR               (1ULL << 20) /* marks so far in are listed at their own place */
#define PARTITIONS_MAX    512          /* looked into; a GPT usually has room for 128 */
#define SIGNATURES_MAX    32           /* taken from one area */
#define SPREAD_DEVICE     256          /* samples in an area where nothing is recognised */
#define SPREAD_PARTITION  64
#define AMBIVALENT_RESULT (-2) /* of blkid_do_safeprobe() */

/* A stretch of the device: all of it, or a partition. */
struct area {
	int fd;
	uint64_t start, len;
	int partition;
	unsigned block; /* that a partition table on it counts in */
};

int device_add_content(struct device_facts *facts, const struct device_content *content)
{
	struct device_content *grown;

	grown = reallocarray(facts->contents, facts->n_contents + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	facts->contents = grown;
	grown[facts->n_contents++] = *content;
	return 0;
}

static blkid_probe open_probe(const struct area *area)
{
	blkid_probe pr = blkid_new_probe();

	if (!pr)
		return NULL;
	if (blkid_probe_set_device(pr, area->fd, (blkid_loff_t)area->start,
				   (blkid_loff_t)area->len) ||
	    blkid_probe_set_sectorsize(pr, area->block)) {
		blkid_free_probe(pr);
		return NULL;
	}
	blkid_probe_enable_superblocks(pr, 1);
	/* A damaged header is content all the same. */
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID |
						      BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
						      BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_BADCSUM);
	blkid_probe_enable_partitions(pr, 1);
	/* Without its protective MBR, and from the backup at the end of the disk, too. */
	blkid_probe_set_partitions_flags(pr, BLKID_PARTS_FORCE_GPT | BLKID_PARTS_MAGIC);
	return pr;
}

static void take(char *dest, size_t size, blkid_probe pr, const char *name)
{
	const char *value = NULL;

	if (!blkid_probe_lookup_value(pr, name, &value, NULL) && value)
		snprintf(dest, size, "%s", value);
}

/* Where a mark stands in the area, if that is far in; 0 otherwise. */
static uint64_t place(const struct area *area, blkid_probe pr, const char *name)
{
	char text[32] = "";
	uint64_t offset;

	take(text, sizeof(text), pr, name);
	offset = strtoull(text, NULL, 10);
	return offset >= FAR && offset < area->len ? offset : 0;
}

static bool listed(const struct device_facts *facts, const struct device_content *c)
{
	for (size_t i = 0; i < facts->n_contents; i++)
		if (facts->contents[i].partition == c->partition &&
		    facts->contents[i].offset == c->offset &&
		    !strcmp(facts->contents[i].type, c->type))
			return true;
	return false;
}

/* What the last probing call found: a superblock, a partition table, or both at once. */
static int take_found(struct device_facts *facts, const struct area *area, blkid_probe pr)
{
	struct device_content fs = {.offset = area->start, .partition = area->partition};
	struct device_content table = fs;
	int ret = 0;

	take(fs.type, sizeof(fs.type), pr, "TYPE");
	take(fs.usage, sizeof(fs.usage), pr, "USAGE");
	take(fs.label, sizeof(fs.label), pr, "LABEL");
	take(fs.uuid, sizeof(fs.uuid), pr, "UUID");
	fs.offset += place(area, pr, "SBMAGIC_OFFSET");
	if (fs.type[0] && !fs.usage[0])
		strcpy(fs.usage, "other");
	if (fs.type[0] && !listed(facts, &fs))
		ret = device_add_content(facts, &fs);
	table.offset += place(area, pr, "PTMAGIC_OFFSET");
	strcpy(table.usage, "table");
	take(table.type, sizeof(table.type), pr, "PTTYPE");
	take(table.uuid, sizeof(table.uuid), pr, "PTUUID");
	if (ret == 0 && table.type[0] && !listed(facts, &table))
		ret = device_add_content(facts, &table);
	return ret;
}

/*
 * Lists all signatures of an area. blkid_do_safeprobe() settles which one is meant, and says when
 * it cannot; blkid_do_probe() gives one after the other, those included that are only left over.
 * Returns 0, -ENOMEM, or -EIO.
 */
static int list_signatures(struct device_facts *facts, const struct area *area)
{
	struct device_content ambiguous = {.usage = "other",
					   .type = "ambiguous",
					   .offset = area->start,
					   .partition = area->partition};
	blkid_probe pr = open_probe(area);
	int found, ret = 0;

	if (!pr)
		return -EIO;
	found = blkid_do_safeprobe(pr);
	if (found == AMBIVALENT_RESULT)
		ret = device_add_content(facts, &ambiguous);
	else if (found == 0)
		ret = take_found(facts, area, pr);
	else if (found < 0)
		ret = -EIO;
	blkid_reset_probe(pr);
	for (int i = 0; i < SIGNATURES_MAX && ret == 0; i++) {
		found = blkid_do_probe(pr);
		if (found == 1)
			break;
		ret = found == 0 ? take_found(facts, area, pr) : -EIO;
	}
	blkid_free_probe(pr);
	return ret;
}

/* Signatures of an area, and, where there are none, whatever else is there. */
static int list_area(struct device_facts *facts, const struct area *area)
{
	struct device_content data = {
		.usage = "data", .type = "unknown", .partition = area->partition};
	size_t before = facts->n_contents;
	int ret;

	ret = list_signatures(facts, area);
	if (ret < 0 || facts->n_contents > before)
		return ret;
	ret = device_find_data(area->fd, facts->kind == DEVICE_FILE, area->start, area->len,
			       area->partition ? SPREAD_PARTITION : SPREAD_DEVICE, &data.offset);
	return ret == 1 ? device_add_content(facts, &data) : ret;
}

static int list_partitions(struct device_facts *facts, const struct area *whole, blkid_partlist ls)
{
	int n = blkid_partlist_numof_partitions(ls), ret = 0;

	for (int i = 0; i < n && i < PARTITIONS_MAX && ret == 0; i++) {
		blkid_partition p = blkid_partlist_get_partition(ls, i);
		struct area part = *whole;

		/* In units of 512 bytes, also where the table counts in larger blocks. */
		part.start = (uint64_t)blkid_partition_get_start(p) * 512;
		part.len = (uint64_t)blkid_partition_get_size(p) * 512;
		part.partition = blkid_partition_get_partno(p);
		if (blkid_partition_is_extended(p) || part.start >= whole->len || !part.len)
			continue;
		if (part.len > whole->len - part.start)
			part.len = whole->len - part.start;
		ret = list_area(facts, &part);
	}
	return ret;
}

/* 1: there is a partition table; 0: none, or only the protective MBR of one that counts in other
 * blocks; -errno. */
static int look_into_table(struct device_facts *facts, const struct area *whole)
{
	blkid_probe pr = open_probe(whole);
	blkid_parttable table;
	blkid_partlist ls;
	const char *type;
	int ret = 0;

	if (!pr)
		return -EIO;
	ls = blkid_probe_get_partitions(pr);
	table = ls ? blkid_partlist_get_table(ls) : NULL;
	type = table ? blkid_parttable_get_type(table) : NULL;
	if (type && strcmp(type, "PMBR")) {
		ret = list_partitions(facts, whole, ls);
		ret = ret < 0 ? ret : 1;
	}
	blkid_free_probe(pr);
	return ret;
}

static int list_all(struct device_facts *facts, struct area *whole)
{
	struct area other = *whole;
	int ret;

	ret = look_into_table(facts, whole);
	/* A copy of a disk with blocks of another size has its table elsewhere. */
	if (ret == 0) {
		other.block = whole->block == 512 ? 4096 : 512;
		ret = look_into_table(facts, &other);
		if (ret == 1)
			whole->block = other.block;
	}
	return ret < 0 ? ret : list_area(facts, whole);
}

/* The device's own contents first, then the partitions' in their order. */
static int by_partition(const void *a, const void *b)
{
	const struct device_content *x = a, *y = b;

	if (!x->partition != !y->partition)
		return x->partition ? 1 : -1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

int device_read_contents(struct device_facts *facts, int fd)
{
	struct area whole = {.fd = fd, .len = facts->size, .block = facts->logical_block};
	int ret = 0;

	if (whole.block < 512 || whole.block > 65536)
		whole.block = 512;
	if (whole.len)
		ret = list_all(facts, &whole);
	if (ret == -ENOMEM)
		return ret;
	if (facts->n_contents)
		qsort(facts->contents, facts->n_contents, sizeof(facts->contents[0]), by_partition);
	facts->contents_known = ret == 0;
	if (ret < 0)
		snprintf(facts->contents_reason, sizeof(facts->contents_reason),
			 "reading it failed: %s", strerror(-ret));
	return 0;
}
