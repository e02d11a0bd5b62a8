// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/mapping.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libdevmapper.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "facts/kernel.h"
#include "measure/dm_task.h"
#include "util/sysfile.h"

#define SECTOR 512U

static bool parse_u64(const char *word, uint64_t max, uint64_t *value)
{
	char *end;

	if (!word || !isdigit((unsigned char)*word))
		return false;
	errno = 0;
	*value = strtoull(word, &end, 10);
	return !*end && !errno && *value <= max;
}

/* ":BYTES:TYPE:DESCRIPTION", or the key itself in hexadecimal, or "-". */
static bool parse_key(struct mapping *m, const char *word)
{
	char digits[16];
	uint64_t bytes;

	m->key_in_keyring = word[0] == ':';
	if (!m->key_in_keyring) {
		m->key_bits = word[0] == '-' ? 0 : (unsigned)strlen(word) * 4;
		return true;
	}
	snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(word + 1, ":"), word + 1);
	if (!parse_u64(digits, 4096, &bytes))
		return false;
	m->key_bits = (unsigned)bytes * 8;
	return true;
}

static bool parse_option(struct mapping *m, const char *word)
{
	uint64_t value;

	if (!strncmp(word, "sector_size:", 12)) {
		if (!parse_u64(word + 12, 65536, &value))
			return false;
		m->sector = (unsigned)value;
	} else if (!strncmp(word, "integrity:", 10)) {
		size_t len = strcspn(word + 10, ":");

		if (!word[10 + len] || len >= sizeof(m->integrity))
			return false;
		m->tag = (unsigned)strtoul(word + 10, NULL, 10);
		snprintf(m->integrity, sizeof(m->integrity), "%s", word + 10 + len + 1);
	} else if (m->n_flags < MAPPING_FLAGS && !strchr(word, ':')) {
		snprintf(m->flags[m->n_flags++], sizeof(m->flags[0]), "%s", word);
	}
	return true;
}

static void find_spec(struct mapping *m)
{
	const char *mode = !strcmp(m->integrity, "hmac(sha256)") ? "+hmac-sha256"
			   : *m->integrity ? (!strcmp(m->integrity, "none") ? "" : "+aead")
					   : "";
	char text[2 * SPEC_TEXT_MAX];
	unsigned bits = m->key_bits;

	if (!strcmp(mode, "+hmac-sha256"))
		bits = bits > 256 ? bits - 256 : 0;
	snprintf(text, sizeof(text), "%s/%u%s@%u", m->cipher, bits, mode, m->sector);
	m->known = bits && !spec_parse_any(&m->spec, text, NULL);
}

int mapping_parse(struct mapping *m, char *params)
{
	char *words[5], *save = NULL, *word;
	uint64_t offset, count = 0;
	bool ok = true;

	for (size_t i = 0; i < 5; i++)
		words[i] = strtok_r(i ? NULL : params, " ", &save);
	if (words[1]) {
		ok = parse_key(m, words[1]);
		explicit_bzero(words[1], strlen(words[1]));
	}
	if (!words[4] || !ok || !parse_u64(words[2], UINT64_MAX, &m->iv_offset) ||
	    !parse_u64(words[4], UINT64_MAX / SECTOR, &offset))
		return -EINVAL;
	m->sector = SECTOR;
	m->offset = offset * SECTOR;
	snprintf(m->cipher, sizeof(m->cipher), "%s", words[0]);
	snprintf(m->on, sizeof(m->on), "%s", words[3]);
	word = strtok_r(NULL, " ", &save);
	if (word && !parse_u64(word, 64, &count))
		return -EINVAL;
	while (count-- && ok) {
		word = strtok_r(NULL, " ", &save);
		ok = word && parse_option(m, word);
	}
	find_spec(m);
	return ok ? 0 : -EINVAL;
}

/* "CRYPT-LUKS2-0123…-NAME", the volume's UUID without its dashes. */
static void split_uuid(struct mapping *m)
{
	const char *at = m->uuid;
	size_t len;

	if (strncmp(at, "CRYPT-", 6))
		return;
	at += 6;
	len = strcspn(at, "-");
	snprintf(m->type, sizeof(m->type), "%.*s", (int)len, at);
	at += len;
	if (strspn(at + !!*at, "0123456789abcdef") != 32 || !*at)
		return;
	at++;
	snprintf(m->volume_uuid, sizeof(m->volume_uuid), "%.8s-%.4s-%.4s-%.4s-%.12s", at, at + 8,
		 at + 12, at + 16, at + 20);
}

