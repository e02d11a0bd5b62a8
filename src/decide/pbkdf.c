// SPDX-License-Identifier: GPL-2.0-or-later
/* The password hash: type and bounds; its costs are found by a trial later (volume/pbkdf.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decide/internal.h"

/* cryptsetup's own defaults (cryptsetup 2.6 configure.ac: 1 GiB, 4 threads, 2000 ms) and Argon2's
 * least memory. */
#define MEMORY_CAP  (1ULL << 30)
#define MEMORY_MIN  (32ULL << 10)
#define THREADS_CAP 4
#define TIME_MS     2000

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Half of what the machine (or the cgroup) has, as libcryptsetup does it, and three quarters of
 * what is free now: the hash must not push the machine into swap, where its pages, and the key,
 * would land.
 */
static uint64_t memory_bound(const struct memory_facts *memory)
{
	uint64_t bound = MEMORY_CAP, ceiling = memory_ceiling(memory);

	if (ceiling)
		bound = min_u64(bound, ceiling / 2);
	if (memory->available)
		bound = min_u64(bound, memory->available / 4 * 3);
	bound &= ~1023ULL;
	return bound < MEMORY_MIN ? MEMORY_MIN : bound;
}

static void choose_argon2(struct plan_pbkdf *pbkdf, const struct decide_input *input)
{
	const struct plan_pbkdf_wish *wish = &input->pbkdf;
	uint64_t bound = memory_bound(&input->facts->memory);

	pbkdf->threads = wish->threads ? wish->threads
				       : min_u64(THREADS_CAP, cpu_threads(&input->facts->cpu));
	pbkdf->memory = wish->memory ? wish->memory : bound;
	if (wish->memory > bound)
		snprintf(pbkdf->reason, sizeof(pbkdf->reason),
			 "%s with %" PRIu64 " MiB as asked for, more than the %" PRIu64
			 " MiB that fit this machine",
			 pbkdf->type, wish->memory >> 20, bound >> 20);
	else
		snprintf(
			pbkdf->reason, sizeof(pbkdf->reason),
			"%s: guessing on graphics cards costs memory; as much as the time of an unlock buys, and at most %" PRIu64
			" MiB of this machine's",
			pbkdf->type, pbkdf->memory >> 20);
}

int pbkdf_choose(struct plan_pbkdf *pbkdf, const struct decide_input *input, struct status *st)
{
	const struct plan_pbkdf_wish *wish = &input->pbkdf;
	bool fips = input->policy->fips || input->facts->kernel.fips;
	const char *type = wish->type ? wish->type : fips ? "pbkdf2" : "argon2id";

	memset(pbkdf, 0, sizeof(*pbkdf));
	if (strcmp(type, "argon2id") && strcmp(type, "argon2i") && strcmp(type, "pbkdf2"))
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf: \"%s\" is none of argon2id, argon2i and pbkdf2.", type);
	if (fips && strcmp(type, "pbkdf2"))
		return status_set(st, ST_REFUSED, EINVAL,
				  "--pbkdf %s: FIPS mode allows pbkdf2 only; leave the option out.",
				  type);
	if (!strcmp(type, "pbkdf2") && (wish->memory || wish->threads))
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-memory and --pbkdf-parallel are Argon2's; pbkdf2 has neither%s.",
			wish->type ? "" : " (FIPS mode allows nothing else)");
	if (!strcmp(type, "pbkdf2") && wish->iterations && wish->iterations < 1000)
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf-force-iterations: %" PRIu64
				  " is below pbkdf2's least, 1000.",
				  wish->iterations);
	snprintf(pbkdf->type, sizeof(pbkdf->type), "%s", type);
	snprintf(pbkdf->hash, sizeof(pbkdf->hash), "sha256");
	pbkdf->iterations = wish->iterations;
	pbkdf->time_ms = wish->iterations ? 0 : wish->time_ms ? wish->time_ms : TIME_MS;
	if (strcmp(type, "pbkdf2"))
		choose_argon2(pbkdf, input);
	else
		snprintf(pbkdf->reason, sizeof(pbkdf->reason),
			 fips ? "pbkdf2: FIPS mode approves no other"
			      : "pbkdf2 as asked for: it costs a guesser no memory");
	return 0;
}
