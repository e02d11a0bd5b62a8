/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comma-separated lists, as option values have them. */
#ifndef DMCT_UTIL_LIST_H
#define DMCT_UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The next word of a list at *rest, into word (size bytes, cut to fit), and *rest behind it; false
 * at the end. An empty word ("a,,b", "", "a,") is a word: callers refuse it as they refuse every
 * unknown one. *rest is NULL after the last.
 */
bool list_next(const char **rest, char *word, size_t size);

/* A whole decimal number without sign or blanks: 0, -EINVAL, or -ERANGE beyond 64 bits. */
int list_number(const char *word, uint64_t *value);

#endif
