// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/sampler.h"

#include <errno.h>
#include <stdlib.h>

#include "measure/clock.h"

/* Long enough that reading the clock and waking a thread do not count, short enough that an
 * interruption spoils few slices. */
#define SLICE_MAX CLOCK_MILLISECOND
#define SLICE_MIN (CLOCK_MILLISECOND / 10)
/* Slices that an item should get at least, warm-up and all: a tight budget shortens the slices
 * first. */
#define SLICES_WANTED 12
/* Two slices in a row that differ by less than this have settled. */
#define SETTLED         0.03
#define WARM_SLICES_MAX 10
/* Twice the calls take this many times the time, or more: what does not depend on their number is
 * then at most a ninth of it. */
#define DOUBLED     1.8
#define FIXED_SHARE 9
/* Slices that a disturbed machine may get instead of one. */
#define LONGEST 8
/* A call of so many slices' length need not be taken more than once at a time. */
#define LONG_CALL 4
/* Rounds between two looks at who can still win. */
#define CONTEST_ROUNDS 8
/* Slices shorter than this share of what is wanted are lengthened. */
#define ENOUGH 0.6
/* Calls beyond which a slice is not lengthened: something that takes no time at all is broken. */
#define CALLS_MAX (1ULL << 40)

static void tell(const struct sampler_options *options, const char *what)
{
	if (options->progress)
		options->progress(options->progress_arg, what);
}

static bool fatal(int error)
{
	return error == -EINTR || error == -ENOMEM;
}

/* One slice; *speed in bytes per second. Where the fastest call seen so far says that the slices
 * are too short, because the calibration was disturbed, later ones get longer. */
static int take(struct sampler_item *item, const struct sampler_options *options, uint64_t *ns,
		double *speed)
{
	uint64_t bytes = 0;
	double call;
	int ret;

	*ns = 0;
	if (options->stopped && options->stopped())
		return -EINTR;
	ret = item->slice(item->arg, item->calls, &bytes, ns);
	if (ret)
		return ret;
	if (!*ns)
		*ns = 1;
	*speed = (double)bytes * CLOCK_SECOND / (double)*ns;
	call = (double)*ns / (double)item->calls;
	if (!(item->fastest > 0) || call < item->fastest)
		item->fastest = call;
	if (item->wanted > 0 && item->fastest * (double)item->calls < item->wanted * ENOUGH &&
	    item->calls < CALLS_MAX)
		item->calls = (uint64_t)(item->wanted / item->fastest) + 1;
	return 0;
}

static int keep(struct sampler_item *item, double speed, unsigned round)
{
	size_t room = item->room ? item->room * 2 : 64;
	unsigned *rounds;
	double *samples;

	if (item->n == item->room) {
		samples = realloc(item->samples, room * sizeof(*samples));
		if (!samples)
			return -ENOMEM;
		item->samples = samples;
		rounds = realloc(item->rounds, room * sizeof(*rounds));
		if (!rounds)
			return -ENOMEM;
		item->rounds = rounds;
		item->room = room;
	}
	item->rounds[item->n] = round;
	item->samples[item->n++] = speed;
	return 0;
}

/*
 * Finds the number of calls that fill a slice: doubles it until a slice is long enough and twice
 * the calls also take about twice the time. What a slice costs beside its calls (waking up, cold
 * caches; much in a virtual machine whose host is busy) is then small; where it takes a longer
 * slice to make it so, it gets one. A call that is long enough by itself is a slice, and kept as
 * one: there may be no time for more than SAMPLER_MIN_SLICES of its kind.
 */
static int calibrate(struct sampler_item *item, uint64_t slice,
		     const struct sampler_options *options)
{
	double last = 0, call, fixed;
	uint64_t ns;
	double speed;
	int ret;

	item->wanted = 0;
	for (item->calls = 1;; item->calls *= 2) {
		ret = take(item, options, &ns, &speed);
		if (ret)
			return ret;
		if (item->calls == 1 && (ns >= SLICE_MAX || ns >= LONG_CALL * slice)) {
			item->wanted = (double)slice;
			return keep(item, speed, 0);
		}
		if (ns >= LONGEST * slice || item->calls >= CALLS_MAX)
			break;
		if (ns >= slice / 4 && last > 0 && (double)ns >= DOUBLED * last)
			break;
		last = (double)ns;
	}
	fixed = 2 * last > (double)ns ? 2 * last - (double)ns : 0;
	call = ((double)ns - fixed) / (double)item->calls;
	item->wanted = fixed * FIXED_SHARE > (double)slice ? fixed * FIXED_SHARE : (double)slice;
	if (item->wanted > (double)(LONGEST * slice))
		item->wanted = (double)(LONGEST * slice);
	item->calls = call > 0 ? (uint64_t)(item->wanted / call) : item->calls;
	if (!item->calls)
		item->calls = 1;
	return 0;
}

/* Whether another slice, as long as the quickest so far, ends by then. */
static bool fits(const struct sampler_item *item, uint64_t until,
		 const struct sampler_options *options)
{
	return (double)options->now() + item->fastest * (double)item->calls <= (double)until;
}

