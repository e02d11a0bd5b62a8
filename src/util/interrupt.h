/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting for input so that a signal ends the wait without a race, and holding signals back while
 * something must not be cut short.
 */
#ifndef DMCT_UTIL_INTERRUPT_H
#define DMCT_UTIL_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Every signal that would end the process and does not stem from what it does itself, but those
 * that cannot be caught; and SIGTSTP. */
#define INTERRUPT_SIGNALS_MAX 72

/*
 * From here on the first signal that would end the process (SIGINT, SIGTERM, SIGHUP, SIGUSR1,
 * SIGALRM …) is noted, for the work to end at its next step; a second one of the same kind ends the
 * process at once. Those that were ignored stay ignored. A closed pipe or a file size limit becomes
 * an error to report instead of a way to die half-way.
 */
void interrupt_catch(void);
/* The signal noted, or 0. */
int interrupt_caught(void);

struct interrupt {
	sigset_t mask; /* the mask from before */
	struct sigaction old[INTERRUPT_SIGNALS_MAX];
	bool ours[INTERRUPT_SIGNALS_MAX];
};

/*
 * From here to interrupt_end() the signals that would end the process (and SIGTSTP when `suspend`)
 * are taken only inside interrupt_wait(), and end it. Those that were ignored stay ignored (nohup).
 */
void interrupt_begin(struct interrupt *in, bool suspend);

/*
 * Waits until fd can be read without blocking: 0, -ETIMEDOUT after timeout_ms (negative: never),
 * -EINTR with the signal's number in *sig, or another -errno.
 */
int interrupt_wait(struct interrupt *in, int fd, int timeout_ms, int *sig);

/* Puts handlers and mask back. Signals still pending are then delivered as before. */
void interrupt_end(struct interrupt *in);

/* A signal that waits while they are held and would have ended the process, or 0. */
int interrupt_pending(void);

/* Blocks every signal that can be blocked and does not stem from a fault of our own; *old gets the
 * mask from before. */
void interrupt_hold(sigset_t *old);

#endif
