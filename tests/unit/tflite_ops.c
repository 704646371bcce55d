/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single TFLite operators through importer and golden, against TFLite's integer
 * arithmetic written down here a second time: shapes, strides, paddings,
 * groups, broadcasts and uint8 that the stored networks do not have.
 *
 * Source of the arithmetic: gemmlowp's fixed-point definitions as TFLite's
 * reference kernels use them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "tflite_build.h"
#include "tests/support/short_of_memory.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/run/golden_exec.h"

static uint64_t rng = 1;

static int draw(int from, int to)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return from + (int)((rng >> 33) % (uint64_t)(to - from + 1));
}

static float draw_scale(void)
{
	return (float)exp2(draw(-900, -100) / 100.0);
}

/* ---- TFLite's arithmetic ---- */

struct mult { int32_t m; int s; };

static struct mult quantize_multiplier(double real)
{
	struct mult r = { 0, 0 };
	int64_t q = (int64_t)round(frexp(real, &r.s) * 2147483648.0);

	if (q == 1ll << 31) {
		q /= 2;
		r.s++;
	}
	if (r.s < -31)
		return (struct mult){ 0, 0 };
	r.m = (int32_t)q;
	return r;
}

static int32_t doubling_high(int32_t a, int32_t b)
{
	int64_t ab = (int64_t)a * b;

	return (int32_t)((ab + (ab >= 0 ? 1 << 30 : 1 - (1 << 30))) / (1ll << 31));
}

static int32_t divide_by_pot(int32_t x, int exponent)
{
	int32_t mask = (int32_t)((1ll << exponent) - 1), rest = x & mask, threshold = (mask >> 1) + (x < 0);

	return (x >> exponent) + (rest > threshold);
}

static int32_t scaled(int32_t x, struct mult f)
{
	int left = f.s > 0 ? f.s : 0, right = f.s > 0 ? 0 : -f.s;

	return divide_by_pot(doubling_high((int32_t)((uint32_t)x << left), f.m), right);
}

/* ---- tensors of values as the file has them ---- */

struct q { bool u8; float scale; int zp; };

static int low(struct q q) { return q.u8 ? 0 : -128; }

static int clip(struct q q, int64_t v) { return v < low(q) ? low(q) : v > low(q) + 255 ? low(q) + 255 : (int)v; }

static int activate(struct q q, int activation, int v)
{
	int zero = q.zp, six = clip(q, q.zp + (int64_t)roundf(6.0f / q.scale));
	int one = clip(q, q.zp + (int64_t)roundf(1.0f / q.scale)), minus = clip(q, q.zp + (int64_t)roundf(-1.0f / q.scale));

	v = clip(q, v);
	if (activation == TFL_RELU || activation == TFL_RELU6)
		v = v < zero ? zero : v;
	if (activation == TFL_RELU6)
		v = v > six ? six : v;
	if (activation == TFL_RELU_N1_TO_1)
		v = v < minus ? minus : v > one ? one : v;
	return v;
}

static struct q draw_quant(bool u8)
{
	struct q q = { u8, draw_scale(), 0 };

	q.zp = draw(low(q), low(q) + 255);
	return q;
}

/* 8-bit values, either type. */
struct values { struct q q; int rank; int32_t dim[8]; int n; uint8_t *p; };

static int at(const struct values *v, int i) { return v->q.u8 ? v->p[i] : (int8_t)v->p[i]; }

static struct values make(struct q q, int rank, const int32_t *dim)
{
	struct values v = { .q = q, .rank = rank, .n = 1 };

	for (int i = 0; i < rank; i++) {
		v.dim[i] = dim[i];
		v.n *= dim[i];
	}
	v.p = malloc((size_t)v.n);
	assert_non_null(v.p);
	for (int i = 0; i < v.n; i++)
		v.p[i] = (uint8_t)draw(0, 255);
	return v;
}

#define DIMS(...) ((const int32_t[]){ __VA_ARGS__ })

static int add_values(struct tb *b, const struct values *v, bool constant)
{
	int i = tb_add(b, v->q.u8 ? TFL_UINT8 : TFL_INT8, v->rank, v->dim, v->q.scale, v->q.zp);

	if (constant)
		tb_constant(b, i, v->p, (size_t)v->n);
	else
		b->in[b->n_in++] = i;
	return i;
}

static struct short_of_memory shortage = { .every = 1 };

/* How import() reads files. */
static struct weft_tflite_options as;

static weft_graph *import(struct tb *b, int want_err, const char *says)
{
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;
	size_t n;
	uint8_t *file = tb_file(b, &n);
	int err = weft_import_tflite_with(file, n, "built", &as, &g, msg);

	short_of_memory(&shortage, file, n, "built", NULL);
	free(file);
	if (err != want_err || (says && strcmp(msg, says)))
		fail_msg("importer returned %d '%s', wanted %d '%s'", err, msg, want_err, says ? says : "");
	return g;
}

/* Run on the inputs in order; the first output must equal want. */
static void expect_bytes(struct tb *b, const void *const *in, const void *want, const char *what)
{
	weft_graph *g = import(b, 0, NULL);
	weft_tensor *all = calloc((size_t)g->n_tensors, sizeof *all), x[8];
	char msg[WEFT_MSG];

	for (int i = 0; i < g->n_inputs; i++) {
		x[i] = g->tensors[g->inputs[i]].t;
		x[i].data = (void *)in[i];
	}
	if (weft_golden_exec(g, x, all, false, msg))
		fail_msg("%s: %s", what, msg);
	const weft_tensor *y = &all[g->outputs[0]];
	for (size_t i = 0; i < weft_tensor_bytes(y); i++)
		if (((const uint8_t *)y->data)[i] != ((const uint8_t *)want)[i])
			fail_msg("%s: byte %zu: expected %d, got %d", what, i, ((const uint8_t *)want)[i],
			         ((const uint8_t *)y->data)[i]);
	weft_golden_release(g, all);
	weft_graph_free(g);
	free(all);
}

static int add_result(struct tb *b, struct q q, int rank, const int32_t *dim)
{
	int i = tb_add(b, q.u8 ? TFL_UINT8 : TFL_INT8, rank, dim, q.scale, q.zp);

	b->out[b->n_out++] = i;
	return i;
}

static void wire(struct tb_op *o, int n_in, const int *in, int out)
{
	o->n_in = n_in;
	for (int i = 0; i < n_in; i++)
		o->in[i] = in[i];
	o->n_out = 1;
	o->out[0] = out;
}

/* ---- windows ---- */

struct axis { int in, k, stride, dilation, out, before; };

static struct axis draw_axis(bool same, bool dilate)
{
	struct axis a = { .k = draw(1, 4), .stride = draw(1, 3), .dilation = dilate ? draw(1, 2) : 1 };
	int reach = (a.k - 1) * a.dilation + 1;

	a.in = reach + draw(0, 6);
	a.out = same ? (a.in + a.stride - 1) / a.stride : (a.in - reach) / a.stride + 1;
	int pad = (a.out - 1) * a.stride + reach - a.in;
	a.before = same && pad > 0 ? pad / 2 : 0;
	return a;
}

/* ---- convolutions ---- */

struct conv { struct axis y, x; bool same, depthwise; int n, ic, oc, wic, activation, channels; };

static int conv_at(const struct conv *c, const struct values *x, const struct values *w, int n, int oy, int ox, int o)
{
	int acc = 0, group = c->depthwise ? o / (c->oc / c->ic) : o / (c->oc / (c->ic / c->wic)) * c->wic;

	for (int ky = 0; ky < c->y.k; ky++)
		for (int kx = 0; kx < c->x.k; kx++)
			for (int i = 0; i < c->wic; i++) {
				int iy = oy * c->y.stride - c->y.before + ky * c->y.dilation;
				int ix = ox * c->x.stride - c->x.before + kx * c->x.dilation;
				if (iy < 0 || iy >= c->y.in || ix < 0 || ix >= c->x.in)
					continue;
				int k = ky * c->x.k + kx;
				int iw = c->depthwise ? k * c->oc + o : (o * c->y.k * c->x.k + k) * c->wic + i;
				acc += (at(x, ((n * c->y.in + iy) * c->x.in + ix) * c->ic + group + i) - x->q.zp) *
				       (at(w, iw) - w->q.zp);
			}
	return acc;
}

static void options(struct tb_op *o, const struct conv *c)
{
	tb_option(o, c->depthwise ? DW_PADDING : CONV_PADDING, 1, c->same ? TFL_SAME : TFL_VALID);
	tb_option(o, c->depthwise ? DW_STRIDE_H : CONV_STRIDE_H, 4, c->y.stride);
	tb_option(o, c->depthwise ? DW_STRIDE_W : CONV_STRIDE_W, 4, c->x.stride);
	tb_option(o, c->depthwise ? DW_ACTIVATION : CONV_ACTIVATION, 1, c->activation);
	tb_option(o, c->depthwise ? DW_DILATION_H : CONV_DILATION_H, 4, c->y.dilation);
	tb_option(o, c->depthwise ? DW_DILATION_W : CONV_DILATION_W, 4, c->x.dilation);
	if (c->depthwise)
		tb_option(o, DW_MULTIPLIER, 4, c->oc / c->ic);
}

