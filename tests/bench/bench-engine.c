// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine beside OpenSSL, intel-ipsec-mb and the roofline, on one thread: everything is sampled
 * in turn, round after round, by the program's own sampler, and checked against the portable tier
 * before. Prints one JSON object; scripts/bench-engine makes ratios and a chart of it.
 *
 *   bench-engine SECONDS CALL SECTOR,... KEYBITS,... [TIER,... [CIPHER,...]]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench-engine.h"
#include "engine/gcm.h"
#include "measure/check.h"
#include "measure/clock.h"
#include "measure/sampler.h"
#include "measure/stats.h"
#include "util/json.h"
#include "util/list.h"

#define BUFFER     (1U << 20)
#define ITEMS_MAX  1024
#define VALUES_MAX 16

struct item {
	const struct backend *backend; /* NULL: the tier's roofline */
	const char *library;
	struct backend_cell cell;
	unsigned strength; /* bits of the AES key */
	void *state;
	char tier[128];
	struct stats stats;
	double best; /* what a tenth of the slices reached: the speed while others leave the core
			alone */
	size_t slices;
};

struct bench {
	struct facts facts;
	double seconds;
	uint64_t call;
	unsigned sectors[VALUES_MAX], strengths[VALUES_MAX];
	size_t n_sectors, n_strengths;
	const char *tiers;   /* NULL: all that are usable, but for `table` */
	const char *ciphers; /* NULL: all that are known here */
	struct item items[ITEMS_MAX];
	struct sampler_item samples[ITEMS_MAX];
	size_t n;
	struct backend_buffer buffer;
};

static struct bench bench;

static void die(const char *what)
{
	fprintf(stderr, "bench-engine: %s\n", what);
	exit(1);
}

static size_t numbers(unsigned *to, const char *list)
{
	char word[64];
	uint64_t value;
	size_t n = 0;

	while (list_next(&list, word, sizeof(word))) {
		if (n == VALUES_MAX || list_number(word, &value) || value > 1U << 16)
			die("a list of numbers is wrong");
		to[n++] = (unsigned)value;
	}
	return n;
}

static bool listed(const char *list, const char *name)
{
	char word[64];

	while (list_next(&list, word, sizeof(word)))
		if (!strcmp(word, name))
			return true;
	return false;
}

static bool tier_asked(const struct engine_tier *tier)
{
	if (!engine_tier_usable(tier, &bench.facts.cpu, NULL, 0))
		return false;
	if (!bench.tiers)
		return strcmp(engine_tier_name(tier), "table") != 0;
	return listed(bench.tiers, engine_tier_name(tier));
}

static int slice(void *arg, uint64_t calls, uint64_t *bytes, uint64_t *ns)
{
	struct item *item = arg;
	uint64_t begun;
	int ret = 0;

	/* A sixteenth before the clock starts, so that caches and predictors know it again. */
	if (item->backend) {
		ret = item->backend->run(item->state, &bench.buffer, calls / 16);
		begun = clock_ns();
		ret = ret ? ret : item->backend->run(item->state, &bench.buffer, calls);
		*bytes = calls * item->cell.size;
	} else {
		engine_roofline(item->cell.tier, item->strength, calls / 16);
		begun = clock_ns();
		*bytes = engine_roofline(item->cell.tier, item->strength, calls);
	}
	*ns = clock_ns() - begun;
	return ret;
}

static struct item *add(const char *library, const struct engine_tier *tier, unsigned strength)
{
	struct item *item = &bench.items[bench.n];

	if (bench.n == ITEMS_MAX)
		die("too many items");
	bench.samples[bench.n].slice = slice;
	bench.samples[bench.n++].arg = item;
	item->library = library;
	item->cell.tier = tier;
	item->strength = strength;
	return item;
}

static void add_rooflines(void)
{
	for (size_t k = 0; k < bench.n_strengths; k++)
		for (size_t t = 0; engine_tiers[t]; t++)
			if (engine_tier_bits(engine_tiers[t]) && tier_asked(engine_tiers[t]))
				snprintf(add("roofline", engine_tiers[t], bench.strengths[k])->tier,
					 sizeof(bench.items->tier), "%s",
					 engine_tier_name(engine_tiers[t]));
}

