/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QDQ graphs whose values between a DequantizeLinear and a QuantizeLinear have several readers or makers:
 * what is exact (Gather from a dequantised table, Where, Concat) against the same nodes in floats or a plain
 * loop; with --requant rescale, means of functions of codes, and nodes behind LayerNormalization, against
 * float64, no code more than one step from the exact one. On the functional model, every tensor checked, and
 * with nothing on the host in the middle.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../support/level.h"
#include "../support/onnx_codes.h"

enum { ROWS = 10, MOST_ROW = 512 };

static void number(struct ob *g, const char *name, float v)
{
	ob_tensor(g, name, 1, 0, NULL, &v, 4);
}

static void same_codes(const weft_tensor *got, const weft_tensor *want, const char *what, long id)
{
	assert_int_equal(weft_tensor_elements(got), weft_tensor_elements(want));
	for (int64_t i = 0; i < weft_tensor_elements(got); i++)
		if (tensor_get(got, i) != tensor_get(want, i))
			fail_msg("%s %ld, element %lld: %lld, not %lld", what, id, (long long)i, (long long)tensor_get(got, i), (long long)tensor_get(want, i));
}

/* ---- exact ---- */

enum { DIVIDED, NUMBER_FIRST, FUNCTIONS, CONSTANT, N_WHERE };

static void where_nodes(struct ob *g, int kind, const struct q *w, const int8_t *codes, const uint8_t *choice)
{
	static const int64_t dim[] = { 1, 5, 7 }, one[] = { 5, 1 };

	ob_tensor(g, "choice", 9, kind == NUMBER_FIRST ? 2 : 3, kind == NUMBER_FIRST ? one : dim, choice, kind == NUMBER_FIRST ? 5 : 35);
	number(g, "four", 4);
	number(g, "least", kind == DIVIDED ? -3.4028234e38f : -0.7f);
	parameters(g, "sw", "zw", w);
	ob_tensor(g, "w", w->type, 3, dim, codes, w->type == 5 ? 70 : 35);
	ob_node(g, "DequantizeLinear", "w sw zw", "fw", NULL);
	ob_node(g, kind == FUNCTIONS ? "Sigmoid" : "Div", kind == FUNCTIONS ? "fx" : "fx four", "m", NULL);
	ob_node(g, "Where", kind == DIVIDED ? "choice m least" : kind == NUMBER_FIRST ? "choice least fx" : kind == FUNCTIONS ? "choice fx m" : "choice m fw",
	        "f", NULL);
}

/* Codes chosen between by Where are those of the floats; of int16, with --requant rescale. */
static void where(void **state)
{
	static const int64_t dim[] = { 2, 5, 7 };

	(void)state;
	for (uint64_t seed = 1; seed <= 48; seed++) {
		uint64_t r = seed;
		const int kind = (int)(seed % N_WHERE);
		const bool is_wide = seed % 3 == 0;
		struct q x = is_wide ? wide(6) : quantisation(&r, 6), y = is_wide ? wide(9) : quantisation(&r, 9), w = is_wide ? wide(5) : quantisation(&r, 5);
		uint8_t choice[35];
		int8_t codes[70];
		weft_net *net[2];

		if (kind == DIVIDED && seed & 4)
			y.s = 1.3e36f;
		for (size_t i = 0; i < sizeof choice; i++)
			choice[i] = test_random(&r) & 1;
		for (size_t i = 0; i < sizeof codes; i++)
			codes[i] = (int8_t)test_random(&r);
		for (int k = 0; k < 2; k++) {
			struct ob g = begin(&x, &y, 3, dim);
			where_nodes(&g, kind, &w, codes, choice);
			net[k] = end(&g, &y, 3, dim, is_wide && !k, k == 1);
		}
		weft_tensor in = make_codes(&x, 3, dim, 7, &r);
		weft_tensor got = run(net[0], WEFT_DEVICE_MODEL, &in, x.type != 2 && y.type != 2), want = run(net[1], WEFT_DEVICE_GOLDEN, &in, 0);
		same_codes(&got, &want, "Where", (long)seed);
		weft_tensor_release(&got);
		weft_tensor_release(&want);
		free(in.data);
		weft_net_free(net[0]);
		weft_net_free(net[1]);
	}
}

/*
 * Int16 codes of different scales are joined, and other functions of them between moves of elements, with the
 * bits of floats.
 */
