/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QDQ graphs: what stands between DequantizeLinear and QuantizeLinear, done in
 * integers with the same bits.
 *
 * A DequantizeLinear of one scale is not lowered: its result refers to the
 * integers (the carrier) and waits. Operators that move elements work on the
 * carrier; operators of one element make a function of it; sums and averages
 * wait for the QuantizeLinear behind them. Who asks for the floats themselves
 * gets them lowered then.
 */
#ifndef WEFT_IMPORT_ONNX_QDQ_H
#define WEFT_IMPORT_ONNX_QDQ_H

#include "onnx_exact_scale.h"
#include "onnx_lower.h"

/* One scale and zero point, constant. */
struct ox_q {
	struct ox_value *scale, *zp;   /* zp has the integers' type */
	double s;
	int32_t z;
	bool flip;                     /* uint8: integers are taken 128 less */
};

/* Integers and how they are scaled. */
struct ox_side { struct ox_value *v; struct ox_q q; };

/* Scale and zero point (NULL: 0 of the type). False: not constant, not one number each, or no float32. */
bool ox_q_read(struct ox *l, struct ox_value *scale, struct ox_value *zp, weft_dtype t, struct ox_q *q);
/* The carrier of v, if v is its dequantised self. */
bool ox_side_of(struct ox *l, const struct ox_value *v, struct ox_side *s);

/* As int8 (uint8 flipped) or int16, in the order in which it is held; perm is set. */
int ox_side_tensor(struct ox *l, struct ox_value *v, int8_t *perm);
int ox_side_in(struct ox *l, struct ox_value *v, const int8_t *perm);
static inline int32_t ox_q_zp(const struct ox_q *q) { return q->z - (q->flip ? 128 : 0); }
static inline int ox_q_low(const struct ox_q *q) { return q->zp->t.dtype == WEFT_INT16 ? INT16_MIN : INT8_MIN; }

/*
 * Each: a tensor of q's integers as ox_side_tensor has them; 0 if it cannot be
 * done in integers with the same bits (*done false); or a negative errno.
 */
/* x by the results f of its 256 codes; from: its quantisation where f is nothing but another one, or NULL. */
int ox_by_codes(struct ox *l, int x, const int32_t *f, const struct ox_q *from, const struct ox_q *q);
int ox_map(struct ox *l, struct ox_value *v, const struct ox_q *q, int8_t *perm, bool *done);   /* v: a function of its carrier */
int ox_fold_product(struct ox *l, const onnx_node *n, const struct ox_q *q, int8_t *perm, bool *done);
int ox_fold_average(struct ox *l, const onnx_node *n, const struct ox_q *q, int8_t *perm, bool *done);
int ox_fold_resize(struct ox *l, const onnx_node *n, const struct ox_q *q, int8_t *perm, bool *done);   /* mode linear */
int ox_fold_concat(struct ox *l, const onnx_node *n, const struct ox_q *q, int8_t *perm, bool *done);
int ox_fold_pair(struct ox *l, weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, bool qlinear,
                 int8_t *perm, bool *done);
/* QLinearAdd or QLinearMul of the codes x and y, 128 less if unsigned. */
int32_t ox_qlinear_pair(weft_opcode op, const struct ox_side *a, const struct ox_side *b, const struct ox_q *q, int x, int y);
/* The product n, QuantizeLinear by scale to float8: onnx_float8.c. As above. */
int ox_fold_float8(struct ox *l, const onnx_node *n, struct ox_value *scale, weft_dtype to, bool relu, int8_t *perm, bool *done);
/* The node at hand is a QuantizeLinear. 1: done. */
int ox_fold_qdq(struct ox *l);

/* Averages over windows, or over everything but batch and channels (w NULL). */
int ox_average(struct ox *l, const struct ox_side *x, const struct ox_window *w, const int64_t *behind, bool padding,
               const struct ox_q *q, int8_t *perm, bool *done);

/* How many elements of the image, or of the padded image, each window has: [1,out...,1], fp32 or int32. */
int ox_window_counts(struct ox *l, const struct ox_window *w, const int64_t *in, bool padding, const int64_t *behind, weft_dtype t);

/* Is the product of node n with constant weights one that folds? */
bool ox_foldable(struct ox *l, const onnx_node *n);

/* q(v) for the codes of a function, in q's integers taken as ox_side_tensor has them; n elements. False: not constant. */
bool ox_quantised(struct ox *l, int x, const struct ox_q *q, int32_t *out, int n);
int ox_codes(struct ox *l, weft_dtype t);                       /* all 256, as a tensor of one dimension */
int ox_dequantised(struct ox *l, int codes, const struct ox_q *q);

/* A clamp of the result's integers, around which a RESHAPE may stand. */
int ox_clamp_codes(struct ox *l, int x, int32_t lo, int32_t hi);
/* RESCALE of the integers of one tensor. */
int ox_rescale(struct ox *l, int x, weft_dtype to, struct ox_factor f, int32_t x_zp, int32_t y_zp);
/* The same with EVEN_ROUND, or not. */
int ox_rescale_even(struct ox *l, int x, weft_dtype to, struct ox_factor f, bool even, int32_t x_zp, int32_t y_zp);

#endif
