/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exit status and the one error that a command reports.
 *
 * A stage's function returns 0 or -errno and prints nothing. Where the caller could not put the
 * fault into words from the errno alone, the function also takes a `struct status`: it says there,
 * once, which exit status the program ends with and a sentence with the value that was wrong, what
 * is allowed and what to do.
 */
#ifndef DMCT_UTIL_STATUS_H
#define DMCT_UTIL_STATUS_H

/* The program's exit status; 0 to 5 have cryptsetup(8)'s meaning where it has one. */
enum exit_status {
	ST_OK = 0,
	ST_USAGE = 1,   /* the command line is wrong */
	ST_AUTH = 2,    /* no permission, or no or a wrong passphrase */
	ST_NOMEM = 3,   /* out of memory */
	ST_DEVICE = 4,  /* wrong device: missing, of a wrong type, too small, read-only */
	ST_BUSY = 5,    /* the device is in use */
	ST_REFUSED = 6, /* refused, nothing written */
	ST_MISSING = 7, /* something needed is unavailable */
	ST_CHECK = 8,   /* a check failed */
	ST_SIGNAL = 128 /* + N: ended by signal N */
};

struct status {
	enum exit_status code;
	char message[1024];
};

/*
 * Fills *st (which may be NULL) with an exit status and a sentence, and returns -err, so that a
 * function can say `return status_set(st, ST_DEVICE, ENOENT, "...")`. err is a positive errno. A
 * later call overwrites an earlier one.
 */
int status_set(struct status *st, enum exit_status code, int err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for plain lack of memory: status ST_NOMEM, -ENOMEM. */
int status_nomem(struct status *st);

/* A stable short name of an exit status for scripts: "usage", "permission", "in-use", … */
const char *status_name(int code);

/*
 * A stable name of an errno ("ENOENT"), or "errno-N" where the C library has none. err may be
 * negative. The result is static or lives in a per-thread buffer until the next call.
 */
const char *errno_name(int err);

#endif
