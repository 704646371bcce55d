/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop nests made simple, and cut into pieces that fit one command and the scratchpad.
 */
#include <stdlib.h>

#include "loop_nest.h"

#define MAX_COUNT 65535        /* what a command counts in one dimension */
#define MAX_WORK  (1 << 24)    /* elements of one command; the verifier bounds them */

/*
 * Returns the bytes of memory that an element of this type of the command alu takes: 1, 2 or 4, and 8 for
 * int48.
 */
int64_t alu_bytes(int type)
{
	switch (type) {
	case WEFT_ALU_A_TYPE_INT8:
	case WEFT_ALU_A_TYPE_UINT8:
		return 1;
	case WEFT_ALU_A_TYPE_INT16:
	case WEFT_ALU_A_TYPE_UINT16:
		return 2;
	case WEFT_ALU_A_TYPE_INT48:
		return 8;
	default:
		return 4;
	}
}

/*
 * Returns how many entries of operand k (NEST_A ...) an index of the nest can reach: idx_last + 1 in the
 * table b of a look-up and in the result of a scatter, one more in the table of an interpolation. 1 for all
 * other operands, which no index addresses.
 */
int64_t nest_entries(const struct loop_nest *s, int k)
{
	if (k == NEST_B && s->func == WEFT_ALU_FUNC_INTERP)
		return s->idx_last + 2;
	if ((k == NEST_B && s->func == WEFT_ALU_FUNC_LOOKUP) || (k == NEST_Y && s->func == WEFT_ALU_FUNC_SCATTER))
		return s->idx_last + 1;
	return 1;
}

/*
 * Exchange dimensions i and j of the nest: their sizes, the steps of all operands, and the axis if it is one
 * of them.
 */
static void swap_dims(struct loop_nest *s, int i, int j)
{
	int64_t t = s->dim[i];

	s->dim[i] = s->dim[j];
	s->dim[j] = t;
	for (int k = 0; k < NEST_OPERANDS; k++) {
		int64_t *step = nest_operand(s, k)->step;
		t = step[i];
		step[i] = step[j];
		step[j] = t;
	}
	if (s->axis == i || s->axis == j)
		s->axis = s->axis == i ? j : i;
}

/*
 * Remove dimension i and its steps; the dimensions behind it move up by one, and the axis with them. Its size,
 * if it is not 1, must have been multiplied into another dimension before.
 */
static void drop_dim(struct loop_nest *s, int i)
{
	for (; i + 1 < s->n_dims; i++)
		swap_dims(s, i, i + 1);
	s->n_dims--;
	s->dim[s->n_dims] = 1;
	for (int k = 0; k < NEST_OPERANDS; k++)
		nest_operand(s, k)->step[s->n_dims] = 0;
}

/*
 * Returns whether dimensions i and i + 1 can become one. They can if neither is the axis and in every operand
 * in memory a step along i is as far as all of dimension i + 1.
 */
static bool joins(struct loop_nest *s, int i)
{
	if (i == s->axis || i + 1 == s->axis)
		return false;
	for (int k = 0; k < NEST_OPERANDS; k++) {
		const struct nest_operand *o = nest_operand(s, k);
		if (o->root >= 0 && o->step[i] != o->step[i + 1] * s->dim[i + 1])
			return false;
	}
	return true;
}

/*
 * If dimension i is longer than a command counts (MAX_COUNT), make two of it, the inner one of the largest
 * size within 64..4096 that divides it. The dimension stays as it is if it is the axis, if no such size
 * divides it, or if the nest already has NEST_DIMS dimensions.
 */
static void split_long(struct loop_nest *s, int i)
{
	int64_t f = 4096;

	if (i == s->axis || s->dim[i] <= MAX_COUNT || s->n_dims == NEST_DIMS)
		return;
	while (f > 63 && s->dim[i] % f)
		f--;
	if (f < 64)
		return;
	s->n_dims++;
	for (int d = s->n_dims - 1; d > i + 1; d--)
		swap_dims(s, d, d - 1);
	s->dim[i + 1] = f;
	s->dim[i] /= f;
	for (int k = 0; k < NEST_OPERANDS; k++) {
		int64_t *step = nest_operand(s, k)->step;
		step[i + 1] = step[i];
		step[i] *= f;
	}
}

/*
 * Give the nest as few dimensions as possible without changing what it computes. The axis, if there is one,
 * becomes dimension 0; the others follow in the order of their steps in the result, the largest first.
 * Dimensions of one element go, and neighbours that continue each other in all operands are joined. A
 * dimension too long for a command's counter is then split in two if it divides.
 */
void nest_simplify(struct loop_nest *s)
{
	if (s->axis >= 0)
		for (int i = s->axis; i > 0; i--)
			swap_dims(s, i, i - 1);
	int first = s->axis >= 0;
	for (int i = s->n_dims - 1; i >= first; i--)
		if (s->dim[i] == 1)
			drop_dim(s, i);
	/* Insertion sort: outermost of the output first, equal ones as they are. */
	for (int i = first + 1; i < s->n_dims; i++)
		for (int j = i; j > first && s->y.step[j - 1] < s->y.step[j]; j--)
			swap_dims(s, j, j - 1);
	for (int i = s->n_dims - 2; i >= first; i--)
		if (joins(s, i)) {
			s->dim[i + 1] *= s->dim[i];
			drop_dim(s, i);
		}
	for (int i = s->n_dims - 1; i >= first; i--)
		split_long(s, i);
}

