/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three small networks with random weights, compiled and run as any other, every tensor
 * compared with golden.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "userlib/diag/diag.h"
#include "userlib/run/internal.h"

/*
 * A network that is being built. n counts the names given so far. The first failure stays in err, a
 * negative errno; later calls do nothing and return -1, or a negative errno, as tensor index.
 */
struct builder { weft_graph *g; uint64_t seed; int err, n; };

/* Notes index in b->err if it is a negative errno and the first one. Returns index. */
static int took(struct builder *b, int index)
{
	if (index < 0 && !b->err)
		b->err = index;
	return index;
}

/*
 * Adds a tensor of type t and shape [1, h, w, c]. Returns its index in the graph, or a negative number
 * after a failure.
 */
static int tensor(struct builder *b, weft_dtype t, int64_t h, int64_t w, int64_t c)
{
	char name[16];

	snprintf(name, sizeof(name), "t%d", b->n++);
	return b->err ? -1 : took(b, weft_graph_tensor(b->g, name, t, 4, (int64_t[]){ 1, h, w, c }));
}

/*
 * Adds a constant of the given type, rank and dimensions. data is its memory from malloc, which the
 * graph or this function frees; NULL means that memory ran out. Returns the tensor's index, or a
 * negative number after a failure, which is noted in the builder.
 */
static int constant(struct builder *b, weft_dtype t, int rank, const int64_t *dim, void *data)
{
	char name[16];

	snprintf(name, sizeof(name), "c%d", b->n++);
	if (!data || b->err) {
		took(b, -ENOMEM);
		free(data);
		return -1;
	}
	return took(b, weft_graph_const(b->g, name, t, rank, dim, data));
}

/*
 * Adds an operator with attributes a (may be NULL), the n_in tensors `in` and one output. Does nothing
 * after a failure.
 */
static void op(struct builder *b, weft_opcode code, const weft_attr *a, const int *in, int n_in, int out)
{
	if (!b->err)
		took(b, weft_graph_op(b->g, code, a, 0, in, n_in, &out, 1));
}

/* Returns dimension i of tensor t; 1 after a failure. */
static int64_t dim_of(const struct builder *b, int t, int i)
{
	return b->err ? 1 : b->g->tensors[t].t.dim[i];
}

/*
 * Adds a RESCALE of tensor x by mul / 2^shift to type `to`, rounded once. narrow: x holds sums of 48
 * bits, and mul has 16 bits instead of 32. Returns the result's tensor index, or a negative number
 * after a failure.
 */
static int rescale(struct builder *b, int x, int64_t mul, int shift, weft_dtype to, bool narrow)
{
	weft_attr a = { .rescale = { .scale32 = !narrow, .rounding = WEFT_SINGLE_ROUND } };
	int32_t *m = calloc(1, sizeof(*m));
	int8_t *s = calloc(1, 1);

	if (m && narrow)
		*(int16_t *)(void *)m = (int16_t)mul;
	else if (m)
		*m = (int32_t)mul;
	if (s)
		*s = (int8_t)shift;
	const int multiplier = constant(b, narrow ? WEFT_INT16 : WEFT_INT32, 1, (int64_t[]){ 1 }, m);
	const int in[3] = { x, multiplier, constant(b, WEFT_INT8, 1, (int64_t[]){ 1 }, s) };
	int y = tensor(b, to, dim_of(b, x, 1), dim_of(b, x, 2), dim_of(b, x, 3));
	op(b, WEFT_OP_RESCALE, &a, in, 3, y);
	return y;
}

/*
 * Adds a convolution of k by k (k odd) that keeps height and width of x (int8, or int16 with sums of 48
 * bits), with random weights and biases, and a RESCALE of its sums to x's type. oc is the number of
 * output channels; 0 makes it a depthwise convolution, which has as many as x. Returns the result's
 * tensor index, or a negative number after a failure, which is noted in b->err.
 */
