/* SPDX-License-Identifier: Apache-2.0 */
/* What the search remembers of placements: an outcome is found by all numbers of its key, and by no other key. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "userlib/compile/plan/plan.h"

#define KEYS 100

/* Makes *k the key of n numbers: i, i + 1 and so on, the last of them `last`. */
static void make_key(struct memo_key *k, int64_t i, int n, int64_t last)
{
	k->n = 0;
	for (int j = 0; j < n; j++)
		assert_int_equal(memo_put(k, j == n - 1 ? last : i + j), 0);
}

static void finds_what_was_added(void **state)
{
	struct memo *m = memo_new();
	struct memo_key k = { 0 };
	struct outcome o;

	(void)state;
	assert_non_null(m);
	for (int i = 0; i < KEYS; i++) {
		make_key(&k, i, 2 + i % 3, -i);
		assert_false(memo_find(m, &k, &o));
		assert_int_equal(memo_add(m, &k, &(struct outcome){ .cycles = 1000 + i, .emitted = i, .fits = i % 2 }), 0);
	}
	for (int i = 0; i < KEYS; i++) {
		make_key(&k, i, 2 + i % 3, -i);
		o = (struct outcome){ 0 };
		assert_true(memo_find(m, &k, &o));
		assert_int_equal(o.cycles, 1000 + i);
		assert_int_equal(o.emitted, i);
		assert_int_equal(o.fits, i % 2);
		/* another last number, one number more */
		make_key(&k, i, 2 + i % 3, -i - 1);
		assert_false(memo_find(m, &k, &o));
		make_key(&k, i, 3 + i % 3, -i);
		assert_false(memo_find(m, &k, &o));
		assert_int_equal(o.cycles, 1000 + i);
	}
	free(k.v);
	memo_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(finds_what_was_added) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
