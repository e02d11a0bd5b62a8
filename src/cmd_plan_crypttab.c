// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan as a line of /etc/crypttab. It has two readers with a format each. Debian's scripts
 * decode \0NUM, and \NUM too, in each field and in an option's value, which commas end (crypttab(5)
 * of cryptsetup). systemd's crypttab(5) has no escapes; but its generator copies the fields into
 * the single quotes of a unit's ExecStart=, where \NNN is decoded (systemd.syntax(7)), ${NAME} and
 * $$ are replaced when it is run (systemd.service(5)), and commas have separated options before.
 * The line is one that both read alike, or there is none.
 */
#include <ctype.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_plan.h"
#include "util/text.h"

/* The mapping's name: the device's last component, with nothing in it that /dev/mapper or a
 * blank-separated file minds. */
void cmd_mapping_name(char buf[CMD_MAPPING_NAME_MAX], const char *device)
{
	const char *base = device ? strrchr(device, '/') : NULL;
	size_t n;

	base = base ? base + 1 : device ? device : "NAME";
	n = snprintf(buf, CMD_MAPPING_NAME_MAX, "luks-%s", base);
	for (size_t i = 0; i < n && i < CMD_MAPPING_NAME_MAX && buf[i]; i++)
		if (!isalnum((unsigned char)buf[i]) && !strchr("-_.+", buf[i]))
			buf[i] = '_';
}

/* What keeps a path from standing there, or NULL. */
static const char *path_fault(const char *path, bool option)
{
	if (strchr(path, '\n'))
		return "a line break, which not every reader of crypttab takes";
	if (strstr(path, "${") || strstr(path, "$$"))
		return "\"${\" or \"$$\", which systemd replaces";
	if (option && strchr(path, ','))
		return "a comma, at which systemd ends an option";
	return NULL;
}

/* "FILE:/dev/…" and "FILE:LABEL=…" are a file on another device, to systemd. */
static bool begins_device(const char *text)
{
	return *text == ':' && text[1 + strcspn(text + 1, "/=")];
}

/*
 * A digit after an escape is one, too: Debian's scripts would take it for a part of that. What is
 * not UTF-8 is no text to some readers.
 */
static void escape_field(FILE *out, const char *text)
{
	bool escaped = false;

	for (size_t n; *text; text += n ? n : 1) {
		n = strchr(" \\'\"", *text) || begins_device(text) ||
				    (escaped && *text >= '0' && *text <= '7')
			    ? 0
			    : text_plain(text);
		escaped = !n;
		if (n)
			fwrite(text, 1, n, out);
		else
			fprintf(out, "\\%03o", (unsigned char)*text);
	}
}

/* crypttab(5)'s names of the plan's flags. They stand in the header, too; not every reader of
 * crypttab looks there. */
static void crypttab_flags(FILE *out, const struct plan *plan)
{
	static const struct {
		const char *flag, *word;
	} words[] = {{"allow-discards", "discard"},
		     {"perf-same_cpu_crypt", "same-cpu-crypt"},
		     {"perf-submit_from_crypt_cpus", "submit-from-crypt-cpus"},
		     {"perf-no_read_workqueue", "no-read-workqueue"},
		     {"perf-no_write_workqueue", "no-write-workqueue"}};

	for (size_t i = 0; i < plan->n_flags; i++)
		for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++)
			if (!strcmp(plan->flags[i], words[j].flag))
				fprintf(out, ",%s", words[j].word);
}

/*
 * What reads the line at boot has another working directory. The file may not be there yet; its
 * directory is. Where neither is (a plan for another machine), as given.
 */
static char *real_path(const char *path)
{
	char dir[PATH_MAX], base[PATH_MAX], *real = realpath(path, NULL), *joined = NULL;

	if (real || strlen(path) >= PATH_MAX)
		return real ? real : strdup(path);
	strcpy(dir, path);
	strcpy(base, path);
	real = realpath(dirname(dir), NULL);
	if (!real)
		return strdup(path);
	if (asprintf(&joined, "%s/%s", strcmp(real, "/") ? real : "", basename(base)) < 0)
		joined = NULL;
	free(real);
	return joined;
}

/* 0, or -1: out of memory, or *why says what keeps it from being written. */
static int put_field(FILE *out, const char *path, bool option, char **why)
{
	const char *fault = path_fault(path, option);

	if (!fault) {
		escape_field(out, path);
		return 0;
	}
	if (asprintf(why, "the %s's path holds %s; with another name it can stand there",
		     option ? "header" : "device", fault) < 0)
		*why = NULL;
	return -1;
}

static int put_path(FILE *out, const char *path, bool option, char **why)
{
	char *real = real_path(path);
	int ret = real ? put_field(out, real, option, why) : -1;

	free(real);
	return ret;
}

static int put_line(FILE *out, const struct plan *plan, const char *device, const char *uuid,
		    char **why)
{
	char name[CMD_MAPPING_NAME_MAX];
	int ret = 0;

	cmd_mapping_name(name, uuid ? uuid : device);
	fprintf(out, "%s ", name);
	if (uuid)
		fprintf(out, "UUID=%s", uuid);
	else if (plan->target)
		ret = put_field(out, plan->target, false, why);
	else if (device)
		ret = put_path(out, device, false, why);
	else
		fputs("DEVICE", out);
	fputs(" none luks", out);
	if (!ret && plan->header) {
		fputs(",header=", out);
		ret = put_path(out, plan->header, true, why);
	}
	crypttab_flags(out, plan);
	return ret;
}

char *cmd_crypttab(const struct plan *plan, const char *device, const char *uuid, char **why)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);
	int ret;

	*why = NULL;
	if (!out)
		return NULL;
	ret = put_line(out, plan, device, uuid, why);
	if (!fclose(out) && !ret)
		return line;
	free(line);
	return NULL;
}

void cmd_print_crypttab(FILE *out, const struct plan *plan, const char *device, const char *uuid)
{
	char *why, *line = cmd_crypttab(plan, device, uuid, &why);

	if (line)
		fputs(line, out);
	else
		fprintf(out, "no line: %s.", why ? why : "out of memory");
	free(line);
	free(why);
}
