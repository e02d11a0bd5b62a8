// SPDX-License-Identifier: GPL-2.0-or-later
/* The volume stage, on files in a temporary directory: secrets, the file guard, a format and its
 * read-back, and a change taken back. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "volume/guard.h"
#include "volume/luks.h"
#include "volume/luks_internal.h"
#include "volume/pbkdf.h"
#include "volume/secret.h"

#define IMAGE_SIZE (20UL << 20)

static char dir[] = "/tmp/dmct-volume-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static const char *make_file(const char *name, const void *bytes, size_t len, off_t size)
{
	const char *path = in_dir(name);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || ftruncate(fd, size))
		printf("# cannot make %s: %s\n", path, strerror(errno));
	close(fd);
	return path;
}

/* FNV-1a over the whole file: enough to tell that not one byte changed. */
static uint64_t file_hash(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	unsigned char buf[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++)
			hash = (hash ^ buf[i]) * 0x100000001b3ULL;
	close(fd);
	return hash;
}

static int read_key(struct secret *secret, struct status *st, const char *file, int fd)
{
	struct secret_source source = {.key_file = file, .key_fd = fd, .prompt_for = "it"};

	memset(secret, 0, sizeof(*secret));
	memset(st, 0, sizeof(*st));
	return secret_read(secret, &source, st);
}

static void test_secret_bytes(void)
{
	static const unsigned char raw[] = "a\nb\0c\r\n\xff\n";
	struct secret secret;
	struct status st;
	int fd, ret;

	ret = read_key(&secret, &st, make_file("key", raw, sizeof(raw), sizeof(raw)), -1);
	ok(!ret && secret.len == sizeof(raw) && !memcmp(secret.bytes, raw, sizeof(raw)),
	   "newlines, NULs and all: %zu bytes", secret.len);
	secret_free(&secret);
	fd = open(in_dir("key"), O_RDONLY);
	ret = read_key(&secret, &st, NULL, fd);
	ok(!ret && secret.len == sizeof(raw) && !memcmp(secret.bytes, raw, sizeof(raw)),
	   "the same by descriptor");
	secret_free(&secret);
	close(fd);
	secret_free(&secret);
	secret_free(NULL);
	ret = read_key(&secret, &st, make_file("key", "", 0, SECRET_FILE_MAX), -1);
	ok(!ret && secret.len == SECRET_FILE_MAX, "a key file of %zu bytes is read", secret.len);
	secret_free(&secret);
}

static void refused(const char *what, const char *file, int fd, int code)
{
	struct secret secret;
	struct status st;
	int ret = read_key(&secret, &st, file, fd);

	ok(ret < 0 && (int)st.code == code && !secret.bytes && !secret.len, "%s: status %d, %s",
	   what, st.code, st.message);
}

static void test_secret_refusals(void)
{
	refused("one byte more", make_file("key", "", 0, SECRET_FILE_MAX + 1), -1, ST_USAGE);
	refused("endless", "/dev/zero", -1, ST_USAGE);
	refused("a directory", dir, -1, ST_USAGE);
	refused("missing", in_dir("none"), -1, ST_USAGE);
	refused("empty", make_file("key", "", 0, 0), -1, ST_USAGE);
	refused("a descriptor that is not open", NULL, 987, ST_USAGE);
	/* A writer that wrote nothing and has gone leaves no wait. */
	ok(!mkfifo(in_dir("fifo"), 0600), "a named pipe");
	if (!fork()) {
		close(open(in_dir("fifo"), O_WRONLY));
		_exit(0);
	}
	refused("a pipe whose writer wrote nothing", in_dir("fifo"), -1, ST_USAGE);
	wait(NULL);
}

static void test_secret_fifo(void)
{
	static unsigned char raw[200000];
	struct secret secret;
	struct status st;
	int ret;

	for (size_t i = 0; i < sizeof(raw); i++)
		raw[i] = (unsigned char)(i * 7 + i / 251);
	if (!fork()) {
		int fd = open(in_dir("fifo"), O_WRONLY);

		/* In pieces, with pauses: none is the end. */
		for (size_t at = 0; at < sizeof(raw); at += 50000) {
			if (write(fd, raw + at, 50000) != 50000)
				_exit(1);
			usleep(20000);
		}
		_exit(0);
	}
	ret = read_key(&secret, &st, in_dir("fifo"), -1);
	ok(!ret && secret.len == sizeof(raw) && !memcmp(secret.bytes, raw, sizeof(raw)),
	   "%zu bytes through a pipe whose writer comes late and is slow", secret.len);
	secret_free(&secret);
	wait(NULL);
}

