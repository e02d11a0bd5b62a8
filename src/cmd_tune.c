// SPDX-License-Identifier: GPL-2.0-or-later
/* tune: which of dm-crypt's flags a live mapping should have, and setting them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd_key.h"
#include "cmd_plan.h"
#include "decide/tune.h"
#include "report/paragraph.h"
#include "report/progress.h"
#include "report/table.h"
#include "util/interrupt.h"
#include "util/json.h"
#include "util/output.h"
#include "util/units.h"
#include "volume/inspect.h"
#include "volume/refresh.h"

#define DEFAULT_SECONDS 4.0

struct tune_options {
	struct key_options key;
	const char *header, *policy, *flags;
	double time;
	bool persistent, dry_run;
};

static struct tune_options options = {.key = {.key_fd = KEY_FD_NONE}, .time = DEFAULT_SECONDS};

#define TUNE(field) offsetof(struct tune_options, field)

static const struct opt table[] = {
	KEY_OPTIONS(struct tune_options, key),
	{"header", 0, OPT_STRING, "FILE", TUNE(header), 0, 0, "The volume's header is in FILE."},
	{"flags", 0, OPT_STRING, "SET", TUNE(flags), 0, 0,
	 "Measure nothing and set these: none, or flags joined\nby \"+\", e.g. "
	 "no_read_workqueue+no_write_workqueue."},
	{"persistent", 0, OPT_FLAG, NULL, TUNE(persistent), 0, 0,
	 "Store the flags in the LUKS2 header, too."},
	{"dry-run", 0, OPT_FLAG, NULL, TUNE(dry_run), 0, 0,
	 "Measure, say what would be done, change nothing."},
	{"policy", 0, OPT_STRING, "NAME", TUNE(policy), 0, 0,
	 "Whose share of reads counts: balanced (default),\nperformance, strict or fips."},
	{"time", 0, OPT_REAL, "SECONDS", TUNE(time), 0, 3600, "Measure for this long (default 4)."},
	OPT_END};

/* What a run holds; released in one place. */
struct run {
	const struct cmd_globals *globals;
	const char *path;
	const struct policy *policy;
	struct facts facts;
	struct mapping mapping;
	struct measurement measurement;
	struct tune tune;
	struct secret secret;
	unsigned flags; /* the mapping's, now */
	bool applied, persisted;
};

static int check_options(const struct cmd_globals *globals, struct run *r, struct status *st)
{
	unsigned sets[FLAGS_SETS_MAX];

	if (globals->sysroot)
		return status_set(st, ST_USAGE, EINVAL,
				  "tune works on this machine; --sysroot makes no sense with it.");
	r->policy = policy_find(options.policy ? options.policy : "balanced");
	if (!r->policy)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--policy: \"%s\" is none of balanced, performance, strict, fips.",
			options.policy);
	if (options.flags &&
	    (!strcmp(options.flags, "all") || flags_parse(sets, options.flags, NULL) != 1))
		return status_set(st, ST_USAGE, EINVAL,
				  "--flags: \"%s\" is none; none, and no_read_workqueue, "
				  "no_write_workqueue, same_cpu_crypt and submit_from_crypt_cpus, "
				  "joined by \"+\", are.",
				  options.flags);
	return cmd_key_check(&options.key, st);
}

/* What cannot be had here at all. */
static int check_machine(struct run *r, struct status *st)
{
	int ret = facts_probe(&r->facts, NULL, r->globals->cpu_disable, st);

	if (ret)
		return ret;
	if (r->facts.kernel.dm.denied)
		return status_set(st, ST_AUTH, EPERM, "tune: %s.", r->facts.kernel.dm.reason);
	if (!r->facts.kernel.dm.available)
		return status_set(st, ST_MISSING, ENODEV, "tune: %s.", r->facts.kernel.dm.reason);
	return 0;
}

/* The header of the volume on a device, there or in the file of --header. */
static int read_header(struct inspect *header, const char *device, struct status *st)
{
	const char *path = options.header ? options.header : device;
	struct device_facts facts = {0};
	int ret, fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return status_set(st, errno == EACCES ? ST_AUTH : ST_DEVICE, errno,
				  "%s cannot be read: %s.", path, strerror(errno));
	ret = device_probe_fd(&facts, fd, path, st);
	if (!ret)
		ret = inspect_header(header, fd, facts.size, path, st);
	if (!ret && !header->loaded)
		ret = status_set(st, ST_DEVICE, EINVAL, "%s holds no LUKS header that can be read.",
				 path);
	device_facts_free(&facts);
	close(fd);
	return ret;
}

