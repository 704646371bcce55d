/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What concerns ONNX files rather than operators: external data, order of
 * nodes, files made to take memory; and FakeConvert, which no foreign test has.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/convert.h>
#include <weft/file.h>
#include <weft/weft.h>

#include "../support/level.h"
#include "../support/mutate.h"
#include "../support/onnx_build.h"
#include "../support/short_of_memory.h"
#include "../support/tensors.h"

static const int64_t four[] = { 4 };

static struct short_of_memory shortage = { .every = 1 };

/* y = op(x, c), c a constant of four floats in a file. */
static int load_external(const char *folder, const char *location, weft_net **net, char *msg)
{
	struct weft_load_options o = weft_load_options_default();
	struct ob g = { 0 }, t = { 0 }, pair = { 0 }, model = { 0 };

	ob_node(&g, "Add", "x c", "y", NULL);
	ob_int(&t, 1, 4);
	ob_int(&t, 2, 1);
	ob_text(&t, 8, "c");
	ob_text(&pair, 1, "location");
	ob_text(&pair, 2, location);
	ob_sub(&t, 13, &pair);
	ob_int(&t, 14, 1);
	ob_sub(&g, 5, &t);
	ob_port(&g, 11, "x", 1, 1, four);
	ob_port(&g, 12, "y", 1, 1, four);
	ob_model(&model, &g, 13);
	o.folder = folder;
	int err = weft_net_load_with(model.p, model.n, "external", &o, net, msg);
	short_of_memory(&shortage, model.p, model.n, "external", &o);
	free(model.p);
	return err;
}

static void run(weft_net *net, const float *x, float *y, int n)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor in = { .dtype = WEFT_FP32, .rank = 1, .dim = { n, 1, 1, 1, 1, 1, 1, 1 }, .data = (void *)(uintptr_t)x }, out = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	o.device = WEFT_DEVICE_GOLDEN;
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_int_equal(weft_session_run(s, &in, &out, NULL, msg), 0);
	memcpy(y, out.data, (size_t)n * sizeof *y);
	weft_tensor_release(&out);
	weft_session_close(s);
}

static void write_floats(const char *path, const float c[4])
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(c, 1, 4 * sizeof *c, f), 4 * sizeof *c);
	fclose(f);
}

/* Paths below the model's folder, yes, links that stay there too; paths and links that lead out of it, and pipes, no. */
static void external_paths(void **state)
{
	static const char *const good[] = { "sub/c.bin", "./sub/c.bin", "sub/./c.bin", "in.bin", "sub/..c", "sub/../sub/c.bin" };
	static const char *const bad[] = { "sub/../../out.bin", "out.bin", "up/out.bin", "pipe", "../model/sub/c.bin", "..", "sub/..", "sub",
		"sub/none", "sub\\c.bin", "" };
	const float c[4] = { 1, 2, 3, 4 }, x[4] = { 10, 20, 30, 40 };
	char top[128], folder[160], path[200], msg[WEFT_MSG_LEN];
	weft_net *net = NULL;
	float y[4];

	(void)state;
	test_path(top, sizeof top, "onnx-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(folder, sizeof folder, "%s/model", top);
	assert_int_equal(mkdir(folder, 0777), 0);
	snprintf(path, sizeof path, "%s/sub", folder);
	assert_int_equal(mkdir(path, 0777), 0);
	static const char *const files[] = { "model/sub/c.bin", "model/sub/..c", "out.bin" };
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", top, files[i]);
		write_floats(path, c);
	}
	snprintf(path, sizeof path, "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0666), 0);
	static const char *const links[][2] = { { "sub/c.bin", "in.bin" }, { "../out.bin", "out.bin" }, { "..", "up" } };
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, links[i][1]);
		assert_int_equal(symlink(links[i][0], path), 0);
	}
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		if (load_external(folder, good[i], &net, msg))
			fail_msg("%s: %s", good[i], msg);
		run(net, x, y, 4);
		for (int k = 0; k < 4; k++)
			assert_true(y[k] == x[k] + c[k]);
		weft_net_free(net);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (load_external(folder, bad[i], &net, msg) >= 0)
			fail_msg("%s was read", bad[i]);
	static const char *const all[] = { "model/sub/c.bin", "model/sub/..c", "out.bin", "model/in.bin", "model/pipe", "model/out.bin", "model/up", "model/sub", "model", "" };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		snprintf(path, sizeof path, "%s/%s", top, all[i]);
		remove(path);
	}
}

