/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In-process AES disk encryption: what this CPU can do with no kernel in the way.
 *
 * Whole sectors, N consecutive ones a call, exactly as dm-crypt lays them out on disk, so that
 * outputs can be compared byte for byte with the kernel's. All tiers but one that says otherwise
 * run in constant time with regard to key and data. Sources: FIPS 197 (AES), NIST SP 800-38A (CBC),
 * IEEE 1619 / NIST SP 800-38E (XTS), Linux dm-crypt (IVs).
 */
#ifndef DMCT_ENGINE_ENGINE_H
#define DMCT_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/cpu.h"
#include "spec/spec.h"

/* How CBC encryption, serial by nature within a sector, treats the sectors of one call. Nothing
 * else depends on it. */
enum engine_shape {
	ENGINE_SERIAL, /* one sector after the other, as dm-crypt does it */
	ENGINE_MULTI   /* several at once: multi-buffer */
};

enum engine_direction { ENGINE_ENCRYPT, ENGINE_DECRYPT };

struct engine_tier;
struct engine_key;

/*
 * Every tier compiled in, best first, NULL-terminated. Behind `portable` stands `table`, which does
 * AES as the kernel's generic C has it, not in constant time: for comparison, never the best.
 */
extern const struct engine_tier *const engine_tiers[];

const char *engine_tier_name(const struct engine_tier *tier);
/* Width of its vectors in bits: the column in the roofline table; 0 for a tier that uses no AES
 * instructions. */
unsigned engine_tier_bits(const struct engine_tier *tier);
/* Whether it can run on this CPU; if not, why goes to reason (size bytes, may be NULL): "the CPU
 * has no aes". */
bool engine_tier_usable(const struct engine_tier *tier, const struct cpu_facts *cpu, char *reason,
			size_t size);
/* The best usable tier; never NULL, since `portable` runs everywhere. */
const struct engine_tier *engine_tier_best(const struct cpu_facts *cpu);
/* By name, or NULL. */
const struct engine_tier *engine_tier_find(const char *name);

/* Whether the engine implements the spec (AES in XTS-plain64, CBC-ESSIV:SHA-256, CBC-plain64). */
bool engine_supports(const struct spec *spec);

/*
 * Expands a key for a spec (its sector size is not used) on a tier that is usable here. key:
 * spec->key_bits / 8 raw bytes, for XTS the data key first and then the tweak key. Returns 0,
 * -EOPNOTSUPP when the engine lacks the spec, -ENOMEM. engine_key_free() wipes the schedules and
 * accepts NULL.
 */
int engine_key_new(struct engine_key **key, const struct engine_tier *tier, const struct spec *spec,
		   const uint8_t *raw);
void engine_key_free(struct engine_key *key);

/*
 * Encrypts or decrypts `count` consecutive sectors of sector_size bytes (512 to 4096, a power of
 * two) from src to dst: the same buffer or ones that do not overlap, of any alignment. `sector` is
 * the first one's number in dm-crypt's counting, in units of 512 bytes whatever the sector size (so
 * it advances by sector_size / 512 per sector; dm-crypt without iv_large_sectors). It wraps at
 * 2^64. Cannot fail.
 *
 * With another sector_size, any multiple of 16, it is one message with one IV, as a cipher's own
 * benchmarks have them: count must be 1.
 */
void engine_crypt(const struct engine_key *key, enum engine_direction direction,
		  enum engine_shape shape, uint8_t *dst, const uint8_t *src, size_t sector_size,
		  size_t count, uint64_t sector);

/*
 * Bytes that `rounds` passes of the roofline loop process on this tier: independent AES
 * encryptions, enough in flight to fill the AES units, with no memory traffic, on keys of key_bits
 * (128 or 256). Time a call to get the most that the CPU's AES units can do. 0: the tier uses no
 * AES instructions and has no roofline.
 */
uint64_t engine_roofline(const struct engine_tier *tier, unsigned key_bits, uint64_t rounds);

/*
 * Known-answer tests of a tier (NIST CAVP, IEEE 1619, SP 800-38A, ESSIV) and a comparison with
 * `portable` on fixed patterns. Takes milliseconds. Returns 0, -ENOMEM, or -EBADMSG with the
 * name of the failed test in what (size bytes, may be NULL).
 */
int engine_selftest(const struct engine_tier *tier, char *what, size_t size);

#endif
