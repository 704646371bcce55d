/* SPDX-License-Identifier: Apache-2.0 */
/* How operators treat channels, and what of their constant operands belongs to which. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "sim/golden/dtype.h"

/* Returns element i of t, an integer of 1, 2, 4 or 8 bytes in memory, sign-extended. */
int64_t fold_get(const weft_tensor *t, int64_t i)
{
	switch (weft_dtype_bytes(t->dtype)) {
	case 1: return ((const int8_t *)t->data)[i];
	case 2: return ((const int16_t *)t->data)[i];
	case 4: return ((const int32_t *)t->data)[i];
	default: return ((const int64_t *)t->data)[i];
	}
}

/* Sets element i of t, an integer of 1, 2, 4 or 8 bytes in memory, to v, of which the low bytes are kept. */
void fold_put(weft_tensor *t, int64_t i, int64_t v)
{
	switch (weft_dtype_bytes(t->dtype)) {
	case 1: ((int8_t *)t->data)[i] = (int8_t)v; break;
	case 2: ((int16_t *)t->data)[i] = (int16_t)v; break;
	case 4: ((int32_t *)t->data)[i] = (int32_t)v; break;
	default: ((int64_t *)t->data)[i] = v;
	}
}

/* Returns whether o has an operand k that is a constant. */
static bool is_const(const weft_graph *g, const struct weft_gop *o, int k)
{
	return k < o->n_in && operand_of(g, o, k)->data;
}

/* Returns whether o has one result, and the types of the result and of all operands are integers (not bool). */
static bool all_integers(const weft_graph *g, const struct weft_gop *o)
{
	for (int k = 0; k < o->n_in + o->n_out; k++) {
		weft_dtype t = g->tensors[k < o->n_in ? o->in[k] : o->out[k - o->n_in]].t.dtype;
		if (weft_is_float(t) || t == WEFT_BOOL)
			return false;
	}
	return o->n_out == 1;
}

/*
 * Returns whether convolution o reads computed int8 or int16, has constant weights and biases, and sums in int32 or
 * int48.
 */
static bool is_plain_conv(const weft_graph *g, const struct weft_gop *o)
{
	weft_dtype x = operand_of(g, o, 0)->dtype, y = g->tensors[o->out[0]].t.dtype;

	return !is_const(g, o, 0) && is_const(g, o, 1) && is_const(g, o, 2) && (x == WEFT_INT8 || x == WEFT_INT16) &&
	       (y == WEFT_INT32 || y == WEFT_INT48);
}

/*
 * Returns whether every operand of o has the result's rank, at least 1, and as many channels as the result. A constant
 * may have one channel instead.
 */
static bool is_elementwise(const weft_graph *g, const struct weft_gop *o)
{
	const weft_tensor *y = &g->tensors[o->out[0]].t;

	for (int k = 0; k < o->n_in; k++) {
		const weft_tensor *x = operand_of(g, o, k);
		if (x->rank != y->rank || (last_dim(x) != last_dim(y) && (!x->data || last_dim(x) != 1)))
			return false;
	}
	return y->rank > 0;
}

/* Returns whether the first operand of o is computed and all others are constants. */
static bool rest_const(const weft_graph *g, const struct weft_gop *o)
{
	for (int k = 1; k < o->n_in; k++)
		if (!is_const(g, o, k))
			return false;
	return !is_const(g, o, 0);
}

/*
 * Returns the role of RESHAPE o of integers: ROLE_PLACED if its operand is computed and the number of the
 * result's channels is a multiple of the operand's, so that each pixel of the result has the channels of one
 * pixel or of several in turn; else ROLE_OPAQUE.
 */
static enum role reshape_role(const weft_graph *g, const struct weft_gop *o)
{
	const weft_tensor *x = operand_of(g, o, 0);

	return x->data || last_dim(&g->tensors[o->out[0]].t) % last_dim(x) ? ROLE_OPAQUE : ROLE_PLACED;
}

