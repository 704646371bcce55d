/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QDQ graphs of transformers: Softmax and LayerNormalization as integers with --requant
 * rescale, against float64: no code is more than one from the exact one, and few are.
 * What is exact without that option (Concat and sums with dequantised constants, means
 * over any axes) against the same nodes in floats. Of int16, products of tensors and means, too. On the functional model, every tensor
 * checked, and with nothing on the host.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../support/level.h"
#include "../support/onnx_codes.h"

enum { ROWS = 40, MOST_ROW = 1100 };

/* ---- within one step ---- */

/* Of 8 bits; of int16 with zero points of 0; of uint16 and int16 with any. */
enum codes { BYTES, SYMMETRIC, OFFSET };

static const char *const kinds[] = { "", " of int16", " of 16 bits with zero points" };

static void softmax_row(const weft_tensor *x, const struct q *q, int64_t at, int64_t n, double *y)
{
	double most = -INFINITY, sum = 0;

	for (int64_t i = 0; i < n; i++)
		most = fmax(most, (double)tensor_get(x, at + i));
	for (int64_t i = 0; i < n; i++)
		sum += y[i] = exp((double)q->s * ((double)tensor_get(x, at + i) - most));
	for (int64_t i = 0; i < n; i++)
		y[i] /= sum;
}

static void norm_row(const weft_tensor *x, const struct q *q, int64_t at, int64_t n, double epsilon, double *y)
{
	double mean = 0, variance = 0;

	for (int64_t i = 0; i < n; i++)
		mean += (double)q->s * (double)(tensor_get(x, at + i) - q->z) / (double)n;
	for (int64_t i = 0; i < n; i++) {
		y[i] = (double)q->s * (double)(tensor_get(x, at + i) - q->z) - mean;
		variance += y[i] * y[i] / (double)n;
	}
	for (int64_t i = 0; i < n; i++)
		y[i] /= sqrt(variance + epsilon);
}

static const int64_t row_sizes[] = { 2, 3, 10, 17, 48, 64, 197, 768, 1024 };
#define N_SIZES (sizeof row_sizes / sizeof *row_sizes)

/* One Softmax as QLinearSoftmax of com.microsoft, which reads the codes themselves. */
static weft_net *qlinear_softmax(const struct q *x, const struct q *y, const int64_t *dim)
{
	struct weft_load_options o = weft_load_options_default();
	struct ob g = { 0 }, a = { 0 }, model = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;

	parameters(&g, "sx", "zx", x);
	parameters(&g, "sy", "zy", y);
	ob_port(&g, 11, "x", x->type, 3, dim);
	ob_attr_int(&a, "opset", 17);
	ob_attr_int(&a, "axis", -1);
	ob_text(&a, 7, "com.microsoft");
	ob_node(&g, "QLinearSoftmax", "x sx zx sy zy", "y", &a);
	ob_port(&g, 12, "y", y->type, 3, dim);
	ob_model(&model, &g, 17);
	o.requant_rescale = true;
	if (weft_net_load_with(model.p, model.n, "net", &o, &net, msg))
		fail_msg("%s", msg);
	free(model.p);
	return net;
}

/* Softmax over the first and the middle axis of [6,7,9]; float64 sums go over the axis of x itself. */
static void softmax_axes(void **state)
{
	enum { A = 6, B = 7, D = 9 };
	static const int64_t dim[] = { A, B, D };
	int64_t differ = 0;
	uint64_t r = 8;

	(void)state;
	for (int k = 0; k < 12; k++) {
		const int axis = k / 2 % 2, n = (int)dim[axis], step = axis ? D : B * D;
		const bool is_wide = k & 1;
		const struct q x = is_wide ? wide(between(&r, 2, 30)) : quantisation(&r, between(&r, 2, 30));
		struct q y = is_wide ? wide(between(&r, 0.5, 2)) : (struct q){ .s = (float)(between(&r, 0.3, 1) / 255), .type = 3, .z = -128 };
		double exact[A * B * D], sum[A * B * D] = { 0 };
		struct ob g = begin(&x, &y, 3, dim), a = { 0 };

		ob_attr_int(&a, "axis", axis - (k > 5 ? 3 : 0));
		ob_node(&g, "Softmax", "fx", "f", &a);
		weft_net *net = end(&g, &y, 3, dim, true, false);
		weft_tensor in = make_codes(&x, 3, dim, D, &r);
		for (int i = 0; i < A * B * D; i++)
			for (int j = 0; j < n; j++) {
				const int first = i - i / step % n * step;
				exact[i] = exp((double)x.s * (double)tensor_get(&in, i));
				sum[i] += exp((double)x.s * (double)tensor_get(&in, first + j * step));
			}
		for (int i = 0; i < A * B * D; i++)
			exact[i] /= sum[i];
		differ += differing_codes(net, &in, x.type != 2 ? 2 : 0, exact, &y, "Softmax", NULL);
	}
	assert_true(differ <= 12 * A * B * D / 100);
}

