/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of weights and of parameter records (bias, multiplier, shift).
 *
 * In the program's constants a node's records of all column tiles come first, then
 * its weights, tile by tile (lower/pack_weights.c). How they come into the
 * scratchpad is the plan's choice:
 * - plan.all_weights: all tiles stay, brought by one load or by several (pieces,
 *   plan_piece());
 * - plan.split_k: not even one tile fits; a part of one tile's sum at a time, or of two that are paired;
 * - otherwise: slots of plan.tc channels, filled in turn.
 * A load of whole tiles may read coded constants (lower/code_weights.c). Each plan that is tried decides anew which
 * loads do so; the constants are coded once, for the loads of the final plan (step_pack_weights()).
 * Weights that the program computes, or that the host packs while it runs, lie in
 * a storage of their own instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node_emit.h"

/* A range of a node's constants: its first byte is at offset `off`, it has `bytes` bytes, and its code would have `units`
 * units. */
struct constants { int64_t off, bytes, units; };

/*
 * Emit the load of these constants of node nd to scratchpad address sp. Returns 0, -ENOMEM, -E2BIG (more commands than a
 * stream can count) or -ERANGE (a command cannot hold a value).
 */
static int load_bytes(struct emit *e, const struct node *nd, struct constants k, int64_t sp)
{
	return emit_dma(e, (struct dma){ .root = -1, .off = k.off, .sp = sp, .row = k.bytes, .n = { 1, 1, 1 },
	                                 .codable = nd->wt.code, .units = k.units, .centre = nd->wt.w_zp });
}

/*
 * Emit the load of the records of column tiles [tile, +n) to scratchpad address sp, from the constants or, if
 * they are computed, from their storage. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count)
 * or -ERANGE (a command cannot hold a value).
 */
static int load_records(struct emit *e, const struct node *nd, int64_t tile, int64_t n, int64_t sp)
{
	int64_t rec = nd->wt.tile_rec_bytes, base = nd->wt.rec_computed ? 0 : (int64_t)nd->wt.blob;

	return emit_dma(e, (struct dma){ .root = nd->wt.rec_computed ? nd->z.root : -1, .off = base + tile * rec, .sp = sp,
	                                 .row = n * rec, .n = { 1, 1, 1 } });
}

/*
 * Returns the root in whose storage the node's weights lie if they are not constants, because the host packs
 * them or nests compute them; -1 if they are constants.
 */
static int weights_root(const struct node *nd)
{
	return nd->wt.w_late ? nd->wt.w_late - 1 : nd->wt.w_computed ? nd->z.root : -1;
}

/*
 * Returns whether records and weights lie in the constants byte for byte as the scratchpad shall have them.
 * They do not if they are computed, late or int4.
 */
static bool packed_here(const struct node *nd)
{
	return weights_root(nd) < 0 && !nd->wt.w_int4;
}

/*
 * Returns the offset in bytes of the node's weights from where weights_root() says that they lie. In the
 * constants they are behind the node's records. In a storage of their own they begin at 0, or if records
 * are computed with them, behind these.
 */
static int64_t weights_at(const struct node *nd)
{
	if (nd->wt.w_late)
		return 0;
	if (nd->wt.w_computed)
		return nd->wt.rec_computed ? nd->wt.rec_bytes : 0;
	return (int64_t)nd->wt.blob + nd->wt.rec_bytes;
}

/*
 * Emit the load of the weights of column tiles [tile, +n), wherever they are in memory (weights_root()), to
 * scratchpad address sp. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a
 * command cannot hold a value).
 */
static int load_weights(struct emit *e, const struct node *nd, int64_t tile, int64_t n, int64_t sp)
{
	return emit_dma(e, (struct dma){ .root = weights_root(nd), .int4 = nd->wt.w_int4,
	                                 .off = weights_at(nd) + tile * nd->wt.tile_bytes / (nd->wt.w_int4 ? 2 : 1),
	                                 .sp = sp, .row = n * nd->wt.tile_bytes, .n = { 1, 1, 1 },
	                                 .codable = nd->wt.code, .units = nd->wt.code ? code_units(e->s->cc, nd, true, tile, n) : 0,
	                                 .centre = nd->wt.w_zp });
}

/*
 * Emit the loads of records and weights of column tiles [tile, +n) to scratchpad address addr: all records
 * first, the weights behind them. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or
 * -ERANGE (a command cannot hold a value).
 */
int weights_load_slot(struct node_emit *m, int64_t addr, int64_t tile, int64_t n)
{
	const struct node *nd = m->nd;
	int err = load_records(m->e, nd, tile, n, addr);

	return err ? err : load_weights(m->e, nd, tile, n, addr + n * nd->wt.tile_rec_bytes);
}

/*
 * Returns the scratchpad address of piece k, which is the records of its tiles, then their weights; for plans
 * with own_recs.
 */
static int64_t piece_addr(const struct node_emit *m, const struct piece *k)
{
	return emit_area_addr(m->e->s, m->p->tile.w[k->slot]) + k->before * (m->nd->wt.tile_bytes + m->nd->wt.tile_rec_bytes);
}

