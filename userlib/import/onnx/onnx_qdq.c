/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QuantizeLinear behind deferred nodes: products with constant weights, sums and products
 * of two operands, averages, Concat and functions, perhaps with a Relu or Clip in between.
 * The nodes become integer operators here; onnx_qdq.h says how they come to be deferred.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_fixed_point.h"
#include "onnx_integer.h"

/* Returns the graph's node number i; NULL if i is below 0. */
static const onnx_node *node(const struct ox *l, int i)
{
	return i < 0 ? NULL : l->f.m->graph->node[i];
}

/* ---- products with constant weights ---- */

/*
 * Returns the DequantizeLinear that makes operand k of node n if that node waits and its own
 * operand is constant, else NULL.
 */
static const onnx_node *constants(const struct ox *l, const onnx_node *n, size_t k)
{
	struct ox_value *v = ox_operand(l, n, k);

	return v && v->pending >= 0 && v->dq >= 0 && v->carrier < 0 ? node(l, v->dq) : NULL;
}

/* Says whether node n's float attribute of that name is 1 or absent. */
static bool is_one(const onnx_node *n, const char *name)
{
	const onnx_attribute *a = ox_node_attr(n, name);

	return !a || (a->has_f && a->f == 1);
}

/*
 * Returns type and shape of operand k of node d if it is constant (a deferred node that makes it is
 * lowered first), else NULL.
 */
static const weft_tensor *constant(struct ox *l, const onnx_node *d, size_t k)
{
	struct ox_value *v = ox_operand(l, d, k);

	return v && ox_settle(l, v) >= 0 && ox_is_const_value(l, v) ? &v->t : NULL;
}

/*
 * Says whether DequantizeLinear d (NULL: no) gives weights that fold: a constant of int8, uint8 or
 * int4 and rank 2 or more, with a constant float32 scale, one for all or one for each index of that
 * axis, and no zero point or a constant one of the same type; output_dtype is absent or float32.
 * Deferred nodes that make these constants are lowered.
 */
static bool weights(struct ox *l, const onnx_node *d, int axis)
{
	const weft_tensor *w = d ? constant(l, d, 0) : NULL, *s = w ? constant(l, d, 1) : NULL;

	if (!s || (w->dtype != WEFT_INT8 && w->dtype != WEFT_UINT8 && w->dtype != WEFT_INT4) || s->dtype != WEFT_FP32 || s->rank > 1 ||
	    ox_attr_of(d, "output_dtype", 1) != 1 || w->rank < 2)
		return false;
	if (ox_operand(l, d, 2) && (!constant(l, d, 2) || constant(l, d, 2)->dtype != w->dtype || constant(l, d, 2)->rank > 1))
		return false;
	int64_t given = ox_attr_of(d, "axis", 1);
	return weft_tensor_elements(s) == 1 || (given < 0 ? given + w->rank : given) == axis;
}

/*
 * Returns element i of constant float32 value v, or its only element if it has just one. Returns 0
 * if there is no such element, and after a failure.
 */
static float real_at(struct ox *l, struct ox_value *v, int64_t i)
{
	int x = ox_get(l, v, NULL);

	int64_t n = x < 0 ? 0 : weft_tensor_elements(ox_t(l, x));

	return n == 0 || (n > 1 && i >= n) ? 0 : ((const float *)ox_t(l, x)->data)[n == 1 ? 0 : i];
}

/*
 * Says whether the bias of product n, whose input has parameters x and whose weights come from dw, folds. It does
 * if there is no bias; if it is a constant vector of int32 whose zero point is 0 and whose scale is x's times the
 * weights', within a millionth and for each channel for which these have one; or, with --requant rescale, if it is a
 * constant vector of float32. Deferred nodes that make these constants are lowered. If the bias is a constant of floats
 * that does not fold, l->note says so and l->note_node is the node at hand.
 */
static bool bias(struct ox *l, const onnx_node *n, const struct ox_q *x, const onnx_node *dw)
{
	const onnx_node *d = constants(l, n, 2);
	const weft_tensor *b = d ? constant(l, d, 0) : NULL, *s = b ? constant(l, d, 1) : NULL;
	struct ox_value *sw = ox_operand(l, dw, 1), *zp = d ? ox_operand(l, d, 2) : NULL;

	if (!ox_operand(l, n, 2))
		return true;
	if (!d && l->o.requant == WEFT_ONNX_REQUANT_RESCALE) {      /* floats, which round_bias() makes integers of */
		const weft_tensor *f = constant(l, n, 2);
		return f && f->dtype == WEFT_FP32 && f->rank == 1;
	}
	if (!d && constant(l, n, 2)) {
		l->note = "its bias is of floats; --requant rescale makes integers of it";
		l->note_node = l->i_node;
	}
	if (!s || b->dtype != WEFT_INT32 || b->rank != 1 || s->dtype != WEFT_FP32)
		return false;
	const int64_t n_s = weft_tensor_elements(s), n_sw = sw ? weft_tensor_elements(&sw->t) : 1;
	for (int64_t i = 0, k = n_s > n_sw ? n_s : n_sw; i < k; i++) {
		float want = (float)x->s * real_at(l, sw, i), have = real_at(l, ox_operand(l, d, 1), i);
		if (!(have >= want * 0.999999f && have <= want * 1.000001f))
			return false;
	}
	int z = zp ? ox_get(l, zp, NULL) : 0;
	for (int64_t i = 0, k = z > 0 ? weft_tensor_elements(ox_t(l, z)) : 0; i < k; i++)
		if (!ox_t(l, z)->data || ox_t(l, z)->dtype != WEFT_INT32 || ((const int32_t *)ox_t(l, z)->data)[i])
			return false;
	return z >= 0;
}