/* Results of 8 bits have scales that lie from 2^-8 down to 2^-28, as those of a long row whose codes lie near each other. */
static void softmax_of(enum codes kind)
{
	static double exact[ROWS * MOST_ROW];
	int64_t differ = 0, all = 0;
	uint64_t r = 1;

	for (size_t k = 0; k < N_SIZES * (test_in_part() ? 2 : 4); k++) {
		const int64_t n = row_sizes[k % N_SIZES], dim[] = { 2, ROWS / 2, n };
		struct q x = quantisation(&r, between(&r, 0.5, 30)), y = { .type = 2 + (int)(k & 1) };
		y.s = (float)ldexp(between(&r, 0.3, 1) / 255, -6 * (int)(k / N_SIZES));
		y.z = lowest(&y);
		if (kind == SYMMETRIC) {
			x = wide(between(&r, 0.05, 90));
			y = wide(between(&r, 0.3, 2));
		} else if (kind == OFFSET) {
			x = offset(&r, between(&r, 0.05, 90));
			y = offset(&r, between(&r, 0.3, 2));
		}
		weft_net *net;
		if (k % 4 == 3 && kind == BYTES) {
			net = qlinear_softmax(&x, &y, dim);
		} else {
			struct ob g = begin(&x, &y, 3, dim);
			ob_node(&g, "Softmax", "fx", "f", NULL);
			net = end(&g, &y, 3, dim, true, false);
		}
		weft_tensor in = make_codes(&x, 3, dim, n, &r);
		for (int64_t i = 0; i < ROWS; i++)
			softmax_row(&in, &x, i * n, n, exact + i * n);
		differ += differing_codes(net, &in, x.type & y.type & 1 ? 2 : 0, exact, &y, "Softmax", &all);
	}
	print_message("Softmax%s: %lld of %lld elements differ by one step\n", kinds[kind], (long long)differ, (long long)all);
	assert_true(100 * differ <= all);
}

static void softmax(void **state)
{
	(void)state;
	softmax_of(BYTES);
}

static void softmax_wide(void **state)
{
	(void)state;
	softmax_of(SYMMETRIC);
}

static void softmax_offset(void **state)
{
	(void)state;
	softmax_of(OFFSET);
}

/*
 * Builds one network with a LayerNormalization of rows of n elements, runs it and compares its codes with the exact values, which it
 * writes to `exact`. In every third network (k) two nodes read the result's floats: a QuantizeLinear, and a Reshape with a
 * QuantizeLinear of its own behind it, as in ONNX Runtime's QOperator files. Returns how many elements differ.
 */
