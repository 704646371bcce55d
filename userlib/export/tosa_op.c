/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator of the graph as an operator of the file: attributes back into
 * the attribute table and into the constants that TOSA 1.0 has for the rest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include "../../sim/golden/dtype.h"
#include "userlib/graph/save.h"
#include "userlib/graph/attr.h"
#include "userlib/import/tosa/tosa_lower.h"
#include "tosa_out.h"

/* The file's code for an element type; 0 if TOSA has none. Unsigned types have the signed type's code. */
int x_file_type(weft_dtype t)
{
	switch (t) {
	case WEFT_BOOL: return TOSA_BOOL;
	case WEFT_INT4: return TOSA_INT4;
	case WEFT_INT8:
	case WEFT_UINT8:
	case WEFT_FP8E4M3FNUZ:     /* our own operators alone say so */
	case WEFT_FP8E5M2FNUZ: return TOSA_INT8;
	case WEFT_INT16:
	case WEFT_UINT16: return TOSA_INT16;
	case WEFT_INT32: return TOSA_INT32;
	case WEFT_INT48: return TOSA_INT48;
	case WEFT_FP32: return TOSA_FP32;
	case WEFT_FP16: return TOSA_FP16;
	case WEFT_BF16: return TOSA_BF16;
	case WEFT_FP8E4M3: return TOSA_FP8E4M3;
	case WEFT_FP8E5M2: return TOSA_FP8E5M2;
	default: return 0;
	}
}

static int code_of(weft_opcode op)
{
	for (int i = 1; i < TOSA_N_CODES; i++)
		if (tosa_infos[i].op == op)
			return i;
	return 0;
}

static bool is_unsigned(weft_dtype t)
{
	return t == WEFT_UINT8 || t == WEFT_UINT16;
}

static bool is_fnuz(weft_dtype t)
{
	return t == WEFT_FP8E4M3FNUZ || t == WEFT_FP8E5M2FNUZ;
}

static const struct weft_gop *gop(const struct xout *x)
{
	return &x->g->ops[x->i_op];
}

static const weft_tensor *operand(const struct xout *x, int k)
{
	return &x->g->tensors[gop(x)->in[k]].t;
}

static const weft_tensor *result(const struct xout *x)
{
	return &x->g->tensors[gop(x)->out[0]].t;
}

/* ---- constants that become operands ---- */

static bool taken(const struct xout *x, const char *name)
{
	for (int i = 0; i < x->g->n_tensors; i++)
		if (x->names[i] && !strcmp(x->names[i], name))
			return true;
	return false;
}

/* A name that no tensor of the graph has. */
static void fresh(struct xout *x, char *name, size_t len)
{
	do
		snprintf(name, len, "weft.%d", x->n_aux++);
	while (x->clash && taken(x, name));
}

/* Adds a constant tensor and the CONST operator that makes it. */
int x_const(struct xout *x, const char *name, const weft_tensor *t)
{
	struct xop o = { .code = TOSA_CONST };
	int err = x_out(&o, name);

	if (!err)
		err = x_tensor(x, name, t, false);
	if (!err)
		return x_op(x, &o);
	x_drop(&o);
	return err;
}

/* Adds a constant shape of n values and the CONST_SHAPE operator that makes it. */
int x_const_shape(struct xout *x, const char *name, const int64_t *v, int n)
{
	struct xop o = { .code = TOSA_CONST_SHAPE };
	int err = x_out(&o, name);

	if (!err)
		err = x_shape(x, name, v, n);
	if (!err)
		return x_op(x, &o);
	x_drop(&o);
	return err;
}

static bool is_dynamic(const struct weft_gop *o)
{
	return o->n_in && o->n_in == weft_op_n_dynamic(o->op);
}

/* Adds a constant of one element, v, as the operator's next operand. */
static int add_scalar(struct xout *x, struct xop *o, weft_dtype type, int64_t v)
{
	weft_tensor t = { .dtype = type, .rank = 1, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = &v };
	char name[32];

	/* Already among the operator's operands. */
	if (is_dynamic(gop(x)))
		return 0;
	fresh(x, name, sizeof name);
	int err = x_in(o, name);
	return err ? err : x_const(x, name, &t);
}

/*
 * Adds a constant shape of n values as the operator's next operand. Nothing is added if the shape
 * is computed (EXT-DYNAMIC): it is an operand already.
 */
