/* SPDX-License-Identifier: Apache-2.0 */
/* MatMul and Gemm. */
#include <errno.h>
#include <string.h>

#include "onnx_lower.h"

/*
 * Returns the type of a matrix product's sums for operands of type t: int32 for int8, int48 for
 * int16, float32 for float16 and bfloat16, float16 for float8, else t.
 */
static weft_dtype product_type(weft_dtype t)
{
	switch (t) {
	case WEFT_INT8: return WEFT_INT32;
	case WEFT_INT16: return WEFT_INT48;
	case WEFT_BF16:
	case WEFT_FP16: return WEFT_FP32;
	default: return weft_is_float8(t) ? WEFT_FP16 : t;
	}
}

int ox_matmul_sums(struct ox *l, int a, int b)
{
	return ox_matmul_sums_zp(l, a, b, 0, 0);
}

/*
 * Emits the sums [...,M,N] of a [...,M,K] by b [...,K,N] in the type that product_type() gives
 * (int32 for int8, int48 for int16, float32 for float16 and bfloat16, float16 for float8, else
 * a's), with a_zp and b_zp as the zero points of int8 factors (0 for others); leading dimensions
 * broadcast. If b is one matrix, a's leading dimensions count as rows; else both become [B,.,.].
 * Returns the graph tensor, -EINVAL if a rank is below 2 or the shapes do not fit, or another
 * negative errno; a negative operand is returned as it is.
 */
int ox_matmul_sums_zp(struct ox *l, int a, int b, int32_t a_zp, int32_t b_zp)
{
	const weft_attr attr = { .matmul = { .a_zp = a_zp, .b_zp = b_zp } };
	int64_t lead[WEFT_MAX_RANK], y[WEFT_MAX_RANK], batch = 1;

	if (a < 0 || b < 0)
		return a < 0 ? a : b;
	weft_tensor s = *ox_t(l, a), t = *ox_t(l, b);
	int rank = s.rank > t.rank ? s.rank : t.rank;
	if (s.rank < 2 || t.rank < 2)
		return ox_fail(l, -EINVAL, "ranks %d and %d, must be at least 2", s.rank, t.rank);
	if (s.dim[s.rank - 1] != t.dim[t.rank - 2])
		return ox_fail(l, -EINVAL, "rows of %lld by columns of %lld", (long long)s.dim[s.rank - 1], (long long)t.dim[t.rank - 2]);
	const int64_t m = s.dim[s.rank - 2], k = s.dim[s.rank - 1], n = t.dim[t.rank - 1];
	for (int i = 0; i < rank - 2; i++) {
		int64_t p = i - (rank - s.rank) >= 0 ? s.dim[i - (rank - s.rank)] : 1;
		int64_t q = i - (rank - t.rank) >= 0 ? t.dim[i - (rank - t.rank)] : 1;
		lead[i] = p > q ? p : q;
		if ((p != lead[i] && p != 1) || (q != lead[i] && q != 1))
			return ox_fail(l, -EINVAL, "dimension %d: %lld and %lld do not broadcast", i, (long long)p, (long long)q);
		batch *= lead[i];
		y[i] = lead[i];
	}
	y[rank - 2] = m;
	y[rank - 1] = n;
	int64_t full[WEFT_MAX_RANK], rows = t.rank == 2 ? batch * m : m;
	memcpy(full, lead, sizeof full);
	int64_t outer = t.rank == 2 ? 1 : batch;
	if (t.rank > 2) {
		full[rank - 2] = m;
		full[rank - 1] = k;
		a = ox_expand(l, a, rank, full);
		full[rank - 2] = k;
		full[rank - 1] = n;
		b = ox_expand(l, b, rank, full);
	}
	a = ox_reshape(l, a, 3, (int64_t[]){ outer, rows, k });
	b = ox_reshape(l, b, 3, (int64_t[]){ outer, k, n });
	int z = ox_op(l, WEFT_OP_MATMUL, &attr, (int[]){ a, b }, 2, product_type(s.dtype), 3, (int64_t[]){ outer, rows, n });
	return ox_reshape(l, z, rank, y);
}

/*
 * Emits the product of int32 matrices a [...,M,K] and b [...,K,N], both of rank 2 or more, modulo
 * 2^32: all products of elements in one tensor of one dimension more, then their sums; leading
 * dimensions broadcast. Returns the graph tensor, -EINVAL if the shapes do not fit or a rank is
 * above 7, or another negative errno. Unlike with other functions that build operators, neither a
 * nor b may be negative.
 */
