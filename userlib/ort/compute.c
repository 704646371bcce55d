/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider's Compile and Compute: each part that the provider took becomes a network with a
 * session, and runs in the memory of ONNX Runtime's tensors.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "ep.h"

/* A fused node; ort comes first, so that a pointer to it is one to this. */
struct fused {
	struct ort_compute ort;
	const struct ort_api *api;
	struct kept *kept;
	int n_in, n_out;           /* numbers of the network's inputs and outputs */
	size_t *in, *out;          /* for each of them its number at the fused node */
};

int part_load(const struct provider *p, const struct part *part, weft_net **net, char msg[static WEFT_MSG_LEN])
{
	struct weft_load_options o = weft_load_options_default();
	uint8_t *bytes;
	size_t len;
	int err = part_write(p->api, part, &bytes, &len, msg);

	if (err)
		return err;
	o.requant_rescale = p->options.rescale;
	o.requant_runtime = p->options.requant_runtime;
	o.requant_avx2 = p->options.requant_avx2;
	err = weft_net_load_with(bytes, len, "part.onnx", &o, net, msg);
	free(bytes);
	return err;
}

/*
 * Makes *t a tensor of the library that lies in the memory of v. Returns false, and *t is not to be used,
 * if v is NULL or no tensor, its rank is above WEFT_MAX_RANK, its type cannot be exchanged, or a call
 * fails.
 */
