/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measurements as the bench.v1 document has them. */
#ifndef DMCT_REPORT_JSON_MEASURE_H
#define DMCT_REPORT_JSON_MEASURE_H

#include <json.h>

#include "measure/measure.h"

/* Puts conditions: what makes the numbers mean less. */
void json_put_conditions(struct json_object *obj, const struct measurement *m);

/* Puts roofline, multi_buffer, conditions, results and seconds. */
void json_put_measurement(struct json_object *obj, const struct measurement *m);

#endif