/*
 * Says whether product n, whose weights come from dw, has constant float8 weights and an input dequantised
 * from float8 (elements may have been moved since), --requant rescale is set, and it is a Conv, or a MatMul or
 * Gemm whose weights are a matrix and whose input has rank 2 or more, Gemm with transA 0 and alpha and beta 1.
 * Whether it then folds is decided at the QuantizeLinear behind it. A deferred node that makes the weights is
 * lowered.
 */
static bool float8_product(struct ox *l, const onnx_node *n, const onnx_node *dw)
{
	struct ox_value *x = ox_operand(l, n, 0);
	const weft_tensor *w = constant(l, dw, 0);
	weft_dtype t = x && x->carrier >= 0 && !x->depth ? l->values[x->carrier].t.dtype : 0;

	return l->o.requant == WEFT_ONNX_REQUANT_RESCALE && weft_is_float8(t) && w && weft_is_float8(w->dtype) && (ox_node_is(n, "Conv") || (w->rank == 2 && x->t.rank >= 2 &&
	       (ox_node_is(n, "MatMul") || (!ox_attr_of(n, "transA", 0) && is_one(n, "alpha") && is_one(n, "beta")))));
}

/* Says whether the operator's pads are those of its attribute pads: auto_pad is absent or NOTSET. */
static bool pads_given(const onnx_node *n)
{
	const onnx_attribute *a = ox_node_attr(n, "auto_pad");

	return !a || (a->s.len == 6 && !memcmp(a->s.data, "NOTSET", 6));
}

/*
 * Says whether TRANSPOSE_CONV2D can do ConvTranspose n of x with weights w: images or lines, one
 * group, no dilation, no output_shape, no auto_pad but NOTSET, less cut off on each side than the kernel is
 * long, and output_padding of at most 255.
 */
static bool plain_transpose(const onnx_node *n, const struct ox_side *x, const weft_tensor *w)
{
	const onnx_attribute *pads = ox_node_attr(n, "pads"), *grow = ox_node_attr(n, "output_padding");

	if ((x->v->t.rank != 3 && x->v->t.rank != 4) || w->rank != x->v->t.rank || ox_attr_of(n, "group", 1) != 1 ||
	    ox_node_attr(n, "output_shape") || !pads_given(n) || w->dim[0] != x->v->t.dim[1])
		return false;
	const onnx_attribute *d = ox_node_attr(n, "dilations");
	for (size_t i = 0; d && i < d->n_ints; i++)
		if (d->ints[i] != 1)
			return false;
	for (size_t i = 0; pads && i < pads->n_ints; i++)
		if (pads->ints[i] < 0 || pads->ints[i] >= w->dim[2 + i % (size_t)(w->rank - 2)])
			return false;
	for (size_t i = 0; grow && i < grow->n_ints; i++)
		if (grow->ints[i] < 0 || grow->ints[i] > 255)
			return false;
	return true;
}

/*
 * Sets *a and *b to the integers from which both operands of MatMul n were dequantised. Returns
 * whether both are of 8 bits (with --requant rescale, or both of 16), of rank 2 or more, and dequantised
 * directly with one constant scale each, as attention multiplies them; else *a and *b do not count.
 */
static bool tensor_pair(struct ox *l, const onnx_node *n, struct ox_side *a, struct ox_side *b)
{
	struct ox_value *x = ox_operand(l, n, 0), *y = ox_operand(l, n, 1);

	if (!x || !y || !ox_side_of(l, x, a) || !ox_side_of(l, y, b) || a->v->t.rank < 2 || b->v->t.rank < 2)
		return false;
	return (ox_is_8_bit(a->v) && ox_is_8_bit(b->v)) || (l->o.requant == WEFT_ONNX_REQUANT_RESCALE && ox_is_16_bit(a->v) && ox_is_16_bit(b->v));
}

