/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of a part: the interpreter makes it for the nodes that it replaces, and it runs
 * their network in the interpreter's own tensors. It knows nothing of the delegate, which may
 * be destroyed while it lives.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "delegate.h"

/*
 * The kernel's init: `data` is a struct rt_part with the nodes that the interpreter has replaced. Takes
 * the part with exactly these nodes out of the delegate's list `ready`. Returns it, or NULL if there is
 * none, which prepare() reports.
 */
static void *init(struct rt_context *rt, const char *data, size_t bytes)
{
	const struct rt_part *of = (const struct rt_part *)(const void *)data;
	struct delegate *d = (struct delegate *)of->delegate;

	(void)rt;
	(void)bytes;
	for (struct part **at = &d->ready; *at; at = &(*at)->next) {
		struct part *p = *at;
		if (!part_is(p, of->nodes))
			continue;
		*at = p->next;
		p->next = NULL;
		return p;
	}
	return NULL;               /* prepare() says so */
}

/* The kernel's free: closes and frees the part p, which may be NULL. */
static void release(struct rt_context *rt, void *p)
{
	(void)rt;
	part_free(p);
}

/* Says whether the interpreter's tensor has type and shape of the network's port. */
static bool same(const struct rt_tensor *t, const struct weft_port *port)
{
	if (dtype_of(t->type) != port->dtype || !t->dims || t->dims->n != port->rank)
		return false;
	for (int i = 0; i < port->rank; i++)
		if (t->dims->v[i] != port->dim[i])
			return false;
	return true;
}

/*
 * Says whether the part has a session and its network's inputs have the types and shapes of the
 * interpreter's tensors now. A part without inputs always fits: nothing replaces its network, so the
 * session with which it came stays.
 */
static bool fits(const struct rt_context *rt, const struct part *p)
{
	struct weft_port port;

	for (int i = 0; i < p->n_in; i++)
		if (!p->weft.session || weft_net_input(p->weft.net, i, &port) || !same(&rt->tensors[p->in[i]], &port))
			return false;
	return true;
}

/*
 * Replaces the part's network and session by those for the shapes that its inputs have now; the shapes of
 * its results are open. Returns 0 or a negative errno with one line in msg. If the network does not load,
 * the part stays as it was; if the session does not open, the part has the new network and no session.
 */
static int load_again(struct rt_context *rt, struct part *p, char msg[static WEFT_MSG_LEN])
{
	weft_net *net = NULL;
	int err = part_load(rt, p, true, &net, msg);

	return err ? err : plugin_replace(&p->weft, net, rt->threads > 1 ? (unsigned)rt->threads : 1, msg);
}

/*
 * Gives the interpreter's tensor the shape of the network's port, if it has another. Returns 0; -ENOMEM;
 * or -EINVAL if the interpreter does not resize it or its type is another.
 */
static int shape_output(struct rt_context *rt, struct rt_tensor *t, const struct weft_port *port)
{
	struct rt_ints *dims;

	if (same(t, port))
		return 0;
	dims = malloc(sizeof(*dims) + WEFT_MAX_RANK * sizeof(dims->v[0]));
	if (!dims)
		return -ENOMEM;
	dims->n = port->rank;
	for (int i = 0; i < port->rank; i++)
		dims->v[i] = (int)port->dim[i];
	return rt->resize(rt, t, dims) || !same(t, port) ? -EINVAL : 0;
}

void report_line(struct rt_context *rt, const char *line)
{
	rt->report(rt, "Weft: %s\n", line);
}

/*
 * The kernel's prepare: loads the part again if the types or shapes of its inputs are others than its
 * network's, and gives its outputs the network's shapes. Returns TFL_OK, or TFL_DELEGATE_ERROR, which it
 * has reported, also if init() found no part.
 */
static int prepare(struct rt_context *rt, struct rt_node *node)
{
	struct part *p = node->user_data;
	char msg[WEFT_MSG_LEN] = "the runtime has replaced other nodes than it said";
	struct weft_port port;
	int err = 0;

	if (!p || (!fits(rt, p) && load_again(rt, p, msg))) {
		report_line(rt, msg);
		return TFL_DELEGATE_ERROR;
	}
	for (int i = 0; !err && i < p->n_out; i++) {
		struct rt_tensor *t = &rt->tensors[p->out[i]];
		err = weft_net_output(p->weft.net, i, &port) ? -EINVAL : shape_output(rt, t, &port);
		if (err) {
			snprintf(msg, sizeof(msg), "tensor %d \"%.80s\" is not what the network makes", p->out[i], t->name ? t->name : "");
			report_line(rt, msg);
		}
	}
	return err ? TFL_DELEGATE_ERROR : TFL_OK;
}

/* Returns the library's view of an interpreter's tensor, with its data where they are. */
static weft_tensor view(const struct rt_tensor *t)
{
	weft_tensor v = { .dtype = dtype_of(t->type), .rank = t->dims->n, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = t->data };

	for (int i = 0; i < t->dims->n && i < WEFT_MAX_RANK; i++)
		v.dim[i] = t->dims->v[i];
	return v;
}

/*
 * Copies the part's state from the interpreter's tensors, which have it between runs, into the session's variables or, after
 * a run (`back`), the other way. Returns 0, or a negative errno with one line in msg.
 */
static int move_state(const struct rt_context *rt, const struct part *p, bool back, char msg[static WEFT_MSG_LEN])
{
	for (int i = 0; i < p->n_state; i++) {
		const weft_tensor v = view(&rt->tensors[p->state[i]]);
		int err = back ? weft_session_get_variable(p->weft.session, i, &v) : weft_session_set_variable(p->weft.session, i, &v);
		if (!err)
			continue;
		snprintf(msg, WEFT_MSG_LEN, "tensor %d, a state, is not what the network keeps", p->state[i]);
		return err;
	}
	return 0;
}

/*
 * The kernel's invoke: runs the network once, in the interpreter's own tensors. Returns TFL_OK, or
 * TFL_DELEGATE_ERROR, which it has reported.
 */
static int invoke(struct rt_context *rt, struct rt_node *node)
{
	const struct part *p = node->user_data;
	weft_tensor *t = calloc((size_t)(p->n_in + p->n_out) + 1, sizeof(*t));
	char msg[WEFT_MSG_LEN];

	if (!t) {
		report_line(rt, "not enough memory");
		return TFL_DELEGATE_ERROR;
	}
	for (int i = 0; i < p->n_in; i++)
		t[i] = view(&rt->tensors[p->in[i]]);
	for (int i = 0; i < p->n_out; i++)
		t[p->n_in + i] = view(&rt->tensors[p->out[i]]);
	int err = move_state(rt, p, false, msg);
	if (!err)
		err = plugin_run(&p->weft, t, t + p->n_in, msg);
	if (!err)
		err = move_state(rt, p, true, msg);
	free(t);
	if (!err)
		return TFL_OK;
	report_line(rt, msg);
	return TFL_DELEGATE_ERROR;
}

struct rt_kernel part_kernel(void)
{
	return (struct rt_kernel){ .init = init, .free = release, .prepare = prepare, .invoke = invoke, .builtin_code = RT_DELEGATE,
	                           .custom_name = "WeftDelegate", .version = 1 };
}
