// SPDX-License-Identifier: GPL-2.0-or-later
/* What a volume is to be re-encrypted to, and what that costs. */
#include <blkid/blkid.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_reencrypt.h"
#include "measure/disk_speed.h"

/* The block size of the file system on the mapping, in bytes; 0 when that cannot be told. */
static unsigned block_size(const char *mapping)
{
	const char *value = NULL;
	unsigned size = 0;
	blkid_probe probe;
	char path[300];

	snprintf(path, sizeof(path), "/dev/mapper/%s", mapping);
	probe = blkid_new_probe_from_filename(path);
	if (!probe)
		return 0;
	blkid_probe_enable_superblocks(probe, 1);
	if (!blkid_do_safeprobe(probe) &&
	    !blkid_probe_lookup_value(probe, "BLOCK_SIZE", &value, NULL))
		size = (unsigned)strtoul(value, NULL, 10);
	blkid_free_probe(probe);
	return size;
}

/*
 * Larger sectors change the logical block size of the mapping. A file system with smaller blocks
 * can then not be mounted any more, and only while the volume is open can that be seen.
 */
static int check_sector(const struct reencryption *r, struct status *st)
{
	unsigned blocks;

	if (r->spec.sector <= r->header.sector)
		return 0;
	if (!r->online)
		return status_set(
			st, ST_REFUSED, EINVAL,
			"--sector-size %u: the volume has sectors of %u, and what is in it "
			"may have blocks smaller than the new ones, which would make it "
			"unusable; that can only be seen while it is open. Open it, or keep "
			"the sector size. Nothing was written.",
			r->spec.sector, r->header.sector);
	blocks = block_size(r->mapping);
	if (blocks >= r->spec.sector && blocks % r->spec.sector == 0)
		return 0;
	if (!blocks)
		return status_set(
			st, ST_REFUSED, EINVAL,
			"--sector-size %u: what is in %s does not say its block size (it "
			"may be LVM, partitions, or nothing known); with smaller blocks it "
			"would be unusable. Nothing was written.",
			r->spec.sector, r->mapping);
	return status_set(st, ST_REFUSED, EINVAL,
			  "--sector-size %u: the file system in %s has blocks of %u, and could not "
			  "be mounted any more. Nothing was written.",
			  r->spec.sector, r->mapping, blocks);
}

/* Each byte is read, decrypted, encrypted and written, one after the other. */
static void reckon(struct reencryption *r)
{
	const struct plan *now = &r->now, *plan = &r->plan;
	double per_byte, disk = r->source.has_disk ? r->source.disk.speed : 0;

	if (!r->has_now || !(now->decrypt > 0) || !(plan->encrypt > 0))
		return;
	per_byte = 1 / now->decrypt + 1 / plan->encrypt + (disk > 0 ? 2 / disk : 0);
	r->seconds = per_byte * (double)r->bytes;
}

const struct device_facts *reencryption_device(const struct reencryption *r)
{
	return r->online ? &r->device : &r->guard.device;
}

int reencryption_plan(struct reencryption *r, struct status *st)
{
	const struct device_facts *device = reencryption_device(r);
	struct plan_options options = r->options->plan;
	struct status why = {0};
	int ret;

	r->bytes = device->size > r->header.data_offset ? device->size - r->header.data_offset : 0;
	if (!r->bytes)
		return status_set(st, ST_DEVICE, ENODATA,
				  "%s has %" PRIu64
				  " bytes, and the data would begin at byte %" PRIu64
				  ": there is nothing on it to re-encrypt.",
				  r->path, device->size, r->header.data_offset);
	if (r->resumed)
		return 0;
	/* With the header elsewhere it may be smaller than one. */
	options.place.detached = !r->header.data_offset;
	if (decide_check_device(device, &options.place, &why))
		device = NULL;
	/* Unless asked for, the sectors stay: see check_sector(). */
	if (!options.sector_size)
		options.sector_size = r->header.sector;
	options.also = r->header.known ? &r->header.spec : NULL;
	ret = cmd_plan_make(&r->plan, &r->source, r->globals, &options, device, st);
	if (ret)
		return ret;
	r->has_plan = true;
	r->spec = r->plan.spec;
	if (r->spec.kind->integrity)
		return status_set(st, ST_REFUSED, EOPNOTSUPP,
				  "A volume cannot be re-encrypted to one with integrity: the tags "
				  "need room that it does not have. Nothing was written.");
	if (r->header.known)
		r->has_now = !cmd_plan_judge(&r->now, &r->source, &r->header.spec, &why);
	r->nothing = r->header.known && spec_equal(&r->header.spec, &r->spec);
	reckon(r);
	return r->nothing ? 0 : check_sector(r, st);
}