static void conv_case(const struct conv *c, bool u8, bool with_bias)
{
	struct tb *b = calloc(1, sizeof *b);
	struct q wq = { u8, draw_scale(), u8 ? draw(0, 255) : 0 };
	struct values x = make(draw_quant(u8), 4, DIMS(c->n, c->y.in, c->x.in, c->ic));
	struct values w = c->depthwise ? make(wq, 4, DIMS(1, c->y.k, c->x.k, c->oc))
	                               : make(wq, 4, DIMS(c->oc, c->y.k, c->x.k, c->wic));
	struct values y = make(draw_quant(u8), 4, DIMS(c->n, c->y.out, c->x.out, c->oc));
	int32_t bias[TB_CHANNELS] = { 0 };
	int ix = add_values(b, &x, false), iw = add_values(b, &w, true), ib = -1;
	char what[128];

	b->tensor[iw].n_scale = c->channels;
	b->tensor[iw].axis = c->depthwise ? 3 : 0;
	for (int i = 1; i < c->channels; i++)
		b->tensor[iw].scale[i] = draw_scale();
	if (with_bias) {
		for (int i = 0; i < c->oc; i++)
			bias[i] = draw(-3000, 3000);
		ib = tb_add(b, TFL_INT32, 1, DIMS(c->oc), 1, 0);
		tb_constant(b, ib, bias, 4 * (size_t)c->oc);
	}
	int iy = add_result(b, y.q, 4, y.dim);
	struct tb_op *o = tb_op(b, c->depthwise ? TFL_DEPTHWISE_CONV_2D : TFL_CONV_2D,
	                        c->depthwise ? OPTIONS_DEPTHWISE : OPTIONS_CONV);
	options(o, c);
	wire(o, 3, (int[]){ ix, iw, ib }, iy);
	for (int i = 0; i < y.n; i++) {
		int oc = i % c->oc, ox = i / c->oc % c->x.out, oy = i / c->oc / c->x.out % c->y.out;
		float ws = b->tensor[iw].scale[c->channels > 1 ? oc : 0];
		double product = u8 ? (double)(x.q.scale * ws) : (double)x.q.scale * (double)ws;
		int acc = conv_at(c, &x, &w, i / c->oc / c->x.out / c->y.out, oy, ox, oc) + bias[oc];
		int v = scaled(acc, quantize_multiplier(product / (double)y.q.scale)) + y.q.zp;
		y.p[i] = (uint8_t)activate(y.q, c->activation, v);
	}
	snprintf(what, sizeof what, "%s %dx%d/%d,%d in %dx%dx%d out %d weights %d%s%s", c->depthwise ? "depthwise" : "conv",
	         c->y.k, c->x.k, c->y.stride, c->x.stride, c->y.in, c->x.in, c->ic, c->oc, c->wic, u8 ? " uint8" : "",
	         c->same ? " SAME" : "");
	expect_bytes(b, (const void *[]){ x.p }, y.p, what);
	free(x.p);
	free(w.p);
	free(y.p);
	free(b);
}

static void convolutions(void **state)
{
	(void)state;
	for (int i = 0; i < 120; i++) {
		bool u8 = i % 4 == 3;
		struct conv c = { .same = i & 1, .n = draw(1, 2), .activation = draw(0, 3) };
		int groups = i % 3 == 0 ? draw(1, 4) : 1;
		c.y = draw_axis(c.same, true);
		c.x = draw_axis(c.same, true);
		c.wic = draw(1, 5);
		c.ic = c.wic * groups;
		c.oc = groups * draw(1, 4);
		c.channels = u8 || draw(0, 2) == 0 ? 1 : c.oc;
		conv_case(&c, u8, draw(0, 4) != 0);
	}
}

static void depthwise(void **state)
{
	(void)state;
	for (int i = 0; i < 80; i++) {
		bool u8 = i % 4 == 3;
		struct conv c = { .depthwise = true, .same = i & 1, .n = draw(1, 2), .activation = draw(0, 3), .wic = 1 };
		c.y = draw_axis(c.same, true);
		c.x = draw_axis(c.same, true);
		c.ic = draw(1, 6);
		c.oc = c.ic * draw(1, 3);
		c.channels = u8 || draw(0, 2) == 0 ? 1 : c.oc;
		conv_case(&c, u8, draw(0, 4) != 0);
	}
}

/* ---- dense ---- */

static void fully_connected(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		struct tb *b = calloc(1, sizeof *b);
		bool u8 = i % 3 == 2, per_channel = !u8 && i % 2;
		int rank = draw(1, 4), k = draw(1, 20), oc = draw(1, 9), m = 1, act = draw(0, 3);
		int32_t xd[4], yd[4], bias[16];
		for (int d = 0; d < rank; d++)
			m *= xd[d] = yd[d] = d == rank - 1 ? 1 : draw(1, 3);
		xd[rank - 1] = k;
		yd[rank - 1] = oc;
		struct q wq = { u8, draw_scale(), u8 ? draw(0, 255) : per_channel ? 0 : draw(-128, 127) };
		struct values x = make(draw_quant(u8), rank, xd), w = make(wq, 2, DIMS(oc, k)), y = make(draw_quant(u8), rank, yd);
		int ix = add_values(b, &x, false), iw = add_values(b, &w, true), ib = -1;
		for (int o = 0; o < oc && per_channel; o++) {
			b->tensor[iw].n_scale = oc;
			b->tensor[iw].scale[o] = draw_scale();
		}
		for (int o = 0; o < oc; o++)
			bias[o] = i % 5 ? draw(-3000, 3000) : 0;
		if (i % 5) {
			ib = tb_add(b, TFL_INT32, 1, DIMS(oc), 1, 0);
			tb_constant(b, ib, bias, 4 * (size_t)oc);
		}
		struct tb_op *o = tb_op(b, TFL_FULLY_CONNECTED, OPTIONS_FULLY_CONNECTED);
		tb_option(o, FC_ACTIVATION, 1, act);
		tb_option(o, FC_KEEP_DIMS, 1, 1);
		wire(o, 3, (int[]){ ix, iw, ib }, add_result(b, y.q, rank, yd));
		for (int j = 0; j < m * oc; j++) {
			int acc = bias[j % oc];
			for (int e = 0; e < k; e++)
				acc += (at(&x, j / oc * k + e) - x.q.zp) * (at(&w, j % oc * k + e) - w.q.zp);
			float ws = b->tensor[iw].scale[per_channel ? j % oc : 0];
			/* one channel counts as per tensor, in TFLite and here */
			double product = per_channel && oc > 1 ? (double)x.q.scale * (double)ws : (double)(x.q.scale * ws);
			int v = scaled(acc, quantize_multiplier(product / (double)y.q.scale)) + y.q.zp;
			y.p[j] = (uint8_t)activate(y.q, act, v);
		}
		expect_bytes(b, (const void *[]){ x.p }, y.p, "fully connected");
		free(x.p);
		free(w.p);
		free(y.p);
		free(b);
	}
}

/* ---- pools ---- */

static int pool_at(const struct values *x, struct axis ay, struct axis ax, int oy, int ox, int c, bool average)
{
	int sum = 0, n = 0, top = -1000;

	for (int ky = 0; ky < ay.k; ky++)
		for (int kx = 0; kx < ax.k; kx++) {
			int iy = oy * ay.stride - ay.before + ky, ix = ox * ax.stride - ax.before + kx;
			if (iy < 0 || iy >= ay.in || ix < 0 || ix >= ax.in)
				continue;
			int v = at(x, (iy * ax.in + ix) * x->dim[3] + c);
			sum += v;
			top = v > top ? v : top;
			n++;
		}
	return !average ? top : (sum + (sum >= 0 ? n / 2 : -n / 2)) / n;
}

static void pools(void **state)
{
	(void)state;
	for (int i = 0; i < 80; i++) {
		struct tb *b = calloc(1, sizeof *b);
		bool same = i & 1, average = i & 2;
		struct axis ay = draw_axis(same, false), ax = draw_axis(same, false);
		int c = draw(1, 5), act = draw(0, 3);
		struct values x = make(draw_quant(i % 3 == 2), 4, DIMS(1, ay.in, ax.in, c));
		struct values y = make(x.q, 4, DIMS(1, ay.out, ax.out, c));
		int ix = add_values(b, &x, false);
		struct tb_op *o = tb_op(b, average ? TFL_AVERAGE_POOL_2D : TFL_MAX_POOL_2D, OPTIONS_POOL);
		tb_option(o, POOL_PADDING, 1, same ? TFL_SAME : TFL_VALID);
		tb_option(o, POOL_STRIDE_H, 4, ay.stride);
		tb_option(o, POOL_STRIDE_W, 4, ax.stride);
		tb_option(o, POOL_FILTER_H, 4, ay.k);
		tb_option(o, POOL_FILTER_W, 4, ax.k);
		tb_option(o, POOL_ACTIVATION, 1, act);
		wire(o, 1, &ix, add_result(b, y.q, 4, y.dim));
		for (int j = 0; j < y.n; j++)
			y.p[j] = (uint8_t)activate(y.q, act, pool_at(&x, ay, ax, j / c / ax.out, j / c % ax.out, j % c, average));
		expect_bytes(b, (const void *[]){ x.p }, y.p, average ? "average pool" : "max pool");
		free(x.p);
		free(y.p);
		free(b);
	}
}

/* ---- elementwise ---- */

/* Index of broadcast operand v for element j of y. */
static int spread(const struct values *v, const struct values *y, int j)
{
	int i = 0, step = 1;

	for (int d = y->rank - 1, e = v->rank - 1; d >= 0; j /= y->dim[d--])
		if (e >= 0) {
			i += v->dim[e] == 1 ? 0 : j % y->dim[d] * step;
			step *= v->dim[e--];
		}
	return i;
}

