/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The secret that opens a volume: raw bytes, exactly as given. Held in memory that is locked where
 * the limits allow it, left out of core files, and wiped.
 */
#ifndef DMCT_VOLUME_SECRET_H
#define DMCT_VOLUME_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "util/status.h"

#define SECRET_FILE_MAX   (8UL << 20) /* cryptsetup's compiled-in limit for key files (8192 KiB) */
#define SECRET_PROMPT_MAX 512         /* and for passphrases typed at a prompt */

struct secret {
	unsigned char *bytes;
	size_t len;
	bool typed; /* on a terminal */
};

struct secret_source {
	const char *key_file;   /* a path, or "-": standard input; or NULL */
	int key_fd;             /* an open descriptor read to its end; -1: none */
	const char *prompt_for; /* what the prompt names: the device */
	bool verify;            /* ask twice */
};

/* Makes this process leave no core file and not be traceable, so that a secret stays in it. Called
 * before one is read. */
void secret_harden_process(void);

/*
 * Reads the secret. key_file and key_fd are read whole, as raw bytes, newlines and NULs included,
 * but never more than SECRET_FILE_MAX (an endless file is an error, not a hang). Where they are a
 * terminal, what is typed must not be seen: it is asked for there as a passphrase. Without either
 * it is asked for on the terminal, twice when `verify`, without echo, up to the newline, which is
 * not part of it; the terminal's settings come back on every path, signals included. Errors, with
 * *st: a key file that is missing, a directory or too long (ST_USAGE); no permission, an empty
 * secret, no terminal to ask on, two that differ (ST_AUTH); -EINTR with ST_SIGNAL + N.
 * secret_free() wipes.
 */
int secret_read(struct secret *secret, const struct secret_source *source, struct status *st);
void secret_free(struct secret *secret);

/* Room for a secret of len bytes (SECRET_FILE_MAX at most), of that same memory. 0 or -ENOMEM. */
int secret_make(struct secret *secret, size_t len);

/* Whether there is a terminal to ask on: 0, or -ENOTTY with *st (ST_AUTH). Asks nothing. */
int secret_check_terminal(struct status *st);

#endif
