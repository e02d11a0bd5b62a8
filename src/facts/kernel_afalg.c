// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AF_ALG, tried for real: a socket, and a bind for each algorithm (Linux Documentation/crypto/
 * userspace-if.rst). Deprecated since Linux 7.2; since 7.3 the sysctl crypto.af_alg_restrict
 * decides what may be reached: 0 everything, 1 (the default) short lists of algorithms, others give
 * ENOENT at bind, 2 nothing, the family then gives EAFNOSUPPORT.
 */
#include <errno.h>
#include <linux/if_alg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "facts/kernel_internal.h"
#include "util/sysfile.h"

#ifndef AF_ALG
#define AF_ALG 38
#endif

const char *const kernel_algorithms[] = {"xts(aes)",
					 "cbc(aes)",
					 "essiv(cbc(aes),sha256)",
					 "adiantum(xchacha12,aes)",
					 "adiantum(xchacha20,aes)",
					 "xts(serpent)",
					 "xts(twofish)",
					 "xts(camellia)",
					 "hctr2(aes)",
					 "gcm(aes)",
					 "aegis128",
					 "rfc7539(chacha20,poly1305)",
					 "authenc(hmac(sha256),xts(aes))",
					 NULL};

void kernel_af_alg_socket_reason(struct kernel_af_alg *a)
{
	const char *why;

	switch (a->error) {
	case EAFNOSUPPORT:
	case ESOCKTNOSUPPORT:
		why = a->restrict_level >= 2
			      ? "the sysctl crypto.af_alg_restrict (2) turns AF_ALG off"
			      : "the kernel has no such address family: the module af_alg is not "
				"built, "
				"not installed, or blocked";
		break;
	case EPERM:
	case EACCES:
		why = "refused: a container or a seccomp filter forbids AF_ALG sockets";
		break;
	default:
		why = strerror(a->error);
	}
	snprintf(a->reason, sizeof(a->reason), "%s", why);
}

void kernel_af_alg_bind_reason(struct kernel_attempt *attempt, int restrict_level, bool type_works)
{
	const char *why;

	switch (attempt->error) {
	case ENOENT:
		/* Which of the two it is cannot be told, so nothing has been learned. */
		attempt->tried = restrict_level < 1;
		if (restrict_level >= 1)
			why = "the kernel has no such cipher, or the sysctl "
			      "crypto.af_alg_restrict hides it";
		else if (type_works)
			why = "the kernel has no such cipher: its module is not built, not "
			      "installed, or blocked";
		else
			why = kernel_is_aead(attempt->name)
				      ? "no such cipher, or the module algif_aead is missing"
				      : "no such cipher, or the module algif_skcipher is missing";
		break;
	case EPERM:
	case EACCES:
		why = "refused: a container or a seccomp filter forbids it";
		break;
	case ELIBBAD:
		why = "the cipher failed the kernel's self-test";
		break;
	default:
		why = strerror(attempt->error);
	}
	snprintf(attempt->reason, sizeof(attempt->reason), "%s", why);
}

/* 0 or a positive errno. */
static int try_bind(const char *name)
{
	struct sockaddr_alg sa = {.salg_family = AF_ALG};
	int fd, err = 0;

	snprintf((char *)sa.salg_type, sizeof(sa.salg_type), "%s",
		 kernel_is_aead(name) ? "aead" : "skcipher");
	snprintf((char *)sa.salg_name, sizeof(sa.salg_name), "%s", name);
	fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)))
		err = errno;
	close(fd);
	return err;
}

static void try_socket(struct kernel_af_alg *a)
{
	int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		a->error = errno;
		kernel_af_alg_socket_reason(a);
		return;
	}
	close(fd);
	a->available = true;
}

static void try_algorithms(struct kernel_af_alg *a)
{
	bool works[2] = {false, false};

	for (size_t i = 0; i < a->n; i++) {
		struct kernel_attempt *attempt = &a->attempts[i];

		attempt->error = try_bind(attempt->name);
		attempt->tried = true;
		attempt->available = !attempt->error;
		works[kernel_is_aead(attempt->name)] |= attempt->available;
	}
	for (size_t i = 0; i < a->n; i++)
		if (a->attempts[i].error)
			kernel_af_alg_bind_reason(&a->attempts[i], a->restrict_level,
						  works[kernel_is_aead(a->attempts[i].name)]);
}

int kernel_af_alg_try(struct kernel_af_alg *a, const char *root)
{
	const size_t n = sizeof(kernel_algorithms) / sizeof(kernel_algorithms[0]) - 1;
	uint64_t level;

	a->restrict_level = -1;
	a->attempts = calloc(n, sizeof(*a->attempts));
	if (!a->attempts)
		return -ENOMEM;
	a->n = n;
	for (size_t i = 0; i < n; i++)
		snprintf(a->attempts[i].name, sizeof(a->attempts[i].name), "%s",
			 kernel_algorithms[i]);
	if (root && *root)
		snprintf(a->reason, sizeof(a->reason), "not tried: this is a described machine");
	else
		try_socket(a);
	/* After the socket, which loads the module that has the sysctl. */
	if (!sysfile_u64(root, &level, "/proc/sys/crypto/af_alg_restrict") && level < 1000)
		a->restrict_level = (int)level;
	if (a->available) {
		try_algorithms(a);
		return 0;
	}
	if (a->error)
		kernel_af_alg_socket_reason(a);
	for (size_t i = 0; i < n; i++)
		snprintf(a->attempts[i].reason, sizeof(a->attempts[i].reason), "%s", a->reason);
	return 0;
}
