/* SPDX-License-Identifier: Apache-2.0 */
/* Float rows of TOSA's operators: special values, NaN modes, roundings, and what is refused. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/convert.h>

#include "sim/golden/float/element.h"
#include "tests/support/golden_call.h"
#include "tests/support/level.h"
#include "tests/support/tensors.h"

static const weft_dtype types[] = { WEFT_FP16, WEFT_BF16, WEFT_FP32 };

static weft_tensor *filled(weft_tensor *t, const double *v)
{
	for (int64_t i = 0; i < weft_tensor_elements(t); i++)
		weft_put_f(t, i, v[i]);
	return t;
}
#define FLOATS(t, ...) filled(t, (const double[]){ __VA_ARGS__ })

static bool equal(const weft_tensor *t, const double *v)
{
	for (int64_t i = 0; i < weft_tensor_elements(t); i++) {
		double got = weft_get_f(t, i);

		if (isnan(v[i]) ? !isnan(got) : got != v[i] || signbit(got) != signbit(v[i])) {
			print_error("%s, element %d: %g, not %g\n", weft_dtype_name(t->dtype), (int)i, got, v[i]);
			return false;
		}
	}
	return true;
}
#define EQUAL(t, ...) assert_true(equal(t, (const double[]){ __VA_ARGS__ }))

/* One operator on {x} or {a, b} of six elements, every type. */
static void on_one(weft_opcode op, const weft_attr *attr, const double *x, const double *want)
{
	for (int k = 0; k < 3; k++) {
		weft_tensor *in = filled(TENSOR(types[k], 6), x), *y = TENSOR(types[k], 6), *w = TENSOR(types[k], 6);

		assert_int_equal(golden(op, attr, y, in, NULL, NULL), 0);
		filled(w, want); /* in the type, too */
		for (int i = 0; i < 6; i++)
			assert_true(isnan(want[i]) ? isnan(weft_get_f(y, i)) : weft_load_bits(y, i) == weft_load_bits(w, i));
		tensor_free(in);
		tensor_free(y);
		tensor_free(w);
	}
}
#define ON_ONE(op, x, want) on_one(op, NULL, (const double[6])x, (const double[6])want)
#define V(...) { __VA_ARGS__ }

static void unary(void **state)
{
	weft_attr none = { .negate = { 0 } };

	(void)state;
	ON_ONE(WEFT_OP_ABS, V(-0.0, -1.5, 2, -INFINITY, NAN, 0), V(0, 1.5, 2, INFINITY, NAN, 0));
	on_one(WEFT_OP_NEGATE, &none, (const double[6])V(-0.0, -1.5, 2, -INFINITY, NAN, 0), (const double[6])V(0, 1.5, -2, INFINITY, NAN, -0.0));
	ON_ONE(WEFT_OP_CEIL, V(-0.5, 1.25, -1.25, INFINITY, NAN, 3), V(-0.0, 2, -1, INFINITY, NAN, 3));
	ON_ONE(WEFT_OP_FLOOR, V(-0.5, 1.25, -1.25, -INFINITY, NAN, 3), V(-1, 1, -2, -INFINITY, NAN, 3));
	ON_ONE(WEFT_OP_EXP, V(0, 1, -INFINITY, INFINITY, NAN, -0.0), V(1, 2.718281828459045, 0, INFINITY, NAN, 1));
	ON_ONE(WEFT_OP_LOG, V(1, 0, -0.0, -1, INFINITY, 8), V(0, -INFINITY, -INFINITY, NAN, INFINITY, 2.0794415416798357));
	ON_ONE(WEFT_OP_RECIPROCAL, V(0, -0.0, INFINITY, -INFINITY, 3, NAN), V(INFINITY, -INFINITY, 0, -0.0, 1 / 3.0, NAN));
	ON_ONE(WEFT_OP_RSQRT, V(0, -0.0, INFINITY, -INFINITY, 4, -1), V(INFINITY, -INFINITY, 0, NAN, 0.5, NAN));
	ON_ONE(WEFT_OP_SIN, V(0, -0.0, INFINITY, -INFINITY, 0.5, NAN), V(0, -0.0, NAN, NAN, 0.479425538604203, NAN));
	ON_ONE(WEFT_OP_COS, V(0, -0.0, INFINITY, -INFINITY, 0.5, NAN), V(1, 1, NAN, NAN, 0.8775825618903728, NAN));
	ON_ONE(WEFT_OP_TANH, V(0, -0.0, INFINITY, -INFINITY, 0.5, NAN), V(0, -0.0, 1, -1, 0.46211715726000976, NAN));
	ON_ONE(WEFT_OP_SIGMOID, V(0, -0.0, INFINITY, -INFINITY, 2, NAN), V(0.5, 0.5, 1, 0, 0.8807970779778823, NAN));
	ON_ONE(WEFT_OP_ERF, V(0, -0.0, INFINITY, -INFINITY, 0.5, NAN), V(0, -0.0, 1, -1, 0.5204998778130465, NAN));
}

