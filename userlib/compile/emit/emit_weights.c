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
 * Weights that the program computes, or that the host packs while it runs, lie in
 * a storage of their own instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node_emit.h"

/*
 * Emit the load of `bytes` bytes from offset `off` of the constants to scratchpad address sp. Returns 0,
 * -ENOMEM, -E2BIG (more commands than a stream can count) or -ERANGE (a command cannot hold a value).
 */
static int load_bytes(struct emit *e, int64_t off, int64_t sp, int64_t bytes)
{
	return emit_dma(e, (struct dma){ .root = -1, .off = off, .sp = sp, .row = bytes, .n = { 1, 1, 1 } });
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
	                                 .sp = sp, .row = n * nd->wt.tile_bytes, .n = { 1, 1, 1 } });
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
		return load_bytes(m->e, (int64_t)nd->wt.blob, to - nd->wt.rec_bytes, nd->wt.rec_bytes + k->n * nd->wt.tile_bytes);
	if (m->p->tile.own_recs && packed_here(nd))
		return load_bytes(m->e, (int64_t)nd->wt.blob + k->first * both, piece_addr(m, k), k->n * both);
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

/*
 * Rearrange the constants of all nodes of the step whose records come with their weights (own_recs), so
 * that both lie side by side; nodes whose weights are computed, late or int4 are left alone. Must be called
 * once, after the last emission. Returns 0 or -ENOMEM.
 */
int step_pack_weights(struct npu_step *s)
{
	int err = 0;

	for (int i = 0; i < s->n && !err; i++) {
		const struct node *nd = step_node(s, i);
		if (nd->wt.w >= 0 && s->plan[i].tile.all_weights && s->plan[i].tile.own_recs && packed_here(nd))
			err = pack_pieces(s->cc, nd, &s->plan[i]);
	}
	return err;
}