static int64_t layer_norm_once(int64_t n, size_t k, enum codes kind, double *exact, uint64_t *r)
{
	static const float epsilons[] = { 1e-5f, 1e-6f, 1e-12f };
	const int64_t dim[] = { 2, ROWS / 2, n };
	struct q x = quantisation(r, between(r, 0.5, 30)), y = quantisation(r, between(r, 4, 9));
	if (kind == SYMMETRIC) {
		x = wide(between(r, 0.01, 30));
		y = wide(between(r, 4, 9));
	} else if (kind == OFFSET) {
		x = offset(r, between(r, 0.01, 30));
		y = offset(r, between(r, 4, 9));
	}
	float gamma[MOST_ROW], beta[MOST_ROW], epsilon = epsilons[k % 3];
	struct ob a = { 0 };

	for (int64_t i = 0; i < n; i++) {
		gamma[i] = (float)between(r, k % 5 ? 0.5 : -1, 1.5);
		beta[i] = (float)between(r, -0.5, 0.5);
	}
	struct ob g = begin(&x, &y, 3, dim);
	ob_tensor(&g, "gamma", 1, 1, &n, gamma, (size_t)n * 4);
	ob_tensor(&g, "beta", 1, 1, &n, beta, (size_t)n * 4);
	ob_attr_float(&a, "epsilon", epsilon);
	ob_node(&g, "LayerNormalization", "fx gamma beta", k % 3 ? "f" : "n", &a);
	if (k % 3 == 0) {
		ob_tensor(&g, "shape", 7, 1, &(int64_t){ 2 }, (int64_t[]){ ROWS, n }, 16);
		ob_node(&g, "Reshape", "n shape", "rows", NULL);
		ob_tensor(&g, "back", 7, 1, &(int64_t){ 3 }, dim, sizeof dim);
		ob_node(&g, "Reshape", "rows back", "f", NULL);
		ob_node(&g, "QuantizeLinear", "n sy zy", "y2", NULL);
		ob_port(&g, 12, "y2", y.type, 3, dim);
	}
	weft_net *net = end(&g, &y, 3, dim, true, false);
	weft_tensor in = make_codes(&x, 3, dim, n, r);
	for (int64_t i = 0; i < ROWS; i++) {
		norm_row(&in, &x, i * n, n, (double)epsilon, exact + i * n);
		for (int64_t c = 0; c < n; c++)
			exact[i * n + c] = exact[i * n + c] * (double)gamma[c] + (double)beta[c];
	}
	return differing_codes(net, &in, x.type & y.type & 1 ? 2 : 0, exact, &y, "LayerNormalization", NULL);
}

static void layer_norm_of(enum codes kind)
{
	static double exact[ROWS * MOST_ROW];
	int64_t differ = 0, all = 0;
	uint64_t r = 2;

	for (size_t k = 0; k < N_SIZES * (test_in_part() ? 2 : 6); k++) {
		differ += layer_norm_once(row_sizes[k % N_SIZES], k, kind, exact, &r);
		all += ROWS * row_sizes[k % N_SIZES];
	}
	print_message("LayerNormalization%s: %lld of %lld elements differ by one step\n", kinds[kind], (long long)differ, (long long)all);
	assert_true(100 * differ <= all);
}

static void layer_norm(void **state)
{
	(void)state;
	layer_norm_of(BYTES);
}

static void layer_norm_wide(void **state)
{
	(void)state;
	layer_norm_of(SYMMETRIC);
}

static void layer_norm_offset(void **state)
{
	(void)state;
	layer_norm_of(OFFSET);
}

/*
 * What the fixed-point numbers of LayerNormalization do not hold is left to floats, with their bits: an epsilon of many squares of a step
 * of x, a negative one, and an infinite gamma.
 */
static void layer_norm_in_floats(void **state)
{
	static const struct { float s, epsilon, gamma; } cases[] = {
		{ 1e-8f, 1e-5f, 1000 }, { 1e-30f, 1e-5f, 1 }, { 0.05f, 1e30f, 1 }, { 0.05f, INFINITY, 1 }, { 0.05f, -0.01f, 1 }, { 0.05f, 1e-5f, INFINITY },
	};
	static const int64_t dim[] = { 5, 16 }, one = 1;
	uint64_t r = 4;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		const bool is_wide = i & 1;
		const struct q x = { .s = cases[i / 2].s / (is_wide ? 256 : 1), .type = is_wide ? 5 : 3 };
		const struct q y = { .s = i < 2 ? 1e-2f / (is_wide ? 256 : 1) : 1 / 64.0f, .type = x.type };
		weft_tensor in = make_codes(&x, 2, dim, dim[1], &r), out[2];
		for (int rescale = 0; rescale < 2; rescale++) {
			struct ob g = begin(&x, &y, 2, dim), a = { 0 };
			ob_tensor(&g, "gamma", 1, 1, &one, &cases[i / 2].gamma, 4);
			ob_attr_float(&a, "epsilon", cases[i / 2].epsilon);
			ob_node(&g, "LayerNormalization", "fx gamma", "f", &a);
			weft_net *net = end(&g, &y, 2, dim, rescale, false);
			out[rescale] = run(net, WEFT_DEVICE_GOLDEN, &in, 0);
			weft_net_free(net);
		}
		if (memcmp(out[0].data, out[1].data, weft_tensor_bytes(&out[0])))
			fail_msg("case %zu of %s is not that of floats", i / 2, is_wide ? "int16" : "int8");
		weft_tensor_release(&out[0]);
		weft_tensor_release(&out[1]);
		free(in.data);
	}
}

