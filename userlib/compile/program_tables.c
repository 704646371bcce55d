/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the program: what runs where and why, how long it should take, and
 * where every tensor is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/plan/plan.h"

/* Sums of MACs end here, far above any real network: loops within loops of a hostile file double them at each level. */
#define MOST_MACS ((uint64_t)1 << 62)

static uint64_t add_macs(uint64_t a, uint64_t b)
{
	return a > MOST_MACS || b > MOST_MACS - a ? MOST_MACS : a + b;
}

/*
 * Returns the multiplications that operator o does as the graph states it, whatever the device does for it:
 * for convolutions and matrix products the elements of the result times the products of each; for
 * TRANSPOSE_CONV2D the elements of the input times kernel taps and output channels. Those of COND_IF are the larger of
 * both branches', those of WHILE_LOOP one round's, from `sub`, which has those of each sub-graph of `outer`. For all
 * other operators weft_node_macs().
 */
static uint64_t macs_of(const weft_graph *outer, const uint64_t *sub, const weft_graph *g, const struct weft_gop *o)
{
	uint64_t of[2] = { 0, 0 };

	if (o->op == WEFT_OP_COND_IF || o->op == WEFT_OP_WHILE_LOOP) {
		for (int s = 0; s < outer->n_subs; s++)
			for (int k = 0; k < 2; k++)
				of[k] = outer->subs[s] == o->attr.flow.graph[k] ? sub[s] : of[k];
		return o->op == WEFT_OP_WHILE_LOOP ? add_macs(of[0], of[1]) : of[0] > of[1] ? of[0] : of[1];
	}

	const weft_tensor *w = o->n_in > 1 ? &g->tensors[o->in[1]].t : NULL;
	uint64_t y = (uint64_t)weft_tensor_elements(&g->tensors[o->out[0]].t);

	switch (o->op) {
	case WEFT_OP_POPXL_CONV_POW2SCALED:
	case WEFT_OP_CONV2D:
		return y * (uint64_t)(w->dim[1] * w->dim[2] * w->dim[3]);
	case WEFT_OP_DEPTHWISE_CONV2D:
		return y * (uint64_t)(w->dim[0] * w->dim[1]);
	case WEFT_OP_CONV3D:
		return y * (uint64_t)(w->dim[1] * w->dim[2] * w->dim[3] * w->dim[4]);
	case WEFT_OP_TRANSPOSE_CONV2D:
		return (uint64_t)weft_tensor_elements(&g->tensors[o->in[0]].t) * (uint64_t)(w->dim[0] * w->dim[1] * w->dim[2]);
	case WEFT_OP_POPXL_MATMUL_POW2SCALED:
	case WEFT_OP_MATMUL:
		return y * (uint64_t)w->dim[1];
	default:
		return weft_node_macs(g, o);
	}
}

/*
 * Returns the multiplications of each sub-graph of g, which refers only to those that stand before it, in memory that the
 * caller frees; NULL: out of memory.
 */
static uint64_t *macs_of_subs(const weft_graph *g)
{
	uint64_t *sub = calloc((size_t)g->n_subs + 1, sizeof *sub);

	for (int s = 0; sub && s < g->n_subs; s++)
		for (int i = 0; i < g->subs[s]->n_ops; i++)
			sub[s] = add_macs(sub[s], macs_of(g, sub, g->subs[s], &g->subs[s]->ops[i]));
	return sub;
}

/*
 * Write into `text` (96 bytes), for people, what kind of node this is: kernel size and unit ("average over
 * 7x7 on the depthwise engine", "3x3 on the array, addition behind it", for DWCONV also the output channels
 * per channel), "average", "mean" (a sum) or "maximum over" a pooling kernel, "on the alu", or
 * "elementwise" with what its second operand does (table, product, subtraction, addition). Returns text.
 */
