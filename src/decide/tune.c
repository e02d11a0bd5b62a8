// SPDX-License-Identifier: GPL-2.0-or-later
#include "decide/tune.h"

#include <stdio.h>
#include <string.h>

/* As for the flags of a new volume (flags.c): who hands a request in waits for the cipher then, so
 * a gain must be one that somebody would notice. */
#define GAIN 1.10
#define LOSS 0.95
#define TIE  1.03

static struct tune_set *set_of(struct tune *t, unsigned flags)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->sets[i].flags == flags)
			return &t->sets[i];
	if (t->n == TUNE_SETS_MAX)
		return NULL;
	t->sets[t->n] = (struct tune_set){.flags = flags};
	return &t->sets[t->n++];
}

/* Bytes per second of reads and writes that come by their shares: their times add up. */
static double mix(double read, double write, double share)
{
	return read > 0 && write > 0 ? 1 / (share / read + (1 - share) / write) : 0;
}

static const struct measure_result *find(const struct measurement *m, const struct spec *spec,
					 unsigned flags, unsigned depth,
					 enum engine_direction direction)
{
	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i];

		if (r->engine == MEASURE_DM && r->checked && !*r->error_code && r->median > 0 &&
		    spec_equal(&r->spec, spec) && r->flags == flags && r->depth == depth &&
		    r->direction == direction)
			return r;
	}
	return NULL;
}

static void fill(struct tune_set *set, const struct measurement *m, const struct spec *spec,
		 const unsigned depths[2], double share)
{
	for (int i = 0; i < 2; i++) {
		const struct measure_result *read, *write;

		read = find(m, spec, set->flags, depths[i], ENGINE_DECRYPT);
		write = find(m, spec, set->flags, depths[i], ENGINE_ENCRYPT);
		if (!read || !write)
			continue;
		set->read[i] = read->median;
		set->write[i] = write->median;
		set->mixed[i] = mix(read->median, write->median, share);
		set->low[i] = mix(read->low, write->low, share);
		set->high[i] = mix(read->high, write->high, share);
	}
}

static bool beats(const struct tune_set *set, const struct tune_set *now)
{
	return set->mixed[0] >= now->mixed[0] * GAIN && set->low[0] > now->high[0] &&
	       set->mixed[1] >= now->mixed[1] * LOSS;
}

static bool better(const struct tune_set *set, const struct tune_set *best)
{
	int fewer = __builtin_popcount(best->flags) - __builtin_popcount(set->flags);

	if (fewer > 0)
		return set->mixed[0] * TIE >= best->mixed[0];
	return set->mixed[0] > best->mixed[0] * (fewer < 0 ? TIE : 1);
}

/* kept: a faster set was passed over for the sake of a disk that rotates. */
static void explain(struct tune *t, bool kept)
{
	const char *queue =
		kept ? " Sets with no_write_workqueue are passed over: in that queue "
		       "dm-crypt sorts the writes, which spares a disk that rotates its "
		       "seeks."
		     : "";
	char best[FLAGS_TEXT_MAX], now[FLAGS_TEXT_MAX];

	flags_print(t->best->flags, best);
	flags_print(t->now->flags, now);
	if (t->best == t->now)
		snprintf(t->reason, sizeof(t->reason),
			 "%s is at least %.1f times as fast as what it has (%s) with one "
			 "request at a time without losing with several.%s",
			 kept ? "Nothing else" : "Nothing", GAIN, now, queue);
	else
		snprintf(t->reason, sizeof(t->reason),
			 "%s: %.2f times as fast as what it has (%s) with one request at a time, "
			 "%.2f times with several.%s",
			 best, t->gain, now, t->best->mixed[1] / t->now->mixed[1], queue);
}

void decide_tune(struct tune *tune, const struct measurement *m, const struct spec *spec,
		 unsigned depth, unsigned now, double read_share, bool rotates)
{
	const unsigned depths[2] = {1, depth};
	bool kept = false;
	struct tune_set *set;

	memset(tune, 0, sizeof(*tune));
	for (size_t i = 0; i < m->n_results; i++)
		set_of(tune, m->results[i].flags);
	for (size_t i = 0; i < tune->n; i++) {
		set = &tune->sets[i];
		fill(set, m, spec, depths, read_share);
		if (set->flags == now && set->mixed[0] > 0 && set->mixed[1] > 0)
			tune->now = set;
	}
	tune->best = tune->now;
	if (!tune->now)
		return;
	for (size_t i = 0; i < tune->n; i++) {
		set = &tune->sets[i];
		if (!beats(set, tune->now))
			continue;
		if (rotates && (set->flags & ~now & MEASURE_NO_WRITE_WORKQUEUE))
			kept = true;
		else if (tune->best == tune->now || better(set, tune->best))
			tune->best = set;
	}
	tune->gain = tune->best->mixed[0] / tune->now->mixed[0];
	explain(tune, kept);
}
