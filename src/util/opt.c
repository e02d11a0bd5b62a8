// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/opt.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"

#define OPT_MAX      64
#define HELP_COLUMN  32
#define LONG_ONLY(i) (256 + (int)(i))

struct opt_set {
	const struct opt *opts[OPT_MAX];
	void *dests[OPT_MAX];
	const char *given[OPT_MAX]; /* the value so far, or NULL */
	size_t n;
	struct option longs[OPT_MAX + 1];
	char shorts[2 * OPT_MAX + 3];
};

static void opt_collect(struct opt_set *set, const struct opt_group *groups, size_t n,
			bool stop_at_operand)
{
	char *s = set->shorts;

	memset(set, 0, sizeof(*set));
	/* ':' makes getopt return ':' for a missing argument instead of printing something of its
	 * own. */
	if (stop_at_operand)
		*s++ = '+';
	*s++ = ':';
	for (size_t g = 0; g < n; g++) {
		for (const struct opt *o = groups[g].table; o->name && set->n < OPT_MAX; o++) {
			set->opts[set->n] = o;
			set->dests[set->n] = (char *)groups[g].dest + o->offset;
			if (groups[g].begun && o->kind == OPT_STRING)
				set->given[set->n] = *(const char *const *)set->dests[set->n];
			set->longs[set->n].name = o->name;
			set->longs[set->n].has_arg = o->kind == OPT_FLAG ? no_argument
									 : required_argument;
			set->longs[set->n].val = LONG_ONLY(set->n);
			set->n++;
			if (!o->letter)
				continue;
			*s++ = o->letter;
			if (o->kind != OPT_FLAG)
				*s++ = ':';
		}
	}
}

/* strtoull takes signs, blanks and "0x"; a number here is digits only. */
static int store_uint(const struct opt *o, uint64_t *dest, const char *arg, struct status *st)
{
	unsigned long long value;
	size_t digits = strspn(arg, "0123456789");

	errno = 0;
	value = strtoull(arg, NULL, 10);
	if (!digits || arg[digits] || errno || value < o->min || value > o->max)
		return status_set(st, ST_USAGE, EINVAL,
				  "--%s: \"%s\" is not a whole number from %" PRIu64 " to %" PRIu64
				  ".",
				  o->name, arg, o->min, o->max);
	*dest = value;
	return 0;
}

static int store_real(const struct opt *o, double *dest, const char *arg, struct status *st)
{
	double value = 0;

	if (units_parse_number(arg, &value) || value < (double)o->min || value > (double)o->max)
		return status_set(
			st, ST_USAGE, EINVAL,
			"--%s: \"%s\" is not a number from %" PRIu64 " to %" PRIu64 ", such as %g.",
			o->name, arg, o->min, o->max, (double)o->min + (o->max > o->min ? 0.5 : 0));
	*dest = value;
	return 0;
}

static int opt_store(const struct opt *o, void *dest, const char *arg, struct status *st)
{
	if (o->kind != OPT_FLAG && !*arg)
		return status_set(st, ST_USAGE, EINVAL, "--%s: the value is empty.", o->name);
	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)dest = true;
		return 0;
	case OPT_STRING:
		*(const char **)dest = arg;
		return 0;
	case OPT_UINT:
		return store_uint(o, dest, arg, st);
	case OPT_REAL:
		return store_real(o, dest, arg, st);
	}
	return -EINVAL;
}

/* Which of two values is meant cannot be told; the same one twice is one. */
static int check_again(const struct opt *o, const char *given, const char *arg, struct status *st)
{
	if (o->kind == OPT_FLAG || !given || !strcmp(given, arg))
		return 0;
	return status_set(st, ST_USAGE, EINVAL,
			  "--%s is given twice, as \"%s\" and as \"%s\"; give it once.", o->name,
			  given, arg);
}

/* The word of argv that getopt has just taken a long option from. */
static const char *long_word(char **argv, bool has_arg)
{
	const char *word = argv[optind - 1];

	return has_arg && optarg == word ? argv[optind - 2] : word;
}

static bool written_in_full(const char *word, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(word, "--", 2) && !strncmp(word + 2, name, len) &&
	       (!word[2 + len] || word[2 + len] == '=');
}

static int unknown_option(char **argv, struct status *st)
{
	const char *word = argv[optind - 1];

	if (optopt && optopt < 256)
		return status_set(st, ST_USAGE, EINVAL,
				  "Unknown option \"-%c\"; --help lists what there is.", optopt);
	if (optopt)
		return status_set(st, ST_USAGE, EINVAL, "%s: this option takes no value.", word);
	return status_set(st, ST_USAGE, EINVAL,
			  "Unknown option \"%s\"; --help lists what there is.", word);
}

int opt_parse(const struct opt_group *groups, size_t n, int argc, char **argv, bool stop_at_operand,
	      struct status *st)
{
	struct opt_set set;
	const char *word;
	size_t i;
	int c, ret;

	opt_collect(&set, groups, n, stop_at_operand);
	opterr = 0;
	optind = 0; /* glibc and musl: forget the state of an earlier parse */
	while ((c = getopt_long(argc, argv, set.shorts, set.longs, NULL)) != -1) {
		if (c == '?')
			return unknown_option(argv, st);
		if (c == ':')
			return status_set(st, ST_USAGE, EINVAL, "%s: a value is missing.",
					  argv[optind - 1]);
		for (i = 0; i < set.n; i++)
			if (c == LONG_ONLY(i) || (c < 256 && c == set.opts[i]->letter))
				break;
		if (i == set.n)
			return unknown_option(argv, st);
		word = c < 256 ? NULL : long_word(argv, set.opts[i]->kind != OPT_FLAG);
		if (word && !written_in_full(word, set.opts[i]->name))
			return status_set(st, ST_USAGE, EINVAL,
					  "Unknown option \"%s\"; did you mean --%s?", word,
					  set.opts[i]->name);
		ret = check_again(set.opts[i], set.given[i], optarg, st);
		if (!ret)
			ret = opt_store(set.opts[i], set.dests[i], optarg, st);
		if (ret < 0)
			return ret;
		set.given[i] = optarg;
	}
	return optind;
}

static void print_help_text(FILE *out, const char *help, int column)
{
	if (column >= HELP_COLUMN) {
		fputc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - column, "");
	for (; *help; help++) {
		fputc(*help, out);
		if (*help == '\n')
			fprintf(out, "%*s", HELP_COLUMN, "");
	}
	fputc('\n', out);
}

void opt_print(FILE *out, const struct opt *table)
{
	int column;

	for (const struct opt *o = table; o->name; o++) {
		if (o->letter)
			column = fprintf(out, "  -%c, --%s", o->letter, o->name);
		else
			column = fprintf(out, "      --%s", o->name);
		if (o->metavar)
			column += fprintf(out, " %s", o->metavar);
		print_help_text(out, o->help, column);
	}
}
