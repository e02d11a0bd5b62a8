/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command-line options as a table: one array per command gives both the parser and the help text,
 * so that they cannot disagree. Parsing is getopt_long(3)'s; long names must be written out in
 * full, since `--over` must not come to mean
 * `--overwrite`.
 */
#ifndef DMCT_UTIL_OPT_H
#define DMCT_UTIL_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/status.h"

enum opt_kind {
	OPT_FLAG,   /* no argument; destination bool */
	OPT_STRING, /* destination const char *, pointing into argv */
	OPT_UINT,   /* a decimal number within [min, max]; destination uint64_t */
	OPT_REAL /* a decimal fraction within [min, max], dot in every locale; destination double */
};

struct opt {
	const char *name; /* without the dashes; NULL ends a table */
	char letter;      /* short option, or 0 */
	enum opt_kind kind;
	const char *metavar; /* NULL for a flag */
	size_t offset;       /* of the destination in the command's own struct of options */
	uint64_t min, max;   /* for OPT_UINT and OPT_REAL */
	const char *help;    /* lines after the first are indented by the printer */
};

#define OPT_END                                                                                    \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* One table and the struct that its offsets point into. */
struct opt_group {
	const struct opt *table;
	void *dest;
	bool begun; /* an earlier parse has filled it, so a string that is there was given */
};

/*
 * Parses argv[1..], permuting operands to the end, against n groups (at most 4). An empty value is
 * refused, and so is an option that is given again with another value, also in an earlier parse
 * (begun). Returns the index of the first operand, or
 * -EINVAL with *st (status ST_USAGE) naming the option, the value and what is allowed.
 * stop_at_operand: stop at the first operand, as the program does before the name of the command.
 */
int opt_parse(const struct opt_group *groups, size_t n, int argc, char **argv, bool stop_at_operand,
	      struct status *st);

/* Prints a table as the lines of a help text: "  -h, --help            Print this help." */
void opt_print(FILE *out, const struct opt *table);

#endif
