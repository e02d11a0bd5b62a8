// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/vectors.h"
#include "spec/candidates.h"
#include "tap.h"

static void test_good(void)
{
	static const struct {
		const char *in, *out;
		unsigned strength;
		enum spec_class class;
	} cases[] = {
		{"aes-xts-plain64/512@4096", "aes-xts-plain64/512@4096", 256, SPEC_CLASS_STRONG},
		{"aes-xts-plain64/256", "aes-xts-plain64/256", 128, SPEC_CLASS_XTS128},
		{"aes-xts-plain64", "aes-xts-plain64/512", 256, SPEC_CLASS_STRONG},
		{"aes-xts-plain64@1024", "aes-xts-plain64/512@1024", 256, SPEC_CLASS_STRONG},
		{"aes-cbc-essiv:sha256/128@512", "aes-cbc-essiv:sha256/128@512", 128,
		 SPEC_CLASS_CBC},
		{"aes-cbc-essiv:sha256/256", "aes-cbc-essiv:sha256/256", 256, SPEC_CLASS_CBC},
		{"aes-cbc-plain64/256", "aes-cbc-plain64/256", 256, SPEC_CLASS_CBC},
		{"xchacha12,aes-adiantum-plain64/256@4096",
		 "xchacha12,aes-adiantum-plain64/256@4096", 256, SPEC_CLASS_STRONG},
		{"aes-cbc-essiv:sha256/192", "aes-cbc-essiv:sha256/192", 192, SPEC_CLASS_CBC},
		{"serpent-xts-plain64", "serpent-xts-plain64/512", 256, SPEC_CLASS_STRONG},
		{"aes-gcm-random/256+aead@4096", "aes-gcm-random/256+aead@4096", 256,
		 SPEC_CLASS_STRONG},
		{"aes-gcm-random+aead", "aes-gcm-random/256+aead", 256, SPEC_CLASS_STRONG},
		{"aes-gcm-random+aead/128", "aes-gcm-random/128+aead", 128, SPEC_CLASS_XTS128},
		{"aegis128-random/128+aead@512", "aegis128-random/128+aead@512", 128,
		 SPEC_CLASS_XTS128},
		{"chacha20-random/256+poly1305", "chacha20-random/256+poly1305", 256,
		 SPEC_CLASS_STRONG},
		{"aes-xts-plain64+hmac-sha256@4096", "aes-xts-plain64/512+hmac-sha256@4096", 256,
		 SPEC_CLASS_STRONG},
		{"aes-xts-random/256+hmac-sha256", "aes-xts-random/256+hmac-sha256", 128,
		 SPEC_CLASS_XTS128},
		{"aes-cbc-essiv:sha256/256+hmac-sha256", "aes-cbc-essiv:sha256/256+hmac-sha256",
		 256, SPEC_CLASS_STRONG},
	};
	char text[SPEC_TEXT_MAX];
	struct status st = {0};
	struct spec spec;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!ok(!spec_parse(&spec, cases[i].in, &st), "%s is a spec %s", cases[i].in,
			st.message))
			continue;
		ok(!strcmp(spec_print(&spec, text), cases[i].out) &&
			   spec_strength(&spec) == cases[i].strength &&
			   spec_class(&spec) == cases[i].class,
		   "%s is %s, %u bits strong, class %s", cases[i].in, text, spec_strength(&spec),
		   spec_class_name(spec_class(&spec)));
	}
}

