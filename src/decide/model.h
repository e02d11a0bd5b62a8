/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what could be measured to what dm-crypt delivers, one request of 64 KiB at a time.
 *
 *     time of a request = call + hand-over + sectors x (time of a sector + what dm-crypt adds to
 * it)
 *
 * The time of a sector is AF_ALG's without its crossing, or the in-process engine's; see the table
 * of constants in decide/model.c. Pure.
 */
#ifndef DMCT_DECIDE_MODEL_H
#define DMCT_DECIDE_MODEL_H

#include "decide/decide.h"

/* The request that speeds are told for: what a file system sends, give or take. */
#define MODEL_REQUEST 65536

/* What the model adds and takes off, in seconds; all 0 where it is not known. */
struct model {
	double crossing; /* of AF_ALG, a request: alike for all ciphers */
	double call;     /* a system call that does nothing */
	double handover; /* two threads waking each other in turn, without their system calls */
	double copy;     /* of a byte between program and kernel */
};

/* Sets all but the crossing from what was measured of the kernel. */
void model_costs(struct model *model, const struct measurement *m);

/* A long message of the same cipher, in the same direction and layer; speed 0: none was measured.
 */
struct model_stream {
	double size;   /* bytes with one IV */
	double speed;  /* bytes per second */
	double wander; /* share by which the sector's own figure may be off */
};

/*
 * The bytes per second to expect of dm-crypt, from a cell of a layer at that many bytes per second
 * (both, and the stream, with `threads`). PLAN_BASIS_DM: the same.
 */
double model_speed(const struct model *model, enum plan_basis basis,
		   enum engine_direction direction, unsigned sector, unsigned threads, double speed,
		   const struct model_stream *stream);

/* How far off the model may be on a basis, as a share of the speed: the interval's least width. */
double model_error(enum plan_basis basis);

/* Hand-overs that a request takes. */
double model_turns(enum engine_direction direction);

/* What the kernel does for each sector beside the cipher, in seconds. */
double model_per_sector(const struct model *model);

/* What is to be expected of dm-crypt, from one layer. */
struct prediction {
	struct spec spec; /* with its sector size */
	enum engine_direction direction;
	unsigned threads;
	enum plan_basis basis; /* dm: measured */
	double speed, low, high;
};

struct predictions {
	struct prediction *list;
	size_t n;
};

/*
 * One for each spec, sector size, direction, number of threads and layer that has a usable figure.
 * predictions_free() releases them. Returns 0 or -ENOMEM.
 */
int model_predict(struct predictions *predictions, const struct measurement *m,
		  const struct facts *facts);
void predictions_free(struct predictions *predictions);

#endif
