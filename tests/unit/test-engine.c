// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/key_schedule.h"
#include "engine/sha256.h"
#include "engine/tier.h"
#include "engine/vectors.h"
#include "tap.h"

#ifdef WITH_OPENSSL
#include "engine-evp.h"
#endif

#define SEED       0x646d637274756e65
#define CASES      (2 * 16 * 16) /* each pair of alignments in place and not */
#define SECTORS    40
#define GUARD      64
#define GUARD_BYTE 0xa5
#define AREA       ((size_t)SECTORS * SPEC_SECTOR_MAX)
#define ROOM       (AREA + 2 * GUARD + 16)
#define MAX_TIERS  8

extern const struct engine_tier engine_tier_scalar; /* engine-scalar.c */

static const struct spec_kind kinds[] = {
	{.cipher = "aes", .mode = "xts", .iv = "plain64", .key_halves = 2},
	{.cipher = "aes", .mode = "cbc", .iv = "essiv:sha256", .key_halves = 1},
	{.cipher = "aes", .mode = "cbc", .iv = "plain64", .key_halves = 1},
};

static const struct engine_tier *tiers[MAX_TIERS];
static size_t n_tiers;
static uint64_t random_state = SEED;

/* splitmix64: S. Vigna, public domain as an algorithm; any full-period generator would do. */
static uint64_t random_u64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void random_bytes(uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)random_u64();
}

static void find_tiers(void)
{
	struct cpu_facts cpu;
	char reason[100];

	if (cpu_probe(&cpu, NULL, NULL, NULL) != 0)
		exit(99);
	for (size_t i = 0; engine_tiers[i]; i++) {
		if (engine_tier_usable(engine_tiers[i], &cpu, reason, sizeof(reason)))
			tiers[n_tiers++] = engine_tiers[i];
		else
			tap_skip("%s: %s", engine_tier_name(engine_tiers[i]), reason);
	}
	tiers[n_tiers++] = &engine_tier_scalar;
}

static const char *label(const struct engine_tier *tier)
{
	return tier == &engine_tier_scalar ? "portable, 64-bit words" : engine_tier_name(tier);
}

/* FIPS 197, appendix A: the last round key of each example. */
static void test_key_schedule(void)
{
	static const struct {
		const char *key, *last;
	} examples[] = {
		{"2b7e151628aed2a6abf7158809cf4f3c", "d014f9a8c9ee2589e13f0cc8b6630ca6"},
		{"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
		 "e98ba06f448c773c8ecc720401002202"},
		{"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
		 "fe4890d1e6188d0b046df344706c631e"},
	};
	uint8_t key[32], last[AES_BLOCK];
	struct aes_schedule schedule;
	size_t len;

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		len = vector_bytes(key, sizeof(key), examples[i].key);
		vector_bytes(last, sizeof(last), examples[i].last);
		aes_expand(&schedule, key, len);
		ok(schedule.rounds == len / 4 + 6 &&
			   !memcmp(schedule.key[schedule.rounds], last, sizeof(last)),
		   "key schedule of FIPS 197 A.%zu, %zu bits", i + 1, 8 * len);
	}
}

#ifdef WITH_OPENSSL
static void test_sha256(void)
{
	uint8_t message[200], got[SHA256_SIZE], want[SHA256_SIZE];
	bool same = true;

	random_bytes(message, sizeof(message));
	for (size_t len = 0; len <= sizeof(message); len++) {
		sha256(got, message, len);
		EVP_Digest(message, len, want, NULL, EVP_sha256(), NULL);
		same &= !memcmp(got, want, sizeof(want));
	}
	ok(same, "SHA-256 as OpenSSL's for 0 to %zu bytes", sizeof(message));
}

/* The vectors themselves, against OpenSSL. */
static void test_vectors(void)
{
	uint8_t raw[VECTOR_KEY], plain[VECTOR_SECTOR], got[VECTOR_SECTOR], want[VECTOR_SECTOR];
	uint8_t digest[SHA256_SIZE];
	struct spec spec = {0};
	bool same;
	size_t n;

	for (const struct engine_vector *v = engine_vectors; v->name; v++) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (!strcmp(kinds[i].mode, v->mode) && !strcmp(kinds[i].iv, v->iv))
				spec.kind = &kinds[i];
		spec.key_bits = 8 * (unsigned)vector_bytes(raw, sizeof(raw), v->key);
		vector_plain(plain, v);
		evp_encrypt(&spec, raw, got, plain, VECTOR_SECTOR, 1, v->sector);
		n = vector_bytes(want, sizeof(want), v->cipher);
		same = n && !memcmp(got, want, n);
		if (v->digest) {
			EVP_Digest(got, sizeof(got), digest, NULL, EVP_sha256(), NULL);
			vector_bytes(want, SHA256_SIZE, v->digest);
			same &= !memcmp(digest, want, SHA256_SIZE);
		}
		ok(same, "OpenSSL agrees with %s", v->name);
	}
}
#endif

