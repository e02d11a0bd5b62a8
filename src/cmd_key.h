/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that say where the secret of a volume comes from. */
#ifndef DMCT_CMD_KEY_H
#define DMCT_CMD_KEY_H

#include <limits.h>
#include <stdint.h>

#include "util/opt.h"
#include "volume/secret.h"

#define KEY_FD_NONE UINT64_MAX

struct key_options {
	const char *key_file; /* or NULL */
	uint64_t key_fd;      /* or KEY_FD_NONE */
};

/* clang-format off */
#define KEY_OPTIONS(type, member) \
	{ "key-file", 'd', OPT_STRING, "FILE", offsetof(type, member) + offsetof(struct key_options, key_file), 0, 0, \
	  "Read the secret from FILE (-: standard input), all of\nit, newlines included. Without it, or " \
	  "from a\nterminal, a passphrase is asked for." }, \
	{ "key-fd", 0, OPT_UINT, "N", offsetof(type, member) + offsetof(struct key_options, key_fd), 0, INT_MAX, \
	  "Read the secret from the open file descriptor N." }
/* clang-format on */

/* Whether a descriptor can be read a secret from. 0, or -EBADF with *st (ST_USAGE). */
int cmd_key_fd_check(int fd, struct status *st);
/* Checks both options. As the last. */
int cmd_key_check(const struct key_options *options, struct status *st);
/* Reads the secret of a volume that there is; `of` names it at the prompt. As secret_read(). */
int cmd_key_read(struct secret *secret, const struct key_options *options, const char *of,
		 struct status *st);

#endif
