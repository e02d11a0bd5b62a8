/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that stand twice in one object of a JSON document. */
#ifndef DMCT_MEASURE_SAVED_TWICE_H
#define DMCT_MEASURE_SAVED_TWICE_H

#include "util/status.h"

/* Objects within objects and arrays, one in the other, that are looked into. */
#define SAVED_DEPTH 16

/*
 * RFC 8259 leaves it open which of two members of one name counts, and json-c takes the last: a
 * document is refused for them. text: a JSON document that has been parsed without an error, of at
 * most SAVED_DEPTH levels. 0, -ENOMEM, or -EINVAL with *st, which names the key.
 */
int saved_twice(const char *text, const char *file, struct status *st);

#endif