static void external_data(void **state)
{
	const float c[4] = { 1, 2, 3, 4 }, x[4] = { 10, 20, 30, 40 };
	char folder[128], path[160], msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	float y[4];

	(void)state;
	test_path(folder, sizeof folder, "onnx-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/c.bin", folder);
	write_floats(path, c);
	assert_int_equal(load_external(folder, "c.bin", &net, msg), 0);
	run(net, x, y, 4);
	for (int i = 0; i < 4; i++)
		assert_true(y[i] == x[i] + c[i]);
	weft_net_free(net);
	char around[160];
	snprintf(around, sizeof around, "..%s/c.bin", strrchr(folder, '/'));
	assert_int_equal(load_external(folder, around, &net, msg), -EINVAL);
	assert_int_equal(load_external(folder, path, &net, msg), -EINVAL);
	assert_int_equal(load_external(folder, "d.bin", &net, msg), -EINVAL);
	assert_int_equal(load_external(NULL, "c.bin", &net, msg), -EINVAL);
	unlink(path);
	rmdir(folder);
}

/* Adds constant `name` of n floats to a graph: the bytes of a file, or these. */
static void constant(struct ob *g, const char *name, const char *file, int64_t n, const float *values)
{
	struct ob t = { 0 }, pair = { 0 };

	if (n >= 0)
		ob_int(&t, 1, n);
	ob_int(&t, 2, 1);
	ob_text(&t, 8, name);
	if (file) {
		ob_text(&pair, 1, "location");
		ob_text(&pair, 2, file);
		ob_sub(&t, 13, &pair);
		ob_int(&t, 14, 1);
	} else {
		ob_blob(&t, 9, values, (size_t)(n < 0 ? 1 : n) * sizeof *values);
	}
	ob_sub(g, 5, &t);
}

/* Loads a graph of x to y, four floats each; folder: for external data, or NULL. */
static int load_graph(struct ob *g, const char *folder, char *msg)
{
	struct weft_load_options o = weft_load_options_default();
	struct ob model = { 0 };
	weft_net *net = NULL;

	ob_port(g, 11, "x", 1, 1, four);
	ob_port(g, 12, "y", 1, 1, four);
	ob_model(&model, g, 13);
	o.folder = folder;
	int err = weft_net_load_with(model.p, model.n, "net", &o, &net, msg);
	free(model.p);
	weft_net_free(net);
	return err;
}

/* Two hundred tensors that are the same megabyte of a file take no two hundred megabytes. */
static void shared_region_bad(void **state)
{
	char folder[128], path[160], msg[WEFT_MSG_LEN] = "", name[16], y[16];
	const int64_t n = 1 << 18;
	struct ob g = { 0 };

	(void)state;
	test_path(folder, sizeof folder, "onnx-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/w.bin", folder);
	uint8_t *zeros = calloc((size_t)n, 4);
	assert_int_equal(weft_file_write(path, zeros, (size_t)n * 4), 0);
	free(zeros);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "w%d", i);
		snprintf(y, sizeof y, "y%d", i);
		constant(&g, name, "w.bin", n, NULL);
		ob_node(&g, "Neg", name, y, NULL);
	}
	ob_node(&g, "Neg", "x", "y", NULL);
	heap_peak(1);
	assert_int_equal(load_graph(&g, folder, msg), -EINVAL);
	assert_non_null(strstr(msg, "times the 1048576 bytes of its files"));
	assert_true(heap_peak(0) <= (size_t)64 << 20);
	unlink(path);
	rmdir(folder);
}

/* Which of two constants of one name holds would be a guess. */
static void duplicate_bad(void **state)
{
	const float a[4] = { 1, 2, 3, 4 }, b[4] = { 5, 6, 7, 8 };
	char msg[WEFT_MSG_LEN] = "";
	struct ob g = { 0 };

	(void)state;
	ob_node(&g, "Add", "x w", "y", NULL);
	constant(&g, "w", NULL, 4, a);
	constant(&g, "w", NULL, 4, b);
	assert_int_equal(load_graph(&g, NULL, msg), -EINVAL);
	assert_string_equal(msg, "constant \"w\" is there twice");
}

