/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA's dot product check on float8: data sets 0 to 5 of its appendix, both of
 * its encodings, sums of 1 to 4608 products, 1024 results each; in golden, and on
 * the RTL (else on the model) as compiled programs.
 *
 * The limits are the stricter reading of the text: every bound is of the result's
 * own operands, and where all products are zero the result must be 0. Reference and
 * bound are computed here in fp64, from the encoded data.
 *
 * Source: TOSA 1.0, "Dot product accuracy requirements" and appendix A.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/convert.h>

#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include "userlib/run/golden_exec.h"
#include "userlib/run/internal.h"
#include "userlib/conform/judge.h"

#define CHANNELS 32
#define PIXELS   32            /* 4 x 8 */
#define OUTPUTS  (CHANNELS * PIXELS)

enum kind { CONV, DEPTHWISE, MATMUL };

static const struct shape { enum kind kind; int kernel, channels; } shapes[] = {
	{ CONV, 1, 1 }, { CONV, 1, 2 }, { CONV, 1, 3 }, { CONV, 3, 1 }, { CONV, 1, 16 }, { CONV, 1, 17 }, { CONV, 1, 100 },
	{ CONV, 3, 16 }, { CONV, 1, 512 }, { CONV, 5, 40 }, { CONV, 3, 512 }, { CONV, 1, 4608 }, { DEPTHWISE, 3, CHANNELS },
	{ DEPTHWISE, 5, CHANNELS }, { MATMUL, 1, 1 }, { MATMUL, 1, 16 }, { MATMUL, 1, 513 }, { MATMUL, 1, 4608 },
};

/* ---- data ---- */

/* set_data(set, 0...n-1) */
static double *sequence(uint32_t set, size_t n)
{
	uint32_t m = (8 * set + 1) * 0x705a5e75u, r = m + 1;
	double *v = malloc(n * sizeof(*v));

	assert_non_null(v);
	for (size_t i = 0; i < n; i++, r = r * m + 1) {
		float size = (float)(r & 0x7fffffff) / (float)0x7fffffff;
		v[i] = r >> 31 ? -size : size;
	}
	return v;
}

struct source { double *s[3]; size_t n; int set; double b, ks; };

static double large(const double *s, size_t i)
{
	return (s[2 * i] < 0 ? -0.75 : 0.75) + 0.25 * s[2 * i + 1];
}

/* tosa_pro_fp_data(S, KS, p, k, i) */
static double value(const struct source *d, int p, int64_t k, size_t i)
{
	const double *s = d->s[p];
	bool minus = d->s[0][i] < 0;

	switch (d->set) {
	case 0: return p == 2 ? 0 : minus == (p == 0) ? 0 : d->s[1][i];
	case 1: return p == 2 ? d->b * d->b / (d->ks + 1) * large(s, i) : d->b / sqrt(d->ks + 1) * large(s, i);
	case 2: return p == 2 ? 0 : k == 0 ? 1 : s[i] / sqrt(d->ks);
	case 3:
		if (p == 2)
			return 0;
		return k == 0 ? (s[2 * i] < 0 ? -16 : 16) : exp(2 * s[2 * i]) * s[2 * i + 1];
	case 4:
		if (p == 2)
			return 0;
		if (k == (int64_t)d->ks / 2)
			return minus == (p == 0) ? -0.5 : 0.5;
		return minus == (p == 0) ? 0 : d->b / sqrt(d->ks) * d->s[1][i];
	default: return p == 2 ? 0 : d->b / sqrt(d->ks) * s[i];
	}
}

/* ---- one case ---- */

struct one {
	struct shape shape;
	weft_dtype type;
	int set;
	int64_t ks;
	weft_tensor x, w, b;
	double ref[OUTPUTS], bound[OUTPUTS];
};

