// SPDX-License-Identifier: GPL-2.0-or-later
/* Authenticated encryption through OpenSSL: published vectors, and that the checks catch what they
 * are for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#ifdef WITH_OPENSSL
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "measure/backend.h"
#include "measure/check.h"
#include "measure/openssl_seal.h"

#define BYTES_MAX 160
#define SECTOR    0x123456788ULL

static size_t bytes(uint8_t out[BYTES_MAX], const char *hex)
{
	size_t n = 0;
	unsigned value;

	memset(out, 0, BYTES_MAX);
	for (; hex[2 * n] && sscanf(hex + 2 * n, "%2x", &value) == 1; n++)
		out[n] = (uint8_t)value;
	return n;
}

struct vector {
	const char *name, *spec, *key, *iv, *aad, *plain, *cipher, *tag;
};

#define GCM_PLAIN                                                                                  \
	"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"                         \
	"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define GCM_AAD  "feedfacedeadbeeffeedfacedeadbeefabaddad2"
#define GCM_IV   "cafebabefacedbaddecaf888"
#define ZERO16   "00000000000000000000000000000000"
#define OB20     "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"
#define HI_THERE "4869205468657265"

static const struct vector vectors[] = {
	{"the GCM specification's test case 4 (NIST)", "aes-gcm-random/128+aead",
	 "feffe9928665731c6d6a8f9467308308", GCM_IV, GCM_AAD, GCM_PLAIN,
	 "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
	 "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
	 "5bc94fbc3221a5db94fae95ae7121a47"},
	{"the GCM specification's test case 16 (NIST)", "aes-gcm-random/256+aead",
	 "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", GCM_IV, GCM_AAD,
	 GCM_PLAIN,
	 "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	 "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
	 "76fc6ece0f4e1768cddf8853bb2d551b"},
	{"RFC 8439, 2.8.2", "chacha20-random/256+poly1305",
	 "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
	 "070000004041424344454647", "50515253c0c1c2c3c4c5c6c7",
	 "4c616469657320616e642047656e746c656d656e206f662074686520636c6173"
	 "73206f66202739393a204966204920636f756c64206f6666657220796f75206f"
	 "6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73"
	 "637265656e20776f756c642062652069742e",
	 "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
	 "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
	 "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
	 "3ff4def08e4b7a9de576d26586cec64b6116",
	 "1ae10b594f09e26a7e902ecbd0600691"},
	/* HMAC pads short keys with zeros, so a key of twenty bytes is one of thirty-two. */
	{"RFC 4231, test case 1 (HMAC-SHA256)", "aes-xts-plain64/256+hmac-sha256",
	 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" OB20
	 "000000000000000000000000",
	 ZERO16, HI_THERE, "", "",
	 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
	{"RFC 2202, test case 1 (HMAC-SHA1)", "aes-cbc-essiv:sha256/128+hmac-sha1", ZERO16 OB20,
	 ZERO16, HI_THERE, "", "", "b617318655057264e28bc0b6fb378c8ef146be00"},
	{"RFC 2202, test case 1 (HMAC-MD5)", "rc4/128+hmac-md5",
	 ZERO16 "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", ZERO16, HI_THERE, "", "",
	 "9294727a3638bb1c13f48ef8158bfc9d"},
	{"RFC 6229, 128 bits (RC4)", "rc4/128", "0102030405060708090a0b0c0d0e0f10", ZERO16, "",
	 ZERO16, "9ac7cc9a609d1ef7b2932899cde41b97", ""},
};

