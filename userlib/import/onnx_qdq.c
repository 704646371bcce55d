/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QDQ: DequantizeLinear, Conv or Gemm or MatMul, perhaps Relu, QuantizeLinear.
 *
 * Scales and zero points are constants of the file, one number each but for the
 * weights'. The QuantizeLinear then does it all in integers; the nodes before
 * it do nothing. The bias is int32, dequantised by x's scale times the weights'.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_integer.h"

static const onnx_node *node(const struct ox *l, int i)
{
	return i < 0 ? NULL : l->f.m->graph->node[i];
}

static struct ox_value *value(const struct ox *l, const char *name)
{
	int i = *name ? ox_value_find(l, name) : -1;

	return i < 0 ? NULL : &l->values[i];
}

static const onnx_node *maker(const struct ox *l, const char *name, const char *type)
{
	struct ox_value *v = value(l, name);
	const onnx_node *n = v ? node(l, v->maker) : NULL;

	return n && !strcmp(n->op_type, type) ? n : NULL;
}

static int64_t init_elements(const struct ox *l, const char *name)
{
	struct ox_value *v = value(l, name);
	int64_t n = 1;

	if (!v || !v->init)
		return 0;
	for (size_t i = 0; i < v->init->n_dims; i++)
		n = v->init->dims[i] >= 0 && v->init->dims[i] < 1 << 20 && n < 1 << 20 ? n * v->init->dims[i] : 0;
	return n;
}

static bool int8_init(const struct ox *l, const char *name)
{
	struct ox_value *v = value(l, name);

	return v && v->init && (v->init->data_type == 2 || v->init->data_type == 3);
}

/* One constant scale and zero point of 8 bits. */
static bool plain(const struct ox *l, const onnx_node *q)
{
	return q->n_input == 3 && init_elements(l, q->input[1]) == 1 && init_elements(l, q->input[2]) == 1 &&
	       int8_init(l, q->input[2]);
}

/* The DequantizeLinear behind operand k, if it may go. */
static const onnx_node *dequantized(const struct ox *l, const onnx_node *n, size_t k)
{
	return k < n->n_input ? maker(l, n->input[k], "DequantizeLinear") : NULL;
}

/* Read by one node only, and no output. */
static bool private(const struct ox *l, const char *name)
{
	struct ox_value *v = value(l, name);

	return v && !v->is_output && v->n_uses == 1;
}

static bool attribute_is(const onnx_node *n, const char *name, int64_t i, float f)
{
	for (size_t k = 0; k < n->n_attribute; k++) {
		const onnx_attribute *a = n->attribute[k];

		if (a->name && !strcmp(a->name, name))
			return a->has_f ? a->f == f : a->i == i;
	}
	return true;
}

static bool weights(const struct ox *l, const onnx_node *n, int axis)
{
	const onnx_node *d = dequantized(l, n, 1);
	struct ox_value *w = d ? value(l, d->input[0]) : NULL;

	if (!d || d->n_input < 2 || !w || !w->init || !int8_init(l, d->input[0]) || !init_elements(l, d->input[1]))
		return false;
	if (d->n_input > 2 && *d->input[2] && !int8_init(l, d->input[2]))
		return false;
	if (init_elements(l, d->input[1]) > 1 && attribute_is(d, "axis", axis, 0) == false)
		return false;
	/* Absent means axis 1. */
	bool has_axis = false;
	for (size_t k = 0; k < d->n_attribute; k++)
		has_axis = has_axis || (d->attribute[k]->name && !strcmp(d->attribute[k]->name, "axis"));
	return init_elements(l, d->input[1]) == 1 || has_axis || axis == 1;
}

static bool bias(const struct ox *l, const onnx_node *n)
{
	if (n->n_input < 3 || !*n->input[2])
		return true;
	const onnx_node *d = dequantized(l, n, 2);
	struct ox_value *b = d ? value(l, d->input[0]) : NULL;

	return b && b->init && b->init->data_type == 6 && b->init->n_dims == 1 && d->n_input >= 2;
}

static bool foldable(const struct ox *l, const onnx_node *n)
{
	const onnx_node *x = dequantized(l, n, 0);
	struct ox_value *w;

	if (!x || !plain(l, x) || n->n_input < 2)
		return false;
	if (!strcmp(n->op_type, "Conv"))
		return weights(l, n, 0) && bias(l, n);
	w = dequantized(l, n, 1) ? value(l, dequantized(l, n, 1)->input[0]) : NULL;
	if (!w || !w->init || w->init->n_dims != 2)
		return false;
	if (!strcmp(n->op_type, "MatMul"))
		return weights(l, n, 1);
	if (strcmp(n->op_type, "Gemm") || !attribute_is(n, "transA", 0, 0) || !attribute_is(n, "alpha", 1, 1) ||
	    !attribute_is(n, "beta", 1, 1))
		return false;
	return weights(l, n, attribute_is(n, "transB", 1, 0) && !attribute_is(n, "transB", 0, 0) ? 0 : 1) && bias(l, n);
}

/* What the QuantizeLinear q takes in: the node that multiplies, and the Relu between, or NULL. */
static const onnx_node *before(const struct ox *l, const onnx_node *q, const onnx_node **relu)
{
	*relu = NULL;
	if (strcmp(q->op_type, "QuantizeLinear") || !plain(l, q) || !private(l, q->input[0]))
		return NULL;
	struct ox_value *v = value(l, q->input[0]);
	const onnx_node *n = node(l, v->maker);
	if (n && !strcmp(n->op_type, "Relu") && n->n_input == 1 && private(l, n->input[0])) {
		*relu = n;
		n = node(l, value(l, n->input[0])->maker);
	}
	return n && n->n_output == 1 && foldable(l, n) ? n : NULL;
}

