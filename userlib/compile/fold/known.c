/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels that have one value for every input: sums of nothing but a bias, and what operators make of
 * them. Convolutions are summed here; what all others make of known channels golden says, on tensors of
 * these channels alone, so borders are where they are in the network.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/golden.h>

#include "fold.h"

/* Returns the low bits of a sum as a signed number of the sum's type, int32 or int48: sums wrap. */
static int64_t wrap(uint64_t v, weft_dtype t)
{
	int n = t == WEFT_INT32 ? 32 : 48;

	return (int64_t)(v << (64 - n)) >> (64 - n);
}

/*
 * Returns whether a channel that has this value everywhere contributes the same to convolution o at every
 * pixel, so that its biases can take it: o has no padding, or the value is the input's zero point.
 */
bool fold_absorbs(const struct weft_gop *o, int64_t value)
{
	const struct weft_attr_conv *a = &o->attr.conv;

	return value == a->x_zp || !(a->pad[0] || a->pad[1] || a->pad[2] || a->pad[3]);
}

/* Returns the bias of output channel c of convolution o; one bias may serve all channels. */
static int64_t bias_of(const weft_graph *g, const struct weft_gop *o, int64_t c)
{
	const weft_tensor *b = operand_of(g, o, 2);

	return fold_get(b, weft_tensor_elements(b) > 1 ? c : 0);
}

/*
 * Notes output channel c of CONV2D o, with its value, as known if each input channel that has a weight other
 * than the zero point is known and contributes the same at every pixel (fold_absorbs()).
 */
static void conv_channel(struct channels *ch, const struct weft_gop *o, int64_t c)
{
	const weft_tensor *w = operand_of(ch->g, o, 1);
	int64_t n = w->dim[1] * w->dim[2], ic = w->dim[3];
	int x = ch->first[o->in[0]], y = ch->first[o->out[0]] + (int)c;
	uint64_t sum = (uint64_t)bias_of(ch->g, o, c);

	for (int64_t k = 0; k < n * ic; k++) {
		int64_t v = (int64_t)((const int8_t *)w->data)[c * n * ic + k] - o->attr.conv.w_zp;
		int i = x + (int)(k % ic);
		if (!v)
			continue;
		if (!ch->known[i] || !fold_absorbs(o, ch->value[i]))
			return;
		sum += (uint64_t)(v * (ch->value[i] - o->attr.conv.x_zp));
	}
	ch->known[y] = true;
	ch->value[y] = wrap(sum, ch->g->tensors[o->out[0]].t.dtype);
}

/*
 * Returns whether all weights of depthwise convolution o for its input channel c, for all results that are
 * made of it, are the zero point, so that this input does not count.
 */
static bool no_weights(const weft_graph *g, const struct weft_gop *o, int64_t c)
{
	const weft_tensor *w = operand_of(g, o, 1);
	int64_t n = w->dim[2] * w->dim[3], m = w->dim[3];

	for (int64_t k = 0; k < w->dim[0] * w->dim[1] * m; k++)
		if (((const int8_t *)w->data)[k / m * n + c * m + k % m] != o->attr.conv.w_zp)
			return false;
	return true;
}

/* Returns whether input channel c of o, a channelwise operator, is known in all operands, or does not count (no_weights()). */
static bool depends_on_known(const struct channels *ch, const struct weft_gop *o, int64_t c)
{
	for (int k = 0; k < o->n_in; k++)
		if (!operand_of(ch->g, o, k)->data && !ch->known[ch->first[o->in[k]] + c])
			return o->op == WEFT_OP_DEPTHWISE_CONV2D && no_weights(ch->g, o, c);
	return true;
}

/*
 * Set *t to operand k of o, which is not constant, with the channels `in` alone, each filled with its value,
 * or with 0 if it is not known. t->data is allocated. Returns 0, or -ENOMEM with *t unchanged.
 */
static int known_operand(const struct channels *ch, const struct weft_gop *o, int k, const struct kept *in, weft_tensor *t)
{
	weft_tensor x = *operand_of(ch->g, o, k);

	x.dim[x.rank - 1] = in->n;
	x.data = malloc(weft_tensor_bytes(&x) + 1);
	if (!x.data)
		return -ENOMEM;
	for (int64_t i = 0, n = weft_tensor_elements(&x); i < n; i++) {
		int at = ch->first[o->in[k]] + in->c[i % in->n];
		fold_put(&x, i, ch->known[at] ? ch->value[at] : 0);
	}
	*t = x;
	return 0;
}