/*
 * Returns the role of o, of integers, which is a PAD, TRANSPOSE, CONCAT, SLICE or reduction. It is ROLE_OPAQUE if an
 * operand is constant or the first one has rank 0. Otherwise it is ROLE_PLACED for SLICE along any axis and CONCAT along
 * the last one, and ROLE_CHANNELWISE for CONCAT along another axis. It is ROLE_CHANNELWISE for the others if they leave
 * the last axis alone, else ROLE_OPAQUE.
 */
static enum role axis_role(const weft_graph *g, const struct weft_gop *o)
{
	int last = operand_of(g, o, 0)->rank - 1;

	if (last < 0)
		return ROLE_OPAQUE;
	for (int k = 0; k < o->n_in; k++)
		if (is_const(g, o, k))
			return ROLE_OPAQUE;
	switch (o->op) {
	case WEFT_OP_PAD:
		return o->attr.pad.before[last] || o->attr.pad.after[last] ? ROLE_OPAQUE : ROLE_CHANNELWISE;
	case WEFT_OP_TRANSPOSE:
		return o->attr.perm.perm[last] != last ? ROLE_OPAQUE : ROLE_CHANNELWISE;
	case WEFT_OP_CONCAT:
		return o->attr.axis.axis == last ? ROLE_PLACED : ROLE_CHANNELWISE;
	case WEFT_OP_SLICE:
		return ROLE_PLACED;
	default:
		return o->attr.axis.axis == last ? ROLE_OPAQUE : ROLE_CHANNELWISE;
	}
}

/*
 * Returns the role of o, whose operands and results are integers and whose arguments are constant:
 * - ROLE_CONV: CONV2D for which is_plain_conv() holds.
 * - ROLE_CHANNELWISE: DEPTHWISE_CONV2D for which is_plain_conv() holds. If the first operand is computed and not of rank
 *   0, also RESCALE and TABLE whose other operands are constant, both pools, both ways of resizing, CLAMP, CAST, ABS,
 *   NEGATE, IDENTITY, and TFLite's LOGISTIC and TANH. ADD, SUB, MUL, MAXIMUM, MINIMUM and ARITHMETIC_RIGHT_SHIFT for
 *   which is_elementwise() holds.
 * - PAD, TRANSPOSE, CONCAT, SLICE, and reductions to a sum, maximum or minimum: what axis_role() says.
 * - RESHAPE: what reshape_role() says.
 * - All others: ROLE_OPAQUE.
 */
static enum role integer_role(const weft_graph *g, const struct weft_gop *o)
{
	switch (o->op) {
	case WEFT_OP_CONV2D:
		return is_plain_conv(g, o) ? ROLE_CONV : ROLE_OPAQUE;
	case WEFT_OP_DEPTHWISE_CONV2D:
		return is_plain_conv(g, o) ? ROLE_CHANNELWISE : ROLE_OPAQUE;
	case WEFT_OP_RESCALE:
	case WEFT_OP_TABLE:
		return rest_const(g, o) && operand_of(g, o, 0)->rank ? ROLE_CHANNELWISE : ROLE_OPAQUE;
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D:
	case WEFT_OP_CLAMP:
	case WEFT_OP_ABS:
	case WEFT_OP_NEGATE:
	case WEFT_OP_CAST:
	case WEFT_OP_IDENTITY:
	case WEFT_OP_RESIZE:
	case WEFT_OP_TFL_RESIZE_BILINEAR:
	case WEFT_OP_TFL_LOGISTIC:
	case WEFT_OP_TFL_TANH:
		return !is_const(g, o, 0) && operand_of(g, o, 0)->rank ? ROLE_CHANNELWISE : ROLE_OPAQUE;
	case WEFT_OP_ADD:
	case WEFT_OP_SUB:
	case WEFT_OP_MUL:
	case WEFT_OP_MAXIMUM:
	case WEFT_OP_MINIMUM:
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT:
		return is_elementwise(g, o) ? ROLE_CHANNELWISE : ROLE_OPAQUE;
	case WEFT_OP_PAD:
	case WEFT_OP_TRANSPOSE:
	case WEFT_OP_REDUCE_SUM:
	case WEFT_OP_REDUCE_MAX:
	case WEFT_OP_REDUCE_MIN:
	case WEFT_OP_CONCAT:
	case WEFT_OP_SLICE:
		return axis_role(g, o);
	case WEFT_OP_RESHAPE:
		return reshape_role(g, o);
	default:
		return ROLE_OPAQUE;
	}
}