/*
 * Emits x, int32, times the number z, both at most 2^16 times a power of two that is at most 2^down in magnitude, moved down by
 * `down` bits. Returns the graph tensor, or a negative errno; a negative x is returned as it is.
 */
static int times_zero(struct ox *l, int x, int32_t z, int down)
{
	return x < 0 ? x : ox_product(l, x, ox_ramp(l, WEFT_INT32, ox_t(l, x)->rank, z), down);
}

/*
 * Emits the sums of products of 16-bit codes a and b less their zero points. z has the int32 sums of the products of
 * the codes themselves, without their `down` lowest bits. What is taken off is the zero point of a times the sums of
 * b along its rows and the zero point of b times the sums of a along its columns, less both zero points times the
 * inner dimension; each of the three is rounded by itself. left and right are the tensors of codes in the file's
 * order. Returns the graph tensor, or a negative errno; a negative z is returned as it is.
 */
static int without_zeros(struct ox *l, int z, const struct ox_side *a, const struct ox_side *b, int left, int right, int down)
{
	const int32_t za = ox_q_zp(&a->q), zb = ox_q_zp(&b->q);
	const int64_t inner = a->v->t.dim[a->v->t.rank - 1];

	if (za) {
		int sums = ox_wide(l, right);
		sums = sums < 0 ? sums : ox_reduce(l, WEFT_OP_REDUCE_SUM, sums, ox_t(l, sums)->rank - 2);
		sums = ox_to_rank(l, times_zero(l, sums, za, down), z < 0 ? 0 : ox_t(l, z)->rank);
		z = ox_binary(l, WEFT_OP_SUB, z, sums);
	}
	if (zb) {
		int sums = ox_to_rank(l, times_zero(l, ox_row_sums(l, ox_wide(l, left)), zb, down), z < 0 ? 0 : ox_t(l, z)->rank);
		z = ox_binary(l, WEFT_OP_SUB, z, sums);
	}
	return za && zb ? ox_with(l, WEFT_OP_ADD, z, rint(ldexp((double)za * zb * (double)inner, -down))) : z;
}

/*
 * Emits the product of 16-bit codes a and b of a tensor_pair(), quantised with q of 16 bits. The exact sums of 48
 * bits lose as many of their lowest bits as int32 does not hold, what zero points contribute is taken off, and the
 * nearest RESCALE follows. The bits lost are less than 2^-6 of a step, or 2^-8 without zero points. Returns 1 with *y set, in the file's order of dimensions; 0 if q is
 * of 8 bits or the scales are not such that sums can be moved; or a negative errno.
 */
static int wide_pair(struct ox *l, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, struct ox_coded *y)
{
	static const weft_attr half_up = { .rescale = { .rounding = WEFT_SINGLE_ROUND } };
	const double real = a->q.s * b->q.s / q->s;
	struct ox_factor f;
	int down = ox_q_zp(&a->q) || ox_q_zp(&b->q) ? 2 : 0;      /* two bits more: differences have a bit more than codes */

	for (int64_t k = 1; k < a->v->t.dim[a->v->t.rank - 1]; k *= 2)
		down++;
	if (!ox_is_16_bit(q->zp) || down > 40 || !(ldexp(real, down) < 0x1p-7) || !ox_nearest(ldexp(real, down), 0x1p30, &f))
		return 0;
	const int left = ox_side_in(l, a->v, NULL), right = left < 0 ? left : ox_side_in(l, b->v, NULL);
	int z = right < 0 ? right : ox_matmul_sums(l, left, right);
	z = z < 0 ? z : ox_rescale_by(l, z, &half_up, 1 << 14, (int8_t)(14 + down), WEFT_INT32);
	z = without_zeros(l, z, a, b, left, right, down);
	ox_file_order(y->perm);
	return ox_coded_as(y, ox_rescale(l, z, WEFT_INT16, f, 0, ox_q_zp(q)));
}

/*
 * Says whether product n (Conv, ConvTranspose, Gemm or MatMul) can be computed in integers if its
 * result is quantised. It can if its input is dequantised, its weights() and bias() fold, and: of Conv always; of
 * ConvTranspose if plain_transpose() holds; of MatMul if the weights are a matrix and the input has rank 2 or more;
 * of Gemm if both are matrices, transA is 0, and alpha and beta are 1. So can a MatMul without constants if
 * tensor_pair() holds, and what float8_product() takes. Deferred nodes that make the constants are lowered, and
 * l->note may be set to a note about a float bias.
 */
