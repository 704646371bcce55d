/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MEAN of quantised tensors over any axes, their largest and smallest elements,
 * and SUM.
 *
 * MEAN is the sum of x - zx over the N elements, times sx / sy. The division by N is
 * in the multiplier m * 2^(s - 31): with k = min(floor(log2 N), 32, 31 + s) the
 * multiplier is (m << k) / N, truncated, and s becomes s - k.
 */
#include <errno.h>

#include "tflite_lower.h"

/*
 * Divides factor *f by n, at least 1, as TFLite does: the multiplier is shifted left first by
 * floor(log2 n) bits, or as far as the shift allows, then divided and rounded down.
 */
static void divide(struct tfl_factor *f, int64_t n)
{
	int s = 31 - f->shift, k = 0;

	while (n >> (k + 1))
		k++;
	if (k > 31 + s)
		k = 31 + s;
	f->multiplier = (int32_t)(((int64_t)f->multiplier << k) / n);
	f->shift = (int8_t)(f->shift + k);
}

/*
 * Emits reduction op of x over a set of axes (bit i is axis i), which stay with length 1, as an
 * intermediate tensor; x itself if all of them have length 1. Returns the graph tensor, or a
 * negative errno.
 */
static int reduce(struct tfl_lower *l, weft_opcode op, int x, unsigned set)
{
	weft_tensor t = l->g->tensors[x].t;

	for (int i = 0; i < t.rank && x >= 0; i++) {
		weft_attr a = { .axis = { .axis = i } };
		if (!(set & 1u << i) || t.dim[i] == 1)
			continue;
		t.dim[i] = 1;
		x = tfl_step(l, op, &a, &x, 1, t.dtype, t.rank, t.dim, false);
	}
	return x;
}

/*
 * Lowers MEAN of 8-bit and int16 operands over the axes in constant operand 1, and SUM of them, which
 * leaves the division out. SUM of int8 and int16 with LiteRT 2.3's bits sums bytes as that release's
 * kernel does (tfl_sum_begin). Returns the result's tensor; -ENOTSUP if more than INT32_MAX / 255
 * elements of 8 bits, or INT32_MAX / 65535 of int16, are summed, since that could leave 32 bits; -EINVAL
 * if an axis is out of range; or another negative errno.
 */
int tfl_lower_mean(struct tfl_lower *l)
{
	struct tfl_quant xq, yq;
	struct tfl_factor f;
	unsigned set;
	int64_t n = 1;
	int x, keep, err;

	if ((err = tfl_option(l, OPTIONS_REDUCE, REDUCE_KEEP_DIMS, 1, 0, &keep)) || (err = tfl_need_result(l, TFL_Q8_16, &yq)))
		return err;
	if ((x = tfl_quant_value(l, 0, TFL_Q8_16, &xq)) < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	if ((err = tfl_axis_set(l, 1, t.rank, &set)) || (err = tfl_factor(l, (double)xq.scale / (double)yq.scale, &f)))
		return err;
	for (int i = 0; i < t.rank; i++)
		n *= set & 1u << i ? t.dim[i] : 1;
	int most = xq.t == WEFT_INT8 ? INT32_MAX / 255 : INT32_MAX / 65535;
	if (n > most)
		return tfl_fail(l, -ENOTSUP, "%lld elements > %d", (long long)n, most);
	if (l->op->code == TFL_MEAN)
		divide(&f, n);
	const int type = tfl_file_tensor(l, tfl_operand(l, 0))->type;
	if (l->op->code == TFL_SUM && tfl_is_litert(l) && type != TFL_UINT8) {
		if ((x = tfl_widen(l, x, 0, 0)) < 0 || (x = tfl_sum_begin(l, x, xq.t)) < 0 ||
		    (x = reduce(l, WEFT_OP_REDUCE_SUM, x, set)) < 0)
			return x;
		return tfl_sum_end(l, x, &f, n * xq.zp, &yq);
	}
	x = tfl_widen(l, x, xq.zp, 0);
	x = x < 0 ? x : reduce(l, WEFT_OP_REDUCE_SUM, x, set);
	int y = x < 0 ? x : tfl_requantise(l, x, 1, &f, TFL_NONE, keep != 0);
	return y < 0 || keep ? y : tfl_step(l, WEFT_OP_RESHAPE, NULL, &y, 1, l->y.dtype, l->y.rank, l->y.dim, true);
}

/*
 * Lowers SUM of int32, and REDUCE_MAX and REDUCE_MIN of 8-bit, int16 and int32 operands quantised like
 * the result, over the axes in constant operand 1. SUM of other types is left to tfl_lower_mean().
 * Returns the result's tensor, -ENOTSUP for other types, -EINVAL if an axis is out of range or the result
 * has another number of elements, or another negative errno.
 */
int tfl_lower_reduce(struct tfl_lower *l)
{
	weft_opcode op = l->op->code == TFL_SUM ? WEFT_OP_REDUCE_SUM : l->op->code == TFL_REDUCE_MAX ? WEFT_OP_REDUCE_MAX
	                                                                                             : WEFT_OP_REDUCE_MIN;
	int i = tfl_operand(l, 0), x, err;
	unsigned set;

	if (i < 0)
		return i;
	if (op == WEFT_OP_REDUCE_SUM && tfl_file_tensor(l, i)->type != TFL_INT32)
		return tfl_lower_mean(l);
	if ((x = tfl_moved(l, 0)) < 0)
		return x;
	weft_tensor t = l->g->tensors[x].t;
	if (t.dtype != WEFT_INT32 && (op == WEFT_OP_REDUCE_SUM || (t.dtype != WEFT_INT8 && t.dtype != WEFT_INT16)))
		return tfl_fail(l, -ENOTSUP, "%s is not supported", weft_dtype_name(t.dtype));
	if ((err = tfl_axis_set(l, 1, t.rank, &set)))
		return err;
	if ((x = reduce(l, op, x, set)) < 0)
		return x;
	if (weft_tensor_elements(&l->g->tensors[x].t) != weft_tensor_elements(&l->y))
		return tfl_fail(l, -EINVAL, "tensor %d: %lld elements after reduction", l->i_y,
		                (long long)weft_tensor_elements(&l->g->tensors[x].t));
	return tfl_step(l, WEFT_OP_RESHAPE, NULL, &x, 1, t.dtype, l->y.rank, l->y.dim, true);
}
