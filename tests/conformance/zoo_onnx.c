/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks that ONNX Runtime 1.31's quantiser writes (WEFT_DATA/zoo): golden has the
 * stored outputs, with optimisation off or on, byte for byte; the functional model has
 * every tensor of golden's, and the RTL of those below 20 M MACs (case 0; test-full: both).
 * About a minute, most of it the RTL.
 *
 * Each network is computed once more with --requant runtime, the runtime's own arithmetic, on golden and on the
 * model: that has the stored outputs of all cases but those listed as "saturated". With --requant runtime-avx2, the arithmetic of
 * processors that lack VNNI with optimisation off, all cases have the outputs that are stored for that.
 *
 * Where the exact values' codes differ from the stored ones, tests/expected/zoo_onnx.tsv says why, and the test proves it:
 *
 *   tie TENSOR  the first tensor that differs between both arithmetics is TENSOR, by one step, and where it does
 *               the exact value lies within 2^-16 of a step of a tie
 *   runtime     the runtime's own arithmetic gives the stored outputs, and what differs is no near tie
 *   saturated   the stored outputs are those of a processor without VNNI, where sums of uint8 by int8 saturate
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <weft/weft.h>

#include "sim/golden/golden.h"
#include "userlib/import/onnx/onnx.h"

#include "../support/each_file.h"
#include "../support/expected.h"
#include "../support/file.h"
#include "../support/kept_programs.h"
#include "../support/level.h"

#define MAX_PORTS 8
#define RTL_MACS 20000000u
#define CLOSE 0x1p-16          /* of a step */

struct zoo_case {
	char model[512], dir[512], id[128];
	cJSON *io;
	void *x[MAX_PORTS];        /* the inputs, in the file's order */
	bool off;                  /* only the outputs with optimisation off count */
	int64_t differ;            /* elements of golden's outputs, of the closer of both sets */
};

static void *bytes_of(const struct zoo_case *c, const cJSON *port, const char *key, size_t *n)
{
	const cJSON *file = cJSON_GetObjectItem(port, key);
	char path[1100];

	if (!file)
		return NULL;
	snprintf(path, sizeof path, "%s/%s", c->dir, file->valuestring);
	return test_file(path, n);
}

static bool open_case(struct zoo_case *c, const char *dir)
{
	char path[1100];
	int n = 0;
	cJSON *e;

	*c = (struct zoo_case){ .differ = -1 };
	snprintf(c->dir, sizeof c->dir, "%s", dir);
	snprintf(c->id, sizeof c->id, "%s", strstr(dir, "ort_expected/") + strlen("ort_expected/"));
	snprintf(path, sizeof path, "%s/io.json", dir);
	char *text = test_file(path, NULL);
	c->io = text ? cJSON_Parse(text) : NULL;
	free(text);
	if (!c->io)
		return false;
	snprintf(c->model, sizeof c->model, "%s/zoo/%s", test_data(), cJSON_GetObjectItem(c->io, "model")->valuestring);
	cJSON_ArrayForEach(e, cJSON_GetObjectItem(c->io, "inputs"))
		c->x[n++] = bytes_of(c, e, "file", NULL);
	return true;
}

static void close_case(struct zoo_case *c)
{
	cJSON_Delete(c->io);
	for (int i = 0; i < MAX_PORTS; i++)
		free(c->x[i]);
}

static int64_t count(const weft_tensor *y, const void *want, size_t n)
{
	const size_t size = weft_dtype_bytes(y->dtype);
	int64_t bad = 0;

	if (!want || n != weft_tensor_bytes(y))
		return INT32_MAX;
	for (size_t i = 0; i < n; i += size)
		bad += memcmp((const char *)y->data + i, (const char *)want + i, size) != 0;
	return bad;
}

