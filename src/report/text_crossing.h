/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What bench concludes from its cells, for a person. */
#ifndef DMCT_REPORT_TEXT_CROSSING_H
#define DMCT_REPORT_TEXT_CROSSING_H

#include "decide/crossing.h"
#include "decide/versus.h"

/* Each prints nothing where there is nothing to say, else a paragraph that begins with an empty
 * line. text_crossing() returns 0 or -errno. */
void text_fits(const struct measurement *m);
void text_scaling(const struct measurement *m);
int text_crossing(const struct crossing *crossing);
void text_versus(const struct versus_list *list);

#endif
