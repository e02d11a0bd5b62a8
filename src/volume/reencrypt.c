// SPDX-License-Identifier: GPL-2.0-or-later
#include "volume/reencrypt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "volume/extent.h"
#include "volume/luks_internal.h"

#define CHUNK (1UL << 20)
/*
 * 512-byte sectors of an area that is re-encrypted at once: 16 MiB. libcryptsetup alone would take
 * what its checksums have room for, gigabytes, and could be stopped, and leave whoever uses an open
 * volume waiting, only that often.
 */
#define AREA (16UL << (20 - 9))

static int failed(int err, enum exit_status code, const char *what, struct luks_log *log,
		  struct status *st)
{
	if (err == -EPERM)
		return status_set(st, ST_AUTH, EPERM, "No keyslot opens with this secret.");
	if (err == -ENOMEM)
		return status_nomem(st);
	return status_set(st, code, -err, "%s: %s", what, luks_words(log, err));
}

/* The number of the keyslot that it opens. */
static int try_secret(struct crypt_device *cd, const struct secret *secret, struct luks_log *log,
		      struct status *st)
{
	int ret = crypt_activate_by_passphrase(cd, NULL, CRYPT_ANY_SLOT,
					       (const char *)secret->bytes, secret->len, 0);

	/* With keyslots of other keys about, it says of a wrong secret that there is no keyslot. */
	if (ret == -ENOENT)
		ret = -EPERM;
	return ret < 0 ? failed(ret, ST_REFUSED, "The volume does not open", log, st) : ret;
}

static int open_context(struct crypt_device **cd, const struct reencrypt_request *r,
			const char *path, struct luks_log *log, struct status *st)
{
	int ret;

	*log = (struct luks_log){.path = path, .name = r->device_name};
	luks_log_to(log);
	ret = r->header ? crypt_init_data_device(cd, r->header, path) : crypt_init(cd, path);
	luks_log_to(NULL);
	if (!ret) {
		luks_log_of(*cd, log);
		ret = crypt_load(*cd, CRYPT_LUKS2, NULL);
	}
	return ret ? failed(ret, ST_DEVICE, "The header cannot be loaded", log, st) : 0;
}

/* What the old keyslot has beside its key: its priority, and the tokens that unlock it. */
static int take_over(struct crypt_device *cd, int old, int new)
{
	crypt_keyslot_priority priority = crypt_keyslot_get_priority(cd, old);
	int ret = 0;

	if (priority > CRYPT_SLOT_PRIORITY_INVALID && priority != CRYPT_SLOT_PRIORITY_NORMAL)
		ret = crypt_keyslot_set_priority(cd, new, priority);
	for (int i = 0; i < crypt_token_max(CRYPT_LUKS2) && ret >= 0; i++)
		if (crypt_token_status(cd, i, NULL) > CRYPT_TOKEN_INACTIVE &&
		    !crypt_token_is_assigned(cd, i, old))
			ret = crypt_token_assign_keyslot(cd, i, new);
	return ret < 0 ? ret : 0;
}

/* A keyslot with a new key, guarded as the old one's is, with its tokens; its cipher is one that is
 * no weaker than the new volume's. Returns its number or -errno. */
static int add_keyslot(struct crypt_device *cd, int old, const struct spec *spec,
		       const struct secret *secret)
{
	struct crypt_pbkdf_type pbkdf;
	char cipher[SPEC_TEXT_MAX];
	unsigned bits;
	int new, ret;

	ret = crypt_keyslot_get_pbkdf(cd, old, &pbkdf);
	if (ret)
		return ret;
	pbkdf.flags |= CRYPT_PBKDF_NO_BENCHMARK;
	/* Argon2's keyslots name no hash, and the splitter needs one. */
	if (!pbkdf.hash)
		pbkdf.hash = "sha256";
	ret = crypt_set_pbkdf_type(cd, &pbkdf);
	if (!ret) {
		luks_keyslot_cipher(spec, cipher, &bits);
		ret = crypt_keyslot_set_encryption(cd, cipher, bits / 8);
	}
	if (ret)
		return ret;
	new = crypt_keyslot_add_by_key(cd, CRYPT_ANY_SLOT, NULL, spec->key_bits / 8,
				       (const char *)secret->bytes, secret->len,
				       CRYPT_VOLUME_KEY_NO_SEGMENT);
	if (new < 0)
		return new;
	ret = take_over(cd, old, new);
	if (ret)
		crypt_keyslot_destroy(cd, new);
	return ret ? ret : new;
}

