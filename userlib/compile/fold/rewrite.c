/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph without the channels that were dropped, and back: a program compiled of it names the full
 * graph's tensors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"

/* Returns the channels that are left of tensor t of the full graph. */
static const struct kept *kept_of(const struct folding *f, int t)
{
	return &f->kept[t];
}

/* Returns whether channel c stays. Callers ask in ascending order; *at, 0 at first, is the place in the list that was reached. */
static bool is_kept(const struct kept *k, int64_t c, int *at)
{
	while (k->c && *at < k->n && k->c[*at] < c)
		++*at;
	return !k->c || (*at < k->n && k->c[*at] == c);
}

/*
 * Returns what the dropped input channels of CONV2D o contribute to its output channel oc. A dropped channel that is
 * not known has no weights other than the zero point, so that it contributes nothing.
 */
static uint64_t absorbed(const struct folding *f, const struct channels *ch, const struct weft_gop *o, int64_t oc)
{
	const weft_tensor *w = operand_of(f->full, o, 1);
	int64_t n = w->dim[1] * w->dim[2], ic = w->dim[3];
	const int8_t *p = (const int8_t *)w->data + oc * n * ic;
	uint64_t sum = 0;
	int at = 0;

	for (int64_t c = 0; c < ic; c++) {
		int i = ch->first[o->in[0]] + (int)c;
		if (is_kept(kept_of(f, o->in[0]), c, &at) || !ch->known[i])
			continue;
		for (int64_t k = 0; k < n; k++)
			sum += (uint64_t)((p[k * ic + c] - o->attr.conv.w_zp) * (ch->value[i] - o->attr.conv.x_zp));
	}
	return sum;
}

/*
 * Set *b to the biases of CONV2D o for the output channels that stay, one for each, with what dropped input
 * channels contribute added to them, modulo 2^32 or, if the result is int48, 2^48. *b has memory of its own.
 * Returns 1 or -ENOMEM.
 */
static int biases(const struct folding *f, const struct channels *ch, const struct weft_gop *o, weft_tensor *b)
{
	const weft_tensor *from = operand_of(f->full, o, 2);
	const struct kept *out = kept_of(f, o->out[0]);
	bool each = weft_tensor_elements(from) > 1;
	int bits = f->full->tensors[o->out[0]].t.dtype == WEFT_INT32 ? 32 : 48;
	weft_tensor y = *from;

	y.dim[0] = out->c ? out->n : n_channels(ch, o->out[0]);
	y.data = malloc(weft_tensor_bytes(&y) + 1);
	if (!y.data)
		return -ENOMEM;
	for (int64_t i = 0; i < y.dim[0]; i++) {
		int64_t oc = out->c ? out->c[i] : i;
		uint64_t sum = (uint64_t)fold_get(from, each ? oc : 0) + absorbed(f, ch, o, oc);
		fold_put(&y, i, (int64_t)(sum << (64 - bits)) >> (64 - bits));
	}
	*b = y;
	return 1;
}

/*
 * Let operand k of operator number i of f->g be a new tensor, the constant t. Its data belong to the graph if
 * that succeeds; the new tensor has the name and the rest of the operand that it replaces. Returns 0 or
 * -ENOMEM.
 */
static int replace(struct folding *f, int i, int k, const weft_tensor *t)
{
	struct weft_gop *o = &f->g.ops[i];
	int of = o->in[k];

	if (o->in == f->full->ops[i].in) {
		int *in = malloc((size_t)o->n_in * sizeof *in);
		if (!in)
			return -ENOMEM;
		memcpy(in, o->in, (size_t)o->n_in * sizeof *in);
		o->in = in;
	}
	o->in[k] = f->g.n_tensors;
	f->g.tensors[f->g.n_tensors] = f->full->tensors[of];
	f->g.tensors[f->g.n_tensors].producer = -1;
	f->g.tensors[f->g.n_tensors++].t = *t;
	return 0;
}

/*
 * Give operator number i constants that have only the channels that are left: biases with what dropped
 * channels contribute (biases()), and the constant operands for which fold_operand() says that they change.
 * Returns 0 or -ENOMEM.
 */
static int shrink_constants(struct folding *f, const struct channels *ch, int i)
{
	const struct weft_gop *o = &f->full->ops[i];
	const struct kept *out = kept_of(f, o->out[0]), *in = operand_of(f->full, o, 0)->data ? out : kept_of(f, o->in[0]);

	for (int k = 0; k < o->n_in; k++) {
		weft_tensor t = { 0 };
		if (!operand_of(f->full, o, k)->data)
			continue;
		int err = ch->role[i] == ROLE_CONV && k == 2 ? biases(f, ch, o, &t) : fold_operand(f->full, o, k, in, out, &t);
		if (err > 0 && (err = replace(f, i, k, &t)))
			free(t.data);
		if (err < 0)
			return err;
	}
	return 0;
}

