/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lock that libcryptsetup holds while it reads or writes LUKS2 metadata (its
 * docs/LUKS2-locking.txt), for the places where this program does that itself. Not to be held while
 * libcryptsetup is called on the same header, which would wait for it.
 */
#ifndef DMCT_VOLUME_HEADER_LOCK_H
#define DMCT_VOLUME_HEADER_LOCK_H

#include <stdbool.h>

/*
 * Takes it, for writing, of the device or file on fd; waits a few seconds for who has it. Returns a
 * descriptor for header_unlock(), or -EBUSY, or -errno where it cannot be had. A file stays locked
 * until fd is closed.
 */
int header_lock(int fd);
/* lock: a negative one is nothing to do. */
void header_unlock(int lock, int fd);

/* Whether a process holds the lock of the re-encryption of the volume of that UUID, and so is at
 * work on it. */
bool header_reencrypting(const char *uuid);

#endif
