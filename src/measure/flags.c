// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/flags.h"

#include <stdio.h>
#include <string.h>

/* In the order of their bits. */
static const char *const names[MEASURE_FLAGS + 1] = {"no_read_workqueue", "no_write_workqueue",
						     "same_cpu_crypt", "submit_from_crypt_cpus",
						     "high_priority"};

const char *flags_name(unsigned i)
{
	return i < MEASURE_FLAGS ? names[i] : NULL;
}

char *flags_print(unsigned flags, char buf[FLAGS_TEXT_MAX])
{
	size_t len = 0;

	if (!(flags & MEASURE_FLAGS_ALL)) {
		snprintf(buf, FLAGS_TEXT_MAX, "none");
		return buf;
	}
	for (unsigned i = 0; i < MEASURE_FLAGS && len < FLAGS_TEXT_MAX; i++)
		if (flags & 1U << i)
			len += (size_t)snprintf(buf + len, FLAGS_TEXT_MAX - len, "%s%s",
						len ? "+" : "", names[i]);
	return buf;
}

static bool has(const struct kernel_dm *dm, const char *name)
{
	for (size_t i = 0; i < dm->n; i++)
		if (!strcmp(dm->features[i], name))
			return true;
	return false;
}

unsigned flags_missing(unsigned flags, const struct kernel_dm *dm)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < MEASURE_FLAGS; i++)
		if (flags & 1U << i && !has(dm, names[i]))
			missing |= 1U << i;
	return missing;
}

/* One word without "+"; 0: none of them. */
static unsigned flag_of(const char *word, size_t len)
{
	for (unsigned i = 0; i < MEASURE_FLAGS; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], word, len))
			return 1U << i;
	return 0;
}

static int parse_all(unsigned *sets, const struct kernel_dm *dm)
{
	static const unsigned both = MEASURE_NO_READ_WORKQUEUE | MEASURE_NO_WRITE_WORKQUEUE;
	int n = 0;

	sets[n++] = 0;
	for (unsigned i = 0; i < MEASURE_FLAGS; i++)
		if (!flags_missing(1U << i, dm))
			sets[n++] = 1U << i;
	if (!flags_missing(both, dm))
		sets[n++] = both;
	return n;
}

int flags_parse(unsigned sets[FLAGS_SETS_MAX], const char *word, const struct kernel_dm *dm)
{
	unsigned flag, set = 0;
	size_t len;

	if (!strcmp(word, "all"))
		return parse_all(sets, dm);
	if (strcmp(word, "none") != 0) {
		for (;; word += len + 1) {
			len = strcspn(word, "+");
			flag = flag_of(word, len);
			if (!flag)
				return -1;
			set |= flag;
			if (!word[len])
				break;
		}
	}
	sets[0] = set;
	return 1;
}
