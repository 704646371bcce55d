/* SPDX-License-Identifier: Apache-2.0 */
/* How many multiplications nodes need, for the line of log: the NPU's share of all of them. */
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
	char kind;                 /* C: convolution, T: transposed convolution, M: matrix product, G: Gemm */
	size_t second;
} kinds[] = {
	{ "Conv", 'C', 1 }, { "ConvInteger", 'C', 1 }, { "QLinearConv", 'C', 3 }, { "NhwcFusedConv", 'C', 1 },
	{ "ConvTranspose", 'T', 1 },
	{ "MatMul", 'M', 1 }, { "MatMulInteger", 'M', 1 }, { "QLinearMatMul", 'M', 3 }, { "MatMulIntegerToFloat", 'M', 1 },
	{ "DynamicQuantizeMatMul", 'M', 1 }, { "Gemm", 'G', 1 }, { "QGemm", 'G', 3 },
};

uint64_t macs_of(const struct ort_api *api, const struct node *n)
{
	struct extents x, w, y;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(n->op, kinds[i].op))
			continue;
		if (!extents_of(api, n, 0, false, &x) || !extents_of(api, n, kinds[i].second, false, &w) || !extents_of(api, n, 0, true, &y) || !w.rank)
			return 0;
		switch (kinds[i].kind) {
		case 'C': return w.dim[0] > 0 ? y.elements * (w.elements / (uint64_t)w.dim[0]) : 0;
		case 'T': return w.dim[0] > 0 ? x.elements * (w.elements / (uint64_t)w.dim[0]) : 0;
		case 'M': return x.rank && x.dim[x.rank - 1] > 0 ? y.elements * (uint64_t)x.dim[x.rank - 1] : 0;
		default: return y.rank == 2 && y.dim[1] > 0 ? y.elements * (w.elements / (uint64_t)y.dim[1]) : 0;
		}
	}
	return 0;
}
