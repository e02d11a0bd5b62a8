// SPDX-License-Identifier: GPL-2.0-or-later
/* The other way round of report/json_facts.c. Every key may be absent: it is then not known, or
 * what the documented keys beside it say. */
#include "measure/saved_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_LIMIT 1000000
/* Longest name of an errno, and the numbers that there are (asm-generic/errno.h). */
#define ERRNO_NAME_MAX 24
#define ERRNO_LIMIT    134

static enum cpu_family read_family(const char *name, const char *arch)
{
	static const struct {
		const char *name, *arch[6];
		enum cpu_family family;
	} families[] = {
		{"x86", {"x86_64", "i386", "i486", "i586", "i686"}, CPU_FAMILY_X86},
		{"arm", {"aarch64", "arm"}, CPU_FAMILY_ARM},
		{"ppc", {"ppc"}, CPU_FAMILY_PPC},
		{"s390", {"s390"}, CPU_FAMILY_S390},
		{"riscv", {"riscv"}, CPU_FAMILY_RISCV},
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (*name && !strcmp(name, families[i].name))
			return families[i].family;
		for (int a = 0; !*name && families[i].arch[a]; a++)
			if (!strncmp(arch, families[i].arch[a], strlen(families[i].arch[a])))
				return families[i].family;
	}
	return CPU_FAMILY_OTHER;
}

/* A list of feature names as bits. Names that this version does not know are left out. */
static int read_features(const struct saved_place *cpu, const char *key, enum cpu_family family,
			 uint64_t *mask)
{
	struct saved_place list;
	int ret, feature;

	ret = saved_member(cpu, key, json_type_array, false, &list);
	if (ret || !list.obj)
		return ret;
	*mask = 0;
	for (size_t i = 0; i < json_object_array_length(list.obj); i++) {
		struct json_object *name = json_object_array_get_idx(list.obj, i);

		if (!json_object_is_type(name, json_type_string))
			return saved_wrong(cpu, key, "an array of strings");
		feature = cpu_feature_find(family, json_object_get_string(name));
		if (feature >= 0)
			*mask |= 1ULL << feature;
	}
	return 0;
}

static int read_cpu_features(struct cpu_facts *cpu, const struct saved_place *at)
{
	int ret;

	ret = read_features(at, "features", cpu->family, &cpu->advertised);
	if (!ret)
		ret = read_features(at, "disabled", cpu->family, &cpu->disabled);
	cpu->usable = cpu->advertised & ~cpu->disabled;
	if (!ret)
		ret = read_features(at, "usable", cpu->family, &cpu->usable);
	cpu->listed = cpu->advertised;
	if (!ret)
		ret = read_features(at, "listed", cpu->family, &cpu->listed);
	cpu->known = json_object_object_get_ex(at->obj, "features", NULL);
	return ret ? ret : saved_bool(at, "known", &cpu->known);
}

static int read_cpu(struct cpu_facts *cpu, const struct saved_place *at)
{
	uint64_t online = 0, allowed = 0;
	char family[16] = "";
	int ret;

	ret = saved_string(at, "arch", false, cpu->arch, sizeof(cpu->arch));
	if (!ret)
		ret = saved_string(at, "family", false, family, sizeof(family));
	if (!ret)
		ret = saved_text(at, "model", cpu->model, sizeof(cpu->model));
	cpu->family = read_family(family, cpu->arch);
	if (!ret)
		ret = read_cpu_features(cpu, at);
	if (!ret)
		ret = saved_u64(at, "online", false, 0, CPUS_LIMIT, &online);
	if (!ret)
		ret = saved_u64(at, "allowed", false, 0, CPUS_LIMIT, &allowed);
	cpu->online = (unsigned)online;
	cpu->allowed = (unsigned)allowed;
	return ret ? ret : saved_real(at, "quota", false, &cpu->quota);
}

/* An errno by its name; 0 where there is none. */
static int read_errno(const struct saved_place *at, int *error)
{
	char name[ERRNO_NAME_MAX] = "";
	int ret;

	ret = saved_string(at, "error", false, name, sizeof(name));
	*error = 0;
	for (int i = 1; i < ERRNO_LIMIT && !ret && *name && !*error; i++)
		if (!strcmp(errno_name(i), name))
			*error = i;
	if (!ret && *name && !*error)
		ret = saved_wrong(at, "error", "an errno's name");
	return ret;
}

