// SPDX-License-Identifier: GPL-2.0-or-later
/* inspect: what a volume is, how strong, what it costs here, and what to do. Only looks. */
#include "cmd_inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/output.h"
#include "util/sysfile.h"

struct inspect_options {
	struct plan_options plan;
	const char *header;
	bool no_measure;
};

static struct inspect_options options = {.plan = PLAN_DEFAULTS};

#define INSPECT(field) offsetof(struct inspect_options, field)
#define PLAN(field)    PLAN_OPTION(struct inspect_options, plan, field)

static const struct opt table[] = {
	{"header", 0, OPT_STRING, "FILE", INSPECT(header), 0, 0,
	 "The header is in FILE; DEVICE has the data."},
	{"time", 0, OPT_REAL, "SECONDS", PLAN(time), 0, 3600,
	 "Measure the ciphers for this long (default 1.2, at\nleast 0.2)."},
	{"from", 0, OPT_STRING, "FILE", PLAN(from), 0, 0,
	 "Take the speeds from saved results (-: standard input),\nand measure nothing."},
	{"no-measure", 0, OPT_FLAG, NULL, INSPECT(no_measure), 0, 0,
	 "Measure nothing: no speeds, no time to unlock, no\nrecommendation."},
	{"policy", 0, OPT_STRING, "NAME", PLAN(policy), 0, 0,
	 "Of the recommendation: balanced (default),\nperformance, strict or fips."},
	{"config", 0, OPT_STRING, "FILE", PLAN(config), 0, 0,
	 "Read the policy's numbers from FILE."},
	{"for", 0, OPT_STRING, "USE", PLAN(use), 0, 0,
	 "What the volume is for: lvm, vm, grub or image."},
	{"device-speed", 0, OPT_STRING, "WHAT", PLAN(device_speed), 0, 0,
	 "The disk's own speed: measure (default, by reading\nfor 0.3 seconds), skip, or a number of "
	 "MB/s."},
	OPT_END};

const struct spec *inspection_spec(const struct inspection *in)
{
	if (in->has_header && in->header.known)
		return &in->header.spec;
	return in->mapping_seen && in->mapping.known ? &in->mapping.spec : NULL;
}

/* The header on a file or device, through a descriptor that cannot write. */
static int read_header(struct inspection *in, const char *path, uint64_t size, struct status *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), ret;
	struct stat info;

	if (fd < 0)
		return status_set(st, errno == EACCES || errno == EPERM ? ST_AUTH : ST_DEVICE,
				  errno, "%s cannot be read: %s.", path, strerror(errno));
	if (fstat(fd, &info) || (!S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode)))
		ret = status_set(st, ST_DEVICE, ENODEV, "%s is neither a file nor a block device.",
				 path);
	else
		ret = inspect_header(&in->header, fd, size, path, st);
	close(fd);
	in->has_header = !ret && in->header.headers.kind != HEADER_NONE;
	snprintf(in->header_path, sizeof(in->header_path), "%s", path);
	return ret;
}

/* --header: that file instead of the device. */
static int read_header_file(struct inspection *in, struct status *st)
{
	struct device_facts file = {0};
	int ret = device_probe(&file, options.header, NULL, st);

	if (!ret)
		ret = read_header(in, options.header, file.size, st);
	if (!ret && !in->has_header)
		ret = status_set(st, ST_DEVICE, EINVAL, "--header: %s holds no LUKS header.",
				 options.header);
	in->detached = true;
	device_facts_free(&file);
	return ret;
}

static int not_luks(const struct inspection *in, struct status *st)
{
	const struct device_facts *d = &in->device;
	unsigned version = in->header.headers.copies[0].version;

	if (version)
		return status_set(st, ST_DEVICE, EINVAL,
				  "%s has the mark of LUKS with version %u; only versions 1 and 2 "
				  "are known here. Use the program that made it, or a newer "
				  "cryptsetup.",
				  in->path, version);
	if (!d->n_contents)
		return status_set(
			st, ST_DEVICE, EINVAL,
			"%s is no LUKS volume: nothing was found on it. (A plain dm-crypt "
			"volume has no header: only its mapping can be inspected.)",
			in->path);
	return status_set(st, ST_DEVICE, EINVAL, "%s is no LUKS volume: it holds %s (%s).",
			  in->path, d->contents[0].type, d->contents[0].usage);
}

