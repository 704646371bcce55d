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

/*
 * Column tiles are computed in pairs where that saves at least 1/LEAST_SAVED of the array's time and LEAST_CYCLES cycles, and
 * the weights of two tiles take at most 1/LARGE_PAIR of the scratchpad; or, of nodes with at most N/2 pixels, 1/LARGE_WORDS of
 * it, since the bus then has more to do than the array, and the finer weights are cut, the more of them are there when the
 * node begins. By the estimate, with slow memory: if LEAST_SAVED is 20, MobileNetV2 takes 1.4 % longer and ResNet-50 1.1 %; if
 * LARGE_PAIR is 4, ResNet-50 takes 0.7 % longer; if LARGE_WORDS is 12, MobileNetV2 takes 4 % longer, if it is 64, MobileNetV1
 * 0.25/128 2.9 %; without LEAST_CYCLES two random blocks of mobile networks of 40 take 9 % longer, since two paired tiles are no
 * two slices of channels. On the RTL tinyengine's VWW takes 1.4 % longer if LEAST_CYCLES is 120, and ShuffleNetV2 4 % if it is 300.
 */
#define LEAST_SAVED 100
#define LEAST_CYCLES 200
#define LARGE_PAIR  3
#define LARGE_WORDS 32

/* Biases of records of 8 bytes, which have 24 bits for them, are at least -SHORT_BIAS and less than SHORT_BIAS. */
#define SHORT_BIAS (INT64_C(1) << 23)

#define E4M3_ONE 0x38          /* float8 E4M3: 1 */

/*
 * Returns the bytes that the node's weights take before packing, one byte for each weight: those of the
 * constant tensor, or a window of ones for each channel (WEIGHTS_ONE), which of a CONV has all input channels.
 */
static int64_t weight_bytes(const struct cc *cc, const struct node *nd)
{
	if (nd->wt.w == WEIGHTS_ONE)
		return (int64_t)nd->win.kh * nd->win.kw * nd->y.dim[3] * (nd->kind == NODE_CONV ? nd->x.dim[3] : 1);
	return (int64_t)weft_tensor_bytes(&cc->g->tensors[nd->wt.w].t);
}

/*
 * Returns whether the array shall compute the node's column tiles in pairs. They must be those of an integer convolution
 * whose weights no node computes, the array must need less time for all pixels of an image than if it took the tiles one
 * by one, and the weights of two tiles must not be too large (see LEAST_SAVED).
 */
static bool is_paired(const struct cc *cc, const struct node *nd)
{
	struct node_weights one = nd->wt, two = nd->wt;
	int64_t pixels = nd->y.dim[1] * nd->y.dim[2], before, after;

	if (!cc->has_pairs || nd->kind != NODE_CONV || nd->mode == WEFT_POST_MODE_FLOAT8 || nd->wt.w_computed)
		return false;
	if (2 * nd->wt.tile_bytes * (pixels > cc->n / 2 ? LARGE_PAIR : LARGE_WORDS) > cc->sp_bytes)
		return false;
	one.paired = false;
	two.paired = true;
	before = fillings(cc, &one, pixels, nd->wt.n_tiles);
	after = fillings(cc, &two, pixels, nd->wt.n_tiles);
	return (before - after) * LEAST_SAVED >= before && (before - after) * nd->wt.tile_bytes / cc->n >= LEAST_CYCLES;
}

/*
 * Set how the packed weights of a convolution on the array are laid out in nd->wt: whether kernel columns
 * and channels are one run (joined: weights that no node computes, no dilation along x, pixels of the input
 * side by side, not block-diagonal), elements and number of runs, chunks of N in a run, column tiles, bytes of
 * a tile, and whether tiles are paired. A run of block-diagonal weights has the input channels that N output
 * channels can touch, at most N.
 */
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
	nd->wt.paired = is_paired(cc, nd);
}

/*
 * Returns the multiplier of the RESCALE behind the node for output channel c; one value may serve all
 * channels.
 */
static int64_t scale_mul(const struct cc *cc, const struct node *nd, int64_t c)
{
	const weft_tensor *t = &cc->g->tensors[nd->post.scale_mul].t;

	c = weft_tensor_elements(t) > 1 ? c : 0;
	return t->dtype == WEFT_INT16 ? ((const int16_t *)t->data)[c] : ((const int32_t *)t->data)[c];
}