static int add_shape(struct xout *x, struct xop *o, const int64_t *v, int n)
{
	const int64_t zero = 0;
	char name[32];

	if (is_dynamic(gop(x)))
		return 0;
	fresh(x, name, sizeof name);
	int err = x_in(o, name);
	/* The empty shape is written as one 0, as other writers do. */
	return err ? err : x_const_shape(x, name, n ? v : &zero, n ? n : 1);
}

/* ---- rows of the operator ---- */

/* A value of type t, as the file's bytes: an integer, or for float32 a double. */
static uint64_t bits_of(weft_dtype t, bool as_float, const int64_t *i, const double *f)
{
	return as_float ? weft_float_encode(t, *f, false) : (uint64_t)*i;
}

/* Writes a limit as bytes of operand 0's type. */
static int write_value(struct xout *x, struct xop *o, const struct attr_tosa_field *f, const weft_attr *a)
{
	const weft_dtype t = operand(x, 0)->dtype;
	const uint64_t v = bits_of(t, weft_is_float(t), attr_const(a, f->at), attr_const(a, f->also));

	return x_bytes(o, f->id, &v, (int)weft_dtype_bytes(t));
}

/* Writes the name of a sub-graph's block, which follows from where the sub-graph stands. */
static int write_block(struct xout *x, struct xop *o, int id, const struct weft_graph *sub)
{
	for (int i = 0; i < x->outer->n_subs; i++)
		if (x->outer->subs[i] == sub)
			return x_bytes(o, id, x->blocks[1 + i].name, (int)strlen(x->blocks[1 + i].name));
	return 0;
}

/* The operand or the result that a row speaks of. */
static const weft_tensor *tensor_of(const struct xout *x, int of)
{
	return of == ATTR_RESULT ? result(x) : operand(x, of);
}

/* Writes the field of the attribute table that a row describes. */
static int write_field(struct xout *x, struct xop *o, const struct attr_tosa_field *f, const weft_attr *a)
{
	const void *at = attr_const(a, f->at);
	const int32_t v = f->kind == ATTR_FLAG ? *(const bool *)at : f->kind == ATTR_BLOCK ? 0 : *(const int32_t *)at;

	switch ((enum attr_tosa_kind)f->kind) {
	case ATTR_LIST: return x_list(o, f->id, at, f->n == ATTR_RANK ? operand(x, 0)->rank : f->n);
	case ATTR_FLAG: return x_flag(o, f->id, v || (f->sign_of != ATTR_NO_TENSOR && is_unsigned(tensor_of(x, f->sign_of)->dtype)));
	case ATTR_NUMBER:
	case ATTR_ENUM: return x_number(o, f->id, v);
	case ATTR_TYPE: return x_number(o, f->id, x_file_type((weft_dtype)v));
	case ATTR_NAN: return x_number(o, f->id, v == WEFT_NAN_IGNORE ? WEFT_NAN_IGNORE : WEFT_NAN_PROPAGATE);
	case ATTR_VALUE: return write_value(x, o, f, a);
	case ATTR_BLOCK: return write_block(x, o, f->id, *(struct weft_graph *const *)at);
	case ATTR_ONES: return 0;
	}
	return 0;
}

/* Writes n 32-bit attributes as a constant shape, which becomes the operator's next operand. */
static int write_numbers(struct xout *x, struct xop *o, const int32_t *v, int n)
{
	int64_t wide[WEFT_MAX_RANK];

	for (int i = 0; i < n; i++)
		wide[i] = v[i];
	return add_shape(x, o, wide, n);
}

/* Writes PAD's amounts as one constant shape of pairs. */
static int write_pads(struct xout *x, struct xop *o, const int32_t *before, const int32_t *after, int n)
{
	int64_t both[2 * WEFT_MAX_RANK];

	for (int i = 0; i < n; i++) {
		both[2 * i] = before[i];
		both[2 * i + 1] = after[i];
	}
	return add_shape(x, o, both, 2 * n);
}