static void test_bad(void)
{
	static const struct {
		const char *in, *says;
	} cases[] = {
		{"", "empty"},
		{"aes", "Unknown cipher"},
		{"aes-xts", "Unknown cipher"},
		{"aes-xts-plain64/128", "512 or 256"},
		{"aes-xts-plain64/384", "512 or 256"},
		{"aes-xts-plain64/0512", "0512"},
		{"aes-xts-plain64/-512", "-512"},
		{"aes-xts-plain64/", "Key size \"\""},
		{"aes-xts-plain64/512@", "Sector size \"\""},
		{"aes-xts-plain64/512@513", "512, 1024, 2048 or 4096"},
		{"aes-xts-plain64/512@8192", "8192"},
		{"aes-xts-plain64/512 ", "512 "},
		{"aes-xts-plain64:sha256", "takes no hash"},
		{"aes-xts-plain", "2 TiB"},
		{"aes-cbc-plain/256", "2 TiB"},
		{"aes-ecb", "equal 16-byte blocks"},
		{"aes-ctr-plain64", "stream mode"},
		{"aes-cbc-essiv:sha256/512", "256, 192 or 128"},
		{"aes-xts-plain64/384", "512 or 256"},
		{"xchacha12,aes-adiantum-plain64/512", "takes 256 bits"},
		{"capi:xts(aes)-plain64", "crypto API"},
		{"AES-XTS-PLAIN64", "Unknown cipher"},
		{"aes-xts-plain64/99999999999999999999", "512 or 256"},
		{"aes-gcm-random/256", "write aes-gcm-random+aead"},
		{"chacha20-random", "write chacha20-random+poly1305"},
		{"aegis128-random/128@512", "write aegis128-random+aead"},
		{"aes-xts-random/512", "write aes-xts-random+hmac-sha256"},
		{"aes-xts-plain64/512+aead", "it takes hmac-sha256"},
		{"aes-xts-plain64/512+hmac-sha512", "\"hmac-sha512\" of aes-xts-plain64"},
		{"aes-xts-plain64/512+", "missing after the plus"},
		{"aes-xts-plain64+hmac-sha256/512+hmac-sha256", "more than one"},
		{"aes-xts-plain64/512+hmac-sha256+aead", "\"hmac-sha256+aead\""},
		{"aes-xts-plain64/512@4096+hmac-sha256", "Sector size \"4096+hmac-sha256\""},
		{"serpent-xts-plain64+hmac-sha256", "takes none; those that have one are aes-xts"},
		{"aes-gcm-random/192+aead", "256 or 128 bits."},
		{"aes-xts-plain64/768+hmac-sha256", "the key of its MAC comes on top"},
		{"aes-gcm-plain64+aead", "only random does"},
		{"chacha20-plain64+poly1305", "only random does"},
		{"aegis128-plain64/128+aead", "only random does"},
		{"aegis256-random+aead", "Unknown cipher \"aegis256-random\""},
	};
	char longest[2 * SPEC_TEXT_MAX];
	struct spec spec = {NULL, 7, 7};
	struct status st;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&st, 0, sizeof(st));
		ok(spec_parse(&spec, cases[i].in, &st) == -EINVAL && st.code == ST_USAGE &&
			   strstr(st.message, cases[i].says),
		   "\"%s\" is refused: %s", cases[i].in, st.message);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ok(spec_parse(&spec, longest, &st) == -EINVAL && strstr(st.message, "too long"), "%s",
	   st.message);
	ok(spec.key_bits == 7 && !spec.kind, "a refused spec leaves the result untouched");
}

static void test_options(void)
{
	char text[SPEC_TEXT_MAX];
	struct status st = {0};
	struct spec spec;

	ok(!spec_from_options(&spec, "aes-xts-plain64", NULL, 256, 2048, &st) &&
		   !strcmp(spec_print(&spec, text), "aes-xts-plain64/256@2048"),
	   "three options are one spec: %s", text);
	ok(spec_from_options(&spec, "aes-xts-plain64/512", NULL, 256, 0, &st) == -EINVAL &&
		   strstr(st.message, "contradict"),
	   "%s", st.message);
	ok(spec_from_options(&spec, "aes-xts-plain64@512", NULL, 0, 4096, &st) == -EINVAL &&
		   strstr(st.message, "contradict"),
	   "%s", st.message);
	ok(spec_from_options(&spec, "aes-xts-plain64", NULL, 192, 0, &st) == -EINVAL &&
		   strstr(st.message, "192"),
	   "%s", st.message);
	ok(spec_from_options(&spec, "aes-xts-plain64", NULL, 0, 600, &st) == -EINVAL &&
		   strstr(st.message, "600"),
	   "%s", st.message);
}

/* cryptsetup 2.6: lib/integrity/integrity.c, INTEGRITY_tag_size() and INTEGRITY_key_size(); "size"
 * of the segment's integrity object and of the key in LUKS2 headers that it makes. */