/* A mapping by its name, the header on the device below it. */
static int look_at_mapping(struct inspection *in, const char *name, struct status *st)
{
	char path[300];
	struct status why = {0};
	int ret = mapping_read(&in->mapping, name, st);

	if (ret)
		return ret;
	in->has_mapping = in->mapping_seen = true;
	device_facts_free(&in->device);
	memset(&in->device, 0, sizeof(in->device));
	if (mapping_device(&in->mapping, path, sizeof(path)) ||
	    device_probe(&in->device, path, NULL, &why)) {
		snprintf(in->header_reason, sizeof(in->header_reason),
			 "The device below the mapping (%s) cannot be found.", in->mapping.on);
		return 0;
	}
	in->has_device = true;
	if (options.header)
		return read_header_file(in, st);
	if (strncmp(in->mapping.type, "LUKS", 4)) {
		snprintf(in->header_reason, sizeof(in->header_reason),
			 "A mapping of type %s has no LUKS header.",
			 *in->mapping.type ? in->mapping.type : "unknown");
		return 0;
	}
	if (read_header(in, path, in->device.size, &why))
		snprintf(in->header_reason, sizeof(in->header_reason), "%.500s", why.message);
	else if (!in->has_header ||
		 (in->header.loaded && strcmp(in->header.uuid, in->mapping.volume_uuid))) {
		in->has_header = false;
		snprintf(in->header_reason, sizeof(in->header_reason),
			 "%.300s does not hold this volume's header: it is a detached one "
			 "(--header FILE), or lost.",
			 path);
	}
	return 0;
}

/* The mapping over a volume, where it is open; its table is shown to root alone. */
static void find_mapping(struct inspection *in)
{
	struct status why = {0};
	char name[MAPPING_NAME_MAX];

	if (!in->header.loaded || !mapping_find(in->header.uuid, in->device.rdev, name))
		return;
	in->has_mapping = true;
	in->mapping_seen = !mapping_read(&in->mapping, name, &why);
	if (in->mapping_seen)
		return;
	memset(&in->mapping, 0, sizeof(in->mapping));
	snprintf(in->mapping.name, sizeof(in->mapping.name), "%s", name);
	snprintf(in->mapping_reason, sizeof(in->mapping_reason), "%.500s", why.message);
}

static int look_at_device(struct inspection *in, struct status *st)
{
	const struct inspect *h = &in->header;
	int ret;

	in->has_device = true;
	ret = options.header ? read_header_file(in, st)
			     : read_header(in, in->path, in->device.size, st);
	if (ret)
		return ret;
	if (!in->has_header)
		return not_luks(in, st);
	in->backup = !options.header && h->loaded && in->device.kind == DEVICE_FILE &&
		     h->data_offset >= in->device.size && in->device.size == inspect_backup_size(h);
	if (in->backup || (!options.header && h->loaded && !h->data_offset))
		in->detached = in->header_alone = true;
	find_mapping(in);
	return 0;
}

/* Whether a device is a mapping that cryptsetup made over a volume: its name, then. */
static bool is_crypt(const struct device_facts *device, char name[MAPPING_NAME_MAX])
{
	char uuid[160];

	return device->kind == DEVICE_MAPPER &&
	       sysfile_line(NULL, uuid, sizeof(uuid), "/sys/block/%s/dm/uuid", device->name) > 0 &&
	       !strncmp(uuid, "CRYPT-", 6) && strncmp(uuid, "CRYPT-SUBDEV", 12) &&
	       strncmp(uuid, "CRYPT-INTEGRITY", 15) && strncmp(uuid, "CRYPT-VERITY", 12) &&
	       mapping_name_of(device->rdev, name);
}

static int look(struct inspection *in, struct status *st)
{
	char name[MAPPING_NAME_MAX];
	struct stat info;
	int ret;

	if (!strchr(in->path, '/') && stat(in->path, &info) && errno == ENOENT) {
		ret = look_at_mapping(in, in->path, st);
		/* No device-mapper: then there is just no such thing. */
		if (ret && st->code == ST_MISSING)
			st->code = ST_DEVICE;
		return ret;
	}
	ret = device_probe(&in->device, in->path, NULL, st);
	if (ret)
		return ret;
	return is_crypt(&in->device, name) ? look_at_mapping(in, name, st) : look_at_device(in, st);
}