static weft_tensor tensor_of(weft_dtype t, int rank, const int64_t *dim)
{
	weft_tensor v = { .dtype = t, .rank = rank };

	memcpy(v.dim, dim, (size_t)rank * sizeof(*dim));
	v.data = calloc(1, weft_tensor_bytes(&v));
	assert_non_null(v.data);
	return v;
}

static void put(const weft_tensor *t, int64_t i, double v)
{
	uint64_t code = weft_float_encode(t->dtype, v, false);

	if (weft_dtype_bytes(t->dtype) == 1)
		((uint8_t *)t->data)[i] = (uint8_t)code;
	else
		((uint16_t *)t->data)[i] = (uint16_t)code;
}

static double get(const weft_tensor *t, int64_t i)
{
	return weft_float_decode(t->dtype, weft_dtype_bytes(t->dtype) == 1 ? ((uint8_t *)t->data)[i] : ((uint16_t *)t->data)[i]);
}

static void fill_window(struct one *o, const struct source *d)
{
	const int kernel = o->shape.kernel, c = o->shape.channels, h = 3 + kernel, w = 7 + kernel;
	const bool dw = o->shape.kind == DEPTHWISE;

	o->x = tensor_of(o->type, 4, (int64_t[]){ 1, h, w, c });
	o->w = tensor_of(o->type, 4, dw ? (int64_t[]){ kernel, kernel, c, 1 } : (int64_t[]){ CHANNELS, kernel, kernel, c });
	for (int64_t i = 0; i < (int64_t)h * w * c; i++) {
		int64_t y = i / c / w, x = i / c % w, tap = y % kernel * kernel + x % kernel;
		put(&o->x, i, value(d, 0, dw ? tap : tap * c + i % c, (size_t)i));
	}
	for (int64_t i = 0; i < weft_tensor_elements(&o->w); i++)
		put(&o->w, i, value(d, 1, dw ? i / c : i % o->ks, (size_t)i));
}

static void fill_matrix(struct one *o, const struct source *d)
{
	const int64_t k = o->ks;

	o->x = tensor_of(o->type, 3, (int64_t[]){ 1, PIXELS, k });
	o->w = tensor_of(o->type, 3, (int64_t[]){ 1, k, CHANNELS });
	for (int64_t i = 0; i < PIXELS * k; i++)
		put(&o->x, i, value(d, 0, i % k, (size_t)i));
	for (int64_t i = 0; i < k * CHANNELS; i++)
		put(&o->w, i, value(d, 1, i / CHANNELS, (size_t)i));
}

static void fill(struct one *o)
{
	struct source d = { .set = o->set, .b = o->type == WEFT_FP8E4M3 ? 240 : 224 };

	o->ks = (int64_t)o->shape.kernel * o->shape.kernel * (o->shape.kind == DEPTHWISE ? 1 : o->shape.channels);
	d.ks = (double)o->ks;
	d.n = 2 * (size_t)(3 + o->shape.kernel) * (size_t)(7 + o->shape.kernel) * (size_t)o->shape.channels * CHANNELS + 2;
	for (int p = 0; p < 3; p++)
		d.s[p] = sequence((uint32_t)(3 * o->set + p), d.n);
	if (o->shape.kind == MATMUL)
		fill_matrix(o, &d);
	else
		fill_window(o, &d);
	o->b = tensor_of(WEFT_FP16, 1, (int64_t[]){ CHANNELS });
	for (int64_t i = 0; i < CHANNELS && o->shape.kind != MATMUL; i++)
		put(&o->b, i, value(&d, 2, 0, (size_t)i));
	for (int p = 0; p < 3; p++)
		free(d.s[p]);
}

