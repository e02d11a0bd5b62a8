/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generated machines, disks and runs for the properties of the decision. */
#ifndef DMCT_TESTS_WORLD_H
#define DMCT_TESTS_WORLD_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

#define SEED       20261130
#define CANDIDATES 12

static const char *const specs[CANDIDATES] = {
	"aes-xts-plain64/512",
	"aes-xts-plain64/256",
	"aes-cbc-essiv:sha256/256",
	"aes-cbc-essiv:sha256/128",
	"xchacha12,aes-adiantum-plain64/256",
	"xchacha20,aes-adiantum-plain64/256",
	"serpent-xts-plain64/512",
	"serpent-xts-plain64/256",
	"twofish-xts-plain64/512",
	"twofish-xts-plain64/256",
	"camellia-xts-plain64/512",
	"aes-cbc-plain64/256" /* known, never offered */
};

static uint64_t world_state;

/* Deterministic everywhere, unlike rand(). */
__attribute__((unused)) static double unit(void)
{
	world_state = world_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(world_state >> 40) / (1 << 24);
}

__attribute__((unused)) static unsigned below(unsigned n)
{
	return (unsigned)(unit() * n);
}

/* From least to most, each factor as likely. */
__attribute__((unused)) static double spread_over(double least, double most)
{
	return least * pow(most / least, unit());
}

struct world {
	struct scene s;
	struct policy policy;
	struct disk_speed disk;
	struct kernel_attempt attempts[4];
	double truth[MAX_RESULTS]; /* of each cell */
	double crossing;           /* seconds a request, AF_ALG */
	double noise;              /* the share that a median may be off its truth */
};

__attribute__((unused)) static void make_device(struct world *w)
{
	struct device_facts *d = &w->s.device;

	d->kind = (enum device_kind)below(DEVICE_OTHER + 1);
	d->logical_block = below(4) ? 512 : 4096;
	d->physical_block = d->logical_block << (d->logical_block == 512 ? below(4) : 0);
	d->size = (17ULL << 20) + (uint64_t)(unit() * 1e12);
	d->size -= d->size % (below(3) ? 4096 : d->logical_block);
	d->start = d->kind == DEVICE_PARTITION
			   ? below(3) ? 1 << 20 : (uint64_t)below(4000) * d->logical_block
			   : 0;
	d->alignment_offset = below(8) ? 0 : d->physical_block - d->logical_block;
	d->optimal_io = below(3) ? 0 : (uint64_t)below(5) * 1536 * 1024 + below(2) * 512;
	if (!below(6)) {
		d->atomic_unit_min = 512;
		d->atomic_unit_max = 512ULL << below(8);
	}
	w->s.input.device = below(5) ? d : NULL;
}

__attribute__((unused)) static void make_wishes(struct world *w)
{
	struct decide_input *in = &w->s.input;

	w->policy = policies[below(4)];
	w->policy.min_strength = below(6) ? 0 : below(2) ? 128 : 256;
	in->policy = &w->policy;
	in->use = below(2) ? PLAN_FOR_ANY : (enum plan_use)below(PLAN_FOR_IMAGE + 1);
	w->s.facts.kernel.fips = !below(12);
	w->s.facts.cpu.allowed = w->s.facts.cpu.online = 1 + below(16);
	w->disk.speed = spread_over(1e6, 1e10);
	strcpy(w->disk.from, "measured");
	in->disk = below(2) ? &w->disk : NULL;
	for (size_t i = 0; i < 4; i++) {
		static const char *const names[] = {"xts(aes)", "adiantum(xchacha12,aes)",
						    "xts(serpent)", "essiv(cbc(aes),sha256)"};

		strcpy(w->attempts[i].name, names[i]);
		w->attempts[i].tried = below(2);
		w->attempts[i].available = w->attempts[i].tried && below(6);
		strcpy(w->attempts[i].reason, "no such cipher");
	}
	w->s.facts.kernel.af_alg.attempts = w->attempts;
	w->s.facts.kernel.af_alg.n = 4;
}

/* A cell's figures: the median as far off its truth as the noise allows, the quartiles around. */
__attribute__((unused)) static void set_cell(struct world *w, size_t i)
{
	struct measure_result *r = &w->s.results[i];
	double t = w->truth[i];

	if (r->engine == MEASURE_AFALG)
		t = r->size / (r->size / t + w->crossing);
	r->median = t * (1 + w->noise * (2 * unit() - 1));
	r->low = r->median * (1 - w->noise);
	r->high = r->median * (1 + w->noise);
}

__attribute__((unused)) static void make_cells(struct world *w, enum measure_engine engine)
{
	char text[SPEC_TEXT_MAX];
	double base, way;

	w->crossing = engine == MEASURE_AFALG ? spread_over(1e-7, 3e-5) : 0;
	w->noise = unit() < 0.3 ? 0 : spread_over(0.001, 0.2);
	for (size_t i = 0; i < CANDIDATES; i++) {
		base = spread_over(20, 2000);
		for (unsigned sector = 512; sector <= 4096 && below(8); sector *= 2) {
			if (!below(6))
				continue;
			snprintf(text, sizeof(text), "%s@%u", specs[i], sector);
			for (int d = 0; d < 2; d++) {
				way = base * (0.6 + 0.4 * unit()) *
				      (1 + 0.1 * log2(sector / 512.0));
				w->truth[w->s.m.n_results] = way * 1e6;
				add_way(&w->s, engine, text, d, way, 0)->slices = 0;
				set_cell(w, w->s.m.n_results - 1);
			}
		}
	}
}

/* Some ciphers were measured on another layer, in whole or in one direction. */
__attribute__((unused)) static void mix_layers(struct world *w)
{
	for (size_t i = 0; i < w->s.m.n_results; i++) {
		struct measure_result *r = &w->s.results[i];

		/* By cipher, so that most stay whole. */
		if ((unsigned)((r->spec.kind - spec_kinds) * 7 + r->spec.key_bits / 64) % 3 ||
		    !below(8))
			continue;
		r->engine = r->engine == MEASURE_DM ? MEASURE_CPU : MEASURE_DM;
		r->size = 65536;
		strcpy(r->tier, r->engine == MEASURE_CPU ? "table" : "");
		set_cell(w, i);
	}
}

__attribute__((unused)) static void make_world(struct world *w, uint64_t seed)
{
	static const enum measure_engine engines[] = {MEASURE_DM, MEASURE_AFALG, MEASURE_CPU};

	world_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (int i = 0; i < 4; i++)
		unit();
	memset(w, 0, sizeof(*w));
	scene_init(&w->s);
	make_device(w);
	make_wishes(w);
	make_cells(w, engines[below(3)]);
	if (!below(4))
		mix_layers(w);
}

/* DMCT_SEED=N makes others. */
__attribute__((unused)) static uint64_t world_seed(void)
{
	const char *wish = getenv("DMCT_SEED");
	uint64_t seed = wish ? strtoull(wish, NULL, 10) : SEED;

	printf("# seed %llu (DMCT_SEED)\n", (unsigned long long)seed);
	return seed;
}

#endif
