// SPDX-License-Identifier: GPL-2.0-or-later
/* What is wrong with a volume's header, mapping and place; damage is findings_damage.c's, ciphers
 * and password hashes are findings_strength.c's. */
#include "report/findings_volume.h"

#include <inttypes.h>
#include <string.h>

#include "report/findings_volume_internal.h"
#include "util/units.h"

#define PHYSICAL_4K 4096U
/* What a recommendation must bring before it is worth saying. */
#define FASTER 1.1

static bool requires_unknown(const struct inspect *h)
{
	const char *word;

	for (unsigned i = 0; (word = inspect_requirement(h->requirements, i)); i++)
		if (!strcmp(word, "unknown"))
			return true;
	return false;
}

static void find_reencryption(struct findings *out, const struct findings_volume_input *in)
{
	const struct inspect *h = in->header;
	bool clean = !strcmp(h->reencrypt, "clean");
	const char *what = "A re-encryption was cut short, and the area that it was at must be "
			   "recovered before use.";

	if (h->reencrypt_left)
		what = "A re-encryption was cut short at its very end: all data are done, the "
		       "header is not. cryptsetup reencrypt must not go on with it: it would begin "
		       "anew and destroy them.";
	else if (clean)
		what = "A re-encryption has begun and is not finished.";
	finding_fix(findings_add(out, "reencrypt-interrupted",
				 clean && !h->reencrypt_left ? FINDING_WARNING : FINDING_ERROR,
				 "%s", what),
		    "Go on with it: %s %.200s",
		    *h->reencrypt_mode && strcmp(h->reencrypt_mode, "reencrypt")
			    ? "cryptsetup reencrypt --resume-only"
			    : "dmcrypt-tune reencrypt",
		    in->target);
}

/* What the header says must be understood before the volume may be used. */
static void find_requirements(struct findings *out, const struct findings_volume_input *in)
{
	const struct inspect *h = in->header;

	if (requires_unknown(h))
		finding_fix(findings_add(out, "requirement-unknown", FINDING_ERROR,
					 "The header requires %s, which is not known here: only a "
					 "program that knows it may use the volume or change its "
					 "header.",
					 *h->unknown ? h->unknown : "something"),
			    "Use the program that made it so, or a newer cryptsetup.");
	else if (*h->reencrypt)
		find_reencryption(out, in);
	else if (inspect_requirement(h->requirements, 0))
		finding_fix(findings_add(out, "requirement-unknown", FINDING_ERROR,
					 "The header requires %s, and says nothing more of it: the "
					 "volume cannot be used safely.",
					 inspect_requirement(h->requirements, 0)),
			    "Use the program that made it so.");
}

/* Commands that would change a header that must not be changed now are no advice. */
static void drop_fixes(struct findings *out)
{
	bool unknown = false, damaged = findings_damaged(out);

	for (size_t i = 0; i < out->n; i++)
		unknown |= !strcmp(out->list[i].id, "requirement-unknown");
	for (size_t i = 0; i < out->n; i++) {
		struct finding *f = &out->list[i];

		if ((unknown && strcmp(f->id, "requirement-unknown")) ||
		    (damaged && f->severity != FINDING_ERROR))
			f->fix[0] = '\0';
	}
}

static void find_place(struct findings *out, const struct findings_volume_input *in)
{
	const struct inspect *h = in->header;
	const struct device_facts *d = in->data;
	struct finding *f;

	if (in->backup)
		finding_fix(findings_add(out, "header-backup", FINDING_INFO,
					 "A header and nothing else, as cryptsetup "
					 "luksHeaderBackup saves it: the data are elsewhere."),
			    "To use it with them: --header %.80s; to put it back: cryptsetup "
			    "luksHeaderRestore DEVICE --header-backup-file %.80s",
			    in->path, in->path);
	else if (h->headers.kind == HEADER_LUKS1)
		finding_fix(findings_add(out, "luks1", FINDING_INFO,
					 "LUKS1 has a single header, no Argon2, no sector size "
					 "but 512 and no persistent flags."),
			    "Unless a boot loader needs it, and while it is closed: cryptsetup "
			    "convert %.200s --type luks2",
			    in->target);
	if (!in->backup && (!d || in->detached))
		finding_fix(findings_add(out, "detached", FINDING_INFO,
					 "The header stands apart from the data: without it they "
					 "are lost."),
			    "Keep a copy of it.");
	if (!d || h->data_offset >= d->size)
		return;
	if (h->data_offset % PHYSICAL_4K ||
	    (d->physical_block && h->data_offset % d->physical_block)) {
		f = findings_add(out, "data-misaligned", FINDING_WARNING,
				 "The data begin at byte %" PRIu64
				 ", which is no multiple of the disk's blocks: each write costs "
				 "reads.",
				 h->data_offset);
		finding_fix(f, "Only making it anew at another data offset mends that.");
	}
}

