/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The random key of a run's mappings, and how dm-crypt is told it. */
#ifndef DMCT_MEASURE_DM_KEY_H
#define DMCT_MEASURE_DM_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DM_KEY_MAX       64
#define DM_KEY_TEXT_SIZE (2 * DM_KEY_MAX + 1)

/* Fills with random bytes. 0 or -errno. */
int dm_key_random(uint8_t key[DM_KEY_MAX]);

/* The key in hexadecimal, for a table. */
void dm_key_hex(char text[DM_KEY_TEXT_SIZE], const uint8_t *key, size_t bytes);

/*
 * Puts the key into the calling thread's keyring, as a logon key (which no program can read), and
 * its name for a table (":32:logon:dmcrypt-tune:N") into text. Returns the key's serial number or
 * -errno. It goes with dm_key_forget(), or with the thread.
 */
long dm_key_ring(char text[DM_KEY_TEXT_SIZE], const uint8_t *key, size_t bytes, unsigned n);
void dm_key_forget(long serial);

#endif
