/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binary part of LUKS headers, read strictly and without libcryptsetup: which copies there are,
 * and whether each is sound (LUKS2 On-Disk Format Specification 1.1.1, 2.1 and 2.2; LUKS1 On-Disk
 * Format Specification 1.2.3, 2.1). Only reads.
 */
#ifndef DMCT_VOLUME_HEADER_H
#define DMCT_VOLUME_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#define HEADER_COPIES     2
#define HEADER_COPY_MAX   (4UL << 20) /* the largest that LUKS2 allows */
#define HEADER_LUKS1_SIZE 592UL       /* bytes of LUKS1's header proper */

enum header_kind { HEADER_NONE, HEADER_LUKS1, HEADER_LUKS2 };

/* One copy of a LUKS2 header, or LUKS1's only one. */
struct header_copy {
	bool found;          /* its mark is there, with a version and a size that can be */
	bool valid;          /* and all that is checked here agrees */
	char reason[160];    /* why not, or "" */
	uint64_t offset;     /* bytes; of one that is not there, where it should stand */
	bool cut;            /* the device ends before its end */
	unsigned version;    /* as it stands beside the mark; 0: there is no mark */
	uint64_t size;       /* bytes with its JSON area; 0: not known */
	uint64_t sequence;   /* the higher is the newer; 0 for LUKS1 */
	char uuid[41];       /* as it stands there */
	char checksum[33];   /* algorithm; "" for LUKS1 */
	bool checksum_known; /* it could be checked here; libcryptsetup checks all */
};

struct headers {
	enum header_kind kind;
	struct header_copy copies[HEADER_COPIES]; /* LUKS1: one */
	unsigned n;
};

/*
 * Reads what stands on fd, which is `size` bytes long. kind HEADER_NONE, and 0, where there is
 * neither header; copies[0].version is then not 0 where there is one of a version that is not known
 * here. A header that the device ends within is one, and damaged. A second header whose first is
 * gone is found at each of the places that it may have. -errno when it cannot be read, or -ENOMEM.
 */
int headers_read(struct headers *headers, int fd, uint64_t size);

#endif
