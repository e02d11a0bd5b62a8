/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of progress on standard error, for what takes over a second; only where a person can see
 * it. */
#ifndef DMCT_REPORT_PROGRESS_H
#define DMCT_REPORT_PROGRESS_H

#include <stdbool.h>
#include <time.h>

struct progress {
	bool silent; /* --quiet, or standard error is no terminal */
	bool shown;
	struct timespec begun, last;
};

void progress_begin(struct progress *progress, bool quiet);
/* Shows how far (0 to 1) the work has come, at most ten times a second. `arg` is the struct
 * progress. */
void progress_show(void *arg, double fraction, const char *what);
/* Wipes the line. */
void progress_end(struct progress *progress);

#endif
