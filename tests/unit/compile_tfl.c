/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow Lite's operators as integer operations of the device, and islands of
 * floats as tables: every code where the function is of one code, and rows, scales and
 * sums that are chosen to lie near where golden rounds. All elements have to be made by
 * the device, and none may differ from golden's.
 */
#include <math.h>

#include "tests/unit/compile_run.h"

static const char *const configs[] = { "w16", "w8" };

static double between(uint64_t *seed, double lo, double hi)
{
	return lo + (hi - lo) * (double)(test_random(seed) % 1000003) / 1000003;
}

/* Run a graph of one input on both configurations; all elements of n_tensors results have to come from the device. */
static void run_all(weft_graph *g, const weft_tensor *in, uint64_t elements, const char *what)
{
	char msg[WEFT_MSG] = "", name[100];

	if (weft_graph_check(g, msg))
		fail_msg("%s: %s", what, msg);
	for (size_t k = 0; k < sizeof configs / sizeof *configs; k++) {
		struct weft_compile_options o = { .config = configs[k], .quick = true };
		snprintf(name, sizeof name, "%s on %s", what, configs[k]);
		uint64_t made = compile_run(g, &o, in, name);
		if (made != elements)
			fail_msg("%s: the device made %llu elements, not %llu", name, (unsigned long long)made, (unsigned long long)elements);
	}
	weft_graph_free(g);
}

/* A graph of one operator from x to y, both of the given shape. */
static weft_graph *unary(weft_opcode op, const weft_attr *a, weft_dtype from, weft_dtype to, int rank, const int64_t *dim)
{
	weft_graph *g = weft_graph_new("one");
	int x = run_tensor(g, from, rank, dim, true, false), y = run_tensor(g, to, rank, dim, false, true);

	assert_int_equal(weft_graph_op(g, op, a, weft_graph_src(g, 0, weft_op_name(op)), &x, 1, &y, 1), 0);
	return g;
}

/* ---- functions of one code ---- */

/* All 65 536 codes, `at_once` in one tensor. */
static void every_code(weft_opcode op, float x_scale, int64_t at_once)
{
	weft_attr a = { .quant = { .x_scale = x_scale, .y_scale = 1.0f / 32768 } };
	int16_t *codes = malloc((size_t)at_once * sizeof *codes);
	char what[80];

	snprintf(what, sizeof what, "%s, scale %g, %lld at once", weft_op_name(op), (double)x_scale, (long long)at_once);
	for (int64_t from = INT16_MIN; from <= INT16_MAX; from += at_once) {
		for (int64_t i = 0; i < at_once; i++)
			codes[i] = (int16_t)(from + i);
		weft_tensor in = { .dtype = WEFT_INT16, .rank = 1, .dim = { at_once }, .data = codes };
		run_all(unary(op, &a, WEFT_INT16, WEFT_INT16, 1, in.dim), &in, (uint64_t)at_once, what);
	}
	free(codes);
}

static void sigmoids(void **state)
{
	static const float scales[] = { 1.0f / 4096, 1.0f / 2048, 1.0f / 32768, 3.17e-4f, 9.9e-6f, 0.0123f, 7.7e-4f };
	static const weft_opcode ops[] = { WEFT_OP_TFL_LOGISTIC, WEFT_OP_TFL_TANH };

	(void)state;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof scales / sizeof *scales; i += test_in_part() ? 3 : 1) {
			/* By a table, and by operations. */
			every_code(ops[k], scales[i], 65536);
			every_code(ops[k], scales[i], 2048);
		}
}

/* ---- softmax ---- */

