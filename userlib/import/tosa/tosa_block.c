/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one graph of one block. Operators are put in an order in which every
 * value exists before it is used; a file that is in such an order keeps it. A
 * block that COND_IF or WHILE_LOOP names becomes one sub-graph, however many
 * operators name it.
 *
 * A block may use constants, shapes and variables of other blocks by name, but
 * nothing that is computed there.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tosa_lower.h"

#define MAX_PORTS 1024             /* inputs, and outputs, of one block */

/*
 * Writes one line to l->msg: the block's name if it is a sub-graph's, the operator at hand with its
 * index if there is one, and the formatted text; characters that are not printable become '?'.
 * Returns err.
 */
int tosa_fail(struct tosa_lower *l, int err, const char *format, ...)
{
	const struct tosa_block *k = l->s.g && l->s.g != l->outer ? &l->f.blocks[l->s.block] : NULL;
	int n = 0;
	va_list ap;

	if (k)
		n = snprintf(l->msg, WEFT_MSG, "block \"%.*s\" ", TOSA_SHOWN(k->name));
	if (l->op)
		n += snprintf(l->msg + n, WEFT_MSG - (size_t)n, "operator %d %s: ", l->i_op,
		              l->op->code > 0 && l->op->code < TOSA_N_CODES ? weft_op_name(tosa_infos[l->op->code].op) : "?");
	va_start(ap, format);
	vsnprintf(l->msg + n, WEFT_MSG - (size_t)n, format, ap);
	va_end(ap);
	for (char *p = l->msg; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return err;
}

/* ---- tensors of the graph ---- */

/*
 * Takes `room` bytes from l->room and, unless `declared` is NULL, the bytes of that value from
 * l->activations. Returns false, and takes nothing, if either has too few left.
 */
static bool afford(struct tosa_lower *l, size_t room, const weft_tensor *declared)
{
	size_t bytes = declared ? weft_tensor_bytes(declared) : 0;

	if (l->room < (int64_t)room || bytes > (size_t)l->activations)
		return false;
	l->room -= (int64_t)room;
	l->activations -= (int64_t)bytes;
	return true;
}

/*
 * Adds a tensor with type, shape and data of *t to the graph at hand, under that name with '?' for
 * characters that are not printable. The data, which may be NULL, is taken over, and freed after a
 * failure. Bookkeeping (three times the graph's tensor, the name and 32 bytes) is taken from
 * l->room and, if there is no data, the value's bytes from l->activations. Returns the tensor's
 * index, -EINVAL if one of these has too few bytes left, or -ENOMEM.
 */
static int add_tensor(struct tosa_lower *l, struct tosa_name name, weft_tensor *t)
{
	char own[TOSA_MAX_NAME + 1];

	memcpy(own, name.p, name.n);
	own[name.n] = '\0';
	for (char *p = own; p < own + name.n; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	if (!afford(l, 3 * sizeof(struct weft_gtensor) + name.n + 32, t->data ? NULL : t)) {
		free(t->data);
		return tosa_fail(l, -EINVAL, "tensors take more memory than allowed");
	}
	int i = weft_graph_const(l->s.g, own, t->dtype, t->rank, t->dim, t->data);
	return i < 0 ? tosa_fail(l, -ENOMEM, "out of memory") : i;
}

/*
 * Adds a tensor without data to the graph at hand for a file tensor that is computed or an input,
 * and notes its index in l->gt. Returns the index, or a negative errno.
 */
static int declare(struct tosa_lower *l, int tensor)
{
	weft_tensor t;
	int err = tosa_declared(l, tensor, &t);

	if (err)
		return err;
	int i = add_tensor(l, l->f.tensors[tensor].name, &t);
	if (i >= 0)
		l->gt[tensor] = i;
	return i;
}

/*
 * Adds an int64 tensor without data, with one element for each value, to the graph at hand for a
 * shape that is an input, and notes its index in l->gshape. Returns the index, -EINVAL if the shape
 * has values in the file or not 1 to 12 of them, or another negative errno.
 */
static int declare_shape(struct tosa_lower *l, int shape)
{
	const struct tosa_shape *s = &l->f.shapes[shape];
	weft_tensor t = { .dtype = WEFT_INT64, .rank = 1, .dim = { s->rank, 1, 1, 1, 1, 1, 1, 1 } };

	if (s->data.n || s->rank < 1 || s->rank > 2 * TOSA_MAX_RANK)
		return tosa_fail(l, -EINVAL, "an input is a shape of rank %lld, or has values", (long long)s->rank);
	int i = add_tensor(l, s->name, &t);
	if (i >= 0)
		l->gshape[shape] = i;
	return i;
}

static bool is_local(const struct tosa_lower *l, int tensor)
{
	const struct tosa_block *k = &l->f.blocks[l->s.block];

	return tensor >= k->tensor && tensor < k->tensor + k->n_tensors;
}

/*
 * Returns the tensor of the graph at hand for a file tensor: the one in l->gt if the tensor is of
 * this block and has one, else a new constant with the tensor's data. A constant of this block is
 * added once and noted in l->gt, one of another block is added at each call. Returns -EINVAL if the
 * file tensor is a variable, or has no data and nothing has given it a value yet, or another
 * negative errno.
 */
int tosa_value(struct tosa_lower *l, int tensor)
{
	const struct tosa_tensor *ft = &l->f.tensors[tensor];
	weft_tensor t;
	int err;

	if (is_local(l, tensor) && l->gt[tensor] >= 0)
		return l->gt[tensor];
	if (!ft->data || ft->variable)
		return tosa_fail(l, -EINVAL, "nothing gives \"%.*s\" a value", TOSA_SHOWN(ft->name));
	if ((err = tosa_const(l, tensor, &t)))
		return err;
	int i = add_tensor(l, ft->name, &t);
	if (i >= 0 && is_local(l, tensor))
		l->gt[tensor] = i;
	return i;
}

/*
 * Returns the int64 tensor of the graph at hand for a shape: the input's tensor if the shape is an
 * input, else a constant that is added at each call. It is needed only if the shape is an output or
 * stands beside arguments that are not constant. Returns -ENOTSUP for a shape of rank 0, -EINVAL if
 * the file has no values for it or l->room has fewer than 8 bytes for each, or -ENOMEM.
 */
static int shape_value(struct tosa_lower *l, int shape)
{
	const struct tosa_shape *s = &l->f.shapes[shape];

	if (tosa_shape_input(l, shape) >= 0)
		return tosa_shape_input(l, shape);
	weft_tensor t = { .dtype = WEFT_INT64, .rank = 1, .dim = { s->rank, 1, 1, 1, 1, 1, 1, 1 } };

	if (s->rank < 1)
		return tosa_fail(l, -ENOTSUP, "a shape of rank 0 as an output");
	if (s->data.n != s->rank)
		return tosa_fail(l, -EINVAL, "nothing gives a shape values");
	l->room -= 8 * s->rank;
	if (l->room < 0)
		return tosa_fail(l, -EINVAL, "shapes take more memory than allowed");
	t.data = malloc((size_t)s->rank * 8);
	if (!t.data)
		return tosa_fail(l, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < s->data.n; i++)
		((int64_t *)t.data)[i] = fb_i64_at(&l->f.b, &s->data, i);
	return add_tensor(l, s->name, &t);
}

/* ---- operators ---- */

/*
 * Appends operator op with attributes a, operands in and results out (tensors of the graph at hand)
 * to that graph, and notes out[0] as the result of the operator's record l->src. Takes bookkeeping
 * from l->room. Returns 0, -EINVAL if the room is used up, there are more than 65 operands or not 1
 * to 64 results, or -ENOMEM.
 */
static int emit(struct tosa_lower *l, weft_opcode op, const weft_attr *a, const int *in, int n_in, const int *out, int n_out)
{
	l->room -= 3 * (int64_t)sizeof(struct weft_gop) + 4 * (n_in + n_out) + 64;
	if (l->room < 0)
		return tosa_fail(l, -EINVAL, "operators take more memory than allowed");
	int i = weft_graph_op(l->s.g, op, a, l->src, in, n_in, out, n_out);
	if (i == -EINVAL)
		return tosa_fail(l, -EINVAL, "%d operands and %d results", n_in, n_out);
	if (i < 0)
		return tosa_fail(l, -ENOMEM, "out of memory");
	l->s.g->srcs[l->src].out = out[0];
	return 0;
}

/*
 * Returns the index of the variable that a file tensor stands for: the one that VARIABLE has
 * declared for the tensor itself, or else the one declared for the tensor that l->consts has under
 * the same name, which may be another block's. Returns -EINVAL if none has been declared yet.
 */
static int variable_of(struct tosa_lower *l, int tensor)
{
	if (l->var[tensor] >= 0)
		return l->var[tensor];
	/* Another block's tensor for the same variable. */
	const struct tosa_entry *e = tosa_find(&l->consts, l->f.tensors[tensor].name);
	if (e && !e->is_shape && l->var[e->index] >= 0)
		return l->var[e->index];
	return tosa_fail(l, -EINVAL, "variable is not declared before");
}

/*
 * Adds a variable to the outermost graph for a file tensor, with that tensor's data as first value
 * if it has any, and notes its index in l->var. Its name is the tensor's variable name or, if that
 * is empty, the tensor's name. Its bytes are taken from l->activations. Returns 0, -EINVAL if it
 * takes more than is left there or in l->room, or another negative errno with a line in l->msg.
 */
static int new_variable(struct tosa_lower *l, int tensor)
{
	const struct tosa_tensor *ft = &l->f.tensors[tensor];
	char name[TOSA_MAX_NAME + 1];
	weft_tensor t;
	int err = ft->data ? tosa_const(l, tensor, &t) : tosa_declared(l, tensor, &t);

	if (err)
		return err;
	struct tosa_name n = ft->variable_name.n ? ft->variable_name : ft->name;
	memcpy(name, n.p, n.n);
	name[n.n] = '\0';
	if (!afford(l, 3 * sizeof(struct weft_gvar) + n.n + 32, &t)) {
		free(t.data);
		return tosa_fail(l, -EINVAL, "variables take more memory than allowed");
	}
	int i = weft_graph_var(l->outer, name, t.dtype, t.rank, t.dim, t.data);
	if (i < 0)
		return tosa_fail(l, -ENOMEM, "out of memory");
	l->var[tensor] = i;
	return 0;
}

/*
 * Converts the operator at hand, a VARIABLE: adds the variable that its result names to the
 * outermost graph. Returns 0, -EINVAL if the result is unknown or no variable, has a type other
 * than int8, fp16 and fp32, is declared twice, or takes more memory than is left, or another
 * negative errno.
 */
static int declare_variable(struct tosa_lower *l)
{
	int t, err = tosa_lookup(l, tosa_string(&l->f, &l->op->out, 0), &t);

	if (err)
		return err;
	if (t < 0 || !l->f.tensors[t].variable)
		return tosa_fail(l, -EINVAL, "result is no variable");
	weft_dtype type = tosa_dtype(l->f.tensors[t].type);
	if (type != WEFT_INT8 && type != WEFT_FP16 && type != WEFT_FP32)
		return tosa_fail(l, -EINVAL, "%s: not a row of its table", weft_dtype_name(type));
	if (l->var[t] >= 0)
		return tosa_fail(l, -EINVAL, "variable is declared twice");
	return new_variable(l, t);
}

/*
 * Emits VARIABLE_READ of the variable of file tensor var_tensor; its result is declared for file
 * tensor out_tensor. Returns 0 or a negative errno.
 */
static int read_variable(struct tosa_lower *l, int var_tensor, int out_tensor)
{
	int id = variable_of(l, var_tensor);
	weft_attr a = { .variable = { id } };
	int y = id < 0 ? id : declare(l, out_tensor);

	return y < 0 ? y : emit(l, WEFT_OP_VARIABLE_READ, &a, NULL, 0, &y, 1);
}

/*
 * Emits VARIABLE_WRITE of the value of file tensor value_tensor to the variable of file tensor
 * var_tensor. In the graph the operator also has a result, an internal tensor without a name that
 * has the value written. Returns 0 or a negative errno.
 */
static int write_variable(struct tosa_lower *l, int value_tensor, int var_tensor)
{
	int id = variable_of(l, var_tensor);
	weft_attr a = { .variable = { id } };
	int x = id < 0 ? id : tosa_value(l, value_tensor);

	if (x < 0)
		return x;
	weft_tensor t = l->s.g->tensors[x].t;
	t.data = NULL;
	int y = add_tensor(l, (struct tosa_name){ "", 0 }, &t);
	if (y < 0)
		return y;
	l->s.g->tensors[y].internal = true;
	return emit(l, WEFT_OP_VARIABLE_WRITE, &a, &x, 1, &y, 1);
}

/*
 * Sets *t to the file tensor that is result i of the operator at hand. Returns 0, or -EINVAL if
 * nothing has its name or it is a shape.
 */
static int result_tensor(struct tosa_lower *l, uint32_t i, int *t)
{
	int err = tosa_lookup(l, tosa_string(&l->f, &l->op->out, i), t);

	if (!err && *t < 0)
		err = tosa_fail(l, -EINVAL, "result %u is a shape", (unsigned)i);
	return err;
}

static bool is_variable(const struct tosa_lower *l, int t)
{
	return t >= 0 && l->f.tensors[t].variable;
}

/*
 * Converts the operator at hand if it is VARIABLE_READ, VARIABLE_WRITE, or an IDENTITY from or to a
 * variable, by which writers express the same. A write may have the variable as one of two operands
 * or as its only result. Returns 1 if that is done; 0 for every other operator; -EINVAL if result 0
 * of any operator is unknown or a shape, if a read has anything but one variable as operand and one
 * result that is no variable, if a write has anything but one value and one variable, or if the
 * variable is not declared; or another negative errno.
 */
static int variable_op(struct tosa_lower *l)
{
	const int n_in = (int)l->op->in.n, n_out = (int)l->op->out.n;
	int y = -1, err = n_out ? result_tensor(l, 0, &y) : 0;

	if (err)
		return err;
	if (l->op->code == TOSA_VARIABLE_READ || (l->op->code == TOSA_IDENTITY && n_in == 1 && is_variable(l, l->in[0]))) {
		if (n_in != 1 || n_out != 1 || !is_variable(l, l->in[0]) || is_variable(l, y))
			return tosa_fail(l, -EINVAL, "wants a variable and one result");
		err = read_variable(l, l->in[0], y);
	} else if (l->op->code == TOSA_VARIABLE_WRITE && n_in == 2 && !n_out) {
		int v = is_variable(l, l->in[0]) ? 0 : 1;
		if (!is_variable(l, l->in[v]) || l->in[1 - v] < 0)
			return tosa_fail(l, -EINVAL, "wants a variable and a value");
		err = write_variable(l, l->in[1 - v], l->in[v]);
	} else if (l->op->code == TOSA_VARIABLE_WRITE || (l->op->code == TOSA_IDENTITY && is_variable(l, y))) {
		if (n_in != 1 || n_out != 1 || l->in[0] < 0 || !is_variable(l, y))
			return tosa_fail(l, -EINVAL, "wants a value and a variable");
		err = write_variable(l, l->in[0], y);
	} else {
		return 0;
	}
	return err ? err : 1;
}

/*
 * Checks the operator at hand against tosa_infos: its code, the kind of its attribute table (the
 * code, or 0 if tosa_infos lets it be absent), the number of operands, and the number of results
 * (at most 64 where any number goes). Returns 0, or -EINVAL with the number found and the byte
 * offset in l->msg.
 */
static int check_form(struct tosa_lower *l)
{
	const struct tosa_op *o = l->op;
	const struct tosa_info *f;

	if (o->code <= 0 || o->code >= TOSA_N_CODES)
		return tosa_fail(l, -EINVAL, "code %lld is none of TOSA 1.0, at byte %zu", (long long)o->code, o->at);
	f = &tosa_infos[o->code];
	if (o->attr_type != (int)o->code && !(o->attr_type == 0 && f->bare))
		return tosa_fail(l, -EINVAL, "attributes of kind %d, not %d, at byte %zu", o->attr_type, (int)o->code, o->at);
	if (o->in.n < (uint32_t)f->in_min || o->in.n > (uint32_t)f->in_max)
		return tosa_fail(l, -EINVAL, "%u operands, wants %d..%d, at byte %zu", (unsigned)o->in.n, f->in_min, f->in_max, o->at);
	if (f->n_out >= 0 ? o->out.n != (uint32_t)f->n_out : o->out.n > WEFT_OP_MAX_OUTPUTS)
		return tosa_fail(l, -EINVAL, "%u results, wants %d, at byte %zu", (unsigned)o->out.n,
		                 f->n_out < 0 ? WEFT_OP_MAX_OUTPUTS : f->n_out, o->at);
	return 0;
}

/*
 * Checks the operator at hand, a CONST or CONST_SHAPE, which adds nothing to the graph: what its
 * result names has to be a tensor with data that is no variable, or a shape. Returns 0 or -EINVAL.
 */
static int data_node(struct tosa_lower *l)
{
	int t, err = tosa_lookup(l, tosa_string(&l->f, &l->op->out, 0), &t);

	if (err)
		return err;
	if (l->op->code == TOSA_CONST_SHAPE)
		return t < 0 ? 0 : tosa_fail(l, -EINVAL, "result is no shape");
	if (t < 0 || !l->f.tensors[t].data || l->f.tensors[t].variable)
		return tosa_fail(l, -EINVAL, "result has no data");
	return 0;
}

/*
 * Returns the accumulator type among the attributes a of operator op, or 0 if the operator has
 * none.
 */
static weft_dtype accumulator(weft_opcode op, const weft_attr *a)
{
	switch (op) {
	case WEFT_OP_AVG_POOL2D: return a->pool.acc;
	case WEFT_OP_CONV3D: return a->conv3d.acc;
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
	case WEFT_OP_TRANSPOSE_CONV2D: return a->conv.acc;
	default: return 0;
	}
}

/*
 * The workspace of convert_op(): operands and results as graph tensors, their types and shapes, and the
 * attributes. It is on the heap, since attributes of control flow import further blocks, 256 deep.
 */
struct operands {
	int in[WEFT_OP_MAX_INPUTS], out[WEFT_OP_MAX_OUTPUTS];
	weft_tensor x[WEFT_OP_MAX_INPUTS], y[WEFT_OP_MAX_OUTPUTS];
	weft_attr a;
};

/*
 * Converts the operator at hand, with *w as its workspace: reads types, shapes and attributes,
 * checks the types against TOSA's table for the operator, finds the operands' tensors, declares the
 * results, and emits the operator. Operands that TOSA has as compile-time constants are left out,
 * as they have become attributes; if one of them is not constant (l->dynamic) and the graph's
 * operator can take operands for them, all stay operands. Returns 0, -EINVAL if a data operand or a
 * result is a shape or a rule is broken, or another negative errno.
 */
static int convert_op(struct tosa_lower *l, struct operands *w)
{
	const struct tosa_info *f = &tosa_infos[l->op->code];
	const int n_x = f->n_data < 0 ? (int)l->op->in.n : f->n_data, n_y = (int)l->op->out.n;
	int *in = w->in, *out = w->out, err;
	weft_tensor *x = w->x, *y = w->y;

	for (int i = 0; i < n_x; i++) {
		if (l->in[i] < 0)
			return tosa_fail(l, -EINVAL, "operand %d is a shape", i);
		if ((err = tosa_declared(l, l->in[i], &x[i])))
			return err;
	}
	for (int i = 0; i < n_y; i++) {
		if ((err = result_tensor(l, (uint32_t)i, &out[i])) || (err = tosa_declared(l, out[i], &y[i])))
			return err;
	}
	l->dynamic = false;
	if ((err = tosa_attr(l, x, y, &w->a)) ||
	    (err = tosa_check_types(l, x, n_x, y, n_y, accumulator(f->op, &w->a), f->op == WEFT_OP_RESIZE ? w->a.resize.mode : 0)))
		return err;
	/* Control flow has imported other blocks meanwhile, but has no such arguments. */
	const int n_in = l->dynamic && weft_op_n_dynamic(f->op) ? (int)l->op->in.n : n_x;
	for (int i = 0; i < n_in; i++)
		if ((in[i] = l->in[i] < 0 ? shape_value(l, -1 - l->in[i]) : tosa_value(l, l->in[i])) < 0)
			return in[i];
	for (int i = 0; i < n_y; i++)
		if ((out[i] = declare(l, out[i])) < 0)
			return out[i];
	return emit(l, f->op, &w->a, in, n_in, out, n_y);
}

/*
 * Converts the operator at hand, which is no constant, variable or CUSTOM, by convert_op() with a
 * workspace from the heap. Returns 0 or a negative errno.
 */
static int ordinary_op(struct tosa_lower *l)
{
	struct operands *w = calloc(1, sizeof *w);
	int err = w ? convert_op(l, w) : tosa_fail(l, -ENOMEM, "out of memory");

	free(w);
	return err;
}

/*
 * Gives tensor t of the graph at hand the type that a CUSTOM of ours states for it, since what the
 * file calls int8 may be uint8, and notes in l->s.retyped if that is another type. Returns 0, or
 * -EINVAL if the types have different numbers of bytes.
 */
static int retype(struct tosa_lower *l, int t, weft_dtype type)
{
	weft_tensor *g = &l->s.g->tensors[t].t;

	if (g->dtype != type && weft_dtype_bytes(g->dtype) != weft_dtype_bytes(type))
		return tosa_fail(l, -EINVAL, "its types are not those of its tensors");
	l->s.retyped |= g->dtype != type;
	g->dtype = type;
	return 0;
}

/*
 * Converts the operator at hand, a CUSTOM of the domain "weft" as userlib/export writes it, to the
 * operator that its name says, with all its operands; its operands and results get the types that
 * it states for them, and the first result is noted in the operator's record. Returns 0, -EINVAL if
 * its attributes are malformed, an operand or result is a shape, or a stated type has another size
 * than the file's, or another negative errno.
 */
static int custom_op(struct tosa_lower *l)
{
	const int n_x = (int)l->op->in.n, n_y = (int)l->op->out.n;
	weft_dtype types[WEFT_OP_MAX_INPUTS + WEFT_OP_MAX_OUTPUTS];
	int in[WEFT_OP_MAX_INPUTS], out[WEFT_OP_MAX_OUTPUTS], err;
	weft_opcode op;
	weft_attr a;

	if ((err = tosa_custom(l, &op, types, &a)))
		return err;
	for (int i = 0; i < n_x; i++)
		if (l->in[i] < 0)
			return tosa_fail(l, -EINVAL, "operand %d is a shape", i);
		else if ((in[i] = tosa_value(l, l->in[i])) < 0)
			return in[i];
		else if ((err = retype(l, in[i], types[i])))
			return err;
	for (int i = 0; i < n_y; i++)
		if ((err = result_tensor(l, (uint32_t)i, &out[i])))
			return err;
		else if ((out[i] = declare(l, out[i])) < 0)
			return out[i];
		else if ((err = retype(l, out[i], types[n_x + i])))
			return err;
	return emit(l, op, &a, in, n_x, out, n_y);
}

/*
 * Makes operator i_op of the block the operator at hand, checks its form and converts it. CONST and
 * CONST_SHAPE add nothing, VARIABLE adds a variable; all others get a record in the graph, with
 * index i_op, and one operator. Returns 0, -EINVAL if a rule is broken or a name means nothing,
 * -ENOTSUP for a CUSTOM that is not ours, or another negative errno.
 */
static int import_op(struct tosa_lower *l, int i_op)
{
	const struct tosa_op *o = &l->f.ops[l->f.blocks[l->s.block].op + i_op];
	int err;

	l->op = o;
	l->i_op = i_op;
	if ((err = check_form(l)))
		return err;
	if (o->code == TOSA_CONST || o->code == TOSA_CONST_SHAPE)
		return data_node(l);
	if (o->code == TOSA_VARIABLE)
		return declare_variable(l);
	for (uint32_t k = 0; k < o->in.n; k++)
		if ((err = tosa_lookup(l, tosa_string(&l->f, &o->in, k), &l->in[k])))
			return err;
	if (o->code == TOSA_CUSTOM && (err = tosa_custom_known(l)))
		return err;
	l->room -= 128;
	l->src = weft_graph_src(l->s.g, i_op, weft_op_name(tosa_infos[o->code].op));
	if (l->src < 0)
		return tosa_fail(l, -ENOMEM, "out of memory");
	err = variable_op(l);
	if (err)
		return err < 0 ? err : 0;
	return o->code == TOSA_CUSTOM ? custom_op(l) : ordinary_op(l);
}

/* ---- order ---- */

/*
 * Sets l->maker, for each tensor of the block that an operator of the block gives, to that
 * operator's index; shapes, variables and results of CONST are left out. Returns 0 with no operator
 * at hand (l->op NULL). Returns -EINVAL, with l->op the operator at fault, if a result is no tensor
 * of the block (VARIABLE, VARIABLE_WRITE and IDENTITY may name variables of other blocks), or is an
 * input, has data, or has a maker already.
 */
static int note_makers(struct tosa_lower *l)
{
	const struct tosa_block *k = &l->f.blocks[l->s.block];

	for (int i = 0; i < k->n_ops; i++) {
		const struct tosa_op *o = &l->f.ops[k->op + i];
		l->op = o;
		l->i_op = i;
		for (uint32_t j = 0; j < o->out.n; j++) {
			const struct tosa_entry *e = tosa_find(&l->s.names, tosa_string(&l->f, &o->out, j));
			if (!e && o->code != TOSA_VARIABLE_WRITE && o->code != TOSA_IDENTITY && o->code != TOSA_VARIABLE)
				return tosa_fail(l, -EINVAL, "result %u is no tensor of its block", (unsigned)j);
			if (!e || e->is_shape || l->f.tensors[e->index].variable || o->code == TOSA_CONST)
				continue;
			if (l->maker[e->index] >= 0 || l->gt[e->index] >= 0 || l->f.tensors[e->index].data)
				return tosa_fail(l, -EINVAL, "result \"%.*s\" already has a value",
				                 TOSA_SHOWN(e->name));
			l->maker[e->index] = i;
		}
	}
	l->op = NULL;
	return 0;
}

/* The state of an operator: not looked at, waiting for its makers, converted. */
enum { NEW, OPEN, DONE };

/*
 * Returns the index of the next operator whose result operator i of the block needs and whose state
 * is not DONE, or -1 if there is none. The search begins at operand *at, which is moved on to the
 * operand found.
 */
static int missing(const struct tosa_lower *l, int i, uint32_t *at, const uint8_t *state)
{
	const struct tosa_op *o = &l->f.ops[l->f.blocks[l->s.block].op + i];

	for (; *at < o->in.n; ++*at) {
		const struct tosa_entry *e = tosa_find(&l->s.names, tosa_string(&l->f, &o->in, *at));
		if (e && !e->is_shape && l->maker[e->index] >= 0 && state[l->maker[e->index]] != DONE)
			return l->maker[e->index];
	}
	return -1;
}

/* An operator under way, by its index in the block, and the operand at which the search for makers goes on. */
struct visit { int op; uint32_t at; };

/*
 * Converts operator `first` of the block after everything that it needs and that is not DONE, depth
 * first. state has one entry for each operator of the block and is updated; stack has room for all
 * of them. Returns 0, -EINVAL if operators form a cycle, or another negative errno.
 */
static int import_from(struct tosa_lower *l, int first, uint8_t *state, struct visit *stack)
{
	int n = 0;

	stack[n++] = (struct visit){ first, 0 };
	state[first] = OPEN;
	while (n) {
		struct visit *v = &stack[n - 1];
		int next = missing(l, v->op, &v->at, state);
		if (next >= 0 && state[next] == OPEN) {
			l->op = &l->f.ops[l->f.blocks[l->s.block].op + v->op];
			l->i_op = v->op;
			return tosa_fail(l, -EINVAL, "needs its own result: the block has a cycle");
		}
		if (next >= 0) {
			state[next] = OPEN;
			stack[n++] = (struct visit){ next, 0 };
			continue;
		}
		int err = import_op(l, v->op);
		if (err)
			return err;
		state[v->op] = DONE;
		n--;
	}
	return 0;
}

/*
 * Converts all operators of the block in the file's order, but makers before readers. Returns 0,
 * -EINVAL if operators form a cycle, or another negative errno.
 */
static int import_ops(struct tosa_lower *l)
{
	const int n = l->f.blocks[l->s.block].n_ops;
	uint8_t *state = calloc((size_t)n + 1, 1);
	struct visit *stack = malloc(((size_t)n + 1) * sizeof *stack);
	int err = state && stack ? 0 : tosa_fail(l, -ENOMEM, "out of memory");

	for (int i = 0; i < n && !err; i++)
		if (state[i] == NEW)
			err = import_from(l, i, state, stack);
	free(state);
	free(stack);
	return err;
}

/* ---- inputs and outputs ---- */

/*
 * Declares the block's inputs, tensors or shapes, and lists them as inputs of the graph at hand.
 * Returns 0, -EINVAL if an input is none of the block's names or is listed twice, or another
 * negative errno.
 */
static int import_inputs(struct tosa_lower *l)
{
	const struct tosa_block *k = &l->f.blocks[l->s.block];
	weft_graph *g = l->s.g;

	for (uint32_t i = 0; i < k->in.n; i++) {
		const struct tosa_entry *e = tosa_find(&l->s.names, tosa_string(&l->f, &k->in, i));
		if (!e)
			return tosa_fail(l, -EINVAL, "input %u is no tensor of its block", (unsigned)i);
		if ((e->is_shape ? l->gshape : l->gt)[e->index] >= 0)
			return tosa_fail(l, -EINVAL, "input %u is an input twice", (unsigned)i);
		int t = e->is_shape ? declare_shape(l, e->index) : declare(l, e->index);
		if (t < 0)
			return t;
		g->tensors[t].is_input = true;
		g->inputs[g->n_inputs++] = t;
	}
	return 0;
}

/*
 * Returns the graph tensor for output i of the block: t itself, or, if t is an input or already an
 * output, a new internal one with the output's name that an IDENTITY of t gives; that IDENTITY gets
 * a record "OUTPUT", whose index is the number of the block's operators plus i. Returns a negative
 * errno after a failure.
 */
static int own_output(struct tosa_lower *l, uint32_t i, int t)
{
	weft_graph *g = l->s.g;
	weft_tensor copy = g->tensors[t].t;

	if (!g->tensors[t].is_input && !g->tensors[t].is_output)
		return t;
	copy.data = NULL;
	struct tosa_name name = tosa_string(&l->f, &l->f.blocks[l->s.block].out, i);
	int y = add_tensor(l, name, &copy);
	if (y < 0)
		return y;
	g->tensors[y].internal = true;
	l->src = weft_graph_src(g, l->f.blocks[l->s.block].n_ops + (int)i, "OUTPUT");
	if (l->src < 0)
		return tosa_fail(l, -ENOMEM, "out of memory");
	int err = emit(l, WEFT_OP_IDENTITY, NULL, &t, 1, &y, 1);
	return err ? err : y;
}

/*
 * Finds or makes the tensors of the block's outputs, which may be constants and shapes, and lists
 * them as outputs of the graph at hand, in the file's order. An output that is an input or is
 * listed twice gets an IDENTITY. Returns 0, -EINVAL if a name means nothing or nothing gives it a
 * value, or another negative errno.
 */
static int import_outputs(struct tosa_lower *l)
{
	const struct tosa_block *k = &l->f.blocks[l->s.block];
	weft_graph *g = l->s.g;

	l->op = NULL;
	for (uint32_t i = 0; i < k->out.n; i++) {
		int what, t, err = tosa_lookup(l, tosa_string(&l->f, &k->out, i), &what);
		if (err)
			return err;
		t = what < 0 ? shape_value(l, -1 - what) : tosa_value(l, what);
		t = t < 0 ? t : own_output(l, i, t);
		if (t < 0)
			return t;
		g->tensors[t].is_output = true;
		g->outputs[g->n_outputs++] = t;
	}
	return 0;
}

/*
 * Allocates the graph's lists of inputs and outputs for block l->s.block and fills l->s.names with
 * the block's names. Returns 0, -EINVAL if it has more than MAX_PORTS inputs or outputs, no output,
 * or a name twice, or -ENOMEM.
 */
static int open_block(struct tosa_lower *l)
{
	const struct tosa_block *k = &l->f.blocks[l->s.block];
	weft_graph *g = l->s.g;

	if (k->in.n > MAX_PORTS || k->out.n > MAX_PORTS || !k->out.n)
		return tosa_fail(l, -EINVAL, "%u inputs and %u outputs; at most %d, and at least one output", (unsigned)k->in.n,
		                 (unsigned)k->out.n, MAX_PORTS);
	g->inputs = calloc(k->in.n + 1u, sizeof *g->inputs);
	g->outputs = calloc(k->out.n + 1u, sizeof *g->outputs);
	if (!g->inputs || !g->outputs)
		return tosa_fail(l, -ENOMEM, "out of memory");
	return tosa_index_block(l, l->s.block, &l->s.names);
}

/*
 * Imports the block with that index into the graph l->s.g: inputs, operators, outputs. If a CUSTOM
 * changed types of tensors, they are spread over the operators that only move elements. Returns 0
 * or a negative errno.
 */
int tosa_block(struct tosa_lower *l, int block)
{
	int err;

	l->s.block = block;
	l->op = NULL;
	if ((err = open_block(l)) || (err = import_inputs(l)) || (err = note_makers(l)) || (err = import_ops(l)))
		return err;
	err = import_outputs(l);
	if (!err && l->s.retyped)
		tosa_spread_signs(l->s.g);
	return err;
}

/* ---- sub-graphs ---- */

/*
 * Returns the index of the block with that name or, if there is none, of the first block of the
 * region with that name; -1 if there is neither.
 */
static int find_block(const struct tosa_lower *l, struct tosa_name name)
{
	const struct tosa_entry *e = tosa_find(&l->blocks, name);

	if (!e)
		return -1;
	return e->index < l->f.n_blocks ? e->index : l->f.regions[e->index - l->f.n_blocks].block;
}

/*
 * Imports the block with that index into a new graph, while the block and operator at hand are put
 * aside and restored afterwards, and gives the graph to l->outer as a sub-graph. Returns the
 * sub-graph's index in l->outer->subs, or a negative errno with a line in l->msg; the new graph is
 * then freed.
 */
static int import_sub(struct tosa_lower *l, int block)
{
	struct tosa_lower *save = malloc(sizeof *save);
	weft_graph *g = weft_graph_new("");

	if (!save || !g) {
		free(save);
		weft_graph_free(g);
		return tosa_fail(l, -ENOMEM, "out of memory");
	}
	*save = *l;
	l->s = (struct tosa_scope){ .g = g };
	int err = tosa_block(l, block);
	free(l->s.names.e);
	l->s = save->s;
	l->op = save->op;
	l->i_op = save->i_op;
	l->src = save->src;
	memcpy(l->in, save->in, sizeof l->in);
	free(save);
	if (err) {
		weft_graph_free(g);
		return err;
	}
	int i = weft_graph_sub(l->outer, g);
	return i < 0 ? tosa_fail(l, -ENOMEM, "out of memory") : i;
}

/*
 * Sets *sub to the sub-graph of the block with that name or, if there is none, of the first block of the
 * region with that name. The block is imported at the first use, l->sub notes its sub-graph. Returns 0,
 * -EINVAL if there is no such block, if it is being imported at the moment (it contains itself), or if
 * sub-graphs nest deeper than WEFT_GRAPH_MAX_NESTING (256), or what importing it gives. After a failure it
 * cannot be asked for again: the whole import has to end.
 */
int tosa_sub(struct tosa_lower *l, struct tosa_name name, struct weft_graph **sub)
{
	int b = find_block(l, name);

	if (b < 0)
		return tosa_fail(l, -EINVAL, "no block is called \"%.*s\"", TOSA_SHOWN(name));
	if (l->sub[b] == TOSA_SUB_OPEN)
		return tosa_fail(l, -EINVAL, "block \"%.*s\" contains itself", TOSA_SHOWN(name));
	if (l->sub[b] == TOSA_SUB_NONE) {
		if (++l->nesting > WEFT_GRAPH_MAX_NESTING)
			return tosa_fail(l, -EINVAL, "nesting deeper than %d", WEFT_GRAPH_MAX_NESTING);
		l->sub[b] = TOSA_SUB_OPEN;
		int i = import_sub(l, b);
		if (i < 0)
			return i;
		l->sub[b] = i;
		l->nesting--;
	}
	*sub = l->outer->subs[l->sub[b]];
	return 0;
}
