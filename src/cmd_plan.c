// SPDX-License-Identifier: GPL-2.0-or-later
/* From facts to a plan: what `recommend` prints and `format` carries out. */
#include "cmd_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/saved.h"
#include "util/text.h"
#include "volume/pbkdf.h"

#define DEFAULT_SECONDS 1.2
#define MIN_SECONDS     0.2
/* Of the time, for dm-crypt's flags. */
#define FLAGS_SHARE 0.3

/* LUKS2 on-disk format, 2.1: 48 bytes with the NUL; libcryptsetup would cut a longer one off. */
#define LABEL_MAX 47

static int parse_wanted(struct plan_source *source, const struct plan_options *o, struct status *st)
{
	int ret;

	if (!o->cipher && o->key_size)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--key-size needs --cipher; without them the program chooses both.");
	if (!o->cipher)
		return 0;
	source->has_wanted = true;
	ret = spec_from_options(&source->wanted, o->cipher, NULL, o->key_size, o->sector_size, st);
	if (!ret && source->wanted.kind->integrity)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--cipher %s: volumes with an integrity mode are measured here (bench), not planned or made; cryptsetup luksFormat --integrity %s makes one.",
			o->cipher, source->wanted.kind->integrity);
	return ret;
}

static int check_pbkdf(const struct plan_options *o, struct status *st)
{
	bool fips = o->policy && !strcmp(o->policy, "fips");
	bool pbkdf2 = o->pbkdf ? !strcmp(o->pbkdf, "pbkdf2") : fips;

	if (o->pbkdf && !pbkdf2 && strcmp(o->pbkdf, "argon2id") && strcmp(o->pbkdf, "argon2i"))
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf: \"%s\" is none of argon2id, argon2i and pbkdf2.",
				  o->pbkdf);
	if (o->pbkdf && pbkdf2 && (o->pbkdf_memory || o->pbkdf_parallel))
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-memory and --pbkdf-parallel are Argon2's; pbkdf2 has neither.");
	if (pbkdf2 && o->pbkdf_iterations && o->pbkdf_iterations < PBKDF2_MIN_ITERATIONS)
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf-force-iterations: %llu are too few; pbkdf2 takes at "
				  "least %d.",
				  (unsigned long long)o->pbkdf_iterations, PBKDF2_MIN_ITERATIONS);
	if (o->pbkdf_iterations && o->iter_time)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-force-iterations and --iter-time contradict each other: give one.");
	return 0;
}

static int check_options(struct plan_source *source, const struct plan_options *o,
			 struct status *st)
{
	int ret;

	source->policy = policy_find(o->policy ? o->policy : "balanced");
	if (!source->policy)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--policy: \"%s\" is none of balanced, performance, strict and fips.",
			o->policy);
	if (o->sector_size && !spec_sector_valid(o->sector_size))
		return status_set(st, ST_USAGE, EINVAL,
				  "--sector-size: %llu is none of 512, 1024, 2048 and 4096 bytes.",
				  (unsigned long long)o->sector_size);
	if (o->time != PLAN_TIME_NONE && o->time < MIN_SECONDS)
		return status_set(st, ST_USAGE, EINVAL,
				  "--time: %g seconds are too few to compare the ciphers in; at "
				  "least %g are needed.",
				  o->time, MIN_SECONDS);
	if (o->from && o->time != PLAN_TIME_NONE)
		return status_set(st, ST_USAGE, EINVAL,
				  "--from measures nothing, so --time says nothing: give one.");
	ret = parse_wanted(source, o, st);
	return ret ? ret : check_pbkdf(o, st);
}

int cmd_plan_label(const char *option, const char *label, struct status *st)
{
	const char *fault = label ? text_fault(label) : NULL;

	if (fault)
		return status_set(st, ST_USAGE, EINVAL, "--%s: \"%s\" holds %s.", option, label,
				  fault);
	if (label && strlen(label) > LABEL_MAX)
		return status_set(st, ST_USAGE, EINVAL,
				  "--%s: \"%s\" has %zu bytes; at most %d fit into the header.",
				  option, label, strlen(label), LABEL_MAX);
	return 0;
}

int cmd_plan_check(const struct plan_options *options, struct status *st)
{
	struct plan_source source = {0};

	return check_options(&source, options, st);
}

/* Saved results bring the facts of the machine that they were made on; --sysroot's description goes
 * before those. */
static int load_saved(struct plan_source *source, const struct cmd_globals *globals,
		      const char *path, struct status *st)
{
	struct facts facts;
	bool has_facts = false;
	int ret;

	ret = saved_load(&source->measurement, &facts, &has_facts, path, st);
	if (ret)
		return ret;
	source->measured = true;
	if (!has_facts || globals->sysroot) {
		facts_free(&facts);
		return 0;
	}
	facts_free(&source->facts);
	source->facts = facts;
	return 0;
}

/* The plan again, with what its flags bring. */
static int decide_flags(struct plan *plan, struct plan_source *source,
			const struct cmd_globals *globals, const struct decide_input *input,
			double seconds, struct status *st)
{
	bool measured;
	int ret = cmd_plan_measure_flags(source, globals, plan, seconds, &measured, st);

	if (ret || !measured)
		return ret;
	plan_free(plan);
	return decide_plan(plan, input, st);
}

int cmd_plan_make(struct plan *plan, struct plan_source *source, const struct cmd_globals *globals,
		  const struct plan_options *o, const struct device_facts *device,
		  struct status *st)
{
	struct decide_input input = {
		.facts = &source->facts, .device = device, .sector = o->sector_size};
	double seconds = o->time > 0 ? o->time : DEFAULT_SECONDS;
	int ret;

	memset(plan, 0, sizeof(*plan));
	memset(source, 0, sizeof(*source));
	ret = check_options(source, o, st);
	if (!ret)
		ret = decide_check_device(device, st);
	if (!ret)
		ret = facts_probe(&source->facts, globals->sysroot, globals->cpu_disable, st);
	if (!ret && o->from)
		ret = load_saved(source, globals, o->from, st);
	else if (!ret && !globals->sysroot)
		ret = cmd_plan_measure(source, globals, o, device, seconds * (1 - FLAGS_SHARE), st);
	if (ret)
		return ret;
	input.policy = source->policy;
	input.measurement = source->measured ? &source->measurement : NULL;
	input.wanted = source->has_wanted ? &source->wanted : NULL;
	input.pbkdf = (struct plan_pbkdf_wish){o->pbkdf, o->pbkdf_memory << 10, o->pbkdf_iterations,
					       o->pbkdf_parallel, o->iter_time};
	ret = decide_plan(plan, &input, st);
	if (!ret && !globals->sysroot && !o->from)
		ret = decide_flags(plan, source, globals, &input, seconds * FLAGS_SHARE, st);
	if (!ret && !globals->sysroot && !o->from)
		ret = pbkdf_settle(&plan->pbkdf, plan->spec.key_bits / 8, st);
	return ret;
}

void plan_source_free(struct plan_source *source)
{
	measurement_free(&source->measurement);
	facts_free(&source->facts);
}
