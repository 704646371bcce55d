/* SPDX-License-Identifier: Apache-2.0 */
#include "random_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

#define MAX_LIVE 32
#define N_OF(a) ((int)(sizeof(a) / sizeof((a)[0])))

struct maker {
	weft_graph *g;
	uint64_t rng;
	int n;                     /* lanes */
	int64_t max_elements, max_macs;
	weft_dtype type;           /* of all tensors between operators: int8 or int16; WEFT_FP8E4M3: float */
	int x;                     /* where the sequence stands: rank 4 */
	int live[MAX_LIVE], n_live;/* tensors of rank 4 that may be read again */
	int src, n_named;
	bool alu;                  /* draw what only the command alu makes too */
	bool int4;                 /* weights of convolutions are int4 */
	bool has_zp;               /* the next convolution should take this zero point */
	int zp;
	int64_t side;              /* of an image that is made smaller and larger again, in steps of that */
	int64_t far;               /* the longest side of an image whose channels come apart */
	const uint8_t *choices;    /* what draw() takes before it goes on with rng, n_choices bytes */
	size_t n_choices;
};

/* ---- drawing ---- */

/* An element of a tensor or the like: never one of the choices. */
static int64_t draw_element(struct maker *m, int64_t lo, int64_t hi)
{
	return lo + (int64_t)(test_random(&m->rng) % (uint64_t)(hi - lo + 1));
}

static int64_t draw(struct maker *m, int64_t lo, int64_t hi)
{
	if (!m->n_choices || hi - lo > UINT8_MAX)
		return draw_element(m, lo, hi);
	m->n_choices--;
	return lo + *m->choices++ % (hi - lo + 1);
}

