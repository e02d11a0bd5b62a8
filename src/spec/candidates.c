// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec/candidates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZES (sizeof(spec_kinds->key_bits) / sizeof(spec_kinds->key_bits[0]))

/* 192-bit keys are there to be measured: nobody is served by a strength between the two. */
static bool offered(const struct spec_kind *kind, size_t i)
{
	return kind->offered && kind->key_bits[i] && kind->key_bits[i] != 192;
}

/* CBC under a MAC is slower than XTS under it and protects no better. */
static bool authenticated(const struct spec_kind *kind, size_t i, const char *integrity)
{
	return kind->integrity && kind->key_bits[i] && strcmp(kind->mode, "cbc") &&
	       (!*integrity || !strcmp(kind->integrity, integrity));
}

static bool listed(const struct spec_kind *kind, size_t i, const char *integrity)
{
	return integrity ? authenticated(kind, i, integrity) : offered(kind, i);
}

/* A hardware engine may take fewer key sizes than the algorithm has. */
static bool key_fits(struct candidate *c, const struct kernel_facts *kernel)
{
	const struct kernel_driver *d = kernel_driver_for(kernel, c->spec.kind->kernel);
	unsigned bytes = c->spec.key_bits / 8;

	if (!d || !d->max_keysize || c->spec.kind->integrity ||
	    (bytes >= d->min_keysize && bytes <= d->max_keysize))
		return true;
	snprintf(c->reason, sizeof(c->reason),
		 "the kernel's driver %.60s takes keys of %u to %u bits", d->driver,
		 d->min_keysize * 8, d->max_keysize * 8);
	return false;
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
		c->admitted = key_fits(c, &facts->kernel);
}

static int list(struct candidates *candidates, const struct facts *facts, const char *integrity)
{
	struct candidate *c;
	size_t n = 0;

	for (const struct spec_kind *k = spec_kinds; k->kernel; k++)
		for (size_t i = 0; i < KEY_SIZES; i++)
			n += listed(k, i, integrity);
	candidates->n = 0;
	candidates->list = c = calloc(n + 1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (const struct spec_kind *k = spec_kinds; k->kernel; k++) {
		for (size_t i = 0; i < KEY_SIZES; i++) {
			if (!listed(k, i, integrity))
				continue;
			c->spec.kind = k;
			c->spec.key_bits = k->key_bits[i];
			judge(c++, facts);
		}
	}
	candidates->n = n;
	return 0;
}

int candidates_list(struct candidates *candidates, const struct facts *facts)
{
	return list(candidates, facts, NULL);
}

int candidates_list_integrity(struct candidates *candidates, const struct facts *facts,
			      const char *integrity)
{
	return list(candidates, facts, integrity ? integrity : "");
}

void candidates_free(struct candidates *candidates)
{
	free(candidates->list);
	candidates->list = NULL;
	candidates->n = 0;
}