static void elementwise(void **state)
{
	(void)state;
	for (int i = 0; i < 80; i++) {
		struct tb *b = calloc(1, sizeof *b);
		bool u8 = i % 3 == 2, mul = i & 1;
		int32_t yd[4], d[2][4];
		int rank = draw(1, 4), r[2], act = draw(0, 3);
		for (int k = 0; k < rank; k++)
			yd[k] = draw(1, 4);
		for (int k = 0; k < 2; k++) {
			r[k] = k == i / 2 % 2 ? rank : draw(0, rank);
			for (int e = 0; e < r[k]; e++)
				d[k][e] = r[k] == rank && k == i / 2 % 2 ? yd[e] : draw(0, 1) ? 1 : yd[rank - r[k] + e];
		}
		struct values x[2] = { make(draw_quant(u8), r[0], d[0]), make(draw_quant(u8), r[1], d[1]) };
		struct q yq = draw_quant(u8);
		double top = fmax((double)x[0].q.scale, (double)x[1].q.scale);
		yq.scale = (float)(top * (mul ? (double)fminf(x[0].q.scale, x[1].q.scale) * 8 : 1.5));
		struct values y = make(yq, rank, yd);
		int in[2] = { add_values(b, &x[0], false), add_values(b, &x[1], i % 5 == 4) };
		struct tb_op *o = tb_op(b, mul ? TFL_MUL : TFL_ADD, mul ? OPTIONS_MUL : OPTIONS_ADD);
		tb_option(o, ADD_ACTIVATION, 1, act);
		wire(o, 2, in, add_result(b, yq, rank, yd));
		for (int j = 0; j < y.n; j++) {
			int v[2], sum;
			for (int k = 0; k < 2; k++)
				v[k] = at(&x[k], spread(&x[k], &y, j)) - x[k].q.zp;
			if (mul) {
				sum = scaled(v[0] * v[1], quantize_multiplier((double)(x[0].q.scale * x[1].q.scale / yq.scale)));
			} else {
				for (int k = 0; k < 2; k++)
					v[k] = scaled(v[k] * (1 << 20), quantize_multiplier((double)x[k].q.scale / (2 * top)));
				sum = scaled(v[0] + v[1], quantize_multiplier(2 * top / ((1 << 20) * (double)yq.scale)));
			}
			y.p[j] = (uint8_t)activate(yq, act, sum + yq.zp);
		}
		expect_bytes(b, (const void *[]){ x[0].p, x[1].p }, y.p, mul ? "mul" : "add");
		free(x[0].p);
		free(x[1].p);
		free(y.p);
		free(b);
	}
}

/* ---- mean ---- */

static void mean(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		struct tb *b = calloc(1, sizeof *b);
		int rank = draw(1, 4), set = draw(0, (1 << rank) - 1), n = 1, n_axes = 0, yr = 0, keep = i & 1;
		int32_t xd[4], kd[4], yd[4], axes[8];
		for (int d = 0; d < rank; d++) {
			xd[d] = draw(1, 9);
			kd[d] = set >> d & 1 ? 1 : xd[d];
			n *= set >> d & 1 ? xd[d] : 1;
			if (set >> d & 1)
				axes[n_axes++] = i % 3 ? d : d - rank;
			if (keep || !(set >> d & 1))
				yd[yr++] = kd[d];
		}
		axes[n_axes] = 0;        /* an empty list needs data too */
		if (!n_axes && i % 2)
			axes[n_axes++] = rank - 1, n = xd[rank - 1], kd[rank - 1] = 1, set = 1 << (rank - 1), yr = keep ? rank : rank - 1;
		if (keep)
			memcpy(yd, kd, sizeof yd);
		if (!n_axes) {
			free(b);
			continue;
		}
		struct values x = make(draw_quant(i % 4 == 3), rank, xd), sum = make(x.q, rank, kd);
		struct q yq = draw_quant(x.q.u8);
		struct values y = make(yq, yr, yd);
		int in[2] = { add_values(b, &x, false), tb_add(b, TFL_INT32, 1, DIMS(n_axes), 0, 0) };
		tb_constant(b, in[1], axes, 4 * (size_t)n_axes);
		struct tb_op *o = tb_op(b, TFL_MEAN, OPTIONS_REDUCE);
		tb_option(o, REDUCE_KEEP_DIMS, 1, keep);
		wire(o, 2, in, add_result(b, yq, yr, yd));
		struct mult f = quantize_multiplier((double)x.q.scale / (double)yq.scale);
		int k = 63 - __builtin_clzll((unsigned long long)n);
		k = k < 32 ? k : 32;
		k = k < 31 + f.s ? k : 31 + f.s;
		f.m = (int32_t)(((int64_t)f.m << k) / n);
		f.s -= k;
		for (int j = 0; j < sum.n; j++) {
			int total = 0;
			for (int e = 0; e < x.n; e++)
				if (spread(&sum, &x, e) == j)
					total += at(&x, e);
			y.p[j] = (uint8_t)clip(yq, scaled(total - n * x.q.zp, f) + yq.zp);
		}
		expect_bytes(b, (const void *[]){ x.p }, y.p, "mean");
		free(x.p);
		free(sum.p);
		free(y.p);
		free(b);
	}
}

/* ---- quantisations ---- */

static void requantise(void **state)
{
	(void)state;
	for (int i = 0; i < 64; i++) {
		struct tb *b = calloc(1, sizeof *b);
		struct values x = make(draw_quant(i & 1), 2, DIMS(2, 200));
		struct q yq = draw_quant(i & 2);
		yq.scale = x.q.scale * (float)exp2(draw(-300, 300) / 100.0);
		struct values y = make(yq, 2, x.dim);
		int ix = add_values(b, &x, false), mid = ix;
		if (i & 4) {             /* not straight from the input */
			mid = tb_add(b, x.q.u8 ? TFL_UINT8 : TFL_INT8, 2, x.dim, x.q.scale, x.q.zp);
			wire(tb_op(b, TFL_RESHAPE, 0), 1, &ix, mid);
		}
		int iy = add_result(b, yq, 2, y.dim);
		if (i & 8) {             /* nor straight to the output */
			int last = iy;
			iy = tb_add(b, yq.u8 ? TFL_UINT8 : TFL_INT8, 2, y.dim, yq.scale, yq.zp);
			wire(tb_op(b, TFL_QUANTIZE, 0), 1, &mid, iy);
			wire(tb_op(b, TFL_RESHAPE, 0), 1, &iy, last);
		} else {
			wire(tb_op(b, TFL_QUANTIZE, 0), 1, &mid, iy);
		}
		struct mult f = quantize_multiplier((double)x.q.scale / (double)yq.scale);
		for (int j = 0; j < y.n; j++)
			y.p[j] = (uint8_t)clip(yq, scaled(at(&x, j) - x.q.zp, f) + yq.zp);
		expect_bytes(b, (const void *[]){ x.p }, y.p, "requantise");
		free(x.p);
		free(y.p);
		free(b);
	}
}

/* Factors that shift a code out of 32 bits: the shift wraps in LiteRT, whose results these are. */
static void requantise_wraps(void **state)
{
	static const int16_t x[] = { 32767, -32768, 1, 2, 3, -1, -2, 100, 255, 256, 257, 511, 512, 513, 1000, 12345, -12345, -511, -512, -513, 31000,
	                             -31000, 0, 7 };
	static const int16_t y[] = { -32768, 0, 32767, 32767, 32767, -32768, -32768, 32767, 32767, -32768, -32768, -32768, 0, 32767, -32768, 32767,
	                             -32768, 32767, 0, -32768, -32768, 32767, 0, 32767 };
	const int n = sizeof x / sizeof *x;
	struct tb *b = calloc(1, sizeof *b);
	const int in = tb_add(b, TFL_INT16, 1, DIMS(n), 305.1851f, 0), out = tb_add(b, TFL_INT16, 1, DIMS(n), 5.0504645e-05f, 0);

	(void)state;
	b->n_in = b->n_out = 1;
	b->in[0] = in;
	b->out[0] = out;
	wire(tb_op(b, TFL_QUANTIZE, 0), 1, &in, out);
	expect_bytes(b, (const void *[]){ x }, y, "requantise_wraps");
	free(b);
}

static void floats(void **state)
{
	(void)state;
	for (int u8 = 0; u8 < 2; u8++) {
		struct tb *b = calloc(1, sizeof *b);
		struct q q = draw_quant(u8);
		float x[300], real[300];
		uint8_t y[300];
		int in = tb_add(b, TFL_FLOAT32, 1, DIMS(300), 0, 0);
		b->in[b->n_in++] = in;
		for (int i = 0; i < 300; i++)
			x[i] = (float)draw(-20000, 20000) / 100.0f * q.scale;
		wire(tb_op(b, TFL_QUANTIZE, 0), 1, &in, add_result(b, q, 1, DIMS(300)));
		for (int i = 0; i < 300; i++)
			y[i] = (uint8_t)clip(q, (int64_t)roundf(x[i] / q.scale) + q.zp);
		expect_bytes(b, (const void *[]){ x }, y, "quantise");

		memset(b, 0, sizeof *b);
		struct values v = make(q, 1, DIMS(300));
		in = add_values(b, &v, false);
		int out = tb_add(b, TFL_FLOAT32, 1, DIMS(300), 0, 0);
		b->out[b->n_out++] = out;
		wire(tb_op(b, TFL_DEQUANTIZE, 0), 1, &in, out);
		for (int i = 0; i < 300; i++)
			real[i] = (float)((double)q.scale * (at(&v, i) - q.zp));
		expect_bytes(b, (const void *[]){ v.p }, real, "dequantise");
		free(v.p);
		free(b);
	}
}

