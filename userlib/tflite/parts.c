/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes the delegate takes.
 *
 * Candidates are those of may_take(). The interpreter says how it would cut a set of nodes into
 * parts that it can replace: each becomes a network. If one does not load, the first
 * of its nodes in the order of the graph with which it does not is no candidate any more, and the
 * interpreter is asked again. A part in which the NPU has no multiplications to do stays with
 * the interpreter.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/cards.h>

#include "delegate.h"

#define LOADS_MOST 400         /* attempts for one graph: each loads a whole part */

struct finder {
	struct delegate *d;
	struct graph *g;
	const struct op **list;    /* room for all nodes */
	struct plugin_device *device;
	int loads, n_parts;
	char *msg;                 /* WEFT_MSG_LEN bytes */
};

void part_free(struct part *p)
{
	if (!p)
		return;
	plugin_close(&p->weft);
	free(p->ops);
	free(p->in);
	free(p->out);
	free(p->state);
	free(p);
}

/* Writes to f->msg that there is not enough memory. Returns -ENOMEM. */
static int out_of_memory(struct finder *f)
{
	snprintf(f->msg, WEFT_MSG_LEN, "not enough memory");
	return -ENOMEM;
}

/*
 * Returns the interpreter's numbers of all candidates, in the order of the graph, from malloc; NULL
 * without memory.
 */
static struct rt_ints *candidates(const struct graph *g)
{
	struct rt_ints *v = malloc(sizeof(*v) + ((size_t)g->n + 1) * sizeof(v->v[0]));

	if (!v)
		return NULL;
	v->n = 0;
	for (int i = 0; i < g->n; i++)
		if (g->ops[i].candidate)
			v->v[v->n++] = g->ops[i].i;
	return v;
}

bool part_is(const struct part *p, const struct rt_ints *nodes)
{
	bool same = p->n == nodes->n;

	for (int i = 0; same && i < p->n; i++)
		same = p->ops[i].i == nodes->v[i];
	return same;
}

/* Says whether a node of the part reads the tensor, or, if `made`, whether one makes it. */
static bool touched(const struct part *p, int tensor, bool made)
{
	for (int i = 0; i < p->n; i++) {
		const struct rt_ints *v = made ? p->ops[i].n.outputs : p->ops[i].n.inputs;
		for (int k = 0; k < v->n; k++)
			if (v->v[k] == tensor)
				return true;
	}
	return false;
}

/* Says whether x is among the n numbers. */
static bool in_list(const int *v, int n, int x)
{
	for (int i = 0; i < n; i++)
		if (v[i] == x)
			return true;
	return false;
}

/*
 * Fills in p->in and p->out, the tensors at a part's edges. Inputs are what its nodes read and do not
 * make, without constants and states; outputs are those of its results that are in `wanted`, what the interpreter
 * wants of the whole part, or that none of its nodes reads (a run that ends before the whole part has
 * some). Returns 0 or -ENOMEM.
 */
static int find_edges(struct finder *f, struct part *p, const struct rt_ints *wanted)
{
	size_t n_in = 1, n_out = 1;

	for (int i = 0; i < p->n; i++) {
		n_in += (size_t)p->ops[i].n.inputs->n;
		n_out += (size_t)p->ops[i].n.outputs->n;
	}
	p->in = calloc(n_in, sizeof(*p->in));
	p->out = calloc(n_out, sizeof(*p->out));
	if (!p->in || !p->out)
		return out_of_memory(f);
	for (int i = 0; i < p->n; i++) {
		const struct rt_ints *in = p->ops[i].n.inputs, *out = p->ops[i].n.outputs;
		for (int k = 0; k < in->n; k++)
			if (in->v[k] >= 0 && !is_constant(&f->g->rt->tensors[in->v[k]]) && !f->g->rt->tensors[in->v[k]].is_variable &&
			    !touched(p, in->v[k], true) && !in_list(p->in, p->n_in, in->v[k]))
				p->in[p->n_in++] = in->v[k];
		for (int k = 0; k < out->n; k++)
			if (out->v[k] >= 0 && (in_list(wanted->v, wanted->n, out->v[k]) || !touched(p, out->v[k], false)))
				p->out[p->n_out++] = out->v[k];
	}
	return 0;
}

/*
 * Fills in p->state by the names of the loaded network's variables, which part_write() has chosen. Returns 0, -ENOMEM, or
 * -ENOTSUP if a variable is not one of the interpreter's tensors.
 */
