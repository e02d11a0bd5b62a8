// SPDX-License-Identifier: GPL-2.0-or-later
/* How strong a volume is: its cipher, its keyslots. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/findings_volume_internal.h"
#include "util/units.h"

/* 2^32 sectors of 512 bytes: where a 32-bit IV begins anew. */
#define PLAIN_IV_BYTES (2ULL << 40)
/* The second recommended option of RFC 9106, 4. */
#define ARGON2_SMALL (64ULL << 20)
#define SLOW_MS      10000
/* The fastest cores do some ten million iterations a second, and some ten GiB. */
#define PBKDF2_MINUTES 1000000000ULL
#define ARGON2_MINUTES (1024.0 * (1ULL << 30))

void cipher_split(struct cipher_parts *parts, const char *text)
{
	size_t cipher = strcspn(text, "-"), mode;

	memset(parts, 0, sizeof(*parts));
	if (!strncmp(text, "capi:", 5)) {
		snprintf(parts->cipher, sizeof(parts->cipher), "%s", text);
		return;
	}
	snprintf(parts->cipher, sizeof(parts->cipher), "%.*s", (int)cipher, text);
	text += cipher + !!text[cipher];
	mode = strcspn(text, "-");
	snprintf(parts->mode, sizeof(parts->mode), "%.*s", (int)mode, text);
	text += mode + !!text[mode];
	snprintf(parts->iv, sizeof(parts->iv), "%s", text);
}

static void reencrypt_fix(struct finding *f, const struct findings_volume_input *in)
{
	if (!in->header)
		return;
	finding_fix(f,
		    in->header->headers.kind == HEADER_LUKS2
			    ? "dmcrypt-tune reencrypt %.200s --auto"
			    : "Copy the data to a new volume, or convert it (cryptsetup convert "
			      "%.150s --type luks2) and re-encrypt it.",
		    in->target);
}

static void find_plain_iv(struct findings *out, const struct findings_volume_input *in)
{
	uint64_t size = in->mapping && in->mapping->size ? in->mapping->size
			: in->data && in->header         ? in->data->size - in->header->data_offset
			: in->data                       ? in->data->size
							 : 0;
	bool repeats = size > PLAIN_IV_BYTES;
	char text[UNITS_MAX];

	reencrypt_fix(
		findings_add(out, "plain-iv", repeats ? FINDING_ERROR : FINDING_WARNING,
			     repeats ? "The IV \"plain\" has 32 bits: from 2 TiB on it comes "
				       "again, and the volume has %s. Sectors that share one show "
				       "where they are equal."
				     : "The IV \"plain\" has 32 bits and comes again from 2 TiB on "
				       "(the volume has %s); plain64 is the same below and does "
				       "not.",
			     size ? units_size(size, text) : "a size that is not known here"),
		in);
}

static void find_mode(struct findings *out, const struct findings_volume_input *in,
		      const struct cipher_parts *p)
{
	if (!strcmp(p->mode, "ecb") || strstr(p->cipher, "cipher_null"))
		reencrypt_fix(findings_add(out, "cipher-broken", FINDING_ERROR,
					   strstr(p->cipher, "cipher_null")
						   ? "Nothing is encrypted: the cipher is "
						     "cipher_null."
						   : "ECB shows which blocks are equal."),
			      in);
	if (!strcmp(p->iv, "plain"))
		find_plain_iv(out, in);
	if (!strcmp(p->mode, "cbc") && strncmp(p->iv, "essiv", 5))
		reencrypt_fix(findings_add(out, "cbc-predictable-iv", FINDING_WARNING,
					   "CBC with the IV \"%s\", which can be foretold: who has "
					   "a file stored there can leave a mark (watermark) "
					   "that is seen from outside.",
					   p->iv),
			      in);
	else if (!strcmp(p->mode, "cbc"))
		reencrypt_fix(findings_add(out, "cbc", FINDING_INFO,
					   "CBC can be changed block by block without the key, and "
					   "encrypts serially; XTS or Adiantum is what is usual "
					   "now."),
			      in);
}

