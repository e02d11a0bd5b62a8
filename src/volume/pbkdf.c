// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/pbkdf.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "facts/memory.h"
#include "util/interrupt.h"
#include "util/units.h"
#include "volume/pbkdf_trial.h"

/* libcryptsetup's own bounds (lib/crypto_backend/pbkdf_check.c). */
#define ARGON2_MIN_ITERATIONS 4
#define ARGON2_MIN_MEMORY     (32UL << 10)
#define ARGON2_MAX_MEMORY     (4ULL << 30)
#define ARGON2_MAX_THREADS    4
/* KiB times iterations, and iterations, that a fast machine works at for about ten seconds. */
#define ARGON2_DEAR 1e8
#define PBKDF2_DEAR 5e7

/*
 * glibc loads libgcc_s only when a thread first ends through pthread_exit(), as Argon2's do, and
 * aborts the process when it is not there: in the middle of a format. Loaded here, it stays.
 */
static int check_thread_exit(struct status *st)
{
#ifdef __GLIBC__
	if (!dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL))
		return status_set(st, ST_MISSING, ELIBACC,
				  "libgcc_s.so.1 cannot be loaded, and Argon2's threads cannot end "
				  "without it (Debian: libgcc-s1; others: libgcc); --pbkdf pbkdf2 "
				  "does without.");
#else
	(void)st;
#endif
	return 0;
}

static int no_memory(uint64_t memory, uint64_t there, const char *what, struct status *st)
{
	return status_set(st, ST_NOMEM, ENOMEM,
			  "Argon2 with %" PRIu64 " KiB: %s %" PRIu64
			  " KiB. Give a smaller --pbkdf-memory, or --pbkdf pbkdf2.",
			  memory >> 10, what, there >> 10);
}

