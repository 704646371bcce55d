/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digits network in its modes and formats, over all held-out images: the number
 * of right answers, also against the float network's, and every output bit for bit
 * as numpy computed it. On the RTL every tensor is compared with golden (48 images;
 * all of them at level test-full), and every operator runs there.
 *
 * Counts and CRC-32s are what tools/train/digits.py prints; its arithmetic shares
 * nothing with golden's. Pixels become inputs as weft run's pictures do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <zlib.h>

#include <weft/convert.h>
#include <weft/weft.h>

#include "tests/support/level.h"
#include <weft/image.h>
#include <weft/npy.h>

#define N_IMAGES 360
#define PIXELS   64
#define CLASSES  10
#define X_FILE   "tests/models/digits_test_x.npy"
#define Y_FILE   "tests/models/digits_test_y.npy"

#define FLOAT_RIGHT 358        /* of the network before quantisation, on the same images */

struct mode {
	const char *file;
	weft_dtype x, y;
	int right;
	uint32_t crc;
	int loss;              /* right answers that it may have less than float */
};

static const struct mode modes[] = {
	{ "tests/models/digits_int8.tflite", WEFT_INT8, WEFT_INT8, 359, 0xc81c2455, 0 },
	{ "tests/models/digits_int16x8.tflite", WEFT_INT16, WEFT_INT16, 359, 0x67f7cc97, 0 },
	{ "tests/models/digits_fp8.tosa", WEFT_FP8E4M3, WEFT_FP16, 357, 0x4f6d0a67, N_IMAGES / 100 },
	/* The same network twice: the bits are the same. */
	{ "tests/models/digits_qdq.onnx", WEFT_FP32, WEFT_FP32, 359, 0xcbdbb6aa, 0 },
	{ "tests/models/digits_qlinear.onnx", WEFT_FP32, WEFT_FP32, 359, 0xcbdbb6aa, 0 },
};

static weft_tensor x_all, y_all;

static int setup(void **state)
{
	char msg[WEFT_NPY_MSG];

	(void)state;
	if (weft_npy_read(X_FILE, &x_all, msg) || weft_npy_read(Y_FILE, &y_all, msg)) {
		fprintf(stderr, "%s\n", msg);
		return -1;
	}
	return x_all.dtype == WEFT_INT8 && weft_tensor_elements(&x_all) == N_IMAGES * PIXELS &&
	       y_all.dtype == WEFT_UINT8 && weft_tensor_elements(&y_all) == N_IMAGES ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	weft_tensor_release(&x_all);
	weft_tensor_release(&y_all);
	return 0;
}

static double score(const weft_tensor *t, int i)
{
	if (t->dtype == WEFT_INT8)
		return ((const int8_t *)t->data)[i];
	if (t->dtype == WEFT_INT16)
		return ((const int16_t *)t->data)[i];
	if (t->dtype == WEFT_FP32)
		return ((const float *)t->data)[i];
	return weft_float_decode(t->dtype, ((const uint16_t *)t->data)[i]);
}

static int best(const weft_tensor *t)
{
	int b = 0;

	for (int i = 1; i < CLASSES; i++)
		b = score(t, i) > score(t, b) ? i : b;
	return b;
}

/* All products are the device's, and every tensor that it makes is golden's. */
static void judge_report(const struct mode *m, struct weft_report *r)
{
	assert_true(r->tensors > 3);
	assert_int_equal(r->mismatches, 0);
	for (int i = 0; i < r->n_ops; i++)
		if (r->ops[i].macs && r->ops[i].unit != WEFT_RUN_NPU)
			fail_msg("%s: %s is not on the NPU: %s", m->file, r->ops[i].op, r->ops[i].reason);
	weft_report_free(r);
}