/*
 * Returns the fp16 bits of the bias of output channel c of a float8 node. Without biases it is -0, which when
 * added leaves every value as it is, -0 included.
 */
static uint16_t float_bias(const struct cc *cc, const struct node *nd, int64_t c)
{
	const weft_tensor *b = nd->wt.bias < 0 ? NULL : &cc->g->tensors[nd->wt.bias].t;
	/* -0 leaves everything as it is, also -0. */
	return b ? ((const uint16_t *)b->data)[weft_tensor_elements(b) > 1 ? c : 0] : 0x8000;
}

/*
 * Returns the integer bias of output channel c; one value may serve all channels. 0 if the node has no
 * biases.
 */
static int64_t bias_at(const struct cc *cc, const struct node *nd, int64_t c)
{
	if (nd->wt.bias < 0)
		return 0;
	const weft_tensor *b = &cc->g->tensors[nd->wt.bias].t;
	int64_t at = weft_tensor_elements(b) > 1 ? c : 0;
	return b->dtype == WEFT_INT48 ? ((const int64_t *)b->data)[at] : ((const int32_t *)b->data)[at];
}

/*
 * Returns the parameter record of output channel c: the bias, and for scaled sums multiplier and shift, those of
 * the RESCALE behind the node or, with WEIGHTS_ONE, of post.a; in a float8 node or with raw sums the bias alone.
 * Channels of a pixel group repeat those of its first pixel. Channels beyond the last one, which only fill the
 * last tile, get a record that is merely legal (shift 2, else 0).
 */
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
	if (nd->wt.w == WEIGHTS_ONE) {
		p.mul = (int32_t)nd->post.a.mul;
		p.shift = (uint8_t)nd->post.a.shift;
		return p;
	}
	const weft_tensor *s = &cc->g->tensors[nd->post.scale_shift].t;
	p.mul = (int32_t)scale_mul(cc, nd, c);
	p.shift = ((const uint8_t *)s->data)[weft_tensor_elements(s) > 1 ? c : 0];
	return p;
}

/*
 * Returns whether the node can have records of 8 bytes. It can if the configuration has such records, if the node's records
 * are constants, and if each of its biases fits 24 bits.
 */
static bool fit_short(const struct cc *cc, const struct node *nd)
{
	bool fit = cc->cfg->has_p_short && !nd->wt.rec_computed;

	for (int64_t c = 0; c < nd->y.dim[3] && fit; c++) {
		int64_t bias = param(cc, nd, c).bias;
		fit = bias >= -SHORT_BIAS && bias < SHORT_BIAS;
	}
	return fit;
}

/*
 * Set layout and sizes of the packed weights and records of a node with weights: n_tiles, tile_bytes, short_recs,
 * tile_rec_bytes and rec_bytes. For a node on the array also set what measure_conv() sets.
 */
static void measure(const struct cc *cc, struct node *nd)
{
	if (nd->kind == NODE_CONV || nd->kind == NODE_DWCONV) {
		measure_conv(cc, nd);
	} else {
		nd->wt.n_tiles = ceil_div(nd->y.dim[3], cc->n);
		nd->wt.tile_bytes = dw_rows(nd) * dw_cols(nd) * cc->n;
	}
	nd->wt.short_recs = fit_short(cc, nd);
	nd->wt.tile_rec_bytes = (nd->wt.short_recs ? WEFT_PARAM_SHORT_BYTES : WEFT_PARAM_BYTES) * cc->n;
	nd->wt.rec_bytes = nd->wt.n_tiles * nd->wt.tile_rec_bytes;
}

/* N weights, or fewer at the end of a run: elements from number j on of run `run`, for output channel oc. */
struct word_at { int64_t oc, run, j; };

/*
 * Copy up to N weights, those at k, from tensor w to `word`, for weights that lie in their tensor as
 * node_weights.wv says. Weights that do not exist (wv.none) are left as they are.
 */
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
 * Copy up to N weights, those at k, from tensor w to `word` for a pixel group: each channel has weights only
 * where the window of its own pixel lies within the group's window; other places in `word` stay as they are. A run
 * is one kernel row of the group's window or, if windows were copied side by side (im2col.c), all of them.
 */
