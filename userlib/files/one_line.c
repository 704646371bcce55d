/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others chose (names of files, of tensors) within a line for people. */
#include <weft/file.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * Returns the number of bytes (1 to 4) of the UTF-8 character at p if it may be printed as it is. Returns
 * 0 if the first byte is a control character (below 0x20, 0x7f, or the start of one of U+0080..U+009F) or
 * a zero byte, if the bytes are no UTF-8 sequence, or if it is one of the marks U+202A..U+202E and
 * U+2066..U+2069, which turn the direction of what follows. p ends with a zero byte. Sequences that are
 * longer than needed are not detected.
 */
static size_t plain(const unsigned char *p)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

	if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* The marks that turn the direction of what follows: U+202A..U+202E, U+2066..U+2069. */
	if (*p == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)))
		return 0;
	return n;
}

void weft_one_line(char *text, size_t len)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; ) {
		size_t k = plain((const unsigned char *)text + i);
		char escape[5];
		if (k) {
			i += k;
			continue;
		}
		snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)text[i]);
		if (n + 4 > len) {        /* three more bytes and the zero do not fit: the text ends here */
			text[i] = '\0';
			return;
		}
		memmove(text + i + 4, text + i + 1, n - i);
		memcpy(text + i, escape, 4);
		n += 3;
		i += 4;
	}
}