/* Elements in which the outputs differ from the stored ones with optimisation off, or, unless c->off, from the closer of the two sets. */
static int64_t differences(const struct zoo_case *c, const weft_tensor *y)
{
	static const char *const keys[] = { "file", "optimised" };
	int64_t bad[2] = { 0, 0 };

	for (int k = 0; k < 2; k++) {
		int i = 0;
		cJSON *e;

		cJSON_ArrayForEach(e, cJSON_GetObjectItem(c->io, "outputs")) {
			size_t n = 0;
			void *want = bytes_of(c, e, keys[k], &n);

			bad[k] += count(&y[i++], want, n);
			free(want);
		}
	}
	return c->off || bad[0] < bad[1] ? bad[0] : bad[1];
}

/* One device; golden counts what differs. False: refused, or the device differs from golden. */
static bool run(struct zoo_case *c, weft_net *net, enum weft_device device, uint64_t *macs)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor x[MAX_PORTS] = { 0 }, y[MAX_PORTS] = { 0 };
	struct weft_report *report = NULL;
	char why[WEFT_MSG_LEN] = "";
	weft_session *s = NULL;
	struct weft_port p;

	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	o.cache = kept_programs;
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		weft_net_input(net, i, &p);
		x[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank, .data = c->x[i] };
		memcpy(x[i].dim, p.dim, sizeof x[i].dim);
	}
	int err = weft_session_open(net, &o, &s, why);
	err = err ? err : weft_session_run(s, x, y, &report, why);
	if (err)
		print_error("%s on %s: %s\n", c->id, weft_device_name(device), why);
	else if (device == WEFT_DEVICE_GOLDEN)
		c->differ = differences(c, y);
	*macs = report ? report->macs : 0;
	weft_report_free(report);
	for (int i = 0; !err && i < weft_net_n_outputs(net); i++)
		weft_tensor_release(&y[i]);
	weft_session_close(s);
	return !err;
}

/* ---- ties ---- */

static weft_graph *import(const struct zoo_case *c, enum weft_onnx_requant requant)
{
	const struct weft_onnx_options o = { .requant = requant };
	char msg[WEFT_MSG] = "";
	weft_graph *g = NULL;
	size_t n;
	void *file = test_file(c->model, &n);

	if (!file || weft_import_onnx(file, n, c->id, &o, &g, msg))
		fail_msg("%s: %s", c->model, msg);
	free(file);
	return g;
}

/* Every tensor of the graph: its data is put into the graph, which then owns it. */
static void execute(weft_graph *g, void *const *x)
{
	char msg[WEFT_GOLDEN_MSG] = "";

	for (int i = 0; i < g->n_inputs; i++) {
		weft_tensor *t = &g->tensors[g->inputs[i]].t;
		t->data = malloc(weft_tensor_bytes(t));
		memcpy(t->data, x[i], weft_tensor_bytes(t));
	}
	for (int i = 0; i < g->n_ops; i++) {
		const struct weft_gop *o = &g->ops[i];
		const weft_tensor *in[WEFT_OP_MAX_INPUTS];
		weft_tensor *out[WEFT_OP_MAX_OUTPUTS];

		for (int k = 0; k < o->n_in; k++)
			in[k] = &g->tensors[o->in[k]].t;
		for (int k = 0; k < o->n_out; k++) {
			out[k] = &g->tensors[o->out[k]].t;
			out[k]->data = calloc(1, weft_tensor_bytes(out[k]) + 1);
		}
		if (weft_golden_run(o->op, &o->attr, in, o->n_in, out, o->n_out, true, msg))
			fail_msg("%s", msg);
	}
}

static const struct weft_gtensor *named(const weft_graph *g, const char *name, const weft_tensor *like)
{
	for (int i = 0; i < g->n_tensors; i++)
		if (!g->tensors[i].internal && !strcmp(g->tensors[i].name, name) && weft_tensor_bytes(&g->tensors[i].t) == weft_tensor_bytes(like))
			return &g->tensors[i];
	return NULL;
}

