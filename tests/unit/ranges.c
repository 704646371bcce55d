/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of ranges against one flag per byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "../support/level.h"
#include "driver/ranges.h"

#define N 64

static void same(const struct weft_ranges *s, const bool *flag)
{
	bool seen[N + 1] = { false };
	uint64_t end = UINT64_MAX;

	for (size_t i = 0; i < s->n; i++) {
		assert_true(s->r[i].from < s->r[i].to && s->r[i].to <= N);
		assert_true(!i || s->r[i].from > end);     /* sorted, and a gap between */
		end = s->r[i].to;
		memset(seen + s->r[i].from, true, s->r[i].to - s->r[i].from);
	}
	assert_memory_equal(seen, flag, N);
}

static void first(const struct weft_ranges *s, const bool *flag, uint64_t from, uint64_t to)
{
	struct weft_range part;
	uint64_t at = from;

	while (at < to && !flag[at])
		at++;
	bool found = weft_ranges_first(s, from, to, &part);
	assert_int_equal(found, at < to);
	if (!found)
		return;
	assert_int_equal(part.from, at);
	while (at < to && flag[at])
		at++;
	assert_int_equal(part.to, at);
}

static void test_random(void **state)
{
	uint64_t x = test_seed(1);

	(void)state;
	for (long run = 0; run < test_count(200, 1000, 20000); run++) {
		struct weft_ranges s = { 0 };
		bool flag[N] = { false };
		for (int step = 0; step < 40; step++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			uint64_t from = (x >> 20) % (N + 1), to = (x >> 40) % (N + 1);
			bool add = x >> 63;
			assert_int_equal(add ? weft_ranges_add(&s, from, to) : weft_ranges_remove(&s, from, to), 0);
			if (from < to)
				memset(flag + from, add, to - from);
			same(&s, flag);
			first(&s, flag, (x >> 8) % N, (x >> 14) % (N + 1));
		}
		weft_ranges_clear(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
