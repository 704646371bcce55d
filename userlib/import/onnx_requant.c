/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int32 sums to 8 bits: RESCALE where it is proven equal for every sum that the
 * weights allow, else a host operator.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

/*
 * What the sums of x, a convolution's, can be: least and most of each channel,
 * or of all if together. NULL: unknown. int64 arithmetic holds 2^31 products.
 */
static int64_t *sum_ranges(struct ox *l, int x, bool together)
{
	int p = l->g->tensors[x].producer;
	const struct weft_gop *o;

	while (p >= 0 && l->g->ops[p].op == WEFT_OP_RESHAPE)
		p = l->g->tensors[l->g->ops[p].in[0]].producer;
	if (p < 0)
		return NULL;
	o = &l->g->ops[p];
	bool depthwise = o->op == WEFT_OP_DEPTHWISE_CONV2D;
	if ((o->op != WEFT_OP_CONV2D && !depthwise) || ox_t(l, o->in[0])->dtype != WEFT_INT8 || !ox_t(l, o->in[1])->data || !ox_t(l, o->in[2])->data)
		return NULL;
	const weft_tensor *w = ox_t(l, o->in[1]), *b = ox_t(l, o->in[2]);
	int64_t n = ox_t(l, o->out[0])->dim[3], elements = weft_tensor_elements(w), taps = elements / n;
	int64_t lowest = -128 - o->attr.conv.x_zp, highest = 127 - o->attr.conv.x_zp, *r = ox_alloc(l, 2 * n, sizeof *r);
	for (int64_t c = 0; r && c < n; c++) {
		int64_t bias = ((const int32_t *)b->data)[weft_tensor_elements(b) == 1 ? 0 : c];

		r[2 * c] = r[2 * c + 1] = bias;
		for (int64_t i = 0; i < taps; i++) {
			int64_t v = ((const int8_t *)w->data)[depthwise ? i * n + c : c * taps + i] - o->attr.conv.w_zp;
			r[2 * c] += v * (v > 0 ? lowest : highest);
			r[2 * c + 1] += v * (v > 0 ? highest : lowest);
		}
		if (together && c) {
			r[0] = r[2 * c] < r[0] ? r[2 * c] : r[0];
			r[1] = r[2 * c + 1] > r[1] ? r[2 * c + 1] : r[1];
		}
	}
	return r;
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
	int64_t *range = sum_ranges(l, x, !sc->b || weft_tensor_elements(&sc->b->t) == 1);
	int64_t count = factors(l, sc, n, most < ((int64_t)1 << 31) ? most : (int64_t)1 << 31, range, m, s);
	if (range) {
		l->room += 2 * n * (int64_t)sizeof *range;
		free(range);
	}
	if (count) {
		double zp = 0;

		ox_scalar(l, sc->zp, &zp);
		*flip = sc->zp->t.dtype == WEFT_UINT8;
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