/*
 * Note the result channels of o that are the same at all pixels of y as known, with their values. y is what o
 * made of the input channels `in`, m result channels of each.
 */
static void note_result(struct channels *ch, const struct weft_gop *o, const struct kept *in, int64_t m, const weft_tensor *y)
{
	int64_t n = in->n * m, all = weft_tensor_elements(y);

	for (int64_t c = 0; c < n; c++) {
		int64_t i = c, v = fold_get(y, c);
		while (i < all && fold_get(y, i) == v)
			i += n;
		if (i < all)
			continue;
		int at = ch->first[o->out[0]] + (int)(in->c[c / m] * m + c % m);
		ch->known[at] = true;
		ch->value[at] = v;
	}
}

/*
 * Let golden run o, a channelwise operator, on the input channels `in` alone, which are known or do not count
 * (no_weights()), and note the result's channels that have one value at all pixels. Returns 0, also if golden
 * refuses (nothing becomes known then), or -ENOMEM.
 */
static int run_on_known(struct channels *ch, const struct weft_gop *o, const struct kept *in)
{
	weft_tensor x[WEFT_OP_MAX_INPUTS] = { 0 }, y = ch->g->tensors[o->out[0]].t, *py = &y;
	const weft_tensor *px[WEFT_OP_MAX_INPUTS];
	bool own[WEFT_OP_MAX_INPUTS] = { false };
	int64_t m = fold_multiplier(ch->g, o);
	char msg[WEFT_GOLDEN_MSG];
	int err = 0;

	y.dim[y.rank - 1] = in->n * m;
	y.data = malloc(weft_tensor_bytes(&y) + 1);
	if (!y.data)
		return -ENOMEM;
	for (int k = 0; k < o->n_in && err >= 0; k++) {
		px[k] = operand_of(ch->g, o, k);
		err = px[k]->data ? fold_operand(ch->g, o, k, in, in, &x[k]) : known_operand(ch, o, k, in, &x[k]);
		own[k] = x[k].data;
		px[k] = own[k] ? &x[k] : px[k];
	}
	int refused = err < 0 ? err : weft_golden_run(o->op, &o->attr, px, o->n_in, &py, 1, true, msg);
	if (!refused)
		note_result(ch, o, in, m, &y);
	for (int k = 0; k < o->n_in; k++)
		if (own[k])
			free(x[k].data);
	free(y.data);
	return refused == -ENOMEM ? -ENOMEM : 0;
}

/*
 * Find the known channels of the result of o, a channelwise operator, among those that depend on known
 * channels alone. Returns 0 or -ENOMEM.
 */
static int channelwise(struct channels *ch, const struct weft_gop *o)
{
	int64_t n = n_channels(ch, o->out[0]) / fold_multiplier(ch->g, o);
	struct kept in = { 0, malloc(((size_t)n + 1) * sizeof *in.c) };
	int err = in.c ? 0 : -ENOMEM;

	for (int64_t c = 0; c < n && !err; c++)
		if (depends_on_known(ch, o, c))
			in.c[in.n++] = (int32_t)c;
	if (!err && in.n)
		err = run_on_known(ch, o, &in);
	free(in.c);
	return err;
}

/*
 * Note the channels of the result of o, which moves channels (ROLE_PLACED), as known where the operand's
 * channel is known, with its value. Channels that come from a constant operand do not become known.
 */
static void placed(struct channels *ch, const struct weft_gop *o)
{
	for (int c = 0; c < n_channels(ch, o->out[0]); c++) {
		int k, from = fold_source(ch->g, o, c, &k), to = ch->first[o->out[0]] + c;
		if (operand_of(ch->g, o, k)->data)
			continue;
		ch->known[to] = ch->known[ch->first[o->in[k]] + from];
		ch->value[to] = ch->value[ch->first[o->in[k]] + from];
	}
}

/*
 * Set ch->known and ch->value of all channels that have one value for every input, going through the
 * operators in order. Returns 0 or -ENOMEM.
 */
int fold_find_known(struct channels *ch)
{
	for (int i = 0; i < ch->g->n_ops; i++) {
		const struct weft_gop *o = &ch->g->ops[i];
		int err = 0;
		if (ch->role[i] == ROLE_CONV)
			for (int c = 0; c < n_channels(ch, o->out[0]); c++)
				conv_channel(ch, o, c);
		else if (ch->role[i] == ROLE_CHANNELWISE)
			err = channelwise(ch, o);
		else if (ch->role[i] == ROLE_PLACED)
			placed(ch, o);
		if (err)
			return err;
	}
	return 0;
}
