/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QDQ in float8, with --requant rescale. A DequantizeLinear, a Conv, Gemm or MatMul,
 * perhaps a Relu, and a QuantizeLinear become a product of float8 with sums in fp16, an
 * fp16 bias, CLAMP and CAST, which the device has.
 *
 * Each scale has to be a power of two; the exponents together are log2_scale. The
 * file's float32 sum is rounded once, to float8; here the sum is rounded to fp16
 * first, so that results may differ if it lies near a tie.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "onnx_integer.h"
#include "onnx_qdq.h"

/*
 * Returns the elements of constant float32 value v, which the graph owns, and sets *n to their
 * number; a node on which v waits is lowered first. Returns NULL if v is NULL, not constant or not
 * float32, or after a failure.
 */
static const float *floats(struct ox *l, struct ox_value *v, int64_t *n)
{
	if (!v || ox_settle(l, v) < 0 || !ox_is_const_value(l, v) || v->t.dtype != WEFT_FP32)
		return NULL;
	int x = ox_get(l, v, NULL);
	*n = x < 0 ? 0 : weft_tensor_elements(ox_t(l, x));
	return x < 0 ? NULL : ox_t(l, x)->data;
}

/*
 * Sets *e so that all elements of constant float32 value v are 2^*e; a node on which v waits is
 * lowered first. Returns true; or false, with *e of no use, if v is NULL, not constant, not float32
 * or empty, its elements are not all the same power of two, or after a failure.
 */
static bool power(struct ox *l, struct ox_value *v, int *e)
{
	int64_t n;
	const float *s = floats(l, v, &n);

	for (int64_t i = 0; s && i < n; i++)
		if (s[i] != s[0])
			return false;
	if (!s || !n || !(s[0] > 0) || frexpf(s[0], e) != 0.5f)
		return false;
	*e -= 1;
	return true;
}

/*
 * Returns the float8 value from which operand k of node n was dequantised, perhaps with elements
 * moved behind it, and sets *e so that its scale is 2^*e; a node on which the scale waits is
 * lowered. Returns NULL, with *e of no use, if operand k is no result of a DequantizeLinear that is
 * still pending, its source is not float8, or its scales are not all one power of two.
 */
static struct ox_value *dequantised(struct ox *l, const onnx_node *n, size_t k, int *e)
{
	struct ox_value *v = ox_operand(l, n, k);
	const onnx_node *d = v && v->pending >= 0 && v->dq >= 0 ? l->f.m->graph->node[v->dq] : NULL;
	struct ox_value *x = !d ? NULL : v->carrier >= 0 ? &l->values[v->carrier] : ox_operand(l, d, 0);   /* moved on the way, or weights */

	return x && weft_is_float8(x->t.dtype) && power(l, ox_operand(l, d, 1), e) ? x : NULL;
}

/*
 * Adds an fp16 constant with node n's bias, operand 2, divided by 2^e: one element for each of the
 * `channels`, or a single 0 if there is no bias. Returns the graph tensor, -ENOTSUP without a
 * message if the bias is no constant float32 vector of that length, or another negative errno.
 */
static int bias(struct ox *l, const onnx_node *n, int64_t channels, int e)
{
	int64_t count = 1;
	struct ox_value *v = ox_operand(l, n, 2);
	const float *b = floats(l, v, &count);

	if (v && (!b || v->t.rank != 1 || count != channels))
		return -ENOTSUP;
	float *p = ox_alloc(l, v ? channels : 1, sizeof *p);
	for (int64_t i = 0; p && b && i < channels; i++)
		p[i] = (float)ldexp((double)b[i], -e);
	count = v ? channels : 1;
	return ox_cast(l, ox_data(l, WEFT_FP32, 1, &count, p), WEFT_FP16);
}

/*
 * Emits the sums of the matrix product n, the node at hand (Gemm with or without transB, or
 * MatMul), of float8 x and w, with the shape of the product, by a convolution with a kernel of 1 by
 * 1. If x is made of a tensor in another order (x->flat) and w is constant, w is put into that
 * order and x needs no transpose. c holds the bias and log2_scale; the rest of it is filled in
 * here. Returns the graph tensor, -EINVAL if the matrices do not fit, or another negative errno.
 */
