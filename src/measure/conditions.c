// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/conditions.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/times.h>
#include <unistd.h>

#include "facts/cgroup.h"
#include "measure/clock.h"
#include "measure/sampler.h"
#include "measure/stats.h"
#include "util/sysfile.h"
#include "util/units.h"

/* CPUs whose throttling is looked at. */
#define HOT_CPUS 64
/* Quartiles further apart than this share of the median are noise worth naming. */
#define NOISY 0.10
/* Shares of a CPU's time. */
#define STEAL 0.02
#define BUSY  0.25
/* Shares of a speed, from the first half of the run to the second. */
#define DRIFT 0.05
/* Times one thread's speed, below which the others have added nothing. */
#define USELESS 1.10

/* /proc/stat's first line: user nice system idle iowait irq softirq steal (proc(5)). */
static void read_stat(struct conditions_mark *mark)
{
	unsigned long long t[8];
	char line[512];

	mark->steal = mark->busy = -1;
	if (sysfile_line(NULL, line, sizeof(line), "/proc/stat") < 0 ||
	    sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
		   &t[4], &t[5], &t[6], &t[7]) != 8)
		return;
	mark->steal = (int64_t)t[7];
	mark->busy = (int64_t)(t[0] + t[1] + t[2] + t[5] + t[6]);
}

/* Adds up nr_throttled of this process's cgroups, whose quotas all hold
 * (Documentation/admin-guide/cgroup-v2.rst; version 1 has the same key). */
static int add_throttled(const char *root, const char *dir, bool v2, void *arg)
{
	char *path, *text = NULL, *at;
	int64_t *sum = arg;
	int ret;

	(void)v2;
	if (asprintf(&path, "%s/cpu.stat", dir) < 0)
		return -ENOMEM;
	ret = sysfile_read(root, path, &text, NULL);
	free(path);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	at = strstr(text, "nr_throttled ");
	if (at)
		*sum = (*sum < 0 ? 0 : *sum) + strtoll(at + strlen("nr_throttled "), NULL, 10);
	free(text);
	return 0;
}

/* How often CPUs were slowed down for their heat, all together (x86: Documentation/ABI/testing/
 * sysfs-devices-system-cpu has core_throttle_count and package_throttle_count). */
static int64_t count_hot(void)
{
	char line[32];
	int64_t sum = -1;

	for (int cpu = 0; cpu < HOT_CPUS; cpu++) {
		if (sysfile_line(
			    NULL, line, sizeof(line),
			    "/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count",
			    cpu) >= 0)
			sum = (sum < 0 ? 0 : sum) + strtoll(line, NULL, 10);
		else if (cpu == 0)
			break;
	}
	return sum;
}

void conditions_mark(struct conditions_mark *mark)
{
	struct tms t;

	read_stat(mark);
	mark->throttled = -1;
	mark->hot = count_hot();
	cgroup_visit(NULL, "cpu", add_throttled, &mark->throttled);
	mark->own = times(&t) == (clock_t)-1 ? -1 : (int64_t)(t.tms_utime + t.tms_stime);
	mark->ns = clock_ns();
}

static int add(struct measurement *m, const char *id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int add(struct measurement *m, const char *id, const char *format, ...)
{
	struct measure_condition *grown;
	va_list ap;

	grown = realloc(m->conditions, (m->n_conditions + 1) * sizeof(*grown));
	if (!grown)
		return -1;
	m->conditions = grown;
	grown += m->n_conditions++;
	snprintf(grown->id, sizeof(grown->id), "%s", id);
	va_start(ap, format);
	vsnprintf(grown->message, sizeof(grown->message), format, ap);
	va_end(ap);
	return 0;
}

static int of_counters(struct measurement *m, const struct conditions_mark *a,
		       const struct conditions_mark *b)
{
	double ticks = (double)(b->ns - a->ns) / CLOCK_SECOND * (double)sysconf(_SC_CLK_TCK);
	double steal = 0, others = 0;
	int bad = 0;

	if (ticks <= 0)
		return 0;
	if (a->steal >= 0 && b->steal > a->steal)
		steal = (double)(b->steal - a->steal) / ticks;
	if (a->busy >= 0 && a->own >= 0 && b->own >= a->own)
		others = ((double)(b->busy - a->busy) - (double)(b->own - a->own)) / ticks;
	if (steal > STEAL)
		bad |= add(m, "steal",
			   "The hypervisor took %.2f CPUs' worth of time away during the run.",
			   steal);
	if (others > BUSY)
		bad |= add(m, "busy",
			   "Other programs used %.2f CPUs' worth of time during the run.", others);
	if (a->throttled >= 0 && b->throttled > a->throttled)
		bad |= add(m, "throttled",
			   "A cgroup's CPU quota held the run up %" PRId64 " times.",
			   b->throttled - a->throttled);
	if (a->hot >= 0 && b->hot > a->hot)
		bad |= add(m, "hot", "CPUs were slowed down for their heat %" PRId64 " times.",
			   b->hot - a->hot);
	return bad;
}

static int of_machine(struct measurement *m, const struct cpu_facts *cpu)
{
	unsigned threads = 0;
	int bad = 0;

	for (size_t i = 0; i < m->n_results; i++)
		if (m->results[i].threads > threads && !*m->results[i].error_code)
			threads = m->results[i].threads;
	if (cpu->allowed == 1)
		bad |= add(m, "one-cpu",
			   "This process may use one CPU only: nothing is said about more.");
	if (cpu->quota > 0)
		bad |= add(m, "cpu-quota", "A cgroup allows %.2f CPUs' worth of time.", cpu->quota);
	if (cpu->allowed && threads > cpu->allowed)
		bad |= add(m, "oversubscribed", "%u threads shared %u CPUs.", threads,
			   cpu->allowed);
	if (cpu->disabled)
		bad |= add(m, "cpu-disable",
			   "Features disabled by --cpu-disable are so in the cpu engine only: the "
			   "kernel and OpenSSL still use them.");
	return bad;
}

static int of_run(struct measurement *m, const struct conditions_run *run)
{
	int bad = 0;

	if (fabs(run->drift) > DRIFT)
		bad |= add(m, "drift",
			   "Speeds %s by %.0f %% from the first half of the run to the second.",
			   run->drift < 0 ? "fell" : "rose", fabs(run->drift) * 100);
	if (2 * run->unsettled > run->cells)
		bad |= add(m, "unsettled",
			   "%zu of %zu cells had not settled when their time for warming up was "
			   "over.",
			   run->unsettled, run->cells);
	return bad;
}

/* Cells that more threads did not make faster. */
static int of_threads(struct measurement *m, const struct cpu_facts *cpu)
{
	const struct measure_result *worst = NULL;
	size_t useless = 0, n = 0;
	char spec[SPEC_TEXT_MAX];

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (!(r->scaling > 0) || (cpu->allowed && r->threads > cpu->allowed) ||
		    (cpu->quota > 0 && cpu->quota < r->threads))
			continue;
		n++;
		useless += r->scaling < USELESS;
		if (r->scaling < USELESS && (!worst || r->scaling < worst->scaling))
			worst = r;
	}
	if (!worst)
		return 0;
	return add(
		m, "threads-add-nothing",
		"%zu of %zu cells with more threads are no faster than with one, the worst %s of "
		"%s (%s): %u threads did %.2f times as much.",
		useless, n, worst->direction == ENGINE_ENCRYPT ? "encryption" : "decryption",
		spec_print(&worst->spec, spec), measure_engine_name(worst->engine), worst->threads,
		worst->scaling);
}

