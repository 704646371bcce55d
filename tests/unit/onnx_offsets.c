/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QDQ graphs of uint16, and of int16 with zero points other than 0: products with weights of int8 and uint8, sums,
 * products and matrix products of two, averages, moves and functions of elements. On the functional model, every tensor
 * checked, with nothing on the host in the middle, against exact values: no code is more than one step from the exact one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../support/onnx_codes.h"

enum { MOST = 4096 };

static double exact[MOST];

/*
 * Runs net on the model, frees it, and returns its result. Only two things may be on the host: what makes int16 of
 * uint16 at the ends, and what transposes images at the ends to the order of dimensions that convolutions have.
 */
static weft_tensor run_alone(weft_net *net, const struct q *x, const struct q *y, const weft_tensor *in)
{
	weft_tensor out = run(net, WEFT_DEVICE_MODEL, in, x->type == 5 && y->type == 5 && in->rank < 4);

	if (last_run.switches > 2 || last_run.host_macs || !(last_run.npu_cycles > 0))
		fail_msg("%d switches, %d multiplications on the host, %g of the cycles on the NPU", last_run.switches, (int)last_run.host_macs,
		         last_run.npu_cycles);

	weft_net_free(net);
	return out;
}

/* Runs it as run_alone() does; more than `most` codes that are not exact are a failure. Frees the data of *in. */
static void expect_exact(weft_net *net, const struct q *x, const struct q *y, weft_tensor *in, int64_t most, const char *what, uint64_t seed)
{
	weft_tensor out = run_alone(net, x, y, in);
	const int64_t differ = count_differing(&out, exact, y, what);

	if (differ > most)
		fail_msg("%s, seed %d: %d codes differ", what, (int)seed, (int)differ);
	weft_tensor_release(&out);
	free(in->data);
}

static int pick(uint64_t *r, int lo, int hi) { return lo + (int)test_below(r, (uint64_t)(hi - lo + 1)); }

/* A scale for results of this range, and a zero point such that they use the codes well. */
static struct q for_range(uint64_t *r, double lo, double hi)
{
	struct q q = offset(r, (hi - lo) * between(r, 0.5, 1.3) + 0.05);
	const double z = lowest(&q) - lo / (double)q.s;

	q.z = (int)fmin(fmax(z, lowest(&q)), highest(&q));
	return q;
}

/* For what exact[] holds. */
static struct q for_exact(uint64_t *r, int64_t n)
{
	double lo = exact[0], hi = exact[0];

	for (int64_t i = 1; i < n; i++) {
		lo = fmin(lo, exact[i]);
		hi = fmax(hi, exact[i]);
	}
	return for_range(r, lo, hi);
}

static double value(const weft_tensor *t, int64_t i, const struct q *q)
{
	return (double)q->s * (double)(tensor_get(t, i) - q->z);
}

/* ---- products with weights ---- */

/* Weights of int8 (3) or uint8 (2), one scale for each output or one in all, and an int32 bias for each output. */
struct weights { int type, zp, n_scales; int outputs; uint8_t code[1024]; float scale[16]; int32_t bias[16]; };

static int weight(const struct weights *w, int i) { return w->type == 3 ? (int8_t)w->code[i] : w->code[i] - w->zp; }

static struct weights make_weights(uint64_t *r, int outputs, int each, const struct q *x)
{
	struct weights w = { .type = pick(r, 2, 3), .outputs = outputs };

	w.zp = w.type == 3 ? 0 : pick(r, 0, 3) ? pick(r, 100, 150) : pick(r, 0, 255);
	w.n_scales = test_random(r) % 2 ? outputs : 1;
	for (int i = 0; i < outputs * each; i++)
		w.code[i] = (uint8_t)(pick(r, 0, 9) ? pick(r, 0, 255) : 128 * pick(r, 0, 1));
	for (int i = 0; i < outputs; i++) {
		w.scale[i] = w.n_scales > 1 || !i ? (float)between(r, 0.001, 0.02) : w.scale[0];
		w.bias[i] = (int32_t)(between(r, -2, 2) / (double)(x->s * w.scale[i]));
	}
	return w;
}

