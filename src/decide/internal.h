/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this stage share. Not for other stages. */
#ifndef DMCT_DECIDE_INTERNAL_H
#define DMCT_DECIDE_INTERNAL_H

#include "decide/decide.h"
#include "decide/model.h"

/*
 * Differences below this are never believed, however close the quartiles are: code layout, and what
 * else the machine does during one run, move medians by as much.
 */
#define SPEED_NOISE_FLOOR 0.05

/* What all speeds of one decision stand on, so that like is compared with like. */
struct ground {
	enum plan_basis basis;
	unsigned threads; /* of the cells that are compared */
	/*
	 * What leads from the layer to dm-crypt. The crossing is at most the least intercept of
	 * time over request size among all ciphers, without what the cipher and dm-crypt have per
	 * sector. It is 0 on other bases, and where no cipher was measured at two sizes
	 * (crossing_known is false then).
	 */
	struct model model;
	bool crossing_known;
};

/* One direction of a spec, in bytes per second. */
struct way {
	double median, low, high;
	double tie_low, tie_high; /* the same without what would move all ciphers alike */
	const char *tier;         /* that it was measured on: the input's string */
	bool order_only;          /* as in struct speed */
};

/* A spec's expected throughput, in bytes per second. */
struct speed {
	double mixed, low, high;  /* reads and writes in the policy's proportion; 0: not known */
	double tie_low, tie_high; /* the same without what would move all ciphers alike */
	double encrypt, decrypt;
	const char *tier[2]; /* that it was measured on, by direction: the input's strings */
	unsigned threads;
	bool order_only;  /* measured on a faster tier than the kernel's: good for ranking, not as a
			     figure */
	char reason[160]; /* why not known */
};

struct choice;

/*
 * The ground of the comparison: of the layers and numbers of threads that have both directions of
 * the most preferred candidate that any has (of those that are admitted and not rare), and
 * something as strong to hold against it, the most trusted layer with the most candidates.
 * PLAN_BASIS_FACTS where nothing was measured.
 */
void speed_ground(struct ground *ground, const struct decide_input *input,
		  const struct choice *list, size_t n);

/* Fills the model of a ground whose layer and threads are set. */
void ground_fill(struct ground *ground, const struct decide_input *input);

/* One direction of a spec with a sector size on that ground; false: not measured. */
bool speed_way(struct way *way, const struct decide_input *input, const struct ground *ground,
	       const struct spec *spec, enum engine_direction direction);

/* The speed of a spec with a sector size on that ground. */
void speed_of(struct speed *speed, const struct decide_input *input, const struct ground *ground,
	      const struct spec *spec);

/*
 * The cell that stands best for dm-crypt on that ground, or NULL: checked, serial, of the tier that
 * mirrors the kernel's driver, else of the next slower, else of a faster one.
 */
const struct measure_result *speed_cell(const struct decide_input *input,
					const struct ground *ground, const struct spec *spec,
					enum engine_direction direction);

/* Whether two speeds differ by less than their spread and the least difference that is believed. */
bool speed_tie(const struct speed *a, const struct speed *b);

/*
 * Whether the device should have that encryption sector size for that kind of cipher; if not, why
 * goes to reason. Without a device any will do. insisted: the user named it, so only what cannot
 * work at all stands against it.
 */
bool sector_allowed(const struct decide_input *input, const struct spec_kind *kind, unsigned sector,
		    bool insisted, char *reason, size_t size);

/* Whether policy, constraints and kernel let a candidate in; if not, why goes to c->reason. Fills
 * the choice's margins. */
bool admit(struct choice *c, const struct candidate *candidate, const struct decide_input *input);

/*
 * The candidate that is chosen, or NULL where none is measured: the most preferred one that no
 * other beats. Marks those that are beaten. `ground` is what their speeds stand on.
 */
const struct choice *pick_measured(struct choice *list, size_t n, const struct decide_input *input,
				   const struct ground *ground);
/* The same with nothing measured. */
const struct choice *pick_unmeasured(const struct choice *list, size_t n,
				     const struct facts *facts);
/* Whether a is the better known of two that speed does not tell apart: the stronger, then the more
 * usual. */
bool pick_prefers(const struct choice *a, const struct choice *b);
/* Whether two are of one class and strength: only speed and usage tell them apart. */
bool pick_as_strong(const struct choice *a, const struct choice *b);
/* A cipher that few systems use. */
bool pick_rare(const struct spec *spec);
/*
 * What goes before the measured winner although it was not measured, or NULL: the most preferred
 * stronger one that is not rare, where nothing stronger was measured. A weaker class is taken where
 * it is shown to be faster by its margin, and not where nobody looked.
 */
const struct choice *pick_before(const struct choice *list, size_t n, const struct choice *winner,
				 const struct facts *facts);

/* What the volume could do with that cipher: its CPUs' worth of it, and no more than the disk
 * reads. */
double volume_speed(double speed, const struct decide_input *input, const struct ground *ground);
/* CPUs busy with that cipher while the disk runs at its full speed; 0: not known. */
double volume_cpus(double speed, const struct decide_input *input, const struct ground *ground);
/* Whether the disk is slower than every measured candidate could be. */
bool volume_disk_limits(const struct choice *list, size_t n, const struct decide_input *input,
			const struct ground *ground);

/* The password hash's type and bounds. ST_REFUSED for a wish that FIPS mode forbids, ST_USAGE for
 * an unknown type. */
int pbkdf_choose(struct plan_pbkdf *pbkdf, const struct decide_input *input, struct status *st);

/* Adds a sentence to the plan's reasons; drops it when there is no more room. */
void plan_reason(struct plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
