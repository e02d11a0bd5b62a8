// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading an undo file, and comparing a device with it. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "volume/undo_format.h"

static int fault(const char *path, const char *what, struct status *st)
{
	return status_set(st, ST_USAGE, EBADMSG, "%s %s.", path, what);
}

/* Everything that the first block says, checked against the file's length and against itself. */
static const char *block_fault(const struct undo_block *b, uint64_t file_size)
{
	static const uint8_t blank[UNDO_BLOCK];
	uint8_t sum[SHA256_SIZE];
	uint64_t words;

	if (!memcmp(b, blank, sizeof(blank)))
		return "is an undo file whose writing was cut short: nothing was written to the "
		       "device";
	if (memcmp(b->magic, UNDO_MAGIC, sizeof(UNDO_MAGIC)))
		return "is no undo file";
	if (le32toh(b->version) != UNDO_VERSION)
		return "is an undo file of another version of the program";
	sha256(sum, (const uint8_t *)b, sizeof(*b) - sizeof(b->sum));
	if (memcmp(sum, b->sum, sizeof(sum)))
		return "is damaged in its first block";
	if (le64toh(b->n_areas) > UNDO_MAX_AREAS || le64toh(b->n_marks) > UNDO_MAX_AREAS ||
	    le64toh(b->n_samples) > UNDO_MAX_SAMPLES || le64toh(b->bytes_len) > UNDO_MAX_BYTES ||
	    le64toh(b->n_sectors) > UNDO_MAX_BYTES / CHANGE_SECTOR)
		return "says more than an undo file can hold";
	words = 2 * (le64toh(b->n_areas) + le64toh(b->n_marks)) + 2 * le64toh(b->n_sectors) +
		3 * le64toh(b->n_samples);
	if (le64toh(b->table_len) != words * 8)
		return "contradicts itself";
	if (file_size != undo_bytes_at(words * 8) + le64toh(b->bytes_len))
		return "is not as long as it should be";
	return NULL;
}

static void take_text(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size - 1] = '\0';
}

static void take_block(struct undo *u, const struct undo_block *b)
{
	u->size = le64toh(b->size);
	u->start = le64toh(b->start);
	u->is_file = le32toh(b->is_file);
	u->created = (time_t)le64toh(b->created);
	u->n_sectors = le64toh(b->n_sectors);
	u->change.header_len = le64toh(b->header_len);
	for (int i = 0; i < CHANGE_COPIES; i++)
		u->change.copies[i] = (struct extent){le64toh(b->copies[i][0]),
						      le64toh(b->copies[i][1])};
	take_text(u->uuid, b->uuid, sizeof(u->uuid));
	take_text(u->model, b->model, sizeof(u->model));
	take_text(u->serial, b->serial, sizeof(u->serial));
	take_text(u->wwn, b->wwn, sizeof(u->wwn));
}

static int take_extents(struct extents *e, const uint64_t **words, uint64_t n)
{
	int ret = 0;

	for (uint64_t i = 0; i < n && !ret; i++, *words += 2)
		ret = extents_add(e, le64toh((*words)[0]), le64toh((*words)[1]));
	return ret;
}

static int take_sums(uint64_t **sums, const uint64_t **words, uint64_t n)
{
	*sums = calloc(n + 1, sizeof(**sums));
	if (!*sums)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		(*sums)[i] = le64toh(*(*words)++);
	return 0;
}

static int take_table(struct undo *u, const struct undo_block *b, const uint64_t *words)
{
	int ret;

	ret = take_extents(&u->change.areas, &words, le64toh(b->n_areas));
	if (!ret)
		ret = take_extents(&u->change.marks, &words, le64toh(b->n_marks));
	if (!ret)
		ret = take_sums(&u->before, &words, u->n_sectors);
	if (!ret)
		ret = take_sums(&u->after, &words, u->n_sectors);
	if (!ret)
		ret = take_extents(&u->samples, &words, le64toh(b->n_samples));
	return ret ? ret : take_sums(&u->sampled, &words, u->samples.n);
}

