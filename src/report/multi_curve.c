// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/multi_curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "measure/trial.h"
#include "util/json.h"
#include "util/units.h"

static void print_curve(const struct measurement *m, const struct measure_multi *multi)
{
	char serial[UNITS_MAX], at_once[UNITS_MAX], size[UNITS_MAX];

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i], *s;

		s = trial_serial(m, multi, r);
		if (!s)
			continue;
		printf("    %7s in flight", units_size(r->size, size));
		if (r->threads > 1)
			printf(" in each of %u threads", r->threads);
		printf(" (%" PRIu64 "): %s, one after the other %s: %.2f times\n",
		       r->size / r->spec.sector, units_speed(r->median, at_once),
		       units_speed(s->median, serial), r->median / s->median);
	}
}

/* Whether anybody asked for it. */
static bool asked(const struct measurement *m)
{
	for (size_t i = 0; i < m->n_results; i++)
		if (m->results[i].shape == ENGINE_MULTI)
			return true;
	return false;
}

void multi_curve_text(const struct measurement *m)
{
	char spec[SPEC_TEXT_MAX];
	bool title = false;

	for (size_t i = 0; i < m->n_multis; i++) {
		const struct measure_multi *multi = &m->multis[i];
		const bool cbc = !strcmp(multi->spec.kind->mode, "cbc");

		if (!multi->available && (!cbc || !asked(m)))
			continue;
		if (!title)
			printf("\nEncrypting several sectors at once (--shape multi; dm-crypt does "
			       "not):\n");
		title = true;
		printf("  %s %s %s: ", spec_print(&multi->spec, spec),
		       multi->available ? "on" : "through OpenSSL", multi->tier);
		if (!multi->available)
			printf("not available, one sector after the other\n");
		else if (multi->from)
			printf("pays from %u sectors on, %.1f times as fast with %u\n", multi->from,
			       multi->gain, multi->sectors);
		else
			printf("does not pay\n");
		print_curve(m, multi);
	}
}

static struct json_object *curve(const struct measurement *m, const struct measure_multi *multi)
{
	struct json_object *array = json_object_new_array(), *point;

	for (size_t i = 0; i < m->n_results; i++) {
		const struct measure_result *r = &m->results[i], *s;

		s = trial_serial(m, multi, r);
		if (!s)
			continue;
		point = json_object_new_object();
		json_put_u64(point, "size", r->size);
		json_put_u64(point, "threads", r->threads);
		json_put_u64(point, "serial", (uint64_t)(s->median + 0.5));
		json_put_u64(point, "multi", (uint64_t)(r->median + 0.5));
		json_put_real(point, "gain", r->median / s->median);
		json_append(array, point);
	}
	return array;
}

struct json_object *multi_curve_json(const struct measurement *m, const struct measure_multi *multi)
{
	struct json_object *obj = json_object_new_object();
	char spec[SPEC_TEXT_MAX];

	json_put_string(obj, "spec", spec_print(&multi->spec, spec));
	json_put_string(obj, "tier", multi->tier);
	json_put_bool(obj, "available", multi->available);
	json_put_u64_or_null(obj, "pays_from_sectors", multi->from);
	json_put_u64_or_null(obj, "sectors", multi->sectors);
	if (multi->gain > 0)
		json_put_real(obj, "gain", multi->gain);
	else
		json_put(obj, "gain", NULL);
	json_put(obj, "curve", curve(m, multi));
	return obj;
}
