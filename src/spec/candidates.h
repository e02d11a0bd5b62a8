/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which specs are worth measuring here. Pure: facts in, list out. */
#ifndef DMCT_SPEC_CANDIDATES_H
#define DMCT_SPEC_CANDIDATES_H

#include "facts/facts.h"
#include "spec/spec.h"

struct candidate {
	struct spec spec; /* without a sector size */
	bool admitted;    /* the kernel can, or nothing says that it cannot */
	char reason[200]; /* why not admitted */
};

struct candidates {
	struct candidate *list;
	size_t n;
};

/*
 * Every offered spec (kind × key size), most usual first, each judged by what the kernel said of
 * its algorithm: refused only when AF_ALG was there, was asked and has no such algorithm, the
 * driver takes no keys of that size, or FIPS mode forbids it. Returns 0 or -ENOMEM.
 */
int candidates_list(struct candidates *candidates, const struct facts *facts);
/* The same of the specs with that integrity mode ("aead"), or with any (NULL). */
int candidates_list_integrity(struct candidates *candidates, const struct facts *facts,
			      const char *integrity);
void candidates_free(struct candidates *candidates);

#endif
