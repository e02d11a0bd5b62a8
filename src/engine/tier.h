/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a tier is, within the engine: engine.c dispatches to it, tier_*.c make one each. */
#ifndef DMCT_ENGINE_TIER_H
#define DMCT_ENGINE_TIER_H

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/key_schedule.h"

/* Before a loop over a pipeline: see modes_template.h. */
#ifdef __clang__
#define UNROLL_ALL _Pragma("clang loop unroll(full)")
#else
#define UNROLL_ALL _Pragma("GCC unroll 16")
#endif

#define TIER_ALIGN 64 /* of a tier's schedules: a cache line, and the widest vector */

/* One call, its IV rule already decided by the kind of key. */
struct tier_job {
	const void *data; /* the tier's schedule of the data key */
	const void *iv;   /* of the tweak key or of ESSIV's; NULL: the sector number is the IV */
	uint8_t *dst;
	const uint8_t *src;
	size_t sector_size, count;
	uint64_t sector;
};

struct engine_tier {
	const char *name;
	unsigned bits;          /* of a vector of AES instructions; 0: it uses none */
	enum cpu_family family; /* CPU_FAMILY_OTHER: any */
	uint64_t needs;         /* CPU features, 1 << CPU_x each */
	size_t schedule_size;   /* at TIER_ALIGN */
	void (*schedule)(void *to, const struct aes_schedule *from);
	void (*xts_encrypt)(const struct tier_job *job);
	void (*xts_decrypt)(const struct tier_job *job);
	void (*cbc_encrypt_serial)(const struct tier_job *job);
	void (*cbc_encrypt_multi)(const struct tier_job *job);
	void (*cbc_decrypt)(const struct tier_job *job);
	/* Passes of the roofline loop for keys that take so many AES rounds; returns the bytes.
	 * NULL when bits is 0. */
	uint64_t (*roofline)(unsigned rounds, uint64_t passes);
};

extern const struct engine_tier engine_tier_portable;
extern const struct engine_tier engine_tier_table;
#if defined(__x86_64__) || defined(__i386__)
extern const struct engine_tier engine_tier_aesni;
extern const struct engine_tier engine_tier_vaes256;
extern const struct engine_tier engine_tier_vaes512;
#endif

#endif