/* ---- products and means of int16 ---- */

enum { TIMES, MATRIX, AVERAGE, N_WIDE, LINES = 10 };

/* Sets exact to fx * w, with w of n or one element, fx [2,5,n] by itself transposed, or the means of its rows. Returns how many. */
static int64_t wide_exact(int kind, const weft_tensor *x, const struct q *q, const int16_t *w, int64_t n_w, double w_s, double *exact)
{
	const int64_t n = x->dim[2], cols = kind == MATRIX ? 5 : kind == TIMES ? n : 1;
	const double s = (double)q->s;

	for (int64_t i = 0; i < LINES * cols; i++) {
		const int64_t row = i / cols, other = row / 5 * 5 + i % cols;
		double sum = 0;
		for (int64_t k = 0; k < n; k++)
			sum += kind == MATRIX ? (double)(tensor_get(x, row * n + k) * tensor_get(x, other * n + k)) : (double)tensor_get(x, row * n + k);
		exact[i] = kind == MATRIX ? sum * s * s : kind == AVERAGE ? sum * s / (double)n : (double)tensor_get(x, i) * s * (w[n_w > 1 ? i % n : 0] * w_s);
	}
	return LINES * cols;
}

/* One network of a kind, of which n_w constants are operands of TIMES. Returns how many elements differ; *all grows by how many there are. */
static int64_t wide_once(int kind, int64_t n, uint64_t *r, int64_t *all)
{
	static double exact[LINES * MOST_ROW];
	const int64_t dim[] = { 2, 5, n }, square[] = { 2, 5, 5 }, rows[] = { 2, 5, 1 }, n_w = test_random(r) & 1 ? n : 1;
	struct q x = wide(between(r, 0.5, 30)), y, w = wide(between(r, 0.1, 3));
	int16_t codes[MOST_ROW];
	struct ob a = { 0 };

	for (int64_t i = 0; i < n_w; i++)
		codes[i] = (int16_t)test_random(r);
	weft_tensor in = make_codes(&x, 3, dim, n, r);
	const int64_t count = wide_exact(kind, &in, &x, codes, n_w, (double)w.s, exact);
	double most = 1e-3;
	for (int64_t i = 0; i < count; i++)
		most = fmax(most, fabs(exact[i]));
	y = wide(2 * most * between(r, 0.5, 1.2));
	struct ob g = begin(&x, &y, 3, dim);
	if (kind == TIMES) {
		parameters(&g, "sw", "zw", &w);
		ob_tensor(&g, "w", 5, n_w > 1, &n_w, codes, (size_t)n_w * 2);
		ob_node(&g, "DequantizeLinear", "w sw zw", "fw", NULL);
		ob_node(&g, "Mul", test_random(r) & 1 ? "fx fw" : "fw fx", "f", NULL);
	} else if (kind == MATRIX) {
		ob_attr_ints(&a, "perm", 3, (int64_t[]){ 0, 2, 1 });
		ob_node(&g, "Transpose", "fx", "ft", &a);
		ob_node(&g, "MatMul", "fx ft", "f", NULL);
	} else {
		ob_attr_ints(&a, "axes", 1, (int64_t[]){ -1 });
		ob_node(&g, "ReduceMean", "fx", "f", &a);
	}
	weft_net *net = end(&g, &y, 3, kind == TIMES ? dim : kind == MATRIX ? square : rows, true, false);
	return differing_codes(net, &in, 2, exact, &y, "int16", all);
}

