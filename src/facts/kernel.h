/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel has for disk encryption: ciphers and their drivers, AF_ALG, device-mapper and
 * dm-crypt. */
#ifndef DMCT_FACTS_KERNEL_H
#define DMCT_FACTS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "facts/cpu.h"

/* One entry of /proc/crypto. */
struct kernel_driver {
	char name[128];   /* the algorithm: "xts(aes)" */
	char driver[128]; /* the implementation: "xts-aes-aesni" */
	char module[64];
	char type[24]; /* skcipher, lskcipher, cipher, aead, shash, … */
	int priority;
	bool internal; /* only for other drivers to build on; in FIPS mode also: not approved */
	bool async;
	bool selftest_passed; /* or the kernel has no self-tests to speak of; unknown is not usable
			       */
	unsigned min_keysize, max_keysize, ivsize; /* bytes; 0 where the entry has none */
};

/* What became of asking AF_ALG for an algorithm. */
struct kernel_attempt {
	char name[64]; /* "xts(aes)" */
	bool tried;    /* false: AF_ALG is not to be had, or hides ciphers by sysctl, or --sysroot:
			  nothing is known */
	bool available;
	int error; /* errno, or 0 */
	char reason[160];
};

/* The algorithms that kernel_probe() asks about, by the kernel's names; NULL-terminated. */
extern const char *const kernel_algorithms[];

struct kernel_af_alg {
	bool available;     /* a socket could be made */
	int error;          /* errno of socket(2) when not */
	int restrict_level; /* /proc/sys/crypto/af_alg_restrict; -1 when there is no such file */
	char reason[160];   /* why not, or "" */
	struct kernel_attempt *attempts; /* one for each of kernel_algorithms[] */
	size_t n;
};

struct kernel_dm {
	bool available;      /* dm-crypt mappings can be made here and now by this process */
	bool denied;         /* it is there, but not for this process */
	char reason[200];    /* why not, or "" */
	unsigned version[3]; /* of the crypt target; all 0 when not known */
	const char *
		features[16]; /* what that version can do: "no_read_workqueue", …; static strings */
	size_t n;
};

struct kernel_facts {
	char release[128];             /* "" when not known */
	int fips;                      /* 1 in FIPS mode, 0 not */
	bool listed;                   /* /proc/crypto could be read */
	struct kernel_driver *drivers; /* all of /proc/crypto, in file order */
	size_t n_drivers;
	int modules; /* whether its modules are installed: 1, 0, or -1 not known */
	struct kernel_af_alg af_alg;
	struct kernel_dm dm;
};

/*
 * Fills *facts; kernel_facts_free() releases it, also after a failure. root: see util/sysfile.h;
 * with a root nothing is tried, only read. Trying an algorithm may make the kernel load its module,
 * as a mapping would. No device node is made and no message printed. Returns 0 or -ENOMEM.
 */
int kernel_probe(struct kernel_facts *facts, const char *root);
void kernel_facts_free(struct kernel_facts *facts);

/* Reads /proc/crypto alone, as it is now, into a zeroed *facts, for kernel_driver_for(). 0 or
 * -ENOMEM. */
int kernel_drivers_read(struct kernel_facts *facts);

/* Sets the crypt target's version and what it can do. */
void kernel_dm_set_version(struct kernel_dm *dm, const unsigned version[3]);

/*
 * The entry that the kernel picks when dm-crypt asks for `name` (skcipher or lskcipher; "aead" for
 * names of AEADs alone): highest priority among those that passed their self-test and are not
 * internal, the earlier entry on a tie. NULL: none listed.
 */
const struct kernel_driver *kernel_driver_for(const struct kernel_facts *facts, const char *name);

/* Whether `name` is listed, but by entries alone that have not passed their self-test. */
bool kernel_untested(const struct kernel_facts *facts, const char *name);

/* What AF_ALG said of an algorithm, or NULL when it is none of kernel_algorithms[]. */
const struct kernel_attempt *kernel_attempt_for(const struct kernel_facts *facts, const char *name);

/* How a driver does AES, as far as its name says. */
enum kernel_aes_kind {
	KERNEL_AES_UNKNOWN, /* not said: a hardware engine, a driver of a later day */
	KERNEL_AES_GENERIC, /* C or scalar assembly with table look-ups: no AES instructions */
	KERNEL_AES_FIXED,   /* C in fixed time: much slower than with tables */
	KERNEL_AES_SIMD,    /* bit-sliced vectors without AES instructions (neonbs, vpaes) */
	KERNEL_AES_CPU,     /* the CPU's AES instructions, 128 bits wide */
	KERNEL_AES_VAES256, /* VAES on 256-bit registers */
	KERNEL_AES_VAES512  /* VAES on 512-bit registers */
};

/*
 * How the kernel would do `name` ("xts(aes)"): from the driver that it would pick, or, where none
 * is instantiated yet, from the best driver of the block cipher ("aes") that its template would be
 * built on. Exact name tokens, no list of drivers. *driver (may be NULL) gets the name it was read
 * off, or NULL.
 */
enum kernel_aes_kind kernel_aes_kind(const struct kernel_facts *facts, const char *name,
				     const char **driver);

#endif
