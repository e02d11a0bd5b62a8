/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A request's time as a line over its size: a fixed cost and a cost per byte. */
#ifndef DMCT_MEASURE_FIT_H
#define DMCT_MEASURE_FIT_H

#include <stddef.h>

#include "measure/measure.h"

#define FIT_POINTS_MAX 64
/* Fewer sizes than this are no fit: of three two lie on the line, and its error would say nothing.
 */
#define FIT_POINTS_MIN 4
/* The range of sizes that a fit is over. */
#define FIT_SIZE_MIN 512
#define FIT_SIZE_MAX 65536

struct fit_line {
	double fixed, slope;          /* y = fixed + slope * x */
	double slope_low, slope_high; /* the quartiles of the slopes between all pairs of points */
	double error, worst;          /* the median and the largest |y - line| / y */
};

/*
 * The median of the slopes between all pairs of points (Theil 1950, Sen 1968), which one disturbed
 * point cannot move, each weighted with its distance (Jaeckel 1972), since a slope between near
 * points is mostly noise; then the median of what it leaves of each point, weighted with 1 / y,
 * since y's errors are relative. n: 2 to FIT_POINTS_MAX points of positive x and y, at least two
 * different x; else false.
 */
bool fit_line(struct fit_line *line, const double *x, const double *y, size_t n);

/*
 * Fills m->fits from the cells of afalg: one for each spec, direction, path, depth and number of
 * threads that was measured at FIT_POINTS_MIN sizes of the range. Returns 0 or -ENOMEM.
 */
int fit_results(struct measurement *m);

#endif
