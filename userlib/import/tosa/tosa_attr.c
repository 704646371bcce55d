/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes: from the operator's attribute table, and from operands that TOSA
 * 1.0 has as compile-time constants (zero points, shapes, pads, shifts). Where one
 * of these is not constant (EXT-DYNAMIC), they all stay operands of the graph's
 * operator, and l->dynamic says so.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/golden/dtype.h"
#include "tosa_lower.h"

/* ---- fields of the attribute table ---- */

static int number(struct tosa_lower *l, int field, int bytes, int64_t *v)
{
	return fb_int(&l->f.b, &l->op->attr, field, bytes, bytes > 1, 0, v);
}

static int i32_field(struct tosa_lower *l, int field, int32_t *v)
{
	int64_t n;
	int err = number(l, field, 4, &n);

	*v = (int32_t)n;
	return err;
}

static int flag(struct tosa_lower *l, int field, bool *v)
{
	int64_t n;
	int err = number(l, field, 1, &n);

	*v = n != 0;
	return err;
}

/* Exactly n numbers. */
static int list(struct tosa_lower *l, int field, const char *what, int n, int32_t *v)
{
	struct fb_vec vec;
	int err = fb_vector(&l->f.b, &l->op->attr, field, 4, &vec);

	if (err < 0)
		return err;
	if (vec.n != (uint32_t)n)
		return tosa_fail(l, -EINVAL, "%s has %u numbers, not %d, at byte %zu", what, (unsigned)vec.n, n, l->op->at);
	for (int i = 0; i < n; i++)
		v[i] = fb_i32_at(&l->f.b, &vec, (uint32_t)i);
	return 0;
}

static int nan_field(struct tosa_lower *l, int field, weft_nan_mode *m)
{
	int64_t v;
	int err = number(l, field, 4, &v);

	/* 0: a writer that leaves the default unsaid. */
	if (!err && (v < 0 || v > 2))
		err = tosa_fail(l, -EINVAL, "NaN mode %lld is none, at byte %zu", (long long)v, l->op->at);
	*m = (weft_nan_mode)v;
	return err;
}

static int acc_field(struct tosa_lower *l, int field, weft_dtype *t)
{
	int64_t v;
	int err = number(l, field, 4, &v);

	*t = v > 0 && v < TOSA_N_TYPES ? tosa_dtype((int)v) : 0;
	if (!err && *t != WEFT_INT32 && *t != WEFT_INT48 && *t != WEFT_FP16 && *t != WEFT_FP32)
		err = tosa_fail(l, -EINVAL, "accumulator type %lld is none, at byte %zu", (long long)v, l->op->at);
	return err;
}

/* ---- constant operands ---- */

/* Operand k as a constant of one element and type t; its bytes into v, zeros if it is not constant. */
static int scalar(struct tosa_lower *l, int k, const char *what, weft_dtype t, void *v)
{
	weft_tensor c;
	int i = l->in[k], err;

	if (i < 0)
		return tosa_fail(l, -EINVAL, "%s is a shape", what);
	if ((err = tosa_declared(l, i, &c)))
		return err;
	if (c.dtype != t || c.rank != 1 || c.dim[0] != 1)
		return tosa_fail(l, -EINVAL, "%s is %s of %lld elements and rank %d, not %s[1]", what, weft_dtype_name(c.dtype),
		                 (long long)weft_tensor_elements(&c), c.rank, weft_dtype_name(t));
	if (l->f.tensors[i].variable)
		return tosa_fail(l, -EINVAL, "%s is a variable", what);
	if (!l->f.tensors[i].data) {
		l->dynamic = true;
		memset(v, 0, weft_dtype_bytes(t));
		return 0;
	}
	if ((err = tosa_const(l, i, &c)))
		return err;
	memcpy(v, c.data, weft_dtype_bytes(t));
	free(c.data);
	return 0;
}

static int64_t widen(weft_dtype t, const void *p, bool is_unsigned)
{
	switch (t) {
	case WEFT_BOOL: return *(const uint8_t *)p;
	case WEFT_INT4: return *(const int8_t *)p;
	case WEFT_INT8: return is_unsigned ? *(const uint8_t *)p : *(const int8_t *)p;
	case WEFT_INT16: return is_unsigned ? *(const uint16_t *)p : *(const int16_t *)p;
	case WEFT_INT32: return *(const int32_t *)p;
	default: return *(const int64_t *)p;
	}
}

