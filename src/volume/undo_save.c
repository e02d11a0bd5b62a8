// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing an undo file. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/directory.h"
#include "volume/undo_format.h"

/* A whole MiB where a new volume's first data come, and spread over the rest. */
#define SAMPLES_DENSE  256U
#define SAMPLES_SPREAD 64U

uint64_t undo_sum(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t sum = 0x9e3779b97f4a7c15ULL ^ len, word;

	for (; len; at += sizeof(word)) {
		size_t part = len < sizeof(word) ? len : sizeof(word);

		word = 0;
		memcpy(&word, at, part);
		len -= part;
		/* An odd factor and a shift: each step can be undone, so no difference is lost. */
		sum = (sum ^ le64toh(word)) * 0xff51afd7ed558ccdULL;
		sum ^= sum >> 32;
	}
	return sum;
}

size_t undo_sectors(const struct extents *areas)
{
	size_t n = 0;

	for (size_t i = 0; i < areas->n; i++)
		n += (areas->list[i].len + CHANGE_SECTOR - 1) / CHANGE_SECTOR;
	return n;
}

static int cannot(const char *path, int err, struct status *st)
{
	return status_set(st, err == EACCES || err == EPERM ? ST_AUTH : ST_USAGE, err,
			  "--undo-file: %s cannot be made: %s.", path, strerror(err));
}

int undo_check(const char *path, struct status *st)
{
	char dir[PATH_MAX];
	int ret;

	struct stat info;

	if (!strcmp(path, "-"))
		return status_set(
			st, ST_USAGE, EINVAL,
			"--undo-file: \"-\" is no file: an undo file must be on a disk before the first "
			"write (a file of that name: ./-).");
	if (strlen(path) >= sizeof(dir))
		return cannot(path, ENAMETOOLONG, st);
	if (!lstat(path, &info))
		return status_set(st, ST_USAGE, EEXIST,
				  "--undo-file: %s exists already, and nothing is replaced; choose "
				  "another name.",
				  path);
	if (errno != ENOENT || path[strlen(path) - 1] == '/')
		return cannot(path, errno == ENOENT ? EISDIR : errno, st);
	strcpy(dir, path);
	ret = directory_try(dirname(dir));
	return ret ? cannot(path, -ret, st) : 0;
}