static int warm_up(struct sampler_item *item, uint64_t slice, uint64_t until,
		   const struct sampler_options *options)
{
	double speed = 0, last = 0;
	uint64_t ns;
	int ret;

	ret = calibrate(item, slice, options);
	for (int i = 0; !ret && i < WARM_SLICES_MAX && !item->settled; i++) {
		if ((i || item->n) && !fits(item, until, options))
			break;
		ret = take(item, options, &ns, &speed);
		if (ret)
			break;
		item->settled = i && speed < last * (1 + SETTLED) && last < speed * (1 + SETTLED);
		last = speed;
	}
	return ret;
}

/* Fisher-Yates on xorshift64 (Marsaglia 2003). */
static void shuffle(size_t *order, size_t n, uint64_t *x)
{
	for (size_t i = n; i > 1; i--) {
		*x ^= *x << 13;
		*x ^= *x >> 7;
		*x ^= *x << 17;
		size_t j = *x % i, other = order[j];

		order[j] = order[i - 1];
		order[i - 1] = other;
	}
}

static int warm_up_all(struct sampler_item *items, size_t n, uint64_t slice,
		       const struct sampler_options *options)
{
	uint64_t start = options->now();
	/* A third of the time at most, each item its share of what is left of that. */
	uint64_t end = options->deadline > start ? start + (options->deadline - start) / 3 : start;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		uint64_t now = options->now();
		uint64_t until = now < end ? now + (end - now) / (n - i) : now;

		tell(options, "warming up");
		items[i].error = warm_up(&items[i], slice, until, options);
		if (fatal(items[i].error))
			ret = items[i].error;
	}
	return ret;
}

/* When the slices have to end for what comes after them. */
static uint64_t last_moment(const struct sampler_item *items, size_t n,
			    const struct sampler_options *options)
{
	uint64_t now = options->now(), left;
	double after = 0;

	if (!options->after || now >= options->deadline)
		return options->deadline;
	left = options->deadline - now;
	for (size_t i = 0; i < n; i++)
		after += !items[i].error && items[i].calls > 1 ? items[i].fastest : 0;
	return options->deadline - (after < (double)left / 3 ? (uint64_t)after : left / 3);
}

/* Whether an item gets no slice in a round: it has failed, has enough of them, or a slice would not
 * end in time. */
static bool passed_over(const struct sampler_item *item, unsigned round, uint64_t deadline,
			const struct sampler_options *options)
{
	if (item->error || item->out)
		return true;
	if (item->n < SAMPLER_MIN_SLICES)
		return item->n > round;
	return !fits(item, deadline, options);
}

/* One round. Returns how many slices it took, or -errno. */
static long take_round(struct sampler_item *items, const size_t *order, size_t n, unsigned round,
		       uint64_t deadline, const struct sampler_options *options)
{
	long taken = 0;
	uint64_t ns;
	double speed;
	int ret;

	for (size_t i = 0; i < n; i++) {
		struct sampler_item *item = &items[order[i]];

		if (passed_over(item, round, deadline, options))
			continue;
		tell(options, "measuring");
		taken++;
		item->error = take(item, options, &ns, &speed);
		if (fatal(item->error))
			return item->error;
		if (item->error)
			continue;
		ret = keep(item, speed, round + 1);
		if (ret)
			return ret;
	}
	return taken;
}

int sampler_run(struct sampler_item *items, size_t n, const struct sampler_options *options,
		bool *cut_short)
{
	uint64_t now = options->now(), slice, deadline, seed = 0x2545f4914f6cdd1d;
	uint64_t reserve = options->contest ? options->reserve : 0;
	size_t *order;
	long taken;

	*cut_short = false;
	if (!n)
		return 0;
	slice = now < options->deadline ? (options->deadline - now) / n / SLICES_WANTED : 0;
	slice = slice > SLICE_MAX ? SLICE_MAX : slice < SLICE_MIN ? SLICE_MIN : slice;
	order = malloc(n * sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	taken = warm_up_all(items, n, slice, options);
	deadline = last_moment(items, n, options);
	for (unsigned round = 0; taken >= 0 && (taken || round <= SAMPLER_MIN_SLICES); round++) {
		shuffle(order, n, &seed);
		taken = take_round(items, order, n, round, deadline, options);
		if (round + 1 == SAMPLER_MIN_SLICES)
			*cut_short = options->now() > options->deadline;
		if (options->contest && round % CONTEST_ROUNDS == CONTEST_ROUNDS - 1 &&
		    sampler_contest(items, n))
			break;
		if (!taken && reserve && sampler_in_doubt(items, n)) {
			deadline += reserve;
			reserve = 0;
			taken = 1;
		}
	}
	free(order);
	return taken < 0 ? (int)taken : 0;
}

void sampler_free(struct sampler_item *items, size_t n)
{
	for (size_t i = 0; items && i < n; i++) {
		free(items[i].samples);
		free(items[i].rounds);
	}
}