/* In order, apart from each other, none empty, none beyond the end. */
static bool in_order(const struct extents *e, uint64_t end)
{
	uint64_t last = 0;

	for (size_t i = 0; i < e->n; i++) {
		if (!e->list[i].len || e->list[i].offset > end ||
		    e->list[i].len > end - e->list[i].offset || e->list[i].offset < last)
			return false;
		last = e->list[i].offset + e->list[i].len;
	}
	return true;
}

static bool table_sound(const struct undo *u, uint64_t bytes_len)
{
	const struct change *c = &u->change;

	if (!in_order(&c->areas, u->size) || !in_order(&c->marks, u->size) ||
	    !in_order(&u->samples, u->size) || !c->areas.n || c->areas.list[0].offset ||
	    c->header_len > c->areas.list[0].len || extents_total(&c->areas) != bytes_len ||
	    undo_sectors(&c->areas) != u->n_sectors)
		return false;
	for (size_t i = 0; i < c->areas.n; i++)
		if (c->areas.list[i].offset % CHANGE_SECTOR)
			return false;
	for (size_t i = 0; i < u->samples.n; i++)
		if (u->samples.list[i].len != UNDO_SAMPLE)
			return false;
	for (int i = 0; i < CHANGE_COPIES; i++)
		if (c->copies[i].offset > c->header_len ||
		    c->copies[i].len > c->header_len - c->copies[i].offset)
			return false;
	return true;
}

static int load_table(struct undo *u, const struct undo_block *b, int fd, const char **what)
{
	uint64_t len = le64toh(b->table_len);
	uint64_t *words = malloc(len + 1);
	uint8_t sum[SHA256_SIZE];
	int ret = words ? extent_read(fd, words, len, UNDO_BLOCK) : -ENOMEM;

	if (!ret) {
		sha256(sum, (uint8_t *)words, len);
		if (memcmp(sum, b->table_sum, sizeof(sum)))
			*what = "is damaged in its table";
		else
			ret = take_table(u, b, words);
	}
	free(words);
	if (!ret && !*what && !table_sound(u, le64toh(b->bytes_len)))
		*what = "contradicts itself";
	return ret;
}

/* The bytes that are to be put back, each sector against its checksum. */
static bool bytes_sound(const struct undo *u)
{
	const unsigned char *at = u->change.before;
	size_t index = 0;

	for (size_t i = 0; i < u->change.areas.n; i++) {
		uint64_t len = u->change.areas.list[i].len;

		for (uint64_t done = 0; done < len; done += CHANGE_SECTOR, index++)
			if (undo_sum(at + done,
				     len - done < CHANGE_SECTOR ? len - done : CHANGE_SECTOR) !=
			    u->before[index])
				return false;
		at += len;
	}
	return true;
}

static int load_bytes(struct undo *u, const struct undo_block *b, int fd, const char **what)
{
	uint64_t len = le64toh(b->bytes_len);
	int ret;

	u->change.before = malloc(len + 1);
	if (!u->change.before)
		return -ENOMEM;
	ret = extent_read(fd, u->change.before, len, undo_bytes_at(le64toh(b->table_len)));
	if (ret)
		return ret;
	if (!bytes_sound(u))
		*what = "is damaged: what is to be put back is not what was saved";
	return 0;
}

static int load(struct undo *u, int fd, const char **what)
{
	struct undo_block *b;
	struct stat info;
	int ret;

	if (fstat(fd, &info))
		return -errno;
	u->file_dev = info.st_dev;
	u->file_ino = info.st_ino;
	if (!S_ISREG(info.st_mode) || info.st_size < (off_t)UNDO_BLOCK) {
		*what = "is no undo file";
		return 0;
	}
	b = malloc(sizeof(*b));
	ret = b ? extent_read(fd, b, sizeof(*b), 0) : -ENOMEM;
	if (!ret)
		*what = block_fault(b, (uint64_t)info.st_size);
	if (!ret && !*what) {
		take_block(u, b);
		ret = load_table(u, b, fd, what);
	}
	if (!ret && !*what)
		ret = load_bytes(u, b, fd, what);
	free(b);
	return ret;
}

