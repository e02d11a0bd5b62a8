// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/output.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

void output_begin(void)
{
	static char buffer[256 << 10];

	setvbuf(stdout, buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof(buffer));
}

int output_flush(void)
{
	static int failed;

	if (failed)
		return failed;
	errno = 0;
	if (fflush(stdout))
		failed = errno ? -errno : -EIO;
	else if (ferror(stdout))
		failed = -EIO;
	return failed;
}
