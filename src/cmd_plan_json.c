// SPDX-License-Identifier: GPL-2.0-or-later
/* A plan as JSON, with every number that the decision went by. */
#include "cmd_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_measure.h"
#include "util/json.h"
#include "util/text.h"

/* Bytes per second, to the next whole one; null where there is none. */
static void put_speed(struct json_object *obj, const char *key, double speed)
{
	json_put_u64_or_null(obj, key, (uint64_t)llround(speed));
}

static struct json_object *choice_json(const struct plan *plan)
{
	struct json_object *choice = json_object_new_object();
	char text[SPEC_TEXT_MAX];

	json_put_string(choice, "spec", spec_print(&plan->spec, text));
	json_put_string(choice, "cipher", spec_cipher(&plan->spec, text));
	json_put_u64(choice, "key_bits", plan->spec.key_bits);
	json_put_u64(choice, "sector_size", plan->spec.sector);
	json_put_u64(choice, "strength_bits", plan->strength);
	json_put_string(choice, "class", spec_class_words(&plan->spec));
	json_put_string(choice, "protects", plan->spec.kind->protects);
	json_put_string(choice, "modules", plan->spec.kind->modules);
	json_put_string(choice, "basis", plan_basis_name(plan->basis));
	put_speed(choice, "expected_bytes_per_second", plan->speed);
	put_speed(choice, "low", plan->low);
	put_speed(choice, "high", plan->high);
	put_speed(choice, "encrypt_bytes_per_second", plan->encrypt);
	put_speed(choice, "decrypt_bytes_per_second", plan->decrypt);
	return choice;
}

/* What an unlock is to take here and on the machine that --unlock-slower describes. */
static struct json_object *unlock_json(const struct plan_pbkdf *p)
{
	struct json_object *obj = json_object_new_object();

	const double ms = p->time_ms ? p->time_ms : p->predicted_ms;

	json_put_u64_or_null(obj, "here_ms", (uint64_t)ms);
	json_put_real(obj, "slower", p->slower);
	json_put_u64_or_null(obj, "slower_ms", (uint64_t)(ms * p->slower));
	/* Without a trial it is what is wanted. */
	json_put_bool(obj, "tried", p->iterations && ms > 0);
	json_put_u64_or_null(obj, "memory", p->memory);
	return obj;
}

static struct json_object *pbkdf_json(const struct plan_pbkdf *p)
{
	struct json_object *obj = json_object_new_object();

	json_put_string(obj, "type", p->type);
	json_put_string(obj, "hash", p->hash);
	json_put_u64_or_null(obj, "memory", p->memory);
	json_put_u64_or_null(obj, "iterations", p->iterations);
	json_put_u64_or_null(obj, "threads", p->threads);
	json_put_u64_or_null(obj, "time_ms", p->time_ms);
	json_put_u64_or_null(obj, "memory_bound", p->memory_bound);
	json_put_string(obj, "memory_bound_by", p->memory_bound_by);
	json_put(obj, "unlock", unlock_json(p));
	json_put_string(obj, "reason", p->reason);
	json_put_string(obj, "warning", *p->warning ? p->warning : NULL);
	return obj;
}

static struct json_object *rejected_json(const struct plan *plan)
{
	struct json_object *list = json_object_new_array(), *item;
	char text[SPEC_TEXT_MAX];

	for (size_t i = 0; i < plan->n_rejected; i++) {
		item = json_object_new_object();
		json_put_string(item, "spec", spec_print(&plan->rejected[i].spec, text));
		json_put_string(item, "reason", plan->rejected[i].reason);
		put_speed(item, "expected_bytes_per_second", plan->rejected[i].speed);
		json_append(list, item);
	}
	return list;
}

static struct json_object *sizes_json(const struct plan_candidate *c)
{
	struct json_object *list = json_object_new_array(), *item;

	for (size_t i = 0; i < c->n_sizes; i++) {
		const struct plan_size *size = &c->sizes[i];

		item = json_object_new_object();
		json_put_u64(item, "sector_size", size->sector);
		json_put_bool(item, "allowed", size->allowed);
		json_put_string(item, "reason", *size->reason ? size->reason : NULL);
		put_speed(item, "encrypt_bytes_per_second", size->encrypt);
		put_speed(item, "decrypt_bytes_per_second", size->decrypt);
		put_speed(item, "expected_bytes_per_second", size->speed);
		put_speed(item, "compared_low", size->low);
		put_speed(item, "compared_high", size->high);
		json_append(list, item);
	}
	return list;
}

