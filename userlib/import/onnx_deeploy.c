/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RequantShift of Deeploy's networks, whose tensors hold integers in float32:
 * (x * mul + add + div / 2) / div, cut to n_levels values, in integers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

/* An attribute that is a number, or a tensor of one. */
static bool number(struct ox *l, const char *name, double *v)
{
	const onnx_attribute *a = ox_attr(l, name);
	char why[160] = "";
	weft_tensor t;

	if (!a || (!a->t && !a->has_f && !a->has_i))
		return false;
	if (!a->t) {
		*v = a->has_f ? (double)a->f : (double)a->i;
		return true;
	}
	if (onnx_tensor_data(&l->f, a->t, &t, &l->room, why, sizeof why))
		return false;
	bool one = weft_tensor_elements(&t) == 1 && (t.dtype == WEFT_FP32 || t.dtype == WEFT_INT64 || t.dtype == WEFT_FP64);
	if (one)
		*v = t.dtype == WEFT_FP32 ? (double)*(float *)t.data : t.dtype == WEFT_FP64 ? *(double *)t.data : (double)*(int64_t *)t.data;
	free(t.data);
	return one;
}

/* Operand k as int32 with that rank. */
static int integers(struct ox *l, int k, int rank)
{
	struct ox_value *v = ox_in(l, k);
	int64_t dim[WEFT_MAX_RANK];

	if (!v)
		return l->err;
	if (v->t.rank > rank)
		return ox_fail(l, -EINVAL, "input %d has rank %d, input 0 has %d", k, v->t.rank, rank);
	for (int i = 0; i < rank; i++)
		dim[i] = i < rank - v->t.rank ? 1 : v->t.dim[i - (rank - v->t.rank)];
	return ox_cast(l, ox_reshape(l, ox_get(l, v, NULL), rank, dim), WEFT_INT32);
}

int ox_requant_shift(struct ox *l)
{
	double div = 0, levels = 0, is_signed = 0;
	int exponent, x[3];
	struct ox_value *v = ox_in(l, 0);

	if (!v)
		return l->err;
	if (!number(l, "div", &div) || !(number(l, "n_levels_out", &levels) || number(l, "n_levels", &levels)) || !number(l, "signed", &is_signed))
		return ox_fail(l, -EINVAL, "div, n_levels or signed is missing");
	if (!(div >= 1) || frexp(div, &exponent) != 0.5 || exponent > 63 || !(levels >= 2 && levels <= 0x1p30) || levels != rint(levels))
		return ox_fail(l, -ENOTSUP, "div %g, %g levels", div, levels);
	for (int k = 0; k < 3; k++)
		if ((x[k] = integers(l, k, v->t.rank)) < 0)
			return x[k];
	int32_t n = (int32_t)levels, low = is_signed != 0 ? -(n / 2) : 0;
	weft_attr a = { .requant_shift = { exponent - 1, low, low + n - 1 } };
	int y = ox_op(l, WEFT_OP_ONNX_REQUANT_SHIFT, &a, x, 3, WEFT_INT32, v->t.rank, v->t.dim);
	return ox_result(l, 0, y < 0 ? y : ox_cast(l, y, v->t.dtype), NULL, false);
}