int undo_load(struct undo *undo, const char *path, struct status *st)
{
	const char *what = NULL;
	int fd, ret;

	memset(undo, 0, sizeof(*undo));
	/* O_NONBLOCK: a pipe without a writer is no undo file, and nothing to wait for. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return status_set(st, errno == EACCES ? ST_AUTH : ST_USAGE, errno,
				  "The undo file %s: %s.", path, strerror(errno));
	ret = load(undo, fd, &what);
	close(fd);
	if (ret == -ENOMEM)
		return status_nomem(st);
	if (ret)
		return status_set(st, ST_USAGE, -ret, "The undo file %s: %s.", path,
				  strerror(-ret));
	return what ? fault(path, what, st) : 0;
}

void undo_free(struct undo *undo)
{
	change_free(&undo->change);
	extents_free(&undo->samples);
	free(undo->before);
	free(undo->after);
	free(undo->sampled);
	undo->before = undo->after = undo->sampled = NULL;
}

static const char *other_identity(const struct undo *u, const struct device_facts *device)
{
	if (u->size != device->size)
		return "size";
	if (u->is_file != (device->kind == DEVICE_FILE))
		return "kind";
	if (u->is_file)
		return NULL;
	if (strcmp(u->model, device->model))
		return device->kind == DEVICE_LOOP ? "backing file" : "model";
	if (strcmp(u->serial, device->serial))
		return "serial number";
	if (strcmp(u->wwn, device->wwn))
		return "WWN";
	return u->start != device->start ? "place on the disk" : NULL;
}

/* One sector of the device against its states; `index` counts sectors over all areas. */
static void compare_sector(struct undo_finding *f, const struct undo *u, uint64_t at, size_t index,
			   uint64_t offset, const unsigned char *now, size_t len)
{
	unsigned char known[CHANGE_SECTOR];

	change_bytes(&u->change, CHANGE_BEFORE, at, len, known);
	if (!memcmp(known, now, len)) {
		f->before++;
		return;
	}
	if (undo_sum(now, len) == u->after[index]) {
		f->after++;
		return;
	}
	change_bytes(&u->change, CHANGE_BLANK, at, len, known);
	if (!memcmp(known, now, len)) {
		f->blank++;
		return;
	}
	if (!f->other++)
		f->first_other = offset;
}

static int compare_areas(struct undo_finding *f, const struct undo *u, const struct guard *guard,
			 struct status *st)
{
	unsigned char now[CHANGE_SECTOR];
	size_t index = 0;
	uint64_t at = 0;

	for (size_t i = 0; i < u->change.areas.n; i++) {
		const struct extent *area = &u->change.areas.list[i];

		for (uint64_t done = 0; done < area->len; done += CHANGE_SECTOR, index++) {
			size_t len = area->len - done < CHANGE_SECTOR ? area->len - done
								      : CHANGE_SECTOR;
			uint64_t offset = area->offset + done;
			int ret = extent_read(guard->fd, now, len, offset);

			if (ret)
				return status_set(st, ST_DEVICE, -ret,
						  "%s cannot be read at byte %" PRIu64 ": %s.",
						  guard->device.path, offset, strerror(-ret));
			compare_sector(f, u, at + done, index, offset, now, len);
		}
		at += area->len;
	}
	return 0;
}

static int compare_samples(struct undo_finding *f, const struct undo *u, int fd)
{
	unsigned char now[UNDO_SAMPLE];

	for (size_t i = 0; i < u->samples.n; i++) {
		uint64_t offset = u->samples.list[i].offset;

		if (!extent_read(fd, now, sizeof(now), offset) &&
		    undo_sum(now, sizeof(now)) == u->sampled[i])
			continue;
		if (!f->used++)
			f->first_used = offset;
	}
	return 0;
}

int undo_compare(struct undo_finding *finding, const struct undo *undo, const struct guard *guard,
		 struct status *st)
{
	const struct extent *last = &undo->change.areas.list[undo->change.areas.n - 1];
	int ret;

	memset(finding, 0, sizeof(*finding));
	if (last->offset + last->len > guard->device.size)
		return status_set(st, ST_DEVICE, ENOSPC,
				  "%s has %" PRIu64 " bytes, and what is to be put back reaches to "
				  "byte %" PRIu64 ": it is another device.",
				  guard->device.path, guard->device.size, last->offset + last->len);
	finding->identity = other_identity(undo, &guard->device);
	ret = compare_areas(finding, undo, guard, st);
	return ret ? ret : compare_samples(finding, undo, guard->fd);
}
