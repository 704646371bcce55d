/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QDQ graphs: what stands between DequantizeLinear and QuantizeLinear is done in
 * integers, with the same bits.
 *
 * A DequantizeLinear with one scale is not lowered at first: its result refers to
 * the integers (its carrier) and is pending. Operators that move elements work on
 * the carrier; operators on single elements make a function of it; sums and
 * averages wait for the QuantizeLinear behind them. If a reader asks for the
 * floats themselves, the pending nodes are lowered then.
 *
 * The integers of a uint8 or uint16 value are taken in their signed form (ox_signed(), ox_less()); perm is the order of
 * dimensions in which a result is held. The conventions of onnx_lower.h hold.
 */
#ifndef WEFT_IMPORT_ONNX_QDQ_H
#define WEFT_IMPORT_ONNX_QDQ_H

#include "onnx_exact_scale.h"
#include "onnx_lower.h"

/* One constant scale and one constant zero point. */
struct ox_q {
	struct ox_value *scale, *zp;   /* zp has the integers' type */
	double s;                      /* the scale */
	int32_t z;                     /* the zero point in the integers' own type */
	bool flip;                     /* the integers are uint8 or uint16, and taken in their signed form */
	bool between;                  /* they are int16 codes that the importer made (onnx_between.c), not the file's */
};

/* Integers, and the parameters by which they are dequantised; last: QLinearAdd adds this operand after the other one. */
struct ox_side { struct ox_value *v; struct ox_q q; bool last; };

/*
 * Sets *q to a scale and a zero point of type t (NULL: 0). Returns false if they are not constant or not one number
 * each, or the scale is not a positive float32.
 */
WEFT_MUST_USE bool ox_q_read(struct ox *l, struct ox_value *scale, struct ox_value *zp, weft_dtype t, struct ox_q *q);
/*
 * Sets *s to the integers from which v was dequantised, with scale and zero point. Returns false, with *s
 * undefined, if v is not the result of a DequantizeLinear of one constant scale and zero point, perhaps with
 * its elements moved.
 */
WEFT_MUST_USE bool ox_side_of(struct ox *l, const struct ox_value *v, struct ox_side *s);

/* The same, also of a DequantizeLinear of constants of 8 bits. */
WEFT_MUST_USE bool ox_side_or_constant(struct ox *l, const struct ox_value *v, struct ox_side *s);

/*
 * Returns the value that stands for an absent zero point of type t, which has 8 or 16 bits, or NULL after a
 * failure.
 */
struct ox_value *ox_zero_of(struct ox *l, weft_dtype t);
/*
 * Returns, as float32, function v of codes computed from `codes` instead of its carrier's, perhaps in their
 * signed form.
 */
WEFT_MUST_USE int ox_apply(struct ox *l, struct ox_value *v, int codes);
/*
 * Emits node i, whose result is the value y. x[k] is the graph tensor to be taken for operand k, or negative if the operand's own
 * value is to be taken. Returns the result's graph tensor, or a negative errno.
 */
WEFT_MUST_USE int ox_apply_node(struct ox *l, int i, struct ox_value *y, const int *x);
/* Returns float x quantised with q, in the signed form. */
WEFT_MUST_USE int ox_quantise(struct ox *l, int x, const struct ox_q *q);

/* Says whether v is the result of a DequantizeLinear of a constant. */
WEFT_MUST_USE bool ox_dequantises_constant(struct ox *l, const struct ox_value *v);

/* Returns v's integers as int8 or int16 in the order in which they are held, and sets perm to that order. */
int ox_side_tensor(struct ox *l, struct ox_value *v, int8_t *perm);
/* Returns v's integers as int8 or int16 in order perm (NULL: the file's). */
int ox_side_in(struct ox *l, struct ox_value *v, const int8_t *perm);
/*
 * Returns the integers of s less their zero point as int32 in order perm (NULL: the file's), by a RESCALE with factor 1,
 * the form that the compiler recognises as the beginning of a mean.
 */
