// SPDX-License-Identifier: GPL-2.0-or-later
/* What the options of a plan say: their words checked and turned into what the decision takes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd_plan.h"
#include "decide/policy_file.h"
#include "util/units.h"
#include "volume/pbkdf.h"

#define MIN_SECONDS  0.2
#define DEFAULT_FILE SYSCONFDIR "/dmcrypt-tune.conf"

static int parse_integrity(struct plan_source *source, const struct plan_options *o,
			   struct status *st)
{
	if (!o->integrity)
		return 0;
	if (o->allow_discards)
		return status_set(st, ST_USAGE, EINVAL,
				  "--integrity and --allow-discards contradict each other: a "
				  "volume that keeps tags passes no discards on.");
	source->integrity = strcmp(o->integrity, "any") ? o->integrity : "";
	if (!*source->integrity)
		return 0;
	for (const struct spec_kind *k = spec_kinds; k->kernel; k++)
		if (k->integrity && !strcmp(k->integrity, o->integrity))
			return 0;
	return status_set(st, ST_USAGE, EINVAL,
			  "--integrity: \"%s\" is none of any, aead, hmac-sha256 and poly1305.",
			  o->integrity);
}

static int parse_wanted(struct plan_source *source, const struct plan_options *o, struct status *st)
{
	const char *integrity = source->integrity && *source->integrity ? source->integrity : NULL;
	int ret;

	if (!o->cipher && o->key_size)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--key-size needs --cipher; without them the program chooses both.");
	if (!o->cipher)
		return 0;
	source->has_wanted = true;
	ret = spec_from_options(&source->wanted, o->cipher, integrity, o->key_size, o->sector_size,
				st);
	if (!ret && source->integrity && !source->wanted.kind->integrity)
		return status_set(st, ST_USAGE, EINVAL,
				  "--integrity any and --cipher %s contradict each other: that "
				  "cipher keeps no tags.",
				  o->cipher);
	return ret;
}

static int check_pbkdf(const struct plan_options *o, bool pbkdf2_only, struct status *st)
{
	bool pbkdf2 = o->pbkdf ? !strcmp(o->pbkdf, "pbkdf2") : pbkdf2_only;

	if (o->pbkdf && !pbkdf2 && strcmp(o->pbkdf, "argon2id") && strcmp(o->pbkdf, "argon2i"))
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf: \"%s\" is none of argon2id, argon2i and pbkdf2.",
				  o->pbkdf);
	if (o->pbkdf && pbkdf2 && (o->pbkdf_memory || o->pbkdf_parallel))
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-memory and --pbkdf-parallel are Argon2's; pbkdf2 has neither.");
	if (pbkdf2 && o->pbkdf_iterations && o->pbkdf_iterations < PBKDF2_MIN_ITERATIONS)
		return status_set(st, ST_USAGE, EINVAL,
				  "--pbkdf-force-iterations: %llu are too few; pbkdf2 takes at "
				  "least %d.",
				  (unsigned long long)o->pbkdf_iterations, PBKDF2_MIN_ITERATIONS);
	return 0;
}

/* At most one of them says how long an unlock takes. */
static int check_times(const struct plan_options *o, struct status *st)
{
	if (o->pbkdf_iterations && o->iter_time)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-force-iterations and --iter-time contradict each other: give one.");
	if (o->unlock_time && (o->iter_time || o->pbkdf_iterations))
		return status_set(st, ST_USAGE, EINVAL,
				  "--unlock-time and %s contradict each other: give one.",
				  o->iter_time ? "--iter-time" : "--pbkdf-force-iterations");
	return 0;
}

static int parse_unlock(struct plan_source *source, const struct plan_options *o, struct status *st)
{
	char size[UNITS_MAX];
	double bytes = 0;

	if (o->unlock_memory && (units_parse_size(o->unlock_memory, &bytes) || bytes < 1048576 ||
				 bytes > 1099511627776.0))
		return status_set(st, ST_USAGE, EINVAL,
				  "--unlock-memory: \"%s\" is no size from 1M to 1024G, such as "
				  "512M.",
				  o->unlock_memory);
	source->unlock_memory = (uint64_t)bytes;
	if (source->unlock_memory && o->pbkdf_memory << 10 > source->unlock_memory)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--pbkdf-memory %llu and --unlock-memory %s contradict each other: "
			"the machine that is to unlock has less than those %s.",
			(unsigned long long)o->pbkdf_memory, o->unlock_memory,
			units_size(o->pbkdf_memory << 10, size));
	return check_times(o, st);
}

static int parse_use(struct plan_source *source, const struct plan_options *o, struct status *st)
{
	int use;

	if (!o->use)
		return 0;
	use = plan_use_find(o->use);
	if (use < 0)
		return status_set(st, ST_USAGE, EINVAL,
				  "--for: \"%s\" is none of lvm, vm, grub and image.", o->use);
	source->use = (enum plan_use)use;
	if (use == PLAN_FOR_GRUB && o->sector_size && o->sector_size != SPEC_SECTOR_MIN)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--for grub and --sector-size %llu contradict each other: GRUB is "
			"sure of 512 only.",
			(unsigned long long)o->sector_size);
	if (use == PLAN_FOR_GRUB && o->integrity)
		return status_set(st, ST_USAGE, EINVAL,
				  "--for grub and --integrity contradict each other: GRUB opens no "
				  "volume that keeps tags.");
	return 0;
}

