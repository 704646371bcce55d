/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft_quantize(): float networks, quantised, stay near themselves, and run on
 * the functional model and the RTL with every tensor as golden has it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "../support/file.h"
#include "../support/level.h"
#include "../support/npz.h"

#define N_IMAGES 360
#define PIXELS   64

static struct npz_array x_all, y_all;

static int setup(void **state)
{
	(void)state;
	return npy_load("tests/models/digits_test_x.npy", &x_all) || npy_load("tests/models/digits_test_y.npy", &y_all);
}

/* ---- samples ---- */

struct samples { const float *data; int n; int64_t each; };

static int give(void *user, int i, weft_tensor *inputs, int n, char *msg)
{
	const struct samples *s = user;

	(void)msg;
	assert_int_equal(n, 1);
	assert_int_equal(weft_tensor_elements(&inputs[0]), s->each);
	if (i >= s->n)
		return 0;
	inputs[0].data = malloc((size_t)s->each * sizeof(float));
	assert_non_null(inputs[0].data);
	memcpy(inputs[0].data, s->data + i * s->each, (size_t)s->each * sizeof(float));
	return 1;
}

/* rescale: the nearest forms that the device has; float8 has no others. */
static weft_net *load(const void *data, size_t len, bool rescale)
{
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;

	o.requant_rescale = rescale;
	if (weft_net_load_with(data, len, "net", &o, &net, msg))
		fail_msg("%s", msg);
	return net;
}

/* The network quantised, and as it was. */
static weft_net *quantised(const char *path, enum weft_quantize_type type, double percentile, const struct samples *s, weft_net **was)
{
	struct weft_quantize_options o = weft_quantize_options_default();
	char msg[WEFT_MSG_LEN] = "";
	uint8_t *out = NULL;
	size_t n = 0, len = 0;
	void *data = test_file(path, &n);

	o.type = type;
	o.percentile = percentile;
	o.sample = give;
	o.user = (void *)(uintptr_t)s;
	if (!data)
		return NULL;
	if (weft_quantize(data, n, &o, &out, &len, msg))
		fail_msg("%s: %s", path, msg);
	weft_net *q = load(out, len, type == WEFT_QUANTIZE_FP8);
	*was = load(data, n, false);
	free(out);
	free(data);
	return q;
}

static void run(const weft_net *net, enum weft_device device, const float *x, weft_tensor *y, uint64_t *macs)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_report *report = NULL;
	char msg[WEFT_MSG_LEN] = "";
	struct weft_port p;
	weft_session *s;

	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	weft_net_input(net, 0, &p);
	weft_tensor in = { .dtype = p.dtype, .rank = p.rank, .data = (void *)(uintptr_t)x };
	memcpy(in.dim, p.dim, sizeof in.dim);
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, &in, y, &report, msg))
		fail_msg("%s", msg);
	if (macs)
		*macs = report->macs;
	weft_report_free(report);
	weft_session_close(s);
}

/* ---- digits ---- */

static float *pixels(void)
{
	float *x = malloc(N_IMAGES * PIXELS * sizeof *x);

	assert_non_null(x);
	for (int i = 0; i < N_IMAGES * PIXELS; i++)
		x[i] = (float)(npz_int(&x_all, i) + 128) / 255;
	return x;
}

static int right_answers(const weft_net *net, const float *x, int n)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_port p;
	weft_session *s;
	int right = 0;

	o.device = WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	weft_net_input(net, 0, &p);
	for (int i = 0; i < n; i++) {
		weft_tensor in = { .dtype = p.dtype, .rank = p.rank, .data = (void *)(uintptr_t)(x + i * PIXELS) }, y = { 0 };
		int best = 0;

		memcpy(in.dim, p.dim, sizeof in.dim);
		if (weft_session_run(s, &in, &y, NULL, msg))
			fail_msg("%s", msg);
		for (int c = 1; c < 10; c++)
			best = ((float *)y.data)[c] > ((float *)y.data)[best] ? c : best;
		right += best == npz_int(&y_all, i);
		weft_tensor_release(&y);
	}
	weft_session_close(s);
	return right;
}