/* Adds the weights [dim] and the bias to g as the floats fw and fb. The outputs lie along axis of the weights. */
static void add_weights(struct ob *g, const struct weights *w, int rank, const int64_t *dim, int axis, const struct q *x)
{
	const int64_t n = w->n_scales, outputs = w->outputs;
	uint8_t zero[16];
	float both[16];
	struct ob a = { 0 };

	memset(zero, w->zp, sizeof zero);
	for (int i = 0; i < n; i++)
		both[i] = x->s * w->scale[i];
	size_t bytes = 1;
	for (int i = 0; i < rank; i++)
		bytes *= (size_t)dim[i];
	ob_tensor(g, "w", w->type, rank, dim, w->code, bytes);
	ob_tensor(g, "sw", 1, n > 1, &n, w->scale, 4 * (size_t)n);
	ob_tensor(g, "zw", w->type, n > 1, &n, zero, (size_t)n);
	ob_tensor(g, "b", 6, 1, &outputs, w->bias, 4 * (size_t)outputs);
	ob_tensor(g, "sb", 1, n > 1, &n, both, 4 * (size_t)n);
	ob_attr_int(&a, "axis", axis);
	ob_node(g, "DequantizeLinear", "w sw zw", "fw", &a);
	ob_attr_int(&a, "axis", 0);
	ob_node(g, "DequantizeLinear", "b sb", "fb", &a);
}

struct conv { int h, w, c, oc, kh, kw, sy, sx, dy, dx, group, pad[4], oh, ow; };

static struct conv make_conv(uint64_t *r)
{
	struct conv v;

	do {
		v = (struct conv){ .h = pick(r, 1, 9), .w = pick(r, 1, 9), .group = pick(r, 1, 3), .kh = pick(r, 1, 3), .kw = pick(r, 1, 3),
			.sy = pick(r, 1, 2), .sx = pick(r, 1, 2), .dy = pick(r, 1, 2), .dx = pick(r, 1, 2) };
		v.c = v.group * pick(r, 1, 4);
		v.oc = v.group * pick(r, 1, 4);
		if (v.group == 3)
			v.c = v.oc = v.group = pick(r, 2, 12);
		for (int i = 0; i < 4; i++)
			v.pad[i] = pick(r, 0, 2);
		v.oh = (v.h + v.pad[0] + v.pad[2] - (v.kh - 1) * v.dy - 1) / v.sy + 1;
		v.ow = (v.w + v.pad[1] + v.pad[3] - (v.kw - 1) * v.dx - 1) / v.sx + 1;
	} while (v.h + v.pad[0] + v.pad[2] < (v.kh - 1) * v.dy + 1 || v.w + v.pad[1] + v.pad[3] < (v.kw - 1) * v.dx + 1);
	return v;
}

/* The exact convolution of x into exact[], with the bias. */
static void convolve(const struct conv *v, const struct weights *w, const weft_tensor *x, const struct q *q)
{
	const int each = v->c / v->group, per = v->oc / v->group;

	for (int o = 0; o < v->oc; o++)
		for (int y = 0; y < v->oh; y++)
			for (int e = 0; e < v->ow; e++) {
				int64_t sum = w->bias[o];
				for (int i = 0; i < each * v->kh * v->kw; i++) {
					const int c = o / per * each + i / (v->kh * v->kw);
					const int iy = y * v->sy + i / v->kw % v->kh * v->dy - v->pad[0], ix = e * v->sx + i % v->kw * v->dx - v->pad[1];
					if (iy >= 0 && iy < v->h && ix >= 0 && ix < v->w)
						sum += weight(w, o * each * v->kh * v->kw + i) * (tensor_get(x, (c * v->h + iy) * v->w + ix) - q->z);
				}
				exact[(o * v->oh + y) * v->ow + e] = (double)sum * (double)q->s * (double)w->scale[o];
			}
}

/* Adds a Relu or a Clip, of which exact[] then has the values. */
static void limit(struct ob *g, int way, int64_t n)
{
	static const float lo = -0.7f, hi = 1.1f;

	ob_tensor(g, "lo", 1, 0, NULL, &lo, 4);
	ob_tensor(g, "hi", 1, 0, NULL, &hi, 4);
	ob_node(g, way == 1 ? "Relu" : "Clip", way == 1 ? "p" : "p lo hi", "f", NULL);
	for (int64_t i = 0; i < n; i++)
		exact[i] = way == 1 ? fmax(exact[i], 0) : fmin(fmax(exact[i], (double)lo), (double)hi);
}

