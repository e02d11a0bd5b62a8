// SPDX-License-Identifier: GPL-2.0-or-later
/* A device's facts on odd input, and what is found wrong with facts. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "facts/device.h"
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
	test_findings();
	return sysroot_remove() ? 1 : tap_done();
}
