// SPDX-License-Identifier: GPL-2.0-or-later
/* A device's facts on odd input, and what is found wrong with facts. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "facts/device.h"
#include "facts/device_internal.h"
#include "facts/facts.h"
#include "report/findings.h"
#include "sysroot.h"
#include "tap.h"

static bool finds(const struct findings_input *in, const char *id)
{
	struct findings findings;
	bool found = false;

	findings_make(&findings, in);
	for (size_t i = 0; i < findings.n; i++)
		found |= !strcmp(findings.list[i].id, id);
	findings_free(&findings);
	return found;
}

static void test_device(void)
{
	static struct facts facts;
	struct findings_input in = {.facts = &facts, .privileged = true};
	struct device_facts device;
	struct status st = {0};
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/image", root);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (ftruncate(fd, 3 << 20) || pwrite(fd, "\1", 1, 2 << 20) != 1)
		printf("Bail out! %s\n", strerror(errno));
	ret = device_probe_fd(&device, fd, "some name", &st);
	ok(!ret && device.kind == DEVICE_FILE && device.size == 3 << 20 && device.n_contents == 1 &&
		   device.contents[0].offset == 2 << 20 && !strcmp(device.path, "some name"),
	   "a file by descriptor: %d, %zu contents", ret, device.n_contents);
	device_facts_free(&device);
	device_facts_free(&device);
	device_facts_free(NULL);
	close(fd);
	fd = open(root, O_RDONLY);
	ret = device_probe_fd(&device, fd, root, &st);
	ok(ret == -EISDIR && st.code == ST_DEVICE, "a directory is none: %s", st.message);
	device_facts_free(&device);
	close(fd);
	put_text("/sys/class/block/sdx/size", "36028797018963967\n");
	ret = device_probe(&device, "/dev/sdx", root, &st);
	ok(!ret && device.size == 36028797018963967ULL * 512, "the largest size is %" PRIu64,
	   device.size);
	device_facts_free(&device);
	put_text("/sys/class/block/sdx/size", "1152921504606846976\n");
	put_text("/sys/class/block/sdx/alignment_offset", "-1\n");
	ret = device_probe(&device, "/dev/sdx", root, &st);
	ok(!ret && device.size == UINT64_MAX - 511, "2^60 sectors are %" PRIu64 " bytes",
	   device.size);
	ok(device.misaligned && !device.alignment_offset, "an alignment offset of -1");
	in.device = &device;
	ok(finds(&in, "misaligned") && !finds(&in, "alignment-offset"), "which is a finding");
	device_facts_free(&device);
	put_text("/sys/class/block/sdx/alignment_offset", "3072\n");
	put_text("/sys/class/block/sdx/queue/atomic_write_unit_min_bytes", "512\n");
	put_text("/sys/class/block/sdx/queue/atomic_write_unit_max_bytes", "16384\n");
	ret = device_probe(&device, "/dev/sdx", root, &st);
	ok(!ret && !device.misaligned && !finds(&in, "misaligned"), "and one of 3072");
	ok(device.atomic_unit_min == 512 && device.atomic_unit_max == 16384,
	   "writes of 512 to 16384 bytes that are done whole");
	device_facts_free(&device);
}

/* What is not mounted hides who uses a device. */
static void test_users_known(void)
{
	static struct facts facts;
	struct device_facts device;
	struct findings_input in = {.facts = &facts, .device = &device, .privileged = true};
	struct status st = {0};
	char from[64], to[64];

	put_text("/sys/class/block/sdx/size", "65536\n");
	put_text("/proc/self/mountinfo", "30 1 0:1 / / rw - tmpfs none rw\n");
	device_probe(&device, "/dev/sdx", root, &st);
	ok(device.users_known && !*device.users_reason, "mounts and drivers can be seen");
	ok(!finds(&in, "users-unknown"), "and are no finding");
	device_facts_free(&device);
	snprintf(from, sizeof(from), "%s/proc/self/mountinfo", root);
	snprintf(to, sizeof(to), "%s/proc/self/hidden", root);
	rename(from, to);
	device_probe(&device, "/dev/sdx", root, &st);
	ok(!device.users_known && strstr(device.users_reason, "mountinfo"),
	   "mounts cannot be seen: %s", device.users_reason);
	ok(finds(&in, "users-unknown"), "which is a finding");
	in.described = true;
	ok(!finds(&in, "users-unknown"), "but not of a described machine");
	device_facts_free(&device);
	rename(to, from);
}

static void put_link(const char *path, const char *target)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	if (symlink(target, full))
		printf("Bail out! %s: %s\n", full, strerror(errno));
}