static void add_cell(const char *library, const struct backend *backend,
		     const struct backend_cell *cell)
{
	struct backend_error error = {.code = ""};
	struct check_patterns patterns = {NULL, 0};
	struct item *item;
	int pattern;

	if (!backend->implements(&cell->spec))
		return;
	item = add(library, cell->tier, spec_strength(&cell->spec));
	item->backend = backend;
	item->cell = *cell;
	backend->describe(cell, item->tier, sizeof(item->tier));
	if (backend->open(&item->state, cell, check_key, &error))
		die(error.reason);
	pattern = check_prepare(&patterns, &cell->spec, cell->size);
	if (pattern < 0 || check_state(&patterns.list[pattern], backend, item->state,
				       cell->direction, bench.buffer.data))
		die("wrong output");
	check_free(&patterns);
}

/* One cell of every library that has it. */
static void add_libraries(struct backend_cell cell)
{
	const bool cbc = !strcmp(cell.spec.kind->mode, "cbc");
	const bool gcm = engine_gcm_supports(&cell.spec);
	const bool shapes = cbc && cell.direction == ENGINE_ENCRYPT;

	for (size_t t = 0; engine_tiers[t]; t++) {
		if (!tier_asked(engine_tiers[t]) || (gcm && !engine_gcm_on(engine_tiers[t])))
			continue;
		cell.tier = engine_tiers[t];
		cell.shape = ENGINE_SERIAL;
		add_cell("engine", &backend_cpu, &cell);
		cell.shape = ENGINE_MULTI;
		if (shapes)
			add_cell("engine", &backend_cpu, &cell);
	}
	cell.tier = NULL;
	cell.shape = ENGINE_SERIAL;
#ifdef WITH_OPENSSL
	add_cell("openssl", &backend_openssl, &cell);
#endif
#ifdef WITH_IPSECMB
	cell.shape = shapes ? ENGINE_MULTI : ENGINE_SERIAL;
	add_cell("ipsec-mb", &backend_ipsecmb, &cell);
	add_cell("ipsec-mb", &backend_ipsecmb_gcm, &cell);
#endif
}

static void add_cells(void)
{
	static const char *const names[] = {"aes-xts-plain64", "aes-cbc-essiv:sha256",
					    "aes-cbc-plain64", "aes-gcm-random+aead"};
	struct backend_cell cell = {.facts = &bench.facts, .size = bench.call};
	char text[SPEC_TEXT_MAX];
	struct status st;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (bench.ciphers && !listed(bench.ciphers, names[i]))
			continue;
		for (size_t k = 0; k < bench.n_strengths; k++) {
			const unsigned bits = bench.strengths[k] << !strcmp(names[i], names[0]);

			snprintf(text, sizeof(text), "%s/%u", names[i], bits);
			/* XTS and GCM have no 192-bit keys here. */
			if (spec_parse(&cell.spec, text, &st))
				continue;
			for (size_t s = 0; s < bench.n_sectors; s++) {
				cell.spec.sector = bench.sectors[s];
				if (bench.call % cell.spec.sector)
					continue;
				cell.direction = ENGINE_ENCRYPT;
				add_libraries(cell);
				cell.direction = ENGINE_DECRYPT;
				add_libraries(cell);
			}
		}
	}
}

/* The most that any tier's AES units do with that key size. */
static double roof(unsigned strength)
{
	double most = 0;

	for (size_t i = 0; i < bench.n; i++)
		if (!bench.items[i].backend && bench.items[i].strength == strength &&
		    bench.items[i].stats.median > most)
			most = bench.items[i].stats.median;
	return most;
}

/* Of the tier's own vectors. */
static double own_roof(const struct item *item)
{
	for (size_t i = 0; i < bench.n; i++)
		if (!bench.items[i].backend && bench.items[i].cell.tier == item->cell.tier &&
		    bench.items[i].strength == item->strength)
			return bench.items[i].stats.median;
	return 0;
}

