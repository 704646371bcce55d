/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simplifications of the float model: a BatchNormalization behind a Conv or Gemm goes into its
 * weights and bias, an Add of a constant for each channel into its bias. A MatMul of matrices becomes
 * a Gemm, which can have a bias. A Reshape of a constant becomes a constant.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "quantize.h"

/* Returns the node that makes the value `name`; NULL if none does. */
static onnx_node *maker(struct qz *z, const char *name)
{
	struct qz_value *v = qz_value(z, name);

	return v && v->maker >= 0 ? z->node[v->maker] : NULL;
}

/*
 * Returns the Conv or Gemm that makes operand k of node n as its only result, if n is that result's only
 * reader and it is no output of the network; otherwise NULL. A Gemm must have alpha and beta 1 and A not
 * transposed.
 */
static onnx_node *product_before(struct qz *z, const onnx_node *n, size_t k)
{
	struct qz_value *v = qz_value(z, qz_operand(n, k));
	onnx_node *p = v && v->n_uses == 1 && !v->is_output ? maker(z, v->name) : NULL;

	if (!p || p->n_output != 1)
		return NULL;
	if (qz_is(p, "Conv"))
		return p;
	bool plain = qz_is(p, "Gemm") && !qz_integer(p, "transA", 0) && qz_real(p, "alpha", 1) == 1 && qz_real(p, "beta", 1) == 1;
	return plain ? p : NULL;
}

/* Returns which dimension of product p's weights counts its outputs: 0 or 1. */
static int output_axis(const onnx_node *p)
{
	return qz_is(p, "Conv") || qz_integer(p, "transB", 0) ? 0 : 1;
}

/* Lets p make node number n's result, and removes node n. */
static void replace(struct qz *z, onnx_node *p, int n)
{
	p->output[0] = z->node[n]->output[0];
	z->node[n] = NULL;
}

/*
 * Returns product p's bias as n floats in memory of qz_alloc() that may be changed: zeros if it has none,
 * n times the same if it has one element. NULL if the bias is no float32 constant, has neither n elements
 * nor one, or has them elsewhere than in its last dimension, or if there is no memory.
 */
static float *bias_of(struct qz *z, const onnx_node *p, int64_t n)
{
	weft_tensor t;
	float *b = qz_alloc(z, (size_t)n * sizeof *b);
	const char *name = qz_operand(p, 2);

	if (!b || !*name)
		return b;
	const float *have = qz_floats(z, name, &t);
	if (!have || (weft_tensor_elements(&t) != n && weft_tensor_elements(&t) != 1) || t.dim[t.rank ? t.rank - 1 : 0] != weft_tensor_elements(&t))
		return NULL;
	for (int64_t i = 0; i < n; i++)
		b[i] = have[weft_tensor_elements(&t) == 1 ? 0 : i];
	return b;
}

/*
 * Adds a float32 constant of that shape with the n numbers v, named after p's result and the suffix,
 * and makes it operand k of p. Returns 0 or -ENOMEM.
 */
static int set_constant(struct qz *z, onnx_node *p, size_t k, const char *suffix, int rank, const int64_t *dim, const float *v, int64_t n)
{
	char *name = qz_add_tensor(z, qz_text(z, p->output[0], suffix), 1, rank, dim, v, (size_t)n * sizeof *v);

	return name ? qz_set_operand(z, p, k, name) : -ENOMEM;
}

/*
 * Folds node i, a BatchNormalization that alone reads the result of product p, into p's weights and bias,
 * which become new constants; p then makes node i's result, and node i is removed. Returns 1 if it did; 0 if
 * it could not, because the weights are not constant float32 of rank 2 or more, one of its four parameters
 * is not constant float32 with one element for each channel, p has a bias that bias_of() does not take, it
 * is in training mode or has several results, or memory ran out while looking (z->no_memory); or -ENOMEM.
 */
