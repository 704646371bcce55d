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
#include "userlib/compile/file/save_program.h"
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

/* Like add_shape(), from 32-bit values. */
static int add_shape32(struct xout *x, struct xop *o, const int32_t *v, int n)
{
	int64_t wide[2 * WEFT_MAX_RANK];

	for (int i = 0; i < n; i++)
		wide[i] = v[i];
	return add_shape(x, o, wide, n);
}

static int add_zps(struct xout *x, struct xop *o, weft_dtype a, int64_t a_zp, weft_dtype b, int64_t b_zp)
{
	int err = add_scalar(x, o, a, a_zp);

	return err ? err : add_scalar(x, o, b, b_zp);
}

/* ---- operators ---- */

static int nan_field(struct xop *o, int id, weft_nan_mode m)
{
	return x_number(o, id, m == WEFT_NAN_IGNORE ? WEFT_NAN_IGNORE : WEFT_NAN_PROPAGATE);
}

/* Writes a two-dimensional convolution's attributes, and its zero points as operands. */
static int conv(struct xout *x, struct xop *o, const struct weft_attr_conv *a)
{
	const bool transposed = gop(x)->op == WEFT_OP_TRANSPOSE_CONV2D;

	x_list(o, transposed ? TCONV_OUT_PAD : CONV_PAD, a->pad, 4);
	x_list(o, transposed ? TCONV_STRIDE : CONV_STRIDE, a->stride, 2);
	if (!transposed)
		x_list(o, CONV_DILATION, a->dilation, 2);
	x_flag(o, transposed ? TCONV_LOCAL_BOUND : CONV_LOCAL_BOUND, a->local_bound);
	x_number(o, transposed ? TCONV_ACC : CONV_ACC, x_file_type(a->acc));
	return add_zps(x, o, operand(x, 0)->dtype, a->x_zp, operand(x, 1)->dtype, a->w_zp);
}

/* Writes CONV3D's attributes, and its zero points as operands. */
static int conv3d(struct xout *x, struct xop *o, const struct weft_attr_conv3d *a)
{
	x_list(o, CONV_PAD, a->pad, 6);
	x_list(o, CONV_STRIDE, a->stride, 3);
	x_list(o, CONV_DILATION, a->dilation, 3);
	x_flag(o, CONV_LOCAL_BOUND, a->local_bound);
	x_number(o, CONV_ACC, x_file_type(a->acc));
	return add_zps(x, o, operand(x, 0)->dtype, a->x_zp, operand(x, 1)->dtype, a->w_zp);
}

/* Writes a pooling operator's attributes, and an average's zero points as operands. */
static int pool(struct xout *x, struct xop *o, const struct weft_attr_pool *a)
{
	x_list(o, AVG_POOL_KERNEL, a->kernel, 2);
	x_list(o, AVG_POOL_STRIDE, a->stride, 2);
	x_list(o, AVG_POOL_PAD, a->pad, 4);
	if (gop(x)->op == WEFT_OP_MAX_POOL2D)
		return nan_field(o, MAX_POOL_NAN, a->nan);
	x_number(o, AVG_POOL_ACC, x_file_type(a->acc));
	return add_zps(x, o, operand(x, 0)->dtype, a->x_zp, result(x)->dtype, a->y_zp);
}

/* Writes CLAMP's limits as bytes of the tensor's own type, and its NaN mode. */
static int clamp(struct xout *x, struct xop *o, const struct weft_attr_clamp *a)
{
	const weft_dtype t = operand(x, 0)->dtype;
	const int bytes = (int)weft_dtype_bytes(t);
	uint64_t lo = weft_is_float(t) ? weft_float_encode(t, a->fmin, false) : (uint64_t)a->min;
	uint64_t hi = weft_is_float(t) ? weft_float_encode(t, a->fmax, false) : (uint64_t)a->max;
	int err = x_bytes(o, CLAMP_MIN, &lo, bytes);

	if (!err)
		err = x_bytes(o, CLAMP_MAX, &hi, bytes);
	return err ? err : nan_field(o, CLAMP_NAN, a->nan);
}

/* Writes PAD's amounts as a constant shape and its value as a constant scalar. */
static int pad(struct xout *x, struct xop *o, const struct weft_attr_pad *a)
{
	const weft_tensor *t = operand(x, 0);
	int64_t both[2 * WEFT_MAX_RANK], v = a->value;

	for (int i = 0; i < t->rank; i++) {
		both[2 * i] = a->before[i];
		both[2 * i + 1] = a->after[i];
	}
	if (t->dtype == WEFT_FP32)
		v = (int64_t)weft_float_encode(t->dtype, a->fvalue, false);
	int err = add_shape(x, o, both, 2 * t->rank);
	return err ? err : add_scalar(x, o, t->dtype, v);
}

/* Writes RESIZE's mode, and scale, offset and border as constant shapes. */
static int resize(struct xout *x, struct xop *o, const struct weft_attr_resize *a)
{
	const int32_t scale[4] = { a->scale_y_n, a->scale_y_d, a->scale_x_n, a->scale_x_d };
	const int32_t offset[2] = { a->offset_y, a->offset_x }, border[2] = { a->border_y, a->border_x };
	int err;

	x_number(o, RESIZE_MODE, a->mode);
	if ((err = add_shape32(x, o, scale, 4)) || (err = add_shape32(x, o, offset, 2)))
		return err;
	return add_shape32(x, o, border, 2);
}