static void binary(void **state)
{
	weft_attr mul = { .mul = { 0 } }, ignore = { .nan = { WEFT_NAN_IGNORE } };

	(void)state;
	for (int k = 0; k < 3; k++) {
		weft_tensor *a = FLOATS(TENSOR(types[k], 2, 3), INFINITY, NAN, 3, 2, -4, 0), *b = FLOATS(TENSOR(types[k], 2, 1), -INFINITY, 0.5),
		            *y = TENSOR(types[k], 2, 3), *t = TENSOR(WEFT_BOOL, 2, 3);

		assert_int_equal(golden(WEFT_OP_ADD, NULL, y, a, b, NULL), 0);
		EQUAL(y, NAN, NAN, -INFINITY, 2.5, -3.5, 0.5);
		assert_int_equal(golden(WEFT_OP_SUB, NULL, y, a, b, NULL), 0);
		EQUAL(y, INFINITY, NAN, INFINITY, 1.5, -4.5, -0.5);
		assert_int_equal(golden(WEFT_OP_MUL, &mul, y, a, b, NULL), 0);
		EQUAL(y, -INFINITY, NAN, -INFINITY, 1, -2, 0);
		assert_int_equal(golden(WEFT_OP_POW, NULL, y, a, b, NULL), 0);
		assert_true(weft_get_f(y, 3) == weft_round_f(types[k], sqrt(2)) && weft_get_f(y, 5) == 0);
		assert_int_equal(golden(WEFT_OP_MAXIMUM, NULL, y, a, b, NULL), 0);
		EQUAL(y, INFINITY, NAN, 3, 2, 0.5, 0.5);
		assert_int_equal(golden(WEFT_OP_MAXIMUM, &ignore, y, a, b, NULL), 0);
		EQUAL(y, INFINITY, -INFINITY, 3, 2, 0.5, 0.5);
		assert_int_equal(golden(WEFT_OP_MINIMUM, &ignore, y, a, b, NULL), 0);
		EQUAL(y, -INFINITY, -INFINITY, -INFINITY, 0.5, -4, 0);
		assert_int_equal(golden(WEFT_OP_GREATER, NULL, t, a, b, NULL), 0);
		assert_memory_equal(t->data, ((uint8_t[]){ 1, 0, 1, 1, 0, 0 }), 6);
		assert_int_equal(golden(WEFT_OP_GREATER_EQUAL, NULL, t, b, b, NULL), -EINVAL);
		assert_int_equal(golden(WEFT_OP_EQUAL, NULL, t, a, a, NULL), 0);
		assert_memory_equal(t->data, ((uint8_t[]){ 1, 0, 1, 1, 1, 1 }), 6);
		tensor_free(a);
		tensor_free(b);
		tensor_free(y);
		tensor_free(t);
	}
}

