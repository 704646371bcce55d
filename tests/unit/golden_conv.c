/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV2D, DEPTHWISE_CONV2D and MATMUL: small cases by hand, wrapping at 32 and
 * 48 bits, and random shapes against a gather written from the definition.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/golden_call.h"
#include "tests/support/tensors.h"

static weft_attr conv_attr(weft_dtype acc)
{
	return (weft_attr){ .conv = { .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = acc } };
}

static void by_hand(void **state)
{
	weft_attr a = conv_attr(WEFT_INT32);
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 1, 2, 2, 1), 1, 2, 3, 4);
	weft_tensor *w = VALUES(TENSOR(WEFT_INT8, 2, 2, 2, 1), 1, 10, 100, -100, 1, 1, 1, 1);
	weft_tensor *b = VALUES(TENSOR(WEFT_INT32, 2), 7, -7), *y = TENSOR(WEFT_INT32, 1, 2, 2, 2);
	/* padding right and below, zero points 1 and 0: x - 1 is 0 1 / 2 3 */
	const int64_t want[8] = { 7 + 10 + 200 - 300, -7 + 6, 7 + 1 + 300, -7 + 4, 7 + 2 + 30, -7 + 5, 7 + 3, -7 + 3 };

	(void)state;
	a.conv.pad[1] = a.conv.pad[3] = 1;
	a.conv.x_zp = 1;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(tensor_get(y, i), want[i]);
	/* one bias for all channels */
	b->dim[0] = 1;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
	assert_int_equal(tensor_get(y, 1), 7 + 6);
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
}

static void wraps(void **state)
{
	weft_attr a = conv_attr(WEFT_INT32);
	weft_tensor *x = VALUES(TENSOR(WEFT_INT8, 1, 1, 1, 1), 2), *w = VALUES(TENSOR(WEFT_INT8, 1, 1, 1, 1), 1);
	weft_tensor *b = VALUES(TENSOR(WEFT_INT32, 1), INT32_MAX), *y = TENSOR(WEFT_INT32, 1, 1, 1, 1);
	weft_tensor *x16 = VALUES(TENSOR(WEFT_INT16, 1, 1, 1, 1), -32768);
	weft_tensor *b48 = VALUES(TENSOR(WEFT_INT48, 1), -((int64_t)1 << 47)), *y48 = TENSOR(WEFT_INT48, 1, 1, 1, 1);

	(void)state;
	for (int f = 0; f < 2; f++) {
		golden_fast = f;
		a.conv.acc = WEFT_INT32;
		assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
		assert_int_equal(tensor_get(y, 0), INT32_MIN + 1);
		a.conv.acc = WEFT_INT48;
		assert_int_equal(golden(WEFT_OP_CONV2D, &a, y48, x16, w, b48), 0);
		assert_int_equal(tensor_get(y48, 0), ((int64_t)1 << 47) - 32768);
		assert_int_equal(golden(WEFT_OP_DEPTHWISE_CONV2D, &a, y48, x16, w, b48), 0);
		assert_int_equal(tensor_get(y48, 0), ((int64_t)1 << 47) - 32768);
	}
	golden_fast = false;
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
	tensor_free(x16);
	tensor_free(b48);
	tensor_free(y48);
}

/* Sums of 40000 products of 255*255 leave int32; both loops wrap alike. */
static void long_sums_wrap(void **state)
{
	enum { N = 40000 };
	weft_attr a = conv_attr(WEFT_INT32);
	weft_tensor *x = TENSOR(WEFT_INT8, 1, 1, 1, N), *w = TENSOR(WEFT_INT8, 1, 1, 1, N);
	weft_tensor *b = VALUES(TENSOR(WEFT_INT32, 1), 5), *y = TENSOR(WEFT_INT32, 1, 1, 1, 1);

	(void)state;
	memset(x->data, 127, N);
	memset(w->data, 127, N);
	a.conv.x_zp = a.conv.w_zp = -128;
	for (int f = 0; f < 2; f++) {
		golden_fast = f;
		assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
		assert_int_equal(tensor_get(y, 0), (int32_t)(uint32_t)(40000ll * 65025 + 5));
	}
	golden_fast = false;
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
}

/* x with explicit padding (value: zero point), so that the loop has no edge. */
static int64_t gathered(const weft_tensor *x, const struct weft_attr_conv *a, int64_t n, int64_t py,
                        int64_t px, int64_t c)
{
	const int64_t *d = x->dim;

	py -= a->pad[0];
	px -= a->pad[2];
	if (py < 0 || px < 0 || py >= d[1] || px >= d[2])
		return a->x_zp;
	return tensor_get(x, ((n * d[1] + py) * d[2] + px) * d[3] + c);
}