/*
 * Returns the scratchpad address of the weights of column tile t, which piece k brings; for plans with
 * all_weights.
 */
int64_t weights_tile_addr(const struct node_emit *m, const struct piece *k, int64_t t)
{
	if (m->p->tile.own_recs)
		return piece_addr(m, k) + k->n * m->nd->wt.tile_rec_bytes + (t - k->first) * m->nd->wt.tile_bytes;
	return emit_area_addr(m->e->s, m->p->tile.w[k->slot]) + m->p->tile.w_recs[k->slot] + (k->before + t - k->first) * m->nd->wt.tile_bytes;
}

/*
 * Returns the scratchpad address of the records of column tile t, which piece k brings; for plans with
 * all_weights. They lie before the weights of their piece (own_recs), or all of them at the start of area 0.
 */
int64_t weights_rec_addr(const struct node_emit *m, const struct piece *k, int64_t t)
{
	if (m->p->tile.own_recs)
		return piece_addr(m, k) + (t - k->first) * m->nd->wt.tile_rec_bytes;
	return emit_area_addr(m->e->s, m->p->tile.w[0]) + t * m->nd->wt.tile_rec_bytes;
}

/* Returns the units of the records of column tiles [tile, +n) and of the weights that piece k brings; 0 if they are not coded. */
static int64_t units_of(const struct node_emit *m, int64_t tile, int64_t n, const struct piece *k)
{
	const struct cc *cc = m->e->s->cc;

	if (!m->nd->wt.code)
		return 0;
	return code_units(cc, m->nd, false, tile, n) + code_units(cc, m->nd, true, k->first, k->n);
}

/*
 * For plans with all_weights: emit the load of piece k's weights, and of the records that come with it: the
 * piece's own with own_recs, else all of the node's with the first piece. Where packed_here() they lie
 * beside each other in memory (with own_recs once step_pack_weights() has been called), and one load brings
 * both. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot
 * hold a value).
 */
static int load_piece(struct node_emit *m, const struct piece *k)
{
	const struct node *nd = m->nd;
	int64_t to = weights_tile_addr(m, k, k->first), both = nd->wt.tile_bytes + nd->wt.tile_rec_bytes;
	bool all = !m->p->tile.own_recs && !k->first;
	int err = 0;

	/* Records lie beside their weights in memory as well. */
	if (all && packed_here(nd))
		return load_bytes(m->e, nd, (struct constants){ (int64_t)nd->wt.blob, nd->wt.rec_bytes + k->n * nd->wt.tile_bytes,
		                                            units_of(m, 0, nd->wt.n_tiles, k) }, to - nd->wt.rec_bytes);
	if (m->p->tile.own_recs && packed_here(nd))
		return load_bytes(m->e, nd, (struct constants){ (int64_t)nd->wt.blob + k->first * both, k->n * both, units_of(m, k->first, k->n, k) },
		                  piece_addr(m, k));
	if (all)
		err = load_records(m->e, nd, 0, nd->wt.n_tiles, weights_rec_addr(m, k, 0));
	else if (m->p->tile.own_recs)
		err = load_records(m->e, nd, k->first, k->n, weights_rec_addr(m, k, k->first));
	return err ? err : load_weights(m->e, nd, k->first, k->n, to);
}

/*
 * For plans with all_weights: emit loads of pieces until the weights of all column tiles before `need` have
 * been loaded; m->loaded advances. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or
 * -ERANGE (a command cannot hold a value).
 */
int weights_load_up_to(struct node_emit *m, int64_t need)
{
	while (m->loaded < need) {
		struct piece k = plan_piece(m->p, m->nd, m->loaded);
		int err = load_piece(m, &k);
		if (err)
			return err;
		m->loaded += k.n;
	}
	return 0;
}

/*
 * For plans with split_k: emit the load of chunks [k->q, +k->nq) of kernel row k->ky of column tiles [tile, +n), n of which
 * the array computes at a time, to addr behind room for the tiles' records, and with the last part also the load of these
 * records to addr. Returns 0, -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a
 * value).
 */
int weights_load_part(struct node_emit *m, int64_t addr, int64_t tile, int64_t n, const struct k_part *k)
{
	const struct node *nd = m->nd;
	int64_t word = n * m->e->s->cc->n * m->e->s->cc->n, rec = n * nd->wt.tile_rec_bytes, taps = nd->wt.joined ? 1 : nd->win.kw;
	int64_t per = nd->wt.w_int4 ? 2 : 1;      /* weights in a byte */
	int64_t off = weights_at(nd) + (tile * nd->wt.tile_bytes + (k->ky * taps * nd->wt.chunks + k->q) * word) / per;
	int err = k->last ? load_records(m->e, nd, tile, n, addr) : 0;

	if (err)
		return err;
	return emit_dma(m->e, (struct dma){
		.root = weights_root(nd), .int4 = nd->wt.w_int4, .off = off, .sp = addr + rec, .row = k->nq * word,
		.n = { taps, 1, 1 }, .mem_step = { nd->wt.chunks * word / per, 0, 0 }, .sp_step = { k->nq * word, 0, 0 },
	});
}

