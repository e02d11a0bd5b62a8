// SPDX-License-Identifier: GPL-2.0-or-later
/* --explain: the arithmetic of a decision, for whoever wants to do it again by hand. */
#include "cmd_plan.h"

#include <inttypes.h>
#include <string.h>

#include "report/paragraph.h"
#include "util/text.h"
#include "util/units.h"

#define VALUE_MAX 64

/* A number with its unit. */
static const char *print_value(const struct policy_number *n, double value, char buf[VALUE_MAX])
{
	char size[UNITS_MAX];

	if (!strcmp(n->unit, "bytes"))
		snprintf(buf, VALUE_MAX, "%s", units_size((uint64_t)value, size));
	else
		snprintf(buf, VALUE_MAX, "%.6g %s", value, n->unit);
	return buf;
}

/* The reason beside a number is the program's own: another value is another's, and says whose. */
static void print_numbers(FILE *out, const struct plan_source *source)
{
	const struct policy *policy = source->policy, *own = policy_find(policy->name);
	char value[VALUE_MAX], built_in[VALUE_MAX];

	fprintf(out, "\nThe policy's numbers (%s", policy->name);
	if (source->config) {
		fputs(", as changed by ", out);
		text_print(out, source->config);
	}
	fputs("):\n", out);
	for (const struct policy_number *n = policy_numbers; n->key; n++) {
		print_value(n, policy_value(policy, n), value);
		if (!own || policy_value(policy, n) == policy_value(own, n))
			report_paragraph(out, 4, "  -", "%s = %s. %s", n->key, value, n->reason);
		else
			report_paragraph(out, 4, "  -",
					 "%s = %s, as %s says; the program's own is %s. %s", n->key,
					 value,
					 source->by_option == n->offset + 1 ? "--min-strength"
									    : source->config,
					 print_value(n, policy_value(own, n), built_in), n->reason);
	}
}

/* "512: 900 MB/s; 1024: not measured; …" */
static void print_sizes(FILE *out, const struct plan_candidate *c)
{
	char text[256] = "", speed[UNITS_MAX];

	for (size_t i = 0; i < c->n_sizes; i++) {
		const struct plan_size *size = &c->sizes[i];
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s%u: %s", i ? "; " : "", size->sector,
			 size->speed > 0 ? units_speed(size->speed, speed)
			 : size->allowed ? "not measured"
					 : "not allowed");
	}
	report_paragraph(out, 6, "     ", "By sector size: %s.", text);
}

static void print_candidate(FILE *out, const struct plan_candidate *c, double share)
{
	char spec[SPEC_TEXT_MAX], other[SPEC_TEXT_MAX], enc[UNITS_MAX], dec[UNITS_MAX];
	char mixed[UNITS_MAX], low[UNITS_MAX], high[UNITS_MAX], asked[64] = "";

	spec_print(&c->spec, spec);
	if (c->margin * c->rare != 1)
		snprintf(asked, sizeof(asked),
			 ", must be %.2f times as fast as the strongest usual",
			 c->margin * c->rare);
	if (!(c->speed > 0)) {
		report_paragraph(out, 4, "  -", "%s: %s, %u bits%s.", spec, c->state,
				 spec_strength(&c->spec), asked);
		return;
	}
	report_paragraph(
		out, 4, "  -",
		"%s: %s, %u bits%s. 1 / (%.2f / %s + %.2f / %s) = %s; compared as %s to %s%s%s.",
		spec, c->state, spec_strength(&c->spec), asked, share, units_speed(c->decrypt, dec),
		1 - share, units_speed(c->encrypt, enc), units_speed(c->speed, mixed),
		units_speed(c->low, low), units_speed(c->high, high),
		c->beaten_by.kind ? "; beaten by " : "",
		c->beaten_by.kind ? spec_print(&c->beaten_by, other) : "");
	print_sizes(out, c);
}

/* Those that protect alike share a line. */
static void print_protects(FILE *out, const struct plan *plan)
{
	const struct plan_candidate *c = plan->candidates;
	char specs[512], spec[SPEC_TEXT_MAX];

	fprintf(out, "\nWhat each protects, and what not:\n");
	for (size_t i = 0, first; i < plan->n_candidates; i++) {
		for (first = 0; strcmp(c[first].spec.kind->protects, c[i].spec.kind->protects);
		     first++)
			;
		if (first < i)
			continue;
		*specs = '\0';
		for (size_t j = i; j < plan->n_candidates; j++) {
			struct spec one = c[j].spec;
			size_t used = strlen(specs);

			one.sector = 0;
			if (!strcmp(c[j].spec.kind->protects, c[i].spec.kind->protects))
				snprintf(specs + used, sizeof(specs) - used, "%s%s",
					 j > i ? ", " : "", spec_print(&one, spec));
		}
		report_paragraph(out, 4, "  -", "%s: %s", specs, c[i].spec.kind->protects);
	}
}

/* What is between a layer's figure and what dm-crypt is expected to do. */
static void print_arithmetic(FILE *out, const struct plan_arithmetic *a)
{
	if (!(a->error > 0))
		return;
	if (a->crossing_known)
		report_paragraph(out, 4, "  -",
				 "Taken off each request: %.0f ns of crossing into the kernel.",
				 a->crossing * 1e9);
	if (a->handover > 0)
		report_paragraph(
			out, 4, "  -",
			"Added: %.0f ns a sector; a request of 64 KiB a system call of %.0f ns and a hand-over of %.0f ns, %.1f times to read and %.1f times to write; and moving bytes, of which copying takes %.1f ns a KiB.",
			a->per_sector * 1e9, a->call * 1e9, a->handover * 1e9,
			a->turns[ENGINE_DECRYPT], a->turns[ENGINE_ENCRYPT], a->copy * 1024 * 1e9);
	report_paragraph(out, 4, "  -",
			 "All of this may be off by %.0f %%, for all candidates alike.",
			 100 * a->error);
}

static void print_disk(FILE *out, const struct plan_disk *d)
{
	char speed[UNITS_MAX], each[UNITS_MAX];

	if (!(d->speed.speed > 0) || !(d->needed > 0))
		return;
	report_paragraph(out, 4, "  -",
			 "The disk: %s (%s), by %s that one CPU does: %.2f CPUs busy of %.3g.",
			 units_speed(d->speed.speed, speed), d->speed.from,
			 units_speed(d->speed.speed / d->needed, each), d->needed, d->worth);
}

void cmd_plan_explain(FILE *out, const struct plan *plan, const struct plan_source *source)
{
	print_numbers(out, source);
	fprintf(out, "\nThe figures (reads decrypt, writes encrypt; time adds up, not speed):\n");
	for (size_t i = 0; i < plan->n_candidates; i++)
		print_candidate(out, &plan->candidates[i], source->policy->read_share);
	print_arithmetic(out, &plan->arithmetic);
	print_disk(out, &plan->disk);
	report_paragraph(
		out, 4, "  -",
		"One candidate beats another when the low end of what it is compared as, divided by its margin, is more than %.0f %% above the other's high end divided by its own. Of those that nobody beats, the strongest is taken, and of these the most usual.",
		100 * plan->arithmetic.noise_floor);
	print_protects(out, plan);
}
