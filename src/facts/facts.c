// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/facts.h"

#include <errno.h>
#include <string.h>

int facts_probe(struct facts *facts, const char *root, const char *cpu_disable, struct status *st)
{
	int ret;

	memset(facts, 0, sizeof(*facts));
	ret = cpu_probe(&facts->cpu, root, cpu_disable, st);
	if (ret < 0)
		return ret;
	ret = kernel_probe(&facts->kernel, root);
	if (ret == 0)
		ret = memory_probe(&facts->memory, root);
	return ret == -ENOMEM ? status_nomem(st) : ret;
}

void facts_free(struct facts *facts)
{
	if (!facts)
		return;
	kernel_facts_free(&facts->kernel);
	memset(facts, 0, sizeof(*facts));
}
