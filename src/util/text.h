/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from outside (paths, labels, model names): what UTF-8 it is, and printing it on a terminal.
 */
#ifndef DMCT_UTIL_TEXT_H
#define DMCT_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7: no overlong forms, no
 * surrogates), or 0. s is NUL-terminated, so a sequence that is cut short ends at a byte that is
 * not a continuation.
 */
size_t text_utf8(const char *s);

/* Whether all of it is well-formed. */
bool text_is_utf8(const char *text);

/* What keeps text from being a label: "control characters", "bytes that are not UTF-8"; or NULL. */
const char *text_fault(const char *text);

/* The length of the sequence at s where a terminal may have it: well-formed, and no control
 * character; else 0. */
size_t text_plain(const char *s);

/* Prints text with '?' for each control character (also those of eight bits) and each byte that is
 * not UTF-8, so that it can neither steer the terminal nor begin a line. */
void text_print(FILE *out, const char *text);

#endif