static bool make_plan(struct plan *plan, const char *spec, const char *pbkdf)
{
	struct status st = {0};

	memset(plan, 0, sizeof(*plan));
	plan->data_offset = PLAN_DATA_OFFSET;
	snprintf(plan->pbkdf.type, sizeof(plan->pbkdf.type), "%s", pbkdf);
	snprintf(plan->pbkdf.hash, sizeof(plan->pbkdf.hash), "sha256");
	plan->pbkdf.iterations = strcmp(pbkdf, "pbkdf2") ? 4 : 1000;
	if (strcmp(pbkdf, "pbkdf2")) {
		plan->pbkdf.memory = 64 << 10;
		plan->pbkdf.threads = 1;
	}
	return ok(!spec_parse(&plan->spec, spec, &st), "plan for %s %s%s", spec, pbkdf, st.message);
}

static struct secret secret_of(const char *text)
{
	return (struct secret){(unsigned char *)(uintptr_t)text, strlen(text)};
}

static void test_format(const char *spec, const char *pbkdf)
{
	struct secret secret = secret_of("open sesame"), wrong = secret_of("open sesame\n");
	struct luks_request request = {.label = "caf\xc3\xa9", .subsystem = "sub"};
	struct luks_header header;
	struct luks_image image;
	struct change change = {0};
	struct guard guard;
	struct plan plan;
	struct status st = {0};
	char last;
	int ret;

	if (!make_plan(&plan, spec, pbkdf))
		return;
	request.plan = &plan;
	ret = guard_open(&guard, make_file("image", "", 0, IMAGE_SIZE), &st);
	ok(!ret, "guard: %s", st.message);
	ret = luks_build(&image, &request, &guard.device, &secret, &st);
	ok(!ret && image.len == PLAN_DATA_OFFSET && strlen(image.header.uuid) == 36,
	   "built %s in memory: %s", spec, st.message);
	change.header = image.bytes;
	change.header_len = image.len;
	memcpy(change.copies, image.copies, sizeof(change.copies));
	ret = change_prepare(&change, &guard, &st);
	ok(!ret && change.areas.n == 1 && !change.marks.n, "blank: one area, no marks");
	ret = luks_write(&guard, &change, NULL, NULL, &st);
	ok(!ret, "format with %s: %s", spec, st.message);
	ret = luks_verify(&header, &guard, &image, &request, &secret, NULL, &st);
	ok(!ret && !strcmp(header.label, "caf\xc3\xa9") && header.sector == plan.spec.sector &&
		   header.data_offset == PLAN_DATA_OFFSET &&
		   !strcmp(header.uuid, image.header.uuid),
	   "verified: %s, %u bits, sector %u, %s %s", header.cipher, header.key_bits, header.sector,
	   header.uuid, st.message);
	ret = luks_verify(&header, &guard, &image, &request, &wrong, NULL, &st);
	ok(ret == -EBADMSG && st.code == ST_CHECK, "another secret does not verify: %s",
	   st.message);
	plan.spec.sector = plan.spec.sector == 512 ? 4096 : 512;
	ret = luks_verify(&header, &guard, NULL, &request, &secret, NULL, &st);
	ok(ret == -EBADMSG && strstr(st.message, "sector size"), "another plan neither: %s",
	   st.message);
	plan.spec.sector = header.sector;
	/* libcryptsetup alone makes do with one good copy, and mends the other silently. */
	for (int i = 0; i < 2; i++) {
		char byte;

		ok(pread(guard.fd, &byte, 1, i * 16384 + 100) == 1, "copy %d of the header", i);
		byte ^= 1;
		ok(pwrite(guard.fd, &byte, 1, i * 16384 + 100) == 1, "one bit changed");
		ret = luks_verify(&header, &guard, NULL, &request, &secret, NULL, &st);
		ok(ret == -EBADMSG, "is noticed: %s", st.message);
		byte ^= 1;
		ok(pwrite(guard.fd, &byte, 1, i * 16384 + 100) == 1, "put right");
	}
	ret = luks_verify(&header, &guard, NULL, &request, &secret, NULL, &st);
	ok(!ret, "verifies again");
	/* A byte of the unused part of the keyslot area, which no check of a header sees. */
	ok(pread(guard.fd, &last, 1, PLAN_DATA_OFFSET - 7) == 1, "one byte read");
	last ^= 1;
	ok(pwrite(guard.fd, &last, 1, PLAN_DATA_OFFSET - 7) == 1, "and changed");
	ret = luks_verify(&header, &guard, &image, &request, &secret, NULL, &st);
	ok(ret == -EBADMSG && strstr(st.message, "16776704"), "is noticed: %s", st.message);
	change_free(&change);
	luks_image_free(&image);
	guard_close(&guard);
}

