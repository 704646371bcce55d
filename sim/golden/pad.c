/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PAD. TOSA 1.0 section 2.10.2.
 *
 *   x  rank 1 or more, any type
 *   y  x's type and rank; dimension before + x + after
 *
 * The constant is a raw value: for quantised data the caller passes the zero
 * point. Narrow floats take it as a bit pattern in value, float32 and float64
 * as a number in fvalue.
 */
#include <string.h>

#include "ops.h"

static int check(const struct weft_call *c)
{
	const struct weft_attr_pad *a = &c->attr->pad;
	const weft_tensor *x = c->x[0], *y = c->y[0];

	if (x->dtype != y->dtype || x->rank != y->rank || x->rank < 1)
		return weft_call_fail(c, -EINVAL, "%s of rank %d -> %s of rank %d",
		                      weft_dtype_name(x->dtype), x->rank,
		                      weft_dtype_name(y->dtype), y->rank);
	for (int d = 0; d < x->rank; d++) {
		int64_t want = (int64_t)a->before[d] + x->dim[d] + a->after[d];

		if (a->before[d] < 0 || a->after[d] < 0)
			return weft_call_fail(c, -EINVAL, "dimension %d: negative padding %d, %d", d,
			                      a->before[d], a->after[d]);
		if (y->dim[d] != want)
			return weft_call_fail(c, -EINVAL, "output dimension %d is %lld, must be %lld", d,
			                      (long long)y->dim[d], (long long)want);
	}
	if (!weft_is_float(x->dtype) &&
	    (a->value < weft_int_min(x->dtype) || a->value > weft_int_max(x->dtype)))
		return weft_call_fail(c, -EINVAL, "constant %lld outside %s", (long long)a->value,
		                      weft_dtype_name(x->dtype));
	return 0;
}

/* The constant as it lies in memory; returns its bytes. */
static size_t constant(const struct weft_call *c, unsigned char bytes[8])
{
	const weft_dtype t = c->x[0]->dtype;
	const uint64_t value = (uint64_t)c->attr->pad.value;
	const float f = (float)c->attr->pad.fvalue;
	const size_t size = weft_dtype_bytes(t);

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	if (t == WEFT_FP32)
		memcpy(bytes, &f, sizeof(f));
	if (t == WEFT_FP64)
		memcpy(bytes, &c->attr->pad.fvalue, sizeof(double));
	return size;
}

static void fill(const weft_tensor *y, const unsigned char *bytes, size_t size)
{
	const size_t total = weft_tensor_bytes(y);

	if (size == 1) {
		memset(y->data, bytes[0], total);
		return;
	}
	for (size_t i = 0; i < total; i += size)
		memcpy((char *)y->data + i, bytes, size);
}

int weft_golden_pad(const struct weft_call *c)
{
	const weft_tensor *x = c->x[0], *y = c->y[0];
	const int last = x->rank - 1;
	struct weft_walk w = { .rank = last };
	unsigned char bytes[8];
	size_t size, run;
	int err = check(c);

	if (err)
		return err;
	size = constant(c, bytes);
	fill(y, bytes, size);
	weft_strides(x, w.stride[0]);
	weft_strides(y, w.stride[1]);
	for (int d = 0; d <= last; d++) {
		w.dim[d] = x->dim[d];
		w.off[1] += c->attr->pad.before[d] * w.stride[1][d];
	}
	run = (size_t)x->dim[last] * size;
	do {
		memcpy((char *)y->data + (size_t)w.off[1] * size,
		       (const char *)x->data + (size_t)w.off[0] * size, run);
	} while (weft_walk_next(&w));
	return 0;
}