static int64_t expected(const weft_tensor *x, const weft_tensor *w, const struct weft_attr_conv *a,
                        bool depthwise, int64_t n, int64_t oy, int64_t ox, int64_t oc)
{
	const int64_t kh = w->dim[depthwise ? 0 : 1], kw = w->dim[depthwise ? 1 : 2];
	const int64_t ic = x->dim[3], m = depthwise ? w->dim[3] : 1;
	int64_t sum = 0;

	for (int64_t t = 0; t < kh * kw * (depthwise ? 1 : ic); t++) {
		int64_t c = depthwise ? oc / m : t % ic, k = depthwise ? t : t / ic;
		int64_t wi = depthwise ? (k * ic + c) * m + oc % m : (oc * kh * kw + k) * ic + c;
		int64_t v = gathered(x, a, n, oy * a->stride[0] + k / kw * a->dilation[0],
		                     ox * a->stride[1] + k % kw * a->dilation[1], c);

		sum += (v - a->x_zp) * (tensor_get(w, wi) - a->w_zp);
	}
	return sum;
}

static int32_t upto(uint64_t *r, int32_t n) { return 1 + (int32_t)(test_random(r) % (uint64_t)n); }

static void one_random(uint64_t *r, bool depthwise)
{
	const int type = (int)(test_random(r) % 3);
	const weft_dtype tx = type == 2 ? WEFT_INT16 : WEFT_INT8, tw = type == 1 ? WEFT_INT4 : WEFT_INT8;
	const weft_dtype ty = type == 2 ? WEFT_INT48 : WEFT_INT32;
	const int64_t ic = upto(r, 5), oc = depthwise ? ic * upto(r, 3) : upto(r, 5), kh = upto(r, 3), kw = upto(r, 4);
	weft_attr a = { .conv = { .stride = { upto(r, 3), upto(r, 3) }, .dilation = { upto(r, 2), upto(r, 2) },
		.pad = { upto(r, 3) - 1, upto(r, 3) - 1, upto(r, 3) - 1, upto(r, 3) - 1 }, .acc = ty,
		.x_zp = type == 2 ? 0 : (int8_t)test_random(r), .w_zp = type == 1 ? 0 : (int8_t)test_random(r) } };
	const int64_t oh = upto(r, 4), ow = upto(r, 4), n = upto(r, 2);
	const int64_t ih = (oh - 1) * a.conv.stride[0] + (kh - 1) * a.conv.dilation[0] + 1 - a.conv.pad[0] - a.conv.pad[1];
	const int64_t iw = (ow - 1) * a.conv.stride[1] + (kw - 1) * a.conv.dilation[1] + 1 - a.conv.pad[2] - a.conv.pad[3];
	weft_tensor *x, *w, *b, *y;

	if (ih < 1 || iw < 1)
		return;
	x = tensor_random(TENSOR(tx, n, ih, iw, ic), r);
	w = tensor_random(depthwise ? TENSOR(tw, kh, kw, ic, oc / ic) : TENSOR(tw, oc, kh, kw, ic), r);
	b = tensor_random(TENSOR(ty, oc), r);
	y = TENSOR(ty, n, oh, ow, oc);
	for (int64_t i = 0; i < oc; i++) /* leave room: wrapping is tested apart */
		tensor_set(b, i, tensor_get(b, i) / 2);
	assert_int_equal(golden(depthwise ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &a, y, x, w, b), 0);
	for (int64_t i = 0; i < weft_tensor_elements(y); i++) {
		int64_t ch = i % oc, px = i / oc % ow, py = i / oc / ow % oh, in = i / oc / ow / oh;

		assert_int_equal(tensor_get(y, i),
			expected(x, w, &a.conv, depthwise, in, py, px, ch) + tensor_get(b, ch));
	}
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
}

static void random_shapes(void **state)
{
	uint64_t r = 4;

	(void)state;
	for (int i = 0; i < 1000; i++)
		one_random(&r, i & 1);
}

