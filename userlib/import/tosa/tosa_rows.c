/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators' tables: how many operands each has, and which types it takes
 * together.
 *
 * Source: TOSA 1.0, "Supported Data Types" of each operator (the profiles
 * PRO-INT and PRO-FP and all extensions).
 */
#include <errno.h>

#include "tosa_lower.h"

#define ANY_OUT (-1)                 /* any number of results */
#define LIST WEFT_OP_MAX_INPUTS      /* the most operands of a list */

const struct tosa_info tosa_infos[TOSA_N_CODES] = {
	[TOSA_ARGMAX] = { WEFT_OP_ARGMAX, 1, 1, 1, 1, false },
	[TOSA_AVG_POOL2D] = { WEFT_OP_AVG_POOL2D, 3, 3, 1, 1, false },
	[TOSA_CONV2D] = { WEFT_OP_CONV2D, 5, 5, 3, 1, false },
	[TOSA_CONV3D] = { WEFT_OP_CONV3D, 5, 5, 3, 1, false },
	[TOSA_DEPTHWISE_CONV2D] = { WEFT_OP_DEPTHWISE_CONV2D, 5, 5, 3, 1, false },
	[TOSA_FFT2D] = { WEFT_OP_FFT2D, 2, 2, 2, 2, false },
	[TOSA_MATMUL] = { WEFT_OP_MATMUL, 4, 4, 2, 1, true },
	[TOSA_MAX_POOL2D] = { WEFT_OP_MAX_POOL2D, 1, 1, 1, 1, false },
	[TOSA_RFFT2D] = { WEFT_OP_RFFT2D, 1, 1, 1, 2, false },
	[TOSA_TRANSPOSE_CONV2D] = { WEFT_OP_TRANSPOSE_CONV2D, 5, 5, 3, 1, false },
	[TOSA_CLAMP] = { WEFT_OP_CLAMP, 1, 1, 1, 1, false },
	[TOSA_ERF] = { WEFT_OP_ERF, 1, 1, 1, 1, true },
	[TOSA_SIGMOID] = { WEFT_OP_SIGMOID, 1, 1, 1, 1, true },
	[TOSA_TANH] = { WEFT_OP_TANH, 1, 1, 1, 1, true },
	[TOSA_ADD] = { WEFT_OP_ADD, 2, 2, 2, 1, true },
	[TOSA_ARITHMETIC_RIGHT_SHIFT] = { WEFT_OP_ARITHMETIC_RIGHT_SHIFT, 2, 2, 2, 1, false },
	[TOSA_BITWISE_AND] = { WEFT_OP_BITWISE_AND, 2, 2, 2, 1, true },
	[TOSA_BITWISE_OR] = { WEFT_OP_BITWISE_OR, 2, 2, 2, 1, true },
	[TOSA_BITWISE_XOR] = { WEFT_OP_BITWISE_XOR, 2, 2, 2, 1, true },
	[TOSA_INTDIV] = { WEFT_OP_INTDIV, 2, 2, 2, 1, true },
	[TOSA_LOGICAL_AND] = { WEFT_OP_LOGICAL_AND, 2, 2, 2, 1, true },
	[TOSA_LOGICAL_LEFT_SHIFT] = { WEFT_OP_LOGICAL_LEFT_SHIFT, 2, 2, 2, 1, true },
	[TOSA_LOGICAL_RIGHT_SHIFT] = { WEFT_OP_LOGICAL_RIGHT_SHIFT, 2, 2, 2, 1, true },
	[TOSA_LOGICAL_OR] = { WEFT_OP_LOGICAL_OR, 2, 2, 2, 1, true },
	[TOSA_LOGICAL_XOR] = { WEFT_OP_LOGICAL_XOR, 2, 2, 2, 1, true },
	[TOSA_MAXIMUM] = { WEFT_OP_MAXIMUM, 2, 2, 2, 1, false },
	[TOSA_MINIMUM] = { WEFT_OP_MINIMUM, 2, 2, 2, 1, false },
	[TOSA_MUL] = { WEFT_OP_MUL, 3, 3, 2, 1, true },
	[TOSA_POW] = { WEFT_OP_POW, 2, 2, 2, 1, true },
	[TOSA_SUB] = { WEFT_OP_SUB, 2, 2, 2, 1, true },
	[TOSA_TABLE] = { WEFT_OP_TABLE, 2, 2, 2, 1, true },
	[TOSA_ABS] = { WEFT_OP_ABS, 1, 1, 1, 1, true },
	[TOSA_BITWISE_NOT] = { WEFT_OP_BITWISE_NOT, 1, 1, 1, 1, true },
	[TOSA_CEIL] = { WEFT_OP_CEIL, 1, 1, 1, 1, true },
	[TOSA_CLZ] = { WEFT_OP_CLZ, 1, 1, 1, 1, true },
	[TOSA_COS] = { WEFT_OP_COS, 1, 1, 1, 1, true },
	[TOSA_EXP] = { WEFT_OP_EXP, 1, 1, 1, 1, true },
	[TOSA_FLOOR] = { WEFT_OP_FLOOR, 1, 1, 1, 1, true },
	[TOSA_LOG] = { WEFT_OP_LOG, 1, 1, 1, 1, true },
	[TOSA_LOGICAL_NOT] = { WEFT_OP_LOGICAL_NOT, 1, 1, 1, 1, true },
	[TOSA_NEGATE] = { WEFT_OP_NEGATE, 3, 3, 1, 1, true },
	[TOSA_RECIPROCAL] = { WEFT_OP_RECIPROCAL, 1, 1, 1, 1, true },
	[TOSA_RSQRT] = { WEFT_OP_RSQRT, 1, 1, 1, 1, true },
	[TOSA_SIN] = { WEFT_OP_SIN, 1, 1, 1, 1, true },
	[TOSA_SELECT] = { WEFT_OP_SELECT, 3, 3, 3, 1, true },
	[TOSA_EQUAL] = { WEFT_OP_EQUAL, 2, 2, 2, 1, true },
	[TOSA_GREATER] = { WEFT_OP_GREATER, 2, 2, 2, 1, true },
	[TOSA_GREATER_EQUAL] = { WEFT_OP_GREATER_EQUAL, 2, 2, 2, 1, true },
	[TOSA_REDUCE_ALL] = { WEFT_OP_REDUCE_ALL, 1, 1, 1, 1, false },
	[TOSA_REDUCE_ANY] = { WEFT_OP_REDUCE_ANY, 1, 1, 1, 1, false },
	[TOSA_REDUCE_MAX] = { WEFT_OP_REDUCE_MAX, 1, 1, 1, 1, false },
	[TOSA_REDUCE_MIN] = { WEFT_OP_REDUCE_MIN, 1, 1, 1, 1, false },
	[TOSA_REDUCE_PRODUCT] = { WEFT_OP_REDUCE_PRODUCT, 1, 1, 1, 1, false },
	[TOSA_REDUCE_SUM] = { WEFT_OP_REDUCE_SUM, 1, 1, 1, 1, false },
	[TOSA_CONCAT] = { WEFT_OP_CONCAT, 1, LIST - 1, -1, 1, false },
	[TOSA_PAD] = { WEFT_OP_PAD, 3, 3, 1, 1, true },
	[TOSA_RESHAPE] = { WEFT_OP_RESHAPE, 2, 2, 1, 1, true },
	[TOSA_REVERSE] = { WEFT_OP_REVERSE, 1, 1, 1, 1, false },
	[TOSA_SLICE] = { WEFT_OP_SLICE, 3, 3, 1, 1, true },
	[TOSA_TILE] = { WEFT_OP_TILE, 2, 2, 1, 1, true },
	[TOSA_TRANSPOSE] = { WEFT_OP_TRANSPOSE, 1, 1, 1, 1, false },
	[TOSA_GATHER] = { WEFT_OP_GATHER, 2, 2, 2, 1, true },
	[TOSA_SCATTER] = { WEFT_OP_SCATTER, 3, 3, 3, 1, true },
	[TOSA_RESIZE] = { WEFT_OP_RESIZE, 4, 4, 1, 1, false },
	[TOSA_CAST] = { WEFT_OP_CAST, 1, 1, 1, 1, true },
	[TOSA_RESCALE] = { WEFT_OP_RESCALE, 5, 5, 3, 1, false },
	[TOSA_CONST] = { WEFT_OP_CONST, 0, 0, 0, 1, true },
	[TOSA_IDENTITY] = { WEFT_OP_IDENTITY, 1, 1, 1, 1, true },
	[TOSA_CUSTOM] = { WEFT_OP_CUSTOM, 0, LIST, -1, ANY_OUT, false },
	[TOSA_COND_IF] = { WEFT_OP_COND_IF, 1, LIST, -1, ANY_OUT, false },
	[TOSA_WHILE_LOOP] = { WEFT_OP_WHILE_LOOP, 1, LIST - 1, -1, ANY_OUT, false },
	[TOSA_VARIABLE] = { WEFT_OP_VARIABLE, 0, 0, 0, 1, true },
	[TOSA_VARIABLE_WRITE] = { WEFT_OP_VARIABLE_WRITE, 1, 2, -1, ANY_OUT, true },
	[TOSA_VARIABLE_READ] = { WEFT_OP_VARIABLE_READ, 0, 1, 0, 1, true },
	[TOSA_CONST_SHAPE] = { WEFT_OP_CONST_SHAPE, 0, 0, 0, 1, true },
};

