// SPDX-License-Identifier: GPL-2.0-or-later
/* What is known of volumes that there are, as far as it is pure: dm-crypt's tables, the choice
 * among its flags, the binary part of headers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decide/tune.h"
#include "report/findings_volume.h"
#include "tap.h"
#include "volume/header.h"
#include "volume/mapping.h"
#include "volume/refresh.h"

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static int parse(struct mapping *m, const char *table, char copy[512])
{
	memset(m, 0, sizeof(*m));
	snprintf(copy, 512, "%s", table);
	return mapping_parse(m, copy);
}

static void test_tables(void)
{
	struct mapping m;
	char copy[512];

	ok(!parse(&m,
		  "aes-xts-plain64 " KEY KEY " 0 253:3 32768 3 allow_discards "
		  "no_read_workqueue sector_size:4096",
		  copy),
	   "a table");
	ok(!memmem(copy, sizeof(copy), "0011", 4), "the key in it is wiped");
	ok(m.key_bits == 512 && !m.key_in_keyring && m.sector == 4096 && m.offset == 32768ULL * 512,
	   "key bits, sector, offset");
	ok(m.known && spec_strength(&m.spec) == 256 && !strcmp(m.on, "253:3"), "spec and device");
	ok(m.n_flags == 2 && refresh_current(&m) == MEASURE_NO_READ_WORKQUEUE, "flags");
	ok(!parse(&m, "aes-cbc-essiv:sha256 :32:logon:cryptsetup:x-d0 8 8:1 4096", copy) &&
		   m.key_in_keyring && m.key_bits == 256 && m.iv_offset == 8 && m.sector == 512,
	   "a key in the keyring, an IV offset, no options");
	ok(!parse(&m,
		  "capi:authenc(hmac(sha256),xts(aes))-plain64 :96:logon:c:d 0 253:1 0 2 "
		  "integrity:32:aead sector_size:4096",
		  copy) &&
		   m.tag == 32 && !strcmp(m.integrity, "aead") && !m.known,
	   "integrity");
	ok(parse(&m, "", copy) == -EINVAL && parse(&m, "aes 00 0 8:1", copy) == -EINVAL &&
		   parse(&m, "aes 00 x 8:1 0", copy) == -EINVAL &&
		   parse(&m, "aes 00 0 8:1 0 2 one", copy) == -EINVAL &&
		   parse(&m, "aes 00 0 8:1 0 99999999999999999999", copy) == -EINVAL &&
		   parse(&m, "aes :x:logon:k 0 8:1 0", copy) == -EINVAL &&
		   parse(&m, "aes 00 0 8:1 36028797018963968", copy) == -EINVAL,
	   "what is none");
}

static struct measure_result cell(const struct spec *spec, unsigned flags, unsigned depth,
				  enum engine_direction direction, double speed)
{
	return (struct measure_result){.spec = *spec,
				       .engine = MEASURE_DM,
				       .direction = direction,
				       .depth = depth,
				       .flags = flags,
				       .median = speed,
				       .low = speed * 0.99,
				       .high = speed * 1.01,
				       .checked = true};
}

/* Speeds of three sets at both depths; reads and writes alike. */
static void tune_on(struct tune *t, const double one[3], const double many[3], unsigned now,
		    bool rotates)
{
	static const unsigned sets[3] = {0, MEASURE_NO_READ_WORKQUEUE,
					 MEASURE_NO_READ_WORKQUEUE | MEASURE_NO_WRITE_WORKQUEUE};
	struct measure_result results[12];
	struct measurement m = {.results = results};
	struct spec spec;

	spec_parse(&spec, "aes-xts-plain64/512@4096", NULL);
	for (int i = 0; i < 3; i++)
		for (int d = 0; d < 2; d++) {
			results[m.n_results++] = cell(&spec, sets[i], 1, d, one[i]);
			results[m.n_results++] = cell(&spec, sets[i], 8, d, many[i]);
		}
	decide_tune(t, &m, &spec, 8, now, 0.7, rotates);
}

static void tune(struct tune *t, const double one[3], const double many[3], unsigned now)
{
	tune_on(t, one, many, now, false);
}

