// SPDX-License-Identifier: GPL-2.0-or-later
/* Reasons that the disk, the sector size and the volume's use give. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "decide/explain_internal.h"
#include "util/units.h"

/* "4 CPUs are", "1 CPU is", "0.5 CPUs' worth of time is" */
static void cpus_words(char words[64], const struct plan_disk *d, bool verb)
{
	if (d->worth < d->cpus)
		snprintf(words, 64, "%.3g CPUs' worth of time%s", d->worth, verb ? " is" : "");
	else
		snprintf(words, 64, "%u CPU%s", d->cpus,
			 d->cpus > 1 ? verb ? "s are" : "s"
			 : verb      ? " is"
				     : "");
}

void explain_disk(struct plan *plan, const struct choice *w)
{
	const struct plan_disk *d = &plan->disk;
	char speed[UNITS_MAX], all[UNITS_MAX], text[SPEC_TEXT_MAX], busy[UNITS_MAX];
	char cpus[64], cpus_are[64];

	if (!*d->speed.from)
		return;
	if (!(d->speed.speed > 0)) {
		plan_reason(
			plan,
			"The disk's own speed is not known (%s), so no cipher is held against it.",
			d->speed.reason);
		return;
	}
	units_speed(d->speed.speed, speed);
	units_count(d->needed, busy);
	cpus_words(cpus, d, false);
	cpus_words(cpus_are, d, true);
	if (!(d->needed > 0))
		plan_reason(plan, "The disk reads at %s; there is no figure to hold against it.",
			    speed);
	else if (d->limits)
		plan_reason(
			plan,
			"The disk reads at %s, which every cipher here keeps up with on %s: strength decides, and among equals the CPU time. With %s %s of %s busy at full disk speed.",
			speed, cpus, spec_print(&w->spec, text), busy, cpus_are);
	else if (d->needed <= d->worth)
		plan_reason(
			plan,
			"The disk reads at %s: at full disk speed %s of %s busy with the cipher.",
			speed, busy, cpus_are);
	else
		plan_reason(
			plan,
			"The disk reads at %s, more than the %s that %s could do: the cipher is the limit.",
			speed, units_speed(d->speed.speed * d->worth / d->needed, all), cpus);
}

/* Whether a larger sector size, though it could be had, has no figure to compare. */
static bool larger_unmeasured(const struct decide_input *input, const struct ground *ground,
			      const struct choice *w)
{
	struct spec spec = w->spec;
	struct speed speed;
	char reason[192];

	if (!(w->speed.mixed > 0))
		return false;
	for (spec.sector *= 2; spec.sector <= SPEC_SECTOR_MAX; spec.sector *= 2) {
		speed_of(&speed, input, ground, &spec);
		if (!(speed.mixed > 0) &&
		    sector_allowed(input, spec.kind, spec.sector, false, reason, sizeof(reason)))
			return true;
	}
	return false;
}

/* What the size brings over the smallest, in figures, where both were measured. */
static void explain_gain(char *text, size_t size, const struct decide_input *input,
			 const struct ground *ground, const struct choice *w)
{
	struct spec small = w->spec;
	struct speed speed;
	double gain;

	*text = '\0';
	small.sector = SPEC_SECTOR_MIN;
	if (!(w->speed.mixed > 0) || w->speed.order_only || w->spec.sector == SPEC_SECTOR_MIN)
		return;
	speed_of(&speed, input, ground, &small);
	gain = speed.mixed > 0 ? 100 * (w->speed.mixed / speed.mixed - 1) : 0;
	if (gain >= 0.5 || gain <= -0.5)
		snprintf(text, size, " It measures %.0f %% %s than 512.", fabs(gain),
			 gain > 0 ? "faster" : "slower");
	else if (speed.mixed > 0)
		snprintf(text, size, " It measures as fast as 512.");
}