/* What there is to be said of the operand and --header where there is no device-mapper either. */
static int check_operand(const struct run *r, struct status *st)
{
	struct inspect header = {0};
	struct stat info;

	if (stat(r->path, &info)) {
		if (errno != ENOENT || strchr(r->path, '/'))
			return status_set(st, errno == EACCES ? ST_AUTH : ST_DEVICE, errno,
					  "%s: %s.", r->path, strerror(errno));
		return options.header ? read_header(&header, r->path, st) : 0;
	}
	if (!S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode))
		return status_set(st, ST_DEVICE, ENOTBLK,
				  "%s is neither a block device nor a regular file.", r->path);
	/* A mapping's node has no header. */
	return options.header || !S_ISBLK(info.st_mode) ? read_header(&header, r->path, st) : 0;
}

/* The mapping over a device, by its header's UUID. */
static int find_over(const char *path, const struct stat *info, char name[MAPPING_NAME_MAX],
		     struct status *st)
{
	struct inspect header = {0};
	int ret = read_header(&header, path, st);

	if (!ret && !mapping_find(header.uuid, S_ISBLK(info->st_mode) ? info->st_rdev : 0, name))
		ret = status_set(st, ST_DEVICE, ENODEV,
				 "%s is not open: there is no live mapping over it to tune. Open "
				 "it first (cryptsetup open).",
				 path);
	return ret;
}

static int find_mapping(struct run *r, struct status *st)
{
	char name[MAPPING_NAME_MAX];
	struct stat info;
	int ret;

	if (stat(r->path, &info)) {
		if (errno != ENOENT || strchr(r->path, '/'))
			return status_set(st, errno == EACCES ? ST_AUTH : ST_DEVICE, errno,
					  "%s: %s.", r->path, strerror(errno));
		return mapping_read(&r->mapping, r->path, st);
	}
	if (S_ISBLK(info.st_mode) && mapping_name_of(info.st_rdev, name)) {
		ret = mapping_read(&r->mapping, name, st);
		/* A logical volume may hold one. */
		if (ret != -EINVAL)
			return ret;
	}
	ret = find_over(r->path, &info, name, st);
	return ret ? ret : mapping_read(&r->mapping, name, st);
}

/* What this mapping does not take. */
static int check_mapping(const struct run *r, struct status *st)
{
	const struct mapping *m = &r->mapping;

	if (m->suspended)
		return status_set(st, ST_BUSY, EBUSY,
				  "%s is suspended; resume it first (cryptsetup luksResume).",
				  m->name);
	if (!m->known || m->spec.kind->integrity)
		return status_set(st, ST_REFUSED, EOPNOTSUPP,
				  "%s has %s%s%s, which is not measured here. Nothing was changed.",
				  m->name, m->cipher, *m->integrity ? " with " : "", m->integrity);
	if (options.persistent && strcmp(m->type, "LUKS2"))
		return status_set(st, ST_REFUSED, EOPNOTSUPP,
				  "--persistent: a mapping of type %s has no header that could "
				  "store flags; only LUKS2 has. Nothing was changed.",
				  *m->type ? m->type : "unknown");
	if (!options.dry_run && strncmp(m->type, "LUKS", 4))
		return status_set(
			st, ST_REFUSED, EOPNOTSUPP,
			"%s is a mapping of type %s, whose key only its options give: "
			"see with --dry-run what to set, and close and open it with that.",
			m->name, *m->type ? m->type : "unknown");
	return 0;
}

/* Every set that the target has and libcryptsetup can set, and the present one. */
static size_t list_sets(unsigned sets[TUNE_SETS_MAX], const struct run *r)
{
	unsigned all[FLAGS_SETS_MAX];
	bool has_now = false;
	size_t n = 0;
	int found = flags_parse(all, "all", &r->facts.kernel.dm);

	for (int i = 0; i < found; i++) {
		if (refresh_possible(all[i]) != all[i] && all[i] != r->flags)
			continue;
		has_now |= all[i] == r->flags;
		sets[n++] = all[i];
	}
	if (!has_now)
		sets[n++] = r->flags;
	return n;
}

static const char *first_error(const struct measurement *m)
{
	for (size_t i = 0; i < m->n_results; i++)
		if (*m->results[i].error_code)
			return m->results[i].error_reason;
	return "there was not enough time; give more with --time";
}

