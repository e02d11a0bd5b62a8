// SPDX-License-Identifier: GPL-2.0-or-later
/* The password hash: type and bounds; its costs are found by a trial later (volume/pbkdf.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decide/internal.h"
#include "util/units.h"

/* Argon2's least memory, and PBKDF2's least iterations (libcryptsetup). */
#define MEMORY_MIN (32ULL << 10)
#define PBKDF2_MIN 1000
/* The less of the two memory sizes that RFC 9106, section 4, recommends. */
#define LITTLE_MEMORY (64ULL << 20)
/* GRUB's SHA-256 is plain C on one CPU before the caches are warm: what takes a second here takes
 * several there. */
#define GRUB_TIME_MS 1000

static void bound_by(struct plan_pbkdf *pbkdf, uint64_t bytes, const char *what)
{
	if (pbkdf->memory_bound && bytes >= pbkdf->memory_bound)
		return;
	pbkdf->memory_bound = bytes;
	pbkdf->memory_bound_by = what;
}

/*
 * Half of what the machine (or the cgroup) has, as libcryptsetup does it, and three quarters of
 * what is free now: the hash must not push the machine into swap, where its pages, and the key,
 * would land. Swap is never counted as memory. And half of what the machine that unlocks has.
 */
static void memory_bound(struct plan_pbkdf *pbkdf, const struct decide_input *input)
{
	const struct memory_facts *memory = &input->facts->memory;
	const struct policy *policy = input->policy;
	uint64_t ceiling = memory_ceiling(memory);

	bound_by(pbkdf, (uint64_t)policy->pbkdf_memory_max,
		 ceiling || memory->available ? "the policy's limit"
					      : "the policy's limit; how much memory there is is "
						"not known");
	if (ceiling)
		bound_by(pbkdf, (uint64_t)((double)ceiling * policy->pbkdf_memory_share),
			 memory->limit && ceiling == memory->limit
				 ? "its share of what the control group allows"
				 : "its share of this machine's memory");
	if (memory->available)
		bound_by(pbkdf, memory->available / 4 * 3, "three quarters of what is free now");
	if (input->pbkdf.unlock_memory)
		bound_by(
			pbkdf,
			(uint64_t)((double)input->pbkdf.unlock_memory * policy->pbkdf_memory_share),
			"its share of the unlocking machine's memory (--unlock-memory)");
	pbkdf->memory_bound &= ~1023ULL;
	if (pbkdf->memory_bound < MEMORY_MIN)
		pbkdf->memory_bound = MEMORY_MIN;
}

static void choose_argon2(struct plan_pbkdf *pbkdf, const struct decide_input *input)
{
	const struct plan_pbkdf_wish *wish = &input->pbkdf;
	unsigned cap = (unsigned)input->policy->pbkdf_threads_max;
	unsigned cpus = cpu_threads(&input->facts->cpu);
	char wished[UNITS_MAX], bound[UNITS_MAX];

	memory_bound(pbkdf, input);
	pbkdf->threads = wish->threads ? wish->threads : cpus < cap ? cpus : cap;
	pbkdf->memory = wish->memory ? wish->memory : pbkdf->memory_bound;
	if (wish->memory > pbkdf->memory_bound)
		snprintf(pbkdf->reason, sizeof(pbkdf->reason),
			 "%s with %s as asked for, more than the %s that fit this machine (%s)",
			 pbkdf->type, units_size(wish->memory, wished),
			 units_size(pbkdf->memory_bound, bound), pbkdf->memory_bound_by);
	else
		snprintf(
			pbkdf->reason, sizeof(pbkdf->reason),
			"%s: guessing on graphics cards costs memory; as much as the time of an unlock buys, and at most %s%s%s",
			pbkdf->type, units_size(pbkdf->memory, bound),
			wish->memory ? " as asked for" : ": ",
			wish->memory ? "" : pbkdf->memory_bound_by);
	if (pbkdf->memory < LITTLE_MEMORY) {
		size_t used = strlen(pbkdf->reason);

		snprintf(
			pbkdf->reason + used, sizeof(pbkdf->reason) - used,
			"; that is less than the 64 MiB of the smaller of RFC 9106's two recommendations, so a longer passphrase has to make up for it");
	}
}