static int read_attempt(struct kernel_attempt *attempt, const struct saved_place *at)
{
	int ret;

	ret = saved_string(at, "name", true, attempt->name, sizeof(attempt->name));
	attempt->tried = true;
	if (!ret)
		ret = saved_bool(at, "available", &attempt->available);
	if (!ret)
		ret = saved_bool(at, "tried", &attempt->tried);
	if (!ret)
		ret = read_errno(at, &attempt->error);
	return ret ? ret : saved_text(at, "reason", attempt->reason, sizeof(attempt->reason));
}

static int read_af_alg(struct kernel_af_alg *a, const struct saved_place *kernel)
{
	struct saved_place at, list, element;
	uint64_t level = UINT64_MAX;
	size_t n;
	int ret;

	ret = saved_member(kernel, "af_alg", json_type_object, false, &at);
	if (ret || !at.obj)
		return ret;
	ret = saved_bool(&at, "available", &a->available);
	if (!ret)
		ret = read_errno(&at, &a->error);
	if (!ret)
		ret = saved_text(&at, "reason", a->reason, sizeof(a->reason));
	if (!ret)
		ret = saved_u64(&at, "restrict_level", false, 0, 1000, &level);
	if (!ret)
		ret = saved_member(&at, "ciphers", json_type_array, false, &list);
	if (ret)
		return ret;
	if (level != UINT64_MAX)
		a->restrict_level = (int)level;
	n = list.obj ? json_object_array_length(list.obj) : 0;
	a->attempts = calloc(n + 1, sizeof(*a->attempts));
	if (!a->attempts)
		return status_nomem(at.st);
	for (a->n = 0; a->n < n && !ret; a->n++) {
		ret = saved_element(&list, a->n, &element);
		if (!ret)
			ret = read_attempt(&a->attempts[a->n], &element);
	}
	return ret;
}

static int read_dm(struct kernel_dm *dm, const struct saved_place *kernel)
{
	char version[48] = "", rest;
	struct saved_place at;
	unsigned v[3];
	int ret;

	ret = saved_member(kernel, "dm", json_type_object, false, &at);
	if (ret || !at.obj)
		return ret;
	ret = saved_bool(&at, "available", &dm->available);
	if (!ret)
		ret = saved_bool(&at, "denied", &dm->denied);
	if (!ret)
		ret = saved_text(&at, "reason", dm->reason, sizeof(dm->reason));
	if (!ret)
		ret = saved_string(&at, "crypt_version", false, version, sizeof(version));
	if (ret || !*version)
		return ret;
	if (sscanf(version, "%9u.%9u.%9u%c", &v[0], &v[1], &v[2], &rest) != 3)
		return saved_wrong(&at, "crypt_version", "a version of three numbers");
	kernel_dm_set_version(dm, v);
	return 0;
}

/* Priorities are the only numbers that may be negative. */
static int read_priority(const struct saved_place *at, int *priority)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(at->obj, "priority", &value);
	if (!value)
		return 0;
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < -1000000 ||
	    json_object_get_int64(value) > 1000000)
		return saved_wrong(at, "priority", "a whole number");
	*priority = json_object_get_int(value);
	return 0;
}

static int read_driver(struct kernel_driver *d, const struct saved_place *at)
{
	uint64_t min = 0, max = 0, iv = 0;
	int ret;

	ret = saved_string(at, "name", true, d->name, sizeof(d->name));
	if (!ret)
		ret = saved_string(at, "driver", false, d->driver, sizeof(d->driver));
	if (!ret)
		ret = saved_text(at, "module", d->module, sizeof(d->module));
	strcpy(d->type, "skcipher");
	if (!ret)
		ret = saved_string(at, "type", false, d->type, sizeof(d->type));
	if (!ret)
		ret = read_priority(at, &d->priority);
	if (!ret)
		ret = saved_bool(at, "internal", &d->internal);
	if (!ret)
		ret = saved_bool(at, "async", &d->async);
	d->selftest_passed = true;
	if (!ret)
		ret = saved_bool(at, "selftest_passed", &d->selftest_passed);
	if (!ret)
		ret = saved_u64(at, "min_keysize", false, 0, 65536, &min);
	if (!ret)
		ret = saved_u64(at, "max_keysize", false, 0, 65536, &max);
	if (!ret)
		ret = saved_u64(at, "ivsize", false, 0, 65536, &iv);
	d->min_keysize = (unsigned)min;
	d->max_keysize = (unsigned)max;
	d->ivsize = (unsigned)iv;
	return ret;
}

