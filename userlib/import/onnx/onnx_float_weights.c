/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float weights of a product whose input and result are quantised, as static
 * quantisation to operators (QOperator) leaves those of ConvTranspose. They become int8
 * by the rule of ONNX Runtime's optimiser, so that the product has integers on both sides:
 *
 *   scale = (max(w, 0) - min(w, 0)) / 255, zero point = round(-128 - min(w, 0) / scale)
 *
 * with one scale for all weights of a Conv, ConvTranspose or Gemm. The bias becomes int32 in
 * units of the sums. The node then reads a DequantizeLinear of each, which is put behind the
 * file's own nodes.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

#define ROOM 24                /* what a name gets appended, with a number and its end */

/* Returns the node that makes the value with this name, or NULL if no node does. */
static const onnx_node *maker(const struct ox *l, const char *name)
{
	const int v = *name ? ox_value_find(l, name) : -1;

	return v < 0 || l->values[v].maker < 0 ? NULL : l->f.m->graph->node[l->values[v].maker];
}

/*
 * Returns the only node that reads the value with this name. Returns NULL if no node reads it, it
 * is read more than once, or it is an output of the network.
 */
static const onnx_node *reader(const struct ox *l, const char *name)
{
	const onnx_graph *g = l->f.m->graph;
	const onnx_node *found = NULL;
	const int v = ox_value_find(l, name);

	if (v < 0 || l->values[v].is_output || l->values[v].n_uses != 1)
		return NULL;
	for (size_t i = 0; i < g->n_node && !found; i++)
		for (size_t k = 0; k < g->node[i]->n_input; k++)
			found = strcmp(g->node[i]->input[k], name) ? found : g->node[i];
	return found;
}

/*
 * Says whether the only result of node n has one reader and that is a QuantizeLinear, or a Relu
 * whose only result has one reader and that is a QuantizeLinear. False if one of these results is
 * also an output of the network. Operators are told by their names, in whatever domain.
 */
static bool ends_quantised(const struct ox *l, const onnx_node *n)
{
	const onnx_node *next = n->n_output == 1 ? reader(l, n->output[0]) : NULL;

	if (next && ox_node_is(next, "Relu") && next->n_output == 1)
		next = reader(l, next->output[0]);
	return next && ox_node_is(next, "QuantizeLinear");
}

/*
 * Returns operand k of node n if it is a float32 constant of the file with at least one element,
 * else NULL.
 */
static struct ox_value *floats(const struct ox *l, const onnx_node *n, size_t k)
{
	struct ox_value *v = ox_operand(l, n, k);

	return v && v->init && v->t.dtype == WEFT_FP32 && weft_tensor_elements(&v->t) > 0 ? v : NULL;
}

/*
 * Says whether node n's weights are to be quantised here: n is a Conv, ConvTranspose or Gemm with
 * an empty domain whose input comes from a DequantizeLinear (of any domain) of a value that is no
 * constant of the file, with one scale that is, whose weights (and bias, if any) are float32
 * constants of the file, and whose result ends_quantised().
 */
static bool wanted(const struct ox *l, const onnx_node *n)
{
	const onnx_node *d = n->n_input > 1 ? maker(l, n->input[0]) : NULL;
	const struct ox_value *x = d && ox_node_is(d, "DequantizeLinear") ? ox_operand(l, d, 0) : NULL, *s = x ? ox_operand(l, d, 1) : NULL;

	if (*n->domain || !(ox_node_is(n, "Conv") || ox_node_is(n, "ConvTranspose") || ox_node_is(n, "Gemm")))
		return false;
	return s && !x->init && s->init && weft_tensor_elements(&s->t) == 1 && floats(l, n, 1) && (n->n_input < 3 || !*n->input[2] || floats(l, n, 2)) &&
	       ends_quantised(l, n);
}

/* ---- numbers ---- */

/*
 * Sets *scale and *zp (-128 to 127) so that int8 codes cover the range of the n weights w, widened
 * to include 0. The scale is 1 if all weights are 0.
 */
static void range(const float *w, int64_t n, float *scale, int *zp)
{
	float lo = 0, hi = 0;

	for (int64_t i = 0; i < n; i++) {
		lo = w[i] < lo ? w[i] : lo;
		hi = w[i] > hi ? w[i] : hi;
	}
	*scale = hi > lo ? (hi - lo) / 255 : 1;
	*zp = (int)fmaxf(-128, fminf(127, nearbyintf(-128 - lo / *scale)));
}

