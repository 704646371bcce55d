/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slice groups: every node makes its results of one slice of channels before any node
 * makes those of the next slice. Results that only the group reads lie slice by slice
 * in rings; all other operands are resident.
 */
#include <errno.h>
#include <stdlib.h>

#include "node_emit.h"

/* The slice at hand: its channels [c, +cn). */
struct slice { int64_t c, cn; };

/*
 * Returns where slice c of all pixels of view v lies: in ring number `ring` of the group, or if that is -1, in the
 * resident storage with this number in the step.
 */
static struct operand operand_of(const struct npu_step *s, const struct group *g, int ring, int storage, const struct view *v, struct slice c)
{
	struct box b = { 0, { 0, v->dim[1] }, { 0, v->dim[2] }, c.c, c.cn };

	if (ring < 0)
		return resident_operand(s, storage, v, &b);
	const struct ring *r = &g->ring[ring];
	return slot_operand(emit_area_addr(s, r->area) + c.c / g->step % r->rows * r->row_bytes, v, &b);
}

/*
 * Emit the job by which node k of the group makes slice c of its result, and the loads of weights that it needs and
 * that are not there yet. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command
 * cannot hold a value).
 */
static int emit_slice(struct node_emit *m, const struct group *g, int k, struct slice c)
{
	const struct npu_step *s = m->e->s;
	const struct node *nd = m->nd;
	const struct plan *p = m->p;
	struct slice all = { 0, nd->x.dim[3] }, table = { 0, nd->add ? second_channels(nd, c.cn) : 0 };
	struct job j = { .oh = nd->y.dim[1], .ow = nd->y.dim[2], .c = c.c, .cn = c.cn };

	begin_node(m);
	j.x = operand_of(s, g, g->rx[k], p->x_storage, &nd->x, channelwise(nd) ? c : all);
	if (nd->add)
		j.r = operand_of(s, g, g->rr[k], p->r_storage, &nd->r, by_table(nd) ? table : c);
	j.y = operand_of(s, g, g->ry[k], p->y_storage, &nd->y, c);
	if (nd->wt.w < 0)
		return node_compute(m, &j, NULL);
	return p->tile.all_weights ? node_compute_pieces(m, &j) : node_compute_slot(m, &j);
}

/*
 * Emit the store of a node's result if it is resident and needed in memory. Returns 0, -ENOMEM, -E2BIG (more commands than
 * a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int store(struct node_emit *m)
{
	const struct view *y = &m->nd->y;
	struct box b = { 0, { 0, y->dim[1] }, { 0, y->dim[2] }, 0, y->dim[3] };
	const struct storage *t = &m->e->s->storage[m->p->y_storage];

	if (!t->resident || !t->ext_out)
		return 0;
	begin_node(m);
	struct operand o = resident_operand(m->e->s, m->p->y_storage, y, &b);
	return emit_copy_box(m->e, true, y, &b, &o);
}

/*
 * Emit all nodes of a slice group, slice by slice. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or
 * -ERANGE (a command cannot hold a value).
 */
int emit_slices(struct emit *e, struct group *g)
{
	struct node_emit *m = calloc((size_t)g->n, sizeof *m);
	int64_t channels = step_node(e->s, g->first)->y.dim[3];
	int err = m ? group_start(e, g, m) : -ENOMEM;

	for (int64_t c = 0; c < channels && !err; c += g->step)
		for (int k = 0; k < g->n && !err; k++)
			err = emit_slice(&m[k], g, k, (struct slice){ c, min64(g->step, channels - c) });
	for (int k = 0; k < g->n && !err; k++)
		err = store(&m[k]);
	free(m);
	return err;
}
