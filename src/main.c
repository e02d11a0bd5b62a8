// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of commands, the global options and the one place where an error is reported. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "report/progress.h"
#include "util/json.h"
#include "util/output.h"
#include "util/text.h"

static struct cmd_globals globals;

#define GLOBAL(field) offsetof(struct cmd_globals, field)

static const struct opt global_options[] = {
	{"help", 'h', OPT_FLAG, NULL, GLOBAL(help), 0, 0, "Print this help."},
	{"version", 'V', OPT_FLAG, NULL, GLOBAL(version), 0, 0,
	 "Print the version and what it is built with."},
	{"json", 0, OPT_FLAG, NULL, GLOBAL(json), 0, 0,
	 "Print one JSON object on standard output."},
	{"quiet", 'q', OPT_FLAG, NULL, GLOBAL(quiet), 0, 0,
	 "No progress and no notes on standard error."},
	{"progress-frequency", 0, OPT_UINT, "SECONDS", GLOBAL(progress_seconds), 1, 86400,
	 "A line of progress each so many seconds, also where\nstandard error is no terminal."},
	{"sysroot", 0, OPT_STRING, "DIR", GLOBAL(sysroot), 0, 0,
	 "Read /proc and /sys below DIR: a saved or described\nmachine. Nothing is measured or tried then."},
	{"cpu-disable", 0, OPT_STRING, "LIST", GLOBAL(cpu_disable), 0, 0,
	 "Do without these CPU features in the in-process\nengine, e.g. aes,vaes,avx512f."},
	OPT_END};

static const struct cmd *const commands[] = {
	&cmd_probe, &cmd_bench,   &cmd_compare, &cmd_recommend, &cmd_format,
	&cmd_undo,  &cmd_inspect, &cmd_tune,    &cmd_reencrypt, NULL};

__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list ap)
{
	char *text;

	if (vasprintf(&text, format, ap) < 0)
		return;
	fputs(PACKAGE ": ", stderr);
	text_print(stderr, text);
	fputc('\n', stderr);
	free(text);
}

void cmd_say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}

void cmd_note(const struct cmd_globals *g, const char *format, ...)
{
	va_list ap;

	if (g->quiet)
		return;
	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}

int cmd_unreported(const char *what, const char *done, int err, struct status *st)
{
	return status_set(st, ST_CHECK, err, "%s %s, but the report could not be written: %s.",
			  what, done, strerror(err));
}