static void convolutions(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 120; seed++) {
		uint64_t r = seed;
		const struct conv v = make_conv(&r);
		const struct q x = offset(&r, between(&r, 1, 9));
		const int64_t dim[] = { 1, v.c, v.h, v.w }, wdim[] = { v.oc, v.c / v.group, v.kh, v.kw }, ydim[] = { 1, v.oc, v.oh, v.ow };
		const struct weights w = make_weights(&r, v.oc, (int)wdim[1] * v.kh * v.kw, &x);
		const int way = pick(&r, 0, 2);
		weft_tensor in = make_codes(&x, 4, dim, 7, &r);
		struct ob a = { 0 };

		convolve(&v, &w, &in, &x);
		const int64_t n = v.oc * v.oh * v.ow;
		const struct q y = for_exact(&r, n);
		struct ob g = begin(&x, &y, 4, dim);
		add_weights(&g, &w, 4, wdim, 0, &x);
		ob_attr_ints(&a, "pads", 4, (int64_t[]){ v.pad[0], v.pad[1], v.pad[2], v.pad[3] });
		ob_attr_ints(&a, "strides", 2, (int64_t[]){ v.sy, v.sx });
		ob_attr_ints(&a, "dilations", 2, (int64_t[]){ v.dy, v.dx });
		ob_attr_int(&a, "group", v.group);
		ob_node(&g, "Conv", "fx fw fb", way ? "p" : "f", &a);
		if (way)
			limit(&g, way, n);
		expect_exact(end(&g, &y, 4, ydim, seed & 1, false), &x, &y, &in, n / 20, "Conv", seed);
	}
}

/* Gemm with weights of both orders, and MatMul, of which the bias is 0. */
static void matrices(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t r = seed;
		const int rows = pick(&r, 1, 9), inner = pick(&r, 1, 60), n = pick(&r, 1, 12), way = pick(&r, 0, 2);
		const struct q x = offset(&r, between(&r, 1, 9));
		const int64_t dim[] = { rows, inner }, wdim[] = { way == 1 ? n : inner, way == 1 ? inner : n }, ydim[] = { rows, n };
		struct weights w = make_weights(&r, n, inner, &x);
		weft_tensor in = make_codes(&x, 2, dim, 7, &r);
		struct ob a = { 0 };

		for (int i = 0; i < rows; i++)
			for (int o = 0; o < n; o++) {
				int64_t sum = way == 2 ? 0 : w.bias[o];
				for (int k = 0; k < inner; k++)
					sum += weight(&w, way == 1 ? o * inner + k : k * n + o) * (tensor_get(&in, i * inner + k) - x.z);
				exact[i * n + o] = (double)sum * (double)x.s * (double)w.scale[o];
			}
		const struct q y = for_exact(&r, rows * n);
		struct ob g = begin(&x, &y, 2, dim);
		add_weights(&g, &w, 2, wdim, way == 1 ? 0 : 1, &x);
		if (way == 1)
			ob_attr_int(&a, "transB", 1);
		ob_node(&g, way == 2 ? "MatMul" : "Gemm", way == 2 ? "fx fw" : "fx fw fb", "f", &a);
		expect_exact(end(&g, &y, 2, ydim, seed & 1, false), &x, &y, &in, 1 + rows * n / 20, "Gemm", seed);
	}
}

/* Sums that int32 does not hold: weights all at one end, 2000 of them. */
static void long_sums(void **state)
{
	enum { INNER = 2000, N = 3 };
	static int8_t code[INNER * N];
	static const int64_t dim[] = { 2, INNER }, wdim[] = { INNER, N }, ydim[] = { 2, N };
	static const float scale = 0.001f;

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		uint64_t r = seed;
		const struct q x = offset(&r, 4);
		weft_tensor in = make_codes(&x, 2, dim, 400, &r);

		for (int i = 0; i < INNER * N; i++)
			code[i] = (int8_t)(i % N == 0 ? 127 : i % N == 1 ? -127 : pick(&r, 20, 127));
		for (int i = 0; i < 2 * N; i++) {
			int64_t sum = 0;
			for (int k = 0; k < INNER; k++)
				sum += code[k * N + i % N] * (tensor_get(&in, i / N * INNER + k) - x.z);
			exact[i] = (double)sum * (double)x.s * (double)scale;
		}
		const struct q y = for_exact(&r, 2 * N);
		struct ob g = begin(&x, &y, 2, dim);
		ob_tensor(&g, "w", 3, 2, wdim, code, sizeof code);
		ob_tensor(&g, "sw", 1, 0, NULL, &scale, 4);
		ob_node(&g, "DequantizeLinear", "w sw", "fw", NULL);
		ob_node(&g, "MatMul", "fx fw", "f", NULL);
		expect_exact(end(&g, &y, 2, ydim, false, false), &x, &y, &in, 0, "long sums", seed);
	}
}

