// SPDX-License-Identifier: GPL-2.0-or-later
/* Two measurements side by side: which cells meet, and when a difference is one. */
#include <math.h>
#include <string.h>

#include "measure/compare.h"
#include "tap.h"

static struct measure_result cell(const char *spec, enum measure_engine engine, const char *tier,
				  double median, double spread, unsigned slices)
{
	struct measure_result r = {.engine = engine,
				   .size = 65536,
				   .threads = 1,
				   .depth = 1,
				   .median = median,
				   .low = median - spread / 2,
				   .high = median + spread / 2,
				   .slices = slices,
				   .checked = true};
	struct status st;

	spec_parse_any(&r.spec, spec, &st);
	snprintf(r.tier, sizeof(r.tier), "%s", tier);
	return r;
}

#define XTS "aes-xts-plain64/512@4096"
#define CBC "aes-cbc-essiv:sha256/256@4096"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-4;
}

static struct comparison make(struct measure_result *first, size_t n, struct measure_result *other,
			      size_t k)
{
	struct measurement a = {.results = first, .n_results = n};
	struct measurement b = {.results = other, .n_results = k};
	struct comparison c;

	if (compare_make(&c, &a, &b))
		memset(&c, 0, sizeof(c));
	return c;
}

static void test_verdicts(void)
{
	static const struct {
		double other, spread;
		unsigned slices;
		enum compare_verdict verdict;
		double low, high;
	} cases[] = {
		/* 0.93 * 2 % / 10 and 1 % of each: 1.96 * sqrt(2 * (0.00186^2 + 0.01^2)). */
		{105, 2, 100, COMPARE_FASTER, 1.02079, 1.08002},
		{95, 2, 100, COMPARE_SLOWER, 0.92358, 0.97717},
		{102, 2, 100, COMPARE_UNCLEAR, 0.99164, 1.04917},
		{100, 2, 100, COMPARE_UNCLEAR, 0.97220, 1.02860},
		/* A wide spread tells nothing of a tenth. */
		{110, 60, 9, COMPARE_UNCLEAR, 0.76314, 1.58556},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct measure_result a = cell(XTS, MEASURE_CPU, "aesni", 100,
					       cases[i].spread > 2 ? 2 : cases[i].spread, 100);
		struct measure_result b = cell(XTS, MEASURE_CPU, "aesni", cases[i].other,
					       cases[i].spread * cases[i].other / 100,
					       cases[i].slices);
		struct comparison c = make(&a, 1, &b, 1);

		ok(c.n == 1 && c.cells[0].verdict == cases[i].verdict &&
			   near(c.cells[0].ratio, cases[i].other / 100) &&
			   near(c.cells[0].low, cases[i].low) &&
			   near(c.cells[0].high, cases[i].high) && c.count[cases[i].verdict] == 1 &&
			   near(c.median, c.cells[0].ratio),
		   "100 and %g with %g %% over %u: %s, %.5f..%.5f", cases[i].other, cases[i].spread,
		   cases[i].slices, compare_verdict_name(c.cells[0].verdict), c.cells[0].low,
		   c.cells[0].high);
		compare_free(&c);
	}
}

static void test_unknown_spread(void)
{
	struct measure_result a = cell(XTS, MEASURE_CPU, "aesni", 100, 2, 100);
	struct measure_result b = cell(XTS, MEASURE_CPU, "aesni", 50, 0, 0);
	struct comparison c = make(&a, 1, &b, 1);

	ok(c.cells[0].verdict == COMPARE_UNCLEAR && c.cells[0].ratio > 0 && !(c.cells[0].high > 0),
	   "half as fast, but by how much that spreads is not known: cannot tell");
	ok(!compare_below(&c.cells[0], 0.9), "and no regression");
	compare_free(&c);
	b = cell(XTS, MEASURE_CPU, "aesni", 50, 1, 0);
	c = make(&a, 1, &b, 1);
	ok(c.cells[0].verdict == COMPARE_SLOWER &&
		   near(c.cells[0].high, 0.5 * exp(1.96 * sqrt(0.0186 * 0.0186 + 0.01 * 0.01 +
							       0.00186 * 0.00186 + 0.01 * 0.01))),
	   "quartiles without a number of slices count as one slice's: up to %.4f",
	   c.cells[0].high);
	compare_free(&c);
}

