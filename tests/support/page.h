/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of docs/COVERAGE.md that tests make: text that grows, compared with the page or written to it. */
#ifndef WEFT_TESTS_PAGE_H
#define WEFT_TESTS_PAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/file.h"
#include "tests/support/level.h"

#define PAGE "docs/COVERAGE.md"

struct text { char *p; size_t n, cap; };

/* Appends to the text, which is the caller's to free. */
static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
	va_list ap;

	if (t->cap - t->n < 1024) {
		t->cap = 2 * t->cap + 4096;
		t->p = realloc(t->p, t->cap);
		assert_non_null(t->p);
	}
	va_start(ap, format);
	t->n += (size_t)vsnprintf(t->p + t->n, t->cap - t->n, format, ap);
	va_end(ap);
}

/* The page with this section's text between its marks, or NULL where the page has it already. */
static char *replaced(const char *page, const char *section, const struct text *t)
{
	char begin[64], end[64];

	snprintf(begin, sizeof begin, "<!-- %s: begin -->\n", section);
	snprintf(end, sizeof end, "<!-- %s: end -->", section);
	const char *from = strstr(page, begin), *to = from ? strstr(from, end) : NULL;
	if (!to)
		fail_msg(PAGE ": no section \"%s\"", section);
	from += strlen(begin);
	if ((size_t)(to - from) == t->n && !memcmp(from, t->p, t->n))
		return NULL;
	size_t head = (size_t)(from - page), tail = strlen(to);
	char *out = malloc(head + t->n + tail + 1);
	assert_non_null(out);
	memcpy(out, page, head);
	memcpy(out + head, t->p, t->n);
	memcpy(out + head + t->n, to, tail + 1);
	return out;
}

/* Fails where the page's section has another text; with WEFT_WRITE=1 it gets this one. `by` names the test that writes. */
static void judge_section(const char *section, const struct text *t, const char *by)
{
	char *page = test_file(PAGE, NULL);

	assert_non_null(page);
	char *fresh = replaced(page, section, t);
	if (fresh && !strcmp(test_env("WEFT_WRITE", ""), "1")) {
		FILE *f = fopen(PAGE, "w");
		assert_non_null(f);
		assert_int_equal(fputs(fresh, f) < 0, 0);
		assert_int_equal(fclose(f), 0);
	} else if (fresh) {
		fail_msg(PAGE ", section %s, is not what the recorded cases give: WEFT_WRITE=1 build/tests/%s writes it", section, by);
	}
	free(fresh);
	free(page);
}

#endif
