/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear and DynamicQuantizeMatMul, as operators of the
 * host.
 */
#include <errno.h>
#include <string.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"

/*
 * Emits operand k of the node at hand, a scale or zero point, with the rank of x so that it
 * broadcasts: one number, one for each index of axis, or one for each block of `block` elements
 * along axis (0: x's length over the number of blocks, rounded up), repeated. Returns the graph
 * tensor, -EINVAL if the operand is missing or its rank or number of blocks does not fit, or
 * another negative errno.
 */
static int parameter(struct ox *l, int k, const weft_tensor *x, int axis, int64_t block)
{
	struct ox_value *v = ox_in(l, k);
	int64_t dim[WEFT_MAX_RANK + 1], multiple[WEFT_MAX_RANK + 1], start[WEFT_MAX_RANK] = { 0 };

	if (!v)
		return l->err;
	if (weft_tensor_elements(&v->t) == 1 && v->t.rank <= 1)
		return ox_along(l, v, x->rank, x->rank > 0);
	if (v->t.rank == 1 && (block <= 0 || x->rank > 1))
		return ox_along(l, v, x->rank, x->rank - axis);
	if (v->t.rank != x->rank || x->rank + 1 > WEFT_MAX_RANK)
		return ox_fail(l, -EINVAL, "input %d has rank %d, input 0 has %d", k, v->t.rank, x->rank);
	int64_t n = v->t.dim[axis], need = block > 0 ? (x->dim[axis] + block - 1) / block : n;
	if (block <= 0)
		block = n ? (x->dim[axis] + n - 1) / n : 1;
	if (n != need)
		return ox_fail(l, -EINVAL, "%lld blocks of %lld for %lld", (long long)n, (long long)block, (long long)x->dim[axis]);
	for (int i = 0; i <= x->rank; i++) {
		dim[i] = i <= axis ? v->t.dim[i] : i == axis + 1 ? 1 : v->t.dim[i - 1];
		multiple[i] = i == axis + 1 ? block : 1;
	}
	int s = ox_tile(l, ox_reshape(l, ox_get(l, v, NULL), x->rank + 1, dim), multiple);
	memcpy(dim, v->t.dim, sizeof v->t.dim);
	dim[axis] = n * block;
	s = ox_reshape(l, s, x->rank, dim);
	dim[axis] = x->dim[axis];
	return ox_slice(l, s, start, dim);
}

/*
 * Sets in[0] to x and in[1], in[2] to the scale and zero point (operands 1 and 2) of the node at
 * hand in the form that the graph's operators take, along attribute axis (default 1) in blocks of
 * attribute block_size. Returns the number of operands, 3, or 2 if there is no zero point (in[2] is
 * 0 then), -EINVAL if axis, block_size or an operand's shape is wrong, or another negative errno.
 */
static int parameters(struct ox *l, int x, int *in)
{
	const weft_tensor t = *ox_t(l, x);
	const int64_t block = ox_attr_i(l, "block_size", 0), raw = ox_attr_i(l, "axis", 1);
	/* One number needs no axis, and the default may lie outside. */
	int axis = raw == 1 && t.rank < 2 ? 0 : ox_axis(l, raw, t.rank);

	if (axis < 0)
		return axis;
	if (block < 0 || block > INT32_MAX)
		return ox_fail(l, -EINVAL, "block_size %lld, must be 0 to %d", (long long)block, INT32_MAX);
	in[0] = x;
	in[1] = parameter(l, 1, &t, axis, block);
	in[2] = ox_has(l, 2) ? parameter(l, 2, &t, axis, block) : 0;
	if (in[1] < 0 || in[2] < 0)
		return l->err;
	return ox_has(l, 2) ? 3 : 2;
}

/*
 * Lowers QuantizeLinear: makes its result in integers by ox_fold_qdq() if possible, else by the
 * host operator ONNX_QUANTIZE. A uint8 or uint16 result with a constant zero point that is no output of the
 * network is then held in its signed form. Returns 0, -ENOTSUP if output_dtype or precision is not
 * known or output_dtype is not the zero point's type, -EINVAL if a parameter's shape is wrong, or
 * another negative errno.
 */
