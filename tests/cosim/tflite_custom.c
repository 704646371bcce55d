/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom operators of a .tflite network, by functions of the caller, between convolutions on the NPU: on golden, the
 * model and the RTL, from the .tflite file and from the .weft and .tosa made of it; and what is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include <weft/npy.h>

#include "../support/level.h"
#include "../support/shell.h"
#include "../unit/tflite_build.h"

#define N    8                 /* rows, columns and channels of the network's values */
#define STEP 2                 /* the options of Rows: every second row */

static int8_t weights[2][N * 3 * 3 * N];

/* What the functions saw last. */
static struct { int shapes, runs; struct weft_quant in, out; weft_dtype type; bool absent; } seen;

/* Rows: every row whose number the options' byte divides; the file leaves their number open. */
static int rows_shapes(void *user, const struct weft_custom_call *c)
{
	assert_ptr_equal(user, &seen);
	seen.shapes++;
	assert_string_equal(c->name, "Rows");
	assert_int_equal(c->n_options, 1);
	assert_int_equal(c->options[1], 0);
	assert_null(c->in[0].data);
	c->out[0].dim[1] = c->in[0].dim[1] / c->options[0];
	return 0;
}

static int rows_run(void *user, const struct weft_custom_call *c)
{
	const size_t row = (size_t)(c->in[0].dim[2] * c->in[0].dim[3]);

	assert_ptr_equal(user, &seen);
	assert_int_equal(c->in[0].dtype, WEFT_INT8);
	assert_int_equal(c->n_in, 2);
	seen.runs++;
	seen.in = c->in_quant[0];
	seen.out = c->out_quant[0];
	seen.absent = c->in[1].dtype == 0;
	for (int64_t i = 0; i < c->out[0].dim[1]; i++)
		memcpy((char *)c->out[0].data + (size_t)i * row, (const char *)c->in[0].data + (size_t)(i * c->options[0]) * row, row);
	return 0;
}

/* Both: two results, the operand halved, and its sum as int32; it has no options. */
static int both_run(void *user, const struct weft_custom_call *c)
{
	const uint8_t *x = c->in[0].data;
	int32_t *sum = c->out[1].data;

	(void)user;
	assert_int_equal(c->n_options, 0);
	seen.type = c->in[0].dtype;
	assert_int_equal(c->out[0].dtype, seen.type);
	seen.in = c->in_quant[0];
	*sum = 0;
	for (int64_t i = 0; i < weft_tensor_elements(&c->in[0]); i++) {
		((uint8_t *)c->out[0].data)[i] = x[i] / 2;
		*sum += x[i];
	}
	return 0;
}

static int fail_run(void *user, const struct weft_custom_call *c)
{
	strcpy(c->msg, *(int *)user ? "no luck" : "");
	return *(int *)user ? *(int *)user : -EIO;
}

static int too_small(void *user, const struct weft_custom_call *c)
{
	(void)user;
	c->out[0].dim[1] = 0;
	return 0;
}

static const struct weft_custom_op known[] = {
	{ .name = "Rows", .shapes = rows_shapes, .run = rows_run, .user = &seen },
	{ .name = "Both", .run = both_run },
};
static const struct weft_custom_table table = { .ops = known, .n_ops = 2 };

/* ---- the network ---- */

static int conv(struct tb *b, int x, int i_w, int rows)
{
	const int32_t w_dim[] = { N, 3, 3, N }, y_dim[] = { 1, rows, N, N };
	int w = tb_add(b, TFL_INT8, 4, w_dim, 0.02f, 0), y = tb_add(b, TFL_INT8, 4, y_dim, 0.3f, -3);
	struct tb_op *o = tb_op(b, TFL_CONV_2D, OPTIONS_CONV);

	tb_constant(b, w, weights[i_w], sizeof weights[i_w]);
	b->tensor[y].open = rows != N;
	o->n_in = 2;
	o->in[0] = x;
	o->in[1] = w;
	o->n_out = 1;
	o->out[0] = y;
	tb_option(o, CONV_PADDING, 1, TFL_SAME);
	tb_option(o, CONV_STRIDE_W, 4, 1);
	tb_option(o, CONV_STRIDE_H, 4, 1);
	return y;
}