/* One row of SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION or GELU by tanh, as TensorFlow Lite's reference kernels compute it. */
static void float_row(int code, const float *x, int n, float *y)
{
	float most = x[0], sum = 0, squares = 0;

	for (int i = 0; i < n; i++) {
		most = x[i] > most ? x[i] : most;
		squares += x[i] * x[i];
	}
	for (int i = 0; i < n; i++)
		sum += expf(x[i] - most);
	for (int i = 0; i < n; i++)
		y[i] = code == TFL_SOFTMAX ? expf(x[i] - most) / sum : code == TFL_LOG_SOFTMAX ? x[i] - most - logf(sum) :
		       code == TFL_L2_NORMALIZATION ? x[i] / fmaxf(sqrtf(squares), 1e-6f) :
		       0.5f * x[i] * (1.0f + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

/* Sets n floats to numbers of -3 to 3. */
static void draw_floats(float *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = (float)draw(-3000, 3000) / 1000.0f;
}

/* Rows of floats. */
static void float_rows(void **state)
{
	static const int codes[] = { TFL_SOFTMAX, TFL_LOG_SOFTMAX, TFL_L2_NORMALIZATION, TFL_GELU };
	float x[4 * 7], y[4 * 7];

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct tb *b = calloc(1, sizeof *b);
		const int in = tb_add(b, TFL_FLOAT32, 2, DIMS(4, 7), 0, 0);
		struct tb_op *o = tb_op(b, codes[k], codes[k] == TFL_SOFTMAX ? OPTIONS_SOFTMAX : codes[k] == TFL_GELU ? OPTIONS_GELU : 0);

		if (codes[k] == TFL_SOFTMAX)
			tb_option(o, SOFTMAX_BETA, 4, 0x3f800000);
		if (codes[k] == TFL_GELU)
			tb_option(o, GELU_APPROXIMATE, 1, 1);
		b->in[b->n_in++] = in;
		wire(o, 1, &in, b->out[b->n_out++] = tb_add(b, TFL_FLOAT32, 2, DIMS(4, 7), 0, 0));
		draw_floats(x, 4 * 7);
		for (int r = 0; r < 4; r++)
			float_row(codes[k], x + 7 * r, 7, y + 7 * r);
		expect_bytes(b, (const void *[]){ x }, y, "rows of floats");
		free(b);
	}
}

/* Products of matrices of floats, of which the second may be given transposed. */
static void float_products(void **state)
{
	float x[4 * 7], w[7 * 5], y[4 * 5];

	(void)state;
	draw_floats(x, 4 * 7);
	draw_floats(w, 7 * 5);
	for (int adjoint = 0; adjoint < 2; adjoint++) {
		struct tb *b = calloc(1, sizeof *b);
		const int in[2] = { tb_add(b, TFL_FLOAT32, 2, DIMS(4, 7), 0, 0), tb_add(b, TFL_FLOAT32, 2, adjoint ? DIMS(5, 7) : DIMS(7, 5), 0, 0) };
		struct tb_op *o = tb_op(b, TFL_BATCH_MATMUL, OPTIONS_BATCH_MATMUL);

		tb_option(o, MATMUL_ADJ_Y, 1, adjoint);
		for (int k = 0; k < 2; k++)
			b->in[b->n_in++] = in[k];
		wire(o, 2, in, b->out[b->n_out++] = tb_add(b, TFL_FLOAT32, 2, DIMS(4, 5), 0, 0));
		for (int i = 0; i < 4 * 5; i++) {
			y[i] = 0;
			for (int e = 0; e < 7; e++)
				y[i] += x[i / 5 * 7 + e] * w[adjoint ? i % 5 * 7 + e : e * 5 + i % 5];
		}
		expect_bytes(b, (const void *[]){ x, w }, y, "products of floats");
		free(b);
	}
}

/*
 * Float32 by 8-bit weights, with rows whose largest value is 127, so that their scale is 1: kernels take the bytes of uint8
 * weights, as old converters wrote them, as int8.
 */
static void hybrid(void **state)
{
	static const int types[2] = { TFL_INT8, TFL_UINT8 };
	uint8_t w[4 * 6];
	float x[3 * 6], y[3 * 4];

	(void)state;
	for (int i = 0; i < 24; i++)
		w[i] = (uint8_t)draw(0, 255);
	for (int i = 0; i < 18; i++)
		x[i] = i % 6 == 2 ? 127 : (float)draw(-127, 127);
	for (int i = 0; i < 12; i++) {
		y[i] = 0;
		for (int e = 0; e < 6; e++)
			y[i] += x[i / 4 * 6 + e] * (float)(int8_t)w[i % 4 * 6 + e] * 0.5f;
	}
	for (int k = 0; k < 4; k++) {      /* dense, then a convolution of 1x1, each twice by the same weights */
		struct tb *b = calloc(1, sizeof *b);
		const bool conv = k & 2;
		int in[2] = { tb_add(b, TFL_FLOAT32, conv ? 4 : 2, conv ? DIMS(1, 3, 1, 6) : DIMS(3, 6), 0, 0),
		              tb_add(b, types[k & 1], conv ? 4 : 2, conv ? DIMS(4, 1, 1, 6) : DIMS(4, 6), 0.5f, 0) };
		tb_constant(b, in[1], w, sizeof w);
		b->in[b->n_in++] = in[0];
		for (int twice = 0; twice < 2; twice++) {
			struct tb_op *o = tb_op(b, conv ? TFL_CONV_2D : TFL_FULLY_CONNECTED, conv ? OPTIONS_CONV : OPTIONS_FULLY_CONNECTED);
			tb_option(o, conv ? CONV_STRIDE_W : FC_ACTIVATION, conv ? 4 : 1, conv);
			if (conv)
				tb_option(o, CONV_STRIDE_H, 4, 1);
			b->out[b->n_out++] = tb_add(b, TFL_FLOAT32, conv ? 4 : 2, conv ? DIMS(1, 3, 1, 4) : DIMS(3, 4), 0, 0);
			wire(o, 2, in, b->out[twice]);
		}
		expect_bytes(b, (const void *[]){ x }, y, k & 1 ? "hybrid, uint8" : "hybrid, int8");
		int32_t first = b->out[0];
		b->out[0] = b->out[1];
		b->out[1] = first;
		expect_bytes(b, (const void *[]){ x }, y, k & 1 ? "hybrid, uint8 again" : "hybrid, int8 again");
		free(b);
	}
}

/* ATAN2 in all quadrants and on the axes: the C library's. */
static void angles(void **state)
{
	struct tb *b = calloc(1, sizeof *b);
	float y[81], x[81], want[81];
	int in[2], out;

	(void)state;
	for (int k = 0; k < 2; k++)
		b->in[b->n_in++] = in[k] = tb_add(b, TFL_FLOAT32, 1, DIMS(81), 0, 0);
	b->out[b->n_out++] = out = tb_add(b, TFL_FLOAT32, 1, DIMS(81), 0, 0);
	for (int i = 0; i < 81; i++) {
		y[i] = (float)(i / 9 - 4) * 0.75f;
		x[i] = (float)(i % 9 - 4) * 1.5f;
		want[i] = atan2f(y[i], x[i]);
	}
	wire(tb_op(b, TFL_ATAN2, 0), 2, in, out);
	expect_bytes(b, (const void *[]){ y, x }, want, "atan2");
	free(b);
}

/* ATAN2 where an operand is a zero of either sign or infinite: what LiteRT 2.3 gives. */
static void angle_limits(void **state)
{
	static const float y[10] = { 1, -1, 0, -0.0f, 0, -0.0f, -0.0f, 0, INFINITY, -INFINITY };
	static const float x[10] = { -0.0f, -0.0f, -1, -1, -0.0f, -0.0f, 0, 0, INFINITY, -INFINITY };
	const float pi = (float)M_PI;
	const float want[10] = { pi / 2, -pi / 2, pi, -pi, pi, -pi, -0.0f, 0, pi / 4, -pi * 3 / 4 };
	struct tb *b = calloc(1, sizeof *b);
	int in[2], out;

	(void)state;
	for (int k = 0; k < 2; k++)
		b->in[b->n_in++] = in[k] = tb_add(b, TFL_FLOAT32, 1, DIMS(10), 0, 0);
	b->out[b->n_out++] = out = tb_add(b, TFL_FLOAT32, 1, DIMS(10), 0, 0);
	wire(tb_op(b, TFL_ATAN2, 0), 2, in, out);
	expect_bytes(b, (const void *[]){ y, x }, want, "atan2 at its limits");
	free(b);
}

/* BUCKETIZE of NaN and of float64, which is not rounded to float32: what LiteRT 2.3 gives. */
static void buckets(void **state)
{
	static const float bounds[2] = { 0.1f, 0.7f }, x[5] = { NAN, 0.1f, INFINITY, -INFINITY, 0 };
	static const double x64[5] = { NAN, 0.1, 0.7, 1, -1 };
	static const int32_t want[2][5] = { { 2, 1, 2, 0, 0 }, { 2, 0, 2, 2, 0 } };

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct tb *b = calloc(1, sizeof *b);
		int in = b->in[b->n_in++] = tb_add(b, wide ? TFL_FLOAT64 : TFL_FLOAT32, 1, DIMS(5), 0, 0);
		int out = b->out[b->n_out++] = tb_add(b, TFL_INT32, 1, DIMS(5), 0, 0);
		struct tb_op *o = tb_op(b, TFL_BUCKETIZE, OPTIONS_BUCKETIZE);

		tb_option(o, BUCKETIZE_BOUNDARIES, 0, 0);
		o->list = bounds;
		o->n_list = 2;
		wire(o, 1, &in, out);
		expect_bytes(b, (const void *[]){ wide ? (const void *)x64 : x }, want[wide], "bucketize");
		free(b);
	}
}

