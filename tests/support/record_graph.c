/* SPDX-License-Identifier: Apache-2.0 */
#include "record_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userlib/run/internal.h"

#define MOST 256

static struct {
	weft_graph *g;
	struct { const weft_tensor *p; int t; } known[MOST];
	int n_known;
	weft_tensor in[MOST];
	bool broken;               /* more than there is room for */
} rec;

static char why[WEFT_MSG_LEN];

void record_begin(void)
{
	record_end();
	rec.g = weft_graph_new("recorded");
	rec.broken = !rec.g;
}

void record_end(void)
{
	for (int i = 0; rec.g && i < rec.g->n_inputs; i++)
		free(rec.in[i].data);
	weft_graph_free(rec.g);
	memset(&rec, 0, sizeof(rec));
}

void record_forget(const weft_tensor *t)
{
	for (int i = 0; i < rec.n_known; i++)
		if (rec.known[i].p == t)
			rec.known[i--] = rec.known[--rec.n_known];
}

static int find(const weft_tensor *t)
{
	for (int i = 0; i < rec.n_known; i++)
		if (rec.known[i].p == t)
			return rec.known[i].t;
	return -1;
}

static void know(const weft_tensor *p, int t)
{
	record_forget(p);
	if (rec.n_known == MOST || t < 0)
		rec.broken = true;
	else
		rec.known[rec.n_known].p = p, rec.known[rec.n_known++].t = t;
}

static void list(int **of, int *n, int t)
{
	int *p = realloc(*of, ((size_t)*n + 1) * sizeof(*p));

	if (!p || *n == MOST || t < 0) {
		rec.broken = true;
		return;
	}
	*of = p;
	p[(*n)++] = t;
}

static int add(const weft_tensor *x, bool input)
{
	void *copy = malloc(weft_tensor_bytes(x) + 1);
	char name[32];
	int t;

	if (!copy)
		return -1;
	memcpy(copy, x->data, weft_tensor_bytes(x));
	snprintf(name, sizeof(name), "%s%d", input ? "x" : "c", rec.g->n_tensors);
	if (!input)
		return weft_graph_const(rec.g, name, x->dtype, x->rank, x->dim, copy);
	t = weft_graph_tensor(rec.g, name, x->dtype, x->rank, x->dim);
	if (t < 0 || rec.g->n_inputs == MOST) {
		free(copy);
		return -1;
	}
	rec.g->tensors[t].is_input = true;
	rec.in[rec.g->n_inputs] = *x;
	rec.in[rec.g->n_inputs].data = copy;
	list(&rec.g->inputs, &rec.g->n_inputs, t);
	return t;
}

/* Is operand k data, not weights, biases or multipliers? */
static bool is_data(weft_opcode op, int k)
{
	return k == 0 || op == WEFT_OP_ADD || op == WEFT_OP_MUL || op == WEFT_OP_MATMUL || op == WEFT_OP_CONCAT ||
	       op == WEFT_OP_MAXIMUM || op == WEFT_OP_MINIMUM;
}

void record_op(weft_opcode op, const weft_attr *attr, const weft_tensor *const *x, int n, const weft_tensor *y)
{
	int in[8], made = 0, out;
	char name[32];

	if (!rec.g || rec.broken || n > 8)
		return;
	for (int i = 0; i < n; i++)
		made += find(x[i]) >= 0;
	/* Parts of what is given are given. */
	if (!made && (op == WEFT_OP_SLICE || op == WEFT_OP_RESHAPE || op == WEFT_OP_TRANSPOSE)) {
		record_forget(y);
		return;
	}
	for (int i = 0; i < n; i++) {
		in[i] = find(x[i]);
		if (in[i] < 0)
			in[i] = add(x[i], is_data(op, i));
		rec.broken |= in[i] < 0;
	}
	snprintf(name, sizeof(name), "t%d", rec.g->n_tensors);
	out = weft_graph_tensor(rec.g, name, y->dtype, y->rank, y->dim);
	int src = weft_graph_src(rec.g, rec.g->n_srcs, weft_op_name(op));
	if (rec.broken || out < 0 || src < 0 || weft_graph_op(rec.g, op, attr, src, in, n, &out, 1) < 0) {
		rec.broken = true;
		return;
	}
	know(y, out);
}

static const char *run_compiled(struct weft_net *net, const weft_tensor *y, enum weft_device device)
{
	struct weft_session_options o = weft_session_options_default();
	const char *bad = NULL;
	weft_session *s;
	weft_tensor out;

	o.device = device;
	o.check = true;
	if (weft_session_open(net, &o, &s, why))
		return why;
	if (weft_session_run(s, rec.in, &out, NULL, why)) {
		bad = why;
	} else {
		bad = memcmp(out.data, y->data, weft_tensor_bytes(y)) ? "the device's result is another" : NULL;
		weft_tensor_release(&out);
	}
	weft_session_close(s);
	return bad;
}

const char *record_run(const weft_tensor *y, enum weft_device device, struct record_run *run)
{
	struct weft_compile_options o = { .config = "w16" };
	struct weft_net net = { .g = rec.g };
	int t = find(y);

	if (!rec.g || rec.broken || t < 0)
		return "it could not be recorded";
	rec.g->tensors[t].is_output = true;
	list(&rec.g->outputs, &rec.g->n_outputs, t);
	if (weft_graph_check(rec.g, why) || weft_compile(rec.g, &o, &net.loaded, why))
		return why;
	for (int i = 0; i < net.loaded->n_ops; i++) {
		run->npu_ops += net.loaded->ops[i].unit == WEFT_ON_NPU;
		run->host_ops += net.loaded->ops[i].unit == WEFT_ON_HOST;
	}
	const char *bad = run_compiled(&net, y, device);
	weft_program_free(net.loaded);
	return bad;
}
