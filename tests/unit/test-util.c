// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "report/progress.h"
#include "tap.h"
#include "util/json.h"
#include "util/opt.h"
#include "util/sysfile.h"
#include "util/units.h"

static void test_json_strings(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain", "\"plain\""},
		{"caf\xc3\xa9", "\"caf\xc3\xa9\""},
		{"bad\xff!", "\"bad\xef\xbf\xbd!\""},
		{"cut\xe2\x82", "\"cut\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xf0\x9f\x94\x92", "\"\xf0\x9f\x94\x92\""},
	};
	struct json_object *obj;
	const char *got;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		obj = json_object_new_object();
		json_put_string(obj, "s", cases[i].in);
		got = json_object_to_json_string(json_object_object_get(obj, "s"));
		ok(!strcmp(got, cases[i].out), "string %zu is written as %s, wanted %s", i, got,
		   cases[i].out);
		json_object_put(obj);
	}
}

static void test_json_reals(void)
{
	struct json_object *obj = json_object_new_object();
	bool comma = setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
	const char *got;

	json_put_real(obj, "r", 0.5);
	got = json_object_to_json_string(json_object_object_get(obj, "r"));
	ok(!strcmp(got, "0.5000"), "0.5 is written as %s%s", got,
	   comma ? " where the locale has a comma" : "");
	json_put_real(obj, "n", 0.0 / 0.0);
	ok(!json_object_object_get(obj, "n"), "not-a-number is null");
	json_object_put(obj);
	setlocale(LC_NUMERIC, "C");
}

/* Lines each so many seconds, of a clock that is put back instead of waited for. */
static void test_progress_lines(void)
{
	FILE *out = stderr;
	struct progress p;
	char *text = NULL;
	size_t size;

	stderr = open_memstream(&text, &size);
	progress_every(10);
	progress_begin(&p, true);
	p.begun.tv_sec -= 60;
	p.last.tv_sec -= 60;
	progress_show(&p, 0.5, "under --quiet");
	progress_begin(&p, false);
	progress_show(&p, 0.1, "too early");
	p.begun.tv_sec -= 11;
	p.last.tv_sec -= 11;
	progress_show(&p, 0.25, "wiping");
	progress_show(&p, 0.3, "too early again");
	progress_show(&p, 1, "done");
	progress_show(&p, 1, "done twice");
	progress_end(&p);
	progress_every(0);
	fclose(stderr);
	stderr = out;
	ok(text && !strcmp(text, " 25 %  wiping\n100 %  done\n"), "progress as lines: %s", text);
	free(text);
}

struct options {
	bool flag;
	const char *text;
	uint64_t number;
	double real;
};

static const struct opt table[] = {
	{"overwrite", 0, OPT_FLAG, NULL, offsetof(struct options, flag), 0, 0, ""},
	{"text", 't', OPT_STRING, "T", offsetof(struct options, text), 0, 0, ""},
	{"number", 'n', OPT_UINT, "N", offsetof(struct options, number), 5, 10, ""},
	{"real", 0, OPT_REAL, "R", offsetof(struct options, real), 0, 1, ""},
	OPT_END};

static int parse(struct options *o, struct status *st, char **argv)
{
	struct opt_group group = {table, o};
	int argc = 0;

	memset(o, 0, sizeof(*o));
	while (argv[argc])
		argc++;
	return opt_parse(&group, 1, argc, argv, false, st);
}

#define ARGV(...) ((char *[]){(char *)"prog", __VA_ARGS__, NULL})

static void test_options(void)
{
	struct status st = {0};
	struct options o;
	int first;

	first = parse(&o, &st, ARGV("dev", "--overwrite", "--text=x", "-n", "7", "--real", "0.25"));
	ok(first == 7 && o.flag && !strcmp(o.text, "x") && o.number == 7 && o.real == 0.25,
	   "options and an operand in any order (operand at %d)", first);
	first = parse(&o, &st, ARGV("--text", "--overwrite", "dev"));
	ok(first == 3 && !o.flag && !strcmp(o.text, "--overwrite"),
	   "a value that looks like an option is a value");
	first = parse(&o, &st, ARGV("--", "--overwrite"));
	ok(first == 2 && !o.flag, "after -- there are only operands");

	static char *const bad[][3] = {
		{"--over", NULL},
		{"--number", "4"},
		{"--number", "11"},
		{"--number", "7x"},
		{"--number", "-7"},
		{"--number", ""},
		{"--number", "99999999999999999999999"},
		{"--real", "1.5"},
		{"--real", "."},
		{"--real", "0,5"},
		{"--overwrite=yes", NULL},
		{"--unknown", NULL},
		{"-x", NULL},
		{"--text", NULL},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&st, 0, sizeof(st));
		first = parse(&o, &st, ARGV(bad[i][0], bad[i][1]));
		ok(first == -EINVAL && st.code == ST_USAGE && st.message[0], "%s %s is refused: %s",
		   bad[i][0], bad[i][1] ? bad[i][1] : "", st.message);
	}
}

