/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop nests: loops over up to NEST_DIMS dimensions of strided operands, which
 * the command alu executes piece by piece. Whatever is no convolution, pooling
 * or addition of the array and post unit becomes one or more of them.
 */
#ifndef WEFT_COMPILE_LOOP_NEST_H
#define WEFT_COMPILE_LOOP_NEST_H

#include "userlib/compile/ir.h"

#define NEST_DIMS 12

/* One operand. Element i is at off + sum of i[d] * step[d] in the root's storage. */
struct nest_operand {
	int root;              /* -1: the number imm, or absent */
	int t;                 /* graph tensor that must be there first; -1 */
	int32_t imm;
	int64_t off;           /* bytes, like steps */
	int64_t step[NEST_DIMS];
	int type;              /* as in the command */
	int32_t zp;
};

struct loop_nest {
	int func;
	int n_dims;
	int64_t dim[NEST_DIMS];
	int axis;              /* the dimension that is folded, or that counts indices; 0 or -1 once tidy */
	struct nest_operand a, b, c, y;
	int64_t idx_step, idx_last;   /* of b's root (lookup, interp), of y's (scatter) */
	bool clamp, round, even;
	int32_t lo, hi;
	int shift;
};

/* Operands of a loop nest by number: a, b, c, y. */
enum { NEST_A, NEST_B, NEST_C, NEST_Y, NEST_OPERANDS };
static inline struct nest_operand *nest_operand(struct loop_nest *s, int k)
{
	struct nest_operand *all[NEST_OPERANDS] = { &s->a, &s->b, &s->c, &s->y };

	return all[k];
}

int64_t alu_bytes(int type);

/* func folds one dimension, takes indices along one. */
static inline bool alu_folds(int func) { return func >= WEFT_ALU_FUNC_SUM; }
static inline bool alu_looks_up(int func) { return func == WEFT_ALU_FUNC_LOOKUP || func == WEFT_ALU_FUNC_INTERP; }

/* Entries that an index reaches in an operand: 1 where it has none. */
int64_t nest_entries(const struct loop_nest *s, int k);

/* loop_nest.c: fewest dimensions, outermost first, those of one element gone */
void nest_simplify(struct loop_nest *s);

/* A piece of a loop nest: dimensions [from, +n). */
struct nest_piece { int64_t from[NEST_DIMS], n[NEST_DIMS]; };

/* Bytes of an operand's piece when packed, multiple of `align`; 0 where it has no memory. */
int64_t nest_packed_bytes(const struct loop_nest *s, int k, const int64_t n[NEST_DIMS], int64_t align);

/*
 * Sizes of pieces that one command can take, and whose operands in `packed` (a mask) together
 * take no more than so many bytes. false: not even single elements.
 */
bool nest_fit(const struct loop_nest *s, unsigned packed, int64_t bytes, int64_t align, int64_t n[NEST_DIMS]);

/* Where an operand's piece lies: address of its first element, steps. */
struct nest_place { int64_t addr, step[NEST_DIMS], idx_step; };

#endif
