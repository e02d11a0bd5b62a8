// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "util/interrupt.h"
#include "util/text.h"

int terminal_open(bool *opened)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	*opened = fd >= 0;
	if (fd >= 0)
		return fd;
	return isatty(STDIN_FILENO) ? STDIN_FILENO : -ENOTTY;
}

static void say(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0 && write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

/* A question names a path, which may hold anything. */
static void say_clean(int fd, const char *question)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	text_print(out, question);
	if (!fclose(out))
		say(fd, text);
	free(text);
}

/* The line discipline hands over one line a read(2), or what was typed before Ctrl-D. */
static int read_line(struct interrupt *in, int fd, unsigned char *buf, size_t size, size_t *len,
		     int *sig)
{
	unsigned char spill;
	size_t have = 0;
	bool over = false;
	ssize_t n;
	int ret;

	for (;;) {
		ret = interrupt_wait(in, fd, -1, sig);
		if (ret)
			return ret;
		n = have < size ? read(fd, buf + have, size - have) : read(fd, &spill, 1);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n < 0)
			continue;
		if (!n)
			break;
		if (have == size) {
			over = over || spill != '\n';
			if (spill == '\n')
				break;
			continue;
		}
		have += n;
		if (buf[have - 1] == '\n') {
			have--;
			break;
		}
	}
	spill = 0;
	if (over)
		return -EMSGSIZE;
	if (!n && !have)
		return -ENODATA;
	*len = have;
	return 0;
}

static int ask_once(struct interrupt *in, int fd, const char *question, bool echo,
		    unsigned char *buf, size_t size, size_t *len, int *sig)
{
	struct termios before, unseen;
	int ret;

	if (tcgetattr(fd, &before))
		return -errno;
	unseen = before;
	unseen.c_lflag &= ~(ECHO | ECHONL);
	unseen.c_lflag |= ICANON | ISIG;
	/* TCSAFLUSH: what was typed before the question is no answer to it. */
	if (!echo && tcsetattr(fd, TCSAFLUSH, &unseen))
		return -errno;
	say_clean(fd, question);
	ret = read_line(in, fd, buf, size, len, sig);
	if (!echo) {
		tcsetattr(fd, TCSAFLUSH, &before);
		say(fd, "\n");
	} else if (ret) {
		say(fd, "\n");
	}
	return ret;
}

int terminal_ask(int fd, const char *question, bool echo, unsigned char *buf, size_t size,
		 size_t *len, int *sig)
{
	struct interrupt in;
	int ret;

	do {
		interrupt_begin(&in, true);
		ret = ask_once(&in, fd, question, echo, buf, size, len, sig);
		interrupt_end(&in);
		explicit_bzero(buf, ret ? size : 0);
		/* Stops here, with the terminal as it was, until it is continued. */
		if (ret == -EINTR && *sig == SIGTSTP)
			raise(SIGTSTP);
	} while (ret == -EINTR && *sig == SIGTSTP);
	return ret;
}