static void side_word(const struct cc *cc, const struct node *nd, const uint8_t *w, struct word_at k, uint8_t *word)
{
	int64_t channels = nd->y.dim[3] / nd->conv.pixel_group, rows = nd->wt.n_runs * nd->wt.run_len / nd->conv.group_run;
	int64_t own = nd->conv.group_run - (nd->conv.pixel_group - 1) * nd->conv.group_step, c = k.oc % channels;

	for (int64_t i = 0; i < min64(cc->n, nd->wt.run_len - k.j); i++) {
		int64_t q = k.run * nd->wt.run_len + k.j + i, row = q / nd->conv.group_run;
		int64_t at = q % nd->conv.group_run - k.oc / channels * nd->conv.group_step;
		if (at >= 0 && at < own)
			word[i] = w[nd->wt.by_tap ? (row * own + at) * channels + c : (c * rows + row) * own + at];
	}
}

/*
 * Set the weights at k, up to N, of a node that turns a matrix (wt.turn_rows): element q of a window, which lies in
 * row q / columns of the matrix, becomes output channel row + rows * column. Other places stay as they are.
 */
static void turned_word(const struct cc *cc, const struct node *nd, struct word_at k, uint8_t *word)
{
	for (int64_t i = 0; i < min64(cc->n, nd->wt.run_len - k.j); i++) {
		int64_t q = k.run * nd->wt.run_len + k.j + i;
		if (q / nd->wt.turn_columns + q % nd->wt.turn_columns * nd->wt.turn_rows == k.oc)
			word[i] = 1;
	}
}

/*
 * Copy up to N weights of a convolution, those at k, from tensor w to `word`, whichever way they lie in w.
 * Places without a weight stay as they are.
 */
