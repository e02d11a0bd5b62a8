/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `recommend` and `format` share: the options of a plan, and the way from facts to a plan. */
#ifndef DMCT_CMD_PLAN_H
#define DMCT_CMD_PLAN_H

#include <json.h>
#include <stdio.h>

#include "cmd.h"
#include "decide/decide.h"
#include "measure/saved.h"

struct plan_options {
	const char *policy;
	const char *cipher;        /* a spec or a cipher that the user insists on */
	uint64_t key_size;         /* bits; 0: not given */
	uint64_t sector_size;      /* bytes; 0: not given */
	const char *pbkdf;         /* type, or NULL */
	uint64_t pbkdf_memory;     /* KiB, as cryptsetup has it; 0: not given */
	uint64_t pbkdf_parallel;   /* 0: not given */
	uint64_t pbkdf_iterations; /* 0: not given */
	uint64_t iter_time;        /* ms; 0: not given */
	double time;               /* seconds to measure for; PLAN_TIME_NONE: the default */
	const char *from;          /* saved results, or NULL */
	const char *config;        /* a policy file, or NULL: the system's */
	const char *use;           /* --for: lvm, vm, grub, image, or NULL */
	const char *integrity;     /* a mode's name, "any", or NULL */
	uint64_t min_strength;     /* bits; 0: not given */
	const char *unlock_memory; /* a size, or NULL */
	uint64_t unlock_time;      /* ms; 0: not given */
	double unlock_slower;      /* times; 0: not given */
	const char *device_speed;  /* measure, skip, MB/s, or NULL */
	bool allow_discards, explain;
	struct plan_place place; /* no option of recommend */
	const struct spec
		*also; /* no option: measured beside the candidates, for cmd_plan_judge() */
};

#define PLAN_TIME_NONE (-1)
/* What a struct plan_options begins as. */
#define PLAN_DEFAULTS                                                                              \
	{                                                                                          \
		.time = PLAN_TIME_NONE                                                             \
	}

/*
 * The options' entries for a command's own table: PLAN_OPTIONS(struct format_options, plan), where
 * `plan` is the member of type struct plan_options. Keeps both commands' options the same.
 */
#define PLAN_OPTION(type, member, field)                                                           \
	(offsetof(type, member) + offsetof(struct plan_options, field))
