// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/progress.h"

#include <stdio.h>
#include <unistd.h>

/* Work shorter than this ends before its progress could be read. */
#define QUIET_SECONDS   1.0
#define REFRESH_SECONDS 0.1

static uint64_t every;

void progress_every(uint64_t seconds)
{
	every = seconds;
}

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
	return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

void progress_begin(struct progress *p, bool quiet)
{
	p->silent = quiet || (!every && !isatty(STDERR_FILENO));
	p->shown = p->finished = false;
	clock_gettime(CLOCK_MONOTONIC, &p->begun);
	p->last = p->begun;
}

static bool is_due(const struct progress *p, const struct timespec *now, double fraction)
{
	double begun = seconds_between(&p->begun, now), last = seconds_between(&p->last, now);

	if (every)
		return last >= (double)every || (fraction >= 1 && begun >= (double)every);
	return begun >= QUIET_SECONDS && last >= REFRESH_SECONDS;
}

void progress_show(void *arg, double fraction, const char *what)
{
	struct progress *p = arg;
	struct timespec now;

	if (p->silent || p->finished)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!is_due(p, &now, fraction))
		return;
	p->last = now;
	if (every) {
		fprintf(stderr, "%3.0f %%  %s\n", 100 * fraction, what);
		p->finished = fraction >= 1;
		return;
	}
	p->shown = true;
	fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * fraction, what);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
