/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of the TOSA operators that mostly only TOSA files have: elementwise ones, layout, image,
 * control flow and variables. Every check returns 0, or -EINVAL with one line in c->msg.
 *
 * Source: TOSA 1.0, the argument tables and ERROR_IF lines of each operator.
 */
#include "check_need.h"

#define INTS (T(WEFT_INT8) | T(WEFT_INT16) | T(WEFT_INT32))

/*
 * Checks that the operands from `first` on all have one type, and that it is in the set `allowed`. The
 * result must have the same type if result_type is 0; otherwise it must have a type of the set
 * result_type. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_types(const struct weft_check *c, int first, uint32_t allowed, uint32_t result_type)
{
	int err = need_type(c, "operand", operand(c, first), allowed);

	for (int k = first; k < this_op(c)->n_in && !err; k++)
		err = need_type(c, "operand", operand(c, k), T(operand(c, first)->dtype));
	return err ? err : need_type(c, "result", result(c), result_type ? result_type : T(operand(c, first)->dtype));
}

/*
 * Checks that all operands and the result have one type of the set `allowed`, and that the result has
 * operand 0's shape. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_unary(const struct weft_check *c, uint32_t allowed)
{
	int err = check_types(c, 0, allowed, 0);

	return err ? err : need_same_shape(c);
}

/*
 * Checks that all operands have one type of the set `allowed`, that the result has a type of
 * result_type (0: the same type), and that the operands broadcast to the result's shape. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
static int check_binary(const struct weft_check *c, uint32_t allowed, uint32_t result_type)
{
	int err = check_types(c, 0, allowed, result_type);

	return err ? err : need_broadcast(c);
}

/*
 * Checks NEGATE: int8, int16, int32 or a float in and out, the same shape, and zero points that the
 * type may have. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_negate(const struct weft_check *c)
{
	int err = check_unary(c, INTS | FLOATS);

	return err ? err : weft_check_attr(c);
}

/*
 * Checks SELECT: operand 0 is bool, operands 1 and 2 and the result have one type of any kind, and all
 * shapes broadcast (equal ranks; each dimension 1 or the result's). Returns 0, or -EINVAL with one line
 * in c->msg.
 */
static int check_select(const struct weft_check *c)
{
	int err = need_type(c, "condition", operand(c, 0), T(WEFT_BOOL));

	if (err || (err = check_types(c, 1, ANY, 0)))
		return err;
	return need_broadcast(c);
}

/*
 * Checks CONV3D: input, weight and result have rank 5 and the bias rank 1; the attributes' limits and
 * zero points; the weight's channels are the input's; the result's batches and channels; the bias has 1
 * element or one for each output channel; paddings are not negative, stride and dilation at least 1;
 * depth, height and width of the result are exact; and the types are a row of TOSA's table. Returns 0,
 * or -EINVAL with one line in c->msg.
 */
static int check_conv3d(const struct weft_check *c)
{
	static const char *const axis[3] = { "depth", "height", "width" };
	const struct weft_attr_conv3d *a = &this_op(c)->attr.conv3d;
	const weft_tensor *x = operand(c, 0), *w = operand(c, 1), *b = operand(c, 2), *y = result(c);
	int err;

	if ((err = need_rank(c, "input", x, 5)) || (err = need_rank(c, "weight", w, 5)) ||
	    (err = need_rank(c, "bias", b, 1)) || (err = need_rank(c, "result", y, 5)) ||
	    (err = weft_check_conv_types(c, a->acc)) || (err = weft_check_attr(c)) || (err = need_dim(c, "weight", w, 4, x->dim[4])) || (err = need_dim(c, "result", y, 0, x->dim[0])) ||
	    (err = need_dim(c, "result", y, 4, w->dim[0])))
		return err;
	if (b->dim[0] != 1 && b->dim[0] != w->dim[0])
		FAIL("bias has %lld elements, not 1 or %lld", (long long)b->dim[0], (long long)w->dim[0]);
	for (int i = 0; i < 3 && !err; i++) {
		if (a->pad[2 * i] < 0 || a->pad[2 * i + 1] < 0 || a->stride[i] < 1 || a->dilation[i] < 1)
			FAIL("%s: pads %d, %d < 0 or stride %d, dilation %d < 1", axis[i], (int)a->pad[2 * i], (int)a->pad[2 * i + 1],
			     (int)a->stride[i], (int)a->dilation[i]);
		err = need_extent(c, axis[i], x->dim[1 + i] + a->pad[2 * i] + a->pad[2 * i + 1],
		                  (w->dim[1 + i] - 1) * a->dilation[i] + 1, a->stride[i], y->dim[1 + i]);
	}
	return err;
}

