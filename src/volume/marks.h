/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The marks (magic strings) by which libblkid recognises what is on a device. Only looks. */
#ifndef DMCT_VOLUME_MARKS_H
#define DMCT_VOLUME_MARKS_H

#include "facts/device.h"
#include "volume/extent.h"

/*
 * Lists, in order, every mark on the device: at its start and its end, each copy that there is, and
 * in each partition of a table found on it. With all of them blanked libblkid finds nothing any
 * more, also after the old partitions have been made again. 0, -ENOMEM, -EIO (it cannot be read),
 * or -EOVERFLOW (there is no end of them).
 */
int marks_find(struct extents *marks, int fd, const struct device_facts *device);

#endif
