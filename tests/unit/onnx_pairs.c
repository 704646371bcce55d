/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --requant runtime-avx2: sums of uint8 by int8 of which each two products saturate to 16 bits, against a plain
 * loop. MatMulInteger and QLinearConv; weights of 8 bits, of so few that no pair saturates, and weights that are
 * inputs; and what has exact sums with and without that option.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "tests/support/level.h"
#include "tests/support/onnx_build.h"
#include "tests/support/tensors.h"
#include "userlib/run/internal.h"

/* Of the matrices. K is odd: the last product is alone. */
enum { M = 3, K = 7, N = 5 };

/* Of the convolution, whose window is 2x2, padded above and on the left. */
enum { CHANNELS = 3, SIDE = 4, TAPS = 4, OC = 2, OUT = SIDE };

/* What a case is made of. */
struct from {
	bool avx2;                 /* the option */
	bool signed_x;             /* int8 codes, whose sums are exact */
	bool inputs;               /* weights are an input */
	int bits;                  /* of the weights, with their sign */
	int x_zp, w_zp;
	bool in_pairs;             /* is the node to be the saturating kernel? */
};

static const struct from cases[] = {
	{ true, false, false, 8, 0, 0, true }, { true, false, false, 8, 200, 0, true },
	{ true, false, false, 8, 3, -5, true }, { true, false, true, 8, 100, 0, true },
	{ true, false, true, 7, 100, 7, true }, { true, false, false, 7, 100, 0, false },
	{ true, true, false, 8, 10, 0, false }, { false, false, false, 8, 200, 0, false },
};

static int draw(uint64_t *r, int low, int n)
{
	return low + (int)(test_random(r) % (uint64_t)n);
}

static int in_16_bits(int v)
{
	return v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v;
}

/* The sum of n products of codes less zero points; each two products of codes saturate if f says so. */
static int sum_of(const struct from *f, const int *x, const int *w, int n)
{
	int sum = 0;

	for (int k = 0; k < n; k += 2) {
		const int pair = x[k] * w[k] + (k + 1 < n ? x[k + 1] * w[k + 1] : 0);

		sum += f->in_pairs ? in_16_bits(pair) : pair;
	}
	for (int k = 0; k < n; k++)
		sum += f->x_zp * f->w_zp - f->x_zp * w[k] - f->w_zp * x[k];
	return sum;
}

/* Loads the network, looks which kernel it has, and runs it on x and, where weights are an input, w. */
static weft_tensor run(const struct from *f, struct ob *g, const weft_tensor *in)
{
	struct weft_load_options load = weft_load_options_default();
	struct weft_session_options o = weft_session_options_default();
	struct ob model = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor y = { 0 };
	weft_session *s;
	weft_net *net;
	bool found = false;

	ob_model(&model, g, 10);
	load.requant_runtime = true;
	load.requant_avx2 = f->avx2;
	o.device = WEFT_DEVICE_GOLDEN;
	if (weft_net_load_with(model.p, model.n, "pairs", &load, &net, msg))
		fail_msg("%s", msg);
	for (int i = 0; i < net->g->n_ops; i++)
		found |= net->g->ops[i].op == WEFT_OP_ONNX_NODE;
	assert_int_equal(found, f->in_pairs);
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, in, &y, NULL, msg))
		fail_msg("%s", msg);
	weft_session_close(s);
	weft_net_free(net);
	free(model.p);
	return y;
}

static void zero_points(struct ob *g, const struct from *f)
{
	const int8_t x = (int8_t)f->x_zp, w = (int8_t)f->w_zp;

	ob_tensor(g, "xz", f->signed_x ? 3 : 2, 0, NULL, &x, 1);
	ob_tensor(g, "wz", 3, 0, NULL, &w, 1);
}

/* Weights of rank n, which are a constant or an input. */
static void weights(struct ob *g, const struct from *f, int rank, const int64_t *dim, const int8_t *w,
                    size_t n)
{
	if (f->inputs)
		ob_port(g, 11, "w", 3, rank, dim);
	else
		ob_tensor(g, "w", 3, rank, dim, w, n);
}

