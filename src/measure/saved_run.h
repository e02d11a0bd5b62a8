/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DMCT_MEASURE_SAVED_RUN_H
#define DMCT_MEASURE_SAVED_RUN_H

#include "measure/measure.h"
#include "measure/saved_json.h"

/*
 * Reads what a run says beside its cells: roofline, conditions and multi_buffer, each where it is
 * there. Returns 0, -ENOMEM, or -EINVAL with *st.
 */
int saved_run(struct measurement *m, const struct saved_place *document);

#endif
