// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/cgroup.h"
#include "util/sysfile.h"

/* Version 1 writes "no limit" as the most pages that a counter holds, 2^63 less a page. */
#define CGROUP_V1_UNLIMITED (UINT64_C(1) << 60)

/* "MemTotal:       16318412 kB"; 0 when there is no such line. */
static uint64_t meminfo_value(const char *text, const char *key)
{
	size_t len = strlen(key);
	const char *line = text;
	unsigned long long kib;
	char *end;

	while (line && *line) {
		if (!strncmp(line, key, len) && line[len] == ':') {
			kib = strtoull(line + len + 1, &end, 10);
			return kib > UINT64_MAX / 1024 ? 0 : (uint64_t)kib * 1024;
		}
		line = strchr(line, '\n');
		line += line ? 1 : 0;
	}
	return 0;
}

static void take_limit(uint64_t *limit, uint64_t value)
{
	if (value && value < CGROUP_V1_UNLIMITED && (!*limit || value < *limit))
		*limit = value;
}

/* memory.high does not refuse, but slows down whoever is above it to a crawl: as good as a limit.
 */
static int visit_limit(const char *root, const char *dir, bool v2, void *arg)
{
	uint64_t *limit = arg, value;

	if (!v2) {
		if (!sysfile_u64(root, &value, "%s/memory.limit_in_bytes", dir))
			take_limit(limit, value);
		return 0;
	}
	/* "max", which is no number, for no limit */
	if (!sysfile_u64(root, &value, "%s/memory.max", dir))
		take_limit(limit, value);
	if (!sysfile_u64(root, &value, "%s/memory.high", dir))
		take_limit(limit, value);
	return 0;
}

int memory_probe(struct memory_facts *facts, const char *root)
{
	char *text = NULL;
	int ret;

	memset(facts, 0, sizeof(*facts));
	ret = sysfile_read(root, "/proc/meminfo", &text, NULL);
	if (ret == -ENOMEM)
		return ret;
	if (ret == 0) {
		facts->total = meminfo_value(text, "MemTotal");
		facts->available = meminfo_value(text, "MemAvailable");
		if (!facts->available)
			facts->available = meminfo_value(text, "MemFree") +
					   meminfo_value(text, "Buffers") +
					   meminfo_value(text, "Cached");
		facts->swap = meminfo_value(text, "SwapTotal");
	}
	free(text);
	return cgroup_visit(root, "memory", visit_limit, &facts->limit);
}

uint64_t memory_ceiling(const struct memory_facts *facts)
{
	if (facts->limit && (!facts->total || facts->limit < facts->total))
		return facts->limit;
	return facts->total;
}
