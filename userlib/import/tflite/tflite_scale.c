/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales: real factors as TOSA's multipliers, RESCALE, and limits of activations.
 *
 * TFLite multiplies by m * 2^s, with m in Q31. A positive s shifts left; then
 * x * m >> 31 is rounded half up, and a negative s shifts right, with halves away
 * from zero. RESCALE with a 32-bit multiplier, shift 31 - s and DOUBLE_ROUND gives
 * the same bits.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tflite_lower.h"

/*
 * Sets *f to the multiplier of 31 bits and the shift that are nearest to a real factor, as TFLite rounds
 * it; below 2^-32 the multiplier is 0. Returns 0; or, with *f unchanged, -EINVAL if the factor is
 * negative or not finite, or -ENOTSUP from 2^29 on.
 */
int tfl_factor(struct tfl_lower *l, double real, struct tfl_factor *f)
{
	int s = 0;

	if (!isfinite(real) || real < 0)
		return tfl_fail(l, -EINVAL, "factor %g of the scales", real);
	int64_t m = (int64_t)round(frexp(real, &s) * 2147483648.0);
	if (m == INT64_C(1) << 31) {
		m /= 2;
		s++;
	}
	if (s < -31) {               /* TFLite's own rule: too small, so zero */
		m = 0;
		s = 0;
	}
	if (s > 29)                  /* RESCALE's shift is 2 or more */
		return tfl_fail(l, -ENOTSUP, "factor %g of the scales >= 2^29", real);
	f->multiplier = (int32_t)m;
	f->shift = (int8_t)(31 - s);
	return 0;
}

/*
 * Fills m and s with the multipliers and shifts of r's factors as RESCALE takes them: multipliers
 * of 32 bits, or of 16 bits if `wide` is set, for int48 sums. Returns 0, or -ENOTSUP if a factor is
 * too large for that.
 */
static int fill(struct tfl_lower *l, const struct tfl_rescale *r, bool wide, void *m, int8_t *s)
{
	for (int64_t i = 0; i < r->n; i++) {
		int32_t v = r->f[i].multiplier;
		s[i] = (int8_t)(r->f[i].shift - (wide ? 16 : 0));
		if (s[i] < 2)
			return tfl_fail(l, -ENOTSUP, "factor of the scales >= 2^13");
		if (wide)
			((int16_t *)m)[i] = (int16_t)(v < 0x7FFF0000 ? (v + (1 << 15)) >> 16 : 0x7FFF);
		else
			((int32_t *)m)[i] = v;
	}
	return 0;
}

/*
 * Emits the RESCALE of x that r describes; an int48 x is rounded once, with multipliers of 16 bits,
 * whatever r->rounding says. last: the result is the operator's own. Returns the graph tensor,
 * -ENOTSUP if a factor is too large, or another negative errno.
 */
int tfl_rescale(struct tfl_lower *l, int x, const struct tfl_rescale *r, bool last)
{
	bool wide = l->g->tensors[x].t.dtype == WEFT_INT48;
	weft_attr a = { .rescale = { .scale32 = !wide, .rounding = wide ? WEFT_SINGLE_ROUND : r->rounding,
	                             .per_channel = r->n > 1, .x_zp = r->x_zp, .y_zp = r->y_zp,
	                             .x_unsigned = l->g->tensors[x].t.dtype == WEFT_UINT8,
	                             .y_unsigned = r->to == WEFT_UINT8 } };
	void *m = tfl_alloc(l, r->n, wide ? 2 : 4);
	int8_t *s = m ? tfl_alloc(l, r->n, sizeof *s) : NULL;
	int err = s ? fill(l, r, wide, m, s) : l->err;

	if (err) {
		free(m);
		free(s);
		return err;
	}
	int im = tfl_data(l, "multiplier", wide ? WEFT_INT16 : WEFT_INT32, 1, &r->n, m);
	if (im < 0) {
		free(s);
		return im;
	}
	int is = tfl_data(l, "shift", WEFT_INT8, 1, &r->n, s);
	if (is < 0)
		return is;
	weft_tensor t = l->g->tensors[x].t;
	return tfl_step(l, WEFT_OP_RESCALE, &a, (int[]){ x, im, is }, 3, r->to, t.rank, t.dim, last);
}

