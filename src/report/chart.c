// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/chart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/chart_internal.h"
#include "report/save.h"

/* A chart takes well under a second; what takes this long has no end. */
#define PATIENCE_MS 30000
/* The child's status when there is no program of that name (as a shell has it). */
#define NOT_FOUND 127

struct format {
	const char *ending, *terminal;
	struct save_kind kind;
};

static const struct format formats[] = {
	{".svg", "svg", {CHART_STAMP, "SVG pictures that --plot drew", false}},
	{".png", "pngcairo", {CHART_STAMP, "PNG pictures that --plot drew", false}},
};

static const struct format *find_format(const char *path)
{
	const char *ending = strrchr(path, '.');

	for (size_t i = 0; ending && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcasecmp(ending, formats[i].ending))
			return &formats[i];
	return NULL;
}

int chart_check(const char *path, struct status *st)
{
	const struct format *format = find_format(path);

	if (!format)
		return status_set(st, ST_USAGE, EINVAL,
				  "--plot: \"%s\" ends neither in .svg nor in .png, the kinds of "
				  "picture that there are.",
				  path);
	return save_check_kind(path, &format->kind, st);
}

/* The child: no shell, no settings of the user's, no display. */
static void become_gnuplot(int script, int picture, int messages)
{
	static char *const arguments[] = {"gnuplot", "-d", "-", NULL};
	sigset_t none;

	if (dup2(script, STDIN_FILENO) < 0 || dup2(picture, STDOUT_FILENO) < 0 ||
	    dup2(messages, STDERR_FILENO) < 0)
		_exit(NOT_FOUND - 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	unsetenv("DISPLAY");
	unsetenv("GNUTERM");
	setenv("LC_ALL", "C", 1);
	execvp(arguments[0], arguments);
	_exit(errno == ENOENT ? NOT_FOUND : NOT_FOUND - 1);
}

/* The child's status, or -ETIMEDOUT after it has been killed. */
static int wait_for(pid_t child)
{
	int status = 0;

	for (int waited = 0;; waited += 10) {
		pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended == child)
			return status;
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (waited >= PATIENCE_MS)
			break;
		poll(NULL, 0, 10);
	}
	kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return -ETIMEDOUT;
}

static int read_whole(int fd, char **data, size_t *size)
{
	struct stat info;
	ssize_t n;

	if (fstat(fd, &info))
		return -errno;
	*data = malloc((size_t)info.st_size + 1);
	if (!*data)
		return -ENOMEM;
	n = pread(fd, *data, (size_t)info.st_size, 0);
	*size = n < 0 ? 0 : (size_t)n;
	(*data)[*size] = '\0';
	return n < 0 ? -errno : 0;
}

/* What gnuplot said: its last line that is not empty. */
static int gnuplot_failed(int status, int messages, struct status *st)
{
	char *text = NULL, *line, *last = NULL, *rest;
	size_t size = 0;
	int ret;

	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return status_set(st, ST_MISSING, ENOENT,
				  "--plot: gnuplot, which draws the picture, is not installed "
				  "(package gnuplot-nox); nothing was drawn.");
	if (!read_whole(messages, &text, &size))
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			if (line[strspn(line, " \t^")])
				last = line + strspn(line, " \t");
	ret = status_set(st, ST_MISSING, EIO, "--plot: gnuplot drew nothing: %.200s.",
			 last ? last : "it gave no reason");
	free(text);
	return ret;
}

int chart_draw(const char *script, size_t len, char **picture, size_t *size, struct status *st)
{
	int in = memfd_create("script", MFD_CLOEXEC), out = memfd_create("picture", MFD_CLOEXEC);
	int messages = memfd_create("messages", MFD_CLOEXEC), ret, status;
	pid_t child;

	ret = in < 0 || out < 0 || messages < 0 ? -errno : 0;
	if (!ret && (write(in, script, len) != (ssize_t)len || lseek(in, 0, SEEK_SET)))
		ret = errno ? -errno : -EIO;
	child = ret ? -1 : fork();
	if (!ret && child < 0)
		ret = -errno;
	if (child == 0)
		become_gnuplot(in, out, messages);
	status = ret ? 0 : wait_for(child);
	if (!ret && status < 0)
		ret = status;
	if (ret)
		status_set(st, ST_MISSING, -ret, "--plot: gnuplot drew nothing: %s.",
			   strerror(-ret));
	else
		ret = read_whole(out, picture, size);
	if (!ret && (status || !*size))
		ret = gnuplot_failed(status, messages, st);
	close(in);
	close(out);
	close(messages);
	return ret;
}

int chart_save(const struct measurement *m, const char *cpu, double disk, const char *path,
	       struct status *st)
{
	const struct format *format = find_format(path);
	char *script = NULL, *picture = NULL;
	size_t len = 0, size = 0;
	FILE *out;
	int ret;

	out = open_memstream(&script, &len);
	if (!out)
		return status_nomem(st);
	ret = chart_script(out, m, cpu, disk, format->terminal);
	if (fclose(out) && !ret)
		ret = -ENOMEM;
	if (ret == -ENODATA)
		status_set(st, ST_MISSING, ENODATA,
			   "--plot: nothing was measured, so that nothing was drawn.");
	else if (ret)
		status_nomem(st);
	else
		ret = chart_draw(script, len, &picture, &size, st);
	if (!ret) {
		ret = chart_stamp(&picture, &size);
		if (ret)
			status_set(st, ret == -ENOMEM ? ST_NOMEM : ST_MISSING, -ret,
				   "--plot: what gnuplot drew is no picture: %s.", strerror(-ret));
	}
	if (!ret)
		ret = save_bytes(picture, size, path, &format->kind, st);
	free(script);
	free(picture);
	return ret;
}