/* Writes into the header what is to be done. What fails leaves no keyslot behind. */
static int begin(struct crypt_device *cd, const struct reencrypt_request *r, const char *mapping,
		 const struct secret *secret, uint32_t flags, struct luks_log *log,
		 struct status *st)
{
	struct crypt_params_luks2 luks2 = {.sector_size = r->spec->sector};
	struct crypt_params_reencrypt params = {
		.mode = CRYPT_REENCRYPT_REENCRYPT,
		.direction = CRYPT_REENCRYPT_FORWARD,
		.resilience = r->resilience,
		.hash = "sha256",
		.max_hotzone_size = AREA,
		.luks2 = &luks2,
		.flags = flags,
	};
	char mode[SPEC_TEXT_MAX];
	int old, new, ret;

	old = try_secret(cd, secret, log, st);
	if (old < 0)
		return old;
	new = add_keyslot(cd, old, r->spec, secret);
	if (new < 0)
		return failed(new == -EPERM ? -EIO : new, ST_REFUSED,
			      "There is no room in the header for a keyslot of the new key, or it "
			      "cannot be made",
			      log, st);
	ret = crypt_reencrypt_init_by_passphrase(cd, mapping, (const char *)secret->bytes,
						 secret->len, old, new, r->spec->kind->cipher,
						 spec_cipher_mode(r->spec, mode), &params);
	if (ret >= 0)
		return 0;
	crypt_keyslot_destroy(cd, new);
	return failed(ret, ST_REFUSED,
		      "The re-encryption cannot be begun, and nothing has been re-encrypted", log,
		      st);
}

/* Puts an area right that was being written when something ended the last run. */
static int recover(struct crypt_device *cd, const struct secret *secret, struct luks_log *log,
		   struct status *st)
{
	struct crypt_params_reencrypt params = {.flags = CRYPT_REENCRYPT_RECOVERY};
	int ret = crypt_reencrypt_init_by_passphrase(cd, NULL, (const char *)secret->bytes,
						     secret->len, CRYPT_ANY_SLOT, CRYPT_ANY_SLOT,
						     NULL, NULL, &params);

	return ret < 0 ? failed(ret, ST_CHECK,
				"The area that was being written when it was cut short cannot be "
				"put right",
				log, st)
		       : 0;
}

/* 1: there was nothing left to do but to put an area right. */
static int go_on(struct crypt_device *cd, const struct reencrypt_request *r,
		 const struct secret *secret, struct luks_log *log, struct status *st)
{
	struct crypt_params_reencrypt params = {.flags = CRYPT_REENCRYPT_RESUME_ONLY,
						.resilience = r->resilience,
						.hash = "sha256",
						.max_hotzone_size = AREA};
	crypt_reencrypt_info state = crypt_reencrypt_status(cd, NULL);
	int ret;

	if (state == CRYPT_REENCRYPT_CRASH && !r->mapping) {
		ret = recover(cd, secret, log, st);
		if (ret)
			return ret;
		/* It was the last one. */
		if (crypt_reencrypt_status(cd, NULL) == CRYPT_REENCRYPT_NONE)
			return 1;
	}
	ret = crypt_reencrypt_init_by_passphrase(cd, r->mapping, (const char *)secret->bytes,
						 secret->len, CRYPT_ANY_SLOT, CRYPT_ANY_SLOT, NULL,
						 NULL, &params);
	return ret < 0 ? failed(ret, ST_CHECK, "The re-encryption cannot be gone on with", log, st)
		       : 0;
}

struct watch {
	const struct reencrypt_request *request;
	bool stopped;
};