static int find_state(struct finder *f, struct part *p)
{
	struct weft_port port;

	p->n_state = weft_net_n_variables(p->weft.net);
	p->state = calloc((size_t)p->n_state + 1, sizeof(*p->state));
	if (!p->state)
		return out_of_memory(f);
	for (int i = 0; i < p->n_state; i++) {
		char *end;
		if (weft_net_variable(p->weft.net, i, &port))
			return -ENOTSUP;
		long t = strtol(port.name, &end, 10);
		if (*end != '@' || t < 0 || (size_t)t >= f->g->rt->n_tensors || !f->g->rt->tensors[t].is_variable)
			return -ENOTSUP;
		p->state[i] = (int)t;
	}
	return 0;
}

/*
 * Loads the first n nodes of f->list as a network, without a session, and counts the attempt in
 * f->loads. `wanted` are the tensors that the interpreter wants of them. Returns 0 with the part in
 * *out, -ENOMEM, or another negative errno if they do not load.
 */
static int load(struct finder *f, int n, const struct rt_ints *wanted, struct part **out)
{
	struct part *p = calloc(1, sizeof(*p));

	f->loads++;
	if (p)
		p->ops = calloc((size_t)n, sizeof(*p->ops));
	if (!p || !p->ops) {
		part_free(p);
		return out_of_memory(f);
	}
	p->n = n;
	p->number = f->n_parts;
	p->weft.options = *f->d->options;
	for (int i = 0; i < n; i++)
		p->ops[i] = *f->list[i];
	int err = find_edges(f, p, wanted);
	p->shapes = f->g->shapes;
	if (!err)
		err = part_load(f->g->rt, p, false, &p->weft.net, f->msg);
	p->shapes = NULL;
	if (!err)
		err = find_state(f, p);
	if (err) {
		part_free(p);
		return err;
	}
	*out = p;
	return 0;
}

/*
 * Opens a part's session on the parts' common device and notes its multiplications, all and those on
 * the NPU. Returns 0, or a negative errno of plugin_open() or weft_session_plan() with one line in f->msg; the
 * part is the caller's to free in each case.
 */
static int open_part(struct finder *f, struct part *p)
{
	struct weft_report *r = NULL;
	int threads = f->g->rt->threads;
	int err = plugin_open(&p->weft, f->d->options, p->number, threads > 1 ? (unsigned)threads : 1,
	                      &f->device, f->msg);

	if (!err)
		err = weft_session_plan(p->weft.session, &r, f->msg);
	if (err)
		return err;
	p->npu_macs = r->macs;
	for (int i = 0; i < r->n_ops; i++)
		p->macs += r->ops[i].macs;
	weft_report_free(r);
	return 0;
}

/* Returns the graph's node that has this number of the interpreter; NULL if there is none. */
static struct op *op_of(const struct graph *g, int node)
{
	for (int i = 0; i < g->n; i++)
		if (g->ops[i].i == node)
			return &g->ops[i];
	return NULL;
}

/* Clears `candidate` of the first n nodes of f->list in the graph. */
static void drop(struct finder *f, int n)
{
	for (int i = 0; i < n; i++)
		op_of(f->g, f->list[i]->i)->candidate = false;
}

/*
 * Of the first n nodes of f->list, which do not load together, finds by bisection the first with which
 * they do not, and makes it no candidate any more. If LOADS_MOST attempts do not suffice, it does so
 * with all n. Returns 0 or -ENOMEM.
 */
static int drop_first_bad(struct finder *f, int n, const struct rt_ints *wanted)
{
	int good = 0, bad = n;

	while (good + 1 < bad && f->loads < LOADS_MOST) {
		int middle = (good + bad) / 2;
		struct part *p;
		int err = load(f, middle, wanted, &p);
		if (err == -ENOMEM)
			return err;
		if (err) {
			bad = middle;
		} else {
			part_free(p);
			good = middle;
		}
	}
	if (good + 1 < bad)
		drop(f, n);
	else
		op_of(f->g, f->list[bad - 1]->i)->candidate = false;
	return 0;
}

/* Says whether a part with exactly these nodes is among those that are ready. */
static bool is_ready(const struct finder *f, const struct rt_ints *nodes)
{
	for (const struct part *p = f->d->ready; p; p = p->next)
		if (part_is(p, nodes))
			return true;
	return false;
}

