/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DMCT_REPORT_FINDINGS_INTERNAL_H
#define DMCT_REPORT_FINDINGS_INTERNAL_H

#include "report/findings.h"

/* Adds a finding and returns it, its fix still empty; a throw-away one when memory runs out. */
struct finding *findings_add(struct findings *findings, const char *id,
			     enum finding_severity severity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void finding_fix(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void findings_device(struct findings *findings, const struct device_facts *device, bool described);

/* Errors first, as findings_make() has it; -ENOMEM also where memory ran out before. */
int findings_sort(struct findings *findings);

#endif
