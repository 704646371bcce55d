/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int32 sums become 8 bits. If a RESCALE is proven to give ONNX's result for every sum
 * that the weights allow, the device does it: with ties half up, as TOSA has it, if that
 * is right for every channel; else with ties to even; else two RESCALEs, with ties from
 * zero and to zero, of whose results the even one counts. If none of these is proven, a
 * host operator does it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"
#include "onnx_exact_scale.h"

/*
 * Sets *out to the only element of constant v, converted to a double. Returns false, with *out
 * unchanged, if v is NULL, not constant, or has another number of elements; also if the conversion
 * fails, and then l->err is set.
 */
bool ox_scalar(struct ox *l, struct ox_value *v, double *out)
{
	if (!v || weft_tensor_elements(&v->t) != 1 || !ox_is_const_value(l, v))
		return false;
	int x = ox_get(l, v, NULL);
	int y = x < 0 ? x : ox_cast(l, x, WEFT_FP64);
	if (y < 0 || !ox_t(l, y)->data)   /* no data: l->work is used up */
		return false;
	*out = *(const double *)ox_t(l, y)->data;
	return true;
}

/*
 * Returns the elements of constant v, converted to doubles in a new constant of the graph, and sets
 * *count to their number, 1 or n. Returns NULL, with *count of no use, if v is not constant, has
 * neither one element nor n along its last dimension, or if the conversion fails (l->err is set
 * then).
 */
static const double *numbers(struct ox *l, struct ox_value *v, int64_t n, int64_t *count)
{
	if (!ox_is_const_value(l, v))
		return NULL;
	*count = weft_tensor_elements(&v->t);
	if (*count != 1 && (*count != n || v->t.dim[v->t.rank - 1] != n))
		return NULL;
	int x = ox_get(l, v, NULL), y = x < 0 ? x : ox_cast(l, x, WEFT_FP64);
	return y < 0 ? NULL : ox_t(l, y)->data;
}

/*
 * Returns the operator that computes tensor x or, if that is a RESHAPE, the one in front of it and
 * of further RESHAPEs. Returns NULL if there is none.
 */
static const struct weft_gop *behind(const struct ox *l, int x)
{
	int p = l->g->tensors[x].producer;

	while (p >= 0 && l->g->ops[p].op == WEFT_OP_RESHAPE)
		p = l->g->tensors[l->g->ops[p].in[0]].producer;
	return p < 0 ? NULL : &l->g->ops[p];
}

/*
 * Returns the CONCAT from which tensor x comes (RESHAPEs skipped) if it joins along the last
 * dimension, as the convolutions of several groups are joined; else NULL.
 */
static const struct weft_gop *groups_of(const struct ox *l, int x)
{
	const struct weft_gop *o = behind(l, x);

	return o && o->op == WEFT_OP_CONCAT && o->attr.axis.axis == ox_t(l, o->out[0])->rank - 1 ? o : NULL;
}

/*
 * Sets r[2c] and r[2c + 1] to the least and the greatest sum that output channel c of operator o
 * can have. Returns false if o (NULL allowed) is no CONV2D or DEPTHWISE_CONV2D of int8 with
 * constant weights and bias.
 */