static void functions_wide(void **state)
{
	static const int64_t dim[] = { 2, 5, 7 }, joined[] = { 2, 10, 7 }, turned[] = { 2, 7, 10 };

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		uint64_t r = seed;
		const struct q x = wide(between(&r, 1, 6)), y = wide(between(&r, 1, 6));
		weft_tensor in = make_codes(&x, 3, dim, 7, &r), out[2];

		for (int rescale = 0; rescale < 2; rescale++) {
			struct ob g = begin(&x, &y, 3, dim), a = { 0 };
			ob_attr_int(&a, "axis", 1);
			ob_node(&g, seed % 3 ? "Neg" : "Tanh", "fx", "m", NULL);
			ob_node(&g, "Concat", "m fx", seed & 1 ? "f" : "j", &a);
			if (!(seed & 1)) {
				ob_attr_ints(&a, "perm", 3, (int64_t[]){ 0, 2, 1 });
				ob_node(&g, "Transpose", "j", "f", &a);
			}
			weft_net *net = end(&g, &y, 3, seed & 1 ? joined : turned, rescale, false);
			out[rescale] = run(net, rescale ? WEFT_DEVICE_MODEL : WEFT_DEVICE_GOLDEN, &in, rescale);
			weft_net_free(net);
		}
		same_codes(&out[1], &out[0], "Concat of int16", (long)seed);
		weft_tensor_release(&out[0]);
		weft_tensor_release(&out[1]);
		free(in.data);
	}
}

/*
 * Rows of a constant table that int64 indices of the input name, dequantised before the Gather and quantised
 * again behind it, or as codes: the codes in the table, and at most the indices are made on the host.
 */
static void tables(void **state)
{
	enum { N = 11, WIDTH = 16, WORDS = 9 };
	static const int64_t table[] = { N, WIDTH }, words[] = { 1, WORDS }, dim[] = { 1, WORDS, WIDTH };
	static const int types[] = { 2, 3, 5 };

	(void)state;
	for (uint64_t seed = 1; seed <= 18; seed++) {
		uint64_t r = seed;
		struct q q = { .s = (float)between(&r, 0.01, 0.1), .type = types[seed % 3] };
		const bool codes_only = seed & 1, is_wide = q.type == 5;
		int64_t ids[WORDS];
		int16_t codes[N * WIDTH];
		struct ob g = { 0 }, a = { 0 };

		q.z = is_wide ? 0 : lowest(&q) + (int)(test_random(&r) % 256);
		weft_tensor in = { .dtype = WEFT_INT64, .rank = 2, .dim = { 1, WORDS }, .data = ids }, t = { .dtype = is_wide ? WEFT_INT16 : q.type == 3 ? WEFT_INT8 : WEFT_UINT8,
		                   .rank = 1, .dim = { N * WIDTH }, .data = codes };
		for (int64_t i = 0; i < N * WIDTH; i++)
			tensor_set(&t, i, lowest(&q) + (int)(test_random(&r) % (is_wide ? 65536 : 256)));
		for (int i = 0; i < WORDS; i++)
			ids[i] = (int64_t)(test_random(&r) % (2 * N)) - N;
		ob_tensor(&g, "table", q.type, 2, table, codes, sizeof codes / (is_wide ? 1 : 2));
		parameters(&g, "sy", "zy", &q);
		ob_port(&g, 11, "ids", 7, 2, words);
		if (!codes_only)
			ob_node(&g, "DequantizeLinear", "table sy zy", "ft", NULL);
		ob_node(&g, "Gather", codes_only ? "table ids" : "ft ids", codes_only ? "c" : "f", &a);
		if (codes_only)
			ob_node(&g, "DequantizeLinear", "c sy zy", "fc", NULL);
		if (codes_only)
			ob_node(&g, "Relu", "fc", "f", NULL);
		weft_net *net = end(&g, &q, 3, dim, false, false);
		weft_tensor out = run(net, WEFT_DEVICE_MODEL, &in, 0);
		for (int64_t i = 0; i < WORDS * WIDTH; i++) {
			const int64_t code = tensor_get(&t, (ids[i / WIDTH] + N) % N * WIDTH + i % WIDTH);
			assert_int_equal(tensor_get(&out, i), codes_only && code < q.z ? q.z : code);
		}
		if (last_run.switches > (q.type == 2 ? 2 : 1))
			fail_msg("seed %d: %d switches", (int)seed, last_run.switches);
		weft_tensor_release(&out);
		weft_net_free(net);
	}
}

/* ---- within one step ---- */

static const struct { const char *name; bool of_wide; } functions[] = { { "Pow", true }, { "Mul", true }, { "Abs", false }, { "Exp", false } };

static double function_of(size_t kind, double v)
{
	return kind < 2 ? v * v : kind == 2 ? fabs(v) : exp(v);
}