bool ox_foldable(struct ox *l, const onnx_node *n)
{
	const onnx_node *dw = constants(l, n, 1);
	struct ox_side x, y;

	if (dw && n->n_input >= 2 && float8_product(l, n, dw))
		return true;
	if (!dw && n->n_input == 2 && ox_node_is(n, "MatMul"))
		return tensor_pair(l, n, &x, &y);
	if (!dw || n->n_input < 2 || !ox_side_of(l, ox_operand(l, n, 0), &x))
		return false;
	if (ox_node_is(n, "Conv"))
		return weights(l, dw, 0) && bias(l, n, &x.q, dw);
	if (ox_node_is(n, "ConvTranspose"))
		return weights(l, dw, 1) && plain_transpose(n, &x, constant(l, dw, 0)) && bias(l, n, &x.q, dw);
	bool turned = ox_node_is(n, "Gemm") && ox_attr_of(n, "transB", 0);
	if (!weights(l, dw, turned ? 0 : 1) || constant(l, dw, 0)->rank != 2 || x.v->t.rank < 2)
		return false;
	if (ox_node_is(n, "MatMul"))
		return true;
	return !ox_attr_of(n, "transA", 0) && is_one(n, "alpha") && is_one(n, "beta") && x.v->t.rank == 2 && bias(l, n, &x.q, dw);
}

/*
 * Sets *to to float bias b rounded to int32 (ties to even) in units of the sums, x's scale times the weights'
 * scale, and limited to +-2^30; NaN gives 0. A bias of one element becomes one for each of several scales. This changes
 * results slightly, so only --requant rescale allows it. Returns false after a failure.
 */
static bool round_bias(struct ox *l, struct ox_value *b, const struct ox_q *x, struct ox_value *scale, struct ox_value *to)
{
	const int64_t n_b = weft_tensor_elements(&b->t), n_s = weft_tensor_elements(&scale->t), n = n_b > n_s ? n_b : n_s;
	int32_t *p = ox_alloc(l, n, sizeof *p);

	for (int64_t i = 0; p && i < n; i++) {
		double v = rint((double)real_at(l, b, i) / (x->s * (double)real_at(l, scale, i)));
		p[i] = (int32_t)(v > 0x1p30 ? 0x1p30 : v < -0x1p30 ? -0x1p30 : v == v ? v : 0);
	}
	int t = ox_data(l, WEFT_INT32, 1, &n, p);
	if (t >= 0)
		*to = ox_held(l, "", t);
	return t >= 0;
}

/*
 * Replaces *v, if it is an int4 constant, by a value of its int8 form, which *wide holds; other
 * types and NULL stay. Returns 0 or a negative errno.
 */
static int widen(struct ox *l, struct ox_value **v, struct ox_value *wide)
{
	if (!*v || (*v)->t.dtype != WEFT_INT4)
		return 0;
	int x = ox_cast(l, ox_get(l, *v, NULL), WEFT_INT8);
	if (x < 0)
		return x;
	*wide = ox_held(l, "", x);
	*v = wide;
	return 0;
}

/*
 * Computes product n (Conv, ConvTranspose, Gemm or MatMul), whose result is quantised with q, as
 * integer sums and their requantisation. Its first operand is dequantised, the second a dequantised
 * constant or, of MatMul, the second of a tensor_pair(); a bias is a dequantised constant, or of
 * floats, which round_bias() makes integers. Returns 1 with *y set: channels last for convolutions,
 * else in the file's order of dimensions; 0 if operands are something else, only one of operand and
 * result has 16 bits, or 16 bits come with weights that int8 does not hold or in a ConvTranspose with sums that int32 does not; or a negative
 * errno. The node at hand (l->n) is the same afterwards; l->subst is NULL once the product has been
 * tried.
 */