/* The operator that makes a tensor, in front of RESHAPEs; NULL: none does. */
static const struct weft_gop *maker(const weft_graph *g, int tensor)
{
	const struct weft_gop *o;

	do {
		if (g->tensors[tensor].producer < 0)
			return NULL;
		o = &g->ops[g->tensors[tensor].producer];
		tensor = o->in[0];
	} while (o->op == WEFT_OP_RESHAPE);
	return o;
}

/*
 * The scale of column c of a product's weights, from the codes q [columns][k] and the floats f that Gemm or MatMul read: a
 * code that is a power of two leaves it as it is. NaN if there is none.
 */
static double weights_scale(const weft_tensor *q, const weft_tensor *f, bool turned, int64_t c)
{
	const int64_t n = q->dim[0], k = weft_tensor_elements(q) / n;

	for (int64_t i = 0; i < k; i++) {
		const int v = ((const int8_t *)q->data)[c * k + i], most = abs(v);
		if (v && !(most & (most - 1)))
			return (double)((const float *)f->data)[turned ? c * k + i : i * n + c] / v;
	}
	return NAN;
}

/*
 * The distance of element i of a Gemm of int16 by int8 to a tie, in steps: (sum * x_scale * w_scale + bias * bias_scale) / y_scale
 * in 64 bits. The RESCALE o of graph g knows the sum and the bias; graph r of the runtime's arithmetic has the scales as
 * numbers: those of its QuantizeLinear and DequantizeLinear, and that of the weights. The bias has their product in float32, which is
 * checked.
 */
static double distance16(const weft_graph *g, const struct weft_gop *o, const weft_graph *r, const struct weft_gtensor *y, int64_t i)
{
	const struct weft_gop *narrow = maker(g, o->in[0]), *quantize = maker(r, (int)(y - r->tensors));
	const struct weft_gop *conv = narrow && narrow->op == WEFT_OP_RESCALE ? maker(g, narrow->in[0]) : NULL;   /* of int48 */
	const struct weft_gop *product = quantize ? maker(r, quantize->in[0]) : NULL, *x = product ? maker(r, product->in[0]) : NULL;

	if (!conv || conv->op != WEFT_OP_CONV2D || g->tensors[o->in[0]].t.dtype != WEFT_INT32 || !x || product->op != WEFT_OP_ONNX_NODE ||
	    product->n_in != 3)
		return INFINITY;
	const weft_tensor *codes = &g->tensors[conv->in[1]].t, *floats = &r->tensors[product->in[1]].t;
	const int64_t c = i % codes->dim[0], bias = ((const int64_t *)g->tensors[conv->in[2]].t.data)[c];
	const double w_scale = weights_scale(codes, floats, product->attr.onnx_node.i[1], c);
	const float x_scale = *(const float *)r->tensors[x->in[1]].t.data, y_scale = *(const float *)r->tensors[quantize->in[1]].t.data;
	const float bias_scale = x_scale * (float)w_scale;
	if ((float)bias * bias_scale != ((const float *)r->tensors[product->in[2]].t.data)[c])
		return INFINITY;
	const long double sum = (long double)(((const int32_t *)g->tensors[o->in[0]].t.data)[i] - bias);
	const long double v = (sum * x_scale * w_scale + (long double)bias * bias_scale) / y_scale;

	return (double)fabsl(v - floorl(v) - 0.5L);
}

/* Distance of element i of a RESCALE to a tie, in steps; its multiplier is known to 2^-31. */
static double distance(const weft_graph *g, const struct weft_gop *o, int64_t i)
{
	const weft_tensor *sum = &g->tensors[o->in[0]].t, *m = &g->tensors[o->in[1]].t, *s = &g->tensors[o->in[2]].t;
	const int64_t c = o->attr.rescale.per_channel ? i % sum->dim[sum->rank - 1] : 0;
	const double v = ldexp((double)((const int32_t *)sum->data)[i] * ((const int32_t *)m->data)[c], -((const int8_t *)s->data)[c]);

	return fabs(v - floor(v) - 0.5);
}

