/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop nests as commands, piece by piece. Operands that are not on chip come packed
 * into a slot, in the order in which they lie in memory, and results go the same way.
 * Copies that change no order need no command but a load and a store.
 *
 * Source: include/spec/cmd.toml, alu.
 */
#include <errno.h>
#include <string.h>

#include "userlib/compile/estimate/cost.h"
#include "userlib/compile/match/loop_nest.h"
#include "emit.h"

/* What a slot holds of an operand: 1 + the offset in memory at which it begins, and its bytes; zeros: nothing. */
struct held { int64_t mem, bytes; };

struct nest_emit {
	struct held held[MAX_SLOTS][NEST_OPERANDS];   /* what each slot holds of each operand */
	int i_slot;            /* the slot of the piece at hand */
	struct emit *e;        /* the state of the step */
	const struct node *nd; /* the node, */
	const struct plan *p;  /* its plan, */
	struct loop_nest *s;   /* and its loop nest */
	int64_t slot[NEST_OPERANDS];      /* scratchpad address of each packed operand of the piece; -1: it is resident, or a
	                                   * number */
	struct nest_piece q;   /* the piece at hand */
	struct nest_place at[NEST_OPERANDS];   /* where the piece's operands lie in the scratchpad */
};

/* How the elements of an operand's piece lie in memory and in the scratchpad: rows, repeated in several dimensions. */
struct runs {
	int64_t mem, sp, row;  /* offset in the root's storage, scratchpad address, bytes of a row */
	int n;                 /* dimensions in d[] */
	struct { int64_t n, mem, sp; } d[NEST_DIMS + 1];   /* innermost first: repeats, and bytes from one to the next in
	                        * memory and in the scratchpad */
};

/*
 * Returns the number, within the step, of the storage of operand k (NEST_A ...) of nest s; -1 if the operand
 * is a number or absent.
 */
static int storage_of_operand(const struct plan *p, const struct loop_nest *s, int k)
{
	if (nest_operand((struct loop_nest *)s, k)->root < 0)
		return -1;
	return k == NEST_A ? p->x_storage : k == NEST_B ? p->r_storage : k == NEST_C ? p->z_storage : p->y_storage;
}

/*
 * Returns whether operand k lies packed in a slot while a piece of nest s is computed. It does if its storage
 * is not resident; but the old values of a scatter never do, since they are brought to the place of the
 * result.
 */
static bool is_packed(const struct npu_step *step, const struct plan *p, const struct loop_nest *s, int k)
{
	int storage = storage_of_operand(p, s, k);

	/* Scattering brings the old values to the result's place. */
	return storage >= 0 && !step->storage[storage].resident && !(k == NEST_C && s->func == WEFT_ALU_FUNC_SCATTER);
}

/* Returns whether the storage of operand k is resident. */
static bool on_chip(const struct nest_emit *m, int k)
{
	int storage = storage_of_operand(m->p, m->s, k);

	return storage >= 0 && m->e->s->storage[storage].resident;
}

/*
 * List in *r how the elements of operand k's piece lie in memory: offset of the lowest one, bytes of an
 * element as the row, and each dimension along which the operand moves, the smallest step first. r->d[].sp
 * gets the number of the dimension, which place_of() replaces; n_dims stands for the index by which the
 * operand is looked up or scattered into.
 */
static void list_runs(const struct nest_emit *m, int k, struct runs *r)
{
	const struct nest_operand *o = nest_operand(m->s, k);
	int64_t entries = nest_entries(m->s, k);

	*r = (struct runs){ .mem = o->off, .row = alu_bytes(o->type) };
	for (int d = 0; d <= m->s->n_dims; d++) {
		bool index = d == m->s->n_dims;
		int64_t n = index ? entries : m->q.n[d], step = index ? m->s->idx_step : o->step[d];
		if (!index)
			r->mem += m->q.from[d] * step;
		if (n == 1 || !step)
			continue;
		if (step < 0)
			r->mem += (n - 1) * step;
		step = step < 0 ? -step : step;
		int i = r->n++;
		for (; i && r->d[i - 1].mem > step; i--)
			r->d[i] = r->d[i - 1];
		r->d[i].n = n;
		r->d[i].mem = step;
		r->d[i].sp = d;        /* for now: which */
	}
}

