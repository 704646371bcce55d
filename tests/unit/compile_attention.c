/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What attention and layer normalisation are made of: products of matrices whose second one is a TRANSPOSE, means over
 * channels, differences and products with one number for each row, RESCALEs behind each other. Every element comes from the device,
 * and none differs from golden's.
 */
#include "tests/unit/compile_run.h"

static const char *const configs[] = { "w16", "w8" };

/* A constant of one element of so many bytes. */
static int constant(weft_graph *g, weft_dtype t, const void *v, size_t bytes)
{
	void *p = malloc(bytes);

	assert_non_null(p);
	memcpy(p, v, bytes);
	return weft_graph_const(g, "c", t, 1, DIMS(1), p);
}

/* Adds an operator of n operands and returns its result. */
static int step(weft_graph *g, weft_opcode op, const weft_attr *a, const int *x, int n, weft_dtype type, int rank, const int64_t *dim, bool output)
{
	int y = run_tensor(g, type, rank, dim, false, output);

	assert_true(weft_graph_op(g, op, a, -1, x, n, &y, 1) >= 0);
	return y;
}

struct scale { int32_t mul; int8_t shift; weft_rounding rounding; int x_zp, y_zp; };

static int rescale(weft_graph *g, int x, struct scale s, weft_dtype type, bool output)
{
	const weft_attr a = { .rescale = { .scale32 = true, .rounding = s.rounding, .x_zp = s.x_zp, .y_zp = s.y_zp } };
	const weft_tensor t = g->tensors[x].t;
	const int in[] = { x, constant(g, WEFT_INT32, &s.mul, sizeof s.mul), constant(g, WEFT_INT8, &s.shift, sizeof s.shift) };

	return step(g, WEFT_OP_RESCALE, &a, in, 3, type, t.rank, t.dim, output);
}

/* Widens int8 and subtracts its zero point. */
static int widen(weft_graph *g, int x, int zp)
{
	return rescale(g, x, (struct scale){ 1 << 30, 30, WEFT_SINGLE_ROUND, zp, 0 }, WEFT_INT32, false);
}

/* Runs the graph with random inputs. The device must make `elements` elements that are compared. */
static void run(weft_graph *g, const char *config, uint64_t elements, const char *what)
{
	struct weft_compile_options o = { .config = config };
	char msg[WEFT_MSG] = "", name[120];

	snprintf(name, sizeof name, "%s on %s", what, config);
	if (weft_graph_check(g, msg))
		fail_msg("%s: %s", name, msg);
	weft_tensor *in = make_inputs(g, 5);
	uint64_t made = compile_run(g, &o, in, name);
	if (made != elements)
		fail_msg("%s: the device made %llu elements, not %llu", name, (unsigned long long)made, (unsigned long long)elements);
	free_inputs(g, in);
	weft_graph_free(g);
}

/*
 * Products of queries and keys of several heads. The keys come as [tokens, heads, depth] and are turned to [heads, depth, tokens] (turned),
 * or only to [heads, tokens, depth], in which case they are the second matrices of a product of [depth, tokens] with them.
 */
static void product(const char *config, bool turned, int64_t tokens, int64_t heads, int64_t depth)
{
	weft_graph *g = weft_graph_new("product");
	const int64_t rows = 9, k = turned ? depth : tokens, n = turned ? tokens : depth;
	const weft_attr perm = turned ? (weft_attr){ .perm = { { 0, 2, 3, 1 } } } : (weft_attr){ .perm = { { 0, 2, 1, 3 } } };
	int q = run_tensor(g, WEFT_INT8, 3, DIMS(heads, rows, k), true, false), x = run_tensor(g, WEFT_INT8, 4, DIMS(1, tokens, heads, depth), true, false);
	int t = step(g, WEFT_OP_TRANSPOSE, &perm, &x, 1, WEFT_INT8, 4, DIMS(1, heads, k, n), false);
	int b = step(g, WEFT_OP_RESHAPE, NULL, &t, 1, WEFT_INT8, 3, DIMS(heads, k, n), false);
	const weft_attr zp = { .matmul = { .a_zp = 3, .b_zp = -7 } };
	int y = step(g, WEFT_OP_MATMUL, &zp, (int[]){ q, b }, 2, WEFT_INT32, 3, DIMS(heads, rows, n), false);

	rescale(g, y, (struct scale){ 1 << 30, 40, WEFT_DOUBLE_ROUND, 0, 5 }, WEFT_INT8, true);
	run(g, config, (uint64_t)(heads * rows * n), turned ? "queries by keys" : "weights by values");
}

