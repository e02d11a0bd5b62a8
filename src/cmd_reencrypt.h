/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of `reencrypt`. */
#ifndef DMCT_CMD_REENCRYPT_H
#define DMCT_CMD_REENCRYPT_H

#include <time.h>

#include "cmd_key.h"
#include "cmd_plan.h"
#include "report/progress.h"
#include "volume/guard.h"
#include "volume/mapping.h"
#include "volume/reencrypt.h"

struct reencrypt_options {
	struct plan_options plan;
	struct key_options key;
	const char *header, *resilience;
	bool automatic, yes, dry_run, drop_keyslots;
};

/* What a run holds; released in one place. */
struct reencryption {
	const struct cmd_globals *globals;
	const struct reencrypt_options *options;
	const char *path;
	struct guard guard;         /* offline: it is held */
	struct device_facts device; /* online: what guard.device would be */
	bool online, resumed;
	bool left; /* all is done but the end of it, which libcryptsetup cannot make */
	char mapping[MAPPING_NAME_MAX];
	int header_fd;
	struct inspect header;
	struct plan_source source;
	struct plan plan, now;
	bool has_plan, has_now;
	struct spec spec; /* to be had; kind NULL: what is under way says */
	struct secret secret;
	struct progress progress;
	struct timespec begun;
	uint64_t first, done, size; /* bytes: at the first report, now, in all */
	uint64_t bytes;             /* of data */
	double seconds;             /* that it is expected to take; 0: not known */
	bool nothing, started, finished;
};

const struct device_facts *reencryption_device(const struct reencryption *r);

/* Finds out what it is, refuses what cannot be re-encrypted, and takes it for itself where it is
 * not open. 0 or -errno with *st. */
int reencryption_look(struct reencryption *r, struct status *st);

/* Which spec, what of it is refused, and what it will cost. 0 or -errno with *st. */
int reencryption_plan(struct reencryption *r, struct status *st);

/* Shows what will be done; then the end of it on standard output. */
void reencryption_show(const struct reencryption *r);
int reencryption_report(const struct reencryption *r);

#endif