/* What a power cut in the middle of a write leaves. */
static void explain_tearing(struct plan *plan, const struct decide_input *input,
			    const struct choice *w)
{
	const struct device_facts *d = input->device;
	unsigned sector = w->spec.sector;

	if (!d || d->kind == DEVICE_FILE || !d->physical_block || sector <= d->physical_block)
		return;
	if (d->atomic_unit_min <= sector && sector <= d->atomic_unit_max)
		plan_reason(
			plan,
			"It is larger than the disk's physical block of %u bytes, but the disk promises to write up to %" PRIu64
			" bytes whole or not at all.",
			d->physical_block, d->atomic_unit_max);
	else if (w->spec.kind->integrity)
		plan_reason(
			plan,
			"It is larger than the disk's physical block of %u bytes; dm-integrity's journal writes it whole or not at all.",
			d->physical_block);
	else if (!strcmp(w->spec.kind->mode, "xts"))
		plan_reason(
			plan,
			"It is larger than the disk's physical block of %u bytes: each 16-byte block stands alone in %s, so a torn write leaves what it would leave without encryption.",
			d->physical_block, w->spec.kind->mode);
	else
		plan_reason(
			plan,
			"It is larger than the disk's physical block of %u bytes: a torn write loses %s, as it would not without encryption.",
			d->physical_block,
			w->spec.kind->wide_block ? "the whole sector"
						 : "the 16 bytes after the tear");
}

/* The mapping's blocks are as large as its sectors: whoever joins it with others minds. */
static void explain_neighbours(struct plan *plan, const struct decide_input *input,
			       const struct choice *w)
{
	const struct device_facts *d = input->device;
	unsigned own = d && d->logical_block ? d->logical_block : SPEC_SECTOR_MIN;

	if ((input->use == PLAN_FOR_LVM || input->use == PLAN_FOR_VM) && w->spec.sector == own)
		plan_reason(
			plan,
			input->use == PLAN_FOR_LVM
				? "For LVM: the mapping keeps the disk's own block size of %u bytes, since a volume group takes disks of one block size only."
				: "For virtual machines: guests see the disk's own block size of %u bytes, with which images and partition tables are made.",
			own);
	else if ((input->use == PLAN_FOR_LVM || input->use == PLAN_FOR_VM ||
		  (d && d->kind != DEVICE_FILE)) &&
		 w->spec.sector > own)
		plan_reason(
			plan,
			"The opened volume has blocks of %u bytes where the disk has %u: LVM joins it with no disk of %u, and a guest's image made on %u does not start from it. Where that matters: --for lvm, --for vm, or --sector-size %u.",
			w->spec.sector, own, own, own, own);
}

void explain_sector(struct plan *plan, const struct decide_input *input,
		    const struct ground *ground, const struct choice *w)
{
	const struct device_facts *d = input->device;
	const char *where = d ? "the data area's place and length allow" : "dm-crypt has";
	unsigned next = w->spec.sector * 2;
	char gain[80], against[192];

	explain_gain(gain, sizeof(gain), input, ground, w);
	if (input->sector || (input->wanted && input->wanted->sector))
		plan_reason(plan, "Sector size %u as asked for.%s", w->spec.sector, gain);
	else if (input->use == PLAN_FOR_GRUB)
		plan_reason(plan, "Sector size %u: GRUB is sure of no other.", w->spec.sector);
	else if (next <= SPEC_SECTOR_MAX &&
		 !sector_allowed(input, w->spec.kind, next, false, against, sizeof(against)))
		plan_reason(plan, "Sector size %u: not %u, since %s.%s", w->spec.sector, next,
			    against, gain);
	else if (larger_unmeasured(input, ground, w))
		plan_reason(plan, "Sector size %u: a larger one was not measured.%s",
			    w->spec.sector, gain);
	else if (ground->basis == PLAN_BASIS_DM && w->spec.sector == SPEC_SECTOR_MIN)
		plan_reason(plan, "Sector size %u: every larger one measures slower.",
			    w->spec.sector);
	else if (ground->basis == PLAN_BASIS_DM)
		plan_reason(
			plan,
			"Sector size %u: the largest that %s and that does not measure slower; fewer, larger sectors cost fewer requests, tweaks and IVs.%s",
			w->spec.sector, where, gain);
	else
		plan_reason(
			plan,
			"Sector size %u: the largest that %s%s; fewer, larger sectors cost fewer requests, tweaks and IVs.%s",
			w->spec.sector, where,
			ground->basis == PLAN_BASIS_FACTS ? "" : " and that does not cost speed",
			gain);
	explain_tearing(plan, input, w);
	explain_neighbours(plan, input, w);
}