static void products(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof configs / sizeof *configs; k++)
		for (int turned = 0; turned < 2; turned++) {
			product(configs[k], turned, 37, 3, 24);
			product(configs[k], turned, 32, 2, 16);
			product(configs[k], turned, 5, 1, 33);
		}
}

/* A mean over channels, on devices without an alu as well; of so many that their weights have no room, with one. */
static void means(void **state)
{
	static const char *const all[] = { "w16", "w8", "w8b", "w4" };
	static const int64_t channels[] = { 1, 3, 16, 50, 384, 40000 };

	(void)state;
	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		for (size_t i = 0; i < sizeof channels / sizeof *channels - (k > 1); i++) {
			weft_graph *g = weft_graph_new("mean");
			int x = run_tensor(g, WEFT_INT8, 3, DIMS(1, 21, channels[i]), true, false), wide = widen(g, x, -128);
			const weft_attr last = { .axis = { .axis = 2 } };
			int sum = step(g, WEFT_OP_REDUCE_SUM, &last, &wide, 1, WEFT_INT32, 3, DIMS(1, 21, 1), false);

			rescale(g, sum, (struct scale){ (int32_t)((INT64_C(1) << 36) / (channels[i] + 33)), 36, WEFT_DOUBLE_ROUND, 0, -100 }, WEFT_INT8, true);
			run(g, all[k], 21, "mean over channels");
		}
}

/*
 * All codes shifted left and then scaled, as one step where that has the same bits: not with shifts above 31 that round twice, not if no bit
 * would be left to shift right by, nor if an int16 would not fit when it is shifted.
 */
static void scaled_twice(void **state)
{
	static const struct { int left; int8_t shift; weft_rounding rounding; bool once; } all[] = {
		{ 7, 31, WEFT_SINGLE_ROUND, true }, { 7, 31, WEFT_DOUBLE_ROUND, true }, { 7, 33, WEFT_DOUBLE_ROUND, false }, { 7, 40, WEFT_SINGLE_ROUND, true },
		{ 0, 36, WEFT_DOUBLE_ROUND, true }, { 14, 15, WEFT_SINGLE_ROUND, true }, { 14, 14, WEFT_SINGLE_ROUND, false }, { 20, 40, WEFT_SINGLE_ROUND, false },
	};

	(void)state;
	for (size_t k = 0; k < sizeof configs / sizeof *configs; k++)
		for (size_t i = 0; i < sizeof all / sizeof *all; i++)
			for (int32_t mul = 1 << 30; mul < INT32_MAX - 300000000; mul += 200000001) {
				weft_graph *g = weft_graph_new("twice");
				int x = run_tensor(g, WEFT_INT8, 2, DIMS(4, 300), true, false);
				int left = rescale(g, x, (struct scale){ 1 << 30, (int8_t)(30 - all[i].left), WEFT_SINGLE_ROUND, -3, 0 }, WEFT_INT32, false);

				rescale(g, left, (struct scale){ mul, all[i].shift, all[i].rounding, 0, 0 }, WEFT_INT32, true);
				run(g, configs[k], all[i].once ? 1200 : 2400, "scaled twice");
			}
}

/*
 * (x - m)^2, as layer normalisation begins, and x times f, m and f being one number for each row. The differences are
 * written over what they are made of, and their squares over them. Large ones are computed part by part (parts).
 */