static void test_matching(void)
{
	struct measure_result first[] = {
		cell(XTS, MEASURE_AFALG, "xts-aes-aesni", 100, 1, 100),
		cell(XTS, MEASURE_CPU, "vaes512", 1000, 1, 100),
		cell(XTS, MEASURE_CPU, "aesni", 500, 1, 100),
		cell(CBC, MEASURE_CPU, "vaes512", 300, 1, 100),
		cell(CBC, MEASURE_OPENSSL, "3.0.11", 300, 1, 100),
	};
	struct measure_result other[] = {
		cell(CBC, MEASURE_OPENSSL, "3.2.0", 330, 1, 100),
		cell(XTS, MEASURE_CPU, "aesni", 500, 1, 100),
		cell(XTS, MEASURE_CPU, "vaes256", 800, 1, 100),
		cell(XTS, MEASURE_CPU, "portable", 8, 1, 100),
		cell(XTS, MEASURE_AFALG, "xts-aes-vaes-avx512", 200, 1, 100),
	};
	struct comparison c = make(first, 5, other, 5);

	ok(c.n == 7, "seven rows: %zu", c.n);
	ok(c.cells[0].first == &first[0] && c.cells[0].other == &other[4] &&
		   c.cells[0].verdict == COMPARE_FASTER && near(c.cells[0].ratio, 2),
	   "another driver of the kernel's is compared");
	ok(c.cells[1].first == &first[1] && c.cells[1].verdict == COMPARE_ONLY_FIRST,
	   "of tiers the same ones are; where two are left, none is guessed");
	ok(c.cells[2].other == &other[1] && c.cells[2].verdict == COMPARE_UNCLEAR,
	   "aesni by aesni");
	ok(c.cells[3].verdict == COMPARE_ONLY_FIRST, "a cell that is only there");
	ok(c.cells[4].other == &other[0] && near(c.cells[4].ratio, 1.1), "another OpenSSL");
	ok(c.cells[5].other == &other[2] && c.cells[5].verdict == COMPARE_ONLY_OTHER &&
		   c.cells[6].other == &other[3] && !c.cells[6].first,
	   "what only the other has comes last, in its order");
	ok(c.count[COMPARE_ONLY_FIRST] == 2 && c.count[COMPARE_ONLY_OTHER] == 2 &&
		   near(c.median, 1.1),
	   "the median of three ratios: %.3f", c.median);
	compare_free(&c);
	c = make(first + 1, 1, other + 2, 1);
	ok(c.n == 1 && near(c.cells[0].ratio, 0.8),
	   "the best tier here against the best there, where each has one");
	compare_free(&c);
	c = make(first, 5, other, 0);
	ok(c.n == 5 && c.count[COMPARE_ONLY_FIRST] == 5 && !(c.median > 0), "against nothing");
	compare_free(&c);
}

static void test_keys(void)
{
	struct measure_result a = cell(XTS, MEASURE_CPU, "aesni", 100, 1, 100), b;
	struct comparison c;

	for (int i = 0; i < 8; i++) {
		b = a;
		switch (i) {
		case 0:
			b.direction = ENGINE_DECRYPT;
			break;
		case 1:
			b.shape = ENGINE_MULTI;
			break;
		case 2:
			b.size = 4096;
			break;
		case 3:
			b.threads = 2;
			break;
		case 4:
			b.spec.sector = 512;
			break;
		case 5:
			b.depth = 4;
			break;
		case 6:
			b.path = MEASURE_SPLICE;
			break;
		default:
			b.spec.key_bits = 256;
		}
		c = make(&a, 1, &b, 1);
		ok(c.n == 2 && c.cells[0].verdict == COMPARE_ONLY_FIRST &&
			   c.cells[1].verdict == COMPARE_ONLY_OTHER,
		   "another cell, by its key number %d", i);
		compare_free(&c);
	}
}

