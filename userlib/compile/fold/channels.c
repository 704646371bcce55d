/* SPDX-License-Identifier: Apache-2.0 */
/* Which channels stay: those that something needs, and those that stay or go together with them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"

/* Channels of all tensors together, beyond which nothing is folded. Not measured: the largest network here has 100 000. */
#define MAX_CHANNELS (1 << 24)

/* Returns the root of channel number i, and shortens the path to it. */
static int root_of(struct channels *ch, int i)
{
	while (ch->same[i] != i)
		i = ch->same[i] = ch->same[ch->same[i]];
	return i;
}

/*
 * Let channels number i and j, and all that are joined with either of them, stay or go together. All joining
 * comes before keeping: whether the channels of i's set were kept is forgotten.
 */
static void join(struct channels *ch, int i, int j)
{
	ch->same[root_of(ch, i)] = root_of(ch, j);
}

/* Returns whether channel number i stays. */
static bool stays(struct channels *ch, int i)
{
	return ch->keep[root_of(ch, i)];
}

/* Let all channels of tensor t stay, and so all that are joined with them. A constant has none. */
static void keep_all(struct channels *ch, int t)
{
	for (int i = ch->first[t]; i < ch->first[t + 1]; i++)
		ch->keep[root_of(ch, i)] = true;
}

/*
 * Number the channels of all tensors that are no constants, in ch->first; a tensor of rank 0 has one. Returns
 * their count, or -1 if there are more than MAX_CHANNELS; ch->first then is not complete.
 */
static int number_channels(struct channels *ch)
{
	int64_t n = 0;

	for (int t = 0; t < ch->g->n_tensors; t++) {
		ch->first[t] = (int)n;
		if (!ch->g->tensors[t].t.data)
			n += last_dim(&ch->g->tensors[t].t);
		if (n > MAX_CHANNELS)
			return -1;
	}
	return ch->first[ch->g->n_tensors] = (int)n;
}

/* Free what begin() allocated. */
static void end(struct channels *ch)
{
	free(ch->role);
	free(ch->first);
	free(ch->same);
	free(ch->keep);
	free(ch->known);
	free(ch->value);
}

/*
 * Begin with every channel for itself, none known and none kept, and the role of every operator. Returns 1; 0
 * if the graph has too many channels or no convolution to gain from; -ENOMEM. end() frees in all cases.
 */
static int begin(struct channels *ch, const weft_graph *g)
{
	bool any = false;

	*ch = (struct channels){ .g = g, .role = calloc((size_t)g->n_ops + 1, sizeof *ch->role),
	                         .first = calloc((size_t)g->n_tensors + 1, sizeof *ch->first) };
	if (!ch->role || !ch->first)
		return -ENOMEM;
	for (int i = 0; i < g->n_ops; i++)
		any |= (ch->role[i] = fold_role(g, &g->ops[i])) == ROLE_CONV;
	int n = any ? number_channels(ch) : -1;
	if (n < 0)
		return 0;
	ch->same = malloc(((size_t)n + 1) * sizeof *ch->same);
	ch->keep = calloc((size_t)n + 1, sizeof *ch->keep);
	ch->known = calloc((size_t)n + 1, sizeof *ch->known);
	ch->value = calloc((size_t)n + 1, sizeof *ch->value);
	if (!ch->same || !ch->keep || !ch->known || !ch->value)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		ch->same[i] = i;
	return 1;
}

/*
 * Join each channel of the result of o, an operator of role ROLE_CHANNELWISE or ROLE_PLACED, with those
 * channels of its operands that are not constant of which it is made.
 */
static void join_through(struct channels *ch, const struct weft_gop *o, enum role role)
{
	int64_t m = role == ROLE_CHANNELWISE ? fold_multiplier(ch->g, o) : 1;

	for (int c = 0; c < n_channels(ch, o->out[0]); c++) {
		int k, from = (int)(c / m), to = ch->first[o->out[0]] + c;
		if (role == ROLE_PLACED && (from = fold_source(ch->g, o, c, &k), !operand_of(ch->g, o, k)->data))
			join(ch, ch->first[o->in[k]] + from, to);
		for (k = 0; k < o->n_in && role == ROLE_CHANNELWISE; k++)
			if (!operand_of(ch->g, o, k)->data)
				join(ch, ch->first[o->in[k]] + from, to);
	}
}