/*
 * Returns where operand k of this piece lies in the scratchpad: in its resident storage, with its own steps,
 * or packed in its slot (m->slot[k]), without gaps and in the order of its bytes in memory. Gives address and
 * steps in bytes, and the step from one indexed entry to the next. *r is set to how the same elements lie in
 * memory and in the scratchpad.
 */
static struct nest_place place_of(const struct nest_emit *m, int k, struct runs *r)
{
	const struct nest_operand *o = nest_operand(m->s, k);
	struct nest_place at = { .idx_step = m->s->idx_step };
	int64_t stride = alu_bytes(o->type);

	list_runs(m, k, r);
	if (on_chip(m, k)) {
		const struct npu_step *s = m->e->s;
		int64_t base = s->area[s->storage[storage_of_operand(m->p, m->s, k)].area].addr;
		at.addr = base + o->off;
		r->sp = base + r->mem;
		for (int d = 0; d < m->s->n_dims; d++) {
			at.addr += m->q.from[d] * o->step[d];
			at.step[d] = o->step[d];
		}
		for (int i = 0; i < r->n; i++)
			r->d[i].sp = r->d[i].mem;
		return at;
	}
	at.addr = r->sp = m->slot[k];
	for (int i = 0; i < r->n; i++) {
		int d = (int)r->d[i].sp;
		if (d == m->s->n_dims)
			at.idx_step = stride;
		else
			at.step[d] = o->step[d] < 0 ? -stride : stride;
		if (d < m->s->n_dims && o->step[d] < 0)
			at.addr += (m->q.n[d] - 1) * stride;
		r->d[i].sp = stride;
		stride *= r->d[i].n;
	}
	return at;
}

/*
 * Change *r so that it lists the same bytes with rows as long as they can be, by joining innermost
 * dimensions that are dense on both sides (a row has at most SP_MASK bytes) and then neighbouring
 * dimensions that continue each other on both sides (at most 65535 repeats). r->n becomes the number of
 * dimensions left.
 */
static void join_runs(struct runs *r)
{
	int out = 0;

	for (int i = 0; i < r->n; i++) {
		if (!out && r->d[i].mem == r->row && r->d[i].sp == r->row && r->row * r->d[i].n <= SP_MASK) {
			r->row *= r->d[i].n;
			continue;
		}
		if (out && r->d[i].mem == r->d[out - 1].mem * r->d[out - 1].n && r->d[i].sp == r->d[out - 1].sp * r->d[out - 1].n &&
		    r->d[i].n * r->d[out - 1].n <= 65535) {
			r->d[out - 1].n *= r->d[i].n;
			continue;
		}
		r->d[out++] = r->d[i];
	}
	r->n = out;
}

/* Where a copy begins, in memory and in the scratchpad. */
struct start { int64_t mem, sp; };

/*
 * Emit the loads or stores (store) of the first n dimensions of r between root's memory and the scratchpad,
 * beginning at `at`. One command copies three dimensions; further ones take a command for each index. Returns
 * 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int copy_runs(struct nest_emit *m, bool store, int root, const struct runs *r, int n, struct start at)
{
	if (n > 3) {
		int err = 0;
		for (int64_t i = 0; i < r->d[n - 1].n && !err; i++)
			err = copy_runs(m, store, root, r, n - 1, (struct start){ at.mem + i * r->d[n - 1].mem, at.sp + i * r->d[n - 1].sp });
		return err;
	}
	struct dma d = { .store = store, .root = root, .off = at.mem, .sp = at.sp, .row = r->row, .n = { 1, 1, 1 } };
	for (int i = 0; i < n; i++) {
		d.n[i] = r->d[i].n;
		d.mem_step[i] = r->d[i].mem;
		d.sp_step[i] = r->d[i].sp;
	}
	return emit_dma(m->e, d);
}

/*
 * Emit the loads of operand k of this piece, or with `store` its stores; r says how it lies in memory and in
 * the scratchpad. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command
 * cannot hold a value).
 */