/* SIGN of float32: that of either zero is 0. */
static void signs(void **state)
{
	static const float x[5] = { -0.0f, 0, -2, 3, -INFINITY }, want[5] = { 0, 0, -1, 1, -1 };
	struct tb *b = calloc(1, sizeof *b);
	int in = b->in[b->n_in++] = tb_add(b, TFL_FLOAT32, 1, DIMS(5), 0, 0), out = b->out[b->n_out++] = tb_add(b, TFL_FLOAT32, 1, DIMS(5), 0, 0);

	(void)state;
	wire(tb_op(b, TFL_SIGN, 0), 1, &in, out);
	expect_bytes(b, (const void *[]){ x }, want, "sign");
	free(b);
}

/* RANGE of int64 whose ends lie further apart than int64 says, up and down; CAST to float32 and an ADD make it visible. */
static void ranges(void **state)
{
	static const int64_t numbers[2][3] = { { INT64_MIN, INT64_MAX, INT64_C(1) << 62 }, { INT64_MAX, INT64_MIN, INT64_MIN } };
	static const float rounded[2][4] = { { -0x1p63f, -0x1p62f, 0, 0x1p62f }, { 0x1p63f, -1 } };
	static const int lengths[2] = { 4, 2 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct tb *b = calloc(1, sizeof *b);
		const int32_t n = lengths[k];
		const float x[4] = { 0 };
		int in[3], sum[2], y;
		for (int i = 0; i < 3; i++) {
			in[i] = tb_add(b, TFL_INT64, 0, DIMS(1), 0, 0);
			tb_constant(b, in[i], &numbers[k][i], sizeof numbers[k][i]);
		}
		y = tb_add(b, TFL_INT64, 1, &n, 0, 0);
		wire(tb_op(b, TFL_RANGE, 0), 3, in, y);
		sum[0] = tb_add(b, TFL_FLOAT32, 1, &n, 0, 0);
		wire(tb_op(b, TFL_CAST, 0), 1, &y, sum[0]);
		b->in[b->n_in++] = sum[1] = tb_add(b, TFL_FLOAT32, 1, &n, 0, 0);
		b->out[b->n_out++] = y = tb_add(b, TFL_FLOAT32, 1, &n, 0, 0);
		wire(tb_op(b, TFL_ADD, 0), 2, sum, y);
		expect_bytes(b, (const void *[]){ x }, rounded[k], "range");
		free(b);
	}
}

/* A window over a constant as large as itself, whose work is not bounded by the bytes, is not computed when the file is read. */
static void constant_windows(void **state)
{
	static const float x[16] = { 3, 4 };
	struct tb *b = calloc(1, sizeof *b);
	int in[2] = { tb_add(b, TFL_FLOAT32, 4, DIMS(1, 4, 4, 1), 0, 0), 0 }, sum[2];

	(void)state;
	tb_constant(b, in[0], x, sizeof x);
	sum[0] = tb_add(b, TFL_FLOAT32, 4, DIMS(1, 4, 4, 1), 0, 0);
	struct tb_op *o = tb_op(b, TFL_L2_POOL_2D, OPTIONS_POOL);
	tb_option(o, POOL_PADDING, 1, TFL_SAME);
	tb_option(o, POOL_STRIDE_H, 4, 1);
	tb_option(o, POOL_STRIDE_W, 4, 1);
	tb_option(o, POOL_FILTER_H, 4, 4);
	tb_option(o, POOL_FILTER_W, 4, 4);
	wire(o, 1, in, sum[0]);
	b->in[b->n_in++] = sum[1] = tb_add(b, TFL_FLOAT32, 4, DIMS(1, 4, 4, 1), 0, 0);
	b->out[b->n_out++] = tb_add(b, TFL_FLOAT32, 4, DIMS(1, 4, 4, 1), 0, 0);
	wire(tb_op(b, TFL_ADD, 0), 2, sum, b->out[0]);
	weft_graph *g = import(b, 0, NULL);
	bool pools = false;
	for (int i = 0; i < g->n_ops; i++)
		pools |= g->ops[i].op == WEFT_OP_ONNX_NODE;
	assert_true(pools);
	weft_graph_free(g);
	free(b);
}

static void relus(void **state)
{
	static const int codes[] = { TFL_CODE_RELU, TFL_CODE_RELU_N1_TO_1, TFL_CODE_RELU6 };
	static const int act[] = { TFL_RELU, TFL_RELU_N1_TO_1, TFL_RELU6 };

	(void)state;
	for (int i = 0; i < 24; i++) {
		struct tb *b = calloc(1, sizeof *b);
		struct values x = make(draw_quant(i & 1), 1, DIMS(256));
		struct q yq = i & 2 ? draw_quant(i & 1) : x.q;
		struct values y = make(yq, 1, x.dim);
		int ix = add_values(b, &x, false);
		wire(tb_op(b, codes[i % 3], 0), 1, &ix, add_result(b, yq, 1, x.dim));
		struct mult f = quantize_multiplier((double)x.q.scale / (double)yq.scale);
		for (int j = 0; j < 256; j++)
			y.p[j] = (uint8_t)activate(yq, act[i % 3], i & 2 ? scaled(at(&x, j) - x.q.zp, f) + yq.zp : at(&x, j));
		expect_bytes(b, (const void *[]){ x.p }, y.p, "relu");
		free(x.p);
		free(y.p);
		free(b);
	}
}

/* ---- layout ---- */

static void layout(void **state)
{
	static const int32_t paddings[] = { 0, 1, 2, 0, 0, 0 }, perm[] = { 2, 0, 1 };

	(void)state;
	for (int u8 = 0; u8 < 2; u8++) {
		struct q q = draw_quant(u8);
		struct values x = make(q, 3, DIMS(2, 3, 4)), z = make(q, 3, DIMS(2, 2, 4));
		struct values pad = make(q, 3, DIMS(3, 5, 4)), turn = make(q, 3, DIMS(4, 2, 3)), cat = make(q, 3, DIMS(2, 5, 4));
		struct tb *b = calloc(1, sizeof *b);
		int in[2] = { add_values(b, &x, false), tb_add(b, TFL_INT32, 2, DIMS(3, 2), 0, 0) };
		tb_constant(b, in[1], paddings, sizeof paddings);
		wire(tb_op(b, TFL_PAD, 0), 2, in, add_result(b, q, 3, pad.dim));
		for (int i = 0; i < pad.n; i++) {
			int a = i / 20, r = i / 4 % 5 - 2, c = i % 4;
			pad.p[i] = a < 2 && r >= 0 ? x.p[(a * 3 + r) * 4 + c] : (uint8_t)q.zp;
		}
		expect_bytes(b, (const void *[]){ x.p }, pad.p, "pad");

		memset(b, 0, sizeof *b);
		in[0] = add_values(b, &x, false);
		in[1] = tb_add(b, TFL_INT32, 1, DIMS(3), 0, 0);
		tb_constant(b, in[1], perm, sizeof perm);
		wire(tb_op(b, TFL_TRANSPOSE, 0), 2, in, add_result(b, q, 3, turn.dim));
		for (int i = 0; i < turn.n; i++)
			turn.p[i] = x.p[i / 3 % 2 * 12 + i % 3 * 4 + i / 6];
		expect_bytes(b, (const void *[]){ x.p }, turn.p, "transpose");

		memset(b, 0, sizeof *b);
		in[0] = add_values(b, &x, false);
		in[1] = add_values(b, &z, true);
		struct tb_op *o = tb_op(b, TFL_CONCATENATION, OPTIONS_CONCAT);
		tb_option(o, CONCAT_AXIS, 4, -2);
		wire(o, 2, in, add_result(b, q, 3, cat.dim));
		for (int i = 0; i < cat.n; i++)
			cat.p[i] = i / 4 % 5 < 3 ? x.p[i / 20 * 12 + i % 20] : z.p[i / 20 * 8 + i % 20 - 12];
		expect_bytes(b, (const void *[]){ x.p }, cat.p, "concatenation");
		free(x.p);
		free(z.p);
		free(pad.p);
		free(turn.p);
		free(cat.p);
		free(b);
	}
}

