/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standard output, such that a report which could not be written is known, and why. */
#ifndef DMCT_UTIL_OUTPUT_H
#define DMCT_UTIL_OUTPUT_H

/* Gives standard output a buffer that holds a report in text, so that what fails is a flush, whose
 * errno is known, and no printf() along the way. Called before anything is printed. */
void output_begin(void);

/* Writes out what is buffered. 0, or -errno of this or the first earlier failure. */
int output_flush(void);

#endif
