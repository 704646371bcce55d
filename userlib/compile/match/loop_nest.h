/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements: loops over up to ALU_DIMS dimensions of strided operands, which
 * the command alu executes piece by piece. Whatever is no convolution, pooling
 * or addition of the array and post unit becomes one or more of them.
 */
#ifndef WEFT_COMPILE_ALU_H
#define WEFT_COMPILE_ALU_H

#include "userlib/compile/ir.h"

#define ALU_DIMS 12

/* One operand. Element i is at off + sum of i[d] * step[d] in the root's storage. */
struct alu_operand {
	int root;              /* -1: the number imm, or absent */
	int t;                 /* graph tensor that must be there first; -1 */
	int32_t imm;
	int64_t off;           /* bytes, like steps */
	int64_t step[ALU_DIMS];
	int type;              /* as in the command */
	int32_t zp;
};

struct alu_stmt {
	int func;
	int n_dims;
	int64_t dim[ALU_DIMS];
	int axis;              /* the dimension that is folded, or that counts indices; 0 or -1 once tidy */
	struct alu_operand a, b, c, y;
	int64_t idx_step, idx_last;   /* of b's root (lookup, interp), of y's (scatter) */
	bool clamp, round, even;
	int32_t lo, hi;
	int shift;
};

/* Operands of a statement by number: a, b, c, y. */
enum { ALU_A, ALU_B, ALU_C, ALU_Y, ALU_OPERANDS };
static inline struct alu_operand *alu_operand(struct alu_stmt *s, int k)
{
	struct alu_operand *all[ALU_OPERANDS] = { &s->a, &s->b, &s->c, &s->y };

	return all[k];
}

int64_t alu_bytes(int type);

/* func folds one dimension, takes indices along one. */
static inline bool alu_folds(int func) { return func >= WEFT_ALU_FUNC_SUM; }
static inline bool alu_looks_up(int func) { return func == WEFT_ALU_FUNC_LOOKUP || func == WEFT_ALU_FUNC_INTERP; }

/* Entries that an index reaches in an operand: 1 where it has none. */
int64_t alu_entries(const struct alu_stmt *s, int k);

/* loop_nest.c: fewest dimensions, outermost first, those of one element gone */
void alu_tidy(struct alu_stmt *s);

/* A piece of a statement: dimensions [from, +n). */
struct alu_piece { int64_t from[ALU_DIMS], n[ALU_DIMS]; };

/* Bytes of an operand's piece when packed, multiple of `align`; 0 where it has no memory. */
int64_t alu_packed(const struct alu_stmt *s, int k, const int64_t n[ALU_DIMS], int64_t align);

/*
 * Sizes of pieces that one command can take, and whose operands in `packed` (a mask) together
 * take no more than so many bytes. false: not even single elements.
 */
bool alu_fit(const struct alu_stmt *s, unsigned packed, int64_t bytes, int64_t align, int64_t n[ALU_DIMS]);

/* Where an operand's piece lies: address of its first element, steps. */
struct alu_place { int64_t addr, step[ALU_DIMS], idx_step; };

#endif
