/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a re-encryption that libcryptsetup (2.6) cannot go on with. All data done, it removes
 * the old keyslots, then the area that protected the work, and last the mark that a re-encryption
 * is under way. Cut short between the first and the last, it wants a keyslot of the old key, to
 * open as well as to go on, and there is none any more.
 */
#ifndef DMCT_VOLUME_REENCRYPT_FINISH_H
#define DMCT_VOLUME_REENCRYPT_FINISH_H

#include "util/status.h"
#include "volume/inspect.h"
#include "volume/secret.h"

/*
 * Whether the header on fd is of that kind: all data are one segment, the new volume's, of the new
 * key, and only the mark says that something is under way. 1, 0, or -errno.
 */
int reencrypt_is_left(const struct inspect *inspect, int fd);

/*
 * Writes the header that libcryptsetup would have left: the segment, the new keyslots, no mark. It
 * is made in memory, loaded there by libcryptsetup and opened with the secret first; the second
 * copy is written after the first is on the medium, and where the keyslots were is wiped. fd: for
 * reading and writing. 0, or -errno with *st (ST_AUTH: the secret; ST_REFUSED: nothing was written;
 * ST_CHECK).
 */
int reencrypt_finish(const struct inspect *inspect, int fd, uint64_t device_size,
		     const struct secret *secret, const char *name, struct status *st);

#endif