/* All of /proc/crypto ("drivers"), or what the documented key says of the algorithms that matter
 * ("ciphers", of which some have no driver). */
static int read_drivers(struct kernel_facts *kernel, const struct saved_place *at)
{
	struct saved_place list, element;
	size_t n;
	int ret;

	ret = saved_member(at, "drivers", json_type_array, false, &list);
	if (!ret && !list.obj)
		ret = saved_member(at, "ciphers", json_type_array, false, &list);
	if (ret || !list.obj)
		return ret;
	n = json_object_array_length(list.obj);
	kernel->drivers = calloc(n + 1, sizeof(*kernel->drivers));
	if (!kernel->drivers)
		return status_nomem(at->st);
	for (size_t i = 0; i < n && !ret; i++) {
		struct kernel_driver *d = &kernel->drivers[kernel->n_drivers];

		memset(d, 0, sizeof(*d));
		ret = saved_element(&list, i, &element);
		if (!ret)
			ret = read_driver(d, &element);
		kernel->n_drivers += !ret && *d->driver;
	}
	kernel->listed = kernel->n_drivers > 0;
	return ret;
}

/* true and false, or 1 and 0. */
static int read_fips(const struct saved_place *at, int *fips)
{
	struct json_object *value = NULL;
	uint64_t number = 0;
	bool set = false;
	int ret;

	json_object_object_get_ex(at->obj, "fips", &value);
	if (json_object_is_type(value, json_type_int))
		ret = saved_u64(at, "fips", false, 0, 1, &number);
	else
		ret = saved_bool(at, "fips", &set);
	*fips = set || number;
	return ret;
}

static int read_kernel(struct kernel_facts *kernel, const struct saved_place *at)
{
	int ret;

	ret = saved_string(at, "release", false, kernel->release, sizeof(kernel->release));
	if (!ret)
		ret = read_fips(at, &kernel->fips);
	if (!ret)
		ret = read_drivers(kernel, at);
	if (!ret)
		ret = saved_bool(at, "listed", &kernel->listed);
	if (!ret)
		ret = read_af_alg(&kernel->af_alg, at);
	return ret ? ret : read_dm(&kernel->dm, at);
}

static int read_memory(struct memory_facts *memory, const struct saved_place *at)
{
	const uint64_t most = INT64_MAX;
	int ret;

	ret = saved_u64(at, "total", false, 0, most, &memory->total);
	if (!ret)
		ret = saved_u64(at, "available", false, 0, most, &memory->available);
	if (!ret)
		ret = saved_u64(at, "swap", false, 0, most, &memory->swap);
	return ret ? ret : saved_u64(at, "limit", false, 0, most, &memory->limit);
}

int saved_facts(struct facts *facts, bool *found, const struct saved_place *doc)
{
	struct saved_place cpu, kernel, memory;
	int ret;

	facts->kernel.modules = -1;
	facts->kernel.af_alg.restrict_level = -1;
	ret = saved_member(doc, "cpu", json_type_object, false, &cpu);
	if (!ret)
		ret = saved_member(doc, "kernel", json_type_object, false, &kernel);
	if (!ret)
		ret = saved_member(doc, "memory", json_type_object, false, &memory);
	if (!ret && cpu.obj)
		ret = read_cpu(&facts->cpu, &cpu);
	if (!ret && kernel.obj)
		ret = read_kernel(&facts->kernel, &kernel);
	if (!ret && memory.obj)
		ret = read_memory(&facts->memory, &memory);
	*found = !ret && (cpu.obj || kernel.obj || memory.obj);
	return ret;
}