/* What `format` would say of the device as it is now. */
static void explain_device(struct plan *plan, const struct decide_input *input)
{
	const struct device_facts *d = input->device;

	if (d->n_users)
		plan_reason(plan, "%s is in use (%s %s): format will refuse it until it is not.",
			    d->path, d->users[0].kind, d->users[0].what);
	if (d->read_only == 1)
		plan_reason(plan, "%s is read-only: format will refuse it.", d->path);
	if (d->zoned == DEVICE_ZONED_HOST_MANAGED)
		plan_reason(plan, "%s is a host-managed zoned device: format will refuse it.",
			    d->path);
	if (input->place.given || input->place.detached)
		plan_reason(plan, "The data begin at byte %" PRIu64 "%s.", plan->data_offset,
			    input->place.given ? ", as asked for"
					       : ": the header is kept elsewhere");
	else if (d->optimal_io && !decide_optimal_io_sane(d))
		plan_reason(
			plan,
			"The device's optimal I/O size of %" PRIu64
			" bytes is not taken for aligning: it is no multiple of 4096, or absurdly large.",
			d->optimal_io);
	else if (plan->data_offset != PLAN_DATA_OFFSET)
		plan_reason(plan,
			    "The data begins at byte %" PRIu64
			    ", the next multiple of the device's optimal I/O size of %" PRIu64 ".",
			    plan->data_offset, d->optimal_io);
}

/* Never by itself: which blocks are in use is something that encryption hides. */
static void explain_discards(struct plan *plan, const struct decide_input *input)
{
	const struct device_facts *d = input->device;

	if (input->discards && d && d->discard == 0)
		plan_reason(plan,
			    "Discards are passed on as asked for; this disk takes none, so nothing "
			    "comes of it.");
	else if (input->discards)
		plan_reason(
			plan,
			"Discards are passed on as asked for: the disk stays fast and spares its cells, and whoever gets at it sees which blocks are in use, and with that often the file system and how full it is.");
	else if (d && d->discard == 1)
		plan_reason(
			plan,
			"Discards stay off: they would show which blocks are in use. --allow-discards turns them on, for a disk that slows down or wears without.");
}

static void explain_use(struct plan *plan, const struct decide_input *input)
{
	if (input->use == PLAN_FOR_GRUB)
		plan_reason(
			plan,
			"For GRUB: AES-XTS, 512-byte sectors and PBKDF2, which every version that knows LUKS2 opens. It is slow at it, without the CPU's instructions and on one CPU: an unlock takes several times as long as here, and after a wrong passphrase it drops to its rescue shell. A small /boot of its own is the way around.");
	else if (input->use == PLAN_FOR_IMAGE)
		plan_reason(
			plan,
			"For an image: it may come to lie on any disk and be opened on any machine, so nothing is built on this disk's blocks; say --unlock-memory where a small machine is to open it.");
}

void explain_place(struct plan *plan, const struct decide_input *input)
{
	const struct kernel_dm *dm = &input->facts->kernel.dm;

	explain_use(plan, input);
	if (!dm->available && dm->reason[0])
		plan_reason(plan, "This machine cannot open the volume now: %s.", dm->reason);
	if (input->device)
		explain_device(plan, input);
	if (!plan->spec.kind->integrity)
		explain_discards(plan, input);
	plan_reason(plan, "Password hash: %s.", plan->pbkdf.reason);
}
