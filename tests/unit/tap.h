/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Test Anything Protocol, as much as the unit tests need: ok(), then tap_done() as main()'s
 * value. */
#ifndef DMCT_TESTS_TAP_H
#define DMCT_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

/* One test: passed or not, with a description that names the values. Returns `passed`. */
__attribute__((format(printf, 2, 3), unused)) static bool ok(bool passed, const char *format, ...)
{
	va_list ap;

	printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !passed;
	return passed;
}

/* One test that cannot run here, and what is missing. */
__attribute__((format(printf, 1, 2), unused)) static void tap_skip(const char *format, ...)
{
	va_list ap;

	printf("ok %d # SKIP ", ++tap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

/* Prints the plan and returns the program's exit status. */
__attribute__((unused)) static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
