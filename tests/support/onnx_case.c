/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx_case.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <weft/convert.h>
#include <weft/weft.h>

#include "file.h"
#include "sim/golden/dtype.h"
#include "userlib/import/onnx/onnx.h"
#include "userlib/import/onnx/onnx_file.h"

#define MAX_PORTS 64

struct set { weft_tensor t[MAX_PORTS]; int n; };

static void set_release(struct set *s)
{
	for (int i = 0; i < s->n; i++)
		free(s->t[i].data);
}

/* Tensors input_<n>.pb or output_<n>.pb. False: one is no tensor that we have. */
static bool set_load(struct set *s, const char *dir, const char *kind, char *why)
{
	char path[1024];

	for (s->n = 0; s->n < MAX_PORTS; s->n++) {
		size_t len;

		snprintf(path, sizeof path, "%s/test_data_set_0/%s_%d.pb", dir, kind, s->n);
		uint8_t *p = test_file(path, &len);
		if (!p)
			break;
		int err = weft_onnx_tensor(p, len, &s->t[s->n], why);
		free(p);
		if (err)
			return false;
	}
	return true;
}

static double at(const weft_tensor *t, int64_t i)
{
	uint64_t bits = 0;
	size_t n = weft_dtype_bytes(t->dtype);

	memcpy(&bits, (const char *)t->data + (size_t)i * n, n);
	return weft_float_decode(t->dtype, bits);
}

static bool by_tolerance(weft_dtype t)
{
	return t == WEFT_FP32 || t == WEFT_FP16 || t == WEFT_BF16 || t == WEFT_FP64;
}

static bool same_element(const weft_tensor *y, const weft_tensor *want, int64_t i)
{
	const size_t size = weft_dtype_bytes(want->dtype);

	if (!memcmp((char *)y->data + (size_t)i * size, (char *)want->data + (size_t)i * size, size))
		return true;
	if (!by_tolerance(y->dtype) && !weft_is_float8(y->dtype))
		return false;
	const double a = at(y, i), b = at(want, i);
	if (weft_is_float8(y->dtype))
		return isnan(a) && isnan(b);         /* some have many codes of NaN */
	return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-7 + 1e-3 * fabs(b);
}

static bool equal(const weft_tensor *y, const weft_tensor *want, int k, char *why)
{
	const int64_t n = weft_tensor_elements(want);

	if (y->dtype != want->dtype || y->rank != want->rank || weft_tensor_elements(y) != n ||
	    memcmp(y->dim, want->dim, (size_t)y->rank * sizeof y->dim[0])) {
		snprintf(why, WEFT_MSG_LEN, "output %d: type or shape differs: %s, rank %d, %lld elements", k, weft_dtype_name(y->dtype), y->rank,
		         (long long)weft_tensor_elements(y));
		return false;
	}
	for (int64_t i = 0; i < n; i++)
		if (!same_element(y, want, i)) {
			snprintf(why, WEFT_MSG_LEN, "output %d: element %lld differs", k, (long long)i);
			return false;
		}
	return true;
}

/* The inputs that did not become constants, by name. */
static int run(weft_net *net, const struct weft_bound *given, int n_given, const struct set *want, char *why)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor x[MAX_PORTS] = { 0 }, y[MAX_PORTS] = { 0 };
	bool same = weft_net_n_outputs(net) == want->n;
	weft_session *s;

	o.device = WEFT_DEVICE_GOLDEN;
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		struct weft_port p;

		weft_net_input(net, i, &p);
		for (int k = 0; k < n_given; k++)
			if (!strcmp(given[k].name, p.name))
				x[i] = given[k].value;
	}
	int err = weft_session_open(net, &o, &s, why);
	if (err)
		return err;
	err = weft_session_run(s, x, y, NULL, why);
	if (!err && !same)
		snprintf(why, WEFT_MSG_LEN, "%d outputs, not %d", weft_net_n_outputs(net), want->n);
	for (int i = 0; !err && i < want->n && same; i++)
		same = equal(&y[i], &want->t[i], i, why);
	for (int i = 0; !err && i < weft_net_n_outputs(net); i++)
		weft_tensor_release(&y[i]);
	weft_session_close(s);
	return err ? err : same ? 0 : ONNX_CASE_DIFFERS;
}

/* Is each of the graph's inputs and outputs a tensor of numbers? */
static bool tensors_only(const onnx_graph *g)
{
	for (size_t i = 0; i < g->n_input + g->n_output; i++) {
		const Weft__Onnx__Value *v = i < g->n_input ? g->input[i] : g->output[i - g->n_input];

		if (!v->type || !v->type->tensor_type || !onnx_dtype(v->type->tensor_type->elem_type))
			return false;
	}
	return true;
}

/* Files of 1.18 have bfloat16 as uint16; the graph says what it is. */
static void take_types(struct set *s, Weft__Onnx__Value *const *port, size_t n)
{
	for (int i = 0; i < s->n && (size_t)i < n; i++) {
		const weft_dtype t = onnx_dtype(port[i]->type->tensor_type->elem_type);

		if (s->t[i].dtype == WEFT_UINT16 && t == WEFT_BF16)
			s->t[i].dtype = t;
	}
}

static int with_model(const onnx_graph *g, const uint8_t *model, size_t len, const char *dir, char *why)
{
	struct set in = { .n = 0 }, want = { .n = 0 };
	struct weft_load_options o = weft_load_options_default();
	struct weft_bound given[MAX_PORTS];
	weft_net *net = NULL;
	int err = ONNX_CASE_NO_TENSORS;

	if (tensors_only(g) && set_load(&in, dir, "input", why) && set_load(&want, dir, "output", why)) {
		take_types(&in, g->input, g->n_input);
		take_types(&want, g->output, g->n_output);
		for (int i = 0; i < in.n && (size_t)i < g->n_input; i++)
			given[o.n_given++] = (struct weft_bound){ g->input[i]->name, in.t[i] };
		o.given = given;
		o.folder = dir;
		err = weft_net_load_with(model, len, "case", &o, &net, why);
		err = err ? err : run(net, given, o.n_given, &want, why);
	}
	weft_net_free(net);
	set_release(&in);
	set_release(&want);
	return err;
}

int onnx_case_run(const char *dir, char *why)
{
	struct onnx_file f = { 0 };
	char path[1024];
	size_t len;

	snprintf(path, sizeof path, "%s/model.onnx", dir);
	uint8_t *model = test_file(path, &len);
	assert_non_null(model);
	int err = onnx_read(&f, model, len, why, WEFT_MSG_LEN);
	if (!err)
		err = with_model(f.m->graph, model, len, dir, why);
	onnx_release(&f);
	free(model);
	return err;
}