/* CONCATENATION of uint8 is refused where an operand's scale over the result's leaves float32, also if that scale is 0. */
static void concat_scales(void **state)
{
	static const struct { float x, y; int err; const char *says; } cases[] = {
		{ 0, 1e-40f, -ENOTSUP, "operator 0 CONCATENATION: operand 0: its scale 0 over the result's 9.99995e-41 is no number of float32" },
		{ 1e30f, 1e-8f, -ENOTSUP, "operator 0 CONCATENATION: operand 0: its scale 1e+30 over the result's 1e-08 is no number of float32" },
		{ 1e37f, 1, -ENOTSUP, "operator 0 CONCATENATION: operand 0: its scale 1e+37 over the result's 1 is no number of float32" },
		{ 1e30f, 1, 0, NULL }, { 0, 1, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb *b = calloc(1, sizeof *b);
		const int x = tb_add(b, TFL_UINT8, 2, DIMS(1, 4), 1, 3);

		b->tensor[x].scale[0] = cases[i].x;
		b->in[b->n_in++] = x;
		struct tb_op *o = tb_op(b, TFL_CONCATENATION, OPTIONS_CONCAT);
		tb_option(o, CONCAT_AXIS, 4, 1);
		wire(o, 1, (int[]){ x }, add_result(b, (struct q){ true, cases[i].y, 7 }, 2, DIMS(1, 4)));
		weft_graph *g = import(b, cases[i].err, cases[i].says);
		assert_int_equal(g == NULL, cases[i].err != 0);
		weft_graph_free(g);
		free(b);
	}
}

/* ---- multipliers, which 8-bit results hardly show ---- */

/* The k-th RESCALE has this multiplier and shift. */
static void expect_factor(const weft_graph *g, int k, int32_t m, int shift)
{
	for (int i = 0; i < g->n_ops; i++) {
		if (g->ops[i].op != WEFT_OP_RESCALE || k--)
			continue;
		assert_int_equal(*(const int32_t *)g->tensors[g->ops[i].in[1]].t.data, m);
		assert_int_equal(*(const int8_t *)g->tensors[g->ops[i].in[2]].t.data, shift);
		return;
	}
	fail();
}

/* Weight scale 0.3, input 0.7: the product differs between float32 and double. */
static void product_precision(void **state)
{
	static const struct { int code; bool u8, narrow; } cases[] = {
		{ TFL_CONV_2D, false, false }, { TFL_CONV_2D, true, true }, { TFL_FULLY_CONNECTED, false, false },
		{ TFL_FULLY_CONNECTED, true, false },
	};
	const float xs = 0.7f, ws = 0.3f, ys = 0.9f;

	(void)state;
	assert_true((double)(xs * ws) != (double)xs * (double)ws);
	for (int i = 0; i < 4; i++) {
		struct tb *b = calloc(1, sizeof *b);
		bool dense = cases[i].code == TFL_FULLY_CONNECTED, u8 = cases[i].u8;
		struct values x = make((struct q){ u8, xs, 0 }, dense ? 2 : 4, dense ? DIMS(1, 2) : DIMS(1, 1, 1, 2));
		struct values w = make((struct q){ u8, ws, 0 }, dense ? 2 : 4, dense ? DIMS(1, 2) : DIMS(1, 1, 1, 2));
		int in[2] = { add_values(b, &x, false), add_values(b, &w, true) };
		struct tb_op *o = tb_op(b, cases[i].code, dense ? OPTIONS_FULLY_CONNECTED : OPTIONS_CONV);
		tb_option(o, dense ? FC_ACTIVATION : CONV_STRIDE_W, dense ? 1 : 4, dense ? 0 : 1);
		if (!dense)
			tb_option(o, CONV_STRIDE_H, 4, 1);
		wire(o, 2, in, add_result(b, (struct q){ u8, ys, 0 }, dense ? 2 : 4, dense ? DIMS(1, 1) : DIMS(1, 1, 1, 1)));
		weft_graph *g = import(b, 0, NULL);
		struct mult f = quantize_multiplier((cases[i].narrow ? (double)(xs * ws) : (double)xs * (double)ws) / (double)ys);
		expect_factor(g, u8 ? 1 : 0, f.m, 31 - f.s);
		weft_graph_free(g);
		free(x.p);
		free(w.p);
		free(b);
	}
}

static void sum_factors(void **state)
{
	struct tb *b = calloc(1, sizeof *b);
	struct values x = make((struct q){ false, 0.03f, 1 }, 1, DIMS(3)), z = make((struct q){ false, 0.07f, 2 }, 1, DIMS(3));
	int in[2] = { add_values(b, &x, false), add_values(b, &z, false) };
	const double twice = 2 * (double)z.q.scale;

	(void)state;
	wire(tb_op(b, TFL_ADD, OPTIONS_ADD), 2, in, add_result(b, (struct q){ false, 0.11f, 3 }, 1, DIMS(3)));
	weft_graph *g = import(b, 0, NULL);
	struct mult fx = quantize_multiplier((double)x.q.scale / twice), fy = quantize_multiplier(twice / 1048576.0 / (double)0.11f);
	expect_factor(g, 0, 1 << 30, 10);
	expect_factor(g, 1, fx.m, 31 - fx.s);
	expect_factor(g, 2, 1 << 30, 10);
	expect_factor(g, 3, 1 << 30, 31);
	expect_factor(g, 4, fy.m, 31 - fy.s);
	weft_graph_free(g);
	free(x.p);
	free(z.p);
	free(b);
}

/* A mean of 100 elements; ratios with room for log2 100 = 6 more right shifts, and with 2. */
static void mean_factors(void **state)
{
	static const struct { double ratio; int k; } cases[] = { { 1.37, 6 }, { 1.37 / (1 << 30), 2 } };
	static const int32_t axis[] = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct tb *b = calloc(1, sizeof *b);
		const float ys = 1.0f, xs = (float)cases[i].ratio;
		struct values x = make((struct q){ false, xs, 1 }, 1, DIMS(100));
		int in[2] = { add_values(b, &x, false), tb_add(b, TFL_INT32, 1, DIMS(1), 0, 0) };
		tb_constant(b, in[1], axis, sizeof axis);
		struct tb_op *o = tb_op(b, TFL_MEAN, OPTIONS_REDUCE);
		tb_option(o, REDUCE_KEEP_DIMS, 1, 1);
		wire(o, 2, in, add_result(b, (struct q){ false, ys, 3 }, 1, DIMS(1)));
		weft_graph *g = import(b, 0, NULL);
		struct mult f = quantize_multiplier((double)xs / (double)ys);
		expect_factor(g, 1, (int32_t)(((int64_t)f.m << cases[i].k) / 100), 31 - f.s + cases[i].k);
		weft_graph_free(g);
		free(x.p);
		free(b);
	}
}

/* ---- odd graphs ---- */

static void ports(void **state)
{
	struct tb *b = calloc(1, sizeof *b);
	struct values x = make((struct q){ true, 0.5f, 3 }, 1, DIMS(4));

	(void)state;
	b->out[b->n_out++] = add_values(b, &x, false);
	b->out[b->n_out++] = b->out[0];
	weft_graph *g = import(b, 0, NULL);
	assert_int_equal(g->n_outputs, 2);
	assert_int_not_equal(g->outputs[0], g->outputs[1]);
	assert_int_not_equal(g->outputs[0], g->inputs[0]);
	weft_graph_free(g);
	expect_bytes(b, (const void *[]){ x.p }, x.p, "input as output");
	free(x.p);
	free(b);
}

static void odd_graphs_bad(void **state)
{
	struct tb *b = calloc(1, sizeof *b), *good = calloc(1, sizeof *b);
	struct values x = make((struct q){ false, 0.5f, 3 }, 1, DIMS(4));
	int ix = add_values(good, &x, false), mid = tb_add(good, TFL_INT8, 1, DIMS(4), 0.5f, 3);
	int iy = add_result(good, x.q, 1, DIMS(4));

	(void)state;
	wire(tb_op(good, TFL_CODE_RELU, 0), 1, &ix, mid);
	wire(tb_op(good, TFL_CODE_RELU, 0), 1, &mid, iy);
	weft_graph_free(import(good, 0, NULL));

	*b = *good;
	b->op[1].out[0] = mid;
	assert_null(import(b, -EINVAL, NULL));

	*b = *good;                      /* a user before its producer */
	b->op[0] = good->op[1];
	b->op[1] = good->op[0];
	assert_null(import(b, -EINVAL, NULL));

	*b = *good;
	tb_constant(b, ix, x.p, 4);
	assert_null(import(b, -EINVAL, NULL));

	*b = *good;
	b->out[0] = 77;
	assert_null(import(b, -EINVAL, NULL));

	*b = *good;
	b->tensor[mid].dim[0] = 0;
	assert_null(import(b, -EINVAL, NULL));

	*b = *good;                      /* declared, never allocated */
	b->tensor[mid].dim[0] = b->tensor[ix].dim[0] = b->tensor[iy].dim[0] = 2000000000;
	assert_null(import(b, -EINVAL, NULL));

	*b = *good;
	b->tensor[iy].scale[0] = 0.25f;  /* RELU requantises; RESHAPE cannot */
	b->op[1].code = TFL_RESHAPE;
	assert_null(import(b, -ENOTSUP, NULL));

	*b = *good;
	b->op[1].code = 250;             /* which has no name */
	assert_null(import(b, -ENOTSUP, "operator 1 code 250: not supported"));

	*b = *good;
	b->op[1].code = 30;
	assert_null(import(b, -ENOTSUP, "operator 1 SKIP_GRAM: not supported"));

	*b = *good;
	b->tensor[mid].type = b->tensor[iy].type = b->tensor[ix].type = TFL_FLOAT16;
	b->op[0].code = TFL_CODE_RELU_0_TO_1;
	assert_null(import(b, -ENOTSUP, "operator 0 RELU_0_TO_1: tensor 1 is float16: only int8, uint8 and int16 here; "
	                                "quantise the network first"));
	free(x.p);
	free(good);
	free(b);
}