int ox_quantize(struct ox *l)
{
	int folded = ox_fold_qdq(l);
	if (folded)
		return folded < 0 ? folded : 0;
	int in[3], x = ox_x(l, 0), n = x < 0 ? x : parameters(l, x, in);
	int64_t to = ox_attr_i(l, "output_dtype", 0), precision = ox_attr_i(l, "precision", 0);
	if (n < 0)
		return n;
	weft_dtype t = n == 3 ? ox_t(l, in[2])->dtype : to ? onnx_dtype(to) : WEFT_UINT8;
	weft_attr a = { .onnx = { ox_attr_i(l, "saturate", 1) != 0, precision ? onnx_dtype(precision) : ox_t(l, in[1])->dtype } };
	if (!t || !a.onnx.type || (to && onnx_dtype(to) != t))
		return ox_fail(l, -ENOTSUP, "output_dtype %s, precision %s", onnx_dtype_name(to), onnx_dtype_name(precision));
	/* Unsigned codes on their way to the array have their signed form. */
	struct ox_value *y = &l->values[ox_value_find(l, l->n->output[0])];
	bool flip = ox_less(t) && n == 3 && !y->is_output && ox_t(l, in[2])->data;
	if (flip)
		in[2] = ox_flip_sign(l, in[2], t = ox_signed(t));
	return ox_result(l, 0, ox_op(l, WEFT_OP_ONNX_QUANTIZE, &a, in, n, t, ox_t(l, x)->rank, ox_t(l, x)->dim), NULL, flip);
}

/*
 * Lowers DequantizeLinear to the host operator ONNX_DEQUANTIZE, in the order of dimensions in which
 * operand 0 is held if one number scales all, or in the file's if the result is an output, so that codes are moved
 * and not floats; a signed form of unsigned codes is read so if the zero point is
 * constant. The result has the scale's type, or output_dtype's. Returns 0, -ENOTSUP for an unknown
 * output_dtype, -EINVAL if axis, block_size or a parameter's shape is wrong, or another negative
 * errno.
 */
int ox_dequantize(struct ox *l)
{
	struct ox_value *v = ox_in(l, 0);
	struct ox_value *scale = v ? ox_in(l, 1) : NULL;
	int64_t to = ox_attr_i(l, "output_dtype", 0);

	if (!scale)
		return l->err;
	/* As it is held, if one number scales all; else in the file's order. */
	bool as_held = v->n_forms && weft_tensor_elements(&scale->t) == 1;
	struct ox_form form = v->n_forms ? v->form[0] : (struct ox_form){ 0 };
	bool flip = as_held && form.flip && ox_has(l, 2) && ox_is_const(l, 2);
	as_held = as_held && (flip || !form.flip);
	if (as_held && l->values[ox_value_find(l, l->n->output[0])].is_output && (flip || v->t.dtype == WEFT_INT8 || v->t.dtype == WEFT_INT16)) {
		form.tensor = ox_side_in(l, v, NULL);
		ox_file_order(form.perm);
	}
	int in[3], x = as_held ? form.tensor : ox_get(l, v, NULL);
	int n = x < 0 ? x : parameters(l, x, in);
	if (n < 0)
		return n;
	weft_dtype t = to ? onnx_dtype(to) : ox_t(l, in[1])->dtype;
	if (!t)
		return ox_fail(l, -ENOTSUP, "output_dtype %s", onnx_dtype_name(to));
	if (flip)
		in[2] = ox_flip_sign(l, in[2], ox_signed(v->t.dtype));
	int z = ox_op(l, WEFT_OP_ONNX_DEQUANTIZE, NULL, in, n, t, ox_t(l, x)->rank, ox_t(l, x)->dim);
	return ox_result(l, 0, z, as_held ? form.perm : NULL, false);
}

/*
 * Sets *scale to a tensor [1] with (max(0, x) - min(0, x)) / 255 over all elements of float x, and
 * *zp to a tensor [1] of uint8 with round(-min(0, x) / scale), limited to 0..255. Returns *zp, or a
 * negative errno.
 */
static int range(struct ox *l, int x, int *scale, int *zp)
{
	weft_attr a = { .onnx = { true, WEFT_FP32 } };
	int64_t n = x < 0 ? 0 : weft_tensor_elements(ox_t(l, x));
	int flat = ox_reshape(l, x, 1, &n), zero = ox_ramp(l, WEFT_FP32, 1, 0);
	int hi = ox_binary(l, WEFT_OP_MAXIMUM, ox_reduce(l, WEFT_OP_REDUCE_MAX, flat, 0), zero);
	int lo = ox_binary(l, WEFT_OP_MINIMUM, ox_reduce(l, WEFT_OP_REDUCE_MIN, flat, 0), zero);

	const int steps = ox_ramp(l, WEFT_FP32, 1, 255);
	*scale = ox_binary(l, WEFT_OP_ONNX_DIV, ox_binary(l, WEFT_OP_SUB, hi, lo), steps);
	int in[2] = { ox_binary(l, WEFT_OP_SUB, zero, lo), *scale };
	*zp = ox_op(l, WEFT_OP_ONNX_QUANTIZE, &a, in, 2, WEFT_UINT8, 1, (int64_t[]){ 1 });
	return *zp;
}