/*
 * Adds a constant of the given type and shape, which takes over data (from ox_alloc(); NULL: an
 * allocation has failed), to the graph and enters it as a value named `of` followed by `kind` and,
 * if the file or an earlier call has that name, by ~ and the first number that makes it new.
 * Returns the new name, which the value refers to and the caller frees when the import ends; or
 * NULL after a failure, which leaves its errno in l->err.
 */
static char *hold(struct ox *l, const char *of, const char *kind, weft_dtype t, int rank, const int64_t *dim, void *data)
{
	char *name = malloc(strlen(of) + ROOM);
	int x = ox_data(l, t, rank, dim, data), n, v;

	if (!name || x < 0) {
		free(name);
		ox_fail(l, x < 0 ? x : -ENOMEM, "a constant for \"%.60s\"", of);
		return NULL;
	}
	n = sprintf(name, "%s%s", of, kind);
	for (int i = 1; ox_value_find(l, name) >= 0; i++)   /* another node quantises the same floats, say */
		sprintf(name + n, "~%d", i);
	if ((v = ox_value_new(l, name)) < 0) {
		free(name);
		return NULL;
	}
	l->values[v] = ox_held(l, name, x);
	return name;
}

/*
 * Enters v as a float32 constant of rank 0 named `of` followed by "/scale", as hold() does. Returns
 * the name, which the caller frees when the import ends, or NULL after a failure.
 */
static char *hold_scale(struct ox *l, const char *of, float v)
{
	float *p = ox_alloc(l, 1, sizeof *p);

	if (p)
		*p = v;
	return hold(l, of, "/scale", WEFT_FP32, 0, NULL, p);
}

/*
 * Enters v, -128 to 127, as an int8 constant of rank 0 named `of` followed by "/zero", as hold()
 * does. Returns the name, which the caller frees when the import ends, or NULL after a failure.
 */
static char *hold_zero(struct ox *l, const char *of, int v)
{
	int8_t *p = ox_alloc(l, 1, 1);

	if (p)
		*p = (int8_t)v;
	return hold(l, of, "/zero", WEFT_INT8, 0, NULL, p);
}

/* ---- nodes ---- */

/*
 * Appends a DequantizeLinear of the values named codes, scale and zero (NULL: none) to the file's
 * nodes and makes its result, codes followed by "/real", operand k of node n; that result is
 * entered as a value with one reader, and l->made_nodes notes what was changed, for
 * ox_release_made(). The names are taken over, also after a failure. A NULL codes or scale stands
 * for an earlier failure: nothing is changed then. Returns 0, or a negative errno: l->err of the
 * earlier failure, or that of a new one, after which n may read the result already.
 */
static int insert(struct ox *l, onnx_node *n, size_t k, char *codes, char *scale, char *zero)
{
	static char type[] = "DequantizeLinear", none[] = "";
	struct ox_made *m = codes && scale ? calloc(1, sizeof *m) : NULL;
	char *result = m ? malloc(strlen(codes) + ROOM) : NULL;

	if (!result) {
		free(m);
		free(codes);
		free(scale);
		free(zero);
		return l->err ? l->err : ox_fail(l, -ENOMEM, "out of memory");
	}
	sprintf(result, "%s/real", codes);
	weft__onnx__node__init(&m->node);
	m->name[0] = codes;
	m->name[1] = scale;
	m->name[2] = zero;
	m->name[3] = result;
	m->node.op_type = type;
	m->node.domain = none;
	m->node.n_input = zero ? 3 : 2;
	m->node.input = m->name;
	m->node.n_output = 1;
	m->node.output = &m->name[3];
	m->reader = n;
	m->operand = k;
	m->old = n->input[k];
	m->next = l->made_nodes;
	l->made_nodes = m;
	n->input[k] = result;
	const int i = ox_append_node(l, &m->node);
	int v = i < 0 ? i : ox_value_new(l, result);
	if (v < 0)
		return v;
	l->values[v].maker = i;
	l->values[v].n_uses = 1;
	return 0;
}

/*
 * Frees the nodes that ox_float_weights() made, after it has given each node that reads one the
 * name of its original operand back.
 */
