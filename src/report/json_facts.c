// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_facts.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "engine/engine.h"
#include "util/json.h"

const char *report_family_name(enum cpu_family family)
{
	static const char *const names[] = {
		[CPU_FAMILY_OTHER] = "other", [CPU_FAMILY_X86] = "x86",
		[CPU_FAMILY_ARM] = "arm",     [CPU_FAMILY_PPC] = "ppc",
		[CPU_FAMILY_S390] = "s390",   [CPU_FAMILY_RISCV] = "riscv",
	};

	return (unsigned)family < sizeof(names) / sizeof(names[0]) ? names[family] : "other";
}

const char *report_aes_name(enum kernel_aes_kind kind)
{
	static const char *const names[] = {
		[KERNEL_AES_UNKNOWN] = "unknown", [KERNEL_AES_GENERIC] = "generic",
		[KERNEL_AES_FIXED] = "generic",   [KERNEL_AES_SIMD] = "simd",
		[KERNEL_AES_CPU] = "aes",         [KERNEL_AES_VAES256] = "vaes256",
		[KERNEL_AES_VAES512] = "vaes512",
	};

	return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

const char *report_missing_driver(const struct kernel_facts *kernel, const char *name)
{
	const struct kernel_attempt *attempt = kernel_attempt_for(kernel, name);

	if (kernel_driver_for(kernel, name))
		return "";
	if (attempt && attempt->tried && !attempt->available)
		return attempt->reason;
	if (kernel_untested(kernel, name))
		return "listed, but its self-test has not passed";
	if (!kernel->listed)
		return "/proc/crypto cannot be read";
	return "not instantiated so far: the kernel makes it when it is first asked for";
}

/* NULL for "", so that a reason is null where there is none. */
static void put_text(struct json_object *obj, const char *key, const char *text)
{
	json_put_string(obj, key, *text ? text : NULL);
}

/* 1, 0, or not known. */
static void put_tristate(struct json_object *obj, const char *key, int value)
{
	if (value < 0)
		json_put(obj, key, NULL);
	else
		json_put_bool(obj, key, value);
}

static struct json_object *feature_names(uint64_t mask)
{
	struct json_object *list = json_object_new_array();

	for (int f = 0; f < CPU_FEATURE_COUNT; f++)
		if (mask >> f & 1)
			json_append_string(list, cpu_feature_name(f));
	return list;
}

static struct json_object *tiers_json(const struct cpu_facts *cpu)
{
	struct json_object *list = json_object_new_array(), *item;
	char reason[160];
	bool usable;

	for (const struct engine_tier *const *t = engine_tiers; *t; t++) {
		item = json_object_new_object();
		reason[0] = '\0';
		usable = engine_tier_usable(*t, cpu, reason, sizeof(reason));
		json_put_string(item, "name", engine_tier_name(*t));
		json_put_u64_or_null(item, "bits", engine_tier_bits(*t));
		json_put_bool(item, "usable", usable);
		put_text(item, "reason", usable ? "" : reason);
		json_append(list, item);
	}
	return list;
}

struct json_object *report_cpu_json(const struct cpu_facts *cpu)
{
	struct json_object *obj = json_object_new_object();

	put_text(obj, "arch", cpu->arch);
	json_put_string(obj, "family", report_family_name(cpu->family));
	put_text(obj, "model", cpu->model);
	json_put_bool(obj, "known", cpu->known);
	json_put(obj, "features", feature_names(cpu->advertised));
	json_put(obj, "usable", feature_names(cpu->usable));
	json_put(obj, "disabled", feature_names(cpu->disabled));
	json_put(obj, "listed", feature_names(cpu->listed));
	put_tristate(obj, "has_aes", cpu_has_aes(cpu));
	json_put_u64_or_null(obj, "online", cpu->online);
	json_put_u64_or_null(obj, "allowed", cpu->allowed);
	if (cpu->quota > 0)
		json_put_real(obj, "quota", cpu->quota);
	else
		json_put(obj, "quota", NULL);
	json_put_u64(obj, "threads", cpu_threads(cpu));
	json_put(obj, "tiers", tiers_json(cpu));
	return obj;
}

static struct json_object *ciphers_json(const struct kernel_facts *kernel)
{
	struct json_object *list = json_object_new_array(), *item;
	const struct kernel_driver *d;
	enum kernel_aes_kind kind;
	const char *from;

	for (const char *const *name = kernel_algorithms; *name; name++) {
		item = json_object_new_object();
		d = kernel_driver_for(kernel, *name);
		kind = kernel_aes_kind(kernel, *name, &from);
		json_put_string(item, "name", *name);
		json_put_string(item, "driver", d ? d->driver : NULL);
		json_put(item, "priority", d ? json_object_new_int(d->priority) : NULL);
		/* How it does AES, and off which driver that was read; null for other ciphers. */
		json_put_string(item, "aes", strstr(*name, "aes)") ? report_aes_name(kind) : NULL);
		json_put_string(item, "aes_driver", strstr(*name, "aes)") ? from : NULL);
		put_text(item, "reason", report_missing_driver(kernel, *name));
		json_append(list, item);
	}
	return list;
}

static struct json_object *drivers_json(const struct kernel_facts *kernel)
{
	struct json_object *list = json_object_new_array(), *item;

	for (size_t i = 0; i < kernel->n_drivers; i++) {
		const struct kernel_driver *d = &kernel->drivers[i];

		item = json_object_new_object();
		json_put_string(item, "name", d->name);
		json_put_string(item, "driver", d->driver);
		put_text(item, "module", d->module);
		put_text(item, "type", d->type);
		json_put(item, "priority", json_object_new_int(d->priority));
		json_put_bool(item, "internal", d->internal);
		json_put_bool(item, "async", d->async);
		json_put_bool(item, "selftest_passed", d->selftest_passed);
		json_put_u64(item, "min_keysize", d->min_keysize);
		json_put_u64(item, "max_keysize", d->max_keysize);
		json_put_u64(item, "ivsize", d->ivsize);
		json_append(list, item);
	}
	return list;
}

static struct json_object *af_alg_json(const struct kernel_af_alg *a)
{
	struct json_object *obj = json_object_new_object(), *list = json_object_new_array(), *item;

	json_put_bool(obj, "available", a->available);
	json_put_string(obj, "error", a->error ? errno_name(a->error) : NULL);
	put_text(obj, "reason", a->reason);
	json_put(obj, "restrict_level",
		 a->restrict_level < 0 ? NULL : json_object_new_int(a->restrict_level));
	for (size_t i = 0; i < a->n; i++) {
		const struct kernel_attempt *attempt = &a->attempts[i];

		item = json_object_new_object();
		json_put_string(item, "name", attempt->name);
		json_put_bool(item, "tried", attempt->tried);
		json_put_bool(item, "available", attempt->available);
		json_put_string(item, "error", attempt->error ? errno_name(attempt->error) : NULL);
		put_text(item, "reason", attempt->reason);
		json_append(list, item);
	}
	json_put(obj, "ciphers", list);
	return obj;
}

static struct json_object *dm_json(const struct kernel_dm *dm)
{
	struct json_object *obj = json_object_new_object(), *list = json_object_new_array();
	char version[48] = "";

	if (dm->version[0] || dm->version[1] || dm->version[2])
		snprintf(version, sizeof(version), "%u.%u.%u", dm->version[0], dm->version[1],
			 dm->version[2]);
	json_put_bool(obj, "available", dm->available);
	json_put_bool(obj, "denied", dm->denied);
	put_text(obj, "reason", dm->reason);
	put_text(obj, "crypt_version", version);
	for (size_t i = 0; i < dm->n; i++)
		json_append_string(list, dm->features[i]);
	json_put(obj, "features", list);
	return obj;
}

struct json_object *report_kernel_json(const struct kernel_facts *kernel)
{
	struct json_object *obj = json_object_new_object();

	put_text(obj, "release", kernel->release);
	json_put_bool(obj, "fips", kernel->fips);
	json_put_bool(obj, "listed", kernel->listed);
	json_put(obj, "ciphers", ciphers_json(kernel));
	json_put(obj, "af_alg", af_alg_json(&kernel->af_alg));
	json_put(obj, "dm", dm_json(&kernel->dm));
	json_put(obj, "drivers", drivers_json(kernel));
	return obj;
}

struct json_object *report_memory_json(const struct memory_facts *memory)
{
	struct json_object *obj = json_object_new_object();

	json_put_u64_or_null(obj, "total", memory->total);
	json_put_u64_or_null(obj, "available", memory->available);
	json_put_u64(obj, "swap", memory->swap);
	json_put_u64_or_null(obj, "limit", memory->limit);
	return obj;
}

static struct json_object *contents_json(const struct device_facts *device)
{
	struct json_object *list = json_object_new_array(), *item;

	for (size_t i = 0; i < device->n_contents; i++) {
		const struct device_content *c = &device->contents[i];

		item = json_object_new_object();
		json_put_string(item, "usage", c->usage);
		json_put_string(item, "type", c->type);
		put_text(item, "label", c->label);
		put_text(item, "uuid", c->uuid);
		json_put_u64(item, "offset", c->offset);
		json_put_u64_or_null(item, "partition", (uint64_t)c->partition);
		json_append(list, item);
	}
	return list;
}

static struct json_object *users_json(const struct device_facts *device)
{
	struct json_object *list = json_object_new_array(), *item;

	for (size_t i = 0; i < device->n_users; i++) {
		item = json_object_new_object();
		json_put_string(item, "kind", device->users[i].kind);
		json_put_string(item, "what", device->users[i].what);
		put_text(item, "part", device->users[i].part);
		json_append(list, item);
	}
	return list;
}

static void put_dev(struct json_object *obj, const char *key, dev_t rdev)
{
	char text[32] = "";

	if (rdev)
		snprintf(text, sizeof(text), "%u:%u", major(rdev), minor(rdev));
	put_text(obj, key, text);
}

struct json_object *report_device_json(const struct device_facts *device)
{
	struct json_object *obj = json_object_new_object();

	json_put_path(obj, "path", device->path);
	json_put_path(obj, "target", *device->target ? device->target : NULL);
	put_text(obj, "name", device->name);
	json_put_string(obj, "kind", device_kind_name(device->kind));
	json_put_u64(obj, "size", device->size);
	put_text(obj, "model", device->model);
	put_text(obj, "serial", device->serial);
	put_text(obj, "wwn", device->wwn);
	put_dev(obj, "number", device->rdev);
	put_dev(obj, "disk_number", device->disk_rdev);
	json_put_u64_or_null(obj, "diskseq", device->diskseq);
	json_put_u64_or_null(obj, "logical_block", device->logical_block);
	json_put_u64_or_null(obj, "physical_block", device->physical_block);
	json_put_u64_or_null(obj, "optimal_io", device->optimal_io);
	json_put_u64_or_null(obj, "atomic_write_unit_min", device->atomic_unit_min);
	json_put_u64_or_null(obj, "atomic_write_unit_max", device->atomic_unit_max);
	json_put_u64(obj, "alignment_offset", device->alignment_offset);
	json_put_bool(obj, "misaligned", device->misaligned);
	json_put_u64(obj, "start", device->start);
	put_tristate(obj, "rotational", device->rotational);
	put_tristate(obj, "discard", device->discard);
	put_tristate(obj, "read_only", device->read_only);
	json_put_string(obj, "zoned", device_zoned_name(device->zoned));
	json_put_bool(obj, "contents_known", device->contents_known);
	put_text(obj, "contents_reason", device->contents_reason);
	json_put(obj, "contents", contents_json(device));
	json_put_bool(obj, "users_known", device->users_known);
	put_text(obj, "users_reason", device->users_reason);
	json_put(obj, "users", users_json(device));
	return obj;
}

struct json_object *report_findings_json(const struct findings *findings)
{
	struct json_object *list = json_object_new_array(), *item;

	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->list[i];

		item = json_object_new_object();
		json_put_string(item, "id", f->id);
		json_put_string(item, "severity", finding_severity_name(f->severity));
		json_put_string(item, "message", f->message);
		put_text(item, "fix", f->fix);
		json_append(list, item);
	}
	return list;
}
