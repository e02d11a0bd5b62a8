/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the JSON metadata of a LUKS2 header say of a re-encryption at its end (LUKS2 On-Disk Format
 * Specification 1.1.1, 3; the segments' flags "backup-previous" and "backup-final", the keyslot
 * "reencrypt" and the requirement "online-reencrypt" are libcryptsetup's).
 */
#ifndef DMCT_VOLUME_REENCRYPT_METADATA_H
#define DMCT_VOLUME_REENCRYPT_METADATA_H

#include <json.h>
#include <stdbool.h>

#include "volume/extent.h"

/*
 * Whether all data are done and the header is not: one segment, the new volume's, of the new key,
 * while a plain re-encryption (no encryption, no decryption, nothing moved) is marked as under way.
 * doc: metadata that libcryptsetup takes; anything else, also NULL, is false.
 */
bool reencrypt_metadata_left(struct json_object *doc);

/* Whether a re-encryption is under way and at work on no area just then. */
bool reencrypt_metadata_between(struct json_object *doc);

/*
 * Makes of metadata of which reencrypt_metadata_left() is true what they are to be: without the
 * backup segments, the keyslots of the old key and of the re-encryption, what refers to those, and
 * the mark. Where the keyslots were is added to areas. 0, or -EINVAL where they are not such, or
 * -ENOMEM; doc is then of no use.
 */
int reencrypt_metadata_clear(struct json_object *doc, struct extents *areas);

#endif