static bool conv_ranges(const struct ox *l, const struct weft_gop *o, int64_t *r)
{
	bool depthwise = o && o->op == WEFT_OP_DEPTHWISE_CONV2D;

	if (!o || (o->op != WEFT_OP_CONV2D && !depthwise) || ox_t(l, o->in[0])->dtype != WEFT_INT8 || !ox_t(l, o->in[1])->data ||
	    !ox_t(l, o->in[2])->data || ox_t(l, o->in[2])->dtype != WEFT_INT32)
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

/*
 * Returns an array, which the caller frees, with the least and the greatest sum of each of the n
 * channels of tensor x, one behind the other, and takes its 16 n bytes from l->room. x comes from a
 * convolution with constant weights or from several joined ones. Returns NULL if the ranges are not
 * known, and then takes nothing, or if ox_alloc() fails (l->err is set then).
 */
static int64_t *sum_ranges(struct ox *l, int x, int64_t n)
{
	const struct weft_gop *g = groups_of(l, x);
	int64_t *r = ox_alloc(l, 2 * n, sizeof *r), at = 0;
	bool known = r;

	for (int k = 0; known && k < (g ? g->n_in : 1); k++) {
		int from = g ? g->in[k] : x;
		known = conv_ranges(l, behind(l, from), r + 2 * at);
		at += ox_t(l, from)->dim[ox_t(l, from)->rank - 1];
	}
	if (known)
		return r;
	l->room += r ? 2 * n * (int64_t)sizeof *r : 0;
	free(r);
	return NULL;
}

/* The multipliers and shifts by which RESCALE makes codes of sums. */
struct factors {
	int64_t count;             /* how many there are: 1, or one for each channel; 0: no factors have been found */
	int32_t *m;                /* multipliers */
	int8_t *s;                 /* shifts */
	bool *inexact;             /* for each: whether some sum gets another result than ONNX's */
	int n_inexact;             /* how many of these are set */
	enum ox_ties ties;         /* how RESCALE rounds ties */
};

static struct ox_factor zero_factor;

/*
 * Sets *f to the factor with which RESCALE gives exactly ONNX's result by ratio r for all sums of
 * least..most and results limited to lo..hi (the type's limits less the zero point), with ties
 * rounded as `ties` says. If there is none, or --requant rescale is set, *f is the nearest factor.
 * *is_exact is true if the factor is exact, and with --requant rescale always. Returns false if
 * there is no nearest factor of 31 bits either, as r or r times the largest sum is too large
 * (ox_nearest()).
 */
static bool one_factor(struct ox *l, const struct weft_onnx_ratio *r, int lo, int hi, int64_t least, int64_t most, enum ox_ties ties,
                       struct ox_factor *f, bool *is_exact)
{
	*f = zero_factor;
	*is_exact = true;
	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE && ox_exact(r, lo, hi, least, most, ties, f))
		return true;
	*is_exact = l->o.requant == WEFT_ONNX_REQUANT_RESCALE;
	return ox_nearest(ldexp((double)r->num / (double)r->den, r->exp), fmax(-(double)least, (double)most), f);
}

/*
 * Sets factor `at` of f for sums of least..most with ratio r and the result's zero point zp, marks
 * in f->inexact[at] whether it is not exact, and counts it in f->n_inexact then. Results of 16 bits
 * take the nearest factor, which counts as exact. Returns false if there is no factor.
 */
static bool factors_of(struct ox *l, const struct ox_scaling *sc, const struct weft_onnx_ratio *r, int zp, int64_t least, int64_t most,
                       struct factors *f, int64_t at)
{
	const int lo = sc->zp->t.dtype == WEFT_UINT8 ? 0 : -128;
	struct ox_factor one;
	bool is_exact = true;

	if (ox_is_16_bit(sc->zp) ? !ox_nearest(ldexp((double)r->num / (double)r->den, r->exp), (double)most, &one)
	                                  : !one_factor(l, r, lo - zp, lo + 255 - zp, least, most, f->ties, &one, &is_exact))
		return false;
	f->m[at] = one.mul;
	f->s[at] = one.shift;
	f->inexact[at] = !is_exact;
	f->n_inexact += !is_exact;
	return true;
}

/*
 * The n ratios by which ONNX multiplies sums of so many channels: one for all, or one for each. Sums are
 * least..top, or, if range is not NULL, range[2c]..range[2c + 1] in channel c.
 */
struct ratios {
	const struct weft_onnx_ratio *r;
	int64_t n, channels, least, top;
	const int64_t *range;
	int zp;                    /* the result's zero point */
};

/*
 * Fills f with factors for the ratios, ranges of sums and result type of q and sc, for one way of
 * rounding ties: one for each channel by itself if `each` is set, else one for all channels.
 * f->n_inexact counts those that are not exact, and f->ties says how they round. If one cannot be
 * found at all, f->count is 0.
 */
