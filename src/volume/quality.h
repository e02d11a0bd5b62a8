/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a passphrase is a good one: easily guessed, or not to be typed where it will be asked
 * for. */
#ifndef DMCT_VOLUME_QUALITY_H
#define DMCT_VOLUME_QUALITY_H

#include "volume/secret.h"

/* Whether it can be asked for here: 0, or -ENOTSUP with *st (ST_MISSING). */
int quality_available(struct status *st);

/*
 * Asks libpwquality, with the system's settings (pwquality.conf(5)). 0 when it has no objection,
 * else -errno with *st: too weak (ST_AUTH), no passphrase but a key with NUL bytes (ST_USAGE), or
 * the library is not there or fails (ST_MISSING). The library keeps copies for a while.
 */
int quality_check(const struct secret *secret, struct status *st);

/*
 * What of a passphrase a keyboard at boot may not give as it was given here, as the object of
 * "holds": "bytes that are not ASCII", "control characters"; and for_grub, whose keyboard is
 * American, "… that keyboards have in different places". NULL: nothing.
 */
const char *quality_boot_doubt(const struct secret *secret, bool for_grub);

#endif
