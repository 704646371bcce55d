/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop nests: a function of strided operands, computed for all elements of up to
 * NEST_DIMS dimensions. The command alu executes them piece by piece. Whatever array
 * and post unit do not do becomes one or more of them.
 */
#ifndef WEFT_COMPILE_LOOP_NEST_H
#define WEFT_COMPILE_LOOP_NEST_H

#include "userlib/compile/ir.h"

#define NEST_DIMS 12

/* One operand of a loop nest. Its element with indices i[d] is at byte off + sum of i[d] * step[d] of the root's storage. */
struct nest_operand {
	int root;              /* number of its storage; -1: the operand is the number imm, or absent */
	int t;                 /* tensor of the graph that must have been computed before; -1: none */
	int32_t imm;           /* root -1: the operand's value */
	int64_t off;           /* bytes before the element with all indices 0 */
	int64_t step[NEST_DIMS];   /* bytes from one element to the next along each dimension */
	int type;              /* type of its elements, as in the command (WEFT_ALU_A_TYPE) */
	int32_t zp;            /* zero point */
};

/* y = func(a, b, c) for all elements of the dimensions. */
struct loop_nest {
	int func;              /* WEFT_ALU_FUNC */
	int n_dims;
	int64_t dim[NEST_DIMS];   /* outermost first */
	int axis;              /* the dimension that is folded, or that counts indices; -1: none. nest_simplify() makes it 0 */
	struct nest_operand a, b, c, y;   /* three operands and the result */
	int64_t idx_step, idx_last;   /* bytes from one entry to the next that an index reaches, in b if func looks up, in y
	                        * if it scatters; and the largest index */
	bool clamp;            /* results are limited to lo..hi */
	bool round, even;      /* rounding of shifts and RESCALE, as in the command */
	int32_t lo, hi;        /* limits, if clamp is set */
	int shift;             /* bits by which products are shifted right */
};

/* Operands of a loop nest by number: a, b, c, y. */
enum { NEST_A, NEST_B, NEST_C, NEST_Y, NEST_OPERANDS };
static inline struct nest_operand *nest_operand(struct loop_nest *s, int k)
{
	struct nest_operand *all[NEST_OPERANDS] = { &s->a, &s->b, &s->c, &s->y };

	return all[k];
}

/* Bytes that an element of this type (WEFT_ALU_A_TYPE) takes in memory. */
int64_t alu_bytes(int type);

/* alu_folds() returns whether func folds one dimension, alu_looks_up() whether it looks up entries by indices. */
static inline bool alu_folds(int func) { return func >= WEFT_ALU_FUNC_SUM; }
static inline bool alu_looks_up(int func) { return func == WEFT_ALU_FUNC_LOOKUP || func == WEFT_ALU_FUNC_INTERP; }

/* How many entries of operand k an index can reach; 1 for operands that no index addresses. */
int64_t nest_entries(const struct loop_nest *s, int k);

/* Give the nest as few dimensions as possible: the axis first, then the others with the result's largest steps first. */
void nest_simplify(struct loop_nest *s);

/* A piece of a loop nest: indices from[d] to from[d] + n[d] - 1 of each dimension d. */
struct nest_piece { int64_t from[NEST_DIMS], n[NEST_DIMS]; };

/* Bytes that operand k of a piece with sizes n takes when packed, a multiple of `align`; of a table, all of it that indices
 * can reach. 0 if the operand is a number. */
int64_t nest_packed_bytes(const struct loop_nest *s, int k, const int64_t n[NEST_DIMS], int64_t align);

/*
 * Find sizes n of pieces that one command can take, and whose operands in the mask
 * `packed` (bit k for operand k) together take no more than `bytes` bytes when packed, each
 * rounded up to `align`. Returns false if not even the smallest piece fits.
 */
bool nest_fit(const struct loop_nest *s, unsigned packed, int64_t bytes, int64_t align, int64_t n[NEST_DIMS]);

/* Where the piece of an operand lies: address of its first element, steps in bytes along each dimension, and bytes from
 * one entry to the next that an index reaches. */
struct nest_place { int64_t addr, step[NEST_DIMS], idx_step; };

#endif
