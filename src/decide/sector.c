// SPDX-License-Identifier: GPL-2.0-or-later
/* Which encryption sector sizes a device can have. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decide/internal.h"

bool decide_optimal_io_sane(const struct device_facts *device)
{
	return device->optimal_io && device->optimal_io % 4096 == 0 &&
	       device->optimal_io <= PLAN_DATA_OFFSET;
}

uint64_t decide_data_offset(const struct device_facts *device, const struct plan_place *place)
{
	uint64_t io;

	if (place->given || place->detached)
		return place->given ? place->offset : 0;
	if (!device || !decide_optimal_io_sane(device))
		return PLAN_DATA_OFFSET;
	io = device->optimal_io;
	return (PLAN_DATA_OFFSET + io - 1) / io * io;
}

uint64_t decide_data_length(const struct device_facts *device, uint64_t data_offset)
{
	/* A file is used through a loop device, which sees whole 512-byte sectors only. */
	uint64_t size = device->kind == DEVICE_FILE ? device->size & ~511ULL : device->size;

	return size > data_offset ? size - data_offset : 0;
}

/* Whether dm-crypt's version is known and has no sectors but of 512 bytes (before 1.17,
 * Linux 4.12). */
static bool old_dm_crypt(const struct kernel_dm *dm)
{
	return (dm->version[0] || dm->version[1]) &&
	       (dm->version[0] < 1 || (dm->version[0] == 1 && dm->version[1] < 17));
}

/* Where the data begins, counted from the last place at which the disk's blocks begin. */
static uint64_t off_block(const struct device_facts *device, uint64_t data_offset)
{
	uint64_t block = device->physical_block ? device->physical_block : SPEC_SECTOR_MIN;

	return (data_offset + block - device->alignment_offset % block) % block;
}

/* The largest sector that the disk writes whole or not at all; 0: not known. An image may come to
 * lie on any disk. */
static unsigned whole_write(const struct device_facts *device, enum plan_use use, unsigned sector)
{
	if (use == PLAN_FOR_IMAGE)
		return SPEC_SECTOR_MIN;
	if (device->atomic_unit_min <= sector && sector <= device->atomic_unit_max)
		return sector;
	return device->physical_block;
}

static bool fits_device(const struct decide_input *input, const struct spec_kind *kind,
			unsigned sector, char *reason, size_t size)
{
	const struct device_facts *device = input->device;
	uint64_t offset = decide_data_offset(device, &input->place), begin = device->start + offset;
	enum plan_use use = input->use;
	unsigned whole = whole_write(device, use, sector);

	if (sector < device->logical_block && use != PLAN_FOR_GRUB)
		snprintf(reason, size, "the device's own blocks are %u bytes",
			 device->logical_block);
	else if (begin % sector)
		snprintf(reason, size,
			 "the data area begins at byte %" PRIu64
			 " of the disk, which %u does not divide",
			 begin, sector);
	else if (sector > SPEC_SECTOR_MIN && off_block(device, offset) % sector)
		snprintf(reason, size,
			 "the disk's blocks of %u bytes begin %" PRIu64
			 " bytes off (alignment offset), so that each sector would lie across two",
			 device->physical_block, device->alignment_offset);
	else if (whole && sector > whole && !strcmp(kind->mode, "cbc") && !kind->integrity)
		snprintf(
			reason, size,
			"a write torn between the disk's %u-byte blocks would spoil the 16 bytes after the tear, since CBC chains the blocks of a %u-byte sector",
			whole, sector);
	else if (kind->wide_block && whole && sector > whole)
		snprintf(
			reason, size,
			"a write torn between the disk's %u-byte blocks would lose the whole %u-byte sector of a wide-block cipher",
			whole, sector);
	else
		return true;
	return false;
}

/* Whether random nonces run out before the volume has been written over often enough. */
static bool runs_out(const struct decide_input *input, const struct spec_kind *kind,
		     unsigned sector, char *reason, size_t size)
{
	uint64_t length = decide_data_length(input->device,
					     decide_data_offset(input->device, &input->place));
	double times;

	if (!kind->writes_limit || !length)
		return false;
	times = (double)kind->writes_limit / ((double)length / sector);
	if (times >= input->policy->overwrites)
		return false;
	snprintf(
		reason, size,
		"with random 96-bit nonces a key is good for 2^32 sectors, which is this volume written over %.1f times, and %.0f are asked for",
		times, input->policy->overwrites);
	return true;
}

/* What the volume's use asks of its sectors, or NULL. */
static const char *against_use(const struct decide_input *input, unsigned sector, bool insisted)
{
	unsigned own = input->device && input->device->logical_block ? input->device->logical_block
								     : SPEC_SECTOR_MIN;

	if (input->use == PLAN_FOR_GRUB && sector != SPEC_SECTOR_MIN)
		return "GRUB is to open it, which is sure of 512-byte sectors only";
	if (insisted || sector <= own)
		return NULL;
	if (input->use == PLAN_FOR_LVM)
		return "the mapping's blocks would be larger than the disk's own, and LVM takes no disks of different block sizes into one group";
	if (input->use == PLAN_FOR_VM)
		return "a guest would see a disk of larger blocks than this one's: images and partition tables made for those do not work there";
	return NULL;
}

bool sector_allowed(const struct decide_input *input, const struct spec_kind *kind, unsigned sector,
		    bool insisted, char *reason, size_t size)
{
	const struct device_facts *device = input->device;
	const struct kernel_dm *dm = &input->facts->kernel.dm;
	const char *against = against_use(input, sector, insisted);
	uint64_t offset, length;

	if (against) {
		snprintf(reason, size, "%s", against);
		return false;
	}
	if (sector > SPEC_SECTOR_MIN && !insisted && old_dm_crypt(dm)) {
		snprintf(
			reason, size,
			"dm-crypt %u.%u.%u here has only sectors of 512 bytes; others came with 1.17",
			dm->version[0], dm->version[1], dm->version[2]);
		return false;
	}
	if (!device)
		return true;
	/* libcryptsetup goes by a file's exact length for all but 512-byte sectors, although the
	 * loop device that it is used through ends at a whole 512 (lib/setup.c, 2.6). */
	offset = decide_data_offset(device, &input->place);
	length = sector == SPEC_SECTOR_MIN ? decide_data_length(device, offset)
		 : device->size > offset   ? device->size - offset
					   : 0;
	if (length % sector) {
		snprintf(reason, size, "%u does not divide the data area's %" PRIu64 " bytes",
			 sector, length);
		return false;
	}
	if (!insisted && runs_out(input, kind, sector, reason, size))
		return false;
	return insisted || fits_device(input, kind, sector, reason, size);
}

unsigned decide_largest_sector(const struct facts *facts, const struct device_facts *device)
{
	struct decide_input input = {.facts = facts, .device = device};
	char reason[192];
	unsigned s = SPEC_SECTOR_MAX;

	/* The first of spec_kinds[] is AES-XTS. */
	while (s > SPEC_SECTOR_MIN &&
	       !sector_allowed(&input, spec_kinds, s, false, reason, sizeof(reason)))
		s /= 2;
	return s;
}
