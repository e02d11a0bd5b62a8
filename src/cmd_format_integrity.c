// SPDX-License-Identifier: GPL-2.0-or-later
/* format of a volume that keeps tags: what contradicts that, and the wipe with its progress. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd_format.h"
#include "util/interrupt.h"
#include "util/units.h"

#define LOST                                                                                       \
	"What was on it is lost, and it holds no volume that opens, since the header comes last. " \
	"Format it again."

int format_check_integrity(struct format *f, struct status *st)
{
	const struct kernel_dm *dm = &f->source.facts.kernel.dm;
	const struct spec *spec = &f->plan.spec;
	char text[SPEC_TEXT_MAX];

	f->plan.no_wipe = f->options->no_wipe;
	if (!spec->kind->integrity && f->options->no_wipe)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--integrity-no-wipe is of volumes with an integrity mode, and %s "
			"has none.",
			spec_print(spec, text));
	if (!spec->kind->integrity)
		return 0;
	if (f->options->undo_file)
		return status_set(st, ST_USAGE, EINVAL,
				  "--undo-file and an integrity mode contradict each other: the "
				  "whole device is written over, and no undo file holds that.");
	if (!dm->available)
		return status_set(
			st, ST_MISSING, ENOTSUP,
			"%s needs dm-crypt and dm-integrity here, which write the tags as "
			"the volume is made, and they cannot be had: %s. Nothing was "
			"written.",
			spec_print(spec, text),
			*dm->reason ? dm->reason : "device-mapper is not to be had");
	return 0;
}

static double since(const struct timespec *begun)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begun->tv_sec) + (double)(now.tv_nsec - begun->tv_nsec) / 1e9;
}

static int on_progress(void *arg, uint64_t size, uint64_t done)
{
	struct format *f = arg;
	double rate, left;
	char speed[UNITS_MAX], text[100];

	f->wipe_seconds = since(&f->progress.begun);
	rate = f->wipe_seconds > 0 ? (double)done / f->wipe_seconds : 0;
	left = rate > 0 ? (double)(size - done) / rate : 0;
	snprintf(text, sizeof(text), "wiping, %s, %.0f min %02.0f s left", units_speed(rate, speed),
		 (double)((uint64_t)left / 60), (double)((uint64_t)left % 60));
	progress_show(&f->progress, size ? (double)done / (double)size : 0, text);
	return interrupt_pending();
}

static bool untouched(void *arg)
{
	struct format *f = arg;

	return !f->area_begun || integrity_untouched(&f->area, f->area_before);
}

static int make_area(void *arg, struct status *st)
{
	struct format *f = arg;
	struct status why = {0};
	char size[UNITS_MAX];
	int ret;

	ret = extent_read(f->guard.fd, f->area_before, sizeof(f->area_before), f->plan.data_offset);
	if (ret)
		return status_set(st, ST_REFUSED, -ret,
				  "%s cannot be read at byte %" PRIu64 ": %s.", f->path,
				  f->plan.data_offset, strerror(-ret));
	f->area_begun = true;
	progress_begin(&f->progress, f->globals->quiet);
	ret = integrity_make(&f->area, &why);
	progress_end(&f->progress);
	if (ret && untouched(f))
		return status_set(st, ST_REFUSED, -ret, "%s was not formatted: %s", f->path,
				  why.message);
	if (ret == -EINTR)
		return status_set(st, ST_SIGNAL + (enum exit_status)interrupt_pending(), EINTR,
				  "Interrupted after %s of %s, %.0f %%, had been wiped. " LOST,
				  units_size(f->area.done, size), f->path,
				  100.0 * (double)f->area.done / (double)f->area.size);
	if (ret)
		return status_set(st, ST_CHECK, -ret,
				  "Formatting %s failed in its data area: %.600s " LOST, f->path,
				  why.message);
	f->mapped = true;
	return 0;
}

struct luks_between *format_between(struct format *f)
{
	if (!f->plan.spec.kind->integrity)
		return NULL;
	f->area = (struct integrity_area){
		.guard = &f->guard,
		.image = &f->image,
		.request = &f->request,
		.secret = &f->secret,
		.no_wipe = f->options->no_wipe,
		.progress = on_progress,
		.arg = f,
	};
	f->between = (struct luks_between){.run = make_area, .undone = untouched, .arg = f};
	return &f->between;
}
