/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights and parameter records as the array and the depthwise engine read them,
 * packed once, in the order in which nodes run.
 *
 * For each node: records of all column tiles, then the weights, tile by tile.
 * Source: include/spec/cmd.toml, conv, dw, group post.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/compile/ir.h"

/* All packed weights may take GROWTH_MAX times the bytes that they take in the graph, and GROWTH_FREE more; a node with
 * which they would take more stays on the host. Not measured. */
#define GROWTH_FREE (16 << 20)
#define GROWTH_MAX  4

#define E4M3_ONE 0x38          /* float8 E4M3: 1 */

/* Bytes of a node's weights in the graph. */
static int64_t weight_bytes(const struct cc *cc, const struct node *nd)
{
	if (nd->wt.w == WEIGHTS_ONE)
		return (int64_t)nd->win.kh * nd->win.kw * nd->y.dim[3];
	return (int64_t)weft_tensor_bytes(&cc->g->tensors[nd->wt.w].t);
}

/* Set sizes and layout of the packed weights of a convolution on the array. */
static void measure_conv(const struct cc *cc, struct node *nd)
{
	int64_t ic = nd->x.dim[3];

	nd->wt.joined = !nd->wt.w_computed && nd->win.dx == 1 && nd->x.step[2] == ic * view_elem(&nd->x);
	if (nd->kind == NODE_DWCONV) {
		nd->wt.joined = false;
		ic = min64(ic, (cc->n - 1) / nd->conv.m + 2);   /* channels that N outputs can touch */
		ic = min64(ic, cc->n);
	}
	nd->wt.run_len = nd->wt.joined ? nd->win.kw * ic : ic;
	nd->wt.n_runs = nd->wt.joined ? nd->win.kh : (int64_t)nd->win.kh * nd->win.kw;
	nd->wt.chunks = ceil_div(nd->wt.run_len, cc->n);
	nd->wt.n_tiles = ceil_div(nd->y.dim[3], cc->n);
	nd->wt.tile_bytes = nd->wt.n_runs * nd->wt.chunks * cc->n * cc->n;
}

/* Set sizes and layout of the packed weights and records of a node. */
static void measure(const struct cc *cc, struct node *nd)
{
	if (nd->kind == NODE_CONV || nd->kind == NODE_DWCONV) {
		measure_conv(cc, nd);
	} else {
		nd->wt.n_tiles = ceil_div(nd->y.dim[3], cc->n);
		nd->wt.tile_bytes = dw_rows(nd) * dw_cols(nd) * cc->n;
	}
	nd->wt.rec_bytes = nd->wt.n_tiles * WEFT_PARAM_BYTES * cc->n;
}

/* Multiplier of output channel c. */
static int64_t scale_mul(const struct cc *cc, const struct node *nd, int64_t c)
{
	const weft_tensor *t = &cc->g->tensors[nd->post.scale_mul].t;

	c = weft_tensor_elements(t) > 1 ? c : 0;
	return t->dtype == WEFT_INT16 ? ((const int16_t *)t->data)[c] : ((const int32_t *)t->data)[c];
}

/* float8: bias of output channel c; without biases -0, which leaves everything as it is, -0 included. */
static uint16_t float_bias(const struct cc *cc, const struct node *nd, int64_t c)
{
	const weft_tensor *b = nd->wt.bias < 0 ? NULL : &cc->g->tensors[nd->wt.bias].t;
	/* -0 leaves everything as it is, also -0. */
	return b ? ((const uint16_t *)b->data)[weft_tensor_elements(b) > 1 ? c : 0] : 0x8000;
}

/* Bias of output channel c; 0 without biases. */
static int64_t bias_at(const struct cc *cc, const struct node *nd, int64_t c)
{
	if (nd->wt.bias < 0)
		return 0;
	const weft_tensor *b = &cc->g->tensors[nd->wt.bias].t;
	int64_t at = weft_tensor_elements(b) > 1 ? c : 0;
	return b->dtype == WEFT_INT48 ? ((const int64_t *)b->data)[at] : ((const int32_t *)b->data)[at];
}