/* Element i as the file has it; less 128 if the file's type is uint8. */
static int code(const weft_tensor *t, int64_t i)
{
	return t->dtype == WEFT_INT16 ? ((const int16_t *)t->data)[i] :
	       t->dtype == WEFT_UINT8 ? ((const uint8_t *)t->data)[i] - 128 : ((const int8_t *)t->data)[i];
}

static bool is_code(weft_dtype t)
{
	return t == WEFT_INT8 || t == WEFT_UINT8 || t == WEFT_INT16;
}

/* Is the tensor the first to differ, each of its elements by one step at a tie? */
static bool first_difference(const weft_graph *g, const weft_graph *other, const char *wanted)
{
	for (int i = 0; i < g->n_ops; i++) {
		const struct weft_gtensor *y = &g->tensors[g->ops[i].out[0]], *z = y->internal ? NULL : named(other, y->name, &y->t);
		const struct weft_gop *o = maker(g, g->ops[i].out[0]);
		int64_t bad = 0;

		if (!z || !is_code(y->t.dtype) || !is_code(z->t.dtype))
			continue;
		for (int64_t e = 0; e < weft_tensor_elements(&y->t); e++) {
			const int by = code(&y->t, e) - code(&z->t, e);
			if (!by)
				continue;
			bad++;
			if (o->op != WEFT_OP_RESCALE || abs(by) != 1)
				return false;
			const double from = y->t.dtype == WEFT_INT16 ? distance16(g, o, other, z, e) : distance(g, o, e);
			printf("  %s, element %lld: %.3g of a step from a tie\n", y->name, (long long)e, from);
			if (!(from <= CLOSE))
				return false;
		}
		if (bad)
			return !strcmp(y->name, wanted);
	}
	return false;
}

static bool has_stored_outputs(const struct zoo_case *c, const weft_graph *g)
{
	weft_tensor y[MAX_PORTS];

	for (int i = 0; i < g->n_outputs && i < MAX_PORTS; i++)
		y[i] = g->tensors[g->outputs[i]].t;
	return differences(c, y) == 0;
}

static bool proven_tie(const struct zoo_case *c, const char *tensor)
{
	weft_graph *exact = import(c, WEFT_ONNX_REQUANT_EXACT), *runtime = import(c, WEFT_ONNX_REQUANT_RUNTIME);

	execute(exact, c->x);
	execute(runtime, c->x);
	bool good = has_stored_outputs(c, runtime) && first_difference(exact, runtime, tensor);
	weft_graph_free(exact);
	weft_graph_free(runtime);
	return good;
}

static bool is_saturated(const struct zoo_case *c)
{
	char says[512];

	return expected_says("tests/expected/zoo_onnx.tsv", c->id, says, sizeof says) && !strcmp(says, "saturated");
}

static bool as_listed(const struct zoo_case *c)
{
	char says[512], tensor[256];

	if (!expected_says("tests/expected/zoo_onnx.tsv", c->id, says, sizeof says))
		return c->differ == 0;
	if (c->differ <= 0)
		return false;
	if (sscanf(says, "tie %255s", tensor) == 1)
		return proven_tie(c, tensor);
	return !strcmp(says, "runtime") || !strcmp(says, "saturated");
}

/*
 * The case with the runtime's own arithmetic, or that of processors without VNNI: golden has the stored outputs, unless they are saturated and the
 * arithmetic does not saturate, and the model has golden's tensors.
 */
