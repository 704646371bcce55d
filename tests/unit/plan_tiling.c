/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tiling depends on the node, the request and the budget alone, not on the tiling that the plan had before: the
 * search plans a node again and again, in an order that differs from thread to thread.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "userlib/compile/plan/plan.h"

#define N 16
#define CHANNELS 64            /* of input and result */
#define SIDE 8                 /* pixels of a row, rows */

/* A convolution of 3x3 whose column tile of weights takes 9 x 64 x 16 bytes. */
static struct node convolution(void)
{
	struct view v = { .dim = { 1, SIDE, SIDE, CHANNELS }, .step = { SIDE * SIDE * CHANNELS, SIDE * CHANNELS, CHANNELS, 1 } };

	return (struct node){
		.kind = NODE_CONV, .x = v, .y = v, .win = { 3, 3, 1, 1, 1, 1, 1, 1 },
		.wt = { .w = 0, .n_tiles = CHANNELS / N, .tile_bytes = 9 * CHANNELS * N, .rec_bytes = WEFT_PARAM_BYTES * CHANNELS,
		        .run_len = CHANNELS, .n_runs = 9, .chunks = CHANNELS / N },
	};
}

/* Plans the convolution within `budget` bytes, all operands in memory, in a plan whose tiling was this before. */
static struct tiling planned(int64_t budget, struct tiling before)
{
	const struct weft_config *cfg = weft_config_find("w16");
	const struct cc cc = { .cfg = cfg, .n = N, .sp_bytes = cfg->sp_bytes };
	struct node nd = convolution();
	struct plan p = { .req.r_resident = true, .tile = before };

	assert_int_equal(plan_node(&cc, &nd, &p, budget), 0);
	return p.tile;
}

/* Tilings whose weights come in the three ways, planned afresh and after each of the others. */
static void no_memory_of_the_last(void **state)
{
	static const int64_t budget[] = { 64 << 10, 24 << 10, 6 << 10 };
	struct tiling fresh[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		fresh[i] = planned(budget[i], (struct tiling){ 0 });
	assert_true(fresh[0].all_weights);
	assert_false(fresh[1].all_weights || fresh[1].split_k);
	assert_true(fresh[1].by_channel);
	assert_true(fresh[2].split_k);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++) {
			struct tiling again = planned(budget[i], fresh[k]);
			assert_memory_equal(&again, &fresh[i], sizeof again);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory_of_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