/* Elements near each other, all over the range, the extremes, or all the same. */
static void fill_rows(weft_tensor *x, uint64_t *seed)
{
	int64_t row = x->dim[x->rank - 1], lowest = x->dtype == WEFT_INT8 ? INT8_MIN : INT16_MIN;

	for (int64_t i = 0; i < weft_tensor_elements(x); i++) {
		int64_t r = (int64_t)(test_random(seed) % (uint64_t)(-2 * lowest)), v = lowest + r;
		switch (i / row % 5) {
		case 1: v = lowest + r % 20; break;
		case 2: v = r & 1 ? lowest : -1 - lowest; break;
		case 3: v = 7; break;
		case 4: v = i % row ? lowest + r / 2 : -1 - lowest; break;
		}
		if (x->dtype == WEFT_INT8)
			((int8_t *)x->data)[i] = (int8_t)v;
		else
			((int16_t *)x->data)[i] = (int16_t)v;
	}
}

static void softmax_of(weft_dtype from, weft_dtype to, const weft_attr *a, int64_t row, uint64_t *seed)
{
	weft_tensor in = { .dtype = from, .rank = 3, .dim = { 1, 5, row } };
	char what[120];

	in.data = malloc(weft_tensor_bytes(&in));
	fill_rows(&in, seed);
	snprintf(what, sizeof what, "SOFTMAX %s to %s, scale %g, rows of %lld%s", weft_dtype_name(from), weft_dtype_name(to),
	         (double)a->tfl_softmax.x_scale, (long long)row, a->tfl_softmax.wide ? ", wide" : "");
	run_all(unary(WEFT_OP_TFL_SOFTMAX, a, from, to, 3, in.dim), &in, (uint64_t)(5 * row), what);
	free(in.data);
}

static void softmax(void **state)
{
	static const float scales[] = { 1e-9f, 3e-5f, 0.0004f, 0.003f, 0.05f, 0.3f, 1.7f, 30 };
	static const int64_t rows[] = { 1, 2, 3, 10, 37, 256, 1001, 8191 };
	uint64_t seed = 11;

	(void)state;
	for (size_t i = 0; i < sizeof scales / sizeof *scales; i += test_in_part() ? 3 : 1)
		for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
			weft_attr a = { .tfl_softmax = { .beta = 1, .x_scale = scales[i], .wide = k & 1 } };
			softmax_of(WEFT_INT8, WEFT_INT8, &a, rows[k], &seed);
			softmax_of(WEFT_INT8, WEFT_INT16, &a, rows[k], &seed);
			softmax_of(WEFT_INT16, WEFT_INT16, &a, rows[k], &seed);
		}
}

/* Results of which the values have no room on chip: in parts, along each dimension. */
static void softmax_parts(void **state)
{
	static const int64_t shapes[][4] = { { 1, 6, 101, 101 }, { 1, 1, 300, 150 }, { 2, 3, 70, 130 }, { 5, 1, 1, 8000 } };
	const weft_attr a = { .tfl_softmax = { .beta = 1, .x_scale = 0.07f } };
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
		const int64_t *d = shapes[i / 2];
		const weft_dtype type = i % 2 ? WEFT_INT16 : WEFT_INT8;
		weft_tensor in = { .dtype = type, .rank = 4, .dim = { d[0], d[1], d[2], d[3] } };
		in.data = malloc(weft_tensor_bytes(&in));
		fill_rows(&in, &seed);
		run_all(unary(WEFT_OP_TFL_SOFTMAX, &a, type, type, 4, in.dim), &in, (uint64_t)weft_tensor_elements(&in), "SOFTMAX in parts");
		free(in.data);
	}
}

/* Longer rows than sums are exact for: the host's. */
static void softmax_long(void **state)
{
	weft_attr a = { .tfl_softmax = { .beta = 1, .x_scale = 0.1f } };
	weft_tensor in = { .dtype = WEFT_INT8, .rank = 2, .dim = { 1, 8192 } };
	struct weft_compile_options o = { .config = "w16", .quick = true };
	weft_graph *g = unary(WEFT_OP_TFL_SOFTMAX, &a, WEFT_INT8, WEFT_INT8, 2, in.dim);

	(void)state;
	in.data = calloc(1, 8192);
	assert_int_equal(compile_run(g, &o, &in, "rows of 8192"), 0);
	free(in.data);
	weft_graph_free(g);
}

/* ---- resizing ---- */

