/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From facts and measurements to a plan. Pure: the same input gives the same output on any machine,
 * byte for byte.
 */
#ifndef DMCT_DECIDE_DECIDE_H
#define DMCT_DECIDE_DECIDE_H

#include "decide/policy.h"
#include "facts/device.h"
#include "facts/facts.h"
#include "measure/disk_speed.h"
#include "measure/measure.h"
#include "spec/candidates.h"

/* What the speeds in a plan rest on. */
enum plan_basis {
	PLAN_BASIS_DM,    /* dm-crypt itself, measured */
	PLAN_BASIS_AFALG, /* the kernel's ciphers through AF_ALG */
	PLAN_BASIS_CPU,   /* the in-process tier that mirrors the kernel's driver */
	PLAN_BASIS_FACTS  /* nothing measured: what is known of CPU and kernel */
};

struct plan_rejected {
	struct spec spec; /* with or without a sector size */
	double speed;     /* expected, where it was measured; else 0 */
	char reason[320];
};

struct plan_pbkdf {
	char type[16];               /* "argon2id", "argon2i", "pbkdf2" */
	char hash[32];               /* of PBKDF2, and of the anti-forensic splitter */
	uint64_t memory;             /* bytes; 0 for PBKDF2 */
	uint64_t iterations;         /* Argon2's time cost or PBKDF2's iterations; 0: a trial
					finds it */
	unsigned threads;            /* lanes; 0 for PBKDF2 */
	unsigned time_ms;            /* that an unlock is to take here; 0: the costs were given, and
					nothing was tried */
	uint64_t memory_bound;       /* bytes that Argon2 may take; 0 for PBKDF2 */
	const char *memory_bound_by; /* what sets that bound, or NULL */
	double predicted_ms;         /* of costs that were given, where they are so high that it was
					worth finding out; else 0 */
	char warning[240];           /* what speaks against costs that were given, or "" */
	double slower;               /* how many times slower the machine is that unlocks */
	char reason[440];
};

/* What the volume is for, beside holding data. */
enum plan_use {
	PLAN_FOR_ANY,
	PLAN_FOR_LVM,  /* a physical volume of LVM, with others in its group */
	PLAN_FOR_VM,   /* what virtual machines have as their disk */
	PLAN_FOR_GRUB, /* GRUB is to open it */
	PLAN_FOR_IMAGE /* an image that is carried from machine to machine */
};

/* One sector size of a candidate. */
struct plan_size {
	unsigned sector;
	bool allowed;
	char reason[192];        /* why not allowed, or why there is no figure; else "" */
	double encrypt, decrypt; /* as in struct plan_candidate */
	double speed, low, high;
};

/* What the figures are made with beside what was measured, in seconds; 0: not known, or not in
 * them. See decide/model.h. */
struct plan_arithmetic {
	unsigned threads;    /* of the cells that are compared */
	double noise_floor;  /* a share: smaller differences are never believed */
	double error;        /* a share that the model may be off by, for all alike */
	bool crossing_known; /* of AF_ALG, which is taken off */
	double crossing, call, handover, per_sector, copy; /* copy: of a byte */
	double turns[2];                                   /* hand-overs a request, by direction */
};

/* A candidate as the decision saw it: every number that it went by. */
struct plan_candidate {
	struct spec spec;        /* with a sector size where it has one */
	const char *state;       /* "chosen", "beaten", "less-preferred", "not-measured",
				    "not-admitted", "no-sector-size" */
	double encrypt, decrypt; /* bytes per second; 0: not measured */
	double speed, low, high; /* mixed by the read share; low and high bound what is compared */
	double margin;           /* what the class asks for; 0: never taken */
	double rare;             /* and what a rare cipher does, beside that */
	double volume;           /* what the volume can do: all CPUs, capped by the disk */
	double cpus;             /* CPUs busy at the disk's full speed; 0: not known */
	struct spec beaten_by;   /* kind NULL: by nobody */
	struct plan_size sizes[4]; /* of one that is admitted */
	size_t n_sizes;
};

/* The disk's part. */
struct plan_disk {
	struct disk_speed speed;
	unsigned cpus; /* that may work for it */
	double worth;  /* and CPUs' worth of time that they get: less where there is a quota */
	double needed; /* CPUs busy at the disk's full speed with the chosen cipher; 0: not known */
	bool limits;   /* slower than every admissible cipher on those CPUs */
};

/* Requests in flight at which flags must not cost anything. */
#define PLAN_FLAGS_DEPTH 8

#define PLAN_DATA_OFFSET                                                                           \
	(16ULL << 20) /* bytes: where data begins after a LUKS2 header of the usual size */

