/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON as the program writes it, over json-c: numbers in bytes and bytes per second, a dot for
 * decimals in every locale, strings always valid UTF-8 (RFC 8259) whatever bytes a label or a model
 * name holds.
 *
 * The json_put_* functions add to an object under construction and stay silent when memory runs out
 * or obj is NULL: json_print() then reports it, so that callers need not check each line.
 */
#ifndef DMCT_UTIL_JSON_H
#define DMCT_UTIL_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <json.h>

/* A new object that begins with "schema": "dmcrypt-tune.<name>.v1". NULL when out of memory. */
struct json_object *json_document(const char *name);

/* Bytes that are not UTF-8 become U+FFFD. value NULL puts null. */
void json_put_string(struct json_object *obj, const char *key, const char *value);
/*
 * The same of a path, of which U+FFFD would make another: what is not UTF-8 also stands beside it,
 * under <key>_hex, byte for byte in hexadecimal.
 */
void json_put_path(struct json_object *obj, const char *key, const char *path);
void json_put_u64(struct json_object *obj, const char *key, uint64_t value);
/* null when the value is 0: for quantities of which zero means "not known" or "none". */
void json_put_u64_or_null(struct json_object *obj, const char *key, uint64_t value);
void json_put_bool(struct json_object *obj, const char *key, bool value);
/* A ratio or other small real number, with four decimals; null when it is not finite. */
void json_put_real(struct json_object *obj, const char *key, double value);
/* Takes over value's reference; NULL puts null. */
void json_put(struct json_object *obj, const char *key, struct json_object *value);
void json_append(struct json_object *array, struct json_object *value);
void json_append_string(struct json_object *array, const char *value);
/* The bytes of text in hexadecimal, as a string. */
struct json_object *json_hex(const char *text);

/* Prints the object to stdout with a newline, flushes, and drops the reference. 0, -ENOMEM, or
 * what writing to stdout failed with. */
int json_print(struct json_object *obj);

#endif
