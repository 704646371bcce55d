/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of the library can fail (tests/support/fail_at.h): the k-th one, alone or with all
 * that follow. Whatever k is: either the operation gives the same bytes as without the failure, or
 * it says -ENOMEM and "out of memory" in one line; nothing stays allocated, and the network is as it was.
 *
 * At least 200 points of each operation, drawn by the seed, with make test; all in test-full.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <weft/file.h>
#include <weft/weft.h>

#include "tests/support/fail_at.h"
#include "tests/support/level.h"
#include "tests/support/onnx_build.h"
#include "userlib/graph/save.h"
#include "userlib/run/internal.h"

/* ---- operations ---- */

struct result { uint8_t *p; size_t n; };

/* What is there before the failures begin. */
struct subject {
	uint8_t *file; size_t n_file;
	weft_net *net;
	struct io graph;           /* the network's graph, all of it */
};

/* The network's graph as bytes; the caller frees them. */
static struct io graph_bytes(const struct subject *s)
{
	struct io io = { .write = true };
	weft_graph *g = s->net ? (weft_graph *)(uintptr_t)s->net->g : NULL;
	char msg[WEFT_MSG_LEN];

	if (g)
		save_graph(&io, &g, msg);
	assert_int_equal(io.err, 0);
	return io;
}

/* Is the network what it was? What fails leaves it alone, and the next operation gives what it always did. */
static bool unchanged(const struct subject *s)
{
	struct io now = graph_bytes(s);
	bool same = now.n == s->graph.n && (!now.n || !memcmp(now.p, s->graph.p, now.n));

	free(now.p);
	return same;
}

typedef int operation(const struct subject *s, struct result *r, char *msg);

/* Read a file; what it means is the network as TOSA. */
static int load(const struct subject *s, struct result *r, char *msg)
{
	weft_net *net;
	char text[WEFT_MSG_LEN];
	int err = weft_net_load(s->file, s->n_file, "net", &net, msg);

	if (err)
		return err;
	fail_pause(true);
	assert_int_equal(weft_net_convert(net, false, &r->p, &r->n, text, msg), 0);
	fail_pause(false);
	weft_net_free(net);
	return 0;
}

static int convert(const struct subject *s, struct result *r, char *msg)
{
	char text[WEFT_MSG_LEN];

	return weft_net_convert(s->net, false, &r->p, &r->n, text, msg);
}

static int compile(const struct subject *s, struct result *r, char *msg)
{
	return weft_net_save(s->net, "w16", &r->p, &r->n, msg);
}

static int compile_file(const struct subject *s, struct result *r, char *msg)
{
	char path[400];

	test_path(path, sizeof path, "short.weft");
	int err = weft_net_save_file(s->net, "w16", path, msg);
	if (err)
		return err;
	fail_pause(true);
	assert_int_equal(weft_file_read(path, 1 << 30, &r->p, &r->n), 0);
	fail_pause(false);
	unlink(path);
	return 0;
}

static int sample(void *user, int i, weft_tensor *inputs, int n, char *msg)
{
	(void)user, (void)n, (void)msg;
	if (i)
		return 0;
	const size_t bytes = weft_tensor_bytes(inputs);
	inputs->data = calloc(1, bytes);
	for (size_t k = 0; k < bytes / sizeof(float); k++)
		((float *)inputs->data)[k] = (float)(k % 17) - 8;
	return 1;
}

static int quantize(const struct subject *s, struct result *r, char *msg)
{
	struct weft_quantize_options o = weft_quantize_options_default();

	o.sample = sample;
	return weft_quantize(s->file, s->n_file, &o, &r->p, &r->n, msg);
}

static int on_device(const struct subject *s, enum weft_device device, struct result *r, char *msg)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor in = { 0 }, out = { 0 };
	weft_session *session;
	struct weft_port port;

	o.device = device;
	int err = weft_session_open(s->net, &o, &session, msg);
	if (err)
		return err;
	assert_int_equal(weft_net_input(s->net, 0, &port), 0);
	in.dtype = port.dtype;
	in.rank = port.rank;
	memcpy(in.dim, port.dim, sizeof in.dim);
	in.data = calloc(1, weft_tensor_bytes(&in));
	err = weft_session_run(session, &in, &out, NULL, msg);
	if (!err) {
		r->n = weft_tensor_bytes(&out);
		r->p = malloc(r->n);
		memcpy(r->p, out.data, r->n);
		weft_tensor_release(&out);
	}
	weft_session_close(session);
	free(in.data);
	return err;
}