/* Nonzero, whatever the sign of zero. */
static bool float_is_zero(weft_dtype t, const void *p)
{
	uint32_t v = 0;

	memcpy(&v, p, weft_dtype_bytes(t));
	return (v & ~(1u << (8 * weft_dtype_bytes(t) - 1))) == 0;
}

/* Operand k is the zero point of a tensor of type t. */
static int zero_point(struct tosa_lower *l, int k, const char *what, weft_dtype t, bool is_unsigned, int32_t *zp)
{
	int64_t bytes[1] = { 0 };
	int err = scalar(l, k, what, t, bytes);

	*zp = 0;
	if (err)
		return err;
	if (weft_is_float(t))
		return float_is_zero(t, bytes) ? 0 : tosa_fail(l, -EINVAL, "%s is not 0", what);
	int64_t v = widen(t, bytes, is_unsigned);
	if (t != WEFT_INT8 && !(t == WEFT_INT16 && is_unsigned) && v)
		return tosa_fail(l, -EINVAL, "%s is %lld, must be 0 for %s", what, (long long)v, weft_dtype_name(t));
	*zp = (int32_t)v;
	return 0;
}

/* Operand k is a shape; at most max values, n of them, zeros if it is not constant. */
static int shape(struct tosa_lower *l, int k, const char *what, int max, int64_t *v, int *n)
{
	if (l->in[k] >= 0)
		return tosa_fail(l, -EINVAL, "%s is no shape", what);
	const struct tosa_shape *s = &l->f.shapes[-1 - l->in[k]];
	if (s->rank > max)
		return tosa_fail(l, -EINVAL, "%s has %lld values, limit %d", what, (long long)s->rank, max);
	*n = (int)s->rank;
	if (tosa_shape_input(l, -1 - l->in[k]) >= 0) {
		l->dynamic = true;
		memset(v, 0, (size_t)*n * sizeof *v);
		return 0;
	}
	if (s->rank && !s->data.n)
		return tosa_fail(l, -EINVAL, "nothing gives %s values", what);
	for (int i = 0; i < *n; i++)
		v[i] = fb_i64_at(&l->f.b, &s->data, (uint32_t)i);
	return 0;
}

/* The same with exactly want values that fit int32. */
static int shape_i32(struct tosa_lower *l, int k, const char *what, int want, int32_t *v)
{
	int64_t wide[2 * WEFT_MAX_RANK];
	int n, err = shape(l, k, what, 2 * WEFT_MAX_RANK, wide, &n);

	if (err)
		return err;
	if (n != want)
		return tosa_fail(l, -EINVAL, "%s has %d values, not %d", what, n, want);
	for (int i = 0; i < n; i++) {
		if (wide[i] < INT32_MIN || wide[i] > INT32_MAX)
			return tosa_fail(l, -EINVAL, "%s value %d is %lld, beyond 32 bits", what, i, (long long)wide[i]);
		v[i] = (int32_t)wide[i];
	}
	return 0;
}

/* ---- operators ---- */

static int conv(struct tosa_lower *l, const weft_tensor *x, struct weft_attr_conv *a)
{
	int err;

	if ((err = list(l, CONV_PAD, "pad", 4, a->pad)) || (err = list(l, CONV_STRIDE, "stride", 2, a->stride)) ||
	    (err = list(l, CONV_DILATION, "dilation", 2, a->dilation)) ||
	    (err = flag(l, CONV_LOCAL_BOUND, &a->local_bound)) || (err = acc_field(l, CONV_ACC, &a->acc)) ||
	    (err = zero_point(l, 3, "input_zp", x[0].dtype, false, &a->x_zp)))
		return err;
	return zero_point(l, 4, "weight_zp", x[1].dtype, false, &a->w_zp);
}

static int transpose_conv(struct tosa_lower *l, const weft_tensor *x, struct weft_attr_conv *a)
{
	int err;

	a->dilation[0] = a->dilation[1] = 1;
	if ((err = list(l, TCONV_OUT_PAD, "out_pad", 4, a->pad)) || (err = list(l, TCONV_STRIDE, "stride", 2, a->stride)) ||
	    (err = flag(l, TCONV_LOCAL_BOUND, &a->local_bound)) || (err = acc_field(l, TCONV_ACC, &a->acc)) ||
	    (err = zero_point(l, 3, "input_zp", x[0].dtype, false, &a->x_zp)))
		return err;
	return zero_point(l, 4, "weight_zp", x[1].dtype, false, &a->w_zp);
}