static int copy_operand(struct nest_emit *m, bool store, int k, struct runs r)
{
	join_runs(&r);
	return copy_runs(m, store, nest_operand(m->s, k)->root, &r, r.n, (struct start){ r.mem, r.sp });
}

/*
 * Add to command c the debug records of the elements in r's first n dimensions, beginning at byte `mem` of
 * the tensor and scratchpad address sp. A record holds two dimensions and rows; further ones take a record
 * for each index. Returns 0 or -ENOMEM.
 */
static int record_runs(struct nest_emit *m, struct cmd *c, const struct runs *r, int n, int64_t mem, int64_t sp)
{
	int64_t elem = alu_bytes(m->s->y.type);

	if (n > 2) {
		int err = 0;
		for (int64_t i = 0; i < r->d[n - 1].n && !err; i++)
			err = record_runs(m, c, r, n - 1, mem + i * r->d[n - 1].mem, sp + i * r->d[n - 1].sp);
		return err;
	}
	struct weft_prec p = {
		.tensor = m->nd->y_tensor, .addr = (uint32_t)sp, .first = (uint64_t)(mem / elem),
		.n_y = n > 1 ? (uint32_t)r->d[1].n : 1, .n_x = n > 0 ? (uint32_t)r->d[0].n : 1, .n_c = (uint32_t)(r->row / elem),
		.y_bytes = n > 1 ? (uint32_t)r->d[1].sp : 0, .y_elems = n > 1 ? (uint64_t)(r->d[1].mem / elem) : 0,
		.x_bytes = n > 0 ? (uint32_t)r->d[0].sp : 0, .x_elems = n > 0 ? (uint64_t)(r->d[0].mem / elem) : 0,
	};
	return emit_rec(m->e, c, &p);
}

/*
 * Add to command c the debug records of the piece's results, which r describes; nothing if they are not
 * elements of a tensor, or are not final because a scatter's later pieces may overwrite them. Returns 0 or
 * -ENOMEM.
 */
static int record(struct nest_emit *m, struct cmd *c, struct runs r)
{
	const struct loop_nest *s = m->s;

	if (m->nd->y_tensor < 0)
		return 0;
	/* Scattered elements are not final before the last index. */
	if (s->func == WEFT_ALU_FUNC_SCATTER && m->q.from[s->axis] + m->q.n[s->axis] < s->dim[s->axis])
		return 0;
	join_runs(&r);
	return record_runs(m, c, &r, r.n, r.mem, r.sp);
}

/*
 * Choose which dimensions of the nest become the command's i0 (the innermost) to i3, for a piece with sizes
 * n: which[i] is the dimension, or -1 for none. The axis, if there is one, becomes i1, however many elements
 * it has; of the others those of one element are left out, and the rest come from the nest's last dimension
 * on. There may be four of them, with an axis three, as nest_fit() makes pieces.
 */
static void choose_dims(const struct loop_nest *s, const int64_t *n, int which[4])
{
	static const int with_axis[] = { 0, 2, 3 };
	int at = 0;

	for (int k = 0; k < 4; k++)
		which[k] = -1;
	if (s->axis >= 0)
		which[1] = s->axis;
	for (int d = s->n_dims - 1; d >= 0; d--)
		if (d != s->axis && n[d] > 1) {
			which[s->axis >= 0 ? with_axis[at] : at] = d;
			at++;
		}
}

