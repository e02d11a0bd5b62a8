/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changing the flags of a live mapping over a LUKS volume, and of its header. */
#ifndef DMCT_VOLUME_REFRESH_H
#define DMCT_VOLUME_REFRESH_H

#include "util/status.h"
#include "volume/mapping.h"
#include "volume/secret.h"

/*
 * Gives the mapping these flags (enum measure_flag) in the place of those of the same kind that it
 * has; the others stay. The kernel takes a new table while what is on the mapping stays in use.
 * header: where a detached header is, or NULL. persistent: the LUKS2 header gets them, too, after
 * that. Returns 0, or -errno with *st: a wrong secret (ST_AUTH); the mapping is as it was
 * (ST_REFUSED), or has the flags and the header has not (ST_CHECK).
 */
int refresh_flags(const struct mapping *mapping, const char *header, unsigned flags,
		  bool persistent, const struct secret *secret, struct status *st);

/* Those of the flags that libcryptsetup can set. */
unsigned refresh_possible(unsigned flags);

/* The flags (enum measure_flag) that the mapping has. */
unsigned refresh_current(const struct mapping *mapping);

#endif
