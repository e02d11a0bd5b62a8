/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking the person at the terminal. Its settings come back on every path, signals included. */
#ifndef DMCT_UTIL_TERMINAL_H
#define DMCT_UTIL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A descriptor to ask on: /dev/tty, or standard input where that is a terminal and /dev/tty cannot
 * be had. -ENOTTY when there is none. *opened: to be closed by the caller.
 */
int terminal_open(bool *opened);

/*
 * Prints the question on the terminal fd (on standard error where fd cannot be written) and reads
 * one line into buf, without its newline and without a NUL; echo false: unseen. *len gets its
 * length. Errors: -EMSGSIZE (longer than size bytes; the rest of the line is thrown away), -ENODATA
 * (end of input), -EINTR with the signal in *sig, or another -errno. Suspending with SIGTSTP and
 * coming back asks again.
 */
int terminal_ask(int fd, const char *question, bool echo, unsigned char *buf, size_t size,
		 size_t *len, int *sig);

#endif