/* Sets of types, one bit each. */
#define T(t)    (1u << WEFT_##t)
#define FP      (T(FP16) | T(BF16) | T(FP32))
#define FP8     (T(FP8E4M3) | T(FP8E5M2))
#define INTS    (T(INT8) | T(INT16) | T(INT32))
#define LAYOUT  (FP | FP8 | INTS | T(BOOL))

/*
 * Returns the set of types, one bit each, that operator op allows if all its operands and results
 * have one type. Returns 0 for operators whose types is_row() judges.
 */
static uint32_t same_type(weft_opcode op)
{
	switch (op) {
	case WEFT_OP_MAX_POOL2D: return FP | FP8 | T(INT8) | T(INT16);
	case WEFT_OP_FFT2D:
	case WEFT_OP_RFFT2D: return T(FP32);
	case WEFT_OP_CLAMP: return FP | T(INT8) | T(INT16);
	case WEFT_OP_ERF: case WEFT_OP_SIGMOID: case WEFT_OP_TANH: case WEFT_OP_POW: case WEFT_OP_CEIL: case WEFT_OP_COS:
	case WEFT_OP_EXP: case WEFT_OP_FLOOR: case WEFT_OP_LOG: case WEFT_OP_RECIPROCAL: case WEFT_OP_RSQRT:
	case WEFT_OP_SIN: case WEFT_OP_REDUCE_PRODUCT: return FP;
	case WEFT_OP_ADD: case WEFT_OP_SUB: case WEFT_OP_MAXIMUM: case WEFT_OP_MINIMUM: case WEFT_OP_ABS:
	case WEFT_OP_REDUCE_SUM: return FP | T(INT32);
	case WEFT_OP_ARITHMETIC_RIGHT_SHIFT: case WEFT_OP_LOGICAL_LEFT_SHIFT: case WEFT_OP_LOGICAL_RIGHT_SHIFT:
	case WEFT_OP_BITWISE_AND: case WEFT_OP_BITWISE_OR: case WEFT_OP_BITWISE_XOR: case WEFT_OP_BITWISE_NOT: return INTS;
	case WEFT_OP_INTDIV:
	case WEFT_OP_CLZ: return T(INT32);
	case WEFT_OP_LOGICAL_AND: case WEFT_OP_LOGICAL_OR: case WEFT_OP_LOGICAL_XOR: case WEFT_OP_LOGICAL_NOT:
	case WEFT_OP_REDUCE_ALL: case WEFT_OP_REDUCE_ANY: return T(BOOL);
	case WEFT_OP_NEGATE: case WEFT_OP_REDUCE_MAX: case WEFT_OP_REDUCE_MIN: return FP | INTS;
	case WEFT_OP_CONCAT: case WEFT_OP_PAD: case WEFT_OP_RESHAPE: case WEFT_OP_REVERSE: case WEFT_OP_SLICE:
	case WEFT_OP_TILE: case WEFT_OP_TRANSPOSE: return LAYOUT;
	case WEFT_OP_IDENTITY: return LAYOUT | T(INT4) | T(INT48);
	default: return 0;
	}
}