/* Every second row of x by the custom operator, or by STRIDED_SLICE. */
static int rows(struct tb *b, int x, bool custom)
{
	static const uint8_t step = STEP;
	static const int32_t begin[4], end[] = { 1, N, N, N }, strides[] = { 1, STEP, 1, 1 };
	const int32_t y_dim[] = { 1, custom ? 1 : N / STEP, N, N }, four[] = { 4 };
	const void *const numbers[] = { begin, end, strides };
	int y = tb_add(b, TFL_INT8, 4, y_dim, 0.3f, -3);
	struct tb_op *o = tb_op(b, custom ? TFL_CUSTOM : TFL_STRIDED_SLICE, custom ? 0 : OPTIONS_STRIDED_SLICE);

	b->tensor[y].open = custom;
	o->n_in = custom ? 2 : 4;
	o->in[0] = x;
	o->in[1] = -1;
	o->custom = custom ? "Rows" : NULL;
	o->custom_options = custom ? &step : NULL;
	o->n_custom_options = 1;
	for (int k = 0; !custom && k < 3; k++) {
		o->in[1 + k] = tb_add(b, TFL_INT32, 1, four, 0, 0);
		tb_constant(b, o->in[1 + k], numbers[k], sizeof begin);
	}
	o->n_out = 1;
	o->out[0] = y;
	return y;
}

/* A convolution, every second row of it, and another convolution. */
static uint8_t *network(bool custom, size_t *n)
{
	const int32_t x_dim[] = { 1, N, N, N };
	struct tb *b = calloc(1, sizeof *b);
	uint32_t r = 1;

	for (size_t i = 0; i < sizeof weights; i++, r = r * 1664525u + 1013904223u)
		((int8_t *)weights)[i] = (int8_t)((r >> 24) % 255 - 127);
	b->n_in = b->n_out = 1;
	b->in[0] = tb_add(b, TFL_INT8, 4, x_dim, 0.1f, 5);
	b->out[0] = conv(b, rows(b, conv(b, b->in[0], 0, N), custom), 1, N / STEP);
	uint8_t *p = tb_file(b, n);
	free(b);
	return p;
}

static weft_net *load(const uint8_t *p, size_t n, const char *name, const struct weft_custom_table *t)
{
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;

	o.custom = t;
	if (weft_net_load_with(p, n, name, &o, &net, msg))
		fail_msg("%s", msg);
	return net;
}

/* Runs the network on that device, compared with golden where it is none, and returns its one output. */
static weft_tensor run(const weft_net *net, enum weft_device device, int *n_host)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor in = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, N, N, N, 1, 1, 1, 1 } }, out = { 0 };
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *r;
	int8_t x[N * N * N];
	weft_session *s;

	for (int i = 0; i < N * N * N; i++)
		x[i] = (int8_t)(i * 37);
	in.data = x;
	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, &in, &out, &r, msg))
		fail_msg("%s", msg);
	*n_host = 0;
	for (int i = 0; i < r->n_ops; i++)
		*n_host += r->ops[i].unit == WEFT_RUN_HOST;
	assert_int_equal(r->mismatches, 0);
	weft_report_free(r);
	weft_session_close(s);
	return out;
}

static void need_equal(const weft_tensor *a, const weft_tensor *b)
{
	assert_int_equal(weft_tensor_bytes(a), weft_tensor_bytes(b));
	assert_memory_equal(a->data, b->data, weft_tensor_bytes(a));
}

/* ---- tests ---- */

/* On every device it gives what the builtin operator in its place gives, with one operator on the host. */
static void on_devices(void **state)
{
	size_t n, n_builtin;
	uint8_t *p = network(true, &n), *builtin = network(false, &n_builtin);
	weft_net *net = load(p, n, "x.tflite", &table), *other = load(builtin, n_builtin, "y.tflite", NULL);
	int n_host;
	weft_tensor want = run(other, WEFT_DEVICE_GOLDEN, &n_host);

	(void)state;
	for (enum weft_device d = WEFT_DEVICE_GOLDEN; d <= WEFT_DEVICE_RTL; d++) {
		if (d == WEFT_DEVICE_RTL && !test_have_rtl("w16"))
			continue;
		memset(&seen, 0, sizeof seen);
		weft_tensor got = run(net, d, &n_host);
		need_equal(&got, &want);
		assert_int_equal(seen.runs, d == WEFT_DEVICE_GOLDEN ? 1 : 2);
		assert_true(seen.absent && seen.in.present && seen.in.zp == -3 && (float)seen.out.scale == 0.3f);
		if (d != WEFT_DEVICE_GOLDEN)
			assert_int_equal(n_host, 1);
		weft_tensor_release(&got);
	}
	weft_tensor_release(&want);
	weft_net_free(net);
	weft_net_free(other);
	free(p);
	free(builtin);
}