/*
 * The mean of a function over the last axis, or of images over all but the first two; rows have n elements.
 * Returns how many differ.
 */
static int64_t mean_once(size_t kind, bool image, int64_t n, bool is_wide, uint64_t *r)
{
	const int64_t dim[] = { 2, ROWS / 2, image ? 2 : n, n / 2 }, rows[] = { 2, ROWS / 2, 1, 1 };
	const struct q x = is_wide ? wide(between(r, 0.5, 30)) : quantisation(r, between(r, 0.5, kind == 3 ? 6 : 40));
	weft_tensor in = make_codes(&x, image ? 4 : 3, dim, n, r);
	double exact[ROWS], most = 1e-3;

	for (int i = 0; i < ROWS; i++) {
		exact[i] = 0;
		for (int64_t k = 0; k < n; k++)
			exact[i] += function_of(kind, (double)x.s * (double)(tensor_get(&in, i * n + k) - x.z)) / (double)n;
		most = fmax(most, exact[i]);
	}
	/* The greatest is cut off in some, and in some all are small. */
	most *= between(r, 0.2, 1.2);
	struct q y = is_wide && test_random(r) & 1 ? wide(2 * most) : quantisation(r, most);
	if (y.type != 5)
		y.z = lowest(&y);
	struct ob g = begin(&x, &y, image ? 4 : 3, dim), a = { 0 };
	const bool keep = image || test_random(r) & 1;

	number(&g, "two", 2);
	ob_node(&g, functions[kind].name, kind == 0 ? "fx two" : kind == 1 ? "fx fx" : "fx", "m", NULL);
	if (!image) {
		ob_attr_ints(&a, "axes", 1, (int64_t[]){ -1 });
		ob_attr_int(&a, "keepdims", keep);
	}
	ob_node(&g, image ? "GlobalAveragePool" : "ReduceMean", "m", "f", &a);
	weft_net *net = end(&g, &y, image ? 4 : keep ? 3 : 2, rows, true, false);
	return differing_codes(net, &in, x.type != 2 && y.type != 2 ? 2 : 0, exact, &y, functions[kind].name, NULL);
}

static const int64_t row_sizes[] = { 2, 16, 48, 200, 512 };
#define N_SIZES (sizeof row_sizes / sizeof *row_sizes)

static void means(void **state)
{
	uint64_t r = 1;

	(void)state;
	for (size_t kind = 0; kind < sizeof functions / sizeof *functions; kind++)
		for (int is_wide = 0; is_wide <= functions[kind].of_wide; is_wide++) {
			int64_t differ = 0, all = 0;
			for (size_t k = 0; k < N_SIZES * (test_in_part() ? 2 : 8); k++) {
				differ += mean_once(kind, k & 1, row_sizes[k % N_SIZES], is_wide, &r);
				all += ROWS;
			}
			print_message("mean of %s%s: %lld of %lld elements differ by one step\n", functions[kind].name, is_wide ? " of int16" : "", (long long)differ,
			              (long long)all);
			assert_true(50 * differ <= all);
		}
}

/* Normalises a row of n floats, which have `step` between neighbours. */
static void norm(double *x, int64_t n, int64_t step, const float *gamma, const float *beta)
{
	double mean = 0, variance = 0;

	for (int64_t i = 0; i < n; i++)
		mean += x[i * step] / (double)n;
	for (int64_t i = 0; i < n; i++)
		variance += (x[i * step] - mean) * (x[i * step] - mean) / (double)n;
	for (int64_t i = 0; i < n; i++)
		x[i * step] = (x[i * step] - mean) / sqrt(variance + 1e-5) * (double)gamma[i] + (double)beta[i];
}

enum { NORM, FUNCTION, TURNED_MEAN, POOL, N_BEHIND };

/*
 * What stands behind the LayerNormalization that makes n, of rows of n elements: another one, x * tanh(-x),
 * or means of each column, of images as well.
 */
static void behind(struct ob *g, int kind)
{
	struct ob a = { 0 };

	if (kind == NORM) {
		ob_node(g, "LayerNormalization", "n gamma beta", "f", NULL);
	} else if (kind == FUNCTION) {
		ob_node(g, "Neg", "n", "m", NULL);
		ob_node(g, "Tanh", "m", "t", NULL);
		ob_node(g, "Mul", "n t", "f", NULL);
	} else if (kind == TURNED_MEAN) {
		ob_attr_ints(&a, "perm", 3, (int64_t[]){ 0, 2, 1 });
		ob_node(g, "Transpose", "n", "t", &a);
		ob_attr_ints(&a, "axes", 1, (int64_t[]){ 2 });
		ob_node(g, "ReduceMean", "t", "f", &a);
	} else {
		ob_attr_ints(&a, "perm", 4, (int64_t[]){ 0, 3, 1, 2 });
		ob_node(g, "Transpose", "n", "t", &a);
		ob_node(g, "GlobalAveragePool", "t", "f", &a);
	}
}

