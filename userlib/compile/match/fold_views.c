/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who reads what, and which tensors are the same bytes under another shape: RESHAPE
 * and IDENTITY of dense tensors, of types that the device has, cost nothing there.
 */
#include <errno.h>
#include <stdlib.h>

#include "match.h"

/*
 * Set cc->uses: for each tensor the operators that read it, in the graph's order, once for each operand that
 * is this tensor. Sets first_use and n_uses of each tensor to its range. Returns 0 or -ENOMEM.
 */
static int list_uses(struct cc *cc)
{
	const weft_graph *g = cc->g;
	size_t total = 0;
	int at = 0;

	for (int i = 0; i < g->n_ops; i++)
		total += (size_t)g->ops[i].n_in;
	cc->uses = calloc(total + 1, sizeof *cc->uses);
	if (!cc->uses)
		return -ENOMEM;
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->ops[i].n_in; k++)
			cc->ten[g->ops[i].in[k]].n_uses++;
	for (int i = 0; i < g->n_tensors; i++) {
		cc->ten[i].first_use = at;
		at += cc->ten[i].n_uses;
		cc->ten[i].n_uses = 0;
	}
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->ops[i].n_in; k++) {
			struct cten *t = &cc->ten[g->ops[i].in[k]];
			cc->uses[t->first_use + t->n_uses++] = i;
		}
	return 0;
}

/*
 * Set the size in bytes of every tensor's storage, and give each tensor whose type the device knows a dense
 * view of its own storage. These types are int8 and int16; float8 and fp16 if the array has float8
 * (cfg->has_fp8); with the alu all types of up to 4 bytes, int48 and int64; with raw sums int32 and int48.
 * Tensors of other types get root -1, which means that they have no view.
 */
static void own_views(struct cc *cc)
{
	for (int i = 0; i < cc->g->n_tensors; i++) {
		weft_dtype type = cc->g->tensors[i].t.dtype;
		int64_t dim[4];

		cc->ten[i].v.root = -1;
		cc->ten[i].bytes = (int64_t)weft_tensor_bytes(&cc->g->tensors[i].t);
		/* The alu moves elements of up to 4 bytes, int48, and int64 as such. The array writes sums also where there is no alu. */
		bool moved = cc->has_alu && (weft_dtype_bytes(type) <= 4 || type == WEFT_INT48 || type == WEFT_INT64);
		moved |= cc->has_raw && (type == WEFT_INT32 || type == WEFT_INT48);
		if (type != WEFT_INT8 && type != WEFT_INT16 && !(float_format(type) >= 0 && cc->cfg->has_fp8) && !moved)
			continue;
		view_dims(&cc->g->tensors[i].t, dim);
		cc->ten[i].v = view_dense(i, dim, (int64_t)weft_dtype_bytes(type));
	}
}

/*
 * Returns whether operator o only gives its operand another shape (RESHAPE, IDENTITY with constant arguments),
 * so that its result can be a view of the operand's bytes. Both must have views. False if the operand is a
 * constant or lies in one, because the runtime keeps the graph's own copy of constants.
 */
static bool is_alias(const struct cc *cc, const struct weft_gop *o)
{
	if ((o->op != WEFT_OP_RESHAPE && o->op != WEFT_OP_IDENTITY) || is_dynamic(o))
		return false;
	const struct view *x = &cc->ten[o->in[0]].v, *y = &cc->ten[o->out[0]].v;
	return x->root >= 0 && y->root >= 0 && !cc->g->tensors[x->root].t.data && view_elements(x) == view_elements(y);
}

/*
 * First stage: list who reads each tensor (cc->uses), give every tensor of a type that the device knows a view
 * (own_views()), and make each RESHAPE and IDENTITY that is_alias() accepts an OP_ALIAS, whose result's view
 * then lies in the storage of its operand. Constants get the state OP_NONE. Returns 0 or -ENOMEM.
 */
int cc_fold_views(struct cc *cc)
{
	int err = list_uses(cc);

	if (err)
		return err;
	own_views(cc);
	for (int i = 0; i < cc->g->n_ops; i++) {
		const struct weft_gop *o = &cc->g->ops[i];

		if (o->op == WEFT_OP_CONST) {
			cc->ops[i].state = OP_NONE;
		} else if (is_alias(cc, o)) {
			const struct view *x = &cc->ten[o->in[0]].v;
			int64_t dim[4];

			view_dims(&cc->g->tensors[o->out[0]].t, dim);
			cc->ten[o->out[0]].v = view_reshape(x, dim[0], dim[1], dim[2], dim[3]);
			cc->ops[i].state = OP_ALIAS;
		}
	}
	return 0;
}