int ox_fold_product(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	const onnx_node *outer = l->n, *dw = constants(l, n, 1), *db = constants(l, n, 2);
	bool transpose = ox_node_is(n, "ConvTranspose"), conv = transpose || ox_node_is(n, "Conv"), flip = false;
	struct ox_conv_call c = { 0 };
	struct ox_value turned, rounded, wide[2];
	struct ox_side x, b;

	bool pair = !dw && n->n_input == 2 && ox_node_is(n, "MatMul") && tensor_pair(l, n, &x, &b);
	if ((!dw && !pair) || !ox_side_of(l, ox_operand(l, n, 0), &x) || ox_is_16_bit(q->zp) != ox_is_16_bit(x.v))
		return 0;
	if (pair && ox_is_16_bit(x.v))
		return wide_pair(l, &x, &b, q, y);
	struct ox_product p = { .x = x.v, .x_zp = x.q.zp, .w = pair ? b.v : ox_operand(l, dw, 0), .w_zp = pair ? b.q.zp : ox_operand(l, dw, 2),
	                        .bias = db ? ox_operand(l, db, 0) : NULL, .x_axis = 1 };
	struct ox_scaling s = { .a = x.q.scale, .b = pair ? b.q.scale : ox_operand(l, dw, 1), .y = q->scale, .zp = q->zp, .b_axis = 1, .exact = transpose };
	if (!db && !pair && ox_operand(l, n, 2)) {
		if (!round_bias(l, ox_operand(l, n, 2), &x.q, s.b, &rounded))
			return l->err;
		p.bias = &rounded;
	}
	if ((!pair && ox_get(l, p.w, NULL) < 0) || (p.w_zp && ox_get(l, p.w_zp, NULL) < 0))
		return l->err;
	if (widen(l, &p.w, &wide[0]) < 0 || widen(l, &p.w_zp, &wide[1]) < 0)
		return l->err;
	l->n = n;                        /* its attributes */
	if (ox_attr_of(n, "transB", 0) && ox_node_is(n, "Gemm")) {
		turned = ox_turned(l, p.w);
		if (!turned.n_forms) {
			l->n = outer;
			return l->err;
		}
		p.w = &turned;
	}
	if (ox_is_16_bit(x.v) && !ox_int8_holds(l, &p, conv ? p.w->t.rank : 1)) {
		l->n = outer;
		return l->err;
	}
	l->subst[0] = p.x;
	l->subst[1] = p.w;
	int err = conv && !transpose ? ox_conv_shapes(l, 1, &c) : 0;
	int z = err ? err : transpose ? ox_transpose_product(l, &p) : conv ? ox_conv_product(l, &p, &c) : ox_matmul_product(l, &p);
	l->subst[0] = l->subst[1] = NULL;
	if (!z) {
		l->n = outer;
		return 0;
	}
	if (z > 0)
		z = ox_requant(l, z, &s, conv ? ox_conv_most(l, &p, transpose) : ox_matmul_most(l, &p), &flip);
	l->n = outer;                    /* of a failure, too: the caller may lower the node at hand otherwise */
	ox_file_order(y->perm);
	if (conv)
		ox_channels_last(x.v->t.rank, y->perm);
	/* ONNX_REQUANT gives unsigned codes as they are */
	return ox_coded_as(y, z >= 0 && q->flip && !flip ? ox_flip_sign(l, z, ox_signed(q->zp->t.dtype)) : z);
}

/* ---- Concat ---- */

/*
 * Returns constant v quantised with q, in the signed form, as a new constant in the
 * file's order of dimensions; the float constant stays. A deferred node that makes v is lowered
 * first. Returns 0 if v is not float32, has no data, or has 2^31 elements or more, or a negative
 * errno.
 */
static int constant_codes(struct ox *l, struct ox_value *v, const struct ox_q *q)
{
	int x = ox_settle(l, v) < 0 ? l->err : ox_get(l, v, NULL);

	if (x < 0 || ox_t(l, x)->dtype != WEFT_FP32 || !ox_t(l, x)->data)
		return x < 0 ? x : 0;
	const weft_tensor t = *ox_t(l, x);
	const weft_dtype to = ox_signed(q->zp->t.dtype);
	const int64_t n = weft_tensor_elements(&t);
	int32_t *codes = n > INT32_MAX ? NULL : ox_alloc(l, n, sizeof *codes);
	uint8_t *data = codes ? ox_alloc(l, n, weft_dtype_bytes(to)) : NULL;
	bool done = data && ox_quantised(l, x, q, codes, (int)n);

	for (int64_t i = 0; i < n && done; i++) {
		if (to == WEFT_INT16)
			((int16_t *)(void *)data)[i] = (int16_t)codes[i];
		else
			((int8_t *)data)[i] = (int8_t)codes[i];
	}
	if (codes)
		l->room += n * (int64_t)sizeof *codes;
	free(codes);
	if (!done) {
		if (data)
			l->room += n * (int64_t)weft_dtype_bytes(to);
		free(data);
		return n > INT32_MAX ? 0 : l->err ? l->err : -ENOMEM;
	}
	return ox_data(l, to, t.rank, t.dim, data);
}

/*
 * Makes the codes, quantised with q, of v: by ox_map() if it is a function of codes, else of a constant.
 * Returns 1 with *y set, 0 if v is neither, or a negative errno.
 */
static int codes_of(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_coded *y)
{
	if (v->carrier >= 0)
		return ox_map(l, v, q, y);
	y->tensor = constant_codes(l, v, q);
	ox_file_order(y->perm);
	return y->tensor <= 0 ? y->tensor : 1;
}

/*
 * Computes Concat n of operands that are constants or functions of quantised values, whose result
 * is quantised with q: each is mapped by itself with ox_map(), or quantised if it is constant,
 * brought to the first one's order of dimensions, then they are joined. Returns 1 with *y set, in
 * the first one's order; 0 if an operand cannot be mapped or there are none or more than 65; or a
 * negative errno, -EINVAL if ranks differ or the axis is wrong. Operators made for the first
 * operands stay in the graph if a later one cannot be mapped.
 */