/* ---- two operands ---- */

/* Splits x into two by Slice; both are requantised with parameters of their own where the file has them. */
static void halves(struct ob *g, int64_t at, int64_t n, int axis, const struct q *b)
{
	static const int64_t one = 1;
	const int64_t zero = 0, along = axis;

	ob_tensor(g, "start", 7, 1, &one, &zero, 8);
	ob_tensor(g, "middle", 7, 1, &one, &at, 8);
	ob_tensor(g, "stop", 7, 1, &one, &n, 8);
	ob_tensor(g, "along", 7, 1, &one, &along, 8);
	ob_node(g, "Slice", "x start middle along", "xa", NULL);
	ob_node(g, "Slice", "x middle stop along", "xb", NULL);
	parameters(g, "sb", "zb", b);
	ob_node(g, "DequantizeLinear", "xa sx zx", "fa", NULL);
	ob_node(g, "DequantizeLinear", "xb sb zb", "fb", NULL);
}

static void pairs(void **state)
{
	static const char *const ops[] = { "Add", "Sub", "Mul" };
	static const int64_t dim[] = { 1, 4, 5, 16 }, ydim[] = { 1, 2, 5, 16 };

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t r = seed;
		const int op = (int)(seed % 3);
		const struct q x = offset(&r, between(&r, 1, 9));
		struct q b = x;
		weft_tensor in = make_codes(&x, 4, dim, 7, &r);

		b.s = (float)between(&r, 1, 9) / 65535;
		b.z = lowest(&b) + pick(&r, 0, 65535);
		for (int i = 0; i < 160; i++) {
			const double u = value(&in, i, &x), v = value(&in, 160 + i, &b);
			exact[i] = op == 0 ? u + v : op == 1 ? u - v : u * v;
		}
		const struct q y = for_exact(&r, 160);
		struct ob g = begin(&x, &y, 4, dim);
		halves(&g, 2, 4, 1, &b);
		ob_node(&g, ops[op], "fa fb", "f", NULL);
		expect_exact(end(&g, &y, 4, ydim, op == 2 || (seed & 8), false), &x, &y, &in, 8, ops[op], seed);
	}
}

/* MatMul of two tensors. */
static void products(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		uint64_t r = seed;
		const int n = pick(&r, 1, 24);
		const int64_t dim[] = { 2, 2 * n, n }, ydim[] = { 2, n, n };
		const struct q x = offset(&r, between(&r, 1, 9));
		struct q b = x;
		weft_tensor in = make_codes(&x, 3, dim, 7, &r);

		b.s *= 0.37f;
		b.z = lowest(&b) + pick(&r, 0, 65535);
		for (int i = 0; i < 2 * n * n; i++) {
			const int h = i / (n * n), row = i / n % n, col = i % n;
			int64_t sum = 0;
			for (int k = 0; k < n; k++)
				sum += (tensor_get(&in, (h * 2 * n + row) * n + k) - x.z) * (tensor_get(&in, (h * 2 * n + n + k) * n + col) - b.z);
			exact[i] = (double)sum * (double)x.s * (double)b.s;
		}
		const struct q y = for_exact(&r, 2 * n * n);
		struct ob g = begin(&x, &y, 3, dim);
		halves(&g, n, 2 * n, 1, &b);
		ob_node(&g, "MatMul", "fa fb", "f", NULL);
		expect_exact(end(&g, &y, 3, ydim, true, false), &x, &y, &in, 2 + 2 * n * n / 20, "MatMul", seed);
	}
}

/* ---- averages ---- */