static void put_speeds(struct json_object *obj, const struct item *item)
{
	json_put_u64(obj, "median", (uint64_t)item->stats.median);
	json_put_u64(obj, "low", (uint64_t)item->stats.low);
	json_put_u64(obj, "high", (uint64_t)item->stats.high);
	json_put_u64(obj, "best", (uint64_t)item->best);
	json_put_u64(obj, "slices", item->slices);
}

static struct json_object *item_object(const struct item *item)
{
	struct json_object *obj = json_object_new_object();
	char spec[SPEC_TEXT_MAX];
	double most = roof(item->strength), own = own_roof(item);

	json_put_string(obj, "library", item->library);
	json_put_string(obj, "tier", item->tier);
	json_put_u64(obj, "aes_bits", item->strength);
	put_speeds(obj, item);
	if (!item->backend) {
		json_put_u64(obj, "bits", engine_tier_bits(item->cell.tier));
		return obj;
	}
	json_put_string(obj, "spec", spec_print(&item->cell.spec, spec));
	json_put_string(obj, "mode", item->cell.spec.kind->mode);
	json_put_string(obj, "iv", item->cell.spec.kind->iv);
	json_put_u64(obj, "sector", item->cell.spec.sector);
	json_put_string(obj, "direction",
			item->cell.direction == ENGINE_ENCRYPT ? "encrypt" : "decrypt");
	json_put_string(obj, "shape", item->cell.shape == ENGINE_MULTI ? "multi" : "serial");
	if (most > 0)
		json_put_real(obj, "roofline_share", item->stats.median / most);
	if (own > 0)
		json_put_real(obj, "own_roofline_share", item->stats.median / own);
	return obj;
}

static int print(void)
{
	struct json_object *doc = json_object_new_object(), *array = json_object_new_array();

	json_put_string(doc, "schema", "dmcrypt-tune.bench-engine.v1");
	json_put_string(doc, "cpu", bench.facts.cpu.model);
	json_put_string(doc, "compiler", __VERSION__);
	json_put_u64(doc, "call", bench.call);
	json_put_u64(doc, "buffer", BUFFER);
	json_put_real(doc, "seconds", bench.seconds);
	for (size_t i = 0; i < bench.n; i++)
		json_append(array, item_object(&bench.items[i]));
	json_put(doc, "results", array);
	return json_print(doc);
}

int main(int argc, char **argv)
{
	struct sampler_options options = {.now = clock_ns};
	struct status st;
	bool cut;

	if (argc < 5)
		die("usage: bench-engine SECONDS CALL SECTOR,... KEYBITS,... [TIER,... [CIPHER,...]]");
	bench.seconds = strtod(argv[1], NULL);
	bench.call = strtoul(argv[2], NULL, 10);
	bench.n_sectors = numbers(bench.sectors, argv[3]);
	bench.n_strengths = numbers(bench.strengths, argv[4]);
	bench.tiers = argc > 5 ? argv[5] : NULL;
	bench.ciphers = argc > 6 ? argv[6] : NULL;
	if (bench.seconds <= 0 || bench.call < 512 || bench.call > BUFFER)
		die("time or size out of range");
	bench.buffer = (struct backend_buffer){.data = aligned_alloc(4096, BUFFER), .size = BUFFER};
	if (!bench.buffer.data || facts_probe(&bench.facts, NULL, NULL, &st))
		die("the machine could not be probed");
	backend_buffer_fill(&bench.buffer);
	add_rooflines();
	add_cells();
	options.deadline = clock_ns() + (uint64_t)(bench.seconds * (double)CLOCK_SECOND);
	if (sampler_run(bench.samples, bench.n, &options, &cut))
		die("the sampling failed");
	if (cut)
		fprintf(stderr, "bench-engine: too short a time for so many cells\n");
	for (size_t i = 0; i < bench.n; i++) {
		stats_of(&bench.items[i].stats, bench.samples[i].samples, bench.samples[i].n);
		bench.items[i].slices = bench.samples[i].n;
		/* stats_of() sorted them. */
		bench.items[i].best = bench.samples[i].samples[bench.samples[i].n * 9 / 10];
	}
	return print() ? 1 : 0;
}