/* Loads p without a table, which is refused with that line. */
static void need_refused(const uint8_t *p, size_t n, const char *name, const struct weft_custom_table *t, int err, const char *line)
{
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;

	o.custom = t;
	assert_int_equal(weft_net_load_with(p, n, name, &o, &net, msg), err);
	assert_string_equal(msg, line);
	assert_null(net);
}

/* A .weft and a .tosa file of the network give the same with the table, and are refused without it. */
static void files_made_of_it(void **state)
{
	char msg[WEFT_MSG_LEN] = "", note[WEFT_MSG_LEN];
	size_t n, n_file;
	uint8_t *p = network(true, &n), *file;
	weft_net *net = load(p, n, "x.tflite", &table);
	int n_host;
	weft_tensor want = run(net, WEFT_DEVICE_GOLDEN, &n_host);

	(void)state;
	for (int tosa = 0; tosa < 2; tosa++) {
		assert_int_equal(tosa ? weft_net_convert(net, false, &file, &n_file, note, msg) : weft_net_save(net, "w16", &file, &n_file, msg), 0);
		need_refused(file, n_file, "f", NULL, -ENOTSUP,
		             "custom operator Rows: no function for it; weft_load_options.custom or weft --custom takes them (weft/custom.h)");
		weft_net *again = load(file, n_file, "f", &table);
		weft_tensor got = run(again, WEFT_DEVICE_MODEL, &n_host);
		need_equal(&got, &want);
		weft_tensor_release(&got);
		weft_net_free(again);
		free(file);
	}
	weft_tensor_release(&want);
	weft_net_free(net);
	free(p);
}

/* uint8 [1, 4] to its halves and its sum. */
static uint8_t *two_results(const char *name, size_t *n)
{
	const int32_t dim[] = { 1, 4 }, one[] = { 1 };
	struct tb *b = calloc(1, sizeof *b);
	struct tb_op *o = tb_op(b, TFL_CUSTOM, 0);

	b->n_in = 1;
	b->n_out = 2;
	b->in[0] = tb_add(b, TFL_UINT8, 2, dim, 0.5f, 200);
	b->out[0] = tb_add(b, TFL_UINT8, 2, dim, 0.5f, 200);
	b->out[1] = tb_add(b, TFL_INT32, 1, one, 0, 0);
	b->tensor[b->out[0]].open = true;
	o->custom = name;
	o->n_in = 1;
	o->in[0] = b->in[0];
	o->n_out = 2;
	o->out[0] = b->out[0];
	o->out[1] = b->out[1];
	uint8_t *p = tb_file(b, n);
	free(b);
	return p;
}

/* Runs two_results() on golden. Returns the errno, with the line in msg and the outputs in out. */
static int run_two(const weft_net *net, weft_tensor out[2], char *msg)
{
	struct weft_session_options o = weft_session_options_default();
	uint8_t x[] = { 1, 200, 255, 0 };
	weft_tensor in = { .dtype = WEFT_UINT8, .rank = 2, .dim = { 1, 4, 1, 1, 1, 1, 1, 1 }, .data = x };
	weft_session *s;

	o.device = WEFT_DEVICE_GOLDEN;
	assert_int_equal(weft_session_open(net, &o, &s, msg), 0);
	memset(out, 0, 2 * sizeof *out);
	int err = weft_session_run(s, &in, out, NULL, msg);
	weft_session_close(s);
	return err;
}

/* The functions see uint8 as the file has it, and give several results. */
static void unsigned_and_two(void **state)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor out[2];
	size_t n;
	uint8_t *p = two_results("Both", &n);
	weft_net *net = load(p, n, "x.tflite", &table);

	(void)state;
	if (run_two(net, out, msg))
		fail_msg("%s", msg);
	assert_int_equal(seen.type, WEFT_UINT8);
	assert_true(seen.in.present && seen.in.scale == 0.5 && seen.in.zp == 200);
	assert_int_equal(out[0].dtype, WEFT_UINT8);
	assert_memory_equal(out[0].data, ((uint8_t[]){ 0, 100, 127, 0 }), 4);
	assert_int_equal(*(int32_t *)out[1].data, 456);
	weft_tensor_release(&out[0]);
	weft_tensor_release(&out[1]);
	weft_net_free(net);
	free(p);
}

