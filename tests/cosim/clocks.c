/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units' clocks rest while their units do not need them: random streams retire every
 * command in the same cycle, and leave the same bytes, as with clocks that never rest.
 * WEFT_SEED is the first seed, WEFT_N the count.
 */
#include <stdlib.h>

#include "compare_stream.h"

#define MAX_CMDS 4096

struct log {
	uint32_t n;
	struct weft_retire at[MAX_CMDS];
};

static int on_retire(void *user, const struct weft_retire *r)
{
	struct log *l = user;

	assert_true(l->n < MAX_CMDS);
	l->at[l->n++] = *r;
	return 0;
}

static weft_dev *chip(bool rest, enum weft_memory memory)
{
	return stream_device_with(WEFT_DEV_RTL, memory, "w16", !rest);
}

static void compare(uint64_t seed, weft_dev *const chips[2], struct log logs[2])
{
	struct random_stream s;
	uint8_t *out[2];

	random_stream_make(&s, seed, weft_config_find("w16"));
	for (int i = 0; i < 2; i++) {
		logs[i].n = 0;
		out[i] = calloc(1, s.n_arena);
		assert_non_null(out[i]);
		weft_dev_observe(chips[i], on_retire, &logs[i]);
		stream_run(seed, chips[i], i ? "rtl, clocks rest" : "rtl", &s, out[i]);
	}
	assert_int_equal(logs[0].n, s.n_cmds - 1);
	assert_int_equal(logs[1].n, logs[0].n);
	for (uint32_t i = 0; i < logs[0].n; i++) {
		const struct weft_retire *a = &logs[0].at[i], *b = &logs[1].at[i];
		if (a->cmd != b->cmd || a->cycle != b->cycle)
			fail_msg("seed %llu: command %zu retires in cycle %llu, with resting clocks %zu in %llu",
			         (unsigned long long)seed, a->cmd, (unsigned long long)a->cycle, b->cmd,
			         (unsigned long long)b->cycle);
	}
	assert_memory_equal(out[0], out[1], s.n_arena);
	free(out[0]);
	free(out[1]);
	random_stream_free(&s);
}

static void resting_clocks_change_nothing(void **state)
{
	static struct log logs[2];
	uint64_t first = test_seed(1);
	long n = test_count(15, 100, 1000);

	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	for (int m = 0; m < 2; m++) {
		enum weft_memory memory = m ? WEFT_MEMORY_DDR : WEFT_MEMORY_SRAM;
		weft_dev *const chips[2] = { chip(false, memory), chip(true, memory) };
		for (long i = m; i < n; i += 2)
			compare(first + (uint64_t)i, chips, logs);
		weft_dev_close(chips[0]);
		weft_dev_close(chips[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resting_clocks_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
