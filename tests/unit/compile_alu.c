/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements at the limits of a command and of the scratchpad: long dimensions,
 * primes beyond 16 bits, tables that do not fit, high ranks. What cannot be
 * expressed goes to the host; nothing may differ from golden.
 */
#include "tests/unit/compile_run.h"

#define SHAPE(...) (int64_t[]){ __VA_ARGS__ }, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

struct shape { weft_dtype type; const int64_t *dim; int rank; };

/* One operator of up to two inputs; values below `top`. Returns elements that the device made. */
static uint64_t one(weft_opcode op, const weft_attr *a, struct shape x, struct shape x2, struct shape y, int64_t top,
                    const char *config)
{
	weft_graph *g = weft_graph_new("one");
	int in[2], n = x2.dim ? 2 : 1, out;
	struct weft_compile_options o = { .config = config, .of_model = true };
	weft_tensor data[2];
	uint64_t seed = 5;
	char what[64];

	in[0] = run_tensor(g, x.type, x.rank, x.dim, true, false);
	in[1] = n == 2 ? run_tensor(g, x2.type, x2.rank, x2.dim, true, false) : -1;
	out = run_tensor(g, y.type, y.rank, y.dim, false, true);
	int src = weft_graph_src(g, 0, weft_op_name(op));
	assert_int_equal(weft_graph_op(g, op, a, src, in, n, &out, 1), 0);
	for (int k = 0; k < n; k++) {
		data[k] = g->tensors[in[k]].t;
		data[k].data = calloc(1, weft_tensor_bytes(&data[k]));
		size_t size = weft_dtype_bytes(data[k].dtype);
		for (int64_t i = 0; i < weft_tensor_elements(&data[k]); i++) {
			int64_t v = (int64_t)(test_random(&seed) % (uint64_t)top) - (k ? 0 : data[k].dtype == WEFT_BOOL ? 0 : top / 3);
			memcpy((char *)data[k].data + (size_t)i * size, &v, size);
		}
	}
	snprintf(what, sizeof what, "%s on %s", weft_op_name(op), config);
	uint64_t made = compile_run(g, &o, data, what);
	for (int k = 0; k < n; k++)
		free(data[k].data);
	weft_graph_free(g);
	return made;
}

static struct shape shape(weft_dtype type, const int64_t *dim, int rank)
{
	return (struct shape){ type, dim, rank };
}

static const struct shape none = { 0 };
static const char *const configs[] = { "w16", "w8" };

static void long_dimensions(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		weft_attr swap = { .perm = { { 1, 0 } } }, flip = { .axis = { 0 } };
		assert_int_equal(one(WEFT_OP_ADD, NULL, shape(WEFT_INT32, SHAPE(65537)), shape(WEFT_INT32, SHAPE(1)),
		                     shape(WEFT_INT32, SHAPE(65537)), 1 << 20, configs[k]), 65537);
		assert_int_equal(one(WEFT_OP_REVERSE, &flip, shape(WEFT_INT8, SHAPE(300007)), none, shape(WEFT_INT8, SHAPE(300007)), 100,
		                     configs[k]), 300007);
		assert_int_equal(one(WEFT_OP_TRANSPOSE, &swap, shape(WEFT_INT16, SHAPE(70001, 3)), none,
		                     shape(WEFT_INT16, SHAPE(3, 70001)), 100, configs[k]), 3 * 70001);
		assert_int_equal(one(WEFT_OP_TRANSPOSE, &swap, shape(WEFT_INT8, SHAPE(3, 140002)), none,
		                     shape(WEFT_INT8, SHAPE(140002, 3)), 100, configs[k]), 3 * 140002);
	}
}

