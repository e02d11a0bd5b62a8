// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd_key.h"

#include <errno.h>
#include <fcntl.h>

int cmd_key_fd_check(int fd, struct status *st)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return status_set(st, ST_USAGE, EBADF, "--key-fd: descriptor %d is not open.", fd);
	/* Waiting to read from the end of a pipe that is for writing has no end. */
	if ((flags & O_ACCMODE) == O_WRONLY || (flags & O_PATH))
		return status_set(st, ST_USAGE, EBADF,
				  "--key-fd: descriptor %d is not open for reading.", fd);
	return 0;
}

int cmd_key_check(const struct key_options *o, struct status *st)
{
	if (o->key_file && o->key_fd != KEY_FD_NONE)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--key-file and --key-fd both say where the secret is: give one.");
	return o->key_fd == KEY_FD_NONE ? 0 : cmd_key_fd_check((int)o->key_fd, st);
}

int cmd_key_read(struct secret *secret, const struct key_options *o, const char *of,
		 struct status *st)
{
	struct secret_source source = {
		.key_file = o->key_file,
		.key_fd = o->key_fd == KEY_FD_NONE ? -1 : (int)o->key_fd,
		.prompt_for = of,
	};

	secret_harden_process();
	return secret_read(secret, &source, st);
}