WEFT_MUST_USE int ox_centred(struct ox *l, const struct ox_side *s, const int8_t *perm);
/*
 * Sets *to to side s, or, if its rank is below `rank`, to its integers with leading dimensions of 1, which *held holds from then
 * on. Returns 0 or a negative errno.
 */
WEFT_MUST_USE int ox_side_of_rank(struct ox *l, const struct ox_side *s, int rank, struct ox_value *held, struct ox_side *to);
/* Returns the zero point of the integers as they are taken: in their signed form. */
static inline int32_t ox_q_zp(const struct ox_q *q) { return q->z - ox_less(q->zp->t.dtype); }
/* Returns the least of the integers as they are taken. */
static inline int ox_q_low(const struct ox_q *q) { return ox_signed(q->zp->t.dtype) == WEFT_INT16 ? INT16_MIN : INT8_MIN; }
/* Returns the greatest of the integers as they are taken. */
static inline int ox_q_high(const struct ox_q *q) { return -1 - ox_q_low(q); }
/* Returns how many codes there are. */
static inline int32_t ox_q_codes(const struct ox_q *q) { return 2 * (1 + ox_q_high(q)); }
/* Returns the largest magnitude that one of the integers less the zero point can have. */
static inline int32_t ox_q_farthest(const struct ox_q *q)
{
	const int32_t below = ox_q_zp(q) - ox_q_low(q), above = ox_q_high(q) - ox_q_zp(q);

	return below > above ? below : above;
}

/*
 * Returns int8 x with code i - 128 replaced by f[i]; from: x's quantisation if f only requantises it to q,
 * else NULL.
 */
WEFT_MUST_USE int ox_by_codes(struct ox *l, int x, const int32_t *f, const struct ox_q *from, const struct ox_q *q);

/* Codes that a fold has made. */
struct ox_coded {
	int tensor;                    /* the graph tensor of codes, in their signed form */
	int8_t perm[WEFT_MAX_RANK];    /* the tensor's dimension i is the value's dimension perm[i] */
};

/* Notes in *y that the codes are this tensor. Returns 1, or the tensor itself if it is a negative errno. */
static inline int ox_coded_as(struct ox_coded *y, int tensor)
{
	y->tensor = tensor;
	return tensor < 0 ? tensor : 1;
}

/* Sets perm to the file's order of dimensions. */
static inline void ox_file_order(int8_t *perm)
{
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		perm[i] = (int8_t)i;
}

/*
 * Each of these (but for ox_qlinear_pair()) makes codes quantised with q. Returns 1 with *y set; 0 if that cannot be
 * done in integers with the same bits; or a negative errno. *y means nothing unless the result is 1.
 */
/* Any value that waits. */
WEFT_MUST_USE int ox_fold_value(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_coded *y);
/* V: a function of its carrier. */
WEFT_MUST_USE int ox_map(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_coded *y);
/* Conv, Gemm, MatMul ... */
WEFT_MUST_USE int ox_fold_product(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);
/* Pools, ReduceMean, ReduceSum. */
WEFT_MUST_USE int ox_fold_average(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);
/* Returns BatchNormalization's factor for each channel: scale / sqrt(variance + epsilon). */
WEFT_MUST_USE int ox_batch_factor(struct ox *l, int scale, int variance, double epsilon);
/* onnx_channels.c: BatchNormalization; Mul, Add and Sub of a constant with one number for each channel. */
WEFT_MUST_USE int ox_fold_channels(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);
/* onnx_norm_codes.c: within one step of the exact results, so only with --requant rescale. */
WEFT_MUST_USE int ox_fold_softmax(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);
/* Says whether Softmax of that opset over `axis` is over that axis alone, not also over those behind it. */
bool ox_softmax_of_one_axis(int64_t opset, int64_t axis, const weft_tensor *t);
/* The Softmax of x over that axis. */
WEFT_MUST_USE int ox_softmax_codes(struct ox *l, const struct ox_side *x, int64_t axis, const struct ox_q *q, struct ox_coded *y);
/* LayerNormalization, InstanceNormalization, GroupNormalization. */
WEFT_MUST_USE int ox_fold_norm(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);
/* Resize, mode linear. */
WEFT_MUST_USE int ox_fold_resize(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);
WEFT_MUST_USE int ox_fold_concat(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);   /* Concat */
/* The sum, difference or product of a and b; qlinear: with the rounding of QLinearAdd and QLinearMul. */
WEFT_MUST_USE int ox_fold_pair(struct ox *l, weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, bool qlinear,
                 struct ox_coded *y);
