/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX's node tests: every case either gives the stored results or is listed in
 * tests/expected/onnx_node.tsv with what the refusal says and the reason. A case
 * that passes although it is listed, or is refused with other words, fails too.
 *
 * Inputs of one dimension of int64 (shapes, axes, ...) and what else has to be
 * known beforehand are bound when the network is loaded. Integers, bool and
 * float8 are equal; other floats within ONNX's own tolerance.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <glob.h>
#include <math.h>

#include <weft/convert.h>
#include <weft/weft.h>

#include "../support/file.h"
#include "../support/level.h"
#include "userlib/import/onnx/onnx.h"

#define MAX_PORTS 16

/* Tensors input_<n>.pb or output_<n>.pb; the count. -1: one is not a tensor that we have. */
static int load_set(const char *dir, const char *kind, weft_tensor *t, char *why)
{
	char path[1024];
	int n = 0;

	for (; n < MAX_PORTS; n++) {
		size_t len;
		snprintf(path, sizeof path, "%s/test_data_set_0/%s_%d.pb", dir, kind, n);
		uint8_t *p = test_file(path, &len);
		if (!p)
			break;
		int err = weft_onnx_tensor(p, len, &t[n], why);
		free(p);
		if (err)
			return -1;
	}
	return n;
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

/* Elements that differ. */
static int64_t differences(const weft_tensor *y, const weft_tensor *want, char *why)
{
	int64_t bad = 0, n = weft_tensor_elements(want);
	size_t size = weft_dtype_bytes(want->dtype);

	if (y->dtype != want->dtype || y->rank != want->rank || weft_tensor_elements(y) != n ||
	    memcmp(y->dim, want->dim, (size_t)y->rank * sizeof y->dim[0])) {
		snprintf(why, WEFT_MSG_LEN, "type or shape differs: %s, rank %d, %lld elements", weft_dtype_name(y->dtype), y->rank,
		         (long long)weft_tensor_elements(y));
		return n ? n : 1;
	}
	for (int64_t i = 0; i < n; i++) {
		bool same = !memcmp((char *)y->data + (size_t)i * size, (char *)want->data + (size_t)i * size, size);
		if (!same && by_tolerance(y->dtype)) {
			double a = at(y, i), b = at(want, i);
			same = (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-7 + 1e-3 * fabs(b);
		}
		if (!same && !bad++)
			snprintf(why, WEFT_MSG_LEN, "element %lld differs", (long long)i);
	}
	return bad;
}

/* Listed inputs of the model that did not become constants, in order; by name. */
static int run(weft_net *net, char names[][128], const weft_tensor *in, int n_in, const weft_tensor *want, int n_want, char *why)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor x[MAX_PORTS], y[MAX_PORTS] = { 0 };
	weft_session *s;
	int64_t bad = 0;

	o.device = WEFT_DEVICE_GOLDEN;
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		struct weft_port p;

		weft_net_input(net, i, &p);
		for (int k = 0; k < n_in; k++)
			if (!strcmp(names[k], p.name))
				x[i] = in[k];
	}
	int err = weft_session_open(net, &o, &s, why);
	if (err)
		return err;
	err = weft_session_run(s, x, y, NULL, why);
	if (!err && weft_net_n_outputs(net) != n_want) {
		snprintf(why, WEFT_MSG_LEN, "%d outputs, not %d", weft_net_n_outputs(net), n_want);
		bad = 1;
	}
	for (int i = 0; !err && i < n_want && !bad; i++)
		bad = differences(&y[i], &want[i], why);
	for (int i = 0; !err && i < weft_net_n_outputs(net); i++)
		weft_tensor_release(&y[i]);
	weft_session_close(s);
	return err ? err : bad ? 1 : 0;
}

