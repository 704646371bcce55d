/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real networks on the devices: every tensor that the device makes equals
 * golden's, outputs equal the stored ones bit for bit, and neither the stream
 * nor its cycles depend on the check. The digits network is the project's own;
 * the others are every network of tflm_expected.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <glob.h>

#include "../support/file.h"
#include "../support/level.h"
#include "../support/npz.h"
#include "userlib/run/internal.h"

#define MAX_NETWORKS 128
#define MAX_PORTS 8
/* Larger ones run on the RTL with test-full only. */
#define RTL_MACS 30000000u

/* All of these that multiplies or pools must run on the device. */
static const char *const named[] = {
	"mlperf_tiny/pretrainedResnet_quant", "mlperf_tiny/vww_96_int8", "mlperf_tiny/kws_ref_model",
	"mlperf_tiny/ad01_int8", "tflite_micro/person_detect",
};

static const char *const npu_ops[] = {
	"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "AVERAGE_POOL_2D", "MAX_POOL_2D", "ADD",
};

struct network {
	char dir[512], id[256];    /* id: "set/model" */
	cJSON *io;                 /* NULL: the digits network */
	bool named;
	weft_net *net;
	weft_tensor in[MAX_PORTS], want[MAX_PORTS];   /* want without data: not known */
};

/* ---- loading ---- */

static void *load(const char *path, size_t bytes)
{
	size_t got;
	void *p = test_file(path, &got);

	if (!p || got != bytes)
		fail_msg("%s: not there, or not %zu bytes", path, bytes);
	return p;
}

static weft_tensor port_tensor(const struct network *n, bool output, int i)
{
	struct weft_port p;

	assert_int_equal(output ? weft_net_output(n->net, i, &p) : weft_net_input(n->net, i, &p), 0);
	weft_tensor t = { .dtype = p.dtype, .rank = p.rank };
	memcpy(t.dim, p.dim, sizeof(t.dim));
	return t;
}

static void load_ports(struct network *n, bool output)
{
	const char *list = output ? "outputs" : "inputs";
	int n_ports = output ? weft_net_n_outputs(n->net) : weft_net_n_inputs(n->net);
	char path[1200];

	assert_true(n_ports <= MAX_PORTS);
	for (int i = 0; i < n_ports; i++) {
		cJSON *port = cJSON_GetArrayItem(cJSON_GetObjectItem(n->io, list), i);
		assert_non_null(port);
		snprintf(path, sizeof(path), "%s/%s", n->dir, cJSON_GetObjectItem(port, "file")->valuestring);
		weft_tensor t = port_tensor(n, output, i);
		t.data = load(path, weft_tensor_bytes(&t));
		*(output ? &n->want[i] : &n->in[i]) = t;
	}
}

static void open_foreign(struct network *n)
{
	char path[1200], msg[WEFT_MSG_LEN] = "";

	snprintf(path, sizeof(path), "%s/%s", test_data(), cJSON_GetObjectItem(n->io, "model")->valuestring);
	struct weft_load_options o = weft_load_options_default();
	o.runtime = WEFT_RUNTIME_TFLM;    /* whose outputs are stored */
	if (weft_net_load_file_with(path, &o, &n->net, msg))
		fail_msg("%s", msg);
	load_ports(n, false);
	load_ports(n, true);
}

static void open_digits(struct network *n)
{
	char msg[WEFT_MSG_LEN] = "";
	struct npz_array x;

	if (weft_net_load_file("tests/models/digits_int8.tflite", &n->net, msg))
		fail_msg("%s", msg);
	assert_int_equal(npy_load("tests/models/digits_test_x.npy", &x), 0);
	n->in[0] = port_tensor(n, false, 0);
	n->in[0].data = x.data;    /* the first image */
}

static void network_open(struct network *n)
{
	n->net = NULL;
	memset(n->in, 0, sizeof(n->in));
	memset(n->want, 0, sizeof(n->want));
	if (n->io)
		open_foreign(n);
	else
		open_digits(n);
}

static void network_close(struct network *n)
{
	for (int i = 0; i < MAX_PORTS; i++) {
		free(n->in[i].data);
		free(n->want[i].data);
	}
	weft_net_free(n->net);
}

/* ---- running ---- */

static weft_session *session(const struct network *n, enum weft_device device, bool check)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	o.device = device;
	o.check = check;
	if (weft_session_open(n->net, &o, &s, msg))
		fail_msg("%s: %s", n->id, msg);
	return s;
}