static int conv3d(struct tosa_lower *l, const weft_tensor *x, struct weft_attr_conv3d *a)
{
	int err;

	if ((err = list(l, CONV_PAD, "pad", 6, a->pad)) || (err = list(l, CONV_STRIDE, "stride", 3, a->stride)) ||
	    (err = list(l, CONV_DILATION, "dilation", 3, a->dilation)) ||
	    (err = flag(l, CONV_LOCAL_BOUND, &a->local_bound)) || (err = acc_field(l, CONV_ACC, &a->acc)) ||
	    (err = zero_point(l, 3, "input_zp", x[0].dtype, false, &a->x_zp)))
		return err;
	return zero_point(l, 4, "weight_zp", x[1].dtype, false, &a->w_zp);
}

static int avg_pool(struct tosa_lower *l, const weft_tensor *x, const weft_tensor *y, struct weft_attr_pool *a)
{
	int err;

	if ((err = list(l, AVG_POOL_KERNEL, "kernel", 2, a->kernel)) ||
	    (err = list(l, AVG_POOL_STRIDE, "stride", 2, a->stride)) || (err = list(l, AVG_POOL_PAD, "pad", 4, a->pad)) ||
	    (err = acc_field(l, AVG_POOL_ACC, &a->acc)) ||
	    (err = zero_point(l, 1, "input_zp", x->dtype, false, &a->x_zp)))
		return err;
	return zero_point(l, 2, "output_zp", y->dtype, false, &a->y_zp);
}

static int max_pool(struct tosa_lower *l, struct weft_attr_pool *a)
{
	int err;

	if ((err = list(l, MAX_POOL_KERNEL, "kernel", 2, a->kernel)) ||
	    (err = list(l, MAX_POOL_STRIDE, "stride", 2, a->stride)) || (err = list(l, MAX_POOL_PAD, "pad", 4, a->pad)))
		return err;
	return nan_field(l, MAX_POOL_NAN, &a->nan);
}

/* A limit of CLAMP: the value's bytes, perhaps padded. */
static int limit(struct tosa_lower *l, int field, const char *what, weft_dtype t, int64_t *i, double *f)
{
	size_t bytes = weft_dtype_bytes(t);
	struct fb_vec v;
	int err = fb_vector(&l->f.b, &l->op->attr, field, 1, &v);

	if (err < 0)
		return err;
	if (v.n < bytes || v.n > 16)
		return tosa_fail(l, -EINVAL, "%s has %u bytes, not %zu, at byte %zu", what, (unsigned)v.n, bytes, l->op->at);
	if (weft_is_float(t)) {
		if (t != WEFT_FP16 && t != WEFT_BF16 && t != WEFT_FP32)
			return tosa_fail(l, -EINVAL, "%s: not a row of its table", weft_dtype_name(t));
		*f = tosa_to_double(t, l->f.b.p + v.at);
		if (isnan(*f))
			return tosa_fail(l, -EINVAL, "%s is not a number", what);
		return 0;
	}
	int64_t raw = 0;
	memcpy(&raw, l->f.b.p + v.at, bytes < 8 ? bytes : 8);
	*i = widen(t, &raw, false);
	return 0;
}

static int clamp(struct tosa_lower *l, weft_dtype t, struct weft_attr_clamp *a)
{
	int err;

	if ((err = limit(l, CLAMP_MIN, "min_val", t, &a->min, &a->fmin)) ||
	    (err = limit(l, CLAMP_MAX, "max_val", t, &a->max, &a->fmax)))
		return err;
	return nan_field(l, CLAMP_NAN, &a->nan);
}

static int matmul(struct tosa_lower *l, const weft_tensor *x, struct weft_attr_matmul *a)
{
	int err = zero_point(l, 2, "A_zp", x[0].dtype, false, &a->a_zp);

	return err ? err : zero_point(l, 3, "B_zp", x[1].dtype, false, &a->b_zp);
}

static int mul(struct tosa_lower *l, struct weft_attr_mul *a)
{
	int8_t shift = 0;
	int err = scalar(l, 2, "shift", WEFT_INT8, &shift);

	a->shift = shift;
	return err;
}

