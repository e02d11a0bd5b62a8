/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make up the CPU's facts. */
#ifndef DMCT_FACTS_CPU_INTERNAL_H
#define DMCT_FACTS_CPU_INTERNAL_H

#include "facts/cpu.h"

#define CPU_BIT(feature) (UINT64_C(1) << (feature))

/* The features of a family, as a mask. */
uint64_t cpu_family_features(enum cpu_family family);

/* What /proc/cpuinfo says. */
struct cpu_info {
	enum cpu_family family;
	char arch[32], model[256];
	bool known;          /* it has a line of features */
	uint64_t listed;     /* those that every CPU has */
	uint64_t usable;     /* of them, those whose registers the kernel says it saves */
	unsigned processors; /* how many it describes */
};

/* Reads root's /proc/cpuinfo. 0 or -ENOMEM; a file that is missing or empty leaves *info zeroed. */
int cpu_info_read(struct cpu_info *info, const char *root);

/*
 * Asks the CPU of this machine (CPUID and XCR0) or the kernel (hwcap). Returns whether there was
 * anyone to ask on this architecture; *family, *advertised and *usable are untouched otherwise.
 */
bool cpu_ask(enum cpu_family *family, uint64_t *advertised, uint64_t *usable);

/* Fills online, allowed and quota. described: how many CPUs cpuinfo has. 0 or -ENOMEM. */
int cpu_count(struct cpu_facts *facts, const char *root, unsigned described);

#endif
