/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int32 sums to 8 bits.
 *
 * ONNX rounds the real number sum * a * b / y to nearest, ties to even. RESCALE
 * computes (sum * m + 2^(s-1)) >> s. Both are monotonic in the sum, so they are
 * equal for every sum if each of the at most 255 steps of the result happens at
 * the same sum. Step k, from k to k+1, at sum t, demands
 *
 *   m * t >= c  and  m * (t - 1) < c,  c = (2k + 1) * 2^(s-1)
 *
 * which bounds m. Where the bounds of all steps leave an m, RESCALE gives
 * ONNX's bits; where they do not (ties on both sides of zero), a host operator.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <weft/convert.h>

#include "../../sim/golden/onnx.h"
#include "onnx_qdq.h"

typedef __int128 wide;

static wide floor_div(wide a, wide b)
{
	wide q = a / b;

	return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Least sum whose result is above k. */
static int64_t step_at(const struct weft_onnx_ratio *r, double real, int k)
{
	int64_t t = (int64_t)ceil(((double)k + 0.5) / real);

	while (weft_onnx_scale(t - 1, r) > k)
		t--;
	while (weft_onnx_scale(t, r) <= k)
		t++;
	return t;
}

/* Bounds that v * m >= c (or < c if less) sets to m; v may be 0. False: none does. */
static bool bound(wide v, wide c, bool less, wide *lo, wide *hi)
{
	wide edge;

	if (!v)
		return less ? 0 < c : 0 >= c;
	/* less than c: v*m <= c-1 */
	if ((v > 0) != less) {
		edge = less ? -floor_div(c - 1, -v) : -floor_div(-c, v);
		*lo = edge > *lo ? edge : *lo;
	} else {
		edge = less ? floor_div(c - 1, v) : floor_div(-c, -v);
		*hi = edge < *hi ? edge : *hi;
	}
	return *lo <= *hi;
}

/* lo..hi: the result's limits less its zero point. */
static bool exact(const struct weft_onnx_ratio *r, int lo, int hi, int64_t most, struct ox_factor *f)
{
	double real = ldexp((double)r->num / (double)r->den, r->exp);
	wide from = 0, to = INT32_MAX;

	if (!ox_nearest(real, (double)most, f))
		return false;
	for (int k = lo; k < hi; k++) {
		double about = ((double)k + 0.5) / real;
		wide c = ((wide)2 * k + 1) * ((wide)1 << (f->shift - 1));

		if (fabs(about) > (double)most + 2)
			continue;
		int64_t t = step_at(r, real, k);
		if (!bound(t, c, false, &from, &to) || !bound((wide)t - 1, c, true, &from, &to))
			return false;
	}
	if (f->mul < from || f->mul > to)
		f->mul = (int32_t)(f->mul < from ? from : to);
	return true;
}

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

/* All constant, and one scale, or one per last axis for b: the factors, in m and s. */
static int64_t factors(struct ox *l, const struct ox_scaling *sc, int64_t n, int64_t most, int32_t *m, int8_t *s)
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
		                                              : !exact(&r, lo - (int)zp, lo + 255 - (int)zp, most, &f))
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
	int im = ox_data(l, WEFT_INT32, 1, &count, m), is = ox_data(l, WEFT_INT8, 1, &count, s);

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
	int64_t count = factors(l, sc, n, most < ((int64_t)1 << 31) ? most : (int64_t)1 << 31, m, s);
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