static void conv_word(const struct cc *cc, const struct node *nd, const uint8_t *w, struct word_at k, uint8_t *word)
{
	int64_t len = min64(cc->n, nd->wt.run_len - k.j);

	if (nd->wt.turn_columns) {
		turned_word(cc, nd, k, word);
		return;
	}
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

/* Column tiles [tile, +n), n of them, which the array computes at a time. */
struct tile_set { int64_t tile, n; };

/*
 * Write the weights w of the column tiles of a convolution that the array computes at a time to `to`: run by run,
 * chunk by chunk, column by column a word of N weights for each tile. Places that have no weight keep what is there.
 */
static void pack_tiles(const struct cc *cc, const struct node *nd, const uint8_t *w, struct tile_set s, uint8_t *to)
{
	for (int64_t run = 0; run < nd->wt.n_runs; run++)
		for (int64_t q = 0; q < nd->wt.chunks; q++)
			for (int64_t k = 0; k < cc->n * s.n; k++, to += cc->n) {
				int64_t oc = (s.tile + k % s.n) * cc->n + k / s.n;
				if (oc < nd->y.dim[3])
					conv_word(cc, nd, w, (struct word_at){ oc, run, q * cc->n }, to);
			}
}

/* Write the weights w of a convolution on the array to `to`: tile by tile, or two tiles together where they are paired. */
static void pack_conv(const struct cc *cc, const struct node *nd, const uint8_t *w, uint8_t *to)
{
	struct tile_set s = { 0 };

	for (; s.tile < nd->wt.n_tiles; s.tile += s.n, to += s.n * nd->wt.tile_bytes) {
		s.n = nd->wt.paired ? min64(2, nd->wt.n_tiles - s.tile) : 1;
		pack_tiles(cc, nd, w, s, to);
	}
}

/*
 * Write the weights w of a depthwise convolution on the array to `to`, block-diagonally: in each word of N
 * bytes only the input channel of that output channel gets its weight. All other places keep what is there,
 * which makes no product.
 */
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

/*
 * Write the weights w of a depthwise convolution on the vector engine to `to`: for each block of N channels,
 * tap by tap in the order of the commands, a word of N weights. Rows and columns are exchanged if the node's
 * commands have them so; taps beyond the kernel keep what is there.
 */
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
 * Make a copy of a node's weights as the array takes them: WEIGHTS_ONE becomes ones; of float8 in encodings
 * without FNUZ -0 becomes +0, since its code means "no product" there and +0 adds the same. Returns the copy,
 * which the caller frees, or NULL if there is no memory.
 */
static uint8_t *changed_weights(const struct cc *cc, const struct node *nd)
{
	int64_t n = weight_bytes(cc, nd);
	uint8_t *w = malloc((size_t)n);

	if (!w)
		return NULL;
	if (nd->wt.w == WEIGHTS_ONE) {
		memset(w, nd->mode == WEFT_POST_MODE_FLOAT8 ? E4M3_ONE : 1, (size_t)n);
		return w;
	}
	memcpy(w, cc->g->tensors[nd->wt.w].t.data, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		if (w[i] == NO_PRODUCT && nd->wt.w_fmt < 2)
			w[i] = 0;
	return w;
}

/*
 * Pack n weights of 4 bits (n is even), each in a byte of its own, into the first n / 2 bytes: of two the
 * first goes into the low half of the byte. The other n / 2 bytes become 0.
 */
static void halve(uint8_t *to, int64_t n)
{
	for (int64_t i = 0; i < n / 2; i++)
		to[i] = (uint8_t)((to[2 * i] & 15) | to[2 * i + 1] << 4);
	memset(to + n / 2, 0, (size_t)(n / 2));
}

/*
 * Returns whether the node's weights can lie in memory as two in a byte. They must be constant int4 with a
 * zero point that fits 4 bits, and the configuration must widen them as it loads.
 */
static bool is_int4(const struct cc *cc, const struct node *nd)
{
	return cc->has_int4 && nd->wt.w != WEIGHTS_ONE && cc->g->tensors[nd->wt.w].t.dtype == WEFT_INT4 && !nd->wt.w_computed &&
	       nd->wt.w_zp >= -8 && nd->wt.w_zp < 8;
}

/*
 * Add a storage in the arena for the weights of a node that the host packs when the program runs, valid from
 * the start to this item, and note it in wt.w_late. Returns 0 or -ENOMEM.
 */
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

/*
 * Append the records and then the weights of a node to the constants, at the offset wt.blob; `item` is the
 * node's place in the order. Of computed weights, and of those that the host packs, only the records are
 * appended; the latter get room in the arena (wt.w_late). If records are computed too, nothing is appended
 * and wt.blob stays. int4 weights are halved, and wt.w_int4 is set. Returns 0 or a negative errno: -ENOMEM,
 * or -E2BIG for too many constants.
 */
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
	bool change = nd->wt.w == WEIGHTS_ONE || (nd->mode == WEFT_POST_MODE_FLOAT8 && !late && !nd->wt.w_computed);
	uint8_t *changed = change ? changed_weights(cc, nd) : NULL;
	if (change && !changed)
		return -ENOMEM;
	const uint8_t *w = changed || late ? changed : cc->g->tensors[nd->wt.w].t.data;
	uint8_t *to = cc->consts.p + nd->wt.blob;
	for (int64_t c = 0; c < nd->wt.n_tiles * cc->n; c++, to += nd->wt.tile_rec_bytes / cc->n) {
		struct weft_param p = param(cc, nd, c);
		if (nd->wt.short_recs)
			weft_param_short_write(&(struct weft_param_short){ .bias = (int32_t)p.bias, .mul = p.mul, .shift = p.shift }, to);
		else
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
	return cc->has_coded && nd->kind == NODE_CONV && !nd->wt.w_int4 ? code_measure(cc, nd) : 0;
}

/*
 * If `root` is a constant tensor of the graph that is not yet among the program's constants, append it there
 * and note its offset. Other roots are left alone. Returns 0, -ENOMEM or -E2BIG.
 */
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

/*
 * Pack what a node needs of constants: its constant operands, and its records and weights, whose layout is
 * set in nd->wt; `item` is its place in the order. *raw and *packed add up the bytes of all weights so far,
 * before and after packing. Returns 0, -ENOMEM, -E2BIG (too many constants), or -ERANGE with cc->bad_node
 * and cc->bad_why if *packed then exceeds GROWTH_MAX times *raw plus GROWTH_FREE.
 */
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

/*
 * Stage of lowering: write the records, weights and constant operands of all nodes into cc->consts, in the
 * order in which the nodes run, without those that nests compute or the host packs. Returns 0, -ENOMEM, -E2BIG
 * (too many constants), or -ERANGE with cc->bad_node and cc->bad_why: with its weights, the packed weights of
 * all nodes so far would take too much more memory than they do in the graph.
 */
int cc_pack_weights(struct cc *cc)
{
	int64_t raw = 0, packed = 0;
	int err = 0;

	for (int i = 0; i < cc->n_items && !err; i++)
		if (!cc->items[i].host)
			err = pack_node(cc, &cc->nodes[cc->items[i].index], i, &raw, &packed);
	return err;
}