static void test_failures(void)
{
	struct measure_result first[] = {
		cell(XTS, MEASURE_AFALG, "", 100, 1, 100),
		cell(CBC, MEASURE_AFALG, "", 100, 1, 100),
		cell("aes-xts-plain64/256@512", MEASURE_AFALG, "", 9, 1, 9)};
	struct measure_result other[] = {first[0], first[1], first[2]};
	struct comparison c;

	snprintf(other[0].error_code, sizeof(other[0].error_code), "ENOENT");
	snprintf(first[1].error_code, sizeof(first[1].error_code), "EPERM");
	snprintf(first[2].error_code, sizeof(first[2].error_code), "EPERM");
	snprintf(other[2].error_code, sizeof(other[2].error_code), "EPERM");
	c = make(first, 3, other, 3);
	ok(c.n == 2 && c.cells[0].verdict == COMPARE_LOST && c.cells[1].verdict == COMPARE_GAINED &&
		   !(c.median > 0),
	   "lost, gained, and what failed twice is left out");
	ok(compare_below(&c.cells[0], 0.01) && !compare_below(&c.cells[1], 0.99),
	   "what is lost is a regression at any limit, what is gained at none");
	compare_free(&c);
}

static void test_disturbed(void)
{
	struct measure_condition busy = {.id = "busy"}, quota = {.id = "one-cpu"};
	struct measure_result a = cell(XTS, MEASURE_CPU, "aesni", 100, 10, 400);
	struct measure_result b = cell(XTS, MEASURE_CPU, "aesni", 90, 9, 400);
	struct measurement first = {.results = &a, .n_results = 1};
	struct measurement other = {.results = &b, .n_results = 1};
	struct comparison c;

	ok(!compare_make(&c, &first, &other) && c.cells[0].verdict == COMPARE_SLOWER,
	   "a tenth less over 400 slices each is slower");
	compare_free(&c);
	other.conditions = &quota;
	other.n_conditions = 1;
	ok(!compare_make(&c, &first, &other) && c.cells[0].verdict == COMPARE_SLOWER,
	   "also where one CPU is all there is");
	compare_free(&c);
	other.conditions = &busy;
	if (!ok(!compare_make(&c, &first, &other) && c.n == 1, "and a busy one"))
		return;
	ok(c.cells[0].verdict == COMPARE_UNCLEAR &&
		   near(c.cells[0].low, 0.9 / exp(1.96 * sqrt(0.093 * 0.093 + 0.00465 * 0.00465 +
							      2 * 0.01 * 0.01))),
	   "while others took time in one of the runs that cannot be told: from %.4f",
	   c.cells[0].low);
	compare_free(&c);
}

static void test_below(void)
{
	static const struct {
		double other, spread, limit;
		bool below;
	} cases[] = {
		{90, 2, 0.95, true},   {96, 2, 0.95, false},  {90, 2, 0.85, false},
		{94.9, 2, 0.95, true}, {90, 90, 0.95, false}, /* may be noise */
		{105, 2, 1.2, true},   {118, 2, 1.2, false},  /* not surely below */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct measure_result a = cell(XTS, MEASURE_CPU, "aesni", 100, 2, 100);
		struct measure_result b = cell(XTS, MEASURE_CPU, "aesni", cases[i].other,
					       cases[i].spread, 9);
		struct comparison c = make(&a, 1, &b, 1);

		ok(compare_below(&c.cells[0], cases[i].limit) == cases[i].below,
		   "%g of 100 with a spread of %g is %sbelow %g", cases[i].other, cases[i].spread,
		   cases[i].below ? "" : "not ", cases[i].limit);
		compare_free(&c);
	}
}

int main(void)
{
	test_verdicts();
	test_unknown_spread();
	test_matching();
	test_keys();
	test_failures();
	test_disturbed();
	test_below();
	return tap_done();
}
