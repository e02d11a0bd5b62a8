// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/dm_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/check.h"
#include "measure/dm_key.h"
#include "measure/dm_task.h"
#include "measure/flags.h"

#define SECTORS (DM_MAP_SIZE / 512)
/* Names that somebody else may have before ours: another container's process of our number. */
#define NAME_TRIES 16
/* cipher, key, IV offset, device, offset, and the options. */
#define TABLE_MAX (SPEC_TEXT_MAX + DM_KEY_TEXT_SIZE + FLAGS_TEXT_MAX + 128)

struct dm_map {
	struct dm_map *next;
	struct spec spec;
	unsigned flags, users;
	struct dm_device device;
	int fd; /* keeps it there: once expired, a mapping goes with the last that has it open */
	char driver[128];
	uint8_t *zeros; /* what zeros decrypt to; NULL until asked for */
	size_t n_zeros;
};

/* Mappings are the machine's, and so is this one list of them the process's: whatever ends a run
 * must find them. */
static struct {
	pthread_mutex_t lock;
	struct dm_map *list;
	struct dm_owner owner; /* us; pid 0: not asked yet */
	unsigned next;         /* the next name's number */
	struct dm_device zero;
	int zero_fd;
	bool has_zero;
	uint8_t key[DM_KEY_MAX];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Makes, opens, and lets the kernel remove it when the last descriptor is closed, even by SIGKILL.
 */
static int make(struct dm_device *device, int *fd, const char *target, const char *params)
{
	int ret = -EBUSY;

	for (int i = 0; i < NAME_TRIES && ret == -EBUSY; i++) {
		dm_name_print(device->name, &all.owner, all.next);
		dm_uuid_print(device->uuid, &all.owner, all.next++);
		ret = dm_device_make(device, target, SECTORS, params);
	}
	if (ret)
		return ret;
	*fd = dm_device_open(device);
	if (*fd >= 0) {
		dm_device_expire(device);
		return 0;
	}
	ret = *fd;
	dm_device_remove(device);
	return ret;
}

static int need_zero(struct backend_error *error)
{
	int ret;

	if (all.has_zero)
		return 0;
	if (!all.owner.pid) {
		dm_owner_self(&all.owner);
		dm_remove_stale(&all.owner);
	}
	ret = dm_key_random(all.key);
	if (ret)
		return backend_fail(error, -ret, "no random key is to be had: %s", strerror(-ret));
	ret = make(&all.zero, &all.zero_fd, "zero", "");
	if (ret == -EINVAL)
		return backend_fail(error, ENOENT,
				    "no target \"zero\" to measure on: the module dm_zero is not "
				    "built, not installed, or blocked");
	if (ret)
		return backend_fail(error, -ret, "no mapping can be made: %s", strerror(-ret));
	all.has_zero = true;
	return 0;
}

static void table(char text[TABLE_MAX], const struct dm_map *map, const char *key)
{
	char cipher[SPEC_TEXT_MAX], options[FLAGS_TEXT_MAX + 32] = "";
	size_t len = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < MEASURE_FLAGS; i++) {
		if (!(map->flags & 1U << i))
			continue;
		len += (size_t)snprintf(options + len, sizeof(options) - len, " %s", flags_name(i));
		n++;
	}
	if (map->spec.sector != SPEC_SECTOR_MIN) {
		snprintf(options + len, sizeof(options) - len, " sector_size:%u", map->spec.sector);
		n++;
	}
	snprintf(text, TABLE_MAX, "%s %s %" PRIu64 " %u:%u 0 %u%s", spec_cipher(&map->spec, cipher),
		 key, (uint64_t)CHECK_SECTOR, all.zero.major, all.zero.minor, n, options);
}

static bool has_feature(const struct kernel_dm *dm, const char *name)
{
	for (size_t i = 0; i < dm->n; i++)
		if (!strcmp(dm->features[i], name))
			return true;
	return false;
}

/* By keyring, so that the key stands in no table; where that fails, in the table. */
static int make_crypt(struct dm_map *map, const struct kernel_dm *dm)
{
	size_t bytes = map->spec.key_bits / 8;
	char key[DM_KEY_TEXT_SIZE], params[TABLE_MAX];
	long serial = -ENOSYS;
	int ret = -EINVAL;

	if (has_feature(dm, "keyring"))
		serial = dm_key_ring(key, all.key, bytes, all.next);
	if (serial > 0) {
		table(params, map, key);
		ret = make(&map->device, &map->fd, "crypt", params);
		dm_key_forget(serial);
	}
	if (serial < 0 || ret == -EINVAL || ret == -ENOKEY) {
		dm_key_hex(key, all.key, bytes);
		table(params, map, key);
		ret = make(&map->device, &map->fd, "crypt", params);
	}
	explicit_bzero(key, sizeof(key));
	explicit_bzero(params, sizeof(params));
	return ret;
}

static void find_driver(struct dm_map *map)
{
	struct kernel_facts now = {.listed = false};
	const struct kernel_driver *driver = NULL;

	if (!kernel_drivers_read(&now))
		driver = kernel_driver_for(&now, map->spec.kind->kernel);
	snprintf(map->driver, sizeof(map->driver), "%s", driver ? driver->driver : "");
	kernel_facts_free(&now);
}

