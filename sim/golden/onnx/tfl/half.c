/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GELU and SOFTMAX of float16: computed in float32 and rounded to float16 where LiteRT's kernels keep a number of
 * that type.
 *
 * Source: LiteRT 2.3, what its kernels give; GELU for every finite float16.
 */
#include <stdlib.h>

#include "sim/golden/onnx/tfl/ops.h"

/* v as float16 holds it. */
static float half(float v)
{
	return (float)ref_round(WEFT_FP16, (double)v);
}

/* x/2 * erfc(-x/sqrt(2)), each step rounded to float16. */
static float exact_gelu(float x)
{
	return half(half(0.5f * x) * half(erfcf(half(x * half(-(float)M_SQRT1_2)))));
}

/* x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), each step rounded to float16. */
static float tanh_gelu(float x)
{
	const float cube = half(half(x * x) * x), inner = half(x + half(half(0.044715f) * cube));

	return half(half(0.5f * x) * half(1 + half(tanhf(half(half((float)(M_2_SQRTPI * M_SQRT1_2)) * inner)))));
}

/*
 * Gelu of float16 operand 0; the attribute says whether by tanh. Returns 0, -EINVAL for another type, or another
 * negative errno.
 */
int tfl_gelu(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = x->dtype == WEFT_FP16 ? ref_y_like(r, 0, x)
	                                : ref_fail(r, -EINVAL, "%s; float16 wanted", weft_dtype_name(x->dtype));

	for (int64_t i = 0; !err && !r->shapes && i < REF_N(x); i++) {
		const float v = (float)ref_f(x, i);
		ref_put_f(r->y[0], i, (double)(r->a->i[0] ? tanh_gelu(v) : exact_gelu(v)));
	}
	return err;
}

/*
 * Softmax of float16 operand 0 along its last axis: exp(beta * (x - max)) as float16 over the sum of these in float32,
 * which adds them as float32 from the first to the last. Returns 0, -EINVAL for another type or rank 0, or another
 * negative errno.
 */
int tfl_softmax(struct ref *r)
{
	const weft_tensor *x = r->x[0];
	int err = x->dtype == WEFT_FP16 && x->rank
	                  ? ref_y_like(r, 0, x)
	                  : ref_fail(r, -EINVAL, "%s of rank %d; float16 wanted", weft_dtype_name(x->dtype), x->rank);

	if (err || r->shapes)
		return err;
	const int64_t n = x->dim[x->rank - 1];
	for (int64_t first = 0; first < REF_N(x); first += n) {
		float most = -INFINITY, sum = 0;

		for (int64_t i = first; i < first + n; i++)
			most = fmaxf(most, (float)ref_f(x, i));
		for (int64_t i = first; i < first + n; i++) {
			const float e = expf(((float)ref_f(x, i) - most) * r->a->f[0]);
			ref_put_f(r->y[0], i, (double)e);
			sum += e;
		}
		for (int64_t i = first; i < first + n; i++)
			ref_put_f(r->y[0], i, (double)((float)ref_f(r->y[0], i) / sum));
	}
	return 0;
}
