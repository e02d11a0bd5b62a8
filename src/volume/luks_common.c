// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/luks_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Gives the log the full stop that a sentence ends with, where it has none. */
static void log_end(struct luks_log *log)
{
	size_t used = strlen(log->text);

	if (used && !strchr(".?!", log->text[used - 1]))
		snprintf(log->text + used, sizeof(log->text) - used, ".");
}

/* Appends text to the log, as a sentence, with the name in the place of every mention of the path.
 */
static void log_append(struct luks_log *log, const char *text)
{
	size_t used = strlen(log->text), skip = log->path ? strlen(log->path) : 0;
	const char *hit;

	if (used)
		used += snprintf(log->text + used, sizeof(log->text) - used, " ");
	while (used < sizeof(log->text) - 1 && *text) {
		hit = skip ? strstr(text, log->path) : NULL;
		used += snprintf(log->text + used, sizeof(log->text) - used, "%.*s%s",
				 hit ? (int)(hit - text) : (int)strcspn(text, "\n"), text,
				 hit ? log->name : "");
		if (!hit)
			break;
		text = hit + skip;
	}
	log_end(log);
}

/* Before it says that validation failed, libcryptsetup mostly says what it disliked. */
static void explain(struct luks_log *log, const char *message)
{
	/* What comes before the checksums is no dislike, and neither is that it tries to mend. */
	if (!strncmp(message, "Checksum:", 9))
		*log->last = '\0';
	else if (!strncmp(message, "Repairing ", 10))
		return;
	else if (!strstr(message, "validation failed"))
		snprintf(log->last, sizeof(log->last), "%s", message);
	else if (!*log->text && *log->last)
		log_append(log, log->last);
	else if (!*log->text && strncmp(message, "ERROR", 5))
		log_append(log, message);
}

static void on_message(int level, const char *message, void *arg)
{
	struct luks_log *log = arg;

	if (!log)
		return;
	if (level == CRYPT_LOG_ERROR)
		log_append(log, message);
	else if (log->explain && level == CRYPT_LOG_DEBUG)
		explain(log, message);
}

void luks_log_to(struct luks_log *log)
{
	crypt_set_log_callback(NULL, on_message, log);
}

void luks_log_of(struct crypt_device *cd, struct luks_log *log)
{
	crypt_set_log_callback(cd, on_message, log);
}

const char *luks_words(struct luks_log *log, int err)
{
	if (!*log->text)
		snprintf(log->text, sizeof(log->text), "%s.", strerror(err < 0 ? -err : err));
	return log->text;
}

bool luks_in_user_space(const struct spec *spec)
{
	return !strcmp(spec->kind->cipher, "aes") &&
	       (!strcmp(spec->kind->mode, "xts") || !strcmp(spec->kind->mode, "cbc"));
}

int luks_begin(struct crypt_device **cd, struct luks_log *log)
{
	return luks_begin_on(cd, log->path, log);
}

int luks_begin_on(struct crypt_device **cd, const char *path, struct luks_log *log)
{
	int ret;

	*log->text = '\0';
	luks_log_to(log);
	ret = crypt_init(cd, path);
	luks_log_to(NULL);
	if (ret)
		return ret;
	crypt_set_log_callback(*cd, on_message, log);
	return 0;
}

void luks_end(struct crypt_device *cd)
{
	crypt_free(cd);
}

/*
 * The volume's own where libcryptsetup can do it in user space. The others it can only do through
 * AF_ALG, which is going away, or through a mapping, which needs root; AES-XTS guards a keyslot no
 * worse than any of them, and it is what cryptsetup itself falls back to.
 */
const char *luks_keyslot_cipher(const struct spec *spec, char buf[SPEC_TEXT_MAX],
				unsigned *key_bits)
{
	/* With tags, libcryptsetup takes its own choice for keyslots and no other. */
	if (luks_in_user_space(spec) && !spec->kind->integrity) {
		*key_bits = spec->key_bits;
		return spec_cipher(spec, buf);
	}
	*key_bits = 512;
	snprintf(buf, SPEC_TEXT_MAX, "aes-xts-plain64");
	return buf;
}

/* What libcryptsetup takes as one keyslot's area: the key in 4000 stripes (LUKS2 on-disk format,
 * 3.2), in blocks of 4096 bytes. */
static uint64_t keyslot_area(unsigned key_bits)
{
	return (key_bits / 8 * 4000ULL + 4095) / 4096 * 4096;
}

uint64_t luks_header_least(const struct plan *plan)
{
	uint64_t slot = keyslot_area(spec_volume_key_bits(&plan->spec));

	return plan->luks1 ? 4096 + LUKS1_SLOTS * slot : LUKS2_METADATA + slot;
}

bool luks_apart(const struct plan *plan)
{
	return plan->header || plan->data_offset > LUKS_TOGETHER || plan->spec.kind->integrity;
}

uint64_t luks_header_len(const struct plan *plan)
{
	if (plan->header && plan->data_offset && plan->data_offset < PLAN_DATA_OFFSET)
		return plan->data_offset;
	return plan->header || plan->data_offset > LUKS_TOGETHER ? PLAN_DATA_OFFSET
								 : plan->data_offset;
}

const char *luks_integrity(const struct spec_kind *kind)
{
	if (!kind->integrity || strcmp(kind->integrity, "hmac-sha256"))
		return kind->integrity;
	return "hmac(sha256)";
}

uint32_t luks_flags(const struct plan *plan)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} names[] = {
		{"allow-discards", CRYPT_ACTIVATE_ALLOW_DISCARDS},
		{"perf-same_cpu_crypt", CRYPT_ACTIVATE_SAME_CPU_CRYPT},
		{"perf-submit_from_crypt_cpus", CRYPT_ACTIVATE_SUBMIT_FROM_CRYPT_CPUS},
		{"perf-no_read_workqueue", CRYPT_ACTIVATE_NO_READ_WORKQUEUE},
		{"perf-no_write_workqueue", CRYPT_ACTIVATE_NO_WRITE_WORKQUEUE},
	};
	uint32_t flags = 0;

	for (size_t i = 0; i < plan->n_flags; i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			if (!strcmp(plan->flags[i], names[j].name))
				flags |= names[j].flag;
	return flags;
}
