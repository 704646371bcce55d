/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one operator of the graph as an operator of the file. Its attributes go
 * back into the attribute table, and into constant operands where TOSA 1.0 has
 * those instead.
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

/*
 * Returns the file's code (enum tosa_type) for an element type, or 0 if TOSA has none. Unsigned
 * types have the signed type's code, FNUZ float8 that of int8; only our own operators tell them
 * apart.
 */
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

/* Returns TOSA's code (enum tosa_code) for operator op, or 0 if TOSA has no such operator. */
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

/* Says whether a tensor of the graph at hand has that name in the file (x->names). */
static bool taken(const struct xout *x, const char *name)
{
	for (int i = 0; i < x->g->n_tensors; i++)
		if (x->names[i] && !strcmp(x->names[i], name))
			return true;
	return false;
}

/*
 * Writes a new name "weft.<number>" to name, which has room for len bytes, and counts x->n_aux up.
 * If x->clash is set, numbers are skipped whose name a tensor of the graph at hand has.
 */
void x_new_name(struct xout *x, char *name, size_t len)
{
	do
		snprintf(name, len, "weft.%d", x->n_aux++);
	while (x->clash && taken(x, name));
}

/*
 * Adds a constant tensor with a copy of t's data to the block, and the CONST operator that makes
 * it. Returns 0 or -ENOMEM.
 */
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

/*
 * Adds a constant shape of the n values v to the block, and the CONST_SHAPE operator that makes it.
 * Returns 0 or -ENOMEM.
 */
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

/*
 * Appends to o's operands a new constant [1] of the given type whose low bytes are v's. Nothing is
 * added if the graph's operator has its arguments as operands (EXT-DYNAMIC), since they are listed
 * already. Returns 0 or -ENOMEM.
 */
static int add_scalar(struct xout *x, struct xop *o, weft_dtype type, int64_t v)
{
	weft_tensor t = { .dtype = type, .rank = 1, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = &v };
	char name[32];

	/* Already among the operator's operands. */
	if (is_dynamic(gop(x)))
		return 0;
	x_new_name(x, name, sizeof name);
	int err = x_in(o, name);
	return err ? err : x_const(x, name, &t);
}

/*
 * Appends to o's operands a new constant shape of the n values v; without values it is a single 0.
 * Nothing is added if the graph's operator has its arguments as operands (EXT-DYNAMIC), since they
 * are listed already. Returns 0 or -ENOMEM.
 */
static int add_shape(struct xout *x, struct xop *o, const int64_t *v, int n)
{
	const int64_t zero = 0;
	char name[32];

	if (is_dynamic(gop(x)))
		return 0;
	x_new_name(x, name, sizeof name);
	int err = x_in(o, name);
	/* The empty shape is written as one 0, as other writers do. */
	return err ? err : x_const_shape(x, name, n ? v : &zero, n ? n : 1);
}

/* ---- rows of the operator ---- */

/*
 * Returns one value of type t as the file's bytes, the first lowest: *f encoded as t if as_float is
 * set, else *i as it is.
 */
static uint64_t bits_of(weft_dtype t, bool as_float, const int64_t *i, const double *f)
{
	return as_float ? weft_float_encode(t, *f, false) : (uint64_t)*i;
}

/*
 * Adds to o the field f of the attribute table, a value (such as a limit of CLAMP) that is written
 * as bytes of operand 0's type. Returns 0 or -ENOMEM.
 */
static int write_value(struct xout *x, struct xop *o, const struct attr_tosa_field *f, const weft_attr *a)
{
	const weft_dtype t = operand(x, 0)->dtype;
	const uint64_t v = bits_of(t, weft_is_float(t), attr_const(a, f->at), attr_const(a, f->also));

	return x_bytes(o, f->id, &v, (int)weft_dtype_bytes(t));
}

/*
 * Adds to o the field `id` of the attribute table with the name of sub-graph sub's block. Returns 0
 * or -ENOMEM. Nothing is added if sub is no sub-graph of the network.
 */
static int write_block(struct xout *x, struct xop *o, int id, const struct weft_graph *sub)
{
	for (int i = 0; i < x->outer->n_subs; i++)
		if (x->outer->subs[i] == sub)
			return x_bytes(o, id, x->blocks[1 + i].name, (int)strlen(x->blocks[1 + i].name));
	return 0;
}

/*
 * Returns the type and shape of the first result if `of` is ATTR_RESULT, else of operand number
 * `of`.
 */
static const weft_tensor *tensor_of(const struct xout *x, int of)
{
	return of == ATTR_RESULT ? result(x) : operand(x, of);
}