/* Devices agree with golden, and the products run there. */
static void on_devices(const weft_net *net, const float *x, uint64_t macs_wanted, bool rtl)
{
	for (int d = WEFT_DEVICE_MODEL; d <= (rtl ? WEFT_DEVICE_RTL : WEFT_DEVICE_MODEL); d++) {
		weft_tensor y = { 0 }, golden = { 0 };
		uint64_t macs = 0;

		run(net, (enum weft_device)d, x, &y, &macs);
		run(net, WEFT_DEVICE_GOLDEN, x, &golden, NULL);
		assert_memory_equal(y.data, golden.data, weft_tensor_bytes(&y));
		assert_true(macs >= macs_wanted);
		weft_tensor_release(&y);
		weft_tensor_release(&golden);
	}
}

/* Within one point of the float network's 358 of 360. */
static void digits(void **state)
{
	static const enum weft_quantize_type types[] = { WEFT_QUANTIZE_INT8, WEFT_QUANTIZE_INT16X8, WEFT_QUANTIZE_FP8 };
	float *x = pixels();
	const struct samples s = { x, 40, PIXELS };
	bool rtl = test_have_rtl("w16");

	(void)state;
	for (int t = 0; t < 3; t++)
		for (int cut = 0; cut < (types[t] == WEFT_QUANTIZE_INT8 || test_level() == 2 ? 2 : 1); cut++) {
			weft_net *was, *q = quantised("tests/models/digits_float.onnx", types[t], cut ? 99.99 : 100, &s, &was);
			/* golden's float8 is slow: fewer images */
			int n = types[t] == WEFT_QUANTIZE_FP8 ? (int)test_count(5, 15, N_IMAGES) : N_IMAGES;
			int before = right_answers(was, x, n), after = right_answers(q, x, n);

			assert_true(n < N_IMAGES || before == 358);
			if (after * 100 < before * 100 - n)
				fail_msg("type %d, %s: %d of %d right", t, cut ? "99.99" : "minmax", after, n);
			on_devices(q, x, 235520, rtl && !cut);
			weft_net_free(q);
			weft_net_free(was);
		}
	free(x);
}

/* ---- foreign networks ---- */

static double cosine(const weft_tensor *a, const weft_tensor *b)
{
	double ab = 0, aa = 0, bb = 0;

	for (int64_t i = 0; i < weft_tensor_elements(a); i++) {
		double x = (double)((const float *)a->data)[i], y = (double)((const float *)b->data)[i];
		ab += x * y;
		aa += x * x;
		bb += y * y;
	}
	return ab / sqrt(aa * bb);
}

struct foreign { const char *model, *input, *member; uint64_t macs; };

static const struct foreign foreign[] = {
	{ "alibaba_onnx_float/model_kws.onnx", "ort_expected/alibaba_onnx_float/model_kws/in0.bin", NULL, 816384 },
	{ "alibaba_onnx_float/model_kws.onnx", "alibaba_onnx_float/tmp.npz", "x_0", 816384 },
	{ "alibaba_onnx_float/model_ad.onnx", "ort_expected/alibaba_onnx_float/model_ad/in0.bin", NULL, 42240 },
	{ "alibaba_onnx_float/model_ad.onnx", "alibaba_onnx_float/sample_data.npz", "actual_input_1", 42240 },
	{ "ort_testdata/mnist.onnx", "ort_expected/ort_testdata/mnist/in0.bin", NULL, 786560 },
};

/* The one sample there is; NULL: no data. */
static float *sample(const struct foreign *f, int64_t *n)
{
	char path[600];
	struct npz z;
	size_t bytes;

	snprintf(path, sizeof path, "%s/%s", test_data(), f->input);
	if (!f->member) {
		float *p = test_file(path, &bytes);
		*n = p ? (int64_t)(bytes / sizeof *p) : 0;
		return p;
	}
	if (npz_load(path, &z))
		return NULL;
	const struct npz_array *a = npz_find(&z, f->member);
	assert_non_null(a);
	assert_true(a->kind == 'f' && a->item_bytes == 8);
	float *p = malloc((size_t)a->n * sizeof *p);
	assert_non_null(p);
	for (int64_t i = 0; i < a->n; i++)
		p[i] = (float)((const double *)a->data)[i];
	*n = a->n;
	npz_free(&z);
	return p;
}

