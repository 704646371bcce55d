/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA 1.0 conformance vectors (WEFT_DATA/tosa_1_0): on golden, on the
 * functional model, and once more after the graph was written and read again.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/tensors.h"
#include <weft/conform.h>

struct seen {
	int n, passed, refused, npu;
	int listed;                /* of these, integer tests of operators that the NPU has to run alone */
	char first[512];           /* the first that is not as it should be */
	int bad;
	bool alone;                /* the device runs them without help */
};

static bool have(char *dir, size_t len)
{
	struct stat st;

	snprintf(dir, len, "%s/tosa_1_0", test_data());
	if (!stat(dir, &st))
		return true;
	printf("no conformance vectors in %s\n", dir);
	fflush(stdout);
	return false;
}

/* Operators whose integer and float8 rows leave nothing to the host where the device has an alu. */
static const char *const on_npu[] = {
	"ABS", "ADD", "ARGMAX", "ARITHMETIC_RIGHT_SHIFT", "AVG_POOL2D", "BITWISE_AND", "BITWISE_NOT", "BITWISE_OR", "BITWISE_XOR",
	"CAST", "CLAMP", "CLZ", "CONCAT", "CONV2D", "CONV3D", "DEPTHWISE_CONV2D", "EQUAL", "GATHER", "GREATER", "GREATER_EQUAL",
	"IDENTITY", "LOGICAL_AND", "LOGICAL_LEFT_SHIFT", "LOGICAL_NOT", "LOGICAL_OR", "LOGICAL_RIGHT_SHIFT", "LOGICAL_XOR", "MATMUL",
	"MAXIMUM", "MAX_POOL2D", "MINIMUM", "MUL", "NEGATE", "PAD", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN",
	"REDUCE_SUM", "RESCALE", "RESHAPE", "RESIZE", "REVERSE", "SCATTER", "SELECT", "SLICE", "SUB", "TABLE", "TILE", "TRANSPOSE",
	"TRANSPOSE_CONV2D", "GRAPH_ATTENTION", "GRAPH_CNN", "GRAPH_I16X8", "GRAPH_I8XI4", "GRAPH_LAYOUT", "GRAPH_RESIDUAL",
};

/* And whose rows of fp16 do. */
static const char *const half_on_npu[] = {
	"ADD", "ARGMAX", "CAST", "CLAMP", "CONCAT", "GATHER", "IDENTITY", "MAX_POOL2D", "PAD", "RESHAPE", "REVERSE", "SCATTER", "SELECT",
	"SLICE", "TILE", "TRANSPOSE",
};

static bool is_among(const char *op, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(op, list[i]))
			return true;
	return false;
}

static bool is_listed(const struct weft_conform_case *c)
{
	if (c->error_expected)
		return false;
	if (!strcmp(c->op, "CAST"))
		return strncmp(c->types, "f32", 3) != 0;
	if (strstr(c->types, "f32") || strstr(c->types, "bf16"))
		return false;
	/* The results of float8's products are fp16, which the types do not name. */
	if (strstr(c->types, "f16"))
		return is_among(c->op, half_on_npu, sizeof half_on_npu / sizeof *half_on_npu);
	return is_among(c->op, on_npu, sizeof on_npu / sizeof *on_npu);
}

static int count(void *user, const struct weft_conform_case *c)
{
	struct seen *s = user;

	s->n++;
	s->npu += c->npu;
	s->passed += c->verdict == WEFT_PASSED && !c->error_expected;
	s->refused += c->verdict == WEFT_PASSED && c->error_expected;
	if (c->verdict != WEFT_PASSED && !s->bad++)
		snprintf(s->first, sizeof s->first, "%s: %s", c->path, c->why);
	if (is_listed(c) && (!c->npu || c->host) && s->alone && !s->bad++)
		snprintf(s->first, sizeof s->first, "%s: %s on the host", c->path, c->host ? c->host : "it");
	s->listed += is_listed(c);
	return 0;
}

