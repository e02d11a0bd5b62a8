/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of `inspect`. */
#ifndef DMCT_CMD_INSPECT_H
#define DMCT_CMD_INSPECT_H

#include "cmd_plan.h"
#include "report/findings_volume.h"

/* What a run found out; released in one place. */
struct inspection {
	const struct cmd_globals *globals;
	const char *path;
	bool has_header; /* one was looked for and something of it is there */
	struct inspect header;
	char header_path[4096]; /* where it is */
	bool has_mapping;       /* there is a live mapping of that name */
	bool mapping_seen;      /* and its table could be read */
	struct mapping mapping;
	bool has_device; /* that holds the header, or the data where --header says that they are
			    apart */
	struct device_facts device;
	bool detached, header_alone; /* the header is apart from the data; which are not known */
	bool backup;                 /* header_alone: by luksHeaderBackup */
	char target[4600];           /* what a command is to be told to work on it */
	struct plan_source source;
	bool has_plan, has_now;
	struct plan plan, now; /* what would be recommended; what the volume's own spec does */
	char mapping_reason[512], header_reason[512], plan_reason[512], now_reason[512],
		unlock_reason[512]; /* why something is not known, or "" */
	struct findings findings;
};

/* The spec that the header, or else the mapping, has; NULL where it is none that is known. */
const struct spec *inspection_spec(const struct inspection *in);

void inspection_text(const struct inspection *in);
int inspection_json(const struct inspection *in);

#endif