/*
 * Let operator number i, a SLICE, begin at the channel of its operand's remaining ones that was the first it
 * takes, or the next that is left. Nothing changes if all channels of the operand are left.
 */
static void move_start(struct folding *f, int i)
{
	const struct weft_gop *o = &f->full->ops[i];
	const struct kept *in = kept_of(f, o->in[0]);
	int64_t *start = &f->g.ops[i].attr.slice.start[operand_of(f->full, o, 0)->rank - 1], from = *start;

	for (int k = 0; in->c && k < in->n; k++)
		*start -= in->c[k] < from;
	if (in->c)
		*start = from - *start;
}

/*
 * Change operator number i if one of its tensors has fewer channels: a SLICE begins elsewhere, and a
 * convolution or a channelwise operator gets smaller constants; opaque operators have no such tensors.
 * Returns 0 or -ENOMEM.
 */
static int shrink(struct folding *f, const struct channels *ch, int i)
{
	const struct weft_gop *o = &f->full->ops[i];
	bool any = false;

	if (ch->role[i] != ROLE_CONV && ch->role[i] != ROLE_CHANNELWISE && ch->role[i] != ROLE_PLACED)
		return 0;
	for (int k = 0; k < o->n_in; k++)
		any |= kept_of(f, o->in[k])->c != NULL;
	if (!any && !kept_of(f, o->out[0])->c)
		return 0;
	if (o->op == WEFT_OP_SLICE)
		move_start(f, i);
	return ch->role[i] == ROLE_PLACED ? 0 : shrink_constants(f, ch, i);
}

/*
 * Make f->g from f->full and f->kept: tensors with fewer channels, and operators with constants for them.
 * `ch` has the operators' roles and the values of known channels. Returns 0, or -ENOMEM with f->g made in
 * part, which fold_free() frees.
 */
int fold_rewrite(struct folding *f, const struct channels *ch)
{
	const weft_graph *g = f->full;
	size_t n_in = 0;
	int err = 0;

	for (int i = 0; i < g->n_ops; i++)
		n_in += (size_t)g->ops[i].n_in;
	f->g = *g;
	f->g.ops = malloc(((size_t)g->n_ops + 1) * sizeof *g->ops);
	f->g.tensors = malloc(((size_t)g->n_tensors + n_in + 1) * sizeof *g->tensors);
	if (!f->g.ops || !f->g.tensors)
		return -ENOMEM;
	memcpy(f->g.ops, g->ops, (size_t)g->n_ops * sizeof *g->ops);
	memcpy(f->g.tensors, g->tensors, (size_t)g->n_tensors * sizeof *g->tensors);
	for (int t = 0; t < g->n_tensors; t++)
		if (f->kept[t].c)
			f->g.tensors[t].t.dim[g->tensors[t].t.rank - 1] = f->kept[t].n;
	for (int i = 0; i < g->n_ops && !err; i++)
		err = shrink(f, ch, i);
	return err;
}

bool fold_pin_host(const struct folding *f, const struct cc *cc, bool *pinned)
{
	bool any = false;

	for (int i = 0; i < cc->n_items; i++) {
		const struct weft_gop *o = &f->full->ops[cc->items[i].index];
		if (!cc->items[i].host)
			continue;
		for (int k = 0; k < o->n_in + o->n_out; k++) {
			int t = k < o->n_in ? o->in[k] : o->out[k - o->n_in];
			if (f->kept[t].c)
				any = pinned[t] = true;
		}
	}
	return any;
}

/* Append a copy of record r to the program's. *cap is how many p->recs has room for. Returns 0 or -ENOMEM. */
static int add_record(weft_program *p, uint32_t *cap, const struct weft_prec *r)
{
	int err = cc_grow(&p->recs, p->n_recs, cap, sizeof *p->recs);

	if (!err)
		p->recs[p->n_recs++] = *r;
	return err;
}

/*
 * Add records for channels [c, c + r.n_c) of a smaller tensor, counted among those that are left (k), of the
 * pixels that r says: pixel number `pixel` and those in r's rows and columns. Channels that are neighbours in the
 * full tensor too share a record. r's `first` does not count, since it is found here; its steps in elements are
 * the full tensor's already, and its address is that of channel c of the first pixel. Returns 0 or -ENOMEM.
 */