/* Scales that are no scales, of one number and in the middle of several. */
static void scales_bad(void **state)
{
	const float bad[] = { 0, -0.0f, -1, NAN, INFINITY, -INFINITY }, good[4] = { 1, 0x1p-149f, 3e38f, 1 };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof bad / sizeof *bad + 1; i++) {
		char msg[WEFT_MSG_LEN] = "";
		struct ob g = { 0 };
		float s[4];

		memcpy(s, good, sizeof s);
		if (i)
			s[(i - 1) % 2] = bad[(i - 1) / 2];
		ob_node(&g, "QuantizeLinear", "x s", "q", NULL);
		ob_node(&g, "DequantizeLinear", "q s", "y", NULL);
		constant(&g, "s", NULL, i % 2 ? -1 : 4, s);
		const int err = load_graph(&g, NULL, msg);
		if (i && (err != -EINVAL || !strstr(msg, "finite and above 0")))
			fail_msg("scale %g: %d %s", (double)bad[(i - 1) / 2], err, msg);
		if (!i && err)
			fail_msg("%s", msg);
	}
}

/*
 * Scales of blocks of two elements may be below 0 or 0, as ONNX Runtime's quantiser of 4 bits writes them, but not infinite; without
 * blocks they may not.
 */
static void block_scales(void **state)
{
	static const struct { float first; int block; bool good; } cases[] = {
		{ -0.5f, 2, true }, { 0, 2, true }, { INFINITY, 2, false }, { NAN, 2, false }, { -0.5f, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const float one = 1, s[4] = { cases[i].first, 2, 1, 1 };
		struct ob g = { 0 }, axis = { 0 };
		char msg[WEFT_MSG_LEN] = "";

		ob_attr_int(&axis, "axis", 0);
		if (cases[i].block)
			ob_attr_int(&axis, "block_size", cases[i].block);
		ob_node(&g, "QuantizeLinear", "x one", "q", NULL);
		ob_node(&g, "DequantizeLinear", "q s", "y", &axis);
		constant(&g, "one", NULL, -1, &one);
		constant(&g, "s", NULL, cases[i].block ? 2 : 4, s);
		const int err = load_graph(&g, NULL, msg);
		if ((err == 0) != cases[i].good || (err && !strstr(msg, "finite")))
			fail_msg("scale %g, blocks of %d: %d %s", (double)cases[i].first, cases[i].block, err, msg);
	}
}

/* A constant in an input's place has the shape of the file, and elements of its size. */
static void bound_constants(void **state)
{
	static const double zeros[8];
	static const struct { weft_dtype type; int rank; int64_t n; const char *says; } cases[] = {
		{ WEFT_FP32, 1, 4, NULL }, { WEFT_INT32, 1, 4, NULL }, { WEFT_FP64, 1, 4, "input \"x\" is float32 in the file, not float64" },
		{ WEFT_FP32, 1, 5, "dimension 0 is 4 in the file, not 5" }, { WEFT_FP32, 2, 4, "its rank is 1, not 2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct weft_bound x = { .name = "x", .value = { .dtype = cases[i].type, .rank = cases[i].rank, .dim = { cases[i].n, 1, 1, 1, 1, 1, 1, 1 },
		                              .data = (void *)(uintptr_t)zeros } };
		struct weft_load_options o = weft_load_options_default();
		struct ob g = { 0 }, model = { 0 };
		char msg[WEFT_MSG_LEN] = "";
		weft_net *net = NULL;

		ob_node(&g, "Add", "x z", "y", NULL);
		ob_port(&g, 11, "x", 1, 1, four);
		ob_port(&g, 11, "z", 1, 1, four);
		ob_port(&g, 12, "y", 1, 1, four);
		ob_model(&model, &g, 13);
		o.bound = &x;
		o.n_bound = 1;
		const int err = weft_net_load_with(model.p, model.n, "net", &o, &net, msg);
		free(model.p);
		weft_net_free(net);
		if (cases[i].says ? err != -EINVAL || !strstr(msg, cases[i].says) : err)
			fail_msg("case %zu: %d %s", i, err, msg);
	}
}

