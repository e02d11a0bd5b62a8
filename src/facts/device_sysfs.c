// SPDX-License-Identifier: GPL-2.0-or-later
/* A block device as sysfs describes it (Linux Documentation/ABI/stable/sysfs-block). */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "facts/device_internal.h"
#include "util/sysfile.h"

DIR *device_open_dir(const char *root, const char *path)
{
	char *full = sysfile_path(root, "%s", path);
	DIR *dir = full ? opendir(full) : NULL;

	free(full);
	return dir;
}

const char *device_next_entry(DIR *dir)
{
	struct dirent *entry;

	do
		entry = readdir(dir);
	while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")));
	return entry ? entry->d_name : NULL;
}

/* A partition's directory lies in its disk's; /sys/class/block/NAME is a link to it. */
static bool parent_by_link(char disk[64], const char *name, const char *root)
{
	char *path = sysfile_path(root, SYS_BLOCK "%s", name), link[PATH_MAX], *slash;
	ssize_t n;

	n = path ? readlink(path, link, sizeof(link) - 1) : -1;
	free(path);
	if (n <= 0)
		return false;
	link[n] = '\0';
	slash = strrchr(link, '/');
	if (!slash)
		return false;
	*slash = '\0';
	slash = strrchr(link, '/');
	snprintf(disk, 64, "%.63s", slash ? slash + 1 : link);
	return true;
}

/* Without links (a described machine): "sda1" is on "sda", "nvme0n1p2" on "nvme0n1". */
static void parent_by_name(char disk[64], const char *name)
{
	size_t len = strlen(name);

	while (len && isdigit((unsigned char)name[len - 1]))
		len--;
	if (len > 1 && name[len - 1] == 'p' && isdigit((unsigned char)name[len - 2]))
		len--;
	snprintf(disk, 64, "%.*s", (int)(len < 63 ? len : 63), name);
}

void device_disk_name(char disk[64], const char *name, const char *root)
{
	snprintf(disk, 64, "%.63s", name);
	if (sysfile_exists(root, SYS_BLOCK "%s/partition", name) != 1)
		return;
	if (!parent_by_link(disk, name, root))
		parent_by_name(disk, name);
}

static void read_dev(dev_t *rdev, const char *name, const char *root)
{
	unsigned maj, min;
	char line[64];

	if (sysfile_line(root, line, sizeof(line), SYS_BLOCK "%s/dev", name) > 0 &&
	    sscanf(line, "%u:%u", &maj, &min) == 2)
		*rdev = makedev(maj, min);
}

static void read_flag(int *flag, const char *root, const char *name, const char *attribute)
{
	uint64_t value;

	if (!sysfile_u64(root, &value, SYS_BLOCK "%s/%s", name, attribute))
		*flag = value != 0;
}

static void read_unsigned(unsigned *value, const char *root, const char *name,
			  const char *attribute)
{
	uint64_t number;

	if (!sysfile_u64(root, &number, SYS_BLOCK "%s/%s", name, attribute) && number <= UINT_MAX)
		*value = (unsigned)number;
}

static enum device_kind kind_of(const char *name, const char *disk)
{
	static const struct {
		const char *prefix;
		enum device_kind kind;
	} kinds[] = {{"loop", DEVICE_LOOP},  {"dm-", DEVICE_MAPPER}, {"md", DEVICE_MD},
		     {"zram", DEVICE_OTHER}, {"ram", DEVICE_OTHER},  {"sr", DEVICE_OTHER},
		     {"fd", DEVICE_OTHER}};

	if (strcmp(name, disk))
		return DEVICE_PARTITION;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return kinds[i].kind;
	return DEVICE_DISK;
}

/* The first of the attributes that is there and not empty, without blanks before it. */
static void read_text(char *text, size_t size, const char *root, const char *disk,
		      const char *const *attributes)
{
	char line[512];

	for (; *attributes && !*text; attributes++)
		if (sysfile_line(root, line, sizeof(line), SYS_BLOCK "%s/%s", disk, *attributes) >
		    0)
			snprintf(text, size, "%s", line + strspn(line, " \t"));
}

/* SCSI: VPD page 80h, four bytes of header, then the serial number, padded with blanks. */
static void read_vpd_serial(struct device_facts *facts, const char *root, const char *disk)
{
	size_t len = 0, out = 0;
	char *path, *page = NULL;

	if (facts->serial[0] || asprintf(&path, SYS_BLOCK "%s/device/vpd_pg80", disk) < 0)
		return;
	if (!sysfile_read(root, path, &page, &len))
		for (size_t i = 4; i < len && out < sizeof(facts->serial) - 1; i++)
			if (isgraph((unsigned char)page[i]))
				facts->serial[out++] = page[i];
	facts->serial[out] = '\0';
	free(page);
	free(path);
}

