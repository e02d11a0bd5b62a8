// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/stop.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t caught;
static unsigned depth;

static void catch_signal(int number)
{
	caught = number;
}

void stop_begin(struct stop *stop)
{
	struct sigaction action;

	if (depth++)
		return;
	caught = 0;
	memset(&action, 0, sizeof(action));
	action.sa_handler = catch_signal;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], NULL, &stop->before[i]);
		if (stop->before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

void stop_end(const struct stop *stop)
{
	if (--depth)
		return;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &stop->before[i], NULL);
}

int stop_signal(void)
{
	return caught;
}

int stop_status(struct status *st)
{
	return status_set(st, ST_SIGNAL + caught, EINTR, "Stopped by signal %d (%s).", caught,
			  strsignal(caught));
}
