/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values out of a JSON object that somebody else may have written: of the right type and range, or
 * an error that names the place and the value. */
#ifndef DMCT_MEASURE_SAVED_JSON_H
#define DMCT_MEASURE_SAVED_JSON_H

#include <json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/status.h"

/* An object and where it stands: "results[3]" of "saved.json". */
struct saved_place {
	struct json_object *obj;
	const char *file;
	char where[96]; /* "" for the document itself */
	struct status *st;
};

/* -EINVAL with *st: "FILE: WHERE.KEY is VALUE; WANTED is expected." */
int saved_wrong(const struct saved_place *at, const char *key, const char *wanted);

/*
 * Each gets the value of a key; where it is absent or null *value is untouched, and that is an
 * error only if it is required. Returns 0 or -EINVAL with *st.
 */
int saved_u64(const struct saved_place *at, const char *key, bool required, uint64_t min,
	      uint64_t max, uint64_t *value);
/* A finite number from 0 to 1e15. */
int saved_real(const struct saved_place *at, const char *key, bool required, double *value);
/* And one of either sign, from -1e15. */
int saved_signed(const struct saved_place *at, const char *key, bool required, double *value);
int saved_bool(const struct saved_place *at, const char *key, bool *value);
/* A string without NULs that fits into buf with its own. */
int saved_string(const struct saved_place *at, const char *key, bool required, char *buf,
		 size_t size);
/* A sentence or a name for people: cut where it does not fit. */
int saved_text(const struct saved_place *at, const char *key, char *buf, size_t size);
/* The member of that key, of a type; obj NULL when it is absent or null and not required. */
int saved_member(const struct saved_place *at, const char *key, enum json_type type, bool required,
		 struct saved_place *member);
/* The i-th element of the array at a place, which must be an object. */
int saved_element(const struct saved_place *array, size_t i, struct saved_place *element);

#endif