static const char *node_words(const struct node *nd, char text[96])
{
	switch (nd->kind) {
	case NODE_CONV:
		snprintf(text, 96, "%s%dx%d on the array%s", nd->conv.average ? "average over " : "", nd->win.kh, nd->win.kw, nd->add ? ", addition behind it" : "");
		break;
	case NODE_DW:
		snprintf(text, 96, "%s%dx%d on the depthwise engine%s", nd->conv.average ? "average over " : "", nd->win.kh, nd->win.kw,
		         by_table(nd) ? ", behind a table" : "");
		break;
	case NODE_DWCONV:
		snprintf(text, 96, "%dx%d, %d per channel, block diagonal on the array%s", nd->win.kh, nd->win.kw, nd->conv.m,
		         nd->add ? ", addition behind it" : "");
		break;
	case NODE_POOL:
		snprintf(text, 96, "%s over %dx%d", nd->pool.average ? "average" : nd->pool.sum ? "mean" : "maximum", nd->win.kh, nd->win.kw);
		break;
	case NODE_LOOP_NEST:
		snprintf(text, 96, "on the alu");
		break;
	default:
		snprintf(text, 96, "elementwise%s", !nd->add ? "" : nd->elt.table ? ", by a table" : nd->elt.product ? " product" : nd->sub ? " subtraction" : " addition");
	}
	return text;
}

/*
 * Why operator i, which no stage has taken, runs on the host, for people: the option host_only asked for it, it reads or
 * writes a variable, it rounds as no multiplier of the device does (ONNX_REQUANT), or the device has no such operation.
 * Returns a constant string.
 */
static const char *no_unit(const struct cc *cc, int i)
{
	if (cc->o->host_only)
		return "as asked";
	if (weft_moves_variable(&cc->g->ops[i]))
		return "the host has variables between runs";
	return cc->g->ops[i].op == WEFT_OP_ONNX_REQUANT ? "no multiplier rounds as ONNX does; --requant rescale takes the nearest"
	                                                : "no operation of the device";
}

/*
 * Set for people why operator i runs where it does (cc->ops[i].reason, replacing an earlier text). An
 * operator of a node gets the node's description if the node is named after it (kernel size and "input in
 * strips" if im2col has split the node's columns, "kernel rows side by side" if they are joined), else "fused
 * into operator" with the number of the one that names the node; aliases, constants and operators that their readers absorb get a fixed text. An
 * operator on the host keeps the reason that a stage has given, or gets the one of no_unit(). Returns 0 or
 * -ENOMEM.
 */
static int op_reason(struct cc *cc, int i)
{
	struct cop *c = &cc->ops[i];
	char text[96];

	switch (c->state) {
	case OP_NODE:
		if (cc->nodes[c->node].op == i && cc->nodes[c->node].split_columns)
			return cc_reason(cc, i, "%lldx%d on the array, input in strips",
			                 (long long)cc->nodes[c->node].win.kw, (int)(cc->g->tensors[cc->g->ops[i].in[1]].t.dim[2]));
		if (cc->nodes[c->node].op == i && cc->nodes[c->node].joined_rows)
			return cc_reason(cc, i, "%dx%d on the array, kernel rows side by side", (int)cc->g->tensors[cc->g->ops[i].in[1]].t.dim[1],
			                 cc->nodes[c->node].win.kw);
		if (cc->nodes[c->node].op == i)
			return cc_reason(cc, i, "%s", node_words(&cc->nodes[c->node], text));
		return cc_reason(cc, i, "fused into operator %d", cc->nodes[c->node].op);
	case OP_ALIAS:
		return cc_reason(cc, i, cc->g->ops[i].op == WEFT_OP_CONCAT ? "operands are written in place" : "same bytes, other shape");
	case OP_NONE:
		return cc_reason(cc, i, cc->g->ops[i].op == WEFT_OP_CONST ? "constant" : "part of what reads it");
	default:
		return c->reason ? 0 : cc_reason(cc, i, "%s", no_unit(cc, i));
	}
}

/*
 * Add the estimate of node nd, which runs in this step of the program, to the program's entry of the
 * operator whose result it writes. Half cycles of several nodes of one operator add up, for each memory
 * profile. Nodes of a step before the entry's step change nothing else; a later step becomes the entry's
 * step and clears `done`. Within the entry's step `done` becomes the largest of the nodes', and a node in a
 * stripe group sets `stripes` to the operator that leads the group.
 */