/* Scales of int16 by which most results saturate, also those that leave int32 before. */
static void saturated_wide(void **state)
{
	static const char *const names[] = { "Mul", "ReduceMean", "Softmax" };
	static const float scales[] = { 1, 1, 1e-11f };
	static const int64_t dim[] = { 2, 5, 8 }, rows[] = { 2, 5, 1 };
	uint64_t r = 5;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct q x = { .s = i == 1 ? 1e6f : i ? 0.01f : 3, .type = 5 }, y = { .s = scales[i], .type = 5 };
		weft_tensor in = make_codes(&x, 3, dim, dim[2], &r), out[2];
		for (int rescale = 0; rescale < 2; rescale++) {
			struct ob g = begin(&x, &y, 3, dim), a = { 0 };
			if (i == 1)
				ob_attr_ints(&a, "axes", 1, (int64_t[]){ -1 });
			if (i == 0) {
				ob_tensor(&g, "w", 5, 0, NULL, &(int16_t){ 20000 }, 2);
				ob_node(&g, "DequantizeLinear", "w sx zx", "fw", NULL);
			}
			ob_node(&g, names[i], i ? "fx" : "fx fw", "f", &a);
			weft_net *net = end(&g, &y, 3, i == 1 ? rows : dim, rescale, false);
			out[rescale] = run(net, WEFT_DEVICE_GOLDEN, &in, 0);
			weft_net_free(net);
		}
		for (int64_t k = 0; k < weft_tensor_elements(&out[0]); k++)
			if (llabs(tensor_get(&out[0], k) - tensor_get(&out[1], k)) > 1)
				fail_msg("%s, element %lld: %lld, in floats %lld", names[i], (long long)k, (long long)tensor_get(&out[1], k),
				         (long long)tensor_get(&out[0], k));
		weft_tensor_release(&out[0]);
		weft_tensor_release(&out[1]);
		free(in.data);
	}
}

