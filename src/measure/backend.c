// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct spec_kind backend_null_kind = {
	.cipher = "null", .mode = "ecb", .iv = "null", .kernel = "ecb(cipher_null)"};

void backend_buffer_fill(struct backend_buffer *buffer)
{
	uint64_t x = 0x9e3779b97f4a7c15;

	/* xorshift64 (Marsaglia 2003): quick, and nothing here needs better. A word at a time:
	 * buffers may be large, and many. */
	for (size_t i = 0; i < buffer->size; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(buffer->data + i, &x,
		       buffer->size - i < sizeof(x) ? buffer->size - i : sizeof(x));
	}
}

int backend_fail(struct backend_error *error, int err, const char *format, ...)
{
	va_list ap;

	snprintf(error->code, sizeof(error->code), "%s", errno_name(err));
	va_start(ap, format);
	vsnprintf(error->reason, sizeof(error->reason), format, ap);
	va_end(ap);
	return -err;
}

const struct backend *backend_find(enum measure_engine engine, const char **reason)
{
	switch (engine) {
	case MEASURE_DM:
		return &backend_dm;
	case MEASURE_CPU:
		return &backend_cpu;
	case MEASURE_AFALG:
#ifdef WITH_KCAPI
		return &backend_afalg;
#else
		*reason = "this program was built without libkcapi";
		return NULL;
#endif
	case MEASURE_OPENSSL:
#ifdef WITH_OPENSSL
		return &backend_openssl;
#else
		*reason = "this program was built without OpenSSL";
		return NULL;
#endif
	default:
		*reason = "this program cannot measure that layer";
		return NULL;
	}
}
