// SPDX-License-Identifier: GPL-2.0-or-later
/* What format's options say, checked before anything is opened. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd_format.h"
#include "cmd_key.h"
#include "util/units.h"
#include "volume/luks.h"
#include "volume/quality.h"
#include "volume/undo.h"

#define OFFSET_MAX 9007199254740992.0 /* bytes: every number below has its own double */

static bool uuid_valid(const char *text)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (strlen(text) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == '-' ? text[i] != '-' : !strchr("0123456789abcdefABCDEF", text[i]))
			return false;
	return true;
}

bool format_luks1(const struct format_options *o)
{
	return o->type && !strcmp(o->type, "luks1");
}

/* An option that a LUKS1 header has no place for, or NULL. */
static const char *not_luks1(const struct format_options *o)
{
	if (o->label)
		return "--label";
	if (o->subsystem)
		return "--subsystem";
	if (o->plan.pbkdf && strcmp(o->plan.pbkdf, "pbkdf2"))
		return "--pbkdf other than pbkdf2";
	if (o->plan.pbkdf_memory)
		return "--pbkdf-memory";
	if (o->plan.pbkdf_parallel)
		return "--pbkdf-parallel";
	if (o->plan.sector_size && o->plan.sector_size != 512)
		return "--sector-size other than 512";
	if (o->plan.integrity)
		return "--integrity";
	if (o->header)
		return "--header";
	return o->plan.allow_discards ? "--allow-discards (which LUKS2 stores)" : NULL;
}

/* What the type says of the plan is said to the plan's options. */
static int check_type(struct format_options *o, struct status *st)
{
	struct plan_source source = {0};
	const char *fault;
	int ret;

	if (o->type && strcmp(o->type, "luks2") && !format_luks1(o))
		return status_set(st, ST_USAGE, EINVAL,
				  "--type: \"%s\" is none of luks1 and luks2.", o->type);
	if (!format_luks1(o))
		return 0;
	fault = not_luks1(o);
	if (fault)
		return status_set(st, ST_USAGE, EINVAL,
				  "--type luks1 and %s contradict each other.", fault);
	ret = cmd_plan_parse(&source, &o->plan, o->plan.from != NULL, st);
	if (!ret && source.has_wanted && source.wanted.kind->wide_block)
		ret = status_set(st, ST_USAGE, EINVAL,
				 "--type luks1 and --cipher %s contradict each other: what needs "
				 "LUKS1 opens no such cipher.",
				 o->plan.cipher);
	plan_source_free(&source);
	o->plan.sector_size = 512;
	o->plan.pbkdf = "pbkdf2";
	return ret;
}

int format_fit_luks1(struct plan *plan, struct status *st)
{
	char text[SPEC_TEXT_MAX];

	/* A LUKS1 header stores no flags; crypttab can. */
	plan->n_flags = 0;
	plan->luks1 = true;
	if (plan->spec.kind->wide_block)
		return status_set(st, ST_REFUSED, EINVAL,
				  "%s is best here, but what needs LUKS1 opens no such cipher; "
				  "--cipher aes-xts-plain64 insists on one that it opens. Nothing "
				  "was written.",
				  spec_print(&plan->spec, text));
	return 0;
}

/* A number alone counts sectors of 512 bytes, as cryptsetup's --offset does. */
static int parse_offset(struct format_options *o, struct status *st)
{
	struct plan_place *place = &o->plan.place;
	bool sectors = o->offset && !o->offset[strspn(o->offset, "0123456789")];
	double bytes;

	place->luks1 = format_luks1(o);
	place->detached = o->header != NULL;
	if (!o->offset)
		return 0;
	if (units_parse_size(o->offset, &bytes) || bytes * (sectors ? 512 : 1) > OFFSET_MAX)
		return status_set(st, ST_USAGE, EINVAL,
				  "--offset: \"%s\" is neither a number of 512-byte sectors nor a "
				  "size such as 32M (K, M, G), up to 2^53 bytes.",
				  o->offset);
	bytes *= sectors ? 512 : 1;
	place->given = true;
	place->offset = (uint64_t)bytes;
	if ((double)place->offset != bytes || place->offset % SPEC_SECTOR_MAX)
		return status_set(st, ST_USAGE, EINVAL,
				  "--offset: %s is byte %.0f, which is no multiple of 4096; LUKS "
				  "takes no other place for the data. (A number without a unit "
				  "counts sectors of 512 bytes.)",
				  o->offset, bytes);
	return 0;
}

int format_check_offset(const struct plan *plan, const struct format_options *o, struct status *st)
{
	uint64_t least = luks_header_least(plan);
	char text[SPEC_TEXT_MAX];

	if (plan->data_offset >= least || (!plan->data_offset && plan->header))
		return 0;
	return status_set(
		st, ST_REFUSED, EINVAL,
		"--offset: %s is byte %" PRIu64 ", and the header of a LUKS%d volume with "
		"%s takes %" PRIu64 " bytes at least (%" PRIu64 " sectors). Nothing was written.",
		o->offset, plan->data_offset, plan->luks1 ? 1 : 2, spec_print(&plan->spec, text),
		least, least / SPEC_SECTOR_MIN);
}

int format_check_options(struct format_options *o, const struct cmd_globals *globals,
			 struct status *st)
{
	int ret;

	if (globals->sysroot)
		return status_set(
			st, ST_USAGE, EINVAL,
			"format works on this machine; --sysroot makes no sense with it.");
	if (!o->automatic && !o->plan.cipher)
		return status_set(st, ST_USAGE, EINVAL,
				  "format: say --auto (let the program choose) or --cipher SPEC.");
	if (o->key_file && o->key_fd != FORMAT_KEY_FD_NONE)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--key-file and --key-fd both say where the secret is: give one.");
	ret = o->key_fd == FORMAT_KEY_FD_NONE ? 0 : cmd_key_fd_check((int)o->key_fd, st);
	if (ret)
		return ret;
	if (o->plan.from && !strcmp(o->plan.from, "-") &&
	    ((o->key_file && !strcmp(o->key_file, "-")) || !o->key_fd))
		return status_set(st, ST_USAGE, EINVAL,
				  "--from and the key cannot both be read from standard input.");
	if (o->uuid && !uuid_valid(o->uuid))
		return status_set(st, ST_USAGE, EINVAL,
				  "--uuid: \"%s\" is not of the form "
				  "01234567-89ab-cdef-0123-456789abcdef.",
				  o->uuid);
	ret = o->undo_file ? undo_check(o->undo_file, st) : 0;
	if (!ret && o->check_quality)
		ret = quality_available(st);
	if (!ret)
		ret = check_type(o, st);
	if (!ret)
		ret = parse_offset(o, st);
	if (!ret)
		ret = cmd_plan_label("label", o->label, st);
	if (!ret)
		ret = cmd_plan_label("subsystem", o->subsystem, st);
	return ret ? ret : cmd_plan_check(&o->plan, o->plan.from != NULL, st);
}