/* Twenty thousand nodes, the shortest there are, one behind the other. */
static void long_chain(void **state)
{
	char msg[WEFT_MSG_LEN] = "", from[16] = "x", to[16];
	struct ob g = { 0 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		snprintf(to, sizeof to, i == 19999 ? "y" : "%d", i);
		ob_node(&g, "Abs", from, to, NULL);
		strcpy(from, to);
	}
	assert_true(g.n < 448000);
	heap_peak(1);
	const size_t bytes = g.n;
	if (load_graph(&g, NULL, msg))
		fail_msg("%s", msg);
	assert_true(heap_peak(0) <= ((size_t)160 << 20) + 8 * bytes);
}

/* z = Neg(y), y = Abs(x), the wrong way round in the file; and a circle. */
static void order_of_nodes(void **state)
{
	const float in[4] = { -1, 2, -3, 0.5f };
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;
	float out[4];

	(void)state;
	for (int circle = 0; circle < 2; circle++) {
		struct ob g = { 0 }, model = { 0 };

		ob_node(&g, "Neg", "y", "z", NULL);
		ob_node(&g, "Abs", circle ? "z" : "x", "y", NULL);
		ob_port(&g, 11, "x", 1, 1, four);
		ob_port(&g, 12, "z", 1, 1, four);
		ob_model(&model, &g, 13);
		assert_int_equal(weft_net_load(model.p, model.n, "order", &net, msg), circle ? -EINVAL : 0);
		free(model.p);
		if (circle)
			break;
		run(net, in, out, 4);
		for (int i = 0; i < 4; i++)
			assert_true(out[i] == -(in[i] < 0 ? -in[i] : in[i]));
		weft_net_free(net);
	}
}

/* Two bytes of file for each node, and not what they would take. */
static void memory_bad(void **state)
{
	static uint8_t empty[1 << 20];
	char msg[WEFT_MSG_LEN] = "";
	struct ob g = { 0 }, model = { 0 };
	weft_net *net = NULL;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof empty; i += 2)
		empty[i] = 1 << 3 | 2;
	ob_bytes(&g, empty, sizeof empty);
	ob_model(&model, &g, 13);
	heap_peak(1);
	assert_true(weft_net_load(model.p, model.n, "memory", &net, msg) < 0);
	assert_non_null(strstr(msg, "memory"));
	assert_true(heap_peak(0) <= ((size_t)64 << 20) + 8 * model.n);
	free(model.p);
}

static void fake_convert(void **state)
{
	const float scale[1] = { 3.3f }, shift[1] = { 0.7f }, x[4] = { 0.1f, -250, 7.77f, 1e-3f };
	weft_tensor tx = { .dtype = WEFT_FP32, .rank = 1, .dim = { 4 }, .data = (void *)(uintptr_t)x };
	weft_tensor ts = { .dtype = WEFT_FP32, .rank = 1, .dim = { 1 }, .data = (void *)(uintptr_t)scale }, tz = ts, ty = tx;
	char msg[WEFT_MSG_LEN] = "";
	struct ob g = { 0 }, more = { 0 }, model = { 0 };
	weft_net *net = NULL;
	float y[4], want[4];
	int64_t one = 1;

	(void)state;
	ob_text(&more, 7, "org.openvinotoolkit");
	ob_attr_text(&more, "destination_type", "f8e4m3");
	ob_node(&g, "FakeConvert", "x s z", "y", &more);
	ob_tensor(&g, "s", 1, 1, &one, scale, 4);
	ob_tensor(&g, "z", 1, 1, &one, shift, 4);
	ob_port(&g, 11, "x", 1, 1, four);
	ob_port(&g, 12, "y", 1, 1, four);
	ob_model(&model, &g, 13);
	assert_int_equal(weft_net_load(model.p, model.n, "fake", &net, msg), 0);
	run(net, x, y, 4);
	tz.data = (void *)(uintptr_t)shift;
	ty.data = want;
	assert_int_equal(weft_fake_convert(&tx, &ty, WEFT_FP8E4M3, &ts, &tz, msg), 0);
	assert_memory_equal(y, want, sizeof y);
	assert_true(y[0] != x[0]);
	weft_net_free(net);
	free(model.p);
}

/* An operator on x of no elements: its type, its operands, x's and y's types and shapes. */
struct empty { const char *type, *in; int type_x, rank_x; int64_t x[3]; int type_y, rank_y; int64_t y[3]; };