static void try_factors(struct ox *l, const struct ox_scaling *sc, const struct ratios *q, bool each, enum ox_ties ties, struct factors *f)
{
	int64_t least = q->least, top = q->top;

	for (int64_t i = 0; q->range && !each && i < q->channels; i++) {
		least = i && least < q->range[2 * i] ? least : q->range[2 * i];
		top = i && top > q->range[2 * i + 1] ? top : q->range[2 * i + 1];
	}
	f->count = each ? q->channels : 1;
	f->n_inexact = 0;
	f->ties = ties;
	for (int64_t i = 0, n = f->count; i < n; i++) {
		bool own = q->range && each;

		if (!factors_of(l, sc, &q->r[q->n > 1 ? i : 0], q->zp, own ? q->range[2 * i] : least, own ? q->range[2 * i + 1] : top, f, i)) {
			f->count = 0;
			return;
		}
	}
}

/*
 * Fills f, for the ratios and ranges of sums of q and the result type of sc, with the first of
 * these sets of factors that is exact for all channels: one for all channels (unless each has its
 * own ratio), with ties half up or to even, then, if q knows each channel's range or each has its
 * own ratio, one for each channel, half up or to even. If none is, f is, of the last two that were
 * tried, the one with fewer inexact channels, half up if they are equal. f->count is 0 if there is
 * no factor for one of these sets; those behind it are not tried then.
 */
static void best_factors(struct ox *l, const struct ox_scaling *sc, const struct ratios *q, struct factors *f)
{
	const bool split = q->n == 1 && q->channels > 1 && q->range;
	int left = 0;

	for (int each = q->n > 1; each <= (split || q->n > 1); each++) {
		try_factors(l, sc, q, each, OX_HALF_UP, f);
		if (!f->count || !f->n_inexact)
			return;
		left = f->n_inexact;
		try_factors(l, sc, q, each, OX_EVEN, f);
		if (!f->count || !f->n_inexact)
			return;
	}
	if (left <= f->n_inexact)
		try_factors(l, sc, q, split || q->n > 1, OX_HALF_UP, f);
}

/*
 * Fills `from` and `to`, for the ratios and ranges of sums of q and the result type of sc, with
 * factors that are exact but for ties, which `from` rounds away from zero and `to` towards zero:
 * one for all channels (unless each has its own ratio), or else one for each. Returns false if
 * there are none; `from` and `to` are then of no use.
 */
static bool both_factors(struct ox *l, const struct ox_scaling *sc, const struct ratios *q, struct factors *from, struct factors *to)
{
	for (int each = q->n > 1; each <= (q->n > 1 || (q->channels > 1 && q->range)); each++) {
		try_factors(l, sc, q, each, OX_FROM_ZERO, from);
		if (!from->count || from->n_inexact)
			continue;
		try_factors(l, sc, q, each, OX_TO_ZERO, to);
		if (to->count && !to->n_inexact)
			return true;
	}
	return false;
}

/*
 * Finds the factors for sums of n channels, at most `most` in magnitude. range holds each channel's
 * least and greatest sum, or is NULL; then sums are sc->least..sc->top if those differ, else
 * -most..most. f gets one factor, or one for each channel. If to->count is set afterwards, f rounds
 * ties from zero and `to` rounds them to zero, and the even one of both results counts; else f is
 * that of best_factors(), and f->n_inexact says how many of its factors are not exact. f->count and
 * to->count, 0 before, stay 0 if there are no factors, if sums are divided by a tensor (sc->counts),
 * or if scales and zero point are not constant single numbers; b alone may have one for each
 * channel, along the last axis.
 */
static void find_factors(struct ox *l, const struct ox_scaling *sc, int64_t n, int64_t most, const int64_t *range, struct factors *f,
                         struct factors *to)
{
	static const double one = 1;
	double a, y, zp;
	int64_t count = 1;
	const double *b = sc->b ? numbers(l, sc->b, n, &count) : &one;

