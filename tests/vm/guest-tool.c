// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the guests need and no program at hand does.
 *
 *   tool exit STATUS          the virtual machine ends, and tells STATUS to its starter
 *   tool deny COMMAND...      runs it as a container might: AF_ALG sockets are refused (EPERM)
 *   tool bcache DEVICE backing|cache   makes it bcache's, for the kernel to take
 *   tool log LOG              lists what dm-log-writes has logged there, a line each: PLACE w|f|d|m
 *                             SECTOR SECTORS, for a write, a flush, a discard and a mark
 *   tool redo LOG FIRST LAST DEVICE   does them again on DEVICE, from one place to another
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

/* QEMU's isa-debug-exit: it ends with twice the value written there, plus one. */
#define EXIT_PORT 0xf4
/* So that no status of ours is one of QEMU's own. */
#define EXIT_BASE 16

static int leave(int status)
{
	sync();
#ifdef __x86_64__
	if (!ioperm(EXIT_PORT, 4, 1))
		outl(EXIT_BASE + (status < 0 || status > 100 ? 100 : status), EXIT_PORT);
#endif
	/* User-mode Linux has no such port. */
	reboot(RB_POWER_OFF);
	return 1;
}

static int deny(char **command)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_ALG, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("tool deny");
		return 125;
	}
	execvp(command[0], command);
	perror(command[0]);
	return 127;
}

static void put(unsigned char *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *at, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | at[i];
	return value;
}

/* CRC-64/WE, which the kernel's lib/crc64 calculates for bcache. */
static uint64_t crc64(const unsigned char *bytes, size_t len)
{
	uint64_t crc = ~0ULL;

	for (size_t i = 0; i < len; i++) {
		crc ^= (uint64_t)bytes[i] << 56;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1ULL << 63 ? crc << 1 ^ 0x42f0e1eba9ea3693ULL : crc << 1;
	}
	return ~crc;
}

/* The superblock as the kernel's drivers/md/bcache/bcache_ondisk.h describes it (struct
 * cache_sb_disk): little-endian, at sector 8, summed from its second word to its last key. */
static int bcache(const char *path, bool cache)
{
	enum { AT = 4096, SIZE = 208, BUCKET = 128 };
	static const unsigned char magic[16] = {0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca,
						0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81};
	unsigned char sb[4096] = {0};
	int fd = open(path, O_RDWR | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (size < 0 || getrandom(sb + 40, 32, 0) != 32) {
		perror(path);
		return 1;
	}
	put(sb + 8, AT / 512, 8);
	put(sb + 16, cache ? 0 : 1, 8);
	memcpy(sb + 24, magic, sizeof(magic));
	if (cache)
		put(sb + 184, (uint64_t)size / 512 / BUCKET, 8);
	else
		memset(sb + 56, 0, 16);
	put(sb + 192, 1, 2);
	put(sb + 194, BUCKET, 2);
	put(sb + 196, 1, 2);
	put(sb + 204, 1, 2);
	put(sb, crc64(sb + 8, SIZE - 8), 8);
	if (pwrite(fd, sb, sizeof(sb), AT) != sizeof(sb) || fsync(fd)) {
		perror(path);
		return 1;
	}
	return close(fd);
}

/* The kernel's admin-guide/device-mapper/log-writes and drivers/md/dm-log-writes.c: little-endian
 * words; a super block of one sector, then entries of one sector each, a write's data behind it. */
#define LOG_MAGIC   0x6a736677736872ULL
#define LOG_FLUSH   1U
#define LOG_DISCARD 4U
#define LOG_MARK    8U

struct entry {
	uint64_t sector, n, flags;
};

static bool read_entry(struct entry *e, int log, uint64_t place, unsigned size)
{
	unsigned char b[32];

	if (pread(log, b, sizeof(b), (off_t)(place * size)) != sizeof(b))
		return false;
	*e = (struct entry){get(b, 8), get(b + 8, 8), get(b + 16, 8)};
	return true;
}

static int open_log(const char *path, uint64_t *n, unsigned *size)
{
	unsigned char b[28];
	int log = open(path, O_RDONLY | O_CLOEXEC);

	if (log < 0 || pread(log, b, sizeof(b), 0) != sizeof(b) || get(b, 8) != LOG_MAGIC ||
	    get(b + 8, 8) != 1) {
		fprintf(stderr, "%s is no log of dm-log-writes\n", path);
		return -1;
	}
	*n = get(b + 16, 8);
	*size = (unsigned)get(b + 24, 4);
	return log;
}

static int list_log(const char *path)
{
	uint64_t n, place = 1;
	struct entry e;
	unsigned size;
	int log = open_log(path, &n, &size);

	if (log < 0)
		return 1;
	for (uint64_t i = 0; i < n; i++) {
		if (!read_entry(&e, log, place, size))
			return 1;
		printf("%" PRIu64 " %c %" PRIu64 " %" PRIu64 "\n", place,
		       e.flags & LOG_MARK      ? 'm'
		       : e.flags & LOG_DISCARD ? 'd'
		       : e.n                   ? 'w'
					       : 'f',
		       e.sector, e.n);
		place += 1 + (e.flags & LOG_DISCARD ? 0 : e.n);
	}
	return 0;
}

static int redo_one(int log, unsigned size, const struct entry *e, uint64_t place, int fd)
{
	/* What is discarded may read as anything; zeros are what most devices give. */
	size_t len = e->n * size;
	unsigned char *bytes = calloc(1, len + 1);
	int ret = bytes ? 0 : -1;

	if (!ret && !(e->flags & LOG_DISCARD) &&
	    pread(log, bytes, len, (off_t)((place + 1) * size)) != (ssize_t)len)
		ret = -1;
	if (!ret && pwrite(fd, bytes, len, (off_t)(e->sector * size)) != (ssize_t)len)
		ret = -1;
	free(bytes);
	return ret;
}

static int redo(const char *path, uint64_t place, uint64_t last, const char *device)
{
	struct entry e;
	unsigned size;
	uint64_t n;
	int log = open_log(path, &n, &size), fd = open(device, O_WRONLY | O_CLOEXEC);

	if (log < 0 || fd < 0)
		return 1;
	while (place <= last) {
		if (!read_entry(&e, log, place, size) || redo_one(log, size, &e, place, fd)) {
			perror(device);
			return 1;
		}
		place += 1 + (e.flags & LOG_DISCARD ? 0 : e.n);
	}
	return fsync(fd) || close(fd);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "exit"))
		return leave(atoi(argv[2]));
	if (argc >= 3 && !strcmp(argv[1], "deny"))
		return deny(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "bcache"))
		return bcache(argv[2], !strcmp(argv[3], "cache"));
	if (argc == 3 && !strcmp(argv[1], "log"))
		return list_log(argv[2]);
	if (argc == 6 && !strcmp(argv[1], "redo"))
		return redo(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10),
			    argv[5]);
	fprintf(stderr, "usage: tool exit STATUS | deny COMMAND... | bcache DEVICE backing|cache | "
			"log LOG | redo LOG FIRST LAST DEVICE\n");
	return 1;
}
