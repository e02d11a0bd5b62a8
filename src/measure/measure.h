/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was measured: the struct between measuring and deciding. All speeds in bytes per second. */
#ifndef DMCT_MEASURE_MEASURE_H
#define DMCT_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "facts/facts.h"
#include "spec/spec.h"

/* Layers, in order of trust for what dm-crypt will do. */
enum measure_engine {
	MEASURE_DM,
	MEASURE_AFALG,
	MEASURE_CPU,
	MEASURE_OPENSSL,
	MEASURE_ENGINE_COUNT
};

/* How a request's data go into the kernel (afalg). */
enum measure_path {
	MEASURE_COPY,  /* sendmsg(2): copied */
	MEASURE_SPLICE /* vmsplice(2) and splice(2): the pages themselves, where the kernel does */
};

/* A ratio of speeds by pairs of slices that were taken in the same round. */
struct measure_ratio {
	double ratio, low, high; /* the median, and its 95 % confidence interval */
	unsigned pairs;          /* 0: there is none */
};

/* One cell: spec (with sector size) × direction × request size × engine × tier × shape × threads ×
 * depth × path (afalg) × flags (dm). */
struct measure_result {
	struct spec spec;
	enum measure_engine engine;
	char tier[128]; /* cpu: the tier; afalg, dm: the kernel's driver where known; openssl: its
			   version; "" not known */
	enum engine_shape shape;
	enum engine_direction direction;
	uint64_t size; /* bytes a request: afalg one sector; dm a read or write, cpu and openssl a
			  call, of size / sector sectors; where the spec says no sector size, one
			  message with one IV */
	unsigned threads;
	enum measure_path path;
	unsigned depth; /* requests in flight at once, per thread: 1 but for dm and afalg */
	unsigned flags; /* dm: enum measure_flag (measure/flags.h) */
	char queue[12]; /* dm: how: "sync", "aio", "threads"; "" not known */

	/* When error_code is "": */
	double median, low, high; /* low and high: the quartiles of the slices */
	unsigned slices;          /* that the median is of; 0: not known */
	double roofline_share; /* of the CPU's AES rounds at that key size and thread count; 0 when
				  there is no roofline */
	struct measure_ratio to_roofline, to_best; /* best: the fastest cell of the same direction,
						      sector or message size and threads */
	double scaling; /* times the same cell on one thread; 0: not measured, or one thread */
	/*
	 * The output of one of the threads was compared before and after the timing, and agreed
	 * (of requests longer than 64 KiB the first, middle and last sectors): for specs that the
	 * engine has, byte for byte with the portable tier's; for others (Adiantum, Serpent …), of
	 * which there is no second implementation here, decryption undid encryption, no block was
	 * left as it was, and the sector number mattered. Of dm, whose writes are dropped, in both
	 * directions what the mapping decrypts zeros to was compared with the portable tier's (of
	 * longer requests the first 16 KiB); for other specs no block was left zero, and sectors
	 * differed.
	 */
	bool checked;

	char error_code[24]; /* else an errno's name ("ENOENT"), "mismatch" or "timeout" */
	char error_reason[200];
};

struct measure_roofline {
	unsigned bits, threads;
	double aes128, aes256; /* bytes per second; 0: could not be measured */
};

/* Something about the run that makes its numbers mean less. */
struct measure_condition {
	/* "one-cpu", "cpu-quota", "oversubscribed", "cpu-disable", "steal", "busy", "throttled",
	 * "budget", "noisy", "shared-aes-units" */
	char id[32];
	char message[200];
};

/* What encrypting several sectors at once brings on a tier: outside dm-crypt, which does not. */
struct measure_multi {
	struct spec spec;
	char tier[128];
	bool available;   /* the mode is serial within a sector: CBC. Others have nothing to gain;
			     and OpenSSL (tier: its version) does one sector after the other */
	unsigned from;    /* sectors in a call from which on it pays; 0: never, or not available */
	unsigned sectors; /* in a call of 64 KiB, */
	double gain;      /* and how many times as fast it is then; 0: not available */
};

