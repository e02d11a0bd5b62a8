/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bench concludes from its cells, as the bench.v1 document has it. */
#ifndef DMCT_REPORT_JSON_CROSSING_H
#define DMCT_REPORT_JSON_CROSSING_H

#include <json.h>

#include "decide/crossing.h"
#include "decide/versus.h"

/* Puts crossing (null where it was not asked for) and versus. */
void json_put_crossing(struct json_object *obj, const struct crossing *crossing);
void json_put_versus(struct json_object *obj, const struct versus_list *list);

#endif