static struct seen run_all(const char *dir, enum weft_device device)
{
	struct weft_conform_options o = { .session = weft_session_options_default() };
	struct seen s = { .alone = device != WEFT_DEVICE_GOLDEN };
	char msg[WEFT_MSG_LEN] = "";

	o.session.device = device;
	if (weft_conform(dir, &o, count, &s, msg))
		fail_msg("%s", msg);
	if (s.bad)
		fail_msg("%d of %d tests fail; the first: %s", s.bad, s.n, s.first);
	return s;
}

static void vectors_golden(void **state)
{
	char dir[512];

	(void)state;
	if (!have(dir, sizeof dir))
		skip();
	struct seen s = run_all(dir, WEFT_DEVICE_GOLDEN);
	assert_int_equal(s.passed + s.refused, s.n);
	assert_true(s.passed > 0 && s.refused > 0);
	assert_int_equal(s.npu, 0);
}

static void vectors_model(void **state)
{
	char dir[512];

	(void)state;
	if (!have(dir, sizeof dir))
		skip();
	struct seen s = run_all(dir, WEFT_DEVICE_MODEL);
	assert_int_equal(s.passed + s.refused, s.n);
	print_message("%d of %d tests ran on the NPU, at least in part; of the %d of its operators and types, all alone\n", s.npu, s.n,
	              s.listed);
	assert_true(s.npu >= 2010 && s.listed >= 1910);
}

/* All of them where there is time; else those of operators that take several kinds of commands. */
static void vectors_rtl(void **state)
{
	static const char *const some[] = { "avg_pool2d", "matmul", "argmax", "max_pool2d" };
	bool all = test_level() == 2;
	struct seen sum = { 0 };
	char dir[512], sub[600];
	struct stat st;

	(void)state;
	snprintf(sub, sizeof sub, "%s/rtl/weft-rtl-w16.so", getenv("WEFT_BUILD") ? getenv("WEFT_BUILD") : "build");
	if (!have(dir, sizeof dir))
		skip();
	if (stat(sub, &st)) {
		printf("no %s\n", sub);
		fflush(stdout);
		skip();
	}
	for (size_t i = 0; i < (all ? 1 : sizeof some / sizeof *some); i++) {
		snprintf(sub, sizeof sub, "%s/%s", dir, all ? "" : some[i]);
		struct seen s = run_all(sub, WEFT_DEVICE_RTL);
		assert_int_equal(s.passed + s.refused, s.n);
		sum.n += s.n;
		sum.npu += s.npu;
		sum.listed += s.listed;
	}
	print_message("RTL: %d of %d tests ran on the NPU; of the %d of its operators and types, all alone\n", sum.npu, sum.n, sum.listed);
	assert_true(sum.npu >= sum.listed && sum.listed >= (all ? 1910 : 80));
}

/* ---- written and read again ---- */

static int run_random(const weft_net *net, weft_tensor **out, char *msg)
{
	struct weft_session_options o = weft_session_options_default();
	int n_in = weft_net_n_inputs(net), n_out = weft_net_n_outputs(net);
	weft_tensor *in = calloc((size_t)n_in + 1, sizeof *in);
	weft_session *s = NULL;
	uint64_t seed = 1;

	*out = calloc((size_t)n_out + 1, sizeof **out);
	o.device = WEFT_DEVICE_GOLDEN;
	for (int i = 0; i < n_in; i++) {
		struct weft_port p;
		weft_net_input(net, i, &p);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof p.dim);
		in[i].data = malloc(weft_tensor_bytes(&in[i]) + 8);
		/* Small values: shifts, indices and loop counts are then often legal. */
		for (size_t k = 0; k < weft_tensor_bytes(&in[i]); k++)
			((uint8_t *)in[i].data)[k] = k % weft_dtype_bytes(p.dtype) ? 0 : (uint8_t)(test_random(&seed) % 3);
	}
	int err = weft_session_open(net, &o, &s, msg);
	if (!err)
		err = weft_session_run(s, in, *out, NULL, msg);
	weft_session_close(s);
	for (int i = 0; i < n_in; i++)
		free(in[i].data);
	free(in);
	return err;
}

