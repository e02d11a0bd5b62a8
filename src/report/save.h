/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a document to a file, all of it or nothing. */
#ifndef DMCT_REPORT_SAVE_H
#define DMCT_REPORT_SAVE_H

#include <json.h>
#include <stdbool.h>

#include "util/status.h"

/*
 * Whether a document could be saved as `path`, to be asked before hours of work: its directory can
 * be written to, and what is there under that name, if anything, is a regular file that is empty or
 * begins as a document of that schema does, which names it first ("dmcrypt-tune.bench.v1"). 0 or
 * -errno with *st (ST_REFUSED where it holds something else).
 */
int save_check(const char *path, const char *schema, struct status *st);

/*
 * Writes to a new file beside `path` and gives it that name once it is on the disk; a symbolic link
 * is followed, and the mode of a file that is replaced is kept; what save_check() refuses is
 * refused. 0 or -errno with *st, and then nothing has changed.
 */
int save_document(struct json_object *doc, const char *path, const char *schema, struct status *st);

/* A kind of file that is none of our documents: what all of its kind that this program made hold
 * near their beginning, and what to call them. */
struct save_kind {
	const char *mark, *name;
	bool document; /* mark is a schema */
};

/* The same two for such a file, of len bytes. */
int save_check_kind(const char *path, const struct save_kind *kind, struct status *st);
int save_bytes(const void *data, size_t len, const char *path, const struct save_kind *kind,
	       struct status *st);

#endif