static void test_integrity(void)
{
	static const struct {
		const char *text, *cipher, *mode, *kernel;
		unsigned key, stored, journalled;
		uint64_t limit;
	} cases[] = {
		{"aes-xts-plain64/512@4096", "aes-xts-plain64", "xts-plain64", "xts(aes)", 512, 0,
		 0, 0},
		{"aes-gcm-random/256+aead@4096", "aes-gcm-random", "gcm-random", "gcm(aes)", 256,
		 28, 4096 + 104, 1ULL << 32},
		{"aes-gcm-random/256+aead@512", "aes-gcm-random", "gcm-random", "gcm(aes)", 256, 28,
		 512 + 48, 1ULL << 32},
		{"aegis128-random/128+aead@4096", "aegis128-random", "random", "aegis128", 128, 32,
		 4096 + 104, 0},
		{"chacha20-random/256+poly1305@512", "chacha20-random", "random",
		 "rfc7539(chacha20,poly1305)", 256, 28, 512 + 48, 1ULL << 32},
		{"aes-xts-plain64/512+hmac-sha256@4096", "aes-xts-plain64", "xts-plain64",
		 "authenc(hmac(sha256),xts(aes))", 768, 32, 4096 + 104, 0},
		{"aes-xts-random/512+hmac-sha256@4096", "aes-xts-random", "xts-random",
		 "authenc(hmac(sha256),xts(aes))", 768, 48, 4096 + 120, 0},
		{"aes-cbc-essiv:sha256/256+hmac-sha256@4096", "aes-cbc-essiv:sha256",
		 "cbc-essiv:sha256", "essiv(authenc(hmac(sha256),cbc(aes)),sha256)", 512, 32,
		 4096 + 104, 0},
	};
	char cipher[SPEC_TEXT_MAX], mode[SPEC_TEXT_MAX];
	struct status st = {0};
	struct spec spec;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!ok(!spec_parse(&spec, cases[i].text, &st), "%s %s", cases[i].text, st.message))
			continue;
		spec_cipher(&spec, cipher);
		spec_cipher_mode(&spec, mode);
		ok(!strcmp(cipher, cases[i].cipher) && !strcmp(mode, cases[i].mode) &&
			   !strcmp(spec.kind->kernel, cases[i].kernel),
		   "%s: %s, mode %s, kernel %s", cases[i].text, cipher, mode, spec.kind->kernel);
		ok(spec_volume_key_bits(&spec) == cases[i].key &&
			   spec_stored(&spec) == cases[i].stored &&
			   spec_journalled(&spec) == cases[i].journalled &&
			   spec.kind->writes_limit == cases[i].limit,
		   "%s: %u bits of key, %u bytes beside a sector, %u through the journal",
		   cases[i].text, spec_volume_key_bits(&spec), spec_stored(&spec),
		   spec_journalled(&spec));
		ok(!spec.kind->integrity ||
			   (!spec.kind->offered && strstr(spec.kind->protects, "put back") &&
			    !!spec.kind->writes_limit == !!strstr(spec.kind->protects, "2^32")),
		   "%s says what it does not do", cases[i].text);
	}
	ok(!spec_from_options(&spec, "aes-gcm-random", "aead", 128, 0, &st) &&
		   !strcmp(spec_print(&spec, cipher), "aes-gcm-random/128+aead"),
	   "--integrity aead: %s", cipher);
	ok(!spec_from_options(&spec, "aes-xts-plain64/512+hmac-sha256", "hmac-sha256", 0, 4096,
			      &st) &&
		   !strcmp(spec_print(&spec, cipher), "aes-xts-plain64/512+hmac-sha256@4096"),
	   "said twice alike: %s", cipher);
	ok(spec_from_options(&spec, "aes-xts-plain64+hmac-sha256", "aead", 0, 0, &st) == -EINVAL &&
		   strstr(st.message, "contradict"),
	   "%s", st.message);
	ok(spec_from_options(&spec, "aes-xts-plain64", "crc32c", 0, 0, &st) == -EINVAL &&
		   strstr(st.message, "it takes hmac-sha256"),
	   "%s", st.message);
}

/* Names of kinds are unique, with their integrity mode, and stand in order. */
static void test_kinds(void)
{
	struct spec a = {NULL, 0, 0}, b;
	char text[SPEC_TEXT_MAX];
	struct status st = {0};

	ok(!spec_parse_any(&b, "aes-xts-plain64", &st) && b.kind == spec_kinds,
	   "with the records, the others are there, too");
	for (a.kind = spec_records; a.kind->kernel; a.kind++) {
		a.key_bits = a.kind->key_bits[0];
		ok(!spec_parse_any(&b, spec_print(&a, text), &st) && spec_equal(&a, &b) &&
			   a.kind->record && !a.kind->offered && !a.kind->fips &&
			   strstr(a.kind->protects, "never recommended"),
		   "%s reads back, for the record", text);
		ok(spec_parse(&b, text, &st) == -EINVAL &&
			   strstr(st.message, "for the record (bench), and for nothing else"),
		   "and only that: %s", st.message);
	}
	for (a.kind = spec_kinds; a.kind->kernel; a.kind++) {
		a.key_bits = a.kind->key_bits[0];
		ok(!spec_parse(&b, spec_print(&a, text), &st) && spec_equal(&a, &b) &&
			   a.kind->usual == (unsigned)(a.kind - spec_kinds),
		   "%s reads back as what it is", text);
	}
}

/* AES-192 is tested and can be measured, but is offered to nobody, CBC or not. */
static void test_candidates(void)
{
	static struct facts facts;
	size_t vectors = 0, cbc = 0, odd = 0;
	struct candidates candidates;
	struct spec spec;

	for (const struct engine_vector *v = engine_vectors; v->name; v++)
		vectors += !strcmp(v->mode, "cbc") && strlen(v->key) == 2 * 24;
	ok(vectors > 0, "the engine is tested against %zu vectors of AES-192 CBC", vectors);
	ok(!spec_parse(&spec, "aes-cbc-essiv:sha256/192", NULL) && engine_supports(&spec) &&
		   !spec_parse(&spec, "aes-cbc-plain64/192", NULL) && engine_supports(&spec),
	   "both CBC specs can be asked for with 192 bits");
	for (int fips = 0; fips < 2; fips++) {
		facts.kernel.fips = fips;
		if (candidates_list(&candidates, &facts))
			exit(99);
		for (size_t i = 0; i < candidates.n; i++) {
			const struct spec *c = &candidates.list[i].spec;

			cbc += !strcmp(c->kind->mode, "cbc");
			odd += c->key_bits / c->kind->key_halves == 192;
		}
		candidates_free(&candidates);
	}
	ok(cbc > 0 && odd == 0, "of %zu candidates in CBC none has 192 bits: %zu", cbc, odd);
}

int main(void)
{
	test_good();
	test_bad();
	test_options();
	test_integrity();
	test_kinds();
	test_candidates();
	return tap_done();
}