/* Whether the device has exactly that user, of that part of it. */
static void used_by(const char *name, const char *part, const char *what)
{
	struct device_facts device;
	struct status st = {0};
	int ret = device_probe(&device, name, root, &st);

	ok(!ret && device.n_users == 1 && !strcmp(device.users[0].kind, "holder") &&
		   !strcmp(device.users[0].part, part) && !strcmp(device.users[0].what, what),
	   "%s: %s (%zu users: %s)", name, what, device.n_users,
	   device.n_users ? device.users[0].what : "");
	device_facts_free(&device);
}

/* A backing device with its holder, a cache device, which has none, and one that waits; the bcache
 * device itself is nobody's. */
static void test_bcache(void)
{
	struct device_facts device;
	struct status st = {0};

	put_text("/proc/self/mountinfo", "30 1 0:1 / / rw - tmpfs none rw\n");
	put_text("/sys/class/block/sdb/size", "65536\n");
	put_text("/sys/class/block/sdb/bcache/state", "clean\n");
	put_text("/sys/class/block/sdb/holders/bcache0/size", "1\n");
	put_link("/sys/class/block/sdb/bcache/dev", "../../../virtual/block/bcache0");
	used_by("/dev/sdb", "", "bcache, backing device of bcache0");
	put_text("/sys/class/block/bcache0/size", "65520\n");
	put_link("/sys/class/block/bcache0/bcache", "../sdb/bcache");
	device_probe(&device, "/dev/bcache0", root, &st);
	ok(!device.n_users, "bcache0 itself is free");
	device_facts_free(&device);
	put_text("/sys/class/block/sdc/size", "65536\n");
	put_text("/sys/class/block/sdc/bcache/nbuckets", "32\n");
	put_link("/sys/class/block/sdc/bcache/set",
		 "../../../../../fs/bcache/2f0c0fb4-7d2b-4a0c-8a6f-0d6bb0b0a8c1");
	used_by("/dev/sdc", "", "bcache, cache of the set 2f0c0fb4-7d2b-4a0c-8a6f-0d6bb0b0a8c1");
	put_text("/sys/class/block/sdd/size", "65536\n");
	put_text("/sys/class/block/sdd/bcache/state", "no cache\n");
	used_by("/dev/sdd", "", "bcache, backing device that does not run (no cache)");
}

static void be(unsigned char *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
}

/* One pair of a ZFS label (XDR): a string, or a number where there is none. Returns its length. */
static size_t pair(unsigned char *at, const char *name, const char *text, uint64_t number)
{
	size_t name_len = strlen(name), room = (name_len + 3) / 4 * 4, len = 12 + room + 8;

	be(at + 8, name_len, 4);
	memcpy(at + 12, name, name_len);
	be(at + 12 + room, text ? 9 : 8, 4);
	be(at + 16 + room, 1, 4);
	if (text) {
		be(at + 20 + room, strlen(text), 4);
		memcpy(at + 24 + room, text, strlen(text));
		len += 4 + (strlen(text) + 3) / 4 * 4;
	} else {
		be(at + 20 + room, number, 8);
		len += 8;
	}
	be(at, len, 4);
	return len;
}

/* The first label of a member of the pool "tank" with that number: pairs at 16 KiB, uberblocks from
 * 128 KiB on (ZFS On-Disk Specification, 1.2 and 1.3). */
static void make_member(int fd, uint64_t guid)
{
	static unsigned char label[256 << 10];
	unsigned char *at = label + (16 << 10) + 12;

	memset(label, 0, sizeof(label));
	at += pair(at, "name", "tank", 0);
	at += pair(at, "pool_guid", NULL, guid);
	pair(at, "guid", NULL, 7);
	for (int i = 0; i < 128; i++)
		be(label + (128 << 10) + (i << 10), 0x00bab10c, 8);
	if (pwrite(fd, label, sizeof(label), 0) != sizeof(label))
		printf("Bail out! %s\n", strerror(errno));
}

static void test_zfs(void)
{
	struct device_facts device;
	struct status st = {0};
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/member", root);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (ftruncate(fd, 64 << 20))
		printf("Bail out! %s\n", strerror(errno));
	make_member(fd, 12345678901234567890ULL);
	ret = device_probe_fd(&device, fd, "member", &st);
	ok(!ret && device.n_contents && !strcmp(device.contents[0].type, "zfs_member") &&
		   !strcmp(device.contents[0].label, "tank"),
	   "a member of a pool: %s %s", device.n_contents ? device.contents[0].type : "",
	   device.n_contents ? device.contents[0].label : "");
	ok(!device_read_pools(&device, root) && !device.n_users, "which is not imported");
	put_text("/proc/spl/kstat/zfs/tank/guid", "77\n");
	ok(!device_read_pools(&device, root) && !device.n_users, "another one of that name is");
	put_text("/proc/spl/kstat/zfs/tank/guid", "12345678901234567890\n");
	ret = device_read_pools(&device, root);
	ok(!ret && device.n_users == 1 && !strcmp(device.users[0].what, "ZFS pool tank"),
	   "it is: %s", device.n_users ? device.users[0].what : "nobody");
	device_facts_free(&device);
	close(fd);
}

