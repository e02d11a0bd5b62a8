// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/dm_task.h"

#include <errno.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "measure/dm_internal.h"

#define UDEV_FLAGS                                                                                 \
	(DM_UDEV_DISABLE_DM_RULES_FLAG | DM_UDEV_DISABLE_SUBSYSTEM_RULES_FLAG |                    \
	 DM_UDEV_DISABLE_DISK_RULES_FLAG | DM_UDEV_DISABLE_OTHER_RULES_FLAG)
/* For whoever has a mapping open just now. */
#define REMOVE_TRIES 100
#define REMOVE_PAUSE 20000 /* microseconds */

__attribute__((format(printf, 5, 6))) static void
silent(int level, const char *file, int line, int dm_errno_or_class, const char *format, ...)
{
	(void)level;
	(void)file;
	(void)line;
	(void)dm_errno_or_class;
	(void)format;
}

/* Without synchronisation libdevmapper makes the nodes itself, and no semaphore, which nobody might
 * ever raise; the flags for udev's rules are in the cookie all the same. */
void dm_session_begin(struct dm_session *session)
{
	dm_log_with_errno_init(silent);
	session->sync = dm_udev_get_sync_support();
	dm_udev_set_sync_support(0);
}

void dm_session_end(const struct dm_session *session)
{
	dm_lib_release();
	dm_udev_set_sync_support(session->sync);
	dm_log_with_errno_init(NULL);
}

/* A task with udev's flags. NULL: no memory. */
static struct dm_task *new_task(int type, const char *name, const char *uuid)
{
	struct dm_task *task = dm_task_create(type);
	uint32_t cookie = 0;

	if (task && (!name || dm_task_set_name(task, name)) &&
	    (!uuid || dm_task_set_uuid(task, uuid)) && dm_task_no_open_count(task) &&
	    dm_task_set_cookie(task, &cookie, UDEV_FLAGS))
		return task;
	if (task)
		dm_task_destroy(task);
	return NULL;
}

/* Runs and returns 0 or -errno. */
static int run_task(struct dm_task *task)
{
	int err;

	if (dm_task_run(task))
		return 0;
	err = dm_task_get_errno(task);
	return err > 0 ? -err : -EIO;
}

int dm_device_make(struct dm_device *device, const char *target, uint64_t sectors,
		   const char *params)
{
	struct dm_task *task = new_task(DM_DEVICE_CREATE, device->name, device->uuid);
	struct dm_info info;
	int ret = -ENOMEM;

	if (!task)
		return ret;
	if (dm_task_secure_data(task) && dm_task_add_target(task, 0, sectors, target, params))
		ret = run_task(task);
	if (!ret && !dm_task_get_info(task, &info))
		ret = -EIO;
	dm_task_destroy(task);
	dm_task_update_nodes();
	if (ret)
		return ret;
	device->major = info.major;
	device->minor = info.minor;
	return 0;
}

static void node_path(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", dm_dir(), name);
}

/* First without opening it, to see what it is; then that same thing. */
int dm_device_open(const struct dm_device *device)
{
	char path[PATH_MAX];
	struct stat info;
	int handle, fd;

	node_path(path, device->name);
	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0)
		return -errno;
	if (fstat(handle, &info) || !S_ISBLK(info.st_mode) ||
	    info.st_rdev != makedev(device->major, device->minor)) {
		close(handle);
		return -ENXIO;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	fd = fd < 0 ? -errno : fd;
	close(handle);
	return fd;
}

static int remove_once(const struct dm_device *device, bool deferred)
{
	struct dm_task *task = new_task(DM_DEVICE_REMOVE, NULL, device->uuid);
	int ret = -ENOMEM;

	if (!task)
		return ret;
	if (!deferred || dm_task_deferred_remove(task))
		ret = run_task(task);
	dm_task_destroy(task);
	return ret;
}

static void remove_node(const struct dm_device *device)
{
	char path[PATH_MAX];

	node_path(path, device->name);
	unlink(path);
}

void dm_device_expire(const struct dm_device *device)
{
	remove_once(device, true);
	remove_node(device);
}

int dm_device_remove(const struct dm_device *device)
{
	int ret;

	for (int i = 0; i < REMOVE_TRIES; i++) {
		ret = remove_once(device, false);
		if (ret != -EBUSY)
			break;
		usleep(REMOVE_PAUSE);
	}
	if (ret == -EBUSY)
		ret = remove_once(device, true);
	remove_node(device);
	return ret == -ENXIO ? 0 : ret;
}

int dm_list(struct dm_listed **list, size_t *n)
{
	struct dm_task *task = new_task(DM_DEVICE_LIST, NULL, NULL);
	struct dm_names *names = NULL;
	struct dm_listed *grown;
	unsigned next = 0;
	int ret = -ENOMEM;

	*list = NULL;
	*n = 0;
	if (!task)
		return ret;
	ret = run_task(task);
	if (!ret)
		names = dm_task_get_names(task);
	while (!ret && names && names->dev) {
		grown = realloc(*list, (*n + 1) * sizeof(*grown));
		if (!grown) {
			ret = -ENOMEM;
			break;
		}
		*list = grown;
		grown[*n].dev = names->dev;
		snprintf(grown[(*n)++].name, DM_NAME_MAX_LEN, "%s", names->name);
		next = names->next;
		names = next ? (struct dm_names *)((char *)names + next) : NULL;
	}
	dm_task_destroy(task);
	return ret;
}

int dm_look(struct dm_look *look, const char *name)
{
	struct dm_task *task = new_task(DM_DEVICE_TABLE, name, NULL);
	char *target = NULL, *params = NULL;
	uint64_t start, length;
	void *next;
	int ret;

	if (!task)
		return -ENOMEM;
	/* The key of a table that somebody else loaded is none of ours to hold. */
	dm_task_secure_data(task);
	ret = run_task(task);
	if (!ret) {
		next = dm_get_next_target(task, NULL, &start, &length, &target, &params);
		snprintf(look->uuid, sizeof(look->uuid), "%s", dm_task_get_uuid(task));
		look->empty = !target;
		snprintf(look->target, sizeof(look->target), "%s", !next && target ? target : "");
		look->on[0] = '\0';
		if (params && !strcmp(look->target, "crypt"))
			sscanf(params, "%*s %*s %*s %31s", look->on);
	}
	dm_task_destroy(task);
	return ret;
}
