// SPDX-License-Identifier: GPL-2.0-or-later
/* The experiments that people do by hand, each as the options that it stands for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_bench.h"

#define SPECS_MAX 16
/* A message of one block up to what the largest disk requests are. */
#define SIZES "16,64,256,1024,8192,16384,131072"

struct experiment {
	const char *name;
	const char *engine, *sector_size, *size, *tier, *shape,
		*path; /* NULL: the option's default */
	const char *specs[SPECS_MAX];
};

static const struct experiment experiments[] = {
	/* Throughput per request size: table look-ups, bitsliced, AES instructions of each width.
	 */
	{.name = "sizes",
	 .engine = "cpu",
	 .size = SIZES,
	 .tier = "all",
	 .specs = {"aes-xts-plain64/512", "aes-cbc-essiv:sha256/256"}},
	/* The same cipher here and in the kernel: what the way there and back costs. */
	{.name = "crossing",
	 .engine = "afalg,cpu",
	 .size = "16,64,256,1024,4096,16384,65536",
	 .path = "both",
	 .specs = {"aes-xts-plain64/512", "aes-cbc-essiv:sha256/256"}},
	/* CBC encryption of 2 to 32 sectors in flight; with a MAC, as OpenSSL does it. */
	{.name = "multi-buffer",
	 .engine = "cpu,openssl",
	 .sector_size = "4096",
	 .size = "8192,16384,32768,65536,131072",
	 .shape = "both",
	 .specs = {"aes-cbc-essiv:sha256/256", "aes-cbc-essiv:sha256/128",
		   "aes-cbc-essiv:sha256/256+hmac-sha256", "aes-cbc-essiv:sha256/256+hmac-sha1"}},
	/* Does AES-256 in XTS beat AES-128 in CBC? */
	{.name = "xts-cbc",
	 .size = SIZES,
	 .specs = {"aes-xts-plain64/512", "aes-xts-plain64/256", "aes-cbc-essiv:sha256/256",
		   "aes-cbc-essiv:sha256/128"}},
	/* One pass against two, a tag a sector, through one library; GCM and XTS also as the CPU
	   could. */
	{.name = "authenticated",
	 .engine = "cpu,openssl",
	 .sector_size = "512,4096",
	 .specs = {"aes-xts-plain64/512", "aes-gcm-random/128+aead", "aes-gcm-random/256+aead",
		   "chacha20-random/256+poly1305", "aes-xts-plain64/512+hmac-sha256",
		   "aes-cbc-essiv:sha256/256+hmac-sha256", "aes-cbc-essiv:sha256/256+hmac-sha1",
		   "rc4/128", "rc4/128+hmac-md5"}},
};

#define EXPERIMENTS (sizeof(experiments) / sizeof(experiments[0]))

static const struct experiment *find(const char *name)
{
	for (size_t i = 0; i < EXPERIMENTS; i++)
		if (!strcmp(experiments[i].name, name))
			return &experiments[i];
	return NULL;
}

static int unknown(const char *name, struct status *st)
{
	char names[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < EXPERIMENTS && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
					!i                     ? ""
					: i + 1 == EXPERIMENTS ? " and "
							       : ", ",
					experiments[i].name);
	return status_set(st, ST_USAGE, EINVAL, "--experiment: \"%s\" is none; %s are.", name,
			  names);
}

/* What stands on the command line stays. */
static void set(const char **option, const char *value)
{
	if (!*option)
		*option = value;
}

int bench_experiment(struct bench_options *o, char ***specs, int *n_specs, struct status *st)
{
	const struct experiment *e;

	if (!o->experiment)
		return 0;
	e = find(o->experiment);
	if (!e)
		return unknown(o->experiment, st);
	set(&o->engine, e->engine);
	set(&o->sector_size, e->sector_size);
	o->size_of_experiment = !o->size && e->size;
	set(&o->size, e->size);
	set(&o->shape, e->shape);
	/* What --engine may have left out has no paths, and no tiers. */
	if (o->engine && strstr(o->engine, "afalg"))
		set(&o->path, e->path);
	if (o->engine && strstr(o->engine, "cpu"))
		set(&o->tier, e->tier);
	if (*n_specs)
		return 0;
	while (*n_specs < SPECS_MAX && e->specs[*n_specs])
		++*n_specs;
	/* Only read; argv, which they take the place of, is not const either. */
	*specs = (char **)(uintptr_t)e->specs;
	return 0;
}

char *bench_experiment_words(const struct bench_options *o, char **specs, int n_specs)
{
	const struct {
		const char *name, *value;
	} words[] = {{"engine", o->engine}, {"sector-size", o->sector_size},
		     {"size", o->size},     {"tier", o->tier},
		     {"shape", o->shape},   {"path", o->path}};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fputs("bench", out);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].value)
			fprintf(out, " --%s %s", words[i].name, words[i].value);
	for (int i = 0; i < n_specs; i++)
		fprintf(out, " %s", specs[i]);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