	if (!b || sc->counts || (count > 1 && sc->b_axis != 1) || !ox_scalar(l, sc->a, &a) || !ox_scalar(l, sc->y, &y) || !ox_scalar(l, sc->zp, &zp))
		return;
	struct weft_onnx_ratio *r = ox_alloc(l, count, sizeof *r);
	bool ok = r;
	for (int64_t i = 0; ok && i < count; i++) {
		ok = weft_onnx_ratio(a, b[i], y, &r[i]);
		r[i].den *= (uint64_t)(sc->count ? sc->count : 1);
		r[i].exp += sc->down;
		r[i].product = l->o.requant == WEFT_ONNX_REQUANT_RUNTIME && !sc->count && !sc->exact ? (float)a * (float)b[i] / (float)y : 0;
	}
	const bool said = sc->top > sc->least;
	const struct ratios q = { r, count, n, said ? sc->least : -most, said ? sc->top : most, range, (int)zp };
	if (ok)
		best_factors(l, sc, &q, f);
	if (ok && f->count && f->n_inexact && !both_factors(l, sc, &q, f, to)) {
		to->count = 0;
		best_factors(l, sc, &q, f);
	}
	l->room += r ? count * (int64_t)sizeof *r : 0;
	free(r);
}

/*
 * Returns the graph tensor that is the operand of the RESHAPE that makes tensor x, if both have the
 * same last dimension, else x itself. Nothing is emitted. The compiler joins operators only if they
 * are neighbours, so callers put operators in front of such a RESHAPE.
 */
int ox_before_reshape(const struct ox *l, int x)
{
	int p = l->g->tensors[x].producer;

	if (p < 0 || l->g->ops[p].op != WEFT_OP_RESHAPE)
		return x;
	const weft_tensor *t = ox_t(l, x), *from = ox_t(l, l->g->ops[p].in[0]);
	return t->rank && from->rank && t->dim[t->rank - 1] == from->dim[from->rank - 1] ? l->g->ops[p].in[0] : x;
}

/*
 * Emits x rescaled to type `to` with zero point zp by a RESCALE with `count` multipliers m and
 * shifts s, 1 or one for each channel, which are taken over (from ox_alloc()), also after a
 * failure; ties go to even if `even` is set, else up. For int48 the multipliers are rounded to 16
 * bits. If x is the result of a RESHAPE that keeps the last dimension, the RESCALE is put in front
 * of it. Returns the graph tensor, with x's shape, or a negative errno.
 */