/* Whether Argon2 could have that much: the kernel would rather kill than say no later. */
static int check_memory(uint64_t memory, struct status *st)
{
	struct memory_facts facts;
	void *map;
	int ret;

	ret = memory_probe(&facts, NULL);
	if (ret)
		return status_nomem(st);
	if (facts.available && facts.available + facts.swap < memory)
		return no_memory(memory, facts.available + facts.swap,
				 "available memory and swap have only", st);
	if (facts.limit && facts.limit < memory)
		return no_memory(memory, facts.limit, "the cgroup allows only", st);
	map = mmap(NULL, memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return status_set(st, ST_NOMEM, ENOMEM,
				  "Argon2 with %" PRIu64
				  " KiB: that much memory cannot be had (%s). Give a smaller "
				  "--pbkdf-memory, or --pbkdf pbkdf2.",
				  memory >> 10, strerror(errno));
	munmap(map, memory);
	return 0;
}

/* libcryptsetup keeps the count as a signed number in the header, so a larger one would not come
 * back as it was given. */
static int check_costs(const struct plan_pbkdf *pbkdf, bool argon2, struct status *st)
{
	uint64_t least = argon2 ? ARGON2_MIN_ITERATIONS : PBKDF2_MIN_ITERATIONS;

	if (pbkdf->iterations && (pbkdf->iterations < least || pbkdf->iterations > INT_MAX))
		return status_set(st, ST_USAGE, EINVAL,
				  "%" PRIu64 " iterations: %s takes from %" PRIu64 " to %d.",
				  pbkdf->iterations, pbkdf->type, least, INT_MAX);
	if (!argon2)
		return 0;
	if (pbkdf->memory < ARGON2_MIN_MEMORY || pbkdf->memory > ARGON2_MAX_MEMORY)
		return status_set(st, ST_USAGE, EINVAL,
				  "%" PRIu64 " KiB of memory: %s takes from %lu to %llu KiB.",
				  pbkdf->memory >> 10, pbkdf->type, ARGON2_MIN_MEMORY >> 10,
				  ARGON2_MAX_MEMORY >> 10);
	if (!pbkdf->threads || pbkdf->threads > ARGON2_MAX_THREADS)
		return status_set(st, ST_USAGE, EINVAL, "%u threads: %s takes from 1 to %d.",
				  pbkdf->threads, pbkdf->type, ARGON2_MAX_THREADS);
	return 0;
}

/*
 * As libcryptsetup spends the time: memory first, up to the limit, then iterations. Whole MiB, so
 * that the figure can be read and said.
 */
static void spend_argon2(struct plan_pbkdf *pbkdf, double cost_per_ms)
{
	double cost = cost_per_ms * pbkdf->time_ms;
	double kib = cost / ARGON2_MIN_ITERATIONS, most = (double)(pbkdf->memory >> 10);

	pbkdf->iterations = ARGON2_MIN_ITERATIONS;
	if (kib < most) {
		if (kib >= 2048)
			kib = (double)((uint64_t)kib & ~1023ULL);
		if (kib < (double)(ARGON2_MIN_MEMORY >> 10))
			kib = (double)(ARGON2_MIN_MEMORY >> 10);
		pbkdf->memory = (uint64_t)kib << 10;
		return;
	}
	if (cost / most > ARGON2_MIN_ITERATIONS)
		pbkdf->iterations = cost / most < INT_MAX ? (uint64_t)(cost / most) : INT_MAX;
}

static int trial_error(const struct plan_pbkdf *pbkdf, int err, struct luks_log *log,
		       struct status *st)
{
	if (err == -ENOMEM)
		return status_set(st, ST_NOMEM, ENOMEM,
				  "%s: not enough memory for a trial run with %" PRIu64
				  " KiB. Give a smaller --pbkdf-memory, or --pbkdf pbkdf2.",
				  pbkdf->type, pbkdf->memory >> 10);
	return status_set(st, ST_MISSING, -err, "%s with %s cannot be had here: %s%s", pbkdf->type,
			  pbkdf->hash, luks_words(log, err),
			  err == -EINVAL && pbkdf->threads ? " " LUKS_ARGON2_HINT : "");
}

static int settle_argon2(struct plan_pbkdf *pbkdf, struct status *st)
{
	struct luks_log log = {0};
	double cost_per_ms = 0;
	int ret = pbkdf_trial(pbkdf, &cost_per_ms, &log);

	if (ret)
		return trial_error(pbkdf, ret, &log, st);
	spend_argon2(pbkdf, cost_per_ms);
	return 0;
}

/* PBKDF2's iterations a second, by libcryptsetup's own count. */
static int pbkdf2_rate(const struct plan_pbkdf *pbkdf, size_t key_bytes, uint32_t *rate,
		       struct status *st)
{
	struct crypt_pbkdf_type params = {
		.type = pbkdf->type, .hash = pbkdf->hash, .time_ms = 1000};
	static const char salt[] = "0123456789abcdef0123456789abcdef";
	struct luks_log log = {0};
	int ret;

	luks_log_to(&log);
	ret = crypt_benchmark_pbkdf(NULL, &params, "benchmark", 9, salt, 32, key_bytes, NULL, NULL);
	luks_log_to(NULL);
	*rate = params.iterations;
	return ret < 0 ? trial_error(pbkdf, ret, &log, st) : 0;
}

/* libcryptsetup counts PBKDF2's iterations in a second, whatever time is asked for. */
static int settle_pbkdf2(struct plan_pbkdf *pbkdf, size_t key_bytes, struct status *st)
{
	uint32_t rate = 0;
	uint64_t iterations;
	int ret;

	ret = pbkdf2_rate(pbkdf, key_bytes, &rate, st);
	if (ret)
		return ret;
	iterations = (uint64_t)rate * pbkdf->time_ms / 1000;
	if (iterations < PBKDF2_MIN_ITERATIONS)
		iterations = PBKDF2_MIN_ITERATIONS;
	pbkdf->iterations = iterations < INT_MAX ? iterations : INT_MAX;
	return 0;
}

/* Costs that were given and that no fast machine pays within seconds: how long they take here. */
static int predict(struct plan_pbkdf *pbkdf, bool argon2, size_t key_bytes, struct status *st)
{
	const double kib = argon2 ? (double)(pbkdf->memory >> 10) : 1;
	const double cost = (double)pbkdf->iterations * kib;
	struct luks_log log = {0};
	char time[UNITS_MAX];
	double per_ms = 0;
	uint32_t rate = 0;
	int ret;

	if (cost < (argon2 ? ARGON2_DEAR : PBKDF2_DEAR))
		return 0;
	if (argon2) {
		ret = pbkdf_trial(pbkdf, &per_ms, &log);
		ret = ret ? trial_error(pbkdf, ret, &log, st) : 0;
	} else {
		ret = pbkdf2_rate(pbkdf, key_bytes, &rate, st);
		per_ms = rate / 1000.0;
	}
	if (ret)
		return ret;
	pbkdf->predicted_ms = cost / (per_ms > 0 ? per_ms : 1);
	snprintf(pbkdf->warning, sizeof(pbkdf->warning),
		 "%" PRIu64 " iterations as asked for take about %s here, at every unlock "
		 "and for the format itself; --iter-time says what an unlock is to take instead",
		 pbkdf->iterations, units_time(pbkdf->predicted_ms, time));
	return 0;
}

int pbkdf_settle(struct plan_pbkdf *pbkdf, size_t key_bytes, struct status *st)
{
	bool argon2 = !strncmp(pbkdf->type, "argon2", 6);
	int ret;

	ret = check_costs(pbkdf, argon2, st);
	if (!ret && argon2)
		ret = check_thread_exit(st);
	if (!ret && argon2)
		ret = check_memory(pbkdf->memory, st);
	if (ret || pbkdf->iterations)
		return ret ? ret : predict(pbkdf, argon2, key_bytes, st);
	return argon2 ? settle_argon2(pbkdf, st) : settle_pbkdf2(pbkdf, key_bytes, st);
}