#define SET_OPERAND(c, name, o, at, which) do { \
	(c)->name##_base = (int32_t)((at)->addr & SP_MASK); \
	(c)->name##_s0 = step_at(at, (which)[0]); \
	(c)->name##_s1 = step_at(at, (which)[1]); \
	(c)->name##_s2 = step_at(at, (which)[2]); \
	(c)->name##_s3 = step_at(at, (which)[3]); \
	(c)->name##_type = (o)->type; \
} while (0)

/*
 * Returns an operand's step along dimension d of the nest as the command's field, modulo the scratchpad's
 * address space; 0 for d = -1.
 */
static int32_t step_at(const struct nest_place *at, int d)
{
	return d < 0 ? 0 : (int32_t)(at->step[d] & SP_MASK);
}

/* Returns how many elements this piece has along dimension d of the nest; 1 for d = -1. */
static int32_t count_at(const struct nest_emit *m, int d)
{
	return d < 0 ? 1 : (int32_t)m->q.n[d];
}

/*
 * Set all fields of command c for this piece, whose operands' places are in m->at: function, counts and
 * steps of the four dimensions that choose_dims() picks, operands b and c as numbers if they lie in no
 * storage, the index's step and last index, clamp, rounding, shift and zero points.
 */
static void fill_cmd(const struct nest_emit *m, struct weft_cmd_alu *c)
{
	const struct loop_nest *s = m->s;
	int which[4];

	choose_dims(s, m->q.n, which);
	c->func = s->func;
	c->n0 = count_at(m, which[0]);
	c->n1 = count_at(m, which[1]);
	c->n2 = count_at(m, which[2]);
	c->n3 = count_at(m, which[3]);
	SET_OPERAND(c, a, &s->a, &m->at[NEST_A], which);
	SET_OPERAND(c, out, &s->y, &m->at[NEST_Y], which);
	c->a_zp = s->a.zp;
	c->out_zp = s->y.zp;
	c->b_imm = s->b.root < 0;
	c->c_imm = s->c.root < 0;
	c->b_value = s->b.imm;
	c->c_value = s->c.imm;
	if (!c->b_imm) {
		SET_OPERAND(c, b, &s->b, &m->at[NEST_B], which);
		c->b_zp = s->b.zp;
	}
	if (!c->c_imm)
		SET_OPERAND(c, c, &s->c, &m->at[NEST_C], which);
	if (alu_looks_up(s->func))
		c->idx_step = (int32_t)m->at[NEST_B].idx_step;
	if (s->func == WEFT_ALU_FUNC_SCATTER)
		c->idx_step = (int32_t)m->at[NEST_Y].idx_step;
	c->idx_last = (int32_t)s->idx_last;
	c->clamp = s->clamp;
	c->lo = s->lo;
	c->hi = s->hi;
	c->round = s->round;
	c->even = s->even;
	c->shift = s->shift;
}

/*
 * Note the bytes of operand k that command c reads, or with `write` writes, in this piece, from the first to
 * the last; nothing if the operand is a number.
 */
static void access_operand(struct cmd *c, const struct nest_emit *m, int k, bool write)
{
	const struct nest_operand *o = nest_operand(m->s, k);
	const struct nest_place *at = &m->at[k];
	int64_t lo = at->addr, hi = at->addr + alu_bytes(o->type) + (nest_entries(m->s, k) - 1) * at->idx_step;

	if (o->root < 0)
		return;
	for (int d = 0; d < m->s->n_dims; d++) {
		int64_t r = (m->q.n[d] - 1) * at->step[d];
		*(r < 0 ? &lo : &hi) += r;
	}
	emit_access(c, SPACE_SP, write, lo, hi);
}

/*
 * Returns whether an operand's elements of `bytes` bytes lie side by side along dimension 0, or are one and
 * the same element (step 0).
 */
static bool in_blocks(int32_t step, int64_t bytes)
{
	return !step || step == bytes;
}

/*
 * Returns whether the reduction c reads a whole word of its operand, whose elements have `bytes` bytes, in a
 * cycle. It does for dense operands without a zero point: comparisons of up to 4 bytes, sums of 4 bytes.
 */