/* Under windows of 3 by 3 with a border of 1, of which the elements count if `padding` is set. */
static void windows(void **state)
{
	static const int64_t dim[] = { 1, 3, 5, 6 };

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		uint64_t r = seed;
		const bool padding = seed & 1;
		const struct q x = offset(&r, between(&r, 1, 9));
		weft_tensor in = make_codes(&x, 4, dim, 7, &r);
		struct ob a = { 0 };

		for (int i = 0; i < 90; i++) {
			double sum = 0;
			int count = 0;
			for (int k = 0; k < 9; k++) {
				const int h = i / 6 % 5 + k / 3 - 1, w = i % 6 + k % 3 - 1;
				const bool inside = h >= 0 && h < 5 && w >= 0 && w < 6;
				sum += inside ? value(&in, i / 30 * 30 + h * 6 + w, &x) : 0;
				count += inside || padding;
			}
			exact[i] = sum / count;
		}
		const struct q y = for_exact(&r, 90);
		struct ob g = begin(&x, &y, 4, dim);
		ob_attr_ints(&a, "kernel_shape", 2, (int64_t[]){ 3, 3 });
		ob_attr_ints(&a, "pads", 4, (int64_t[]){ 1, 1, 1, 1 });
		ob_attr_int(&a, "count_include_pad", padding);
		ob_node(&g, "AveragePool", "fx", "f", &a);
		expect_exact(end(&g, &y, 4, dim, true, false), &x, &y, &in, 2, "AveragePool", seed);
	}
}

static void averages(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		uint64_t r = seed;
		const int c = pick(&r, 1, 20), h = pick(&r, 1, 8), w = pick(&r, 1, 8);
		const bool rows = seed % 3 == 0;
		const int64_t dim[] = { 1, c, h, w }, ydim[] = { 1, c, rows ? h : 1, 1 };
		const struct q x = offset(&r, between(&r, 1, 9));
		weft_tensor in = make_codes(&x, 4, dim, 7, &r);
		const int each = rows ? w : h * w, n = c * h * w / each;
		struct ob a = { 0 };

		for (int i = 0; i < n; i++) {
			exact[i] = 0;
			for (int k = 0; k < each; k++)
				exact[i] += value(&in, i * each + k, &x) / each;
		}
		const struct q y = for_exact(&r, n);
		struct ob g = begin(&x, &y, 4, dim);
		if (rows)
			ob_attr_ints(&a, "axes", 1, (int64_t[]){ 3 });
		ob_node(&g, rows ? "ReduceMean" : "GlobalAveragePool", "fx", "f", &a);
		expect_exact(end(&g, &y, 4, ydim, true, false), &x, &y, &in, n, "mean", seed);
	}
}

/* ---- moves and functions: the bits of floats ---- */

static void functions(void **state)
{
	static const char *const names[] = { "Relu", "Sigmoid", "HardSwish", "Neg", "Tanh", "LeakyRelu" };
	static const int64_t dim[] = { 1, 4, 6, 6 }, joined[] = { 1, 8, 3, 3 };

	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		uint64_t r = seed;
		const struct q x = offset(&r, between(&r, 1, 6)), y = offset(&r, between(&r, 1, 6));
		weft_tensor in = make_codes(&x, 4, dim, 7, &r), out[2];

		for (int floats = 0; floats < 2; floats++) {
			struct ob g = begin(&x, &y, 4, dim), a = { 0 };
			ob_attr_ints(&a, "kernel_shape", 2, (int64_t[]){ 2, 2 });
			ob_attr_ints(&a, "strides", 2, (int64_t[]){ 2, 2 });
			ob_node(&g, "MaxPool", "fx", "p", &a);
			ob_node(&g, names[seed % 6], "p", "m", NULL);
			ob_attr_int(&a, "axis", 1);
			ob_node(&g, "Concat", "m p", "f", &a);
			weft_net *net = end(&g, &y, 4, joined, !floats, floats);
			out[floats] = run(net, floats ? WEFT_DEVICE_GOLDEN : WEFT_DEVICE_MODEL, &in, !floats && x.type == 5 && y.type == 5);
			weft_net_free(net);
		}
		assert_int_equal(weft_tensor_bytes(&out[0]), 8 * 9 * 2);
		assert_memory_equal(out[0].data, out[1].data, 8 * 9 * 2);
		weft_tensor_release(&out[0]);
		weft_tensor_release(&out[1]);
		free(in.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolutions),
		cmocka_unit_test(matrices),
		cmocka_unit_test(long_sums),
		cmocka_unit_test(pairs),
		cmocka_unit_test(products),
		cmocka_unit_test(averages),
		cmocka_unit_test(windows),
		cmocka_unit_test(functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