static void test_selftest(void)
{
	char what[100];

	for (size_t i = 0; i < n_tiers; i++) {
		snprintf(what, sizeof(what), "all vectors");
		ok(engine_selftest(tiers[i], what, sizeof(what)) == 0, "%s: self-test: %s",
		   label(tiers[i]), what);
	}
}

/* A tier with wrong answers: encrypts as `portable`, but with no tweak. */
static void test_selftest_notices(void)
{
	struct engine_tier broken = engine_tier_portable;
	char what[100] = "";
	int err;

	broken.xts_encrypt = broken.cbc_encrypt_multi;
	err = engine_selftest(&broken, what, sizeof(what));
	ok(err == -EBADMSG && strstr(what, "IEEE 1619"), "a wrong XTS is noticed: %s", what);
	broken = engine_tier_portable;
	broken.cbc_encrypt_multi = broken.xts_encrypt;
	what[0] = '\0';
	err = engine_selftest(&broken, what, sizeof(what));
	ok(err == -EBADMSG && strstr(what, "against portable"),
	   "a wrong multi shape is noticed: %s", what);
}

/* One random call and its expected result. */
struct call {
	struct spec spec;
	uint8_t raw[VECTOR_KEY];
	size_t size, count, src_align, dst_align;
	uint64_t sector;
	bool in_place;
};

static uint8_t plain[AREA], expected[AREA], src_room[ROOM], dst_room[ROOM];

static void make_call(struct call *c, unsigned number)
{
	static const uint64_t around[] = {0, UINT64_C(1) << 32, UINT64_C(1) << 63};
	const struct spec_kind *kind = &kinds[random_u64() % 3];
	unsigned strength = 128 + 64 * (unsigned)(random_u64() % 3);

	if (kind->key_halves == 2 && strength == 192)
		strength = 256;
	c->spec = (struct spec){.kind = kind, .key_bits = strength * kind->key_halves};
	random_bytes(c->raw, sizeof(c->raw));
	c->size = (size_t)512 << random_u64() % 4;
	c->count = 1 + random_u64() % SECTORS;
	/* Most calls are short, so that the small counts all come with each size. */
	if (random_u64() % 4)
		c->count = 1 + random_u64() % 4;
	c->sector = random_u64() % 4 == 3 ? random_u64()
					  : around[random_u64() % 3] - random_u64() % 200;
	c->src_align = number % 16;
	c->dst_align = number / 16 % 16;
	c->in_place = number / 256 % 2;
	random_bytes(plain, c->size * c->count);
}

/* Of all that was expected so far: the same on every machine, whoever worked it out. */
static uint8_t expectations[2 * SHA256_SIZE];

static void compute(const struct call *c)
{
#ifdef WITH_OPENSSL
	evp_encrypt(&c->spec, c->raw, expected, plain, c->size, c->count, c->sector);
#else
	struct engine_key *key;

	if (engine_key_new(&key, &engine_tier_portable, &c->spec, c->raw) != 0)
		exit(99);
	engine_crypt(key, ENGINE_ENCRYPT, ENGINE_MULTI, expected, plain, c->size, c->count,
		     c->sector);
	engine_key_free(key);
#endif
}

static void expect(const struct call *c)
{
	compute(c);
	sha256(expectations + SHA256_SIZE, expected, c->size * c->count);
	sha256(expectations, expectations, sizeof(expectations));
}

static void print_expectations(void)
{
	printf("# expected: ");
	for (size_t i = 0; i < SHA256_SIZE; i++)
		printf("%02x", expectations[i]);
	printf("\n");
}

/* Nothing but bytes of the call's own, with the guards around them whole. */
static bool holds(const uint8_t *room, size_t align, const uint8_t *want, size_t n)
{
	const uint8_t *at = room + GUARD + align;

	for (const uint8_t *p = room; p < at; p++)
		if (*p != GUARD_BYTE)
			return false;
	for (const uint8_t *p = at + n; p < at + n + GUARD; p++)
		if (*p != GUARD_BYTE)
			return false;
	return !memcmp(at, want, n);
}

/* Runs the call once and says whether it did what it should and nothing else. */
static bool run(const struct engine_key *key, const struct call *c, enum engine_direction direction,
		enum engine_shape shape, size_t count)
{
	const uint8_t *from = direction == ENGINE_ENCRYPT ? plain : expected;
	const uint8_t *to = direction == ENGINE_ENCRYPT ? expected : plain;
	const size_t n = c->size * count;
	uint8_t *src = src_room + GUARD + c->src_align, *dst = dst_room + GUARD + c->dst_align;