static void resize(void **state)
{
	static const int sizes[][4] = { { 3, 5, 6, 10 }, { 4, 4, 9, 7 }, { 7, 6, 3, 2 }, { 1, 1, 4, 5 }, { 2, 3, 1, 1 }, { 5, 5, 5, 5 }, { 6, 2, 33, 17 },
	                                { 6, 5, 24, 20 }, { 3, 4, 24, 32 }, { 9, 20, 18, 40 } };
	uint64_t seed = 3;

	(void)state;
	for (int k = 0; k < 3 * 2 * 10; k++) {
		const int *s = sizes[k / 6], flags = k % 3;
		weft_dtype type = k / 3 % 2 ? WEFT_INT16 : WEFT_INT8;
		weft_attr a = { .tfl_resize = { .align_corners = flags == 1, .half_pixel = flags == 2 } };
		weft_tensor in = { .dtype = type, .rank = 4, .dim = { 2, s[0], s[1], k & 1 ? 3 : 19 } };
		weft_graph *g = weft_graph_new("resize");
		int x = run_tensor(g, type, 4, in.dim, true, false);
		int y = run_tensor(g, type, 4, (int64_t[]){ 2, s[2], s[3], in.dim[3] }, false, true);
		char what[80];
		assert_int_equal(weft_graph_op(g, WEFT_OP_TFL_RESIZE_BILINEAR, &a, weft_graph_src(g, 0, "RESIZE_BILINEAR"), &x, 1, &y, 1), 0);
		in.data = malloc(weft_tensor_bytes(&in));
		fill_rows(&in, &seed);
		snprintf(what, sizeof what, "RESIZE %dx%d to %dx%d, form %d, %s", s[0], s[1], s[2], s[3], flags, weft_dtype_name(type));
		run_all(g, &in, (uint64_t)(2 * s[2] * s[3] * in.dim[3]), what);
		free(in.data);
	}
}

/* ---- casts ---- */

static void casts(void **state)
{
	static const weft_dtype types[] = { WEFT_INT8, WEFT_UINT8, WEFT_INT16, WEFT_INT32, WEFT_INT64 };
	uint64_t seed = 4;

	(void)state;
	for (int k = 0; k < 25; k++) {
		weft_tensor in = { .dtype = types[k / 5], .rank = 2, .dim = { 7, 41 } };
		char what[80];
		if (k / 5 == k % 5)
			continue;
		in.data = malloc(weft_tensor_bytes(&in));
		for (size_t i = 0; i < weft_tensor_bytes(&in); i++)
			((uint8_t *)in.data)[i] = (uint8_t)test_random(&seed);
		snprintf(what, sizeof what, "CAST %s to %s", weft_dtype_name(types[k / 5]), weft_dtype_name(types[k % 5]));
		run_all(unary(WEFT_OP_TFL_CAST, NULL, types[k / 5], types[k % 5], 2, in.dim), &in, 7 * 41, what);
		free(in.data);
	}
}

/* ---- sums times a float64 ---- */

static weft_graph *requantize_graph(weft_dtype from, weft_dtype to, const weft_attr *a, const int64_t dim[2], const float *scales)
{
	weft_graph *g = weft_graph_new("requantize");
	float *w = malloc((size_t)dim[1] * sizeof *w);
	int in[2] = { run_tensor(g, from, 2, dim, true, false), 0 }, y = run_tensor(g, to, 2, dim, false, true);

	memcpy(w, scales, (size_t)dim[1] * sizeof *w);
	in[1] = weft_graph_const(g, "w", WEFT_FP32, 1, &dim[1], w);
	assert_int_equal(weft_graph_op(g, WEFT_OP_TFL_REQUANTIZE, a, weft_graph_src(g, 0, "FULLY_CONNECTED"), in, 2, &y, 1), 0);
	return g;
}

