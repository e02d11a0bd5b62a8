/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The password hash's costs, found by trial with libcryptsetup's own. */
#ifndef DMCT_VOLUME_PBKDF_H
#define DMCT_VOLUME_PBKDF_H

#include "decide/decide.h"
#include "util/status.h"

/* libcryptsetup's own bound (lib/crypto_backend/pbkdf_check.c). */
#define PBKDF2_MIN_ITERATIONS 1000

/*
 * Where pbkdf->iterations is 0: tries out the type within pbkdf->memory (an upper limit) and
 * pbkdf->threads (pbkdf_trial.h; PBKDF2 by libcryptsetup's benchmark), and fills in the iterations
 * and memory that make an unlock take pbkdf->time_ms. key_bytes: the volume key's length, for
 * PBKDF2. Where iterations are given nothing runs. Also makes
 * sure of what Argon2 needs late (libgcc_s, when its threads end) and that the memory can be had.
 * Returns 0 or -errno with *st (ST_MISSING, ST_NOMEM; ST_USAGE for costs that LUKS2 cannot hold;
 * ST_SIGNAL + N when a signal was noted (util/interrupt.h)).
 */
int pbkdf_settle(struct plan_pbkdf *pbkdf, size_t key_bytes, struct status *st);

#endif
