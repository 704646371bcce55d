/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks as TensorFlow's converter of 2026 writes them (WEFT_DATA/zoo), in
 * process through the library: outputs against those that LiteRT 2.3's kernels
 * gave, and every tensor that the device makes against golden's.
 *
 * Integers are compared bit for bit, float32 within 1e-5 of the largest
 * output. Where io.json says that LiteRT ran optimised kernels, since it has no
 * reference kernel for some operator, whole networks may differ by several
 * steps: of such a network the differing elements are counted and printed, not judged; zoo_operators.c judges its operators.
 *
 * Networks below 20 M MACs also run on the RTL: the first sample, and with
 * test-full all. Takes about a minute and a half on one core.
 *
 * Of each int8 and int16x8 network the test prints the tensors at which it
 * switches between NPU and host (weft_report.switches): there may be none.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <glob.h>
#include <math.h>

#include <weft/weft.h>

#include "../support/file.h"
#include "../support/kept_programs.h"
#include "../support/level.h"

#define MAX_CASES 256
#define MAX_PORTS 16
#define RTL_MACS 20000000u
#define FLOAT_PART 1e-5        /* of the largest output */

struct zoo_case {
	char dir[512], id[128];    /* id: "model/sample" */
	cJSON *io;
	bool exact;                /* LiteRT ran reference kernels only */
	weft_net *net;
	weft_tensor in[MAX_PORTS], want[MAX_PORTS];
};

static struct zoo_case cases[MAX_CASES];
static int n_judged, n_right;

/* ---- loading ---- */

static void *load(const struct zoo_case *c, const char *file, size_t bytes)
{
	char path[700];
	size_t got;

	snprintf(path, sizeof path, "%s/%s", c->dir, file);
	void *p = test_file(path, &got);
	if (!p || got != bytes)
		fail_msg("%s: %zu bytes, not %zu", path, got, bytes);
	return p;
}

static const char *text(const cJSON *o, const char *field)
{
	const cJSON *v = cJSON_GetObjectItem(o, field);

	return v && v->valuestring ? v->valuestring : "";
}

static weft_tensor tensor_of(const struct weft_port *p)
{
	weft_tensor t = { .dtype = p->dtype, .rank = p->rank };

	memcpy(t.dim, p->dim, sizeof t.dim);
	return t;
}

/* The file's input of that name; the only one may have any. */
static const cJSON *input_named(const struct zoo_case *c, const char *name)
{
	const cJSON *list = cJSON_GetObjectItem(c->io, "inputs"), *i;

	cJSON_ArrayForEach(i, list)
		if (cJSON_GetArraySize(list) == 1 || !strcmp(text(i, "name"), name))
			return i;
	fail_msg("%s: no input \"%s\"", c->id, name);
	return NULL;
}

static void case_open(struct zoo_case *c)
{
	char path[700], msg[WEFT_MSG_LEN] = "";
	struct weft_port p;

	memset(c->in, 0, sizeof c->in);
	memset(c->want, 0, sizeof c->want);
	snprintf(path, sizeof path, "%s/zoo/%s", test_data(), text(c->io, "model"));
	if (weft_net_load_file(path, &c->net, msg))
		fail_msg("%s", msg);
	assert_in_range(weft_net_n_inputs(c->net), 1, MAX_PORTS);
	assert_int_equal(weft_net_n_inputs(c->net), cJSON_GetArraySize(cJSON_GetObjectItem(c->io, "inputs")));
	assert_in_range(weft_net_n_outputs(c->net), 1, MAX_PORTS);
	assert_int_equal(weft_net_n_outputs(c->net), cJSON_GetArraySize(cJSON_GetObjectItem(c->io, "outputs")));
	for (int i = 0; i < weft_net_n_inputs(c->net); i++) {
		assert_int_equal(weft_net_input(c->net, i, &p), 0);
		const cJSON *of = input_named(c, p.name);
		assert_string_equal(weft_dtype_name(p.dtype), text(of, "dtype"));
		c->in[i] = tensor_of(&p);
		c->in[i].data = load(c, text(of, "file"), weft_tensor_bytes(&c->in[i]));
	}
	for (int i = 0; i < weft_net_n_outputs(c->net); i++) {
		assert_int_equal(weft_net_output(c->net, i, &p), 0);
		const cJSON *of = cJSON_GetArrayItem(cJSON_GetObjectItem(c->io, "outputs"), i);
		assert_string_equal(weft_dtype_name(p.dtype), text(of, "dtype"));
		c->want[i] = tensor_of(&p);
		c->want[i].data = load(c, text(of, "file"), weft_tensor_bytes(&c->want[i]));
	}
}

