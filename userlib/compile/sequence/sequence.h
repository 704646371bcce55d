/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator as a sequence of loop nests over its elements: each nest is one integer
 * operation, whose results lie in a storage of their own. A value has one element for
 * each element of the operator's result, or one for each row, that is along the last
 * dimension.
 */
#ifndef WEFT_COMPILE_SEQUENCE_H
#define WEFT_COMPILE_SEQUENCE_H

#include "userlib/compile/match/match_alu.h"

struct sequence {
	struct cc *cc;
	int op;                /* the operator */
	int n_dims;            /* of its result, at least 1 */
	int64_t dim[NEST_DIMS]; /* of its result, or of a part of it, which each value of the sequence has */
	int64_t from[NEST_DIMS];   /* index of the part's first element along each dimension of the result */
	bool more;             /* another part of the result follows */
	int err;               /* the first error; from then on nothing is added */
};

/* How a result is cut into parts of whole rows: into single indices along the dimensions before d, and along d into parts of n. */
struct cut { int d; int64_t n, parts; };

/* Begin the sequence of operator i, whose result has these elements. */
struct sequence seq_begin(struct cc *cc, int i);

/* Cut the result of the sequence that has just begun into parts whose values have room in the scratchpad, and begin part k. */
struct cut seq_cut(const struct sequence *q, int64_t bytes);
struct sequence seq_part(const struct sequence *q, const struct cut *c, int64_t k);

/* Move an operand that has the steps of the whole result to the first element of the part. */
void seq_move_to_part(const struct sequence *q, struct nest_operand *o);

/* Tensor t, of the result's shape, as a value. */
struct nest_operand seq_tensor(const struct sequence *q, int t);
/* Tensor t, broadcast to the result's shape, as a value. */
struct nest_operand seq_broadcast(const struct sequence *q, int t);
/* Constant data without steps, for tables. */
struct nest_operand seq_const(struct sequence *q, const void *data, int64_t bytes, int type);
/* A constant along the last dimension; with one element a number or the same for all. */
struct nest_operand seq_channels(struct sequence *q, const void *data, int64_t n, int type);

/* The nest func(a, b), whose operand c is the number 0; dimensions and result come with the calls below. */
struct loop_nest seq_nest(int func, struct nest_operand a, struct nest_operand b);
/* The nest that looks up, or interpolates, entry a of a table whose last index is `last`. */
struct loop_nest seq_table(int func, struct nest_operand a, struct nest_operand table, int64_t last);

/* Add a nest over all elements; its results are of this type. Clamps of s hold. */
struct nest_operand seq_each(struct sequence *q, struct loop_nest s, int type);
/* Add a nest over rows: all its operands have one element for each row. */
struct nest_operand seq_row(struct sequence *q, struct loop_nest s, int type);
/* Add a nest that folds every row into one element. */
struct nest_operand seq_fold(struct sequence *q, struct loop_nest s, int type);
/* Add the nest that makes the operator's result, and end. 1 or a negative errno */
WEFT_MUST_USE int seq_end(struct sequence *q, struct loop_nest s);

/* Limit the results of a nest. */
static inline struct loop_nest seq_clamp(struct loop_nest s, int32_t lo, int32_t hi)
{
	s.clamp = true;
	s.lo = lo;
	s.hi = hi;
	return s;
}

/* Let SHR, or RESCALE, round. */
static inline struct loop_nest seq_round(struct loop_nest s)
{
	s.round = true;
	return s;
}

/* a * b / 2^shift, rounded half up: of 31, gemmlowp's product of two Q0.31 but for the least numbers' square. */
static inline struct loop_nest seq_mul(struct nest_operand a, struct nest_operand b, int shift)
{
	struct loop_nest s = seq_nest(WEFT_ALU_FUNC_MUL, a, b);

	s.shift = shift;
	return s;
}

#endif
