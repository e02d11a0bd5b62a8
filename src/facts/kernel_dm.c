// SPDX-License-Identifier: GPL-2.0-or-later
/* device-mapper and its crypt target, asked through libdevmapper. */
#include <errno.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <linux/dm-ioctl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "facts/kernel_internal.h"
#include "util/sysfile.h"

#define CONTROL    "/dev/mapper/control"
#define MISC_MAJOR 10

/*
 * Which version of the crypt target brought what: Linux Documentation/admin-guide/device-mapper/
 * dm-crypt.rst and the history of drivers/md/dm-crypt.c; cryptsetup's lib/libdevmapper.c draws the
 * same lines.
 */
static const struct {
	unsigned version[3];
	const char *feature;
} crypt_features[] = {
	{{1, 11, 0}, "allow_discards"},
	{{1, 14, 0}, "same_cpu_crypt"},
	{{1, 14, 0}, "submit_from_crypt_cpus"},
	{{1, 17, 0}, "sector_size"},
	{{1, 17, 0}, "iv_large_sectors"},
	{{1, 17, 0}, "integrity"},
	{{1, 18, 1}, "keyring"},
	{{1, 22, 0}, "no_read_workqueue"},
	{{1, 22, 0}, "no_write_workqueue"},
	{{1, 26, 0}, "high_priority"},
	{{1, 28, 0}, "integrity_key_size"},
};

static bool at_least(const unsigned have[3], const unsigned want[3])
{
	for (int i = 0; i < 3; i++)
		if (have[i] != want[i])
			return have[i] > want[i];
	return true;
}

void kernel_dm_set_version(struct kernel_dm *dm, const unsigned version[3])
{
	memcpy(dm->version, version, sizeof(dm->version));
	dm->n = 0;
	for (size_t i = 0; i < sizeof(crypt_features) / sizeof(crypt_features[0]); i++)
		if (at_least(version, crypt_features[i].version))
			dm->features[dm->n++] = crypt_features[i].feature;
}

/* The minor number of device-mapper's control node as /proc/misc has it ("236 device-mapper"); -1:
 * the kernel has no device-mapper, as far as that file says. */
static int misc_minor(const char *root)
{
	char *text = NULL, *save = NULL, name[64];
	int minor, found = -1;

	if (sysfile_read(root, "/proc/misc", &text, NULL) < 0)
		return -1;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, "%d %63s", &minor, name) == 2 && !strcmp(name, "device-mapper"))
			found = minor;
	free(text);
	return found;
}

__attribute__((format(printf, 2, 3))) static void say(char buf[200], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(buf, 200, format, ap);
	va_end(ap);
}

static void describe(struct kernel_dm *dm, const char *root)
{
	if (misc_minor(root) < 0)
		say(dm->reason,
		    "the kernel has no device-mapper (not in /proc/misc: module dm_mod)");
	else if (sysfile_exists(root, "/sys/module/dm_crypt") == 1)
		dm->available = true;
	else
		say(dm->reason, "the module dm_crypt is not loaded; whether it is installed is not "
				"known");
}

__attribute__((format(printf, 5, 6))) static void
silent(int level, const char *file, int line, int dm_errno_or_class, const char *format, ...)
{
	(void)level;
	(void)file;
	(void)line;
	(void)dm_errno_or_class;
	(void)format;
}

static void refused(struct kernel_dm *dm, int err)
{
	if (err == EACCES || err == EPERM) {
		dm->denied = true;
		say(dm->reason,
		    "device-mapper refuses this process: it needs CAP_SYS_ADMIN (root, not in a container)");
	} else {
		say(dm->reason, CONTROL ": %s", strerror(err));
	}
}

/* The first call that libdevmapper makes; it does not tell afterwards why it failed. 0 or errno. */
static int ask_interface(int fd)
{
	struct dm_ioctl call = {.version = {4, 0, 0}, .data_size = sizeof(call)};

	return ioctl(fd, DM_VERSION, &call) ? errno : 0;
}

/*
 * Whether the control node is there and ours to use. libdevmapper would make a missing node, and
 * remove and remake one with another number: looking must do neither, so it is called only when all
 * of that is in order.
 */
static bool control_usable(struct kernel_dm *dm)
{
	struct stat info;
	int fd, minor, err;

	fd = open(CONTROL, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ENODEV || errno == ENXIO)) {
		if (misc_minor(NULL) < 0)
			say(dm->reason,
			    "the kernel has no device-mapper: module dm_mod is not built, "
			    "not installed, or not loaded");
		else
			say(dm->reason, "the kernel has device-mapper, but there is no " CONTROL
					" for it (a container, perhaps)");
		return false;
	}
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		dm->denied = true;
		say(dm->reason, "no permission to use " CONTROL ": this needs root");
		return false;
	}
	if (fd < 0) {
		say(dm->reason, CONTROL ": %s", strerror(errno));
		return false;
	}
	/* Opening the node has loaded the module where that can be done, so its number is known
	 * now. */
	minor = misc_minor(NULL);
	if (fstat(fd, &info) || !S_ISCHR(info.st_mode) || minor < 0 ||
	    info.st_rdev != makedev(MISC_MAJOR, minor)) {
		close(fd);
		say(dm->reason, CONTROL " is not the kernel's device-mapper");
		return false;
	}
	err = ask_interface(fd);
	close(fd);
	if (err)
		refused(dm, err);
	return !err;
}

/* The versions of one target ("crypt"; this loads its module), or of all that are loaded. Returns 0
 * or a positive errno. */
static int ask_version(int task, unsigned version[3])
{
	struct dm_task *dmt = dm_task_create(task);
	struct dm_versions *v, *last;
	int err = ENOENT;

	if (!dmt) /* no memory, or an interface that it does not know */
		return EPROTO;
	if (task == DM_DEVICE_GET_TARGET_VERSION && !dm_task_set_name(dmt, "crypt")) {
		err = ENOMEM;
	} else if (!dm_task_run(dmt)) {
		err = dm_task_get_errno(dmt);
		err = err ? err : EIO;
	} else {
		v = dm_task_get_versions(dmt);
		do {
			if (v && !strcmp(v->name, "crypt")) {
				memcpy(version, v->version, 3 * sizeof(version[0]));
				err = 0;
			}
			last = v;
			v = v ? (struct dm_versions *)((char *)v + v->next) : NULL;
		} while (v != last);
	}
	dm_task_destroy(dmt);
	return err;
}

static void ask(struct kernel_dm *dm)
{
	unsigned version[3] = {0};
	int err;

	dm_log_with_errno_init(silent);
	err = ask_version(DM_DEVICE_GET_TARGET_VERSION, version);
	/* Linux before 5.0 has no such call. */
	if (err && err != EACCES && err != EPERM && err != ENOMEM &&
	    !ask_version(DM_DEVICE_LIST_VERSIONS, version))
		err = 0;
	dm_lib_release();
	dm_log_with_errno_init(NULL);
	if (err == EACCES || err == EPERM) {
		refused(dm, err);
	} else if (err) {
		say(dm->reason,
		    "no target \"crypt\" (%s): the module dm_crypt is not built, not "
		    "installed, or blocked",
		    strerror(err));
	} else {
		dm->available = true;
		kernel_dm_set_version(dm, version);
	}
}

int kernel_dm_probe(struct kernel_dm *dm, const char *root)
{
	if (root && *root)
		describe(dm, root);
	else if (control_usable(dm))
		ask(dm);
	return 0;
}