static void case_close(struct zoo_case *c)
{
	for (int i = 0; i < MAX_PORTS; i++) {
		free(c->in[i].data);
		free(c->want[i].data);
	}
	weft_net_free(c->net);
	c->net = NULL;
}

/* ---- judging ---- */

static int64_t element(const weft_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case WEFT_INT8: return ((const int8_t *)t->data)[i];
	case WEFT_UINT8:
	case WEFT_BOOL: return ((const uint8_t *)t->data)[i];
	case WEFT_INT16: return ((const int16_t *)t->data)[i];
	case WEFT_INT32: return ((const int32_t *)t->data)[i];
	case WEFT_INT64: return ((const int64_t *)t->data)[i];
	default: fail_msg("output of type %s", weft_dtype_name(t->dtype));
	}
	return 0;
}

static int64_t floats_differ(const weft_tensor *got, const weft_tensor *want, int64_t n)
{
	const float *y = got->data, *e = want->data;
	int64_t differ = 0;
	double most = 0;

	for (int64_t i = 0; i < n; i++)
		most = fmax(most, fabs((double)e[i]));
	for (int64_t i = 0; i < n; i++)
		differ += !(fabs((double)y[i] - (double)e[i]) <= FLOAT_PART * most);
	return differ;
}

/* Elements that are not as they shall be. */
static int64_t count_differing(const weft_tensor *got, const weft_tensor *want)
{
	const int64_t n = weft_tensor_elements(want);
	int64_t differ = 0;

	if (want->dtype == WEFT_FP32)
		return floats_differ(got, want, n);
	for (int64_t i = 0; i < n; i++)
		differ += element(got, i) != element(want, i);
	return differ;
}

static void judge(const struct zoo_case *c, const char *device, const weft_tensor *out, const struct weft_report *rep)
{
	int64_t differ = 0, all = 0;

	for (int i = 0; i < weft_net_n_outputs(c->net); i++) {
		differ += count_differing(&out[i], &c->want[i]);
		all += weft_tensor_elements(&c->want[i]);
	}
	printf("%s on %s: %lld of %lld elements differ from LiteRT's%s; %llu tensors checked\n", c->id, device,
	       (long long)differ, (long long)all, c->exact ? "" : " optimised kernels", (unsigned long long)rep->tensors);
	fflush(stdout);
	n_judged++;
	n_right += !differ;
	if (c->exact && differ)
		fail_msg("%s on %s: %lld of %lld elements differ", c->id, device, (long long)differ, (long long)all);
}

static weft_session *open_session(const struct zoo_case *c, enum weft_device device)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	o.device = device;
	o.check = true;
	o.cache = kept_programs;
	if (weft_session_open(c->net, &o, &s, msg))
		fail_msg("%s: %s", c->id, msg);
	return s;
}

static void run_on(struct zoo_case *c, enum weft_device device)
{
	weft_tensor out[MAX_PORTS] = { { 0 } };
	weft_session *s = open_session(c, device);
	struct weft_report *rep = NULL;
	char msg[WEFT_MSG_LEN] = "";
	int err = weft_session_run(s, c->in, out, &rep, msg);

	if (err)
		fail_msg("%s on %s: %s", c->id, weft_device_name(device), msg);
	judge(c, weft_device_name(device), out, rep);
	for (int i = 0; i < MAX_PORTS; i++)
		weft_tensor_release(&out[i]);
	weft_report_free(rep);
	weft_session_close(s);
}

static void test_model(void **state)
{
	case_open(*state);
	run_on(*state, WEFT_DEVICE_MODEL);
	case_close(*state);
}

static uint64_t macs(const struct zoo_case *c)
{
	weft_session *s = open_session(c, WEFT_DEVICE_MODEL);
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *rep;

	assert_int_equal(weft_session_plan(s, &rep, msg), 0);
	const uint64_t n = rep->macs;
	weft_report_free(rep);
	weft_session_close(s);
	return n;
}