/* The sum nearest to a half of result j, and those beside it; now and then any, or an extreme one. */
static int64_t near_half(double s, int64_t row, weft_dtype from, uint64_t *seed)
{
	int64_t most = from == WEFT_INT32 ? INT32_MAX : ((int64_t)1 << 47) - 1, j = (int64_t)(test_random(seed) % 70000) - 35000;
	int64_t v = (int64_t)llround(((double)j + 0.5) / s) + row % 5 - 2;

	if (row % 16 == 7)
		v = (int64_t)(test_random(seed) << 20) >> 17;
	if (row % 16 == 11)
		v = row & 32 ? most : -most - 1;
	return v > most ? most : v < -most - 1 ? -most - 1 : v;
}

static void requantize(void **state)
{
	enum { ROWS = 160, CHANNELS = 37 };
	const int64_t dim[] = { ROWS, CHANNELS };
	uint64_t seed = 9;

	(void)state;
	for (int k = 0; k < 40; k++) {
		weft_dtype from = k & 1 ? WEFT_INT48 : WEFT_INT32, to = k & 2 ? WEFT_INT16 : WEFT_INT8;
		weft_attr a = { .quant = { .x_scale = (float)between(&seed, 1e-4, 2e-2), .y_scale = (float)between(&seed, 1e-3, 1e-1),
		                           .y_zp = k & 2 ? 0 : k - 20 } };
		weft_tensor in = { .dtype = from, .rank = 2, .dim = { ROWS, CHANNELS } };
		float scales[CHANNELS];
		in.data = malloc(weft_tensor_bytes(&in));
		for (int c = 0; c < CHANNELS; c++) {
			scales[c] = (float)between(&seed, 1e-3, 1e-1);
			double s = (double)a.quant.x_scale * (double)scales[c] / (double)a.quant.y_scale;
			for (int64_t r = 0; r < ROWS; r++) {
				int64_t v = near_half(s, r, from, &seed);
				if (from == WEFT_INT32)
					((int32_t *)in.data)[r * CHANNELS + c] = (int32_t)v;
				else
					((int64_t *)in.data)[r * CHANNELS + c] = v;
			}
		}
		run_all(requantize_graph(from, to, &a, dim, scales), &in, ROWS * CHANNELS, "REQUANTIZE");
		free(in.data);
	}
}

/*
 * 14 032 240 times this factor is 2^-40 below a half, and a half when rounded to 53 bits: the one sum
 * below 2^25 for which a product that is never rounded gives another result. The other channel has none.
 */
static void requantize_lifted(void **state)
{
	static const int32_t sums[] = { 14032239, 14032240, 14032241, -14032239, -14032240, -14032241, 0, 1 };
	const int64_t dim[] = { 8, 2 };
	weft_attr a = { .quant = { .x_scale = 0.000352314499f, .y_scale = 0.01f } };
	weft_tensor in = { .dtype = WEFT_INT32, .rank = 2, .dim = { 8, 2 } };
	int32_t x[16];

	(void)state;
	for (int k = 0; k < 16; k++)
		x[k] = sums[k / 2];
	in.data = x;
	run_all(requantize_graph(WEFT_INT32, WEFT_INT16, &a, dim, (float[]){ 0.0439149402f, 0.05f }), &in, 16, "REQUANTIZE at a half");
}

/* ---- islands ---- */