struct plan {
	struct spec spec; /* with a sector size */
	unsigned strength;
	enum plan_basis basis;
	double speed, low,
		high; /* expected throughput, bytes per second; 0 when nothing was measured */
	double encrypt, decrypt; /* its two directions */
	char reasons[24][480];
	size_t n_reasons;
	struct plan_rejected *rejected;
	size_t n_rejected;
	struct plan_pbkdf pbkdf;
	const char *
		flags[8]; /* dm-crypt flags, cryptsetup's spelling without dashes; static strings */
	size_t n_flags;
	struct plan_flag {
		const char *name;    /* as in flags[] */
		double one, several; /* times as fast with it, by requests in flight */
		bool sure;           /* quartiles apart with one in flight */
		bool set;
	} flag_figures[2]; /* of those that were measured */
	size_t n_flag_figures;
	uint64_t data_offset; /* bytes */
	char summary[900];    /* what, why, how sure, what would change it */
	struct plan_candidate *candidates;
	size_t n_candidates;
	struct plan_disk disk;
	struct plan_arithmetic arithmetic;
	uint64_t wipe_bytes; /* that must be written once before use; 0: none */
	enum plan_use use;
	bool luks1;         /* the volume is to be LUKS1; set by who asks for that */
	bool no_wipe;       /* of a volume with an integrity mode; set by who asks for that */
	const char *target; /* where the path of a described machine's device leads, which is not
			       to be looked up here; else NULL */
	bool rotates;       /* the disk, as far as is known */
	const char *header; /* where a detached header goes, or NULL; set by who asks for that */
};

/* What the user said of the password hash; 0 or NULL where nothing. */
struct plan_pbkdf_wish {
	const char *type;
	uint64_t memory; /* bytes, an upper limit */
	uint64_t iterations;
	unsigned threads;
	unsigned time_ms;
	uint64_t unlock_memory;  /* of the machine that will unlock, bytes; 0: this one's */
	unsigned unlock_time_ms; /* that an unlock may take there; 0: not said */
	double slower;           /* how many times slower it is; 0: not said */
};

/* Where the volume's data are to begin, as far as the user says it. */
struct plan_place {
	bool luks1;
	bool detached;   /* the header stands elsewhere: data begin at byte 0 unless said */
	bool given;      /* `offset` is said */
	uint64_t offset; /* bytes */
};

struct decide_input {
	const struct facts *facts;
	const struct measurement *measurement; /* NULL: nothing was measured */
	const struct device_facts *device;     /* NULL: no device named */
	const struct policy *policy;
	const struct spec *wanted; /* a spec the user insists on (sector 0: choose), or NULL */
	unsigned sector;           /* a sector size the user insists on, or 0 */
	enum plan_use use;
	const char *integrity; /* an integrity mode asked for ("" for any), or NULL */
	bool discards;         /* were asked for */
	struct plan_place place;
	const struct disk_speed *disk; /* NULL: not measured */
	struct plan_pbkdf_wish pbkdf;
};

/*
 * Makes the plan; plan_free() releases it, also after a failure. Errors, with *st: a wanted sector
 * size that the device cannot have or a spec that the policy forbids (ST_REFUSED), a device too
 * small (ST_DEVICE), no admissible candidate (ST_MISSING), -ENOMEM.
 */
int decide_plan(struct plan *plan, const struct decide_input *input, struct status *st);
/*
 * Sets the flags of a plan that rests on dm-crypt from figures of its spec with and without work
 * queues, at that number of threads, and says why; none, and no word, where there are no such
 * figures. decide_plan() does it with its input's.
 */
void decide_flags(struct plan *plan, const struct measurement *m, unsigned threads);
void plan_free(struct plan *plan);
const char *plan_basis_name(enum plan_basis basis);
const char *plan_use_name(enum plan_use use);
/* By name ("lvm"), or -1; PLAN_FOR_ANY has none. */
int plan_use_find(const char *name);

/*
 * The tier of the in-process engine that does AES as the kernel would for that algorithm: never a
 * faster one, but see the next. The generic one when the driver is not known.
 */
const char *decide_mirror_tier(const struct kernel_facts *kernel, const char *kernel_name);
/* Whether that tier is faster than the driver all the same: only for one in fixed time. */
bool decide_mirror_is_faster(const struct kernel_facts *kernel, const char *kernel_name);

/*
 * Where data begins on that device (NULL: any), in bytes: where the place says it; else at 0 with a
 * detached header, and otherwise at 16 MiB, or the next multiple of the device's optimal I/O size
 * (a RAID's stripe) where that is sane.
 */
uint64_t decide_data_offset(const struct device_facts *device, const struct plan_place *place);
/* Whether the optimal I/O size is one to align to: a multiple of 4096, 16 MiB at most. USB bridges
 * and some disks claim 65535 blocks. */
bool decide_optimal_io_sane(const struct device_facts *device);

/* The largest sector size that an AES-XTS volume could have there, 512 at least; device may be
 * NULL. */
unsigned decide_largest_sector(const struct facts *facts, const struct device_facts *device);

/* Whether the device (NULL: none) has room for a volume: 0, or -ENOSPC with *st (ST_DEVICE). What
 * decide_plan() begins with, to be known before time is spent on measuring. */
int decide_check_device(const struct device_facts *device, const struct plan_place *place,
			struct status *st);

/* The data area's length in bytes after a header of data_offset; 0 when the device is too small. */
uint64_t decide_data_length(const struct device_facts *device, uint64_t data_offset);

#endif