static int64_t behind_once(int kind, int64_t n, uint64_t *r, int64_t *all)
{
	static double exact[ROWS * MOST_ROW];
	const int rank = kind == POOL ? 4 : 3;
	const int64_t dim[] = { 2, ROWS / 2, kind == POOL ? 1 : n, n }, columns[] = { 2, n, 1, 1 };
	const struct q x = quantisation(r, between(r, 0.5, 30));
	struct q y = quantisation(r, between(r, 4, 9));
	float gamma[MOST_ROW], beta[MOST_ROW];
	weft_tensor in = make_codes(&x, rank, dim, n, r);

	for (int64_t i = 0; i < n; i++) {
		gamma[i] = (float)between(r, 0.5, 1.5);
		beta[i] = (float)between(r, -0.5, 0.5);
	}
	for (int64_t i = 0; i < ROWS * n; i++)
		exact[i] = (double)x.s * (double)(tensor_get(&in, i) - x.z);
	for (int64_t i = 0; i < ROWS; i++) {
		norm(exact + i * n, n, 1, gamma, beta);
		if (kind == NORM)
			norm(exact + i * n, n, 1, gamma, beta);
	}
	for (int64_t i = 0; i < ROWS * n && kind == FUNCTION; i++)
		exact[i] *= tanh(-exact[i]);
	for (int64_t i = 0; i < 2 * n && kind >= TURNED_MEAN; i++) {
		double sum = 0;
		for (int64_t k = 0; k < ROWS / 2; k++)
			sum += exact[(i / n * (ROWS / 2) + k) * n + i % n];
		exact[i / n * (ROWS / 2) * n + i % n] = sum / (ROWS / 2);
	}
	if (kind >= TURNED_MEAN)
		memmove(exact + n, exact + ROWS / 2 * n, (size_t)n * sizeof *exact);
	struct ob g = begin(&x, &y, rank, dim);
	ob_tensor(&g, "gamma", 1, 1, &n, gamma, (size_t)n * 4);
	ob_tensor(&g, "beta", 1, 1, &n, beta, (size_t)n * 4);
	ob_node(&g, "LayerNormalization", "fx gamma beta", "n", NULL);
	behind(&g, kind);
	weft_net *net = end(&g, &y, rank, kind < TURNED_MEAN ? dim : columns, true, false);
	return differing_codes(net, &in, x.type != 2 && y.type != 2 ? 2 : 0, exact, &y, "behind LayerNormalization", all);
}

static void behind_norms(void **state)
{
	static const char *const names[] = { "LayerNormalization", "Tanh", "ReduceMean", "GlobalAveragePool" };
	uint64_t r = 2;

	(void)state;
	for (int kind = 0; kind < N_BEHIND; kind++) {
		int64_t differ = 0, all = 0;
		for (size_t k = 0; k < N_SIZES * (test_in_part() ? 1 : 4); k++)
			differ += behind_once(kind, row_sizes[k % N_SIZES], &r, &all);
		print_message("%s behind LayerNormalization: %lld of %lld elements differ by one step\n", names[kind], (long long)differ, (long long)all);
		assert_true(50 * differ <= all);
	}
}

enum { VARIANCE, CENTRED, QUOTIENT, BY_SUM, SUM, LINEAR, NEAR_MEAN, N_PIECES };
enum { SUMMED = 3 };           /* codes of the second input for each row, of BY_SUM */

/*
 * Sets row i of the second input v to random codes above 0, small ones among them; of BY_SUM to SUMMED such codes, which are below 0
 * in every other row. Returns by what piece_once() divides the row of x.
 */
static double divisor(int kind, const struct q *q, weft_tensor *v, int64_t i, uint64_t *r)
{
	const int top = q->type == 5 ? 32767 : q->type == 3 ? 127 : 255, n = kind == BY_SUM ? SUMMED : 1;
	int64_t sum = 0;

	for (int k = 0; k < n; k++) {
		const int64_t code = (1 + (int64_t)(test_random(r) % (uint64_t)top)) >> test_random(r) % (top > 255 ? 12 : 5), some = code ? code : 1;
		tensor_set(v, i * n + k, kind == BY_SUM && i & 1 ? -some : some);
		sum += tensor_get(v, i * n + k);
	}
	return kind == BY_SUM ? (double)q->s * (double)sum : sqrt((double)q->s * (double)sum);
}

