// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "volume/extent.h"
#include "volume/inspect_internal.h"
#include "volume/luks_internal.h"

#define SECTOR       512U
#define SECTOR_SHIFT 9
#define STRIPES      4000U /* into which every keyslot splits its key */
#define PAGE         4096U
#define ROOM         (1ULL << 30)

/* The metadata as they stand on the device, and the memory file that libcryptsetup sees. */
struct copy {
	int fd;
	unsigned char *bytes;
	size_t len;
	const char *name;
};

static uint64_t metadata_len(const struct headers *h, uint64_t size)
{
	uint64_t len = 4096;

	for (unsigned i = 0; i < h->n; i++)
		if (h->copies[i].offset + h->copies[i].size > len)
			len = h->copies[i].offset + h->copies[i].size;
	return len < size ? len : size;
}

static int copy_make(struct copy *c, const struct headers *h, int fd, uint64_t size,
		     struct status *st)
{
	int ret;

	c->len = metadata_len(h, size);
	c->bytes = malloc(c->len);
	if (!c->bytes)
		return status_nomem(st);
	c->fd = memfd_create("dmcrypt-tune-inspect", MFD_CLOEXEC);
	/* As large as any header at least: that a device ends before its own header does is a
	 * finding, and no reason not to read the metadata. */
	if (c->fd < 0 || ftruncate(c->fd, (off_t)(size > ROOM ? size : ROOM))) {
		ret = errno;
		return status_set(st, ST_MISSING, ret, "A file in memory cannot be had: %s.",
				  strerror(ret));
	}
	ret = extent_read(fd, c->bytes, c->len, 0);
	return ret ? status_set(st, ST_DEVICE, -ret, "%s cannot be read: %s.", c->name,
				strerror(-ret))
		   : 0;
}