/* Element of x and of w of product k of result (pixel, channel). */
static void operands(const struct one *o, int64_t pixel, int64_t ch, int64_t k, double *x, double *w)
{
	const int64_t kernel = o->shape.kernel, width = 7 + kernel, c = o->shape.channels;
	const bool dw = o->shape.kind == DEPTHWISE;

	if (o->shape.kind == MATMUL) {
		*x = get(&o->x, pixel * o->ks + k);
		*w = get(&o->w, k * CHANNELS + ch);
		return;
	}
	int64_t tap = dw ? k : k / c, in = dw ? ch : k % c;
	*x = get(&o->x, ((pixel / 8 + tap / kernel) * width + pixel % 8 + tap % kernel) * c + in);
	*w = get(&o->w, dw ? tap * c + ch : ch * o->ks + k);
}

static void reference(struct one *o)
{
	for (int64_t i = 0; i < OUTPUTS; i++) {
		double b = get(&o->b, i % CHANNELS), x, w;
		o->ref[i] = b;
		o->bound[i] = fabs(b);
		for (int64_t k = 0; k < o->ks; k++) {
			operands(o, i / CHANNELS, i % CHANNELS, k, &x, &w);
			o->ref[i] += x * w;
			o->bound[i] += fabs(x * w);
		}
	}
}

static weft_graph *graph_of(const struct one *o)
{
	static const weft_opcode op[] = { WEFT_OP_CONV2D, WEFT_OP_DEPTHWISE_CONV2D, WEFT_OP_MATMUL };
	weft_attr conv = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_FP16 } }, matmul = { .matmul = { 0 } };
	weft_graph *g = weft_graph_new("dot product");
	const bool mm = o->shape.kind == MATMUL;

	int x = weft_graph_tensor(g, "x", o->type, o->x.rank, o->x.dim), in[3] = { x, -1, -1 };
	g->tensors[x].is_input = true;
	in[1] = weft_graph_const(g, "w", o->type, o->w.rank, o->w.dim, memcpy(malloc(weft_tensor_bytes(&o->w)), o->w.data, weft_tensor_bytes(&o->w)));
	if (!mm)
		in[2] = weft_graph_const(g, "b", WEFT_FP16, 1, o->b.dim, memcpy(malloc(weft_tensor_bytes(&o->b)), o->b.data, weft_tensor_bytes(&o->b)));
	int y = weft_graph_tensor(g, "y", WEFT_FP16, mm ? 3 : 4, mm ? (int64_t[]){ 1, PIXELS, CHANNELS } : (int64_t[]){ 1, 4, 8, CHANNELS });
	g->tensors[y].is_output = true;
	g->inputs = malloc(sizeof(int));
	g->outputs = malloc(sizeof(int));
	g->inputs[g->n_inputs++] = x;
	g->outputs[g->n_outputs++] = y;
	int src = weft_graph_src(g, 0, weft_op_name(op[o->shape.kind]));
	assert_true(weft_graph_op(g, op[o->shape.kind], mm ? &matmul : &conv, src, in, mm ? 2 : 3, &y, 1) >= 0);
	return g;
}

/* ---- judging ---- */

struct share { double each, sum, squares; };

static void judge(const struct one *o, const weft_tensor *y, const char *where, struct share *most)
{
	const double ksb = (double)o->ks + (o->set == 1 && o->shape.kind != MATMUL), t = OUTPUTS;
	struct weft_judge j = { .mode = WEFT_JUDGE_DOT_PRODUCT, .s = o->set, .ksb = ksb };
	weft_tensor ref = *y, bound = *y;
	char msg[WEFT_JUDGE_MSG] = "";
	double sum = 0, squares = 0;

	ref.dtype = bound.dtype = WEFT_FP64;
	ref.data = (void *)o->ref;
	bound.data = (void *)o->bound;
	assert_int_equal(weft_tensor_elements(y), OUTPUTS);
	if (weft_judge(&j, y, y, &ref, &bound, msg))
		fail_msg("%s, %s, set %d, %lld products: %s", where, weft_dtype_name(o->type), o->set, (long long)o->ks, msg);
	for (int64_t i = 0; i < OUTPUTS; i++) {
		double scale = fmax(o->bound[i] * 0x1p-11, 0x1p-14), err = (get(y, i) - o->ref[i]) / scale;
		if (!isfinite(err) || !o->bound[i])
			continue;
		most->each = fmax(most->each, fabs(err) / (2 * ksb));
		sum += err;
		squares += err * err;
	}
	if (o->set >= 3)
		most->sum = fmax(most->sum, fabs(sum) / sqrt(16 * ksb * t));
	most->squares = fmax(most->squares, squares / (1.6 * ksb * t));
}

