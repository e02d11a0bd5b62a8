/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the volume stage share of libcryptsetup. */
#ifndef DMCT_VOLUME_LUKS_INTERNAL_H
#define DMCT_VOLUME_LUKS_INTERNAL_H

#include <libcryptsetup.h>

#include "volume/luks.h"

/* libcryptsetup's messages, collected instead of printed. */
struct luks_log {
	const char *path; /* what it was told to open, … */
	const char *name; /* … and what the user calls that */
	char text[512];   /* its complaints, one after the other */
	bool explain;     /* where it only says that validation failed, add what it disliked: needs
			     CRYPT_DEBUG_ALL */
	char last[256];   /* its last remark, for that */
};

/* Makes a context on path; luks_end() frees it. 0 or -errno. */
int luks_begin(struct crypt_device **cd, struct luks_log *log);
/* The same on another path than the one that the log names. */
int luks_begin_on(struct crypt_device **cd, const char *path, struct luks_log *log);
void luks_end(struct crypt_device *cd);
/* Has a context's messages go to log. */
void luks_log_of(struct crypt_device *cd, struct luks_log *log);

/* Has libcryptsetup's messages outside a context go to log, or nowhere (NULL). */
void luks_log_to(struct luks_log *log);

/* libcryptsetup's complaint, or the errno's text where it made none: with a full stop. */
const char *luks_words(struct luks_log *log, int err);

/* Whether libcryptsetup does that cipher itself, without the kernel's. */
bool luks_in_user_space(const struct spec *spec);

/* What a failure of Argon2 that names no cause may come from. */
#define LUKS_ARGON2_HINT "(Argon2's threads may not be allowed: ulimit -u, or a cgroup's pids.max.)"

/* A file in memory of that size; its name goes to path. A descriptor or -errno. */
int luks_memory_file(uint64_t size, char path[32]);

/*
 * crypt_format() of the request, in cd. data: the path of the data device, or NULL where that is
 * the context's own; with an integrity mode dm-integrity's metadata are made on it. As
 * crypt_format().
 */
int luks_format_header(struct crypt_device *cd, const struct luks_request *request,
		       const char *data);

/* LUKS2's name of a kind's integrity mode, "hmac(sha256)"; NULL without one. */
const char *luks_integrity(const struct spec_kind *kind);

/* The persistent activation flags that the plan's names stand for. */
uint32_t luks_flags(const struct plan *plan);

#define LUKS1_SLOTS 8

/* Up to where the header area goes on to the data: room for alignment to any stripe. */
#define LUKS_TOGETHER (2 * PLAN_DATA_OFFSET)

/* Whether header and data are two files in memory: libcryptsetup blanks all before the data, and
 * that may be more than there is memory. */
bool luks_apart(const struct plan *plan);

/* Runs it, where there is one; takes the change back where that changed nothing. */
int luks_between(struct guard *guard, const struct change *change, struct luks_between *between,
		 struct status *st);

/* After a write that failed: takes back what was written of the change, and says in *st what state
 * the device is in. Returns err. */
int luks_take_back(struct guard *guard, const struct change *change, int err, const char *step,
		   const char *undo_file, struct status *st);

/*
 * Holds the header in the descriptor `copy` (a memfd, which it changes) against the request, each
 * of its copies alone, and opens the keyslot with the secret where one is given; the volume key
 * goes to *key (NULL: not wanted). Fills *header. 0, or -errno with *st.
 */
int luks_check_copy(struct luks_header *header, int copy, const struct luks_request *request,
		    const struct secret *secret, struct secret *key, const char *name,
		    struct status *st);

#endif
