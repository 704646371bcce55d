/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tiling depends on the node, the request and the budget alone, not on the tiling that the plan had before: the
 * search plans a node again and again, in an order that differs from thread to thread. Where all weights come anew for
 * each tile of pixels, tiles are large and fill the array's groups of rows. And where column tiles are paired, no range of
 * channels and no load of weights takes one apart from its other, but for one that is left over at the end.
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
		.wt = { .w = 0, .n_tiles = CHANNELS / N, .tile_bytes = 9 * CHANNELS * N, .tile_rec_bytes = WEFT_PARAM_BYTES * N, .rec_bytes = WEFT_PARAM_BYTES * CHANNELS,
		        .run_len = CHANNELS, .n_runs = 9, .chunks = CHANNELS / N },
	};
}

/* Plans this node within `budget` bytes, all operands in memory, in a plan whose tiling was this before. */
static struct tiling planned(struct node nd, int64_t budget, struct tiling before)
{
	const struct weft_config *cfg = weft_config_find("w16");
	const struct cc cc = { .cfg = cfg, .n = N, .sp_bytes = cfg->sp_bytes };
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
		fresh[i] = planned(convolution(), budget[i], (struct tiling){ 0 });
	assert_true(fresh[0].all_weights);
	assert_false(fresh[1].all_weights || fresh[1].split_k);
	assert_true(fresh[1].by_channel);
	assert_true(fresh[2].split_k);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++) {
			struct tiling again = planned(convolution(), budget[i], fresh[k]);
			assert_memory_equal(&again, &fresh[i], sizeof again);
		}
}

#define LONG_ROW  196          /* pixels of a map of 14x14 as one row: 13 groups of N, the last with 4 */
#define MANY      4096         /* channels of input and result */

/* A convolution of 1x1 with a long row of pixels, whose weights take 16 MiB. */
static struct node large_weights(void)
{
	struct view v = { .dim = { 1, 1, LONG_ROW, MANY }, .step = { LONG_ROW * MANY, LONG_ROW * MANY, MANY, 1 } };

	return (struct node){
		.kind = NODE_CONV, .x = v, .y = v, .win = { 1, 1, 1, 1, 1, 1, 0, 0 },
		.wt = { .w = 0, .n_tiles = MANY / N, .tile_bytes = MANY * N, .tile_rec_bytes = WEFT_PARAM_BYTES * N, .rec_bytes = WEFT_PARAM_BYTES * MANY,
		        .run_len = MANY, .n_runs = 1, .chunks = MANY / N },
	};
}

/*
 * Three tiles of 80, 80 and 36 pixels take 13 groups of rows, the fewest that there can be. In half a megabyte there is no room
 * for two slots of 80 pixels beside the weights.
 */
static void few_tiles_of_whole_groups(void **state)
{
	struct tiling t = planned(large_weights(), 512 << 10, (struct tiling){ 0 });

	(void)state;
	assert_false(t.all_weights || t.split_k || t.by_channel);
	assert_int_equal(t.tw, 80);
	assert_true(t.one_input);
	assert_int_equal(t.n_in, 1);
	assert_int_equal(t.n_w, 2);
}

/* The 3x3 convolution with paired column tiles, an odd number of them if `odd` is set. */
static struct node paired(bool odd)
{
	struct node nd = convolution();

	nd.y.dim[3] += odd ? N : 0;
	nd.wt.n_tiles += odd;
	nd.wt.rec_bytes = nd.wt.n_tiles * WEFT_PARAM_BYTES * N;
	nd.wt.paired = true;
	return nd;
}

/* Whatever the way in which weights come; also for cuts into ranges of channels, and for loads of a few tiles each. */
static void pairs_stay_together(void **state)
{
	static const int64_t budget[] = { 96 << 10, 48 << 10, 24 << 10, 8 << 10 };
	const struct weft_config *cfg = weft_config_find("w16");
	const struct cc cc = { .cfg = cfg, .n = N, .sp_bytes = cfg->sp_bytes };
	int split_k = 0;

	(void)state;
	for (int k = 0; k < 8; k++) {
		struct node nd = paired(k % 2);
		struct tiling t = planned(nd, budget[k / 2], (struct tiling){ 0 });
		assert_true(t.tc % (2 * N) == 0 || t.tc == nd.y.dim[3]);
		assert_true(!t.split_k || t.tw <= N / 2);
		split_k += t.split_k;
		struct plan p = { .tile = { .can_split = true } };
		for (int n = 2; n <= 4; n++) {
			plan_split(&cc, &nd, &p, -n);
			assert_true(p.tile.tc % (2 * N) == 0 || p.tile.tc == nd.y.dim[3]);
		}
	}
	assert_true(split_k > 0);

	/* One pixel, all on chip, and loads above all: pieces, which get smaller in the last node. */
	for (int k = 0; k < 4; k++) {
		struct view v = { .dim = { 1, 1, 1, 640 }, .step = { 640, 640, 640, 1 } };
		struct node nd = { .kind = NODE_CONV, .x = v, .y = v, .win = { 1, 1, 1, 1, 1, 1, 0, 0 },
			.wt = { .w = 0, .n_tiles = 40 + k % 2, .tile_bytes = 640 * N, .tile_rec_bytes = WEFT_PARAM_BYTES * N, .rec_bytes = (40 + k % 2) * WEFT_PARAM_BYTES * N,
			        .run_len = 640, .n_runs = 1, .chunks = 40, .paired = true } };
		struct plan p = { .req = { .x_resident = true, .r_resident = true, .y_resident = true, .only_loads = true, .behind = k / 2 } };
		nd.y.dim[3] = nd.wt.n_tiles * N;
		assert_int_equal(plan_node(&cc, &nd, &p, 512 << 10), 0);
		assert_true(p.tile.all_weights && p.tile.piece < nd.wt.n_tiles);
		for (int64_t t = 0; t < nd.wt.n_tiles; ) {
			struct piece one = plan_piece(&p, &nd, t);
			assert_int_equal(one.first, t);
			assert_true(one.n > 0 && (one.n % 2 == 0 || t + one.n == nd.wt.n_tiles));
			t += one.n;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory_of_the_last), cmocka_unit_test(few_tiles_of_whole_groups), cmocka_unit_test(pairs_stay_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