static bool is(const weft_tensor *t, uint32_t set)
{
	return set >> t->dtype & 1;
}

/*
 * Says whether the types of input x, result y and accumulator acc are a row of TOSA's table for
 * AVG_POOL2D.
 */
static bool average_row(const weft_tensor *x, const weft_tensor *y, weft_dtype acc)
{
	if (x->dtype != y->dtype)
		return false;
	if (is(x, T(INT8) | T(INT16)))
		return acc == WEFT_INT32;
	if (is(x, FP8))
		return acc == WEFT_FP16;
	return is(x, FP) && (acc == WEFT_FP32 || (acc == WEFT_FP16 && is(x, T(FP16))));
}

/*
 * Says whether the types of input x[0], weights x[1], bias x[2], result y and accumulator acc are a
 * row of TOSA's table for convolutions.
 */
static bool conv_row(const weft_tensor *x, const weft_tensor *y, weft_dtype acc)
{
	const weft_tensor *w = &x[1], *b = &x[2];

	if (b->dtype != y->dtype)
		return false;
	if (is(x, T(INT8)))
		return is(w, T(INT8) | T(INT4)) && is(y, T(INT32)) && acc == WEFT_INT32;
	if (is(x, T(INT16)))
		return is(w, T(INT8)) && is(y, T(INT48)) && acc == WEFT_INT48;
	if (w->dtype != x->dtype)
		return false;
	if (is(x, FP8))
		return is(y, T(FP16)) && acc == WEFT_FP16;
	return is(x, FP) && y->dtype == x->dtype && (acc == WEFT_FP32 || (acc == WEFT_FP16 && is(x, T(FP16))));
}

