/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Described machines, disks and runs for the tests of the decision. */
#ifndef DMCT_TESTS_SCENE_H
#define DMCT_TESTS_SCENE_H

#include <stdio.h>
#include <string.h>

#include "decide/decide.h"
#include "tap.h"

#define MAX_RESULTS 256

/* A described machine, disk and run. */
struct scene {
	struct facts facts;
	struct kernel_driver driver;
	struct measurement m;
	struct measure_result results[MAX_RESULTS];
	struct device_facts device;
	struct decide_input input;
	struct spec wanted;
};

__attribute__((unused)) static void scene_init(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->facts.cpu.family = CPU_FAMILY_X86;
	s->facts.cpu.known = true;
	s->facts.cpu.allowed = s->facts.cpu.online = 4;
	s->facts.memory.total = 8ULL << 30;
	s->facts.memory.available = 6ULL << 30;
	s->m.results = s->results;
	s->input.facts = &s->facts;
	s->input.measurement = &s->m;
	s->input.policy = policy_find("balanced");
	s->device.kind = DEVICE_DISK;
	s->device.size = 1ULL << 40;
	s->device.logical_block = s->device.physical_block = 512;
	strcpy(s->device.path, "/dev/test");
}

__attribute__((unused)) static void kernel_has(struct scene *s, const char *name,
					       const char *driver)
{
	snprintf(s->driver.name, sizeof(s->driver.name), "%s", name);
	snprintf(s->driver.driver, sizeof(s->driver.driver), "%s", driver);
	strcpy(s->driver.type, "skcipher");
	s->driver.selftest_passed = true;
	s->driver.priority = 400;
	s->facts.kernel.listed = true;
	s->facts.kernel.drivers = &s->driver;
	s->facts.kernel.n_drivers = 1;
}

__attribute__((unused)) static struct measure_result *
add_way(struct scene *s, enum measure_engine engine, const char *spec,
	enum engine_direction direction, double mbs, double spread)
{
	struct measure_result *r = &s->results[s->m.n_results++];

	spec_parse(&r->spec, spec, NULL);
	r->engine = engine;
	r->direction = direction;
	r->size = engine == MEASURE_AFALG ? r->spec.sector : 65536;
	r->threads = 1;
	r->median = mbs * 1e6;
	r->low = r->median * (1 - spread);
	r->high = r->median * (1 + spread);
	r->checked = true;
	if (engine == MEASURE_CPU)
		strcpy(r->tier, "table"); /* which stands for a driver that is not known */
	return r;
}

__attribute__((unused)) static void add(struct scene *s, enum measure_engine engine,
					const char *spec, double mbs)
{
	add_way(s, engine, spec, ENGINE_ENCRYPT, mbs, 0.01);
	add_way(s, engine, spec, ENGINE_DECRYPT, mbs, 0.01);
}

__attribute__((unused)) static bool chooses(struct scene *s, const char *want, const char *why)
{
	char text[SPEC_TEXT_MAX] = "nothing";
	struct status st = {0};
	struct plan plan;
	bool good;

	if (!decide_plan(&plan, &s->input, &st))
		spec_print(&plan.spec, text);
	good = ok(!strcmp(text, want), "%s: %s, wanted %s %s", why, text, want, st.message);
	plan_free(&plan);
	return good;
}

__attribute__((unused)) static void refuses(struct scene *s, enum exit_status code,
					    const char *says, const char *why)
{
	struct status st = {0};
	struct plan plan;
	int ret = decide_plan(&plan, &s->input, &st);

	ok(ret < 0 && st.code == code && strstr(st.message, says), "%s: status %d, %s", why,
	   st.code, st.message);
	plan_free(&plan);
}

#endif
