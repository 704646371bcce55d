/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales of quantised operators. A scale of 0, below 0, infinite or NaN has no meaning in any of
 * them, and each would do something else with it; files with one are refused when they are loaded.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "onnx_lower.h"

/* Which operands of an operator are scales: those listed, and from `every` on each third. -1: none. */
static const struct { const char *type; int8_t scale[3], every; } rules[] = {
	{ "QuantizeLinear", { 1, -1, -1 }, -1 }, { "DequantizeLinear", { 1, -1, -1 }, -1 },
	{ "QLinearConv", { 1, 4, 6 }, -1 }, { "QLinearMatMul", { 1, 4, 6 }, -1 }, { "QLinearAdd", { 1, 4, 6 }, -1 },
	{ "QLinearMul", { 1, 4, 6 }, -1 }, { "QGemm", { 1, 4, 7 }, -1 }, { "QLinearConcat", { 0, -1, -1 }, 3 },
	{ "QLinearSigmoid", { 1, 3, -1 }, -1 }, { "QLinearLeakyRelu", { 1, 3, -1 }, -1 },
	{ "QLinearAveragePool", { 1, 3, -1 }, -1 }, { "QLinearGlobalAveragePool", { 1, 3, -1 }, -1 },
	{ "QLinearReduceMean", { 1, 3, -1 }, -1 }, { "QLinearSoftmax", { 1, 3, -1 }, -1 }, { "QLinearWhere", { 2, 5, 7 }, -1 },
	{ "MatMulIntegerToFloat", { 2, 3, -1 }, -1 }, { "DynamicQuantizeMatMul", { 2, -1, -1 }, -1 },
};

/* Returns element i of t, a tensor of a float type that is_float() knows, as a double. */
static double element(const weft_tensor *t, int64_t i)
{
	uint16_t code;

	switch (weft_dtype_bytes(t->dtype)) {
	case 8: return ((const double *)t->data)[i];
	case 4: return (double)((const float *)t->data)[i];
	case 2: memcpy(&code, (const uint16_t *)t->data + i, sizeof code); return weft_float_decode(t->dtype, code);
	default: return weft_float_decode(t->dtype, ((const uint8_t *)t->data)[i]);
	}
}

/*
 * Says whether t is a float type that scales may have. Scales of other types are refused where the
 * operator is lowered.
 */
static bool is_float(weft_dtype t)
{
	return t == WEFT_FP32 || t == WEFT_FP64 || t == WEFT_FP16 || t == WEFT_BF16 || t == WEFT_FP8E8M0;
}

/*
 * Says whether the node at hand has scales that may be 0 or below it: those of blocks, for which ONNX Runtime's quantiser of 4 bits
 * gives the element that is farthest from 0 the code -8.
 */
static bool any_sign(const struct ox *l)
{
	return ox_node_is(l->n, "DequantizeLinear") && ox_attr_of(l->n, "block_size", 0) > 0;
}

/*
 * Checks that all elements of t, the data of operand k of the node at hand, are finite and, but for any_sign(), above 0,
 * if t is float64, float32, float16, bfloat16 or float8e8m0; tensors of other types pass. Returns
 * 0, or -EINVAL after ox_fail() with the first element that is not.
 */
static int check(struct ox *l, int k, const weft_tensor *t)
{
	for (int64_t i = 0, n = is_float(t->dtype) ? weft_tensor_elements(t) : 0; i < n; i++) {
		const double v = element(t, i);
		if (any_sign(l) && !isfinite(v))
			return ox_fail(l, -EINVAL, "scale \"%.60s\": element %lld is %g, finite wanted", l->n->input[k], (long long)i, v);
		if (!any_sign(l) && (!(v > 0) || isinf(v)))
			return ox_fail(l, -EINVAL, "scale \"%.60s\": element %lld is %g, finite and above 0 wanted", l->n->input[k], (long long)i, v);
	}
	return 0;
}

/*
 * Checks the elements of operand k of the node at hand if it is present and constant, in the file
 * or in the graph; else, and for types that are no floats, nothing is checked. The file's constant
 * is read into a copy that is freed again. Returns 0; or, after ox_fail(), -EINVAL if an element is
 * not as check() wants it, or what reading the constant gives.
 */
static int check_operand(struct ox *l, int k)
{
	struct ox_value *v = ox_raw(l, k);
	char why[WEFT_MSG - 100] = "";
	int64_t room = INT64_MAX;
	weft_tensor t;

	if (!v || (!v->init && (!v->n_forms || !ox_t(l, v->form[0].tensor)->data)))
		return 0;
	if (!v->init)
		return check(l, k, ox_t(l, v->form[0].tensor));
	/* A copy of its own, not a tensor of the graph: who lowers the node decides which it needs. */
	int err = is_float(v->t.dtype) ? onnx_tensor_data(&l->f, v->init, &t, &room, why, sizeof why) : 0;
	if (err)
		return ox_fail(l, err, "constant \"%.40s\": %s", v->name, why);
	if (!is_float(v->t.dtype))
		return 0;
	err = check(l, k, &t);
	free(t.data);
	return err;
}

/*
 * Checks the constant scales of the node at hand: the operands that `rules` lists for its operator
 * type, whatever its domain; other types have none. Returns 0; or, after ox_fail(), -EINVAL if an
 * element of one is not as check() wants it, or what reading a constant gives, such as -ENOMEM.
 */
int ox_check_scales(struct ox *l)
{
	int err = 0;

	for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
		if (!ox_node_is(l->n, rules[r].type))
			continue;
		for (int i = 0; i < 3 && !err; i++)
			if (rules[r].scale[i] >= 0)
				err = check_operand(l, rules[r].scale[i]);
		for (size_t k = (size_t)rules[r].every; rules[r].every > 0 && k < l->n->n_input && !err; k += 3)
			err = check_operand(l, (int)k);
	}
	return err;
}