/* DEQUANTIZE, x * min(max(x + 3, 0), 6) / 6, QUANTIZE: of every code. */
static void island(weft_dtype type, float scale, weft_dtype made, float made_scale)
{
	const int64_t n = type == WEFT_INT8 ? 256 : 65536, one = 1;
	weft_attr from = { .quant = { .x_scale = scale, .y_scale = 1, .x_zp = type == WEFT_INT8 ? -3 : 0 } };
	weft_attr to = { .quant = { .y_scale = made_scale, .y_zp = made == WEFT_INT8 ? 5 : 0 } };
	weft_attr limits = { .clamp = { .fmin = 0, .fmax = 6 } };
	weft_tensor in = { .dtype = type, .rank = 1, .dim = { n } };
	weft_graph *g = weft_graph_new("island");
	int src = weft_graph_src(g, 0, "HARD_SWISH"), t[7], number[2];

	for (int k = 0; k < 7; k++)
		t[k] = run_tensor(g, k == 0 ? type : k == 6 ? made : WEFT_FP32, 1, &n, k == 0, k == 6);
	for (int k = 0; k < 2; k++) {
		float *v = malloc(sizeof *v);
		*v = k ? 6 : 3;
		number[k] = weft_graph_const(g, "number", WEFT_FP32, 1, &one, v);
	}
	assert_true(weft_graph_op(g, WEFT_OP_TFL_DEQUANTIZE, &from, src, &t[0], 1, &t[1], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_ADD, NULL, src, (int[]){ t[1], number[0] }, 2, &t[2], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_CLAMP, &limits, src, &t[2], 1, &t[3], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_MUL, NULL, src, (int[]){ t[1], t[3] }, 2, &t[4], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_TFL_DIV, NULL, src, (int[]){ t[4], number[1] }, 2, &t[5], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_TFL_QUANTIZE, &to, src, &t[5], 1, &t[6], 1) >= 0);
	in.data = malloc(weft_tensor_bytes(&in));
	for (int64_t i = 0; i < n; i++)
		memcpy((char *)in.data + (size_t)i * weft_dtype_bytes(type), &i, weft_dtype_bytes(type));
	run_all(g, &in, (uint64_t)n, "island");
	free(in.data);
}

static void islands(void **state)
{
	(void)state;
	island(WEFT_INT16, 3.3e-4f, WEFT_INT16, 2.3e-4f);
	island(WEFT_INT16, 1.0f / 4096, WEFT_INT16, 0.71f / 4096);
	island(WEFT_INT8, 0.043f, WEFT_INT8, 0.031f);
	island(WEFT_INT8, 0.043f, WEFT_INT16, 1.7e-4f);
	island(WEFT_INT16, 3.3e-4f, WEFT_INT8, 0.08f);
}

/*
 * DEQUANTIZE, CLAMP, RESHAPE and QUANTIZE of every code but one. Their number then is odd, so that no row of the image fills the array's
 * columns, and the image has another shape than the result.
 */
static void reshaped_island(weft_dtype type, weft_dtype made)
{
	const int64_t rows = type == WEFT_INT8 ? 17 : 17 * 257, x_dim[] = { 1, 3, rows, 5 }, y_dim[] = { 1, rows, 3, 5 };
	weft_attr from = { .quant = { .x_scale = 0.043f, .y_scale = 1 } }, to = { .quant = { .y_scale = 0.031f } };
	weft_attr limits = { .clamp = { .fmin = -2, .fmax = 3 } };
	weft_graph *g = weft_graph_new("reshaped island");
	const int src = weft_graph_src(g, 0, "CLAMP");
	int t[] = { run_tensor(g, type, 4, x_dim, true, false), run_tensor(g, WEFT_FP32, 4, x_dim, false, false),
	            run_tensor(g, WEFT_FP32, 4, x_dim, false, false), run_tensor(g, WEFT_FP32, 4, y_dim, false, false),
	            run_tensor(g, made, 4, y_dim, false, true) };
	weft_tensor in = g->tensors[t[0]].t;

	assert_true(weft_graph_op(g, WEFT_OP_TFL_DEQUANTIZE, &from, src, &t[0], 1, &t[1], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_CLAMP, &limits, src, &t[1], 1, &t[2], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_RESHAPE, NULL, src, &t[2], 1, &t[3], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_TFL_QUANTIZE, &to, src, &t[3], 1, &t[4], 1) >= 0);
	in.data = malloc(weft_tensor_bytes(&in));
	for (int64_t i = 0; i < weft_tensor_elements(&in); i++)
		tensor_set(&in, i, i);
	run_all(g, &in, (uint64_t)weft_tensor_elements(&in), "reshaped island");
	free(in.data);
}

