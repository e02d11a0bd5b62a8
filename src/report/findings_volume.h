/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a volume that exists, and how to mend it. Pure. */
#ifndef DMCT_REPORT_FINDINGS_VOLUME_H
#define DMCT_REPORT_FINDINGS_VOLUME_H

#include "report/findings.h"
#include "volume/inspect.h"
#include "volume/mapping.h"

struct findings_volume_input {
	const char *path;              /* what the user calls it */
	const char *target;            /* what a command is to be told: the device, and --header */
	const char *header_file;       /* given by --header, or NULL */
	const struct inspect *header;  /* NULL: none (a plain mapping, one whose header is not
					  known) */
	const struct mapping *mapping; /* NULL: not active, or not to be seen */
	const struct device_facts *data; /* where the data are; NULL: not known (a detached header
					    alone) */
	const struct facts *facts;
	const struct plan *plan; /* what would be recommended; NULL: not known */
	const struct plan *now;  /* what the volume's own spec does; NULL: not known */
	bool detached;           /* the header is not on `data` */
	bool backup;             /* it is a copy by cryptsetup luksHeaderBackup */
};

/* As findings_make(). */
int findings_volume(struct findings *findings, const struct findings_volume_input *in);

/* Whether one of them says that the volume is damaged: a copy of the header, a keyslot, or the end
 * of it is gone. */
bool findings_damaged(const struct findings *findings);

/* What the cipher, mode and IV of "aes-cbc-essiv:sha256" are; each "" where it has none. */
struct cipher_parts {
	char cipher[64], mode[32], iv[64];
};
void cipher_split(struct cipher_parts *parts, const char *text);

#endif