/* Codes of x as bytes, and n of the weights; half of each are the largest there are. */
static void fill(const struct from *f, uint64_t *r, uint8_t *x, int n_x, int8_t *w, int n_w)
{
	const int top = (1 << (f->bits - 1)) - 1;

	for (int i = 0; i < n_x; i++)
		x[i] = !f->signed_x && draw(r, 0, 2) ? 255 : (uint8_t)draw(r, 0, 256);
	for (int i = 0; i < n_w; i++)
		w[i] = (int8_t)(draw(r, 0, 2) ? (draw(r, 0, 2) ? top : -top) : draw(r, -top, 2 * top));
}

static weft_dtype type_of(const struct from *f)
{
	return f->signed_x ? WEFT_INT8 : WEFT_UINT8;
}

static int code(const struct from *f, uint8_t x)
{
	return f->signed_x ? (int8_t)x : x;
}

static void matrices(void **state)
{
	const int64_t x_dim[] = { M, K }, w_dim[] = { K, N }, y_dim[] = { M, N };
	uint64_t r = test_seed(1);
	int saturated = 0;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct from *f = &cases[i];
		struct ob g = { 0 }, more = { 0 };
		uint8_t x[M * K];
		int8_t w[K * N];

		fill(f, &r, x, M * K, w, K * N);
		ob_node(&g, "MatMulInteger", "x w xz wz", "y", &more);
		ob_port(&g, 11, "x", f->signed_x ? 3 : 2, 2, x_dim);
		weights(&g, f, 2, w_dim, w, sizeof w);
		zero_points(&g, f);
		ob_port(&g, 12, "y", 6, 2, y_dim);
		weft_tensor y = run(f, &g, (weft_tensor[]){
			{ .dtype = type_of(f), .rank = 2, .dim = { M, K }, .data = x },
			{ .dtype = WEFT_INT8, .rank = 2, .dim = { K, N }, .data = w } });
		for (int m = 0; m < M; m++)
			for (int n = 0; n < N; n++) {
				struct from exact = *f;
				int row[K], column[K];

				for (int k = 0; k < K; k++) {
					row[k] = code(f, x[m * K + k]);
					column[k] = w[k * N + n];
				}
				exact.in_pairs = false;
				saturated += sum_of(f, row, column, K) != sum_of(&exact, row, column, K);
				assert_int_equal(((int32_t *)y.data)[m * N + n], sum_of(f, row, column, K));
			}
		weft_tensor_release(&y);
	}
	print_message("%d sums saturated\n", saturated);
	assert_true(saturated > 10);
}

/* What the window at (row, column) of the result sees: its places one after another, with all channels of each. */
static void window_at(const struct from *f, const uint8_t *x, int row, int column, int *seen)
{
	for (int t = 0; t < TAPS; t++)
		for (int c = 0; c < CHANNELS; c++) {
			const int i = row - 1 + t / 2, j = column - 1 + t % 2;

			/* Padding is the zero point. */
			seen[t * CHANNELS + c] = i < 0 || j < 0 ? f->x_zp
			                                        : code(f, x[(c * SIDE + i) * SIDE + j]);
		}
}

