// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What Argon2 costs here, from a few keyslots made in memory.
 *
 * libcryptsetup's own benchmark (crypt_benchmark_pbkdf()) runs three times at its least cost and
 * then at the full target, eight seconds for an unlock of two: too long for a question, and for
 * every format. Argon2's time goes with memory times iterations (RFC 9106, 3.1), so a keyslot of a
 * quarter of a second, with the same library, type and threads, says what the target buys.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "volume/luks_internal.h"
#include "volume/pbkdf_trial.h"

/* A memory file has no room of its own: a LUKS2 header and a bit, all zeros until written. */
#define TRIAL_SIZE       (PLAN_DATA_OFFSET + (1 << 20))
#define TRIAL_ITERATIONS 4 /* libcryptsetup's least for Argon2 */
#define FIRST_KIB        (32U << 10)
#define MOST_KIB         (256U << 10)
/* Long enough that starting threads and taking memory do not count. */
#define ENOUGH_MS 200.0

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/*
 * Adds a keyslot with that much memory to the header and takes the time that it would take with no
 * other program about: the CPU time shared among Argon2's threads, where that is less. A machine
 * that is busy while it is installed must not be left with a weaker hash for years.
 */
static int time_keyslot(struct crypt_device *cd, const struct plan_pbkdf *pbkdf, uint32_t kib,
			double *ms)
{
	struct crypt_pbkdf_type params = {
		.type = pbkdf->type,
		.hash = pbkdf->hash,
		.iterations = TRIAL_ITERATIONS,
		.max_memory_kb = kib,
		.parallel_threads = pbkdf->threads,
		.flags = CRYPT_PBKDF_NO_BENCHMARK,
	};
	int ret = crypt_set_pbkdf_type(cd, &params);
	double begun = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);

	if (!ret)
		ret = crypt_keyslot_add_by_volume_key(cd, CRYPT_ANY_SLOT, NULL, 0, "trial", 5);
	*ms = now_ms(CLOCK_MONOTONIC) - begun;
	cpu = (now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (pbkdf->threads ? pbkdf->threads : 1);
	if (cpu > 0 && cpu < *ms)
		*ms = cpu;
	return ret < 0 ? ret : 0;
}

/* How much memory would take long enough, judged by a first, short keyslot. */
static uint32_t enough_memory(uint32_t kib, double ms, uint32_t bound)
{
	double wanted = kib * ENOUGH_MS / (ms > 1 ? ms : 1);

	if (ms >= ENOUGH_MS || kib >= bound)
		return kib;
	return wanted < (double)bound ? (uint32_t)wanted : bound;
}

/* The shorter of two times counts: only something else can make a keyslot take longer. */
static int run_trials(struct crypt_device *cd, const struct plan_pbkdf *pbkdf, double *cost_per_ms)
{
	uint32_t bound = pbkdf->memory >> 10 < MOST_KIB ? pbkdf->memory >> 10 : MOST_KIB;
	uint32_t kib = bound < FIRST_KIB ? bound : FIRST_KIB;
	double ms = 0, best = 0;
	int ret;

	ret = crypt_format(cd, CRYPT_LUKS2, "aes", "xts-plain64", NULL, NULL, 64, NULL);
	if (!ret)
		ret = time_keyslot(cd, pbkdf, kib, &ms);
	kib = enough_memory(kib, ms, bound);
	for (int i = 0; i < 2 && !ret; i++) {
		ret = time_keyslot(cd, pbkdf, kib, &ms);
		best = !i || ms < best ? ms : best;
	}
	*cost_per_ms = (double)kib * TRIAL_ITERATIONS / (best > 0 ? best : 1);
	return ret;
}

int pbkdf_trial(const struct plan_pbkdf *pbkdf, double *cost_per_ms, struct luks_log *log)
{
	struct crypt_pbkdf_type quick = {.type = CRYPT_KDF_PBKDF2,
					 .hash = "sha256",
					 .iterations = 1000,
					 .flags = CRYPT_PBKDF_NO_BENCHMARK};
	struct crypt_device *cd = NULL;
	char path[32];
	int fd, ret;

	fd = memfd_create("dmcrypt-tune-trial", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	log->path = path;
	log->name = "the trial in memory";
	ret = ftruncate(fd, TRIAL_SIZE) ? -errno : luks_begin(&cd, log);
	if (!ret)
		ret = crypt_set_pbkdf_type(cd, &quick);
	if (!ret)
		ret = run_trials(cd, pbkdf, cost_per_ms);
	luks_end(cd);
	close(fd);
	log->path = NULL;
	return ret;
}
