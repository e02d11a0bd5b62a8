// SPDX-License-Identifier: GPL-2.0-or-later
/* What reencrypt shows before and says after. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd_reencrypt.h"
#include "report/json_facts.h"
#include "report/paragraph.h"
#include "util/json.h"
#include "util/output.h"
#include "util/text.h"
#include "util/units.h"

static void print_duration(FILE *out, double seconds)
{
	if (seconds >= 5400)
		fprintf(out, "%.1f hours", seconds / 3600);
	else if (seconds >= 90)
		fprintf(out, "%.0f minutes", seconds / 60);
	else
		fprintf(out, "%.0f s", seconds < 1 ? 1 : seconds);
}

static void print_cost(FILE *out, const struct reencryption *r)
{
	char size[UNITS_MAX], from[UNITS_MAX], to[UNITS_MAX];

	fprintf(out, "  Data:           %s, each byte read and written once\n",
		units_size(r->bytes, size));
	if (r->seconds > 0) {
		fprintf(out, "  Takes:          about ");
		print_duration(out, r->seconds);
		fprintf(out, " (decrypting at %s, encrypting at %s)\n",
			units_speed(r->now.decrypt, from), units_speed(r->plan.encrypt, to));
	} else if (!r->resumed) {
		fprintf(out,
			"  Takes:          a time that cannot be told: there is no figure for %s\n",
			r->has_now ? "this kernel's ciphers" : "the present cipher");
	}
}

void reencryption_show(const struct reencryption *r)
{
	FILE *out = r->globals->json ? stderr : stdout;
	char from[SPEC_TEXT_MAX], to[SPEC_TEXT_MAX];

	if (r->globals->json && r->globals->quiet)
		return;
	text_print(out, r->path);
	if (r->online)
		fprintf(out, ", open as %s", r->mapping);
	if (r->resumed)
		fprintf(out, ": a re-encryption that was cut short goes on\n");
	else
		fprintf(out, ": %s to %s\n",
			r->header.known ? spec_print(&r->header.spec, from) : r->header.cipher,
			spec_print(&r->spec, to));
	if (r->left)
		report_paragraph(out, 4, "  -",
				 "All data are done; only the header's end is left.");
	if (r->resumed && r->options->plan.cipher)
		report_paragraph(out, 4, "  -",
				 "What it becomes was settled when it began: --cipher has no say "
				 "any more.");
	if (r->resumed && !strcmp(r->header.resilience, "none"))
		report_paragraph(out, 4, "  -",
				 "It was begun without protection (resilience none). From here on "
				 "there is some; if a kill or a power cut ended it, what was at "
				 "work then is lost already.");
	if (!strcmp(r->header.reencrypt, "crashed"))
		report_paragraph(
			out, 4, "  -",
			"The area that was being written is put right first, sector by "
			"sector: a moment on most disks, minutes on a slow one, and nothing "
			"is to be seen of it meanwhile.");
	if (r->has_plan)
		for (size_t i = 0; i < r->plan.n_reasons && i < 2; i++)
			report_paragraph(out, 4, "  -", "%s", r->plan.reasons[i]);
	if (r->has_plan && !r->options->plan.sector_size)
		report_paragraph(out, 4, "  -",
				 "The sector size stays %u: what is in the volume may have blocks "
				 "of that size, and could not be used with larger sectors. "
				 "--sector-size says otherwise.",
				 r->header.sector);
	print_cost(out, r);
	fputc('\n', out);
}

static int print_json(const struct reencryption *r)
{
	struct json_object *doc = json_document("reencrypt"), *plan = NULL;
	char from[SPEC_TEXT_MAX], to[SPEC_TEXT_MAX];

	json_put(doc, "device", report_device_json(reencryption_device(r)));
	json_put_string(doc, "mapping", r->online ? r->mapping : NULL);
	json_put_string(doc, "uuid", r->header.uuid);
	json_put_string(doc, "from",
			r->header.known && !r->resumed ? spec_print(&r->header.spec, from) : NULL);
	json_put_string(doc, "to", r->spec.kind ? spec_print(&r->spec, to) : NULL);
	json_put_u64(doc, "bytes", r->bytes);
	json_put_u64_or_null(doc, "decrypt_bytes_per_second",
			     r->has_now ? (uint64_t)r->now.decrypt : 0);
	json_put_u64_or_null(doc, "encrypt_bytes_per_second",
			     r->has_plan ? (uint64_t)r->plan.encrypt : 0);
	json_put_u64_or_null(doc, "device_bytes_per_second",
			     r->source.has_disk ? (uint64_t)r->source.disk.speed : 0);
	json_put_u64_or_null(doc, "expected_seconds", (uint64_t)(r->seconds + 0.999));
	if (r->has_plan) {
		plan = json_object_new_object();
		cmd_plan_json(plan, &r->plan, &r->source, r->path, NULL, NULL);
	}
	json_put(doc, "plan", plan);
	json_put_bool(doc, "dry_run", r->options->dry_run);
	json_put_bool(doc, "resumed", r->resumed);
	json_put_bool(doc, "started", r->started);
	json_put_bool(doc, "finished", r->finished);
	return json_print(doc);
}

int reencryption_report(const struct reencryption *r)
{
	char spec[SPEC_TEXT_MAX];

	if (r->globals->json)
		return print_json(r);
	text_print(stdout, r->path);
	if (r->finished)
		printf(" is re-encrypted: %s. The header was read back.\n",
		       spec_print(&r->spec, spec));
	else if (r->nothing)
		printf(" has %s already; nothing was written.\n", spec_print(&r->spec, spec));
	else
		printf(": every check passed%s; nothing was written (dry run).\n",
		       r->secret.bytes ? "" : " (without a secret)");
	return output_flush();
}
