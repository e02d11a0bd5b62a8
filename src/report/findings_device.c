// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/findings_internal.h"
#include "util/units.h"

#define ENCRYPTION_SECTOR_MAX 4096
#define OPTIMAL_IO_SANE       (16ULL << 20) /* a wide RAID's full stripe at most */
#define LUKS2_HEADER          (16ULL << 20) /* of the usual size */

__attribute__((format(printf, 3, 4))) static void append(char *buf, size_t size, const char *format,
							 ...)
{
	size_t used = strlen(buf);
	va_list ap;

	va_start(ap, format);
	vsnprintf(buf + used, size - used, format, ap);
	va_end(ap);
}

static void find_users(struct findings *out, const struct device_facts *d, bool described)
{
	char list[300] = "";
	struct finding *f;

	if (!d->users_known && !described) {
		f = findings_add(out, "users-unknown", FINDING_WARNING,
				 "Who uses the device could not be seen: %s.", d->users_reason);
		finding_fix(f, "Mount /proc and /sys, or run it where they are.");
	}
	if (!d->n_users)
		return;
	for (size_t i = 0; i < d->n_users && i < 3; i++)
		append(list, sizeof(list), "%s%s%s%s %s", i ? "; " : "", d->users[i].part,
		       d->users[i].part[0] ? ": " : "", d->users[i].kind, d->users[i].what);
	if (d->n_users > 3)
		append(list, sizeof(list), "; and %zu more", d->n_users - 3);
	f = findings_add(out, "device-in-use", FINDING_ERROR, "The device is in use (%s).", list);
	finding_fix(f, "Unmount it, turn swap off, or take apart what holds it.");
}

static void find_contents(struct findings *out, const struct device_facts *d, bool described)
{
	char list[300] = "";
	bool ambiguous = false;
	struct finding *f;
	size_t shown = 0;

	if (!d->contents_known && !described) {
		f = findings_add(out, "contents-unknown", FINDING_WARNING,
				 "What is on the device could not be seen: %s.",
				 d->contents_reason);
		finding_fix(f, "Run it as root, or as somebody who may read the device.");
	}
	for (size_t i = 0; i < d->n_contents; i++) {
		const struct device_content *c = &d->contents[i];

		if (!strcmp(c->type, "ambiguous")) {
			ambiguous = true;
			continue;
		}
		if (shown++ >= 4)
			continue;
		append(list, sizeof(list), "%s%s", shown > 1 ? ", " : "",
		       strcmp(c->usage, "data") ? c->type : "data that nothing recognises");
		if (c->label[0])
			append(list, sizeof(list), " \"%.40s\"", c->label);
		if (c->partition)
			append(list, sizeof(list), " in partition %d", c->partition);
	}
	if (shown > 4)
		append(list, sizeof(list), ", and %zu more", shown - 4);
	if (shown)
		findings_add(out, "device-has-contents", FINDING_WARNING,
			     "The device is not empty: %s. Formatting destroys it.", list);
	if (ambiguous) {
		f = findings_add(out, "contents-ambiguous", FINDING_WARNING,
				 "The device bears the marks of several things at once; which one "
				 "is meant cannot be told.");
		finding_fix(f, "wipefs --no-act lists the marks.");
	}
}

static void find_alignment(struct findings *out, const struct device_facts *d)
{
	unsigned physical = d->physical_block ? d->physical_block : 512;
	struct finding *f;
	bool misaligned;

	if (d->optimal_io && (d->optimal_io % physical || d->optimal_io % ENCRYPTION_SECTOR_MAX ||
			      d->optimal_io > OPTIMAL_IO_SANE)) {
		f = findings_add(out, "optimal-io-absurd", FINDING_WARNING,
				 "The device says that %" PRIu64 " bytes are its best size of a "
				 "request, which makes no sense (USB bridges do that).",
				 d->optimal_io);
		finding_fix(f, "Do not align to it: 1 MiB (cryptsetup --offset) suits any disk.");
	}
	/* For a partition the kernel has counted its start in. */
	misaligned = d->alignment_offset % physical != 0;
	if (d->kind == DEVICE_PARTITION && (misaligned || d->start % ENCRYPTION_SECTOR_MAX)) {
		f = findings_add(
			out, "partition-misaligned", misaligned ? FINDING_WARNING : FINDING_INFO,
			"The partition begins at byte %" PRIu64 ", %s.", d->start,
			misaligned
				? "inside of a physical block: writes that are aligned to its start cross blocks"
				: "which is no multiple of 4096, though at the start of a physical block");
		if (misaligned)
			finding_fix(f, "Repartition with starts at multiples of 1 MiB.");
	} else if (misaligned) {
		f = findings_add(
			out, "alignment-offset", FINDING_WARNING,
			"The device's physical blocks begin %" PRIu64
			" bytes after its start: writes that are aligned to the start cross them.",
			d->alignment_offset);
		finding_fix(f, "Start a partition or the data area at such an offset.");
	}
	if (d->misaligned) {
		f = findings_add(out, "misaligned", FINDING_WARNING,
				 "The kernel says that the device is misaligned: its physical "
				 "blocks begin nowhere that suits all of what it is made of, and "
				 "writes cross them.");
		finding_fix(f, "Align what it is made of, partitions say, to 1 MiB.");
	}
	if (d->kind != DEVICE_FILE && d->logical_block && d->logical_block < physical)
		findings_add(out, "512e", FINDING_INFO,
			     "The device takes blocks of %u bytes and has physical ones of %u: "
			     "encryption sectors of %u bytes spare it read-modify-write.",
			     d->logical_block, physical,
			     physical < ENCRYPTION_SECTOR_MAX ? physical : ENCRYPTION_SECTOR_MAX);
}

static void find_size(struct findings *out, const struct device_facts *d)
{
	char size[UNITS_MAX];
	struct finding *f;

	if (d->size <= LUKS2_HEADER)
		findings_add(out, "device-too-small", FINDING_ERROR,
			     "The device has %s, and a LUKS2 header alone takes 16 MiB.",
			     units_size(d->size, size));
	if (d->size % ENCRYPTION_SECTOR_MAX) {
		f = findings_add(
			out, "size-not-4k", FINDING_WARNING,
			"The device's size, %" PRIu64 " bytes, is no multiple of 4096: with "
			"encryption sectors of 4096 bytes its last %" PRIu64 " bytes cannot "
			"be used, and some tools refuse.",
			d->size, d->size % ENCRYPTION_SECTOR_MAX);
		finding_fix(f, "Encryption sectors of 512 bytes use all of it.");
	}
}

static void find_kind(struct findings *out, const struct device_facts *d)
{
	if (d->read_only == 1)
		findings_add(out, "read-only", FINDING_ERROR, "The device is read-only.");
	if (d->zoned == DEVICE_ZONED_HOST_MANAGED)
		findings_add(out, "zoned", FINDING_ERROR,
			     "The device is zoned (host-managed): its sequential zones cannot be "
			     "written at any place, as a LUKS header has to be.");
	else if (d->zoned == DEVICE_ZONED_HOST_AWARE)
		findings_add(out, "zoned", FINDING_WARNING,
			     "The device is zoned (host-aware): it takes writes at any place, but "
			     "slowly.");
}

void findings_device(struct findings *out, const struct device_facts *d, bool described)
{
	find_users(out, d, described);
	find_contents(out, d, described);
	find_kind(out, d);
	find_size(out, d);
	find_alignment(out, d);
}
