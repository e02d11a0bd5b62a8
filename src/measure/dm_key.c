// SPDX-License-Identifier: GPL-2.0-or-later
/* The keyring by its system calls: libkeyutils would be one more library for two of them. */
#include "measure/dm_key.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

int dm_key_random(uint8_t key[DM_KEY_MAX])
{
	ssize_t n;

	do
		n = getrandom(key, DM_KEY_MAX, 0);
	while (n < 0 && errno == EINTR);
	return n == DM_KEY_MAX ? 0 : n < 0 ? -errno : -EIO;
}

void dm_key_hex(char text[DM_KEY_TEXT_SIZE], const uint8_t *key, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < bytes; i++) {
		text[2 * i] = digits[key[i] >> 4];
		text[2 * i + 1] = digits[key[i] & 15];
	}
	text[2 * bytes] = '\0';
}

long dm_key_ring(char text[DM_KEY_TEXT_SIZE], const uint8_t *key, size_t bytes, unsigned n)
{
	char description[40];
	long serial;

	snprintf(description, sizeof(description), "dmcrypt-tune:%d-%u", (int)getpid(), n);
	serial = syscall(SYS_add_key, "logon", description, key, bytes, KEY_SPEC_THREAD_KEYRING);
	if (serial < 0)
		return -errno;
	snprintf(text, DM_KEY_TEXT_SIZE, ":%zu:logon:%s", bytes, description);
	return serial;
}

void dm_key_forget(long serial)
{
	if (serial > 0)
		syscall(SYS_keyctl, KEYCTL_UNLINK, serial, KEY_SPEC_THREAD_KEYRING);
}
