/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts as JSON: the objects cpu, kernel, memory and device of probe.v1, and the first three of
 * bench.v1, where they say what machine the numbers are of. Everything that is decided on stands in
 * them, so that measure/saved.h can read them back. NULL when out of memory, as util/json.h has it.
 */
#ifndef DMCT_REPORT_JSON_FACTS_H
#define DMCT_REPORT_JSON_FACTS_H

#include <json.h>

#include "facts/device.h"
#include "facts/facts.h"
#include "report/findings.h"

struct json_object *report_cpu_json(const struct cpu_facts *cpu);
struct json_object *report_kernel_json(const struct kernel_facts *kernel);
struct json_object *report_memory_json(const struct memory_facts *memory);
struct json_object *report_device_json(const struct device_facts *device);
struct json_object *report_findings_json(const struct findings *findings);

/* "x86", "arm", … */
const char *report_family_name(enum cpu_family family);
/* "generic" (in fixed time, too), "simd", "aes", "vaes256", "vaes512", "unknown" */
const char *report_aes_name(enum kernel_aes_kind kind);
/*
 * Why the kernel lists no driver of an algorithm, or "" when it does: what AF_ALG said of it, or
 * that it is not instantiated.
 */
const char *report_missing_driver(const struct kernel_facts *kernel, const char *name);

#endif
