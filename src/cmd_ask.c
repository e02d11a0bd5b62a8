// SPDX-License-Identifier: GPL-2.0-or-later
/* The question before what cannot be taken back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "util/terminal.h"

int cmd_can_ask(const char *path, const char *doing, struct status *st)
{
	if (isatty(STDIN_FILENO))
		return 0;
	return status_set(
		st, ST_REFUSED, ENOTTY,
		"There is no terminal to ask on whether to %s %s; --yes says that you mean it. "
		"Nothing was written.",
		doing, path);
}

int cmd_ask_yes(const char *path, const char *doing, const char *before, const char *after,
		struct status *st)
{
	unsigned char answer[16];
	char question[4300];
	size_t len = 0;
	int sig = 0, ret;

	ret = cmd_can_ask(path, doing, st);
	if (ret)
		return ret;
	snprintf(question, sizeof(question), "%s %s %s", before, path, after);
	ret = terminal_ask(STDIN_FILENO, question, true, answer, sizeof(answer), &len, &sig);
	if (ret == -EINTR)
		return status_set(st, ST_SIGNAL + sig, EINTR, "Interrupted. Nothing was written.");
	if (ret || len != 3 || memcmp(answer, "YES", 3))
		return status_set(st, ST_REFUSED, ECANCELED,
				  "The answer was not YES. Nothing was written.");
	return 0;
}
