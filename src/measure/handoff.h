/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this kernel takes for passing work from one thread to another and for moving bytes: dm-crypt
 * does both, AF_ALG does the second, and no privilege is needed to time them.
 */
#ifndef DMCT_MEASURE_HANDOFF_H
#define DMCT_MEASURE_HANDOFF_H

#include "measure/measure.h"

/*
 * Two threads pass a byte to and fro through a pair of pipes, and a page; and there are calls that
 * do nothing: the times give m->handoff, m->copy and m->syscall. Takes about 20 ms; all stay 0
 * where it cannot be done.
 */
void handoff_measure(struct measurement *m);

#endif
