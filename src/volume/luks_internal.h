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
};

/* Makes a context on path; luks_end() frees it. 0 or -errno. */
int luks_begin(struct crypt_device **cd, struct luks_log *log);
void luks_end(struct crypt_device *cd);

/* Has libcryptsetup's messages outside a context go to log, or nowhere (NULL). */
void luks_log_to(struct luks_log *log);

/* libcryptsetup's complaint, or the errno's text where it made none: with a full stop. */
const char *luks_words(struct luks_log *log, int err);

/* Whether libcryptsetup does that cipher itself, without the kernel's. */
bool luks_in_user_space(const struct spec *spec);

/* What a failure of Argon2 that names no cause may come from. */
#define LUKS_ARGON2_HINT "(Argon2's threads may not be allowed: ulimit -u, or a cgroup's pids.max.)"

/* What keyslots of a volume with this spec are encrypted with; *key_bits gets the key size. */
const char *luks_keyslot_cipher(const struct spec *spec, char buf[SPEC_TEXT_MAX],
				unsigned *key_bits);

/* The persistent activation flags that the plan's names stand for. */
uint32_t luks_flags(const struct plan *plan);

/*
 * Wipes every signature that libblkid finds at or beyond `from`: what a LUKS2 header of that length
 * has not overwritten, such as the second copy of a GPT or an MD superblock. Returns 0, -errno, or
 * -EIO when one would not go; its name then is in what (size bytes).
 */
int luks_wipe_stale(int fd, uint64_t from, char *what, size_t size);

#endif