static int wide_sums(struct ox *l, int a, int b)
{
	int64_t ad[WEFT_MAX_RANK], bd[WEFT_MAX_RANK], y[WEFT_MAX_RANK];
	weft_tensor s = *ox_t(l, a), t = *ox_t(l, b);
	int rank = s.rank > t.rank ? s.rank : t.rank;

	if (rank + 1 > WEFT_MAX_RANK || s.dim[s.rank - 1] != t.dim[t.rank - 2])
		return ox_fail(l, -EINVAL, "rows of %lld by columns of %lld", (long long)s.dim[s.rank - 1], (long long)t.dim[t.rank - 2]);
	for (int i = 0; i < rank; i++) {
		ad[i] = i < rank - s.rank ? 1 : s.dim[i - (rank - s.rank)];
		bd[i] = i < rank - t.rank ? 1 : t.dim[i - (rank - t.rank)];
	}
	ad[rank] = 1;
	bd[rank] = bd[rank - 1];
	bd[rank - 1] = bd[rank - 2];
	bd[rank - 2] = 1;
	b = ox_reshape(l, b, rank + 1, bd);
	a = ox_reshape(l, a, rank + 1, ad);
	int z = ox_reduce(l, WEFT_OP_REDUCE_SUM, ox_binary(l, WEFT_OP_MUL, a, b), rank - 1);
	if (z < 0)
		return z;
	memcpy(y, ox_t(l, z)->dim, sizeof y);
	y[rank - 1] = y[rank];
	return ox_reshape(l, z, rank, y);
}

/*
 * Emits the product of a and b, which have one type, as NumPy's matmul: a vector counts as a row
 * (a) or column (b), and the result does not have that dimension. The result has the operands'
 * type. Returns the graph tensor, -ENOTSUP for types other than int32, float32, float16, bfloat16
 * and float8, -EINVAL if types or shapes do not fit, an operand has rank 0 or one of int32 a rank
 * above 7, or another negative errno; a negative operand is returned as it is.
 */
static int matmul(struct ox *l, int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? a : b;
	bool row = ox_t(l, a)->rank == 1, column = ox_t(l, b)->rank == 1;
	weft_dtype t = ox_t(l, a)->dtype;

	if (ox_t(l, b)->dtype != t || !ox_t(l, a)->rank || !ox_t(l, b)->rank)
		return ox_fail(l, -EINVAL, "%s by %s", weft_dtype_name(t), weft_dtype_name(ox_t(l, b)->dtype));
	if (t != WEFT_INT32 && !weft_is_plain_float(t) && product_type(t) != WEFT_FP16)
		return ox_fail(l, -ENOTSUP, "products of %s", weft_dtype_name(t));
	if (row)
		a = ox_reshape(l, a, 2, (int64_t[]){ 1, ox_t(l, a)->dim[0] });
	if (column)
		b = ox_reshape(l, b, 2, (int64_t[]){ ox_t(l, b)->dim[0], 1 });
	int y = t == WEFT_INT32 && a >= 0 && b >= 0 ? wide_sums(l, a, b) : ox_matmul_sums(l, a, b);
	if (y < 0)
		return y;
	weft_tensor s = *ox_t(l, y);
	int64_t dim[WEFT_MAX_RANK];
	int rank = 0;
	for (int i = 0; i < s.rank; i++)
		if (!(row && i == s.rank - 2) && !(column && i == s.rank - 1))
			dim[rank++] = s.dim[i];
	return ox_cast(l, ox_reshape(l, y, rank, dim), t);
}

/*
 * Lowers MatMul of operands 0 and 1, as NumPy's matmul. Returns 0, -EINVAL if types or shapes do
 * not fit, -ENOTSUP for types that matmul() does not take, or another negative errno.
 */
int ox_matmul(struct ox *l)
{
	int b = ox_x(l, 1), a = ox_x(l, 0);

	return ox_result(l, 0, matmul(l, a, b), NULL, false);
}

/*
 * Lowers Gemm: alpha * A * B + beta * C of operands 0 to 2, with A and B transposed if transA and
 * transB say so; C may be absent, alpha and beta are 1 by default. Returns 0, -EINVAL if A or B has
 * a rank below 2 or shapes or types do not fit, -ENOTSUP if one has a higher rank or the type is
 * not taken, or another negative errno.
 */
int ox_gemm(struct ox *l)
{
	static const int8_t swap[WEFT_MAX_RANK] = { 1, 0 };
	int err = ox_need_rank(l, 0, 2, 2);

	if (err || (err = ox_need_rank(l, 1, 2, 2)))
		return err;
	int a = ox_get(l, ox_in(l, 0), ox_attr_i(l, "transA", 0) ? swap : NULL);
	int b = ox_get(l, ox_in(l, 1), ox_attr_i(l, "transB", 0) ? swap : NULL);
	int y = ox_scale(l, matmul(l, a, b), ox_attr_f(l, "alpha", 1));
	if (y >= 0 && ox_has(l, 2))
		y = ox_binary(l, WEFT_OP_ADD, y, ox_scale(l, ox_x(l, 2), ox_attr_f(l, "beta", 1)));
	return ox_result(l, 0, y, NULL, false);
}