static int add_runs(weft_program *p, uint32_t *cap, struct weft_prec r, const struct kept *k, uint64_t pixel, uint32_t c)
{
	const weft_tensor *t = &p->graph->tensors[r.tensor].t;
	uint32_t left = r.n_c;
	int err = 0;

	while (left && !err) {
		uint32_t n = 1;
		while (n < left && k->c[c + n] == k->c[c] + (int32_t)n)
			n++;
		r.n_c = n;
		r.first = pixel * (uint64_t)last_dim(t) + (uint64_t)k->c[c];
		err = add_record(p, cap, &r);
		r.addr += n * (uint32_t)weft_dtype_bytes(t->dtype);
		left -= n;
		c += n;
	}
	return err;
}

/*
 * Does as add_runs() for a record r whose `first` is an element of the smaller tensor, at any channel, and
 * whose n_c elements may go on into the next pixels.
 */
static int add_pixels(weft_program *p, uint32_t *cap, struct weft_prec r, const struct kept *k)
{
	uint64_t n = (uint64_t)k->n;
	uint32_t left = r.n_c;
	int err = 0;

	while (left && !err) {
		uint32_t c = (uint32_t)(r.first % n);
		r.n_c = (uint32_t)min64(left, (int64_t)n - c);
		err = add_runs(p, cap, r, k, r.first / n, c);
		r.first += r.n_c;
		r.addr += r.n_c * (uint32_t)weft_dtype_bytes(p->graph->tensors[r.tensor].t.dtype);
		left -= r.n_c;
	}
	return err;
}

/*
 * Add to the program's records what record r of a smaller tensor says, in elements of the full one; k lists
 * the channels that are left. Rows and columns that are a whole number of pixels apart stay rows and columns
 * of a record; the others become records of their own. Returns 0 or -ENOMEM.
 */
static int full_record(weft_program *p, uint32_t *cap, const struct weft_prec *r, const struct kept *k)
{
	uint64_t n = (uint64_t)k->n, all = (uint64_t)last_dim(&p->graph->tensors[r->tensor].t);
	bool y = r->n_y == 1 || !(r->y_elems % n), x = r->n_x == 1 || !(r->x_elems % n);
	int err = 0;

	for (uint32_t i = 0; i < (y ? 1 : r->n_y); i++)
		for (uint32_t j = 0; j < (x ? 1 : r->n_x) && !err; j++) {
			struct weft_prec q = *r;
			q.first += i * r->y_elems + j * r->x_elems;
			q.addr += i * r->y_bytes + j * r->x_bytes;
			q.n_y = y ? r->n_y : 1;
			q.n_x = x ? r->n_x : 1;
			q.y_elems = q.n_y > 1 ? r->y_elems / n * all : 0;
			q.x_elems = q.n_x > 1 ? r->x_elems / n * all : 0;
			err = add_pixels(p, cap, q, k);
		}
	return err;
}

/*
 * Let all debug records of the program name elements of full tensors; one record may become several, and the
 * commands get their new places in the list. The old list is freed, also after a failure. Returns 0, or
 * -ENOMEM with a list that is not complete.
 */
static int full_records(const struct folding *f, weft_program *p)
{
	struct weft_prec *old = p->recs;
	uint32_t cap = 0;
	int err = 0;

	p->recs = NULL;
	p->n_recs = 0;
	for (uint32_t i = 0; i < p->n_cmds && !err; i++) {
		struct weft_pcmd *c = &p->cmds[i];
		uint32_t first = p->n_recs;
		for (uint32_t j = 0; j < c->n_recs && !err; j++) {
			const struct weft_prec *r = &old[c->first_rec + j];
			const struct kept *k = kept_of(f, r->tensor);
			err = k->c ? full_record(p, &cap, r, k) : add_record(p, &cap, r);
		}
		c->first_rec = first;
		c->n_recs = p->n_recs - first;
	}
	free(old);
	return err;
}

/*
 * Let a program that was compiled of f->g speak of the full graph: its graph, tensors and debug records. A
 * tensor that is folded has no place, its `folded` says how many channels it has fewer, and no other tensor
 * is an alias of it. Returns 0 or -ENOMEM.
 */
int fold_restore(const struct folding *f, weft_program *p)
{
	p->graph = f->full;
	p->n_tensors = f->full->n_tensors;
	for (int t = 0; t < p->n_tensors; t++) {
		struct weft_ptensor *q = &p->tensors[t];
		if (q->alias_of >= 0 && f->kept[q->alias_of].c)
			q->alias_of = -1;
		if (!f->kept[t].c)
			continue;
		*q = (struct weft_ptensor){ .place = WEFT_PLACE_NONE, .on_npu = q->on_npu, .alias_of = -1,
			.last_step = p->n_steps - 1, .bytes = weft_tensor_bytes(&f->full->tensors[t].t),
			.folded = (uint32_t)(last_dim(&f->full->tensors[t].t) - f->kept[t].n) };
	}
	return full_records(f, p);
}