/* What an unlock may take on this machine, so that it takes what was asked for on the other. */
static unsigned time_here(const struct decide_input *input)
{
	const struct plan_pbkdf_wish *wish = &input->pbkdf;
	double there = wish->unlock_time_ms ? wish->unlock_time_ms : input->policy->pbkdf_time_ms;
	double here = wish->unlock_time_ms && wish->slower > 1 ? there / wish->slower : there;

	if (wish->time_ms)
		return wish->time_ms;
	if (!wish->unlock_time_ms && input->use == PLAN_FOR_GRUB && here > GRUB_TIME_MS)
		here = GRUB_TIME_MS;
	return here < 1 ? 1 : (unsigned)here;
}

static int check_wish(const struct decide_input *input, const char *type, bool fips,
		      struct status *st)
{
	const struct plan_pbkdf_wish *wish = &input->pbkdf;

	if (strcmp(type, "argon2id") && strcmp(type, "argon2i") && strcmp(type, "pbkdf2"))
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf: \"%s\" is none of argon2id, argon2i and pbkdf2.", type);
	if (fips && strcmp(type, "pbkdf2"))
		return status_set(st, ST_REFUSED, EINVAL,
				  "--pbkdf %s: FIPS mode allows pbkdf2 only; leave the option out.",
				  type);
	if (input->use == PLAN_FOR_GRUB && strcmp(type, "pbkdf2"))
		return status_set(
			st, ST_REFUSED, EINVAL,
			"--pbkdf %s: GRUB before 2.14 opens no such keyslot, only pbkdf2; "
			"leave the option out, or --for grub.",
			type);
	if (!strcmp(type, "pbkdf2") && (wish->memory || wish->threads))
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-memory and --pbkdf-parallel are Argon2's; pbkdf2 has neither%s.",
			wish->type ? ""
			: fips     ? " (FIPS mode allows nothing else)"
				   : " (GRUB is sure of nothing else)");
	if (!strcmp(type, "pbkdf2") && wish->iterations && wish->iterations < PBKDF2_MIN)
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf-force-iterations: %" PRIu64
				  " is below pbkdf2's least, %d.",
				  wish->iterations, PBKDF2_MIN);
	return 0;
}

int pbkdf_choose(struct plan_pbkdf *pbkdf, const struct decide_input *input, struct status *st)
{
	const struct plan_pbkdf_wish *wish = &input->pbkdf;
	bool fips = input->policy->fips || input->facts->kernel.fips;
	bool grub = input->use == PLAN_FOR_GRUB;
	const char *type = wish->type ? wish->type : fips || grub ? "pbkdf2" : "argon2id";
	int ret;

	memset(pbkdf, 0, sizeof(*pbkdf));
	ret = check_wish(input, type, fips, st);
	if (ret)
		return ret;
	snprintf(pbkdf->type, sizeof(pbkdf->type), "%s", type);
	snprintf(pbkdf->hash, sizeof(pbkdf->hash), "sha256");
	pbkdf->iterations = wish->iterations;
	pbkdf->slower = wish->slower > 0 ? wish->slower : 1;
	pbkdf->time_ms = wish->iterations ? 0 : time_here(input);
	if (strcmp(type, "pbkdf2"))
		choose_argon2(pbkdf, input);
	else
		snprintf(
			pbkdf->reason, sizeof(pbkdf->reason), "%s",
			fips   ? "pbkdf2: FIPS mode approves no other"
			: grub ? "pbkdf2: GRUB before 2.14 opens no other keyslot; it works at it on one CPU without special instructions, so an unlock takes several times as long there as here"
			       : "pbkdf2 as asked for: it costs a guesser no memory");
	return 0;
}
