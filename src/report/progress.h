/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line of progress on standard error, for what takes over a second, where a person can see it;
 * or a line each so many seconds, where that was asked for, for a log or another program.
 */
#ifndef DMCT_REPORT_PROGRESS_H
#define DMCT_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
	bool silent;   /* --quiet, or standard error is no terminal and no lines are wanted */
	bool shown;    /* what is to be wiped */
	bool finished; /* as lines: the last has been printed */
	struct timespec begun, last;
};

/* From here on, lines with so many seconds between them; 0: none. */
void progress_every(uint64_t seconds);

void progress_begin(struct progress *progress, bool quiet);
/* Shows how far (0 to 1) the work has come, at most ten times a second; as lines, its end (1) in
 * any case. `arg` is the struct progress. */
void progress_show(void *arg, double fraction, const char *what);
/* Wipes the line. */
void progress_end(struct progress *progress);

#endif