/*
 * LiteRT 2.3's SUM over the columns of int8 or int16: bytes that count 0..255, of int16 the first as many as there are
 * elements; the sums are bytes, too, of int16 in the first half of the result, whose other half is 0.
 */
static void sums_of_bytes(void **state)
{
	(void)state;
	as.runtime = WEFT_RUNTIME_LITERT_2_3;
	for (int i = 0; i < 60; i++) {
		const int wide = i & 1, rows = draw(1, 7), columns = draw(1, 9), n = rows * columns, keep = i & 2;
		const struct q xq = { false, draw_scale(), wide ? 0 : draw(-128, 127) }, yq = { false, draw_scale(), wide ? 0 : draw(-128, 127) };
		const struct mult f = quantize_multiplier((double)xq.scale / (double)yq.scale);
		struct tb *b = calloc(1, sizeof *b);
		int in[2] = { tb_add(b, wide ? TFL_INT16 : TFL_INT8, 2, DIMS(rows, columns), xq.scale, xq.zp), tb_add(b, TFL_INT32, 1, DIMS(1), 0, 0) };
		const int y = tb_add(b, wide ? TFL_INT16 : TFL_INT8, 1 + !!keep, DIMS(rows, 1), yq.scale, yq.zp);
		uint8_t x[2 * 63], want[2 * 7] = { 0 };

		for (int k = 0; k < 2 * n; k++)
			x[k] = (uint8_t)draw(0, 255);
		for (int r = 0; r < rows; r++) {
			int32_t sum = 0;
			for (int c = 0; c < columns; c++)
				sum += x[r * columns + c];
			const int64_t v = (int64_t)scaled(sum - columns * xq.zp, f) + yq.zp;
			want[r] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
		}
		b->in[b->n_in++] = in[0];
		tb_constant(b, in[1], DIMS(1), 4);
		struct tb_op *o = tb_op(b, TFL_SUM, OPTIONS_REDUCE);
		tb_option(o, REDUCE_KEEP_DIMS, 1, !!keep);
		wire(o, 2, in, b->out[b->n_out++] = y);
		expect_bytes(b, (const void *[]){ x }, want, wide ? "sum of int16" : "sum of int8");
		free(b);
	}
	as.runtime = WEFT_RUNTIME_ANY;
}