/* The same of products by weights of 8 bits, whose sums times the scales leave int32. */
static void saturated_products(void **state)
{
	static const int64_t dim[] = { 2, 5, 8 }, square[] = { 8, 8 };
	const struct q x = { .s = 30, .type = 5 }, y = { .s = 1, .type = 5 };
	uint64_t r = 6;
	weft_tensor in = make_codes(&x, 3, dim, dim[2], &r);
	int8_t w[64];

	(void)state;
	for (int k = 0; k < 64; k++)
		w[k] = (int8_t)(test_random(&r) % 255 - 127);
	for (int rescale = 0; rescale < 2; rescale++) {
		struct ob g = begin(&x, &y, 3, dim);
		ob_tensor(&g, "w", 3, 2, square, w, sizeof w);
		ob_tensor(&g, "zw", 3, 0, NULL, &(int8_t){ 0 }, 1);
		ob_node(&g, "DequantizeLinear", "w sx zw", "fw", NULL);
		ob_node(&g, "MatMul", "fx fw", "f", NULL);
		weft_net *net = end(&g, &y, 3, dim, rescale, false);
		weft_tensor out = run(net, WEFT_DEVICE_GOLDEN, &in, 0);
		for (int64_t k = 0; k < weft_tensor_elements(&out); k++) {
			int64_t sum = 0;
			for (int i = 0; i < 8; i++)
				sum += tensor_get(&in, k / 8 * 8 + i) * w[8 * i + k % 8];
			sum *= 900;
			assert_int_equal(tensor_get(&out, k), sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
		}
		weft_tensor_release(&out);
		weft_net_free(net);
	}
	free(in.data);
}

static void sums_wide(void **state)
{
	static const char *const names[] = { "Mul", "MatMul", "ReduceMean" };
	uint64_t r = 3;

	(void)state;
	for (int kind = 0; kind < N_WIDE; kind++) {
		int64_t differ = 0, all = 0;
		for (size_t k = 0; k < N_SIZES * (test_in_part() ? 1 : 3); k++)
			differ += wide_once(kind, row_sizes[k % N_SIZES], &r, &all);
		print_message("%s of int16: %lld of %lld elements differ by one step\n", names[kind], (long long)differ, (long long)all);
		assert_true(100 * differ <= all);
	}
}

/* ConvTranspose of images and lines of 16 bits, half of them with zero points, by int8 weights: the int48 sums are exact, and rescaled once. */
static void transposed_wide(void **state)
{
	enum { C = 3, OC = 2, H = 4, W = 5, MOST_K = 4, MOST_STRIDE = 3, MOST = OC * (H * MOST_STRIDE + MOST_K) * (W * MOST_STRIDE + MOST_K) };
	int64_t differ = 0, all = 0;
	uint64_t r = 7;

	(void)state;
	for (int k = 0; k < (test_in_part() ? 8 : 24); k++) {
		const int64_t kernel = 1 + (int64_t)(test_random(&r) % MOST_K), stride = 1 + k % MOST_STRIDE, rows = k & 1 ? H : 1, k_rows = k & 1 ? kernel : 1;
		const int64_t h = (rows - 1) * stride + k_rows, w = (W - 1) * stride + kernel, taps = k_rows * kernel;
		const int64_t of_w[] = { C, OC, kernel, kernel }, dim[] = { 1, C, k & 1 ? rows : W, W }, out_dim[] = { 1, OC, k & 1 ? h : w, w };
		const int rank = k & 1 ? 4 : 3;
		const struct q x = k & 2 ? offset(&r, between(&r, 0.5, 30)) : wide(between(&r, 0.5, 30)), sw = { .s = (float)between(&r, 0.001, 0.1), .type = 3 };
		int8_t weights[C * OC * MOST_K * MOST_K];
		double exact[MOST] = { 0 }, most = 1e-3;
		struct ob a = { 0 };

		for (int64_t i = 0; i < C * OC * taps; i++)
			weights[i] = (int8_t)(test_random(&r) % 255 - 127);
		weft_tensor in = make_codes(&x, rank, dim, W, &r);
		for (int64_t i = 0; i < C * rows * W; i++)
			for (int64_t e = 0; e < OC * taps; e++) {
				const int64_t c = i / (rows * W), row = i / W % rows * stride + e / kernel % k_rows, column = i % W * stride + e % kernel;
				exact[(e / taps * h + row) * w + column] +=
					(double)((tensor_get(&in, i) - x.z) * weights[c * OC * taps + e]) * (double)x.s * (double)sw.s;
			}
		for (int64_t i = 0; i < OC * h * w; i++)
			most = fmax(most, fabs(exact[i]));
		const double range = 2 * most * between(&r, 0.5, 1.2);
		const struct q y = k & 2 ? offset(&r, range) : wide(range);
		struct ob g = begin(&x, &y, rank, dim);
		ob_tensor(&g, "w", 3, rank, of_w, weights, (size_t)(C * OC * taps));
		parameters(&g, "sw", "zw", &sw);
		ob_node(&g, "DequantizeLinear", "w sw zw", "fw", NULL);
		ob_attr_ints(&a, "strides", rank - 2, (int64_t[]){ stride, stride });
		ob_node(&g, "ConvTranspose", "fx fw", "f", &a);
		weft_net *net = end(&g, &y, rank, out_dim, true, false);
		differ += differing_codes(net, &in, x.type & y.type & 1 ? 2 : 0, exact, &y, "ConvTranspose", &all);
		assert_int_equal(last_run.host_macs, 0);
	}
	print_message("ConvTranspose of 16 bits: %lld of %lld elements differ by one step\n", (long long)differ, (long long)all);
	assert_true(1000 * differ <= all);
}

/* ---- exact ---- */

enum { CONCAT, ADD, SUB, MUL, MEAN, N_EXACT };

/* The nodes between fx and f, of which w are constants of codes with their own quantisation. */
static void exact_nodes(struct ob *g, int kind, const struct q *w, const int8_t *codes, uint64_t *r)
{
	static const char *const names[] = { "Concat", "Add", "Sub", "Mul" };
	static const int64_t axes[][2] = { { 1, 0 }, { 0, 0 }, { 2, 0 }, { 0, 2 } };
	const int64_t dim[] = { kind == CONCAT ? 2 : 1, kind == CONCAT ? 3 : 5, 7 };
	struct ob a = { 0 };

	if (kind == MEAN) {
		const int which = (int)(test_random(r) % 4);
		ob_attr_ints(&a, "axes", which == 3 ? 2 : 1, axes[which]);
		ob_node(g, "ReduceMean", "fx", "f", &a);
		return;
	}
	parameters(g, "sw", "zw", w);
	ob_tensor(g, "w", w->type, 3, dim, codes, (size_t)(dim[0] * dim[1] * dim[2]));
	ob_node(g, "DequantizeLinear", "w sw zw", "fw", NULL);
	if (kind == CONCAT)
		ob_attr_int(&a, "axis", 1);
	if (test_random(r) & 1)
		ob_node(g, names[kind], "fw fx", "f", kind == CONCAT ? &a : NULL);
	else
		ob_node(g, names[kind], "fx fw", "f", kind == CONCAT ? &a : NULL);
}

static void exact_kind(int kind, uint64_t seed)
{
	const int64_t dim[] = { 2, 5, 7 }, joined[] = { 2, 8, 7 };
	uint64_t r = seed;
	int8_t codes[2 * 5 * 7];
	struct q x = quantisation(&r, 6), y = quantisation(&r, 9), w = quantisation(&r, 5);
	weft_net *net[2];

	for (size_t i = 0; i < sizeof codes; i++)
		codes[i] = (int8_t)test_random(&r);
	for (int k = 0; k < 2; k++) {
		uint64_t same = r;
		struct ob g = begin(&x, &y, 3, dim);
		exact_nodes(&g, kind, &w, codes, &same);
		int64_t out[] = { 2, 5, 7 };
		if (kind == MEAN) {
			same = r;
			const int which = (int)(test_random(&same) % 4);
			out[0] = which == 1 || which == 3 ? 1 : 2;
			out[1] = which == 0 ? 1 : 5;
			out[2] = which >= 2 ? 1 : 7;
		}
		net[k] = end(&g, &y, 3, kind == CONCAT ? joined : out, false, k == 1);
	}
	weft_tensor in = make_codes(&x, 3, dim, 7, &r);
	weft_tensor got = run(net[0], WEFT_DEVICE_MODEL, &in, x.type == 3 && y.type == 3 && w.type == 3), want = run(net[1], WEFT_DEVICE_GOLDEN, &in, false);
	assert_int_equal(weft_tensor_elements(&got), weft_tensor_elements(&want));
	for (int64_t i = 0; i < weft_tensor_elements(&got); i++)
		if (tensor_get(&got, i) != tensor_get(&want, i))
			fail_msg("kind %d seed %llu element %lld: %lld, not %lld", kind, (unsigned long long)seed, (long long)i,
			         (long long)tensor_get(&got, i), (long long)tensor_get(&want, i));
	weft_tensor_release(&got);
	weft_tensor_release(&want);
	free(in.data);
	weft_net_free(net[0]);
	weft_net_free(net[1]);
}

static void exact(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= (test_in_part() ? 10 : 40); seed++)
		for (int kind = 0; kind < N_EXACT; kind++)
			exact_kind(kind, seed);
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(softmax), cmocka_unit_test(softmax_axes), cmocka_unit_test(layer_norm), cmocka_unit_test(softmax_wide),
		cmocka_unit_test(softmax_offset), cmocka_unit_test(layer_norm_wide), cmocka_unit_test(layer_norm_offset), cmocka_unit_test(layer_norm_in_floats),
		cmocka_unit_test(sums_wide), cmocka_unit_test(saturated_wide), cmocka_unit_test(saturated_products), cmocka_unit_test(transposed_wide),
		cmocka_unit_test(exact), cmocka_unit_test(no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
