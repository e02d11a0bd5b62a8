/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything known of this machine, as one value. */
#ifndef DMCT_FACTS_FACTS_H
#define DMCT_FACTS_FACTS_H

#include "facts/cpu.h"
#include "facts/kernel.h"
#include "facts/memory.h"

struct facts {
	struct cpu_facts cpu;
	struct kernel_facts kernel;
	struct memory_facts memory;
};

/* Probes all three. facts_free() releases it, also after a failure. Arguments and errors as
 * cpu_probe()'s. */
int facts_probe(struct facts *facts, const char *root, const char *cpu_disable, struct status *st);
void facts_free(struct facts *facts);

#endif