/* What would be recommended, and how the volume's own spec does beside it. Neither is needed. */
static int weigh(struct inspection *in, struct status *st)
{
	const struct device_facts *device = in->has_device && !in->header_alone ? &in->device
										: NULL;
	struct status why = {0};
	int ret;

	options.plan.also = inspection_spec(in);
	if (device && decide_check_device(device, &(struct plan_place){0}, &why))
		device = NULL;
	ret = cmd_plan_make(&in->plan, &in->source, in->globals, &options.plan, device, st);
	if (ret == -EINTR || st->code == ST_USAGE || ret == -ENOMEM)
		return ret;
	in->has_plan = !ret;
	if (ret)
		snprintf(in->plan_reason, sizeof(in->plan_reason), "%.500s", st->message);
	*st = (struct status){0};
	if (!in->source.policy || !inspection_spec(in))
		return 0;
	in->has_now = !cmd_plan_judge(&in->now, &in->source, inspection_spec(in), &why);
	if (!in->has_now)
		snprintf(in->now_reason, sizeof(in->now_reason), "%.500s", why.message);
	return 0;
}

/* The device, which is not known by a mapping's name or a header alone, and its header. */
static void name_target(struct inspection *in)
{
	const char *header = options.header ? options.header : in->header_alone ? in->path : NULL;

	snprintf(in->target, sizeof(in->target), "%s%s%s",
		 in->header_alone ? "DEVICE"
		 : in->has_device ? in->device.path
				  : in->path,
		 header ? " --header " : "", header ? header : "");
}

static int judge(struct inspection *in, struct status *st)
{
	struct findings_volume_input input = {
		.path = in->path,
		.target = in->target,
		.header_file = options.header,
		.header = in->has_header ? &in->header : NULL,
		.mapping = in->mapping_seen ? &in->mapping : NULL,
		.data = in->has_device && !in->header_alone ? &in->device : NULL,
		.facts = &in->source.facts,
		.detached = in->detached,
		.backup = in->backup,
	};
	int ret = 0;

	name_target(in);
	if (!options.no_measure)
		ret = weigh(in, st);
	if (ret)
		return ret;
	if (in->has_header && !options.no_measure && !options.plan.from)
		inspect_unlock_times(&in->header, in->unlock_reason, sizeof(in->unlock_reason));
	if (options.no_measure || !in->source.facts.memory.total)
		memory_probe(&in->source.facts.memory, NULL);
	input.plan = in->has_plan ? &in->plan : NULL;
	input.now = in->has_now ? &in->now : NULL;
	return findings_volume(&in->findings, &input);
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	struct inspection in = {.globals = globals, .path = operands[0]};
	int ret;

	(void)n;
	if (globals->sysroot)
		return status_set(
			st, ST_USAGE, EINVAL,
			"inspect works on this machine; --sysroot makes no sense with it.");
	ret = cmd_plan_check(&options.plan, options.plan.from != NULL, st);
	if (!ret)
		ret = look(&in, st);
	if (!ret)
		ret = judge(&in, st);
	if (!ret && globals->json) {
		ret = inspection_json(&in);
	} else if (!ret) {
		inspection_text(&in);
		ret = output_flush();
	}
	if (!ret && findings_damaged(&in.findings))
		ret = ST_CHECK;
	findings_free(&in.findings);
	plan_free(&in.plan);
	plan_free(&in.now);
	plan_source_free(&in.source);
	device_facts_free(&in.device);
	return ret;
}

const struct cmd cmd_inspect = {
	.name = "inspect",
	.operands = "DEVICE|NAME",
	.summary =
		"Say what a LUKS volume or live mapping is, how strong, what it costs, what to do.",
	.details =
		"DEVICE is a device, an image or a file with a detached header; NAME a live mapping's. "
		"Both copies\n"
		"of the header are judged, the volume's cipher is measured beside what would be "
		"recommended, and\n"
		"the time to unlock is estimated from short trials. Writes nothing, not even the repair "
		"that\n"
		"libcryptsetup makes by itself, and needs no secret. Exit status 8: the header, a "
		"keyslot's area or\n"
		"the end of the volume is damaged or gone.",
	.options = table,
	.dest = &options,
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
