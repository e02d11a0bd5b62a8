// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 2, 0))) static char *path_join(const char *root, const char *format,
							     va_list ap)
{
	char *path = NULL, *full = NULL;

	if (vasprintf(&path, format, ap) < 0)
		return NULL;
	if (!root || !*root)
		return path;
	if (asprintf(&full, "%s%s", root, path) < 0)
		full = NULL;
	free(path);
	return full;
}

char *sysfile_path(const char *root, const char *path, ...)
{
	va_list ap;
	char *full;

	va_start(ap, path);
	full = path_join(root, path, ap);
	va_end(ap);
	return full;
}

/* Reads to end of file or to max bytes. Files in /proc have no size to go by, so the buffer grows.
 */
static int read_all(int fd, size_t max, char **text, size_t *len)
{
	size_t have = 0, room = 4096;
	char *buf = malloc(room + 1), *grown;
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	for (;;) {
		n = read(fd, buf + have, room - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			n = -errno;
			free(buf);
			return n;
		}
		have += n;
		if (!n || have == max)
			break;
		if (have < room)
			continue;
		room = room * 2 < max ? room * 2 : max;
		grown = realloc(buf, room + 1);
		if (!grown) {
			free(buf);
			return -ENOMEM;
		}
		buf = grown;
	}
	if (have == max)
		while (have && buf[have - 1] != '\n')
			have--;
	buf[have] = '\0';
	*text = buf;
	*len = have;
	return 0;
}

static int read_path(const char *full, size_t max, char **text, size_t *len)
{
	int fd, ret;

	/* O_NONBLOCK: a FIFO in a prepared --sysroot must not hang the program. */
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	ret = read_all(fd, max, text, len);
	close(fd);
	return ret;
}

int sysfile_read(const char *root, const char *path, char **text, size_t *len)
{
	char *full = sysfile_path(root, "%s", path), *buf = NULL;
	size_t have = 0;
	int ret;

	if (!full)
		return -ENOMEM;
	ret = read_path(full, SYSFILE_MAX, &buf, &have);
	free(full);
	if (ret < 0)
		return ret;
	*text = buf;
	if (len)
		*len = have;
	return 0;
}

static int first_line(const char *full, char *buf, size_t size)
{
	char *text = NULL, *end;
	size_t len = 0;
	int ret;

	ret = read_path(full, SYSFILE_MAX, &text, &len);
	if (ret < 0)
		return ret;
	end = memchr(text, '\n', len);
	if (end)
		len = end - text;
	while (len && strchr(" \t\r", text[len - 1]))
		len--;
	if (len >= size) {
		free(text);
		return -EOVERFLOW;
	}
	memcpy(buf, text, len);
	buf[len] = '\0';
	free(text);
	return (int)len;
}

int sysfile_line(const char *root, char *buf, size_t size, const char *path, ...)
{
	va_list ap;
	char *full;
	int ret;

	va_start(ap, path);
	full = path_join(root, path, ap);
	va_end(ap);
	if (!full)
		return -ENOMEM;
	ret = first_line(full, buf, size);
	free(full);
	return ret;
}

int sysfile_u64(const char *root, uint64_t *value, const char *path, ...)
{
	unsigned long long number;
	char line[64], *end, *full;
	va_list ap;
	int ret;

	va_start(ap, path);
	full = path_join(root, path, ap);
	va_end(ap);
	if (!full)
		return -ENOMEM;
	ret = first_line(full, line, sizeof(line));
	free(full);
	if (ret < 0)
		return ret;
	if (line[0] < '0' || line[0] > '9')
		return -EINVAL;
	errno = 0;
	number = strtoull(line, &end, 10);
	if (errno || *end)
		return -EINVAL;
	*value = number;
	return 0;
}

int sysfile_exists(const char *root, const char *path, ...)
{
	va_list ap;
	char *full;
	int ret;

	va_start(ap, path);
	full = path_join(root, path, ap);
	va_end(ap);
	if (!full)
		return -ENOMEM;
	ret = access(full, F_OK) ? -errno : 1;
	free(full);
	return ret == -ENOENT || ret == -ENOTDIR ? 0 : ret;
}

void sysfile_unescape(char *out, const char *in)
{
	while (*in) {
		if (in[0] == '\\' && strspn(in + 1, "01234567") >= 3) {
			*out++ = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
			in += 4;
		} else {
			*out++ = *in++;
		}
	}
	*out = '\0';
}
