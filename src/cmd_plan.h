/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `recommend` and `format` share: the options of a plan, and the way from facts to a plan. */
#ifndef DMCT_CMD_PLAN_H
#define DMCT_CMD_PLAN_H

#include <json.h>

#include "cmd.h"
#include "decide/decide.h"

struct plan_options {
	const char *policy;
	const char *cipher;    /* a spec or a cipher that the user insists on */
	uint64_t key_size;     /* bits; 0: not given */
	uint64_t sector_size;  /* bytes; 0: not given */
	const char *pbkdf;     /* type, or NULL */
	uint64_t pbkdf_memory; /* KiB, as cryptsetup has it; 0: not given */
	uint64_t pbkdf_parallel;
	uint64_t pbkdf_iterations;
	uint64_t iter_time; /* ms; 0: not given */
	uint64_t time_ms;   /* for measuring */
	const char *from;   /* saved results, or NULL */
};

/*
 * The options' table entries, for use inside a command's own table: PLAN_OPTIONS(struct
 * format_options, plan) where `plan` is the member of type struct plan_options. Keeps both
 * commands' options the same.
 */
#define PLAN_OPTION(type, member, field)                                                           \
	(offsetof(type, member) + offsetof(struct plan_options, field))
#define PLAN_OPTIONS(type, member)                                                                 \
	{"cipher",                                                                                 \
	 'c',                                                                                      \
	 OPT_STRING,                                                                               \
	 "SPEC",                                                                                   \
	 PLAN_OPTION(type, member, cipher),                                                        \
	 0,                                                                                        \
	 0,                                                                                        \
	 "Insist on this cipher, e.g. aes-xts-plain64/512 or\naes-cbc-essiv:sha256; the rest is "  \
	 "still chosen."},                                                                         \
		{"key-size",                                                                       \
		 's',                                                                              \
		 OPT_UINT,                                                                         \
		 "BITS",                                                                           \
		 PLAN_OPTION(type, member, key_size),                                              \
		 8,                                                                                \
		 4096,                                                                             \
		 "Insist on this key size in bits (XTS: 512 is AES-256)."},                        \
		{"sector-size",                                                                    \
		 0,                                                                                \
		 OPT_UINT,                                                                         \
		 "BYTES",                                                                          \
		 PLAN_OPTION(type, member, sector_size),                                           \
		 512,                                                                              \
		 4096,                                                                             \
		 "Insist on this encryption sector size."},                                        \
		{"policy",                                                                         \
		 0,                                                                                \
		 OPT_STRING,                                                                       \
		 "NAME",                                                                           \
		 PLAN_OPTION(type, member, policy),                                                \
		 0,                                                                                \
		 0,                                                                                \
		 "balanced (default), performance, strict or fips."},                              \
		{"pbkdf",                                                                          \
		 0,                                                                                \
		 OPT_STRING,                                                                       \
		 "TYPE",                                                                           \
		 PLAN_OPTION(type, member, pbkdf),                                                 \
		 0,                                                                                \
		 0,                                                                                \
		 "argon2id, argon2i or pbkdf2."},                                                  \
		{"pbkdf-memory",                                                                   \
		 0,                                                                                \
		 OPT_UINT,                                                                         \
		 "KIB",                                                                            \
		 PLAN_OPTION(type, member, pbkdf_memory),                                          \
		 32,                                                                               \
		 4194304,                                                                          \
		 "Memory cost limit of Argon2 in KiB."},                                           \
		{"pbkdf-parallel",                                                                 \
		 0,                                                                                \
		 OPT_UINT,                                                                         \
		 "N",                                                                              \
		 PLAN_OPTION(type, member, pbkdf_parallel),                                        \
		 1,                                                                                \
		 4,                                                                                \
		 "Parallel cost of Argon2."},                                                      \
		{"pbkdf-force-iterations",                                                         \
		 0,                                                                                \
		 OPT_UINT,                                                                         \
		 "N",                                                                              \
		 PLAN_OPTION(type, member, pbkdf_iterations),                                      \
		 4,                                                                                \
		 4294967295,                                                                       \
		 "This time cost, without a benchmark."},                                          \
		{"iter-time",                                                                      \
		 'i',                                                                              \
		 OPT_UINT,                                                                         \
		 "MS",                                                                             \
		 PLAN_OPTION(type, member, iter_time),                                             \
		 1,                                                                                \
		 3600000,                                                                          \
		 "What an unlock is to take here (default 2000)."},                                \
	{                                                                                          \
		"time", 0, OPT_UINT, "MS", PLAN_OPTION(type, member, time_ms), 50, 3600000,        \
			"Measure for this long (default 1500)."                                    \
	}

/* What a plan was made from; plan_source_free() releases it. The plan's pointers reach into it. */
struct plan_source {
	struct facts facts;
	struct measurement measurement;
	bool measured;
	struct spec wanted;
};

/*
 * Probes, measures (or loads --from; or neither under --sysroot), decides, and settles the PBKDF's
 * costs where that may be measured. device may be NULL. Errors with *st as the stages have them.
 * plan_free() and plan_source_free() release both, also after a failure.
 */
int cmd_plan_make(struct plan *plan, struct plan_source *source, const struct cmd_globals *globals,
		  const struct plan_options *options, const struct device_facts *device,
		  struct status *st);
void plan_source_free(struct plan_source *source);

/* The plan as the recommend.v1 object has it (choice, reasons, rejected, pbkdf, flags,
 * cryptsetup_argv, crypttab). */
void cmd_plan_json(struct json_object *obj, const struct plan *plan, const char *device,
		   const char *label);
/* The plan for a person: the choice, why, how sure, the command line that says the same. */
void cmd_plan_text(const struct plan *plan, const char *device, const char *label);

#endif
