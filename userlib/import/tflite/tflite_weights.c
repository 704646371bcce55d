/* SPDX-License-Identifier: Apache-2.0 */
/* Scales and zero points of weights, and the bias, for whatever multiplies by them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_lower.h"

/*
 * Sets *zp to the zero point of weights i, a file tensor, as operators see it (128 less for uint8).
 * It may be other than 0 only if there is a single scale and the weights are uint8 or, if dense is
 * set, int8. Returns 0, or -EINVAL if a zero point is not allowed.
 */
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

/*
 * Fills *out for the weights in operand 1, which must be present: their zero point, and the factors
 * x_scale * weights' scale / y_scale, one for all or one for each of oc channels along dimension `axis`
 * of the weights. The product of scales is rounded to float32 where TFLite does so: for a single scale if
 * dense is set or the weights are uint8. The caller frees out->f after a success; after a failure it is
 * freed or not set. Returns 0; -EINVAL if the number of scales is neither 1 nor oc, they run along
 * another dimension, or a zero point is not possible; or another negative errno.
 */
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

/*
 * Emits a computed bias x, int32 or int64, as oc elements for sums of type acc. Returns the graph tensor, -EINVAL if
 * it has not oc elements, or another negative errno; a negative x is returned as it is.
 */
static int computed_bias(struct tfl_lower *l, int x, int64_t oc, weft_dtype acc)
{
	if (x >= 0 && weft_tensor_elements(&l->g->tensors[x].t) != oc)
		return tfl_fail(l, -EINVAL, "a bias of %lld elements, not %lld", (long long)weft_tensor_elements(&l->g->tensors[x].t),
		                (long long)oc);
	if ((x = tfl_reshape(l, x, 1, &oc)) < 0 || acc == WEFT_INT32)
		return x;
	return tfl_step(l, WEFT_OP_TFL_CAST, NULL, &x, 1, WEFT_INT48, 1, &oc, false);
}

/*
 * Adds the bias of a 16-bit operator, constant file tensor i of int32 or int64 with type and shape *t, as an
 * int48 constant of oc elements. Returns the graph tensor, -ENOTSUP if it
 * exceeds 48 bits, -EINVAL if it does not have oc elements, or another negative errno.
 */
static int wide_bias(struct tfl_lower *l, int i, const weft_tensor *t, int64_t oc)
{
	const struct tfl_tensor *f = tfl_file_tensor(l, i);
	const int64_t top = INT64_C(1) << 47;
	size_t elem = weft_dtype_bytes(t->dtype);

	if (weft_tensor_elements(t) != oc || f->data_len != (size_t)oc * elem)
		return tfl_fail(l, -EINVAL, "tensor %d: bias of %zu bytes, not %lld elements of %zu, at byte %zu", i, f->data_len,
		                (long long)oc, elem, f->at);
	int64_t *v = tfl_alloc(l, oc, sizeof *v);
	if (!v)
		return l->err;
	for (int64_t k = 0; k < oc; k++) {
		v[k] = tfl_int_at(f, elem, k);
		if (v[k] >= -top && v[k] < top)
			continue;
		int err = tfl_fail(l, -ENOTSUP, "tensor %d: bias %lld exceeds 48 bits", i, (long long)v[k]);
		free(v);
		return err;
	}
	return tfl_data(l, "bias", WEFT_INT48, 1, &oc, v);
}

/*
 * Returns operand k, constant or computed, as a bias of oc elements for sums of type acc (int32 or int48), or a single 0
 * if it is absent. *narrow says whether TFLite's sums have 32 bits although acc has 48: the bias is
 * int32; or there is none, the operator is CONV_2D or FULLY_CONNECTED, and the runtime is not LiteRT.
 * Returns the graph tensor, -ENOTSUP if the bias has another type than int32 (or int64
 * with int48) or, constant, exceeds 48 bits, -EINVAL if it has not oc elements, or another negative errno.
 */
int tfl_bias(struct tfl_lower *l, int k, int64_t oc, weft_dtype acc, bool *narrow)
{
	weft_tensor t;

	/* Without a bias LiteRT sums in 64 bits; its predecessors' dense kernels and plain convolutions did so in 32. */
	*narrow = acc == WEFT_INT48 && !tfl_is_litert(l) && (l->op->code == TFL_CONV_2D || l->op->code == TFL_FULLY_CONNECTED);
	if (!tfl_has(l, k))
		return tfl_number(l, "bias", acc, 1, 0);
	int i = tfl_operand(l, k);
	int err = i < 0 ? i : tfl_shape(l, i, &t);
	if (err)
		return err;
	if (t.dtype != WEFT_INT32 && !(t.dtype == WEFT_INT64 && acc == WEFT_INT48))
		return tfl_fail(l, -ENOTSUP, "bias is %s, not int32", weft_dtype_name(t.dtype));
	*narrow = acc == WEFT_INT48 && t.dtype == WEFT_INT32;
	if (!tfl_is_const(l, k))
		return computed_bias(l, tfl_value(l, k), oc, acc);
	if (acc == WEFT_INT32)
		return tfl_const_as(l, k, 1, &oc);
	return wide_bias(l, i, &t, oc);
}

int tfl_narrow(struct tfl_lower *l, int x)
{
	struct tfl_factor one = { .multiplier = 1 << 30, .shift = 30 };
	struct tfl_rescale r = { .to = WEFT_INT32, .n = 1, .f = &one };

	return tfl_rescale(l, x, &r, false);
}

int tfl_weights_as(struct tfl_lower *l, int k, int rank, const int64_t *dim)
{
	weft_tensor t;
	int64_t n = 1;
	int i = tfl_operand(l, k), x, err = i < 0 ? i : tfl_shape(l, i, &t);

	if (err || tfl_is_const(l, k))
		return err ? err : tfl_const_as(l, k, rank, dim);
	for (int d = 0; d < rank; d++)
		n *= dim[d];
	if (n != weft_tensor_elements(&t))
		return tfl_fail(l, -EINVAL, "operand %d has %lld elements, not %lld", k, (long long)weft_tensor_elements(&t), (long long)n);
	return (x = tfl_value(l, k)) < 0 ? x : tfl_reshape(l, x, rank, dim);
}