/* Of what C compares: NaN is neither above nor below a number, and of two zeros none is the larger one. */
static void compared(void **state)
{
	weft_attr nan = { .nan = { WEFT_NAN_COMPARE } }, axis = { .axis = { .axis = 1, .nan = WEFT_NAN_COMPARE } };
	weft_attr clamp = { .clamp = { .fmin = 0, .fmax = 6, .nan = WEFT_NAN_COMPARE } };
	weft_attr pool = { .pool = { .kernel = { 1, 3 }, .stride = { 1, 3 }, .nan = WEFT_NAN_COMPARE } };
	weft_tensor *a = FLOATS(TENSOR(WEFT_FP32, 3, 3), -0.0, NAN, 0, NAN, -INFINITY, -INFINITY, 7, 7, NAN), *b = FLOATS(TENSOR(WEFT_FP32, 3, 1), 0, 1, NAN);
	weft_tensor *y = TENSOR(WEFT_FP32, 3, 3), *r = TENSOR(WEFT_FP32, 3, 1), *i = TENSOR(WEFT_INT32, 3);
	weft_tensor *image = FLOATS(TENSOR(WEFT_FP32, 1, 1, 9, 1), -0.0, NAN, 0, NAN, -INFINITY, -INFINITY, 7, 7, NAN), *p = TENSOR(WEFT_FP32, 1, 1, 3, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_MAXIMUM, &nan, y, a, b, NULL), 0);
	EQUAL(y, 0, 0, 0, 1, 1, 1, NAN, NAN, NAN);
	assert_int_equal(golden(WEFT_OP_MINIMUM, &nan, y, a, b, NULL), 0);
	EQUAL(y, 0, 0, 0, 1, -INFINITY, -INFINITY, NAN, NAN, NAN);
	assert_int_equal(golden(WEFT_OP_MAXIMUM, &nan, y, b, a, NULL), 0);
	EQUAL(y, -0.0, NAN, 0, NAN, 1, 1, 7, 7, NAN);
	assert_int_equal(golden(WEFT_OP_CLAMP, &clamp, y, a, NULL, NULL), 0);
	EQUAL(y, -0.0, NAN, 0, NAN, 0, 0, 6, 6, NAN);
	assert_int_equal(golden(WEFT_OP_REDUCE_MAX, &axis, r, a, NULL, NULL), 0);
	EQUAL(r, -0.0, -FLT_MAX, 7);
	assert_int_equal(golden(WEFT_OP_REDUCE_MIN, &axis, r, a, NULL, NULL), 0);
	EQUAL(r, -0.0, -INFINITY, 7);
	assert_int_equal(golden(WEFT_OP_ARGMAX, &axis, i, a, NULL, NULL), 0);
	assert_memory_equal(i->data, ((int32_t[]){ 0, 1, 0 }), 12);
	assert_int_equal(golden(WEFT_OP_MAX_POOL2D, &pool, p, image, NULL, NULL), 0);
	EQUAL(p, -0.0, -FLT_MAX, 7);
	for (int k = 0; k < 7; k++)
		tensor_free((weft_tensor *[]){ a, b, y, r, i, image, p }[k]);
}

/* ARGMAX of rows whose elements LiteRT compares by fours: what it gives. Across rows NaN is only passed over. */
static void argmax_by_four(void **state)
{
	weft_attr a = { .axis = { .axis = 1, .nan = WEFT_NAN_COMPARE } };
	weft_tensor *x = FLOATS(TENSOR(WEFT_FP32, 5, 5), NAN, 0.026, -0.99, 1.3, 1.2, NAN, NAN, 0.2, -0.1, NAN, -2, -0.1, NAN, 0.25, -2.3,
	                        0.5, NAN, NAN, 1, NAN, 3, 4, 4, NAN, 9), *y = TENSOR(WEFT_INT32, 5);

	(void)state;
	assert_int_equal(golden(WEFT_OP_ARGMAX, &a, y, x, NULL, NULL), 0);
	assert_memory_equal(y->data, ((int32_t[]){ 4, 0, 1, 0, 4 }), 20);
	a.axis.axis = 0;
	assert_int_equal(golden(WEFT_OP_ARGMAX, &a, y, x, NULL, NULL), 0);
	assert_memory_equal(y->data, ((int32_t[]){ 4, 4, 4, 0, 4 }), 20);
	tensor_free(x);
	tensor_free(y);
}

