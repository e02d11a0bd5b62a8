// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a format, or an undo, that was cut short has left of an image file.
 *
 * cut-check state BEFORE NOW KEY OLD-KEY [OFFSET]: prints "untouched" (every byte as before), "old"
 * (as before but for marks, so that old volumes are whole or not recognised), "new" (a volume that
 * KEY opens, with no other content's mark left), or "nothing" (no header that would open). Anything
 * else ends with status 1. OFFSET: where an old volume lies in a partition.
 *
 * cut-check replay BEFORE START LOG UNDO-FILE KEY OLD-KEY [OFFSET]: a power cut at each place in
 * the log of cut.c, with START as what was on the medium: all up to the last flush is there, and of
 * what came after it nothing, all of it, or any of its sectors. Each must be one of the four, and
 * the undo file must bring back BEFORE (tried for a third of them). Prints how many there were of
 * each.
 *
 * cut-check count LOG: prints how many calls are in it.
 */
#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <libcryptsetup.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "volume/undo.h"

#define SECTOR 512
/* Bytes that marks have in all, at most. */
#define MARKS 256
/* Random choices of what reached the medium, at each place. */
#define CHOICES 2
/* Undone is one in so many. */
#define UNDO_EACH 3

struct bytes {
	unsigned char *at;
	size_t len;
};

struct scene {
	struct bytes before, key, old_key;
	size_t offset; /* of an old volume */
};

static void die(const char *what)
{
	fprintf(stderr, "cut-check: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct bytes load(const char *path)
{
	struct bytes b = {0};
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &info))
		die(path);
	b.len = info.st_size;
	b.at = malloc(b.len + 1);
	if (!b.at || extent_read(fd, b.at, b.len, 0))
		die(path);
	close(fd);
	return b;
}

/* A file in memory with those bytes. */
static int memory_file(const unsigned char *bytes, size_t len)
{
	int fd = memfd_create("cut-check", MFD_CLOEXEC);

	if (fd < 0 || extent_write(fd, bytes, len, 0))
		die("memfd");
	return fd;
}

/* Without a mark in any of the places where it may stand (LUKS2 on-disk format, 2.3) there is no
 * header: known without asking libcryptsetup, which takes longer. */
static bool may_open(const unsigned char *bytes, size_t len)
{
	if (!memcmp(bytes, "LUKS\xba\xbe", 6))
		return true;
	for (size_t at = 0x4000; at <= 0x400000 && at + 6 <= len; at *= 2)
		if (!memcmp(bytes + at, "SKUL\xba\xbe", 6))
			return true;
	return false;
}

static bool opens(const unsigned char *bytes, size_t len, const struct bytes *key)
{
	struct crypt_device *cd = NULL;
	bool ret = false;
	char path[32];
	int fd;

	if (!may_open(bytes, len))
		return false;
	fd = memory_file(bytes, len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!crypt_init(&cd, path) && !crypt_load(cd, CRYPT_LUKS, NULL))
		ret = crypt_activate_by_passphrase(cd, NULL, CRYPT_ANY_SLOT, (char *)key->at,
						   key->len, 0) >= 0;
	crypt_free(cd);
	close(fd);
	return ret;
}

/* Whether libblkid finds that and nothing else. */
static bool is_luks_alone(const unsigned char *bytes, size_t len)
{
	blkid_probe pr = blkid_new_probe();
	int fd = memory_file(bytes, len);
	const char *type = "";
	bool ret;

	blkid_probe_set_device(pr, fd, 0, 0);
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_partitions_flags(pr, BLKID_PARTS_FORCE_GPT);
	ret = !blkid_do_safeprobe(pr) && !blkid_probe_lookup_value(pr, "TYPE", &type, NULL) &&
	      !strcmp(type, "crypto_LUKS") && !blkid_probe_has_value(pr, "PTTYPE");
	blkid_free_probe(pr);
	close(fd);
	return ret;
}

/* As before, but for a few bytes that are zero now. */
static bool as_before_but_marks(const struct scene *s, const unsigned char *now)
{
	size_t other = 0;

	for (size_t i = 0; i < s->before.len; i++) {
		if (now[i] == s->before.at[i])
			continue;
		if (now[i] || ++other > MARKS)
			return false;
	}
	return true;
}

/* NULL: none of the states that may be. */
static const char *state(const struct scene *s, const unsigned char *now)
{
	size_t len = s->before.len;

	if (!memcmp(now, s->before.at, len))
		return "untouched";
	if (as_before_but_marks(s, now))
		return "old";
	if (opens(now + s->offset, len - s->offset, &s->old_key))
		return NULL;
	if (!opens(now, len, &s->key))
		return "nothing";
	return is_luks_alone(now, len) ? "new" : NULL;
}

/* Whether the undo file brings it back, with nothing found that would need --force. */
static bool undone(const struct scene *s, const struct undo *u, const unsigned char *now)
{
	struct undo_finding found;
	struct status st = {0};
	struct guard guard = {.fd = memory_file(now, s->before.len)};
	struct bytes after = {malloc(s->before.len), s->before.len};
	bool opens, ret;

	guard.device.kind = DEVICE_FILE;
	guard.device.size = s->before.len;
	ret = !undo_compare(&found, u, &guard, &st) && !found.other && !found.used &&
	      !found.identity && change_revert(&u->change, guard.fd, &opens) >= 0 &&
	      !extent_read(guard.fd, after.at, after.len, 0) &&
	      !memcmp(after.at, s->before.at, after.len);
	free(after.at);
	close(guard.fd);
	return ret;
}

struct event {
	bool flush;
	size_t offset, len;
	const unsigned char *bytes;
};

static size_t parse(struct event *events, size_t max, const struct bytes *log)
{
	size_t at = 0, n = 0;

	while (at < log->len && n < max) {
		struct event *e = &events[n];
		int head = 0;

		memset(e, 0, sizeof(*e));
		if (log->at[at] == 'w' &&
		    sscanf((char *)log->at + at, "w %zu %zu%n", &e->offset, &e->len, &head) == 2) {
			e->bytes = log->at + at + head + 1;
			at += head + 1 + e->len;
			n++;
		} else {
			e->flush = log->at[at] == 's';
			n++;
			at += 2;
		}
	}
	return n;
}

static void put(unsigned char *disk, const struct event *e, bool all)
{
	for (size_t i = 0; i < e->len; i += SECTOR)
		if (all || random() & 1)
			memcpy(disk + e->offset + i, e->bytes + i,
			       e->len - i < SECTOR ? e->len - i : SECTOR);
}

struct tally {
	const char *name;
	unsigned n;
} tally[] = {{"untouched", 0}, {"old", 0}, {"new", 0}, {"nothing", 0}};

static int judge(const struct scene *s, const struct undo *u, const unsigned char *now, size_t cut,
		 const char *how)
{
	const char *is = state(s, now);
	static unsigned n;

	for (size_t i = 0; is && i < sizeof(tally) / sizeof(tally[0]); i++)
		tally[i].n += !strcmp(is, tally[i].name);
	if (!is)
		printf("cut after %zu, %s: a header opens that must not\n", cut, how);
	else if (n++ % UNDO_EACH == 0 && !undone(s, u, now))
		printf("cut after %zu, %s (%s): not undone\n", cut, how, is);
	else
		return 0;
	return 1;
}

static struct event events[4096];

static int replay(const struct scene *s, struct bytes *disk, const struct bytes *log,
		  const struct undo *u)
{
	size_t n = parse(events, 4096, log), flushed = 0;
	unsigned char *now = malloc(disk->len);
	int bad = 0;

	/* disk: what is on the medium for sure. */
	for (size_t cut = 0; cut <= n; cut++) {
		memcpy(now, disk->at, disk->len);
		for (size_t i = flushed; i < cut; i++)
			put(now, &events[i], true);
		bad += judge(s, u, now, cut, "all of it");
		for (int i = 0; i < CHOICES && cut > flushed; i++) {
			memcpy(now, disk->at, disk->len);
			for (size_t j = flushed; j < cut; j++)
				put(now, &events[j], false);
			bad += judge(s, u, now, cut, "some sectors");
		}
		if (cut == n || !events[cut].flush)
			continue;
		for (size_t i = flushed; i < cut; i++)
			put(disk->at, &events[i], true);
		flushed = cut + 1;
	}
	free(now);
	printf("%zu events", n);
	for (size_t i = 0; i < sizeof(tally) / sizeof(tally[0]); i++)
		printf(", %s %u", tally[i].name, tally[i].n);
	printf(", bad %d\n", bad);
	return bad ? 1 : 0;
}

static void quiet(int level, const char *message, void *arg)
{
	(void)level;
	(void)message;
	(void)arg;
}

int main(int argc, char **argv)
{
	/* Static: there until the end, and no leak. */
	static struct bytes now, log;
	static struct scene s;
	static struct undo undo;
	struct status st = {0};
	const char *is;

	crypt_set_log_callback(NULL, quiet, NULL);
	srandom(20261130);
	if (argc == 3 && !strcmp(argv[1], "count")) {
		log = load(argv[2]);
		printf("%zu\n", parse(events, 4096, &log));
		return 0;
	}
	if (argc < 6)
		return 2;
	s.before = load(argv[2]);
	now = load(argv[3]);
	if (now.len != s.before.len)
		return 2;
	if (!strcmp(argv[1], "state")) {
		s.key = load(argv[4]);
		s.old_key = load(argv[5]);
		s.offset = argc > 6 ? strtoul(argv[6], NULL, 10) : 0;
		is = state(&s, now.at);
		puts(is ? is : "bad: a header opens that must not");
		return !is;
	}
	if (argc < 8)
		return 2;
	log = load(argv[4]);
	if (undo_load(&undo, argv[5], &st)) {
		fprintf(stderr, "%s\n", st.message);
		return 2;
	}
	s.key = load(argv[6]);
	s.old_key = load(argv[7]);
	s.offset = argc > 8 ? strtoul(argv[8], NULL, 10) : 0;
	return replay(&s, &now, &log, &undo);
}
