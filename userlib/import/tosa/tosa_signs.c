/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which tensors between CUSTOM operators have a type that TOSA does not
 * have, such as uint8. Only our extension operators say the types of their
 * operands; operators that only move elements between these and the network's
 * inputs and outputs get the same type.
 */
#include "tosa_lower.h"

#define MOST_PASSES 64             /* a network needs few; what is left then, the graph's check refuses */

/*
 * Says whether an operator only moves or chooses elements, so that its tensors of data have one
 * type.
 */
static bool moves(weft_opcode op)
{
	switch (op) {
	case WEFT_OP_CONCAT: case WEFT_OP_PAD: case WEFT_OP_RESHAPE: case WEFT_OP_REVERSE: case WEFT_OP_SLICE: case WEFT_OP_TILE:
	case WEFT_OP_TRANSPOSE: case WEFT_OP_GATHER: case WEFT_OP_SCATTER: case WEFT_OP_SELECT: case WEFT_OP_IDENTITY:
		return true;
	default:
		return false;
	}
}

static bool is_plain(weft_dtype t)
{
	return t == WEFT_INT8 || t == WEFT_INT16;
}

/* Says whether t is a type that a file of TOSA can only have by a CUSTOM operator. */
static bool is_said(weft_dtype t)
{
	return t == WEFT_UINT8 || t == WEFT_UINT16 || t == WEFT_FP8E4M3FNUZ || t == WEFT_FP8E5M2FNUZ;
}

static weft_tensor *port(const weft_graph *g, const struct weft_gop *o, int k)
{
	return &g->tensors[k < o->n_in ? o->in[k] : o->out[k - o->n_in]].t;
}

/*
 * If o is a PAD, cuts its value to the low 8 or 16 bits, as many as type t has, since it was read
 * as a number with a sign.
 */
static void pad_value(struct weft_gop *o, weft_dtype t)
{
	if (o->op == WEFT_OP_PAD)
		o->attr.pad.value &= weft_dtype_bytes(t) == 1 ? 0xFF : 0xFFFF;
}

/*
 * If an operand or result of operator o has a type that only a CUSTOM can have given it (is_said();
 * the last one if there are several), gives that type to its operands and results of type int8 or
 * int16 with as many bytes, and cuts a PAD's value to that type. Returns whether a tensor's type
 * changed.
 */
static bool spread(const weft_graph *g, struct weft_gop *o)
{
	weft_dtype said = WEFT_INT8;
	bool any = false;

	for (int k = 0; k < o->n_in + o->n_out; k++)
		if (is_said(port(g, o, k)->dtype))
			said = port(g, o, k)->dtype;
	if (!is_said(said))
		return false;
	for (int k = 0; k < o->n_in + o->n_out; k++) {
		weft_tensor *t = port(g, o, k);
		if (!is_plain(t->dtype) || weft_dtype_bytes(t->dtype) != weft_dtype_bytes(said))
			continue;
		t->dtype = said;
		any = true;
	}
	pad_value(o, said);
	return any;
}

/*
 * Carries types that CUSTOM operators gave to tensors (is_said()) through all operators of graph g
 * that only move elements, in passes from the last operator to the first and from the first to the
 * last by turns, until a pass changes nothing or MOST_PASSES passes are done.
 */
void tosa_spread_signs(weft_graph *g)
{
	bool any = true;

	for (int pass = 0; pass < MOST_PASSES && any; pass++) {
		any = false;
		for (int i = 0; i < g->n_ops; i++) {
			struct weft_gop *o = &g->ops[pass % 2 ? i : g->n_ops - 1 - i];
			any |= moves(o->op) && spread(g, o);
		}
	}
}
