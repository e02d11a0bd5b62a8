/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong, odd or worth knowing on this machine and device, and how to mend it. Pure: the
 * same facts give the same findings. */
#ifndef DMCT_REPORT_FINDINGS_H
#define DMCT_REPORT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "facts/device.h"
#include "facts/facts.h"

enum finding_severity { FINDING_INFO, FINDING_WARNING, FINDING_ERROR };

struct finding {
	const char *id; /* static: "aes-unused"; scripts go by it */
	enum finding_severity severity;
	char message[400];
	char fix[300]; /* "" where there is nothing to do */
};

struct findings {
	struct finding *list;
	size_t n;
	bool failed; /* out of memory on the way */
};

struct findings_input {
	const struct facts *facts;
	const struct device_facts *device; /* NULL: none named */
	bool described;                    /* facts of a --sysroot: nothing was tried */
	bool privileged;                   /* the program runs as root */
};

/* Errors first, then warnings, then information. 0 or -ENOMEM; findings_free() releases it, also
 * after a failure. */
int findings_make(struct findings *findings, const struct findings_input *in);
void findings_free(struct findings *findings);

const char *finding_severity_name(enum finding_severity severity);

#endif
