// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/save.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/newfile.h"

/* How much of a file is read to tell what it is: a document names its schema first. */
#define HEAD 4096

struct target {
	char path[PATH_MAX]; /* without symbolic links where it exists */
	char dir[PATH_MAX];
	mode_t mode;
};

static int cannot(struct status *st, const char *path, int err)
{
	return status_set(st, err == EACCES || err == EPERM ? ST_AUTH : ST_USAGE, err,
			  "%s cannot be written: %s.", path, strerror(err));
}

/* The mode of a new file: the mask can only be read by setting it. */
static mode_t new_mode(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return 0666 & ~mask;
}

static ssize_t read_head(const char *path, char *head)
{
	size_t have = 0;
	ssize_t n = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	while (have < HEAD && n) {
		n = read(fd, head + have, HEAD - have);
		if (n < 0 && errno != EINTR)
			break;
		have += n > 0 ? (size_t)n : 0;
	}
	n = n < 0 ? -errno : (ssize_t)have;
	close(fd);
	return n;
}

/* Whether text goes on with a word, white space aside; *at moves behind it. */
static bool goes_on(const char **at, const char *end, const char *word)
{
	const size_t len = strlen(word);

	while (*at < end && strchr(" \t\r\n", **at) && **at)
		++*at;
	if ((size_t)(end - *at) < len || memcmp(*at, word, len))
		return false;
	*at += len;
	return true;
}

/* That a file mentions the schema somewhere makes it no document of that kind. */
static bool is_ours(const char *head, size_t n, const struct save_kind *kind)
{
	const char *at = head, *end = head + n;

	if (!kind->document)
		return memmem(head, n, kind->mark, strlen(kind->mark));
	return goes_on(&at, end, "{") && goes_on(&at, end, "\"schema\"") &&
	       goes_on(&at, end, ":") && goes_on(&at, end, "\"") && goes_on(&at, end, kind->mark) &&
	       at < end && *at == '"';
}

/* Only earlier results, or an empty file, are replaced: under that name may stand a disk image. */
static int check_old(const char *real, const char *path, const struct save_kind *kind,
		     struct status *st)
{
	char head[HEAD];
	ssize_t n = read_head(real, head);

	if (n < 0)
		return status_set(
			st, n == -EACCES ? ST_AUTH : ST_REFUSED, (int)-n,
			"%s exists and cannot be read to see what it holds (%s); remove it "
			"or choose another name.",
			path, strerror((int)-n));
	if (n && !is_ours(head, (size_t)n, kind))
		return status_set(st, ST_REFUSED, EEXIST,
				  "%s exists and holds something else than %s; remove it or "
				  "choose another name.",
				  path, kind->name);
	return 0;
}

static int find_target(struct target *target, const char *path, const struct save_kind *kind,
		       struct status *st)
{
	struct stat info;
	char copy[PATH_MAX];

	if (!*path || strlen(path) >= sizeof(copy) - 16)
		return cannot(st, path, *path ? ENAMETOOLONG : ENOENT);
	if (!strcmp(path, "-"))
		return status_set(
			st, ST_USAGE, EINVAL,
			"%s are saved to a file: \"-\" is none. On standard output they are "
			"with --json (a file of that name: ./-).",
			kind->name);
	target->mode = new_mode();
	if (!lstat(path, &info)) {
		if (!realpath(path, target->path) || stat(target->path, &info))
			return cannot(st, path, errno);
		if (!S_ISREG(info.st_mode))
			return status_set(st, ST_USAGE, EINVAL,
					  "%s is no regular file: %s are saved to nothing else.",
					  path, kind->name);
		target->mode = info.st_mode & 07777;
		if (check_old(target->path, path, kind, st))
			return -EEXIST;
	} else if (errno == ENOENT) {
		strcpy(target->path, path);
	} else {
		return cannot(st, path, errno);
	}
	if (target->path[strlen(target->path) - 1] == '/')
		return cannot(st, path, EISDIR);
	strcpy(copy, target->path);
	strcpy(target->dir, dirname(copy));
	return 0;
}

int save_check_kind(const char *path, const struct save_kind *kind, struct status *st)
{
	struct target target;
	int ret;

	ret = find_target(&target, path, kind, st);
	if (!ret && access(target.dir, W_OK | X_OK))
		ret = cannot(st, path, errno);
	return ret;
}

static int write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, text, len);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int write_file(int fd, const void *data, size_t len, mode_t mode)
{
	int ret;

	ret = write_all(fd, data, len);
	if (!ret && (fchmod(fd, mode) || fsync(fd)))
		ret = -errno;
	return ret;
}

static int replace(const struct target *target, const void *data, size_t len)
{
	struct newfile file;
	int ret;

	ret = newfile_open(&file, target->dir);
	if (!ret)
		ret = write_file(file.fd, data, len, target->mode);
	if (!ret)
		ret = newfile_give(&file, target->path, true);
	newfile_drop(&file);
	return ret;
}

int save_bytes(const void *data, size_t len, const char *path, const struct save_kind *kind,
	       struct status *st)
{
	struct target target;
	sigset_t all, before;
	int ret;

	ret = find_target(&target, path, kind, st);
	if (ret)
		return ret;
	/* A signal must not leave the new file behind. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	ret = replace(&target, data, len);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret ? cannot(st, path, -ret) : 0;
}

int save_check(const char *path, const char *schema, struct status *st)
{
	return save_check_kind(path, &(struct save_kind){schema, "results", true}, st);
}

int save_document(struct json_object *doc, const char *path, const char *schema, struct status *st)
{
	const struct save_kind kind = {schema, "results", true};
	char *whole = NULL;
	const char *text;
	int len, ret;

	text = doc ? json_object_to_json_string_ext(doc, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_SPACED |
								 JSON_C_TO_STRING_NOSLASHESCAPE)
		   : NULL;
	len = text ? asprintf(&whole, "%s\n", text) : -1;
	if (len < 0)
		return status_nomem(st);
	ret = save_bytes(whole, (size_t)len, path, &kind, st);
	free(whole);
	return ret;
}
