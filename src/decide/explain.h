/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice in words: reasons for it, and for each candidate that was not taken. */
#ifndef DMCT_DECIDE_EXPLAIN_H
#define DMCT_DECIDE_EXPLAIN_H

#include "decide/internal.h"

enum choice_state { CHOICE_MEASURED, CHOICE_UNMEASURED, CHOICE_NOT_ADMITTED, CHOICE_NO_SECTOR };

/* 512, 1024, 2048 and 4096. */
#define CHOICE_SIZES 4

/* A candidate with the sector size that suits it best. */
struct choice {
	struct spec spec;
	enum choice_state state;
	struct speed speed;
	struct choice_size {
		bool allowed;
		struct speed speed;
		char reason[192]; /* why not allowed */
	} sizes[CHOICE_SIZES];    /* by sector size, smallest first; of the first two states */
	double factor;    /* what its speed is divided by against stronger ones: its margin */
	double rare;      /* and against its equals: more than 1 for a cipher that few have */
	bool by_policy;   /* not admitted by policy or FIPS mode, whatever the kernel has */
	char reason[256]; /* why it is out, in the last two states */
	const struct choice *beaten_by; /* measured: one that is faster by what it takes */
};

/*
 * Fills the plan's reasons and its list of rejected candidates: every other candidate, then the
 * chosen one's other sector sizes. winner points into list. 0 or -ENOMEM.
 */
int explain_plan(struct plan *plan, const struct decide_input *input, const struct ground *ground,
		 const struct choice *list, size_t n, const struct choice *winner);

#endif
