/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small changes to a plan whose tensors do not all stay on chip: one group
 * longer or shorter or in other stripes, one tensor here or there. place.c
 * tries them one by one and keeps what is faster.
 */
#include "plan.h"

#define LEAST_SHARE 3
#define LARGE       8          /* of the scratchpad: smaller tensors are in nobody's way */

void change_apply(struct seg *s, const struct change *c)
{
	if (c->node >= 0) {
		s->plan[c->node].how = c->how;
		s->plan[c->node].own_how = c->own;
	}
	if (c->stor >= 0)
		s->stor[c->stor].wish = c->wish;
}

struct change change_undo(const struct seg *s, const struct change *c)
{
	struct change was = *c;

	if (c->node >= 0) {
		was.how = s->plan[c->node].how;
		was.own = s->plan[c->node].own_how;
	}
	if (c->stor >= 0)
		was.wish = s->stor[c->stor].wish;
	return was;
}

struct list { struct change *c; int n, most; };

static void add_group(struct list *l, int node, struct striping how)
{
	if (l->n < l->most)
		l->c[l->n++] = (struct change){ .node = node, .how = how, .own = true, .stor = -1 };
}

static void list_group(struct list *l, const struct group *g)
{
	struct striping how = g->how;

	for (int n = 0; n < g->n; n++)
		if (n != 1)
			add_group(l, g->first, (struct striping){ n, how.full, how.deep, how.share });
	if (how.nodes < GROUP_NODES)
		add_group(l, g->first, (struct striping){ GROUP_NODES, how.full, how.deep, how.share });
	add_group(l, g->first, (struct striping){ how.nodes, !how.full, how.deep, how.share });
	add_group(l, g->first, (struct striping){ how.nodes, how.full, !how.deep, how.share });
	for (int share = SHARES; share >= LEAST_SHARE; share--)
		if (share != how.share)
			add_group(l, g->first, (struct striping){ how.nodes, how.full, how.deep, share });
}

static void list_storage(struct list *l, const struct seg *s, int i)
{
	const struct stor *t = &s->stor[i];

	if (t->bytes * LARGE < s->cc->sp_bytes || t->in_memory || t->bytes > s->cc->sp_bytes || l->n == l->most)
		return;
	l->c[l->n++] = (struct change){ .node = -1, .stor = i, .wish = t->resident ? -1 : 1 };
}

int list_changes(const struct seg *s, int node, struct change *c, int most)
{
	struct list l = { c, 0, most };
	const struct plan *p = &s->plan[node];

	if (p->group && s->group[p->group - 1].first == node)
		list_group(&l, &s->group[p->group - 1]);
	for (int i = 0; i < s->n_stor; i++)
		if (s->stor[i].first == node)
			list_storage(&l, s, i);
	return l.n;
}
