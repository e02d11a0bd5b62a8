/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a re-encryption that libcryptsetup (2.6 to 2.8) cannot go on with. All data done, it
 * marks them as one segment, removes the old keyslots one by one, and last the area that protected
 * the work with the mark that a re-encryption is under way. Cut short before the first keyslot is
 * gone, it begins anew at byte 0 (one segment is what it takes for none done) and so decrypts with
 * the old key what is the new one's: every byte is lost. Cut short after that, it wants a keyslot
 * of the old key, to open as well as to go on, and there is none any more.
 *
 * None of its functions makes the rest: under that mark all that change the header are refused but
 * those that remove a keyslot, none removes a backup segment, and crypt_header_restore(), which
 * would want the same metadata made here, writes over both copies at once.
 */
#ifndef DMCT_VOLUME_REENCRYPT_FINISH_H
#define DMCT_VOLUME_REENCRYPT_FINISH_H

#include "util/status.h"
#include "volume/inspect.h"
#include "volume/secret.h"

/*
 * Writes the header that libcryptsetup would have left to fd (open for reading and writing; data
 * on a device of device_size bytes), where inspect says reencrypt_left: the segment, the new
 * keyslots, no mark. Under libcryptsetup's own lock it is read anew, made in memory, loaded there
 * by libcryptsetup and opened with the secret; then the copy that counted is written after the
 * other one is on the medium, and where the keyslots were is wiped. 0, or -errno with *st (ST_AUTH:
 * the secret; ST_BUSY: the lock; ST_REFUSED: nothing was written; ST_CHECK: it can be done again).
 */
int reencrypt_finish(int fd, uint64_t device_size, const struct secret *secret, const char *name,
		     struct status *st);

/* All of that but the lock and the writing; fd may be for reading only. */
int reencrypt_finish_rehearse(int fd, uint64_t device_size, const struct secret *secret,
			      const char *name, struct status *st);

/*
 * Of an area libcryptsetup stores the checksums or the journal, then the first copy of the header
 * that says that the area is at work, and flushes the disk's cache only then. What a power cut
 * leaves may therefore say so without what the area is to be put right by, which would destroy it.
 * The second copy does not say so yet in that case, and no byte of the area has been written, since
 * that comes after both. Where the copies are so, this makes the second one count (fd as above); a
 * header without that is left alone. 0, or -errno with *st.
 */
int reencrypt_roll_back(int fd, const char *name, struct status *st);

#endif
