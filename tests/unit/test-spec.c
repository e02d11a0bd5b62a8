// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

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

	ok(!spec_from_options(&spec, "aes-xts-plain64", 256, 2048, &st) &&
		   !strcmp(spec_print(&spec, text), "aes-xts-plain64/256@2048"),
	   "three options are one spec: %s", text);
	ok(spec_from_options(&spec, "aes-xts-plain64/512", 256, 0, &st) == -EINVAL &&
		   strstr(st.message, "contradict"),
	   "%s", st.message);
	ok(spec_from_options(&spec, "aes-xts-plain64@512", 0, 4096, &st) == -EINVAL &&
		   strstr(st.message, "contradict"),
	   "%s", st.message);
	ok(spec_from_options(&spec, "aes-xts-plain64", 192, 0, &st) == -EINVAL &&
		   strstr(st.message, "192"),
	   "%s", st.message);
	ok(spec_from_options(&spec, "aes-xts-plain64", 0, 600, &st) == -EINVAL &&
		   strstr(st.message, "600"),
	   "%s", st.message);
}

int main(void)
{
	test_good();
	test_bad();
	test_options();
	return tap_done();
}