/* Writes the constant operand that a row describes. A dynamic operator has these operands already. */
static int write_arg(struct xout *x, struct xop *o, const struct attr_tosa_arg *g, const weft_attr *a)
{
	const weft_tensor *t = operand(x, 0);
	const void *at = g->at == ATTR_NONE ? NULL : attr_const(a, g->at);
	const int n = g->n == ATTR_RANK ? t->rank : g->n;
	int err;

	switch ((enum attr_arg_kind)g->kind) {
	case ATTR_ZERO_POINT: return add_scalar(x, o, tensor_of(x, g->of)->dtype, *(const int32_t *)at);
	case ATTR_SCALAR: return add_scalar(x, o, WEFT_INT8, *(const int32_t *)at);
	case ATTR_SHAPE: return write_numbers(x, o, at, n);
	case ATTR_PART:
		err = add_shape(x, o, at, n);
		return err ? err : add_shape(x, o, result(x)->dim, result(x)->rank);
	case ATTR_PADS: return write_pads(x, o, at, attr_const(a, g->also), n);
	case ATTR_FILL:
		return add_scalar(x, o, t->dtype, (int64_t)bits_of(t->dtype, t->dtype == WEFT_FP32, at, attr_const(a, g->also)));
	case ATTR_RESULT_SHAPE: return add_shape(x, o, result(x)->dim, result(x)->rank);
	}
	return 0;
}

/* Writes all attributes of the operator at hand, as its rows say. */
static int attributes(struct xout *x, struct xop *o)
{
	const struct attr_op *rows = &attr_ops[gop(x)->op];
	const weft_attr *a = &gop(x)->attr;
	int err = 0;

	for (int i = 0; i < rows->n_tosa_field && !err; i++)
		err = write_field(x, o, &rows->tosa_field[i], a);
	for (int i = 0; i < rows->n_tosa_arg && !err; i++)
		err = write_arg(x, o, &rows->tosa_arg[i], a);
	return err;
}

/* ---- extension operators ---- */

/* Adds an extension operator's name to the list that the user is shown, each name once. */
static void note_custom(struct xout *x, const char *name)
{
	size_t n = strlen(x->custom);

	x->n_custom++;
	if (!strstr(x->custom, name))
		snprintf(x->custom + n, WEFT_MSG - n, "%s%s", n ? ", " : "", name);
}

/* Does the operator fix the order in which floats are added, which TOSA leaves open? */
static bool fixes_order(const struct weft_gop *o)
{
	switch (o->op) {
	case WEFT_OP_CONV2D: case WEFT_OP_DEPTHWISE_CONV2D: case WEFT_OP_TRANSPOSE_CONV2D: return o->attr.conv.chain;
	case WEFT_OP_MATMUL: return o->attr.matmul.chain;
	case WEFT_OP_REDUCE_SUM: return o->attr.axis.chain;
	default: return false;
	}
}

/* Says in words why an operator of an exported graph has no form in TOSA itself; code_of_op() is 0 for it. */
static const char *why_custom(const struct xout *x)
{
	const struct weft_gop *o = gop(x);

	return o->op == WEFT_OP_RESCALE ? "TOSA has no ties to even" :
	       fixes_order(o) ? "TOSA leaves open in which order floats are added" :
	       code_of(o->op) ? "TOSA has it not for int48" : "TOSA has no such operator";
}

/*
 * Writes an extension operator as CUSTOM of domain "weft". Its attributes hold the types of
 * operands and results, because TOSA's types have no signs, and then what a .weft file would hold.
 */
static int custom(struct xout *x, struct xop *o)
{
	const struct weft_gop *op = gop(x);
	const char *name = weft_op_name(op->op);
	struct io io = { .write = true };
	weft_attr a = op->attr;

	if (x->strict)
		return x_fail(x, -ENOTSUP, "%s", why_custom(x));
	o->code = TOSA_CUSTOM;
	for (int i = 0; i < op->n_in + op->n_out; i++) {
		uint8_t t = (uint8_t)(i < op->n_in ? operand(x, i) : &x->g->tensors[op->out[i - op->n_in]].t)->dtype;
		io_u8(&io, &t);
	}
	save_attributes(&io, op->op, &a);
	int err = io.err;
	if (!err)
		err = x_bytes(o, CUSTOM_NAME, name, (int)strlen(name));
	if (!err)
		err = x_bytes(o, CUSTOM_DOMAIN, "weft", 4);
	if (!err)
		err = x_bytes(o, CUSTOM_ATTRS, io.p, (int)io.n);
	free(io.p);
	note_custom(x, name);
	return err;
}

/* ---- any operator ---- */

