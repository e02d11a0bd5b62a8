// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

static const int numbers[INTERRUPT_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

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
	for (int i = 0; i < INTERRUPT_SIGNALS; i++)
		if (numbers[i] != SIGTSTP && !sigaction(numbers[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
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
	for (int i = 0; i < INTERRUPT_SIGNALS; i++) {
		in->ours[i] = false;
		if (numbers[i] == SIGTSTP && !suspend)
			continue;
		if (sigaction(numbers[i], NULL, &in->old[i]) || in->old[i].sa_handler == SIG_IGN)
			continue;
		in->ours[i] = true;
		sigaddset(&block, numbers[i]);
	}
	/* First blocked, then ours: nothing arrives between the two. */
	sigprocmask(SIG_BLOCK, &block, &in->mask);
	noted = 0;
	for (int i = 0; i < INTERRUPT_SIGNALS; i++)
		if (in->ours[i])
			sigaction(numbers[i], &action, NULL);
}

int interrupt_wait(struct interrupt *in, int fd, int timeout_ms, int *sig)
{
	struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	struct pollfd poll = {.fd = fd, .events = POLLIN};
	sigset_t open = in->mask;
	int n;

	for (int i = 0; i < INTERRUPT_SIGNALS; i++)
		if (in->ours[i])
			sigdelset(&open, numbers[i]);
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
	for (int i = 0; i < INTERRUPT_SIGNALS; i++)
		if (in->ours[i])
			sigaction(numbers[i], &in->old[i], NULL);
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