/* Data in every sector, an old header's mark among them: written over, and taken back byte for
 * byte. */
static void test_change(void)
{
	static unsigned char after[1 << 20], now[1 << 20];
	static const char magic[] = "LUKS\xba\xbe\0\1";
	struct change change = {.header = after,
				.header_len = sizeof(after),
				.copies = {{16384, 16384}, {0, 16384}}};
	const char *path = make_file("image", magic, 8, IMAGE_SIZE);
	struct status st = {0};
	const char *step = "";
	struct guard guard;
	uint64_t before;
	bool opens;
	int ret;

	for (size_t i = 0; i < sizeof(after); i++)
		after[i] = (unsigned char)(i * 11 + i / 253);
	before = file_hash(path);
	ret = guard_open(&guard, path, &st);
	ok(!ret, "guard: %s", st.message);
	ret = change_prepare(&change, &guard, &st);
	ok(!ret && change.marks.n == 1 && change.marks.list[0].offset == 0 &&
		   change.marks.list[0].len == 6 && change.areas.n == 1,
	   "the mark of an old header is known: %zu %s", change.marks.n, st.message);
	ok(!change_revert(&change, guard.fd, &opens) && file_hash(path) == before,
	   "nothing to take back");
	ret = change_apply(&change, guard.fd, &step);
	ok(!ret && !extent_read(guard.fd, now, sizeof(now), 0) && !memcmp(now, after, sizeof(now)),
	   "written: %s", step);
	ok(change_revert(&change, guard.fd, &opens) == 1 && !opens && file_hash(path) == before,
	   "taken back, byte for byte");
	ok(!change_revert(&change, guard.fd, &opens), "once");
	change_free(&change);
	guard_close(&guard);
}

/* What fails, fails in memory. */
static void test_build_fails(void)
{
	struct luks_request request = {.uuid = "no uuid"};
	struct secret secret = secret_of("key");
	struct luks_image image;
	struct status st = {0};
	struct guard guard;
	struct plan plan;
	uint64_t before;
	int ret;

	if (!make_plan(&plan, "aes-xts-plain64/512@4096", "pbkdf2"))
		return;
	request.plan = &plan;
	make_file("image", "precious", 8, IMAGE_SIZE);
	before = file_hash(in_dir("image"));
	ret = guard_open(&guard, in_dir("image"), &st);
	ok(!ret, "guard: %s", st.message);
	ret = luks_build(&image, &request, &guard.device, &secret, &st);
	ok(ret < 0 && st.code == ST_REFUSED && strstr(st.message, "Nothing was written"),
	   "a volume that cannot be made: %s", st.message);
	luks_image_free(&image);
	ok(file_hash(in_dir("image")) == before, "leaves every byte as it was");
	ok(pwrite(guard.fd, "PRECIOUS", 8, 0) == 8, "another program writes");
	ret = guard_recheck(&guard, &st);
	ok(!ret, "unrecognised data stays unrecognised data");
	ok(!ftruncate(guard.fd, IMAGE_SIZE + 4096), "grows");
	ret = guard_recheck(&guard, &st);
	ok(ret && st.code == ST_DEVICE, "seen: %s", st.message);
	guard_close(&guard);
}