static int of_results(struct measurement *m)
{
	size_t noisy = 0, measured = 0, worst = 0;
	char spec[SPEC_TEXT_MAX];
	double spread = 0;

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];
		double s = stats_spread(r->median, r->low, r->high);

		if (*r->error_code)
			continue;
		measured++;
		noisy += s > NOISY;
		if (s > spread) {
			spread = s;
			worst = i;
		}
	}
	if (!noisy)
		return 0;
	return add(m, "noisy",
		   "%zu of %zu cells have quartiles more than %.0f %% apart, the widest %s of %s "
		   "(%s): %.0f %%.",
		   noisy, measured, NOISY * 100,
		   m->results[worst].direction == ENGINE_ENCRYPT ? "encryption" : "decryption",
		   spec_print(&m->results[worst].spec, spec),
		   measure_engine_name(m->results[worst].engine), spread * 100);
}

/* Below this share of so many times one thread's AES rounds, the threads get in each other's way.
 */
#define SHARED 0.65

double conditions_shared_units(double one, double all, unsigned threads,
			       const struct cpu_facts *cpu)
{
	if (threads < 2 || !(one > 0) || !(all > 0) || (cpu->allowed && threads > cpu->allowed) ||
	    (cpu->quota > 0 && cpu->quota < threads) || all >= SHARED * threads * one)
		return 0;
	return all / one;
}

static bool found(const struct measurement *m, const char *id)
{
	for (size_t i = 0; i < m->n_conditions; i++)
		if (!strcmp(m->conditions[i].id, id))
			return true;
	return false;
}

static int add_shared(struct measurement *m, const struct measure_roofline *one,
		      const struct measure_roofline *all, double times)
{
	/* What else took the CPUs away meanwhile would look the same. */
	const bool others = found(m, "busy") || found(m, "steal") || found(m, "throttled");
	char got[UNITS_MAX], each[UNITS_MAX];

	return add(
		m, "shared-aes-units",
		"%u threads did %.2f times the AES rounds of one (AES-256: %s together, not %s): "
		"CPUs share AES units, as siblings of one core do%s.",
		all->threads, times, units_speed(all->aes256, got),
		units_speed(one->aes256 * all->threads, each),
		others ? ", or other programs had them" : "");
}

/* Two CPUs that are siblings of one core, which a hypervisor need not say, have one set of AES
 * units between them: a second thread then adds little. */
static int of_rooflines(struct measurement *m, const struct cpu_facts *cpu)
{
	double times;

	for (size_t i = 0; i < m->n_rooflines; i++) {
		const struct measure_roofline *one = &m->rooflines[i];

		for (size_t j = 0; j < m->n_rooflines && one->threads == 1; j++) {
			const struct measure_roofline *all = &m->rooflines[j];

			if (all->bits != one->bits)
				continue;
			times = conditions_shared_units(one->aes256, all->aes256, all->threads,
							cpu);
			if (times > 0)
				return add_shared(m, one, all, times);
		}
	}
	return 0;
}

int conditions_find(struct measurement *m, const struct facts *facts,
		    const struct conditions_mark *before, const struct conditions_mark *after,
		    const struct conditions_run *run)
{
	int bad = 0;

	bad |= of_machine(m, &facts->cpu);
	bad |= of_counters(m, before, after);
	if (run->cut_short > 0)
		bad |= add(m, "budget",
			   "The time was too short for so many cells or so long calls: the slowest "
			   "got %d slices only, and it took %.1f s instead of %.1f s.",
			   SAMPLER_MIN_SLICES, (double)(after->ns - before->ns) / CLOCK_SECOND,
			   run->cut_short);
	bad |= of_run(m, run);
	bad |= of_results(m);
	bad |= of_threads(m, &facts->cpu);
	bad |= of_rooflines(m, &facts->cpu);
	return bad ? -ENOMEM : 0;
}
