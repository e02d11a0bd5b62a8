// SPDX-License-Identifier: GPL-2.0-or-later
/* What of a volume is damaged or gone, and what its header says that cannot be. */
#include <inttypes.h>
#include <string.h>

#include "report/findings_volume_internal.h"
#include "util/units.h"

#define CUT                                                                                        \
	"It was cut, or not copied whole: copy it again, or give the device its size back. What "  \
	"is beyond the end is not here."

static void fix_copy(struct finding *f, const struct findings_volume_input *in,
		     const struct header_copy *c)
{
	if (c->cut)
		finding_fix(f, "%s", CUT);
	else if (!in->header->loaded)
		finding_fix(f,
			    "Put a saved header back: cryptsetup luksHeaderRestore %.200s "
			    "--header-backup-file FILE",
			    in->target);
	else if (c->version && c->version != 2)
		finding_fix(f,
			    "If a newer program made it, only that one may touch it, and "
			    "cryptsetup overwrites it unasked: save a copy with dd. If not, the "
			    "other copy is sound: cryptsetup repair %.100s",
			    in->target);
	else
		finding_fix(f,
			    "Save a copy (cryptsetup luksHeaderBackup), find out what wrote "
			    "there, then mend it from the other one: cryptsetup repair %.130s",
			    in->target);
}

static void find_copies(struct findings *out, const struct findings_volume_input *in)
{
	static const char *const ids[] = {"primary-damaged", "secondary-damaged"};
	static const char *const names[] = {"first", "second"};
	const struct inspect *h = in->header;

	for (unsigned i = 0; i < h->headers.n; i++) {
		const struct header_copy *c = &h->headers.copies[i];

		if (h->load[i].loads && c->valid)
			continue;
		fix_copy(findings_add(out, ids[i], FINDING_ERROR,
				      "%s%s%s, at byte %" PRIu64 ", is damaged: %s%s",
				      h->headers.n > 1 ? "The " : "The header",
				      h->headers.n > 1 ? names[i] : "",
				      h->headers.n > 1 ? " copy of the header" : "", c->offset,
				      c->valid ? h->load[i].reason : c->reason,
				      c->valid ? "" : "."),
			 in, c);
	}
	if (h->headers.n == 2 && h->load[0].loads && h->load[1].loads &&
	    h->headers.copies[0].sequence != h->headers.copies[1].sequence)
		finding_fix(findings_add(out, "copies-differ", FINDING_WARNING,
					 "The two copies of the header are of different age "
					 "(%" PRIu64 " and %" PRIu64 "): a change was cut short. "
					 "The newer one counts.",
					 h->headers.copies[0].sequence,
					 h->headers.copies[1].sequence),
			    "cryptsetup repair %.200s makes them the same.", in->target);
}

/* Where the data are to begin there is nothing any more. */
static void find_end(struct findings *out, const struct findings_volume_input *in)
{
	char at[UNITS_MAX], size[UNITS_MAX];

	if (!in->data || in->header->data_offset < in->data->size)
		return;
	finding_fix(findings_add(out, "data-outside", FINDING_ERROR,
				 "The data begin at %s (byte %" PRIu64
				 "), and the device ends at %s (byte %" PRIu64 ").",
				 units_size(in->header->data_offset, at), in->header->data_offset,
				 units_size(in->data->size, size), in->data->size),
		    in->detached ? CUT
				 : CUT " If it is a header kept apart from its data: cryptsetup "
				       "open DEVICE NAME --header %.100s",
		    in->path);
}

static void fix_keyslot(struct finding *f, const struct findings_volume_input *in)
{
	finding_fix(f,
		    "Only a saved header brings it back: cryptsetup luksHeaderRestore %.200s "
		    "--header-backup-file FILE",
		    in->target);
}

static void find_area(struct findings *out, const struct findings_volume_input *in,
		      const struct inspect_keyslot *k)
{
	const unsigned sectors = (unsigned)(k->area_size / 512);

	if (k->area_outside)
		finding_fix(findings_add(out, "keyslot-outside", FINDING_ERROR,
					 "Keyslot %d: its area, %" PRIu64
					 " bytes from byte %" PRIu64
					 ", is beyond the end: it does not open.",
					 k->slot, k->area_size, k->area_offset),
			    "%s", CUT);
	else if (k->area_bad)
		fix_keyslot(findings_add(out, "keyslot-damaged", FINDING_ERROR,
					 "Keyslot %d: its area, %" PRIu64
					 " bytes from byte %" PRIu64
					 ", was %s: %u of %u sectors are no ciphertext. It does "
					 "not open.",
					 k->slot, k->area_size, k->area_offset,
					 k->area_bad == sectors ? "blanked or overwritten"
								: "overwritten in part",
					 k->area_bad, sectors),
			    in);
}

void findings_damage(struct findings *out, const struct findings_volume_input *in)
{
	const struct inspect *h = in->header;

	find_copies(out, in);
	if (!h->loaded)
		return;
	find_end(out, in);
	for (unsigned i = 0; i < h->n_keyslots; i++) {
		const struct inspect_keyslot *k = &h->keyslots[i];

		find_area(out, in, k);
		if (*k->absurd)
			fix_keyslot(findings_add(out, "pbkdf-impossible", FINDING_ERROR,
						 "Keyslot %d: its password hash has %s, which "
						 "cannot be: it does not open.",
						 k->slot, k->absurd),
				    in);
	}
	if (*h->digest_absurd)
		fix_keyslot(findings_add(out, "digest-impossible", FINDING_ERROR,
					 "The digest of the volume key has %s, which cannot be: no "
					 "keyslot opens the volume.",
					 h->digest_absurd),
			    in);
}

bool findings_damaged(const struct findings *findings)
{
	static const char *const kinds[] = {"-damaged", "-outside", "-impossible"};

	for (size_t i = 0; i < findings->n; i++)
		for (size_t j = 0; j < sizeof(kinds) / sizeof(kinds[0]); j++)
			if (strstr(findings->list[i].id, kinds[j]))
				return true;
	return false;
}
