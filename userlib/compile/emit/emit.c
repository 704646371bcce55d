/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One NPU step as commands: node by node in the step's order, then loads moved to
 * where they can run best (load_order.c), and commands of the vector engine that can
 * begin ahead of others (vector_order.c).
 */
#include <errno.h>

#include "node_emit.h"

/*
 * Returns whether the node's input comes from memory as a whole, its load has not been emitted yet, and it is
 * larger than the first load of weights with the node's records.
 */
static bool loads_input(const struct node_emit *m)
{
	const struct storage *x = &m->e->s->storage[m->p->x_storage];

	return x->resident && x->ext_in && !x->loaded && x->bytes > m->nd->wt.rec_bytes + m->p->tile.piece * m->nd->wt.tile_bytes;
}

/*
 * Emit node i of the step, which is in no stripe group: the loads of its resident operands that come from memory
 * and have not been loaded yet, then its jobs, or the pieces of a loop nest; these load weights and operands that
 * are not resident themselves. If all weights stay on chip (all_weights) and loads_input() says that the input is
 * the larger load, the first piece of weights is loaded before it. e->node becomes the node. Returns 0, -ENOMEM,
 * -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int emit_node(struct emit *e, int i)
{
	struct npu_step *s = e->s;
	struct node_emit m = { .e = e, .nd = step_node(s, i), .p = &s->plan[i], .parts = 1 };
	int err;

	begin_node(&m);
	/* The shorter load goes first: a larger input comes in parts, and work begins with the first of them. */
	if (m.nd->wt.w >= 0 && m.p->tile.all_weights && loads_input(&m) &&
	    (err = weights_load_up_to(&m, m.p->tile.piece)))
		return err;
	if ((err = node_load_residents(&m)))
		return err;
	if (m.nd->kind == NODE_LOOP_NEST)
		return emit_loop_nest(e, m.nd, m.p);
	return emit_node_jobs(&m);
}

/*
 * Emit the commands of the step's plan into s->cmds, replacing those of an earlier emission: node by node,
 * stripe and slice groups as a whole, each command with what it waits for. Then order_loads() moves loads, and
 * once everything has its place (s->placed) order_vector() moves commands of the vector engine.
 * Returns 0, -ENOMEM, -ERANGE with cc->bad_node and cc->bad_why (a command of that node cannot be expressed),
 * or -E2BIG (more commands than one stream can count). After a failure s->cmds is of no use.
 */
int step_emit(struct npu_step *s)
{
	struct emit e = { .s = s };
	int err = 0;

	if (!s->hazards && !(s->hazards = hazards_new()))
		return -ENOMEM;
	hazards_clear(s->hazards, s->overlap);
	e.h = s->hazards;
	for (int i = 0; i < WEFT_N_CMDS; i++)
		weft_cmd_init(&e.fresh[i], weft_cmd_list()[i].op);
	s->cmds.n = s->cmds.n_rec = 0;
	for (int i = 0; i < s->n_storages; i++)
		s->storage[i].loaded = false;
	for (int i = 0; i < s->n && !err; i++) {
		struct group *g = s->plan[i].group ? &s->group[s->plan[i].group - 1] : NULL;
		if (!g)
			err = emit_node(&e, i);
		else if (g->first == i)
			err = g->how.slices ? emit_slices(&e, g) : emit_stripes(&e, g);
	}
	if (!err)
		err = order_loads(s);
	return err || !s->placed ? err : order_vector(s);
}