static int matrix(struct ox *l, const onnx_node *n, struct ox_conv_call *c, struct ox_value *x, struct ox_value *w)
{
	static const int8_t swap[WEFT_MAX_RANK] = { 1, 0, 2, 3, 4, 5, 6, 7 };
	bool turned = ox_node_is(n, "Gemm") && ox_attr_i(l, "transB", 0);
	int codes = ox_get(l, w, turned ? NULL : swap);
	int64_t k = x->t.dim[x->t.rank - 1], rows = k ? weft_tensor_elements(&x->t) / k : 0, oc = codes < 0 ? 0 : ox_t(l, codes)->dim[0], y[WEFT_MAX_RANK];

	if (codes < 0 || ox_t(l, codes)->dim[1] != k)
		return codes < 0 ? codes : ox_fail(l, -EINVAL, "rows of %lld by columns of %lld", (long long)k, (long long)ox_t(l, codes)->dim[1]);
	c->win = (struct ox_window){ .n = 2, .kernel = { 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 }, .out = { 1, 1 } };
	c->group = 1;
	int in = ox_get(l, x, NULL);
	if (x->flat.rank && ox_t(l, x->flat.form.tensor)->dtype == x->t.dtype && ox_t(l, codes)->data) {
		codes = ox_turned_weights(l, x, codes);
		in = x->flat.form.tensor;
	}
	c->x = ox_reshape(l, in, 4, (int64_t[]){ rows, 1, 1, k });
	c->w = ox_reshape(l, codes, 4, (int64_t[]){ oc, 1, 1, k });
	for (int i = 0; i < x->t.rank; i++)
		y[i] = i + 1 < x->t.rank ? x->t.dim[i] : oc;
	return ox_reshape(l, ox_conv_sums(l, c), x->t.rank, y);
}

/*
 * Computes product n (Conv, Gemm or MatMul) of dequantised float8 operands, quantised to float8
 * type `to` with the given scale, as one convolution in float8 with sums in fp16; relu says whether
 * a Relu stands in between. Returns 1 with *y set to the float8 tensor, channels last for a Conv,
 * else in the file's order of dimensions. Returns 0 if a scale is no power of two, an operand or
 * `to` is no float8, or the weights have fewer than 2 or more than 4 dimensions, since CONV3D takes
 * no exponent; also, with l->err cleared, if the bias is no constant vector of the channels' number
 * or the exponent of the scales together is not -32 to 31. Otherwise returns a negative errno. The
 * node at hand is the same afterwards; l->subst is NULL once the product has been tried.
 */
int ox_fold_float8(struct ox *l, const onnx_node *n, struct ox_value *scale, weft_dtype to, bool relu, struct ox_coded *y)
{
	const onnx_node *outer = l->n;
	bool conv = ox_node_is(n, "Conv");
	struct ox_conv_call c = { 0 };
	int ex, ew, ey, sums;
	struct ox_value *x = dequantised(l, n, 0, &ex), *w = dequantised(l, n, 1, &ew);

	if (!x || !w || !power(l, scale, &ey) || !weft_is_float8(to) || ox_get(l, w, NULL) < 0 || w->t.rank < 2 || w->t.rank > 4)
		return 0;
	c.log2_scale = ex + ew - ey;
	c.bias = bias(l, n, w->t.dim[conv || (ox_node_is(n, "Gemm") && ox_attr_of(n, "transB", 0)) ? 0 : 1], ey);
	if (c.log2_scale < -32 || c.log2_scale > 31 || c.bias < 0) {
		l->err = 0;
		return 0;
	}
	l->n = n;
	l->subst[0] = x;
	l->subst[1] = w;
	ox_file_order(y->perm);
	int err = conv ? ox_conv_shapes(l, 1, &c) : 0;
	if (conv) {
		ox_channels_last(x->t.rank, y->perm);
		c.x = ox_get(l, x, y->perm);
		c.w = ox_get(l, w, y->perm);
	}
	sums = err ? err : conv ? ox_conv_sums(l, &c) : matrix(l, n, &c, x, w);
	l->subst[0] = l->subst[1] = NULL;
	l->n = outer;
	if (sums < 0)
		return sums;
	if (relu) {
		weft_attr a = { .clamp = { .fmin = 0, .fmax = 65504, .nan = WEFT_NAN_PROPAGATE } };
		weft_tensor t = *ox_t(l, sums);
		sums = ox_before_reshape(l, sums);
		sums = ox_reshape(l, ox_op(l, WEFT_OP_CLAMP, &a, &sums, 1, WEFT_FP16, ox_t(l, sums)->rank, ox_t(l, sums)->dim), t.rank, t.dim);
	}
	if (sums < 0)
		return sums;
	weft_tensor t = *ox_t(l, sums);
	return ox_coded_as(y, ox_reshape(l, ox_cast(l, ox_before_reshape(l, sums), to), t.rank, t.dim));
}
