/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that a format does to a device, known as data before the first write: what will be
 * overwritten, what stands there, and what comes there. Writing it and taking it back go in an
 * order such that, wherever either is cut short (a kill, a power cut, a disk that fails), the
 * device holds what it held, or the new volume, or nothing that opens.
 *
 * A stretch is in one of three states: as it was; blank, which is as it was but for the marks by
 * which old contents are recognised, which are zeros; and new. The way there: blank the marks;
 * write all of the header area but the header's copies; write the copies, one after the other. The
 * way back: blank the copies; put all back but the marks; put the marks back. Each step is on the
 * medium (fsync) before the next begins. Within a step the order does not matter: an old header
 * whose mark is still there has all that belongs to it, a copy of the new one likewise.
 */
#ifndef DMCT_VOLUME_CHANGE_H
#define DMCT_VOLUME_CHANGE_H

#include "volume/extent.h"
#include "volume/guard.h"

/* What can be told apart of a write that was cut short; every device writes whole ones. */
#define CHANGE_SECTOR 512U

#define CHANGE_COPIES 2

struct change {
	struct extents marks;        /* in order */
	struct extents areas;        /* all that is overwritten, in whole sectors, in order */
	unsigned char *before;       /* what stands in the areas, one after the other */
	uint64_t header_len;         /* the header area: [0, header_len), within the first area; 0:
					it stands elsewhere, and only marks go */
	const unsigned char *header; /* what comes there, not owned; NULL when only taking back */
	/* The header's copies, in the order in which they are written. Unused: len 0. */
	struct extent copies[CHANGE_COPIES];
};

enum change_state { CHANGE_BEFORE, CHANGE_BLANK, CHANGE_AFTER };

/*
 * Finds the marks on the device and reads what will be overwritten; header, header_len and copies
 * being set. 0, or -errno with *st (ST_REFUSED: it cannot be read; ST_NOMEM). change_free()
 * releases it, also after a failure.
 */
int change_prepare(struct change *change, const struct guard *guard, struct status *st);

/* Bytes [at, at + len) of the areas in that state, at counted over all areas, one after the other;
 * within one area. */
void change_bytes(const struct change *change, enum change_state state, uint64_t at, size_t len,
		  unsigned char *out);

/* Writes it. 0 or -errno, with *step saying what failed ("the old contents' marks", …). */
int change_apply(const struct change *change, int fd, const char **step);

/* The same in two: all but the header's copies, and those. */
int change_begin(const struct change *change, int fd, const char **step);
int change_finish(const struct change *change, int fd, const char **step);

/*
 * Puts back what differs from how it was. Returns 0 when nothing did, 1, or -errno. *opens then
 * says whether the new volume may still open. May be repeated.
 */
int change_revert(const struct change *change, int fd, bool *opens);

void change_free(struct change *change);

#endif