/* A function's errno and line are those of the loading or the run. */
static void functions_fail(void **state)
{
	static const struct { int err, want; const char *line; } cases[] = {
		{ 0, -EIO, "Both: Input/output error" }, { -ENODEV, -ENODEV, "Both: no luck" }, { 7, -EINVAL, "Both: no luck" },
	};
	size_t n;
	uint8_t *p = two_results("Both", &n);

	(void)state;
	for (int i = 0; i < 3; i++) {
		int err = cases[i].err;
		const struct weft_custom_op op = { .name = "Both", .run = fail_run, .user = &err };
		const struct weft_custom_table t = { .ops = &op, .n_ops = 1 };
		char msg[WEFT_MSG_LEN] = "";
		weft_tensor out[2];
		weft_net *net = load(p, n, "x.tflite", &t);

		assert_int_equal(run_two(net, out, msg), cases[i].want);
		if (!strstr(msg, cases[i].line))
			fail_msg("%s", msg);
		weft_net_free(net);
	}
	int err = 0;
	struct weft_custom_op op = { .name = "Both", .shapes = too_small, .run = both_run, .user = &err };
	const struct weft_custom_table t = { .ops = &op, .n_ops = 1 };
	need_refused(p, n, "x.tflite", &t, -EINVAL, "operator 0 CUSTOM: shapes: a result's dimension is out of range");
	op.shapes = fail_run;
	need_refused(p, n, "x.tflite", &t, -EIO, "operator 0 CUSTOM: shapes: Input/output error");
	free(p);
}

/* A custom operator that the table does not have is refused by its name, with what to do. */
static void unknown(void **state)
{
	size_t n;
	uint8_t *p = two_results("Neither", &n);

	(void)state;
	need_refused(p, n, "x.tflite", &table, -ENOTSUP,
	             "operator 0 CUSTOM:Neither: no function for it; weft_load_options.custom or weft --custom takes them (weft/custom.h)");
	free(p);
}

static void write_bytes(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* The commands take the functions from a library: the same output on the model; what is no such library is refused in one line. */
static void of_a_library(void **state)
{
	static const struct { const char *file, *says; } bad[] = {
		{ "none.so", "weft: --custom: ./none.so: cannot open" }, { "x.tflite", "weft: --custom: ./x.tflite: " },
		{ "empty.so", "weft: --custom: empty.so: it has no function weft_custom_operators() (weft/custom.h)" },
		{ "null.so", "weft: --custom: null.so: weft_custom_operators() of it returned no operators" },
	};
	char dir[] = "/tmp/weft-custom-XXXXXX", path[128], msg[WEFT_MSG_LEN] = "";
	size_t n;
	uint8_t *p = network(true, &n);
	weft_net *net = load(p, n, "x.tflite", &table);
	int8_t x[N * N * N];
	int n_host;
	weft_tensor want = run(net, WEFT_DEVICE_GOLDEN, &n_host), got;

	(void)state;
	for (int i = 0; i < N * N * N; i++)
		x[i] = (int8_t)(i * 37);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/x.tflite", dir);
	write_bytes(path, p, n);
	snprintf(path, sizeof path, "%s/x.bin", dir);
	write_bytes(path, x, sizeof x);
	assert_int_equal(shell("for f in rows empty null; do case $f in rows) s=tests/support/custom_rows.c;; empty) s=/dev/null;; "
	                       "*) s=%s/null.c; echo 'void *weft_custom_operators(void) { return 0; }' > $s;; esac; "
	                       "${CC:-cc} -std=c11 -Wall -Wextra -Werror -shared -fPIC -Iinclude -x c $s -o %s/$f.so || exit 1; done", dir, dir), 0);
	assert_int_equal(shell("w=$(realpath ${WEFT_BUILD:-build})/weft; cd %s && $w run x.tflite -i x.bin --custom rows.so --device model --check -o out >log 2>&1", dir), 0);
	assert_int_equal(shell("mv %s/out/0_*.npy %s/y.npy", dir, dir), 0);
	snprintf(path, sizeof path, "%s/y.npy", dir);
	assert_int_equal(weft_npy_read(path, &got, msg), 0);
	need_equal(&got, &want);
	assert_int_equal(shell("${WEFT_BUILD:-build}/weft info %s/x.tflite 2>&1 | grep -q 'no function for it.*weft --custom takes them'", dir), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(shell("w=$(realpath ${WEFT_BUILD:-build})/weft; cd %s; $w info x.tflite --custom %s >log 2>&1; test $? = 2 && grep -qF '%s' log && test $(wc -l <log) = 1",
		                       dir, bad[i].file, bad[i].says), 0);
	assert_int_equal(shell("rm -r %s", dir), 0);
	weft_tensor_release(&got);
	weft_tensor_release(&want);
	weft_net_free(net);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_devices), cmocka_unit_test(files_made_of_it), cmocka_unit_test(unsigned_and_two),
		cmocka_unit_test(functions_fail), cmocka_unit_test(unknown), cmocka_unit_test(of_a_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