/*
 * Makes a part of the interpreter's ready (f->d->ready), if the NPU has multiplications to do in it; one
 * that is ready already stays so. Otherwise it makes nodes of the part no candidates any more: the first
 * bad one if it does not load; all if it has no multiplications, none for the NPU, LOADS_MOST attempts
 * have been made, or opening its session gives -ENOTSUP. f->list is overwritten. Returns 1 if it
 * took candidates away, 0 if the part is ready, or a negative errno with one line in f->msg: no memory,
 * or another failure to open the session.
 */
static int try_part(struct finder *f, const struct rt_part *of)
{
	uint64_t macs = 0;
	struct part *p = NULL;

	if (is_ready(f, of->nodes))
		return 0;
	for (int i = 0; i < of->nodes->n; i++) {
		f->list[i] = op_of(f->g, of->nodes->v[i]);
		macs += macs_of(f->g, f->list[i]);
	}
	if (!macs || f->loads >= LOADS_MOST) {
		drop(f, of->nodes->n);
		return 1;
	}
	int err = load(f, of->nodes->n, of->outputs, &p);
	if (err)
		return err == -ENOMEM || (err = drop_first_bad(f, of->nodes->n, of->outputs)) ? err : 1;
	err = open_part(f, p);
	if (err || !p->npu_macs) {
		part_free(p);
		if (!err || err == -ENOTSUP)
			drop(f, of->nodes->n);
		return err && err != -ENOTSUP ? err : 1;
	}
	p->next = f->d->ready;
	f->d->ready = p;
	f->n_parts++;
	return 0;
}

/* Frees the parts that are ready but not among the n that the interpreter would make now. */
static void forget_others(struct delegate *d, const struct rt_part *parts, int n)
{
	for (struct part **p = &d->ready; *p;) {
		bool is = false;
		for (int i = 0; i < n; i++)
			is |= part_is(*p, parts[i].nodes);
		if (is) {
			p = &(*p)->next;
			continue;
		}
		struct part *old = *p;
		*p = old->next;
		part_free(old);
	}
}

/*
 * Asks the interpreter for its parts and tries each, again until every one is ready; each time those that
 * it would not make now are freed. *nodes is freed first and becomes, from malloc, all nodes of the
 * parts, which may be none. Returns 0; or a negative errno with one line in f->msg: -ENOMEM, -EIO if the
 * interpreter does not answer, or as try_part().
 */
static int settle(struct finder *f, struct rt_ints **nodes)
{
	for (;;) {
		struct rt_part *parts = NULL;
		int n = 0, taken = 0;
		free(*nodes);
		*nodes = candidates(f->g);
		if (!*nodes)
			return out_of_memory(f);
		if (!(*nodes)->n)
			break;
		if (f->g->rt->preview(f->g->rt, *nodes, &parts, &n) || n < 0 || (n && !parts)) {
			snprintf(f->msg, WEFT_MSG_LEN, "the runtime does not say how it cuts the graph");
			return -EIO;
		}
		forget_others(f->d, parts, n);
		for (int i = 0; i < n; i++) {
			int err = try_part(f, &parts[i]);
			if (err < 0)
				return err;
			taken |= err;
		}
		if (!taken)
			return 0;
	}
	forget_others(f->d, NULL, 0);
	return 0;
}

/*
 * Finds the parts of the graph that the library takes; they are opened and left in d->ready. Sets
 * `candidate` of all nodes of g. *nodes, which is NULL before, becomes all nodes of the parts, from
 * malloc; the caller frees it, also after a failure. Returns 0, also if there are no parts; or a negative
 * errno with msg: no memory, the interpreter does not say how it cuts the graph, or a session cannot be
 * opened for another reason than -ENOTSUP.
 */
int find_parts(struct delegate *d, struct graph *g, struct rt_ints **nodes, char msg[static WEFT_MSG_LEN])
{
	struct finder f = { .d = d, .g = g, .msg = msg, .list = calloc((size_t)g->n + 1, sizeof(*f.list)) };

	/* Over several cards each run begins anywhere, and with no state. */
	const bool with_state = d->options->device != WEFT_DEVICE_USB || !weft_cards_named(d->options->usb[0] ? d->options->usb : NULL);

	if (!f.list)
		return out_of_memory(&f);
	for (int i = 0; i < g->n; i++)
		g->ops[i].candidate = may_take(g, &g->ops[i], with_state);
	int err = settle(&f, nodes);
	plugin_leave(f.device);
	free(f.list);
	return err;
}