/* Says whether n is a power of two; 1 is one. */
static bool power_of_two(int64_t n)
{
	return n > 0 && !(n & (n - 1));
}

/*
 * Checks FFT2D and RFFT2D: all inputs are fp32 of rank 3 and one shape, with height and width powers of
 * two; both results are fp32 with that shape, but RFFT2D's have width / 2 + 1 columns. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
static int check_fft(const struct weft_check *c)
{
	const struct weft_gop *o = this_op(c);
	const weft_tensor *x = operand(c, 0);
	int err = need_rank(c, "input", x, 3);

	for (int k = 0; k < o->n_in && !err; k++) {
		if (!same_shape(operand(c, k), x))
			FAIL("shapes of the inputs differ");
		err = need_type(c, "input", operand(c, k), T(WEFT_FP32));
	}
	if (err)
		return err;
	if (!power_of_two(x->dim[1]) || !power_of_two(x->dim[2]))
		FAIL("%lld by %lld: not powers of two", (long long)x->dim[1], (long long)x->dim[2]);
	for (int k = 0; k < 2 && !err; k++) {
		const weft_tensor *y = &c->g->tensors[o->out[k]].t;
		if ((err = need_type(c, "result", y, T(WEFT_FP32))) || (err = need_rank(c, "result", y, 3)) ||
		    (err = need_dim(c, "result", y, 0, x->dim[0])) || (err = need_dim(c, "result", y, 1, x->dim[1])))
			return err;
		err = need_dim(c, "result", y, 2, o->op == WEFT_OP_RFFT2D ? x->dim[2] / 2 + 1 : x->dim[2]);
	}
	return err;
}

/*
 * Checks REVERSE: the same type and shape in and out, and an axis that exists. Returns 0, or -EINVAL
 * with one line in c->msg.
 */
static int check_reverse(const struct weft_check *c)
{
	int err = check_unary(c, ANY);

	return err || (err = need_axis(c)) ? err : weft_check_attr(c);
}

/*
 * Checks TILE: the same type in and out, one rank of at least 1, multiples of at least 1, and in each
 * dimension a result of extent times multiple. Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_tile(const struct weft_check *c)
{
	const int32_t *m = this_op(c)->attr.tile.multiple;
	const weft_tensor *x = operand(c, 0), *y = result(c);
	int err = need_same_type(c, ANY);

	if (err || (err = need_rank(c, "result", y, x->rank)))
		return err;
	if (x->rank < 1)
		FAIL("rank 0");
	for (int i = 0; i < x->rank && !err; i++) {
		if (m[i] < 1)
			FAIL("multiple %d is %d < 1", i, (int)m[i]);
		err = need_dim(c, "result", y, i, x->dim[i] * m[i]);
	}
	return err;
}

/*
 * Checks GATHER and SCATTER: values [N,K,C], int32 indices [N,W], and [N,W,C] of the values' type:
 * GATHER's result, or SCATTER's third operand, whose result is like the values. Returns 0, or -EINVAL
 * with one line in c->msg.
 */
