/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every message of weft diag has a section in docs/bringup.md, and every section a
 * message; the guide begins with a board that does not enumerate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/diag.h>

static char *read_page(void)
{
	FILE *f = fopen("docs/bringup.md", "rb");
	char *text = calloc(1, 1 << 18);

	assert_non_null(f);
	assert_non_null(text);
	assert_in_range(fread(text, 1, (1 << 18) - 1, f), 1000, (1 << 18) - 2);
	fclose(f);
	return text;
}

static void test_each_has_one(void **state)
{
	size_t n;
	const struct weft_diag_message *m = weft_diag_messages(&n);
	char *page = read_page();

	(void)state;
	assert_true(n > 20);
	for (size_t i = 0; i < n; i++) {
		char head[64];
		snprintf(head, sizeof(head), "\n### %s\n\n", m[i].id);
		const char *at = strstr(page, head);
		if (!at)
			fail_msg("docs/bringup.md has no section %s", m[i].id);
		if (strchr("\n#", at[strlen(head)]))
			fail_msg("section %s is empty", m[i].id);
		assert_null(strstr(at + 1, head));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(m[i].id, m[k].id);
	}
	free(page);
}

static void test_nothing_else(void **state)
{
	size_t n;
	const struct weft_diag_message *m = weft_diag_messages(&n);
	char *page = read_page();

	(void)state;
	for (char *p = page; (p = strstr(p, "\n### DIAG-")); p++) {
		size_t len = strcspn(p + 5, "\n"), i = 0;
		while (i < n && (strlen(m[i].id) != len || strncmp(m[i].id, p + 5, len)))
			i++;
		if (i == n)
			fail_msg("docs/bringup.md explains %.*s, which nothing says", (int)len, p + 5);
	}
	const char *first = strstr(page, "\n## ");
	assert_non_null(first);
	assert_true(!strncmp(first, "\n## The board does not enumerate\n", 33));
	free(page);
}

/* The list is the order in which tests run, and names find their tests. */
static void test_names(void **state)
{
	(void)state;
	assert_string_equal(weft_diag_name(0), "identify");
	for (size_t i = 0; i < weft_diag_count(); i++) {
		assert_int_equal(weft_diag_find(weft_diag_name(i)), i);
		assert_true(strlen(weft_diag_brief(i)) > 10);
	}
	assert_int_equal(weft_diag_find("nothing"), -1);
	assert_null(weft_diag_name(weft_diag_count()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_has_one), cmocka_unit_test(test_nothing_else), cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
