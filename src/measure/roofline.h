/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The most that the CPU's AES units can do, and each cell as a share of it. */
#ifndef DMCT_MEASURE_ROOFLINE_H
#define DMCT_MEASURE_ROOFLINE_H

#include "measure/cell.h"
#include "measure/measure.h"
#include "measure/sampler.h"

struct roofs {
	struct roof *list;
	size_t n;
	unsigned cpus; /* that this process may use; 0: not known */
};

/* A loop for each vector width that a usable tier has, key size and number of threads that could be
 * started, and for the widest also request->roof_threads; none where the CPU has no AES
 * instructions. Returns 0 or -ENOMEM. */
int roofs_list(struct roofs *roofs, const struct measure_request *request,
	       const struct facts *facts, struct run *run);
void roofs_free(struct roofs *roofs);
/* How many threads' roofline is the one of a cell of so many: more than there are CPUs take turns,
 * and all of them together do what one a CPU does. */
unsigned roofs_threads(const struct roofs *roofs, unsigned threads);

/* From the samples of roofs->list[i] in items[i] (n of them) to m->rooflines and the results'
 * roofline_share. Returns 0 or -ENOMEM. */
int roofs_fill(struct measurement *m, const struct roofs *roofs, struct sampler_item *items,
	       size_t n);

#endif
