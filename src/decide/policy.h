/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a site wants: margins between classes, what is admitted, PBKDF bounds. Numbers with their
 * reasons. */
#ifndef DMCT_DECIDE_POLICY_H
#define DMCT_DECIDE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec/spec.h"

struct policy {
	const char *name; /* "balanced", "performance", "strict", "fips" */
	const char *summary;
	/* How many times faster than the stronger classes' best a class must be to be chosen; 0:
	 * never. [0] is unused. */
	double margin[SPEC_CLASS_COUNT];
	/* How many times faster a cipher that few systems use must be than the usual of its class.
	 */
	double rare_margin;
	bool fips;         /* approved ciphers and PBKDF2 only */
	double read_share; /* of the volume's traffic */
	double sector_allowance;
	double overwrites;         /* of a volume whose nonces may run out */
	double min_strength;       /* bits; 0: any */
	double pbkdf_memory_share; /* of the unlocking machine's memory */
	double pbkdf_memory_max;   /* bytes */
	double pbkdf_threads_max;
	double pbkdf_time_ms;
};

extern const struct policy policies[]; /* name NULL ends */

/* By name, or NULL. */
const struct policy *policy_find(const char *name);

/* One number of a policy: what a policy file calls it, its bounds, and why it is what it is. */
struct policy_number {
	const char *key;
	size_t offset; /* of the double in struct policy */
	double min, max;
	bool or_zero;     /* 0 is taken, too */
	const char *unit; /* "times", "share", "bits", "bytes", "threads", "ms" */
	const char *reason;
};

extern const struct policy_number policy_numbers[]; /* key NULL ends */

double policy_value(const struct policy *policy, const struct policy_number *number);

#endif