static void on_golden(const struct one *o, weft_graph *g, struct share *most)
{
	weft_tensor *all = calloc((size_t)g->n_tensors, sizeof(*all));
	char msg[WEFT_MSG] = "";

	if (weft_golden_exec(g, &o->x, all, false, msg))
		fail_msg("%s", msg);
	judge(o, &all[g->outputs[0]], "golden", most);
	weft_golden_release(g, all);
	free(all);
}

static void on_device(const struct one *o, weft_graph *g, enum weft_device device, struct share *most)
{
	struct weft_compile_options co = { .config = "w16" };
	struct weft_session_options so = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_net net = { .g = g };
	weft_program *p;
	weft_session *s;
	weft_tensor y;

	assert_int_equal(weft_compile(g, &co, &p, msg), 0);
	net.loaded = p;
	for (int i = 0; i < p->n_ops; i++)
		assert_int_equal(p->ops[i].unit, WEFT_ON_NPU);
	so.device = device;
	if (weft_session_open(&net, &so, &s, msg) || weft_session_run(s, &o->x, &y, NULL, msg))
		fail_msg("%s", msg);
	judge(o, &y, device == WEFT_DEVICE_RTL ? "RTL" : "model", most);
	weft_tensor_release(&y);
	weft_session_close(s);
	weft_program_free(p);
}

static void print_share(const char *where, weft_dtype t, const struct share *s)
{
	printf("%s, %s: at most %.4f of what one result may be off, %.4f of the sum, %.4f of the squares\n", where,
	       weft_dtype_name(t), s->each, s->sum, s->squares);
	fflush(stdout);
}

static void sets(weft_dtype type, enum weft_device device)
{
	struct share golden = { 0 }, npu = { 0 };

	for (size_t k = 0; k < sizeof(shapes) / sizeof(*shapes); k++)
		for (int set = 0; set <= 5; set++) {
			struct one *o = calloc(1, sizeof(*o));
			assert_non_null(o);
			o->shape = shapes[k];
			o->type = type;
			o->set = set;
			fill(o);
			reference(o);
			weft_graph *g = graph_of(o);
			on_golden(o, g, &golden);
			on_device(o, g, device, &npu);
			weft_graph_free(g);
			free(o->x.data);
			free(o->w.data);
			free(o->b.data);
			free(o);
		}
	print_share("golden", type, &golden);
	print_share(device == WEFT_DEVICE_RTL ? "RTL" : "model", type, &npu);
}

static enum weft_device best_device(void)
{
	return test_have_rtl("w16") ? WEFT_DEVICE_RTL : WEFT_DEVICE_MODEL;
}

static void e4m3(void **state)
{
	(void)state;
	sets(WEFT_FP8E4M3, best_device());
}

static void e5m2(void **state)
{
	(void)state;
	sets(WEFT_FP8E5M2, best_device());
}

/* The generator's first values, from the specification's text. */
static void generator(void **state)
{
	double *s0 = sequence(0, 4), *s5 = sequence(5, 3);

	(void)state;
	assert_float_equal(s0[0], .877757847, 1e-7);
	assert_float_equal(s0[3], .81099385, 1e-7);
	assert_float_equal(s5[0], -.988071501, 1e-7);
	assert_float_equal(s5[2], .932138503, 1e-7);
	free(s0);
	free(s5);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(generator), cmocka_unit_test(e4m3), cmocka_unit_test(e5m2) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