int tfl_widen(struct tfl_lower *l, int x, int32_t zp, int left)
{
	struct tfl_factor f = { .multiplier = 1 << 30, .shift = (int8_t)(30 - left) };

	return tfl_rescale(l, x, &(struct tfl_rescale){ .to = WEFT_INT32, .rounding = WEFT_SINGLE_ROUND, .x_zp = zp,
	                                                .n = 1, .f = &f }, false);
}

/* Returns zp + round(real / scale) in float32, limited to the type's range. */
static int32_t quantised(float real, const struct tfl_quant *y)
{
	double q = y->zp + (double)roundf(real / y->scale);

	double low = (double)tfl_type_min(y->t), high = -1 - low;

	return (int32_t)(q < low ? low : q > high ? high : q);
}

int tfl_activation(struct tfl_lower *l, int type, int field, int *activation)
{
	const int err = tfl_option(l, type, field, 1, TFL_NONE, activation);

	if (*activation < 0 || *activation > TFL_SIGN_BIT)
		*activation = TFL_NONE;
	return err;
}

int tfl_limiting(struct tfl_lower *l, int type, int field, int *activation)
{
	const int err = tfl_activation(l, type, field, activation);

	if (*activation > TFL_RELU6)
		*activation = TFL_NONE;
	return err;
}

int tfl_fused_activation(struct tfl_lower *l, int *activation)
{
	*activation = TFL_NONE;
	switch (l->op->code) {
	case TFL_ADD: return tfl_limiting(l, OPTIONS_ADD, ADD_ACTIVATION, activation);
	case TFL_SUB: return tfl_limiting(l, OPTIONS_SUB, SUB_ACTIVATION, activation);
	case TFL_MUL: return tfl_limiting(l, OPTIONS_MUL, MUL_ACTIVATION, activation);
	case TFL_DIV: return tfl_limiting(l, OPTIONS_DIV, DIV_ACTIVATION, activation);
	default: return 0;
	}
}

/*
 * Sets *lo and *hi to the limits of a fused activation (TFL_NONE, TFL_RELU, TFL_RELU6 or
 * TFL_RELU_N1_TO_1) in quantisation y, within its type. Returns 0, or -ENOTSUP for another
 * activation.
 */
int tfl_limits(struct tfl_lower *l, int activation, const struct tfl_quant *y, int32_t *lo, int32_t *hi)
{
	*lo = (int32_t)tfl_type_min(y->t);
	*hi = -1 - *lo;
	switch (activation) {
	case TFL_NONE:
		return 0;
	case TFL_RELU:
		*lo = y->zp;
		return 0;
	case TFL_RELU6:
		*lo = y->zp;
		*hi = quantised(6.0f, y);
		return 0;
	case TFL_RELU_N1_TO_1:
		*lo = quantised(-1.0f, y);
		*hi = quantised(1.0f, y);
		return 0;
	default:
		return tfl_fail(l, -ENOTSUP, "activation %d is not supported", activation);
	}
}

bool tfl_tighter(weft_dtype t, int32_t lo, int32_t hi)
{
	return lo > tfl_type_min(t) || hi < -1 - tfl_type_min(t);
}

int tfl_clamp(struct tfl_lower *l, int x, int32_t lo, int32_t hi, bool last)
{
	weft_attr a = { .clamp = { .min = lo, .max = hi } };
	weft_tensor t = l->g->tensors[x].t;

	return tfl_step(l, WEFT_OP_CLAMP, &a, &x, 1, t.dtype, t.rank, t.dim, last);
}

/*
 * Emits int32 or int48 sums x, in which the real 0 is 0, rescaled by n factors f (1, or one for
 * each channel) to the type and zero point of the result at hand, with its activation. last: the
 * result is the operator's own. Returns the graph tensor, or a negative errno.
 */
int tfl_requantise(struct tfl_lower *l, int x, int64_t n, const struct tfl_factor *f, int activation, bool last)
{
	struct tfl_quant q;
	int32_t lo, hi;
	int err = tfl_need_result(l, TFL_Q8_16, &q);

	if (err || (err = tfl_limits(l, activation, &q, &lo, &hi)))
		return err;
	bool clamp = tfl_tighter(q.t, lo, hi);
	struct tfl_rescale r = { .to = q.t, .rounding = WEFT_DOUBLE_ROUND, .y_zp = q.zp, .n = n, .f = f };
	int y = tfl_rescale(l, x, &r, last && !clamp);
	return y < 0 || !clamp ? y : tfl_clamp(l, y, lo, hi, last);
}
