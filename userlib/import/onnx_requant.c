/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int32 sums to 8 bits: RESCALE where it is proven equal for every sum that the
 * weights allow, else a host operator.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_qdq.h"

bool ox_scalar(struct ox *l, struct ox_value *v, double *out)
{
	if (!v || weft_tensor_elements(&v->t) != 1 || !(v->init || (v->n_forms && ox_t(l, v->form[0].tensor)->data)))
		return false;
	int x = ox_get(l, v, NULL);
	int y = x < 0 ? x : ox_cast(l, x, WEFT_FP64);
	if (y < 0)
		return false;
	*out = *(const double *)ox_t(l, y)->data;
	return true;
}

/* Constant numbers, one or n of them; NULL if not so. */
static const double *numbers(struct ox *l, struct ox_value *v, int64_t n, int64_t *count)
{
	if (!(v->init || (v->n_forms && ox_t(l, v->form[0].tensor)->data)))
		return NULL;
	*count = weft_tensor_elements(&v->t);
	if (*count != 1 && (*count != n || v->t.dim[v->t.rank - 1] != n))
		return NULL;
	int x = ox_get(l, v, NULL), y = x < 0 ? x : ox_cast(l, x, WEFT_FP64);
	return y < 0 ? NULL : ox_t(l, y)->data;
}

/* The operator behind x, RESHAPEs aside; NULL: none. */
static const struct weft_gop *behind(const struct ox *l, int x)
{
	int p = l->g->tensors[x].producer;

	while (p >= 0 && l->g->ops[p].op == WEFT_OP_RESHAPE)
		p = l->g->tensors[l->g->ops[p].in[0]].producer;
	return p < 0 ? NULL : &l->g->ops[p];
}

/* x is made of groups' convolutions side by side. */
static const struct weft_gop *groups_of(const struct ox *l, int x)
{
	const struct weft_gop *o = behind(l, x);

	return o && o->op == WEFT_OP_CONCAT && o->attr.axis.axis == ox_t(l, o->out[0])->rank - 1 ? o : NULL;
}

/* Least and most that the sums of each channel of a convolution can be, in r. int64 holds 2^31 products. False: no such thing. */
static bool conv_ranges(const struct ox *l, const struct weft_gop *o, int64_t *r)
{
	bool depthwise = o && o->op == WEFT_OP_DEPTHWISE_CONV2D;

	if (!o || (o->op != WEFT_OP_CONV2D && !depthwise) || ox_t(l, o->in[0])->dtype != WEFT_INT8 || !ox_t(l, o->in[1])->data ||
	    !ox_t(l, o->in[2])->data)
		return false;
	const weft_tensor *w = ox_t(l, o->in[1]), *b = ox_t(l, o->in[2]);
	int64_t n = ox_t(l, o->out[0])->dim[3], taps = weft_tensor_elements(w) / n;
	int64_t lowest = -128 - o->attr.conv.x_zp, highest = 127 - o->attr.conv.x_zp;
	for (int64_t c = 0; c < n; c++) {
		r[2 * c] = r[2 * c + 1] = ((const int32_t *)b->data)[weft_tensor_elements(b) == 1 ? 0 : c];
		for (int64_t i = 0; i < taps; i++) {
			int64_t v = ((const int8_t *)w->data)[depthwise ? i * n + c : c * taps + i] - o->attr.conv.w_zp;
			r[2 * c] += v * (v > 0 ? lowest : highest);
			r[2 * c + 1] += v * (v > 0 ? highest : lowest);
		}
	}
	return true;
}

/* The same of x with n channels; together: all within the first pair. NULL: unknown. */
static int64_t *sum_ranges(struct ox *l, int x, int64_t n, bool together)
{
	const struct weft_gop *g = groups_of(l, x);
	int64_t *r = ox_alloc(l, 2 * n, sizeof *r), at = 0;
	bool known = r;

	for (int k = 0; known && k < (g ? g->n_in : 1); k++) {
		int from = g ? g->in[k] : x;
		known = conv_ranges(l, behind(l, from), r + 2 * at);
		at += ox_t(l, from)->dim[ox_t(l, from)->rank - 1];
	}
	for (int64_t c = 1; known && together && c < n; c++) {
		r[0] = r[2 * c] < r[0] ? r[2 * c] : r[0];
		r[1] = r[2 * c + 1] > r[1] ? r[2 * c + 1] : r[1];
	}
	if (known)
		return r;
	l->room += 2 * n * (int64_t)sizeof *r;
	free(r);
	return NULL;
}

