// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

/* signal(7); SIGPIPE and SIGXFSZ become errors of the call instead. The realtime signals too. Of
 * those that tell of a fault here are those that others send as well; a fault of the process's own
 * ends it all the same (abort(3), and what the kernel forces). */
static const int named[] = {SIGINT,    SIGTERM, SIGHUP,    SIGQUIT, SIGUSR1,
			    SIGUSR2,   SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU,
			    SIGIO,     SIGPWR,  SIGABRT,   SIGSYS,  SIGTRAP,
#ifdef SIGSTKFLT
			    SIGSTKFLT,
#endif
			    SIGTSTP};

#define NAMED (int)(sizeof(named) / sizeof(named[0]))

/* The i-th of the signals dealt with here, or 0 after the last. */
static int number(int i)
{
	if (i < NAMED)
		return named[i];
	return i < INTERRUPT_SIGNALS_MAX && SIGRTMIN + i - NAMED <= SIGRTMAX ? SIGRTMIN + i - NAMED
									     : 0;
}

static volatile sig_atomic_t caught, noted;

static void catch_signal(int sig)
{
	caught = sig;
}

void interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = catch_signal,
				   .sa_flags = SA_RESTART | (int)SA_RESETHAND},
			 old;

	sigemptyset(&action.sa_mask);
	for (int i = 0; number(i); i++)
		if (number(i) != SIGTSTP && !sigaction(number(i), NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(number(i), &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

int interrupt_caught(void)
{
	return caught;
}

static void note(int sig)
{
	noted = sig;
}

void interrupt_begin(struct interrupt *in, bool suspend)
{
	struct sigaction action = {.sa_handler = note};
	sigset_t block;

	sigemptyset(&block);
	sigemptyset(&action.sa_mask);
	for (int i = 0; number(i); i++) {
		in->ours[i] = false;
		if (number(i) == SIGTSTP && !suspend)
			continue;
		if (sigaction(number(i), NULL, &in->old[i]) || in->old[i].sa_handler == SIG_IGN)
			continue;
		in->ours[i] = true;
		sigaddset(&block, number(i));
	}
	/* First blocked, then ours: nothing arrives between the two. */
	sigprocmask(SIG_BLOCK, &block, &in->mask);
	noted = 0;
	for (int i = 0; number(i); i++)
		if (in->ours[i])
			sigaction(number(i), &action, NULL);
}

int interrupt_wait(struct interrupt *in, int fd, int timeout_ms, int *sig)
{
	struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	struct pollfd poll = {.fd = fd, .events = POLLIN};
	sigset_t open = in->mask;
	int n;

	for (int i = 0; number(i); i++)
		if (in->ours[i])
			sigdelset(&open, number(i));
	noted = 0;
	/* Other signals (SIGCONT, SIGWINCH) end ppoll() too, and mean nothing here. */
	do
		n = ppoll(&poll, 1, timeout_ms < 0 ? NULL : &limit, &open);
	while (n < 0 && errno == EINTR && !noted);
	if (n < 0 && errno == EINTR) {
		*sig = noted;
		return -EINTR;
	}
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

void interrupt_end(struct interrupt *in)
{
	for (int i = 0; number(i); i++)
		if (in->ours[i])
			sigaction(number(i), &in->old[i], NULL);
	sigprocmask(SIG_SETMASK, &in->mask, NULL);
}

void interrupt_hold(sigset_t *old)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&set, faults[i]);
	sigprocmask(SIG_BLOCK, &set, old);
}

int interrupt_pending(void)
{
	sigset_t set;

	if (sigpending(&set))
		return 0;
	for (int i = 0; number(i); i++)
		if (number(i) != SIGTSTP && sigismember(&set, number(i)) == 1)
			return number(i);
	return 0;
}