static int fold_norm(struct qz *z, onnx_node *p, int i)
{
	const onnx_node *n = z->node[i];
	const int axis = output_axis(p);
	const float *param[4], *w;
	weft_tensor t, tw;

	if (!(w = qz_floats(z, qz_operand(p, 1), &tw)) || tw.rank < 2)
		return 0;
	int64_t channels = tw.dim[axis], inner = 1;
	for (int d = axis + 1; d < tw.rank; d++)
		inner *= tw.dim[d];
	for (size_t k = 0; k < 4; k++)
		if (!(param[k] = qz_floats(z, qz_operand(n, k + 1), &t)) || weft_tensor_elements(&t) != channels)
			return 0;
	float *b = bias_of(z, p, channels), *scaled = qz_alloc(z, weft_tensor_bytes(&tw));
	if (!b || !scaled || qz_integer(n, "training_mode", 0) || n->n_output != 1)
		return 0;
	double epsilon = qz_real(n, "epsilon", 1e-5);
	for (int64_t e = 0; e < weft_tensor_elements(&tw); e++) {
		int64_t c = e / inner % channels;
		scaled[e] = (float)((double)w[e] * (double)param[0][c] / sqrt((double)param[3][c] + epsilon));
	}
	for (int64_t c = 0; c < channels; c++)
		b[c] = (float)(((double)b[c] - (double)param[2][c]) * (double)param[0][c] / sqrt((double)param[3][c] + epsilon) + (double)param[1][c]);
	replace(z, p, i);
	int err = set_constant(z, p, 1, "/weights", tw.rank, tw.dim, scaled, weft_tensor_elements(&tw));
	err = err ? err : set_constant(z, p, 2, "/bias", 1, &channels, b, channels);
	return err ? err : 1;
}

/*
 * Folds node i, which adds the value `constant` to p's result, into p's bias, a new constant; p then
 * makes node i's result, and node i is removed. `constant` must be float32 with one element for each
 * output channel, which lie in the dimension of the channels, and have no more dimensions than p's weights;
 * these must be constant float32 of rank 2 or more, and p's bias, if it has one, what bias_of() takes.
 * Returns 1 if it did; 0 if it could not, also if memory ran out while looking (z->no_memory); or -ENOMEM.
 */
static int fold_add(struct qz *z, onnx_node *p, int i, const char *constant)
{
	const int axis = output_axis(p);
	const float *w, *add;
	weft_tensor t, tw;

	if (!(w = qz_floats(z, qz_operand(p, 1), &tw)) || !(add = qz_floats(z, constant, &t)) || tw.rank < 2)
		return 0;
	int64_t channels = tw.dim[axis], n = weft_tensor_elements(&t);
	int at = qz_is(p, "Conv") ? t.rank - (tw.rank - 1) : t.rank - 1;   /* where channels stand in the constant */
	if (n != channels || (channels > 1 && (at < 0 || t.dim[at] != channels)) || t.rank > tw.rank)
		return 0;
	float *b = bias_of(z, p, channels);
	if (!b)
		return 0;
	for (int64_t c = 0; c < channels; c++)
		b[c] += add[c];
	replace(z, p, i);
	int err = set_constant(z, p, 2, "/bias", 1, &channels, b, channels);
	return err ? err : 1;
}

/*
 * Replaces node i, a Reshape of a float32 constant to a constant int64 shape (as some exporters leave
 * them), by a constant of that shape with the name of its result. The shape's numbers must be above 0,
 * but one may be -1, and fit the number of elements. Returns 1 if it did; 0 if it could not; -ENOMEM; or
 * the negative errno of reading the shape, with one line in the message.
 */