/*
 * Emits float x quantised to uint8 with the computed tensors scale and zp. Returns the graph
 * tensor, l->err if an operand is negative, or another negative errno.
 */
static int dynamic(struct ox *l, int x, int scale, int zp)
{
	weft_attr a = { .onnx = { true, WEFT_FP32 } };
	int in[3];

	if (x < 0 || scale < 0 || zp < 0)
		return l->err;
	in[0] = x;
	in[1] = ox_along_tensor(l, scale, ox_t(l, x)->rank, ox_t(l, x)->rank ? 1 : 0);
	in[2] = ox_along_tensor(l, zp, ox_t(l, x)->rank, ox_t(l, x)->rank ? 1 : 0);
	return ox_op(l, WEFT_OP_ONNX_QUANTIZE, &a, in, 3, WEFT_UINT8, ox_t(l, x)->rank, ox_t(l, x)->dim);
}

/*
 * Lowers DynamicQuantizeLinear of operand 0: results 0 to 2 are the uint8 codes, and the scale and
 * zero point that follow from the operand's range. Returns 0, -EINVAL if it is not float32, or
 * another negative errno.
 */
int ox_dynamic_quantize(struct ox *l)
{
	int x = ox_x(l, 0), scale, zp;

	if (x < 0 || ox_t(l, x)->dtype != WEFT_FP32)
		return x < 0 ? x : ox_fail(l, -EINVAL, "input is %s", weft_dtype_name(ox_t(l, x)->dtype));
	if (range(l, x, &scale, &zp) < 0)
		return l->err;
	int err = ox_result(l, 0, dynamic(l, x, scale, zp), NULL, false);
	if (err < 0 || (err = ox_result(l, 1, ox_reshape(l, scale, 0, NULL), NULL, false)) < 0)
		return err;
	return ox_result(l, 2, ox_reshape(l, zp, 0, NULL), NULL, false);
}

/*
 * Emits the int32 sums of DynamicQuantizeMatMul: uint8 codes with the zero point in tensor zp, times operand 1 with the zero point in
 * operand 3, which may be absent. Returns the graph tensor, or a negative errno.
 */
static int dynamic_sums(struct ox *l, int codes, int zp)
{
	struct ox_value x = ox_held(l, "", codes), zero = ox_held(l, "", zp);
	const struct ox_product p = { .x = &x, .x_zp = &zero, .w = ox_in(l, 1), .w_zp = ox_optional(l, 3), .kernel = true };

	if (!p.w)
		return l->err;
	const int saturates = x.t.rank < 2 || p.w->t.rank < 2 ? 0 : ox_matmul_saturates(l, &p);
	if (saturates)
		return saturates < 0 ? saturates : ox_matmul_in_pairs(l, &p);
	int a = ox_widen(l, codes), b = ox_widen(l, ox_x(l, 1));
	if (a < 0 || b < 0)
		return l->err;
	a = ox_cast(l, ox_binary(l, WEFT_OP_SUB, a, ox_along_tensor(l, ox_widen(l, zp), ox_t(l, a)->rank, 1)), WEFT_INT16);
	if (ox_has(l, 3))
		b = ox_binary(l, WEFT_OP_SUB, b, ox_along_tensor(l, ox_widen(l, ox_x(l, 3)), ox_t(l, b)->rank, 1));
	return ox_narrow_48(l, ox_matmul_sums(l, a, ox_cast(l, b, WEFT_INT16)));
}

/*
 * Lowers com.microsoft's DynamicQuantizeMatMul: operand 0, floats, quantised by its range, times
 * operand 1, 8-bit weights with the scale in operand 2 and, if present, zero point in operand 3;
 * plus operand 4 if present. Returns 0 or a negative errno.
 */
int ox_dynamic_matmul(struct ox *l)
{
	int x = ox_x(l, 0), scale, zp;

	if (x < 0 || range(l, x, &scale, &zp) < 0)
		return l->err;
	const int codes = dynamic(l, x, scale, zp);
	int y = codes < 0 ? codes : ox_cast(l, dynamic_sums(l, codes, zp), WEFT_FP32);
	if (y < 0)
		return y;
	int rank = ox_t(l, y)->rank;
	int w_scale = ox_along(l, ox_in(l, 2), rank, 1), x_scale = ox_along_tensor(l, scale, rank, 1);
	y = ox_binary(l, WEFT_OP_MUL, y, ox_binary(l, WEFT_OP_MUL, x_scale, w_scale));
	if (y >= 0 && ox_has(l, 4))
		y = ox_binary(l, WEFT_OP_ADD, y, ox_x(l, 4));
	return ox_result(l, 0, y, NULL, false);
}
