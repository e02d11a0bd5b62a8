/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells against the roofline, the best of their kind, and themselves on one thread. */
#ifndef DMCT_MEASURE_PAIRS_H
#define DMCT_MEASURE_PAIRS_H

#include "measure/measure.h"
#include "measure/roofline.h"
#include "measure/sampler.h"

/*
 * Fills the results' to_roofline and to_best by pairs of slices of the same round, roofline_share
 * by the former where there are enough, and scaling. cells: n items, each of a struct cell whose
 * result has its median; roofs[i] is the item of roofs->list[i], n_roofs of them. Returns 0 or
 * -ENOMEM.
 */
int pairs_fill(struct measurement *m, const struct sampler_item *cells, size_t n,
	       const struct roofs *roofs, const struct sampler_item *roof_items, size_t n_roofs);

#endif