/* Marks nodes that a QuantizeLinear does, and DequantizeLinears that only those read. */
void ox_find_qdq(struct ox *l)
{
	const onnx_graph *g = l->f.m->graph;
	int *left = ox_alloc(l, l->n_values, sizeof *left);

	if (!left)
		return;
	for (int i = 0; i < l->n_values; i++)
		left[i] = l->values[i].n_uses;
	for (size_t i = 0; i < g->n_node; i++) {
		const onnx_node *relu, *n = before(l, g->node[i], &relu);

		if (!n)
			continue;
		l->fused[value(l, n->output[0])->maker] = 1;
		if (relu)
			l->fused[value(l, relu->output[0])->maker] = 1;
		for (size_t k = 0; k < n->n_input && k < 3; k++)
			if (dequantized(l, n, k))
				left[ox_value_find(l, n->input[k])]--;
	}
	for (int i = 0; i < l->n_values; i++) {
		const onnx_node *d = node(l, l->values[i].maker);

		if (d && !strcmp(d->op_type, "DequantizeLinear") && !left[i] && l->values[i].n_uses && !l->values[i].is_output)
			l->values[i].dequantize = l->values[i].maker;
	}
	l->room += (int64_t)l->n_values * (int64_t)sizeof *left;
	free(left);
}

/* The bias's scale has to be the product's: the sums are in these units. */
static int sums(struct ox *l, struct ox_product *p, int64_t *most)
{
	struct ox_conv_call c = { 0 };

	if (strcmp(l->n->op_type, "Conv"))
		return ox_matmul_product(l, p, most);
	int err = ox_conv_shapes(l, 1, &c);
	return err ? err : ox_conv_product(l, p, &c, most);
}

static struct ox_value turned(struct ox *l, struct ox_value *w)
{
	static const int8_t swap[WEFT_MAX_RANK] = { 1, 0, 2, 3, 4, 5, 6, 7 };
	struct ox_value v = *w;
	int x = ox_get(l, w, swap);

	v.init = NULL;
	v.n_forms = 1;
	v.form[0] = (struct ox_form){ .tensor = x, .perm = { 0, 1, 2, 3, 4, 5, 6, 7 } };
	if (x >= 0) {
		v.t = *ox_t(l, x);
		v.t.data = NULL;
	}
	return v;
}

static int clamp_at(struct ox *l, int x, struct ox_value *zp, bool flip)
{
	double z;

	if (x < 0 || !ox_scalar(l, zp, &z))
		return x < 0 ? x : l->err;
	if (!flip && zp->t.dtype == WEFT_UINT8)
		return z == 0 ? x : ox_cast(l, ox_binary(l, WEFT_OP_MAXIMUM, ox_widen(l, x), ox_ramp(l, WEFT_INT32, ox_t(l, x)->rank, z)), WEFT_UINT8);
	weft_attr a = { .clamp = { .min = (int64_t)z - (flip ? 128 : 0), .max = 127 } };
	if (a.clamp.min == -128)
		return x;
	weft_tensor t = *ox_t(l, x);
	x = ox_before_reshape(l, x);
	return ox_reshape(l, ox_op(l, WEFT_OP_CLAMP, &a, &x, 1, WEFT_INT8, ox_t(l, x)->rank, ox_t(l, x)->dim), t.rank, t.dim);
}

int ox_fold_qdq(struct ox *l)
{
	const onnx_node *relu, *n = before(l, l->n, &relu), *q = l->n;
	struct ox_value w, *zp;
	int8_t last[WEFT_MAX_RANK];
	bool flip = false;
	int64_t most;

	if (!n)
		return 0;
	const onnx_node *dx = dequantized(l, n, 0), *dw = dequantized(l, n, 1), *db = dequantized(l, n, 2);
	struct ox_product p = { .x = value(l, dx->input[0]), .x_zp = value(l, dx->input[2]), .w = value(l, dw->input[0]),
	                        .w_zp = dw->n_input > 2 ? value(l, dw->input[2]) : NULL, .bias = db ? value(l, db->input[0]) : NULL,
	                        .x_axis = 1 };
	struct ox_scaling s = { .a = value(l, dx->input[1]), .b = value(l, dw->input[1]), .y = value(l, q->input[1]),
	                        .zp = zp = value(l, q->input[2]), .b_axis = 1 };
	for (int k = 0; k < 5; k++) {
		struct ox_value *v = k == 0 ? p.x : k == 1 ? p.w : k == 2 ? s.a : k == 3 ? s.b : s.y;
		if (v && v->init && !v->n_forms && ox_get(l, v, NULL) < 0)
			return l->err;
		if (v && v->n_forms && !v->t.dtype)
			return ox_fail(l, -EINVAL, "\"%.60s\" is not known here", v->name);
	}
	if (!ox_is_8_bit(p.x) || !ox_is_8_bit(p.w))
		return ox_fail(l, -ENOTSUP, "%s by %s", weft_dtype_name(p.x->t.dtype), weft_dtype_name(p.w->t.dtype));
	l->n = n;                        /* its attributes and shapes */
	if (ox_attr_i(l, "transB", 0)) {
		w = turned(l, p.w);
		p.w = &w;
	}
	int y = sums(l, &p, &most);
	y = ox_requant(l, y, &s, y < 0 ? 0 : most, &flip);
	if (relu)
		y = clamp_at(l, y, zp, flip);
	bool conv = !strcmp(n->op_type, "Conv");
	l->n = q;
	ox_channels_last(p.x->t.rank, last);
	int err = ox_result(l, 0, y, conv ? last : NULL, flip);
	return err < 0 ? err : 1;
}