enum role fold_role(const weft_graph *g, const struct weft_gop *o)
{
	if (o->op == WEFT_OP_CONST)
		return ROLE_NONE;
	if (!o->n_in || is_dynamic(o) || !all_integers(g, o))
		return ROLE_OPAQUE;
	return integer_role(g, o);
}

/*
 * Returns the channel that becomes channel c of the result of o, whose role is ROLE_PLACED, and sets *operand
 * to the operand that has it.
 */
int fold_source(const weft_graph *g, const struct weft_gop *o, int64_t c, int *operand)
{
	const weft_tensor *x = operand_of(g, o, 0);

	*operand = 0;
	if (o->op == WEFT_OP_SLICE)
		return (int)(c + o->attr.slice.start[x->rank - 1]);
	if (o->op == WEFT_OP_RESHAPE)
		return (int)(c % last_dim(x));
	while (c >= last_dim(operand_of(g, o, *operand)))
		c -= last_dim(operand_of(g, o, (*operand)++));
	return (int)c;
}

/*
 * Returns how many channels of o's result each channel of its operands makes: a depthwise convolution's
 * multiplier, otherwise 1.
 */
int64_t fold_multiplier(const weft_graph *g, const struct weft_gop *o)
{
	return o->op == WEFT_OP_DEPTHWISE_CONV2D ? operand_of(g, o, 1)->dim[3] : 1;
}

/*
 * Set *t to a copy of constant `from` that has, along `axis`, only the elements of the channels in k: m elements side by
 * side for each channel. k must be a list (k->c not NULL). Returns 1, or -ENOMEM with *t unchanged.
 */
static int gather(const weft_tensor *from, int axis, const struct kept *k, int64_t m, weft_tensor *t)
{
	size_t inner = weft_dtype_bytes(from->dtype) * (size_t)m, outer = 1;
	int64_t all = from->dim[axis] / m;
	weft_tensor y = *from;

	for (int i = 0; i < axis; i++)
		outer *= (size_t)from->dim[i];
	for (int i = axis + 1; i < from->rank; i++)
		inner *= (size_t)from->dim[i];
	y.dim[axis] = k->n * m;
	uint8_t *to = y.data = malloc(weft_tensor_bytes(&y) + 1);
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < outer; i++)
		for (int j = 0; j < k->n; j++, to += inner)
			memcpy(to, (const uint8_t *)from->data + (i * (size_t)all + (size_t)k->c[j]) * inner, inner);
	*t = y;
	return 1;
}

/*
 * Set *t to the weights w of a CONV2D for the output channels `out` and the input channels `in` that are left, with
 * memory of its own. Returns 1; 0 if all of both are left; or -ENOMEM. With 0 and -ENOMEM *t is unchanged.
 */
static int conv_weights(const weft_tensor *w, const struct kept *in, const struct kept *out, weft_tensor *t)
{
	weft_tensor rows;

	if (!out->c)
		return in->c ? gather(w, 3, in, 1, t) : 0;
	if (!in->c)
		return gather(w, 0, out, 1, t);
	int err = gather(w, 0, out, 1, &rows);
	if (err < 0)
		return err;
	err = gather(&rows, 3, in, 1, t);
	free(rows.data);
	return err;
}

int fold_operand(const weft_graph *g, const struct weft_gop *o, int k, const struct kept *in, const struct kept *out, weft_tensor *t)
{
	const weft_tensor *from = operand_of(g, o, k);

	if (o->op == WEFT_OP_CONV2D)
		return k == 1 ? conv_weights(from, in, out, t) : out->c && last_dim(from) > 1 ? gather(from, 0, out, 1, t) : 0;
	if (!in->c || o->op == WEFT_OP_TABLE)
		return 0;
	if (o->op == WEFT_OP_DEPTHWISE_CONV2D && k == 1)
		return gather(from, 2, in, 1, t);
	if (!from->rank || last_dim(from) == 1)
		return 0;
	return gather(from, from->rank - 1, in, fold_multiplier(g, o), t);
}