/*
 * Join all channels that stay or go together; then keep all channels of tensors that are outputs of the
 * graph, made by no operator or pinned, and of all operands and results of opaque operators.
 */
static void join_all(struct channels *ch, const bool *pinned)
{
	const weft_graph *g = ch->g;

	for (int i = 0; i < g->n_ops; i++)
		if (ch->role[i] == ROLE_CHANNELWISE || ch->role[i] == ROLE_PLACED)
			join_through(ch, &g->ops[i], ch->role[i]);
	for (int t = 0; t < g->n_tensors; t++)
		if (g->tensors[t].is_output || g->tensors[t].producer < 0 || pinned[t])
			keep_all(ch, t);
	for (int i = 0; i < g->n_ops; i++) {
		const struct weft_gop *o = &g->ops[i];
		for (int k = 0; k < o->n_in && ch->role[i] == ROLE_OPAQUE; k++)
			keep_all(ch, o->in[k]);
		for (int k = 0; k < o->n_out && ch->role[i] == ROLE_OPAQUE; k++)
			keep_all(ch, o->out[k]);
	}
}

/* Returns whether CONV2D o has, for input channel c and an output channel that stays, a weight that is not the zero point. */
static bool is_weighted(struct channels *ch, const struct weft_gop *o, int c)
{
	const weft_tensor *w = operand_of(ch->g, o, 1);
	int64_t n = w->dim[1] * w->dim[2], ic = w->dim[3];

	for (int64_t oc = 0; oc < w->dim[0]; oc++) {
		if (!stays(ch, ch->first[o->out[0]] + (int)oc))
			continue;
		for (int64_t k = 0; k < n; k++)
			if (((const int8_t *)w->data)[(oc * n + k) * ic + c] != o->attr.conv.w_zp)
				return true;
	}
	return false;
}

/*
 * Keep the input channels that CONV2D o needs for the output channels that stay: those with a weight for one
 * of these, unless the channel is known and the biases can take it (fold_absorbs()). Returns whether a
 * channel stays that did not before.
 */
static bool keep_inputs(struct channels *ch, const struct weft_gop *o)
{
	bool more = false;

	for (int c = 0; c < n_channels(ch, o->in[0]); c++) {
		int i = ch->first[o->in[0]] + c;
		if (stays(ch, i) || (ch->known[i] && fold_absorbs(o, ch->value[i])) || !is_weighted(ch, o, c))
			continue;
		more = ch->keep[root_of(ch, i)] = true;
	}
	return more;
}

/* Returns the number of channels of tensor t that stay. */
static int n_kept(struct channels *ch, int t)
{
	int n = 0;

	for (int i = ch->first[t]; i < ch->first[t + 1]; i++)
		n += stays(ch, i);
	return n;
}

/*
 * Keep the first channel of each tensor that would have none left; tensors without channels stay as they are.
 * Returns whether there was such a tensor.
 */
static bool keep_one(struct channels *ch)
{
	bool more = false;

	for (int t = 0; t < ch->g->n_tensors; t++)
		if (n_channels(ch, t) && !n_kept(ch, t))
			more = ch->keep[root_of(ch, ch->first[t])] = true;
	return more;
}

/*
 * Keep `more` of the channels of tensor t that would go, the lowest first: only those that are known (they
 * need no inputs) if `known` is set, else only the others. Channels that are joined with them stay, too,
 * and are not counted. Returns how many of `more` are still to be found.
 */
static int keep_some(struct channels *ch, int t, int more, bool known)
{
	for (int i = ch->first[t]; i < ch->first[t + 1] && more; i++)
		if (ch->known[i] == known && !stays(ch, i)) {
			ch->keep[root_of(ch, i)] = true;
			more--;
		}
	return more;
}

