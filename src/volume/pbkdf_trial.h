/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Argon2 costs on this machine. Not for other stages. */
#ifndef DMCT_VOLUME_PBKDF_TRIAL_H
#define DMCT_VOLUME_PBKDF_TRIAL_H

#include "volume/luks_internal.h"

/*
 * Measures Argon2 of that type and number of threads, with no more than pbkdf->memory, in about a
 * third of a second: *cost_per_ms is KiB of memory times iterations that a millisecond buys. No
 * device is touched. 0 or -errno, with libcryptsetup's complaint in the log.
 */
int pbkdf_trial(const struct plan_pbkdf *pbkdf, double *cost_per_ms, struct luks_log *log);

#endif