/*
 * Says whether the types of operands x[0] and x[1] and of result y are a row of TOSA's table for
 * MATMUL.
 */
static bool matmul_row(const weft_tensor *x, const weft_tensor *y)
{
	if (x[0].dtype != x[1].dtype)
		return false;
	switch (x->dtype) {
	case WEFT_INT8: return is(y, T(INT32));
	case WEFT_INT16: return is(y, T(INT48));
	case WEFT_FP8E4M3:
	case WEFT_FP8E5M2: return is(y, T(FP16));
	case WEFT_FP16: return is(y, T(FP16) | T(FP32));
	case WEFT_BF16:
	case WEFT_FP32: return is(y, T(FP32));
	default: return false;
	}
}

/* Says whether TOSA's table for CAST has a row from x's type to y's; equal types have none. */
static bool cast_row(const weft_tensor *x, const weft_tensor *y)
{
	if (x->dtype == y->dtype)
		return false;
	if (is(x, T(BOOL)))
		return is(y, INTS);
	if (is(x, INTS))
		return is(y, INTS | T(BOOL) | FP);
	if (is(x, FP8))
		return is(y, FP);
	if (is(x, T(BF16)))
		return is(y, INTS | FP8 | T(FP32));
	if (is(x, T(FP16)))
		return is(y, INTS | FP8 | T(FP32));
	return is(x, T(FP32)) && is(y, INTS | FP8 | T(FP16) | T(BF16));
}

/*
 * Says whether TOSA's table for RESIZE has a row from x's type to y's in the given mode: the same
 * type for floats and for nearest, from int8 to int32 or from int16 to int48 for bilinear.
 */
static bool resize_row(const weft_tensor *x, const weft_tensor *y, weft_resize_mode mode)
{
	if (is(x, FP) || mode == WEFT_RESIZE_NEAREST)
		return x->dtype == y->dtype && is(x, FP | T(INT8) | T(INT16));
	return (is(x, T(INT8)) && is(y, T(INT32))) || (is(x, T(INT16)) && is(y, T(INT48)));
}

