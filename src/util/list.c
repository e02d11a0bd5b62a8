// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool list_next(const char **rest, char *word, size_t size)
{
	size_t len;

	if (!*rest)
		return false;
	len = strcspn(*rest, ",");
	snprintf(word, size, "%.*s", (int)(len < size ? len : size), *rest);
	*rest = (*rest)[len] ? *rest + len + 1 : NULL;
	return true;
}

int list_number(const char *word, uint64_t *value)
{
	char *end;

	if (!*word || strspn(word, "0123456789") != strlen(word))
		return -EINVAL;
	errno = 0;
	unsigned long long n = strtoull(word, &end, 10);

	if (errno)
		return -ERANGE;
	*value = n;
	return 0;
}