static int conv(struct builder *b, int x, int64_t k, int64_t oc)
{
	bool depthwise = oc == 0, wide = !b->err && b->g->tensors[x].t.dtype == WEFT_INT16;
	int64_t c = dim_of(b, x, 3), outs = depthwise ? c : oc, n = k * k * c * (depthwise ? 1 : oc);
	weft_dtype acc = wide ? WEFT_INT48 : WEFT_INT32;
	int pad = (int)k / 2;
	weft_attr a = { .conv = { .pad = { pad, pad, pad, pad }, .stride = { 1, 1 }, .dilation = { 1, 1 }, .acc = acc } };
	const int64_t full[4] = { oc, k, k, c }, deep[4] = { k, k, c, 1 };
	int8_t *w = malloc((size_t)n);
	void *bias = calloc((size_t)outs, wide ? 8 : 4);

	for (int64_t i = 0; w && i < n; i++)
		w[i] = (int8_t)diag_random(&b->seed);
	for (int64_t i = 0; bias && i < outs; i++) {
		int32_t v = (int32_t)(diag_random(&b->seed) % 20000) - 10000;
		if (wide)
			((int64_t *)bias)[i] = v;
		else
			((int32_t *)bias)[i] = v;
	}
	const int weights = constant(b, WEFT_INT8, 4, depthwise ? deep : full, w);
	const int in[3] = { x, weights, constant(b, acc, 1, &outs, bias) };
	int y = tensor(b, acc, dim_of(b, x, 1), dim_of(b, x, 2), outs);
	op(b, depthwise ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &a, in, 3, y);
	return wide ? rescale(b, y, 20000, 26, WEFT_INT16, true) : rescale(b, y, INT64_C(1) << 30, 39, WEFT_INT8, false);
}

/*
 * Adds a MAX_POOL2D of 2x2 with stride 2 over the int8 tensor x. Returns the result's tensor index, or
 * a negative number after a failure.
 */
static int pool(struct builder *b, int x)
{
	weft_attr a = { .pool = { .kernel = { 2, 2 }, .stride = { 2, 2 }, .acc = WEFT_INT32 } };
	int y = tensor(b, WEFT_INT8, dim_of(b, x, 1) / 2, dim_of(b, x, 2) / 2, dim_of(b, x, 3));

	op(b, WEFT_OP_MAX_POOL2D, &a, &x, 1, y);
	return y;
}

/*
 * Adds the quantised sum of two int8 tensors of the same shape: each is rescaled to int32, they are
 * added, and the sum is rescaled to int8. Returns the result's tensor index, or a negative number after
 * a failure.
 */
static int add(struct builder *b, int x, int other)
{
	const int first = rescale(b, x, 1 << 30, 20, WEFT_INT32, false);
	const int in[2] = { first, rescale(b, other, 1 << 30, 21, WEFT_INT32, false) };
	int sum = tensor(b, WEFT_INT32, dim_of(b, x, 1), dim_of(b, x, 2), dim_of(b, x, 3));

	op(b, WEFT_OP_ADD, NULL, in, 2, sum);
	return rescale(b, sum, 1 << 30, 41, WEFT_INT8, false);
}

/*
 * Builds test network `which`: 0 has convolutions and pooling (input 8x8x5), 1 a depthwise convolution
 * and a residual sum (8x8x20), 2 two convolutions in int16x8, or in int8 unless int16 is set (8x8x5).
 * Returns it with one input and one output, for the caller to free; NULL if memory ran out.
 */
static weft_graph *make(int which, bool int16)
{
	struct builder b = { .g = weft_graph_new("diag"), .seed = 0x77 + (unsigned)which };
	weft_dtype t = which == 2 && int16 ? WEFT_INT16 : WEFT_INT8;

	if (!b.g)
		return NULL;
	took(&b, weft_graph_src(b.g, 0, "diag"));
	int x = tensor(&b, t, 8, 8, which == 1 ? 20 : 5), y;
	if (which == 0)
		y = conv(&b, pool(&b, conv(&b, x, 3, 24)), 1, 10);
	else if (which == 1)
		y = add(&b, conv(&b, conv(&b, x, 3, 0), 1, 20), x);
	else
		y = conv(&b, conv(&b, x, 3, 12), 3, 7);
	int *ends = malloc(sizeof(*ends)), *starts = malloc(sizeof(*starts));
	if (b.err || !ends || !starts) {
		free(ends);
		free(starts);
		weft_graph_free(b.g);
		return NULL;
	}
	*starts = x;
	*ends = y;
	b.g->inputs = starts;
	b.g->outputs = ends;
	b.g->n_inputs = b.g->n_outputs = 1;
	b.g->tensors[x].is_input = b.g->tensors[y].is_output = true;
	return b.g;
}