static void test_file_locks(void)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1};
	struct status st = {0};
	struct guard guard, second;
	int fd, ret;

	make_file("image", "", 0, IMAGE_SIZE);
	ret = guard_open(&guard, in_dir("image"), &st);
	ok(!ret, "guard: %s", st.message);
	ret = guard_open(&second, in_dir("image"), &st);
	ok(ret && st.code == ST_BUSY, "a second one is refused: %s", st.message);
	guard_close(&second);
	guard_close(&guard);
	fd = open(in_dir("image"), O_RDWR);
	ok(!fcntl(fd, F_OFD_SETLK, &lock), "QEMU's kind of lock, one byte, shared");
	ret = guard_open(&guard, in_dir("image"), &st);
	ok(ret && st.code == ST_BUSY, "is noticed: %s", st.message);
	guard_close(&guard);
	close(fd);
	fd = open(in_dir("image"), O_RDWR);
	ok(!flock(fd, LOCK_SH), "cryptsetup's kind of lock");
	ret = guard_open(&guard, in_dir("image"), &st);
	ok(ret && st.code == ST_BUSY, "is noticed: %s", st.message);
	guard_close(&guard);
	close(fd);
}

static void test_room(void)
{
	struct status st = {0};
	struct stat info;
	struct guard guard;
	int ret;

	make_file("image", "", 0, IMAGE_SIZE);
	ret = guard_open(&guard, in_dir("image"), &st);
	ok(!ret, "guard: %s", st.message);
	ok(!guard_room(&guard, PLAN_DATA_OFFSET, false, &st) && !fstat(guard.fd, &info) &&
		   !info.st_blocks,
	   "room is reckoned without taking it");
	ok(!guard_room(&guard, PLAN_DATA_OFFSET, true, &st) && !fstat(guard.fd, &info) &&
		   info.st_size == (off_t)IMAGE_SIZE,
	   "and taken without changing the size: %lld blocks", (long long)info.st_blocks);
	ok(guard_room(&guard, 1ULL << 62, false, &st) < 0 && st.code == ST_REFUSED, "no room: %s",
	   st.message);
	guard_close(&guard);
}

static void test_pbkdf(void)
{
	struct plan_pbkdf p = {.type = "pbkdf2", .hash = "sha256", .time_ms = 200};
	struct status st = {0};
	int ret;

	ret = pbkdf_settle(&p, 64, &st);
	ok(!ret && p.iterations >= 1000 && !p.memory, "pbkdf2: %llu iterations %s",
	   (unsigned long long)p.iterations, st.message);
	p = (struct plan_pbkdf){.type = "argon2id",
				.hash = "sha256",
				.time_ms = 50,
				.memory = 1 << 20,
				.threads = 1};
	ret = pbkdf_settle(&p, 64, &st);
	ok(!ret && p.iterations >= 4 && p.memory && p.memory <= 1 << 20,
	   "argon2id: %llu iterations, %llu bytes %s", (unsigned long long)p.iterations,
	   (unsigned long long)p.memory, st.message);
	p.iterations = 1ULL << 31;
	ret = pbkdf_settle(&p, 64, &st);
	ok(ret && st.code == ST_USAGE, "more than the header holds: %s", st.message);
	snprintf(p.type, sizeof(p.type), "pbkdf2");
	snprintf(p.hash, sizeof(p.hash), "md0");
	p.iterations = p.memory = p.threads = 0;
	ret = pbkdf_settle(&p, 64, &st);
	ok(ret && st.code == ST_MISSING, "an unknown hash: %s", st.message);
}

int main(void)
{
	if (!mkdtemp(dir)) {
		tap_skip("no temporary directory: %s", strerror(errno));
		return tap_done();
	}
	luks_log_to(NULL);
	test_secret_bytes();
	test_secret_refusals();
	test_secret_fifo();
	test_pbkdf();
	test_file_locks();
	test_room();
	test_format("aes-xts-plain64/512@4096", "argon2id");
	test_format("aes-cbc-essiv:sha256/256@512", "pbkdf2");
	test_change();
	test_build_fails();
	remove(in_dir("key"));
	remove(in_dir("fifo"));
	remove(in_dir("image"));
	remove(dir);
	return tap_done();
}
