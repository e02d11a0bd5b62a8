/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measurements for a person. */
#ifndef DMCT_REPORT_TEXT_MEASURE_H
#define DMCT_REPORT_TEXT_MEASURE_H

#include "measure/measure.h"

/* Prints the table, what could not be measured and why, the roofline and what multi-buffer brings.
 * Returns 0 or -errno. */
int text_measurement(const struct measurement *m);
/* The conditions, and how much was measured: last. */
void text_measurement_end(const struct measurement *m);

#endif
