// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec/candidates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_SIZES (sizeof(spec_kinds->key_bits) / sizeof(spec_kinds->key_bits[0]))

/* 192-bit keys are there to be measured: nobody is served by a strength between the two. */
static bool offered(const struct spec_kind *kind, size_t i)
{
	return kind->offered && kind->key_bits[i] && kind->key_bits[i] != 192;
}

static size_t count_offered(void)
{
	size_t n = 0;

	for (const struct spec_kind *k = spec_kinds; k->kernel; k++)
		for (size_t i = 0; i < KEY_SIZES; i++)
			n += offered(k, i);
	return n;
}

/*
 * Only a definite "no" excludes: AF_ALG was asked and has no such cipher. Where it could not be
 * asked, dm-crypt may still load the module.
 */
static void judge(struct candidate *c, const struct facts *facts)
{
	const struct kernel_attempt *attempt = kernel_attempt_for(&facts->kernel,
								  c->spec.kind->kernel);

	c->admitted = false;
	if (facts->kernel.fips && !c->spec.kind->fips)
		snprintf(c->reason, sizeof(c->reason),
			 "not approved, and the kernel runs in FIPS mode");
	else if (attempt && attempt->tried && !attempt->available)
		snprintf(c->reason, sizeof(c->reason), "this kernel has no %s: %s",
			 c->spec.kind->kernel, attempt->reason);
	else
		c->admitted = true;
}

int candidates_list(struct candidates *candidates, const struct facts *facts)
{
	struct candidate *c;

	candidates->n = 0;
	candidates->list = c = calloc(count_offered(), sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (const struct spec_kind *k = spec_kinds; k->kernel; k++) {
		for (size_t i = 0; i < KEY_SIZES; i++) {
			if (!offered(k, i))
				continue;
			c->spec.kind = k;
			c->spec.key_bits = k->key_bits[i];
			judge(c++, facts);
		}
	}
	candidates->n = c - candidates->list;
	return 0;
}

void candidates_free(struct candidates *candidates)
{
	free(candidates->list);
	candidates->list = NULL;
	candidates->n = 0;
}
