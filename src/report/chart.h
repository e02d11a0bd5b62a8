/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of measurements, drawn by gnuplot. */
#ifndef DMCT_REPORT_CHART_H
#define DMCT_REPORT_CHART_H

#include "measure/measure.h"
#include "util/status.h"

/* Whether a picture could be saved as `path`, as save_check(): ".svg" and ".png" are the endings
 * that are known. 0 or -errno with *st. */
int chart_check(const char *path, struct status *st);

/*
 * Draws throughput over size, a line for each spec, engine and way of measuring, with the quartiles
 * as a band, and the rooflines; encryption and decryption side by side. cpu: the CPU's name, or
 * NULL; disk: what the disk reads a second, or 0. gnuplot is run without a shell and never sees the
 * name of the file. 0 or -errno with *st (ST_MISSING: there is no gnuplot, or it cannot draw that).
 */
int chart_save(const struct measurement *m, const char *cpu, double disk, const char *path,
	       struct status *st);

#endif