int ox_rescale_channels(struct ox *l, int x, weft_dtype to, int64_t count, int32_t *m, int8_t *s, bool even, double zp)
{
	weft_attr a = { .rescale = { .scale32 = true, .rounding = even ? WEFT_EVEN_ROUND : WEFT_SINGLE_ROUND, .per_channel = count > 1,
		.y_zp = (int32_t)zp } };
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

/*
 * Emits the sums that CONCAT g joins, each rescaled by its own part of the factors f to type `to`
 * with zero point zp and then joined, with the shape of x, g's result perhaps reshaped. The
 * compiler can so join each RESCALE with the convolution in front of it. Returns the graph tensor,
 * or a negative errno.
 */
static int rescale_groups(struct ox *l, int x, const struct weft_gop *g, weft_dtype to, const struct factors *f, double zp)
{
	int n = g->n_in, part[WEFT_OP_MAX_INPUTS], in[WEFT_OP_MAX_INPUTS];
	weft_tensor t = *ox_t(l, x);
	int64_t at = 0;

	memcpy(in, g->in, (size_t)n * sizeof *in);         /* g moves as operators are added */
	for (int k = 0; k < n; k++) {
		int64_t c = f->count > 1 ? ox_t(l, in[k])->dim[ox_t(l, in[k])->rank - 1] : 1;
		int32_t *mk = ox_alloc(l, c, sizeof *mk);
		int8_t *sk = mk ? ox_alloc(l, c, 1) : NULL;

		if (!sk) {
			free(mk);
			return l->err;
		}
		memcpy(mk, f->m + at, (size_t)c * sizeof *mk);
		memcpy(sk, f->s + at, (size_t)c);
		at += f->count > 1 ? c : 0;
		part[k] = ox_rescale_channels(l, in[k], to, c, mk, sk, f->ties == OX_EVEN, zp);
		if (part[k] < 0)
			return part[k];
	}
	return ox_reshape(l, ox_concat(l, part, n, ox_t(l, part[0])->rank - 1), t.rank, t.dim);
}

/*
 * Emits scale or zero point x with the given rank so that it broadcasts: a scalar or vector runs
 * along axis, counted from the end (1 is the last); other dimensions are 1. A tensor of that rank
 * is returned as it is. Returns the graph tensor, -ENOTSUP for another rank above 1 or an axis
 * beyond the rank, or another negative errno; a negative x is returned as it is.
 */
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

/*
 * Emits int32 sums x requantised as sc says by the host operator ONNX_REQUANT, with float32 steps if --requant
 * runtime is set, the sums are not divided and sc->exact is not set; b is the graph tensor of the second
 * factor's scale (of ones if it has none), with x's rank. Returns the graph tensor, in the type of sc->zp, or
 * a negative errno.
 */
static int on_host(struct ox *l, int x, const struct ox_scaling *sc, int b)
{
	const int rank = ox_t(l, x)->rank;
	const int scale_a = ox_along(l, sc->a, rank, sc->a_axis), scale_y = ox_along(l, sc->y, rank, sc->y_axis);
	int in[6] = { x, scale_a, b, scale_y, ox_along(l, sc->zp, rank, sc->y_axis), sc->counts };
	bool divided = sc->counts || sc->count > 1;

	if (!sc->counts)
		in[5] = divided ? ox_ramp(l, WEFT_INT32, rank, (double)sc->count) : 0;
	const weft_attr a = { .onnx = { .type = l->o.requant == WEFT_ONNX_REQUANT_RUNTIME && !divided && !sc->exact ? WEFT_FP32 : 0 } };
	return ox_op(l, WEFT_OP_ONNX_REQUANT, &a, in, divided ? 6 : 5, sc->zp->t.dtype, rank, ox_t(l, x)->dim);
}

/*
 * If no more channels of a plain convolution than this cannot be rounded exactly on the device, these are
 * computed again on the host.
 */
#define MAX_PATCHED 24

/*
 * Adds a new constant with those rows of constant x, [channels,...], whose channels are marked in
 * f->inexact. Returns the graph tensor, or a negative errno.
 */
static int rows(struct ox *l, int x, const struct factors *f, int64_t channels)
{
	const weft_tensor *t = ox_t(l, x);
	weft_tensor y = *t;
	size_t each = weft_dtype_bytes(t->dtype) * (size_t)(weft_tensor_elements(t) / channels);
	char *p = ox_alloc(l, f->n_inexact, each), *at = p;

	for (int64_t c = 0; p && c < channels; c++)
		if (f->inexact[c]) {
			memcpy(at, (const char *)t->data + (size_t)c * each, each);
			at += each;
		}
	y.dim[0] = f->n_inexact;
	return ox_data(l, y.dtype, y.rank, y.dim, p);
}

/*
 * Returns the CONV2D behind sums x of n channels (RESHAPEs skipped) if its channels that are marked
 * in f->inexact can be computed again by themselves: f has one factor for each channel, at most
 * MAX_PATCHED (24) and at most n / 8 of them are marked, weights and bias are constant, the sums
 * are not divided by a count, sc has a scale b, and its scale a, if a vector, runs along one of the
 * last two dimensions. Else returns NULL.
 */
static const struct weft_gop *patchable(const struct ox *l, int x, const struct ox_scaling *sc, const struct factors *f, int64_t n)
{
	const struct weft_gop *o = behind(l, x);

	if (!o || o->op != WEFT_OP_CONV2D || f->count != n || f->n_inexact > MAX_PATCHED || f->n_inexact > n / 8 || sc->counts || sc->count > 1 ||
	    !ox_t(l, o->in[1])->data || !ox_t(l, o->in[2])->data || !sc->b || sc->a_axis > 2)
		return NULL;
	return o;
}

/*
 * Emits codes y, the requantised results of convolution o, with the channels marked in f->inexact
 * replaced: these are computed again by a small convolution and requantised on the host. Returns
 * the graph tensor with y's shape, -ENOTSUP if the codes in front of y's RESHAPE have another rank
 * than 4, or another negative errno.
 */
static int patch(struct ox *l, const struct weft_gop *o, int y, const struct ox_scaling *sc, const struct factors *f)
{
	int part[2 * MAX_PATCHED + 1], n_parts = 0, k = 0, last = ox_before_reshape(l, y);
	const weft_attr a = o->attr;
	int in[3] = { o->in[0], o->in[1], o->in[2] };
	weft_tensor whole = *ox_t(l, o->out[0]), shape = *ox_t(l, y);
	int64_t n = whole.dim[3], start[WEFT_MAX_RANK] = { 0 }, dim[WEFT_MAX_RANK], from = 0;

	if (ox_t(l, last)->rank != 4)
		return ox_fail(l, -ENOTSUP, "rank %d", ox_t(l, last)->rank);
	in[1] = rows(l, in[1], f, n);
	if (weft_tensor_elements(ox_t(l, in[2])) > 1)
		in[2] = rows(l, in[2], f, n);
	whole.dim[3] = f->n_inexact;
	int b = ox_get(l, sc->b, NULL), x = in[1] < 0 || in[2] < 0 ? l->err : ox_op(l, WEFT_OP_CONV2D, &a, in, 3, WEFT_INT32, 4, whole.dim);
	if (b >= 0 && weft_tensor_elements(ox_t(l, b)) > 1)
		b = rows(l, ox_reshape(l, b, 1, &n), f, n);
	if (x < 0 || b < 0)
		return l->err;
	struct ox_scaling one = *sc;
	one.a_axis = one.y_axis = 1;
	x = on_host(l, x, &one, ox_along_tensor(l, b, 4, 1));
	if (x >= 0 && sc->zp->t.dtype == WEFT_UINT8)
		x = ox_flip_sign(l, x, WEFT_INT8);
	memcpy(dim, whole.dim, sizeof dim);
	for (int64_t c = 0; c <= n && x >= 0; c++) {
		if (c < n && !f->inexact[c])
			continue;
		start[3] = from;
		dim[3] = c - from;
		if (c > from)
			part[n_parts++] = ox_slice(l, last, start, dim);
		start[3] = k++;
		dim[3] = 1;
		if (c < n)
			part[n_parts++] = ox_slice(l, x, start, dim);
		from = c + 1;
	}
	return x < 0 ? x : ox_reshape(l, ox_concat(l, part, n_parts, 3), shape.rank, shape.dim);
}

/* Notes that a zero point which was found constant cannot be read, for want of memory or otherwise. Returns the negative errno. */
static int no_zero_point(struct ox *l)
{
	return l->no_memory ? ox_fail(l, -ENOMEM, "out of memory") : ox_fail(l, -EINVAL, "the zero point is no single number");
}

/*
 * Emits int32 sums x requantised by the factors f with RESCALE, one for each group of a joined
 * convolution; results are the signed form of unsigned ones if flip is set. Returns the graph tensor, or a
 * negative errno.
 */
static int on_device(struct ox *l, int x, const struct ox_scaling *sc, const struct factors *f, bool flip)
{
	const weft_dtype to = ox_signed(sc->zp->t.dtype);
	const struct weft_gop *g = groups_of(l, x);
	int64_t n = f->count;
	double zp = 0;

	if (!ox_scalar(l, sc->zp, &zp))
		return no_zero_point(l);
	zp -= flip ? ox_less(sc->zp->t.dtype) : 0;
	if (g)
		return rescale_groups(l, x, g, to, f, zp);
	int32_t *m = ox_alloc(l, n, sizeof *m);          /* the graph's own */
	int8_t *s = m ? ox_alloc(l, n, 1) : NULL;
	if (!s) {
		free(m);
		return l->err;
	}
	memcpy(m, f->m, (size_t)n * sizeof *m);
	memcpy(s, f->s, (size_t)n);
	return ox_rescale_channels(l, x, to, n, m, s, f->ties == OX_EVEN, zp);
}

/*
 * Emits the bitwise operator or shift op on int8 x with the constant v for each element; arithmetic
 * shifts round down. Returns the graph tensor, or a negative errno; a negative x is returned as it
 * is.
 */
static int bits(struct ox *l, weft_opcode op, int x, int v)
{
	int in[2] = { x, x < 0 ? x : ox_ramp(l, WEFT_INT8, ox_t(l, x)->rank, v) };
	const weft_attr floor = { .shift = { .round = false } };

	return in[1] < 0 ? in[1] : ox_op(l, op, op == WEFT_OP_ARITHMETIC_RIGHT_SHIFT ? &floor : NULL, in, 2, WEFT_INT8, ox_t(l, x)->rank, ox_t(l, x)->dim);
}

/*
 * Emits for each element the even one of int8 a and b, which have ties rounded from zero and to
 * zero and so are equal or one apart. Even means before the zero point was added; odd_zp says that
 * it is odd. If `ordered` is set, a is known to be the greater or equal one, and two bit operations
 * suffice: a's last bit is cleared if b differs there, or b's is set if a has it. Otherwise a mask
 * chooses between a and b. Returns the graph tensor, or a negative errno.
 */
static int even_one(struct ox *l, int a, int b, bool odd_zp, bool ordered)
{
	if (ordered)
		return odd_zp ? ox_binary(l, WEFT_OP_BITWISE_OR, b, bits(l, WEFT_OP_BITWISE_AND, a, 1))
		              : ox_binary(l, WEFT_OP_BITWISE_AND, a, bits(l, WEFT_OP_BITWISE_OR, b, -2));
	int odd = bits(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, bits(l, WEFT_OP_LOGICAL_LEFT_SHIFT, a, 7), 7);
	int differ = ox_binary(l, WEFT_OP_BITWISE_AND, ox_binary(l, WEFT_OP_BITWISE_XOR, a, b), odd);
	return ox_binary(l, WEFT_OP_BITWISE_XOR, odd_zp ? b : a, differ);
}

/*
 * Emits int32 sums x of n channels requantised as sc says, in the first of these ways that is
 * exact: two RESCALEs with f and `to`, if to->count is set, of which the even result is chosen; one
 * RESCALE with f; a RESCALE whose few inexact channels are computed again; the host operator. Sets
 * *flip to whether the result is the signed form of uint8 or uint16. Returns the graph tensor, 0 if only the host could
 * do it and sc->device_only is set, -ENOTSUP if only the host could do it and the result has 16 bits,
 * or another negative errno.
 */
static int requant(struct ox *l, int x, const struct ox_scaling *sc, int64_t n, struct factors *f, const struct factors *to, bool *flip)
{
	*flip = ox_less(sc->zp->t.dtype) != 0;
	if (to->count) {
		double zp = 0;
		int a = on_device(l, x, sc, f, *flip), b = a < 0 ? a : on_device(l, x, sc, to, *flip);

		if (b >= 0 && !ox_scalar(l, sc->zp, &zp))
			return no_zero_point(l);
		return b < 0 ? b : even_one(l, a, b, (int)zp & 1, sc->top > 0 && sc->least >= 0);
	}
	if (f->count && !f->n_inexact)
		return on_device(l, x, sc, f, *flip);
	const struct weft_gop *o = f->count ? patchable(l, x, sc, f, n) : NULL;
	if (o) {
		int i = (int)(o - l->g->ops), y = on_device(l, x, sc, f, *flip);
		return y < 0 ? y : patch(l, &l->g->ops[i], y, sc, f);
	}
	*flip = false;
	if (sc->device_only)
		return 0;
	if (ox_is_16_bit(sc->zp))
		return ox_fail(l, -ENOTSUP, "scales that no multiplier of 31 bits holds");
	const int rank = ox_t(l, x)->rank;
	return on_host(l, x, sc, sc->b ? ox_along(l, sc->b, rank, sc->b_axis) : ox_ramp(l, WEFT_FP32, rank, 1));
}

/*
 * Emits int48 sums x, at most *most in magnitude, without as many of their lowest bits as int32 does not hold, if
 * the results are codes with another zero point than 0. Such results lie up to 65 535 steps from their zero point,
 * for which the multipliers of 16 bits that RESCALE has for int48 are too coarse. Sets s->down to the number of
 * bits and *most to the greatest magnitude that is left. Other sums, and sums of which 2^-8 step or more would be
 * lost, are returned as they are. Returns the graph tensor, or a negative errno.
 */
static int moved_down(struct ox *l, int x, struct ox_scaling *s, int64_t *most)
{
	static const weft_attr half_up = { .rescale = { .rounding = WEFT_SINGLE_ROUND } };
	double a, y, zp;
	int64_t count;
	int down = 0;

	if (ox_t(l, x)->dtype != WEFT_INT48 || !ox_scalar(l, s->a, &a) || !ox_scalar(l, s->y, &y) || !ox_scalar(l, s->zp, &zp) ||
	    zp == ox_less(s->zp->t.dtype) || !s->b)
		return x;
	const double *b = numbers(l, s->b, ox_t(l, x)->dim[ox_t(l, x)->rank - 1], &count);
	while (*most >> down > INT32_MAX)
		down++;
	for (int64_t i = 0; b && i < count; i++)
		if (!(ldexp(a * b[i] / y, down) < 0x1p-7))
			b = NULL;
	if (!b)
		return x;
	s->down = down;
	*most >>= down;
	return ox_rescale_by(l, x, &half_up, 1 << 14, (int8_t)(14 + down), WEFT_INT32);
}

/*
 * Emits int32 sums x (int48 for codes of 16 bits), at most `most` in magnitude, requantised as `given` says to
 * the type of its zp. *flip is set to whether the result is the signed form of uint8 or uint16. Results equal
 * ONNX's bit for bit, or with --requant runtime ONNX Runtime's. For 16 bits, and with --requant rescale for all
 * types, the nearest factor is taken instead. Returns the graph tensor; 0 if only the host could do it
 * and sc->device_only is set; -ENOTSUP for 16 bits if no factor of 31 bits fits; l->err if x is negative or a
 * scale or the zero point is missing, since an earlier call has failed then; or another negative errno.
 */
int ox_requant(struct ox *l, int x, const struct ox_scaling *given, int64_t most, bool *flip)
{
	struct ox_scaling moved = *given, *sc = &moved;

	if (x < 0 || !sc->a || !sc->y || !sc->zp)
		return l->err;
	x = moved_down(l, x, sc, &most);
	if (x < 0)
		return x;
	const int rank = ox_t(l, x)->rank;
	int64_t n = rank ? ox_t(l, x)->dim[rank - 1] : 1, *range = NULL;
	struct factors f = { .m = ox_alloc(l, n, 4) }, to = { .m = f.m ? ox_alloc(l, n, 4) : NULL };
	int y;

	f.s = to.m ? ox_alloc(l, n, 1) : NULL;
	to.s = f.s ? ox_alloc(l, n, 1) : NULL;
	f.inexact = to.s ? ox_alloc(l, n, 1) : NULL;
	to.inexact = f.inexact;
	if (f.inexact) {
		range = sum_ranges(l, x, n);
		find_factors(l, sc, n, most < ((int64_t)1 << 31) ? most : (int64_t)1 << 31, range, &f, &to);
		y = requant(l, x, sc, n, &f, &to, flip);
		l->room += n * 11 + (range ? 2 * n * (int64_t)sizeof *range : 0);
	} else
		y = l->err;
	free(f.m);
	free(f.s);
	free(to.m);
	free(to.s);
	free(f.inexact);
	free(range);
	return y;
}
