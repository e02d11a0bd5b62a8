/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libkcapi, loaded when it is first asked for: the program is of use without it, so it must start
 * without it.
 */
#ifndef DMCT_MEASURE_KCAPI_LOAD_H
#define DMCT_MEASURE_KCAPI_LOAD_H

#include <kcapi.h>

/* The functions that are used, of the types that <kcapi.h> declares. */
struct kcapi_library {
	__typeof__(kcapi_set_verbosity) *set_verbosity;
	__typeof__(kcapi_cipher_init) *cipher_init;
	__typeof__(kcapi_cipher_destroy) *cipher_destroy;
	__typeof__(kcapi_cipher_setkey) *cipher_setkey;
	__typeof__(kcapi_cipher_ivsize) *cipher_ivsize;
	__typeof__(kcapi_cipher_encrypt) *cipher_encrypt;
	__typeof__(kcapi_cipher_decrypt) *cipher_decrypt;
};

/*
 * The library, which stays loaded; or NULL, and *reason (may be NULL) says why not, in static
 * memory. Any thread may call it.
 */
const struct kcapi_library *kcapi_load(const char **reason);

#endif
