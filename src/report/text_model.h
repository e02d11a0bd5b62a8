/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predictions for people. */
#ifndef DMCT_REPORT_TEXT_MODEL_H
#define DMCT_REPORT_TEXT_MODEL_H

#include "decide/model.h"

/* Prints what dm-crypt is expected to do, by layer, on standard output; nothing where nothing is
 * known. Returns 0 or -ENOMEM. */
int text_predictions(const struct predictions *predictions);

#endif