/* Tensors with a dimension of 0 are legal: each operator is done, or refused with a line; and compiled. */
static void no_elements(void **state)
{
	static const struct empty all[] = {
		{ "Tile", "x c", 1, 2, { 0, 2 }, 1, 2, { 0, 4 } }, { "Expand", "e c", 1, 2, { 0, 2 }, 1, 2, { 0, 3 } },
		{ "MatMulInteger", "x c", 3, 2, { 2, 0 }, 6, 2, { 2, 3 } }, { "InstanceNormalization", "x c c", 1, 3, { 0, 2, 4 }, 1, 3, { 0, 2, 4 } },
	};
	static const int64_t two = 2, shapes[][2] = { { 1, 2 }, { 1, 3 } }, none[2] = { 0, 3 };
	static const float ones[2] = { 1, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct weft_session_options o = weft_session_options_default();
		struct ob g = { 0 }, model = { 0 };
		char msg[WEFT_MSG_LEN] = "";
		weft_net *net = NULL;
		weft_session *s;

		ob_node(&g, all[i].type, all[i].in, "y", NULL);
		ob_tensor(&g, "e", 1, 2, none, "", 0);
		if (i < 2)
			ob_tensor(&g, "c", 7, 1, &two, shapes[i], sizeof shapes[i]);
		else if (i == 2)
			ob_tensor(&g, "c", 3, 2, none, "", 0);
		else
			ob_tensor(&g, "c", 1, 1, &two, ones, sizeof ones);
		ob_port(&g, 11, "x", all[i].type_x, all[i].rank_x, all[i].x);
		ob_port(&g, 12, "y", all[i].type_y, all[i].rank_y, all[i].y);
		ob_model(&model, &g, 13);
		int err = weft_net_load(model.p, model.n, "empty", &net, msg);
		print_message("%s: %d %s\n", all[i].type, err, msg);
		assert_true(err == 0 || (err == -ENOTSUP && strstr(msg, all[i].type)));
		o.device = WEFT_DEVICE_MODEL;
		if (!err && !weft_session_open(net, &o, &s, msg))
			weft_session_close(s);
		weft_net_free(net);
		free(model.p);
	}
}

/*
 * Loads the model, which is freed, runs it on golden with the input `in`, and compares the first n_want bytes of
 * its output with want.
 */
static void gives(struct ob *model, const struct weft_load_options *load, const weft_tensor *in, const void *want, size_t n_want)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor out = { 0 };
	weft_net *net = NULL;
	weft_session *s;

	if (weft_net_load_with(model->p, model->n, "net", load, &net, msg))
		fail_msg("%s", msg);
	o.device = WEFT_DEVICE_GOLDEN;
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_int_equal(weft_session_run(s, in, &out, NULL, msg), 0);
	assert_memory_equal(out.data, want, n_want);
	weft_tensor_release(&out);
	weft_session_close(s);
	weft_net_free(net);
	short_of_memory(&shortage, model->p, model->n, "net", load);
	free(model->p);
}

/*
 * Pad of int64 and uint32 by numbers that neither a double nor PAD's attribute has: 2^53 + 1, the greatest ones. ONNX
 * Runtime's results.
 */
static void pad_exactly(void **state)
{
	static const int64_t from[1] = { 2 }, to[1] = { 3 }, two = 2, pads[2] = { 1, 0 };
	static const int64_t x[2] = { 1, -4 }, v[3] = { (INT64_C(1) << 53) + 1, INT64_MAX, INT64_MIN };
	static const uint32_t small[2] = { 1, 4 }, most = UINT32_MAX, want[3] = { UINT32_MAX, 1, 4 };
	struct weft_load_options load = weft_load_options_default();

	(void)state;
	for (int k = 0; k < 4; k++) {
		const int type = k < 3 ? 7 : 12;
		const int64_t wide[3] = { k < 3 ? v[k] : 0, 1, -4 };
		weft_tensor in = { .dtype = k < 3 ? WEFT_INT64 : WEFT_UINT32, .rank = 1, .dim = { 2, 1, 1, 1, 1, 1, 1, 1 },
		                   .data = k < 3 ? (void *)(uintptr_t)x : (void *)(uintptr_t)small };
		struct ob g = { 0 }, model = { 0 };

		ob_node(&g, "Pad", "x p v", "y", NULL);
		ob_tensor(&g, "p", 7, 1, &two, pads, sizeof pads);
		ob_tensor(&g, "v", type, 0, NULL, k < 3 ? (const void *)&v[k] : &most, k < 3 ? sizeof *v : sizeof most);
		ob_port(&g, 11, "x", type, 1, from);
		ob_port(&g, 12, "y", type, 1, to);
		ob_model(&model, &g, 18);
		gives(&model, &load, &in, k < 3 ? (const void *)wide : want, k < 3 ? sizeof wide : sizeof want);
	}
}