static void free_outputs(const weft_net *net, weft_tensor *out)
{
	for (int i = 0; i < weft_net_n_outputs(net); i++)
		weft_tensor_release(&out[i]);
	free(out);
}

/* A message without the operator's number, which conversion may change. */
static const char *without_number(const char *msg)
{
	const char *p = strncmp(msg, "operator ", 9) ? NULL : strchr(msg, ':');

	return p ? p : msg;
}

/* A network's results and those of what it is converted to; 1: both ran. */
static int same_after_conversion(const char *path)
{
	char msg[WEFT_MSG_LEN] = "", msg2[WEFT_MSG_LEN] = "", note[WEFT_MSG_LEN];
	weft_net *a, *b;
	weft_tensor *ya, *yb;
	uint8_t *file;
	size_t len;

	if (weft_net_load_file(path, &a, msg))
		return 0;
	int no = weft_net_convert(a, false, &file, &len, note, msg);
	if (no) {
		/* What TOSA has no type for is refused by its name; a TOSA network never is. */
		if (no != -ENOTSUP || strstr(path, ".tosa"))
			fail_msg("%s: %s", path, msg);
		printf("%s: %s\n", path, msg);
		weft_net_free(a);
		return 0;
	}
	if (weft_net_load(file, len, "again", &b, msg))
		fail_msg("%s: %s", path, msg);
	int err = run_random(a, &ya, msg), err2 = run_random(b, &yb, msg2);
	if (err != err2 || strcmp(without_number(msg), without_number(msg2)))
		fail_msg("%s: %d %s, converted %d %s", path, err, msg, err2, msg2);
	for (int i = 0; !err && i < weft_net_n_outputs(a); i++) {
		assert_int_equal(weft_tensor_bytes(&ya[i]), weft_tensor_bytes(&yb[i]));
		if (memcmp(ya[i].data, yb[i].data, weft_tensor_bytes(&ya[i])))
			fail_msg("%s: output %d differs after conversion", path, i);
	}
	free_outputs(a, ya);
	free_outputs(b, yb);
	weft_net_free(a);
	weft_net_free(b);
	free(file);
	return !err;
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Networks below a folder: NAME.<ending>. Large ones take minutes: leave them to the full run. */
static void convert_below(const char *dir, const char *ending, int *ran)
{
	struct dirent **list;
	int n = scandir(dir, &list, not_hidden, alphasort);

	for (int i = 0; i < n; i++) {
		const char *dot = strrchr(list[i]->d_name, '.');
		char path[1024];
		struct stat st;
		snprintf(path, sizeof path, "%.600s/%.300s", dir, list[i]->d_name);
		if (stat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode))
			convert_below(path, ending, ran);
		else if (dot && !strcmp(dot, ending) && (st.st_size < 400000 || test_level() == 2))
			*ran += same_after_conversion(path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void round_trip(void **state)
{
	char dir[512];
	int ran = 0;

	(void)state;
	if (!have(dir, sizeof dir))
		skip();
	convert_below(dir, ".tosa", &ran);
	printf("%d networks ran, before and after\n", ran);
	assert_true(ran > 500);
}

/* Every .tflite of the data that can be read: int8, uint8 and int16x8 networks, and integer operators. */
static void tflite_to_tosa(void **state)
{
	static const char *const own[] = { "tests/models/digits_int8.tflite", "tests/models/digits_int16x8.tflite" };
	int ran = 0;

	(void)state;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		assert_int_equal(same_after_conversion(own[i]), 1);
	convert_below(test_data(), ".tflite", &ran);
	printf("%d networks ran, before and after\n", ran);
	fflush(stdout);
	assert_true(!ran || ran > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_golden),
		cmocka_unit_test(vectors_model),
		cmocka_unit_test(vectors_rtl),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(tflite_to_tosa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
