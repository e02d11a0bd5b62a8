/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predictions as the bench.v1 document has them. */
#ifndef DMCT_REPORT_JSON_MODEL_H
#define DMCT_REPORT_JSON_MODEL_H

#include <json.h>

#include "decide/model.h"

/* Puts predictions. */
void json_put_predictions(struct json_object *obj, const struct predictions *predictions);

#endif