/* The parameter record of lane c. Lanes without a channel get one that is legal. */
static struct weft_param param(const struct cc *cc, const struct node *nd, int64_t c)
{
	struct weft_param p = { .shift = 2 };  /* lanes without a channel: legal all the same */

	if (c >= nd->y.dim[3])
		return p;
	if (nd->conv.pixel_group > 1)
		c %= nd->y.dim[3] / nd->conv.pixel_group;
	p.bias = nd->mode == WEFT_POST_MODE_FLOAT8 ? float_bias(cc, nd, c) : bias_at(cc, nd, c);
	if (nd->mode == WEFT_POST_MODE_FLOAT8 || nd->post.raw)
		return p;
	const weft_tensor *s = &cc->g->tensors[nd->post.scale_shift].t;
	p.mul = (int32_t)scale_mul(cc, nd, c);
	p.shift = ((const uint8_t *)s->data)[weft_tensor_elements(s) > 1 ? c : 0];
	return p;
}

/* N weights, or fewer at the end of a run: elements from number j on of run `run`, for output channel oc. */
struct word_at { int64_t oc, run, j; };

/* Take a word of weights that lie in their tensor otherwise than the array reads them (node_weights.wv). */
static void viewed_word(const struct cc *cc, const struct node *nd, const uint8_t *w, struct word_at k, uint8_t *word)
{
	const struct wview *v = &nd->wt.wv;
	int64_t ic = nd->wt.joined ? nd->wt.run_len / nd->win.kw : nd->wt.run_len, len = min64(cc->n, nd->wt.run_len - k.j);

	for (int64_t i = 0; i < len && !v->none; i++) {
		int64_t c = (k.j + i) % ic, ky = nd->wt.joined ? k.run : k.run / nd->win.kw, kx = nd->wt.joined ? (k.j + i) / ic : k.run % nd->win.kw;
		word[i] = w[v->off + k.oc * v->oc + ky * v->ky + kx * v->kx + c / v->n_ic * v->kd + c % v->n_ic * v->ic];
	}
}

/*
 * The same for pixel groups: a channel's weights begin where the window of its pixel does within the
 * group's, and the rest is left as it is.
 */
static void side_word(const struct cc *cc, const struct node *nd, const uint8_t *w, struct word_at k, uint8_t *word)
{
	int64_t channels = nd->y.dim[3] / nd->conv.pixel_group, ic = nd->wt.run_len / nd->win.kw, sx = nd->win.sx / nd->conv.pixel_group;
	int64_t kw = nd->win.kw - (nd->conv.pixel_group - 1) * sx, first = k.oc / channels * sx * ic;

	for (int64_t i = 0; i < min64(cc->n, nd->wt.run_len - k.j); i++) {
		int64_t at = k.j + i - first;
		if (at < 0 || at >= kw * ic)
			continue;
		word[i] = w[nd->wt.by_tap ? (k.run * kw + at) * channels + k.oc % channels
		                         : (k.oc % channels * nd->wt.n_runs + k.run) * kw * ic + at];
	}
}

/* Take a word of weights of a convolution. */
static void conv_word(const struct cc *cc, const struct node *nd, const uint8_t *w, struct word_at k, uint8_t *word)
{
	int64_t len = min64(cc->n, nd->wt.run_len - k.j);

	if (nd->wt.wv.on) {
		viewed_word(cc, nd, w, k, word);
		return;
	}
	if (nd->conv.pixel_group > 1) {
		side_word(cc, nd, w, k, word);
		return;
	}
	if (!nd->wt.by_tap) {
		memcpy(word, w + (k.oc * nd->wt.n_runs + k.run) * nd->wt.run_len + k.j, (size_t)len);
		return;
	}
	for (int64_t i = 0; i < len; i++)
		word[i] = w[(k.run * nd->wt.run_len + k.j + i) * nd->y.dim[3] + k.oc];
}