/* Range of int64 whose numbers a double does not hold: behind x, 2^53 + 1 and so on up to 2^53 + 4, or down from the least. */
static void range_exactly(void **state)
{
	static const int64_t from[1] = { 1 }, to[1] = { 4 }, x = 7, two53 = INT64_C(1) << 53;
	const int64_t v[2][3] = { { two53 + 1, two53 + 4, 1 }, { 1 - two53 * 2, -two53 * 2 - 2, -1 } };
	weft_tensor in = { .dtype = WEFT_INT64, .rank = 1, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 }, .data = (void *)(uintptr_t)&x };
	struct weft_load_options load = weft_load_options_default();

	(void)state;
	for (int k = 0; k < 2; k++) {
		const int64_t want[4] = { x, v[k][0], v[k][0] + v[k][2], v[k][0] + 2 * v[k][2] };
		struct ob g = { 0 }, n = { 0 }, model = { 0 };

		ob_node(&g, "Range", "a b d", "r", NULL);
		ob_attr_int(&n, "axis", 0);
		ob_node(&g, "Concat", "x r", "y", &n);
		ob_tensor(&g, "a", 7, 0, NULL, &v[k][0], sizeof v[k][0]);
		ob_tensor(&g, "b", 7, 0, NULL, &v[k][1], sizeof v[k][1]);
		ob_tensor(&g, "d", 7, 0, NULL, &v[k][2], sizeof v[k][2]);
		ob_port(&g, 11, "x", 7, 1, from);
		ob_port(&g, 12, "y", 7, 1, to);
		ob_model(&model, &g, 18);
		gives(&model, &load, &in, want, sizeof want);
	}
}

/* Resize of integers of five dimensions, the last three of them: no image, so by rows. */
static void resize_volume(void **state)
{
	static const int64_t from[5] = { 1, 1, 2, 1, 2 }, to[5] = { 1, 1, 4, 1, 4 }, five = 5;
	static const float scales[5] = { 1, 1, 2, 1, 2 };
	static const int8_t x[4] = { 1, 2, 3, 4 }, want[16] = { 1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4 };
	weft_tensor in = { .dtype = WEFT_INT8, .rank = 5, .dim = { 1, 1, 2, 1, 2, 1, 1, 1 }, .data = (void *)(uintptr_t)x };
	struct weft_load_options load = weft_load_options_default();
	struct ob g = { 0 }, n = { 0 }, model = { 0 };

	(void)state;
	ob_attr_text(&n, "coordinate_transformation_mode", "asymmetric");
	ob_attr_text(&n, "nearest_mode", "floor");
	ob_node(&g, "Resize", "x  s", "y", &n);
	ob_tensor(&g, "s", 1, 1, &five, scales, sizeof scales);
	ob_port(&g, 11, "x", 3, 5, from);
	ob_port(&g, 12, "y", 3, 5, to);
	ob_model(&model, &g, 13);
	gives(&model, &load, &in, want, sizeof want);
}

