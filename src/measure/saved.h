/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved results: the JSON of `bench --json` or `bench --save`, read back. */
#ifndef DMCT_MEASURE_SAVED_H
#define DMCT_MEASURE_SAVED_H

#include "facts/device.h"
#include "facts/facts.h"
#include "measure/disk_speed.h"
#include "measure/measure.h"

/* The disk that a decision was made for, where the file describes one (objects device and
 * device_speed). */
struct saved_device {
	bool found, speed_found;
	struct device_facts facts;
	struct disk_speed speed;
};

/*
 * Reads a bench.v1 document from `path` ("-": standard input), at most 64 MiB. *m gets its results;
 * where it describes something of the machine it was made on (objects cpu, kernel, memory), *facts
 * gets that and *has_facts is true; what is not described is not known. *device (may be NULL) gets
 * the disk. Only keys of the documented contract are needed; unknown ones are ignored. A file that
 * cannot be read, is not JSON, has another schema or a value of a wrong type or range is -EINVAL or
 * -errno with *st (ST_USAGE) naming the key and the value. measurement_free() and facts_free()
 * release the results, also after a failure.
 */
int saved_load(struct measurement *m, struct facts *facts, bool *has_facts,
	       struct saved_device *device, const char *path, struct status *st);

#endif