/* Pack the weights of a convolution on the array. */
static void pack_conv(const struct cc *cc, const struct node *nd, const uint8_t *w, uint8_t *to)
{
	for (int64_t t = 0; t < nd->wt.n_tiles; t++)
		for (int64_t run = 0; run < nd->wt.n_runs; run++)
			for (int64_t q = 0; q < nd->wt.chunks; q++)
				for (int64_t c = 0; c < cc->n; c++, to += cc->n)
					if (t * cc->n + c < nd->y.dim[3])
						conv_word(cc, nd, w, (struct word_at){ t * cc->n + c, run, q * cc->n }, to);
}

/* Pack those of a depthwise convolution on the array; what is off the diagonal stays what makes no product. */
static void pack_diagonal(const struct cc *cc, const struct node *nd, const uint8_t *w, uint8_t *to)
{
	for (int64_t t = 0; t < nd->wt.n_tiles; t++)
		for (int64_t tap = 0; tap < nd->wt.n_runs; tap++)
			for (int64_t c = 0; c < cc->n; c++, to += cc->n) {
				int64_t oc = t * cc->n + c, first = t * cc->n / nd->conv.m;
				if (oc < nd->y.dim[3])
					to[oc / nd->conv.m - first] = w[tap * nd->y.dim[3] + oc];
			}
}

/* Pack those of a depthwise convolution on the vector engine. */
static void pack_dw(const struct cc *cc, const struct node *nd, const uint8_t *w, uint8_t *to)
{
	int64_t channels = nd->y.dim[3], cols = dw_cols(nd), y = nd->conv.transposed ? 1 : cols, x = nd->conv.transposed ? cols : 1;

	for (int64_t t = 0; t < nd->wt.n_tiles; t++, to += nd->wt.tile_bytes)
		for (int ky = 0; ky < nd->win.kh; ky++)
			for (int kx = 0; kx < nd->win.kw; kx++)
				memcpy(to + (ky * y + kx * x) * cc->n, w + (ky * nd->win.kw + kx) * channels + t * cc->n,
				       (size_t)min64(cc->n, channels - t * cc->n));
}

/*
 * A copy of float8 weights as the array takes them: there -0 would be no product, and +0 adds the
 * same. NULL without memory
 */
