/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DMCT_REPORT_FINDINGS_VOLUME_INTERNAL_H
#define DMCT_REPORT_FINDINGS_VOLUME_INTERNAL_H

#include "report/findings_internal.h"
#include "report/findings_volume.h"

/* What is damaged or gone, also where nothing of the header loads. */
void findings_damage(struct findings *findings, const struct findings_volume_input *in);

/* How strong: cipher, mode and IV; keyslots and their password hashes. */
void findings_cipher(struct findings *findings, const struct findings_volume_input *in,
		     const struct cipher_parts *parts);
void findings_keyslots(struct findings *findings, const struct findings_volume_input *in);

#endif