static int check_gather(const struct weft_check *c)
{
	const bool scatter = this_op(c)->op == WEFT_OP_SCATTER;
	const weft_tensor *v = operand(c, 0), *index = operand(c, 1), *y = result(c);
	const weft_tensor *rows = scatter ? operand(c, 2) : y;
	int err;

	if ((err = need_type(c, "indices", index, T(WEFT_INT32))) || (err = need_same_type(c, ANY)) ||
	    (err = need_type(c, "rows", rows, T(v->dtype))) || (err = need_rank(c, "values", v, 3)) ||
	    (err = need_rank(c, "indices", index, 2)) || (err = need_rank(c, "rows", rows, 3)) ||
	    (err = need_dim(c, "indices", index, 0, v->dim[0])) || (err = need_dim(c, "rows", rows, 0, v->dim[0])) ||
	    (err = need_dim(c, "rows", rows, 1, index->dim[1])) || (err = need_dim(c, "rows", rows, 2, v->dim[2])))
		return err;
	return scatter ? need_same_shape(c) : 0;
}

/*
 * Checks one axis of RESIZE from `in` to `out` elements, both below 16384: scale n/d with n 1..2048 and
 * d 1..16n - 1, offset -n..16n - 1, border -16n..n - 1, and out exactly ((in - 1) * n - offset +
 * border) / d + 1, without a remainder. axis names it in the message. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_resize_axis(const struct weft_check *c, const char *axis, int64_t in, int64_t out, int64_t n, int64_t d,
                             int64_t offset, int64_t border)
{
	if (in >= 16384 || out >= 16384)
		FAIL("%s %lld to %lld, not below 16384", axis, (long long)in, (long long)out);
	if (n < 1 || d < 1 || n > 2048 || d >= 16 * n)
		FAIL("%s: scale %lld/%lld outside 1..2048 / 1..16*numerator-1", axis, (long long)n, (long long)d);
	if (offset < -n || offset >= 16 * n)
		FAIL("%s: offset %lld outside %lld..%lld", axis, (long long)offset, (long long)-n, (long long)(16 * n - 1));
	if (border < -16 * n || border >= n)
		FAIL("%s: border %lld outside %lld..%lld", axis, (long long)border, (long long)(-16 * n), (long long)(n - 1));
	int64_t span = (in - 1) * n - offset + border;
	if (span < 0 || span % d || span / d + 1 != out)
		FAIL("%s: output is %lld, not %lld/%lld + 1", axis, (long long)out, (long long)span, (long long)d);
	return 0;
}

/*
 * Checks RESIZE: the types (int8, int16 or a float; the result has the operand's, but BILINEAR of int8
 * gives int32 and of int16 int48), the attributes' limits, rank 4, batches and channels stay, then
 * height and width with check_resize_axis(). Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_resize(const struct weft_check *c)
{
	const struct weft_attr_resize *a = &this_op(c)->attr.resize;
	const weft_tensor *x = operand(c, 0), *y = result(c);
	const bool smooth = a->mode == WEFT_RESIZE_BILINEAR;
	const weft_dtype type = smooth && x->dtype == WEFT_INT8  ? WEFT_INT32 :
	                        smooth && x->dtype == WEFT_INT16 ? WEFT_INT48 : x->dtype;
	int err;

	if ((err = need_type(c, "operand 0", x, T(WEFT_INT8) | T(WEFT_INT16) | FLOATS)) ||
	    (err = need_type(c, "result", y, T(type))) || (err = weft_check_attr(c)) || (err = need_rank(c, "input", x, 4)) || (err = need_rank(c, "result", y, 4)) ||
	    (err = need_dim(c, "result", y, 0, x->dim[0])) || (err = need_dim(c, "result", y, 3, x->dim[3])) ||
	    (err = check_resize_axis(c, "height", x->dim[1], y->dim[1], a->scale_y_n, a->scale_y_d, a->offset_y, a->border_y)))
		return err;
	return check_resize_axis(c, "width", x->dim[2], y->dim[2], a->scale_x_n, a->scale_x_d, a->offset_x, a->border_x);
}

/* ---- control flow ---- */