/*
 * Builds and runs one network of nodes by which files of opsets below 17 spell LayerNormalization: the variance of each row
 * (VARIANCE); the row less its mean (CENTRED), or the row itself (QUOTIENT), divided by the square root of a second input, which
 * has one code for each row; or of linear attention: the row divided by a sum of the second input (BY_SUM), and its sum (SUM); or 1.3 - 0.7 (row - second input) (LINEAR).
 * NEAR_MEAN is CENTRED of rows with two neighbouring codes: small numerators make many steps of the result, of some rows more than it has.
 * Adds the number of elements to *all and returns how many of them differ from the exact codes.
 */
static int64_t piece_once(int kind, bool is_wide, int64_t n, uint64_t *r, int64_t *all)
{
	static double exact[ROWS * MOST_ROW];
	const bool reduces = kind == VARIANCE || kind == SUM;
	const int64_t dim[] = { 2, ROWS / 2, n }, rows[] = { 2, ROWS / 2, 1 }, of_v[] = { 2, ROWS / 2, kind == BY_SUM ? SUMMED : 1 };
	const struct q x = is_wide ? wide(between(r, 0.5, 30)) : quantisation(r, between(r, 0.5, 30));
	struct q v = { .s = (float)between(r, 0.01, 1) / (is_wide ? 128 : 1), .type = is_wide ? 5 : kind == BY_SUM ? 3 : 2 };
	weft_tensor in[2] = { make_codes(&x, 3, dim, n, r), make_codes(&v, 3, of_v, 1, r) };
	double most = kind == NEAR_MEAN ? 1e-9 : 1e-3;

	for (int64_t i = 0; i < ROWS * n && kind == NEAR_MEAN; i++)
		tensor_set(&in[0], i, 40 + i / n + (int64_t)(test_random(r) & 1));
	for (int64_t i = 0; i < ROWS; i++) {
		double mean = 0, variance = 0, sum = 0;
		const double by = divisor(kind, &v, &in[1], i, r);
		for (int64_t k = 0; k < n; k++)
			mean += kind == QUOTIENT || kind == BY_SUM || kind == LINEAR ? 0 : (double)x.s * (double)(tensor_get(&in[0], i * n + k) - x.z) / (double)n;
		for (int64_t k = 0; k < n; k++) {
			const double e = (double)x.s * (double)(tensor_get(&in[0], i * n + k) - x.z) - mean;
			variance += e * e / (double)n;
			sum += e + mean;
			exact[i * n + k] = kind == LINEAR ? (double)1.3f + (double)-0.7f * (e - (double)v.s * (double)tensor_get(&in[1], i)) : e / by;
			most = fmax(most, reduces ? 0 : fabs(exact[i * n + k]));
		}
		if (reduces)
			exact[i] = kind == SUM ? sum : variance;
		most = fmax(most, reduces ? fabs(exact[i]) : 0);
	}
	most *= kind == NEAR_MEAN ? between(r, 0.01, 1.2) : between(r, 0.2, 1.2);
	struct q y = is_wide ? wide(2 * most) : quantisation(r, kind == VARIANCE ? most : 2 * most);
	struct ob g = begin(&x, &y, 3, dim), a = { 0 };
	number(&g, "two", 2);
	parameters(&g, "sv", "zv", &v);
	ob_port(&g, 11, "v", v.type, 3, of_v);
	ob_node(&g, "DequantizeLinear", "v sv zv", "fv", NULL);
	ob_attr_ints(&a, "axes", 1, (int64_t[]){ -1 });
	ob_node(&g, "ReduceMean", "fx", "mean", &a);
	ob_node(&g, "Sub", "fx mean", "e", NULL);
	ob_node(&g, n & 32 ? "Pow" : "Mul", n & 32 ? "e two" : "e e", "squares", NULL);
	ob_attr_ints(&a, "axes", 1, (int64_t[]){ -1 });
	if (kind == VARIANCE)
		ob_node(&g, "ReduceMean", "squares", "f", &a);
	free(a.p);
	ob_node(&g, "Sqrt", "fv", "root", NULL);
	ob_tensor(&g, "last", 7, 1, &(int64_t){ 1 }, &(int64_t){ -1 }, 8);
	if (kind == BY_SUM || kind == SUM)
		ob_node(&g, "ReduceSum", kind == SUM ? "fx last" : "fv last", kind == SUM ? "f" : "sum", NULL);
	if (kind == LINEAR) {
		number(&g, "factor", -0.7f);
		number(&g, "more", 1.3f);
		ob_node(&g, "Sub", "fx fv", "d", NULL);
		ob_node(&g, "Mul", n & 32 ? "factor d" : "d factor", "p", NULL);
		ob_node(&g, "Add", "p more", "f", NULL);
	} else if (!reduces)
		ob_node(&g, "Div", kind == QUOTIENT ? "fx root" : kind == BY_SUM ? "fx sum" : "e root", "f", NULL);
	weft_net *net = end(&g, &y, 3, reduces ? rows : dim, true, false);
	const int alone = x.type != 2 && y.type != 2 && (reduces || v.type != 2) ? 2 : 0;
	const int64_t differ = differing_codes(net, in, alone, exact, &y, "a piece of normalisation", all);
	free(in[1].data);
	return differ;
}

