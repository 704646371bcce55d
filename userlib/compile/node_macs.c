/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multiplications of operators that run on the host by kernels of their own: recurrent layers, attention, and
 * products and convolutions of types or forms that no command has. Counted are those of matrices: not those of
 * functions, normalisation and Fourier transforms.
 */
#include <string.h>

#include "sim/golden/onnx/ref/onnx_ref.h"
#include "userlib/compile/program.h"

/* Returns the shape of the node's own operand k of ONNX_NODE o; NULL if it is absent. */
static const weft_tensor *operand(const weft_graph *g, const struct weft_gop *o, int k)
{
	const int64_t absent = o->attr.onnx_node.absent;
	int at = 0;

	if (k >= o->attr.onnx_node.n_in || (absent >> k & 1))
		return NULL;
	for (int i = 0; i < k; i++)
		at += !(absent >> i & 1);
	return at < o->n_in ? &g->tensors[o->in[at]].t : NULL;
}

static uint64_t elements(const weft_tensor *t)
{
	return t ? (uint64_t)weft_tensor_elements(t) : 0;
}

/* Returns the length of t's last dimension; 1 for a number or an absent operand. */
static uint64_t last(const weft_tensor *t)
{
	return t && t->rank ? (uint64_t)t->dim[t->rank - 1] : 1;
}

/*
 * Returns how many elements those of o's operands `first` to end - 1 have that are matrices (rank 2). They are the weights
 * of a recurrent layer, each of which is used once in each step. An auxiliary input has rank 3 and does not count.
 */
static uint64_t weights(const weft_graph *g, const struct weft_gop *o, int first, int end)
{
	uint64_t sum = 0;

	for (int i = first; i < end && i < o->n_in; i++)
		sum += g->tensors[o->in[i]].t.rank == 2 ? elements(&g->tensors[o->in[i]].t) : 0;
	return sum;
}

/* Returns the multiplications of ONNX's Attention: queries by keys, and weights by values; past keys count. */
static uint64_t attention(const weft_graph *g, const struct weft_gop *o)
{
	const weft_tensor *q = operand(g, o, 0), *k = operand(g, o, 1), *past = operand(g, o, 4);

	if (!q || !k || k->rank < 2)
		return 0;
	const uint64_t keys = (uint64_t)k->dim[k->rank - 2] + (past && past->rank > 1 ? (uint64_t)past->dim[past->rank - 2] : 0);
	return (elements(q) + elements(&g->tensors[o->out[0]].t)) * keys;
}

/*
 * Returns the multiplications of Einsum: the extents of all labels of its operands, multiplied; 0 for an equation with an
 * ellipsis, which is not taken apart here. The equation is the node's last operand, as bytes.
 */
static uint64_t einsum(const weft_graph *g, const struct weft_gop *o)
{
	const weft_tensor *text = &g->tensors[o->in[o->n_in - 1]].t;
	const char *p = text->data;
	bool seen[256] = { false };
	uint64_t product = 1;
	int k = 0, d = 0;

	for (int64_t i = 0; p && i < weft_tensor_elements(text) && p[i] != '-'; i++) {
		const weft_tensor *x = operand(g, o, k);
		if (p[i] == '.' || !x)
			return 0;
		if (p[i] == ',')
			k++, d = 0;
		else if (p[i] != ' ' && d < x->rank && !seen[(uint8_t)p[i]])
			seen[(uint8_t)p[i]] = true, product *= (uint64_t)x->dim[d++];
		else
			d += p[i] != ' ';
	}
	return p && k ? product : 0;
}

/* Says whether `name` is one of those in the list, which ends with NULL. */
static bool is_one_of(const char *name, const char *const *list)
{
	while (*list && strcmp(name, *list))
		list++;
	return *list;
}

uint64_t weft_node_macs(const weft_graph *g, const struct weft_gop *o)
{
	static const char *const products[] = { "MatMul", "MatMulInteger", "QLinearMatMul", "MatMulNBits", NULL };
	static const char *const convolutions[] = { "Conv", "ConvInteger", "DeformConv", NULL };
	static const char *const recurrent[] = { "LSTM", "GRU", "RNN", "DynamicQuantizeLSTM", NULL };
	static const char *const sequences[] = { "SequenceLSTM", "SequenceRNN", "SequenceLSTM8", "StepLSTM8", NULL };

	if (o->op == WEFT_OP_TFL_LSTM) {
		const int64_t *dim = g->tensors[o->in[0]].t.dim;
		return (uint64_t)(dim[0] * dim[1]) * weights(g, o, 1, o->n_in);
	}
	if (o->op != WEFT_OP_ONNX_NODE)
		return 0;
	const char *name = weft_onnx_ref_name(o->attr.onnx_node.kind);
	const weft_tensor *x = operand(g, o, 0), *w = operand(g, o, 1), *y = &g->tensors[o->out[0]].t;
	/* An LSTM may have no first gate, and no weights there. */
	if (x && is_one_of(name, sequences))
		return last(x) ? elements(x) / last(x) * weights(g, o, 1, o->n_in) : 0;
	if (!x || !w)
		return 0;
	if (is_one_of(name, products))
		return elements(y) * last(x);
	if (!strcmp(name, "Gemm"))
		return y->dim[0] ? elements(y) * (elements(x) / (uint64_t)y->dim[0]) : 0;
	if (is_one_of(name, convolutions))
		return w->dim[0] ? elements(y) * (elements(w) / (uint64_t)w->dim[0]) : 0;
	if (!strcmp(name, "ConvTranspose"))
		return w->dim[0] ? elements(x) * (elements(w) / (uint64_t)w->dim[0]) : 0;
	if (is_one_of(name, recurrent))
		return last(x) ? elements(x) / last(x) * (elements(w) + elements(operand(g, o, 2))) : 0;
	return !strcmp(name, "Attention") ? attention(g, o) : !strcmp(name, "Einsum") ? einsum(g, o) : 0;
}