/* --flags: a set that the user chose. */
static int take_flags(struct run *r, struct status *st)
{
	unsigned sets[FLAGS_SETS_MAX];
	char flags[FLAGS_TEXT_MAX];
	struct tune *t = &r->tune;

	flags_parse(sets, options.flags, &r->facts.kernel.dm);
	if (refresh_possible(sets[0]) != sets[0] || flags_missing(sets[0], &r->facts.kernel.dm))
		return status_set(st, ST_MISSING, EOPNOTSUPP,
				  "--flags: %s: this kernel's dm-crypt or libcryptsetup lacks it.",
				  flags_print(sets[0], flags));
	r->flags = refresh_current(&r->mapping);
	t->sets[0].flags = r->flags;
	t->sets[1].flags = sets[0];
	t->n = 2;
	t->now = &t->sets[0];
	t->best = sets[0] == r->flags ? t->now : &t->sets[1];
	snprintf(t->reason, sizeof(t->reason), "As --flags says; nothing was measured.");
	return 0;
}

/* Whether the disk below is known to rotate. */
static bool rotates(const struct mapping *mapping)
{
	struct device_facts facts = {0};
	struct status st = {0};
	char path[PATH_MAX];
	bool known;

	known = !mapping_device(mapping, path, sizeof(path)) &&
		!device_probe(&facts, path, NULL, &st) && facts.rotational == 1;
	device_facts_free(&facts);
	return known;
}

static int measure(struct run *r, struct status *st)
{
	static const unsigned one_thread[] = {1}, depths[] = {1, PLAN_FLAGS_DEPTH};
	unsigned sets[TUNE_SETS_MAX];
	struct progress progress;
	struct measure_request request = {.specs = &r->mapping.spec,
					  .n_specs = 1,
					  .threads = one_thread,
					  .n_threads = 1,
					  .flags = sets,
					  .depths = depths,
					  .n_depths = 2,
					  .engines = 1U << MEASURE_DM,
					  .shapes = 1U << ENGINE_SERIAL,
					  .seconds = options.time};
	int ret;

	r->flags = refresh_current(&r->mapping);
	request.n_flags = list_sets(sets, r);
	progress_begin(&progress, r->globals->quiet);
	request.progress = progress_show;
	request.progress_arg = &progress;
	ret = measure_run(&r->measurement, &request, &r->facts, st);
	progress_end(&progress);
	if (ret)
		return ret;
	decide_tune(&r->tune, &r->measurement, &r->mapping.spec, PLAN_FLAGS_DEPTH, r->flags,
		    r->policy->read_share, rotates(&r->mapping));
	if (!r->tune.now)
		return status_set(st, ST_MISSING, ENODATA,
				  "The flags could not be measured: %s. Nothing was changed.",
				  first_error(&r->measurement));
	return 0;
}

/* The kernel's word for it, not the library's. */
static int confirm(struct run *r, struct status *st)
{
	struct mapping after;
	int ret = mapping_read(&after, r->mapping.name, st);

	if (!ret && refresh_current(&after) != r->tune.best->flags)
		ret = status_set(st, ST_CHECK, EBADMSG,
				 "The flags of %s were set, and the kernel shows others.",
				 r->mapping.name);
	return ret;
}

static int apply(struct run *r, struct status *st)
{
	sigset_t before;
	int ret;

	if (options.dry_run || (r->tune.best == r->tune.now && !options.persistent))
		return 0;
	ret = cmd_key_read(&r->secret, &options.key, r->mapping.name, st);
	if (ret)
		return ret;
	/* The kernel holds the mapping's requests back while the table changes: that must not be
	 * cut short. */
	interrupt_hold(&before);
	ret = refresh_flags(&r->mapping, options.header, r->tune.best->flags, options.persistent,
			    &r->secret, st);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (ret)
		return ret;
	r->applied = r->tune.best != r->tune.now;
	r->persisted = options.persistent;
	return confirm(r, st);
}

static struct json_object *flags_json(unsigned flags)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; flags_name(i); i++)
		if (flags & 1U << i)
			json_append_string(list, flags_name(i));
	return list;
}