/*
 * Adds to o the field of the attribute table that row f describes, with its value from the
 * attributes a, in the form that f->kind says. A flag of a sign is set, too, if its tensor has an
 * unsigned type; a list has f->n numbers or as many as operand 0 has dimensions; a NaN mode other
 * than "ignore" is written as "propagate". ATTR_ONES has no field, and nothing is added. Returns 0
 * or -ENOMEM.
 */
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

/*
 * Widens n (at most 8) 32-bit attributes v to 64 bits and appends them to o's operands as one new
 * constant shape; n = 0 gives a single 0. Nothing is added if the graph's operator has its
 * arguments as operands (EXT-DYNAMIC). Returns 0 or -ENOMEM.
 */
static int write_numbers(struct xout *x, struct xop *o, const int32_t *v, int n)
{
	int64_t wide[WEFT_MAX_RANK];

	for (int i = 0; i < n; i++)
		wide[i] = v[i];
	return add_shape(x, o, wide, n);
}

/*
 * Appends to o's operands one new constant shape of 2 n values, PAD's amounts as n pairs before[i],
 * after[i]; n = 0 (at most 8) gives a single 0. Nothing is added if the graph's operator has its
 * arguments as operands (EXT-DYNAMIC). Returns 0 or -ENOMEM.
 */
static int write_pads(struct xout *x, struct xop *o, const int32_t *before, const int32_t *after, int n)
{
	int64_t both[2 * WEFT_MAX_RANK];

	for (int i = 0; i < n; i++) {
		both[2 * i] = before[i];
		both[2 * i + 1] = after[i];
	}
	return add_shape(x, o, both, 2 * n);
}

/*
 * Appends to o's operands the constant that row g describes: a zero point in its tensor's type, a
 * scalar as int8, the value with which PAD fills in operand 0's type, a shape of g->n values (or as
 * many as operand 0 has dimensions), or the result's shape; ATTR_PART gives two shapes, the start
 * and the result's shape. Nothing is added if the operator has its arguments as operands
 * (EXT-DYNAMIC). Returns 0 or -ENOMEM.
 */
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

/*
 * Adds to o all attributes of the operator at hand, as its rows in attr_ops say: fields of the
 * attribute table, then constant operands. Returns 0 or -ENOMEM.
 */
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

