/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encrypting several sectors at once: whether it can be had, what it brings, and the curve over the
 * bytes in flight where both shapes were measured. */
#ifndef DMCT_REPORT_MULTI_CURVE_H
#define DMCT_REPORT_MULTI_CURVE_H

#include <json.h>

#include "measure/measure.h"

void multi_curve_text(const struct measurement *m);
/* The element of multi_buffer. NULL when out of memory. */
struct json_object *multi_curve_json(const struct measurement *m,
				     const struct measure_multi *multi);

#endif
