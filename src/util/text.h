/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from outside (paths, labels, model names): what UTF-8 it is, and printing it on a terminal.
 */
#ifndef DMCT_UTIL_TEXT_H
#define DMCT_UTIL_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * The length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7: no overlong forms, no
 * surrogates), or 0. s is NUL-terminated, so a sequence that is cut short ends at a byte that is
 * not a continuation.
 */
size_t text_utf8(const char *s);

/* What keeps text from being a label: "control characters", "bytes that are not UTF-8"; or NULL. */
const char *text_fault(const char *text);

/* Prints text with '?' for each control character (also those of eight bits), so that it can
 * neither steer the terminal nor begin a line. */
void text_print(FILE *out, const char *text);

#endif