/* Does the operator only move bits, so that the sign of its type does not matter? */
static bool moves_bits(weft_opcode op)
{
	switch (op) {
	case WEFT_OP_CONCAT: case WEFT_OP_PAD: case WEFT_OP_RESHAPE: case WEFT_OP_REVERSE: case WEFT_OP_SLICE: case WEFT_OP_TILE:
	case WEFT_OP_TRANSPOSE: case WEFT_OP_GATHER: case WEFT_OP_SCATTER: case WEFT_OP_SELECT: case WEFT_OP_IDENTITY:
	case WEFT_OP_RESCALE: case WEFT_OP_COND_IF: case WEFT_OP_WHILE_LOOP: return true;
	default: return false;
	}
}

/*
 * Fails if TOSA has no such type for an operand or result. any_sign: unsigned tensors are fine
 * because the operator says which they are. own: FNUZ float8 is fine because the operator is an
 * extension.
 */
static int check_types(struct xout *x, bool any_sign, bool own)
{
	const struct weft_gop *op = gop(x);

	for (int i = 0; i < op->n_in + op->n_out; i++) {
		const weft_tensor *t = i < op->n_in ? operand(x, i) : &x->g->tensors[op->out[i - op->n_in]].t;
		/* Shapes are int64 here. */
		if (is_dynamic(op) && i >= weft_op_n_own(op->op) && i < op->n_in && t->dtype == WEFT_INT64)
			continue;
		if (!x_file_type(t->dtype) || (is_unsigned(t->dtype) && !any_sign) || (is_fnuz(t->dtype) && !own))
			return x_fail(x, -ENOTSUP, "TOSA has no %s there", weft_dtype_name(t->dtype));
		if (t->rank > TOSA_MAX_RANK)
			return x_fail(x, -ENOTSUP, "rank %d > %d", t->rank, TOSA_MAX_RANK);
	}
	return 0;
}

/*
 * Lists the names of operands and results. VARIABLE_WRITE's result is the value written in the
 * graph, but the variable in the file.
 */
static int names(struct xout *x, struct xop *o)
{
	const struct weft_gop *op = gop(x);
	int err = 0;

	if (op->op == WEFT_OP_VARIABLE_READ)
		err = x_in(o, x->outer->vars[op->attr.variable.id].name);
	for (int k = 0; k < op->n_in && !err; k++)
		err = x_in(o, x->names[op->in[k]]);
	if (op->op == WEFT_OP_VARIABLE_WRITE)
		return err ? err : x_out(o, x->outer->vars[op->attr.variable.id].name);
	for (int k = 0; k < op->n_out && !err; k++)
		err = x_out(o, x->names[op->out[k]]);
	return err;
}

/* Does the operator move int48 tensors, which TOSA only allows IDENTITY to do? */
static bool moves_int48(const struct xout *x)
{
	switch (gop(x)->op) {
	case WEFT_OP_CONCAT: case WEFT_OP_PAD: case WEFT_OP_RESHAPE: case WEFT_OP_REVERSE: case WEFT_OP_SLICE: case WEFT_OP_TILE:
	case WEFT_OP_TRANSPOSE: return result(x)->dtype == WEFT_INT48 && !is_dynamic(gop(x));
	default: return false;
	}
}

/*
 * The operator's code in TOSA; 0 if it must be written as CUSTOM: an extension operator, RESCALE
 * with ties to even, a move of int48, or float sums in a fixed order.
 */
static int code_of_op(const struct xout *x)
{
	const struct weft_gop *o = gop(x);
	bool own = o->op == WEFT_OP_RESCALE && o->attr.rescale.rounding == WEFT_EVEN_ROUND;

	return own || moves_int48(x) || fixes_order(o) ? 0 : code_of(o->op);
}

/*
 * Converts the operator at hand and appends it to the block. Returns 0 or a negative errno with
 * one line in msg.
 */
int x_convert_op(struct xout *x)
{
	struct xop o = { .code = code_of_op(x) };
	int err = check_types(x, !o.code || moves_bits(gop(x)->op), !o.code);

	if (!err)
		err = names(x, &o);
	if (!err)
		err = o.code ? attributes(x, &o) : custom(x, &o);
	if (!err)
		return x_op(x, &o);
	x_drop(&o);
	return err == -ENOMEM ? x_fail(x, -ENOMEM, "out of memory") : err;
}