/* Writes RESCALE's attributes, and its zero points as operands. */
static int rescale(struct xout *x, struct xop *o, const struct weft_attr_rescale *a)
{
	const weft_dtype in = operand(x, 0)->dtype, out = result(x)->dtype;

	x_flag(o, RESCALE_SCALE32, a->scale32);
	x_number(o, RESCALE_ROUNDING, a->rounding);
	x_flag(o, RESCALE_PER_CHANNEL, a->per_channel);
	x_flag(o, RESCALE_X_UNSIGNED, a->x_unsigned || is_unsigned(in));
	x_flag(o, RESCALE_Y_UNSIGNED, a->y_unsigned || is_unsigned(out));
	return add_zps(x, o, in, a->x_zp, out, a->y_zp);
}

/* Writes the axis of a reduction or ARGMAX, and the NaN mode where the operator has one. */
static int axis(struct xout *x, struct xop *o, const struct weft_attr_axis *a)
{
	const weft_opcode op = gop(x)->op;

	x_number(o, REDUCE_AXIS, a->axis);
	if (op == WEFT_OP_ARGMAX || op == WEFT_OP_REDUCE_MAX || op == WEFT_OP_REDUCE_MIN)
		return nan_field(o, REDUCE_NAN, a->nan);
	return 0;
}

/*
 * Writes the names of the sub-graphs of COND_IF or WHILE_LOOP, which follow from the sub-graphs'
 * positions.
 */
static int flow(struct xout *x, struct xop *o, const struct weft_attr_flow *a)
{
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < x->outer->n_subs; i++) {
			int err = x->outer->subs[i] == a->graph[k] ?
			          x_bytes(o, FLOW_FIRST + k, x->blocks[1 + i].name, (int)strlen(x->blocks[1 + i].name)) : 0;
			if (err)
				return err;
		}
	return 0;
}

/*
 * Writes what the operator has besides tensors: attributes, and the constants that TOSA 1.0 has as
 * operands.
 */
static int extras(struct xout *x, struct xop *o)
{
	const weft_attr *a = &gop(x)->attr;
	const weft_tensor *t = gop(x)->n_in ? operand(x, 0) : NULL, *y = result(x);
	int err;

	switch (gop(x)->op) {
	case WEFT_OP_CONV2D:
	case WEFT_OP_DEPTHWISE_CONV2D:
	case WEFT_OP_TRANSPOSE_CONV2D: return conv(x, o, &a->conv);
	case WEFT_OP_CONV3D: return conv3d(x, o, &a->conv3d);
	case WEFT_OP_AVG_POOL2D:
	case WEFT_OP_MAX_POOL2D: return pool(x, o, &a->pool);
	case WEFT_OP_FFT2D: x_flag(o, FFT_INVERSE, a->fft.inverse); return x_flag(o, FFT_LOCAL_BOUND, a->fft.local_bound);
	case WEFT_OP_RFFT2D: return x_flag(o, RFFT_LOCAL_BOUND, a->fft.local_bound);
	case WEFT_OP_MATMUL: return add_zps(x, o, t->dtype, a->matmul.a_zp, operand(x, 1)->dtype, a->matmul.b_zp);
	case WEFT_OP_CLAMP: return clamp(x, o, &a->clamp);
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT: return x_flag(o, SHIFT_ROUND, a->shift.round);
	case WEFT_OP_MAXIMUM:
	case WEFT_OP_MINIMUM: return nan_field(o, MINMAX_NAN, a->nan.nan);
	case WEFT_OP_MUL: return add_scalar(x, o, WEFT_INT8, a->mul.shift);
	case WEFT_OP_NEGATE: return add_zps(x, o, t->dtype, a->negate.x_zp, y->dtype, a->negate.y_zp);
	case WEFT_OP_ARGMAX: case WEFT_OP_REDUCE_ALL: case WEFT_OP_REDUCE_ANY: case WEFT_OP_REDUCE_MAX: case WEFT_OP_REDUCE_MIN:
	case WEFT_OP_REDUCE_PRODUCT: case WEFT_OP_REDUCE_SUM: case WEFT_OP_CONCAT: case WEFT_OP_REVERSE:
		return axis(x, o, &a->axis);
	case WEFT_OP_PAD: return pad(x, o, &a->pad);
	case WEFT_OP_RESHAPE: return add_shape(x, o, y->dim, y->rank);
	case WEFT_OP_SLICE:
		err = add_shape(x, o, a->slice.start, t->rank);
		return err ? err : add_shape(x, o, y->dim, y->rank);
	case WEFT_OP_TILE: return add_shape32(x, o, a->tile.multiple, t->rank);
	case WEFT_OP_TRANSPOSE: return x_list(o, TRANSPOSE_PERMS, a->perm.perm, t->rank);
	case WEFT_OP_RESIZE: return resize(x, o, &a->resize);
	case WEFT_OP_RESCALE: return rescale(x, o, &a->rescale);
	case WEFT_OP_COND_IF:
	case WEFT_OP_WHILE_LOOP: return flow(x, o, &a->flow);
	default: return 0;
	}
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
		return x_fail(x, -ENOTSUP, op->op == WEFT_OP_RESCALE ? "TOSA has no ties to even" :
		                           code_of(op->op) ? "TOSA has it not for int48" : "TOSA has no such operator");
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

/* RESCALE with a rounding of ours is an extension, and so is moving int48. */
static int code_of_op(const struct xout *x)
{
	const struct weft_gop *o = gop(x);
	bool own = o->op == WEFT_OP_RESCALE && o->attr.rescale.rounding == WEFT_EVEN_ROUND;

	return own || moves_int48(x) ? 0 : code_of(o->op);
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
		err = o.code ? extras(x, &o) : custom(x, &o);
	if (!err)
		return x_op(x, &o);
	x_drop(&o);
	return err == -ENOMEM ? x_fail(x, -ENOMEM, "out of memory") : err;
}