/* A product of float8 in three dimensions between scales: eight of (1 * 0.5) * (4 * 0.25) are 4, also with --requant rescale. */
static void float8_volume(void **state)
{
	static const int64_t cube[5] = { 1, 1, 2, 2, 2 }, one[5] = { 1, 1, 1, 1, 1 };
	static const float scale[3] = { 0.5f, 0.25f, 1 };
	const uint8_t zero = 0, product = 0x48, ones[8] = { 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38 }, fours[8] = { 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48, 0x48 };
	weft_tensor in = { .dtype = WEFT_FP8E4M3, .rank = 5, .dim = { 1, 1, 2, 2, 2, 1, 1, 1 }, .data = (void *)(uintptr_t)ones };
	struct weft_load_options load = weft_load_options_default();
	struct ob g = { 0 }, model = { 0 };

	(void)state;
	ob_node(&g, "DequantizeLinear", "x sx z", "dx", NULL);
	ob_node(&g, "DequantizeLinear", "w sw z", "dw", NULL);
	ob_node(&g, "Conv", "dx dw", "c", NULL);
	ob_node(&g, "QuantizeLinear", "c sy z", "y", NULL);
	ob_tensor(&g, "sx", 1, 0, NULL, &scale[0], 4);
	ob_tensor(&g, "sw", 1, 0, NULL, &scale[1], 4);
	ob_tensor(&g, "sy", 1, 0, NULL, &scale[2], 4);
	ob_tensor(&g, "z", 17, 0, NULL, &zero, 1);
	ob_tensor(&g, "w", 17, 5, cube, fours, sizeof fours);
	ob_port(&g, 11, "x", 17, 5, cube);
	ob_port(&g, 12, "y", 17, 5, one);
	ob_model(&model, &g, 19);
	load.requant_rescale = true;
	gives(&model, &load, &in, &product, 1);
}

/* A vector of zeros stays one when it is divided by its length, in float16, too: 0 and 0; 3 and 4 become 0.6 and 0.8. */
static void zero_length(void **state)
{
	static const int64_t two[2] = { 2, 2 };
	static const uint16_t from[4] = { 0, 0, 0x4200, 0x4400 }, want[4] = { 0, 0, 0x38cd, 0x3a66 };
	weft_tensor in = { .dtype = WEFT_FP16, .rank = 2, .dim = { 2, 2, 1, 1, 1, 1, 1, 1 }, .data = (void *)(uintptr_t)from };
	struct weft_load_options load = weft_load_options_default();
	struct ob g = { 0 }, model = { 0 };

	(void)state;
	ob_node(&g, "LpNormalization", "x", "y", NULL);
	ob_port(&g, 11, "x", 10, 2, two);
	ob_port(&g, 12, "y", 10, 2, two);
	ob_model(&model, &g, 22);
	gives(&model, &load, &in, want, sizeof want);
}

/* Loads y = Identity(c) with a constant c of a type and rank numbers dim, whose field has n numbers; the result is [4] of that type. */
static int load_constant(int type, int rank, const int64_t *dim, int field, int n, char *msg)
{
	struct ob g = { 0 }, t = { 0 }, model = { 0 };
	weft_net *net = NULL;

	for (int i = 0; i < rank; i++)
		ob_int(&t, 1, dim[i]);
	ob_int(&t, 2, type);
	for (int i = 0; i < n; i++)
		ob_int(&t, field, i);
	ob_text(&t, 8, "c");
	ob_sub(&g, 5, &t);
	ob_node(&g, "Identity", "c", "y", NULL);
	ob_port(&g, 12, "y", type, 1, four);
	ob_model(&model, &g, 25);
	int err = weft_net_load(model.p, model.n, "constant", &net, msg);
	weft_net_free(net);
	free(model.p);
	return err;
}