static int run_golden(const struct subject *s, struct result *r, char *msg)
{
	return on_device(s, WEFT_DEVICE_GOLDEN, r, msg);
}

static int run_model(const struct subject *s, struct result *r, char *msg)
{
	return on_device(s, WEFT_DEVICE_MODEL, r, msg);
}

/* ---- points ---- */

/* The operation with allocation `at` failing (0: none); *n: how many there were. */
static int attempt(operation *op, const struct subject *s, long at, bool go_on, struct result *r, char *msg, long *n)
{
	*r = (struct result){ 0 };
	msg[0] = '\0';
	fail_begin(FAIL_MEMORY, at, go_on);
	int err = op(s, r, msg);
	*n = fail_end();
	return err;
}

static void one_point(operation *op, const char *name, const struct subject *s, long at, bool go_on, const struct result *want, long n[2])
{
	char msg[WEFT_MSG_LEN];
	struct result r;
	long calls;
	int err = attempt(op, s, at, go_on, &r, msg, &calls);

	n[err != 0]++;
	if (!err && (r.n != want->n || memcmp(r.p, want->p, r.n)))
		fail_msg("%s, allocation %ld%s fails: another result", name, at, go_on ? " and all later ones" : "");
	if (err && (err != -ENOMEM || !strstr(msg, "out of memory") || strchr(msg, '\n')))
		fail_msg("%s, allocation %ld%s fails: %d \"%s\"", name, at, go_on ? " and all later ones" : "", err, msg);
	if (err && r.p)
		fail_msg("%s, allocation %ld%s fails: a result all the same", name, at, go_on ? " and all later ones" : "");
	fail_free(r.p);
	if (!unchanged(s))
		fail_msg("%s, allocation %ld%s fails: the network is no longer what it was", name, at, go_on ? " and all later ones" : "");
	if (fail_live())
		fail_msg("%s, allocation %ld%s fails: %ld allocations are not freed", name, at, go_on ? " and all later ones" : "", fail_live());
}

static void points(operation *op, const char *name, const struct subject *s)
{
	uint64_t rng = test_seed(1);
	struct result want;
	char msg[WEFT_MSG_LEN];
	long n[2] = { 0 }, all = 0;

	for (int i = 0; i < 2; i++) {              /* twice: what is kept for ever is there now */
		if (attempt(op, s, 0, false, &want, msg, &all))
			fail_msg("%s: %s", name, msg);
		if (!i)
			fail_free(want.p);
	}
	assert_true(all > 0);
	const long tries = test_count(40, 200, 2 * all) < 2 * all ? test_count(40, 200, 2 * all) : 2 * all;
	for (long i = 0; i < tries; i++) {
		rng = rng * 6364136223846793005u + 1442695040888963407u;
		/* A quarter of them are the last ones: writing what took thousands of allocations to find takes few. */
		const long k = tries == 2 * all ? i / 2 : i < tries / 4 ? all - 1 - i / 2 : (long)((rng >> 33) % (uint64_t)all);
		one_point(op, name, s, 1 + k, i % 2, &want, n);
	}
	printf("%s: %ld of %ld points, seed %llu: %ld out of memory, %ld the same result\n", name, tries, 2 * all,
	       (unsigned long long)test_seed(1), n[1], n[0]);
	fflush(stdout);
	free(want.p);
}

static struct subject subject(const char *path, bool net)
{
	struct subject s = { 0 };
	char msg[WEFT_MSG_LEN];

	assert_int_equal(weft_file_read(path, 1 << 24, &s.file, &s.n_file), 0);
	if (net && weft_net_load(s.file, s.n_file, "net", &s.net, msg))
		fail_msg("%s", msg);
	s.graph = graph_bytes(&s);
	return s;
}

static void drop(struct subject *s)
{
	weft_net_free(s->net);
	free(s->graph.p);
	free(s->file);
}

static const char *const files[] = { "tests/models/digits_int8.tflite", "tests/models/digits_qdq.onnx",
                                     "tests/models/digits_qlinear.onnx", "tests/models/digits_fp8.tosa" };

static void each_file(operation *op, const char *what)
{
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct subject s = subject(files[i], true);
		char name[200];

		snprintf(name, sizeof name, "%s %s", what, files[i]);
		points(op, name, &s);
		drop(&s);
	}
}

static void loads(void **state) { (void)state; each_file(load, "load"); }

