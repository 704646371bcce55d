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

/* One operand. Element i is at off + sum of i[d] * step[d] in the root's storage. */
struct nest_operand {
	int root;              /* its storage; -1: it is the number imm, or absent */
	int t;                 /* tensor of the graph that must be there first; -1 none */
	int32_t imm;
	int64_t off;           /* bytes, like steps */
	int64_t step[NEST_DIMS];
	int type;              /* of its elements, as in the command */
	int32_t zp;            /* zero point */
};

/* y = func(a, b, c) for all elements of the dimensions. */
struct loop_nest {
	int func;              /* WEFT_ALU_FUNC */
	int n_dims;
	int64_t dim[NEST_DIMS];   /* outermost first */
	int axis;              /* the dimension that is folded, or that counts indices, -1 none; 0 or -1 once simplified */
	struct nest_operand a, b, c, y;
	int64_t idx_step, idx_last;   /* bytes from entry to entry, and the last index: of b's storage where func looks up, of
	                        * y's where it scatters */
	bool clamp;            /* results are limited to lo..hi */
	bool round, even;      /* as in the command */
	int32_t lo, hi;
	int shift;             /* of products */
};

/* Operands of a loop nest by number: a, b, c, y. */
enum { NEST_A, NEST_B, NEST_C, NEST_Y, NEST_OPERANDS };
static inline struct nest_operand *nest_operand(struct loop_nest *s, int k)
{
	struct nest_operand *all[NEST_OPERANDS] = { &s->a, &s->b, &s->c, &s->y };

	return all[k];
}

/* Bytes of an element of this type. */
int64_t alu_bytes(int type);

/* Does func fold one dimension? Does it look up entries by indices? */
static inline bool alu_folds(int func) { return func >= WEFT_ALU_FUNC_SUM; }
static inline bool alu_looks_up(int func) { return func == WEFT_ALU_FUNC_LOOKUP || func == WEFT_ALU_FUNC_INTERP; }

/* Entries that an index reaches in operand k; 1 where it has none. */
int64_t nest_entries(const struct loop_nest *s, int k);

/* Make the dimensions as few as possible, the axis first, then those of the result from the outermost on. */
void nest_simplify(struct loop_nest *s);

/* A piece of a loop nest: dimensions [from, +n). */
struct nest_piece { int64_t from[NEST_DIMS], n[NEST_DIMS]; };

/* Bytes of operand k's piece of sizes n when packed, a multiple of `align`; 0 where it has no memory. */
int64_t nest_packed_bytes(const struct loop_nest *s, int k, const int64_t n[NEST_DIMS], int64_t align);

/*
 * Find sizes n of pieces that one command can take, and whose operands in `packed` (a
 * mask) together take no more than so many bytes. false: not even single elements fit.
 */
bool nest_fit(const struct loop_nest *s, unsigned packed, int64_t bytes, int64_t align, int64_t n[NEST_DIMS]);

/* Where an operand's piece lies: address of its first element, steps, step of the index. */
struct nest_place { int64_t addr, step[NEST_DIMS], idx_step; };

#endif
