// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef WITH_KCAPI
#include "measure/kcapi_load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The interface that <kcapi.h> of version 1 describes. */
#define SONAME "libkcapi.so.1"

static struct kcapi_library library;
static bool loaded;
static char failure[200];

/* POSIX lets a data pointer hold a function's address; ISO C only lets its bytes be copied. */
static bool find(void *handle, const char *name, void *function, size_t size)
{
	void *address = dlsym(handle, name);

	if (!address) {
		snprintf(failure, sizeof(failure), "%s lacks %s", SONAME, name);
		return false;
	}
	memcpy(function, &address, size);
	return true;
}

#define FIND(handle, member) find(handle, "kcapi_" #member, &library.member, sizeof(library.member))

static void load(void)
{
	void *handle = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		snprintf(
			failure, sizeof(failure),
			"%s cannot be loaded: the package libkcapi (Debian: libkcapi1) is not installed",
			SONAME);
		return;
	}
	loaded = FIND(handle, set_verbosity) && FIND(handle, cipher_init) &&
		 FIND(handle, cipher_destroy) && FIND(handle, cipher_setkey) &&
		 FIND(handle, cipher_ivsize) && FIND(handle, cipher_encrypt) &&
		 FIND(handle, cipher_decrypt);
	if (loaded)
		library.set_verbosity(KCAPI_LOG_NONE);
	else
		dlclose(handle);
}

const struct kcapi_library *kcapi_load(const char **reason)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (reason)
		*reason = loaded ? NULL : failure;
	return loaded ? &library : NULL;
}
#endif
