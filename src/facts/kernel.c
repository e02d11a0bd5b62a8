// SPDX-License-Identifier: GPL-2.0-or-later
#include "facts/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "facts/kernel_internal.h"
#include "util/sysfile.h"

static void read_release(struct kernel_facts *facts, const char *root)
{
	char line[512], *word;
	struct utsname name;

	if (!root || !*root) {
		if (!uname(&name))
			snprintf(facts->release, sizeof(facts->release), "%s", name.release);
		return;
	}
	if (sysfile_line(root, facts->release, sizeof(facts->release),
			 "/proc/sys/kernel/osrelease") > 0)
		return;
	facts->release[0] = '\0';
	/* "Linux version 6.1.0-18-amd64 (…) …" */
	if (sysfile_line(root, line, sizeof(line), "/proc/version") <= 0)
		return;
	word = strstr(line, "version ");
	if (word)
		snprintf(facts->release, sizeof(facts->release), "%.*s",
			 (int)strcspn(word + 8, " "), word + 8);
}

/* A described machine without them says nothing: few copies of /proc and /sys have /lib. */
static int installed_modules(const char *release, const char *root)
{
	int ret = *release ? sysfile_exists(root, "/lib/modules/%s", release) : -1;

	if (ret < 0 || (!ret && root && *root))
		return -1;
	return ret;
}

int kernel_probe(struct kernel_facts *facts, const char *root)
{
	uint64_t fips = 0;
	int ret;

	memset(facts, 0, sizeof(*facts));
	read_release(facts, root);
	if (!sysfile_u64(root, &fips, "/proc/sys/crypto/fips_enabled"))
		facts->fips = fips != 0;
	facts->modules = installed_modules(facts->release, root);
	/* First, since asking for an algorithm makes the kernel list its drivers. */
	ret = kernel_af_alg_try(&facts->af_alg, root);
	if (ret == 0)
		ret = kernel_crypto_read(facts, root);
	if (ret == 0)
		ret = kernel_dm_probe(&facts->dm, root);
	return ret;
}

void kernel_facts_free(struct kernel_facts *facts)
{
	if (!facts)
		return;
	free(facts->drivers);
	free(facts->af_alg.attempts);
	memset(facts, 0, sizeof(*facts));
}

const struct kernel_attempt *kernel_attempt_for(const struct kernel_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->af_alg.n; i++)
		if (!strcmp(facts->af_alg.attempts[i].name, name))
			return &facts->af_alg.attempts[i];
	return NULL;
}

int kernel_drivers_read(struct kernel_facts *facts)
{
	return kernel_crypto_read(facts, NULL);
}
