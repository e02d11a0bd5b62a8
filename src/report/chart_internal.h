/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the two files of the chart: what is drawn, and who draws it. */
#ifndef DMCT_REPORT_CHART_INTERNAL_H
#define DMCT_REPORT_CHART_INTERNAL_H

#include <stdio.h>

#include "measure/measure.h"
#include "util/status.h"

/* Writes gnuplot's script for a terminal ("svg", "pngcairo"): its picture goes to standard output.
 * 0, -ENOMEM, or -ENODATA when nothing was measured. */
int chart_script(FILE *script, const struct measurement *m, const char *cpu, double disk,
		 const char *terminal);

/* What a picture of ours says of itself, beside what gnuplot says: how one is told from other
 * people's. No "--", which ends an XML comment. */
#define CHART_STAMP "made by dmcrypt-tune bench"

/* Puts the stamp into a picture (an SVG or a PNG), which is reallocated. 0, -ENOMEM, or -EINVAL
 * when it is neither. */
int chart_stamp(char **picture, size_t *size);

/* Runs gnuplot on a script of len bytes; *picture, of *size bytes, is the caller's to free. 0 or
 * -errno with *st. */
int chart_draw(const char *script, size_t len, char **picture, size_t *size, struct status *st);

#endif