/* Names of the model's inputs: what the port would be called, found by binding nothing. */
static int input_names(const uint8_t *p, size_t n, char names[][128])
{
	/* graph (field 7) holds inputs (field 11), which begin with a name (field 1). */
	int count = 0;
	for (size_t i = 0; i + 4 < n && count < MAX_PORTS; i++) {
		if (p[i] == 0x5a && p[i + 2] == 0x0a && p[i + 1] > p[i + 3] && i + 4 + p[i + 3] < n && p[i + 4 + p[i + 3]] == 0x12 &&
		    p[i + 3] < 128) {
			memcpy(names[count], p + i + 4, p[i + 3]);
			names[count++][p[i + 3]] = 0;
		}
	}
	return count;
}

static bool shape_like(const weft_tensor *t)
{
	return (t->dtype == WEFT_INT64 && t->rank <= 1) || (t->dtype == WEFT_FP32 && t->rank == 1 && t->dim[0] <= 8);
}

/* 0 passed, 1 differs, negative: refused. */
static int one(const char *dir, char *why)
{
	weft_tensor in[MAX_PORTS] = { 0 }, want[MAX_PORTS] = { 0 };
	struct weft_load_options o = weft_load_options_default();
	struct weft_bound bound[MAX_PORTS];
	char path[1024], names[MAX_PORTS][128];
	weft_net *net = NULL;
	size_t len;
	int n_in = load_set(dir, "input", in, why), n_want = n_in < 0 ? -1 : load_set(dir, "output", want, why), err = -ENOTSUP;

	snprintf(path, sizeof path, "%s/model.onnx", dir);
	uint8_t *model = test_file(path, &len);
	assert_non_null(model);
	int named = input_names(model, len, names);
	if (n_want >= 0 && named < n_in)
		n_in = named;
	if (n_want >= 0)
		err = weft_net_load_with(model, len, "case", &o, &net, why);
	for (int pass = 0; pass < 2 && n_want >= 0 && err == -ENOTSUP; pass++) {
		o.n_bound = 0;
		o.bound = bound;
		for (int i = 0; i < n_in; i++)
			if (i > 0 && (pass || shape_like(&in[i])))
				bound[o.n_bound++] = (struct weft_bound){ names[i], in[i] };
		err = weft_net_load_with(model, len, "case", &o, &net, why);
	}
	if (!err)
		err = run(net, names, in, n_in, want, n_want, why);
	weft_net_free(net);
	free(model);
	for (int i = 0; i < MAX_PORTS; i++) {
		free(in[i].data);
		free(want[i].data);
	}
	return err;
}

/* The list's line for a case: what its refusal says, or NULL. */
static const char *expected(const char *name, char *line, size_t n)
{
	FILE *f = fopen("tests/expected/onnx_node.tsv", "r");
	const char *found = NULL;

	while (f && !found && fgets(line, (int)n, f)) {
		char *tab = strchr(line, '\t');
		if (line[0] == '#' || !tab)
			continue;
		*tab = 0;
		if (strcmp(line, name))
			continue;
		found = tab + 1;
		tab = strchr(found, '\t');
		assert_non_null(tab);            /* the reason */
		*tab = 0;
	}
	if (f)
		fclose(f);
	return found;
}

static void node_tests(void **state)
{
	char pattern[512], line[512];
	int passed = 0, refused = 0, wrong = 0;
	glob_t g;

	(void)state;
	snprintf(pattern, sizeof pattern, "%s/onnx_node/*", test_data());
	if (glob(pattern, 0, NULL, &g)) {
		printf("no %s\n", pattern);
		fflush(stdout);
		skip();
	}
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *name = strrchr(g.gl_pathv[i], '/') + 1;
		char why[WEFT_MSG_LEN] = "";
		int err = one(g.gl_pathv[i], why);
		const char *reason = expected(name, line, sizeof line);

		passed += !err;
		bool as_listed = err && reason && strstr(why, reason);
		refused += as_listed;
		if (as_listed || (!err && !reason))
			continue;
		wrong++;
		print_error("%s\t%s\n", name, err ? why : "passes, but is listed");
	}
	printf("%d passed, %d listed as not supported, %d other\n", passed, refused, wrong);
	fflush(stdout);
	assert_int_equal(passed + refused + wrong, g.gl_pathc);
	globfree(&g);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(node_tests) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