static bool takes_words(const struct weft_cmd_alu *c, int64_t bytes)
{
	bool compares = c->func == WEFT_ALU_FUNC_RMAX || c->func == WEFT_ALU_FUNC_RMIN || c->func == WEFT_ALU_FUNC_ARGMAX;

	return c->a_s1 == bytes && !c->a_zp && (compares ? bytes < 8 : c->func == WEFT_ALU_FUNC_SUM && bytes == 4);
}

/* Returns whether operand b of command c is operand a: the same elements, which are then read once. */
static bool is_twin(const struct weft_cmd_alu *c)
{
	return c->a_type == c->b_type && c->a_base == c->b_base && c->a_s0 == c->b_s0 && c->a_s1 == c->b_s1 && c->a_s2 == c->b_s2 && c->a_s3 == c->b_s3;
}

/*
 * Returns how many words of N bytes command c reads of its table before all else, or 0 if it does not read the table so. `bytes` is
 * the size of an entry. The command reads it so if it is a lookup, if the table is dense, has at most 256 entries and is the same for all
 * elements, if its words lie in the scratchpad, and if dimension 0 has at least COST_ALU_TABLE_PAYS elements.
 */
static int64_t table_words(const struct cc *cc, const struct weft_cmd_alu *c, int64_t bytes)
{
	const int64_t words = ceil_div((c->idx_last + 1) * bytes, cc->n);
	const bool one = !c->b_s0 && !c->b_s1 && !c->b_s2 && !c->b_s3;

	if (c->func != WEFT_ALU_FUNC_LOOKUP || !one || bytes > 4 || c->idx_step != bytes || c->idx_last > 255 || c->n0 < COST_ALU_TABLE_PAYS)
		return 0;
	return c->b_base + words * cc->n <= cc->cfg->sp_bytes ? words : 0;
}

/*
 * Returns the cycles that command c takes for this piece (hw/alu). The command works on blocks of elements along dimension 0. A block is
 * - a word, if bytes are only moved or repeated;
 * - a quarter of the lanes (an eighth with int48), if the elements of every operand lie side by side or are one and the same;
 * - as many elements if that is so of all operands but a, whose elements are then read one by one;
 * - otherwise one element.
 * Each operand that is read costs a cycle for a block, or a cycle for a row of blocks if b or c stays the same along the row. An operand b
 * that is_twin() costs nothing. Reductions that takes_words() read words along the axis, for each element of the result.
 * A block that is looked up costs a cycle for its indices and one (two for interpolation) for each entry, at least
 * COST_ALU_LOOKUP. If all of a block have the same index, there is one entry. If the table is read before all else (table_words()),
 * a block costs one cycle.
 */