static int no_mapping(const char *name, int err, struct status *st)
{
	if (err == EACCES || err == EPERM)
		return status_set(st, ST_AUTH, err,
				  "%s: mappings are shown to root alone (%s). Run it as root.",
				  name, strerror(err));
	if (err == ENXIO || err == ENOENT || err == ENODEV)
		return status_set(st, ST_DEVICE, ENODEV,
				  "%s: there is no file and no mapping of that name.", name);
	return status_set(st, ST_MISSING, err, "%s: device-mapper does not answer: %s.", name,
			  strerror(err));
}

static int not_crypt(const char *name, const char *what, struct status *st)
{
	return status_set(st, ST_DEVICE, EINVAL, "%s is not a dm-crypt mapping: %s.", name, what);
}

static int read_table(struct mapping *m, struct dm_task *task, const char *name, struct status *st)
{
	uint64_t start = 0, length = 0;
	char *target = NULL, *params = NULL, what[80];
	struct dm_info info;
	void *next;

	if (!dm_task_get_info(task, &info) || !info.exists)
		return no_mapping(name, ENXIO, st);
	next = dm_get_next_target(task, NULL, &start, &length, &target, &params);
	if (!target)
		return not_crypt(name, "it has no table", st);
	if (next || strcmp(target, "crypt")) {
		snprintf(what, sizeof(what), "it has %s %.40s",
			 next ? "several targets, the first" : "a target", target);
		return not_crypt(name, what, st);
	}
	if (mapping_parse(m, params))
		return not_crypt(name, "its table has a form that this program does not know", st);
	snprintf(m->name, sizeof(m->name), "%s", dm_task_get_name(task));
	snprintf(m->uuid, sizeof(m->uuid), "%s", dm_task_get_uuid(task));
	m->dev = makedev(info.major, info.minor);
	m->size = length * SECTOR;
	m->suspended = info.suspended;
	m->read_only = info.read_only;
	split_uuid(m);
	return 0;
}

static bool has_device_mapper(void)
{
	char *misc = NULL;
	bool has = !sysfile_read(NULL, "/proc/misc", &misc, NULL) && strstr(misc, "device-mapper");

	free(misc);
	return has;
}

int mapping_read(struct mapping *mapping, const char *name, struct status *st)
{
	struct dm_session session;
	struct dm_task *task;
	int ret;

	memset(mapping, 0, sizeof(*mapping));
	/* Asking libdevmapper would make a node for what is not there. */
	if (!has_device_mapper())
		return status_set(st, ST_MISSING, ENODEV,
				  "%s: there is no file of that name, and this kernel has no "
				  "device-mapper that could have a mapping of it.",
				  name);
	if (strlen(name) >= MAPPING_NAME_MAX)
		return no_mapping(name, ENXIO, st);
	dm_session_begin(&session);
	task = dm_task_create(DM_DEVICE_TABLE);
	if (!task || !dm_task_set_name(task, name) || !dm_task_secure_data(task) ||
	    !dm_task_no_open_count(task))
		ret = no_mapping(name, ENXIO, st);
	else if (!dm_task_run(task))
		ret = no_mapping(name, dm_task_get_errno(task) ? dm_task_get_errno(task) : EACCES,
				 st);
	else
		ret = read_table(mapping, task, name, st);
	if (task)
		dm_task_destroy(task);
	dm_session_end(&session);
	return ret;
}

int mapping_name_of(dev_t dev, char name[MAPPING_NAME_MAX])
{
	return sysfile_line(NULL, name, MAPPING_NAME_MAX, "/sys/dev/block/%u:%u/dm/name",
			    major(dev), minor(dev)) > 0;
}

/* Whether a block device (its directory in /sys) lies on `dev`, by one dm-integrity at most. */
static bool lies_on(const char *directory, dev_t dev, int depth)
{
	char path[PATH_MAX], text[64];
	unsigned major_number, minor_number;
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/block/%s/slaves", directory);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		found = sysfile_line(NULL, text, sizeof(text), "/sys/block/%s/slaves/%s/dev",
				     directory, entry->d_name) > 0 &&
			sscanf(text, "%u:%u", &major_number, &minor_number) == 2 &&
			makedev(major_number, minor_number) == dev;
		if (!found && depth)
			found = lies_on(entry->d_name, dev, depth - 1);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* "CRYPT-LUKS…-<32 digits>-…": the same volume? Not "CRYPT-SUBDEV-…", which is below one. */
static bool same_volume(const char *uuid, const char *volume_uuid)
{
	size_t len;

	if (strncmp(uuid, "CRYPT-LUKS", 10))
		return false;
	uuid += 10;
	len = strcspn(uuid, "-");
	for (uuid += len + !!uuid[len]; *volume_uuid; volume_uuid++)
		if (*volume_uuid != '-' && tolower((unsigned char)*volume_uuid) != *uuid++)
			return false;
	return *uuid == '-';
}

