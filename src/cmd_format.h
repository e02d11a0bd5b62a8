/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of `format` share. */
#ifndef DMCT_CMD_FORMAT_H
#define DMCT_CMD_FORMAT_H

#include "cmd_plan.h"
#include "report/progress.h"
#include "volume/guard.h"
#include "volume/integrity.h"
#include "volume/luks.h"
#include "volume/secret.h"

struct format_options {
	struct plan_options plan;
	bool automatic, yes, overwrite, dry_run, no_verify, check_quality, no_wipe;
	const char *label, *subsystem, *uuid, *key_file, *undo_file;
	const char *type;   /* "luks1", "luks2", or NULL */
	const char *offset; /* sectors or a size, or NULL */
	const char *header; /* where the header goes, or NULL: onto the device */
	uint64_t key_fd;
};

#define FORMAT_KEY_FD_NONE UINT64_MAX

/* What a run holds; released in one place. */
struct format {
	const struct cmd_globals *globals;
	const struct format_options *options;
	const char *path;
	struct guard guard;
	struct detached detached; /* with --header */
	struct plan_source source;
	struct plan plan;
	struct luks_request request;
	struct secret secret;
	struct luks_image image; /* what will be written */
	struct change change;
	struct luks_header header; /* as read back from the medium */
	struct luks_between between;
	struct integrity_area area; /* of a volume with an integrity mode */
	struct progress progress;
	double wipe_seconds;
	bool area_begun;                 /* its data area may have been written to */
	unsigned char area_before[4096]; /* the first block of that */
	bool written, verified;
	bool mapped;        /* a sector was read and written through dm-crypt */
	char unmapped[200]; /* why not, or "" */
};

/* Checks the options before anything is opened; what one says of another (--type luks1 of the
 * password hash) is filled in. 0 or -errno with *st (ST_USAGE, ST_AUTH). */
int format_check_options(struct format_options *options, const struct cmd_globals *globals,
			 struct status *st);
bool format_luks1(const struct format_options *options);
/* Fits a plan to LUKS1: 0, or -EINVAL with *st (ST_REFUSED) where its cipher is not for that. */
int format_fit_luks1(struct plan *plan, struct status *st);

/* Whether the plan's offset leaves room for its header: 0, or -EINVAL with *st (ST_REFUSED). */
int format_check_offset(const struct plan *plan, const struct format_options *options,
			struct status *st);

bool format_has_contents(const struct device_facts *device);

/* Whether what is on the device, and where the header goes, may go: 0, or -EEXIST with *st
 * (ST_REFUSED) naming it. */
int format_check_contents(const struct format *f, struct status *st);
/* --header: looks at the place, and at what other options say of it. As detached_open(). */
int format_open_header(struct format *f, struct status *st);
/* Whether files that are to stay would be overwritten: the key's, the undo file. 0, or -EINVAL with
 * *st (ST_USAGE). */
int format_check_files(const struct format *f, struct status *st);
/* What the write will overwrite: found and read, with room for an undo file where one is asked for.
 * As change_prepare() and undo_room(). */
int format_find_before(struct format *f, struct status *st);
/* The same, and saved. As undo_save(). */
int format_save_before(struct format *f, struct status *st);
/* What an integrity mode asks for and contradicts: 0, or -errno with *st (ST_USAGE, ST_MISSING). */
int format_check_integrity(struct format *f, struct status *st);
/* What comes between body and header of a volume with an integrity mode; NULL for another. */
struct luks_between *format_between(struct format *f);
/* The marks and the header onto the medium, after a last look. As luks_write(). */
int format_write(struct format *f, struct status *st);

/* All that is on the device in words, for the caller to free, or NULL when out of memory. */
char *format_contents(const struct device_facts *device, const char *separator);

/* Shows the device, what is on it and the plan: on standard error where the report is JSON. 0, or
 * -errno with *st (ST_MISSING) where that could not be shown: nothing may be written then. */
int format_show(const struct format *f, struct status *st);

/* The report on standard output. 0 or -errno (-ENOMEM, or what writing fails with). */
int format_report(const struct format *f);

#endif