static void copy_free(struct copy *c)
{
	free(c->bytes);
	if (c->fd >= 0)
		close(c->fd);
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static void fill_keyslot(struct inspect_keyslot *k, struct crypt_device *cd, int slot,
			 crypt_keyslot_info state)
{
	static const char *const priorities[] = {[CRYPT_SLOT_PRIORITY_IGNORE] = "ignore",
						 [CRYPT_SLOT_PRIORITY_NORMAL] = "normal",
						 [CRYPT_SLOT_PRIORITY_PREFER] = "prefer"};
	crypt_keyslot_priority priority = crypt_keyslot_get_priority(cd, slot);
	struct crypt_pbkdf_type pbkdf;
	uint64_t area = 0, split;
	size_t bytes = 0;
	int key;

	k->slot = slot;
	k->bound = state != CRYPT_SLOT_UNBOUND;
	copy_text(k->priority, sizeof(k->priority),
		  priority >= CRYPT_SLOT_PRIORITY_IGNORE && priority <= CRYPT_SLOT_PRIORITY_PREFER
			  ? priorities[priority]
			  : "normal");
	copy_text(k->cipher, sizeof(k->cipher), crypt_keyslot_get_encryption(cd, slot, &bytes));
	key = crypt_keyslot_get_key_size(cd, slot);
	k->key_bits = key > 0 ? (unsigned)key * 8 : 0;
	if (crypt_keyslot_get_pbkdf(cd, slot, &pbkdf))
		return;
	copy_text(k->pbkdf.type, sizeof(k->pbkdf.type), pbkdf.type);
	copy_text(k->pbkdf.hash, sizeof(k->pbkdf.hash), pbkdf.hash);
	k->pbkdf.iterations = pbkdf.iterations;
	k->pbkdf.memory = (uint64_t)pbkdf.max_memory_kb << 10;
	k->pbkdf.threads = pbkdf.parallel_threads;
	/* The area has room to spare; the split key fills whole sectors. */
	split = ((uint64_t)(key > 0 ? key : 0) * STRIPES + SECTOR - 1) / SECTOR * SECTOR;
	if (!crypt_keyslot_area(cd, slot, &k->area_offset, &area) && split <= area)
		k->area_size = split;
}

static void fill_keyslots(struct inspect *in, struct crypt_device *cd)
{
	int slots = crypt_keyslot_max(crypt_get_type(cd)), tokens = 0;
	uint64_t at, len;

	for (int slot = 0; slot < slots && in->n_keyslots < INSPECT_KEYSLOTS; slot++) {
		crypt_keyslot_info state = crypt_keyslot_status(cd, slot);

		if (state > CRYPT_SLOT_INACTIVE)
			fill_keyslot(&in->keyslots[in->n_keyslots++], cd, slot, state);
		if (in->headers.kind == HEADER_LUKS1 && !crypt_keyslot_area(cd, slot, &at, &len) &&
		    at + len > in->header_end)
			in->header_end = at + len;
	}
	if (in->headers.kind == HEADER_LUKS2)
		tokens = crypt_token_max(CRYPT_LUKS2);
	for (int i = 0; i < tokens; i++)
		in->n_tokens += crypt_token_status(cd, i, NULL) > CRYPT_TOKEN_INACTIVE;
}

/* The spec by this program's names, where it has one: the key without the MAC's. */
static void find_spec(struct inspect *in)
{
	static const struct {
		const char *theirs, *ours;
		unsigned mac_bits;
	} modes[] = {{"aead", "+aead", 0},
		     {"poly1305", "+poly1305", 0},
		     {"hmac(sha256)", "+hmac-sha256", 256},
		     {"", "", 0}};
	char text[2 * SPEC_TEXT_MAX];
	size_t i = 0;

	while (*modes[i].theirs && strcmp(modes[i].theirs, in->integrity))
		i++;
	if (strcmp(modes[i].theirs, in->integrity) || in->key_bits <= modes[i].mac_bits)
		return;
	snprintf(text, sizeof(text), "%s/%u%s@%u", in->cipher, in->key_bits - modes[i].mac_bits,
		 modes[i].ours, in->sector);
	in->known = !spec_parse_any(&in->spec, text, NULL);
}

static void fill_reencrypt(struct inspect *in, struct crypt_device *cd)
{
	static const char *const states[] = {[CRYPT_REENCRYPT_NONE] = "",
					     [CRYPT_REENCRYPT_CLEAN] = "clean",
					     [CRYPT_REENCRYPT_CRASH] = "crashed",
					     [CRYPT_REENCRYPT_INVALID] = "invalid"};
	static const char *const modes[] = {[CRYPT_REENCRYPT_REENCRYPT] = "reencrypt",
					    [CRYPT_REENCRYPT_ENCRYPT] = "encrypt",
					    [CRYPT_REENCRYPT_DECRYPT] = "decrypt"};
	struct crypt_params_reencrypt params = {0};
	crypt_reencrypt_info state = crypt_reencrypt_status(cd, &params);

	if (state < CRYPT_REENCRYPT_NONE || state > CRYPT_REENCRYPT_INVALID)
		state = CRYPT_REENCRYPT_INVALID;
	/* It says that of every requirement that it does not know. */
	if (state == CRYPT_REENCRYPT_INVALID && in->requirements & CRYPT_REQUIREMENT_UNKNOWN)
		state = CRYPT_REENCRYPT_NONE;
	copy_text(in->reencrypt, sizeof(in->reencrypt), states[state]);
	copy_text(in->resilience, sizeof(in->resilience), params.resilience);
	if (params.resilience && params.mode <= CRYPT_REENCRYPT_DECRYPT)
		copy_text(in->reencrypt_mode, sizeof(in->reencrypt_mode), modes[params.mode]);
}

static void fill(struct inspect *in, struct crypt_device *cd)
{
	struct crypt_params_integrity integrity = {0};
	const char *cipher = crypt_get_cipher(cd), *mode = crypt_get_cipher_mode(cd);
	int bytes = crypt_get_volume_key_size(cd);

	copy_text(in->uuid, sizeof(in->uuid), crypt_get_uuid(cd));
	snprintf(in->cipher, sizeof(in->cipher), "%s%s%s", cipher ? cipher : "",
		 mode && *mode ? "-" : "", mode ? mode : "");
	in->key_bits = bytes > 0 ? (unsigned)bytes * 8 : 0;
	in->sector = (unsigned)crypt_get_sector_size(cd);
	in->data_offset = crypt_get_data_offset(cd) << SECTOR_SHIFT;
	if (in->headers.kind == HEADER_LUKS2) {
		copy_text(in->label, sizeof(in->label), crypt_get_label(cd));
		copy_text(in->subsystem, sizeof(in->subsystem), crypt_get_subsystem(cd));
		crypt_get_metadata_size(cd, &in->metadata_size, &in->keyslots_size);
		if (!crypt_get_integrity_info(cd, &integrity) && integrity.integrity) {
			copy_text(in->integrity, sizeof(in->integrity), integrity.integrity);
			in->tag = integrity.tag_size;
		}
		crypt_persistent_flags_get(cd, CRYPT_FLAGS_ACTIVATION, &in->flags);
		crypt_persistent_flags_get(cd, CRYPT_FLAGS_REQUIREMENTS, &in->requirements);
		fill_reencrypt(in, cd);
	}
	find_spec(in);
	fill_keyslots(in, cd);
	in->loaded = true;
}

/* Loads what stands in the memory file now, with everything of *in or, without one, just to see. */
static int load(const struct copy *c, enum header_kind kind, struct inspect *in,
		struct inspect_load *result, struct status *st)
{
	struct crypt_device *cd = NULL;
	struct luks_log log = {.name = c->name, .explain = true};
	char path[32];
	int ret = extent_write(c->fd, c->bytes, c->len, 0);

	if (ret)
		return status_set(st, ST_NOMEM, -ret, "The file in memory cannot be written: %s.",
				  strerror(-ret));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	log.path = path;
	/* What its validation of the metadata dislikes it tells no other way. */
	crypt_set_debug_level(CRYPT_DEBUG_ALL);
	ret = luks_begin(&cd, &log);
	if (!ret)
		ret = crypt_load(cd, kind == HEADER_LUKS1 ? CRYPT_LUKS1 : CRYPT_LUKS2, NULL);
	crypt_set_debug_level(CRYPT_DEBUG_NONE);
	result->loads = !ret;
	if (ret && ret == -EINVAL && !*log.text)
		copy_text(result->reason, sizeof(result->reason),
			  "its JSON area is not what a header needs, and libcryptsetup says no "
			  "more of it.");
	else if (ret)
		copy_text(result->reason, sizeof(result->reason), luks_words(&log, ret));
	else if (in)
		fill(in, cd);
	luks_end(cd);
	return 0;
}

/* One copy, with the other's mark blanked: libcryptsetup makes do with either. */
static int load_alone(struct inspect *in, const struct copy *c, unsigned which, struct status *st)
{
	const struct header_copy *other = &in->headers.copies[!which];
	unsigned char mark[8] = {0}, kept[8];
	int ret;

	if (!in->headers.copies[which].found) {
		copy_text(in->load[which].reason, sizeof(in->load[which].reason),
			  in->headers.copies[which].reason);
		return 0;
	}
	/* Where the first copy is sound, nothing but its own size says where the second stands. */
	if (!other->version || other->offset + sizeof(mark) > c->len)
		return load(c, in->headers.kind, NULL, &in->load[which], st);
	memcpy(kept, c->bytes + other->offset, sizeof(kept));
	memcpy(c->bytes + other->offset, mark, sizeof(mark));
	ret = load(c, in->headers.kind, NULL, &in->load[which], st);
	memcpy(c->bytes + other->offset, kept, sizeof(kept));
	return ret;
}

static int look_closer(struct inspect *in, const struct copy *c, int fd, uint64_t size,
		       struct status *st)
{
	int ret;

	inspect_metadata(in, c->bytes, c->len);
	ret = inspect_areas(in, fd, size);
	if (ret == -ENOMEM)
		return status_nomem(st);
	return ret ? status_set(st, ST_DEVICE, -ret, "The keyslots of %s cannot be read: %s.",
				c->name, strerror(-ret))
		   : 0;
}

int inspect_header(struct inspect *inspect, int fd, uint64_t size, const char *name,
		   struct status *st)
{
	struct copy copy = {.fd = -1, .name = name};
	struct inspect_load whole = {0};
	int ret;

	memset(inspect, 0, sizeof(*inspect));
	ret = headers_read(&inspect->headers, fd, size);
	if (ret == -ENOMEM)
		return status_nomem(st);
	if (ret)
		return status_set(st, ST_DEVICE, -ret, "%s cannot be read: %s.", name,
				  strerror(-ret));
	if (inspect->headers.kind == HEADER_NONE)
		return 0;
	ret = copy_make(&copy, &inspect->headers, fd, size, st);
	if (!ret)
		ret = load(&copy, inspect->headers.kind, inspect, &whole, st);
	if (!ret && inspect->headers.kind == HEADER_LUKS1)
		inspect->load[0] = whole;
	for (unsigned i = 0; i < 2 && !ret && inspect->headers.kind == HEADER_LUKS2; i++)
		ret = load_alone(inspect, &copy, i, st);
	if (!ret && inspect->loaded)
		ret = look_closer(inspect, &copy, fd, size, st);
	copy_free(&copy);
	return ret;
}

uint64_t inspect_backup_size(const struct inspect *in)
{
	if (in->headers.kind == HEADER_LUKS2)
		return 2 * in->metadata_size + in->keyslots_size;
	return (in->header_end + PAGE - 1) / PAGE * PAGE;
}

const char *inspect_flag(uint32_t flags, unsigned i)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{CRYPT_ACTIVATE_ALLOW_DISCARDS, "allow-discards"},
		{CRYPT_ACTIVATE_SAME_CPU_CRYPT, "same-cpu-crypt"},
		{CRYPT_ACTIVATE_SUBMIT_FROM_CRYPT_CPUS, "submit-from-crypt-cpus"},
		{CRYPT_ACTIVATE_NO_READ_WORKQUEUE, "no-read-workqueue"},
		{CRYPT_ACTIVATE_NO_WRITE_WORKQUEUE, "no-write-workqueue"},
		{CRYPT_ACTIVATE_NO_JOURNAL, "no-journal"},
	};

	for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
		if (flags & names[j].bit && !i--)
			return names[j].name;
	return NULL;
}

const char *inspect_requirement(uint32_t requirements, unsigned i)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{CRYPT_REQUIREMENT_OFFLINE_REENCRYPT, "offline-reencrypt"},
		{CRYPT_REQUIREMENT_ONLINE_REENCRYPT, "online-reencrypt"},
		{CRYPT_REQUIREMENT_UNKNOWN, "unknown"},
	};

	for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
		if (requirements & names[j].bit && !i--)
			return names[j].name;
	return NULL;
}
