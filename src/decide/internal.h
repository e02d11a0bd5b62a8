/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this stage share. Not for other stages. */
#ifndef DMCT_DECIDE_INTERNAL_H
#define DMCT_DECIDE_INTERNAL_H

#include "decide/decide.h"

/* A spec's expected throughput, in bytes per second. */
struct speed {
	double mixed, low, high; /* reads and writes in the policy's proportion; 0: not known */
	double encrypt, decrypt;
	const char *tier[2]; /* that it was measured on, by direction: the input's strings */
	unsigned threads;
	bool order_only;  /* measured on a faster tier than the kernel's: good for ranking, not as a
			     figure */
	char reason[160]; /* why not known */
};

/* The layer that the comparison rests on: the most trusted one that has both directions of an
 * admitted candidate. */
enum plan_basis speed_basis(const struct decide_input *input, const struct candidates *candidates);

/* The speed of a spec with a sector size on that layer. */
void speed_of(struct speed *speed, const struct decide_input *input, enum plan_basis basis,
	      const struct spec *spec);

/* Whether two speeds differ by less than their spread and the least difference that is believed. */
bool speed_tie(const struct speed *a, const struct speed *b);

/*
 * Whether the device should have that encryption sector size for that kind of cipher; if not, why
 * goes to reason. A NULL device can have any. insisted: the user named it, so only what cannot work
 * at all stands against it.
 */
bool sector_allowed(const struct device_facts *device, const struct spec_kind *kind,
		    unsigned sector, bool insisted, char *reason, size_t size);

/* The password hash's type and bounds. ST_REFUSED for a wish that FIPS mode forbids, ST_USAGE for
 * an unknown type. */
int pbkdf_choose(struct plan_pbkdf *pbkdf, const struct decide_input *input, struct status *st);

/* Adds a sentence to the plan's reasons; drops it when there is no more room. */
void plan_reason(struct plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
