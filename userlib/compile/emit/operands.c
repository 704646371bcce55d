/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the operands of a job lie in the scratchpad, and how they get there: boxes
 * of resident storages, boxes in slots, and the loads and stores of both.
 */
#include "node_emit.h"

/* A resident storage is loaded in up to MAX_LOAD_PARTS parts of at least LOAD_PART bytes, so that work on its first
 * rows can begin before the last ones have come. The two bounds were not measured. */
#define LOAD_PART      2048    /* bytes */
#define MAX_LOAD_PARTS 8

/* Scratchpad address of an area. */
int64_t emit_area_addr(const struct npu_step *s, int area)
{
	return s->area[area].addr;
}

/* The slot for `key` among the first n; *fresh: it held something else and must be filled. */
int slot_cache_find(struct slot_cache *c, int n, int64_t key, bool *fresh)
{
	for (int i = 0; i < n; i++)
		if (c->key[i] == key + 1) {
			*fresh = false;
			return i;
		}
	int i = c->next;
	c->next = (i + 1) % n;
	c->key[i] = key + 1;
	*fresh = true;
	return i;
}

/* Load or store the box of view v between its place in memory and o. */
int emit_copy_box(struct emit *e, bool store, const struct view *v, const struct box *b, const struct operand *o)
{
	struct dma d = {
		.store = store, .root = v->root, .sp = o->addr, .row = b->cn * v->step[3],
		.off = v->off + b->n * v->step[0] + b->rows.lo * v->step[1] + b->cols.lo * v->step[2] + b->c * v->step[3],
		.n = { b->cols.n, b->rows.n, 1 },
		.mem_step = { v->step[2], v->step[1], 0 },
		.sp_step = { o->xs, o->ys, 0 },
	};
	return emit_dma(e, d);
}

/* The box of a view whose storage is resident as a whole. */
struct operand resident_operand(const struct npu_step *s, int storage, const struct view *v, const struct box *b)
{
	int64_t base = emit_area_addr(s, s->storage[storage].area);

	return (struct operand){
		.addr = base + v->off + b->n * v->step[0] + b->rows.lo * v->step[1] + b->cols.lo * v->step[2] + b->c * v->step[3],
		.ys = v->step[1], .xs = v->step[2], .elem = v->step[3], .rows = b->rows, .cols = b->cols,
	};
}

/* A box that lies densely in a slot of its own. */
struct operand slot_operand(int64_t addr, const struct view *v, const struct box *b)
{
	int64_t xs = b->cn * view_elem(v);

	return (struct operand){ .addr = addr, .ys = b->cols.n * xs, .xs = xs, .elem = view_elem(v), .rows = b->rows, .cols = b->cols };
}

/* Load a resident storage that comes from memory, in parts, before its first use. */
int emit_load_resident(struct emit *e, int storage)
{
	struct storage *t = &e->s->storage[storage];

	if (!t->resident || !t->ext_in || t->loaded)
		return 0;
	t->loaded = true;
	int64_t addr = emit_area_addr(e->s, t->area), parts = max64(1, min64(t->bytes / LOAD_PART, MAX_LOAD_PARTS));
	int64_t step = round_up(ceil_div(t->bytes, parts), 64);
	for (int64_t at = 0; at < t->bytes; at += step) {
		int err = emit_dma(e, (struct dma){ .root = t->root, .off = at, .sp = addr + at,
		                                    .row = min64(step, t->bytes - at), .n = { 1, 1, 1 } });
		if (err)
			return err;
	}
	return 0;
}
