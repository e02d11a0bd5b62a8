/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a site wants: margins between classes, what is admitted, PBKDF bounds. Numbers with their
 * reasons. */
#ifndef DMCT_DECIDE_POLICY_H
#define DMCT_DECIDE_POLICY_H

#include <stdbool.h>
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
};

extern const struct policy policies[]; /* name NULL ends */

/* By name, or NULL. */
const struct policy *policy_find(const char *name);

#endif
