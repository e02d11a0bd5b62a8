// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/text.h"

size_t text_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* n: text_utf8() of it. A lone byte of 0x80 to 0x9f is one on an eight-bit terminal. */
static bool control(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;

	if (n <= 1)
		return s[0] < ' ' || s[0] == 0x7f || (!n && s[0] < 0xa0);
	return n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

size_t text_plain(const char *text)
{
	const size_t n = text_utf8(text);

	return control(text, n) ? 0 : n;
}

bool text_is_utf8(const char *text)
{
	for (size_t n; *text; text += n) {
		n = text_utf8(text);
		if (!n)
			return false;
	}
	return true;
}

const char *text_fault(const char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = text_utf8(text);
		if (!n)
			return "bytes that are not UTF-8";
		if (control(text, n))
			return "control characters";
	}
	return NULL;
}

void text_print(FILE *out, const char *text)
{
	size_t n, step;

	for (; *text; text += step) {
		n = text_utf8(text);
		step = n ? n : 1;
		if (!n || control(text, n))
			fputc('?', out);
		else
			fwrite(text, 1, step, out);
	}
}