/* A sum in a chain is rounded after each element. */
static void average_in_a_chain(void **state)
{
	weft_attr a = { .pool = { .kernel = { 1, 4 }, .stride = { 1, 4 }, .acc = WEFT_FP32 } };
	weft_tensor *x = FLOATS(TENSOR(WEFT_FP32, 1, 1, 4, 1), 0x1p24, 1, 1, 2), *y = TENSOR(WEFT_FP32, 1, 1, 1, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), 0);
	EQUAL(y, 0x1p22 + 1);
	a.pool.chain = true;
	assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), 0);
	EQUAL(y, 0x1p22 + 0.5);
	tensor_free(x);
	tensor_free(y);
}

/* A product in a chain is rounded at each step, so that it can overflow on the way. */
static void product_in_a_chain(void **state)
{
	weft_attr a = { .axis = { .axis = 1 } };
	weft_tensor *x = FLOATS(TENSOR(WEFT_FP32, 1, 3), 1e30, 1e30, 1e-30), *y = TENSOR(WEFT_FP32, 1, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_REDUCE_PRODUCT, &a, y, x, NULL, NULL), 0);
	assert_true(isfinite(weft_get_f(y, 0)));
	a.axis.chain = true;
	assert_int_equal(golden(WEFT_OP_REDUCE_PRODUCT, &a, y, x, NULL, NULL), 0);
	EQUAL(y, INFINITY);
	tensor_free(x);
	tensor_free(y);
}

static void clamp(void **state)
{
	weft_attr a = { .clamp = { .fmin = -1, .fmax = 2.5 } };

	(void)state;
	for (int k = 0; k < 3; k++) {
		weft_tensor *x = FLOATS(TENSOR(types[k], 5), -INFINITY, NAN, 0.25, 3, -1), *y = TENSOR(types[k], 5);

		a.clamp.nan = WEFT_NAN_PROPAGATE;
		assert_int_equal(golden(WEFT_OP_CLAMP, &a, y, x, NULL, NULL), 0);
		EQUAL(y, -1, NAN, 0.25, 2.5, -1);
		a.clamp.nan = WEFT_NAN_IGNORE;
		assert_int_equal(golden(WEFT_OP_CLAMP, &a, y, x, NULL, NULL), 0);
		EQUAL(y, -1, -1, 0.25, 2.5, -1);
		tensor_free(x);
		tensor_free(y);
	}
	weft_tensor *x = TENSOR(WEFT_FP32, 1);
	a.clamp.fmin = NAN;
	assert_int_equal(golden(WEFT_OP_CLAMP, &a, x, x, NULL, NULL), -EINVAL);
	a.clamp.fmin = 3;
	assert_int_equal(golden(WEFT_OP_CLAMP, &a, x, x, NULL, NULL), -EINVAL);
	tensor_free(x);
}

static void reduce(void **state)
{
	weft_attr a = { .axis = { .axis = 1 } };

	(void)state;
	for (int k = 0; k < 3; k++) {
		weft_tensor *x = FLOATS(TENSOR(types[k], 2, 3), 1, NAN, 3, -2, 0.5, 4), *y = TENSOR(types[k], 2, 1), *i = TENSOR(WEFT_INT32, 2);

		a.axis.nan = WEFT_NAN_PROPAGATE;
		assert_int_equal(golden(WEFT_OP_REDUCE_SUM, &a, y, x, NULL, NULL), 0);
		EQUAL(y, NAN, 2.5);
		assert_int_equal(golden(WEFT_OP_REDUCE_PRODUCT, &a, y, x, NULL, NULL), 0);
		EQUAL(y, NAN, -4);
		assert_int_equal(golden(WEFT_OP_REDUCE_MAX, &a, y, x, NULL, NULL), 0);
		EQUAL(y, NAN, 4);
		assert_int_equal(golden(WEFT_OP_ARGMAX, &a, i, x, NULL, NULL), 0);
		assert_memory_equal(i->data, ((int32_t[]){ 1, 2 }), 8);
		a.axis.nan = WEFT_NAN_IGNORE;
		assert_int_equal(golden(WEFT_OP_REDUCE_MAX, &a, y, x, NULL, NULL), 0);
		EQUAL(y, 3, 4);
		assert_int_equal(golden(WEFT_OP_REDUCE_MIN, &a, y, x, NULL, NULL), 0);
		EQUAL(y, 1, -2);
		assert_int_equal(golden(WEFT_OP_ARGMAX, &a, i, x, NULL, NULL), 0);
		assert_memory_equal(i->data, ((int32_t[]){ 2, 2 }), 8);
		tensor_free(x);
		tensor_free(y);
		tensor_free(i);
	}
}

