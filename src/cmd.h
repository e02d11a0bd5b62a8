/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands: what main.c dispatches to. Only cmd_*.c see every stage.
 */
#ifndef DMCT_CMD_H
#define DMCT_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "util/opt.h"
#include "util/status.h"

/* Options that every command takes, before or after its name. */
struct cmd_globals {
	bool help;
	bool version;
	bool json;
	bool quiet;                /* no progress and no notes on stderr */
	uint64_t progress_seconds; /* between two lines of it; 0: on a terminal, in one line */
	const char *sysroot;       /* NULL: this machine */
	const char *cpu_disable;   /* comma-separated CPU features to do without, or NULL */
};

struct cmd {
	const char *name;
	const char *operands; /* for the usage line: "[DEVICE]" */
	const char *summary;  /* one line */
	const char *details;  /* the rest of the help text */
	const struct opt *options;
	void *dest; /* the struct that `options` fill; static, set to the defaults at start */
	int min_operands, max_operands;

	/*
	 * Does the work. operands[] are what stands on the command line beside options, n of them.
	 * On success returns 0 or a positive exit status (a check that failed), with its result on
	 * stdout. On failure returns -errno with *st filled; main() then prints the one error
	 * message, on stderr, or as JSON on stdout under --json.
	 */
	int (*run)(const struct cmd_globals *globals, char **operands, int n, struct status *st);
};

extern const struct cmd cmd_probe, cmd_bench, cmd_compare, cmd_recommend, cmd_format, cmd_undo,
	cmd_inspect, cmd_tune, cmd_reencrypt;

/* A sentence on stderr after the program's name, also under --quiet; control characters in it (of a
 * path, say) become '?'. */
void cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A note or warning for the person at the terminal, on stderr; silent under --quiet. */
void cmd_note(const struct cmd_globals *globals, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What was done is done, but its report could not be written for want of `err`: *st says both
 * (ST_CHECK). -err. */
int cmd_unreported(const char *what, const char *done, int err, struct status *st);

/*
 * Asks on the terminal "BEFORE path AFTER", and takes "YES" alone for a yes. 0, or -errno with *st:
 * no terminal or another answer (ST_REFUSED), a signal (ST_SIGNAL + N). doing: a verb for the first
 * of these, which cmd_can_ask() tells ahead.
 */
int cmd_ask_yes(const char *path, const char *doing, const char *before, const char *after,
		struct status *st);
int cmd_can_ask(const char *path, const char *doing, struct status *st);

#endif