/* clang-format off */
#define PLAN_OPTIONS(type, member) \
	{ "cipher", 'c', OPT_STRING, "SPEC", PLAN_OPTION(type, member, cipher), 0, 0, \
	  "Insist on this cipher, e.g. aes-xts-plain64/512 or\naes-cbc-essiv:sha256; the rest is still chosen." }, \
	{ "key-size", 's', OPT_UINT, "BITS", PLAN_OPTION(type, member, key_size), 1, 4096, \
	  "With --cipher: its key size in bits (XTS: 512 is\nAES-256)." }, \
	{ "sector-size", 0, OPT_UINT, "BYTES", PLAN_OPTION(type, member, sector_size), 1, 65536, \
	  "Insist on this encryption sector size: 512, 1024,\n2048 or 4096." }, \
	{ "policy", 0, OPT_STRING, "NAME", PLAN_OPTION(type, member, policy), 0, 0, \
	  "balanced (default), performance, strict or fips." }, \
	{ "pbkdf", 0, OPT_STRING, "TYPE", PLAN_OPTION(type, member, pbkdf), 0, 0, \
	  "Password hash: argon2id (default), argon2i or pbkdf2." }, \
	{ "pbkdf-memory", 0, OPT_UINT, "KIB", PLAN_OPTION(type, member, pbkdf_memory), 32, 4194304, \
	  "Memory that Argon2 may take, in KiB." }, \
	{ "pbkdf-parallel", 0, OPT_UINT, "N", PLAN_OPTION(type, member, pbkdf_parallel), 1, 4, \
	  "Threads that Argon2 may use." }, \
	{ "pbkdf-force-iterations", 0, OPT_UINT, "N", PLAN_OPTION(type, member, pbkdf_iterations), 4, 2147483647, \
	  "Time cost of the password hash, without a benchmark." }, \
	{ "iter-time", 'i', OPT_UINT, "MS", PLAN_OPTION(type, member, iter_time), 1, 3600000, \
	  "What an unlock is to take here (default 2000)." }, \
	{ "time", 0, OPT_REAL, "SECONDS", PLAN_OPTION(type, member, time), 0, 3600, \
	  "Measure the ciphers for this long (default 1.2, at\nleast 0.2)." }, \
	{ "from", 0, OPT_STRING, "FILE", PLAN_OPTION(type, member, from), 0, 0, \
	  "Decide on the results that bench --save or --json\nwrote (-: standard input), and measure nothing." }, \
	{ "config", 0, OPT_STRING, "FILE", PLAN_OPTION(type, member, config), 0, 0, \
	  "Read the policy's numbers from FILE (default:\n" SYSCONFDIR "/dmcrypt-tune.conf)." }, \
	{ "for", 0, OPT_STRING, "USE", PLAN_OPTION(type, member, use), 0, 0, \
	  "What the volume is for: lvm, vm, grub or image." }, \
	{ "integrity", 0, OPT_STRING, "MODE", PLAN_OPTION(type, member, integrity), 0, 0, \
	  "A cipher that notices changes: any, aead,\nhmac-sha256 or poly1305. It takes the\nwhole device to be written once." }, \
	{ "min-strength", 0, OPT_UINT, "BITS", PLAN_OPTION(type, member, min_strength), 128, 256, \
	  "Take no cipher of less strength." }, \
	{ "unlock-memory", 0, OPT_STRING, "SIZE", PLAN_OPTION(type, member, unlock_memory), 0, 0, \
	  "Memory of the machine that will unlock, e.g. 512M." }, \
	{ "unlock-time", 0, OPT_UINT, "MS", PLAN_OPTION(type, member, unlock_time), 1, 3600000, \
	  "What an unlock may take on that machine." }, \
	{ "unlock-slower", 0, OPT_REAL, "TIMES", PLAN_OPTION(type, member, unlock_slower), 1, 1000, \
	  "How many times slower than this one that machine is\n(default 1)." }, \
	{ "device-speed", 0, OPT_STRING, "WHAT", PLAN_OPTION(type, member, device_speed), 0, 0, \
	  "The disk's own speed: measure (default, by reading\nfor 0.3 seconds), skip, or a number of MB/s." }, \
	{ "allow-discards", 0, OPT_FLAG, NULL, PLAN_OPTION(type, member, allow_discards), 0, 0, \
	  "Pass discards (TRIM) on to the disk, which then shows\nwhich blocks are in use." }, \
	{ "explain", 0, OPT_FLAG, NULL, PLAN_OPTION(type, member, explain), 0, 0, \
	  "Add the arithmetic: margins with their reasons, and\nevery candidate's figures." }
/* clang-format on */

/* What a plan is made from; plan_source_free() releases it. The plan points into it. */
struct plan_source {
	struct facts facts;
	struct measurement measurement;
	bool measured;
	struct policy numbers; /* the policy, as the file and the options leave it */
	const struct policy *policy;
	const char *config; /* the policy file that was read, or NULL */
	size_t by_option;   /* 1 + the offset in struct policy of the number that an option set; 0:
			       none */
	struct spec wanted;
	bool has_wanted;
	enum plan_use use;
	const char *integrity; /* "" for any, or NULL */
	uint64_t unlock_memory;
	enum plan_disk_wish {
		PLAN_DISK_DEFAULT, /* measure, where there is a disk */
		PLAN_DISK_MEASURE,
		PLAN_DISK_SKIP,
		PLAN_DISK_GIVEN
	} disk_wish;
	double disk_given; /* bytes per second */
	struct disk_speed disk;
	bool has_disk;
	struct saved_device saved;         /* of --from */
	const struct device_facts *device; /* that was decided for, or NULL */
	bool explain;
};

#define PLAN_SAVED_SCHEMA "dmcrypt-tune.bench.v1"

/*
 * Checks the options' words (policy and its file, cipher, key and sector size, password hash,
 * contradictions) before anything is opened or measured. described: nothing is to be measured
 * (--from, --sysroot). 0, or -EINVAL with *st (ST_USAGE).
 */
int cmd_plan_check(const struct plan_options *options, bool described, struct status *st);
/* The same, and keeps what they say in *source. */
int cmd_plan_parse(struct plan_source *source, const struct plan_options *options, bool described,
		   struct status *st);

/* Checks a label for a LUKS2 header: its length, no control characters, UTF-8. `option` names it.
 * 0, or -EINVAL with *st (ST_USAGE). */
int cmd_plan_label(const char *option, const char *label, struct status *st);

/*
 * Probes, measures (or loads --from; neither under --sysroot), decides, and settles the password
 * hash's costs where that may be measured. device may be NULL. Errors with *st as the stages have
 * them. plan_free() and plan_source_free() release both, also after a failure.
 */