void ox_release_made(struct ox *l)
{
	while (l->made_nodes) {
		struct ox_made *m = l->made_nodes;

		l->made_nodes = m->next;
		m->reader->input[m->operand] = m->old;
		for (int k = 0; k < 4; k++)
			free(m->name[k]);
		free(m);
	}
}

/*
 * Quantises node n's float bias, operand 2, to int32 in steps of unit (the product of the scales of
 * input and weights), ties to even, limited to +-2^30, and lets n read it through a
 * DequantizeLinear. Does nothing if n has no float bias. Returns 0 or a negative errno.
 */
static int with_bias(struct ox *l, onnx_node *n, float unit)
{
	struct ox_value *b = n->n_input > 2 && *n->input[2] ? floats(l, n, 2) : NULL;
	const char *of = b ? b->name : "";
	int x = b ? ox_get(l, b, NULL) : 0;

	if (!b || x < 0)
		return x;
	const weft_tensor t = *ox_t(l, x);
	int32_t *q = ox_alloc(l, weft_tensor_elements(&t), sizeof *q);
	for (int64_t i = 0; q && i < weft_tensor_elements(&t); i++)
		q[i] = (int32_t)fmaxf(-0x1p30f, fminf(0x1p30f, nearbyintf(((const float *)t.data)[i] / unit)));
	char *codes = hold(l, of, "/int32", WEFT_INT32, t.rank, t.dim, q), *scale = codes ? hold_scale(l, codes, unit) : NULL;
	return insert(l, n, 2, codes, scale, NULL);
}

/*
 * Quantises node n's float weights, operand 1, to int8 with one scale and zero point for the whole
 * tensor, and its bias to int32, and lets n read them through a DequantizeLinear each. n has passed
 * wanted(). Returns 0, also if the scale of n's input cannot be read as a single constant and
 * nothing was done, or a negative errno.
 */
static int quantise(struct ox *l, onnx_node *n)
{
	const onnx_node *d = maker(l, n->input[0]);
	struct ox_value *w = floats(l, n, 1);
	const char *of = w->name;
	double x_scale;
	float scale;
	int zp, x = ox_get(l, w, NULL);

	if (x < 0 || !ox_scalar(l, ox_operand(l, d, 1), &x_scale))
		return x < 0 ? x : 0;
	const weft_tensor t = *ox_t(l, x);
	const int64_t count = weft_tensor_elements(&t);
	range(t.data, count, &scale, &zp);
	int8_t *q = ox_alloc(l, count, 1);
	for (int64_t i = 0; q && i < count; i++)
		q[i] = (int8_t)fmaxf(-128, fminf(127, nearbyintf(((const float *)t.data)[i] / scale) + (float)zp));
	char *codes = hold(l, of, "/int8", WEFT_INT8, t.rank, t.dim, q), *s = codes ? hold_scale(l, codes, scale) : NULL;
	char *z = s ? hold_zero(l, codes, zp) : NULL;
	int err = insert(l, n, 1, codes, s, z);
	return err ? err : with_bias(l, n, (float)x_scale * scale);
}

/*
 * Quantises the float weights and biases of all nodes for which wanted() is true: Conv, ConvTranspose and Gemm of
 * dequantised values whose results are quantised again, perhaps behind a Relu. Afterwards the nodes are as if the file held
 * integer weights and a DequantizeLinear of each: these new nodes stand behind the file's own, and the products read their
 * results. With --requant runtime-avx2 the weights stay floats, because ONNX Runtime leaves them so with optimisation off.
 * The table of values may move. Returns 0, also if there is no such node, or a negative errno; in both cases
 * ox_release_made() has to undo it in the file's nodes.
 */
int ox_float_weights(struct ox *l)
{
	const size_t n = l->f.m->graph->n_node;
	int count = 0;

	for (size_t i = 0; i < n; i++)
		count += wanted(l, l->f.m->graph->node[i]);
	if (!count || l->o.saturate)
		return 0;
	if (ox_grow(l, 10 * count))
		return l->err;
	for (size_t i = 0; i < n; i++) {
		onnx_node *node = l->f.m->graph->node[i];
		int err = wanted(l, node) ? quantise(l, node) : 0;
		if (err < 0)
			return err;
	}
	return 0;
}