static int on_progress(uint64_t size, uint64_t done, void *arg)
{
	struct watch *w = arg;

	if (w->request->progress && w->request->progress(size, done, w->request->progress_arg))
		w->stopped = true;
	return w->stopped;
}

int reencrypt_run(const struct reencrypt_request *request, const struct secret *secret,
		  bool *finished, struct status *st)
{
	struct crypt_device *cd = NULL;
	struct watch watch = {.request = request};
	struct luks_log log;
	int ret;

	*finished = false;
	ret = open_context(&cd, request, request->device, &log, st);
	if (!ret)
		ret = request->spec ? begin(cd, request, request->mapping, secret, 0, &log, st)
				    : go_on(cd, request, secret, &log, st);
	if (ret == 1) {
		*finished = true;
		ret = 0;
	} else if (!ret) {
		*log.text = '\0';
		ret = crypt_reencrypt_run(cd, on_progress, &watch);
		/* Told to stop in the last area, it does the rest: progress comes before the count.
		 */
		*finished = !ret && (!watch.stopped ||
				     crypt_reencrypt_status(cd, NULL) == CRYPT_REENCRYPT_NONE);
		if (ret && !watch.stopped)
			ret = failed(ret == -EPERM ? -EIO : ret, ST_CHECK,
				     "The re-encryption stopped; what was done holds, and the same "
				     "command goes on with it",
				     &log, st);
		else
			ret = 0;
	}
	luks_end(cd);
	return ret;
}

int reencrypt_opens(const struct reencrypt_request *request, const struct secret *secret,
		    struct status *st)
{
	struct crypt_device *cd = NULL;
	struct luks_log log;
	int ret = open_context(&cd, request, request->device, &log, st);

	if (!ret)
		ret = crypt_activate_by_passphrase(cd, NULL, CRYPT_ANY_SLOT,
						   (const char *)secret->bytes, secret->len, 0);
	if (ret < 0)
		status_set(st, ST_CHECK, -ret,
			   "%s was re-encrypted, and no keyslot opens with the secret: %s",
			   request->device_name, luks_words(&log, ret));
	luks_end(cd);
	return ret < 0 ? ret : 0;
}

static int copy_header(int to, int from, uint64_t len)
{
	unsigned char *buf = malloc(CHUNK);
	int ret = buf ? 0 : -ENOMEM;

	for (uint64_t at = 0; at < len && !ret; at += CHUNK) {
		size_t part = len - at < CHUNK ? (size_t)(len - at) : CHUNK;

		ret = extent_read(from, buf, part, at);
		if (!ret)
			ret = extent_write(to, buf, part, at);
	}
	if (buf)
		explicit_bzero(buf, CHUNK);
	free(buf);
	return ret;
}

int reencrypt_rehearse(const struct reencrypt_request *request, const struct inspect *inspect,
		       int header_fd, uint64_t device_size, const struct secret *secret,
		       struct status *st)
{
	uint64_t len = 2 * inspect->metadata_size + inspect->keyslots_size;
	struct reencrypt_request copy = *request;
	struct crypt_device *cd = NULL;
	struct luks_log log;
	char path[32];
	int fd, ret;

	fd = memfd_create("dmcrypt-tune-reencrypt", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)(inspect->data_offset ? device_size : len)))
		ret = -errno;
	else
		ret = copy_header(fd, header_fd, len);
	if (ret) {
		ret = status_set(st, ST_MISSING, -ret,
				 "A copy of the header in memory cannot be made: %s.",
				 strerror(-ret));
		goto out;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* A detached header's copy stands alone; the data are not needed to see whether it can be
	 * begun. */
	copy.header = request->header ? path : NULL;
	ret = open_context(&cd, &copy, request->header ? request->device : path, &log, st);
	if (!ret && copy.spec)
		ret = begin(cd, &copy, NULL, secret, CRYPT_REENCRYPT_INITIALIZE_ONLY, &log, st);
	else if (!ret)
		ret = try_secret(cd, secret, &log, st);
	luks_end(cd);
	ret = ret < 0 ? ret : 0;
out:
	if (fd >= 0)
		close(fd);
	return ret;
}
