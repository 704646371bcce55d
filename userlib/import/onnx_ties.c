/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums whose scales' ratio is num / 2^k (powers of two, mostly) tie often, and
 * RESCALE rounds ties up. With the sum t = sum * num and o the lowest bit of
 * (t - 1) >> k,
 *
 *   round(t / 2^k), ties to even  =  (t - 1 + o + 2^(k-1)) >> k
 *
 * t = q * 2^k + rest. rest > 0: o is q's, so that rest - 1 + o >= 2^(k-1) where
 * the rest is more than a half, or a half and q is odd. rest = 0: the left-hand
 * side is q, the right-hand one too, for o of 0 and of 1. So RESCALE of t - 1 + o
 * is exact. The 1 goes into the bias of a convolution.
 */
#include <string.h>

#include "onnx_ties.h"

bool ox_dyadic_of(const struct weft_onnx_ratio *r, int64_t least, int64_t most, struct ox_dyadic *d)
{
	const int64_t top = most > -least ? most : -least;
	uint64_t num = r->num;
	int exp = r->exp;

	if (num % r->den)
		return false;
	num /= r->den;
	for (; !(num & 1); num >>= 1)
		exp++;
	if (exp > -1 || exp < -31 || top < 0 || num > INT32_MAX || (uint64_t)top > (INT32_MAX - 1) / num)
		return false;
	*d = (struct ox_dyadic){ (int32_t)num, (int8_t)-exp };
	return true;
}

enum of { NUM, SHIFT, TIED };

/* A constant of the channels. */
static int channels(struct ox *l, const struct ox_dyadic *d, int64_t count, int rank, enum of what)
{
	int64_t dim[WEFT_MAX_RANK];
	int32_t *p = ox_alloc(l, count, sizeof *p);

	for (int i = 0; i < rank; i++)
		dim[i] = i == rank - 1 ? count : 1;
	for (int64_t i = 0; p && i < count; i++)
		p[i] = what == NUM ? (d[i].shift ? d[i].num : 1) : what == SHIFT ? d[i].shift : d[i].shift > 0;
	return ox_data(l, WEFT_INT32, rank, dim, p);
}

/* The convolution that makes x, again, with 1 less for the channels that tie. 0: there is none. */
static int conv_less(struct ox *l, int x, const struct ox_dyadic *d, int64_t count)
{
	const int p = l->g->tensors[x].producer;
	const struct weft_gop *o = p < 0 ? NULL : &l->g->ops[p];

	if (!o || (o->op != WEFT_OP_CONV2D && o->op != WEFT_OP_DEPTHWISE_CONV2D) || !ox_t(l, o->in[2])->data)
		return 0;
	const weft_tensor t = *ox_t(l, x), *b = ox_t(l, o->in[2]);
	const weft_attr a = o->attr;
	const int64_t n = t.dim[t.rank - 1], n_b = weft_tensor_elements(b);
	int in[3] = { o->in[0], o->in[1], 0 };
	const weft_opcode op = o->op;
	int32_t *bias = ox_alloc(l, n, sizeof *bias);

	for (int64_t i = 0; bias && i < n; i++)
		bias[i] = ((const int32_t *)b->data)[n_b > 1 ? i : 0] - (d[count > 1 ? i : 0].shift > 0);
	in[2] = ox_data(l, WEFT_INT32, 1, &n, bias);
	return ox_op(l, op, &a, in, 3, WEFT_INT32, t.rank, t.dim);
}

int ox_break_ties(struct ox *l, int x, const struct ox_dyadic *d, int64_t count)
{
	const weft_attr down = { .shift = { false } };
	const int rank = ox_t(l, x)->rank;
	bool whole = true;

	for (int64_t i = 0; i < count; i++)
		whole = whole && (!d[i].shift || d[i].num == 1);
	int tied = channels(l, d, count, rank, TIED), less = whole ? conv_less(l, x, d, count) : 0;
	if (!less && !whole)
		x = ox_binary(l, WEFT_OP_MUL, x, channels(l, d, count, rank, NUM));
	if (!less)
		less = ox_binary(l, WEFT_OP_SUB, x, tied);
	if (less < 0)
		return less;
	const weft_tensor t = *ox_t(l, less);
	int in[2] = { less, channels(l, d, count, rank, SHIFT) };
	int q = ox_op(l, WEFT_OP_ARITHMETIC_RIGHT_SHIFT, &down, in, 2, WEFT_INT32, t.rank, t.dim);
	return ox_binary(l, WEFT_OP_ADD, less, ox_binary(l, WEFT_OP_BITWISE_AND, q, tied));
}