static void test_vector(const struct vector *v)
{
	uint8_t key[BYTES_MAX], iv[BYTES_MAX], aad[BYTES_MAX], plain[BYTES_MAX], cipher[BYTES_MAX];
	uint8_t want[BYTES_MAX], out[BYTES_MAX], tag[BYTES_MAX] = {0};
	size_t aad_len, len, tag_len, n_key;
	const char *reason = "";
	struct seal *seal = NULL;
	struct status st;
	struct spec spec;
	int ret;

	n_key = bytes(key, v->key);
	bytes(iv, v->iv);
	aad_len = bytes(aad, v->aad);
	len = bytes(plain, v->plain);
	bytes(cipher, v->cipher);
	tag_len = bytes(want, v->tag);
	ret = spec_parse_any(&spec, v->spec, &st);
	ret = ret ? ret : seal_new(&seal, &spec, key, &reason);
	if (ret == -EOPNOTSUPP && spec.kind->record) {
		tap_skip("%s: %s", v->name, reason);
		return;
	}
	ok(!ret && n_key == spec_volume_key_bits(&spec) / 8 && tag_len == spec.kind->tag,
	   "%s: the key is set (%s)", v->name, reason);
	ret = seal_encrypt(seal, iv, aad, aad_len, out, plain, len, tag);
	ok(!ret && !memcmp(out, cipher, len) && !memcmp(tag, want, tag_len), "%s: encrypted",
	   v->name);
	ret = seal_decrypt(seal, iv, aad, aad_len, out, cipher, len, want);
	ok(!ret && !memcmp(out, plain, len), "%s: decrypted", v->name);
	for (size_t i = 0; i < tag_len; i++) {
		want[i] ^= 1U << i % 8;
		if (seal_decrypt(seal, iv, aad, aad_len, out, cipher, len, want) != -EBADMSG)
			ok(false, "%s: byte %zu of the tag does not matter", v->name, i);
		want[i] ^= 1U << i % 8;
	}
	if (tag_len) {
		aad[0] ^= 1;
		ok(seal_decrypt(seal, iv, aad, aad_len, out, cipher, len, want) == -EBADMSG,
		   "%s: changed associated data is refused", v->name);
		aad[0] ^= 1;
		ok(!seal_decrypt(seal, iv, aad, aad_len, out, cipher, len, want),
		   "%s: and after that the right one still taken", v->name);
	}
	seal_free(seal);
}

static int open_backend(void **state, const char *text, size_t size,
			enum engine_direction direction, struct backend_cell *cell)
{
	struct backend_error error = {.code = ""};
	struct status st;
	int ret;

	*cell = (struct backend_cell){.direction = direction, .size = size};
	ret = spec_parse_any(&cell->spec, text, &st);
	ret = ret ? ret : backend_openssl.open(state, cell, check_key, &error);
	if (ret)
		printf("# %s: %s %s\n", text, error.code, error.reason);
	return ret;
}

/* What the kernel makes of essiv(authenc(hmac(sha256),cbc(aes)),sha256), put together by hand. */
static void test_essiv(void)
{
	uint8_t data[512], want[512], salt[32], authentic[8 + 16 + 512] = {0}, tag[32];
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	struct backend_cell cell;
	void *state;
	int n;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = want[i] = (uint8_t)(i * 7);
	for (size_t i = 0; i < 8; i++)
		authentic[i] = authentic[8 + i] = (uint8_t)(SECTOR >> 8 * i);
	EVP_Digest(check_key, 32 + 32, salt, NULL, EVP_sha256(), NULL);
	EVP_EncryptInit_ex(ctx, EVP_aes_256_ecb(), NULL, salt, NULL);
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	EVP_EncryptUpdate(ctx, authentic + 8, &n, authentic + 8, 16);
	EVP_EncryptInit_ex(ctx, EVP_aes_256_cbc(), NULL, check_key, authentic + 8);
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	EVP_EncryptUpdate(ctx, want, &n, want, sizeof(want));
	EVP_CIPHER_CTX_free(ctx);
	memcpy(authentic + 24, want, sizeof(want));
	HMAC(EVP_sha256(), check_key + 32, 32, authentic, sizeof(authentic), tag, NULL);
	if (!ok(!open_backend(&state, "aes-cbc-essiv:sha256/256+hmac-sha256@512", 512,
			      ENGINE_ENCRYPT, &cell),
		"CBC with ESSIV under HMAC opens"))
		return;
	ok(!backend_openssl.crypt(state, ENGINE_ENCRYPT, data, SECTOR) &&
		   !memcmp(data, want, sizeof(want)),
	   "its IVs come of the cipher's and the MAC's key");
	ok(!memcmp(backend_openssl.stored(state, 0), tag, sizeof(tag)),
	   "its tag is of the sector's number, the IV and the ciphertext");
	backend_openssl.close(state);
}