	memset(src_room, GUARD_BYTE, n + 2 * GUARD + 16);
	memset(dst_room, GUARD_BYTE, n + 2 * GUARD + 16);
	memcpy(src, from, n);
	if (c->in_place) {
		engine_crypt(key, direction, shape, src, src, c->size, count, c->sector);
		return holds(src_room, c->src_align, to, n);
	}
	engine_crypt(key, direction, shape, dst, src, c->size, count, c->sector);
	return holds(dst_room, c->dst_align, to, n) && holds(src_room, c->src_align, from, n);
}

/* Serial CBC encryption of `portable` wastes nearly a whole pipeline on each block: a prefix of
 * the call is enough, and costs seconds less. */
static size_t serial_count(const struct call *c, const struct engine_tier *tier)
{
	const size_t few = 1 + 512 / c->size;
	const bool slow = tier == &engine_tier_portable || tier == &engine_tier_scalar;

	return slow && c->count > few ? few : c->count;
}

static void complain(const struct call *c, const struct engine_tier *tier, const char *what)
{
	printf("# %s, %s: %s-%s/%u, %zu sectors of %zu at %" PRIu64 ", alignment %zu to %zu%s\n",
	       label(tier), what, c->spec.kind->mode, c->spec.kind->iv, c->spec.key_bits, c->count,
	       c->size, c->sector, c->src_align, c->dst_align, c->in_place ? ", in place" : "");
}

static void test_random_calls(void)
{
	unsigned wrong[MAX_TIERS][3] = {{0}};
	struct engine_key *key;
	struct call c;

	random_state = SEED;
	printf("# seed %#" PRIx64 "\n", random_state);
	for (unsigned number = 0; number < CASES; number++) {
		make_call(&c, number);
		expect(&c);
		for (size_t t = 0; t < n_tiers; t++) {
			if (engine_key_new(&key, tiers[t], &c.spec, c.raw) != 0)
				exit(99);
			if (!run(key, &c, ENGINE_ENCRYPT, ENGINE_MULTI, c.count) && !wrong[t][0]++)
				complain(&c, tiers[t], "encryption, multi");
			if (!run(key, &c, ENGINE_ENCRYPT, ENGINE_SERIAL,
				 serial_count(&c, tiers[t])) &&
			    !wrong[t][1]++)
				complain(&c, tiers[t], "encryption, serial");
			if (!run(key, &c, ENGINE_DECRYPT, ENGINE_SERIAL, c.count) && !wrong[t][2]++)
				complain(&c, tiers[t], "decryption");
			engine_key_free(key);
		}
	}
	for (size_t t = 0; t < n_tiers; t++) {
		ok(!wrong[t][0], "%s: %d random calls encrypt", label(tiers[t]), CASES);
		ok(!wrong[t][1], "%s: and the same serially", label(tiers[t]));
		ok(!wrong[t][2], "%s: and decrypt", label(tiers[t]));
	}
}

static void test_every_count(void)
{
	struct call c = {.spec = {.kind = &kinds[1], .key_bits = 256}, .size = 512, .sector = 7};
	struct engine_key *key;
	bool right;

	random_bytes(c.raw, sizeof(c.raw));
	random_bytes(plain, SECTORS * c.size);
	c.count = SECTORS;
	expect(&c);
	for (size_t t = 0; t < n_tiers; t++) {
		if (engine_key_new(&key, tiers[t], &c.spec, c.raw) != 0)
			exit(99);
		right = true;
		for (size_t n = 0; n <= SECTORS; n++)
			right &= run(key, &c, ENGINE_ENCRYPT, ENGINE_MULTI, n) &&
				 run(key, &c, ENGINE_DECRYPT, ENGINE_SERIAL, n);
		ok(right, "%s: 0 to %d sectors in a call", label(tiers[t]), SECTORS);
		engine_key_free(key);
	}
}

static void test_supports(void)
{
	static const struct spec_kind adiantum = {
		.cipher = "xchacha12,aes", .mode = "adiantum", .iv = "plain64"};
	static const struct spec_kind tcw = {.cipher = "aes", .mode = "cbc", .iv = "tcw"};
	struct engine_key *key = NULL;
	struct spec spec = {.kind = &adiantum, .key_bits = 256};
	const uint8_t raw[VECTOR_KEY] = {0};

	ok(!engine_supports(&spec), "no Adiantum");
	ok(engine_key_new(&key, &engine_tier_portable, &spec, raw) == -EOPNOTSUPP && !key,
	   "no key for it");
	spec.kind = &tcw;
	ok(!engine_supports(&spec), "no CBC with another IV");
	spec = (struct spec){.kind = &kinds[0], .key_bits = 384};
	ok(!engine_supports(&spec), "no XTS with a key size that IEEE 1619 lacks");
	spec.key_bits = 512;
	ok(engine_supports(&spec), "XTS with 512 bits");
	engine_key_free(NULL);
}

