/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The policy file: what a distribution or a site sets for all its machines. */
#ifndef DMCT_DECIDE_POLICY_FILE_H
#define DMCT_DECIDE_POLICY_FILE_H

#include "decide/policy.h"
#include "util/status.h"

#define POLICY_FILE_MAX (64U << 10)

/*
 * Reads the text of a policy file (len bytes) into *policy. Lines are "key = value", empty, or
 * begin with '#'; blanks around words do not count. "policy" names one of policies[], which *policy
 * then begins as, wherever in the file it stands (else: balanced); `forced` (may be NULL), a name
 * given on the command line, goes before it, and if it is another, that policy's own margins count
 * and not the file's. The other keys are those of policy_numbers[]. Sizes may end in K, M
 * or G. -EINVAL with *st (ST_USAGE), "name:line: …", for an unknown key, one that stands twice, a
 * value that is no number or out of bounds, bytes that are not text or not UTF-8. Pure.
 */
int policy_file_parse(struct policy *policy, const char *text, size_t len, const char *name,
		      const char *forced, struct status *st);

#endif
