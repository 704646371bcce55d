/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SUM of int8 and int16 in LiteRT 2.3. Its reference kernel has a branch for
 * uint8 alone, and runs it for the other types, too: int8's bytes count as 0..255,
 * and so does the result, which wraps to int8. Of int16 it takes the first bytes,
 * as many as there are elements, and gives as many bytes as there are results; the
 * others keep what the memory held, which is 0 here.
 */
#include <errno.h>

#include "tflite_lower.h"

/*
 * Emits op of int32 x and the number v as an intermediate tensor. Returns the graph tensor, or a
 * negative errno; a negative x is returned as it is.
 */
static int with_number(struct tfl_lower *l, weft_opcode op, int x, int64_t v)
{
	static const weft_attr none;

	if (x < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	int c = tfl_number(l, "number", WEFT_INT32, t.rank, v);
	return c < 0 ? c : tfl_step(l, op, &none, (int[]){ x, c }, 2, WEFT_INT32, t.rank, t.dim, false);
}

/* Emits int32 a and b joined along axis. Returns the graph tensor, or a negative errno. */
static int joined(struct tfl_lower *l, int a, int b, int axis)
{
	weft_attr at = { .axis = { .axis = axis } };
	weft_tensor t = l->g->tensors[a].t;

	t.dim[axis] += l->g->tensors[b].t.dim[axis];
	return tfl_step(l, WEFT_OP_CONCAT, &at, (int[]){ a, b }, 2, WEFT_INT32, t.rank, t.dim, false);
}

/* Emits the first n elements of int32 vector x. Returns the graph tensor, or a negative errno. */
static int part(struct tfl_lower *l, int x, int64_t n)
{
	weft_attr a = { .slice = { { 0 } } };

	return tfl_step(l, WEFT_OP_SLICE, &a, &x, 1, WEFT_INT32, 1, &n, false);
}

/*
 * Emits the first n bytes of the 16-bit words that the n elements of int32 x hold, as int32 with
 * x's shape: the first half of the words give two bytes each, the lower one first, the other words
 * none. Returns the graph tensor, or a negative errno.
 */
static int first_bytes(struct tfl_lower *l, int x)
{
	weft_tensor t = l->g->tensors[x].t;
	int64_t n = weft_tensor_elements(&t), half = (n + 1) / 2;
	int low, high;

	if ((x = tfl_reshape(l, x, 1, &n)) < 0 || (half < n && (x = part(l, x, half)) < 0))
		return x;
	low = with_number(l, WEFT_OP_BITWISE_AND, x, 255);
	high = with_number(l, WEFT_OP_LOGICAL_RIGHT_SHIFT, with_number(l, WEFT_OP_BITWISE_AND, x, 0xFF00), 8);
	if (low < 0 || high < 0 || (low = tfl_reshape(l, low, 2, (int64_t[]){ half, 1 })) < 0 ||
	    (high = tfl_reshape(l, high, 2, (int64_t[]){ half, 1 })) < 0 || (x = joined(l, low, high, 1)) < 0)
		return low < 0 ? low : high < 0 ? high : x;
	if ((x = tfl_reshape(l, x, 1, (int64_t[]){ 2 * half })) < 0 || (2 * half > n && (x = part(l, x, n)) < 0))
		return x;
	return tfl_reshape(l, x, t.rank, t.dim);
}

/*
 * Emits the n bytes in int32 x as n words of 16 bits with x's shape, two bytes each, the lower one
 * first: the bytes fill the first half of the words, and the other words are 0. Returns the graph
 * tensor, or a negative errno.
 */
static int words_of(struct tfl_lower *l, int x)
{
	weft_tensor t = l->g->tensors[x].t;
	int64_t n = weft_tensor_elements(&t);
	int none = tfl_reshape(l, with_number(l, WEFT_OP_BITWISE_AND, x, 0), 1, &n);

	if (none < 0 || (x = tfl_reshape(l, x, 1, &n)) < 0 || (x = joined(l, x, none, 0)) < 0 ||
	    (x = tfl_reshape(l, x, 2, (int64_t[]){ n, 2 })) < 0)
		return none < 0 ? none : x;
	weft_attr low = { .slice = { { 0, 0 } } }, high = { .slice = { { 0, 1 } } };
	int a = tfl_step(l, WEFT_OP_SLICE, &low, &x, 1, WEFT_INT32, 2, (int64_t[]){ n, 1 }, false);
	int b = a < 0 ? a : tfl_step(l, WEFT_OP_SLICE, &high, &x, 1, WEFT_INT32, 2, (int64_t[]){ n, 1 }, false);
	if (b < 0 || (b = with_number(l, WEFT_OP_LOGICAL_LEFT_SHIFT, b, 8)) < 0)
		return b;
	a = tfl_step(l, WEFT_OP_ADD, NULL, (int[]){ a, b }, 2, WEFT_INT32, 2, (int64_t[]){ n, 1 }, false);
	return a < 0 ? a : tfl_reshape(l, a, t.rank, t.dim);
}

/*
 * Adds operators that convert x to type t, which is int8 or int16. The numbers in x are from 0 to
 * below 2^bits, where bits is the width of t, and each becomes the two's complement number with
 * the same bits. Returns the result's tensor or a negative errno.
 */
static int wrapped(struct tfl_lower *l, int x, weft_dtype t)
{
	const int half = t == WEFT_INT8 ? 128 : 32768;
	struct tfl_factor one = { .multiplier = 1 << 30, .shift = 30 };
	struct tfl_rescale r = { .to = t, .rounding = WEFT_SINGLE_ROUND, .n = 1, .f = &one };

	x = with_number(l, WEFT_OP_BITWISE_AND, with_number(l, WEFT_OP_ADD, x, half), 2 * half - 1);
	x = with_number(l, WEFT_OP_SUB, x, half);
	return x < 0 ? x : tfl_rescale(l, x, &r, false);
}

int tfl_sum_begin(struct tfl_lower *l, int x, weft_dtype t)
{
	return t == WEFT_INT16 ? first_bytes(l, x) : with_number(l, WEFT_OP_BITWISE_AND, x, 255);
}

/*
 * Emits the result of LiteRT 2.3's SUM from int32 sums x: less x_zp, rescaled by f, plus y's zero
 * point, limited to 0..255, then wrapped into y's type as its bytes lie in memory. Returns the
 * result's tensor, or a negative errno.
 */
int tfl_sum_end(struct tfl_lower *l, int x, const struct tfl_factor *f, int64_t x_zp, const struct tfl_quant *y)
{
	struct tfl_rescale r = { .to = WEFT_INT32, .rounding = WEFT_DOUBLE_ROUND, .n = 1, .f = f };

	x = with_number(l, WEFT_OP_SUB, x, x_zp);
	x = x < 0 ? x : tfl_rescale(l, x, &r, false);
	x = with_number(l, WEFT_OP_ADD, x, y->zp);
	x = with_number(l, WEFT_OP_MINIMUM, with_number(l, WEFT_OP_MAXIMUM, x, 0), 255);
	if (x >= 0 && y->t == WEFT_INT16)
		x = words_of(l, x);
	x = x < 0 ? x : wrapped(l, x, y->t);
	return x < 0 ? x : tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, y->t, l->y.rank, l->y.dim, true);
}
