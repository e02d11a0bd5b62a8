/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that put a decision into words. */
#ifndef DMCT_DECIDE_EXPLAIN_INTERNAL_H
#define DMCT_DECIDE_EXPLAIN_INTERNAL_H

#include "decide/explain.h"

/* How many times as fast as w c must be to beat it. */
double explain_asked(const struct choice *c, const struct choice *w);

/* Whether there are figures, be it of what was not taken. */
bool explain_any_measured(const struct choice *list, size_t n);

/* Each adds its sentences to the plan's reasons. */
void explain_disk(struct plan *plan, const struct choice *w);
void explain_sector(struct plan *plan, const struct decide_input *input,
		    const struct ground *ground, const struct choice *w);
void explain_place(struct plan *plan, const struct decide_input *input);

/* And, of an authenticated mode, what is kept, written twice, and wiped. */
void explain_integrity(struct plan *plan, const struct decide_input *input, const struct choice *w);

/* Fills plan->rejected, which has room for n + 3. */
void explain_rejected(struct plan *plan, const struct decide_input *input,
		      const struct ground *ground, const struct choice *list, size_t n,
		      const struct choice *w);

/* Fills plan->summary, of a plan whose reasons are there. */
void explain_summary(struct plan *plan, const struct decide_input *input, const struct choice *list,
		     size_t n, const struct choice *w);

#endif