/* All constant, and one scale, or one per last axis for b: the factors, in m and s. */
static int64_t factors(struct ox *l, const struct ox_scaling *sc, int64_t n, int64_t most, const int64_t *range, int32_t *m, int8_t *s)
{
	double a, y, zp;
	static const double one = 1;
	int64_t count = 1;
	const double *b = sc->b ? numbers(l, sc->b, n, &count) : &one;
	const bool is_16 = sc->zp->t.dtype == WEFT_INT16;
	struct weft_onnx_ratio r;
	struct ox_factor f = { 0, 0 };

	if (!b || sc->counts || (count > 1 && sc->b_axis != 1) || !ox_scalar(l, sc->a, &a) || !ox_scalar(l, sc->y, &y) || !ox_scalar(l, sc->zp, &zp))
		return 0;
	b = sc->b ? numbers(l, sc->b, n, &count) : &one;
	for (int64_t i = 0; i < count; i++) {
		int lo = sc->zp->t.dtype == WEFT_UINT8 ? 0 : -128;

		if (!weft_onnx_ratio(a, b[i], y, &r))
			return 0;
		r.den *= (uint64_t)(sc->count ? sc->count : 1);
		if (is_16 || l->o.requant == WEFT_ONNX_REQUANT_RESCALE ? !ox_nearest(ldexp((double)r.num / (double)r.den, r.exp), (double)most, &f)
		                                              : !ox_exact(&r, lo - (int)zp, lo + 255 - (int)zp, range ? range[2 * i] : -most, range ? range[2 * i + 1] : most, &f))
			return 0;
		m[i] = f.mul;
		s[i] = f.shift;
	}
	return count;
}

/* What x was before a RESHAPE that leaves the channels alone: the compiler wants operators side by side. */
int ox_before_reshape(const struct ox *l, int x)
{
	int p = l->g->tensors[x].producer;

	if (p < 0 || l->g->ops[p].op != WEFT_OP_RESHAPE)
		return x;
	const weft_tensor *t = ox_t(l, x), *from = ox_t(l, l->g->ops[p].in[0]);
	return t->rank && from->rank && t->dim[t->rank - 1] == from->dim[from->rank - 1] ? l->g->ops[p].in[0] : x;
}

static int rescale(struct ox *l, int x, weft_dtype to, int64_t count, int32_t *m, int8_t *s, double zp)
{
	weft_attr a = { .rescale = { .scale32 = true, .rounding = WEFT_SINGLE_ROUND, .per_channel = count > 1, .y_zp = (int32_t)zp } };
	/* TOSA has multipliers of 16 bits for sums of 48. */
	if (ox_t(l, x)->dtype == WEFT_INT48) {
		int16_t *half = ox_alloc(l, count, sizeof *half);

		for (int64_t i = 0; half && i < count; i++) {
			int64_t v = ((int64_t)m[i] + (1 << 15)) >> 16;
			half[i] = (int16_t)(v > INT16_MAX ? INT16_MAX : v);
			s[i] = (int8_t)(s[i] - 16);
		}
		a.rescale.scale32 = false;
		free(m);
		m = (int32_t *)half;
	}
	int im = ox_data(l, a.rescale.scale32 ? WEFT_INT32 : WEFT_INT16, 1, &count, m), is = ox_data(l, WEFT_INT8, 1, &count, s);

	if (im < 0 || is < 0)
		return l->err;
	weft_tensor t = *ox_t(l, x);
	x = ox_before_reshape(l, x);
	x = ox_op(l, WEFT_OP_RESCALE, &a, (int[]){ x, im, is }, 3, to, ox_t(l, x)->rank, ox_t(l, x)->dim);
	return ox_reshape(l, x, t.rank, t.dim);
}