/*
 * Checks that `sub` is one of the outermost graph's sub-graphs, and if c is in sub-graph i_sub, one of
 * the first i_sub of them, so that sub-graphs cannot be nested in a cycle. NULL fails. Returns 0, or
 * -EINVAL with one line in c->msg.
 */
static int check_sub(const struct weft_check *c, const weft_graph *sub)
{
	const int n = c->i_sub < 0 ? c->outer->n_subs : c->i_sub;

	for (int i = 0; sub && i < n; i++)
		if (c->outer->subs[i] == sub)
			return 0;
	FAIL("its sub-graph is not one of the network's earlier ones");
}

/* Says whether two tensors have the same type and shape. */
static bool same(const weft_tensor *a, const weft_tensor *b)
{
	return a->dtype == b->dtype && same_shape(a, b);
}

/*
 * Checks that the n tensors mine[] of this graph are as many as a sub-graph's ports[], and have their
 * types and shapes in the same order. what names them in the message. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_list(const struct weft_check *c, const char *what, const int *mine, int n, const weft_graph *sub,
                      const int *ports, int n_ports)
{
	if (n != n_ports)
		FAIL("%s: %d tensors, the sub-graph has %d", what, n, n_ports);
	for (int i = 0; i < n; i++)
		if (!same(&c->g->tensors[mine[i]].t, &sub->tensors[ports[i]].t))
			FAIL("%s %d: type or shape is not the sub-graph's", what, i);
	return 0;
}

/*
 * Checks COND_IF: operand 0 is bool with one element, and each of the two sub-graphs stands before this
 * graph, has inputs with types and shapes of the other operands and outputs with those of the results.
 * Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_cond_if(const struct weft_check *c)
{
	const struct weft_gop *o = this_op(c);
	int err = need_type(c, "condition", operand(c, 0), T(WEFT_BOOL));

	if (err)
		return err;
	if (weft_tensor_elements(operand(c, 0)) != 1)
		FAIL("condition has %lld elements, not 1", (long long)weft_tensor_elements(operand(c, 0)));
	for (int i = 0; i < 2; i++) {
		const weft_graph *s = o->attr.flow.graph[i];
		if ((err = check_sub(c, s)) ||
		    (err = check_list(c, "inputs", o->in + 1, o->n_in - 1, s, s->inputs, s->n_inputs)) ||
		    (err = check_list(c, "outputs", o->out, o->n_out, s, s->outputs, s->n_outputs)))
			return err;
	}
	return 0;
}

/*
 * Checks WHILE_LOOP: both sub-graphs stand before this graph; there are as many results as operands,
 * with the same types and shapes; inputs of both sub-graphs and outputs of the body (the second one)
 * look like the operands; and the condition (the first one) has one output, a bool with one element.
 * Returns 0, or -EINVAL with one line in c->msg.
 */
static int check_while(const struct weft_check *c)
{
	const struct weft_gop *o = this_op(c);
	const weft_graph *cond = o->attr.flow.graph[0], *body = o->attr.flow.graph[1];
	int err;

	if ((err = check_sub(c, cond)) || (err = check_sub(c, body)))
		return err;
	if (o->n_in != o->n_out)
		FAIL("%d inputs, %d outputs", o->n_in, o->n_out);
	for (int i = 0; i < o->n_in; i++)
		if (!same(operand(c, i), &c->g->tensors[o->out[i]].t))
			FAIL("output %d: type or shape is not the input's", i);
	if ((err = check_list(c, "condition's inputs", o->in, o->n_in, cond, cond->inputs, cond->n_inputs)) ||
	    (err = check_list(c, "body's inputs", o->in, o->n_in, body, body->inputs, body->n_inputs)) ||
	    (err = check_list(c, "body's outputs", o->in, o->n_in, body, body->outputs, body->n_outputs)))
		return err;
	if (cond->n_outputs != 1 || cond->tensors[cond->outputs[0]].t.dtype != WEFT_BOOL ||
	    weft_tensor_elements(&cond->tensors[cond->outputs[0]].t) != 1)
		FAIL("the condition does not give one bool");
	return 0;
}