static int parse_device_speed(struct plan_source *source, const struct plan_options *o,
			      struct status *st)
{
	double mb = 0;

	source->disk_wish = PLAN_DISK_DEFAULT;
	if (!o->device_speed)
		return 0;
	if (!strcmp(o->device_speed, "measure")) {
		source->disk_wish = PLAN_DISK_MEASURE;
	} else if (!strcmp(o->device_speed, "skip")) {
		source->disk_wish = PLAN_DISK_SKIP;
	} else if (!units_parse_number(o->device_speed, &mb) && mb >= 0.001 && mb <= 1e6) {
		source->disk_wish = PLAN_DISK_GIVEN;
		source->disk_given = mb * 1e6;
	} else {
		return status_set(st, ST_USAGE, EINVAL,
				  "--device-speed: \"%s\" is neither measure, skip nor a number of "
				  "MB/s from 0.001 to 1000000.",
				  o->device_speed);
	}
	return 0;
}

static int cannot_read(const char *path, int err, struct status *st)
{
	return status_set(st, err == EACCES || err == EPERM ? ST_AUTH : ST_USAGE, err,
			  "%s: %s; the policy in it would not be followed.", path, strerror(err));
}

static ssize_t read_up_to(int fd, char *text, size_t size)
{
	size_t have = 0;
	ssize_t n = 1;

	while (have < size && n) {
		n = read(fd, text + have, size - have);
		if (n < 0 && errno != EINTR)
			return -errno;
		have += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)have;
}

static int read_file(struct plan_source *source, int fd, const char *path, const char *forced,
		     struct status *st)
{
	struct stat info;
	char *text;
	ssize_t n;
	int ret;

	if (fstat(fd, &info))
		return cannot_read(path, errno, st);
	if (!S_ISREG(info.st_mode))
		return status_set(st, ST_USAGE, EINVAL, "%s is no regular file.", path);
	text = malloc(POLICY_FILE_MAX + 1);
	if (!text)
		return status_nomem(st);
	n = read_up_to(fd, text, POLICY_FILE_MAX + 1);
	if (n < 0)
		ret = cannot_read(path, (int)-n, st);
	else if (n > (ssize_t)POLICY_FILE_MAX)
		ret = status_set(st, ST_USAGE, EFBIG, "%s is larger than 64 KiB.", path);
	else
		ret = policy_file_parse(&source->numbers, text, (size_t)n, path, forced, st);
	free(text);
	return ret;
}

/*
 * The command line's words go before the file's. The system's own file describes this machine's
 * site: decisions on saved or described machines are the same everywhere without it.
 */
static int read_policy(struct plan_source *source, const struct plan_options *o, bool described,
		       struct status *st)
{
	const char *path = o->config ? o->config : DEFAULT_FILE;
	const struct policy *named = policy_find(o->policy ? o->policy : "balanced");
	int fd, ret;

	if (!named)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--policy: \"%s\" is none of balanced, performance, strict and fips.",
			o->policy);
	source->numbers = *named;
	if (!o->config && described)
		return 0;
	/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT && !o->config)
		return 0;
	if (fd < 0)
		return cannot_read(path, errno, st);
	ret = read_file(source, fd, path, o->policy, st);
	close(fd);
	source->config = path;
	return ret;
}

int cmd_plan_parse(struct plan_source *source, const struct plan_options *o, bool described,
		   struct status *st)
{
	int ret;

	ret = read_policy(source, o, described, st);
	source->policy = &source->numbers;
	if (ret)
		return ret;
	if (o->min_strength) {
		source->by_option = offsetof(struct policy, min_strength) + 1;
		source->numbers.min_strength = (double)o->min_strength;
	}
	if (o->sector_size && !spec_sector_valid(o->sector_size))
		return status_set(st, ST_USAGE, EINVAL,
				  "--sector-size: %llu is none of 512, 1024, 2048 and 4096 bytes.",
				  (unsigned long long)o->sector_size);
	if (o->time != PLAN_TIME_NONE && o->time < MIN_SECONDS)
		return status_set(st, ST_USAGE, EINVAL,
				  "--time: %g seconds are too few to compare the ciphers in; at "
				  "least %g are needed.",
				  o->time, MIN_SECONDS);
	if (o->from && o->time != PLAN_TIME_NONE)
		return status_set(st, ST_USAGE, EINVAL,
				  "--from measures nothing, so --time says nothing: give one.");
	ret = parse_integrity(source, o, st);
	if (!ret)
		ret = parse_wanted(source, o, st);
	if (!ret)
		ret = parse_use(source, o, st);
	if (!ret)
		ret = parse_unlock(source, o, st);
	if (!ret)
		ret = parse_device_speed(source, o, st);
	if (!ret && o->from && source->disk_wish == PLAN_DISK_MEASURE)
		ret = status_set(st, ST_USAGE, EINVAL,
				 "--from measures nothing, the disk neither; --device-speed takes "
				 "skip or MB/s with it.");
	return ret ? ret : check_pbkdf(o, source->numbers.fips || source->use == PLAN_FOR_GRUB, st);
}