static struct json_object *candidate_json(const struct plan_candidate *c)
{
	struct json_object *item = json_object_new_object();
	char text[SPEC_TEXT_MAX];

	json_put_string(item, "spec", spec_print(&c->spec, text));
	json_put_string(item, "state", c->state);
	json_put_string(item, "class", spec_class_words(&c->spec));
	json_put_u64(item, "strength_bits", spec_strength(&c->spec));
	json_put_string(item, "protects", c->spec.kind->protects);
	json_put_string(item, "modules", c->spec.kind->modules);
	json_put_real(item, "margin", c->margin);
	json_put_real(item, "margin_rare", c->rare);
	put_speed(item, "encrypt_bytes_per_second", c->encrypt);
	put_speed(item, "decrypt_bytes_per_second", c->decrypt);
	put_speed(item, "expected_bytes_per_second", c->speed);
	put_speed(item, "compared_low", c->low);
	put_speed(item, "compared_high", c->high);
	put_speed(item, "volume_bytes_per_second", c->volume);
	if (c->cpus > 0)
		json_put_real(item, "cpus_at_device_speed", c->cpus);
	else
		json_put(item, "cpus_at_device_speed", NULL);
	json_put_string(item, "beaten_by",
			c->beaten_by.kind ? spec_print(&c->beaten_by, text) : NULL);
	json_put(item, "sector_sizes", sizes_json(c));
	return item;
}

/* The policy's numbers, by their keys in a policy file. */
static struct json_object *numbers_json(const struct policy *policy)
{
	struct json_object *obj = json_object_new_object();

	for (const struct policy_number *n = policy_numbers; n->key; n++)
		json_put_real(obj, n->key, policy_value(policy, n));
	return obj;
}

static void put_ns(struct json_object *obj, const char *key, bool known, double seconds)
{
	if (known)
		json_put_real(obj, key, seconds * 1e9);
	else
		json_put(obj, key, NULL);
}

/* What the figures are made with beside what was measured. */
static struct json_object *arithmetic_json(const struct plan *plan)
{
	const struct plan_arithmetic *a = &plan->arithmetic;
	bool modelled = a->error > 0 && a->handover > 0;
	struct json_object *obj = json_object_new_object();

	json_put_u64_or_null(obj, "threads", a->threads);
	json_put_real(obj, "noise_floor", a->noise_floor);
	json_put_real(obj, "model_error", a->error);
	put_ns(obj, "crossing_ns", a->crossing_known, a->crossing);
	put_ns(obj, "syscall_ns", modelled, a->call);
	put_ns(obj, "handover_ns", modelled, a->handover);
	json_put_real(obj, "handovers_read", a->turns[ENGINE_DECRYPT]);
	json_put_real(obj, "handovers_write", a->turns[ENGINE_ENCRYPT]);
	put_ns(obj, "per_sector_ns", modelled, a->per_sector);
	put_ns(obj, "copy_ns_per_kib", modelled, a->copy * 1024);
	return obj;
}

struct json_object *cmd_plan_disk_json(const struct disk_speed *disk)
{
	struct json_object *obj = json_object_new_object();

	json_put_u64_or_null(obj, "bytes_per_second", (uint64_t)disk->speed);
	json_put_string(obj, "from", disk->from);
	json_put_u64_or_null(obj, "bytes_read", disk->bytes);
	json_put_real(obj, "seconds", disk->seconds);
	json_put_string(obj, "reason", disk->reason);
	return obj;
}

static struct json_object *disk_json(const struct plan_disk *d)
{
	struct json_object *obj;

	if (!*d->speed.from)
		return NULL;
	obj = cmd_plan_disk_json(&d->speed);
	json_put_u64(obj, "cpus", d->cpus);
	json_put_real(obj, "cpus_worth", d->worth);
	if (d->needed > 0)
		json_put_real(obj, "cpus_busy", d->needed);
	else
		json_put(obj, "cpus_busy", NULL);
	json_put_bool(obj, "limits", d->limits);
	return obj;
}

/* What keeping tags costs; null where none are kept. */
static struct json_object *integrity_json(const struct plan *plan)
{
	const struct spec_kind *kind = plan->spec.kind;
	struct json_object *obj;

