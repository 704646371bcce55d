/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deeploy's test networks on golden: integers in float32 tensors, RequantShift
 * and quantlib's other operators. Outputs equal. tests/expected/deeploy.tsv
 * lists what is refused, with the operator that the message names, and what
 * equals the stored integers only when it is rounded half up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/convert.h>
#include <weft/weft.h>

#include "../support/file.h"
#include "../support/level.h"
#include "../support/npz.h"

#define MAX_PORTS 200

static int n_run, n_refused, n_wrong, n_rounded;
static char *listed;

/* The line of the list for a network; NULL: none. */
static const char *reason(const char *name)
{
	const char *at = strstr(listed, name);
	size_t n = strlen(name);

	return at && (at == listed || at[-1] == '\n') && at[n] == '\t' ? at + n + 1 : NULL;
}

static double number(const struct npz_array *a, int64_t i)
{
	if (a->kind == 'f')
		return a->item_bytes == 4 ? (double)((const float *)a->data)[i] : ((const double *)a->data)[i];
	return (double)npz_int(a, i);
}

/* The array for a port: under its name, or the next in order. */
static const struct npz_array *array_for(const struct npz *z, const char *name, int i)
{
	const struct npz_array *a = npz_find(z, name);

	return a ? a : i < z->n ? &z->a[i] : NULL;
}

static weft_tensor tensor_of(const struct weft_port *p, const struct npz_array *a)
{
	weft_tensor t = { .dtype = p->dtype, .rank = p->rank };
	const size_t size = weft_dtype_bytes(p->dtype);

	memcpy(t.dim, p->dim, sizeof t.dim);
	if (!a || weft_tensor_elements(&t) != a->n)
		return t;
	t.data = malloc(weft_tensor_bytes(&t) + 1);
	assert_non_null(t.data);
	for (int64_t i = 0; i < a->n; i++) {
		int64_t v = (int64_t)number(a, i);
		uint64_t bits = p->dtype >= WEFT_FP8E4M3 ? weft_float_encode(p->dtype, number(a, i), false) : (uint64_t)v;
		memcpy((char *)t.data + (size_t)i * size, &bits, size);
	}
	return t;
}

static double element(const weft_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case WEFT_FP32: return (double)((const float *)t->data)[i];
	case WEFT_INT8: return ((const int8_t *)t->data)[i];
	case WEFT_UINT8: return ((const uint8_t *)t->data)[i];
	case WEFT_INT32: return ((const int32_t *)t->data)[i];
	default: return (double)((const int64_t *)t->data)[i];
	}
}

/* Integers equal; a network of real numbers within 1e-4 of its largest. */
static int64_t differences(const weft_tensor *y, const struct npz_array *want, bool rounded)
{
	double top = 0;
	int64_t bad = 0;
	bool whole = true;

	for (int64_t i = 0; i < want->n; i++) {
		top = fmax(top, fabs(number(want, i)));
		whole = whole && number(want, i) == rint(number(want, i));
	}
	for (int64_t i = 0; i < want->n; i++) {
		double v = rounded ? floor(element(y, i) + 0.5) : element(y, i);
		bad += !(fabs(v - number(want, i)) <= (whole ? 0 : 1e-4 * top));
	}
	return bad;
}

static void compare(const char *name, bool rounded, weft_net *net, const struct npz *in, const struct npz *out)
{
	struct weft_session_options o = weft_session_options_default();
	static weft_tensor x[MAX_PORTS], y[MAX_PORTS];
	char msg[WEFT_MSG_LEN] = "";
	struct weft_port p;
	weft_session *s = NULL;
	int n = weft_net_n_inputs(net), m = weft_net_n_outputs(net);

	assert_true(n <= MAX_PORTS && m <= MAX_PORTS);
	o.device = WEFT_DEVICE_GOLDEN;
	for (int i = 0; i < n; i++) {
		weft_net_input(net, i, &p);
		x[i] = tensor_of(&p, array_for(in, p.name, i));
		if (!x[i].data)
			fail_msg("%s: no input %s", name, p.name);
	}
	int err = weft_session_open(net, &o, &s, msg);
	err = err ? err : weft_session_run(s, x, y, NULL, msg);
	if (err)
		fail_msg("%s: %s", name, msg);
	for (int i = 0; i < m; i++) {
		weft_net_output(net, i, &p);
		const struct npz_array *want = array_for(out, p.name, i);
		assert_true(want && want->n == weft_tensor_elements(&y[i]));
		int64_t bad = differences(&y[i], want, rounded);
		const bool needless = rounded && !differences(&y[i], want, false);
		n_rounded += rounded;
		if (bad || needless) {
			printf("%s: %s: %lld of %lld elements differ%s\n", name, p.name, (long long)bad, (long long)want->n,
			       needless ? ", listed as rounded without need" : "");
			n_wrong++;
		}
		weft_tensor_release(&y[i]);
	}
	for (int i = 0; i < n; i++)
		weft_tensor_release(&x[i]);
	weft_session_close(s);
	n_run++;
}

static void one(const char *folder, const char *name)
{
	char path[1200], msg[WEFT_MSG_LEN] = "", type[100] = "";
	struct npz in, out;
	weft_net *net = NULL;
	const char *why = reason(name);

	snprintf(path, sizeof path, "%s/inputs.npz", folder);
	if (access(path, R_OK)) {
		printf("%s: no inputs\n", name);
		return;
	}
	if (npz_load(path, &in))
		fail_msg("%s: not an archive of arrays that we have", path);
	snprintf(path, sizeof path, "%s/outputs.npz", folder);
	if (npz_load(path, &out))
		fail_msg("%s: not an archive of arrays that we have", path);
	snprintf(path, sizeof path, "%s/network.onnx", folder);
	int err = weft_net_load_file(path, &net, msg);
	if (why)
		sscanf(why, "%99s", type);
	bool rounded = !strcmp(type, "rounded");
	if (!err != (!why || rounded) || (err && (err != -ENOTSUP || !strstr(msg, type))))
		fail_msg("%s: %s; listed: %s", name, err ? msg : "runs", why ? type : "no");
	n_refused += err != 0;
	if (!err)
		compare(name, rounded, net, &in, &out);
	weft_net_free(net);
	npz_free(&in);
	npz_free(&out);
}

static void walk(const char *folder, const char *name)
{
	struct dirent **e;
	int n = scandir(folder, &e, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[1000], below[500];
		struct stat st;

		snprintf(path, sizeof path, "%s/%s", folder, e[i]->d_name);
		snprintf(below, sizeof below, "%s%s%s", name, *name ? "/" : "", e[i]->d_name);
		if (!strcmp(e[i]->d_name, "network.onnx"))
			one(folder, name);
		else if (e[i]->d_name[0] != '.' && !stat(path, &st) && S_ISDIR(st.st_mode))
			walk(path, below);
		free(e[i]);
	}
	if (n >= 0)
		free(e);
}

static void networks(void **state)
{
	char path[600];

	(void)state;
	listed = test_file("tests/expected/deeploy.tsv", NULL);
	assert_non_null(listed);
	snprintf(path, sizeof path, "%s/deeploy", test_data());
	walk(path, "");
	free(listed);
	if (!n_run) {
		printf("no networks in %s\n", path);
		fflush(stdout);
		skip();
	}
	printf("%d networks run, %d of them rounded to the stored integers; %d refused\n", n_run, n_rounded, n_refused);
	assert_int_equal(n_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(networks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