static void finish_estimate(struct cc *cc, const struct node *nd, int step)
{
	struct weft_pop *o = &cc->p->ops[nd->last];

	for (int m = 0; m < WEFT_N_MEMORIES; m++)
		o->halves[m] += nd->halves[m];
	if (step < o->step)
		return;
	if (step > o->step)
		memset(o->done, 0, sizeof o->done);
	o->step = step;
	for (int m = 0; m < WEFT_N_MEMORIES; m++)
		o->done[m] = nd->done[m] > o->done[m] ? nd->done[m] : o->done[m];
	if (nd->stripes)
		o->stripes = nd->stripes - 1;
}

/*
 * Allocate and fill the program's table of operators: unit, the operator whose output the group writes
 * (into), step, multiplications, estimate and reason. Operators in no node have into -1, and those that do
 * not run at all also step -1 and unit NONE. The reasons move from cc->ops to the program. Returns 0 or
 * -ENOMEM.
 */
static int finish_ops(struct cc *cc)
{
	weft_program *p = cc->p;
	int *step = malloc(((size_t)cc->n_nodes + 1) * sizeof *step);
	uint64_t *sub = macs_of_subs(cc->full);
	int err = 0;

	p->n_ops = cc->g->n_ops;
	p->ops = calloc((size_t)p->n_ops + 1, sizeof *p->ops);
	if (!p->ops || !step || !sub) {
		free(step);
		free(sub);
		return -ENOMEM;
	}
	for (int i = 0; i < cc->n_items; i++)
		if (!cc->items[i].host)
			step[cc->items[i].index] = cc->items[i].step;
	for (int i = 0; i < p->n_ops && !err; i++) {
		const struct cop *c = &cc->ops[i];
		struct weft_pop *o = &p->ops[i];

		err = op_reason(cc, i);
		*o = (struct weft_pop){ .into = -1, .step = -1, .stripes = -1, .macs = macs_of(cc->full, sub, cc->full, &cc->full->ops[i]) };
		o->reason = cc->ops[i].reason;
		cc->ops[i].reason = NULL;
		if (c->state == OP_HOST)
			o->unit = WEFT_ON_HOST;
		if (c->state != OP_NODE)
			continue;
		o->unit = WEFT_ON_NPU;
		o->into = cc->nodes[c->node].last;
		o->step = step[c->node];
	}
	for (int i = 0; i < cc->n_nodes && !err; i++)
		finish_estimate(cc, &cc->nodes[i], step[i]);
	for (int i = 0; i < cc->n_items && !err; i++)
		if (cc->items[i].host)
			p->ops[cc->items[i].index].step = cc->items[i].step;
	free(step);
	free(sub);
	return err;
}

/*
 * Returns the program's step in which an item (its index in cc->items) runs. A negative index gives step 0,
 * an index behind the last item the program's last step.
 */
static int step_of(const struct cc *cc, int item)
{
	if (item < 0)
		return 0;
	return item < cc->n_items ? cc->items[item].step : cc->p->n_steps - 1;
}

/*
 * Returns whether the host has tensor i from the start or computes it itself, because tensor i is an input of
 * the graph or the result of a host operator.
 */
static bool made_on_host(const struct cc *cc, int i)
{
	int op = cc->g->tensors[i].producer;

	return op < 0 ? cc->g->tensors[i].is_input : cc->ops[op].state == OP_HOST;
}

/*
 * Fill the program's entry of tensor i: place, bytes, lifetime, and alias. A constant has place CONST. A
 * tensor that the host makes has place HOST, any other NONE; it becomes ARENA, with its offset, if its root
 * storage has a place in the arena and the tensor is dense there and covers the whole root. A tensor that
 * covers the whole storage of another tensor is an alias of that tensor. Lifetimes are in steps: for ARENA
 * from the step that first writes the storage to the one that last reads it, else the whole program.
 */
