/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make up the kernel's facts. All return 0 or -ENOMEM. */
#ifndef DMCT_FACTS_KERNEL_INTERNAL_H
#define DMCT_FACTS_KERNEL_INTERNAL_H

#include "facts/kernel.h"

/* Reads /proc/crypto into listed, drivers and n_drivers. */
int kernel_crypto_read(struct kernel_facts *facts, const char *root);
/* Fills af_alg; asks for each of kernel_algorithms[] unless there is a root. */
int kernel_af_alg_try(struct kernel_af_alg *af_alg, const char *root);
/* In words, why a socket could not be had (a->error, a->restrict_level), and why an algorithm could
 * not be bound (attempt->error); type_works: another of its type could. A refusal that may be the
 * sysctl's alone counts as not tried. */
void kernel_af_alg_socket_reason(struct kernel_af_alg *a);
void kernel_af_alg_bind_reason(struct kernel_attempt *attempt, int restrict_level, bool type_works);
/* Fills dm. */
int kernel_dm_probe(struct kernel_dm *dm, const char *root);

/* The entry of /proc/crypto with the highest priority among those of that name and of one of the
 * types (space-separated) that passed their self-test and are not internal. */
const struct kernel_driver *kernel_best_driver(const struct kernel_facts *facts, const char *name,
					       size_t name_len, const char *types);
bool kernel_is_aead(const char *name);
/* The types that an algorithm of that name may be listed with. */
const char *kernel_types_of(const char *name);

#endif