/*
 * For plans with own_recs: rearrange the node's part of the constants so that the records of each piece lie
 * in front of the piece's weights and one load brings both. Returns 0 or -ENOMEM.
 */
static int pack_pieces(struct cc *cc, const struct node *nd, const struct plan *p)
{
	int64_t rec = nd->wt.tile_rec_bytes, bytes = nd->wt.rec_bytes + nd->wt.n_tiles * nd->wt.tile_bytes;
	uint8_t *to = cc->consts.p + nd->wt.blob, *was = malloc((size_t)bytes);

	if (!was)
		return -ENOMEM;
	memcpy(was, to, (size_t)bytes);
	for (struct piece k = { 0 }; k.first < nd->wt.n_tiles; k.first += k.n) {
		k = plan_piece(p, nd, k.first);
		memcpy(to, was + k.first * rec, (size_t)(k.n * rec));
		memcpy(to + k.n * rec, was + nd->wt.rec_bytes + k.first * nd->wt.tile_bytes, (size_t)(k.n * nd->wt.tile_bytes));
		to += k.n * (rec + nd->wt.tile_bytes);
	}
	free(was);
	return 0;
}

/* Returns whether command c is a load of constants. */
static bool loads_constants(const struct cmd *c)
{
	return c->c.h.op == WEFT_CMD_LOAD && c->c.load.window == WEFT_WIN_CONST;
}

/* Returns the offset of the first byte of constants that load l reads. */
static int64_t begin_of(const struct weft_cmd_load *l)
{
	return l->dram_off + (l->n1 - 1) * min64(l->dram_stride1, 0) + (l->n2 - 1) * min64(l->dram_stride2, 0) +
	       (l->n3 - 1) * min64(l->dram_stride3, 0);
}

/* Returns the offset behind the last byte of the constants that load l would read if none of its rows were coded. */
static int64_t end_of(const struct weft_cmd_load *l)
{
	return l->dram_off + l->row_bytes + (l->n1 - 1) * max64(l->dram_stride1, 0) + (l->n2 - 1) * max64(l->dram_stride2, 0) +
	       (l->n3 - 1) * max64(l->dram_stride3, 0);
}

/* Compare two loads of constants for qsort(): the one that begins at the lower offset comes first. */
static int by_offset(const void *pa, const void *pb)
{
	int64_t a = begin_of(&(*(struct cmd *const *)pa)->c.load), b = begin_of(&(*(struct cmd *const *)pb)->c.load);

	return a < b ? -1 : a > b;
}

/*
 * Code the row of constants that the n loads at k read, whose ranges overlap. If they do not all read the same coded row,
 * the constants stay plain, and the loads become plain. Returns 0 or -ENOMEM.
 */
static int code_overlapping(struct cc *cc, struct cmd **k, uint32_t n)
{
	const struct weft_cmd_load *first = &k[0]->c.load;
	bool same = true;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_cmd_load *l = &k[i]->c.load;
		same = same && l->coded && l->dram_off == first->dram_off && l->row_bytes == first->row_bytes;
	}
	if (same)
		return code_row(cc, first);
	for (uint32_t i = 0; i < n; i++)
		k[i]->c.load.coded = k[i]->c.load.centre = 0;
	return 0;
}

/*
 * Code each row of constants that loads of the step expect to be coded. The code takes the place of the row. A row that
 * overlaps another row stays plain, and so do the loads of both. Returns 0 or -ENOMEM.
 */
static int code_rows(struct npu_step *s)
{
	struct cmd **k = malloc((s->cmds.n + 1) * sizeof(struct cmd *));
	uint32_t n = 0;
	int err = k ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < s->cmds.n && !err; i++)
		if (loads_constants(&s->cmds.p[i]))
			k[n++] = &s->cmds.p[i];
	if (!err && n)
		qsort(k, n, sizeof *k, by_offset);
	for (uint32_t first = 0, next; first < n && !err; first = next) {
		int64_t end = end_of(&k[first]->c.load);
		for (next = first + 1; next < n && begin_of(&k[next]->c.load) < end; next++)
			end = max64(end, end_of(&k[next]->c.load));
		err = code_overlapping(s->cc, k + first, next - first);
	}
	free(k);
	return err;
}

/*
 * Rearrange the constants of all nodes of the step whose records come with their weights (own_recs), so
 * that both lie side by side; nodes whose weights are computed, late or int4 are left alone. Then code the rows that
 * the step's loads read as coded rows. Must be called once, after the last emission. Returns 0 or -ENOMEM.
 */
int step_pack_weights(struct npu_step *s)
{
	int err = 0;

	for (int i = 0; i < s->n && !err; i++) {
		const struct node *nd = step_node(s, i);
		if (nd->wt.w >= 0 && s->plan[i].tile.all_weights && s->plan[i].tile.own_recs && packed_here(nd))
			err = pack_pieces(s->cc, nd, &s->plan[i]);
	}
	return err ? err : code_rows(s);
}
