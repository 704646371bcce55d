/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the operands of a job lie in the scratchpad, and how they get there: boxes
 * of resident storages, boxes in slots, and the loads and stores of both.
 */
#include "node_emit.h"

/* A resident storage is loaded in up to MAX_LOAD_PARTS parts of at least LOAD_PART bytes, so that work on its first
 * rows can begin before the last ones have come. By the estimate, four of 13 small networks take 0.2 to 0.4 % more cycles in sram
 * if LOAD_PART is 2048, and one takes 2.8 % more if it is 512. Other values of MAX_LOAD_PARTS were not measured. */
#define LOAD_PART      1024    /* bytes */
#define MAX_LOAD_PARTS 8

/* Returns the scratchpad address, in bytes, of an area of the step. */
int64_t emit_area_addr(const struct npu_step *s, int area)
{
	return s->area[area].addr;
}

/*
 * Returns the slot that holds `key` among the first n of c. If one does, *fresh becomes false. Otherwise the
 * slot that is next in turn is given to the key, and *fresh becomes true: the caller must fill it.
 */
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

/*
 * Emit one command that loads box b of view v from its place in memory to o, or with `store` stores it from
 * o. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a
 * value).
 */
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

/*
 * Returns where box b of view v lies in the scratchpad if the view's storage (its number in the step) is
 * resident as a whole: address and steps in bytes.
 */
struct operand resident_operand(const struct npu_step *s, int storage, const struct view *v, const struct box *b)
{
	int64_t base = emit_area_addr(s, s->storage[storage].area);

	return (struct operand){
		.addr = base + v->off + b->n * v->step[0] + b->rows.lo * v->step[1] + b->cols.lo * v->step[2] + b->c * v->step[3],
		.ys = v->step[1], .xs = v->step[2], .elem = v->step[3], .rows = b->rows, .cols = b->cols,
	};
}

/*
 * Returns where box b of view v lies if it is packed densely into a slot at scratchpad address addr: address
 * and steps in bytes.
 */
struct operand slot_operand(int64_t addr, const struct view *v, const struct box *b)
{
	int64_t xs = b->cn * view_elem(v);

	return (struct operand){ .addr = addr, .ys = b->cols.n * xs, .xs = xs, .elem = view_elem(v), .rows = b->rows, .cols = b->cols };
}

/*
 * If a storage of the step (its number there) is resident, comes from memory and has not been loaded yet,
 * emit the loads of all its bytes, in at most MAX_LOAD_PARTS parts, and note that it is loaded. Returns 0,
 * -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int load_resident(struct emit *e, int storage)
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

/*
 * Emit the loads of the node's operands that are resident, come from memory and have not been loaded yet, its result
 * included (load_resident()). Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a
 * command cannot hold a value).
 */
int node_load_residents(struct node_emit *m)
{
	const int storage[] = { m->p->x_storage, m->p->r_storage, m->p->z_storage, m->p->y_storage };
	int err = 0;

	for (size_t k = 0; k < sizeof storage / sizeof *storage && !err; k++)
		if (storage[k] >= 0)
			err = load_resident(m->e, storage[k]);
	return err;
}