static int fold_reshape(struct qz *z, int i)
{
	onnx_node *n = z->node[i];
	weft_tensor t, ts;
	struct qz_value *s = qz_value(z, qz_operand(n, 1));
	int64_t room = 1 << 20, dim[WEFT_MAX_RANK], known = 1;
	char why[160];
	int open = -1;

	const float *p = qz_floats(z, qz_operand(n, 0), &t);
	if (!p || !s || s->init < 0 || z->init[s->init]->data_type != 7)
		return 0;
	int err = onnx_tensor_data(&z->f, z->init[s->init], &ts, &room, why, sizeof why);
	if (err)
		return qz_fail(z, err, "constant \"%.60s\": %s", z->init[s->init]->name, why);
	int rank = (int)weft_tensor_elements(&ts);
	bool fits = rank <= WEFT_MAX_RANK;
	for (int k = 0; fits && k < rank; k++) {
		dim[k] = ((const int64_t *)ts.data)[k];
		fits = dim[k] > 0 || (dim[k] == -1 && open < 0);
		if (dim[k] == -1)
			open = k;
		else if (fits)
			known = known > (1 << 30) / dim[k] ? 0 : known * dim[k];
	}
	weft_tensor_release(&ts);
	int64_t have = weft_tensor_elements(&t);
	if (!fits || known < 1 || have % known || (open < 0 && known != have))
		return 0;
	if (open >= 0)
		dim[open] = have / known;
	char *name = n->output[0];
	z->node[i] = NULL;
	return qz_add_tensor(z, name, 1, rank, dim, p, (size_t)have * sizeof *p) ? 1 : -ENOMEM;
}

/* Returns the rank of the graph's tensor of that name; -1 if there is none. */
static int rank_of(struct qz *z, const char *name)
{
	for (int i = 0; i < z->g->n_tensors; i++)
		if (!strcmp(z->g->tensors[i].name, name))
			return z->g->tensors[i].t.rank;
	return -1;
}

/*
 * Turns MatMul of a matrix by a constant float32 matrix into Gemm, which may have a bias, by changing the
 * node's type. The graph must know operand 0 or the result as of rank 2. Returns 1 if it did, 0 if the
 * operands are no such matrices, or -ENOMEM.
 */
static int as_gemm(struct qz *z, onnx_node *n)
{
	weft_tensor t;

	/* Operand or result may be missing from the graph, if it differs from another tensor only in its shape. */
	if (!qz_floats(z, qz_operand(n, 1), &t) || t.rank != 2 || (rank_of(z, qz_operand(n, 0)) != 2 && rank_of(z, n->output[0]) != 2))
		return 0;
	n->op_type = qz_text(z, "Gemm", "");
	return n->op_type ? 1 : -ENOMEM;
}

/*
 * Simplifies node i if it is a Reshape of a constant (fold_reshape), a BatchNormalization (fold_norm) or
 * an Add of a constant (fold_add) behind a product that only it reads, or a MatMul of matrices (as_gemm).
 * Returns 1 if something changed, after which the model must be indexed anew; 0 if not or the node was
 * removed before; or a negative errno.
 */
static int one(struct qz *z, int i)
{
	onnx_node *n = z->node[i], *p;

	if (!n)
		return 0;
	if (qz_is(n, "Reshape"))
		return fold_reshape(z, i);
	if (qz_is(n, "BatchNormalization"))
		return (p = product_before(z, n, 0)) ? fold_norm(z, p, i) : 0;
	if (qz_is(n, "MatMul"))
		return as_gemm(z, n);
	if (!qz_is(n, "Add") || n->n_input != 2)
		return 0;
	for (size_t k = 0; k < 2; k++)
		if ((p = product_before(z, n, k))) {
			int done = fold_add(z, p, i, n->input[1 - k]);
			if (done)
				return done;
		}
	return 0;
}

/*
 * Simplifies the float model: a BatchNormalization or an Add of a constant behind a Conv or Gemm goes
 * into its weights and bias, a MatMul of matrices becomes a Gemm, a Reshape of a constant a constant.
 * Nodes are looked at once, in their order, and the model is indexed anew after each change. z->g must be
 * the model's graph. Returns 0 or a negative errno.
 */
int qz_prepare(struct qz *z)
{
	for (int i = 0; i < z->n_node; i++) {
		int done = one(z, i), err = done > 0 ? qz_index(z) : done;

		if (err)
			return err;
	}
	return 0;
}