void findings_cipher(struct findings *out, const struct findings_volume_input *in,
		     const struct cipher_parts *p)
{
	const struct inspect *h = in->header && in->header->loaded ? in->header : NULL;
	const struct spec *spec = h && h->known                       ? &h->spec
				  : in->mapping && in->mapping->known ? &in->mapping->spec
								      : NULL;

	find_mode(out, in, p);
	/* Without a keyslot nothing says how long the key is. */
	if (!spec && h && !h->key_bits)
		return;
	if (!spec) {
		findings_add(out, "cipher-unknown", FINDING_WARNING,
			     "%s with %u key bits is not a cipher that this program knows: nothing "
			     "is said of its strength or speed.",
			     h ? h->cipher : in->mapping->cipher,
			     h ? h->key_bits : in->mapping->key_bits);
		return;
	}
	if (spec->kind->record)
		reencrypt_fix(findings_add(out, "cipher-outdated", FINDING_WARNING,
					   "%s is a cipher that nobody should take any more.",
					   spec->kind->cipher),
			      in);
	if (spec_strength(spec) < 128)
		reencrypt_fix(findings_add(out, "short-key", FINDING_ERROR,
					   "The key's strength is %u bits.", spec_strength(spec)),
			      in);
	else if (!strcmp(spec->kind->mode, "xts") && spec_strength(spec) < 256)
		reencrypt_fix(findings_add(out, "xts-128", FINDING_INFO,
					   "XTS with %u key bits is %s-%u: half of the key is for "
					   "the tweak.",
					   spec->key_bits, spec->kind->cipher, spec->key_bits / 2),
			      in);
}

/* OWASP Password Storage Cheat Sheet (2023): PBKDF2 iterations for each hash. */
static uint64_t pbkdf2_least(const char *hash)
{
	if (!strcmp(hash, "sha512"))
		return 210000;
	if (!strcmp(hash, "sha256"))
		return 600000;
	return 1300000;
}

static void find_pbkdf2(struct findings *out, const struct findings_volume_input *in,
			const struct inspect_keyslot *k)
{
	const struct plan_pbkdf *p = &k->pbkdf;
	uint64_t least = pbkdf2_least(p->hash);
	struct finding *f;

	if (p->iterations < least) {
		f = findings_add(out, "pbkdf2-weak", FINDING_WARNING,
				 "Keyslot %d: PBKDF2 with %s and %" PRIu64
				 " iterations, where %" PRIu64 " are the least for a password.",
				 k->slot, p->hash, p->iterations, least);
		finding_fix(f,
			    "cryptsetup luksConvertKey %.150s -S %d%s (a random key file needs "
			    "no more)",
			    in->target, k->slot,
			    in->header->headers.kind == HEADER_LUKS2 ? " --pbkdf argon2id"
								     : " -i 2000");
	} else if (in->header->headers.kind == HEADER_LUKS2) {
		f = findings_add(out, "pbkdf2", FINDING_INFO,
				 "Keyslot %d: PBKDF2, which graphics cards try much faster than "
				 "Argon2.",
				 k->slot);
		finding_fix(f,
			    "Unless a boot loader or FIPS needs it: cryptsetup luksConvertKey "
			    "%.150s -S %d --pbkdf argon2id",
			    in->target, k->slot);
	}
	if (strcmp(p->hash, "sha256") && strcmp(p->hash, "sha512")) {
		f = findings_add(out, "hash-outdated", FINDING_INFO,
				 "Keyslot %d: the hash %s is out of use; a library may lack it "
				 "one day, and then the volume does not open.",
				 k->slot, p->hash);
		if (in->header->headers.kind == HEADER_LUKS2)
			finding_fix(f, "cryptsetup luksConvertKey %.150s -S %d --hash sha256",
				    in->target, k->slot);
	}
}

