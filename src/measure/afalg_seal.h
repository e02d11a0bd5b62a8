/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Authenticated encryption of one sector by the kernel's AEAD ciphers, through AF_ALG: two system
 * calls and a copy each. The kernel's side: Documentation/crypto/userspace-if.rst.
 */
#ifndef DMCT_MEASURE_AFALG_SEAL_H
#define DMCT_MEASURE_AFALG_SEAL_H

#include "measure/auth.h"

/*
 * raw: the cipher's key and, where there is one, the MAC's behind it: spec_volume_key_bits() of it.
 * 0, or -errno with *error: what is missing.
 */
int afalg_sealer(struct sealer *sealer, const struct backend_cell *cell, const uint8_t *raw,
		 struct backend_error *error);

#endif