	if (!kind->integrity)
		return NULL;
	obj = json_object_new_object();
	json_put_string(obj, "mode", kind->integrity);
	json_put_u64(obj, "tag_bytes", kind->tag);
	json_put_u64(obj, "iv_bytes", kind->iv_stored);
	json_put_u64(obj, "stored_per_sector", spec_stored(&plan->spec));
	json_put_u64(obj, "journalled_per_sector", spec_journalled(&plan->spec));
	json_put_u64_or_null(obj, "sectors_per_key", kind->writes_limit);
	json_put_u64_or_null(obj, "wipe_bytes", plan->wipe_bytes);
	return obj;
}

/*
 * The words, and under `hex` the same as bytes where a word is no UTF-8: JSON cannot hold that, a
 * path may, and what stands in for it (U+FFFD) names another file.
 */
static void put_argv(struct json_object *obj, const char *key, const char *hex,
		     struct cmd_argv *argv)
{
	struct json_object *list = json_object_new_array(), *bytes = NULL;

	for (size_t i = 0; i < argv->n; i++) {
		json_append_string(list, argv->words[i]);
		if (!bytes && !text_is_utf8(argv->words[i]))
			bytes = json_object_new_array();
	}
	for (size_t i = 0; bytes && i < argv->n; i++)
		json_append(bytes, json_hex(argv->words[i]));
	json_put(obj, key, list);
	json_put(obj, hex, bytes);
	cmd_argv_free(argv);
}

/* What each of dm-crypt's flags was measured to do. */
static struct json_object *flag_figures_json(const struct plan *plan)
{
	struct json_object *list = json_object_new_array(), *item;

	for (size_t i = 0; i < plan->n_flag_figures; i++) {
		const struct plan_flag *f = &plan->flag_figures[i];

		item = json_object_new_object();
		json_put_string(item, "flag", f->name);
		json_put_real(item, "times_with_one", f->one);
		json_put_real(item, "times_with_several", f->several);
		json_put_u64(item, "several", PLAN_FLAGS_DEPTH);
		json_put_bool(item, "quartiles_apart", f->sure);
		json_put_bool(item, "set", f->set);
		json_append(list, item);
	}
	return list;
}

static void put_lists(struct json_object *obj, const struct plan *plan)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < plan->n_reasons; i++)
		json_append_string(list, plan->reasons[i]);
	json_put(obj, "reasons", list);
	json_put(obj, "rejected", rejected_json(plan));
	list = json_object_new_array();
	for (size_t i = 0; i < plan->n_candidates; i++)
		json_append(list, candidate_json(&plan->candidates[i]));
	json_put(obj, "candidates", list);
	list = json_object_new_array();
	for (size_t i = 0; i < plan->n_flags; i++)
		json_append_string(list, plan->flags[i]);
	json_put(obj, "flags", list);
	json_put(obj, "flag_figures", flag_figures_json(plan));
}

void cmd_plan_json(struct json_object *obj, const struct plan *plan,
		   const struct plan_source *source, const char *device, const char *label,
		   const char *uuid)
{
	struct cmd_argv argv;
	char *crypttab, *why;

	if (!device && source->device)
		device = source->device->path;
	json_put(obj, "choice", choice_json(plan));
	json_put_string(obj, "summary", plan->summary);
	json_put_string(obj, "policy", source->policy->name);
	json_put_path(obj, "policy_file", source->config);
	json_put(obj, "policy_numbers", numbers_json(source->policy));
	json_put_string(obj, "for", plan_use_name(plan->use));
	json_put_real(obj, "read_share", source->policy->read_share);
	put_lists(obj, plan);
	json_put(obj, "arithmetic", arithmetic_json(plan));
	json_put_conditions(obj, &source->measurement);
	json_put(obj, "pbkdf", pbkdf_json(&plan->pbkdf));
	json_put(obj, "device_speed", disk_json(&plan->disk));
	json_put(obj, "integrity", integrity_json(plan));
	json_put_u64(obj, "data_offset", plan->data_offset);
	cmd_plan_argv(&argv, plan, device, label);
	put_argv(obj, "cryptsetup_argv", "cryptsetup_argv_hex", &argv);
	cmd_plan_flags_argv(&argv, plan, device);
	put_argv(obj, "cryptsetup_flags_argv", "cryptsetup_flags_argv_hex", &argv);
	crypttab = cmd_crypttab(plan, device, uuid, &why);
	json_put_string(obj, "crypttab", crypttab);
	json_put_string(obj, "crypttab_reason", why);
	free(crypttab);
	free(why);
}
