// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/paragraph.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Bytes of the character at s, and its columns; control characters and broken sequences are one of
 * each, and *shown is then what stands in for them. */
static size_t next_character(const char *s, int *columns, const char **shown)
{
	mbstate_t state = {0};
	wchar_t wide;
	size_t n;

	n = mbrtowc(&wide, s, strlen(s), &state);
	*shown = s;
	if (n != 0 && n < (size_t)-2) {
		*columns = wcwidth(wide);
		if (*columns >= 0)
			return n;
	} else {
		n = 1;
	}
	*columns = 1;
	*shown = NULL;
	return n;
}

static int word_columns(const char *word, size_t len)
{
	int total = 0, columns;
	const char *shown;

	for (size_t i = 0, n; i < len; i += n) {
		n = next_character(word + i, &columns, &shown);
		total += columns;
	}
	return total;
}

static void print_word(FILE *out, const char *word, size_t len)
{
	const char *shown;
	int columns;

	for (size_t i = 0, n; i < len; i += n) {
		n = next_character(word + i, &columns, &shown);
		if (shown)
			fwrite(shown, 1, n, out);
		else
			fputc('?', out);
	}
}

void report_paragraph(FILE *out, int indent, const char *label, const char *format, ...)
{
	char *text = NULL;
	int column = indent, columns;
	va_list ap;
	size_t n;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text && *text) {
		fprintf(out, "%-*s", indent, label);
		for (const char *p = text; *p; p += n) {
			p += strspn(p, " ");
			n = strcspn(p, " ");
			columns = word_columns(p, n);
			if (column > indent && column + 1 + columns > REPORT_COLUMNS) {
				fprintf(out, "\n%*s", indent, "");
				column = indent;
			} else if (column > indent) {
				fputc(' ', out);
				column++;
			}
			print_word(out, p, n);
			column += columns;
		}
		fputc('\n', out);
	}
	free(text);
}