static int pad(struct tosa_lower *l, const weft_tensor *x, struct weft_attr_pad *a)
{
	int32_t both[2 * WEFT_MAX_RANK];
	int64_t bytes[1] = { 0 };
	int err;

	if ((err = shape_i32(l, 1, "padding", 2 * x->rank, both)) || (err = scalar(l, 2, "pad_const", x->dtype, bytes)))
		return err;
	for (int i = 0; i < x->rank; i++) {
		a->before[i] = both[2 * i];
		a->after[i] = both[2 * i + 1];
	}
	if (x->dtype == WEFT_FP32)
		a->fvalue = tosa_to_double(x->dtype, bytes);
	else
		a->value = weft_is_float(x->dtype) ? widen(weft_dtype_bytes(x->dtype) == 1 ? WEFT_INT8 : WEFT_INT16, bytes, true)
		                              : widen(x->dtype, bytes, false);
	return 0;
}

static int reshape(struct tosa_lower *l, const weft_tensor *y)
{
	int64_t v[WEFT_MAX_RANK];
	int n, err = shape(l, 1, "shape", TOSA_MAX_RANK, v, &n);

	if (err || l->dynamic)
		return err;
	/* Writers state the empty shape as one 0, which is no dimension. */
	if (n == 1 && v[0] == 0)
		n = 0;
	for (int i = 0; i < n; i++)
		if (n != y->rank || v[i] != y->dim[i])
			return tosa_fail(l, -EINVAL, "result's shape is not the one that is asked");
	return n == y->rank ? 0 : tosa_fail(l, -EINVAL, "result has rank %d, not %d", y->rank, n);
}

static int slice(struct tosa_lower *l, const weft_tensor *x, const weft_tensor *y, struct weft_attr_slice *a)
{
	int64_t size[WEFT_MAX_RANK];
	int n_start, n_size, err;

	if ((err = shape(l, 1, "start", TOSA_MAX_RANK, a->start, &n_start)) ||
	    (err = shape(l, 2, "size", TOSA_MAX_RANK, size, &n_size)))
		return err;
	if (n_start != x->rank || n_size != x->rank || y->rank != x->rank || x->rank < 1)
		return tosa_fail(l, -EINVAL, "ranks %d -> %d with %d starts and %d sizes", x->rank, y->rank, n_start, n_size);
	if (l->dynamic)
		return 0;
	for (int i = 0; i < n_size; i++)
		if (size[i] != y->dim[i])
			return tosa_fail(l, -EINVAL, "size %d is %lld, result has %lld", i, (long long)size[i],
			                 (long long)y->dim[i]);
	return 0;
}

static int resize(struct tosa_lower *l, struct weft_attr_resize *a)
{
	int32_t scale[4], offset[2], border[2];
	int64_t mode;
	int err;

	if ((err = number(l, RESIZE_MODE, 4, &mode)) || (err = shape_i32(l, 1, "scale", 4, scale)) ||
	    (err = shape_i32(l, 2, "offset", 2, offset)) || (err = shape_i32(l, 3, "border", 2, border)))
		return err;
	if (mode != WEFT_RESIZE_NEAREST && mode != WEFT_RESIZE_BILINEAR)
		return tosa_fail(l, -EINVAL, "mode %lld is none, at byte %zu", (long long)mode, l->op->at);
	*a = (struct weft_attr_resize){ scale[0], scale[1], scale[2], scale[3], offset[0], offset[1], border[0], border[1],
	                                (weft_resize_mode)mode };
	return 0;
}

static int rescale(struct tosa_lower *l, const weft_tensor *x, const weft_tensor *y, struct weft_attr_rescale *a)
{
	int64_t rounding;
	int err;

	if ((err = flag(l, RESCALE_SCALE32, &a->scale32)) || (err = number(l, RESCALE_ROUNDING, 4, &rounding)) ||
	    (err = flag(l, RESCALE_PER_CHANNEL, &a->per_channel)) || (err = flag(l, RESCALE_X_UNSIGNED, &a->x_unsigned)) ||
	    (err = flag(l, RESCALE_Y_UNSIGNED, &a->y_unsigned)) ||
	    (err = zero_point(l, 3, "input_zp", x->dtype, a->x_unsigned, &a->x_zp)) ||
	    (err = zero_point(l, 4, "output_zp", y->dtype, a->y_unsigned, &a->y_zp)))
		return err;
	if (rounding < WEFT_SINGLE_ROUND || rounding > WEFT_DOUBLE_ROUND)
		return tosa_fail(l, -EINVAL, "rounding mode %lld is none, at byte %zu", (long long)rounding, l->op->at);
	a->rounding = (weft_rounding)rounding;
	return 0;
}

