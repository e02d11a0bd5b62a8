/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts for a person, within 100 columns. What came from a device or a described machine is
 * printed with control characters replaced, so that a label cannot drive the terminal.
 */
#ifndef DMCT_REPORT_TEXT_FACTS_H
#define DMCT_REPORT_TEXT_FACTS_H

#include <stdio.h>

#include "facts/device.h"
#include "facts/facts.h"
#include "report/findings.h"

void report_machine_text(FILE *out, const struct facts *facts);
void report_device_text(FILE *out, const struct device_facts *device);
void report_findings_text(FILE *out, const struct findings *findings);

#endif
