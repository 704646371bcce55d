/* SPDX-License-Identifier: Apache-2.0 */
/* Scales and zero points of weights, and the bias, for whatever multiplies by them. */
#include <errno.h>
#include <stdlib.h>

#include "tflite_lower.h"

/* Zero points: all 0, unless there is one that the operator can subtract. */
static int zero_point(struct tfl_lower *l, int i, bool dense, int32_t *zp)
{
	const struct tfl_tensor *w = tfl_file_tensor(l, i);
	bool is_unsigned = w->type == TFL_UINT8;
	bool may = w->scale.n == 1 && (is_unsigned || (dense && w->type == TFL_INT8));
	int low = is_unsigned ? 0 : -128;

	*zp = is_unsigned ? -128 : 0;
	for (uint32_t k = 0; k < w->zero_point.n; k++) {
		int64_t v = fb_i64_at(&l->m->b, &w->zero_point, k);
		if (may ? v < low || v > low + 255 : v != 0)
			return tfl_fail(l, -EINVAL, "tensor %d: weight zero point %lld, at byte %zu", i, (long long)v,
			                w->zero_point.at);
		*zp = (int32_t)v - low - 128;
	}
	if (!may)
		*zp = 0;
	return 0;
}

int tfl_weight_factors(struct tfl_lower *l, int axis, int64_t oc, float x_scale, float y_scale, bool dense,
                       struct tfl_weights *out)
{
	int i = tfl_operand(l, 1);
	const struct tfl_tensor *w = tfl_file_tensor(l, i);
	bool single = w->scale.n == 1;
	int err;

	if ((!single && (w->scale.n != (uint32_t)oc || w->quant_dim != axis || w->type == TFL_UINT8)) ||
	    (w->zero_point.n > 1 && w->zero_point.n != w->scale.n))
		return tfl_fail(l, -EINVAL, "tensor %d: %u scales along dimension %d; wants 1, or %lld along %d, at byte %zu", i,
		                (unsigned)w->scale.n, w->quant_dim, (long long)oc, axis, w->at);
	if ((err = zero_point(l, i, dense, &out->zp)))
		return err;
	out->n = w->scale.n;
	out->f = tfl_alloc(l, out->n, sizeof *out->f);
	if (!out->f)
		return l->err;
	for (uint32_t k = 0; k < out->n && !err; k++) {
		float s = fb_f32_at(&l->m->b, &w->scale, k);
		bool narrow = single && (dense || w->type == TFL_UINT8);
		double product = narrow ? (double)(x_scale * s) : (double)x_scale * (double)s;
		err = tfl_factor(l, product / (double)y_scale, &out->f[k]);
	}
	if (err)
		free(out->f);
	return err;
}

int tfl_bias(struct tfl_lower *l, int64_t oc)
{
	weft_tensor t;
	int64_t one = 1;

	if (!tfl_has(l, 2)) {
		int32_t *zero = tfl_alloc(l, 1, sizeof *zero);
		if (!zero)
			return l->err;
		*zero = 0;
		return tfl_data(l, "bias", WEFT_INT32, 1, &one, zero);
	}
	int i = tfl_operand(l, 2);
	int err = i < 0 ? i : tfl_shape(l, i, &t);
	if (err)
		return err;
	if (t.dtype != WEFT_INT32)
		return tfl_fail(l, -ENOTSUP, "bias is %s, not int32", weft_dtype_name(t.dtype));
	return tfl_const_as(l, 2, 1, &oc);
}