static void test_roofline(void)
{
	for (size_t t = 0; t < n_tiers; t++) {
		const uint64_t bytes = engine_roofline(tiers[t], 256, 10);

		if (engine_tier_bits(tiers[t]))
			ok(bytes && bytes == 2 * engine_roofline(tiers[t], 128, 5),
			   "%s: the roofline says its bytes", label(tiers[t]));
		else
			ok(bytes == 0, "%s: no roofline", label(tiers[t]));
	}
}

#define BIT(feature) (UINT64_C(1) << (feature))
#define AESNI_NEEDS                                                                                \
	(BIT(CPU_SSE2) | BIT(CPU_SSSE3) | BIT(CPU_SSE4_1) | BIT(CPU_PCLMULQDQ) | BIT(CPU_AES))

static void check_aesni(const struct cpu_facts *cpu, const char *want)
{
	const struct engine_tier *aesni = engine_tier_find("aesni");
	char reason[100] = "unset";
	const bool usable = engine_tier_usable(aesni, cpu, reason, sizeof(reason));

	ok(usable == !want[0] && !strcmp(reason, want), "aesni: \"%s\", expected \"%s\"", reason,
	   want);
	ok(engine_tier_best(cpu) == (usable ? aesni : &engine_tier_portable), "the best is then %s",
	   engine_tier_name(engine_tier_best(cpu)));
	ok(engine_tier_usable(aesni, cpu, NULL, 0) == usable, "the same without a buffer");
}

static void test_usable(void)
{
	struct cpu_facts cpu = {.family = CPU_FAMILY_X86, .known = true};

	ok(engine_tier_find("portable") == &engine_tier_portable, "portable by name");
	ok(!engine_tier_find("nosuch") && !engine_tier_find(""), "no tier by a wrong name");
	ok(engine_tier_usable(&engine_tier_portable, &cpu, NULL, 0), "portable needs nothing");
	ok(engine_tier_usable(engine_tier_find("table"), &cpu, NULL, 0) &&
		   engine_tier_best(&cpu) == &engine_tier_portable,
	   "so does table, which is never the best");
	if (!engine_tier_find("aesni")) {
		tap_skip("aesni: for x86");
		return;
	}
	cpu.advertised = cpu.usable = AESNI_NEEDS;
	check_aesni(&cpu, "");
	cpu.advertised = cpu.usable = AESNI_NEEDS & ~BIT(CPU_AES);
	check_aesni(&cpu, "the CPU has no aes");
	cpu.advertised = AESNI_NEEDS;
	check_aesni(&cpu, "the operating system does not save its registers");
	cpu.disabled = BIT(CPU_AES);
	check_aesni(&cpu, "disabled by --cpu-disable");
	cpu = (struct cpu_facts){.family = CPU_FAMILY_ARM, .known = true};
	check_aesni(&cpu, "for another kind of CPU");
	cpu.known = false;
	check_aesni(&cpu, "nothing says whether the CPU has sse4_1");
}

/* Features masked newest first: on one machine each tier is once the best. */
static void test_masked(void)
{
	static const struct {
		const char *disable, *tier;
		unsigned bits; /* of what is left at most */
	} masks[] = {{"avx512f", "vaes512", 256}, {"vaes", "vaes256", 128}, {"aes", "aesni", 0}};
	const struct engine_tier *tier;
	struct cpu_facts cpu;
	char reason[100];

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		tier = engine_tier_find(masks[i].tier);
		if (!tier) {
			tap_skip("%s: for x86", masks[i].tier);
			continue;
		}
		if (cpu_probe(&cpu, NULL, masks[i].disable, NULL) != 0)
			exit(99);
		ok(!engine_tier_usable(tier, &cpu, reason, sizeof(reason)) &&
			   (!strcmp(reason, "disabled by --cpu-disable") ||
			    !strncmp(reason, "the CPU has no ", 15)),
		   "--cpu-disable %s: no %s: %s", masks[i].disable, masks[i].tier, reason);
		ok(engine_tier_bits(engine_tier_best(&cpu)) <= masks[i].bits, "%s is left",
		   engine_tier_name(engine_tier_best(&cpu)));
	}
}

int main(void)
{
	find_tiers();
	test_usable();
	test_masked();
	test_supports();
	test_key_schedule();
#ifdef WITH_OPENSSL
	test_sha256();
	test_vectors();
#else
	tap_skip("SHA-256 and the vectors against OpenSSL: built without it");
#endif
	test_selftest();
	test_selftest_notices();
	test_random_calls();
	test_every_count();
	print_expectations();
	test_roofline();
	return tap_done();
}