/* Matrices that the array turns: small ones, few long rows, and such as leave columns over. */
static void turned_matrices(void **state)
{
	static const struct { int64_t n, rows, columns; } all[] = {
		{ 40, 2, 24 }, { 33, 3, 58 }, { 1, 3, 61 }, { 1, 3, 1021 }, { 1, 2, 4096 }, { 200, 4, 7 }, { 1, 14, 331 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof all / sizeof *all; i++) {
		int64_t n = all[i / 2].n, rows = all[i / 2].rows, columns = all[i / 2].columns;
		weft_dtype type = i % 2 ? WEFT_INT16 : WEFT_INT8;
		weft_attr perm = { .perm = { { 0, 2, 1 } } };

		for (int k = 0; k < 2; k++)
			assert_int_equal(one(WEFT_OP_TRANSPOSE, &perm, shape(type, SHAPE(n, rows, columns)), none,
			                     shape(type, SHAPE(n, columns, rows)), 200, configs[k]), n * rows * columns);
	}
}

/*
 * The host computes FLOOR and QUANTIZE, and the array transposes their result in two parts. Both parts have to wait for the host.
 */
static void turned_behind_host(void **state)
{
	const int64_t x_dim[] = { 3, 61 }, y_dim[] = { 61, 3 };
	const weft_attr to = { .quant = { .y_scale = 0.01f } }, swap = { .perm = { { 1, 0 } } };
	weft_graph *g = weft_graph_new("turned");
	struct weft_compile_options o = { .config = "w16", .of_model = true };
	const int src = weft_graph_src(g, 0, "TRANSPOSE");
	int t[] = { run_tensor(g, WEFT_FP32, 2, x_dim, true, false), run_tensor(g, WEFT_FP32, 2, x_dim, false, false),
	            run_tensor(g, WEFT_INT8, 2, x_dim, false, false), run_tensor(g, WEFT_INT8, 2, y_dim, false, true) };
	weft_tensor *in = make_inputs(g, 3);

	(void)state;
	assert_true(weft_graph_op(g, WEFT_OP_FLOOR, NULL, src, &t[0], 1, &t[1], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_TFL_QUANTIZE, &to, src, &t[1], 1, &t[2], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_TRANSPOSE, &swap, src, &t[2], 1, &t[3], 1) >= 0);
	assert_int_equal(compile_run(g, &o, in, "turned behind the host"), 3 * 61);
	free_inputs(g, in);
	weft_graph_free(g);
}

static void folds(void **state)
{
	weft_attr first = { .axis = { 0 } }, last = { .axis = { 1 } };

	(void)state;
	for (int k = 0; k < 2; k++) {
		assert_int_equal(one(WEFT_OP_REDUCE_MAX, &first, shape(WEFT_INT8, SHAPE(65535, 5)), none, shape(WEFT_INT8, SHAPE(1, 5)),
		                     100, configs[k]), 5);
		assert_int_equal(one(WEFT_OP_REDUCE_SUM, &last, shape(WEFT_INT32, SHAPE(5, 20011)), none, shape(WEFT_INT32, SHAPE(5, 1)),
		                     1 << 30, configs[k]), 5);
		/* Longer than a command counts: the host's. */
		assert_int_equal(one(WEFT_OP_REDUCE_SUM, &last, shape(WEFT_INT32, SHAPE(2, 65536)), none, shape(WEFT_INT32, SHAPE(2, 1)),
		                     1 << 30, configs[k]), 0);
		assert_int_equal(one(WEFT_OP_ARGMAX, &last, shape(WEFT_INT8, SHAPE(3, 65535)), none, shape(WEFT_INT32, SHAPE(3)), 100,
		                     configs[k]), 3);
	}
}

static void indices(void **state)
{
	(void)state;
	for (int k = 0; k < (test_in_part() ? 1 : 2); k++) {
		assert_int_equal(one(WEFT_OP_GATHER, NULL, shape(WEFT_INT8, SHAPE(2, 5000, 90)), shape(WEFT_INT32, SHAPE(2, 700)),
		                     shape(WEFT_INT8, SHAPE(2, 700, 90)), 5000, configs[k]), 2 * 700 * 90);
		/* One column of the table is more than the scratchpad. */
		assert_int_equal(one(WEFT_OP_GATHER, NULL, shape(WEFT_INT32, SHAPE(1, 200000, 1)), shape(WEFT_INT32, SHAPE(1, 9)),
		                     shape(WEFT_INT32, SHAPE(1, 9, 1)), 200000, configs[k]), 0);
		assert_int_equal(one(WEFT_OP_GATHER, NULL, shape(WEFT_INT16, SHAPE(1, 40, 3)), shape(WEFT_INT32, SHAPE(1, 90001)),
		                     shape(WEFT_INT16, SHAPE(1, 90001, 3)), 40, configs[k]), 3 * 90001);
	}
}

/* Rows of a constant table that the scratchpad does not hold: columns that do and do not fill the last strip. */
static void constant_tables(void **state)
{
	static const struct { weft_dtype type; int64_t n, rows, columns, indices; } all[] = {
		{ WEFT_INT8, 1, 8192, 512, 1 }, { WEFT_INT16, 2, 3001, 83, 7 }, { WEFT_INT32, 1, 9000, 21, 300 }, { WEFT_INT8, 3, 20000, 5, 2 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof all / sizeof *all; i++) {
		int64_t n = all[i / 2].n, rows = all[i / 2].rows, columns = all[i / 2].columns, indices = all[i / 2].indices;
		weft_graph *g = weft_graph_new("table");
		struct weft_compile_options o = { .config = configs[i % 2], .of_model = true };
		size_t bytes = (size_t)(n * rows * columns) * weft_dtype_bytes(all[i / 2].type);
		char *table = malloc(bytes);
		int32_t *index = calloc((size_t)(n * indices), sizeof *index);
		uint64_t seed = i;

		assert_true(g && table && index);
		for (size_t k = 0; k < bytes; k++)
			table[k] = (char)test_random(&seed);
		for (int64_t k = 0; k < n * indices; k++)
			index[k] = k ? (int32_t)(test_random(&seed) % (uint64_t)rows) : (int32_t)rows - 1;
		int in[2] = { weft_graph_const(g, "table", all[i / 2].type, 3, (int64_t[]){ n, rows, columns }, table),
		              run_tensor(g, WEFT_INT32, 2, (int64_t[]){ n, indices }, true, false) };
		int out = run_tensor(g, all[i / 2].type, 3, (int64_t[]){ n, indices, columns }, false, true);
		assert_int_equal(weft_graph_op(g, WEFT_OP_GATHER, NULL, weft_graph_src(g, 0, "GATHER"), in, 2, &out, 1), 0);
		weft_tensor x = g->tensors[in[1]].t;
		x.data = index;
		assert_int_equal(compile_run(g, &o, &x, "a constant table"), n * indices * columns);
		free(index);
		weft_graph_free(g);
	}
}

static void high_ranks(void **state)
{
	weft_attr perm = { .perm = { { 5, 3, 1, 4, 2, 0 } } }, times = { .tile = { { 2, 3, 1, 2, 3, 2 } } };
	weft_attr edges = { .pad = { .before = { 1, 0, 2, 1, 0, 1 }, .after = { 0, 2, 1, 1, 1, 0 }, .value = -3 } };
	const int64_t x[] = { 3, 4, 5, 2, 3, 7 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		assert_int_equal(one(WEFT_OP_TRANSPOSE, &perm, shape(WEFT_INT8, x, 6), none, shape(WEFT_INT8, SHAPE(7, 2, 4, 3, 5, 3)), 100,
		                     configs[k]), 2520);
		assert_int_equal(one(WEFT_OP_TILE, &times, shape(WEFT_INT32, x, 6), none, shape(WEFT_INT32, SHAPE(6, 12, 5, 4, 9, 14)), 100,
		                     configs[k]), 2520 * 72);
		assert_int_equal(one(WEFT_OP_PAD, &edges, shape(WEFT_INT16, x, 6), none, shape(WEFT_INT16, SHAPE(4, 6, 8, 4, 4, 8)), 100,
		                     configs[k]), 4 * 6 * 8 * 4 * 4 * 8);
	}
}

/* A constant of n numbers of an element's size, copied. */
static int constant(weft_graph *g, const char *name, weft_dtype t, int rank, const int64_t *dim, const void *v)
{
	weft_tensor of = { .dtype = t, .rank = rank, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };

	memcpy(of.dim, dim, (size_t)rank * sizeof *dim);
	void *p = malloc(weft_tensor_bytes(&of));
	assert_non_null(p);
	memcpy(p, v, weft_tensor_bytes(&of));
	return weft_graph_const(g, name, t, rank, dim, p);
}

/*
 * x + K and a RESCALE, where K [8,4] has rows of one number, or is a TRANSPOSE of such [4,8]: a dimension along which
 * the constant repeats itself is another one behind the TRANSPOSE.
 */
static void transposed_constant(void **state)
{
	static const int32_t x[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, multiplier = 1 << 30;
	static const int8_t shift = 30;
	const weft_attr swap = { .perm = { { 1, 0 } } }, scale = { .rescale = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND } };

	(void)state;
	for (int reads_through = 0; reads_through < 2; reads_through++) {
		weft_graph *g = weft_graph_new("constant");
		struct weft_compile_options o = { .config = "w16", .of_model = true };
		int32_t k[32];
		int src = weft_graph_src(g, 0, "ADD"), in = run_tensor(g, WEFT_INT32, 2, (int64_t[]){ 8, 1 }, true, false), c, sum, y;
		weft_tensor data = g->tensors[in].t;

		for (int i = 0; i < 32; i++)
			k[i] = 10 * (reads_through ? i / 8 : i / 4) + 1;
		c = constant(g, "k", WEFT_INT32, 2, reads_through ? (int64_t[]){ 4, 8 } : (int64_t[]){ 8, 4 }, k);
		if (reads_through) {
			int turned = run_tensor(g, WEFT_INT32, 2, (int64_t[]){ 8, 4 }, false, false);
			assert_true(weft_graph_op(g, WEFT_OP_TRANSPOSE, &swap, src, &c, 1, &turned, 1) >= 0);
			c = turned;
		}
		sum = run_tensor(g, WEFT_INT32, 2, (int64_t[]){ 8, 4 }, false, false);
		y = run_tensor(g, WEFT_INT8, 2, (int64_t[]){ 8, 4 }, false, true);
		const int m = constant(g, "m", WEFT_INT32, 1, (int64_t[]){ 1 }, &multiplier), s = constant(g, "s", WEFT_INT8, 1, (int64_t[]){ 1 }, &shift);
		assert_true(weft_graph_op(g, WEFT_OP_ADD, NULL, src, (int[]){ in, c }, 2, &sum, 1) >= 0);
		assert_true(weft_graph_op(g, WEFT_OP_RESCALE, &scale, src, (int[]){ sum, m, s }, 3, &y, 1) >= 0);
		data.data = (void *)(uintptr_t)x;
		assert_true(compile_run(g, &o, &data, reads_through ? "transposed" : "plain") >= 32);
		weft_graph_free(g);
	}
}

/*
 * FLOOR, PAD, SLICE of float32, and one operator more. The host computes FLOOR. If another FLOOR is last, the host pads, too; if a
 * RESHAPE or a PAD is, the NPU does, since what it makes is the network's result, though the SLICE, which the last PAD
 * reads through, becomes no node. compile_run() returns how many elements of the NPU's it compared.
 */
static void moved_floats(void **state)
{
	enum { ROWS = 6, COLUMNS = 10, CUT = 3 };
	static const struct { weft_opcode op; int rank; int64_t dim[2]; int on_npu; } last[] = {
		{ WEFT_OP_FLOOR, 2, { CUT, COLUMNS }, 0 }, { WEFT_OP_RESHAPE, 1, { CUT * COLUMNS }, (ROWS + 2 + CUT) * COLUMNS },
		{ WEFT_OP_PAD, 2, { CUT + 2, COLUMNS }, (ROWS + 2 + CUT + 2) * COLUMNS },
	};
	const weft_attr border = { .pad = { .before = { 1 }, .after = { 1 } } }, part = { .slice = { .start = { 2 } } };

	(void)state;
	for (size_t k = 0; k < sizeof last / sizeof last[0]; k++) {
		weft_graph *g = weft_graph_new("floats");
		struct weft_compile_options o = { .config = "w16", .of_model = true };
		const int src = weft_graph_src(g, 0, "Floor"), x = run_tensor(g, WEFT_FP32, 2, (int64_t[]){ ROWS, COLUMNS }, true, false);
		const int t[] = { run_tensor(g, WEFT_FP32, 2, (int64_t[]){ ROWS, COLUMNS }, false, false),
		                  run_tensor(g, WEFT_FP32, 2, (int64_t[]){ ROWS + 2, COLUMNS }, false, false),
		                  run_tensor(g, WEFT_FP32, 2, (int64_t[]){ CUT, COLUMNS }, false, false),
		                  run_tensor(g, WEFT_FP32, last[k].rank, last[k].dim, false, true) };
		weft_tensor *in = make_inputs(g, 3);

		assert_true(weft_graph_op(g, WEFT_OP_FLOOR, NULL, src, &x, 1, &t[0], 1) >= 0);
		assert_true(weft_graph_op(g, WEFT_OP_PAD, &border, src, &t[0], 1, &t[1], 1) >= 0);
		assert_true(weft_graph_op(g, WEFT_OP_SLICE, &part, src, &t[1], 1, &t[2], 1) >= 0);
		assert_true(weft_graph_op(g, last[k].op, last[k].op == WEFT_OP_PAD ? &border : NULL, src, &t[2], 1, &t[3], 1) >= 0);
		assert_int_equal(compile_run(g, &o, in, "floats"), last[k].on_npu);
		free_inputs(g, in);
		weft_graph_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_dimensions), cmocka_unit_test(turned_matrices), cmocka_unit_test(turned_behind_host), cmocka_unit_test(folds), cmocka_unit_test(indices), cmocka_unit_test(constant_tables), cmocka_unit_test(high_ranks),
		cmocka_unit_test(transposed_constant), cmocka_unit_test(moved_floats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