static void test_tune(void)
{
	struct tune t;

	tune(&t, (double[]){100, 150, 200}, (double[]){100, 100, 100}, 0);
	ok(t.best->flags == 3 && t.gain > 1.99 && t.gain < 2.01, "the fastest: %s", t.reason);
	tune(&t, (double[]){100, 150, 200}, (double[]){100, 100, 90}, 0);
	ok(t.best->flags == 1, "not one that loses with several");
	tune(&t, (double[]){100, 150, 152}, (double[]){100, 100, 100}, 0);
	ok(t.best->flags == 1, "of equals the one with fewer flags");
	tune(&t, (double[]){100, 105, 109}, (double[]){100, 100, 100}, 0);
	ok(t.best == t.now && t.best->flags == 0, "nothing for less than a tenth: %s", t.reason);
	tune(&t, (double[]){200, 150, 100}, (double[]){100, 100, 100}, 3);
	ok(t.best->flags == 0 && t.now->flags == 3, "flags that cost go");
	tune(&t, (double[]){100, 150, 200}, (double[]){100, 100, 100}, 4);
	ok(!t.now && !t.best, "nothing where what it has was not measured");
	tune_on(&t, (double[]){100, 150, 200}, (double[]){100, 100, 100}, 0, true);
	ok(t.best->flags == 1 && strstr(t.reason, "no_write_workqueue are passed over"),
	   "a disk that rotates keeps its queue of writes: %s", t.reason);
	tune_on(&t, (double[]){100, 101, 200}, (double[]){100, 100, 100}, 0, true);
	ok(t.best == t.now && !strncmp(t.reason, "Nothing else is", 15),
	   "also where nothing else would gain: %s", t.reason);
	tune_on(&t, (double[]){100, 150, 200}, (double[]){100, 100, 100}, 3, true);
	ok(t.best == t.now && t.best->flags == 3, "what it has without that queue stays");
}

static void test_split(void)
{
	struct cipher_parts p;

	cipher_split(&p, "aes-cbc-essiv:sha256");
	ok(!strcmp(p.cipher, "aes") && !strcmp(p.mode, "cbc") && !strcmp(p.iv, "essiv:sha256"),
	   "cipher, mode, IV");
	cipher_split(&p, "aes");
	ok(!strcmp(p.cipher, "aes") && !*p.mode && !*p.iv, "a cipher alone");
	cipher_split(&p, "");
	ok(!*p.cipher && !*p.mode && !*p.iv, "nothing");
	cipher_split(&p, "capi:xts(aes)-plain64");
	ok(!strcmp(p.cipher, "capi:xts(aes)-plain64") && !*p.mode, "the kernel's own names");
}

/* Any bytes: the answer is some header or none, and no read leaves the device. */
static void test_headers(void)
{
	unsigned char *bytes;
	struct headers h;
	unsigned found = 0, seed = 1;
	int i;
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 65536))
		return;
	bytes = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (i = 0; i < 2000; i++) {
		for (int j = 0; j < 4096; j++)
			bytes[j] = (unsigned char)rand_r(&seed);
		memcpy(bytes, "LUKS\xba\xbe\x00\x02", 8);
		/* Half of them with a size of 16 KiB. */
		if (i % 2)
			memcpy(bytes + 8, "\0\0\0\0\0\0\x40\0", 8);
		memcpy(bytes + 72, "sha256", 7);
		if (headers_read(&h, fd, i % 3 ? 65536 : 4096 + (uint64_t)i) || h.copies[0].valid)
			break;
		found += h.kind == HEADER_LUKS2 && h.copies[0].found;
	}
	ok(i == 2000 && found > 600, "%d random headers, %u of them with a size that can be", i,
	   found);
	ok(!headers_read(&h, fd, 0) && h.kind == HEADER_NONE, "an empty device");
	ok(!headers_read(&h, fd, 7) && h.kind == HEADER_NONE, "one shorter than any mark");
	ok(!headers_read(&h, fd, 591) && h.kind == HEADER_LUKS2 && !h.copies[0].found &&
		   h.copies[0].cut && h.copies[1].cut,
	   "one that is cut within its header");
	bytes[7] = 3;
	ok(!headers_read(&h, fd, 65536) && h.kind == HEADER_NONE && h.copies[0].version == 3,
	   "a version that there is not");
	ok(headers_read(&h, fd, 1 << 20) != 0 || h.kind != HEADER_LUKS1, "one that is cut off");
	munmap(bytes, 65536);
	close(fd);
}

int main(void)
{
	test_tables();
	test_tune();
	test_split();
	test_headers();
	return tap_done();
}
