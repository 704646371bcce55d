/* SPDX-License-Identifier: Apache-2.0 */
/* How many multiplications nodes need, for the line of log: the NPU's share of all of them. */
#include <stdlib.h>
#include <string.h>

#include "ep.h"

#define MAX_RANK 16

/* A value's dimensions. */
struct extents {
	int64_t dim[MAX_RANK];
	size_t rank;
	uint64_t elements;         /* 0: some dimension is open */
};

/*
 * Reads the dimensions and the number of elements of input k or, if `result`, of result k of a node to
 * *x. Returns false if there is no such value, its dimensions are not known, or they are more than
 * MAX_RANK; an open one makes the number of elements 0.
 */
static bool extents_of(const struct ort_api *api, const struct node *n, size_t k, bool result, struct extents *x)
{
	const struct ort_type_info *info;
	const struct ort_shape *s = NULL;

	if (k >= (result ? n->n_out : n->n_in))
		return false;
	const struct ort_value_info *v = result ? n->out[k] : n->in[k];
	if (!v || !ort_ok(api, api->value_type(v, &info)) || !ort_ok(api, api->tensor_info(info, &s)) || !s ||
	    !ort_ok(api, api->rank(s, &x->rank)) || x->rank > MAX_RANK || !ort_ok(api, api->dimensions(s, x->dim, x->rank)))
		return false;
	x->elements = 1;
	for (size_t i = 0; i < x->rank; i++)
		x->elements *= x->dim[i] > 0 ? (uint64_t)x->dim[i] : 0;
	return true;
}

/* Kinds of operators that multiply, and where their second operand is. */
static const struct {
	const char *op;
	char kind;                 /* C: convolution, T: transposed convolution, M: matrix product, G: Gemm, R: recurrent layer, A: attention, E: Einsum */
	size_t second;
} kinds[] = {
	{ "Conv", 'C', 1 }, { "ConvInteger", 'C', 1 }, { "QLinearConv", 'C', 3 }, { "NhwcFusedConv", 'C', 1 }, { "DeformConv", 'C', 1 },
	{ "ConvTranspose", 'T', 1 },
	{ "MatMul", 'M', 1 }, { "MatMulInteger", 'M', 1 }, { "QLinearMatMul", 'M', 3 }, { "MatMulIntegerToFloat", 'M', 1 },
	{ "DynamicQuantizeMatMul", 'M', 1 }, { "MatMulNBits", 'M', 1 }, { "Gemm", 'G', 1 }, { "QGemm", 'G', 3 },
	{ "LSTM", 'R', 1 }, { "GRU", 'R', 1 }, { "RNN", 'R', 1 }, { "Attention", 'A', 1 }, { "Einsum", 'E', 1 },
};

/* Returns the length of dimension `at` from the end, the last being 1; 0 if there is none or it is open. */
static uint64_t from_end(const struct extents *x, size_t at)
{
	return at <= x->rank && x->dim[x->rank - at] > 0 ? (uint64_t)x->dim[x->rank - at] : 0;
}

/* Multiplications of LSTM, GRU and RNN: in each step, each weight of the input (w) and of the state (operand 2) once. */
static uint64_t recurrent(const struct ort_api *api, const struct node *n, const struct extents *x, const struct extents *w)
{
	struct extents r;
	const uint64_t length = from_end(x, 1);

	return length && extents_of(api, n, 2, false, &r) ? x->elements / length * (w->elements + r.elements) : 0;
}

/* Multiplications of ONNX's own Attention: queries (q) by keys (k), and weights by values, whose result is y; past keys count. */
static uint64_t attention(const struct ort_api *api, const struct node *n, const struct extents *q, const struct extents *k, const struct extents *y)
{
	struct extents past;
	const uint64_t before = extents_of(api, n, 4, false, &past) ? from_end(&past, 2) : 0;

	return *n->domain ? 0 : (q->elements + y->elements) * (from_end(k, 2) + before);
}

/*
 * Returns the multiplications of Einsum: the lengths of all labels of its operands, multiplied. 0 for an equation
 * with an ellipsis, with a single operand, or with more labels than an operand has dimensions, and if a shape is
 * not known or open.
 */
static uint64_t einsum(const struct ort_api *api, const struct node *n)
{
	size_t len = 0, k = 0, d = 0;
	char *text = node_attr(api, n, "equation", ORT_ATTR_STRING, &len);
	bool seen[256] = { false };
	struct extents x;
	bool good = text && extents_of(api, n, 0, false, &x);
	uint64_t product = 1;

	for (const char *p = text; good && *p && *p != '-'; p++) {
		if (*p == ' ')
			continue;
		if (*p == ',') {
			d = 0;
			good = extents_of(api, n, ++k, false, &x);
		} else if (*p == '.' || d >= x.rank) {
			good = false;
		} else if (!seen[(uint8_t)*p]) {
			seen[(uint8_t)*p] = true;
			product *= x.dim[d] > 0 ? (uint64_t)x.dim[d] : 0;
			d++;
		} else {
			d++;
		}
	}
	free(text);
	return good && k ? product : 0;
}

uint64_t macs_of(const struct ort_api *api, const struct node *n)
{
	struct extents x, w, y;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(n->op, kinds[i].op))
			continue;
		if (kinds[i].kind == 'E')
			return einsum(api, n);
		if (!extents_of(api, n, 0, false, &x) || !extents_of(api, n, kinds[i].second, false, &w) || !extents_of(api, n, 0, true, &y) || !w.rank)
			return 0;
		switch (kinds[i].kind) {
		case 'C': return w.dim[0] > 0 ? y.elements * (w.elements / (uint64_t)w.dim[0]) : 0;
		case 'T': return w.dim[0] > 0 ? x.elements * (w.elements / (uint64_t)w.dim[0]) : 0;
		case 'R': return recurrent(api, n, &x, &w);
		case 'A': return attention(api, n, &x, &w, &y);
		case 'M': return x.rank && x.dim[x.rank - 1] > 0 ? y.elements * (uint64_t)x.dim[x.rank - 1] : 0;
		default: return y.rank == 2 && y.dim[1] > 0 ? y.elements * (w.elements / (uint64_t)y.dim[1]) : 0;
		}
	}
	return 0;
}