static void test_rtl(void **state)
{
	struct zoo_case *c = *state;

	if (!test_have_rtl("w16"))
		skip();
	case_open(c);
	if (macs(c) < RTL_MACS)
		run_on(c, WEFT_DEVICE_RTL);
	case_close(c);
}

/* Is it a network whose tensors are integers, as the name of its file says? */
static bool is_integer_net(const struct zoo_case *c)
{
	const char *model = text(c->io, "model");

	return strstr(model, ".int8.tflite") || strstr(model, ".i16x8.tflite");
}

/* On w16, at test-full also on the configurations beside it that have the alu. */
static void test_switches(void **state)
{
	static const char *const configs[] = { "w16", "w8", "w32" };
	struct weft_session_options o = weft_session_options_default();
	struct zoo_case *c = *state;
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *rep;
	weft_session *s;

	case_open(c);
	for (int k = 0; k < (test_level() > 1 ? 3 : 1); k++) {
		o.config = configs[k];
		o.cache = kept_programs;
		if (weft_session_open(c->net, &o, &s, msg) || weft_session_plan(s, &rep, msg))
			fail_msg("%s: %s", c->id, msg);
		printf("%s on %s: %d switches between NPU and host, %.1f %% of the cycles on the NPU\n", c->id, configs[k], rep->n_switches,
		       100 * rep->npu_cycles);
		for (int i = 0; i < rep->n_switches; i++)
			printf("  %s\n", rep->switches[i]);
		fflush(stdout);
		assert_int_equal(rep->n_switches, 0);
		weft_report_free(rep);
		weft_session_close(s);
	}
	case_close(c);
}

static void test_no_data(void **state)
{
	(void)state;
	printf("no networks in %s/zoo/tflm_expected\n", test_data());
	fflush(stdout);
	skip();
}

static int end(void **state)
{
	printf("# %d of %d runs gave LiteRT's outputs\n", n_right, n_judged);
	fflush(stdout);
	return kept_programs_end(state);
}

/* ---- which there are ---- */

static int discover(void)
{
	char pattern[512];
	int count = 0;
	glob_t g;

	snprintf(pattern, sizeof pattern, "%s/zoo/tflm_expected/*/*/io.json", test_data());
	if (glob(pattern, 0, NULL, &g))
		return 0;
	for (size_t i = 0; i < g.gl_pathc && count < MAX_CASES; i++) {
		struct zoo_case *c = &cases[count];
		char *json = test_file(g.gl_pathv[i], NULL);
		snprintf(c->dir, sizeof c->dir, "%.*s", (int)(strlen(g.gl_pathv[i]) - strlen("/io.json")), g.gl_pathv[i]);
		snprintf(c->id, sizeof c->id, "%.120s", strstr(c->dir, "tflm_expected/") + strlen("tflm_expected/"));
		c->io = json ? cJSON_Parse(json) : NULL;
		free(json);
		if (!c->io) {
			fprintf(stderr, "%s: not JSON\n", g.gl_pathv[i]);
			exit(1);
		}
		c->exact = !strcmp(text(c->io, "kernels"), "reference");
		count++;
	}
	globfree(&g);
	return count;
}

int main(void)
{
	static struct CMUnitTest tests[3 * MAX_CASES + 1];
	static char names[3 * MAX_CASES][150];
	int n = discover(), count = 0;

	if (!n)
		tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_no_data);
	for (int i = 0; i < n; i++) {
		const bool first = strstr(cases[i].id, "/0") != NULL;
		if (first && is_integer_net(&cases[i])) {
			snprintf(names[count], sizeof names[0], "%.120s_switches", cases[i].id);
			tests[count] = (struct CMUnitTest){ names[count], test_switches, NULL, NULL, &cases[i] };
			count++;
		}
		for (int rtl = 0; rtl < (first || test_level() > 1 ? 2 : 1); rtl++) {
			snprintf(names[count], sizeof names[0], "%.120s_%s", cases[i].id, rtl ? "rtl" : "model");
			tests[count] = (struct CMUnitTest){ names[count], rtl ? test_rtl : test_model, NULL, NULL, &cases[i] };
			count++;
		}
	}
	int failed = _cmocka_run_group_tests("zoo", tests, (size_t)count, kept_programs_begin, end);
	for (int i = 0; i < n; i++)
		cJSON_Delete(cases[i].io);
	return failed;
}