static void find_sector(struct findings *out, const struct findings_volume_input *in,
			unsigned sector, const char *mode)
{
	const struct device_facts *d = in->data;
	bool cbc = !strcmp(mode, "cbc");
	struct finding *f;

	if (!d || sector != SPEC_SECTOR_MIN || d->physical_block < PHYSICAL_4K)
		return;
	f = findings_add(out, cbc ? "cbc-512" : "sector-512",
			 cbc || d->logical_block >= PHYSICAL_4K ? FINDING_WARNING : FINDING_INFO,
			 "Encryption sectors of 512 bytes on a disk with %s blocks of %u: eight "
			 "times the requests%s that sectors of 4096 would need.",
			 d->logical_block >= PHYSICAL_4K ? "logical" : "physical",
			 d->physical_block, cbc ? " and eight serial chains of CBC" : "");
	finding_fix(f,
		    in->header && in->header->headers.kind == HEADER_LUKS1
			    ? "LUKS1 has no others: make a LUKS2 volume, or convert it first."
			    : "If what is on it works with blocks of 4096 bytes: dmcrypt-tune "
			      "reencrypt %.150s --auto --sector-size 4096",
		    in->target);
}

static bool has_workqueue_flag(const struct findings_volume_input *in)
{
	const char *name;

	for (unsigned i = 0; in->mapping && i < in->mapping->n_flags; i++)
		if (strstr(in->mapping->flags[i], "workqueue"))
			return true;
	for (unsigned i = 0; in->header && (name = inspect_flag(in->header->flags, i)); i++)
		if (strstr(name, "workqueue"))
			return true;
	return false;
}

static void find_flags(struct findings *out, const struct findings_volume_input *in)
{
	const struct device_facts *d = in->data;
	bool nvme = d && !strncmp(d->name, "nvme", 4);
	struct finding *f;

	if (!d || d->kind == DEVICE_FILE || d->rotational == 1 || (!nvme && d->rotational != 0) ||
	    has_workqueue_flag(in))
		return;
	f = findings_add(out, "no-workqueue-flags", nvme ? FINDING_WARNING : FINDING_INFO,
			 "%s, and every request goes through dm-crypt's work queues, which costs "
			 "latency there.",
			 nvme ? "The disk is an NVMe" : "The disk does not rotate");
	finding_fix(
		f, "Measure whether the flags help, and set them: dmcrypt-tune tune %.90s%s%.90s%s",
		in->mapping ? in->mapping->name : in->target,
		in->mapping && in->header_file ? " --header " : "",
		in->mapping && in->header_file ? in->header_file : "",
		in->header && in->header->headers.kind == HEADER_LUKS2 ? " --persistent" : "");
}

/* A mapping made from another header than the one that stands there now. */
static void find_difference(struct findings *out, const struct findings_volume_input *in)
{
	const struct mapping *m = in->mapping;
	const struct inspect *h = in->header;

	if (!m || !*m->cipher || !h || !h->loaded || *h->reencrypt ||
	    !strncmp(m->cipher, "capi:", 5))
		return;
	if (strcmp(m->cipher, h->cipher) || m->key_bits != h->key_bits || m->sector != h->sector)
		finding_fix(findings_add(out, "mapping-differs", FINDING_ERROR,
					 "The live mapping %s has %s with %u key bits and sectors "
					 "of %u; the header says %s, %u and %u.",
					 m->name, m->cipher, m->key_bits, m->sector, h->cipher,
					 h->key_bits, h->sector),
			    "Copy the data out while it is open: the header may not open them "
			    "again.");
}

static void find_better(struct findings *out, const struct findings_volume_input *in)
{
	const struct plan *plan = in->plan, *now = in->now;
	char spec[SPEC_TEXT_MAX];
	struct finding *f;

	if (!plan || !now || spec_equal(&plan->spec, &now->spec))
		return;
	if (plan->strength > now->strength)
		f = findings_add(out, "stronger-possible", FINDING_INFO,
				 "%s, which would be recommended here, has %u bits of strength "
				 "instead of %u.",
				 spec_print(&plan->spec, spec), plan->strength, now->strength);
	else if (now->speed > 0 && plan->speed > now->speed * FASTER)
		f = findings_add(out, "faster-possible", FINDING_INFO,
				 "%s, which would be recommended here, is %.1f times as fast.",
				 spec_print(&plan->spec, spec), plan->speed / now->speed);
	else
		return;
	if (in->header && in->header->headers.kind == HEADER_LUKS2)
		finding_fix(f, "dmcrypt-tune reencrypt %.200s --auto", in->target);
}

int findings_volume(struct findings *findings, const struct findings_volume_input *in)
{
	const struct inspect *h = in->header && in->header->loaded ? in->header : NULL;
	const struct mapping *m = in->mapping && *in->mapping->cipher ? in->mapping : NULL;
	struct cipher_parts parts;

	memset(findings, 0, sizeof(*findings));
	if (in->header)
		findings_damage(findings, in);
	if (h) {
		find_requirements(findings, in);
		find_place(findings, in);
		findings_keyslots(findings, in);
	}
	if (h || m) {
		cipher_split(&parts, h ? h->cipher : m->cipher);
		findings_cipher(findings, in, &parts);
		find_sector(findings, in, h ? h->sector : m->sector, parts.mode);
		find_flags(findings, in);
	}
	find_difference(findings, in);
	find_better(findings, in);
	drop_fixes(findings);
	return findings_sort(findings);
}