/*
 * Builds network `which` and runs it with random input through the compiler and a session of its own on
 * a device like d's, with its planted fault, and with every tensor compared with golden; its elements
 * and cycles are added to d->r. The first difference is DIAG-NET-1; a run that fails with -EIO,
 * -ETIMEDOUT, or a difference of which nothing is known, is DIAG-NET-2. Both return 0; any other
 * failure becomes the note (but not -ENOMEM while building), and its negative errno is returned.
 */
static int run_net(struct weft_diag *d, int which)
{
	static const char *const names[] = { "convolutions", "depthwise and sum", "int16x8" };
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_graph *g = make(which, d->cfg->has_int16);
	weft_net *net = calloc(1, sizeof(*net));
	weft_session *s = NULL;
	struct weft_report *rep = NULL;
	weft_tensor out = { 0 };
	uint64_t seed = 0x1ead + (unsigned)which;

	if (!g || !net) {
		weft_graph_free(g);
		free(net);
		return -ENOMEM;
	}
	net->graph = g;
	net->g = g;
	o.device = d->o.kind == WEFT_DEV_RTL ? WEFT_DEVICE_RTL : d->o.kind == WEFT_DEV_USB ? WEFT_DEVICE_USB : WEFT_DEVICE_MODEL;
	o.config = d->cfg->name;
	o.memory = d->o.memory;
	o.rtl_dir = d->o.rtl_dir;
	o.usb = d->o.usb;
	o.plant = d->plant;
	o.check = true;
	weft_tensor in = g->tensors[g->inputs[0]].t;
	size_t bytes = (size_t)weft_tensor_bytes(&in);
	in.data = malloc(bytes);
	for (size_t i = 0; in.data && i < bytes; i++)
		((uint8_t *)in.data)[i] = (uint8_t)diag_random(&seed);
	int err = in.data ? weft_session_open(net, &o, &s, msg) : -ENOMEM;
	if (!err)
		err = weft_session_run(s, &in, &out, &rep, msg);
	if (rep) {
		d->r->checks += rep->elements;
		d->r->cycles += rep->cycles;
	}
	if (err == -EBADMSG && rep && rep->first.found)
		diag_find(d, "DIAG-NET-1", DIAG_NOWHERE, "network \"%s\": operator %d %s, element %lld is %lld, not %lld; %llu elements differ",
		          names[which], rep->first.op, rep->first.op_name, (long long)rep->first.index, (long long)rep->first.got,
		          (long long)rep->first.expected, (unsigned long long)rep->mismatches);
	else if (err == -EIO || err == -ETIMEDOUT || err == -EBADMSG)
		diag_find(d, "DIAG-NET-2", DIAG_NOWHERE, "network \"%s\": %.160s", names[which], msg);
	else if (err)
		diag_note(d, "network \"%s\": %.160s", names[which], msg);
	weft_report_free(rep);
	weft_tensor_release(&out);
	weft_session_close(s);
	weft_net_free(net);
	free(in.data);
	return err == -EBADMSG || err == -EIO || err == -ETIMEDOUT ? 0 : err;
}

/*
 * Test networks: three small networks with random weights, every tensor compared, up to the first that
 * fails with an errno. A card is closed before (d->dev and d->admin become NULL), since each network's
 * session opens it. Findings go to d->r; the state is absent if the device cannot be opened by name
 * (options with usb_ops). Returns 0 whatever it found, or a negative errno.
 */
int diag_networks(struct weft_diag *d)
{
	int err = 0;

	if (d->o.usb_ops) {
		diag_absent(d, "networks open the device by its name");
		return 0;
	}
	/* A card can be open only once; the sessions below open it. */
	if (d->o.kind == WEFT_DEV_USB) {
		weft_dev_close(d->dev);
		weft_admin_close(d->admin);
		d->dev = NULL;
		d->admin = NULL;
	}
	for (int i = 0; i < 3 && !err; i++)
		err = run_net(d, i);
	return err;
}