/* The sum is rounded once: in fp16 one at a time 2048 + 1 would stay 2048. */
static void sums_round_once(void **state)
{
	weft_attr a = { .axis = { .axis = 0 } };
	weft_tensor *x = FLOATS(TENSOR(WEFT_FP16, 4), 2048, 1, 1, 1), *y = TENSOR(WEFT_FP16, 1);
	weft_tensor *b = FLOATS(TENSOR(WEFT_BF16, 4), 256, 1, 1, 1), *z = TENSOR(WEFT_BF16, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_REDUCE_SUM, &a, y, x, NULL, NULL), 0);
	EQUAL(y, 2052);
	assert_int_equal(golden(WEFT_OP_REDUCE_SUM, &a, z, b, NULL, NULL), 0);
	EQUAL(z, 260);
	tensor_free(x);
	tensor_free(y);
	tensor_free(b);
	tensor_free(z);
}

static void pools(void **state)
{
	static const struct { weft_dtype t, acc; double average; } rows[] = {
		{ WEFT_FP16, WEFT_FP16, 7.0 / 3 }, { WEFT_FP16, WEFT_FP32, 7.0 / 3 }, { WEFT_BF16, WEFT_FP32, 7.0 / 3 },
		{ WEFT_FP32, WEFT_FP32, 7.0 / 3 }, { WEFT_FP8E4M3, WEFT_FP16, 2.25 }, { WEFT_FP8E5M2, WEFT_FP16, 2.5 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		weft_attr a = { .pool = { .kernel = { 1, 4 }, .stride = { 1, 1 }, .pad = { 0, 0, 1, 0 }, .acc = rows[k].acc } };
		weft_tensor *x = FLOATS(TENSOR(rows[k].t, 1, 1, 4, 1), 4, 2, 1, NAN), *y = TENSOR(rows[k].t, 1, 1, 2, 1);

		assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), 0);
		assert_true(weft_get_f(y, 0) == weft_round_f(rows[k].t, rows[k].average) && isnan(weft_get_f(y, 1)));
		assert_int_equal(golden(WEFT_OP_MAX_POOL2D, &a, y, x, NULL, NULL), 0);
		EQUAL(y, 4, NAN);
		a.pool.nan = WEFT_NAN_IGNORE;
		assert_int_equal(golden(WEFT_OP_MAX_POOL2D, &a, y, x, NULL, NULL), 0);
		EQUAL(y, 4, 4);
		a.pool.acc = WEFT_INT32;
		assert_int_equal(golden(WEFT_OP_AVG_POOL2D, &a, y, x, NULL, NULL), -EINVAL);
		tensor_free(x);
		tensor_free(y);
	}
}

