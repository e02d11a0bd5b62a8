// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a group's files are: /proc/self/cgroup names the group in each hierarchy, mountinfo says
 * where each hierarchy is mounted and which group is the root of that mount (cgroups(7), proc(5)).
 */
#include "facts/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/sysfile.h"

/* Where a hierarchy is mounted. */
struct hierarchy {
	char point[PATH_MAX]; /* "" when it is not */
	char top[PATH_MAX];   /* the group that is seen there */
};

/* Whether `word` is one of the comma-separated words of list. */
static bool has_word(const char *list, const char *word)
{
	size_t n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == strlen(word) && !memcmp(list, word, n))
			return true;
	}
	return false;
}

/* One line of mountinfo: "36 35 98:0 /top /point options… - type source superoptions". */
static void read_mount(struct hierarchy *h, char *line, const char *controller, bool v2)
{
	char *field[5], *save = NULL, *type, *options, *rest;

	rest = strstr(line, " - ");
	if (!rest)
		return;
	*rest = '\0';
	for (int i = 0; i < 5; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!field[i])
			return;
	}
	type = strtok_r(rest + 3, " ", &save);
	strtok_r(NULL, " ", &save);
	options = strtok_r(NULL, " ", &save);
	if (!type || strcmp(type, v2 ? "cgroup2" : "cgroup"))
		return;
	if (!v2 && (!options || !has_word(options, controller)))
		return;
	sysfile_unescape(field[3], field[3]);
	sysfile_unescape(field[4], field[4]);
	/* The first mount of a hierarchy will do, but one of all of it is better than of a part. */
	if (h->point[0] && (!strcmp(h->top, "/") || strcmp(field[3], "/")))
		return;
	snprintf(h->top, sizeof(h->top), "%s", field[3]);
	snprintf(h->point, sizeof(h->point), "%s", field[4]);
}

/* Where distributions mount it: version 1 by the controllers that it was mounted with
 * ("cpu,cpuacct"), or by the one. */
static void usual_place(struct hierarchy *h, const char *root, const char *controllers,
			const char *controller)
{
	const char *name = controllers;

	if (strchr(name, '/') || sysfile_exists(root, "/sys/fs/cgroup/%s", name) != 1)
		name = controller;
	snprintf(h->point, sizeof(h->point), "/sys/fs/cgroup%s%s", *controllers ? "/" : "",
		 *controllers ? name : "");
	strcpy(h->top, "/");
}

/* controllers: of the hierarchy, as /proc/self/cgroup has them; "" of version 2. */
static int find_hierarchy(struct hierarchy *h, const char *root, const char *controllers,
			  const char *controller)
{
	bool v2 = !*controllers;
	char *text = NULL, *save = NULL;
	int ret;

	h->point[0] = '\0';
	ret = sysfile_read(root, "/proc/self/mountinfo", &text, NULL);
	if (ret == -ENOMEM)
		return ret;
	if (ret < 0) {
		usual_place(h, root, controllers, controller);
		return 0;
	}
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_mount(h, line, controller, v2);
	free(text);
	/* A described machine need not have mountinfo, or may have another process's. */
	if (!h->point[0] && root && *root)
		usual_place(h, root, controllers, controller);
	return 0;
}

/* The group's path below the mount: "" for the mount itself, also where the group lies outside of
 * what is mounted ("/../…": above the root of a cgroup namespace). */
static const char *below(const struct hierarchy *h, const char *group)
{
	size_t len = strlen(h->top);

	if (strstr(group, "/.."))
		return "";
	if (!strcmp(h->top, "/"))
		return group;
	if (!strncmp(group, h->top, len) && (!group[len] || group[len] == '/'))
		return group + len;
	return "";
}

static int visit_upwards(const char *root, const struct hierarchy *h, const char *group, bool v2,
			 int (*visit)(const char *, const char *, bool, void *), void *arg)
{
	size_t point = strlen(h->point);
	char *dir, *slash;
	int ret;

	if (asprintf(&dir, "%s%s", h->point, below(h, group)) < 0)
		return -ENOMEM;
	for (;;) {
		while (strlen(dir) > point && dir[strlen(dir) - 1] == '/')
			dir[strlen(dir) - 1] = '\0';
		ret = visit(root, dir, v2, arg);
		slash = strrchr(dir, '/');
		if (ret < 0 || strlen(dir) <= point || !slash)
			break;
		*slash = '\0';
	}
	free(dir);
	return ret;
}

int cgroup_visit(const char *root, const char *controller,
		 int (*visit)(const char *root, const char *dir, bool v2, void *arg), void *arg)
{
	char *text = NULL, *save = NULL, *controllers, *group;
	struct hierarchy h;
	int ret;
	bool v2;

	ret = sysfile_read(root, "/proc/self/cgroup", &text, NULL);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		/* "4:cpu,cpuacct:/group"; version 2 has the id 0 and no controllers. */
		controllers = strchr(line, ':');
		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		controllers++;
		*group++ = '\0';
		v2 = !*controllers;
		if (!v2 && !has_word(controllers, controller))
			continue;
		ret = find_hierarchy(&h, root, controllers, controller);
		if (ret == 0 && h.point[0])
			ret = visit_upwards(root, &h, group, v2, visit, arg);
		if (ret < 0)
			break;
		ret = 0;
	}
	free(text);
	return ret;
}