int mapping_find(const char *volume_uuid, dev_t dev, char name[MAPPING_NAME_MAX])
{
	char uuid[160];
	struct dirent *entry;
	int found = 0;
	DIR *dir = *volume_uuid ? opendir("/sys/block") : NULL;

	while (dir && !found && (entry = readdir(dir)))
		found = !strncmp(entry->d_name, "dm-", 3) &&
			sysfile_line(NULL, uuid, sizeof(uuid), "/sys/block/%s/dm/uuid",
				     entry->d_name) > 0 &&
			same_volume(uuid, volume_uuid) &&
			(!dev || lies_on(entry->d_name, dev, 1)) &&
			sysfile_line(NULL, name, MAPPING_NAME_MAX, "/sys/block/%s/dm/name",
				     entry->d_name) > 0;
	if (dir)
		closedir(dir);
	return found;
}

static int device_name(const char *directory, char *name, size_t size)
{
	char *text = NULL, path[256], *at;
	int ret;

	snprintf(path, sizeof(path), "%s/uevent", directory);
	ret = sysfile_read(NULL, path, &text, NULL);
	if (ret)
		return ret;
	at = strstr(text, "DEVNAME=");
	if (at)
		snprintf(name, size, "%.*s", (int)strcspn(at + 8, "\n"), at + 8);
	free(text);
	return at ? 0 : -ENODEV;
}

int mapping_device(const struct mapping *mapping, char *path, size_t size)
{
	char directory[96], uuid[160], name[256], slaves[160];
	struct dirent *entry;
	int ret;
	DIR *dir;

	snprintf(directory, sizeof(directory), "/sys/dev/block/%s", mapping->on);
	ret = device_name(directory, name, sizeof(name));
	if (ret)
		return ret;
	if (sysfile_line(NULL, uuid, sizeof(uuid), "%s/dm/uuid", directory) > 0 &&
	    (!strncmp(uuid, "CRYPT-SUBDEV-", 13) || !strncmp(uuid, "CRYPT-INTEGRITY-", 16))) {
		snprintf(slaves, sizeof(slaves), "%s/slaves", directory);
		dir = opendir(slaves);
		while (dir && (entry = readdir(dir)))
			if (entry->d_name[0] != '.')
				snprintf(name, sizeof(name), "%s", entry->d_name);
		if (dir)
			closedir(dir);
	}
	snprintf(path, size, "/dev/%s", name);
	return 0;
}

unsigned mapping_helpers(struct mapping_helper helpers[MAPPING_HELPERS], const char *name)
{
	static const char *const ends[MAPPING_HELPERS] = {"-hotzone-forward", "-hotzone-backward",
							  "-overlay"};
	char line[MAPPING_NAME_MAX + 32];
	size_t len = strlen(name);
	struct dirent *entry;
	unsigned n = 0;

	for (size_t i = 0; i < MAPPING_HELPERS; i++) {
		DIR *dir = opendir("/sys/block");
		struct mapping_helper *h = &helpers[n];

		while (dir && n < MAPPING_HELPERS && (entry = readdir(dir))) {
			if (strncmp(entry->d_name, "dm-", 3) ||
			    sysfile_line(NULL, line, sizeof(line), "/sys/block/%s/dm/name",
					 entry->d_name) <= 0 ||
			    strncmp(line, name, len) || strcmp(line + len, ends[i]))
				continue;
			snprintf(h->name, sizeof(h->name), "%.*s", MAPPING_NAME_MAX - 1, line);
			h->suspended = sysfile_line(NULL, line, sizeof(line),
						    "/sys/block/%s/dm/suspended",
						    entry->d_name) > 0 &&
				       !strcmp(line, "1");
			n++;
			break;
		}
		if (dir)
			closedir(dir);
	}
	return n;
}

int mapping_orphan(dev_t dev, char name[MAPPING_NAME_MAX])
{
	struct dirent *entry;
	int found = 0, pid, number;
	DIR *dir = opendir("/sys/block");

	while (dir && !found && (entry = readdir(dir)))
		found = !strncmp(entry->d_name, "dm-", 3) &&
			sysfile_line(NULL, name, MAPPING_NAME_MAX, "/sys/block/%s/dm/name",
				     entry->d_name) > 0 &&
			sscanf(name, "temporary-cryptsetup-%d-%d", &pid, &number) == 2 &&
			lies_on(entry->d_name, dev, 0) && kill(pid, 0) && errno == ESRCH;
	if (dir)
		closedir(dir);
	return found;
}