/* Each group for itself, so that the convolution before it takes it in. */
static int rescale_groups(struct ox *l, int x, const struct weft_gop *g, weft_dtype to, int64_t count, const int32_t *m, const int8_t *s, double zp)
{
	int n = g->n_in, part[WEFT_OP_MAX_INPUTS], in[WEFT_OP_MAX_INPUTS];
	weft_tensor t = *ox_t(l, x);
	int64_t at = 0;

	memcpy(in, g->in, (size_t)n * sizeof *in);         /* g moves as operators are added */
	for (int k = 0; k < n; k++) {
		int64_t c = count > 1 ? ox_t(l, in[k])->dim[ox_t(l, in[k])->rank - 1] : 1;
		int32_t *mk = ox_alloc(l, c, sizeof *mk);
		int8_t *sk = mk ? ox_alloc(l, c, 1) : NULL;

		if (!sk) {
			free(mk);
			return l->err;
		}
		memcpy(mk, m + at, (size_t)c * sizeof *mk);
		memcpy(sk, s + at, (size_t)c);
		at += count > 1 ? c : 0;
		part[k] = rescale(l, in[k], to, c, mk, sk, zp);
		if (part[k] < 0)
			return part[k];
	}
	return ox_reshape(l, ox_concat(l, part, n, ox_t(l, part[0])->rank - 1), t.rank, t.dim);
}

int ox_along_tensor(struct ox *l, int x, int rank, int axis)
{
	int64_t dim[WEFT_MAX_RANK];

	if (x < 0)
		return x;
	const weft_tensor *t = ox_t(l, x);
	if (t->rank == rank)
		return x;
	int64_t n = weft_tensor_elements(t);
	if (t->rank > 1 || axis > rank)
		return ox_fail(l, -ENOTSUP, "a scale or zero point of rank %d", t->rank);
	for (int i = 0; i < rank; i++)
		dim[i] = i == rank - axis ? n : 1;
	return ox_reshape(l, x, rank, dim);
}

int ox_along(struct ox *l, struct ox_value *v, int rank, int axis)
{
	return ox_along_tensor(l, ox_get(l, v, NULL), rank, axis);
}

int ox_requant(struct ox *l, int x, const struct ox_scaling *sc, int64_t most, bool *flip)
{
	if (x < 0 || !sc->a || !sc->y || !sc->zp)
		return l->err;
	const int rank = ox_t(l, x)->rank;
	int64_t n = rank ? ox_t(l, x)->dim[rank - 1] : 1;
	int32_t *m = ox_alloc(l, n, 4);
	int8_t *s = m ? ox_alloc(l, n, 1) : NULL;

	if (!s) {
		free(m);
		return l->err;
	}
	*flip = false;
	int64_t *range = sum_ranges(l, x, n, !sc->b || weft_tensor_elements(&sc->b->t) == 1);
	int64_t count = factors(l, sc, n, most < ((int64_t)1 << 31) ? most : (int64_t)1 << 31, range, m, s);
	if (range) {
		l->room += 2 * n * (int64_t)sizeof *range;
		free(range);
	}
	if (count) {
		double zp = 0;

		ox_scalar(l, sc->zp, &zp);
		*flip = sc->zp->t.dtype == WEFT_UINT8;
		const struct weft_gop *g = groups_of(l, x);
		if (g) {
			int y = rescale_groups(l, x, g, sc->zp->t.dtype == WEFT_INT16 ? WEFT_INT16 : WEFT_INT8, count, m, s, *flip ? zp - 128 : zp);
			free(m);
			free(s);
			return y;
		}
		return rescale(l, x, sc->zp->t.dtype == WEFT_INT16 ? WEFT_INT16 : WEFT_INT8, count, m, s, *flip ? zp - 128 : zp);
	}
	free(m);
	free(s);
	if (sc->zp->t.dtype == WEFT_INT16)
		return ox_fail(l, -ENOTSUP, "scales that no multiplier of 31 bits holds");
	int in[6] = { x, ox_along(l, sc->a, rank, sc->a_axis), sc->b ? ox_along(l, sc->b, rank, sc->b_axis) : ox_ramp(l, WEFT_FP32, rank, 1),
	              ox_along(l, sc->y, rank, sc->y_axis), ox_along(l, sc->zp, rank, sc->y_axis), sc->counts };
	bool divided = sc->counts || sc->count > 1;
	if (!sc->counts)
		in[5] = divided ? ox_ramp(l, WEFT_INT32, rank, (double)sc->count) : 0;
	return ox_op(l, WEFT_OP_ONNX_REQUANT, NULL, in, divided ? 6 : 5, sc->zp->t.dtype, rank, ox_t(l, x)->dim);
}