/* Sum over fp32 and rounding to acc before the type: 1 + 2^-12 + ... visible only with an fp32 accumulator. */
static void conv_accumulators(void **state)
{
	weft_attr a = { .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = WEFT_FP32 } };
	weft_tensor *x = FLOATS(TENSOR(WEFT_FP16, 1, 1, 1, 3), 1, 0x1p-11, 0x1p-14), *w = FLOATS(TENSOR(WEFT_FP16, 1, 1, 1, 3), 1, 1, 1),
	            *b = FLOATS(TENSOR(WEFT_FP16, 1), 0x1p-11), *y = TENSOR(WEFT_FP16, 1, 1, 1, 1), *m = TENSOR(WEFT_FP32, 1, 1, 1);
	weft_attr mm = { .matmul = { 0 } };

	(void)state;
	/* 1 + 2^-11 + 2^-14 is above the tie: 1 + 2^-10; plus the bias, a tie to even: 1 + 2^-9. */
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
	EQUAL(y, 1 + 0x1p-9);
	a.conv.acc = WEFT_FP16;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
	EQUAL(y, 1 + 0x1p-9);
	a.conv.acc = WEFT_INT32;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), -EINVAL);
	x->rank = w->rank = 3;
	x->dim[0] = x->dim[1] = 1;
	x->dim[2] = w->dim[1] = 3;
	w->dim[0] = w->dim[2] = 1;
	assert_int_equal(golden(WEFT_OP_MATMUL, &mm, m, x, w, NULL), 0);
	EQUAL(m, 1 + 0x1p-11 + 0x1p-14);
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
	tensor_free(m);
}

static void resize(void **state)
{
	weft_attr a = { .resize = { 4, 2, 4, 2, 0, 0, 2, 2, WEFT_RESIZE_BILINEAR } };

	(void)state;
	for (int k = 0; k < 3; k++) {
		weft_tensor *x = FLOATS(TENSOR(types[k], 1, 2, 2, 1), 1, 3, 5, 7), *y = TENSOR(types[k], 1, 4, 4, 1);

		assert_int_equal(golden(WEFT_OP_RESIZE, &a, y, x, NULL, NULL), 0);
		EQUAL(y, 1, 2, 3, 3, 3, 4, 5, 5, 5, 6, 7, 7, 5, 6, 7, 7);
		tensor_free(x);
		tensor_free(y);
	}
}

/* Direct double sum over both axes, as TOSA writes it. */
static void naive(const weft_tensor *re, const weft_tensor *im, bool inverse, int64_t oy, int64_t ox, double out[2])
{
	const double pi = acos(-1);
	const int64_t h = re->dim[1], w = re->dim[2];

	out[0] = out[1] = 0;
	for (int64_t y = 0; y < h; y++)
		for (int64_t x = 0; x < w; x++) {
			double a = (inverse ? -2 : 2) * pi * ((double)(y * oy % h) / (double)h + (double)(x * ox % w) / (double)w);
			double r = weft_get_f(re, y * w + x), i = im ? weft_get_f(im, y * w + x) : 0;

			out[0] += r * cos(a) + i * sin(a);
			out[1] += -r * sin(a) + i * cos(a);
		}
}

static int fft(weft_opcode op, bool inverse, weft_tensor *yr, weft_tensor *yi, const weft_tensor *xr, const weft_tensor *xi)
{
	const weft_tensor *x[2] = { xr, xi };
	weft_tensor *y[2] = { yr, yi };
	weft_attr a = { .fft = { .inverse = inverse } };
	char msg[WEFT_GOLDEN_MSG];

	return weft_golden_run(op, &a, x, xi ? 2 : 1, y, 2, false, msg);
}