int ox_fold_concat(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	int x[WEFT_OP_MAX_INPUTS], rank = 0;
	struct ox_coded part;

	if (n->n_input > WEFT_OP_MAX_INPUTS || !n->n_input)
		return 0;
	for (size_t k = 0; k < n->n_input; k++) {
		struct ox_value *v = ox_operand(l, n, k);
		int done = codes_of(l, v, q, &part);

		if (done <= 0)
			return done;
		if (k && v->t.rank != rank)
			return ox_fail(l, -EINVAL, "ranks %d and %d", rank, v->t.rank);
		rank = v->t.rank;
		if (!k)
			memcpy(y->perm, part.perm, sizeof y->perm);
		x[k] = k ? ox_reorder(l, part.tensor, part.perm, y->perm) : part.tensor;
	}
	const onnx_attribute *a = ox_node_attr(n, "axis");
	int axis = ox_axis(l, a && a->has_i ? a->i : l->opset < 4 ? 1 : INT32_MAX, rank);
	if (axis < 0)
		return axis;
	for (int i = 0; i < rank; i++)
		if (y->perm[i] == axis) {
			axis = i;
			break;
		}
	return ox_coded_as(y, ox_concat(l, x, (int)n->n_input, axis));
}

/*
 * Computes Where n, which chooses between functions of quantised values and constants, and whose result is
 * quantised with q: between their codes. Returns 1 with *y set, in the file's order of dimensions; 0 if an
 * operand cannot be mapped; or a negative errno.
 */
static int fold_where(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_value *choice = ox_operand(l, n, 0);
	int x[3] = { choice && ox_settle(l, choice) >= 0 ? ox_get(l, choice, NULL) : l->err };
	struct ox_coded part;

	ox_file_order(y->perm);
	for (size_t k = 1; k < 3 && x[0] >= 0; k++) {
		const int done = codes_of(l, ox_operand(l, n, k), q, &part);

		if (done <= 0)
			return done;
		x[k] = ox_reorder(l, part.tensor, part.perm, y->perm);
	}
	return ox_coded_as(y, x[0] < 0 ? x[0] : ox_select(l, x[0], x[1], x[2]));
}

/* ---- QuantizeLinear ---- */

/*
 * Sets *q to scale and zero point of the QuantizeLinear at hand, whose type is the zero point's
 * (without one: output_dtype's, else uint8). Deferred nodes that make the two are lowered first.
 * Returns true; or false if such a node cannot be lowered (l->err is set), the two are not constant
 * single numbers, attribute precision is set, the type has neither 8 nor 16 bits, or output_dtype
 * contradicts the zero point. *q is then of no use.
 */
static bool read_q(struct ox *l, struct ox_q *q)
{
	struct ox_value *scale = ox_raw(l, 1), *zp = ox_raw(l, 2);
	int64_t to = ox_attr_i(l, "output_dtype", 0);

	if (!scale || ox_settle(l, scale) < 0 || (zp && ox_settle(l, zp) < 0) || ox_attr_i(l, "precision", 0))
		return false;
	weft_dtype t = zp ? zp->t.dtype : to ? onnx_dtype(to) : WEFT_UINT8;
	return (ox_signed(t) == WEFT_INT8 || ox_signed(t) == WEFT_INT16) && (!to || onnx_dtype(to) == t) && ox_q_read(l, scale, zp, t, q);
}

/*
 * Sets *out to a limit of Clip node n: its operand k, which has to be one constant float32, or without that
 * its attribute of that name. If both are absent, *out is unchanged. Returns false if the operand is
 * something else.
 */
static bool limit(struct ox *l, const onnx_node *n, size_t k, const char *name, float *out)
{
	const onnx_attribute *a = ox_node_attr(n, name);
	struct ox_value *v = ox_operand(l, n, k);
	int x;

	if (a)
		*out = a->f;
	if (v) {
		if (!ox_is_const_value(l, v) || weft_tensor_elements(&v->t) != 1 || v->t.dtype != WEFT_FP32 || (x = ox_get(l, v, NULL)) < 0)
			return false;
		*out = *(const float *)ox_t(l, x)->data;
	}
	return true;
}

/*
 * Sets lim[0] and lim[1] to the codes that the limits of node n, a Relu (0 and the greatest
 * float32) or Clip, have with q, in the signed form. Since QuantizeLinear is monotonic,
 * limiting codes to them gives the same result. Returns false if a limit is no constant float32
 * number, min is above max, or after a failure.
 */
static bool code_limits(struct ox *l, const onnx_node *n, const struct ox_q *q, int32_t *lim)
{
	static const int64_t two = 2;
	bool clip = ox_node_is(n, "Clip");
	float *p = ox_alloc(l, 2, sizeof *p);

	if (!p)
		return false;
	p[0] = clip ? -0x1.fffffep127f : 0;
	p[1] = 0x1.fffffep127f;
	if (clip && (!limit(l, n, 1, "min", &p[0]) || !limit(l, n, 2, "max", &p[1]) || !(p[0] <= p[1]))) {
		l->room += 2 * (int64_t)sizeof *p;
		free(p);
		return false;
	}
	return ox_quantised(l, ox_data(l, WEFT_FP32, 1, &two, p), q, lim, 2);
}