/* Whether the cure of a finding has a word in it. */
static bool fix_names(const struct findings_input *in, const char *id, const char *word)
{
	struct findings findings;
	bool found = false;

	findings_make(&findings, in);
	for (size_t i = 0; i < findings.n; i++)
		found |= !strcmp(findings.list[i].id, id) && strstr(findings.list[i].fix, word);
	findings_free(&findings);
	return found;
}

/* A machine with nothing to find: AES-NI, used by the kernel, and everything to be had. */
static void good_machine(struct facts *facts, struct kernel_driver *xts,
			 struct kernel_attempt *attempt)
{
	memset(facts, 0, sizeof(*facts));
	*xts = (struct kernel_driver){.name = "xts(aes)",
				      .driver = "xts-aes-aesni",
				      .type = "skcipher",
				      .selftest_passed = true};
	*attempt = (struct kernel_attempt){.name = "xts(aes)", .tried = true, .available = true};
	facts->cpu.family = CPU_FAMILY_X86;
	facts->cpu.known = true;
	facts->cpu.advertised = 1ULL << CPU_AES;
	facts->cpu.usable = facts->cpu.listed = facts->cpu.advertised;
	facts->kernel.listed = facts->kernel.dm.available = true;
	facts->kernel.drivers = xts;
	facts->kernel.n_drivers = 1;
	facts->kernel.af_alg.available = true;
	facts->kernel.af_alg.restrict_level = -1;
	facts->kernel.af_alg.attempts = attempt;
	facts->kernel.af_alg.n = 1;
}

static void test_findings(void)
{
	const uint64_t vaes = 1ULL << CPU_AES | 1ULL << CPU_AVX | 1ULL << CPU_AVX2 |
			      1ULL << CPU_VAES | 1ULL << CPU_VPCLMULQDQ;
	static struct facts facts;
	struct findings_input in = {.facts = &facts, .privileged = true};
	struct findings findings = {0};
	struct kernel_attempt attempt;
	struct kernel_driver xts;

	good_machine(&facts, &xts, &attempt);
	ok(!findings_make(&findings, &in) && findings.n == 0, "a good machine: %zu findings",
	   findings.n);
	findings_free(&findings);
	findings_free(NULL);
	facts.cpu.listed = 1ULL << CPU_SSE2;
	ok(finds(&in, "aes-disabled-by-os"), "AES that the kernel does not list");
	facts.cpu.listed = facts.cpu.advertised = facts.cpu.usable = vaes;
	ok(finds(&in, "vaes-unused"), "VAES and a driver of 128 bits");
	strcpy(xts.driver, "xts-aes-vaes-avx2");
	ok(!finds(&in, "vaes-unused"), "VAES, used");
	facts.cpu.usable = 1ULL << CPU_AES;
	ok(finds(&in, "avx-not-saved"), "AVX that the OS does not save");
	facts.cpu.disabled = vaes & ~(1ULL << CPU_AES);
	ok(!finds(&in, "avx-not-saved"), "AVX that --cpu-disable takes away");
	attempt.available = false;
	attempt.error = ENOENT;
	strcpy(attempt.reason, "why");
	ok(finds(&in, "af-alg-missing"), "AF_ALG without XTS-AES");
	facts.kernel.modules = 1;
	ok(fix_names(&in, "af-alg-missing", "modprobe"), "which a module may mend");
	facts.kernel.modules = 0;
	ok(!fix_names(&in, "af-alg-missing", "modprobe") &&
		   fix_names(&in, "af-alg-missing", "built in"),
	   "unless there are no modules");
	facts.kernel.modules = -1;
	ok(fix_names(&in, "af-alg-missing", "modprobe"), "where that is not known it may");
	in.described = true;
	ok(!finds(&in, "af-alg-missing"), "of a described machine AF_ALG is not known");
	in.described = in.privileged = false;
	ok(finds(&in, "unprivileged"), "an ordinary user");
	facts.kernel.dm.available = false;
	ok(finds(&in, "no-dm-crypt") && !finds(&in, "dm-no-permission"), "no dm-crypt");
	facts.kernel.dm.denied = true;
	ok(!finds(&in, "no-dm-crypt") && finds(&in, "dm-no-permission"), "dm-crypt, denied");
	findings_make(&findings, &in);
	for (size_t i = 1; i < findings.n; i++)
		if (findings.list[i].severity > findings.list[i - 1].severity)
			ok(false, "%s stands after a lesser one", findings.list[i].id);
	findings_free(&findings);
}

int main(void)
{
	if (!sysroot_make())
		return tap_done();
	test_device();
	test_users_known();
	test_bcache();
	test_zfs();
	test_findings();
	return sysroot_remove() ? 1 : tap_done();
}