static bool as_the_runtime(struct zoo_case *c, bool avx2)
{
	struct weft_load_options o = weft_load_options_default();
	char why[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	uint64_t macs;

	o.requant_runtime = true;
	o.requant_avx2 = c->off = avx2;
	bool good = !weft_net_load_file_with(c->model, &o, &net, why);
	if (!good)
		print_error("%s: %s\n", c->id, why);
	good = good && run(c, net, WEFT_DEVICE_GOLDEN, &macs) && run(c, net, WEFT_DEVICE_MODEL, &macs);
	if (good && (c->differ == 0) == (!avx2 && is_saturated(c))) {
		print_error("%s with --requant runtime%s: %lld elements differ\n", c->id, avx2 ? "-avx2" : "", (long long)c->differ);
		good = false;
	}
	weft_net_free(net);
	return good;
}

static int n_exact, n_runtime, n_avx2;   /* cases whose outputs are the stored ones */

/* 1: wrong. */
static int one(const char *dir)
{
	struct weft_load_options o = weft_load_options_default();
	char why[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	struct zoo_case c;
	uint64_t macs = 0;

	if (!open_case(&c, dir))
		return 1;
	bool good = !weft_net_load_file_with(c.model, &o, &net, why);
	if (!good)
		print_error("%s: %s\n", c.id, why);
	good = good && run(&c, net, WEFT_DEVICE_GOLDEN, &macs) && run(&c, net, WEFT_DEVICE_MODEL, &macs);
	const bool rtl = good && macs < RTL_MACS && (dir[strlen(dir) - 1] == '0' || test_level() == 2) && test_have_rtl("w16");
	good = good && (!rtl || run(&c, net, WEFT_DEVICE_RTL, &macs));
	const bool listed = good && as_listed(&c);
	if (good && !listed)
		print_error("%s: %lld elements differ, not as listed\n", c.id, (long long)c.differ);
	n_exact += good && c.differ == 0;
	good = good && as_the_runtime(&c, false);
	n_runtime += good && c.differ == 0;
	good = good && as_the_runtime(&c, true);
	n_avx2 += good && c.differ == 0;
	weft_net_free(net);
	close_case(&c);
	return !good || !listed;
}

static void zoo(void **state)
{
	int wrong = 0;

	(void)state;
	glob_t g = test_files("zoo/ort_expected/*/*");
	for (size_t i = 0; i < g.gl_pathc; i++)
		wrong += one(g.gl_pathv[i]);
	printf("%zu cases, %d wrong; %d have the stored outputs, %d with --requant runtime, %d with --requant runtime-avx2\n", g.gl_pathc, wrong, n_exact,
	       n_runtime, n_avx2);
	fflush(stdout);
	globfree(&g);
	assert_int_equal(wrong, 0);
}

/* Transformers with --requant rescale: what switches between NPU and host, at most MOST_SWITCHES tensors. */
static void transformers(void **state)
{
	enum { MOST_SWITCHES = 2 };
	static const char *const names[] = { "vit.qdq_s8s8_pc", "transformer.qdq_s8s8_pc", "transformer.qop_u8s8_pc", "transformer.qdq_s16s8" };
	struct weft_load_options load = weft_load_options_default();
	const struct weft_session_options o = weft_session_options_default();

	(void)state;
	load.requant_rescale = true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[600], msg[WEFT_MSG_LEN] = "";
		struct weft_report *rep;
		weft_session *s;
		weft_net *net;
		snprintf(path, sizeof path, "%s/zoo/models/%s.onnx", test_data(), names[i]);
		int err = weft_net_load_file_with(path, &load, &net, msg);
		if (err == -ENOENT) {
			printf("%s: %s\n", path, msg);
			fflush(stdout);
			skip();
		}
		if (err || weft_session_open(net, &o, &s, msg) || weft_session_plan(s, &rep, msg))
			fail_msg("%s: %s", names[i], msg);
		printf("%s, --requant rescale: %d switches between NPU and host, %.1f %% of the cycles on the NPU\n", names[i], rep->n_switches,
		       100 * rep->npu_cycles);
		for (int k = 0; k < rep->n_switches; k++)
			printf("  %s\n", rep->switches[k]);
		fflush(stdout);
		assert_in_range(rep->n_switches, 0, MOST_SWITCHES);
		weft_report_free(rep);
		weft_session_close(s);
		weft_net_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(zoo), cmocka_unit_test(transformers) };

	return cmocka_run_group_tests(tests, kept_programs_begin, kept_programs_end);
}