static bool chance(struct maker *m, int percent)
{
	return draw(m, 0, 99) < percent;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* A count, 1..max, most often next to a multiple of the lanes. */
static int64_t draw_count(struct maker *m, int64_t max)
{
	int64_t edges[] = { 1, 2, 3, 8, m->n - 1, m->n, m->n + 1, 2 * m->n, 2 * m->n + 1, max };
	int64_t v = chance(m, 60) ? edges[draw(m, 0, N_OF(edges) - 1)] : draw(m, 1, max);

	return most(1, least(v, max));
}

static int draw_int8(struct maker *m)
{
	static const int edges[] = { 0, 0, -128, 127, -1, 1 };

	return chance(m, 60) ? edges[draw(m, 0, N_OF(edges) - 1)] : (int)draw(m, -128, 127);
}

/* A value of the tensors' type. */
static int draw_value(struct maker *m)
{
	static const int edges[] = { 0, 0, INT16_MIN, INT16_MAX, -1, 1, -128, 127 };

	if (m->type == WEFT_INT8)
		return draw_int8(m);
	return chance(m, 60) ? edges[draw(m, 0, N_OF(edges) - 1)] : (int)draw(m, INT16_MIN, INT16_MAX);
}

/* TOSA gives int16 none. */
static int draw_zp(struct maker *m)
{
	return m->type == WEFT_INT8 ? draw_int8(m) : 0;
}

static double half_range(const struct maker *m)
{
	return m->type == WEFT_INT8 ? 128 : 32768;
}

static void fill_int16(struct maker *m, int16_t *v, int64_t n)
{
	int style = (int)draw(m, 0, 15);
	int16_t all = (int16_t)draw(m, INT16_MIN, INT16_MAX);

	for (int64_t i = 0; i < n; i++) {
		switch (style) {
		case 0: v[i] = INT16_MIN; break;
		case 1: v[i] = all; break;
		case 2: v[i] = draw_element(m, 0, 1) ? INT16_MAX : INT16_MIN; break;
		case 3: v[i] = draw_element(m, 0, 7) ? 0 : (int16_t)draw_element(m, INT16_MIN, INT16_MAX); break;
		case 4: v[i] = (int16_t)draw_element(m, -300, 300); break;
		default: v[i] = (int16_t)draw_element(m, INT16_MIN, INT16_MAX); break;
		}
	}
}

static void fill_int8(struct maker *m, int8_t *v, int64_t n)
{
	int style = (int)draw(m, 0, 15);
	int8_t all = (int8_t)draw(m, -128, 127);

	for (int64_t i = 0; i < n; i++) {
		switch (style) {
		case 0: v[i] = -128; break;
		case 1: v[i] = all; break;
		case 2: v[i] = draw_element(m, 0, 1) ? 127 : -128; break;
		case 3: v[i] = draw_element(m, 0, 7) ? 0 : (int8_t)draw_element(m, -128, 127); break;
		default: v[i] = (int8_t)draw_element(m, -128, 127); break;
		}
	}
}

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

static int must_index(int i)
{
	if (i < 0) {
		fprintf(stderr, "graph: error %d\n", i);
		exit(1);
	}
	return i;
}

/* ---- building ---- */

static const weft_tensor *tensor(const struct maker *m, int t)
{
	return &m->g->tensors[t].t;
}

static int64_t elements(const struct maker *m, int t)
{
	return weft_tensor_elements(tensor(m, t));
}

static void list_add(int **list, int *n, int v)
{
	*list = must(realloc(*list, ((size_t)*n + 1) * sizeof(int)));
	(*list)[(*n)++] = v;
}

static int new_tensor(struct maker *m, weft_dtype type, int rank, const int64_t *dim)
{
	int64_t own[WEFT_MAX_RANK] = { 0 };
	char name[32];

	/* dim may be another tensor's, and tensors move as they grow in number. */
	memcpy(own, dim, (size_t)rank * sizeof(*own));
	snprintf(name, sizeof(name), "t%d", m->n_named++);
	int t = must_index(weft_graph_tensor(m->g, name, type, rank, own));
	m->g->tensors[t].internal = true;
	return t;
}

static int new_const(struct maker *m, weft_dtype type, int rank, const int64_t *dim, void *data)
{
	char name[32];

	snprintf(name, sizeof(name), "c%d", m->n_named++);
	return must_index(weft_graph_const(m->g, name, type, rank, dim, data));
}

static bool is_float(const struct maker *m)
{
	return m->type == WEFT_FP8E4M3;
}

static void alive(struct maker *m, int t)
{
	if (tensor(m, t)->rank == 4 && (is_float(m) || tensor(m, t)->dtype == m->type) && m->n_live < MAX_LIVE)
		m->live[m->n_live++] = t;
}

static weft_dtype draw_type(struct maker *m)
{
	static const weft_dtype t[] = { WEFT_FP8E4M3, WEFT_FP8E5M2, WEFT_FP8E4M3FNUZ, WEFT_FP8E5M2FNUZ, WEFT_FP16 };

	return is_float(m) ? t[draw(m, 0, N_OF(t) - 1)] : m->type;
}

static int new_input(struct maker *m, const int64_t *dim)
{
	int t = new_tensor(m, draw_type(m), 4, dim);

	m->g->tensors[t].is_input = true;
	m->g->tensors[t].internal = false;
	list_add(&m->g->inputs, &m->g->n_inputs, t);
	alive(m, t);
	return t;
}

static int emit(struct maker *m, weft_opcode op, const weft_attr *a, const int *in, int n_in,
                weft_dtype type, int rank, const int64_t *dim)
{
	int y = new_tensor(m, type, rank, dim);

	must_index(weft_graph_op(m->g, op, a, m->src, in, n_in, &y, 1));
	return y;
}

static void begin(struct maker *m, const char *name)
{
	m->src = must_index(weft_graph_src(m->g, m->g->n_srcs, name));
}

static int end(struct maker *m, int y)
{
	m->g->tensors[y].internal = false;
	m->g->srcs[m->src].out = y;
	alive(m, y);
	return y;
}

/* ---- RESCALE and CLAMP ---- */

struct scales {
	int64_t n;
	int32_t *mul;
	int8_t *shift;
	bool narrow;               /* 16-bit multipliers */
	bool wraps;                /* some value may leave int32, so that no zero point can be added */
};

static void fit(struct maker *m, double real, bool narrow, int32_t *mul, int8_t *shift)
{
	int e;
	double f = frexp(real, &e);
	int bits = narrow ? 15 : chance(m, 15) ? (int)draw(m, 1, 20) : 31;

	if (bits - e > 62)
		bits = 62 + e;
	if (bits - e < 2)
		bits = 2 + e;
	*mul = (int32_t)most(0, least((int64_t)(f * ldexp(1, bits)), narrow ? 32767 : INT32_MAX));
	*shift = (int8_t)(bits - e);
}

static void any_scale(struct maker *m, bool narrow, int32_t *mul, int8_t *shift)
{
	static const int32_t muls[] = { 0, 1, 1 << 30, INT32_MAX, (1 << 30) + 1, INT32_MAX - 1 };
	static const int8_t shifts[] = { 2, 3, 30, 31, 32, 33, 46, 47, 61, 62 };

	*mul = chance(m, 60) ? muls[draw(m, 0, N_OF(muls) - 1)] : (int32_t)draw(m, 0, INT32_MAX);
	*shift = chance(m, 60) ? shifts[draw(m, 0, N_OF(shifts) - 1)] : (int8_t)draw(m, 2, 62);
	if (narrow)
		*mul &= 32767;
}

/* n pairs for values up to bound; mostly so that the results, about real times as large, fill the tensors' type. */
static struct scales draw_scales(struct maker *m, int64_t n, double real, double bound, bool narrow)
{
	struct scales s = { .n = n, .narrow = narrow, .mul = must(calloc((size_t)n, 4)),
		.shift = must(calloc((size_t)n, 1)) };
	bool wild = chance(m, 25);

	for (int64_t i = 0; i < n; i++) {
		if (wild || draw_element(m, 0, 99) < 3)
			any_scale(m, narrow, &s.mul[i], &s.shift[i]);
		else
			fit(m, real * ldexp(1.0 + (double)draw_element(m, 0, 1023) / 1024, (int)draw_element(m, -2, 1)), narrow,
			    &s.mul[i], &s.shift[i]);
		s.wraps |= ldexp(bound * s.mul[i], -s.shift[i]) > 2147483000.0;
	}
	return s;
}

static struct scales one_scale(int32_t mul, int shift)
{
	struct scales s = { .n = 1, .mul = must(calloc(1, 4)), .shift = must(calloc(1, 1)) };

	s.mul[0] = mul;
	s.shift[0] = (int8_t)shift;
	return s;
}

/* Takes s over. */
static int rescale(struct maker *m, int x, struct scales s, weft_rounding rounding, int x_zp, int y_zp, weft_dtype to)
{
	weft_attr a = { .rescale = { .scale32 = !s.narrow, .rounding = s.narrow && rounding == WEFT_DOUBLE_ROUND ? WEFT_SINGLE_ROUND : rounding,
		.per_channel = s.n > 1, .x_zp = x_zp, .y_zp = y_zp } };
	void *mul = s.mul;

	if (s.narrow) {
		int16_t *h = must(calloc((size_t)s.n, 2));
		for (int64_t i = 0; i < s.n; i++)
			h[i] = (int16_t)s.mul[i];
		free(s.mul);
		mul = h;
	}
	int im = new_const(m, s.narrow ? WEFT_INT16 : WEFT_INT32, 1, &s.n, mul);
	int is = new_const(m, WEFT_INT8, 1, &s.n, s.shift);
	weft_tensor t = *tensor(m, x);
	return emit(m, WEFT_OP_RESCALE, &a, (int[]){ x, im, is }, 3, to, t.rank, t.dim);
}

static weft_rounding draw_rounding(struct maker *m)
{
	return chance(m, 50) ? WEFT_DOUBLE_ROUND : chance(m, 40) ? WEFT_EVEN_ROUND : chance(m, 90) ? WEFT_SINGLE_ROUND : WEFT_INEXACT_ROUND;
}

/* Low 32 bits of sums of 48, as frameworks with 32-bit sums are lowered. */
static int narrow(struct maker *m, int x)
{
	struct scales s = one_scale(1 << 14, 14);

	s.narrow = true;
	return rescale(m, x, s, WEFT_SINGLE_ROUND, 0, 0, WEFT_INT32);
}

/* Sums, up to bound, to the tensors' type, which real times as much fills. */
static int requantise(struct maker *m, int x, int64_t channels, double real, double bound)
{
	int64_t n = chance(m, 60) ? channels : 1;

	if (tensor(m, x)->dtype == WEFT_INT48 && chance(m, 35))
		x = narrow(m, x);
	struct scales s = draw_scales(m, n, real, bound, tensor(m, x)->dtype == WEFT_INT48 || chance(m, 4));

	return rescale(m, x, s, draw_rounding(m), 0, s.wraps ? 0 : draw_zp(m), m->type);
}

static int widen(struct maker *m, int x, int zp, int left)
{
	return rescale(m, x, one_scale(1 << 30, 30 - left), WEFT_SINGLE_ROUND, zp, 0, WEFT_INT32);
}

static int clamp(struct maker *m, int x)
{
	int64_t a = draw_value(m), b = draw_value(m);
	weft_tensor t = *tensor(m, x);
	weft_attr at = { .clamp = { .min = least(a, b), .max = most(a, b) } };

	if (chance(m, 40))
		at.clamp.max = (int64_t)half_range(m) - 1;
	return emit(m, WEFT_OP_CLAMP, &at, &x, 1, m->type, t.rank, t.dim);
}

/* ---- windows ---- */

struct axis { int64_t kernel, stride, dilation, before, after, trim, out; };

/*
 * Padding and trimming for one axis of extent in: SAME, VALID, or anything.
 * pad_max bounds each side; what does not divide is cut off or padded.
 */
static bool fit_axis(struct maker *m, int64_t in, struct axis *a, int64_t pad_max)
{
	int64_t reach = (a->kernel - 1) * a->dilation + 1;
	int kind = (int)draw(m, 0, 3);

	a->before = a->after = a->trim = 0;
	if (kind == 0) {
		a->out = (in - 1) / a->stride + 1;
		int64_t need = (a->out - 1) * a->stride + reach, pad = most(0, need - in);
		a->before = pad / 2;
		a->after = pad - pad / 2;
	} else if (kind > 1) {
		a->before = chance(m, 30) ? pad_max : draw(m, 0, pad_max);
		a->after = chance(m, 30) ? pad_max : draw(m, 0, pad_max);
	}
	if (a->before > pad_max || a->after > pad_max)
		return false;
	int64_t span = in + a->before + a->after - reach;
	if (span < 0)
		return false;
	int64_t rest = span % a->stride;
	if (rest && a->after + a->stride - rest <= pad_max && chance(m, 50))
		a->after += a->stride - rest;
	else if (rest && a->after >= rest && chance(m, 50))
		a->after -= rest;
	else if (rest && in > rest)
		a->trim = rest;
	else if (rest)
		return false;
	a->out = (in - a->trim + a->before + a->after - reach) / a->stride + 1;
	return true;
}

static bool fit_axes(struct maker *m, int x, struct axis a[2], bool pool)
{
	for (int i = 0; i < 2; i++) {
		int64_t in = tensor(m, x)->dim[1 + i];
		int64_t reach = (a[i].kernel - 1) * a[i].dilation + 1;
		int64_t pad_max = pool ? a[i].kernel - 1 : chance(m, 10) ? reach + 2 : most(reach - 1, 0);
		bool good = false;
		for (int k = 0; k < 8 && !good; k++)
			good = fit_axis(m, in, &a[i], pad_max);
		if (!good)
			return false;
	}
	return true;
}

static int trim(struct maker *m, int x, const struct axis a[2])
{
	weft_attr at = { .slice = { { 0 } } };
	weft_tensor t = *tensor(m, x);

	if (!a[0].trim && !a[1].trim)
		return x;
	t.dim[1] -= a[0].trim;
	t.dim[2] -= a[1].trim;
	return emit(m, WEFT_OP_SLICE, &at, &x, 1, t.dtype, 4, t.dim);
}

#include "random_float.h"

/* ---- convolutions ---- */

static int draw_bias(struct maker *m, int64_t oc, double reach)
{
	bool wide = m->type == WEFT_INT16;
	int64_t n = chance(m, 85) ? oc : 1, max = wide ? ((int64_t)1 << 47) - 1 : INT32_MAX;
	void *b = must(calloc((size_t)n, wide ? 8 : 4));
	int style = (int)draw(m, 0, 5);
	int64_t span = style == 0 ? 0 : style == 1 ? max : least((int64_t)reach, max);

	for (int64_t i = 0; i < n; i++) {
		int64_t v = draw_element(m, -span - (style == 1), span);
		if (wide)
			((int64_t *)b)[i] = v;
		else
			((int32_t *)b)[i] = (int32_t)v;
	}
	return new_const(m, wide ? WEFT_INT48 : WEFT_INT32, 1, &n, b);
}

/*
 * In a third of the convolutions, let channels have no weights but the zero point, as in pruned networks: indices
 * of two axes of the weights, [0] and [3] of a CONV2D, [2] of a depthwise one. These are drawn from a sequence of
 * their own, so that all else is the same with and without them.
 */
static void prune(const struct maker *m, weft_opcode op, int zp, const int64_t dim[4], int8_t *w)
{
	struct maker own = { .rng = m->rng ^ 0x5851f42d4c957f2du };
	int axis[2] = { op == WEFT_OP_CONV2D ? 0 : 2, op == WEFT_OP_CONV2D ? 3 : 2 };
	bool dead[2][256] = { { false } };

	if (!chance(&own, 33))
		return;
	for (int k = 0; k < 2; k++) {
		int percent = chance(&own, 30) ? 0 : (int)draw(&own, 1, 100);
		for (int64_t i = 0; i < dim[axis[k]] && i < 256; i++)
			dead[k][i] = chance(&own, percent);
	}
	for (int64_t i = 0; i < dim[0] * dim[1] * dim[2] * dim[3]; i++) {
		int64_t at[4] = { i / (dim[1] * dim[2] * dim[3]), 0, i / dim[3] % dim[2], i % dim[3] };
		if ((at[axis[0]] < 256 && dead[0][at[axis[0]]]) || (at[axis[1]] < 256 && dead[1][at[axis[1]]]))
			w[i] = (int8_t)zp;
	}
}

static int draw_weights(struct maker *m, weft_opcode op, int zp, const int64_t dim[4])
{
	int64_t n = dim[0] * dim[1] * dim[2] * dim[3];
	bool int4 = m->int4 && op == WEFT_OP_CONV2D;
	int8_t *w = must(malloc((size_t)n));

	fill_int8(m, w, n);
	for (int64_t i = 0; int4 && i < n; i++)
		w[i] = (int8_t)(w[i] % 8);
	/* Few bits about the zero point, of which a coded load has less to bring. */
	int narrow = chance(m, 40) ? (int)draw(m, 1, 6) : 0;
	for (int64_t i = 0; narrow && i < n; i++) {
		int v = zp + (w[i] >> narrow);
		w[i] = (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
	}
	prune(m, op, zp, dim, w);
	return new_const(m, int4 ? WEFT_INT4 : WEFT_INT8, 4, dim, w);
}

static int x_zp(struct maker *m)
{
	bool take = m->has_zp;

	m->has_zp = false;
	return take ? m->zp : draw_zp(m);
}

/* CONV2D or DEPTHWISE_CONV2D of x with its RESCALE and perhaps CLAMP. */
static int convolve(struct maker *m, weft_opcode op, int x, const struct axis a[2], const int64_t w_dim[4], int64_t oc)
{
	int64_t k = a[0].kernel * a[1].kernel * (op == WEFT_OP_CONV2D ? w_dim[3] : 1);
	double noise = sqrt((double)k) * 62.5 * half_range(m);
	weft_dtype acc = m->type == WEFT_INT8 ? WEFT_INT32 : WEFT_INT48;

	if (is_float(m))
		return float_convolve(m, op, x, a, w_dim, oc);
	x = trim(m, x, a);
	weft_attr at = { .conv = {
		.pad = { (int)a[0].before, (int)a[0].after, (int)a[1].before, (int)a[1].after },
		.stride = { (int)a[0].stride, (int)a[1].stride }, .dilation = { (int)a[0].dilation, (int)a[1].dilation },
		.x_zp = x_zp(m), .w_zp = m->int4 || chance(m, 80) ? 0 : draw_int8(m), .acc = acc,
	} };
	int w = draw_weights(m, op, at.conv.w_zp, w_dim), b = draw_bias(m, oc, noise);
	int64_t dim[4] = { tensor(m, x)->dim[0], a[0].out, a[1].out, oc };
	int y = emit(m, op, &at, (int[]){ x, w, b }, 3, acc, 4, dim);
	y = requantise(m, y, oc, half_range(m) / 2 / noise, acc == WEFT_INT32 ? 2147483648.0 : ldexp(1, 47));
	return chance(m, 40) ? clamp(m, y) : y;
}

static int64_t draw_kernel(struct maker *m, int64_t max)
{
	static const int64_t k[] = { 1, 1, 2, 3, 3, 3, 4, 5, 7 };

	return most(1, least(k[draw(m, 0, N_OF(k) - 1)], max));
}

static void draw_window(struct maker *m, int x, struct axis a[2])
{
	bool square = chance(m, 60);

	for (int i = 0; i < 2; i++) {
		a[i].kernel = chance(m, 5) ? tensor(m, x)->dim[1 + i] : draw_kernel(m, 7);
		a[i].stride = chance(m, 60) ? 1 : draw(m, 1, chance(m, 20) ? 7 : 3);
		a[i].dilation = chance(m, 85) ? 1 : draw(m, 1, 4);
	}
	if (square) {
		int64_t k = least(a[0].kernel, 7);
		a[0].kernel = a[1].kernel = k;
		a[1].stride = a[0].stride;
		a[1].dilation = a[0].dilation;
	}
}

static int64_t sums(const struct maker *m, int x, const struct axis a[2], int64_t oc)
{
	return tensor(m, x)->dim[0] * a[0].out * a[1].out * oc;
}

static int make_conv(struct maker *m, int x)
{
	struct axis a[2];
	int64_t ic = tensor(m, x)->dim[3];

	draw_window(m, x, a);
	if (!fit_axes(m, x, a, false))
		return -1;
	int64_t oc = draw_count(m, 3 * m->n);
	int64_t work = sums(m, x, a, oc) * a[0].kernel * a[1].kernel * ic;
	if (sums(m, x, a, oc) > m->max_elements || work > m->max_macs)
		return -1;
	begin(m, "CONV_2D");
	return end(m, convolve(m, WEFT_OP_CONV2D, x, a, (int64_t[]){ oc, a[0].kernel, a[1].kernel, ic }, oc));
}

static int make_depthwise(struct maker *m, int x)
{
	struct axis a[2];
	int64_t c = tensor(m, x)->dim[3], mult = chance(m, 85) ? 1 : draw(m, 2, 3);

	draw_window(m, x, a);
	if (chance(m, 60)) {
		for (int i = 0; i < 2; i++) {
			a[i].kernel = chance(m, 80) ? 3 : draw(m, 1, 3);
			a[i].dilation = 1;
		}
	}
	if (!fit_axes(m, x, a, false) || sums(m, x, a, c * mult) > m->max_elements)
		return -1;
	/* On the array, of N channels only one is of use. */
	if (sums(m, x, a, c * mult) * a[0].kernel * a[1].kernel * 4 > m->max_macs)
		return -1;
	begin(m, "DEPTHWISE_CONV_2D");
	return end(m, convolve(m, WEFT_OP_DEPTHWISE_CONV2D, x, a,
	                       (int64_t[]){ a[0].kernel, a[1].kernel, c, mult }, c * mult));
}

static int reshape(struct maker *m, int x, int rank, const int64_t *dim)
{
	return emit(m, WEFT_OP_RESHAPE, NULL, &x, 1, tensor(m, x)->dtype, rank, dim);
}

static int make_dense(struct maker *m, int x)
{
	const struct axis one = { .kernel = 1, .stride = 1, .dilation = 1, .out = 1 };
	struct axis a[2] = { one, one };
	weft_tensor t = *tensor(m, x);
	int64_t rows = chance(m, 70) ? t.dim[0] : t.dim[0] * t.dim[1] * t.dim[2];
	int64_t k = elements(m, x) / rows, oc = draw_count(m, 5 * m->n);

	if (rows * k * oc > m->max_macs || k * oc > m->max_elements * 8)
		return -1;
	if (is_float(m) && chance(m, 40))
		return make_float_matmul(m, x, rows, k, oc);
	begin(m, "FULLY_CONNECTED");
	if (t.dim[0] != rows || t.dim[3] != k)
		x = reshape(m, x, 4, (int64_t[]){ rows, 1, 1, k });
	int y = convolve(m, WEFT_OP_CONV2D, x, a, (int64_t[]){ oc, 1, 1, k }, oc);
	int64_t out[2] = { rows, oc };
	if (chance(m, 50)) {
		y = reshape(m, y, 2, out);
		y = reshape(m, end(m, y), 4, (int64_t[]){ rows, 1, 1, oc });
	}
	return end(m, y);
}

/* ---- pools and sums ---- */

static int make_pool(struct maker *m, int x)
{
	bool average = chance(m, 50);
	if (is_float(m) && average)
		return make_float_average(m, x);
	struct axis a[2];
	int64_t c = tensor(m, x)->dim[3];

	draw_window(m, x, a);
	for (int i = 0; i < 2; i++) {
		a[i].dilation = 1;
		a[i].stride = chance(m, 50) ? a[i].kernel : a[i].stride;
		if (chance(m, 15))
			a[i].kernel = tensor(m, x)->dim[1 + i];
	}
	if (!fit_axes(m, x, a, true) || sums(m, x, a, c) > m->max_elements ||
	    sums(m, x, a, c) * a[0].kernel * a[1].kernel > m->max_macs / 4)
		return -1;
	begin(m, average ? "AVERAGE_POOL_2D" : "MAX_POOL_2D");
	x = trim(m, x, a);
	weft_attr at = { .pool = {
		.kernel = { (int)a[0].kernel, (int)a[1].kernel }, .stride = { (int)a[0].stride, (int)a[1].stride },
		.pad = { (int)a[0].before, (int)a[0].after, (int)a[1].before, (int)a[1].after }, .acc = WEFT_INT32,
	} };
	if (average && chance(m, 40)) {
		at.pool.x_zp = draw_zp(m);
		at.pool.y_zp = draw_zp(m);
	}
	int64_t dim[4] = { tensor(m, x)->dim[0], a[0].out, a[1].out, c };
	if (is_float(m)) {
		at.pool.nan = chance(m, 5) ? WEFT_NAN_IGNORE : WEFT_NAN_PROPAGATE;
		return end(m, float_max_pool(m, x, &at, dim));
	}
	int y = emit(m, average ? WEFT_OP_AVG_POOL2D : WEFT_OP_MAX_POOL2D, &at, &x, 1, m->type, 4, dim);
	return end(m, chance(m, 25) ? clamp(m, y) : y);
}

/* Mean over these axes, a bit each. */
static int mean_over(struct maker *m, int x, unsigned axes)
{
	weft_tensor t = *tensor(m, x);
	int64_t n = 1;

	begin(m, "MEAN");
	int y = widen(m, x, draw_zp(m), 0);
	for (int i = 0; i < 4; i++) {
		weft_attr a = { .axis = { i } };
		if (!(axes & 1u << i) || t.dim[i] == 1)
			continue;
		n *= t.dim[i];
		t.dim[i] = 1;
		y = emit(m, WEFT_OP_REDUCE_SUM, &a, &y, 1, WEFT_INT32, 4, t.dim);
	}
	struct scales s = draw_scales(m, 1, 1.0 / (double)n, 2 * half_range(m) * (double)n, false);
	y = rescale(m, y, s, draw_rounding(m), 0, s.wraps ? 0 : draw_zp(m), m->type);
	if (axes == 6 && chance(m, 60)) {
		y = reshape(m, y, 2, (int64_t[]){ t.dim[0], t.dim[3] });
		y = reshape(m, end(m, y), 4, t.dim);
	}
	return end(m, y);
}

static int make_mean(struct maker *m, int x)
{
	if (is_float(m))
		return make_float_average(m, x);
	int kind = (int)draw(m, 0, 9);
	return mean_over(m, x, kind < 6 ? 6 : kind == 6 ? 2 : kind == 7 ? 4 : kind == 8 ? 8 : 14);
}

/* ---- sums of two ---- */

static int add_side(struct maker *m, int x, int left)
{
	int wide = widen(m, x, draw_zp(m), left);
	struct scales s = draw_scales(m, 1, chance(m, 50) ? 0.5 : 0.5 / (double)draw(m, 1, 8), ldexp(2 * half_range(m), left), false);

	return rescale(m, wide, s, WEFT_DOUBLE_ROUND, 0, 0, WEFT_INT32);
}

static int add(struct maker *m, int a, int b)
{
	if (is_float(m))
		return float_add(m, a, b);
	weft_tensor t = *tensor(m, a);
	bool wide = m->type == WEFT_INT16;
	int left = chance(m, 85) ? wide ? 15 : 20 : (int)draw(m, 0, wide ? 20 : 28);

	begin(m, "ADD");
	int sa = add_side(m, a, left), sb = add_side(m, b, left);
	for (int d = 0; d < 4; d++)
		t.dim[d] = most(t.dim[d], tensor(m, b)->dim[d]);
	int sum = emit(m, chance(m, 30) ? WEFT_OP_SUB : WEFT_OP_ADD, NULL, (int[]){ sa, sb }, 2, WEFT_INT32, t.rank, t.dim);
	struct scales s = draw_scales(m, 1, ldexp(1, 1 - left), 2147483648.0, false);
	int y = rescale(m, sum, s, WEFT_DOUBLE_ROUND, 0, s.wraps ? 0 : draw_zp(m), m->type);
	return end(m, chance(m, 30) ? clamp(m, y) : y);
}

static bool same_shape(const struct maker *m, int a, int b)
{
	return !memcmp(tensor(m, a)->dim, tensor(m, b)->dim, sizeof(tensor(m, a)->dim));
}

/* A second tensor for x: of its shape, or with some dimensions of one element. */
static int beside(struct maker *m, int x)
{
	int other = m->live[draw(m, 0, m->n_live - 1)];
	weft_tensor t = *tensor(m, x);

	if (chance(m, 25) && !is_float(m)) {
		for (int d = 0; d < (chance(m, 15) ? 4 : 3); d++)
			t.dim[d] = chance(m, 70) ? 1 : t.dim[d];
		return new_input(m, t.dim);
	}
	return same_shape(m, x, other) ? other : new_input(m, t.dim);
}

/* Product as TFLite's MUL has it; b may be repeated over x's pixels. */
static int product(struct maker *m, int x, int b)
{
	bool at = chance(m, 50);
	weft_tensor t = *tensor(m, x);
	weft_attr a = { .mul = { 0 } };
	int in[2];

	begin(m, "MUL");
	in[at] = widen(m, x, draw_zp(m), 0);
	in[!at] = widen(m, b, draw_zp(m), 0);
	int y = emit(m, WEFT_OP_MUL, &a, in, 2, WEFT_INT32, t.rank, t.dim);
	struct scales s = draw_scales(m, 1, 1 / half_range(m), 4 * half_range(m) * half_range(m), false);
	y = rescale(m, y, s, draw_rounding(m), 0, s.wraps ? 0 : draw_zp(m), m->type);
	return end(m, chance(m, 30) ? clamp(m, y) : y);
}

static int make_product(struct maker *m, int x)
{
	return is_float(m) ? -1 : product(m, x, beside(m, x));
}

static int make_add(struct maker *m, int x)
{
	int other = beside(m, x);

	return chance(m, 50) ? add(m, x, other) : add(m, other, x);
}

/* Convolution of x that keeps width and height; channels are kept by a depthwise one. -1: too much work. */
static int same_size(struct maker *m, int x, int64_t k, int64_t oc, bool depthwise)
{
	int64_t c = tensor(m, x)->dim[3];
	struct axis a[2];

	for (int i = 0; i < 2; i++)
		a[i] = (struct axis){ .kernel = k, .stride = 1, .dilation = 1, .before = k / 2, .after = k / 2,
			.out = tensor(m, x)->dim[1 + i] };
	if (sums(m, x, a, oc) > m->max_elements || sums(m, x, a, oc) * k * k * (depthwise ? 4 : c) > m->max_macs)
		return -1;
	begin(m, depthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D");
	if (depthwise)
		return end(m, convolve(m, WEFT_OP_DEPTHWISE_CONV2D, x, a, (int64_t[]){ k, k, c, 1 }, c));
	return end(m, convolve(m, WEFT_OP_CONV2D, x, a, (int64_t[]){ oc, k, k, c }, oc));
}

/* x plus a convolution of x. */
static int make_residual(struct maker *m, int x)
{
	int y = same_size(m, x, chance(m, 50) ? 3 : 1, tensor(m, x)->dim[3], chance(m, 25));

	if (y < 0)
		return -1;
	return chance(m, 50) ? add(m, x, y) : add(m, y, x);
}

/* ---- one operand, no sums ---- */

static int make_rescale(struct maker *m, int x)
{
	if (is_float(m))
		return make_float_cast(m, x);
	begin(m, "QUANTIZE");
	struct scales s = draw_scales(m, 1, 1, 2 * half_range(m), false);
	return end(m, rescale(m, x, s, draw_rounding(m), draw_zp(m), s.wraps ? 0 : draw_zp(m), m->type));
}

static int make_clamp(struct maker *m, int x)
{
	if (is_float(m))
		return make_float_clamp(m, x);
	begin(m, "RELU");
	return end(m, clamp(m, x));
}

/* A function of one byte as a TABLE. */
static int make_byte_function(struct maker *m, int x)
{
	int8_t *entries;

	if (m->type != WEFT_INT8)
		return -1;
	weft_tensor t = *tensor(m, x);
	begin(m, "TABLE");
	entries = must(malloc(256));
	fill_int8(m, entries, 256);
	int table = new_const(m, WEFT_INT8, 1, (int64_t[]){ 256 }, entries);
	return end(m, emit(m, WEFT_OP_TABLE, NULL, (int[]){ x, table }, 2, WEFT_INT8, t.rank, t.dim));
}

/* x times a function of x, as a swish has it; sometimes of a function of x, or with a reader of its own for the factor. */
static int make_swish(struct maker *m, int x)
{
	if (m->type != WEFT_INT8)
		return -1;
	x = chance(m, 30) ? make_byte_function(m, x) : x;
	int factor = make_byte_function(m, x);
	if (chance(m, 20))
		make_byte_function(m, factor);
	return product(m, x, factor);
}

/*
 * The gate of a squeeze-excite block: a fully connected layer of 256 outputs and a function of
 * one byte, whose result has exactly as many bytes as its table.
 */
static int make_gate(struct maker *m, int x)
{
	const struct axis one = { .kernel = 1, .stride = 1, .dilation = 1, .out = 1 };
	const struct axis a[2] = { one, one };
	int64_t k = elements(m, x);

	if (m->type != WEFT_INT8 || k * 256 > m->max_macs)
		return -1;
	begin(m, "FULLY_CONNECTED");
	x = reshape(m, x, 4, (int64_t[]){ 1, 1, 1, k });
	x = end(m, convolve(m, WEFT_OP_CONV2D, x, a, (int64_t[]){ 256, 1, 1, k }, 256));
	return make_byte_function(m, make_byte_function(m, x));
}

static int make_pad(struct maker *m, int x)
{
	weft_attr a = { .pad = { .value = is_float(m) ? 0 : m->type == WEFT_INT16 && chance(m, 20) ? draw_value(m) : draw_zp(m) } };
	weft_tensor t = *tensor(m, x);

	for (int i = 1; i < 4; i++) {
		if (i == 3 && !chance(m, 20))
			continue;
		a.pad.before[i] = (int)draw(m, 0, 3);
		a.pad.after[i] = (int)draw(m, 0, 3);
		t.dim[i] += a.pad.before[i] + a.pad.after[i];
	}
	if (weft_tensor_elements(&t) > m->max_elements)
		return -1;
	m->has_zp = chance(m, 70) && m->type == WEFT_INT8;
	m->zp = (int)a.pad.value;
	begin(m, "PAD");
	return end(m, emit(m, WEFT_OP_PAD, &a, &x, 1, t.dtype, 4, t.dim));
}

/* A STRIDED_SLICE with this result; mostly with the RESHAPE behind it that the importer of TensorFlow Lite writes. */
static int strided_slice(struct maker *m, int x, const weft_attr *a, const int64_t dim[4])
{
	begin(m, "STRIDED_SLICE");
	x = emit(m, WEFT_OP_SLICE, a, &x, 1, tensor(m, x)->dtype, 4, dim);
	return end(m, chance(m, 60) ? reshape(m, x, 4, dim) : x);
}

static int make_slice(struct maker *m, int x)
{
	weft_attr a = { .slice = { { 0 } } };
	weft_tensor t = *tensor(m, x);

	for (int i = 1; i < 4; i++) {
		int64_t was = t.dim[i];
		if (chance(m, 40))
			continue;
		t.dim[i] = draw(m, 1, was);
		a.slice.start[i] = draw(m, 0, was - t.dim[i]);
	}
	return strided_slice(m, x, &a, t.dim);
}

static int make_reshape(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	const int64_t *d = t.dim;
	int64_t to[][4] = {
		{ d[0], 1, d[1] * d[2], d[3] }, { d[0], d[1] * d[2], 1, d[3] }, { 1, d[0] * d[1], d[2], d[3] },
		{ d[0], d[1], 1, d[2] * d[3] }, { d[0], d[2], d[1], d[3] }, { d[0], d[1], d[3], d[2] },
	};

	begin(m, "RESHAPE");
	return end(m, reshape(m, x, 4, to[draw(m, 0, N_OF(to) - 1)]));
}

/* A window of one pixel, or of more behind padding of the least value, as in networks that pad in front of a pool. */
static int pool_behind(struct maker *m, int x, int64_t kernel, bool average)
{
	weft_tensor t = *tensor(m, x);
	int64_t sy = draw(m, 1, 3), sx = draw(m, 1, 3);
	weft_attr a = { .pool = { .kernel = { (int)kernel, (int)kernel }, .stride = { (int)sy, (int)sx }, .acc = WEFT_INT32 } };

	/* An operator's window ends with its input. */
	t.dim[1] -= (t.dim[1] - kernel) % sy;
	t.dim[2] -= (t.dim[2] - kernel) % sx;
	weft_attr cut = { .slice = { { 0 } } };
	if (t.dim[1] != tensor(m, x)->dim[1] || t.dim[2] != tensor(m, x)->dim[2])
		x = emit(m, WEFT_OP_SLICE, &cut, &x, 1, t.dtype, 4, t.dim);
	begin(m, average ? "AVERAGE_POOL_2D" : "MAX_POOL_2D");
	t.dim[1] = (t.dim[1] - kernel) / sy + 1;
	t.dim[2] = (t.dim[2] - kernel) / sx + 1;
	if (average && chance(m, 50))
		a.pool.x_zp = a.pool.y_zp = draw_zp(m);
	return end(m, emit(m, average ? WEFT_OP_AVG_POOL2D : WEFT_OP_MAX_POOL2D, &a, &x, 1, t.dtype, 4, t.dim));
}

/*
 * A convolution behind a pool of one pixel, behind rows and columns that are padded on one side and cut off on the other:
 * how NASNet takes every second pixel, once from the first and once from the second. Two or three SLICEs may follow each
 * other, since pool_behind() makes one as well.
 */
static int make_every_second(struct maker *m, int x)
{
	weft_attr pad = { .pad = { .value = draw_zp(m) } }, cut = { .slice = { { 0 } } };
	weft_tensor t = *tensor(m, x);

	for (int i = 1; i < 3; i++) {
		pad.pad.before[i] = (int)draw(m, 0, 1);
		pad.pad.after[i] = (int)draw(m, 0, 2);
		cut.slice.start[i] = draw(m, 0, least(2, t.dim[i] - 1));
		t.dim[i] += pad.pad.before[i] + pad.pad.after[i];
	}
	if (is_float(m) || weft_tensor_elements(&t) > m->max_elements)
		return -1;
	if (chance(m, 70)) {
		begin(m, "PAD");
		x = end(m, emit(m, WEFT_OP_PAD, &pad, &x, 1, t.dtype, 4, t.dim));
		for (int i = 1; i < 3; i++)
			t.dim[i] = draw(m, 1, t.dim[i] - cut.slice.start[i]);
		x = strided_slice(m, x, &cut, t.dim);
		if (chance(m, 30))
			x = make_slice(m, x);
	}
	x = pool_behind(m, x, 1, chance(m, 50));
	/* The convolution's zero point is what was padded with, or another one. */
	m->has_zp = m->type == WEFT_INT8;
	m->zp = chance(m, 70) ? (int)pad.pad.value : draw_zp(m);
	return same_size(m, x, chance(m, 60) ? 1 : 3, draw_count(m, 2 * m->n), chance(m, 20));
}

/* A maximum behind padding, mostly of the least value. */
static int make_padded_maximum(struct maker *m, int x)
{
	int lowest = m->type == WEFT_INT8 ? INT8_MIN : INT16_MIN;
	weft_attr a = { .pad = { .value = chance(m, 70) ? lowest : draw_value(m) } };
	weft_tensor t = *tensor(m, x);
	int64_t kernel = draw(m, 1, 3);

	for (int i = 1; i < 3; i++) {
		a.pad.before[i] = (int)draw(m, 0, 2);
		a.pad.after[i] = (int)draw(m, 0, 2);
		t.dim[i] += a.pad.before[i] + a.pad.after[i];
	}
	if (is_float(m) || weft_tensor_elements(&t) > m->max_elements || t.dim[1] < kernel || t.dim[2] < kernel)
		return -1;
	begin(m, "PAD");
	return pool_behind(m, end(m, emit(m, WEFT_OP_PAD, &a, &x, 1, t.dtype, 4, t.dim)), kernel, false);
}

/* ---- branches ---- */

static bool may_concat(const struct maker *m, int a, int b, int axis)
{
	for (int i = 0; i < 4; i++)
		if (i != axis && tensor(m, a)->dim[i] != tensor(m, b)->dim[i])
			return false;
	return tensor(m, a)->dtype == tensor(m, b)->dtype;
}

static int make_concat(struct maker *m, int x)
{
	int axis = chance(m, 70) ? 3 : (int)draw(m, 1, 2), in[4] = { x }, n = 1;
	weft_tensor t = *tensor(m, x);

	for (int k = 0; k < 6 && n < 4; k++) {
		int other = m->live[draw(m, 0, m->n_live - 1)];
		if (!may_concat(m, x, other, axis))
			continue;
		in[n++] = other;
		t.dim[axis] += tensor(m, other)->dim[axis];
		if (chance(m, 50))
			break;
	}
	if (n == 1 || weft_tensor_elements(&t) > m->max_elements)
		return -1;
	if (chance(m, 50)) {
		in[0] = in[n - 1];
		in[n - 1] = x;
	}
	weft_attr a = { .axis = { axis } };
	begin(m, "CONCATENATION");
	return end(m, emit(m, WEFT_OP_CONCAT, &a, in, n, t.dtype, 4, t.dim));
}

/* Two or three convolutions of x, side by side. */
static int make_branches(struct maker *m, int x)
{
	int y[3], n = 0, n_want = (int)draw(m, 2, 3);
	weft_tensor t = *tensor(m, x);

	t.dim[3] = 0;
	for (int k = 0; k < n_want; k++) {
		int b = same_size(m, x, chance(m, 50) ? 3 : 1, draw_count(m, 2 * m->n), false);
		if (b < 0)
			break;
		if (n && tensor(m, b)->dtype != tensor(m, y[0])->dtype)
			b = cast_to(m, b, tensor(m, y[0])->dtype);
		y[n++] = b;
		t.dim[3] += tensor(m, b)->dim[3];
	}
	if (n < 2 || weft_tensor_elements(&t) > m->max_elements)
		return -1;
	weft_attr a = { .axis = { 3 } };
	begin(m, "CONCATENATION");
	int all = end(m, emit(m, WEFT_OP_CONCAT, &a, y, n, tensor(m, y[0])->dtype, 4, t.dim));
	if (is_float(m) || chance(m, 60))
		return all;
	/* Side by side with one more, as at the end of an Inception. */
	int more = same_size(m, x, 1, draw_count(m, m->n), false);
	if (more < 0)
		return all;
	t.dim[3] += tensor(m, more)->dim[3];
	begin(m, "CONCATENATION");
	return end(m, emit(m, WEFT_OP_CONCAT, &a, chance(m, 50) ? (int[]){ more, all } : (int[]){ all, more }, 2, tensor(m, all)->dtype, 4, t.dim));
}

/* Convolutions, mostly of an image, each of all that came before it, as in a DenseNet; perhaps two, or of scaled values. */
static int make_block(struct maker *m, int x)
{
	int64_t h = draw(m, 2, 2 * m->side), w = draw(m, 4, 2 * m->side);

	if (x < 0 || (chance(m, 70) && !is_float(m)))
		x = new_input(m, (int64_t[]){ chance(m, 90) ? 1 : 2, h, w, draw_count(m, 2 * m->n) });
	for (int layers = (int)draw(m, 2, 4); layers; layers--) {
		int before = chance(m, 50) ? same_size(m, x, 1, draw_count(m, 2 * m->n), false) : x;
		int y = before < 0 ? -1 : same_size(m, before, chance(m, 70) ? 3 : 1, draw_count(m, 2 * m->n), false);
		weft_tensor t = *tensor(m, x);
		if (y < 0 || tensor(m, y)->dtype != t.dtype)
			break;
		t.dim[3] += tensor(m, y)->dim[3];
		if (weft_tensor_elements(&t) > m->max_elements)
			break;
		weft_attr a = { .axis = { 3 } };
		begin(m, "CONCATENATION");
		x = end(m, emit(m, WEFT_OP_CONCAT, &a, chance(m, 80) ? (int[]){ x, y } : (int[]){ y, x }, 2, t.dtype, 4, t.dim));
	}
	return x;
}

/* TRANSPOSE of x, a tensor of this rank, by perm. */
static int transpose(struct maker *m, int x, int rank, const int perm[])
{
	weft_attr a = { .perm = { { 0 } } };
	weft_tensor t = *tensor(m, x), was = t;

	for (int i = 0; i < rank; i++) {
		a.perm.perm[i] = perm[i];
		t.dim[i] = was.dim[perm[i]];
	}
	begin(m, "TRANSPOSE");
	return end(m, emit(m, WEFT_OP_TRANSPOSE, &a, &x, 1, t.dtype, rank, t.dim));
}

/* Channels of x in another order, as between the groups of a ShuffleNet; perhaps one half goes on alone and comes back. */
static int make_shuffle(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	int64_t c = t.dim[3], groups = draw(m, 2, 4);

	while (c % groups)
		groups--;
	if (groups < 2 || is_float(m))
		return -1;
	int y = reshape(m, x, 5, (int64_t[]){ t.dim[0], t.dim[1], t.dim[2], groups, c / groups });
	y = transpose(m, y, 5, (int[]){ 0, 1, 2, 4, 3 });
	y = reshape(m, y, 4, t.dim);
	end(m, y);
	if (c % 2 || chance(m, 40))
		return y;
	int half[2];
	for (int k = 0; k < 2; k++) {
		weft_attr a = { .slice = { { 0, 0, 0, k * c / 2 } } };
		begin(m, "STRIDED_SLICE");
		half[k] = end(m, emit(m, WEFT_OP_SLICE, &a, &y, 1, t.dtype, 4, (int64_t[]){ t.dim[0], t.dim[1], t.dim[2], c / 2 }));
	}
	int through = same_size(m, half[1], 1, c / 2, false);
	if (through < 0)
		return y;
	weft_attr a = { .axis = { 3 } };
	begin(m, "CONCATENATION");
	return end(m, emit(m, WEFT_OP_CONCAT, &a, (int[]){ half[0], through }, 2, t.dtype, 4, t.dim));
}

/* One TILE that repeats the dimension of one element between `outer` and `inner` elements of x. */
static int repeat_between(struct maker *m, int x, int64_t outer, int64_t times, int64_t inner)
{
	weft_attr a = { .tile = { { 1, 1, times, 1 } } };

	x = reshape(m, x, 4, (int64_t[]){ 1, outer, 1, inner });
	begin(m, "TILE");
	return end(m, emit(m, WEFT_OP_TILE, &a, &x, 1, tensor(m, x)->dtype, 4, (int64_t[]){ 1, outer, times, inner }));
}

/* Each row of x `ny` and each column `nx` times: by TILE, rows first or columns first, as Keras has it, or by RESIZE. */
static int spread(struct maker *m, int x, int64_t ny, int64_t nx)
{
	weft_tensor t = *tensor(m, x);
	int64_t h = t.dim[0] * t.dim[1], w = t.dim[2], c = t.dim[3];   /* rows of all images */

	t.dim[1] *= ny;
	t.dim[2] *= nx;
	if (chance(m, 30)) {
		weft_attr a = { .resize = { .scale_y_n = (int32_t)ny, .scale_y_d = 1, .scale_x_n = (int32_t)nx, .scale_x_d = 1,
			.offset_y = (int32_t)-ny / 2, .offset_x = (int32_t)-nx / 2, .border_y = (int32_t)(ny - 1 - ny / 2),
			.border_x = (int32_t)(nx - 1 - nx / 2), .mode = WEFT_RESIZE_NEAREST } };
		begin(m, "RESIZE_NEAREST_NEIGHBOR");
		return end(m, emit(m, WEFT_OP_RESIZE, &a, &x, 1, t.dtype, 4, t.dim));
	}
	if (chance(m, 60))
		x = repeat_between(m, repeat_between(m, x, h, ny, w * c), h * ny * w, nx, c);
	else
		x = repeat_between(m, repeat_between(m, x, h * w, nx, c), h, ny, w * nx * c);
	return reshape(m, x, 4, t.dim);
}

/* An image made smaller and larger again, and side by side with itself, as in a U-Net. */
static int make_unet(struct maker *m, int x)
{
	int64_t ny = draw(m, 1, 3), nx = draw(m, ny == 1 ? 2 : 1, 3), h = ny * draw(m, 2, m->side), w = nx * draw(m, 4, m->side);
	weft_attr pool = { .pool = { .kernel = { (int)ny, (int)nx }, .stride = { (int)ny, (int)nx }, .acc = WEFT_INT32 } };

	if (is_float(m) || h * w * 2 * m->n > m->max_elements)
		return -1;
	x = new_input(m, (int64_t[]){ chance(m, 90) ? 1 : 2, h, w, draw_count(m, m->n) });
	int whole = same_size(m, x, 3, m->n * draw(m, 1, 2), false);
	if (whole < 0)
		return -1;
	weft_tensor t = *tensor(m, whole);
	t.dim[1] /= ny;
	t.dim[2] /= nx;
	begin(m, "MAX_POOL_2D");
	int small = end(m, emit(m, WEFT_OP_MAX_POOL2D, &pool, &whole, 1, t.dtype, 4, t.dim));
	int deep = same_size(m, small, chance(m, 50) ? 3 : 1, m->n * draw(m, 1, 2), false);
	if (deep < 0)
		return small;
	t = *tensor(m, deep);
	t.dim[1] *= ny;
	t.dim[2] *= nx;
	t.dim[3] += tensor(m, whole)->dim[3];
	if (tensor(m, deep)->dtype != tensor(m, whole)->dtype || weft_tensor_elements(&t) > m->max_elements)
		return deep;
	int large = spread(m, deep, ny, nx);
	weft_attr join = { .axis = { 3 } };
	begin(m, "CONCATENATION");
	int both = end(m, emit(m, WEFT_OP_CONCAT, &join, chance(m, 60) ? (int[]){ large, whole } : (int[]){ whole, large }, 2, t.dtype, 4, t.dim));
	int y = same_size(m, both, 3, draw_count(m, 2 * m->n), false);
	return y < 0 ? both : y;
}

/* A function of one byte of x, or a swish, or x as it is. */
static int activation(struct maker *m, int x)
{
	int y = chance(m, 30) ? -1 : chance(m, 70) ? make_byte_function(m, x) : make_swish(m, x);

	return y < 0 ? x : y;
}

/* The average of each pixel of x and its neighbours, by those that there are. */
static int same_average(struct maker *m, int x)
{
	const weft_tensor t = *tensor(m, x);
	weft_attr a = { .pool = { .kernel = { 3, 3 }, .stride = { 1, 1 }, .pad = { 1, 1, 1, 1 }, .acc = WEFT_INT32 } };

	begin(m, "AVERAGE_POOL_2D");
	return end(m, emit(m, WEFT_OP_AVG_POOL2D, &a, &x, 1, t.dtype, 4, t.dim));
}

/*
 * A block of a mobile network: more channels, a depthwise layer (or an average), activations, often the mean of the map by
 * which it is then scaled (squeeze-excite), fewer channels, perhaps beside x. -1: too much work.
 */
static int make_mobile(struct maker *m, int x)
{
	weft_tensor t = *tensor(m, x);
	int64_t c = m->n * draw(m, 2, 9) + (chance(m, 25) ? draw(m, 1, m->n - 1) : 0);
	int y = same_size(m, x, chance(m, 85) ? 1 : 3, c, false);

	if (y >= 0 && chance(m, 15))
		y = same_average(m, activation(m, y));
	else
		y = y < 0 ? -1 : same_size(m, activation(m, y), 2 * draw(m, 1, 3) + 1, c, true);
	if (y < 0)
		return -1;
	y = activation(m, y);
	if (chance(m, 70)) {
		int s = mean_over(m, y, 6);
		s = same_size(m, s, 1, draw_count(m, 2 * m->n), false);
		s = s < 0 ? -1 : same_size(m, activation(m, s), 1, c, false);
		y = s < 0 ? y : product(m, y, activation(m, s));
	}
	y = same_size(m, y, 1, t.dim[3], false);
	return y < 0 || chance(m, 50) ? y : add(m, x, y);
}

/* Channels that come apart, as in NCHW, mostly an image, or go apart. */
static int make_apart(struct maker *m, int x)
{
	if (is_float(m))
		return -1;
	if (chance(m, 60))
		x = new_input(m, (int64_t[]){ 1, draw(m, 2, 5), draw(m, 3, m->far), draw(m, 3, m->far) });
	return transpose(m, x, 4, chance(m, 70) ? (int[]){ 0, 2, 3, 1 } : (int[]){ 0, 3, 1, 2 });
}

static int make_softmax(struct maker *m, int x)
{
	weft_attr a = { .tfl_softmax = { .x_scale = 0.1f, .beta = 1 } };
	weft_tensor t = *tensor(m, x);

	if (m->type != WEFT_INT8)
		return -1;
	begin(m, "SOFTMAX");
	return end(m, emit(m, WEFT_OP_TFL_SOFTMAX, &a, &x, 1, WEFT_INT8, 4, t.dim));
}

#include "random_alu.h"

/* ---- the whole ---- */

static const struct { int (*make)(struct maker *, int); int weight; bool heavy; } kinds[] = {
	{ make_conv, 28, true }, { make_depthwise, 16, true }, { make_residual, 10, true },
	{ make_dense, 6, true }, { make_pool, 9, true }, { make_mean, 4, true }, { make_branches, 4, true },
	{ make_add, 6, false }, { make_product, 5, false }, { make_resize, 3, false }, { make_rescale, 4, false }, { make_clamp, 2, false }, { make_concat, 3, false },
	{ make_pad, 4, false }, { make_slice, 3, false }, { make_reshape, 2, false }, { make_softmax, 1, false },
	{ make_byte_function, 3, false }, { make_gate, 12, true },
	{ make_swish, 4, false }, { make_every_second, 4, true }, { make_padded_maximum, 3, true },
	{ make_shuffle, 4, true }, { make_apart, 4, false }, { make_unet, 4, true }, { make_block, 4, true },
};

static int one_operator(struct maker *m, bool heavy)
{
	for (int tries = 0; tries < 100; tries++) {
		int z = m->alu && chance(m, 70) ? alu_kinds[draw(m, 0, N_OF(alu_kinds) - 1)](m, m->x) : -1;
		if (z >= 0)
			return z;
		int at = (int)draw(m, 0, 151), k = 0;
		while (k < N_OF(kinds) - 1 && at >= kinds[k].weight)
			at -= kinds[k++].weight;
		int y = heavy && !kinds[k].heavy ? -1 : kinds[k].make(m, m->x);
		if (y >= 0)
			return y;
	}
	return m->x;
}

static void output(struct maker *m, int t)
{
	if (m->g->tensors[t].is_output)
		return;
	m->g->tensors[t].is_output = true;
	m->g->tensors[t].internal = false;
	list_add(&m->g->outputs, &m->g->n_outputs, t);
}

static void fill_inputs(struct maker *m, struct random_net *r)
{
	r->inputs = must(calloc((size_t)m->g->n_inputs, sizeof(*r->inputs)));
	for (int i = 0; i < m->g->n_inputs; i++) {
		r->inputs[i] = *tensor(m, m->g->inputs[i]);
		r->inputs[i].data = must(malloc(weft_tensor_bytes(&r->inputs[i])));
		if (is_float(m))
			fill_float(m, r->inputs[i].dtype, r->inputs[i].data, weft_tensor_elements(&r->inputs[i]));
		else if (m->type == WEFT_INT8 || r->inputs[i].dtype == WEFT_INT8)
			fill_int8(m, r->inputs[i].data, weft_tensor_elements(&r->inputs[i]));
		else
			fill_int16(m, r->inputs[i].data, weft_tensor_elements(&r->inputs[i]));
	}
}

/* Graphs of one to n_ops operators, the first of which reads a tensor of at most these sides and channels. */
static void make(struct maker *m, struct random_net *r, int64_t sides, int64_t channels, int n_ops)
{
	int64_t dim[4] = { chance(m, 85) ? 1 : draw(m, 2, 3), draw_count(m, sides), draw_count(m, sides), draw_count(m, channels) };
	int n = (int)draw(m, 1, n_ops);

	while (dim[0] * dim[1] * dim[2] * dim[3] > m->max_elements / 2)
		dim[draw(m, 1, 2)] = draw_count(m, 8);
	m->x = new_input(m, dim);
	for (int i = 0; i < n; i++)
		m->x = one_operator(m, i == 0 && chance(m, 85));
	for (int k = 0; k < 20 && m->g->tensors[m->x].producer < 0; k++)
		m->x = one_operator(m, true);
	output(m, m->x);
	int other = m->live[draw(m, 0, m->n_live - 1)];
	if (chance(m, 15) && m->g->tensors[other].producer >= 0)
		output(m, other);
	r->g = m->g;
	fill_inputs(m, r);
}

static void make_sized(struct random_net *r, uint64_t seed, int lanes, bool large, weft_dtype type, bool alu)
{
	struct maker m = { .alu = alu, .g = must(weft_graph_new("random")), .rng = seed * 0x9e3779b97f4a7c15u + large, .n = lanes, .type = type,
		.max_elements = large ? 200000 : 20000, .max_macs = large ? 12000000 : 1500000, .side = large ? 28 : 14, .far = 30 };

	make(&m, r, large ? 48 : 20, large ? 80 : 40, 4);
}

void random_net_make(struct random_net *r, uint64_t seed, int lanes, bool large, weft_dtype type)
{
	make_sized(r, seed, lanes, large, type, false);
}

void random_net_make_alu(struct random_net *r, uint64_t seed, int lanes, bool large, weft_dtype type)
{
	make_sized(r, seed, lanes, large, type, true);
}

void random_net_make_small(struct random_net *r, uint64_t seed, int lanes, weft_dtype type, bool alu, const uint8_t *choices, size_t n_choices)
{
	struct maker m = { .alu = alu, .g = must(weft_graph_new("random")), .rng = seed * 0x9e3779b97f4a7c15u + 5, .n = lanes, .type = type,
		.max_elements = 120 * lanes, .max_macs = 3000 * lanes, .side = 5, .far = 7, .choices = choices, .n_choices = n_choices };

	make(&m, r, 9, 2 * lanes + 2, 3);
}

void random_net_make_unet(struct random_net *r, uint64_t seed, int lanes, weft_dtype type)
{
	struct maker m = { .alu = true, .g = must(weft_graph_new("random")), .rng = seed * 0x9e3779b97f4a7c15u + 2, .n = lanes, .type = type,
		.max_elements = 200000, .max_macs = 30000000, .side = 28, .far = 30 };

	do
		m.x = seed % 4 < 2 ? make_unet(&m, -1) : make_block(&m, -1);
	while (m.x < 0);
	for (int i = (int)draw(&m, 0, 2); i; i--)
		m.x = one_operator(&m, true);
	output(&m, m.x);
	r->g = m.g;
	fill_inputs(&m, r);
}

void random_net_make_mobile(struct random_net *r, uint64_t seed, int lanes, weft_dtype type)
{
	struct maker m = { .alu = true, .g = must(weft_graph_new("random")), .rng = seed * 0x9e3779b97f4a7c15u + 3, .n = lanes, .type = type,
		.max_elements = 200000, .max_macs = 30000000, .far = 30 };

	m.x = new_input(&m, (int64_t[]){ chance(&m, 95) ? 1 : 2, draw(&m, 3, 24), draw(&m, 3, 24), draw_count(&m, 4 * lanes) });
	for (int i = (int)draw(&m, 1, 3); i; i--) {
		int y = make_mobile(&m, m.x);
		m.x = y < 0 ? one_operator(&m, true) : y;
	}
	output(&m, m.x);
	r->g = m.g;
	fill_inputs(&m, r);
}

/* Bounds from which a first layer is drawn. */
struct first_layer {
	int64_t ic, oc[2];         /* at most so many input channels; so few and so many output channels */
	int64_t kernel, stride;    /* the largest kernel and stride, along each axis */
	int64_t behind;            /* at most so many operators behind it */
};

/* Makes a graph that begins with a convolution of an image within the bounds of *f. Each kind of graph has its own `salt`, so that equal
 * seeds make different graphs. */
static void make_first_layer(struct random_net *r, uint64_t seed, uint64_t salt, int lanes, weft_dtype type, const struct first_layer *f)
{
	struct maker m = { .alu = true, .g = must(weft_graph_new("random")), .rng = seed * 0x9e3779b97f4a7c15u + salt, .n = lanes, .type = type,
		.max_elements = 400000, .max_macs = 30000000, .side = 28, .far = 30 };
	int64_t ic = draw(&m, 1, f->ic), oc = draw(&m, f->oc[0], f->oc[1]);
	struct axis a[2];

	m.x = new_input(&m, (int64_t[]){ 1, draw(&m, 12, 60), draw(&m, 12, 60), ic });
	do
		for (int i = 0; i < 2; i++)
			a[i] = (struct axis){ .kernel = draw(&m, 2, f->kernel), .stride = draw(&m, 1, f->stride), .dilation = 1 };
	while (!fit_axes(&m, m.x, a, false) || sums(&m, m.x, a, oc) > m.max_elements);
	begin(&m, "CONV_2D");
	m.x = end(&m, convolve(&m, WEFT_OP_CONV2D, m.x, a, (int64_t[]){ oc, a[0].kernel, a[1].kernel, ic }, oc));
	for (int i = (int)draw(&m, 0, f->behind); i; i--)
		m.x = one_operator(&m, true);
	output(&m, m.x);
	r->g = m.g;
	fill_inputs(&m, r);
}

void random_net_make_stem(struct random_net *r, uint64_t seed, int lanes, weft_dtype type)
{
	make_first_layer(r, seed, 4, lanes, type, &(struct first_layer){ .ic = 5, .oc = { lanes, 5 * lanes }, .kernel = 11, .stride = 4, .behind = 2 });
}

void random_net_make_thin(struct random_net *r, uint64_t seed, int lanes, weft_dtype type)
{
	make_first_layer(r, seed, 6, lanes, type, &(struct first_layer){ .ic = 3, .oc = { 2, 2 * lanes - 1 }, .kernel = 5, .stride = 2, .behind = 1 });
}

/*
 * A convolution of x with several column tiles, the last of which may be left over by pairs or have fewer channels; of 3x3
 * with strides, or one that keeps width and height, perhaps beside x. -1: too much work.
 */
static int make_tiles(struct maker *m, int x)
{
	int64_t ic = tensor(m, x)->dim[3], oc = m->n * draw(m, 1, 6) + (chance(m, 50) ? draw(m, 1, m->n - 1) : 0);
	struct axis a[2];
	int y;

	if (chance(m, 30)) {
		for (int i = 0; i < 2; i++)
			a[i] = (struct axis){ .kernel = draw(m, 1, least(3, tensor(m, x)->dim[1 + i])), .stride = draw(m, 1, 2), .dilation = 1 };
		if (!fit_axes(m, x, a, false) || sums(m, x, a, oc) * a[0].kernel * a[1].kernel * ic > m->max_macs)
			return -1;
		begin(m, "CONV_2D");
		return end(m, convolve(m, WEFT_OP_CONV2D, x, a, (int64_t[]){ oc, a[0].kernel, a[1].kernel, ic }, oc));
	}
	if (chance(m, 30))
		oc = ic;
	y = same_size(m, x, chance(m, 60) ? 1 : 3, oc, false);
	return y < 0 || oc != ic ? y : add(m, x, y);
}

void random_net_make_pairs(struct random_net *r, uint64_t seed, int lanes, weft_dtype type)
{
	struct maker m = { .alu = true, .g = must(weft_graph_new("random")), .rng = seed * 0x9e3779b97f4a7c15u + 5, .n = lanes, .type = type,
		.max_elements = 100000, .max_macs = 30000000 };

	m.int4 = type == WEFT_INT8 && chance(&m, 25);
	m.x = new_input(&m, (int64_t[]){ chance(&m, 90) ? 1 : 2, chance(&m, 25) ? 1 : draw(&m, 1, 15), draw(&m, 1, 15), draw_count(&m, 6 * lanes) });
	for (int i = (int)draw(&m, 1, 4); i; i--) {
		int y = chance(&m, 20) ? make_mobile(&m, m.x) : make_tiles(&m, m.x);
		m.x = y < 0 ? one_operator(&m, true) : y;
	}
	output(&m, m.x);
	r->g = m.g;
	fill_inputs(&m, r);
}

void random_net_free(struct random_net *r)
{
	for (int i = 0; i < r->g->n_inputs; i++)
		free(r->inputs[i].data);
	free(r->inputs);
	weft_graph_free(r->g);
	memset(r, 0, sizeof(*r));
}

static void print_tensor(const weft_graph *g, int t, FILE *f)
{
	fprintf(f, " %s %s[", g->tensors[t].name, weft_dtype_name(g->tensors[t].t.dtype));
	for (int i = 0; i < g->tensors[t].t.rank; i++)
		fprintf(f, "%s%lld", i ? "," : "", (long long)g->tensors[t].t.dim[i]);
	fprintf(f, "]");
}

static void print_attr(const weft_graph *g, const struct weft_gop *o, FILE *f)
{
	const struct weft_attr_conv *c = &o->attr.conv;
	const struct weft_attr_pool *p = &o->attr.pool;
	const struct weft_attr_rescale *s = &o->attr.rescale;

	if (o->op == WEFT_OP_CONV2D || o->op == WEFT_OP_DEPTHWISE_CONV2D)
		fprintf(f, " pad %d,%d,%d,%d stride %d,%d dilation %d,%d zp %d,%d log2 %d", c->pad[0], c->pad[1], c->pad[2],
		        c->pad[3], c->stride[0], c->stride[1], c->dilation[0], c->dilation[1], c->x_zp, c->w_zp, c->log2_scale);
	if (o->op == WEFT_OP_AVG_POOL2D || o->op == WEFT_OP_MAX_POOL2D)
		fprintf(f, " kernel %d,%d stride %d,%d pad %d,%d,%d,%d zp %d,%d", p->kernel[0], p->kernel[1],
		        p->stride[0], p->stride[1], p->pad[0], p->pad[1], p->pad[2], p->pad[3], p->x_zp, p->y_zp);
	if (o->op == WEFT_OP_RESCALE)
		fprintf(f, " round %d zp %d,%d mul[0] %lld shift[0] %lld", s->rounding, s->x_zp, s->y_zp,
		        (long long)tensor_get(&g->tensors[o->in[1]].t, 0), (long long)tensor_get(&g->tensors[o->in[2]].t, 0));
	if (o->op == WEFT_OP_CLAMP)
		fprintf(f, " %lld..%lld or %g..%g", (long long)o->attr.clamp.min, (long long)o->attr.clamp.max,
		        o->attr.clamp.fmin, o->attr.clamp.fmax);
	if (o->op == WEFT_OP_CONCAT || o->op == WEFT_OP_REDUCE_SUM)
		fprintf(f, " axis %d", o->attr.axis.axis);
	for (int i = 0; i < 4 && o->op == WEFT_OP_PAD; i++)
		fprintf(f, " %d+%d", o->attr.pad.before[i], o->attr.pad.after[i]);
	for (int i = 0; i < 4 && o->op == WEFT_OP_SLICE; i++)
		fprintf(f, " from %lld", (long long)o->attr.slice.start[i]);
}

void random_net_print(const struct random_net *r, FILE *f)
{
	for (int i = 0; i < r->g->n_ops; i++) {
		const struct weft_gop *o = &r->g->ops[i];
		fprintf(f, "  %d.%d %s", o->src, i, weft_op_name(o->op));
		for (int k = 0; k < o->n_in; k++)
			print_tensor(r->g, o->in[k], f);
		print_attr(r->g, o, f);
		fprintf(f, " ->");
		print_tensor(r->g, o->out[0], f);
		fprintf(f, r->g->tensors[o->out[0]].is_output ? " output\n" : "\n");
	}
}