static int64_t cycles_of(const struct nest_emit *m, const struct weft_cmd_alu *c)
{
	const struct loop_nest *s = m->s;
	int64_t n = m->e->s->cc->n, a = alu_bytes(s->a.type), b = alu_bytes(s->b.type), y = alu_bytes(s->y.type);
	bool table = alu_looks_up(s->func), has_b = !c->b_imm && !table;
	bool has_c = !c->c_imm && (s->func == WEFT_ALU_FUNC_SELECT || s->func == WEFT_ALU_FUNC_RESCALE);
	bool wide = a == 8 || y == 8 || (!c->b_imm && b == 8) || (has_c && alu_bytes(s->c.type) == 8);
	bool shared = table && !c->a_s0 && in_blocks(c->b_s0, b);
	bool together = c->out_s0 == y && in_blocks(c->a_s0, a) && (!table || c->a_s0 || shared) &&
	                (!has_b || in_blocks(c->b_s0, s->func == WEFT_ALU_FUNC_SCATTER ? 0 : b)) &&
	                (!has_c || in_blocks(c->c_s0, alu_bytes(s->c.type)));
	bool word = s->func == WEFT_ALU_FUNC_MOVE && a == y && a < 8 && !c->a_zp && !c->out_zp && !c->clamp && in_blocks(c->a_s0, a) && c->out_s0 == y;
	bool gathers = c->out_s0 == y && !in_blocks(c->a_s0, a) && !table && !alu_folds(s->func) && s->func != WEFT_ALU_FUNC_SCATTER &&
	               (!has_b || !c->b_s0) && (!has_c || !c->c_s0);
	int64_t lanes = word ? n / y : !together && !gathers ? 1 : wide ? n / 8 : n / 4;
	int64_t blocks = ceil_div(c->n0, lanes), rows = (int64_t)c->n1 * c->n2 * c->n3;
	bool again = alu_folds(s->func);   /* a reduction reads still operands again and again */
	int64_t b_reads = !has_b || is_twin(c) ? 0 : c->b_s0 || again ? blocks : 1, c_reads = !has_c ? 0 : c->c_s0 || again ? blocks : 1;

	if (takes_words(c, a))
		return ceil_div(c->n1 * a, n) * c->n0 * c->n2 * c->n3;
	if (!table)
		return rows * ((gathers ? c->n0 : blocks) + b_reads + c_reads);
	if (shared)
		return COST_ALU_LOOKUP * blocks * rows;
	int64_t words = together ? table_words(m->e->s->cc, c, b) : 0;
	if (words)
		return words + COST_ALU_TABLE_START + rows * blocks;
	int64_t reads = s->func == WEFT_ALU_FUNC_INTERP ? 2 : 1, tail = c->n0 % lanes;
	return rows * (c->n0 / lanes * max64(1 + lanes * reads, COST_ALU_LOOKUP) + (tail ? max64(1 + tail * reads, COST_ALU_LOOKUP) : 0));
}

/*
 * Emit the command that computes this piece, whose operands' places are in m->at, with the bytes that it
 * touches, its cost and its debug records; *y says how the results lie. Returns 0, -ENOMEM, -E2BIG (more
 * commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int emit_command(struct nest_emit *m, const struct runs *y)
{
	struct cmd *c = emit_new(m->e, WEFT_CMD_ALU);

	if (!c)
		return -ENOMEM;
	fill_cmd(m, &c->c.alu);
	access_operand(c, m, NEST_A, false);
	access_operand(c, m, NEST_B, false);
	if (m->s->func != WEFT_ALU_FUNC_SCATTER)
		access_operand(c, m, NEST_C, false);
	access_operand(c, m, NEST_Y, true);
	c->cost = (uint32_t)min64(cycles_of(m, &c->c.alu) + COST_ALU_START, UINT32_MAX);
	c->latency = COST_ALU_LATENCY;
	int err = record(m, c, *y);
	return err ? err : emit_done(m->e, c);
}

/*
 * Returns whether the piece is a copy that DMA alone can do. It must be a MOVE without clamp and zero points
 * between types of the same size, with at least one of both operands in memory; a's steps must be positive,
 * and both operands have the same dimensions in the same order of steps. *a and *y say how operand and result
 * lie.
 */
static bool is_plain(const struct nest_emit *m, const struct runs *a, const struct runs *y)
{
	const struct loop_nest *s = m->s;

	if (s->func != WEFT_ALU_FUNC_MOVE || s->clamp || s->a.zp || s->y.zp || alu_bytes(s->a.type) != alu_bytes(s->y.type))
		return false;
	if (on_chip(m, NEST_A) && on_chip(m, NEST_Y))
		return false;
	for (int d = 0; d < s->n_dims; d++)
		if (m->q.n[d] > 1 && s->a.step[d] <= 0)
			return false;
	for (int i = 0; i < y->n; i++)
		if (a->d[i].n != y->d[i].n)
			return false;
	/* The same order of dimensions, not only the same counts. */
	for (int d = 0; d < s->n_dims; d++)
		for (int k = 0; k < d; k++)
			if (m->q.n[d] > 1 && m->q.n[k] > 1 && (s->a.step[d] < s->a.step[k]) != (s->y.step[d] < s->y.step[k]))
				return false;
	return true;
}