/* Returns the bytes by which one step along dimension d moves in operand o, whatever the direction. */
static int64_t reach(const struct nest_operand *o, int d)
{
	return o->step[d] < 0 ? -o->step[d] : o->step[d];
}

/*
 * Returns the bytes that operand k (NEST_A ...) of a piece with sizes n takes when its elements are packed,
 * rounded up to a multiple of `align`. Dimensions along which the operand does not move do not count; of an
 * operand that indices address, such as a table, all entries do that they can reach (nest_entries()). 0 for
 * an operand that is a number.
 */
int64_t nest_packed_bytes(const struct loop_nest *s, int k, const int64_t n[NEST_DIMS], int64_t align)
{
	const struct nest_operand *o = nest_operand((struct loop_nest *)s, k);
	int64_t bytes = alu_bytes(o->type) * nest_entries(s, k);

	if (o->root < 0)
		return 0;
	for (int d = 0; d < s->n_dims; d++)
		if (o->step[d])
			bytes *= n[d];
	return round_up(bytes, align);
}

/*
 * Returns the sum of nest_packed_bytes() of a piece with sizes n over the operands in the mask `packed` (bit
 * k for operand k).
 */
static int64_t total(const struct loop_nest *s, unsigned packed, const int64_t *n, int64_t align)
{
	int64_t sum = 0;

	for (int k = 0; k < NEST_OPERANDS; k++)
		if (packed >> k & 1)
			sum += nest_packed_bytes(s, k, n, align);
	return sum;
}

/*
 * Returns the shortest distance in bytes that a step along dimension d moves any operand in memory among
 * those in the mask `packed`. 0 if none of them moves along d, so that cutting d would make no operand
 * smaller.
 */
static int64_t worth(const struct loop_nest *s, unsigned packed, int d)
{
	int64_t least = 0;

	for (int k = 0; k < NEST_OPERANDS; k++) {
		const struct nest_operand *o = nest_operand((struct loop_nest *)s, k);
		int64_t r = packed >> k & 1 && o->root >= 0 ? reach(o, d) : 0;
		if (r && (!least || r < least))
			least = r;
	}
	return least;
}

/*
 * Halve (rounded up) one of the sizes n of a piece: that of the dimension with the largest worth(), of equals the
 * longest one. Dimensions of one element and a folded axis are never cut. Dimensions that make no packed operand
 * smaller are cut only if `any` is set. Returns false, with n unchanged, if no dimension can be cut.
 */
static bool halve(const struct loop_nest *s, unsigned packed, int64_t *n, bool any)
{
	int best = -1;
	int64_t most = -1;

	for (int d = 0; d < s->n_dims; d++) {
		int64_t w = worth(s, packed, d);
		if (n[d] == 1 || (d == s->axis && alu_folds(s->func)) || (!w && !any))
			continue;
		if (w > most || (w == most && n[d] > n[best])) {
			most = w;
			best = d;
		}
	}
	if (best < 0)
		return false;
	n[best] = ceil_div(n[best], 2);
	return true;
}

/*
 * Find sizes n of pieces into which a simplified nest can be cut, so that one command can take each piece. A piece has
 * at most 65535 elements along each dimension and 2^24 in all, and the operands in the mask `packed`, each rounded up
 * to `align` bytes, take at most `bytes` bytes of it together. Only the four innermost dimensions of a piece may have
 * more than one element; in a nest with an axis these are the axis and the three innermost others. The search begins
 * with the longest dimensions that a command counts, equal parts of the nest's own, and halves one dimension after
 * another (halve()) until the piece fits. Returns false, and n means nothing, if not even the smallest piece fits, if
 * a folded axis is longer than a command counts (MAX_COUNT), or if idx_last or idx_step is 2^20 or more.
 */
bool nest_fit(const struct loop_nest *s, unsigned packed, int64_t bytes, int64_t align, int64_t n[NEST_DIMS])
{
	int most = 4, work;

	for (int d = 0; d < NEST_DIMS; d++)
		n[d] = 1;
	if (s->axis >= 0 && alu_folds(s->func) && s->dim[s->axis] > MAX_COUNT)
		return false;
	if (s->idx_last >= 1 << 20 || s->idx_step >= 1 << 20)
		return false;
	for (int d = s->n_dims - 1; d >= 0; d--) {
		if (d != s->axis && most-- <= (s->axis >= 0))
			continue;
		int64_t parts = ceil_div(s->dim[d], MAX_COUNT);
		n[d] = ceil_div(s->dim[d], parts);
	}
	for (;;) {
		int64_t all = 1;
		for (int d = 0; d < s->n_dims; d++)
			all = min64(all * n[d], INT64_C(1) << 40);
		work = all > MAX_WORK;
		if (!work && total(s, packed, n, align) <= bytes)
			return true;
		if (!halve(s, packed, n, work))
			return false;
	}
}
