// SPDX-License-Identifier: GPL-2.0-or-later
/* What inspect found, in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd_inspect.h"
#include "report/paragraph.h"
#include "report/text_facts.h"
#include "util/units.h"

#define INDENT 17

__attribute__((format(printf, 2, 3))) static void line(const char *label, const char *format, ...)
{
	char text[1200], padded[32];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	snprintf(padded, sizeof(padded), "  %s:", label);
	report_paragraph(stdout, INDENT, padded, "%s", text);
}

static void print_copies(const struct inspect *h)
{
	static const char *const names[] = {"First copy", "Second copy"};

	for (unsigned i = 0; i < h->headers.n && h->headers.kind == HEADER_LUKS2; i++) {
		const struct header_copy *c = &h->headers.copies[i];

		if (c->valid && h->load[i].loads)
			line(names[i], "sound, at byte %" PRIu64 ", sequence %" PRIu64, c->offset,
			     c->sequence);
		else
			line(names[i], "DAMAGED: %s", *c->reason ? c->reason : h->load[i].reason);
	}
}

static void print_keyslot(const struct inspect_keyslot *k)
{
	const struct plan_pbkdf *p = &k->pbkdf;
	char label[24], size[UNITS_MAX], time[48] = "", costs[120] = "no password hash";

	if (*p->type && p->memory)
		snprintf(costs, sizeof(costs), "%s, %s, %u thread%s, %" PRIu64 " iterations",
			 p->type, units_size(p->memory, size), p->threads,
			 p->threads == 1 ? "" : "s", p->iterations);
	else if (*p->type)
		snprintf(costs, sizeof(costs), "%s of %s, %" PRIu64 " iterations", p->type, p->hash,
			 p->iterations);
	if (k->unlock_ms > 0)
		snprintf(time, sizeof(time), "; about %.2f s to open here", k->unlock_ms / 1000);
	snprintf(label, sizeof(label), "Keyslot %d", k->slot);
	line(label, "%s%s%s%s", costs, time, k->bound ? "" : "; not of this volume's key",
	     !strcmp(k->priority, "normal")   ? ""
	     : !strcmp(k->priority, "prefer") ? "; tried first"
					      : "; only when asked for");
}

static void print_words(const char *label, const char *(*word)(uint32_t, unsigned), uint32_t bits)
{
	char list[256] = "";
	const char *name;
	size_t used = 0;

	for (unsigned i = 0; (name = word(bits, i)) && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 name);
	if (*list)
		line(label, "%s", list);
}

static void print_header(const struct inspection *in)
{
	const struct inspect *h = &in->header;

	report_paragraph(stdout, INDENT, "Header", "%s in %s%s",
			 h->headers.kind == HEADER_LUKS1 ? "LUKS1" : "LUKS2", in->header_path,
			 in->backup     ? " (a saved copy)"
			 : in->detached ? " (detached)"
					: "");
	print_copies(h);
	if (!h->loaded) {
		line("Contents", "neither copy can be used");
		return;
	}
	line("UUID", "%s", h->uuid);
	if (*h->label || *h->subsystem)
		line("Label", "%s%s%s", h->label, *h->subsystem ? ", subsystem " : "",
		     h->subsystem);
	for (unsigned i = 0; i < h->n_keyslots; i++)
		print_keyslot(&h->keyslots[i]);
	if (*in->unlock_reason)
		line("Unlocking", "could not all be tried: %s", in->unlock_reason);
	if (h->n_tokens)
		line("Tokens", "%u", h->n_tokens);
	print_words("Flags", inspect_flag, h->flags);
	print_words("Requires", inspect_requirement, h->requirements);
	if (*h->unknown)
		line("Not known", "the requirement %s", h->unknown);
}

static void print_mapping(const struct inspection *in)
{
	const struct mapping *m = &in->mapping;
	char flags[MAPPING_FLAGS * 34] = "none", size[UNITS_MAX];
	size_t used = 0;

	fputc('\n', stdout);
	report_paragraph(stdout, INDENT, "Mapping", "%s%s%s", m->name,
			 m->suspended ? ", suspended" : "", m->read_only ? ", read-only" : "");
	if (!in->mapping_seen) {
		line("Table", "not known: %s", in->mapping_reason);
		return;
	}
	for (unsigned i = 0; i < m->n_flags; i++)
		used += (size_t)snprintf(flags + used, sizeof(flags) - used, "%s%s", i ? ", " : "",
					 m->flags[i]);
	line("Table", "%s, %u key bits (key %s), sectors of %u, %s on %s from byte %" PRIu64,
	     m->cipher, m->key_bits, m->key_in_keyring ? "in the kernel's keyring" : "in the table",
	     m->sector, units_size(m->size, size), m->on, m->offset);
	line("Flags", "%s", flags);
	if (*in->header_reason)
		line("Header", "%s", in->header_reason);
}

static void print_volume(const struct inspection *in)
{
	const struct inspect *h = in->has_header && in->header.loaded ? &in->header : NULL;
	const struct spec *spec = inspection_spec(in);
	char text[SPEC_TEXT_MAX], speed[UNITS_MAX], other[UNITS_MAX];

	if (!h && !in->mapping_seen)
		return;
	fputc('\n', stdout);
	if (spec)
		report_paragraph(stdout, INDENT, "Volume", "%s", spec_print(spec, text));
	else
		report_paragraph(stdout, INDENT, "Volume", "%s, %u key bits, sectors of %u",
				 h ? h->cipher : in->mapping.cipher,
				 h ? h->key_bits : in->mapping.key_bits,
				 h ? h->sector : in->mapping.sector);
	if (spec)
		line("Strength", "%u bits (%s)", spec_strength(spec), spec_class_words(spec));
	if (h && *h->integrity)
		line("Integrity", "%s, %u bytes a sector", h->integrity, h->tag);
	if (h)
		line("Data begin at", "byte %" PRIu64, h->data_offset);
	if (in->has_now && in->now.speed > 0)
		line("Expected", "%s (%s)", units_speed(in->now.speed, speed),
		     plan_basis_name(in->now.basis));
	else if (in->has_now && in->now.encrypt > 0)
		line("Measured", "%s encrypting, %s decrypting (%s), no promise for the volume",
		     units_speed(in->now.encrypt, speed), units_speed(in->now.decrypt, other),
		     plan_basis_name(in->now.basis));
	else if (*in->now_reason)
		line("Expected", "not known: %s", in->now_reason);
}

static void print_plan(const struct inspection *in)
{
	char text[SPEC_TEXT_MAX], speed[UNITS_MAX];

	if (in->has_plan)
		line("Recommended", "%s, %u bits%s%s%s", spec_print(&in->plan.spec, text),
		     in->plan.strength, in->plan.speed > 0 ? ", " : "",
		     in->plan.speed > 0 ? units_speed(in->plan.speed, speed) : "",
		     inspection_spec(in) && spec_equal(inspection_spec(in), &in->plan.spec)
			     ? ": it has that"
			     : "");
	else if (*in->plan_reason)
		line("Recommended", "not known: %s", in->plan_reason);
}

void inspection_text(const struct inspection *in)
{
	if (in->has_header)
		print_header(in);
	if (in->has_mapping)
		print_mapping(in);
	print_volume(in);
	print_plan(in);
	if (in->has_device && !in->header_alone)
		report_device_text(stdout, &in->device);
	report_findings_text(stdout, &in->findings);
}