bool undo_in_memory(const char *path)
{
	char dir[PATH_MAX];
	struct statfs fs;

	snprintf(dir, sizeof(dir), "%s", path);
	return !statfs(dirname(dir), &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* The table under construction. */
struct table {
	uint64_t *words;
	size_t n;
};

static void put_extents(struct table *t, const struct extents *e)
{
	for (size_t i = 0; i < e->n; i++) {
		t->words[t->n++] = htole64(e->list[i].offset);
		t->words[t->n++] = htole64(e->list[i].len);
	}
}

static int add_sample(struct extents *samples, const struct change *change, uint64_t offset,
		      uint64_t size)
{
	offset = offset / UNDO_SAMPLE * UNDO_SAMPLE;
	if (offset + UNDO_SAMPLE > size || extents_overlap(&change->areas, offset, UNDO_SAMPLE))
		return 0;
	return extents_add(samples, offset, UNDO_SAMPLE);
}

static int choose_samples(struct extents *samples, const struct change *change, uint64_t size)
{
	uint64_t rest = size > change->header_len ? size - change->header_len : 0;
	struct extents all = {0};
	int ret = 0;

	for (unsigned i = 0; i < SAMPLES_DENSE && !ret; i++)
		ret = add_sample(&all, change, change->header_len + (uint64_t)i * UNDO_SAMPLE,
				 size);
	for (unsigned i = 1; i <= SAMPLES_SPREAD && !ret; i++)
		ret = add_sample(&all, change, change->header_len + rest / SAMPLES_SPREAD * i,
				 size);
	/* Each of UNDO_SAMPLE bytes again, in order and none twice. */
	extents_merge(&all);
	for (size_t i = 0; i < all.n && !ret; i++)
		for (uint64_t at = 0; at < all.list[i].len && !ret; at += UNDO_SAMPLE)
			ret = extents_add(samples, all.list[i].offset + at, UNDO_SAMPLE);
	extents_free(&all);
	return ret;
}

static int put_samples(struct table *t, const struct extents *samples, int fd)
{
	unsigned char sample[UNDO_SAMPLE];
	int ret = 0;

	put_extents(t, samples);
	for (size_t i = 0; i < samples->n && !ret; i++) {
		ret = extent_read(fd, sample, sizeof(sample), samples->list[i].offset);
		t->words[t->n++] = htole64(undo_sum(sample, sizeof(sample)));
	}
	return ret;
}

static void put_sectors(struct table *t, const struct change *change, enum change_state state)
{
	unsigned char sector[CHANGE_SECTOR];
	uint64_t at = 0;

	for (size_t i = 0; i < change->areas.n; i++) {
		uint64_t len = change->areas.list[i].len;

		for (uint64_t done = 0; done < len; done += CHANGE_SECTOR) {
			size_t part = len - done < CHANGE_SECTOR ? len - done : CHANGE_SECTOR;

			change_bytes(change, state, at + done, part, sector);
			t->words[t->n++] = htole64(undo_sum(sector, part));
		}
		at += len;
	}
}

static int make_table(struct table *t, struct undo_block *block, const struct change *change,
		      const struct guard *guard)
{
	struct extents samples = {0};
	size_t sectors = undo_sectors(&change->areas);
	int ret;

	ret = choose_samples(&samples, change, guard->device.size);
	if (!ret) {
		t->words = calloc(2 * change->areas.n + 2 * change->marks.n + 2 * sectors +
					  3 * samples.n + 1,
				  sizeof(*t->words));
		ret = t->words ? 0 : -ENOMEM;
	}
	if (!ret) {
		put_extents(t, &change->areas);
		put_extents(t, &change->marks);
		put_sectors(t, change, CHANGE_BEFORE);
		put_sectors(t, change, CHANGE_AFTER);
		ret = put_samples(t, &samples, guard->fd);
	}
	block->n_areas = htole64(change->areas.n);
	block->n_marks = htole64(change->marks.n);
	block->n_sectors = htole64(sectors);
	block->n_samples = htole64(samples.n);
	block->table_len = htole64(t->n * sizeof(*t->words));
	if (!ret)
		sha256(block->table_sum, (uint8_t *)t->words, t->n * sizeof(*t->words));
	extents_free(&samples);
	return ret;
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static void fill_block(struct undo_block *block, const struct guard *guard,
		       const struct change *change, const char *uuid)
{
	const struct device_facts *device = &guard->device;
	uint64_t len = extents_total(&change->areas);

	memcpy(block->magic, UNDO_MAGIC, sizeof(UNDO_MAGIC));
	block->version = htole32(UNDO_VERSION);
	block->is_file = htole32(device->kind == DEVICE_FILE);
	block->size = htole64(device->size);
	block->start = htole64(device->start);
	block->header_len = htole64(change->header_len);
	block->created = htole64((uint64_t)time(NULL));
	block->bytes_len = htole64(len);
	for (int i = 0; i < CHANGE_COPIES; i++) {
		block->copies[i][0] = htole64(change->copies[i].offset);
		block->copies[i][1] = htole64(change->copies[i].len);
	}
	copy_text(block->uuid, sizeof(block->uuid), uuid);
	copy_text(block->model, sizeof(block->model), device->model);
	copy_text(block->serial, sizeof(block->serial), device->serial);
	copy_text(block->wwn, sizeof(block->wwn), device->wwn);
	sha256(block->sum, (uint8_t *)block, sizeof(*block) - sizeof(block->sum));
}

/* Blank pieces stay holes. */
static int write_sparse(int fd, const unsigned char *bytes, uint64_t len, uint64_t at)
{
	static const unsigned char blank[UNDO_BLOCK];
	int ret = ftruncate(fd, (off_t)(at + len)) ? -errno : 0;

	for (uint64_t done = 0; done < len && !ret; done += UNDO_BLOCK) {
		size_t part = len - done < UNDO_BLOCK ? len - done : UNDO_BLOCK;

		if (memcmp(bytes + done, blank, part))
			ret = extent_write(fd, bytes + done, part, at + done);
	}
	return ret;
}

/* Bytes that write_sparse() writes. */
static uint64_t dense_length(const unsigned char *bytes, uint64_t len)
{
	static const unsigned char blank[UNDO_BLOCK];
	uint64_t dense = 0;

	for (uint64_t done = 0; done < len; done += UNDO_BLOCK) {
		size_t part = len - done < UNDO_BLOCK ? len - done : UNDO_BLOCK;

		if (memcmp(bytes + done, blank, part))
			dense += UNDO_BLOCK;
	}
	return dense;
}

int undo_room(const char *path, const struct change *change, struct status *st)
{
	uint64_t len = extents_total(&change->areas);
	uint64_t table = undo_bytes_at(16 * undo_sectors(&change->areas) +
				       24 * (SAMPLES_DENSE + SAMPLES_SPREAD) +
				       16 * (change->areas.n + change->marks.n));
	uint64_t need = table + dense_length(change->before, len);
	struct rlimit limit;
	struct statvfs fs;
	char dir[PATH_MAX];

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < table + len)
		return status_set(st, ST_REFUSED, EFBIG,
				  "--undo-file: %s would have %" PRIu64
				  " bytes, and the limit on a file's size (ulimit -f) is %" PRIu64
				  ". Nothing was written.",
				  path, table + len, (uint64_t)limit.rlim_cur);
	snprintf(dir, sizeof(dir), "%s", path);
	if (statvfs(dirname(dir), &fs) || !fs.f_frsize || need / fs.f_frsize < fs.f_bavail)
		return 0;
	return status_set(st, ST_REFUSED, ENOSPC,
			  "--undo-file: the file system of %s has no room for the %" PRIu64
			  " bytes that it would take: %s. Nothing was written.",
			  path, need, strerror(ENOSPC));
}

static int write_file(int fd, const struct undo_block *block, const struct table *t,
		      const struct change *change)
{
	uint64_t table_len = t->n * sizeof(*t->words);
	int ret;

	ret = extent_write(fd, t->words, table_len, UNDO_BLOCK);
	if (!ret)
		ret = write_sparse(fd, change->before, extents_total(&change->areas),
				   undo_bytes_at(table_len));
	if (!ret && fsync(fd))
		ret = -errno;
	if (!ret)
		ret = extent_write(fd, block, sizeof(*block), 0);
	return ret || !fsync(fd) ? ret : -errno;
}

int undo_save(const char *path, const struct guard *guard, const struct change *change,
	      const char *uuid, struct status *st)
{
	struct undo_block *block = calloc(1, sizeof(*block));
	struct table table = {0};
	int fd = -1, ret;

	ret = block ? make_table(&table, block, change, guard) : -ENOMEM;
	if (!ret) {
		fill_block(block, guard, change, uuid);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		ret = fd < 0 ? -errno : write_file(fd, block, &table, change);
	}
	if (!ret)
		ret = directory_sync(path);
	if (fd >= 0 && close(fd) && !ret)
		ret = -errno;
	if (ret && fd >= 0)
		unlink(path);
	free(table.words);
	free(block);
	if (ret == -ENOMEM)
		return status_nomem(st);
	if (ret)
		return status_set(st, ST_REFUSED, -ret,
				  "The undo file %s could not be written: %s. Nothing was written "
				  "to %s.",
				  path, strerror(-ret), guard->device.path);
	return 0;
}
