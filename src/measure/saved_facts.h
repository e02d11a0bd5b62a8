/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DMCT_MEASURE_SAVED_FACTS_H
#define DMCT_MEASURE_SAVED_FACTS_H

#include "facts/facts.h"
#include "measure/saved_json.h"

/*
 * Reads the objects cpu, kernel and memory of a document, as report/json_facts.c writes them, into
 * zeroed *facts. What is not there is not known; *found: something is. Returns 0, -ENOMEM, or
 * -EINVAL with *st.
 */
int saved_facts(struct facts *facts, bool *found, const struct saved_place *document);

#endif
