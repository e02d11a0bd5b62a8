/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of `inspect`'s reading. */
#ifndef DMCT_VOLUME_INSPECT_INTERNAL_H
#define DMCT_VOLUME_INSPECT_INTERNAL_H

#include "volume/inspect.h"

/*
 * What libcryptsetup's interface does not tell, or only after rounding it to its own types, read in
 * the metadata themselves, `len` bytes from the device's beginning: the names of requirements that
 * it does not know, costs that cannot be, and whether of a re-encryption only the end is left. What
 * cannot be read leaves *inspect as it is.
 */
void inspect_metadata(struct inspect *inspect, const unsigned char *bytes, size_t len);

/* Looks at the area of each keyslot on fd, of `size` bytes: whether it is there, and is what an
 * encrypted key looks like. 0 or -errno. */
int inspect_areas(struct inspect *inspect, int fd, uint64_t size);

#endif
