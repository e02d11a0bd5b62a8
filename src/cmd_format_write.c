// SPDX-License-Identifier: GPL-2.0-or-later
/* What format may overwrite, what it saves of that, and the write: onto one device or two. */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd_format.h"
#include "volume/undo.h"

static int refuse_device(const struct device_facts *device, struct status *st)
{
	char *list;

	if (!format_has_contents(device))
		return 0;
	list = format_contents(device, "; ");
	/* The message has room for a thousand bytes; a table of many partitions is longer. */
	status_set(st, ST_REFUSED, EEXIST,
		   "%s is not empty. It holds: %.700s%s. Nothing was written; --overwrite "
		   "destroys what is there.",
		   device->path, list ? list : "?", list && strlen(list) > 700 ? " …" : "");
	free(list);
	return -EEXIST;
}

int format_check_contents(const struct format *f, struct status *st)
{
	const struct detached *d = &f->detached;
	int ret;

	if (f->options->overwrite)
		return 0;
	ret = refuse_device(&f->guard.device, st);
	if (ret || !f->options->header || !d->exists)
		return ret;
	ret = refuse_device(&d->guard.device, st);
	if (ret || !detached_holds(d))
		return ret;
	return status_set(st, ST_REFUSED, EEXIST,
			  "--header: %s is there already, with %" PRIu64
			  " bytes. Nothing was written; --overwrite replaces it.",
			  d->path, d->guard.device.size);
}

static bool is_of(const struct stat *info, const struct device_facts *device)
{
	return S_ISBLK(info->st_mode)
		       ? info->st_rdev == device->rdev
		       : S_ISREG(info->st_mode) && info->st_dev == device->file_dev &&
				 info->st_ino == device->file_ino;
}

/* A key that the format overwrites would open the volume, and be gone. */
static int check_key(const struct format *f, struct status *st)
{
	const struct format_options *o = f->options;
	const struct detached *d = &f->detached;
	bool is_open = o->key_fd != FORMAT_KEY_FD_NONE ||
		       (o->key_file && !strcmp(o->key_file, "-"));
	int fd = o->key_fd != FORMAT_KEY_FD_NONE ? (int)o->key_fd : STDIN_FILENO;
	struct stat info;

	if ((!is_open && !o->key_file) || (is_open ? fstat(fd, &info) : stat(o->key_file, &info)))
		return 0;
	if (!is_of(&info, &f->guard.device) && !(d->exists && is_of(&info, &d->guard.device)))
		return 0;
	return status_set(st, ST_USAGE, EINVAL,
			  "The secret is read from %s, which would be overwritten, and the secret "
			  "with it. Nothing was written.",
			  is_of(&info, &f->guard.device) ? f->path : o->header);
}

/* Two names of a file that is not there yet. */
static bool same_new(const char *a, const char *b)
{
	char copies[4][PATH_MAX];
	struct stat dirs[2];

	for (int i = 0; i < 4; i++)
		snprintf(copies[i], PATH_MAX, "%s", i % 2 ? b : a);
	return !strcmp(basename(copies[0]), basename(copies[1])) &&
	       !stat(dirname(copies[2]), &dirs[0]) && !stat(dirname(copies[3]), &dirs[1]) &&
	       dirs[0].st_dev == dirs[1].st_dev && dirs[0].st_ino == dirs[1].st_ino;
}

int format_check_files(const struct format *f, struct status *st)
{
	const struct format_options *o = f->options;

	if (o->header && o->undo_file && same_new(o->header, o->undo_file))
		return status_set(st, ST_USAGE, EINVAL,
				  "--header and --undo-file name one file, %s; each is a file of "
				  "its own.",
				  o->header);
	return check_key(f, st);
}

int format_open_header(struct format *f, struct status *st)
{
	const struct format_options *o = f->options;
	int ret;

	if (!o->header)
		return 0;
	ret = detached_open(&f->detached, o->header, &f->guard, st);
	if (ret || !o->undo_file)
		return ret;
	if (f->detached.is_file && !detached_holds(&f->detached))
		return 0;
	return status_set(
		st, ST_REFUSED, EEXIST,
		"--undo-file keeps what is overwritten on one device, %s, and what is on "
		"%s would go as well. Give --header a file that is not there yet, or keep "
		"a copy of it. Nothing was written.",
		f->path, o->header);
}

int format_find_before(struct format *f, struct status *st)
{
	struct change *of_header = f->options->header ? &f->detached.change : &f->change;
	int ret;

	of_header->header = f->image.bytes;
	of_header->header_len = f->image.len;
	memcpy(of_header->copies, f->image.copies, sizeof(of_header->copies));
	ret = change_prepare(&f->change, &f->guard, st);
	if (!ret && f->options->header && !f->detached.is_file)
		ret = change_prepare(of_header, &f->detached.guard, st);
	if (!ret && f->options->undo_file)
		ret = undo_room(f->options->undo_file, &f->change, st);
	return ret;
}

static int recheck(struct format *f, struct status *st)
{
	int ret = guard_recheck(&f->guard, st);

	return ret || !f->detached.exists ? ret : guard_recheck(&f->detached.guard, st);
}

int format_save_before(struct format *f, struct status *st)
{
	/* What changed while a person was asked is to be called that. */
	int ret = recheck(f, st);

	if (!ret)
		ret = format_find_before(f, st);
	if (!ret && f->options->undo_file)
		ret = undo_save(f->options->undo_file, &f->guard, &f->change, f->image.header.uuid,
				st);
	return ret;
}

int format_write(struct format *f, struct status *st)
{
	const char *undo_file = f->options->undo_file;
	struct luks_between *between = format_between(f);
	struct detached *d = &f->detached;
	int ret;

	ret = recheck(f, st);
	if (!ret && !f->options->header)
		ret = guard_room(&f->guard, f->image.len, true, st);
	if (!ret)
		ret = f->options->header
			      ? luks_write_detached(&f->guard, &f->change, d, &f->image, between,
						    undo_file, st)
			      : luks_write(&f->guard, &f->change, between, undo_file, st);
	/* With nothing overwritten, or all of it put back, there is nothing to undo. */
	if (ret && undo_file && st->code != ST_CHECK)
		unlink(undo_file);
	return ret;
}