/*
 * Computes node n, which waits and whose result is quantised with q, in integers: a Concat, product, average,
 * Resize, Softmax, BatchNormalization or LayerNormalization by its own function. Any other node of two dequantised
 * values, one of which may be a constant, is a product (Mul), a difference (Sub) or else a sum, which ox_fold_pair()
 * computes; if it cannot, and exact results are wanted, ox_fold_channels() may. What is left goes to ox_fold_between(). Returns 1 with *y set; 0 if it cannot be done so, and with --requant runtime
 * always for BatchNormalization, AveragePool, GlobalAveragePool, Resize, ReduceSum and results of 16 bits; or a negative errno.
 */
static int fold_node(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_side a, b;

	/*
	 * Float32 holds neither the sums nor the steps of int16, so that the runtime's own order of additions counts; averages of
	 * few elements, also those between pixels, are ties often.
	 */
	if (l->o.requant == WEFT_ONNX_REQUANT_RUNTIME &&
	    (ox_is_16_bit(q->zp) || ox_node_is(n, "BatchNormalization") || ox_node_is(n, "AveragePool") || ox_node_is(n, "GlobalAveragePool") || ox_node_is(n, "Resize") ||
	     ox_node_is(n, "ReduceSum")))
		return 0;
	if (ox_node_is(n, "Concat"))
		return ox_fold_concat(l, n, q, y);
	if (ox_node_is(n, "Where"))
		return fold_where(l, n, q, y);
	if (ox_node_is(n, "BatchNormalization"))
		return ox_fold_channels(l, n, q, y);
	if (ox_node_is(n, "Conv") || ox_node_is(n, "ConvTranspose") || ox_node_is(n, "Gemm") || ox_node_is(n, "MatMul"))
		return ox_fold_product(l, n, q, y);
	if (ox_node_is(n, "AveragePool") || ox_node_is(n, "GlobalAveragePool") || ox_node_is(n, "ReduceMean") || ox_node_is(n, "ReduceSum")) {
		const int done = ox_fold_average(l, n, q, y);
		return done ? done : ox_fold_fine(l, n, q, y);
	}
	if (ox_node_is(n, "PRelu") && !ox_function_of(l, n))
		return ox_fold_fine(l, n, q, y);
	if (ox_node_is(n, "Resize"))
		return ox_fold_resize(l, n, q, y);
	if (ox_node_is(n, "Softmax"))
		return ox_fold_softmax(l, n, q, y);
	if (ox_node_is(n, "LayerNormalization") || ox_node_is(n, "InstanceNormalization") || ox_node_is(n, "GroupNormalization"))
		return ox_fold_norm(l, n, q, y);
	if (ox_node_is(n, "Div") || !ox_operand(l, n, 0) || !ox_operand(l, n, 1) || !ox_side_or_constant(l, ox_operand(l, n, 0), &a) ||
	    !ox_side_or_constant(l, ox_operand(l, n, 1), &b))
		return ox_fold_between(l, n, q, y);
	int done = ox_fold_pair(l, ox_node_is(n, "Mul") ? WEFT_OP_MUL : ox_node_is(n, "Sub") ? WEFT_OP_SUB : WEFT_OP_ADD, &a, &b, q, false, y);
	if (!done && l->o.requant == WEFT_ONNX_REQUANT_EXACT)
		done = ox_fold_channels(l, n, q, y);
	return done ? done : ox_fold_fine(l, n, q, y);
}

/*
 * Makes result 0 of the QuantizeLinear at hand from the waiting product that gives v, perhaps with
 * a Relu in between, in float8, if --requant rescale is set and ox_fold_float8() can do it; a
 * deferred node that makes the zero point is lowered. Returns 1 if that is done; 0 if not, also for
 * saturate 0, a precision or a zero point that cannot be lowered; or a negative errno.
 */
static int fold_float8(struct ox *l, struct ox_value *v)
{
	struct ox_value *zp = ox_raw(l, 2), *scale = ox_raw(l, 1), *inner;
	const onnx_node *n = node(l, v->pending);
	int64_t to = ox_attr_i(l, "output_dtype", 0);
	struct ox_coded y;
	bool relu = n && ox_node_is(n, "Relu");

	if (l->o.requant != WEFT_ONNX_REQUANT_RESCALE || v->carrier >= 0 || v->dq >= 0 || !n || !scale || ox_attr_i(l, "saturate", 1) != 1 ||
	    ox_attr_i(l, "precision", 0) || (zp && ox_settle(l, zp) < 0))
		return 0;
	if (relu) {
		inner = ox_operand(l, n, 0);
		n = inner && inner->pending >= 0 && inner->dq < 0 ? node(l, inner->pending) : NULL;
	}
	if (!n || (!ox_node_is(n, "Conv") && !ox_node_is(n, "Gemm") && !ox_node_is(n, "MatMul")))
		return 0;
	int done = ox_fold_float8(l, n, scale, zp ? zp->t.dtype : onnx_dtype(to), relu, &y);
	if (done <= 0)
		return done;
	int err = ox_result(l, 0, y.tensor, y.perm, false);
	return err < 0 ? err : 1;
}