static uint8_t *float_weights(const struct cc *cc, const struct node *nd)
{
	int64_t n = weight_bytes(cc, nd);
	uint8_t *w = malloc((size_t)n);

	if (!w)
		return NULL;
	if (nd->wt.w == WEIGHTS_ONE) {
		memset(w, E4M3_ONE, (size_t)n);
		return w;
	}
	memcpy(w, cc->g->tensors[nd->wt.w].t.data, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		if (w[i] == NO_PRODUCT && nd->wt.w_fmt < 2)
			w[i] = 0;
	return w;
}

/* Put n weights of 4 bits into half the bytes, the first of two in the low half of a byte. */
static void halve(uint8_t *to, int64_t n)
{
	for (int64_t i = 0; i < n / 2; i++)
		to[i] = (uint8_t)((to[2 * i] & 15) | to[2 * i + 1] << 4);
	memset(to + n / 2, 0, (size_t)(n / 2));
}

/* Does every byte that the array would read of these weights fit 4 bits? */
static bool is_int4(const struct cc *cc, const struct node *nd)
{
	return cc->has_int4 && nd->wt.w != WEIGHTS_ONE && cc->g->tensors[nd->wt.w].t.dtype == WEFT_INT4 && !nd->wt.w_computed &&
	       nd->wt.w_zp >= -8 && nd->wt.w_zp < 8;
}

/* Reserve room in the arena for weights that the host packs when the program runs. 0 or -ENOMEM */
static int late_weights(struct cc *cc, struct node *nd, int item)
{
	int root = cc_new_root(cc, nd->wt.n_tiles * nd->wt.tile_bytes);

	if (root < 0)
		return root;
	cc->ten[root].src_item = -1;
	cc->ten[root].last_item = item;
	cc->ten[root].in_dram = true;
	nd->wt.w_late = 1 + root;
	return 0;
}

/* Pack the records and weights of a node; item is its place in the order. 0 or a negative errno */
static int pack(struct cc *cc, struct node *nd, int item)
{
	/* What is computed has a storage of its own, and so has what the host packs. */
	bool late = nd->mode == WEFT_POST_MODE_FLOAT8 && !nd->wt.w_computed && nd->wt.w != WEIGHTS_ONE && !cc->g->tensors[nd->wt.w].t.data;
	int64_t weights = nd->wt.w_computed || late ? 0 : nd->wt.n_tiles * nd->wt.tile_bytes;
	if (nd->wt.rec_computed)
		return 0;
	int err = blob_reserve(&cc->consts, (uint64_t)(nd->wt.rec_bytes + weights), 64, &nd->wt.blob);

	if (err)
		return err;
	bool change = nd->mode == WEFT_POST_MODE_FLOAT8 && !late && !nd->wt.w_computed;
	uint8_t *changed = change ? float_weights(cc, nd) : NULL;
	if (change && !changed)
		return -ENOMEM;
	const uint8_t *w = changed || late ? changed : cc->g->tensors[nd->wt.w].t.data;
	uint8_t *to = cc->consts.p + nd->wt.blob;
	for (int64_t c = 0; c < nd->wt.n_tiles * cc->n; c++, to += WEFT_PARAM_BYTES) {
		struct weft_param p = param(cc, nd, c);
		weft_param_write(&p, to);
	}
	if (late)
		return late_weights(cc, nd, item);
	if (nd->wt.w_computed)
		return 0;
	memset(to, nd->mode == WEFT_POST_MODE_FLOAT8 && nd->wt.w_fmt < 2 ? NO_PRODUCT : (uint8_t)nd->wt.w_zp, (size_t)weights);
	if (nd->kind == NODE_CONV)
		pack_conv(cc, nd, w, to);
	else if (nd->kind == NODE_DWCONV)
		pack_diagonal(cc, nd, w, to);
	else
		pack_dw(cc, nd, w, to);
	free(changed);
	nd->wt.w_int4 = is_int4(cc, nd);
	if (nd->wt.w_int4) {
		halve(to, weights);
		cc->consts.n -= (uint64_t)(weights / 2);
	}
	return 0;
}

/* Put a constant tensor that a node reads as an operand among the constants. 0 or a negative errno */
static int pack_tensor(struct cc *cc, int root)
{
	struct cten *t = &cc->ten[root];
	int err;

	if (root >= cc->g->n_tensors)
		return 0;
	const weft_tensor *data = &cc->g->tensors[root].t;
	if (!data->data || t->in_const)
		return 0;
	err = blob_reserve(&cc->consts, weft_tensor_bytes(data), 64, &t->offset);
	if (err)
		return err;
	memcpy(cc->consts.p + t->offset, data->data, weft_tensor_bytes(data));
	t->in_const = true;
	return 0;
}

/* Pack all constants of a node. 0 or a negative errno; -ERANGE: its weights would take too much memory */
static int pack_node(struct cc *cc, struct node *nd, int item, int64_t *raw, int64_t *packed)
{
	int err = pack_tensor(cc, nd->x.root);

	if (!err && nd->add)
		err = pack_tensor(cc, nd->r.root);
	if (!err && nd->third)
		err = pack_tensor(cc, nd->z.root);
	if (err || nd->wt.w < 0)
		return err;
	measure(cc, nd);
	*raw += weight_bytes(cc, nd);
	*packed += nd->wt.rec_bytes + nd->wt.n_tiles * nd->wt.tile_bytes;
	if (*packed > GROWTH_FREE + GROWTH_MAX * *raw) {
		cc->bad_node = (int)(nd - cc->nodes);
		cc->bad_why = "its weights would take too much memory when packed for the array";
		return -ERANGE;
	}
	return pack(cc, nd, item);
}

/* Pack the constants of all nodes, in the order in which they run. 0 or a negative errno */
int cc_pack_weights(struct cc *cc)
{
	int64_t raw = 0, packed = 0;
	int err = 0;

	for (int i = 0; i < cc->n_items && !err; i++)
		if (!cc->items[i].host)
			err = pack_node(cc, &cc->nodes[cc->items[i].index], i, &raw, &packed);
	return err;
}
