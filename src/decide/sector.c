// SPDX-License-Identifier: GPL-2.0-or-later
/* Which encryption sector sizes a device can have. */
#include <inttypes.h>
#include <stdio.h>

#include "decide/internal.h"

uint64_t decide_data_length(const struct device_facts *device, uint64_t data_offset)
{
	/* A file is used through a loop device, which sees whole 512-byte sectors only. */
	uint64_t size = device->kind == DEVICE_FILE ? device->size & ~511ULL : device->size;

	return size > data_offset ? size - data_offset : 0;
}

bool sector_allowed(const struct device_facts *device, const struct spec_kind *kind,
		    unsigned sector, bool insisted, char *reason, size_t size)
{
	uint64_t length, begin;

	if (!device)
		return true;
	/* libcryptsetup goes by a file's exact length for all but 512-byte sectors, although the
	 * loop device that it is used through ends at a whole 512 (lib/setup.c, 2.6). */
	length = sector == SPEC_SECTOR_MIN         ? decide_data_length(device, PLAN_DATA_OFFSET)
		 : device->size > PLAN_DATA_OFFSET ? device->size - PLAN_DATA_OFFSET
						   : 0;
	begin = device->start + PLAN_DATA_OFFSET;
	if (length % sector)
		snprintf(reason, size, "%u does not divide the data area's %" PRIu64 " bytes",
			 sector, length);
	else if (insisted)
		return true;
	else if (sector < device->logical_block)
		snprintf(reason, size, "the device's own blocks are %u bytes",
			 device->logical_block);
	else if (begin % sector)
		snprintf(reason, size,
			 "the data area begins at byte %" PRIu64
			 " of the disk, which %u does not divide",
			 begin, sector);
	else if (kind->wide_block && device->physical_block && sector > device->physical_block)
		snprintf(
			reason, size,
			"a write torn between the disk's %u-byte blocks would lose the whole %u-byte sector of a wide-block cipher",
			device->physical_block, sector);
	else
		return true;
	return false;
}
