// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *units_speed(double speed, char buf[UNITS_MAX])
{
	/* By what is printed: 999999999 is 1.00 GB/s, not 1000 MB/s. */
	if (speed >= 999.5e6)
		snprintf(buf, UNITS_MAX, "%.2f GB/s", speed / 1e9);
	else if (speed >= 999.95e3)
		snprintf(buf, UNITS_MAX, "%.*f MB/s", speed >= 99.95e6 ? 0 : 1, speed / 1e6);
	else
		snprintf(buf, UNITS_MAX, "%.1f kB/s", speed / 1e3);
	return buf;
}

char *units_size(uint64_t bytes, char buf[UNITS_MAX])
{
	static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	unsigned i = 0;

	while ((i ? value >= 1023.95 : bytes >= 1024) && i + 1 < sizeof(names) / sizeof(names[0])) {
		value /= 1024;
		i++;
	}
	if (!i)
		snprintf(buf, UNITS_MAX, "%" PRIu64 " bytes", bytes);
	else if (bytes % (1ULL << (10 * i)) == 0)
		snprintf(buf, UNITS_MAX, "%.0f %s", value, names[i]);
	else
		snprintf(buf, UNITS_MAX, "%.1f %s", value, names[i]);
	return buf;
}

char *units_count(double count, char buf[UNITS_MAX])
{
	if (count < 0.01)
		snprintf(buf, UNITS_MAX, "less than 0.01");
	else if (count < 9.95)
		snprintf(buf, UNITS_MAX, "%.2g", count);
	else
		snprintf(buf, UNITS_MAX, "%.0f", count);
	return buf;
}

/* Reads a number at *text and moves behind it. */
static int read_number(const char **text, double *value)
{
	size_t whole = strspn(*text, "0123456789"), fraction = 0;
	double number = 0, scale = 1;

	if ((*text)[whole] == '.')
		fraction = strspn(*text + whole + 1, "0123456789");
	for (size_t i = 0; i < whole; i++)
		number = number * 10 + ((*text)[i] - '0');
	for (size_t i = 0; i < fraction; i++) {
		scale /= 10;
		number += scale * ((*text)[whole + 1 + i] - '0');
	}
	if (whole + fraction == 0)
		return -EINVAL;
	*text += whole + (fraction ? fraction + 1 : 0);
	*value = number;
	return 0;
}

int units_parse_number(const char *text, double *value)
{
	double number;

	if (read_number(&text, &number) || *text)
		return -EINVAL;
	*value = number;
	return 0;
}

int units_parse_size(const char *text, double *bytes)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {{"", 1},          {"K", 1024},       {"KiB", 1024},      {"M", 1048576},
		     {"MiB", 1048576}, {"G", 1073741824}, {"GiB", 1073741824}};
	double number;

	if (read_number(&text, &number))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text, units[i].name))
			continue;
		*bytes = number * units[i].factor;
		return 0;
	}
	return -EINVAL;
}

char *units_time(double ms, char buf[UNITS_MAX])
{
	if (ms < 100)
		snprintf(buf, UNITS_MAX, "%.0f ms", ms);
	else if (ms < 600e3)
		snprintf(buf, UNITS_MAX, "%.1f s", ms / 1e3);
	else if (ms < 2 * 3600e3)
		snprintf(buf, UNITS_MAX, "%.0f minutes", ms / 60e3);
	else if (ms < 48 * 3600e3)
		snprintf(buf, UNITS_MAX, "%.0f hours", ms / 3600e3);
	else
		snprintf(buf, UNITS_MAX, "%.0f days", ms / 86400e3);
	return buf;
}