static const struct cmd *find_command(const char *name)
{
	for (const struct cmd *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

static void print_program_help(FILE *out)
{
	fputs("Usage: " PACKAGE " COMMAND [OPTIONS] [DEVICE]\n\n"
	      "Finds the best disk cipher for this machine and this disk, and makes a volume with it.\n\n"
	      "Commands:\n",
	      out);
	for (const struct cmd *const *c = commands; *c; c++)
		fprintf(out, "  %-12s %s\n", (*c)->name, (*c)->summary);
	fputs("  help         Print this help, or that of a command.\n\nOptions of every command:\n",
	      out);
	opt_print(out, global_options);
	fputs("\nExit status: 0 done, 1 usage, 2 no permission or no or a wrong passphrase, 3 out of memory,\n"
	      "4 wrong device, 5 in use, 6 refused (nothing written), 7 something needed is unavailable,\n"
	      "8 a check failed, 128+N ended by signal N.\n",
	      out);
}

static void print_command_help(FILE *out, const struct cmd *c)
{
	fprintf(out, "Usage: " PACKAGE " %s [OPTIONS]%s%s\n\n%s\n", c->name,
		*c->operands ? " " : "", c->operands, c->summary);
	if (*c->details)
		fprintf(out, "\n%s\n", c->details);
	if (c->options->name) {
		fputs("\nOptions:\n", out);
		opt_print(out, c->options);
	}
	fputs("\nOptions of every command:\n", out);
	opt_print(out, global_options);
}

static void print_version(void)
{
	puts(PACKAGE " " VERSION "\nlibkcapi: "
#ifdef WITH_KCAPI
		     "yes"
#else
		     "no"
#endif
		     ", openssl: "
#ifdef WITH_OPENSSL
		     "yes"
#else
		     "no"
#endif
		     ", libpwquality: "
#ifdef WITH_PWQUALITY
		     "yes"
#else
		     "no"
#endif
	);
}

/* Whether --json stands on a command line that could not be parsed: the error is due in the form
 * asked for. */
static bool json_asked(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--json"))
			return true;
	return globals.json;
}

static int report_error(const struct status *st, bool json)
{
	struct json_object *doc, *error;

	/* Where standard output takes nothing, standard error has said it. */
	if (output_flush())
		json = false;
	cmd_say("%s", st->message);
	if (!json)
		return st->code;
	doc = json_document("error");
	error = json_object_new_object();
	json_put_u64(error, "code", st->code);
	json_put_string(error, "name", status_name(st->code));
	json_put_string(error, "message", st->message);
	json_put(doc, "error", error);
	json_print(doc);
	return st->code;
}

static int report_output(int err)
{
	if (err == -EBADF)
		cmd_say("standard output is closed; what was to be printed is lost.");
	else
		cmd_say("standard output: %s.", strerror(-err));
	return ST_MISSING;
}

/* A command that failed without words of its own still owes a sentence. */
static void default_message(struct status *st, int err)
{
	if (st->code != ST_OK)
		return;
	if (err == -ENOMEM)
		status_nomem(st);
	else if (err == -EACCES || err == -EPERM)
		status_set(st, ST_AUTH, -err, "%s.", strerror(-err));
	else
		status_set(st, ST_MISSING, -err, "%s.", strerror(-err));
}

static int check_sysroot(struct status *st)
{
	struct stat info;

	if (!globals.sysroot)
		return 0;
	if (stat(globals.sysroot, &info))
		return status_set(st, ST_USAGE, EINVAL, "--sysroot: %s: %s.", globals.sysroot,
				  strerror(errno));
	if (!S_ISDIR(info.st_mode))
		return status_set(st, ST_USAGE, EINVAL, "--sysroot: %s is not a directory.",
				  globals.sysroot);
	return 0;
}

static int check_operands(const struct cmd *c, char **operands, int n, struct status *st)
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *word = c->operands + strcspn(c->operands, capitals);

	for (int i = 0; i < n; i++)
		if (!*operands[i])
			return status_set(st, ST_USAGE, EINVAL, "%.*s is empty.",
					  (int)strspn(word, capitals), word);
	if (n < c->min_operands)
		return status_set(st, ST_USAGE, EINVAL,
				  "%s: %s is missing; see " PACKAGE " %s --help.", c->name,
				  c->operands, c->name);
	if (c->max_operands >= 0 && n > c->max_operands)
		return status_set(st, ST_USAGE, EINVAL,
				  "%s: \"%s\" is one argument too many; see " PACKAGE " %s --help.",
				  c->name, operands[c->max_operands], c->name);
	return 0;
}

static int run_command(const struct cmd *c, int argc, char **argv, struct status *st)
{
	/* Those before the command's name have been taken. */
	const struct opt_group groups[] = {{global_options, &globals, true},
					   {c->options, c->dest, false}};
	int first, ret;

	first = opt_parse(groups, 2, argc, argv, false, st);
	if (first < 0)
		return first;
	if (globals.version) {
		print_version();
		return 0;
	}
	if (globals.help) {
		print_command_help(stdout, c);
		return 0;
	}
	progress_every(globals.progress_seconds);
	ret = check_sysroot(st);
	if (!ret)
		ret = check_operands(c, argv + first, argc - first, st);
	if (!ret)
		ret = c->run(&globals, argv + first, argc - first, st);
	return ret;
}

static int run_help(int argc, char **argv, struct status *st)
{
	const struct opt_group group = {global_options, &globals, true};
	const struct cmd *c;
	int first;

	first = opt_parse(&group, 1, argc, argv, false, st);
	if (first < 0)
		return first;
	if (globals.version) {
		print_version();
		return 0;
	}
	if (first == argc || !strcmp(argv[first], "help")) {
		print_program_help(stdout);
		return 0;
	}
	c = find_command(argv[first]);
	if (!c)
		return status_set(st, ST_USAGE, EINVAL,
				  "Unknown command \"%s\"; " PACKAGE " --help lists them.",
				  argv[first]);
	print_command_help(stdout, c);
	return 0;
}

static int dispatch(int argc, char **argv, struct status *st)
{
	const struct opt_group group = {global_options, &globals, false};
	const struct cmd *c;
	int first;

	first = opt_parse(&group, 1, argc, argv, true, st);
	if (first < 0)
		return first;
	if (globals.version) {
		print_version();
		return 0;
	}
	if (first == argc && globals.help) {
		print_program_help(stdout);
		return 0;
	}
	if (first == argc)
		return status_set(st, ST_USAGE, EINVAL,
				  "No command given; " PACKAGE " --help lists them.");
	if (!strcmp(argv[first], "help"))
		return run_help(argc - first, argv + first, st);
	c = find_command(argv[first]);
	if (!c)
		return status_set(st, ST_USAGE, EINVAL,
				  "Unknown command \"%s\"; " PACKAGE " --help lists them.",
				  argv[first]);
	return run_command(c, argc - first, argv + first, st);
}

/* The lowest number that is free, which is what open() will return, is standard output's. */
static bool output_is_next(void)
{
	return fcntl(STDOUT_FILENO, F_GETFD) < 0 && fcntl(STDIN_FILENO, F_GETFD) >= 0;
}

/*
 * With a standard stream closed, the next thing opened takes its number: a disk opened as number 1
 * would be printed to. Something harmless stands there instead. As standard output it cannot be
 * written to, so that what is printed there is not taken for having arrived.
 */
static void fill_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", output_is_next() ? O_RDONLY : O_RDWR);
		if (fd < 0)
			fd = open("/", O_RDONLY | O_DIRECTORY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	struct status st = {ST_OK, ""};
	int ret;

	fill_standard_streams();
	output_begin();
	/* For the width of characters in tables only: numbers keep their dot. */
	setlocale(LC_CTYPE, "");
	ret = dispatch(argc, argv, &st);
	if (ret < 0) {
		if (st.code == ST_OK && output_flush())
			return report_output(output_flush());
		default_message(&st, ret);
		return report_error(&st, json_asked(argc, argv));
	}
	if (output_flush())
		return report_output(output_flush());
	return ret;
}