static int forgiving(void *state, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	int ret = backend_openssl.crypt(state, direction, data, sector);

	return ret == -EBADMSG ? 0 : ret;
}

/* Encrypts as if each sector were the first: the number is then not authenticated. */
static int numberless(void *state, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	(void)sector;
	return backend_openssl.crypt(state, direction, data, 0);
}

static int unsealed(void *state, enum engine_direction direction, uint8_t *data, uint64_t sector)
{
	int ret = backend_openssl.crypt(state, direction, data, sector);

	data[17] ^= direction == ENGINE_ENCRYPT;
	return ret;
}

static int check_with(const char *text,
		      int (*crypt)(void *, enum engine_direction, uint8_t *, uint64_t))
{
	struct check_patterns patterns = {NULL, 0};
	struct backend backend = backend_openssl;
	struct backend_cell cell;
	uint8_t *data = malloc(65536);
	void *state;
	int ret;

	ret = open_backend(&state, text, 65536, ENGINE_ENCRYPT, &cell);
	if (!ret) {
		if (crypt)
			backend.crypt = crypt;
		ret = check_prepare(&patterns, &cell.spec, 65536);
		if (ret >= 0)
			ret = check_state(&patterns.list[ret], &backend, state, ENGINE_ENCRYPT,
					  data);
		backend_openssl.close(state);
	}
	check_free(&patterns);
	free(data);
	return ret;
}

static void test_checks(void)
{
	static const char *const specs[] = {
		"aes-gcm-random/256+aead@4096",
		"aes-gcm-random/128+aead@512",
		"chacha20-random/256+poly1305@4096",
		"aes-xts-plain64/512+hmac-sha256@4096",
		"aes-xts-random/256+hmac-sha256@512",
		"aes-cbc-essiv:sha256/128+hmac-sha256@2048",
		"aes-cbc-essiv:sha256/256+hmac-sha1@1024",
	};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		ok(!check_with(specs[i], NULL), "%s passes its checks", specs[i]);
		ok(check_with(specs[i], forgiving) == -EBADMSG,
		   "%s: taking what was changed is found out", specs[i]);
		ok(check_with(specs[i], numberless) == -EBADMSG,
		   "%s: a sector number that does not count is found out", specs[i]);
	}
	ok(check_with("aes-xts-plain64/512+hmac-sha256@4096", unsealed) == -EBADMSG,
	   "XTS that is not the portable tier's is found out under its MAC");
}

/* Timed decryption is of what was encrypted at opening, over and over, each tag right. */
static void test_run(void)
{
	struct backend_buffer buffer = {.size = 1 << 20};
	struct backend_cell cell;
	uint8_t first[4096];
	void *state;
	int ret;

	buffer.data = malloc(buffer.size);
	backend_buffer_fill(&buffer);
	memcpy(first, buffer.data, sizeof(first));
	memset(buffer.data, 0, buffer.size);
	if (ok(!open_backend(&state, "aes-gcm-random/256+aead@4096", 65536, ENGINE_DECRYPT, &cell),
	       "a cell of decryption opens")) {
		ret = backend_openssl.run(state, &buffer, 40);
		ok(!ret && !memcmp(buffer.data, first, sizeof(first)) &&
			   !memcmp(buffer.data + buffer.size - 65536, first, sizeof(first)),
		   "40 requests, every tag taken, the plaintext in each place (%d)", ret);
		backend_openssl.close(state);
	}
	free(buffer.data);
}

int main(void)
{
	struct spec spec;
	struct status st;

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		test_vector(&vectors[i]);
	test_essiv();
	test_checks();
	test_run();
	ok(!spec_parse(&spec, "aegis128-random/128+aead", &st) && !seal_implements(&spec) &&
		   !backend_openssl.implements(&spec),
	   "AEGIS is not OpenSSL's");
	return tap_done();
}
#else
int main(void)
{
	tap_skip("this program was built without OpenSSL");
	return tap_done();
}
#endif
