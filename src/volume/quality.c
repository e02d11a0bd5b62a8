// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/quality.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_PWQUALITY
#include <pwquality.h>

int quality_available(struct status *st)
{
	(void)st;
	return 0;
}

/* What any dictionary and any rule should let pass: when that is found in the dictionary, there is
 * none. */
static const char strong[] = "kV7#tumble-Orchid.92_zephyr&Quill";

static int ask_library(const char *text, char *why, size_t size, bool *weak)
{
	pwquality_settings_t *settings = pwquality_default_settings();
	void *detail = NULL;
	int ret;

	*weak = false;
	if (!settings)
		return -ENOMEM;
	ret = pwquality_read_config(settings, NULL, &detail);
	if (ret >= 0 &&
	    pwquality_check(settings, strong, NULL, NULL, &detail) == PWQ_ERROR_CRACKLIB_CHECK) {
		pwquality_free_settings(settings);
		return -ENOENT;
	}
	if (ret >= 0) {
		ret = pwquality_check(settings, text, NULL, NULL, &detail);
		*weak = ret < 0;
	}
	if (ret < 0)
		pwquality_strerror(why, size, ret, detail);
	pwquality_free_settings(settings);
	return ret < 0 ? -EINVAL : 0;
}

int quality_check(const struct secret *secret, struct status *st)
{
	char why[PWQ_MAX_ERROR_MESSAGE_LEN] = "";
	char *text;
	bool weak;
	int ret;

	if (memchr(secret->bytes, '\0', secret->len) || secret->len > SECRET_PROMPT_MAX)
		return status_set(st, ST_USAGE, EINVAL,
				  "--check-quality: the secret is no passphrase that can be judged "
				  "(it is longer than %d bytes, or holds NUL bytes).",
				  SECRET_PROMPT_MAX);
	text = calloc(1, secret->len + 1);
	if (!text)
		return status_nomem(st);
	memcpy(text, secret->bytes, secret->len);
	ret = ask_library(text, why, sizeof(why), &weak);
	explicit_bzero(text, secret->len);
	free(text);
	if (ret == -ENOMEM)
		return status_nomem(st);
	if (ret && weak)
		return status_set(st, ST_AUTH, EINVAL,
				  "The passphrase is too weak: %s. Nothing was written.", why);
	if (ret == -ENOENT)
		return status_set(st, ST_MISSING, ENOENT,
				  "--check-quality: libpwquality has no dictionary; install "
				  "cracklib's (Debian: cracklib-runtime), or set dictcheck = 0 in "
				  "pwquality.conf.");
	return ret ? status_set(st, ST_MISSING, EINVAL, "libpwquality: %s.", why) : 0;
}
#else
int quality_available(struct status *st)
{
	return status_set(st, ST_MISSING, ENOTSUP,
			  "--check-quality: this program was built without libpwquality.");
}

int quality_check(const struct secret *secret, struct status *st)
{
	(void)secret;
	return quality_available(st);
}
#endif

/* In the same place on the keyboards of the languages that are written in Latin letters. */
static bool same_everywhere(unsigned char c)
{
	return (c >= 'a' && c <= 'z' && !strchr("aqwyzm", c)) || c == ' ';
}

const char *quality_boot_doubt(const struct secret *secret, bool for_grub)
{
	const char *doubt = NULL;

	for (size_t i = 0; i < secret->len; i++) {
		unsigned char c = secret->bytes[i];

		if (c < ' ' || c == 0x7f)
			return "control characters";
		if (c >= 0x80)
			doubt = "bytes that are not ASCII";
		else if (!doubt && for_grub && !same_everywhere(c))
			doubt = "characters that keyboards have in different places";
	}
	return doubt;
}
