/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QuantizeLinear and its inverse for any types, along an axis or in blocks. The
 * quotient is rounded once to the scale's type (or `precision`), as onnx.h says.
 */
#include "sim/golden/onnx/ref/ref.h"

enum { AXIS, BLOCK, SATURATE, TO, PRECISION };

/* Where the scale of element i lies: one, one for each place of the axis, or one for each block of it. */
static int64_t scale_at(const struct ref *r, const weft_tensor *x, int axis, int64_t i)
{
	const weft_tensor *s = r->x[1];
	const int64_t block = r->a->i[BLOCK];
	int64_t at[WEFT_MAX_RANK];

	if (REF_N(s) == 1)
		return 0;
	ref_split(i, x->rank, x->dim, at);
	if (!block)
		return at[axis];
	at[axis] /= block;
	return ref_at(s, x->rank, at);
}

static int check_scale(struct ref *r, const weft_tensor *x, int *axis)
{
	const weft_tensor *s = r->x[1], *zp = r->n_x > 2 ? r->x[2] : NULL;
	const int64_t block = r->a->i[BLOCK], n = REF_N(s);

	if (!n)
		return ref_fail(r, -EINVAL, "no scale");
	*axis = n == 1 ? 0 : ref_axis(r, r->a->i[AXIS], x->rank);
	if (*axis < 0)
		return *axis;
	if (block < 0 || (block && s->rank != x->rank) || (!block && n != 1 && n != x->dim[*axis]) || (zp && REF_N(zp) != n))
		return ref_fail(r, -EINVAL, "scale of %lld, axis %d, blocks of %lld", (long long)n, *axis, (long long)block);
	for (int d = 0; block && n > 1 && d < x->rank; d++)
		if (s->dim[d] != (d == *axis ? (x->dim[d] + block - 1) / block : x->dim[d]))
			return ref_fail(r, -EINVAL, "scales do not fit blocks of %lld", (long long)block);
	return 0;
}

int ref_quantize(struct ref *r)
{
	const weft_tensor *x = r->x[0], *s = r->x[1], *zp = r->n_x > 2 ? r->x[2] : NULL;
	const weft_dtype t = zp ? zp->dtype : r->a->i[TO] ? ref_type(r->a->i[TO]) : WEFT_UINT8, in = ref_type(r->a->i[PRECISION]) ? ref_type(r->a->i[PRECISION]) : s->dtype;
	int axis, err = check_scale(r, x, &axis);

	err = err ? err : t ? ref_y(r, 0, t, x->rank, x->dim) : ref_fail(r, -ENOTSUP, "type %d", (int)r->a->i[TO]);
	for (int64_t i = 0, n = REF_N(x); !err && !r->shapes && i < n; i++) {
		const int64_t k = scale_at(r, x, axis, i);
		const double q = ref_round(in, ref_round(in, ref_f(x, i)) / ref_round(in, ref_f(s, k)));
		if (ref_floats(t))
			((uint8_t *)r->y[0]->data)[i] = (uint8_t)weft_float_encode(t, q, r->a->i[SATURATE] != 0);
		else
			ref_put_f(r->y[0], i, q != q ? (zp ? (double)ref_i(zp, k) : 0) : nearbyint(q) + (zp ? (double)ref_i(zp, k) : 0));
	}
	return err;
}

int ref_dequantize(struct ref *r)
{
	const weft_tensor *x = r->x[0], *s = r->x[1], *zp = r->n_x > 2 ? r->x[2] : NULL;
	const weft_dtype t = r->a->i[2] && ref_type(r->a->i[2]) ? ref_type(r->a->i[2]) : s->dtype;
	int axis, err = check_scale(r, x, &axis);

	err = err ? err : ref_y(r, 0, t, x->rank, x->dim);
	for (int64_t i = 0, n = REF_N(x); !err && !r->shapes && i < n; i++) {
		const int64_t k = scale_at(r, x, axis, i);
		double v = ref_floats(x->dtype) ? ref_f(x, i) - (zp ? ref_f(zp, k) : 0) : (double)ref_sub(ref_i(x, i), zp ? ref_i(zp, k) : 0);
		v = x->dtype == WEFT_INT32 ? (double)(float)v : v;       /* as ONNX_DEQUANTIZE has it */
		ref_put_f(r->y[0], i, v * ref_f(s, k));
	}
	return err;
}

int ref_dynamic_quantize(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = ref_y(r, 0, WEFT_UINT8, x->rank, x->dim);
	float lo = 0, hi = 0;

	err = err ? err : ref_y(r, 1, WEFT_FP32, 0, NULL);
	err = err ? err : ref_y(r, 2, WEFT_UINT8, 0, NULL);
	if (err || r->shapes)
		return err;
	for (int64_t i = 0, n = REF_N(x); i < n; i++) {
		const float v = (float)ref_f(x, i);
		lo = v < lo ? v : lo;
		hi = v > hi ? v : hi;
	}
	const float scale = hi == lo ? 1 : (hi - lo) / 255, zero = fmaxf(0, fminf(255, nearbyintf((0 - lo) / scale)));
	for (int64_t i = 0, n = REF_N(x); i < n; i++)
		ref_put_f(r->y[0], i, (double)(nearbyintf((float)ref_f(x, i) / scale) + zero));
	if (r->n_y > 1)
		ref_put_f(r->y[1], 0, (double)scale);
	if (r->n_y > 2)
		ref_put_f(r->y[2], 0, (double)zero);
	return 0;
}
