/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stopping on SIGINT, SIGTERM and SIGHUP: a flag that the measuring looks at between slices. */
#ifndef DMCT_MEASURE_STOP_H
#define DMCT_MEASURE_STOP_H

#include <signal.h>

#include "util/status.h"

/* What the signals did before. */
struct stop {
	struct sigaction before[3];
};

/* From here to stop_end() the signals set the flag; those that were ignored (nohup, a shell's
 * background job) stay so. Within another such pair it changes nothing. */
void stop_begin(struct stop *stop);
void stop_end(const struct stop *stop);

/* The signal that came since stop_begin(), or 0. */
int stop_signal(void);

/* That signal as the exit status and sentence that it gets: -EINTR. */
int stop_status(struct status *st);

#endif