/*
 * Checks VARIABLE_READ and VARIABLE_WRITE: the attribute id is a variable of the outermost graph, and
 * the result and, if there is one, operand 0 have its type and shape. Returns 0, or -EINVAL with one
 * line in c->msg.
 */
static int check_variable(const struct weft_check *c)
{
	const int32_t id = this_op(c)->attr.variable.id;

	if (id < 0 || id >= c->outer->n_vars)
		FAIL("variable %d of %d", (int)id, c->outer->n_vars);
	if (!same(result(c), &c->outer->vars[id].t) || (this_op(c)->n_in && !same(operand(c, 0), result(c))))
		FAIL("type or shape is not the variable's");
	return 0;
}

int weft_check_tosa_op(const struct weft_check *c)
{
	switch (this_op(c)->op) {
	case WEFT_OP_CONV3D: return check_conv3d(c);
	case WEFT_OP_FFT2D:
	case WEFT_OP_RFFT2D: return check_fft(c);
	case WEFT_OP_ERF: case WEFT_OP_SIGMOID: case WEFT_OP_TANH: case WEFT_OP_CEIL: case WEFT_OP_COS: case WEFT_OP_EXP:
	case WEFT_OP_FLOOR: case WEFT_OP_LOG: case WEFT_OP_RECIPROCAL: case WEFT_OP_RSQRT: case WEFT_OP_SIN:
		return check_unary(c, FLOATS);
	case WEFT_OP_ABS: return check_unary(c, FLOATS | T(WEFT_INT32));
	case WEFT_OP_CLZ: return check_unary(c, T(WEFT_INT32));
	case WEFT_OP_BITWISE_NOT: return check_unary(c, INTS);
	case WEFT_OP_LOGICAL_NOT: return check_unary(c, T(WEFT_BOOL));
	case WEFT_OP_NEGATE: return check_negate(c);
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT: case WEFT_OP_LOGICAL_LEFT_SHIFT: case WEFT_OP_LOGICAL_RIGHT_SHIFT:
	case WEFT_OP_BITWISE_AND: case WEFT_OP_BITWISE_OR: case WEFT_OP_BITWISE_XOR: return check_binary(c, INTS, 0);
	case WEFT_OP_INTDIV: return check_binary(c, T(WEFT_INT32), 0);
	case WEFT_OP_LOGICAL_AND: case WEFT_OP_LOGICAL_OR: case WEFT_OP_LOGICAL_XOR:
		return check_binary(c, T(WEFT_BOOL), 0);
	case WEFT_OP_POW: return check_binary(c, FLOATS, 0);
	case WEFT_OP_EQUAL: case WEFT_OP_GREATER: case WEFT_OP_GREATER_EQUAL:
		return check_binary(c, FLOATS | T(WEFT_INT32), T(WEFT_BOOL));
	case WEFT_OP_SELECT: return check_select(c);
	case WEFT_OP_REVERSE: return check_reverse(c);
	case WEFT_OP_TILE: return check_tile(c);
	case WEFT_OP_GATHER:
	case WEFT_OP_SCATTER: return check_gather(c);
	case WEFT_OP_RESIZE: return check_resize(c);
	case WEFT_OP_COND_IF: return check_cond_if(c);
	case WEFT_OP_WHILE_LOOP: return check_while(c);
	case WEFT_OP_VARIABLE_WRITE:
	case WEFT_OP_VARIABLE_READ: return check_variable(c);
	default: FAIL("has no rules here");
	}
}