/* AF_ALG's time for a request as a line: fixed_ns + size * per_byte_ns, over 512 bytes to 64 KiB.
 */
struct measure_fit {
	struct spec spec; /* without a sector size */
	enum engine_direction direction;
	enum measure_path path;
	unsigned depth, threads;
	char tier[128];
	unsigned points; /* sizes that it is of */
	double fixed_ns, per_byte_ns;
	double per_byte_low, per_byte_high; /* quartiles of the slopes between pairs of sizes */
	double error, worst; /* the median and the largest distance of a size's time from the line,
				as a share of that time */
};

struct measurement {
	struct measure_result *results;
	size_t n_results;
	struct measure_fit *fits;
	size_t n_fits;
	struct measure_result *crossings; /* of afalg without a cipher */
	size_t n_crossings;
	struct measure_roofline *rooflines;
	size_t n_rooflines;
	struct measure_multi *multis; /* of the cpu engine, and openssl's CBC under a MAC */
	size_t n_multis;
	struct measure_condition *conditions;
	size_t n_conditions;
	/*
	 * What this kernel takes, in seconds, for a turn of two threads (a byte there and a byte
	 * back: four system calls), for copying a byte to or from a program, and for a system call
	 * that does nothing. 0: not known.
	 */
	double handoff, copy, syscall;
	double seconds; /* that it took; 0 for saved ones that do not say */
};

void measurement_free(struct measurement *m);
/* Orders results by what they are of, for qsort(): 0 for the same cell, whatever its tier. */
int measure_order(const struct measure_result *x, const struct measure_result *y);
const char *measure_engine_name(enum measure_engine engine);
/* "copy", "splice". */
const char *measure_path_name(enum measure_path path);
/* By name, or -1. */
int measure_engine_find(const char *name);

/* What to measure. Arrays are the caller's. */
struct measure_request {
	const struct spec *specs; /* each with a sector size, or 0 for all of sectors[] */
	size_t n_specs;
	const unsigned *sectors; /* bytes */
	size_t n_sectors;
	const uint64_t *sizes; /* bytes a request; n_sizes 0: the default of each engine */
	size_t n_sizes;
	bool messages;  /* a spec without a sector size: each request is one message of its size */
	bool stream;    /* also one long message of afalg's for each spec without a sector size */
	bool fit;       /* also the messages that a fit of afalg's times needs, where the spec
			  says no sector size */
	bool crossing;  /* also afalg without a cipher (m->crossing) */
	unsigned paths; /* of afalg, bit 1 << MEASURE_x; 0: copy */
	unsigned engines;                       /* bit 1 << MEASURE_x */
	const struct engine_tier *const *tiers; /* of the cpu engine, each usable here */
	size_t n_tiers;
	unsigned shapes; /* bit 1 << ENGINE_x; multi is only measured where it differs */
	const unsigned *threads;
	size_t n_threads;
	/* 0, or a number of threads that the widest roofline is measured with too, beside one: what
	 * the CPUs' AES units do together. */
	unsigned roof_threads;
	const unsigned *flags; /* of the dm engine, sets; n_flags 0: none of them */
	size_t n_flags;
	const unsigned *depths; /* of the engines that have requests in flight; n_depths 0: one */
	size_t n_depths;
	double seconds; /* the whole budget, warm-up and checks included */
	bool contest;   /* only the fastest count: see sampler_options */
	double reserve; /* seconds more for a contest that is in doubt */
	size_t buffer;  /* bytes walked per thread; default 1 MiB when 0 */
	void (*progress)(void *arg, double fraction, const char *what); /* may be NULL */
	void *progress_arg;
};

/*
 * Measures; measurement_free() releases *m, also after a failure. Cells that cannot be measured
 * carry their reason and are no error. An engine that does not have a spec is left out where
 * another of the requested ones has it. Cells whose size the sector does not divide are left out.
 * Returns 0, -ENOMEM, -EINTR with *st (ST_SIGNAL + N) when a signal asked to stop, or another
 * -errno.
 */
int measure_run(struct measurement *m, const struct measure_request *request,
		const struct facts *facts, struct status *st);

#endif