static void networks(void **state)
{
	static const double least[] = { 0.99, 0.999, 0.98 };     /* float8's 3 bits: what it has, not what is asked of integers */
	bool rtl = test_have_rtl("w16");
	int found = 0;

	(void)state;
	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
		for (int type = WEFT_QUANTIZE_INT8; type <= WEFT_QUANTIZE_FP8; type++) {
			struct samples s = { NULL, 1, 0 };
			char path[600];
			float *x = sample(&foreign[i], &s.each);
			weft_tensor a = { 0 }, b = { 0 };
			weft_net *was;

			snprintf(path, sizeof path, "%s/%s", test_data(), foreign[i].model);
			s.data = x;
			weft_net *q = x ? quantised(path, (enum weft_quantize_type)type, 100, &s, &was) : NULL;
			if (!q)
				continue;
			found++;
			run(was, WEFT_DEVICE_GOLDEN, x, &a, NULL);
			run(q, WEFT_DEVICE_GOLDEN, x, &b, NULL);
			printf("%s, %s: cosine %.6f\n", foreign[i].model, type == 0 ? "int8" : type == 1 ? "int16x8" : "fp8e4m3", cosine(&a, &b));
			assert_true(cosine(&a, &b) >= least[type]);
			on_devices(q, x, foreign[i].macs, rtl && (type != WEFT_QUANTIZE_INT16X8 || test_level() == 2));
			weft_tensor_release(&a);
			weft_tensor_release(&b);
			weft_net_free(q);
			weft_net_free(was);
			free(x);
		}
	if (!found) {
		printf("no foreign models in %s\n", test_data());
		fflush(stdout);
		skip();
	}
}

/* ---- the command ---- */

static int command(const char *args, char *line, size_t n)
{
	char text[600];

	snprintf(text, sizeof text, "%s/weft quantize %s 2>&1", test_env("WEFT_BUILD", "build"), args);
	FILE *f = popen(text, "r");
	assert_non_null(f);
	*line = 0;
	if (!fgets(line, (int)n, f))
		*line = 0;
	int status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void pictures(void **state)
{
	char line[300], args[300], out[200];

	(void)state;
	test_path(out, sizeof out, "quantize-%ld.onnx", (long)getpid());
	snprintf(args, sizeof args, "tests/models/digits_float.onnx -o %s --calibrate tests/models/digits --range 99.99", out);
	assert_int_equal(command(args, line, sizeof line), 0);
	assert_non_null(strstr(line, "output 0 logits: cosine with the float network's 0.999"));
	assert_int_equal(remove(out), 0);
}

static void command_bad(void **state)
{
	static const struct { const char *args, *want; } rows[] = {
		{ "tests/models/digits_qdq.onnx -o x.onnx --calibrate tests/models/digits", "is QuantizeLinear: the network is quantised already\n" },
		{ "tests/models/digits_float.onnx -o x.onnx --calibrate tests/unit", "neither <n>_<input>.npy nor pictures\n" },
		{ "tests/models/digits_float.onnx -o x.onnx --calibrate none/such", "No such file or directory\n" },
		{ "tests/models/digits_float.onnx -o x.onnx --calibrate tests/models", "neither <n>_<input>.npy nor pictures\n" },
		{ "tests/models/digits_int8.tflite -o x.onnx --calibrate tests/models/digits", "\"image\" is int8 with a scale: the network is quantised already\n" },
		{ "tests/models/digits_fp8.tosa -o x.onnx --calibrate tests/models/digits", "not a .tflite or .onnx file\n" },
		{ "tests/models/digits_float.onnx -o x.onnx --calibrate tests/models/digits --range 10", "a percentile above 50, up to 100\n" },
		{ "tests/models/digits_float.onnx -o x.onnx --calibrate tests/models/digits --type int3", "is not int8, int16x8 or fp8e4m3\n" },
		{ "tests/models/digits_float.onnx --calibrate tests/models/digits", "wants MODEL, -o FILE and --calibrate DIR\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char line[400];

		assert_int_equal(command(rows[i].args, line, sizeof line), 2);
		if (strncmp(line, "weft: ", 6) && strncmp(line, "quantize", 8))
			fail_msg("row %zu: %s", i, line);
		if (!strstr(line, rows[i].want))
			fail_msg("row %zu: %s", i, line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits), cmocka_unit_test(networks), cmocka_unit_test(pictures), cmocka_unit_test(command_bad),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