static void convolutions(void **state)
{
	const int64_t x_dim[] = { 1, CHANNELS, SIDE, SIDE }, w_dim[] = { OC, CHANNELS, 2, 2 };
	const int64_t y_dim[] = { 1, OC, OUT, OUT }, pads[] = { 1, 1, 0, 0 };
	const float one = 1, scale = 1024;
	const int8_t zero = 4;
	uint64_t r = test_seed(2);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct from *f = &cases[i];
		struct ob g = { 0 }, more = { 0 };
		uint8_t x[CHANNELS * SIDE * SIDE];
		int8_t w[OC * CHANNELS * TAPS];
		int seen[CHANNELS * TAPS], turned[CHANNELS * TAPS];

		fill(f, &r, x, sizeof x, w, sizeof w);
		ob_attr_ints(&more, "pads", 4, pads);
		ob_node(&g, "QLinearConv", "x one xz w one wz ys yz", "y", &more);
		ob_port(&g, 11, "x", f->signed_x ? 3 : 2, 4, x_dim);
		weights(&g, f, 4, w_dim, w, sizeof w);
		zero_points(&g, f);
		ob_tensor(&g, "one", 1, 0, NULL, &one, 4);
		ob_tensor(&g, "ys", 1, 0, NULL, &scale, 4);
		ob_tensor(&g, "yz", f->signed_x ? 3 : 2, 0, NULL, &zero, 1);
		ob_port(&g, 12, "y", f->signed_x ? 3 : 2, 4, y_dim);
		weft_tensor y = run(f, &g, (weft_tensor[]){
			{ .dtype = type_of(f), .rank = 4, .dim = { 1, CHANNELS, SIDE, SIDE }, .data = x },
			{ .dtype = WEFT_INT8, .rank = 4, .dim = { OC, CHANNELS, 2, 2 }, .data = w } });
		for (int at = 0; at < OC * OUT * OUT; at++) {
			const int o = at / OUT / OUT, low = f->signed_x ? -128 : 0;

			window_at(f, x, at / OUT % OUT, at % OUT, seen);
			for (int k = 0; k < CHANNELS * TAPS; k++)
				turned[k] = w[(o * CHANNELS + k % CHANNELS) * TAPS + k / CHANNELS];
			/* By 1024, ties to even: exact in a float. */
			const int sum = sum_of(f, seen, turned, CHANNELS * TAPS);
			const int whole = sum >= 0 ? sum / 1024 : -((1023 - sum) / 1024), rest = sum - 1024 * whole;
			int want = whole + (rest > 512 || (rest == 512 && whole % 2)) + zero;
			want = want < low ? low : want > low + 255 ? low + 255 : want;
			assert_int_equal(code(f, ((uint8_t *)y.data)[at]), want);
		}
		weft_tensor_release(&y);
	}
}

/* The largest weights that need nothing special, and the least that do, alone and in both directions. */
static void borders(void **state)
{
	static const struct { int8_t w[3]; bool in_pairs; } all[] = {
		{ { 64, 64, 127 }, false }, { { 64, 65, 0 }, true }, { { -64, -64, -128 }, false }, { { -64, -65, 0 }, true },
		{ { 127, -128, 0 }, false }, { { 1, 127, 127 }, false }, { { 2, 127, 0 }, true }, { { -128, 0, -128 }, false },
		{ { -1, -128, 0 }, true }, { { 0, 127, 127 }, false },
	};
	const int64_t x_dim[] = { 1, 3 }, w_dim[] = { 3, 1 }, y_dim[] = { 1, 1 };
	uint8_t x[] = { 255, 255, 255 };

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct from f = { .avx2 = true, .in_pairs = all[i].in_pairs };
		const int8_t *w = all[i].w;
		struct ob g = { 0 }, more = { 0 };

		ob_node(&g, "MatMulInteger", "x w", "y", &more);
		ob_port(&g, 11, "x", 2, 2, x_dim);
		weights(&g, &f, 2, w_dim, w, 3);
		ob_port(&g, 12, "y", 6, 2, y_dim);
		const weft_tensor in = { .dtype = WEFT_UINT8, .rank = 2, .dim = { 1, 3 }, .data = x };
		weft_tensor y = run(&f, &g, &in);
		const int pair = 255 * (w[0] + w[1]);
		assert_int_equal(*(int32_t *)y.data, (f.in_pairs ? in_16_bits(pair) : pair) + 255 * w[2]);
		weft_tensor_release(&y);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(matrices), cmocka_unit_test(convolutions), cmocka_unit_test(borders) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