/* Differences, quotients and sums, whose operands are exact numbers of up to 30 bits, or functions of codes. */
static void pieces(void **state)
{
	static const char *const names[] = { "variance", "centred quotient", "quotient", "quotient by a sum", "sum", "linear", "quotient of small differences" };
	uint64_t r = 3;

	(void)state;
	for (int kind = 0; kind < N_PIECES; kind++)
		for (int is_wide = 0; is_wide < 2; is_wide++) {
			int64_t differ = 0, all = 0;
			for (size_t k = 0; k < N_SIZES * (test_in_part() ? 1 : 4); k++)
				differ += piece_once(kind, is_wide, row_sizes[k % N_SIZES], &r, &all);
			print_message("%s%s: %lld of %lld elements differ by one step\n", names[kind], is_wide ? " of int16" : "", (long long)differ, (long long)all);
			assert_true(50 * differ <= all);
		}
}

/*
 * The root of a code below 0 is NaN, and so is a quotient by it: its code is the zero point, as QuantizeLinear
 * gives it for NaN. The result's scale is so fine that the numerators of the other rows are shifted left.
 */
static void roots_of_negatives(void **state)
{
	static const int64_t dim[] = { 2, 3, 8 }, rows[] = { 2, 3, 1 };

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		uint64_t r = seed;
		const bool is_wide = seed & 1;
		const struct q x = is_wide ? wide(3) : (struct q){ .s = 0.02f, .type = 3 };
		const struct q v = { .s = 0.01f, .type = is_wide ? 5 : 3 };
		const struct q y = { .s = 1e-4f * (float)seed, .z = is_wide ? 0 : 7, .type = x.type };
		weft_tensor in[2] = { make_codes(&x, 3, dim, 8, &r), make_codes(&v, 3, rows, 1, &r) };
		struct ob g = begin(&x, &y, 3, dim);

		parameters(&g, "sv", "zv", &v);
		ob_port(&g, 11, "v", v.type, 3, rows);
		ob_node(&g, "DequantizeLinear", "v sv zv", "fv", NULL);
		ob_node(&g, "Sqrt", "fv", "root", NULL);
		ob_node(&g, "Div", "fx root", "f", NULL);
		weft_net *net = end(&g, &y, 3, dim, true, false);
		for (int64_t i = 0; i < 6; i++)
			tensor_set(&in[1], i, i & 1 ? -1 - i : i + 1);
		weft_tensor out = run(net, WEFT_DEVICE_MODEL, in, 2);
		for (int64_t i = 0; i < 48; i++)
			if (i / 8 & 1)
				assert_int_equal(tensor_get(&out, i), y.z);
		weft_tensor_release(&out);
		weft_net_free(net);
		free(in[0].data);
		free(in[1].data);
	}
}

/*
 * A sum with a mask of attention, whose scale is so great that the other operand counts for nothing but where
 * both are small; codes that are an output as floats, too.
 */
