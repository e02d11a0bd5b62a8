// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int status_set(struct status *st, enum exit_status code, int err, const char *format, ...)
{
	va_list ap;

	if (st) {
		st->code = code;
		va_start(ap, format);
		vsnprintf(st->message, sizeof(st->message), format, ap);
		va_end(ap);
	}
	return -err;
}

int status_nomem(struct status *st)
{
	return status_set(st, ST_NOMEM, ENOMEM, "Out of memory.");
}

const char *status_name(int code)
{
	static const char *const names[] = {
		[ST_OK] = "ok",           [ST_USAGE] = "usage",         [ST_AUTH] = "permission",
		[ST_NOMEM] = "memory",    [ST_DEVICE] = "device",       [ST_BUSY] = "in-use",
		[ST_REFUSED] = "refused", [ST_MISSING] = "unavailable", [ST_CHECK] = "check-failed",
	};

	if (code > ST_SIGNAL)
		return "signal";
	if (code < 0 || (size_t)code >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[code];
}

const char *errno_name(int err)
{
	static _Thread_local char buf[24];

	err = abs(err);
#ifdef HAVE_STRERRORNAME_NP
	if (strerrorname_np(err))
		return strerrorname_np(err);
#endif
	snprintf(buf, sizeof(buf), "errno-%d", err);
	return buf;
}