static void test_sysfile(void)
{
	char line[64], dir[] = "/tmp/dmct-util-XXXXXX", path[64];
	uint64_t value = 42;
	FILE *f;

	if (!mkdtemp(dir)) {
		tap_skip("no temporary directory: %s", strerror(errno));
		return;
	}
	snprintf(path, sizeof(path), "%s/n", dir);
	f = fopen(path, "w");
	fputs("18446744073709551615 \nsecond\n", f);
	fclose(f);
	ok(!sysfile_u64(dir, &value, "/n") && value == UINT64_MAX, "a 64-bit number is read whole");
	ok(sysfile_line(dir, line, 5, "/n") == -EOVERFLOW,
	   "a line longer than the buffer is not cut silently");
	ok(sysfile_line(dir, line, sizeof(line), "/n") == 20, "trailing blanks are left out");
	ok(sysfile_exists(dir, "/n") == 1 && !sysfile_exists(dir, "/m") &&
		   !sysfile_exists(dir, "/n/x"),
	   "existence");
	ok(sysfile_u64(dir, &value, "/m") == -ENOENT, "a missing file is ENOENT");
	f = fopen(path, "w");
	fputs("-1\n", f);
	fclose(f);
	value = 42;
	ok(sysfile_u64(dir, &value, "/n") == -EINVAL && value == 42,
	   "-1 is no unsigned number; the value is untouched");
	remove(path);
	remove(dir);
}

static void test_parse(void)
{
	static const struct {
		const char *text;
		double bytes; /* negative: refused */
	} sizes[] = {{"0", 0},
		     {"4096", 4096},
		     {"1K", 1024},
		     {"1.5M", 1572864},
		     {"512MiB", 512 << 20},
		     {"2G", 2147483648.0},
		     {".5K", 512},
		     {"1T", -1},
		     {"", -1},
		     {"K", -1},
		     {"-1", -1},
		     {"1 M", -1},
		     {"1,5M", -1},
		     {"1e3", -1},
		     {"0x10", -1},
		     {"1MB", -1}};
	double value;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int ret;

		value = -1;
		ret = units_parse_size(sizes[i].text, &value);
		ok(value == sizes[i].bytes && !ret == (sizes[i].bytes >= 0), "\"%s\": %.0f",
		   sizes[i].text, value);
	}
	ok(!units_parse_number("0.25", &value) && value == 0.25 &&
		   units_parse_number("0.25x", &value) && units_parse_number("1K", &value),
	   "a number has no unit");
}

static void test_units(void)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {{0, "0 bytes"},          {1023, "1023 bytes"},    {1024, "1 KiB"},
		     {67108864, "64 MiB"},    {1610612736, "1.5 GiB"}, {3298534883328, "3 TiB"},
		     {1048575, "1.0 MiB"},    {1048576, "1 MiB"},      {1073741823, "1.0 GiB"},
		     {UINT64_MAX, "16.0 EiB"}};
	static const struct {
		double speed;
		const char *text;
	} speeds[] = {{999499999, "999 MB/s"}, {999500000, "1.00 GB/s"}, {999999999, "1.00 GB/s"},
		      {1e9, "1.00 GB/s"},      {99949999, "99.9 MB/s"},  {99960000, "100 MB/s"},
		      {999949, "999.9 kB/s"},  {999999, "1.0 MB/s"},     {0, "0.0 kB/s"}};
	char buf[UNITS_MAX];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		ok(!strcmp(units_size(sizes[i].bytes, buf), sizes[i].text), "%s", buf);
	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++)
		ok(!strcmp(units_speed(speeds[i].speed, buf), speeds[i].text), "%.0f B/s: %s",
		   speeds[i].speed, buf);
	test_parse();
	ok(!strcmp(units_speed(1234567890, buf), "1.23 GB/s"), "%s", buf);
	ok(!strcmp(units_speed(98765432, buf), "98.8 MB/s"), "%s", buf);
	ok(!strcmp(units_speed(456e6, buf), "456 MB/s"), "%s", buf);
}

int main(void)
{
	test_units();
	test_json_strings();
	test_json_reals();
	test_progress_lines();
	test_options();
	test_sysfile();
	return tap_done();
}