/*
 * Says whether the types of operands x and first result y, the accumulator type acc (0: none) and,
 * for RESIZE, the mode are a row of TOSA's table for operator op. True for operators that have no
 * condition here.
 */
static bool is_row(weft_opcode op, const weft_tensor *x, const weft_tensor *y, weft_dtype acc, weft_resize_mode mode)
{
	switch (op) {
	case WEFT_OP_ARGMAX:
		return is(x, FP | FP8 | T(INT8) | T(INT16)) && is(y, T(INT32));
	case WEFT_OP_AVG_POOL2D:
		return average_row(x, y, acc);
	case WEFT_OP_CONV2D:
	case WEFT_OP_CONV3D:
	case WEFT_OP_DEPTHWISE_CONV2D:
	case WEFT_OP_TRANSPOSE_CONV2D:
		return conv_row(x, y, acc);
	case WEFT_OP_MATMUL:
		return matmul_row(x, y);
	case WEFT_OP_MUL:
		return x[0].dtype == x[1].dtype && (is(x, FP) ? y->dtype == x->dtype : is(x, INTS) && is(y, T(INT32)));
	case WEFT_OP_TABLE:
		return x[0].dtype == x[1].dtype &&
		       ((is(x, T(INT8)) && is(y, T(INT8))) || (is(x, T(INT16)) && is(y, T(INT32))));
	case WEFT_OP_SELECT:
		return is(x, T(BOOL)) && x[1].dtype == x[2].dtype && x[1].dtype == y->dtype && is(y, FP | INTS | T(BOOL));
	case WEFT_OP_EQUAL:
	case WEFT_OP_GREATER:
	case WEFT_OP_GREATER_EQUAL:
		return x[0].dtype == x[1].dtype && is(x, FP | T(INT32)) && is(y, T(BOOL));
	case WEFT_OP_GATHER:
		return is(x, FP | FP8 | INTS) && is(&x[1], T(INT32)) && y->dtype == x->dtype;
	case WEFT_OP_SCATTER:
		return is(x, FP | FP8 | INTS) && is(&x[1], T(INT32)) && x[2].dtype == x->dtype && y->dtype == x->dtype;
	case WEFT_OP_RESIZE:
		return resize_row(x, y, mode);
	case WEFT_OP_CAST:
		return cast_row(x, y);
	case WEFT_OP_RESCALE:
		return is(x, INTS | T(INT48)) && is(y, INTS);
	case WEFT_OP_COND_IF:
		return is(x, T(BOOL));
	case WEFT_OP_VARIABLE_READ:
		return is(y, T(INT8) | T(FP16) | T(FP32));
	case WEFT_OP_VARIABLE_WRITE:
		return is(x, T(INT8) | T(FP16) | T(FP32));
	default:
		return true;
	}
}

/*
 * Checks that the types of the n_x data operands x and n_y results y of the operator at hand, with
 * accumulator type acc (0 if it has none) and, for RESIZE, the mode, are a row of TOSA's table for
 * that operator. Returns 0, or -EINVAL with the types in the message.
 */
int tosa_check_types(struct tosa_lower *l, const weft_tensor *x, int n_x, const weft_tensor *y, int n_y, weft_dtype acc,
                     weft_resize_mode mode)
{
	const weft_opcode op = tosa_infos[l->op->code].op;
	const uint32_t set = same_type(op);
	bool ok = true;

	if (!set)
		ok = is_row(op, x, y, acc, mode);
	for (int i = 0; set && i < n_x; i++)
		ok = ok && is(&x[i], set) && x[i].dtype == y[0].dtype;
	for (int i = 0; set && i < n_y; i++)
		ok = ok && is(&y[i], set) && y[i].dtype == y[0].dtype;
	if (ok)
		return 0;
	return tosa_fail(l, -EINVAL, "%s%s%s -> %s%s%s: not a row of its table", n_x ? weft_dtype_name(x[0].dtype) : "",
	                 n_x > 1 ? ", " : "", n_x > 1 ? weft_dtype_name(x[1].dtype) : "", n_y ? weft_dtype_name(y[0].dtype) : "",
	                 acc ? ", accumulator " : "", acc ? weft_dtype_name(acc) : "");
}
