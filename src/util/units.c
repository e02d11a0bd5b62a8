// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/units.h"

#include <inttypes.h>
#include <stdio.h>

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
