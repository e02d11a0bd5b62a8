/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short trials of the engine itself: milliseconds, in the caller's thread. */
#ifndef DMCT_MEASURE_TRIAL_H
#define DMCT_MEASURE_TRIAL_H

#include "measure/measure.h"

/*
 * The tier to use by default: of those that can run here and have AES instructions, the one that
 * encrypts fastest now. That the widest one can run does not say that it should: there are CPUs
 * that slow down for 512-bit vectors. The wider one stands unless another is clearly faster.
 */
const struct engine_tier *trial_best_tier(const struct cpu_facts *cpu);

/*
 * The choosing alone: which of n tiers, best first, by the nanoseconds that each took for the same
 * work (0: it could not run, or has no AES instructions). n: none could.
 */
size_t trial_choose(const double *ns, size_t n);

/*
 * Fills m->multis: for each CPU result's spec and tier, and for CBC under a MAC through OpenSSL,
 * whether encrypting several sectors at once differs from one after the other, from how many on
 * that pays, and by how much. Outputs of the two are compared first. Returns 0, -ENOMEM, or
 * -EBADMSG when they differ.
 */
int trial_multi_buffer(struct measurement *m);

/*
 * Once the results are there: where they hold both shapes, they are what m->multis says, and the
 * trial counts only for fewer sectors than they have. Of several numbers of threads the smallest.
 */
void trial_agree(struct measurement *m);

/* The cell that does one sector after the other where r does the same at once, and both are of that
 * spec and tier; else NULL. */
const struct measure_result *trial_serial(const struct measurement *m,
					  const struct measure_multi *multi,
					  const struct measure_result *r);

#endif
