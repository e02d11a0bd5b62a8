/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DMCT_MEASURE_SAVED_DEVICE_H
#define DMCT_MEASURE_SAVED_DEVICE_H

#include "measure/saved.h"
#include "measure/saved_json.h"

/*
 * Reads the objects device, as report/json_facts.c writes it, and device_speed of a document, where
 * they are there. Returns 0 or -EINVAL with *st.
 */
int saved_device(struct saved_device *device, const struct saved_place *document);

#endif
