/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of text for a terminal. */
#ifndef DMCT_REPORT_PARAGRAPH_H
#define DMCT_REPORT_PARAGRAPH_H

#include <stdio.h>

#define REPORT_COLUMNS 100 /* the most that text is laid out for */

/*
 * Prints "LABEL" padded to `indent` columns, then the text, broken at blanks and indented alike.
 * Control characters become '?'. Nothing for an empty text.
 */
void report_paragraph(FILE *out, int indent, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