static void matmul(void **state)
{
	weft_attr a = { .matmul = { .a_zp = 1, .b_zp = -1 } };
	weft_tensor *p = VALUES(TENSOR(WEFT_INT8, 2, 1, 2), 2, 3, 4, 5);
	weft_tensor *q = VALUES(TENSOR(WEFT_INT8, 2, 2, 2), 0, 1, 2, 3, 4, 5, 6, 7), *y = TENSOR(WEFT_INT32, 2, 1, 2);
	weft_tensor *p16 = VALUES(TENSOR(WEFT_INT16, 1, 1, 2), -32768, 32767);
	weft_tensor *q16 = VALUES(TENSOR(WEFT_INT16, 1, 2, 1), -32768, -32768), *y48 = TENSOR(WEFT_INT48, 1, 1, 1);

	(void)state;
	assert_int_equal(golden(WEFT_OP_MATMUL, &a, y, p, q, NULL), 0);
	assert_int_equal(tensor_get(y, 0), 1 * 1 + 2 * 3);
	assert_int_equal(tensor_get(y, 1), 1 * 2 + 2 * 4);
	assert_int_equal(tensor_get(y, 2), 3 * 5 + 4 * 7);
	assert_int_equal(tensor_get(y, 3), 3 * 6 + 4 * 8);
	assert_int_equal(golden(WEFT_OP_MATMUL, &a, y48, p16, q16, NULL), -EINVAL);
	a.matmul.a_zp = a.matmul.b_zp = 0;
	assert_int_equal(golden(WEFT_OP_MATMUL, &a, y48, p16, q16, NULL), 0);
	assert_int_equal(tensor_get(y48, 0), 32768);
	assert_int_equal(golden(WEFT_OP_MATMUL, &a, y, p16, q16, NULL), -EINVAL);
	q->dim[1] = 1;
	assert_int_equal(golden(WEFT_OP_MATMUL, &a, y, p, q, NULL), -EINVAL);
	tensor_free(p);
	tensor_free(q);
	tensor_free(y);
	tensor_free(p16);
	tensor_free(q16);
	tensor_free(y48);
}

static void rules_bad(void **state)
{
	weft_attr ok = conv_attr(WEFT_INT32), a;
	weft_tensor *x = TENSOR(WEFT_INT8, 1, 4, 4, 2), *w = TENSOR(WEFT_INT8, 3, 2, 2, 2);
	weft_tensor *b = TENSOR(WEFT_INT32, 3), *y = TENSOR(WEFT_INT32, 1, 3, 3, 3);
	weft_tensor *f = TENSOR(WEFT_FP32, 1, 4, 4, 2);

	(void)state;
	assert_int_equal(golden(WEFT_OP_CONV2D, &ok, y, x, w, b), 0);
#define BAD(member, value) do { \
		a = ok; \
		a.conv.member = value; \
		assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), -EINVAL); \
		assert_true(strlen(golden_msg) > 8); \
	} while (0)
	BAD(pad[0], -1);
	BAD(pad[0], 1);
	BAD(pad[3], INT32_MAX);
	BAD(stride[0], 0);
	BAD(stride[1], -1);
	BAD(stride[1], INT32_MIN);
	BAD(stride[0], 2);
	BAD(dilation[0], 0);
	BAD(dilation[1], INT32_MAX);
	BAD(dilation[1], 2);
	BAD(x_zp, 128);
	BAD(w_zp, -129);
	BAD(acc, WEFT_INT48);
	assert_int_equal(golden(WEFT_OP_CONV2D, &ok, y, f, w, b), -EINVAL);
	/* with a 1x1 kernel nothing else speaks against dilation 0 */
	w->dim[1] = w->dim[2] = 1;
	y->dim[1] = y->dim[2] = 1;
	a = ok;
	a.conv.stride[0] = a.conv.stride[1] = 3;
	x->dim[1] = x->dim[2] = 1;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), 0);
	a.conv.dilation[0] = 0;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), -EINVAL);
	w->dim[1] = w->dim[2] = 2;
	y->dim[1] = y->dim[2] = 3;
	x->dim[1] = x->dim[2] = 4;
	b->dim[0] = 2;
	assert_int_equal(golden(WEFT_OP_CONV2D, &ok, y, x, w, b), -EINVAL);
	b->dim[0] = 3;
	w->dim[3] = 1;
	assert_int_equal(golden(WEFT_OP_CONV2D, &ok, y, x, w, b), -EINVAL);
	w->dim[3] = 2;
	y->dim[3] = 2;
	assert_int_equal(golden(WEFT_OP_CONV2D, &ok, y, x, w, b), -EINVAL);
	y->dim[3] = 3;
	w->dtype = WEFT_INT4;
	a = ok;
	a.conv.w_zp = 1;
	assert_int_equal(golden(WEFT_OP_CONV2D, &a, y, x, w, b), -EINVAL);
	assert_int_equal(golden(WEFT_OP_CONV2D, &ok, y, x, w, b), 0);
	tensor_free(x);
	tensor_free(w);
	tensor_free(b);
	tensor_free(y);
	tensor_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(wraps),
		cmocka_unit_test(long_sums_wrap),
		cmocka_unit_test(random_shapes),
		cmocka_unit_test(matmul),
		cmocka_unit_test(rules_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