/* What the facts already know of the failure, which says more than an errno. */
static int known_failure(const struct backend_cell *cell, struct backend_error *error)
{
	const struct kernel_dm *dm = &cell->facts->kernel.dm;
	char text[FLAGS_TEXT_MAX];
	unsigned missing;

	if (!dm->available)
		return backend_fail(error, dm->denied ? EACCES : ENODEV, "%s",
				    *dm->reason ? dm->reason : "device-mapper is not to be had");
	missing = flags_missing(cell->flags, dm);
	if (missing)
		return backend_fail(
			error, EOPNOTSUPP, "the target \"crypt\" %u.%u.%u of this kernel has no %s",
			dm->version[0], dm->version[1], dm->version[2], flags_print(missing, text));
	if (cell->spec.sector != SPEC_SECTOR_MIN && !has_feature(dm, "sector_size"))
		return backend_fail(error, EOPNOTSUPP,
				    "the target \"crypt\" %u.%u.%u of this kernel has sectors of "
				    "512 bytes only",
				    dm->version[0], dm->version[1], dm->version[2]);
	return 0;
}

static int new_map(struct dm_map **out, const struct backend_cell *cell,
		   struct backend_error *error)
{
	struct dm_map *map = calloc(1, sizeof(*map));
	int ret;

	if (!map)
		return backend_fail(error, ENOMEM, "out of memory");
	map->spec = cell->spec;
	map->flags = cell->flags;
	ret = need_zero(error);
	if (ret) {
		free(map);
		return ret;
	}
	ret = make_crypt(map, &cell->facts->kernel.dm);
	if (ret) {
		free(map);
		if (ret == -ENOENT || ret == -EINVAL)
			return backend_fail(error, -ret,
					    "dm-crypt cannot do that: this kernel lacks %s, or a "
					    "part of it",
					    cell->spec.kind->kernel);
		return backend_fail(error, -ret, "no mapping can be made: %s", strerror(-ret));
	}
	find_driver(map);
	map->next = all.list;
	all.list = map;
	*out = map;
	return 0;
}

static void free_map(struct dm_map *map)
{
	if (map->fd >= 0)
		close(map->fd);
	dm_device_remove(&map->device);
	free(map->zeros);
	free(map);
}

static void drop_zero(void)
{
	if (!all.has_zero)
		return;
	close(all.zero_fd);
	dm_device_remove(&all.zero);
	all.has_zero = false;
	explicit_bzero(all.key, sizeof(all.key));
}

int dm_map_get(struct dm_map **out, const struct backend_cell *cell, struct backend_error *error)
{
	struct dm_session session;
	struct dm_map *map;
	int ret = known_failure(cell, error);

	if (ret)
		return ret;
	pthread_mutex_lock(&all.lock);
	for (map = all.list; map; map = map->next)
		if (spec_equal(&map->spec, &cell->spec) && map->flags == cell->flags)
			break;
	if (!map) {
		dm_session_begin(&session);
		ret = new_map(&map, cell, error);
		if (ret && !all.list)
			drop_zero();
		dm_session_end(&session);
	}
	if (!ret) {
		map->users++;
		*out = map;
	}
	pthread_mutex_unlock(&all.lock);
	return ret;
}

void dm_map_put(struct dm_map *map)
{
	struct dm_session session;

	pthread_mutex_lock(&all.lock);
	if (!--map->users) {
		for (struct dm_map **at = &all.list; *at; at = &(*at)->next)
			if (*at == map) {
				*at = map->next;
				break;
			}
		dm_session_begin(&session);
		free_map(map);
		if (!all.list)
			drop_zero();
		dm_session_end(&session);
	}
	pthread_mutex_unlock(&all.lock);
}

/* What hangs may hold the lock: then the kernel removes what we have open when we end. */
void dm_map_abandon(void)
{
	struct timespec until;
	struct dm_session session;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_mutex_timedlock(&all.lock, &until))
		return;
	dm_session_begin(&session);
	for (struct dm_map *map = all.list; map; map = map->next)
		if (map->fd >= 0) {
			close(map->fd);
			map->fd = -1;
			dm_device_expire(&map->device);
		}
	dm_session_end(&session);
	pthread_mutex_unlock(&all.lock);
}

int dm_map_open(const struct dm_map *map, bool write)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", map->fd);
	fd = open(path, (write ? O_WRONLY : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

const char *dm_map_driver(const struct dm_map *map)
{
	return map->driver;
}

/* The portable tier's decryption of zeros. */
static int fill_zeros(struct dm_map *map, size_t size)
{
	struct engine_key *key = NULL;
	uint8_t *data;
	int ret;

	if (map->n_zeros >= size)
		return 0;
	data = calloc(1, size);
	if (!data)
		return -ENOMEM;
	ret = engine_key_new(&key, engine_tier_find("portable"), &map->spec, all.key);
	if (ret) {
		free(data);
		return ret;
	}
	engine_crypt(key, ENGINE_DECRYPT, ENGINE_SERIAL, data, data, map->spec.sector,
		     size / map->spec.sector, CHECK_SECTOR);
	engine_key_free(key);
	free(map->zeros);
	map->zeros = data;
	map->n_zeros = size;
	return 0;
}

/* No second implementation: what can be said is that something was decrypted, sector by sector. */
static bool plausible(const struct dm_map *map, const uint8_t *data, size_t size)
{
	static const uint8_t zero[16];
	size_t sector = map->spec.sector;

	for (size_t at = 0; at + sizeof(zero) <= size; at += sizeof(zero))
		if (!memcmp(data + at, zero, sizeof(zero)))
			return false;
	return size < 2 * sector || memcmp(data, data + sector, sector) != 0;
}

int dm_map_compare(struct dm_map *map, const uint8_t *data, size_t size)
{
	int ret;

	if (!engine_supports(&map->spec))
		return plausible(map, data, size) ? 0 : -EBADMSG;
	pthread_mutex_lock(&all.lock);
	ret = fill_zeros(map, size);
	if (!ret && memcmp(map->zeros, data, size) != 0)
		ret = -EBADMSG;
	pthread_mutex_unlock(&all.lock);
	return ret;
}