int cmd_plan_make(struct plan *plan, struct plan_source *source, const struct cmd_globals *globals,
		  const struct plan_options *options, const struct device_facts *device,
		  struct status *st);
/*
 * What a plan for just that spec, with its sector size, would be on the same measurements, whatever
 * the policy holds of it; the device is left out of it. As decide_plan().
 */
int cmd_plan_judge(struct plan *plan, const struct plan_source *source, const struct spec *spec,
		   struct status *st);
void plan_source_free(struct plan_source *source);

/* Writes what the plan was made from, as `bench --save` does, with the disk, for --from. */
int cmd_plan_save(const struct plan_source *source, const char *path, struct status *st);
struct json_object *cmd_plan_disk_json(const struct disk_speed *disk);

/*
 * The measuring of cmd_plan_make(): what a choice needs and no more, within about `seconds`.
 * dm-crypt itself where this process may make mappings, else the kernel's own ciphers where AF_ALG
 * can be had, else the in-process tiers that stand for them. Fills source->measurement.
 */
int cmd_plan_measure(struct plan_source *source, const struct cmd_globals *globals,
		     const struct plan_options *options, const struct device_facts *device,
		     double seconds, struct status *st);

/* Whether anything of it could be measured. */
bool cmd_plan_any_figure(const struct measurement *m);

/*
 * The second stage, for a plan that rests on dm-crypt: measures the choice without and with its
 * work queues, and sets the plan's flags.
 */
int cmd_plan_flags(struct plan *plan, const struct plan_source *source,
		   const struct cmd_globals *globals, double seconds, struct status *st);

/*
 * The plan as the recommend.v1 object has it: choice, reasons, rejected, pbkdf, flags,
 * cryptsetup_argv, crypttab and more. device and label may be NULL; uuid is NULL before there is
 * one.
 */
void cmd_plan_json(struct json_object *obj, const struct plan *plan,
		   const struct plan_source *source, const char *device, const char *label,
		   const char *uuid);
/* The plan for a person: the choice and why; and, whole, what was not taken and the command line
 * that does the same. */
void cmd_plan_text(FILE *out, const struct plan *plan, const struct plan_source *source,
		   const char *device, const char *label, bool whole);

/* The arithmetic behind it, for --explain. */
void cmd_plan_explain(FILE *out, const struct plan *plan, const struct plan_source *source);

#define CMD_ARGV_MAX 48

/* An argument vector; its strings are its own. */
struct cmd_argv {
	char *words[CMD_ARGV_MAX + 1];
	size_t n;
};

/* cryptsetup's luksFormat, and the open that makes the plan's flags persistent (no words where
 * there are none), with everything that the plan says. device and label may be NULL.
 * cmd_argv_free() releases the words. */
void cmd_plan_argv(struct cmd_argv *argv, const struct plan *plan, const char *device,
		   const char *label);
void cmd_plan_flags_argv(struct cmd_argv *argv, const struct plan *plan, const char *device);
void cmd_argv_free(struct cmd_argv *argv);

/* What keeps a path from being taken for an option: "./" or "". */
const char *cmd_path_prefix(const char *path);

#define CMD_MAPPING_NAME_MAX 80

/* The mapping's name: "luks-" and the device's last component, or the UUID, with nothing in it that
 * /dev/mapper or a blank-separated file minds. */
void cmd_mapping_name(char buf[CMD_MAPPING_NAME_MAX], const char *device);

/*
 * The line of /etc/crypttab that opens the volume, for the caller to free: by UUID, or, with a NULL
 * uuid (there is none yet, or an image file, which no UUID leads to), by path. NULL when out of
 * memory, or when no line can hold a path; *why, to be freed, then says so in words, else NULL.
 */
char *cmd_crypttab(const struct plan *plan, const char *device, const char *uuid, char **why);
/* Prints that, or "no line: " and why. */
void cmd_print_crypttab(FILE *out, const struct plan *plan, const char *device, const char *uuid);

/* The tier that stands for the kernel's driver of an algorithm, or the next slower one that
 * --cpu-disable leaves. */
const struct engine_tier *cmd_mirror_tier(const struct facts *facts, const char *kernel);

/* Prints a word as a shell takes it: quoted where it holds anything but what is safe everywhere,
 * and as $'…' (POSIX 2024) where it holds control characters. */
void cmd_shell_word(FILE *out, const char *word);
/* The same for a path as an operand, which must not be taken for an option. */
void cmd_shell_path(FILE *out, const char *path);

#endif
