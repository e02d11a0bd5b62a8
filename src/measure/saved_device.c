// SPDX-License-Identifier: GPL-2.0-or-later
/* A described disk. Its contents and users are not read back: they are of another day. */
#include "measure/saved_device.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_LIMIT (1U << 30)

static int read_kind(const struct saved_place *at, enum device_kind *kind)
{
	char name[16] = "disk";
	int ret = saved_string(at, "kind", false, name, sizeof(name));

	for (int k = DEVICE_FILE; k <= DEVICE_OTHER && !ret; k++) {
		*kind = (enum device_kind)k;
		if (!strcmp(device_kind_name(*kind), name))
			return 0;
	}
	return ret ? ret
		   : saved_wrong(at, "kind", "file, disk, partition, loop, mapper, md or other");
}

static int read_zoned(const struct saved_place *at, enum device_zoned *zoned)
{
	char name[16] = "none";
	int ret = saved_string(at, "zoned", false, name, sizeof(name));

	for (int z = DEVICE_ZONED_NONE; z <= DEVICE_ZONED_HOST_MANAGED && !ret; z++) {
		*zoned = (enum device_zoned)z;
		if (!strcmp(device_zoned_name(*zoned), name))
			return 0;
	}
	return ret ? ret : saved_wrong(at, "zoned", "none, host-aware or host-managed");
}

static int read_block(const struct saved_place *at, const char *key, unsigned *block)
{
	uint64_t value = 0;
	int ret = saved_u64(at, key, false, 512, BLOCK_LIMIT, &value);

	if (!ret && (value & (value - 1)))
		ret = saved_wrong(at, key, "a power of two");
	*block = (unsigned)value;
	return ret;
}

/* True, false, or absent and not known. */
static int read_tristate(const struct saved_place *at, const char *key, int *value)
{
	struct json_object *found = NULL;
	bool is = false;
	int ret = saved_bool(at, key, &is);

	json_object_object_get_ex(at->obj, key, &found);
	*value = found ? is : -1;
	return ret;
}

static int read_geometry(struct device_facts *d, const struct saved_place *at)
{
	const uint64_t most = INT64_MAX;
	int ret;

	ret = saved_u64(at, "size", true, 0, most, &d->size);
	if (!ret)
		ret = read_block(at, "logical_block", &d->logical_block);
	if (!ret)
		ret = read_block(at, "physical_block", &d->physical_block);
	if (!ret)
		ret = saved_u64(at, "optimal_io", false, 0, most, &d->optimal_io);
	if (!ret)
		ret = saved_u64(at, "alignment_offset", false, 0, most, &d->alignment_offset);
	if (!ret)
		ret = saved_u64(at, "start", false, 0, most, &d->start);
	if (!ret)
		ret = saved_u64(at, "atomic_write_unit_min", false, 0, most, &d->atomic_unit_min);
	if (!ret)
		ret = saved_u64(at, "atomic_write_unit_max", false, 0, most, &d->atomic_unit_max);
	return ret ? ret : saved_bool(at, "misaligned", &d->misaligned);
}

static int read_device(struct device_facts *d, const struct saved_place *at)
{
	int ret;

	ret = saved_string(at, "path", true, d->path, sizeof(d->path));
	if (!ret)
		ret = saved_text(at, "target", d->target, sizeof(d->target));
	if (!ret)
		ret = saved_text(at, "name", d->name, sizeof(d->name));
	if (!ret)
		ret = saved_text(at, "model", d->model, sizeof(d->model));
	if (!ret)
		ret = read_kind(at, &d->kind);
	if (!ret)
		ret = read_geometry(d, at);
	if (!ret)
		ret = read_tristate(at, "rotational", &d->rotational);
	if (!ret)
		ret = read_tristate(at, "discard", &d->discard);
	if (!ret)
		ret = read_tristate(at, "read_only", &d->read_only);
	return ret ? ret : read_zoned(at, &d->zoned);
}

static int read_speed(struct disk_speed *disk, const struct saved_place *at)
{
	int ret;

	ret = saved_real(at, "bytes_per_second", false, &disk->speed);
	strcpy(disk->from, "measured");
	if (!ret)
		ret = saved_string(at, "from", false, disk->from, sizeof(disk->from));
	if (!ret)
		ret = saved_u64(at, "bytes_read", false, 0, INT64_MAX, &disk->bytes);
	if (!ret)
		ret = saved_real(at, "seconds", false, &disk->seconds);
	return ret ? ret : saved_text(at, "reason", disk->reason, sizeof(disk->reason));
}

int saved_device(struct saved_device *device, const struct saved_place *doc)
{
	struct saved_place at;
	int ret;

	ret = saved_member(doc, "device", json_type_object, false, &at);
	if (!ret && at.obj) {
		ret = read_device(&device->facts, &at);
		device->found = !ret;
	}
	if (!ret)
		ret = saved_member(doc, "device_speed", json_type_object, false, &at);
	if (!ret && at.obj) {
		ret = read_speed(&device->speed, &at);
		device->speed_found = !ret;
	}
	return ret;
}
