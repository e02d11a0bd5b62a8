// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a header back from the medium, and holding it against the plan. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "volume/luks_internal.h"

#define SECTOR_SHIFT 9
#define CHUNK        (1UL << 20)

/* Reads from the medium: past the page cache where that can be, else with the cache dropped. */
static int open_direct(struct guard *guard)
{
	guard_drop_cache(guard);
	return open(guard->fd_path, O_RDONLY | O_CLOEXEC | O_DIRECT);
}

static int copy_chunk(int direct, int fd, int to, void *buf, size_t len, off_t at)
{
	ssize_t n = direct >= 0 ? pread(direct, buf, len, at) : -1;

	/* A file system may let itself be opened with O_DIRECT and then not be read so. */
	if (n != (ssize_t)len)
		n = pread(fd, buf, len, at);
	if (n != (ssize_t)len)
		return n < 0 ? -errno : -EIO;
	n = pwrite(to, buf, len, at);
	if (n != (ssize_t)len)
		return n < 0 ? -errno : -EIO;
	return 0;
}

/* A copy in memory of the header, as long as the device: loading it there cannot write to the
 * device, as libcryptsetup's repairs would. Returns a descriptor or -errno. */
static int copy_header(struct guard *guard, uint64_t len)
{
	int copy = -1, direct = -1, ret = 0;
	void *buf = NULL;

	copy = memfd_create("dmcrypt-tune-header", MFD_CLOEXEC);
	if (copy < 0 || ftruncate(copy, guard->device.size))
		ret = -errno;
	if (!ret)
		ret = -posix_memalign(&buf, 4096, CHUNK);
	if (!ret) {
		direct = open_direct(guard);
		for (uint64_t at = 0; at < len && !ret; at += CHUNK) {
			size_t part = len - at < CHUNK ? len - at : CHUNK;

			ret = copy_chunk(direct, guard->fd, copy, buf, part, at);
		}
	}
	free(buf);
	if (direct >= 0)
		close(direct);
	if (ret && copy >= 0)
		close(copy);
	return ret ? ret : copy;
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static void fill_header(struct luks_header *h, struct crypt_device *cd)
{
	struct crypt_params_integrity integrity = {0};
	struct crypt_pbkdf_type pbkdf;
	const char *text;
	size_t bytes;

	copy_text(h->uuid, sizeof(h->uuid), crypt_get_uuid(cd));
	snprintf(h->cipher, sizeof(h->cipher), "%s-%s", crypt_get_cipher(cd),
		 crypt_get_cipher_mode(cd));
	h->key_bits = crypt_get_volume_key_size(cd) * 8;
	if (!crypt_get_integrity_info(cd, &integrity))
		copy_text(h->integrity, sizeof(h->integrity), integrity.integrity);
	h->sector = crypt_get_sector_size(cd);
	h->data_offset = crypt_get_data_offset(cd) << SECTOR_SHIFT;
	copy_text(h->label, sizeof(h->label), crypt_get_label(cd));
	copy_text(h->subsystem, sizeof(h->subsystem), crypt_get_subsystem(cd));
	text = crypt_keyslot_get_encryption(cd, 0, &bytes);
	copy_text(h->keyslot_cipher, sizeof(h->keyslot_cipher), text);
	if (crypt_keyslot_get_pbkdf(cd, 0, &pbkdf))
		return;
	copy_text(h->pbkdf.type, sizeof(h->pbkdf.type), pbkdf.type);
	copy_text(h->pbkdf.hash, sizeof(h->pbkdf.hash), pbkdf.hash);
	h->pbkdf.iterations = pbkdf.iterations;
	h->pbkdf.memory = (uint64_t)pbkdf.max_memory_kb << 10;
	h->pbkdf.threads = pbkdf.parallel_threads;
}

static int differs(const char *what, const char *read, const char *wanted, struct status *st)
{
	if (!strcmp(read, wanted))
		return 0;
	return status_set(st, ST_CHECK, EBADMSG,
			  "the header has %s \"%s\", and \"%s\" was written.", what, read, wanted);
}

static int differs_number(const char *what, uint64_t read, uint64_t wanted, struct status *st)
{
	if (read == wanted)
		return 0;
	return status_set(st, ST_CHECK, EBADMSG,
			  "the header has %s %" PRIu64 ", and %" PRIu64 " was written.", what, read,
			  wanted);
}

static int compare(const struct luks_header *h, const struct luks_request *request,
		   struct status *st)
{
	const struct plan *plan = request->plan;
	const struct plan_pbkdf *pbkdf = &plan->pbkdf;
	const char *integrity = luks_integrity(plan->spec.kind);
	char cipher[SPEC_TEXT_MAX];
	unsigned slot_bits;
	int ret;

	/* The case of a UUID's letters means nothing, and libcryptsetup writes small ones. */
	ret = request->uuid && strcasecmp(h->uuid, request->uuid)
		      ? differs("UUID", h->uuid, request->uuid, st)
		      : 0;
	ret = ret ? ret : differs("cipher", h->cipher, spec_cipher(&plan->spec, cipher), st);
	ret = ret ? ret
		  : differs_number("key bits", h->key_bits, spec_volume_key_bits(&plan->spec), st);
	ret = ret ? ret : differs("integrity", h->integrity, integrity ? integrity : "", st);
	ret = ret ? ret : differs_number("sector size", h->sector, plan->spec.sector, st);
	ret = ret ? ret : differs_number("data offset", h->data_offset, plan->data_offset, st);
	ret = ret ? ret : differs("label", h->label, request->label ? request->label : "", st);
	ret = ret ? ret
		  : differs("subsystem", h->subsystem, request->subsystem ? request->subsystem : "",
			    st);
	ret = ret ? ret : differs("PBKDF", h->pbkdf.type, pbkdf->type, st);
	ret = ret ? ret
		  : differs_number("PBKDF iterations", h->pbkdf.iterations, pbkdf->iterations, st);
	ret = ret ? ret : differs_number("PBKDF memory", h->pbkdf.memory, pbkdf->memory, st);
	ret = ret ? ret : differs_number("PBKDF threads", h->pbkdf.threads, pbkdf->threads, st);
	if (ret || request->luks1)
		return ret;
	return differs("keyslot cipher", h->keyslot_cipher,
		       luks_keyslot_cipher(&plan->spec, cipher, &slot_bits), st);
}

/* With the secret. The volume key goes to *key, or nowhere. */
static int open_keyslot(struct crypt_device *cd, const struct secret *secret, struct secret *key,
			struct luks_log *log, struct status *st)
{
	struct secret unwanted = {0};
	int ret;

	if (!key)
		key = &unwanted;
	ret = secret_make(key, (size_t)crypt_get_volume_key_size(cd));
	if (ret)
		return status_nomem(st);
	ret = crypt_volume_key_get(cd, 0, (char *)key->bytes, &key->len,
				   (const char *)secret->bytes, secret->len);
	if (ret < 0 || key == &unwanted)
		secret_free(key);
	return ret >= 0 ? 0
			: status_set(st, ST_CHECK, EBADMSG,
				     "the keyslot does not open with the secret: %s",
				     luks_words(log, ret));
}

/* Loads the header from the descriptor `copy` and checks it; with a secret, its keyslot too. */
static int check_header(struct luks_header *header, int copy, const struct luks_request *request,
			const struct secret *secret, struct secret *key, const char *name,
			struct status *st)
{
	struct crypt_device *cd = NULL;
	struct luks_log log = {.name = name};
	uint32_t flags = 0;
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	log.path = path;
	ret = luks_begin(&cd, &log);
	if (!ret)
		ret = crypt_load(cd, request->luks1 ? CRYPT_LUKS1 : CRYPT_LUKS2, NULL);
	if (ret < 0) {
		ret = status_set(st, ST_CHECK, EBADMSG, "a copy of the header does not load: %s",
				 luks_words(&log, ret));
		goto out;
	}
	fill_header(header, cd);
	ret = compare(header, request, st);
	if (!ret && !request->luks1 &&
	    (crypt_persistent_flags_get(cd, CRYPT_FLAGS_ACTIVATION, &flags) ||
	     flags != luks_flags(request->plan)))
		ret = differs_number("flags", flags, luks_flags(request->plan), st);
	if (!ret && secret)
		ret = open_keyslot(cd, secret, key, &log, st);
out:
	luks_end(cd);
	return ret;
}

/* One copy of the metadata at a time, with the other blanked: libcryptsetup makes do with either,
 * and mends the other as it loads, so that damage to one would not show. */
int luks_check_copy(struct luks_header *header, int copy, const struct luks_request *request,
		    const struct secret *secret, struct secret *key, const char *name,
		    struct status *st)
{
	static const char blank[LUKS2_COPY];
	char *metadata = malloc(LUKS2_METADATA);
	int ret = metadata ? extent_read(copy, metadata, LUKS2_METADATA, 0) : -ENOMEM;

	memset(header, 0, sizeof(*header));
	/* There is but one of LUKS1's. */
	if (!ret && request->luks1) {
		free(metadata);
		return check_header(header, copy, request, secret, key, name, st);
	}
	for (int other = 1; other >= 0 && !ret; other--) {
		ret = extent_write(copy, metadata, LUKS2_METADATA, 0);
		if (!ret)
			ret = extent_write(copy, blank, LUKS2_COPY, other * LUKS2_COPY);
		ret = ret ? status_nomem(st)
			  : check_header(header, copy, request, other ? secret : NULL, key, name,
					 st);
	}
	free(metadata);
	return ret;
}

/* The header area, as it came from the medium, against what was to be written. */
static int compare_bytes(int copy, const struct luks_image *image, struct status *st)
{
	unsigned char *read = mmap(NULL, image->len, PROT_READ, MAP_SHARED, copy, 0);
	int ret = 0;

	if (read == MAP_FAILED)
		return status_nomem(st);
	for (uint64_t at = 0; at < image->len && !ret; at += CHANGE_SECTOR)
		if (memcmp(read + at, image->bytes + at, CHANGE_SECTOR))
			ret = status_set(st, ST_CHECK, EBADMSG,
					 "what the medium gives back at byte %" PRIu64
					 " is not what was written there.",
					 at);
	munmap(read, image->len);
	return ret;
}

int luks_verify(struct luks_header *header, struct guard *guard, const struct luks_image *image,
		const struct luks_request *request, const struct secret *secret, struct secret *key,
		struct status *st)
{
	int copy, ret;

	memset(header, 0, sizeof(*header));
	copy = copy_header(guard, luks_header_len(request->plan));
	if (copy < 0)
		return status_set(st, ST_CHECK, EBADMSG, "%s cannot be read: %s.",
				  guard->device.path, strerror(-copy));
	ret = image ? compare_bytes(copy, image, st) : 0;
	if (!ret)
		ret = luks_check_copy(header, copy, request, secret, key, guard->device.path, st);
	close(copy);
	return ret;
}