/* Numbers in the field that their type has, too few and too many of them, and shapes that no tensor has. */
static void numbers_bad(void **state)
{
	enum { INT32_DATA = 5, INT64_DATA = 7, UINT64_DATA = 11 };
	enum { UINT8 = 2, INT8 = 3, INT16 = 5, INT32 = 6, INT64 = 7, BOOL = 9, FLOAT16 = 10, UINT32 = 12, UINT64 = 13, UINT4 = 21, INT4 = 22, UINT2 = 25 };
	static const struct { int type, field, n; } good[] = {
		{ UINT8, INT32_DATA, 4 }, { INT8, INT32_DATA, 4 }, { INT16, INT32_DATA, 4 }, { INT32, INT32_DATA, 4 }, { INT64, INT64_DATA, 4 },
		{ BOOL, INT32_DATA, 4 }, { FLOAT16, INT32_DATA, 4 }, { UINT32, UINT64_DATA, 4 }, { UINT64, UINT64_DATA, 4 },
		{ UINT4, INT32_DATA, 2 }, { INT4, INT32_DATA, 2 }, { UINT2, INT32_DATA, 1 },
	};
	static const int64_t many[] = { 1, 1, 1, 1, 1, 1, 1, 1, 4 }, large[] = { 1 << 16, 1 << 16 }, below[] = { -4 };
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		if (load_constant(good[i].type, 1, four, good[i].field, good[i].n, msg))
			fail_msg("type %d: %s", good[i].type, msg);
		for (int more = -1; more <= 1; more += 2) {
			assert_int_equal(load_constant(good[i].type, 1, four, good[i].field, good[i].n + more, msg), -EINVAL);
			if (!strstr(msg, "constant \"c\": ") || !strstr(msg, "data"))
				fail_msg("type %d: %s", good[i].type, msg);
		}
	}
	assert_int_equal(load_constant(INT32, 9, many, INT32_DATA, 4, msg), -ENOTSUP);
	assert_non_null(strstr(msg, "rank 9 > 8"));
	assert_int_equal(load_constant(INT32, 2, large, INT32_DATA, 4, msg), -EINVAL);
	assert_non_null(strstr(msg, "more than 2^31 elements"));
	assert_int_equal(load_constant(INT32, 1, below, INT32_DATA, 4, msg), -EINVAL);
	assert_non_null(strstr(msg, "dimension 0 is -4"));
	assert_int_equal(load_constant(99, 1, four, INT32_DATA, 4, msg), -ENOTSUP);
}

/* Where in a file a constant of four floats is: what is no number, and what reaches beyond the file or is another number of bytes. */
static void external_places(void **state)
{
	static const struct { const char *key, *value; int err; const char *says; } cases[] = {
		{ "offset", "0", 0, NULL }, { "offset", "16", 0, NULL }, { "length", "16", 0, NULL }, { "checksum", "none", 0, NULL },
		{ "offset", "20", -EINVAL, "32 bytes, no 16 at 20" }, { "offset", "-4", -EINVAL, "" }, { "offset", "9223372036854775807", -EINVAL, "" },
		{ "offset", "four", -EINVAL, "offset is no number" }, { "length", "", -EINVAL, "length is no number" },
		{ "length", "12", -EINVAL, "12 bytes, not 16" },
	};
	static const float c[4] = { 1, 2, 3, 4 };
	char folder[128], path[160], msg[WEFT_MSG_LEN] = "";
	float twice[8];

	(void)state;
	test_path(folder, sizeof folder, "onnx-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/c.bin", folder);
	memcpy(twice, c, sizeof c);
	memcpy(twice + 4, c, sizeof c);
	assert_int_equal(weft_file_write(path, (const uint8_t *)twice, sizeof twice), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ob g = { 0 }, t = { 0 }, location = { 0 }, pair = { 0 };
		ob_node(&g, "Add", "x c", "y", NULL);
		ob_int(&t, 1, 4);
		ob_int(&t, 2, 1);
		ob_text(&t, 8, "c");
		ob_text(&location, 1, "location");
		ob_text(&location, 2, "c.bin");
		ob_sub(&t, 13, &location);
		ob_text(&pair, 1, cases[i].key);
		ob_text(&pair, 2, cases[i].value);
		ob_sub(&t, 13, &pair);
		ob_int(&t, 14, 1);
		ob_sub(&g, 5, &t);
		int err = load_graph(&g, folder, msg);
		if (err != cases[i].err || (err && !strstr(msg, cases[i].says)))
			fail_msg("%s %s: %d %s", cases[i].key, cases[i].value, err, msg);
	}
	unlink(path);
	rmdir(folder);
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_length),
		cmocka_unit_test(external_data), cmocka_unit_test(external_paths), cmocka_unit_test(shared_region_bad),
		cmocka_unit_test(duplicate_bad), cmocka_unit_test(scales_bad), cmocka_unit_test(block_scales), cmocka_unit_test(bound_constants), cmocka_unit_test(long_chain),
		cmocka_unit_test(order_of_nodes), cmocka_unit_test(memory_bad),
		cmocka_unit_test(fake_convert), cmocka_unit_test(no_elements), cmocka_unit_test(resize_volume), cmocka_unit_test(pad_exactly), cmocka_unit_test(range_exactly),
		cmocka_unit_test(float8_volume), cmocka_unit_test(numbers_bad), cmocka_unit_test(external_places),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
