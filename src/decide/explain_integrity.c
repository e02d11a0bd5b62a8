// SPDX-License-Identifier: GPL-2.0-or-later
/* What keeping tags costs (Linux Documentation/admin-guide/device-mapper/dm-integrity.rst). */
#include <inttypes.h>

#include "decide/explain_internal.h"
#include "util/units.h"

static void explain_space(struct plan *plan, const struct choice *w)
{
	unsigned stored = spec_stored(&w->spec);

	plan_reason(
		plan,
		"Keeps %u bytes beside each sector of %u (%.1f %% of the space): a tag of %u%s. "
		"Larger sectors cost less of it.",
		stored, w->spec.sector, 100.0 * stored / (stored + w->spec.sector),
		w->spec.kind->tag, w->spec.kind->iv_stored ? " and a random IV" : "");
	plan_reason(plan,
		    "Every write goes through dm-integrity's journal first, %u bytes a sector, so "
		    "that data and tag agree after a power cut: the disk writes all of it twice, "
		    "at half its speed.",
		    spec_journalled(&w->spec));
}

static void explain_wipe(struct plan *plan)
{
	const struct disk_speed *disk = &plan->disk.speed;
	double minutes = (double)plan->wipe_bytes / (disk->speed > 0 ? disk->speed : 1) / 60;
	char size[UNITS_MAX], speed[UNITS_MAX];

	if (!plan->wipe_bytes)
		plan_reason(plan, "The whole device must be written once before use, or reads of "
				  "what was never written fail.");
	else if (disk->speed > 0)
		plan_reason(plan,
			    "The whole device (%s) must be written once before use, or reads of "
			    "what was never written fail: about %.0f minutes if it writes as fast "
			    "as it reads (%s).",
			    units_size(plan->wipe_bytes, size), minutes < 1 ? 1 : minutes,
			    units_speed(disk->speed, speed));
	else
		plan_reason(plan,
			    "The whole device (%s) must be written once before use, or reads of "
			    "what was never written fail.",
			    units_size(plan->wipe_bytes, size));
}

void explain_integrity(struct plan *plan, const struct decide_input *input, const struct choice *w)
{
	if (!w->spec.kind->integrity)
		return;
	if (input->device)
		plan->wipe_bytes = decide_data_length(input->device, plan->data_offset);
	plan_reason(plan, "%s", w->spec.kind->protects);
	explain_space(plan, w);
	explain_wipe(plan);
	plan_reason(plan, "format does that as it makes the volume; discards do not pass through "
			  "it.");
}