static void check_outputs(const struct network *n, const weft_tensor *out)
{
	for (int i = 0; i < weft_net_n_outputs(n->net); i++) {
		const uint8_t *got = out[i].data, *want = n->want[i].data;
		for (size_t k = 0; want && k < weft_tensor_bytes(&n->want[i]); k++)
			if (got[k] != want[k])
				fail_msg("%s: output %d byte %zu: expected %02x, got %02x", n->id, i, k, want[k], got[k]);
	}
}

static struct weft_report *run(const struct network *n, weft_session *s)
{
	weft_tensor out[MAX_PORTS] = { { 0 } };
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *rep = NULL;
	int err = weft_session_run(s, n->in, out, &rep, msg);

	if (err == -EBADMSG) {
		const struct weft_mismatch *f = &rep->first;
		fail_msg("%s: %llu mismatches; operator %d %s, tensor %s, index %lld: expected %lld, got %lld (command %lld)",
		         n->id, (unsigned long long)rep->mismatches, f->op, f->op_name ? f->op_name : "-",
		         f->tensor ? f->tensor : "-", (long long)f->index, (long long)f->expected, (long long)f->got,
		         (long long)f->cmd);
	}
	if (err)
		fail_msg("%s: %s", n->id, msg);
	check_outputs(n, out);
	for (int i = 0; i < MAX_PORTS; i++)
		weft_tensor_release(&out[i]);
	return rep;
}

static bool names_any(const char *op)
{
	for (size_t i = 0; i < sizeof(npu_ops) / sizeof(npu_ops[0]); i++) {
		size_t len = strlen(npu_ops[i]);
		for (const char *p = op; (p = strstr(p, npu_ops[i])); p += len)
			if ((p == op || p[-1] == '+') && (p[len] == '\0' || p[len] == '+'))
				return true;
	}
	return false;
}

static void check_units(const struct network *n, const struct weft_report *rep)
{
	int found = 0;

	for (int i = 0; i < rep->n_ops; i++) {
		const struct weft_op_report *o = &rep->ops[i];
		if (!names_any(o->op))
			continue;
		found++;
		if (o->unit != WEFT_RUN_NPU)
			fail_msg("%s: operator %d %s runs on the host: %s", n->id, o->index, o->op, o->reason);
	}
	assert_true(found > 0);
}

/* The check may look, and must not touch. */
static void check_same(const struct network *n, const weft_session *a, const struct weft_report *ra,
                       const weft_session *b, const struct weft_report *rb)
{
	if (a->p->n_words != b->p->n_words ||
	    (a->p->n_words && memcmp(a->p->words, b->p->words, a->p->n_words * sizeof(uint64_t))))
		fail_msg("%s: the stream differs with and without check", n->id);
	if (ra->cycles != rb->cycles)
		fail_msg("%s: %llu cycles with check, %llu without", n->id, (unsigned long long)ra->cycles,
		         (unsigned long long)rb->cycles);
	assert_int_equal(ra->n_ops, rb->n_ops);
	for (int i = 0; i < ra->n_ops; i++)
		assert_int_equal(ra->ops[i].cycles, rb->ops[i].cycles);
}

static void run_on(struct network *n, enum weft_device device)
{
	weft_session *with = session(n, device, true), *without = session(n, device, false);
	struct weft_report *a = run(n, with), *b = run(n, without);

	assert_true(a->checked && !a->mismatches && a->elements > 0 && !b->checked);
	if (n->named)
		check_units(n, a);
	check_same(n, with, a, without, b);
	if (device == WEFT_DEVICE_RTL)
		assert_true(a->cycles > 0 || !a->tensors);   /* or all of it is the host's */
	printf("%s on %s: %llu tensors, %llu elements, 0 mismatches; %.2f M MACs, %llu cycles, utilization %.1f %%\n", n->id,
	       device == WEFT_DEVICE_RTL ? "rtl" : "model", (unsigned long long)a->tensors,
	       (unsigned long long)a->elements, (double)a->macs * 1e-6, (unsigned long long)a->cycles,
	       100 * a->utilization);
	fflush(stdout);
	weft_report_free(a);
	weft_report_free(b);
	weft_session_close(with);
	weft_session_close(without);
}

static void test_model(void **state)
{
	struct network *n = *state;

	network_open(n);
	run_on(n, WEFT_DEVICE_MODEL);
	network_close(n);
}

static uint64_t macs(const struct network *n)
{
	weft_session *s = session(n, WEFT_DEVICE_MODEL, false);
	struct weft_report *rep;
	char msg[WEFT_MSG_LEN];

	assert_int_equal(weft_session_plan(s, &rep, msg), 0);
	uint64_t m = rep->macs;
	weft_report_free(rep);
	weft_session_close(s);
	return m;
}