/*
 * Returns QLinearAdd or QLinearMul (op) of the codes x and y of a and b, a number; less 128 if q is of
 * uint8.
 */
int32_t ox_qlinear_pair(weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, int x, int y);
/* onnx_float8.c: product n, perhaps followed by Relu, quantised with scale to float8 type `to`. */
WEFT_MUST_USE int ox_fold_float8(struct ox *l, const onnx_node *n, struct ox_value *scale, weft_dtype to, bool relu, struct ox_coded *y);
/*
 * Makes the result of the QuantizeLinear at hand in integers. Returns 1 if that is done, 0 if not, or a
 * negative errno.
 */
WEFT_MUST_USE int ox_fold_qdq(struct ox *l);

/* The windows of averages. */
struct ox_windows {
	struct ox_window w;
	int64_t behind[3];         /* elements of padding behind the image that count, if padding does */
	bool padding;              /* elements of the padding count */
};

/* As above: the averages of x over windows w, or over all spatial dimensions if w is NULL. */
WEFT_MUST_USE int ox_average(struct ox *l, const struct ox_side *x, const struct ox_windows *w, const struct ox_q *q, struct ox_coded *y);

/*
 * onnx_pool.c: returns a constant [1,out...,1] of type t with the number of elements of each window that
 * count.
 */
int ox_window_counts(struct ox *l, const struct ox_window *w, const int64_t *in, bool padding, const int64_t *behind, weft_dtype t);

/* ---- onnx_between.c ---- */
/*
 * Int16 codes that the importer makes of a value that has none in the file, and what their parameters refer
 * to.
 */
struct ox_between { struct ox_side side; struct ox_value codes, scale, *zero; };

/* Returns 1 with b->side set to int16 codes of v, from which results with q are made; 0 if there are none. */
WEFT_MUST_USE int ox_between(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_between *b);
/*
 * Sets *to to int16 parameters for results that ox_from_finer() brings to q; q itself if that is of int16.
 * False: a failure.
 */
WEFT_MUST_USE bool ox_finer(struct ox *l, const struct ox_q *q, struct ox_between *b, struct ox_q *to);
WEFT_MUST_USE int ox_from_finer(struct ox *l, int y, const struct ox_q *q);

#define OX_PART 15             /* bits of the low part */
/* A float value as int32 (high * 2^OX_PART + low) * unit. */
struct ox_parts { int high, low; double unit; };
/*
 * Makes the parts of v, a function of codes or the square of a value that waits, for a result with q. Returns
 * 1, 0 if it has none, or a negative errno.
 */
WEFT_MUST_USE int ox_parts(struct ox *l, struct ox_value *v, const struct ox_q *q, struct ox_parts *p);
/* Returns the node that makes v if v waits for it, is no function of codes and no dequantised value; else NULL. */
const onnx_node *ox_waiting_node(const struct ox *l, const struct ox_value *v);
/* Makes the codes, quantised with q, of node n of values that wait. */
WEFT_MUST_USE int ox_fold_between(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);
/* Sets *c to v if that is a constant float32 of one element. Returns whether it is. */
bool ox_number(struct ox *l, struct ox_value *v, float *c);

/* ---- onnx_fine.c ---- */
/*
 * A float value as int32 in the file's order of dimensions: tensor * unit, where tensor is at most `most` in magnitude, at most
 * 2^30; exact: nothing was rounded.
 */
