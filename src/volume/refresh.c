// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/refresh.h"

#include <errno.h>
#include <string.h>

#include "measure/flags.h"
#include "volume/luks_internal.h"

static const struct {
	unsigned ours;
	uint32_t theirs;
} pairs[] = {
	{MEASURE_NO_READ_WORKQUEUE, CRYPT_ACTIVATE_NO_READ_WORKQUEUE},
	{MEASURE_NO_WRITE_WORKQUEUE, CRYPT_ACTIVATE_NO_WRITE_WORKQUEUE},
	{MEASURE_SAME_CPU_CRYPT, CRYPT_ACTIVATE_SAME_CPU_CRYPT},
	{MEASURE_SUBMIT_FROM_CRYPT_CPUS, CRYPT_ACTIVATE_SUBMIT_FROM_CRYPT_CPUS},
#ifdef CRYPT_ACTIVATE_HIGH_PRIORITY
	{MEASURE_HIGH_PRIORITY, CRYPT_ACTIVATE_HIGH_PRIORITY},
#endif
};

#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

unsigned refresh_possible(unsigned flags)
{
	unsigned possible = 0;

	for (size_t i = 0; i < PAIRS; i++)
		possible |= flags & pairs[i].ours;
	return possible;
}

unsigned refresh_current(const struct mapping *mapping)
{
	unsigned flags = 0;

	for (unsigned i = 0; i < mapping->n_flags; i++)
		for (unsigned bit = 0; flags_name(bit); bit++)
			if (!strcmp(mapping->flags[i], flags_name(bit)))
				flags |= 1U << bit;
	return flags;
}

/* What libcryptsetup calls them, in the place of those of the kind among `others`. */
static uint32_t translate(unsigned flags, uint32_t others)
{
	for (size_t i = 0; i < PAIRS; i++) {
		others &= ~pairs[i].theirs;
		if (flags & pairs[i].ours)
			others |= pairs[i].theirs;
	}
	return others;
}

static int store(struct crypt_device *cd, unsigned flags, struct luks_log *log, struct status *st)
{
	uint32_t kept = 0;
	int ret = crypt_persistent_flags_get(cd, CRYPT_FLAGS_ACTIVATION, &kept);

	if (!ret)
		ret = crypt_persistent_flags_set(cd, CRYPT_FLAGS_ACTIVATION,
						 translate(flags, kept));
	if (!ret)
		return 0;
	return status_set(st, ST_CHECK, -ret,
			  "The mapping has its flags, but the header could not be changed: %s",
			  luks_words(log, ret));
}

static int refuse(int ret, const struct mapping *m, struct luks_log *log, struct status *st)
{
	/* -ENOENT: the keyslot tried last is none of this volume's. */
	if (ret == -EPERM || ret == -ENOENT)
		return status_set(st, ST_AUTH, EPERM,
				  "No keyslot opens with this secret. %s is as it was.", m->name);
	return status_set(st, ret == -ENOMEM ? ST_NOMEM : ST_REFUSED, -ret,
			  "The flags could not be set: %s %s is as it was.", luks_words(log, ret),
			  m->name);
}

int refresh_flags(const struct mapping *mapping, const char *header, unsigned flags,
		  bool persistent, const struct secret *secret, struct status *st)
{
	struct crypt_active_device active = {0};
	struct luks_log log = {.name = mapping->name};
	struct crypt_device *cd = NULL;
	int ret;

	luks_log_to(&log);
	ret = crypt_init_by_name_and_header(&cd, mapping->name, header);
	luks_log_to(NULL);
	if (!ret)
		luks_log_of(cd, &log);
	if (!ret)
		ret = crypt_get_active_device(cd, mapping->name, &active);
	/* What the header says is left out: it may say a flag that is to go. */
	if (!ret)
		ret = crypt_activate_by_passphrase(
			cd, mapping->name, CRYPT_ANY_SLOT, (const char *)secret->bytes, secret->len,
			translate(flags, active.flags) | CRYPT_ACTIVATE_REFRESH |
				CRYPT_ACTIVATE_IGNORE_PERSISTENT);
	if (ret < 0)
		ret = refuse(ret, mapping, &log, st);
	else
		ret = persistent ? store(cd, flags, &log, st) : 0;
	luks_end(cd);
	return ret;
}