/*
 * Let the result of every convolution have a multiple of n channels again, or all of its channels if these
 * are fewer, where it has less now: a block of n takes as long whatever is in it, and pixels of whole
 * blocks are read faster. Known channels are kept before others. Returns whether a convolution had less,
 * and more channels stay now.
 */
static bool fill_blocks(struct channels *ch, int n)
{
	bool any = false;

	for (int i = 0; i < ch->g->n_ops; i++) {
		int t = ch->g->ops[i].n_out ? ch->g->ops[i].out[0] : 0;
		if (ch->role[i] != ROLE_CONV)
			continue;
		int kept = n_kept(ch, t), more = (int)min64(round_up(kept, n), n_channels(ch, t)) - kept;
		any |= more > 0;
		keep_some(ch, t, keep_some(ch, t, more, true), false);
	}
	return any;
}

/*
 * Keep the input channels that convolutions need, one channel of tensors that would have none, and channels
 * that fill blocks of n, until none of these keeps any more.
 */
static void keep_needed(struct channels *ch, int n)
{
	bool more;

	do {
		more = false;
		for (int i = ch->g->n_ops - 1; i >= 0; i--)
			if (ch->role[i] == ROLE_CONV)
				more |= keep_inputs(ch, &ch->g->ops[i]);
		more = more || keep_one(ch) || fill_blocks(ch, n);
	} while (more);
}

/*
 * List the channels that stay of each tensor in f->kept; where all stay, c is NULL and n 0. Returns 1; 0 if
 * every tensor keeps all its channels; or -ENOMEM. fold_free() frees the lists in each case.
 */
static int list_kept(struct folding *f, struct channels *ch)
{
	int any = 0;

	f->kept = calloc((size_t)ch->g->n_tensors + 1, sizeof *f->kept);
	if (!f->kept)
		return -ENOMEM;
	for (int t = 0; t < ch->g->n_tensors; t++) {
		struct kept *k = &f->kept[t];
		int n = n_kept(ch, t);
		if (n == n_channels(ch, t))
			continue;
		k->c = malloc((size_t)n * sizeof *k->c);
		if (!k->c)
			return -ENOMEM;
		for (int c = 0; c < n_channels(ch, t); c++)
			if (stays(ch, ch->first[t] + c))
				k->c[k->n++] = c;
		any = 1;
	}
	return any;
}

int fold_channels(const weft_graph *g, int n, const bool *pinned, struct folding **f)
{
	struct channels ch;
	int some = begin(&ch, g);

	*f = NULL;
	if (some > 0) {
		some = fold_find_known(&ch);
		join_all(&ch, pinned);
		keep_needed(&ch, n);
		*f = some ? NULL : calloc(1, sizeof **f);
		some = *f ? 1 : -ENOMEM;
	}
	if (some > 0) {
		(*f)->full = g;
		some = list_kept(*f, &ch);
	}
	if (some > 0)
		some = fold_rewrite(*f, &ch) ? -ENOMEM : 1;
	if (some <= 0) {
		fold_free(*f);
		*f = NULL;
	}
	end(&ch);
	return some < 0 ? some : 0;
}

/*
 * Frees what fold_channels() made: the folded graph with the operators and tensors that are its own, and the
 * lists of kept channels; the full graph stays. NULL is allowed.
 */
void fold_free(struct folding *f)
{
	if (!f)
		return;
	for (int i = 0; f->g.ops && i < f->g.n_ops; i++)
		if (f->g.ops[i].in != f->full->ops[i].in)
			free(f->g.ops[i].in);
	for (int t = f->full->n_tensors; f->g.tensors && t < f->g.n_tensors; t++)
		free(f->g.tensors[t].t.data);
	for (int t = 0; f->kept && t < f->full->n_tensors; t++)
		free(f->kept[t].c);
	free(f->g.ops);
	free(f->g.tensors);
	free(f->kept);
	free(f);
}