static bool view(const struct ort_api *api, const struct ort_value *v, weft_tensor *t)
{
	struct ort_shape *s;
	size_t rank = 0;
	int type = 0;

	*t = (weft_tensor){ .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	if (!v || !ort_ok(api, api->value_shape(v, &s)))
		return false;
	bool good = ort_ok(api, api->element_type(s, &type)) && ort_ok(api, api->rank(s, &rank)) && rank <= WEFT_MAX_RANK &&
	            ort_ok(api, api->dimensions(s, t->dim, rank));
	api->release_shape(s);
	t->rank = (int)rank;
	t->dtype = dtype_of(type);
	return good && t->dtype && ort_ok(api, api->mutable_data((struct ort_value *)v, &t->data));
}

/*
 * Makes in[] the network's inputs, which lie in the memory of the kernel's inputs. Returns NULL, or a
 * status if one cannot be read.
 */
static struct ort_status *take_inputs(const struct fused *f, struct ort_kernel *k, weft_tensor *in)
{
	for (int i = 0; i < f->n_in; i++) {
		const struct ort_value *v = NULL;
		struct ort_status *status = f->api->kernel_input(k, f->in[i], &v);
		if (status)
			return status;
		if (!view(f->api, v, &in[i]))
			return fail_ort(f->api, ORT_INVALID_ARGUMENT, ORT_PROVIDER ": input %d is no tensor that can be read", i);
	}
	return NULL;
}

/*
 * Lets ONNX Runtime make the fused node's outputs with the network's shapes, and makes out[] the
 * network's outputs, which lie in their memory. Returns NULL, or a status if one cannot be made.
 */
static struct ort_status *make_outputs(const struct fused *f, struct ort_kernel *k, weft_tensor *out)
{
	for (int i = 0; i < f->n_out; i++) {
		struct ort_value *v = NULL;
		struct weft_port p;
		if (weft_net_output(f->kept->part.net, i, &p))
			return fail_ort(f->api, ORT_FAIL, ORT_PROVIDER ": there is no output %d", i);
		struct ort_status *status = f->api->kernel_output(k, f->out[i], p.dim, (size_t)p.rank, &v);
		if (status)
			return status;
		if (!view(f->api, v, &out[i]))
			return fail_ort(f->api, ORT_FAIL, ORT_PROVIDER ": output %d is no tensor that can be written", i);
	}
	return NULL;
}

/*
 * Runs the fused node c once on kernel k's inputs into its outputs. Several threads may call it at the
 * same time: the session runs one after another. state does not matter. Returns NULL or a status with the
 * reason: ORT_INVALID_ARGUMENT if the run returned -EINVAL, ORT_EP_FAIL for its other errors, ORT_FAIL
 * without memory, or that of an input or output.
 */
static struct ort_status *compute(struct ort_compute *c, void *state, struct ort_kernel *k)
{
	const struct fused *f = (const struct fused *)c;
	weft_tensor *t = calloc((size_t)(f->n_in + f->n_out) + 1, sizeof(*t));
	char msg[WEFT_MSG_LEN];

	(void)state;
	if (!t)
		return fail_ort(f->api, ORT_FAIL, ORT_PROVIDER ": not enough memory");
	struct ort_status *status = take_inputs(f, k, t);
	if (!status)
		status = make_outputs(f, k, t + f->n_in);
	if (!status) {
		int err = plugin_run(&f->kept->part, t, t + f->n_in, msg);
		if (err)
			status = fail_ort(f->api, err == -EINVAL ? ORT_INVALID_ARGUMENT : ORT_EP_FAIL, ORT_PROVIDER ": %s", msg);
	}
	free(t);
	return status;
}

/*
 * Makes the state of a fused node for ONNX Runtime, which is the node itself: its session serves all
 * threads. Returns NULL.
 */
static struct ort_status *create_state(struct ort_compute *c, void *context, void **state)
{
	(void)context;
	*state = c;
	return NULL;
}

/* Nothing has to be released: see create_state(). */
static void release_state(struct ort_compute *c, void *state)
{
	(void)c;
	(void)state;
}

/* Closes the session and frees everything of a fused node; NULL is fine. */
static void fused_free(struct fused *f)
{
	if (!f)
		return;
	if (f->kept)
		plugin_close(&f->kept->part);
	free(f->kept);
	free(f->in);
	free(f->out);
	free(f);
}

/*
 * Looks for the value called `name` among n values. Returns 0 with its index in *at, or -EINVAL with n in
 * *at if there is none.
 */
static int find_port(const struct ort_api *api, const char *name, const struct ort_value_info **values, size_t n, size_t *at)
{
	for (*at = 0; *at < n; ++*at)
		if (!strcmp(name, name_of(api, values[*at])))
			return 0;
	return -EINVAL;
}

/*
 * Finds the number, at the fused node, of each of the network's inputs and outputs, by name, and notes it
 * in f->in and f->out, which it allocates, with their lengths. The fused node must have as many outputs
 * as the network. Returns 0, -ENOMEM, or -EINVAL if a name or the number of outputs does not fit. msg is
 * overwritten in each case; after a failure it has the reason.
 */
static int find_ports(struct fused *f, const struct part *part, char msg[static WEFT_MSG_LEN])
{
	struct weft_port p = { .name = "" };
	int err = 0;

	f->n_in = weft_net_n_inputs(f->kept->part.net);
	f->n_out = weft_net_n_outputs(f->kept->part.net);
	f->in = calloc((size_t)f->n_in + 1, sizeof(f->in[0]));
	f->out = calloc((size_t)f->n_out + 1, sizeof(f->out[0]));
	snprintf(msg, WEFT_MSG_LEN, "not enough memory");
	if (!f->in || !f->out)
		return -ENOMEM;
	for (int i = 0; !err && i < f->n_in; i++)
		err = weft_net_input(f->kept->part.net, i, &p) ? -EINVAL : find_port(f->api, p.name, part->in, part->n_in, &f->in[i]);
	for (int i = 0; !err && i < f->n_out; i++)
		err = weft_net_output(f->kept->part.net, i, &p) ? -EINVAL : find_port(f->api, p.name, part->out, part->n_out, &f->out[i]);
	if (!err && f->n_out != (int)part->n_out)
		err = -EINVAL;
	if (err)
		snprintf(msg, WEFT_MSG_LEN, "the fused node has %zu outputs, the network %d, or no value is called \"%.64s\"", part->n_out, f->n_out, p.name);
	return err;
}

/*
 * Says whether the kept part k is that of a fused node: it has as many nodes and outputs, and each of
 * its inputs and outputs has the name of one of the fused node.
 */
static bool is_kept(const struct provider *p, const struct kept *k, const struct part *part)
{
	struct weft_port port;
	size_t at;
	bool same = k->n_nodes == part->n && weft_net_n_outputs(k->part.net) == (int)part->n_out;

	for (int i = 0; same && i < weft_net_n_inputs(k->part.net); i++)
		same = !weft_net_input(k->part.net, i, &port) && !find_port(p->api, port.name, part->in, part->n_in, &at);
	for (int i = 0; same && i < weft_net_n_outputs(k->part.net); i++)
		same = !weft_net_output(k->part.net, i, &port) && !find_port(p->api, port.name, part->out, part->n_out, &at);
	return same;
}

/*
 * Gives f the part that was kept since GetCapability, which then leaves p->kept, or loads one now, opens
 * it on the provider's device and counts it in p->n_parts; and finds its ports at the fused node. Returns
 * 0 or a negative errno with one line in msg; the caller frees f, also after a failure.
 */
static int open_part(struct provider *p, const struct part *part, struct fused *f, char msg[static WEFT_MSG_LEN])
{
	int err = 0;

	for (struct kept **at = &p->kept; !f->kept && *at; at = &(*at)->next) {
		if (!is_kept(p, *at, part))
			continue;
		f->kept = *at;
		*at = f->kept->next;
		return find_ports(f, part, msg);
	}
	snprintf(msg, WEFT_MSG_LEN, "not enough memory");
	f->kept = calloc(1, sizeof(*f->kept));
	if (!f->kept)
		return -ENOMEM;
	/* A context is of one configuration, which may be the device's. */
	err = plugin_device(&p->options, &p->device, msg);
	if (!err)
		err = part->n == 1 && context_ours(p->api, part->nodes[0]) ? context_load(p, part->graph, part->nodes[0], &f->kept->part.net, msg)
		                                                           : part_load(p, part, &f->kept->part.net, msg);
	if (!err)
		err = find_ports(f, part, msg);
	return err ? err : plugin_open(&f->kept->part, &p->options, p->n_parts++, 0, &p->device, msg);
}

void forget_kept(struct provider *p)
{
	while (p->kept) {
		struct kept *k = p->kept;
		p->kept = k->next;
		plugin_close(&k->part);
		free(k);
	}
	plugin_leave(p->device);
	p->device = NULL;
}

/*
 * Makes what computes the fused node `fused`, whose inner nodes are those of `graph`: network and
 * session; and its EPContext node in *context, if the session asks for one. Returns 0 with it in *out, for
 * fused_free(), or a negative errno with one line in msg and nothing left: -ENOMEM also if the inner nodes
 * cannot be read, -EINVAL if the fused node cannot be read, or as open_part() and context_make().
 */
static int fused_new(struct provider *p, const struct ort_graph *graph, const struct ort_node *fused, struct fused **out,
                     struct ort_node **context, char msg[static WEFT_MSG_LEN])
{
	struct fused *f = calloc(1, sizeof(*f));
	struct node outer = { 0 };
	size_t n = 0;
	struct node *nodes = nodes_read(p->api, graph, &n);
	const struct node **list = calloc(n + 1, sizeof(*list));
	int err = f && nodes && list ? node_read(p->api, fused, &outer) : -ENOMEM;

	snprintf(msg, WEFT_MSG_LEN, "the fused node cannot be read");
	for (size_t i = 0; !err && i < n; i++)
		list[i] = &nodes[i];
	if (!err) {
		struct part part = { .graph = graph, .nodes = list, .n = n, .in = outer.in, .out = outer.out, .n_in = outer.n_in, .n_out = outer.n_out };
		f->ort = (struct ort_compute){ .version = ORT_ABI_VERSION, .create_state = create_state, .compute = compute, .release_state = release_state };
		f->api = p->api;
		err = open_part(p, &part, f, msg);
		const char *name = "";
		(void)ort_ok(p->api, p->api->node_name(fused, &name));
		if (!err && p->context.enable)
			err = context_make(p, &part, name, f->kept->part.net, context, msg);
	}
	node_free(&outer);
	free(list);
	nodes_free(nodes, n);
	if (err) {
		fused_free(f);
		return err;
	}
	*out = f;
	return 0;
}

struct ort_status *compile_parts(struct ort_ep *ep, const struct ort_graph **graphs, const struct ort_node **fused, size_t n,
                                 struct ort_compute **computes, struct ort_node **context_nodes)
{
	struct provider *p = (struct provider *)ep;
	char msg[WEFT_MSG_LEN];

	for (size_t i = 0; i < n; i++) {
		struct fused *f;
		int err = fused_new(p, graphs[i], fused[i], &f, &context_nodes[i], msg);
		if (err) {
			release_parts(ep, computes, i);
			for (size_t k = 0; p->context.enable && k < i; k++) {
				p->api->release_node(context_nodes[k]);
				context_nodes[k] = NULL;
			}
			memset(computes, 0, i * sizeof(*computes));
			return fail_ort(p->api, err == -EINVAL ? ORT_INVALID_ARGUMENT : ORT_EP_FAIL, ORT_PROVIDER ": %s", msg);
		}
		computes[i] = &f->ort;
	}
	forget_kept(p);
	return NULL;
}

void release_parts(struct ort_ep *ep, struct ort_compute **computes, size_t n)
{
	(void)ep;
	for (size_t i = 0; i < n; i++)
		fused_free((struct fused *)computes[i]);
}