static void read_identity(struct device_facts *facts, const char *root, const char *disk)
{
	static const char *const models[] = {"device/model", "device/name", "loop/backing_file",
					     "dm/name", NULL};
	static const char *const serials[] = {"device/serial", "serial", NULL};
	static const char *const wwns[] = {"wwid", "device/wwid", NULL};
	char vendor[64], model[sizeof(facts->model)];

	read_text(facts->model, sizeof(facts->model), root, disk, models);
	read_text(facts->serial, sizeof(facts->serial), root, disk, serials);
	read_text(facts->wwn, sizeof(facts->wwn), root, disk, wwns);
	read_vpd_serial(facts, root, disk);
	/* libata says "ATA" for every disk, virtio a number: those tell nothing. */
	if (facts->model[0] &&
	    sysfile_line(root, vendor, sizeof(vendor), SYS_BLOCK "%s/device/vendor", disk) > 0 &&
	    strcmp(vendor, "ATA") && strncmp(vendor, "0x", 2)) {
		memcpy(model, facts->model, sizeof(model));
		snprintf(facts->model, sizeof(facts->model), "%.40s %.80s", vendor, model);
	}
}

static void read_queue(struct device_facts *facts, const char *root, const char *disk)
{
	uint64_t value;
	char line[64];

	read_unsigned(&facts->logical_block, root, disk, "queue/logical_block_size");
	read_unsigned(&facts->physical_block, root, disk, "queue/physical_block_size");
	if (!sysfile_u64(root, &value, SYS_BLOCK "%s/queue/optimal_io_size", disk))
		facts->optimal_io = value;
	/* Since Linux 6.11. */
	if (!sysfile_u64(root, &value, SYS_BLOCK "%s/queue/atomic_write_unit_min_bytes", disk))
		facts->atomic_unit_min = value;
	if (!sysfile_u64(root, &value, SYS_BLOCK "%s/queue/atomic_write_unit_max_bytes", disk))
		facts->atomic_unit_max = value;
	read_flag(&facts->rotational, root, disk, "queue/rotational");
	read_flag(&facts->discard, root, disk, "queue/discard_max_bytes");
	if (sysfile_line(root, line, sizeof(line), SYS_BLOCK "%s/queue/zoned", disk) > 0) {
		if (!strcmp(line, "host-aware"))
			facts->zoned = DEVICE_ZONED_HOST_AWARE;
		else if (!strcmp(line, "host-managed"))
			facts->zoned = DEVICE_ZONED_HOST_MANAGED;
	}
}

/* Of 512-byte sectors; saturated, so that an absurd number does not come out as a small one. */
static uint64_t bytes_of(uint64_t sectors)
{
	return sectors < UINT64_MAX / 512 ? sectors * 512 : UINT64_MAX / 512 * 512;
}

/* -1: misaligned, as a stack of devices that no offset suits is (Linux block/blk-settings.c). */
static void read_alignment(struct device_facts *facts, const char *root)
{
	uint64_t value;
	char line[32];

	if (!sysfile_u64(root, &value, SYS_BLOCK "%s/alignment_offset", facts->name))
		facts->alignment_offset = value;
	else if (sysfile_line(root, line, sizeof(line), SYS_BLOCK "%s/alignment_offset",
			      facts->name) > 0)
		facts->misaligned = !strcmp(line, "-1");
}

int device_read_sysfs(struct device_facts *facts, const char *root)
{
	uint64_t sectors, value;
	char disk[64];
	int ret;

	/* "size" and "start" are in units of 512 bytes, whatever the device's blocks are. */
	ret = sysfile_u64(root, &sectors, SYS_BLOCK "%s/size", facts->name);
	if (ret < 0)
		return ret == -ENOMEM ? ret : -ENOENT;
	facts->size = bytes_of(sectors);
	device_disk_name(disk, facts->name, root);
	facts->kind = kind_of(facts->name, disk);
	read_dev(&facts->rdev, facts->name, root);
	facts->disk_rdev = facts->rdev;
	read_dev(&facts->disk_rdev, disk, root);
	read_flag(&facts->read_only, root, facts->name, "ro");
	read_alignment(facts, root);
	if (!sysfile_u64(root, &value, SYS_BLOCK "%s/start", facts->name))
		facts->start = bytes_of(value);
	if (!sysfile_u64(root, &value, SYS_BLOCK "%s/diskseq", disk))
		facts->diskseq = value;
	read_queue(facts, root, disk);
	read_identity(facts, root, disk);
	return 0;
}