/* An If whose branch, parsed during the import, is the network: y = -x. */
static void loads_branch(void **state)
{
	static const int64_t four = 4;
	static const uint8_t yes = 1;
	struct ob graph = { 0 }, branch = { 0 }, more = { 0 }, a = { 0 }, port = { 0 }, model = { 0 };
	struct subject s = { 0 };
	char msg[WEFT_MSG_LEN];

	(void)state;
	ob_node(&branch, "Neg", "x", "b", NULL);
	ob_text(&port, 1, "b");
	ob_sub(&branch, 12, &port);
	ob_text(&a, 1, "then_branch");
	ob_sub(&a, 6, &branch);
	ob_int(&a, 20, 5);
	ob_sub(&more, 5, &a);
	ob_node(&graph, "If", "c", "y", &more);
	ob_tensor(&graph, "c", 9, 0, NULL, &yes, 1);
	ob_port(&graph, 11, "x", 1, 1, &four);
	ob_port(&graph, 12, "y", 1, 1, &four);
	ob_model(&model, &graph, 13);
	s.file = model.p;
	s.n_file = model.n;
	if (weft_net_load(s.file, s.n_file, "net", &s.net, msg))
		fail_msg("%s", msg);
	s.graph = graph_bytes(&s);
	points(load, "load a branch", &s);
	drop(&s);
}

/* A saved program: of a network that is one operator of ONNX's, which the host computes. */
static void loads_program(void **state)
{
	static const int64_t two[2] = { 2, 2 };
	struct ob graph = { 0 }, model = { 0 };
	struct subject s = { 0 };
	char msg[WEFT_MSG_LEN];
	weft_net *net;

	(void)state;
	ob_node(&graph, "Det", "x", "y", NULL);
	ob_port(&graph, 11, "x", 1, 2, two);
	ob_port(&graph, 12, "y", 1, 0, NULL);
	ob_model(&model, &graph, 13);
	if (weft_net_load(model.p, model.n, "net", &net, msg) || weft_net_save(net, "w16", &s.file, &s.n_file, msg) ||
	    weft_net_load(s.file, s.n_file, "net", &s.net, msg))
		fail_msg("%s", msg);
	s.graph = graph_bytes(&s);
	points(load, "load a program", &s);
	weft_net_free(net);
	free(model.p);
	drop(&s);
}

static void converts(void **state) { (void)state; each_file(convert, "convert"); }

/* x [1,4], of which attributes of Slice, as opset 9 has them, take two elements, by a matrix of weights. */
static struct subject old_opset(void)
{
	const int64_t in[2] = { 1, 4 }, weights[2] = { 2, 3 }, out[2] = { 1, 3 }, starts = 1, ends = 3, axes = 1;
	const float w[6] = { 1, -2, 3, 4, 5, -6 };
	struct ob graph = { 0 }, slice = { 0 }, model = { 0 };

	ob_attr_ints(&slice, "starts", 1, &starts);
	ob_attr_ints(&slice, "ends", 1, &ends);
	ob_attr_ints(&slice, "axes", 1, &axes);
	ob_node(&graph, "Slice", "x", "part", &slice);
	ob_node(&graph, "MatMul", "part w", "y", NULL);
	ob_tensor(&graph, "w", 1, 2, weights, w, sizeof w);
	ob_port(&graph, 11, "x", 1, 2, in);
	ob_port(&graph, 12, "y", 1, 2, out);
	ob_model(&model, &graph, 9);
	return (struct subject){ .file = model.p, .n_file = model.n };
}

static void quantizes(void **state)
{
	struct subject s = subject("tests/models/digits_float.onnx", false);

	(void)state;
	points(quantize, "quantize", &s);
	drop(&s);
	s = old_opset();
	s.graph = graph_bytes(&s);
	points(quantize, "raise the opset and quantize", &s);
	drop(&s);
}

static void one_file(operation *op, const char *what)
{
	struct subject s = subject(files[0], true);

	points(op, what, &s);
	drop(&s);
}

static void compiles(void **state) { (void)state; one_file(compile, "compile"); }
static void compiles_file(void **state) { (void)state; one_file(compile_file, "compile to a file"); }
static void runs_golden(void **state) { (void)state; one_file(run_golden, "run on golden"); }
static void runs_model(void **state) { (void)state; one_file(run_model, "run on the model"); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads), cmocka_unit_test(loads_branch), cmocka_unit_test(loads_program), cmocka_unit_test(converts), cmocka_unit_test(quantizes), cmocka_unit_test(compiles), cmocka_unit_test(compiles_file),
		cmocka_unit_test(runs_golden), cmocka_unit_test(runs_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
