/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX Runtime's outputs (graph optimisation off) for whole models: integers
 * bit for bit, floats within a relative 1e-4 of the largest; on golden, and on
 * the functional model with every tensor checked.
 *
 * tests/expected/ort.tsv lists differences: model, count of elements, reason.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <math.h>

#include <weft/convert.h>
#include <weft/weft.h>

#include "../support/file.h"
#include "../support/each_file.h"

#define MAX_PORTS 16

/* The stored bytes of a port by name; from malloc. */
static void *stored(const char *dir, cJSON *list, const char *name, size_t *n)
{
	cJSON *e;

	cJSON_ArrayForEach(e, list) {
		char path[1200];
		if (strcmp(cJSON_GetObjectItem(e, "name")->valuestring, name))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, cJSON_GetObjectItem(e, "file")->valuestring);
		return test_file(path, n);
	}
	return NULL;
}

static weft_tensor of_port(const struct weft_port *p)
{
	weft_tensor t = { .dtype = p->dtype, .rank = p->rank };

	memcpy(t.dim, p->dim, sizeof t.dim);
	return t;
}

static double at(const weft_tensor *t, const void *data, int64_t i)
{
	uint64_t bits = 0;
	size_t n = weft_dtype_bytes(t->dtype);

	memcpy(&bits, (const char *)data + (size_t)i * n, n);
	return weft_float_decode(t->dtype, bits);
}

static int64_t differences(const weft_tensor *y, const void *want)
{
	const int64_t n = weft_tensor_elements(y);
	const size_t size = weft_dtype_bytes(y->dtype);
	bool is_float = y->dtype == WEFT_FP32 || y->dtype == WEFT_FP16;
	double top = 0;
	int64_t bad = 0;

	for (int64_t i = 0; is_float && i < n; i++)
		top = fmax(top, fabs(at(y, want, i)));
	for (int64_t i = 0; i < n; i++) {
		if (is_float)
			bad += !(fabs(at(y, y->data, i) - at(y, want, i)) <= 1e-4 * top);
		else
			bad += memcmp((char *)y->data + (size_t)i * size, (const char *)want + (size_t)i * size, size) != 0;
	}
	return bad;
}

/* Elements that differ, or a negative errno. */
static int64_t run(weft_net *net, const char *dir, cJSON *io, enum weft_device device, char *why)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor x[MAX_PORTS] = { 0 }, y[MAX_PORTS] = { 0 };
	weft_session *s = NULL;
	struct weft_port p;
	int64_t bad = 0;
	size_t n;

	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		weft_net_input(net, i, &p);
		x[i] = of_port(&p);
		x[i].data = stored(dir, cJSON_GetObjectItem(io, "inputs"), p.name, &n);
		if (!x[i].data || n != weft_tensor_bytes(&x[i]))
			fail_msg("%s: input %s has not %zu bytes", dir, p.name, weft_tensor_bytes(&x[i]));
	}
	int err = weft_session_open(net, &o, &s, why);
	err = err ? err : weft_session_run(s, x, y, NULL, why);
	for (int i = 0; !err && i < weft_net_n_outputs(net); i++) {
		weft_net_output(net, i, &p);
		void *want = stored(dir, cJSON_GetObjectItem(io, "outputs"), p.name, &n);
		if (!want || n != weft_tensor_bytes(&y[i]))
			fail_msg("%s: output %s has not %zu bytes", dir, p.name, weft_tensor_bytes(&y[i]));
		bad += differences(&y[i], want);
		free(want);
	}
	for (int i = 0; i < MAX_PORTS; i++) {
		free(x[i].data);
		if (!err)
			weft_tensor_release(&y[i]);
	}
	weft_session_close(s);
	return err ? err : bad;
}

static int64_t listed(const char *id)
{
	FILE *f = fopen("tests/expected/ort.tsv", "r");
	char line[512], name[256];
	long long n, found = 0;

	while (f && fgets(line, sizeof line, f))
		if (line[0] != '#' && sscanf(line, "%255s %lld", name, &n) == 2 && !strcmp(name, id))
			found = n;
	if (f)
		fclose(f);
	return found;
}

/* Shapes of the stored inputs, for models that leave them open. */
static int shapes(cJSON *io, struct weft_bound *b)
{
	int n = 0;
	cJSON *e, *d;

	cJSON_ArrayForEach(e, cJSON_GetObjectItem(io, "inputs")) {
		assert_true(n < MAX_PORTS);
		b[n] = (struct weft_bound){ .name = cJSON_GetObjectItem(e, "name")->valuestring };
		cJSON_ArrayForEach(d, cJSON_GetObjectItem(e, "dims"))
			b[n].value.dim[b[n].value.rank++] = d->valueint;
		n++;
	}
	return n;
}

static int one(const char *dir, const char *id)
{
	struct weft_load_options o = weft_load_options_default();
	struct weft_bound bound[MAX_PORTS];
	char path[1200], why[WEFT_MSG_LEN] = "";
	size_t n;
	weft_net *net = NULL;
	int wrong = 0;

	snprintf(path, sizeof path, "%s/io.json", dir);
	char *text = test_file(path, &n);
	cJSON *io = text ? cJSON_Parse(text) : NULL;
	assert_non_null(io);
	snprintf(path, sizeof path, "%s/%s.onnx", test_data(), id);
	o.bound = bound;
	o.n_bound = shapes(io, bound);
	int64_t bad = weft_net_load_file_with(path, &o, &net, why);
	for (int device = WEFT_DEVICE_GOLDEN; device <= WEFT_DEVICE_MODEL && net; device++) {
		bad = run(net, dir, io, (enum weft_device)device, why);
		if (bad != listed(id)) {
			print_error("%s on %s: %lld, listed %lld: %s\n", id, device ? "model" : "golden", (long long)bad,
			            (long long)listed(id), bad < 0 ? why : "elements differ");
			wrong = 1;
		}
	}
	if (!net && bad != listed(id)) {
		print_error("%s: %lld: %s\n", id, (long long)bad, why);
		wrong = 1;
	}
	weft_net_free(net);
	cJSON_Delete(io);
	free(text);
	return wrong;
}

static void ort_models(void **state)
{
	int wrong = 0;

	(void)state;
	glob_t g = test_files("ort_expected/*/*");
	for (size_t i = 0; i < g.gl_pathc; i++)
		wrong += one(g.gl_pathv[i], strstr(g.gl_pathv[i], "ort_expected/") + strlen("ort_expected/"));
	printf("%zu models, %d wrong\n", g.gl_pathc, wrong);
	fflush(stdout);
	globfree(&g);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(ort_models) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