static void test_rtl(void **state)
{
	struct network *n = *state;

	if (!test_have_rtl("w16"))
		skip();
	network_open(n);
	if (!n->named && test_level() < 2 && macs(n) > RTL_MACS) {
		printf("%s: %.0f M MACs; on the RTL with test-full\n", n->id, (double)macs(n) * 1e-6);
		fflush(stdout);
		network_close(n);
		skip();
	}
	run_on(n, WEFT_DEVICE_RTL);
	network_close(n);
}

/* ---- digits, all held-out images ---- */

static void test_accuracy(void **state)
{
	struct npz_array x, y;
	struct network n = { .id = "digits" };
	int right = 0;

	(void)state;
	network_open(&n);
	free(n.in[0].data);
	assert_int_equal(npy_load("tests/models/digits_test_x.npy", &x), 0);
	assert_int_equal(npy_load("tests/models/digits_test_y.npy", &y), 0);
	assert_int_equal(y.n, 360);
	weft_session *s = session(&n, WEFT_DEVICE_MODEL, false);
	for (int64_t i = 0; i < y.n; i++) {
		char msg[WEFT_MSG_LEN] = "";
		weft_tensor out = { 0 };
		n.in[0].data = (int8_t *)x.data + i * 64;
		if (weft_session_run(s, n.in, &out, NULL, msg))
			fail_msg("image %lld: %s", (long long)i, msg);
		const int8_t *q = out.data;
		int best = 0;
		for (int k = 1; k < 10; k++)
			best = q[k] > q[best] ? k : best;
		right += best == npz_int(&y, i);
		weft_tensor_release(&out);
	}
	n.in[0].data = NULL;
	printf("digits: %d of %lld right\n", right, (long long)y.n);
	fflush(stdout);
	assert_int_equal(right, 359);
	weft_session_close(s);
	network_close(&n);
	free(x.data);
	free(y.data);
}

static void test_no_data(void **state)
{
	(void)state;
	printf("no networks in %s/tflm_expected\n", test_data());
	fflush(stdout);
	skip();
}

/* ---- which there are ---- */

static struct network networks[MAX_NETWORKS];

static cJSON *parse(const char *path)
{
	char *text = test_file(path, NULL);
	cJSON *io = text ? cJSON_Parse(text) : NULL;

	if (!io) {
		fprintf(stderr, "%s: not JSON\n", path);
		exit(1);
	}
	free(text);
	return io;
}

static int discover(void)
{
	char pattern[512];
	int count = 1;
	glob_t g;

	networks[0] = (struct network){ .id = "digits", .named = true };
	snprintf(pattern, sizeof(pattern), "%s/tflm_expected/*/*/io.json", test_data());
	if (glob(pattern, 0, NULL, &g))
		return count;
	for (size_t i = 0; i < g.gl_pathc && count < MAX_NETWORKS; i++) {
		struct network *n = &networks[count];
		snprintf(n->dir, sizeof(n->dir), "%.*s", (int)(strlen(g.gl_pathv[i]) - strlen("/io.json")), g.gl_pathv[i]);
		const char *id = strstr(n->dir, "tflm_expected/") + strlen("tflm_expected/");
		snprintf(n->id, sizeof(n->id), "%.200s", id);
		n->io = parse(g.gl_pathv[i]);
		for (size_t k = 0; k < sizeof(named) / sizeof(named[0]); k++)
			n->named |= !strcmp(n->id, named[k]);
		count++;
	}
	globfree(&g);
	return count;
}

int main(void)
{
	static struct CMUnitTest tests[2 * MAX_NETWORKS + 2];
	static char names[2 * MAX_NETWORKS][300];
	int n = discover(), count = 0;

	tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_accuracy);
	if (n == 1)
		tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_no_data);
	for (int i = 0; i < n; i++) {
		for (int rtl = 0; rtl < 2; rtl++) {
			if (rtl && test_level() < 1)
				continue;
			snprintf(names[2 * i + rtl], sizeof(names[0]), "%.200s_%s", networks[i].id, rtl ? "rtl" : "model");
			tests[count++] = (struct CMUnitTest){ names[2 * i + rtl], rtl ? test_rtl : test_model, NULL, NULL, &networks[i] };
		}
	}
	int failed = _cmocka_run_group_tests("networks", tests, (size_t)count, NULL, NULL);
	for (int i = 0; i < n; i++)
		cJSON_Delete(networks[i].io);
	return failed;
}
