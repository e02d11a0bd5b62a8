// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing a volume whose header stands apart. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "volume/luks_internal.h"

static int not_made(const struct guard *guard, const struct detached *d, int err, struct status *st)
{
	return status_set(st, ST_REFUSED, -err,
			  "The header %s could not be made: %s. Nothing on %s was changed.",
			  d->path, strerror(-err), guard->device.path);
}

/* The data device's marks, after the header could not be written. */
static int take_back_marks(struct guard *guard, const struct change *change, int err,
			   const char *undo_file, struct status *st)
{
	bool opens;
	int ret = change_revert(change, guard->fd, &opens);

	if (ret >= 0)
		return -err;
	return status_set(st, ST_CHECK, err,
			  "The header could not be written (%s), and the marks of the old contents "
			  "of %s could not be put back (%s): it shows nothing, and its data are "
			  "there.%s%s",
			  strerror(err), guard->device.path, strerror(-ret),
			  undo_file ? " When the disk takes writes again, dmcrypt-tune undo puts "
				      "them back, from "
				    : "",
			  undo_file ? undo_file : "");
}

static int write_header(struct detached *d, struct status *st)
{
	const char *step = "";
	int ret;

	if (d->is_file) {
		ret = detached_commit(d);
		if (ret && d->named)
			return status_set(
				st, ST_CHECK, -ret,
				"The header is in %s and the old contents' marks are gone, "
				"but whether the disk has it for good is not known: %s. Look "
				"with inspect --header before anything is written.",
				d->path, strerror(-ret));
		return ret ? status_set(st, ST_REFUSED, -ret,
					"The header %s could not be given its name: %s. What had "
					"been written was taken back.",
					d->path, strerror(-ret))
			   : 0;
	}
	ret = change_apply(&d->change, d->guard.fd, &step);
	if (ret)
		return luks_take_back(&d->guard, &d->change, ret, step, NULL, st);
	guard_reread_table(&d->guard);
	return 0;
}

int luks_write_detached(struct guard *guard, const struct change *change, struct detached *d,
			const struct luks_image *image, struct luks_between *between,
			const char *undo_file, struct status *st)
{
	const char *step = "";
	int ret;

	/* What can fail for want of room fails before anything changes. */
	ret = d->is_file ? detached_stage(d, image->bytes, image->len) : 0;
	if (ret)
		return not_made(guard, d, ret, st);
	ret = change_apply(change, guard->fd, &step);
	if (ret)
		return luks_take_back(guard, change, ret, step, undo_file, st);
	ret = luks_between(guard, change, between, st);
	if (ret)
		return ret;
	ret = write_header(d, st);
	if (ret && (between || d->named))
		return ret;
	if (ret)
		return take_back_marks(guard, change, -ret, undo_file, st);
	guard_reread_table(guard);
	return 0;
}