static void rows(const char *config, int64_t n, int64_t width, bool parts)
{
	weft_graph *g = weft_graph_new("rows");
	const struct scale up = { 1 << 30, 23, WEFT_SINGLE_ROUND, 4, 0 }, half = { 1 << 30, 31, WEFT_DOUBLE_ROUND, 0, 0 }, down = { 1100000000, 38, WEFT_DOUBLE_ROUND, 0, -128 };
	int x = run_tensor(g, WEFT_INT8, 3, DIMS(1, n, width), true, false), m = run_tensor(g, WEFT_INT8, 3, DIMS(1, n, 1), true, false);
	int a = rescale(g, rescale(g, x, up, WEFT_INT32, false), half, WEFT_INT32, false), b = rescale(g, rescale(g, m, up, WEFT_INT32, false), half, WEFT_INT32, false);
	int d = step(g, WEFT_OP_SUB, NULL, (int[]){ a, b }, 2, WEFT_INT32, 3, DIMS(1, n, width), false);
	const weft_attr no_shift = { .mul = { .shift = 0 } };
	int square = step(g, WEFT_OP_MUL, &no_shift, (int[]){ d, d }, 2, WEFT_INT32, 3, DIMS(1, n, width), false);

	rescale(g, square, down, WEFT_INT8, true);
	int product = step(g, WEFT_OP_MUL, &no_shift, (int[]){ widen(g, m, 9), widen(g, x, -5) }, 2, WEFT_INT32, 3, DIMS(1, n, width), false);
	rescale(g, product, down, WEFT_INT8, true);
	/* What is made of m and both results; and if not part by part, what is made of x, the differences, the squares and the products. */
	run(g, config, (uint64_t)((parts ? 2 : 6) * n * width + n), "differences and products by rows");
}

/* (9 - x) (3 + z), part by part, the constants in front; also of rows of one element. */
static void constants_first(void **state)
{
	static const int32_t nine = 9, three = 3;
	static const int64_t shapes[][2] = { { 300, 200 }, { 60000, 1 } };

	(void)state;
	for (size_t k = 0; k < sizeof configs / sizeof *configs; k++)
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
			weft_graph *g = weft_graph_new("constants");
			const int64_t n = shapes[i][0], width = shapes[i][1];
			const weft_attr no_shift = { .mul = { .shift = 0 } };
			int x = run_tensor(g, WEFT_INT8, 3, DIMS(1, n, width), true, false), z = run_tensor(g, WEFT_INT8, 3, DIMS(1, n, width), true, false), in[2];
			for (int c = 0; c < 2; c++) {
				void *p = malloc(sizeof nine);
				assert_non_null(p);
				memcpy(p, c ? &three : &nine, sizeof nine);
				in[c] = weft_graph_const(g, "c", WEFT_INT32, 3, DIMS(1, 1, 1), p);
			}
			int d = step(g, WEFT_OP_SUB, NULL, (int[]){ in[0], widen(g, x, -4) }, 2, WEFT_INT32, 3, DIMS(1, n, width), false);
			int s = step(g, WEFT_OP_ADD, NULL, (int[]){ in[1], widen(g, z, 7) }, 2, WEFT_INT32, 3, DIMS(1, n, width), false);
			int y = step(g, WEFT_OP_MUL, &no_shift, (int[]){ d, s }, 2, WEFT_INT32, 3, DIMS(1, n, width), false);

			rescale(g, y, (struct scale){ 1200000000, 34, WEFT_DOUBLE_ROUND, 0, 3 }, WEFT_INT8, true);
			run(g, configs[k], (uint64_t)(n * width), "constants first");
		}
}

static void by_rows(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof configs / sizeof *configs; k++) {
		rows(configs[k], 13, 40, false);
		rows(configs[k], 1, 300, false);
		rows(configs[k], 197, 250, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(products), cmocka_unit_test(means), cmocka_unit_test(scaled_twice), cmocka_unit_test(by_rows),
	                                    cmocka_unit_test(constants_first) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