static void masks(void **state)
{
	static const int64_t dim[] = { 2, 5, 8 };

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		uint64_t r = seed;
		const bool is_wide = seed & 1;
		const struct q x = is_wide ? wide(between(&r, 1, 6)) : (struct q){ .s = (float)between(&r, 0.01, 0.1), .type = 3 };
		const struct q y = { .s = seed % 3 ? 1.3e36f : 1e-4f * (float)(1 << seed), .type = x.type };
		weft_tensor in = make_codes(&x, 3, dim, 8, &r), out[2];
		int16_t mask[40];

		for (int i = 0; i < 40; i++)
			mask[i] = test_random(&r) & 1 ? 0 : is_wide ? INT16_MIN : -128 * 257;
		for (int rescale = 0; rescale < 2; rescale++) {
			struct ob g = begin(&x, &y, 3, dim);
			int8_t bytes[40];
			for (int i = 0; i < 40; i++)
				bytes[i] = (int8_t)(mask[i] ? -128 : 0);
			ob_tensor(&g, "mask", x.type, 3, (int64_t[]){ 1, 5, 8 }, is_wide ? (const void *)mask : bytes, is_wide ? 80 : 40);
			ob_node(&g, "DequantizeLinear", "mask sy zy", "fm", NULL);
			ob_node(&g, "Add", "fx fm", "f", NULL);
			if (seed & 2)
				ob_port(&g, 12, "fx", 1, 3, dim);
			weft_net *net = end(&g, &y, 3, dim, rescale, false);
			out[rescale] = run(net, rescale ? WEFT_DEVICE_MODEL : WEFT_DEVICE_GOLDEN, &in, !rescale ? 0 : seed & 2 ? 1 : 2);
			weft_net_free(net);
		}
		for (int64_t i = 0; i < weft_tensor_elements(&out[0]); i++)
			if (llabs(tensor_get(&out[0], i) - tensor_get(&out[1], i)) > 1)
				fail_msg("seed %d, element %lld: %lld, in floats %lld", (int)seed, (long long)i, (long long)tensor_get(&out[1], i), (long long)tensor_get(&out[0], i));
		weft_tensor_release(&out[0]);
		weft_tensor_release(&out[1]);
		free(in.data);
	}
}

enum { SLOPES, POOLED, INSTANCES, GROUPS, N_IMAGES };
enum { CHANNELS = 6, H = 7, W = 6, PER_GROUP = 2, IMAGES = 2 * CHANNELS };

/* The average of the elements of image x [H,W] under a window of 3 by 3 around row y and column c, of which some lie outside. */
static double average_at(const double *x, int64_t y, int64_t c)
{
	double sum = 0;
	int n = 0;

	for (int64_t i = y - 1; i <= y + 1; i++)
		for (int64_t k = c - 1; k <= c + 1; k++)
			if (i >= 0 && i < H && k >= 0 && k < W) {
				sum += x[i * W + k];
				n++;
			}
	return sum / n;
}

/*
 * Sets exact to what a kind of nodes makes of images x: a PRelu with a slope for each channel, without and with an AveragePool
 * of stride 2 behind it, InstanceNormalization or GroupNormalization. Returns the number of elements.
 */
static int64_t image_exact(int kind, const weft_tensor *in, const struct q *q, const float *slope, const float *beta, double *exact)
{
	static double x[IMAGES * H * W], pooled[IMAGES * H * W];
	const int64_t n = H * W, row = kind == GROUPS ? PER_GROUP * n : n;
	int64_t count = 0;

	for (int64_t i = 0; i < IMAGES * n; i++) {
		x[i] = (double)q->s * (double)(tensor_get(in, i) - q->z);
		if (kind <= POOLED && x[i] < 0)
			x[i] *= (double)slope[i / n % CHANNELS];
	}
	for (int64_t i = 0; i < IMAGES * n && kind >= INSTANCES; i += row) {
		static const float zero[PER_GROUP * H * W] = { 0 };
		float gamma[PER_GROUP * H * W];
		for (int64_t k = 0; k < row; k++)
			gamma[k] = 1;
		norm(x + i, row, 1, gamma, zero);
	}
	for (int64_t i = 0; i < IMAGES * n && kind >= INSTANCES; i++)
		x[i] = x[i] * (double)slope[i / n % CHANNELS] + (double)beta[i / n % CHANNELS];
	for (int64_t i = 0; i < IMAGES && kind == POOLED; i++)
		for (int64_t y = 0; y < H; y += 2)
			for (int64_t c = 0; c < W; c += 2)
				pooled[count++] = average_at(x + i * n, y, c);
	count = kind == POOLED ? count : IMAGES * n;
	memcpy(exact, kind == POOLED ? pooled : x, (size_t)count * sizeof *exact);
	return count;
}