/* Says whether a list such as "A, B" has the name as a whole entry. */
static bool is_listed(const char *list, const char *name)
{
	const size_t n = strlen(name);

	for (const char *p = strstr(list, name); p; p = strstr(p + 1, name))
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

/* Counts one more operator that is written as CUSTOM and appends its name to x->custom, unless it is listed already. */
static void note_custom(struct xout *x, const char *name)
{
	size_t n = strlen(x->custom);

	x->n_custom++;
	if (!is_listed(x->custom, name))
		snprintf(x->custom + n, WEFT_MSG - n, "%s%s", n ? ", " : "", name);
}

/*
 * Says whether operator o prescribes the order in which floats are added or multiplied (its attribute chain),
 * which TOSA leaves open.
 */
static bool fixes_order(const struct weft_gop *o)
{
	switch (o->op) {
	case WEFT_OP_CONV2D: case WEFT_OP_DEPTHWISE_CONV2D: case WEFT_OP_TRANSPOSE_CONV2D: return o->attr.conv.chain;
	case WEFT_OP_MATMUL: return o->attr.matmul.chain;
	case WEFT_OP_AVG_POOL2D: return o->attr.pool.chain;
	case WEFT_OP_REDUCE_SUM: case WEFT_OP_REDUCE_PRODUCT: return o->attr.axis.chain;
	default: return false;
	}
}

/*
 * Says whether tensor t of graph g, an operand or result of a RESCALE that reads it as unsigned if is_unsigned is
 * set, is int16 with a zero point of its own, which TOSA does not have.
 */
static bool has_own_zero(const weft_graph *g, int t, bool is_unsigned, int32_t zp)
{
	return g->tensors[t].t.dtype == WEFT_INT16 && !is_unsigned && zp;
}

/* Says whether operator o of graph g is a RESCALE with a zero point of int16 that TOSA does not have. */
static bool is_offset(const weft_graph *g, const struct weft_gop *o)
{
	const struct weft_attr_rescale *a = &o->attr.rescale;

	return o->op == WEFT_OP_RESCALE && (has_own_zero(g, o->in[0], a->x_unsigned, a->x_zp) || has_own_zero(g, o->out[0], a->y_unsigned, a->y_zp));
}

/*
 * Returns a constant text for messages that says why TOSA cannot express the operator at hand:
 * RESCALE with ties to even or a zero point of int16, NaN judged by comparisons, floats added or multiplied in a fixed order, int48 where TOSA has the operator only
 * for other types, or no such operator. The caller has found that code_of_op() is 0.
 */
static const char *why_custom(const struct xout *x)
{
	const struct weft_gop *o = gop(x);

	return o->op == WEFT_OP_RESCALE && o->attr.rescale.rounding == WEFT_EVEN_ROUND ? "TOSA has no ties to even" :
	       is_offset(x->g, o) ? "TOSA has no zero points of int16" :
	       attr_compares(o->op, &o->attr) ? "TOSA has no such NaN mode" :
	       fixes_order(o) ? "TOSA leaves open in which order floats are added or multiplied" :
	       code_of(o->op) ? "TOSA has it not for int48" : "TOSA has no such operator";
}

/*
 * Makes o a CUSTOM of domain "weft" for the operator at hand and counts it in x->n_custom and
 * x->custom. Its attributes are the operator's name, the domain, and bytes: one for the type of
 * each operand and result, because TOSA's types have no signs, and then the attributes as a .weft
 * file holds them. Names of operands and results are not added here. Returns 0; -ENOTSUP with a
 * line in msg if x->strict is set (o is then unchanged and nothing is counted); or -ENOMEM, after
 * which o may have some of the attributes.
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

/*
 * Says whether the sign of an operator's types does not matter to it (it only moves elements, or is
 * control flow) or its attributes say it (RESCALE).
 */
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
 * Checks that TOSA has a type for each operand and result of the operator at hand, and that no rank
 * is above 6. Unsigned types pass only if any_sign is set, FNUZ float8 only if own is set; int64
 * arguments of an operator that has its arguments as operands (EXT-DYNAMIC) always pass, of any
 * rank. Returns 0, or -ENOTSUP with a line in msg that names the type or the rank.
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

/* Lists in o the names of the operands and results of the operator at hand. Returns 0 or -ENOMEM. */
static int names(struct xout *x, struct xop *o)
{
	const struct weft_gop *op = gop(x);
	int err = 0;

	for (int k = 0; k < op->n_in && !err; k++)
		err = x_in(o, x->names[op->in[k]]);
	for (int k = 0; k < op->n_out && !err; k++)
		err = x_out(o, x->names[op->out[k]]);
	return err;
}

/*
 * Says whether the operator at hand moves elements of int48, which TOSA only allows IDENTITY to do.
 * False if its arguments are operands (EXT-DYNAMIC).
 */
static bool moves_int48(const struct xout *x)
{
	switch (gop(x)->op) {
	case WEFT_OP_CONCAT: case WEFT_OP_PAD: case WEFT_OP_RESHAPE: case WEFT_OP_REVERSE: case WEFT_OP_SLICE: case WEFT_OP_TILE:
	case WEFT_OP_TRANSPOSE: return result(x)->dtype == WEFT_INT48 && !is_dynamic(gop(x));
	default: return false;
	}
}

/*
 * Returns TOSA's code (enum tosa_code) for the operator at hand, or 0 if it has to be written as
 * CUSTOM: an extension operator, RESCALE with ties to even or a zero point of int16, a move of int48, float sums in a
 * fixed order, or NaN judged by comparisons.
 */
static int code_of_op(const struct xout *x)
{
	const struct weft_gop *o = gop(x);
	bool own = (o->op == WEFT_OP_RESCALE && o->attr.rescale.rounding == WEFT_EVEN_ROUND) || is_offset(x->g, o) || attr_compares(o->op, &o->attr);

	return own || moves_int48(x) || fixes_order(o) ? 0 : code_of(o->op);
}

/*
 * Converts the operator at hand, with the constants that its attributes become, and appends it to
 * the block; one that TOSA cannot express becomes a CUSTOM of domain "weft", unless x->strict is
 * set. Returns 0, or with one line in msg -ENOTSUP if TOSA has no type or rank for a tensor or
 * x->strict refuses the operator, or -ENOMEM.
 */
int x_convert_op(struct xout *x)
{
	struct xop o = { .code = code_of_op(x) };
	int err = check_types(x, !o.code || moves_bits(gop(x)->op), !o.code);

	if (!err && weft_moves_variable(gop(x)))
		return x_move_variable(x) ? x_fail(x, -ENOMEM, "out of memory") : 0;
	if (!err)
		err = names(x, &o);
	if (!err)
		err = o.code ? attributes(x, &o) : custom(x, &o);
	if (!err)
		return x_op(x, &o);
	x_drop(&o);
	return err == -ENOMEM ? x_fail(x, -ENOMEM, "out of memory") : err;
}
