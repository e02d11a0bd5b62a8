// SPDX-License-Identifier: GPL-2.0-or-later
/* How many CPUs there are, and how much of them this process may have. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts/cgroup.h"
#include "facts/cpu_internal.h"
#include "util/sysfile.h"

#define CPUS_MAX 8192 /* the most that Linux can be built for */

struct cpus {
	unsigned char set[CPUS_MAX / 8];
};

static void add(struct cpus *cpus, unsigned cpu)
{
	if (cpu < CPUS_MAX)
		cpus->set[cpu / 8] |= 1 << cpu % 8;
}

static unsigned count(const struct cpus *cpus)
{
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(cpus->set); i++)
		n += __builtin_popcount(cpus->set[i]);
	return n;
}

/* "0-3,8,10-11" */
static bool parse_list(struct cpus *cpus, const char *s)
{
	unsigned long first, last;
	char *end;

	memset(cpus, 0, sizeof(*cpus));
	while (*s >= '0' && *s <= '9') {
		first = last = strtoul(s, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last >= CPUS_MAX)
			last = CPUS_MAX - 1;
		for (; first <= last; first++)
			add(cpus, first);
		s = end + (*end == ',');
	}
	return count(cpus) > 0;
}

/* "ffffffff,0000000f": 32 bits a group, the highest group first. */
static bool parse_mask(struct cpus *cpus, const char *s, size_t len)
{
	unsigned bit = 0, digit;

	memset(cpus, 0, sizeof(*cpus));
	while (len--) {
		if (s[len] == ',')
			continue;
		if (s[len] >= '0' && s[len] <= '9')
			digit = s[len] - '0';
		else if (s[len] >= 'a' && s[len] <= 'f')
			digit = s[len] - 'a' + 10;
		else
			return false;
		for (unsigned i = 0; i < 4; i++, bit++)
			if (digit >> i & 1)
				add(cpus, bit);
	}
	return count(cpus) > 0;
}

static unsigned allowed_live(void)
{
	unsigned n = 0;
	cpu_set_t *set;

	/* EINVAL means that the kernel knows more CPUs than fit. */
	for (int size = 1024; size <= 64 * CPUS_MAX && !n; size *= 2) {
		set = CPU_ALLOC(size);
		if (!set)
			break;
		if (!sched_getaffinity(0, CPU_ALLOC_SIZE(size), set))
			n = CPU_COUNT_S(CPU_ALLOC_SIZE(size), set);
		CPU_FREE(set);
		if (!n && errno != EINVAL)
			break;
	}
	return n;
}

/* Cpus_allowed of a described machine, without CPUs that are not online: the mask of a process
 * that was never bound has every possible CPU in it. */
static int allowed_described(unsigned *allowed, const char *root, const struct cpus *online)
{
	static const char key[] = "Cpus_allowed:";
	char *text = NULL, *save = NULL, *mask_text = NULL;
	struct cpus mask;
	int ret;

	ret = sysfile_read(root, "/proc/self/status", &text, NULL);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (!strncmp(line, key, strlen(key)))
			mask_text = line + strlen(key) + strspn(line + strlen(key), " \t");
	if (mask_text && parse_mask(&mask, mask_text, strcspn(mask_text, " \t\r"))) {
		for (size_t i = 0; i < sizeof(mask.set) && count(online); i++)
			mask.set[i] &= online->set[i];
		*allowed = count(&mask);
	}
	free(text);
	return 0;
}

static int visit_quota(const char *root, const char *dir, bool v2, void *arg)
{
	double *quota = arg, cpus;
	long long limit = 0, period = 0;
	char line[64], *end;

	if (v2) {
		/* "50000 100000", or "max 100000" for no limit */
		if (sysfile_line(root, line, sizeof(line), "%s/cpu.max", dir) <= 0)
			return 0;
		limit = strtoll(line, &end, 10);
		period = end > line ? strtoll(end, NULL, 10) : 0;
	} else {
		/* -1 for no limit */
		if (sysfile_line(root, line, sizeof(line), "%s/cpu.cfs_quota_us", dir) <= 0)
			return 0;
		limit = strtoll(line, NULL, 10);
		if (sysfile_line(root, line, sizeof(line), "%s/cpu.cfs_period_us", dir) > 0)
			period = strtoll(line, NULL, 10);
	}
	if (limit <= 0 || period <= 0)
		return 0;
	cpus = (double)limit / (double)period;
	if (*quota <= 0 || cpus < *quota)
		*quota = cpus;
	return 0;
}

int cpu_count(struct cpu_facts *facts, const char *root, unsigned described)
{
	bool live = !root || !*root;
	struct cpus online;
	char *text = NULL;
	long configured;
	int ret;

	memset(&online, 0, sizeof(online));
	ret = sysfile_read(root, "/sys/devices/system/cpu/online", &text, NULL);
	if (ret == -ENOMEM)
		return ret;
	if (ret == 0 && parse_list(&online, text))
		facts->online = count(&online);
	free(text);
	configured = live ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
	if (!facts->online)
		facts->online = configured > 0 ? (unsigned)configured : described;
	ret = 0;
	if (live)
		facts->allowed = allowed_live();
	else
		ret = allowed_described(&facts->allowed, root, &online);
	if (ret < 0)
		return ret;
	return cgroup_visit(root, "cpu", visit_quota, &facts->quota);
}