/*
 * Computes v, which node n gives, quantised with q, if n is a Relu or Clip whose limits are constant: the
 * operand's codes are limited. Returns 1 with *y set, 0 if that cannot be done in integers, or a negative errno.
 */
static int fold_limited(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_value *inner = ox_operand(l, n, 0);
	int32_t lim[2];

	if (!inner || inner->pending < 0 || !code_limits(l, n, q, lim))
		return 0;
	int done = ox_fold_value(l, inner, q, y);
	if (done > 0)
		y->tensor = ox_clamp_codes(l, y->tensor, lim[0], lim[1]);
	return done > 0 && y->tensor < 0 ? y->tensor : done;
}

/*
 * Computes value v, quantised with q, in integers: of a function of codes a map of them, else the deferred node
 * that gives it, perhaps with a Relu or Clip or moves of elements behind it. Returns 1 with
 * *y set, 0 if it cannot be done so, or a negative errno.
 */
int ox_fold_value(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_coded *y)
{
	struct ox_coded x;

	if (v->carrier >= 0)
		return ox_map(l, v, q, y);
	const int at = v->pending;
	const onnx_node *n = node(l, at);
	if (!n || v->dq >= 0)
		return 0;                       /* constants: golden folds them */
	if (ox_node_is(n, "Relu") || ox_node_is(n, "Clip"))
		return fold_limited(l, n, q, y);
	if (!ox_moves(n))
		return fold_node(l, n, q, y);
	struct ox_value *inner = ox_operand(l, n, 0);
	int done = inner && (inner->pending >= 0 || inner->carrier >= 0) ? ox_fold_value(l, inner, q, &x) : 0;
	return done > 0 ? ox_move_codes(l, at, &x, q, y) : done;
}

/* Says whether both have the same scale, zero point and type. */
static bool same_parameters(const struct ox_q *a, const struct ox_q *b)
{
	return a->s == b->s && a->z == b->z && a->zp->t.dtype == b->zp->t.dtype;
}

/*
 * Makes the result of the QuantizeLinear at hand, with parameters q, that of an earlier one of the same deferred value v
 * with the same parameters, if several nodes read v and such a node was lowered. Returns 1 if that is done, 0 if not,
 * or a negative errno.
 */
static int quantised_before(struct ox *l, const struct ox_value *v, const struct ox_q *q)
{
	const onnx_node *outer = l->n;

	for (int i = 0; v->n_uses > 1 && v->carrier < 0 && i < l->i_node; i++) {
		const onnx_node *n = node(l, i);
		struct ox_q other;

		if (!ox_node_is(n, "QuantizeLinear") || ox_operand(l, n, 0) != v)
			continue;
		const int at = ox_value_find(l, n->output[0]);
		l->n = n;
		const bool same = read_q(l, &other) && same_parameters(&other, q);
		l->n = outer;
		if (same && at >= 0 && l->values[at].n_forms)
			return ox_alias(l, &l->values[at], NULL) < 0 ? l->err : 1;
	}
	return 0;
}

/*
 * Makes the result of the QuantizeLinear at hand without floats: of a value that is a function of codes as a
 * map of codes, else from the deferred node that gives its operand, perhaps with a Relu or Clip at the end; in
 * integers, or in float8 if that is its zero point's type. Returns 1 if that is done, 0 if the node has to be
 * lowered in floats, or a negative errno.
 */
int ox_fold_qdq(struct ox *l)
{
	struct ox_value *v = ox_raw(l, 0);
	struct ox_coded y;
	struct ox_q q;

	if (!v || v->init || (v->carrier < 0 && v->pending < 0))
		return 0;
	if (!read_q(l, &q))
		return fold_float8(l, v);
	int done = quantised_before(l, v, &q);
	if (done)
		return done;
	done = ox_fold_value(l, v, &q, &y);
	if (done <= 0)
		return done;
	int err = ox_result(l, 0, y.tensor, y.perm, q.flip);
	if (err >= 0 && v->carrier >= 0 && l->values[v->carrier].n_forms && l->values[v->carrier].form[0].tensor == y.tensor)
		l->values[ox_value_find(l, l->n->output[0])].flat = l->values[v->carrier].flat;
	return err < 0 ? err : 1;
}