static int64_t image_once(int kind, bool is_wide, uint64_t *r, int64_t *all)
{
	static double exact[IMAGES * H * W];
	static const int64_t dim[] = { 2, CHANNELS, H, W }, halved[] = { 2, CHANNELS, (H + 1) / 2, W / 2 }, vector[] = { CHANNELS, 1, 1 };
	const struct q x = is_wide ? wide(between(r, 0.5, 30)) : quantisation(r, between(r, 0.5, 30));
	float slope[CHANNELS], beta[CHANNELS];
	weft_tensor in = make_codes(&x, 4, dim, W, r);
	double most = 1e-3;

	for (int i = 0; i < CHANNELS; i++) {
		slope[i] = kind == POOLED && is_wide ? 1 : (float)between(r, -0.5, 1.5);
		beta[i] = (float)between(r, -0.5, 0.5);
	}
	const int64_t count = image_exact(kind, &in, &x, slope, beta, exact);
	for (int64_t i = 0; i < count; i++)
		most = fmax(most, fabs(exact[i]));
	const struct q y = is_wide ? wide(2 * most * between(r, 0.5, 1.2)) : quantisation(r, 2 * most * between(r, 0.5, 1.2));
	struct ob g = begin(&x, &y, 4, dim), a = { 0 };
	ob_tensor(&g, "slope", 1, kind <= POOLED ? 3 : 1, vector, slope, sizeof slope);
	ob_tensor(&g, "beta", 1, 1, vector, beta, sizeof beta);
	if (kind == GROUPS)
		ob_attr_int(&a, "num_groups", CHANNELS / PER_GROUP);
	if (kind != POOLED || !is_wide)
		ob_node(&g, kind <= POOLED ? "PRelu" : kind == GROUPS ? "GroupNormalization" : "InstanceNormalization", kind <= POOLED ? "fx slope" : "fx slope beta",
		        kind == POOLED ? "p" : "f", &a);
	if (kind == POOLED) {
		ob_attr_ints(&a, "kernel_shape", 2, (int64_t[]){ 3, 3 });
		ob_attr_ints(&a, "pads", 4, (int64_t[]){ 1, 1, 1, 1 });
		ob_attr_ints(&a, "strides", 2, (int64_t[]){ 2, 2 });
		ob_node(&g, "AveragePool", is_wide ? "fx" : "p", "f", &a);
	}
	codes_opset = kind == GROUPS ? 21 : 17;
	weft_net *net = end(&g, &y, 4, kind == POOLED ? halved : dim, true, false);
	return differing_codes(net, &in, x.type != 2 && y.type != 2 ? 2 : 0, exact, &y, "images", all);
}

/* What has a vector with an element for each channel of images; averages of int16 are those of the codes themselves. */
static void images(void **state)
{
	static const char *const names[] = { "PRelu", "AveragePool behind PRelu", "InstanceNormalization", "GroupNormalization" };
	uint64_t r = 4;

	(void)state;
	for (int kind = 0; kind < N_IMAGES; kind++)
		for (int is_wide = 0; is_wide < 2; is_wide++) {
			int64_t differ = 0, all = 0;
			for (int k = 0; k < (test_in_part() ? 4 : 12); k++)
				differ += image_once(kind, is_wide, &r, &all);
			print_message("%s%s: %lld of %lld elements differ by one step\n", names[kind], is_wide ? " of int16" : "", (long long)differ, (long long)all);
			assert_true(50 * differ <= all);
		}
}

/*
 * Floats that the network gives, of codes that are held with another dimension last: the codes are moved on the NPU, not the
 * floats, which only the host can make of them.
 */
static void turned_outputs(void **state)
{
	static const int64_t dim[] = { 3, 4, 5 };
	uint64_t r = 9;

	(void)state;
	for (int is_wide = 0; is_wide < 2; is_wide++) {
		const struct q x = is_wide ? wide(9) : (struct q){ .s = 0.05f, .type = 3, .z = 7 }, y = is_wide ? wide(2) : (struct q){ .s = 1 / 256.0f, .type = 3, .z = -128 };
		struct ob g = begin(&x, &y, 3, dim), a = { 0 };

		ob_attr_int(&a, "axis", 1);
		ob_node(&g, "Softmax", "fx", "s", &a);
		ob_node(&g, "QuantizeLinear", "s sy zy", "c", NULL);
		ob_node(&g, "DequantizeLinear", "c sy zy", "f", NULL);
		weft_net *net = end(&g, &y, 3, dim, true, true);
		weft_tensor in = make_codes(&x, 3, dim, 5, &r), out = run(net, WEFT_DEVICE_MODEL, &in, 1);
		weft_tensor_release(&out);
		free(in.data);
		weft_net_free(net);
	}
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(where), cmocka_unit_test(functions_wide), cmocka_unit_test(tables), cmocka_unit_test(means),
		cmocka_unit_test(behind_norms), cmocka_unit_test(pieces), cmocka_unit_test(roots_of_negatives), cmocka_unit_test(images), cmocka_unit_test(turned_outputs),
		cmocka_unit_test(masks), cmocka_unit_test(no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