struct ox_fine { int tensor; double unit, most; bool exact; };
/* Makes the numbers of v, which waits, with --requant rescale. Returns 1, 0 if it has none, or a negative errno. */
WEFT_MUST_USE int ox_fine(struct ox *l, struct ox_value *v, struct ox_fine *f);
/* Makes the numbers of which v is the square. */
WEFT_MUST_USE int ox_fine_root(struct ox *l, struct ox_value *v, struct ox_fine *f);
/* Makes the parts of f's square; squares above `limit` may be smaller than they are, but at least that. */
WEFT_MUST_USE int ox_fine_square(struct ox *l, struct ox_fine f, double limit, struct ox_parts *p);
/* Returns a / b / scale as int32; 0 if one of them is not exact. */
WEFT_MUST_USE int ox_fine_quotient(struct ox *l, const struct ox_fine *a, const struct ox_fine *b, double scale);
/* Shifts f left until its greatest magnitude is 2^29 or more. Returns 1. */
WEFT_MUST_USE int ox_fine_widen(struct ox *l, struct ox_fine *f);
/* Makes the codes, quantised with q, of the result of node n. */
WEFT_MUST_USE int ox_fold_fine(struct ox *l, const onnx_node *n, const struct ox_q *q, struct ox_coded *y);

/* onnx_average.c. Sets of axes: bit i is axis i. */
/* Sets *set to the axes of the reduction at hand, whose operand has that rank. Returns 1, or 0 if it names none. */
WEFT_MUST_USE int ox_reduced_axes(struct ox *l, int rank, unsigned *set);
/* Returns how many elements of t a reduction over these axes makes one of. */
int64_t ox_elements_over(const weft_tensor *t, unsigned set);
/* Returns int32 x summed over these axes, which stay with length 1; a negative x is returned as it is. */
WEFT_MUST_USE int ox_sums_over(struct ox *l, int x, unsigned set);
/* Returns y without these axes, which have length 1. */
WEFT_MUST_USE int ox_without_axes(struct ox *l, int y, unsigned set);

/*
 * Returns the one value of which the result of n is a function, directly or through other functions that wait; NULL
 * if there is no such value.
 */
struct ox_value *ox_function_of(const struct ox *l, const onnx_node *n);
/* onnx_lazy.c: says whether node n is computed element by element. */
bool ox_is_function(const onnx_node *n);

/* Says whether node n has one result (Dropout also two) and only moves or chooses elements of its operand 0. */
bool ox_moves(const onnx_node *n);
/* Moves codes x of values quantised with q as node i, which ox_moves() takes, moves those values. */
WEFT_MUST_USE int ox_move_codes(struct ox *l, int i, const struct ox_coded *x, const struct ox_q *q, struct ox_coded *y);

/* Says whether product n can be computed in integers if its result is quantised. */
WEFT_MUST_USE bool ox_foldable(struct ox *l, const onnx_node *n);

/* Sets out to the n elements of constant float x quantised with q. Returns false if x is not constant. */
WEFT_MUST_USE bool ox_quantised(struct ox *l, int x, const struct ox_q *q, int32_t *out, int n);
/* A constant [256] of all codes of type t, ascending. */
int ox_codes(struct ox *l, weft_dtype t);
WEFT_MUST_USE int ox_dequantised(struct ox *l, int codes, const struct ox_q *q);   /* codes as float32 */

/* Returns codes x limited to lo..hi, in front of the RESHAPE that makes x if there is one. */
WEFT_MUST_USE int ox_clamp_codes(struct ox *l, int x, int32_t lo, int32_t hi);
/* Returns x rescaled by f to type `to`, with the zero points of x and of the result; ties are rounded up. */
WEFT_MUST_USE int ox_rescale(struct ox *l, int x, weft_dtype to, struct ox_factor f, int32_t x_zp, int32_t y_zp);
/* The same, but with ties to even if `even` is set. */
WEFT_MUST_USE int ox_rescale_even(struct ox *l, int x, weft_dtype to, struct ox_factor f, bool even, int32_t x_zp, int32_t y_zp);

#endif