/* A result's dimension 1 that the file leaves open follows from the operands. */
static void open_results(void **state)
{
	static const int32_t numbers[] = { 0, 2, 4, 3, 2, -1, 0, 1 };
	static const struct {
		int code, options, option, value;
		struct { int rank; int32_t dim[4]; int type, from; } x[3];   /* type INT32: numbers[from] and the following; 0: none */
		int list, n_list;                                           /* the options' list, of numbers */
		int rank;
		int32_t y[4];
	} cases[] = {
		{ TFL_SQUEEZE, OPTIONS_SQUEEZE, 0, 0, { { 4, { 1, 4, 1, 3 }, TFL_INT8, 0 } }, 0, 0, 2, { 4, 3 } },
		{ TFL_SQUEEZE, OPTIONS_SQUEEZE, 0, 0, { { 4, { 1, 4, 1, 3 }, TFL_INT8, 0 } }, 1, 1, 3, { 1, 4, 3 } },
		{ TFL_RESHAPE, OPTIONS_RESHAPE, 0, 0, { { 2, { 4, 5 }, TFL_INT8, 0 } }, 4, 2, 2, { 2, 10 } },
		{ TFL_GATHER, OPTIONS_GATHER, GATHER_AXIS, 1, { { 3, { 5, 3, 2 }, TFL_INT8, 0 }, { 1, { 2 }, TFL_INT32, 6 } }, 0, 0, 3, { 5, 2, 2 } },
		{ TFL_GATHER_ND, 0, 0, 0, { { 2, { 5, 3 }, TFL_INT8, 0 }, { 2, { 2, 1 }, TFL_INT32, 1 } }, 0, 0, 2, { 2, 3 } },
		{ TFL_PACK, OPTIONS_PACK, PACK_AXIS, 1, { { 2, { 3, 2 }, TFL_INT8, 0 }, { 2, { 3, 2 }, TFL_INT8, 0 } }, 0, 0, 3, { 3, 2, 2 } },
		{ TFL_BROADCAST_TO, 0, 0, 0, { { 2, { 1, 3 }, TFL_INT8, 0 }, { 1, { 2 }, TFL_INT32, 2 } }, 0, 0, 2, { 4, 3 } },
		{ TFL_SELECT_V2, 0, 0, 0, { { 2, { 1, 3 }, TFL_BOOL, 0 }, { 2, { 2, 1 }, TFL_INT8, 0 }, { 2, { 2, 3 }, TFL_INT8, 0 } }, 0, 0, 2, { 2, 3 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb *b = calloc(1, sizeof *b);
		int in[3], n_in = 0;

		for (; n_in < 3 && cases[i].x[n_in].rank; n_in++) {
			const int type = cases[i].x[n_in].type;
			in[n_in] = tb_add(b, type, cases[i].x[n_in].rank, cases[i].x[n_in].dim, type == TFL_INT8 ? 0.5f : 0, 0);
			if (type == TFL_INT32)
				tb_constant(b, in[n_in], numbers + cases[i].x[n_in].from, 8);
			else
				b->in[b->n_in++] = in[n_in];
		}
		struct tb_op *o = tb_op(b, cases[i].code, cases[i].options);
		if (cases[i].n_list) {
			tb_option(o, 0, 0, 0);
			o->list = numbers + cases[i].list;
			o->n_list = (uint32_t)cases[i].n_list;
		} else if (cases[i].value) {
			tb_option(o, cases[i].option, 4, cases[i].value);
		}
		const int y = tb_add(b, TFL_INT8, cases[i].rank, cases[i].y, 0.5f, 0);
		b->tensor[y].dim[1] = 1;
		b->tensor[y].open = true;
		wire(o, n_in, in, b->out[b->n_out++] = y);
		weft_graph *g = import(b, 0, NULL);
		const weft_tensor *t = &g->tensors[g->outputs[0]].t;
		assert_int_equal(t->rank, cases[i].rank);
		for (int d = 0; d < t->rank; d++)
			if (t->dim[d] != cases[i].y[d])
				fail_msg("case %zu: dimension %d is %lld, not %d", i, d, (long long)t->dim[d], (int)cases[i].y[d]);
		weft_graph_free(g);
		free(b);
	}
}

/* NEG of the greatest of n numbers in order, all of them: computed by the import where that takes no 2^26 steps. */
static void work(void **state)
{
	(void)state;
	for (int n = 64; n <= 16384; n *= 256) {
		struct tb *b = calloc(1, sizeof *b);
		float *v = calloc((size_t)n, sizeof *v);
		int nodes = 0;

		for (int i = 0; i < n; i++)
			v[i] = (float)((i * 7919) % n);
		int in[2] = { tb_add(b, TFL_FLOAT32, 1, DIMS(n), 0, 0), tb_add(b, TFL_INT32, 0, DIMS(1), 0, 0) };
		tb_constant(b, in[0], v, 4 * (size_t)n);
		tb_constant(b, in[1], &n, 4);
		const int most = tb_add(b, TFL_FLOAT32, 1, DIMS(n), 0, 0), where = tb_add(b, TFL_INT32, 1, DIMS(n), 0, 0);
		struct tb_op *o = tb_op(b, TFL_TOPK, 0);
		wire(o, 2, in, most);
		o->out[o->n_out++] = where;
		wire(tb_op(b, TFL_NEG, 0), 1, &most, b->out[b->n_out++] = tb_add(b, TFL_FLOAT32, 1, DIMS(n), 0, 0));
		char msg[WEFT_MSG] = "";
		weft_graph *g = NULL;
		size_t len;
		uint8_t *file = tb_file(b, &len);
		if (weft_import_tflite(file, len, "built", &g, msg))
			fail_msg("%s", msg);
		for (int i = 0; i < g->n_ops; i++)
			nodes += g->ops[i].op == WEFT_OP_ONNX_NODE;
		if ((nodes > 0) != (n > 64))
			fail_msg("%d numbers: %d operators left to the run", n, nodes);
		weft_graph_free(g);
		free(file);
		free(v);
		free(b);
	}
}

/* A part that is larger than what it is put into, and a beginning with too few numbers. */
static void update_slice_bad(void **state)
{
	static const int32_t start[2];
	static const struct { int32_t part[2], n; const char *says; } cases[] = {
		{ { 5, 1 }, 2, "operator 0 DYNAMIC_UPDATE_SLICE: a part of 5 elements in dimension 0, which has 4" },
		{ { 1, 3 }, 2, "operator 0 DYNAMIC_UPDATE_SLICE: a part of 3 elements in dimension 1, which has 2" },
		{ { 1, 2 }, 1, "operator 0 DYNAMIC_UPDATE_SLICE: 1 numbers say where the part of rank 2 begins" },
		{ { 4, 2 }, 2, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb *b = calloc(1, sizeof *b);
		struct values x = make((struct q){ false, 0.5f, 3 }, 2, DIMS(4, 2)), part = make(x.q, 2, cases[i].part);
		int in[3] = { add_values(b, &x, false), add_values(b, &part, false), tb_add(b, TFL_INT32, 1, &cases[i].n, 0, 0) };

		tb_constant(b, in[2], start, 4 * (size_t)cases[i].n);
		wire(tb_op(b, TFL_DYNAMIC_UPDATE_SLICE, 0), 3, in, add_result(b, x.q, 2, x.dim));
		weft_graph *g = import(b, cases[i].says ? -EINVAL : 0, cases[i].says);
		if (g)
			weft_graph_free(g);
		free(x.p);
		free(part.p);
		free(b);
	}
}

/* The result's shape of CONV_3D_TRANSPOSE, an operand, has too few numbers or one that no dimension has. */
static void conv_3d_shape_bad(void **state)
{
	static const int32_t shape[2][5] = { { 1, 2, 2 }, { 1, 2, INT32_MIN, 2, 1 } };
	static const int n[2] = { 3, 5 };
	static const char *const says[2] = { "operator 0 CONV_3D_TRANSPOSE: a result's shape of 3 numbers, not 5",
		"operator 0 CONV_3D_TRANSPOSE: dimension 2 of the result is -2147483648" };
	static const float one = 1;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct tb *b = calloc(1, sizeof *b);
		int in[3] = { tb_add(b, TFL_INT32, 1, &n[i], 0, 0), tb_add(b, TFL_FLOAT32, 5, DIMS(1, 1, 1, 1, 1), 0, 0),
		              tb_add(b, TFL_FLOAT32, 5, DIMS(1, 2, 2, 2, 1), 0, 0) };
		tb_constant(b, in[0], shape[i], 4 * (size_t)n[i]);
		tb_constant(b, in[1], &one, sizeof one);
		b->in[b->n_in++] = in[2];
		struct tb_op *o = tb_op(b, TFL_CONV_3D_TRANSPOSE, OPTIONS_CONV_3D);
		tb_option(o, CONV_3D_STRIDE_D, 4, 1);
		tb_option(o, CONV_3D_STRIDE_W, 4, 1);
		tb_option(o, CONV_3D_STRIDE_H, 4, 1);
		b->out[b->n_out++] = tb_add(b, TFL_FLOAT32, 5, DIMS(1, 2, 2, 2, 1), 0, 0);
		wire(o, 3, in, b->out[0]);
		assert_null(import(b, -EINVAL, says[i]));
		free(b);
	}
}

/* Operators at which the kernels would stop, or read beside their operands: refused with the number that is wrong. */
static void operators_bad(void **state)
{
	static const int32_t v[] = { 0, 4, 1, -1, 3, 2 };
	static const struct {
		int code, options, option, bytes, value, n_consts;
		int at[3], n[3];               /* of v */
		int32_t dim[2], y[2];
		int err;
		const char *says;
	} cases[] = {
		{ TFL_SLICE, 0, 0, 0, 0, 2, { 0, 1 }, { 2, 2 }, { 4, 4 }, { 4, 1 }, -EINVAL,
		  "operator 0 SLICE: dimension 1: 1 from 4 of 4" },
		{ TFL_STRIDED_SLICE, OPTIONS_STRIDED_SLICE, STRIDED_ELLIPSIS_MASK, 4, 1, 3, { 0, 4, 2 }, { 2, 2, 1 }, { 4, 4 },
		  { 4, 4 }, -EINVAL, "operator 0 STRIDED_SLICE: 2 starts, 1 ends or strides" },
		{ TFL_GATHER, OPTIONS_GATHER, GATHER_AXIS, 4, 0, 1, { 1 }, { 1 }, { 4, 4 }, { 1, 4 }, -EINVAL,
		  "operator 0 GATHER: index 4 of 4" },
		{ TFL_GATHER_ND, 0, 0, 0, 0, 1, { 2 }, { 2 }, { 4, 4 }, { 1, 1 }, -EINVAL,
		  "operator 0 GATHER_ND: index -1 of 4" },
		{ TFL_UNPACK, OPTIONS_UNPACK, UNPACK_AXIS, 4, 2, 0, { 0 }, { 0 }, { 4, 4 }, { 4, 4 }, -EINVAL,
		  "operator 0 UNPACK: axis 2 of rank 2" },
		{ TFL_RESIZE_NEAREST, OPTIONS_RESIZE_NEAREST, RESIZE_NEAREST_ALIGN, 1, 1, 1, { 4 }, { 2 }, { 4, 4 }, { 3, 2 },
		  -EINVAL, "operator 0 RESIZE_NEAREST_NEIGHBOR: 2 sizes for rank 2" },
		{ TFL_TILE, 0, 0, 0, 0, 1, { 0 }, { 2 }, { 4, 4 }, { 4, 4 }, -EINVAL, "operator 0 TILE: dimension 0: 4 times 0" },
		{ TFL_MIRROR_PAD, OPTIONS_MIRROR_PAD, 0, 1, 0, 1, { 0 }, { 4 }, { 4, 4 }, { 4, 4 }, -EINVAL,
		  "operator 0 MIRROR_PAD: padding -1 of dimension 1" },
		{ TFL_BROADCAST_TO, 0, 0, 0, 0, 1, { 4 }, { 2 }, { 4, 4 }, { 3, 2 }, -EINVAL,
		  "operator 0 BROADCAST_TO: dimension 0: 4 into 3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb *b = calloc(1, sizeof *b);
		struct values x = make((struct q){ false, 0.5f, 3 }, 2, cases[i].dim);
		int in[4] = { add_values(b, &x, false) };

		for (int k = 0; k < cases[i].n_consts; k++) {
			in[1 + k] = tb_add(b, TFL_INT32, 1, &cases[i].n[k], 0, 0);
			tb_constant(b, in[1 + k], v + cases[i].at[k], 4 * (size_t)cases[i].n[k]);
		}
		struct tb_op *o = tb_op(b, cases[i].code, cases[i].options);
		if (cases[i].options)
			tb_option(o, cases[i].option, cases[i].bytes, cases[i].value);
		wire(o, 1 + cases[i].n_consts, in, add_result(b, x.q, 2, cases[i].y));
		assert_null(import(b, cases[i].err, cases[i].says));
		free(x.p);
		free(b);
	}
}

static void normals_bad(void **state)
{
	static const struct {
		int code, activation;
		bool u8;
		float scale;
		int32_t zp;
		int err;
		const char *says;
	} cases[] = {
		{ TFL_L2_NORMALIZATION, TFL_NONE, false, 1.0f / 64, 0, -EINVAL,
		  "operator 0 L2_NORMALIZATION: result has scale 0.015625 and zero point 0 (as int8); wants 1/128 and 0" },
		{ TFL_L2_NORMALIZATION, TFL_NONE, true, 1.0f / 128, 0, -EINVAL,
		  "operator 0 L2_NORMALIZATION: result has scale 0.0078125 and zero point -128 (as int8); wants 1/128 and 0" },
		{ TFL_L2_NORMALIZATION, TFL_RELU, false, 1.0f / 128, 0, -ENOTSUP, "operator 0 L2_NORMALIZATION: activation 1" },
		{ TFL_LOG_SOFTMAX, 0, false, 1.0f / 16, -128, -EINVAL,
		  "operator 0 LOG_SOFTMAX: result has scale 0.0625 and zero point -128 (as int8); wants 1/16 and 127" },
		{ TFL_LOG_SOFTMAX, 0, true, 1.0f / 16, 100, -EINVAL,
		  "operator 0 LOG_SOFTMAX: result has scale 0.0625 and zero point -28 (as int8); wants 1/16 and 127" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tb *b = calloc(1, sizeof *b);
		struct values x = make((struct q){ cases[i].u8, 0.5f, 3 }, 2, DIMS(4, 4));
		struct q y = { cases[i].u8, cases[i].scale, cases[i].zp };
		int in = add_values(b, &x, false);
		bool l2 = cases[i].code == TFL_L2_NORMALIZATION;
		struct tb_op *o = tb_op(b, cases[i].code, l2 ? OPTIONS_L2_NORM : 0);

		if (l2)
			tb_option(o, L2_NORM_ACTIVATION, 1, cases[i].activation);
		wire(o, 1, &in, add_result(b, y, 2, DIMS(4, 4)));
		assert_null(import(b, cases[i].err, cases[i].says));
		free(x.p);
		free(b);
	}
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolutions), cmocka_unit_test(depthwise), cmocka_unit_test(fully_connected),
		cmocka_unit_test(pools), cmocka_unit_test(elementwise), cmocka_unit_test(mean), cmocka_unit_test(requantise), cmocka_unit_test(requantise_wraps),
		cmocka_unit_test(floats), cmocka_unit_test(float_rows), cmocka_unit_test(float_products), cmocka_unit_test(hybrid), cmocka_unit_test(angles), cmocka_unit_test(angle_limits), cmocka_unit_test(buckets), cmocka_unit_test(signs), cmocka_unit_test(ranges), cmocka_unit_test(constant_windows), cmocka_unit_test(relus), cmocka_unit_test(layout),
		cmocka_unit_test(concat_scales), cmocka_unit_test(product_precision),
		cmocka_unit_test(sum_factors), cmocka_unit_test(mean_factors), cmocka_unit_test(ports),
		cmocka_unit_test(odd_graphs_bad), cmocka_unit_test(update_slice_bad), cmocka_unit_test(sums_of_bytes), cmocka_unit_test(open_results), cmocka_unit_test(work), cmocka_unit_test(operators_bad), cmocka_unit_test(conv_3d_shape_bad), cmocka_unit_test(normals_bad),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