static void finish_tensor(struct cc *cc, int i)
{
	const struct cten *t = &cc->ten[i];
	struct weft_ptensor *p = &cc->p->tensors[i];

	*p = (struct weft_ptensor){ .alias_of = -1, .bytes = weft_tensor_bytes(&cc->g->tensors[i].t),
	                            .first_step = 0, .last_step = cc->p->n_steps - 1 };
	if (cc->g->tensors[i].t.data) {
		p->place = WEFT_PLACE_CONST;
		return;
	}
	p->place = made_on_host(cc, i) ? WEFT_PLACE_HOST : WEFT_PLACE_NONE;
	if (t->v.root < 0)
		return;
	const struct cten *root = &cc->ten[t->v.root];
	if (t->v.root != i && view_elements(&t->v) == view_elements(&root->v))
		p->alias_of = t->v.root;
	if (!root->in_dram || !view_is_dense(&t->v) || (t->v.root != i && p->alias_of < 0))
		return;
	p->place = WEFT_PLACE_ARENA;
	p->offset = root->offset + (uint64_t)t->v.off;
	p->first_step = step_of(cc, root->src_item);
	p->last_step = step_of(cc, root->last_item);
}

/*
 * Set on_npu of every tensor all of whose elements are written by NPU nodes, so that debug records name every
 * element. It is not set where only some are: a CONCAT of which some operands were written in place has
 * records of the others only. Returns 0 or -ENOMEM.
 */
static int finish_on_npu(struct cc *cc)
{
	weft_program *p = cc->p;
	int64_t *made = calloc((size_t)p->n_tensors + 1, sizeof *made);

	if (!made)
		return -ENOMEM;
	for (int i = 0; i < cc->n_nodes; i++)
		if (cc->nodes[i].y_tensor >= 0)
			made[cc->nodes[i].y_tensor] += view_elements(&cc->nodes[i].dbg);
	for (int i = 0; i < p->n_tensors; i++)
		p->tensors[i].on_npu = made[i] && made[i] >= weft_tensor_elements(&cc->g->tensors[i].t);
	free(made);
	return 0;
}

/*
 * Allocate and fill the program's table of tensors, one entry for each tensor of the graph. Returns 0 or
 * -ENOMEM.
 */
static int finish_tensors(struct cc *cc)
{
	weft_program *p = cc->p;

	p->n_tensors = cc->g->n_tensors;
	p->tensors = calloc((size_t)p->n_tensors + 1, sizeof *p->tensors);
	if (!p->tensors)
		return -ENOMEM;
	for (int i = 0; i < p->n_tensors; i++)
		finish_tensor(cc, i);
	return finish_on_npu(cc);
}

/*
 * Allocate and fill the program's list of weights that the host must pack into the arena while the program
 * runs, because they are no constants (wt.w_late): step, tensor, rows, columns, and offset in the arena.
 * Returns 0 or -ENOMEM.
 */
static int finish_packs(struct cc *cc)
{
	weft_program *p = cc->p;

	p->packs = calloc((size_t)cc->n_nodes + 1, sizeof *p->packs);
	if (!p->packs)
		return -ENOMEM;
	for (int i = 0; i < cc->n_items; i++) {
		const struct node *nd = cc->items[i].host ? NULL : &cc->nodes[cc->items[i].index];
		if (!nd || !nd->wt.w_late)
			continue;
		p->packs[p->n_packs++] = (struct weft_ppack){
			.step = cc->items[i].step, .tensor = nd->wt.w, .k = (uint32_t)nd->wt.run_len, .cols = (uint32_t)nd->y.dim[3],
			.offset = cc->ten[nd->wt.w_late - 1].offset };
	}
	return 0;
}

/*
 * Fill the program's configuration, graph and tables of tensors, operators and late weights, and move the
 * constants from cc->consts into it. Called when all steps have been scheduled. Returns 0 or -ENOMEM.
 */
int cc_program_tables(struct cc *cc)
{
	weft_program *p = cc->p;
	int err;

	snprintf(p->config, sizeof p->config, "%s", cc->cfg->name);
	p->graph = cc->g;
	if ((err = finish_tensors(cc)) || (err = finish_ops(cc)) || (err = finish_packs(cc)))
		return err;
	p->consts = cc->consts.p;
	p->n_consts = cc->consts.n;
	cc->consts = (struct blob){ 0 };
	return 0;
}