static void find_argon2(struct findings *out, const struct findings_volume_input *in,
			const struct inspect_keyslot *k)
{
	const struct memory_facts *m = &in->facts->memory;
	uint64_t most = memory_ceiling(m), memory = k->pbkdf.memory;
	char has[UNITS_MAX], there[UNITS_MAX];
	struct finding *f = NULL;

	if (memory < ARGON2_SMALL)
		f = findings_add(out, "argon2-memory-small", FINDING_WARNING,
				 "Keyslot %d: %s with %s of memory; RFC 9106 asks for 64 MiB at "
				 "least.",
				 k->slot, k->pbkdf.type, units_size(memory, has));
	else if (most && memory > most + (m->limit ? 0 : m->swap))
		f = findings_add(out, "argon2-memory-large", FINDING_ERROR,
				 "Keyslot %d: %s needs %s of memory, and this machine has %s: it "
				 "cannot be opened here.",
				 k->slot, k->pbkdf.type, units_size(memory, has),
				 units_size(most, there));
	else if (m->available && memory > m->available)
		f = findings_add(out, "argon2-memory-large", FINDING_WARNING,
				 "Keyslot %d: %s needs %s of memory, and %s are available here "
				 "now.",
				 k->slot, k->pbkdf.type, units_size(memory, has),
				 units_size(m->available, there));
	if (f)
		finding_fix(f,
			    "cryptsetup luksConvertKey %.150s -S %d --pbkdf argon2id "
			    "--pbkdf-memory KIB%s",
			    in->target, k->slot,
			    memory < ARGON2_SMALL ? "" : ", on a machine that opens it");
	if (!strcmp(k->pbkdf.type, "argon2i"))
		finding_fix(findings_add(out, "argon2i", FINDING_INFO,
					 "Keyslot %d: argon2i; argon2id is what RFC 9106 asks for.",
					 k->slot),
			    "cryptsetup luksConvertKey %.150s -S %d --pbkdf argon2id", in->target,
			    k->slot);
}

/* Costs that can be, and that no one waits for; where a trial told the time, that is said. */
static void find_costs(struct findings *out, const struct inspect_keyslot *k)
{
	const struct plan_pbkdf *p = &k->pbkdf;
	char memory[UNITS_MAX];

	if (k->unlock_ms > SLOW_MS)
		findings_add(out, "unlock-slow", FINDING_WARNING,
			     "Keyslot %d takes about %.0f s to open here.", k->slot,
			     k->unlock_ms / 1000);
	else if (k->unlock_ms > 0 || *k->absurd)
		return;
	else if (p->memory && (double)p->memory * (double)p->iterations > ARGON2_MINUTES)
		findings_add(out, "pbkdf-costly", FINDING_WARNING,
			     "Keyslot %d: %s with %" PRIu64 " iterations over %s takes minutes or "
			     "more to open on any machine.",
			     k->slot, p->type, p->iterations, units_size(p->memory, memory));
	else if (!p->memory && p->iterations > PBKDF2_MINUTES)
		findings_add(out, "pbkdf-costly", FINDING_WARNING,
			     "Keyslot %d: %s with %" PRIu64 " iterations takes minutes or more to "
			     "open on any machine.",
			     k->slot, p->type, p->iterations);
}

static void find_pbkdf(struct findings *out, const struct findings_volume_input *in,
		       const struct inspect_keyslot *k)
{
	const char *type = k->pbkdf.type;

	if (!*type || *k->absurd)
		return;
	if (!strcmp(type, "pbkdf2"))
		find_pbkdf2(out, in, k);
	else if (!strncmp(type, "argon2", 6))
		find_argon2(out, in, k);
	else
		findings_add(out, "pbkdf-unknown", FINDING_ERROR,
			     "Keyslot %d: its password hash is %s, which is not known here: it "
			     "does not open here.",
			     k->slot, type);
}

void findings_keyslots(struct findings *out, const struct findings_volume_input *in)
{
	unsigned bound = 0;

	for (unsigned i = 0; i < in->header->n_keyslots; i++) {
		const struct inspect_keyslot *k = &in->header->keyslots[i];

		bound += k->bound && *k->pbkdf.type;
		find_pbkdf(out, in, k);
		find_costs(out, k);
	}
	if (!bound)
		finding_fix(findings_add(out, "no-keyslot", FINDING_ERROR,
					 "No keyslot is in use: no passphrase and no key file "
					 "opens it."),
			    "Only a saved header brings one back; while it is open, copy the data "
			    "out.");
}