static int negate(struct tosa_lower *l, const weft_tensor *x, const weft_tensor *y, struct weft_attr_negate *a)
{
	int err = zero_point(l, 1, "input1_zp", x->dtype, false, &a->x_zp);

	return err ? err : zero_point(l, 2, "output_zp", y->dtype, false, &a->y_zp);
}

static int flow(struct tosa_lower *l, struct weft_attr_flow *a)
{
	for (int i = 0; i < 2; i++) {
		struct fb_vec v;
		int err = fb_vector(&l->f.b, &l->op->attr, FLOW_FIRST + i, 1, &v);
		if (err < 0)
			return err;
		err = tosa_sub(l, (struct tosa_name){ v.n ? (const char *)l->f.b.p + v.at : "", v.n }, &a->graph[i]);
		if (err)
			return err;
	}
	return 0;
}

int tosa_attr(struct tosa_lower *l, const weft_tensor *x, const weft_tensor *y, weft_attr *a)
{
	int err;

	switch (tosa_infos[l->op->code].op) {
	case WEFT_OP_ARGMAX:
	case WEFT_OP_REDUCE_MAX:
	case WEFT_OP_REDUCE_MIN:
		err = i32_field(l, REDUCE_AXIS, &a->axis.axis);
		return err ? err : nan_field(l, REDUCE_NAN, &a->axis.nan);
	case WEFT_OP_REDUCE_ALL:
	case WEFT_OP_REDUCE_ANY:
	case WEFT_OP_REDUCE_PRODUCT:
	case WEFT_OP_REDUCE_SUM:
	case WEFT_OP_CONCAT:
	case WEFT_OP_REVERSE:
		return i32_field(l, AXIS, &a->axis.axis);
	case WEFT_OP_AVG_POOL2D: return avg_pool(l, x, y, &a->pool);
	case WEFT_OP_MAX_POOL2D: return max_pool(l, &a->pool);
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D: return conv(l, x, &a->conv);
	case WEFT_OP_CONV3D: return conv3d(l, x, &a->conv3d);
	case WEFT_OP_TRANSPOSE_CONV2D: return transpose_conv(l, x, &a->conv);
	case WEFT_OP_FFT2D:
		err = flag(l, FFT_INVERSE, &a->fft.inverse);
		return err ? err : flag(l, FFT_LOCAL_BOUND, &a->fft.local_bound);
	case WEFT_OP_RFFT2D: return flag(l, RFFT_LOCAL_BOUND, &a->fft.local_bound);
	case WEFT_OP_MATMUL: return matmul(l, x, &a->matmul);
	case WEFT_OP_CLAMP: return clamp(l, x->dtype, &a->clamp);
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT: return flag(l, SHIFT_ROUND, &a->shift.round);
	case WEFT_OP_MAXIMUM:
	case WEFT_OP_MINIMUM: return nan_field(l, MINMAX_NAN, &a->nan.nan);
	case WEFT_OP_MUL: return mul(l, &a->mul);
	case WEFT_OP_NEGATE: return negate(l, x, y, &a->negate);
	case WEFT_OP_PAD: return pad(l, x, &a->pad);
	case WEFT_OP_RESHAPE: return reshape(l, y);
	case WEFT_OP_SLICE: return slice(l, x, y, &a->slice);
	case WEFT_OP_TILE: return shape_i32(l, 1, "multiples", x->rank, a->tile.multiple);
	case WEFT_OP_TRANSPOSE: return list(l, TRANSPOSE_PERMS, "perms", x->rank, a->perm.perm);
	case WEFT_OP_RESIZE: return resize(l, &a->resize);
	case WEFT_OP_RESCALE: return rescale(l, x, y, &a->rescale);
	case WEFT_OP_COND_IF:
	case WEFT_OP_WHILE_LOOP: return flow(l, &a->flow);
	default: return 0;
	}
}
