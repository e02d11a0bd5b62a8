// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/progress.h"

#include <stdio.h>
#include <unistd.h>

/* Work shorter than this ends before its progress could be read. */
#define QUIET_SECONDS   1.0
#define REFRESH_SECONDS 0.1

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
	return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

void progress_begin(struct progress *p, bool quiet)
{
	p->silent = quiet || !isatty(STDERR_FILENO);
	p->shown = false;
	clock_gettime(CLOCK_MONOTONIC, &p->begun);
	p->last = p->begun;
}

void progress_show(void *arg, double fraction, const char *what)
{
	struct progress *p = arg;
	struct timespec now;

	if (p->silent)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (seconds_between(&p->begun, &now) < QUIET_SECONDS ||
	    seconds_between(&p->last, &now) < REFRESH_SECONDS)
		return;
	p->last = now;
	p->shown = true;
	fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * fraction, what);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