/*
 * Emit a piece that is_plain() by a load, a store, or both, with the debug records at the command that
 * brings the elements into the scratchpad, or if they are there already, at the store. The store is left
 * out if the result is on chip and not needed in memory. *a and *y are changed to the places in the
 * scratchpad that are used. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE
 * (a command cannot hold a value).
 */
static int emit_plain(struct nest_emit *m, struct runs *a, struct runs *y)
{
	int err = 0;

	if (on_chip(m, NEST_A)) {
		/* The store reads the elements where the operand has them; its result is only in memory. */
		for (int i = 0; i < y->n; i++)
			y->d[i].sp = a->d[i].sp;
		y->sp = a->sp;
	} else {
		for (int i = 0; i < y->n; i++)
			a->d[i].sp = y->d[i].sp;
		a->sp = y->sp;
		err = copy_operand(m, false, NEST_A, *a);
		struct cmds *l = &m->e->s->cmds;
		if (!err)
			err = record(m, &l->p[l->n - 1], *y);
	}
	bool store = !on_chip(m, NEST_Y) || m->e->s->storage[m->p->y_storage].ext_out;
	if (err || !store)
		return err;
	err = copy_operand(m, true, NEST_Y, *y);
	struct cmds *l = &m->e->s->cmds;
	if (!err && on_chip(m, NEST_A))
		err = record(m, &l->p[l->n - 1], *y);
	return err;
}

/*
 * Emit the load of operand k, which lies in memory as r says, into its place in the slot at hand, and note
 * what the slot holds; nothing if the slot holds the same bytes already. Returns 0, -ENOMEM, -E2BIG (more
 * commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int load_operand(struct nest_emit *m, int k, const struct runs *r)
{
	struct held *h = &m->held[m->i_slot][k], now = { r->mem + 1, nest_packed_bytes(m->s, k, m->q.n, 1) };

	if (h->mem == now.mem && h->bytes == now.bytes)
		return 0;
	*h = now;
	return copy_operand(m, false, k, *r);
}

/*
 * For a scatter: emit the load of the old values to the place of the result. For pieces behind the first
 * indices these are what earlier pieces have made of the result. Returns 0, -ENOMEM, -E2BIG (more commands
 * than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int load_old(struct nest_emit *m, const struct runs *y)
{
	struct runs r = *y;

	/* Behind the first indices, what those before have made of it. */
	if (m->q.from[m->s->axis])
		return copy_operand(m, false, NEST_Y, r);
	r.mem += m->s->c.off - m->s->y.off;
	return copy_operand(m, false, NEST_C, r);
}

/*
 * Emit one piece of the nest: the loads of operands that are not resident, but for those that the slot holds
 * already; for a scatter the load of the old values (load_old()); the command; and the store of the result if
 * it is needed in memory. A copy that DMA alone can do (is_plain()) takes a load, a store or both instead.
 * Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a
 * value).
 */
static int emit_piece(struct nest_emit *m)
{
	const struct npu_step *step = m->e->s;
	bool scatters = m->s->func == WEFT_ALU_FUNC_SCATTER;
	struct runs r[NEST_OPERANDS];
	int err = 0;

	for (int k = 0; k < NEST_OPERANDS; k++)
		if (nest_operand(m->s, k)->root >= 0 && !(k == NEST_C && scatters))
			m->at[k] = place_of(m, k, &r[k]);
	if (is_plain(m, &r[NEST_A], &r[NEST_Y]))
		return emit_plain(m, &r[NEST_A], &r[NEST_Y]);
	for (int k = 0; k < NEST_Y && !err; k++)
		if (is_packed(step, m->p, m->s, k))
			err = load_operand(m, k, &r[k]);
	if (!err && scatters)
		err = load_old(m, &r[NEST_Y]);
	if (!err)
		err = emit_command(m, &r[NEST_Y]);
	if (!err && (!on_chip(m, NEST_Y) || m->e->s->storage[m->p->y_storage].ext_out))
		err = copy_operand(m, true, NEST_Y, r[NEST_Y]);
	return err;
}

