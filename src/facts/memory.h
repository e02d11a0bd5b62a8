/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory there is, and how much of it this process may have. All in bytes. */
#ifndef DMCT_FACTS_MEMORY_H
#define DMCT_FACTS_MEMORY_H

#include <stdint.h>

struct memory_facts {
	uint64_t total;     /* RAM; 0 when not known */
	uint64_t available; /* MemAvailable, or free + cached on kernels without it; 0 when not
			       known */
	uint64_t swap;      /* total swap */
	uint64_t limit;     /* the tightest cgroup limit (v1 or v2) on this process; 0: none */
};

/* Fills *facts; what cannot be read stays 0. Returns 0 or -ENOMEM. root: see util/sysfile.h. */
int memory_probe(struct memory_facts *facts, const char *root);

/* What a program may use at most without swapping: total, capped by the cgroup limit; 0 when not
 * known. */
uint64_t memory_ceiling(const struct memory_facts *facts);

#endif