static int print_json(const struct run *r)
{
	struct json_object *doc = json_document("tune"), *sets = json_object_new_array(), *item;
	char spec[SPEC_TEXT_MAX];

	json_put_string(doc, "name", r->mapping.name);
	json_put_string(doc, "type", *r->mapping.type ? r->mapping.type : NULL);
	json_put_string(doc, "spec", spec_print(&r->mapping.spec, spec));
	for (size_t i = 0; i < r->tune.n; i++) {
		const struct tune_set *s = &r->tune.sets[i];

		item = json_object_new_object();
		json_put(item, "flags", flags_json(s->flags));
		json_put_u64_or_null(item, "read_bytes_per_second", (uint64_t)s->read[0]);
		json_put_u64_or_null(item, "write_bytes_per_second", (uint64_t)s->write[0]);
		json_put_u64_or_null(item, "read_deep_bytes_per_second", (uint64_t)s->read[1]);
		json_put_u64_or_null(item, "write_deep_bytes_per_second", (uint64_t)s->write[1]);
		json_append(sets, item);
	}
	json_put(doc, "sets", sets);
	json_put_u64(doc, "depth", PLAN_FLAGS_DEPTH);
	json_put(doc, "flags_before", flags_json(r->flags));
	json_put(doc, "flags", flags_json(r->tune.best->flags));
	json_put_real(doc, "gain", r->tune.gain);
	json_put_string(doc, "reason", r->tune.reason);
	json_put_bool(doc, "dry_run", options.dry_run);
	json_put_bool(doc, "applied", r->applied);
	json_put_bool(doc, "persistent", r->persisted);
	return json_print(doc);
}

static void print_sets(const struct run *r)
{
	static const struct table_column columns[] = {{"FLAGS", false},
						      {"READ", true},
						      {"WRITE", true},
						      {"READ, 8", true},
						      {"WRITE, 8", true}};
	struct table *t = table_new(columns, 5);
	char flags[FLAGS_TEXT_MAX + 8], speeds[4][UNITS_MAX];

	for (size_t i = 0; i < r->tune.n; i++) {
		const struct tune_set *s = &r->tune.sets[i];
		const char *cells[] = {flags, speeds[0], speeds[1], speeds[2], speeds[3]};

		flags_print(s->flags, flags);
		for (int j = 0; j < 2; j++) {
			units_speed(s->read[j], speeds[2 * j]);
			units_speed(s->write[j], speeds[2 * j + 1]);
		}
		table_row(t, cells);
	}
	table_print(t);
	table_free(t);
}

static void print_text(const struct run *r)
{
	char spec[SPEC_TEXT_MAX], flags[FLAGS_TEXT_MAX];

	printf("%s: %s", r->mapping.name, spec_print(&r->mapping.spec, spec));
	if (options.flags) {
		putchar('\n');
	} else {
		printf(", measured on a mapping of zeros with one request in flight, and with "
		       "%d:\n\n",
		       PLAN_FLAGS_DEPTH);
		print_sets(r);
		putchar('\n');
	}
	report_paragraph(stdout, 0, "", "%s", r->tune.reason);
	flags_print(r->tune.best->flags, flags);
	if (r->applied)
		printf("%s has these flags now: %s.\n", r->mapping.name, flags);
	else
		printf("%s is as it was%s.\n", r->mapping.name,
		       options.dry_run ? " (dry run)" : "");
	if (r->persisted)
		printf("The header stores them: %s.\n", flags);
}

static int run(const struct cmd_globals *globals, char **operands, int n, struct status *st)
{
	struct run r = {.globals = globals, .path = operands[0]};
	bool done;
	int ret;

	(void)n;
	ret = check_options(globals, &r, st);
	if (!ret)
		ret = check_operand(&r, st);
	if (!ret)
		ret = check_machine(&r, st);
	if (!ret)
		ret = find_mapping(&r, st);
	if (!ret)
		ret = check_mapping(&r, st);
	if (!ret)
		ret = options.flags ? take_flags(&r, st) : measure(&r, st);
	if (!ret)
		ret = apply(&r, st);
	done = !ret;
	if (!ret && globals->json) {
		ret = print_json(&r);
	} else if (!ret) {
		print_text(&r);
		ret = output_flush();
	}
	if (ret && done && r.applied)
		ret = cmd_unreported(r.mapping.name, "has other flags now", -ret, st);
	secret_free(&r.secret);
	measurement_free(&r.measurement);
	facts_free(&r.facts);
	return ret;
}

const struct cmd cmd_tune = {
	.name = "tune",
	.operands = "NAME|DEVICE",
	.summary = "Set the dm-crypt flags that make a live mapping fastest.",
	.details =
		"Measures each set of flags that the kernel's dm-crypt has with the mapping's cipher, "
		"on a mapping\n"
		"of its own over zeros, and gives the live mapping (NAME, or the one over DEVICE) the "
		"set that is\n"
		"clearly faster with one request at a time and loses nothing with several. What is "
		"mounted stays so.\n"
		"Needs root, and the volume's secret to make the new table.",
	.options = table,
	.dest = &options,
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