static void reshaped_islands(void **state)
{
	(void)state;
	reshaped_island(WEFT_INT8, WEFT_INT8);
	reshaped_island(WEFT_INT8, WEFT_INT16);
	reshaped_island(WEFT_INT16, WEFT_INT8);
}

/* PRELU in float32 with a slope for each channel, of every code in each channel. */
static void prelu(weft_dtype type, float x_scale, float y_scale, uint64_t seed)
{
	enum { CHANNELS = 11 };
	const int64_t codes = type == WEFT_INT8 ? 256 : 65536, dim[] = { codes, CHANNELS }, one = 1, n = CHANNELS;
	const int x_zp = type == WEFT_INT8 ? -3 : 0, y_zp = type == WEFT_INT8 ? 5 : 0;
	weft_attr from = { .quant = { .x_scale = x_scale, .y_scale = 1, .x_zp = x_zp } };
	weft_attr to = { .quant = { .x_scale = 1, .y_scale = y_scale, .y_zp = y_zp } };
	weft_tensor in = { .dtype = type, .rank = 2, .dim = { codes, CHANNELS } };
	weft_graph *g = weft_graph_new("prelu");
	int src = weft_graph_src(g, 0, "PRELU"), t[4];
	float *zero = calloc(1, sizeof *zero), *slope = malloc(CHANNELS * sizeof *slope);
	char what[80];

	for (int k = 0; k < CHANNELS; k++)
		slope[k] = k == 3 ? 0 : k == 4 ? 1 : k == 5 ? 0.25f : k == 6 ? -0.5f : (float)between(&seed, -0.4, 1.3);
	for (int k = 0; k < 4; k++)
		t[k] = run_tensor(g, k == 0 || k == 3 ? type : WEFT_FP32, 2, dim, k == 0, k == 3);
	int z = weft_graph_const(g, "zero", WEFT_FP32, 2, (int64_t[]){ one, one }, zero);
	int s = weft_graph_const(g, "slope", WEFT_FP32, 2, (int64_t[]){ one, n }, slope);
	int positive = run_tensor(g, WEFT_BOOL, 2, dim, false, false), chosen = run_tensor(g, WEFT_FP32, 2, dim, false, false);
	assert_true(weft_graph_op(g, WEFT_OP_TFL_DEQUANTIZE, &from, src, &t[0], 1, &t[1], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_GREATER_EQUAL, NULL, src, (int[]){ t[1], z }, 2, &positive, 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_MUL, NULL, src, (int[]){ t[1], s }, 2, &t[2], 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_SELECT, NULL, src, (int[]){ positive, t[1], t[2] }, 3, &chosen, 1) >= 0);
	assert_true(weft_graph_op(g, WEFT_OP_TFL_QUANTIZE, &to, src, &chosen, 1, &t[3], 1) >= 0);
	in.data = malloc(weft_tensor_bytes(&in));
	for (int64_t i = 0; i < codes * CHANNELS; i++)
		tensor_set(&in, i, i / CHANNELS - codes / 2);
	snprintf(what, sizeof what, "PRELU of %s, scales %g and %g", weft_dtype_name(type), (double)x_scale, (double)y_scale);
	run_all(g, &in, (uint64_t)(codes * CHANNELS), what);
	free(in.data);
}

static void prelus(void **state)
{
	(void)state;
	prelu(WEFT_INT16, 2.4e-4f, 3.1e-4f, 1);
	prelu(WEFT_INT8, 0.043f, 0.029f, 4);
	if (test_in_part())
		return;
	prelu(WEFT_INT16, 7.7e-5f, 1.0f / 8192, 2);
	prelu(WEFT_INT16, 1.0f / 4096, 1.9e-5f, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sigmoids), cmocka_unit_test(softmax), cmocka_unit_test(softmax_parts), cmocka_unit_test(softmax_long), cmocka_unit_test(resize),
		cmocka_unit_test(casts),
		cmocka_unit_test(requantize), cmocka_unit_test(requantize_lifted),
		cmocka_unit_test(islands), cmocka_unit_test(reshaped_islands), cmocka_unit_test(prelus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
