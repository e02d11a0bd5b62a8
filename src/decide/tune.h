/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of dm-crypt's flags a live mapping should have, from what each was measured to do. Pure. */
#ifndef DMCT_DECIDE_TUNE_H
#define DMCT_DECIDE_TUNE_H

#include "measure/flags.h"
#include "measure/measure.h"

#define TUNE_SETS_MAX (FLAGS_SETS_MAX + 1)

/* A set of flags. Index 0: one request at a time; 1: several in flight. */
struct tune_set {
	unsigned flags;
	double read[2], write[2];         /* bytes per second; 0: not measured */
	double mixed[2], low[2], high[2]; /* by the read share; low and high: of the quartiles */
};

struct tune {
	struct tune_set sets[TUNE_SETS_MAX];
	size_t n;
	const struct tune_set *now, *best; /* best: what to set, which may be now; now is NULL where
					      it was not measured */
	double gain;                       /* best's over now's, one request at a time */
	char reason[500];
};

/*
 * Fills *tune from the dm engine's figures of spec at the depths 1 and `depth`. A set takes the
 * place of `now` where it is at least 1.1 times as fast with one request at a time, its quartiles
 * apart from the other's, and loses no more than a twentieth with several; of those the fastest,
 * and of equals (within 3 %) the one with the fewest flags. On a disk that rotates the queue of
 * writes stays where it is: there dm-crypt sorts them (drivers/md/dm-crypt.c, dmcrypt_write()).
 */
void decide_tune(struct tune *tune, const struct measurement *m, const struct spec *spec,
		 unsigned depth, unsigned now, double read_share, bool rotates);

#endif