/*
 * Set m->slot[k] for each operand k to its address in the slot that begins at `at` if it lies packed there,
 * else to -1.
 */
static void set_slots(struct nest_emit *m, int64_t at)
{
	for (int k = 0; k < NEST_OPERANDS; k++) {
		m->slot[k] = -1;
		if (!is_packed(m->e->s, m->p, m->s, k))
			continue;
		m->slot[k] = at;
		at += nest_packed_bytes(m->s, k, m->p->tile.nest_n, m->e->s->cc->n);
	}
}

/*
 * Set m->q.from to where the next piece begins, the innermost dimension running first; its sizes q.n are
 * the caller's to set. Returns false after the last piece; q.from then is the first one's again.
 */
static bool next_piece(struct nest_emit *m)
{
	for (int d = m->s->n_dims - 1; d >= 0; d--) {
		m->q.from[d] += m->p->tile.nest_n[d];
		if (m->q.from[d] < m->s->dim[d])
			return true;
		m->q.from[d] = 0;
	}
	return false;
}

/*
 * Emit the commands of a loop nest's node piece by piece, as plan p says. Returns 0, -ENOMEM, -E2BIG (more
 * commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
int emit_loop_nest(struct emit *e, const struct node *nd, const struct plan *p)
{
	struct nest_emit m = { .e = e, .nd = nd, .p = p, .s = &e->s->cc->nests[nd->nest] };
	int err;

	do {
		for (int d = 0; d < m.s->n_dims; d++)
			m.q.n[d] = min64(p->tile.nest_n[d], m.s->dim[d] - m.q.from[d]);
		set_slots(&m, p->tile.n_in ? e->s->area[p->tile.in[m.i_slot]].addr : 0);
		err = emit_piece(&m);
		m.i_slot = (m.i_slot + 1) % (p->tile.n_in ? p->tile.n_in : 1);
	} while (!err && next_piece(&m));
	return err;
}

/*
 * Choose the pieces of a loop nest's node (p->tile.nest_n) and the slots for their packed operands: pieces
 * that take an eighth of `budget` bytes, or if not even the smallest fits that, a quarter, half or all of
 * it. in_bytes is the size of a slot for all packed operands together, n_in how many there are: 0 if
 * nothing is packed, 1 if the nest is one piece or needs the whole budget, else 2. The tiling's other slots
 * become 0. Returns 0, or -ERANGE: no piece fits.
 */
int plan_loop_nest(const struct npu_step *step, const struct node *nd, struct plan *p, int64_t budget)
{
	const struct cc *cc = step->cc;
	const struct loop_nest *s = &cc->nests[nd->nest];
	unsigned packed = 0;

	for (int k = 0; k < NEST_OPERANDS; k++)
		packed |= (is_packed(step, p, s, k) ? 1u : 0) << k;
	p->tile.n_r = p->tile.n_out = p->tile.n_w = p->tile.n_in = 0;
	p->tile.slots = 1;
	for (int64_t share = 8; share; share /= 2) {
		if (!nest_fit(s, packed, budget / share, cc->n, p->tile.nest_n))
			continue;
		p->tile.in_bytes = 0;
		for (int k = 0; k < NEST_OPERANDS; k++)
			p->tile.in_bytes += packed >> k & 1 ? nest_packed_bytes(s, k, p->tile.nest_n, cc->n) : 0;
		bool whole = true;
		for (int d = 0; d < s->n_dims; d++)
			whole &= p->tile.nest_n[d] == s->dim[d];
		p->tile.n_in = !p->tile.in_bytes ? 0 : whole || share == 1 ? 1 : 2;
		return 0;
	}
	return -ERANGE;
}