static void one_mode(const struct mode *m, enum weft_device device, int n_images)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	uint64_t held[PIXELS];
	weft_session *s;
	weft_net *net;
	struct weft_port p;
	uint32_t crc = 0;
	int right = 0;

	o.device = device;
	o.check = device == WEFT_DEVICE_RTL;
	struct weft_load_options how = weft_load_options_default();
	how.runtime = WEFT_RUNTIME_TFLITE_2_14;    /* whose rule for int16 sums tools/train/int16_net.py follows */
	if (weft_net_load_file_with(m->file, &how, &net, msg) || weft_session_open(net, &o, &s, msg))
		fail_msg("%s: %s", m->file, msg);
	assert_int_equal(weft_net_input(net, 0, &p), 0);
	assert_int_equal(p.dtype, m->x);
	const struct weft_quant q = { p.quantised, p.scale, p.zp };
	weft_tensor in = { .dtype = p.dtype, .rank = 4, .data = held }, out;
	memcpy(in.dim, p.dim, sizeof in.dim);
	assert_int_equal(weft_tensor_elements(&in), PIXELS);
	for (int i = 0; i < n_images; i++) {
		struct weft_report *r = NULL;
		uint8_t gray[PIXELS];
		for (int k = 0; k < PIXELS; k++)
			gray[k] = (uint8_t)(((int8_t *)x_all.data)[i * PIXELS + k] + 128);
		weft_image_values(&in, &q, gray);
		if (weft_session_run(s, &in, &out, o.check ? &r : NULL, msg))
			fail_msg("%s: image %d: %s", m->file, i, msg);
		if (r)
			judge_report(m, r);
		assert_int_equal(out.dtype, m->y);
		assert_int_equal(weft_tensor_elements(&out), CLASSES);
		right += best(&out) == ((uint8_t *)y_all.data)[i];
		crc = (uint32_t)crc32(crc, out.data, (unsigned)weft_tensor_bytes(&out));
		weft_tensor_release(&out);
	}
	weft_session_close(s);
	weft_net_free(net);
	if (n_images < N_IMAGES)
		return;
	assert_int_equal(right, m->right);
	assert_int_equal(crc, m->crc);
	assert_true(right >= FLOAT_RIGHT - m->loss);
}

static void on_golden(void **state)
{
	one_mode(*state, WEFT_DEVICE_GOLDEN, N_IMAGES);
}

static void on_model(void **state)
{
	one_mode(*state, WEFT_DEVICE_MODEL, N_IMAGES);
}

static void on_rtl(void **state)
{
	if (!test_have_rtl("w16"))
		skip();
	one_mode(*state, WEFT_DEVICE_RTL, (int)test_count(8, 48, N_IMAGES));
}

/* weft accuracy makes the same inputs of the same file. */
static void command(void **state)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		char line[200] = "", want[40];
		int right = modes[i].right;
		snprintf(line, sizeof line, "%s/weft accuracy %s " X_FILE " " Y_FILE " --device golden",
		         test_env("WEFT_BUILD", "build"), modes[i].file);
		FILE *f = popen(line, "r");
		assert_non_null(f);
		assert_non_null(fgets(line, sizeof line, f));
		assert_int_equal(pclose(f), 0);
		snprintf(want, sizeof want, "%d of %d right, %.2f %%\n", right, N_IMAGES, 100.0 * right / N_IMAGES);
		assert_string_equal(line, want);
	}
	(void)state;
}

/* Pictures of another type only where they mean pixels: not for labels as inputs, nor too few. */
static void command_bad(void **state)
{
	char line[300];

	(void)state;
	snprintf(line, sizeof line, "%s/weft accuracy %s " Y_FILE " " Y_FILE " 2>&1", test_env("WEFT_BUILD", "build"),
	         modes[1].file);
	FILE *f = popen(line, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof line, f));
	assert_string_equal(line, "weft: " Y_FILE ": 360 elements of uint8; 360 inputs of 64 int16 are wanted\n");
	int status = pclose(f);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

int main(void)
{
	void *qdq = (void *)&modes[3], *qlinear = (void *)&modes[4];
	void *int8 = (void *)&modes[0], *int16 = (void *)&modes[1], *fp8 = (void *)&modes[2];
	const struct CMUnitTest tests[] = {
		{ "int8_golden", on_golden, NULL, NULL, int8 },     { "int8_model", on_model, NULL, NULL, int8 },
		{ "int16x8_golden", on_golden, NULL, NULL, int16 }, { "int16x8_model", on_model, NULL, NULL, int16 },
		{ "fp8_golden", on_golden, NULL, NULL, fp8 },       { "fp8_model", on_model, NULL, NULL, fp8 },
		{ "int8_rtl", on_rtl, NULL, NULL, int8 },           { "int16x8_rtl", on_rtl, NULL, NULL, int16 },
		{ "fp8_rtl", on_rtl, NULL, NULL, fp8 },
		{ "qdq_golden", on_golden, NULL, NULL, qdq },         { "qdq_model", on_model, NULL, NULL, qdq },
		{ "qlinear_golden", on_golden, NULL, NULL, qlinear }, { "qlinear_model", on_model, NULL, NULL, qlinear },
		{ "qdq_rtl", on_rtl, NULL, NULL, qdq },               { "qlinear_rtl", on_rtl, NULL, NULL, qlinear },
		cmocka_unit_test(command),                          cmocka_unit_test(command_bad),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