static void ffts(void **state)
{
	weft_tensor *re = TENSOR(WEFT_FP32, 1, 4, 8), *im = TENSOR(WEFT_FP32, 1, 4, 8), *yr = TENSOR(WEFT_FP32, 1, 4, 8),
	            *yi = TENSOR(WEFT_FP32, 1, 4, 8), *hr = TENSOR(WEFT_FP32, 1, 4, 5), *hi = TENSOR(WEFT_FP32, 1, 4, 5),
	            *odd = TENSOR(WEFT_FP32, 1, 3, 8);
	uint64_t seed = 5;
	double want[2];

	(void)state;
	for (int i = 0; i < 32; i++) {
		weft_put_f(re, i, (double)(test_random(&seed) % 2001) / 1000 - 1);
		weft_put_f(im, i, (double)(test_random(&seed) % 2001) / 1000 - 1);
	}
	for (int inverse = 0; inverse < 2; inverse++) {
		assert_int_equal(fft(WEFT_OP_FFT2D, inverse, yr, yi, re, im), 0);
		for (int i = 0; i < 32; i++) {
			naive(re, im, inverse, i / 8, i % 8, want);
			assert_true(fabs(weft_get_f(yr, i) - want[0]) < 2e-6 && fabs(weft_get_f(yi, i) - want[1]) < 2e-6);
		}
	}
	assert_int_equal(fft(WEFT_OP_RFFT2D, false, hr, hi, re, NULL), 0);
	for (int i = 0; i < 20; i++) {
		naive(re, NULL, false, i / 5, i % 5, want);
		assert_true(fabs(weft_get_f(hr, i) - want[0]) < 2e-6 && fabs(weft_get_f(hi, i) - want[1]) < 2e-6);
	}
	assert_true(weft_get_f(hi, 0) == 0 && weft_get_f(hi, 4) == 0);
	assert_int_equal(fft(WEFT_OP_FFT2D, false, odd, odd, odd, odd), -EINVAL);
	assert_int_equal(fft(WEFT_OP_RFFT2D, false, yr, yi, re, NULL), -EINVAL);
	tensor_free(re);
	tensor_free(im);
	tensor_free(yr);
	tensor_free(yi);
	tensor_free(hr);
	tensor_free(hi);
	tensor_free(odd);
}

/* No fp8 arithmetic, no mixed types, no fp64: not rows of TOSA. */
static void rows_bad(void **state)
{
	static const weft_opcode ones[] = { WEFT_OP_ABS, WEFT_OP_EXP, WEFT_OP_TANH, WEFT_OP_CLZ, WEFT_OP_BITWISE_NOT };
	static const weft_opcode twos[] = { WEFT_OP_ADD, WEFT_OP_POW, WEFT_OP_MAXIMUM };
	weft_tensor *f8 = TENSOR(WEFT_FP8E4M3, 2), *f64 = TENSOR(WEFT_FP64, 2), *f16 = TENSOR(WEFT_FP16, 2), *f32 = TENSOR(WEFT_FP32, 2),
	            *i32 = TENSOR(WEFT_INT32, 2);

	(void)state;
	for (int k = 0; k < 5; k++) {
		assert_int_equal(golden(ones[k], NULL, f8, f8, NULL, NULL), -EINVAL);
		assert_int_equal(golden(ones[k], NULL, f64, f64, NULL, NULL), -EINVAL);
		assert_int_equal(golden(ones[k], NULL, f32, f16, NULL, NULL), -EINVAL);
	}
	for (int k = 0; k < 3; k++) {
		assert_int_equal(golden(twos[k], NULL, f8, f8, f8, NULL), -EINVAL);
		assert_int_equal(golden(twos[k], NULL, f64, f64, f64, NULL), -EINVAL);
		assert_int_equal(golden(twos[k], NULL, f32, f32, f16, NULL), -EINVAL);
	}
	assert_int_equal(golden(WEFT_OP_POW, NULL, i32, i32, i32, NULL), -EINVAL);
	assert_int_equal(golden(WEFT_OP_FLOOR, NULL, i32, i32, NULL, NULL), -EINVAL);
	assert_int_equal(golden(WEFT_OP_BITWISE_NOT, NULL, f32, f32, NULL, NULL), -EINVAL);
	assert_int_equal(golden(WEFT_OP_CAST, NULL, f8, i32, NULL, NULL), -EINVAL);
	tensor_free(f8);
	tensor_free(f64);
	tensor_free(f16);
	tensor_free(f32);
	tensor_free(i32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unary), cmocka_unit_test(binary), cmocka_unit_test(compared), cmocka_unit_test(argmax_by_four),
		cmocka_unit_test(average_in_a_chain),
		cmocka_unit_test(product_in_a_chain), cmocka_unit_test(clamp), cmocka_unit_test(reduce),
		cmocka_unit_test(sums_round_once), cmocka_unit_test(pools), cmocka_unit_test(conv_accumulators),
		cmocka_unit_test(resize), cmocka_unit_test(ffts), cmocka_unit_test(rows_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
