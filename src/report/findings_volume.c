// SPDX-License-Identifier: GPL-2.0-or-later
/* What is wrong with a volume's header, mapping and place; its ciphers and password hashes are
 * findings_strength.c's. */
#include "report/findings_volume.h"

#include <inttypes.h>
#include <string.h>

#include "report/findings_volume_internal.h"
#include "util/units.h"

#define PHYSICAL_4K 4096U
/* What a recommendation must bring before it is worth saying. */
#define FASTER 1.1

static void find_copies(struct findings *out, const struct findings_volume_input *in)
{
	static const char *const ids[] = {"primary-damaged", "secondary-damaged"};
	static const char *const names[] = {"first", "second"};
	const struct inspect *h = in->header;
	struct finding *f;

	for (unsigned i = 0; i < h->headers.n; i++) {
		const struct header_copy *c = &h->headers.copies[i];

		if (h->load[i].loads && c->valid)
			continue;
		f = findings_add(out, ids[i], FINDING_ERROR,
				 "The %s copy of the header, at byte %" PRIu64 ", is damaged: %s%s",
				 names[i], c->offset, c->valid ? h->load[i].reason : c->reason,
				 c->valid ? "" : ".");
		finding_fix(f,
			    h->loaded ? "Save a copy (cryptsetup luksHeaderBackup), find out what "
					"wrote there, then mend it from the other one: cryptsetup "
					"repair %.200s"
				      : "Put a saved header back: cryptsetup luksHeaderRestore "
					"%.200s --header-backup-file FILE",
			    in->path);
	}
	if (h->headers.n == 2 && h->load[0].loads && h->load[1].loads &&
	    h->headers.copies[0].sequence != h->headers.copies[1].sequence)
		finding_fix(findings_add(out, "copies-differ", FINDING_WARNING,
					 "The two copies of the header are of different age "
					 "(%" PRIu64 " and %" PRIu64 "): a change was cut short. "
					 "The newer one counts.",
					 h->headers.copies[0].sequence,
					 h->headers.copies[1].sequence),
			    "cryptsetup repair %.200s makes them the same.", in->path);
}

static void find_reencryption(struct findings *out, const struct findings_volume_input *in)
{
	const struct inspect *h = in->header;
	struct finding *f;

	if (inspect_requirement(h->requirements, 0) || *h->reencrypt) {
		bool unknown = !*h->reencrypt;

		f = findings_add(out, unknown ? "requirement-unknown" : "reencrypt-interrupted",
				 unknown || strcmp(h->reencrypt, "clean") ? FINDING_ERROR
									  : FINDING_WARNING,
				 unknown ? "The header asks for something that is not known here; "
					   "the volume cannot be used safely."
				 : strcmp(h->reencrypt, "clean")
					 ? "A re-encryption was cut short, and the area that it "
					   "was at must be recovered before use."
					 : "A re-encryption has begun and is not finished.");
		if (unknown)
			finding_fix(f, "Use a newer cryptsetup.");
		else
			finding_fix(f, "Go on with it: dmcrypt-tune reencrypt %.200s", in->path);
	}
}

static void find_place(struct findings *out, const struct findings_volume_input *in)
{
	const struct inspect *h = in->header;
	const struct device_facts *d = in->data;
	char at[UNITS_MAX], size[UNITS_MAX];
	struct finding *f;

	if (h->headers.kind == HEADER_LUKS1)
		finding_fix(findings_add(out, "luks1", FINDING_INFO,
					 "LUKS1 has a single header, no Argon2, no sector size "
					 "but 512 and no persistent flags."),
			    "Unless a boot loader needs it, and while it is closed: cryptsetup "
			    "convert %.200s --type luks2",
			    in->path);
	if (!d || in->detached)
		finding_fix(findings_add(out, "detached", FINDING_INFO,
					 "The header stands apart from the data: without it they "
					 "are lost."),
			    "Keep a copy of it.");
	if (!d)
		return;
	if (!in->detached && h->data_offset >= d->size)
		findings_add(out, "data-outside", FINDING_ERROR,
			     "The data begin at %s, and the device ends at %s: it is a detached "
			     "header, or the device was cut.",
			     units_size(h->data_offset, at), units_size(d->size, size));
	else if (h->data_offset % PHYSICAL_4K ||
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
		    in->path);
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
	finding_fix(f, "Measure whether the flags help, and set them: dmcrypt-tune tune %.150s%s",
		    in->mapping ? in->mapping->name : in->path,
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
		finding_fix(f, "dmcrypt-tune reencrypt %.200s --auto", in->path);
}

bool findings_damaged(const struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strstr(findings->list[i].id, "-damaged"))
			return true;
	return false;
}

int findings_volume(struct findings *findings, const struct findings_volume_input *in)
{
	const struct inspect *h = in->header && in->header->loaded ? in->header : NULL;
	const struct mapping *m = in->mapping && *in->mapping->cipher ? in->mapping : NULL;
	struct cipher_parts parts;

	memset(findings, 0, sizeof(*findings));
	if (in->header)
		find_copies(findings, in);
	if (h) {
		find_reencryption(findings, in);
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
	return findings_sort(findings);
}
