/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .onnx files through the command: --requant rescale counts what differs from
 * ONNX's rounding; and through the library: Cast of all fp16 to each float8,
 * against CRC-32s that two independent methods gave, strings among constants,
 * and what is refused by name.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <weft/weft.h>

#include "../support/level.h"
#include "../support/onnx_build.h"

enum { T_FLOAT = 1, T_UINT8 = 2, T_INT8 = 3, T_STRING = 8, T_FLOAT16 = 10, T_COMPLEX64 = 14, T_E4M3 = 17, T_E4M3Z, T_E5M2, T_E5M2Z, T_E8M0 = 24 };

/* ---- the option ---- */

/* y = x / 2 of all int8: of 128 odd x, every other rounds down to even and up otherwise. */
static void halves(struct ob *model)
{
	const float half = 0.5f, one = 1;
	const int8_t zero = 0, w = 1;
	struct ob g = { 0 };

	ob_port(&g, 11, "x", T_INT8, 4, (int64_t[]){ 1, 1, 16, 16 });
	ob_tensor(&g, "xs", T_FLOAT, 0, NULL, &half, 4);
	ob_tensor(&g, "ws", T_FLOAT, 0, NULL, &one, 4);
	ob_tensor(&g, "ys", T_FLOAT, 0, NULL, &one, 4);
	ob_tensor(&g, "z", T_INT8, 0, NULL, &zero, 1);
	ob_tensor(&g, "w", T_INT8, 4, (int64_t[]){ 1, 1, 1, 1 }, &w, 1);
	ob_node(&g, "QLinearConv", "x xs z w ws z ys z", "y", NULL);
	ob_port(&g, 12, "y", T_INT8, 4, (int64_t[]){ 1, 1, 16, 16 });
	ob_model(model, &g, 13);
}

static void write_file(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Whether a line of the command's output has the text. */
static int command(const char *args, const char *want, int *found)
{
	char line[1000];

	snprintf(line, sizeof line, "%s/weft %s 2>&1", test_env("WEFT_BUILD", "build"), args);
	FILE *f = popen(line, "r");
	assert_non_null(f);
	*found = 0;
	while (fgets(line, sizeof line, f))
		*found += strstr(line, want) != NULL;
	int status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void rescale_counts(void **state)
{
	char model[200], input[200], args[600];
	struct ob m = { 0 };
	int8_t x[256];
	int found;

	(void)state;
	test_path(model, sizeof model, "halves-%ld.onnx", (long)getpid());
	test_path(input, sizeof input, "halves-%ld.bin", (long)getpid());
	for (int i = 0; i < 256; i++)
		x[i] = (int8_t)(i - 128);
	halves(&m);
	write_file(model, m.p, m.n);
	write_file(input, x, sizeof x);
	free(m.p);
	snprintf(args, sizeof args, "run %s -i %s --requant rescale --check", model, input);
	assert_int_equal(command(args, "--requant rescale: 64 of 256 elements of outputs differ from ONNX's, by 1 at most\n", &found), 0);
	assert_int_equal(found, 1);
	snprintf(args, sizeof args, "run %s -i %s --requant rescale --json", model, input);
	assert_int_equal(command(args, "\"differ\":\t64", &found), 0);
	assert_int_equal(found, 1);
	snprintf(args, sizeof args, "run %s -i %s", model, input);
	assert_int_equal(command(args, "--requant", &found), 0);
	assert_int_equal(found, 0);
	/* ties on both sides of zero: no RESCALE that rounds half up has ONNX's bits, but one to even */
	snprintf(args, sizeof args, "run %s --strict -i %s --check", model, input);
	assert_int_equal(command(args, " 0 mismatches", &found), 0);
	assert_int_equal(found, 1);
	snprintf(args, sizeof args, "run %s --strict --requant rescale", model);
	assert_int_equal(command(args, "strict", &found), 0);
	remove(model);
	remove(input);
}

/* Only what stands at the edges is the host's. */
static void strict(void **state)
{
	int found;

	(void)state;
	assert_int_equal(command("run tests/models/digits_qdq.onnx --strict --check", "0 mismatches", &found), 0);
	assert_int_equal(found, 1);
	assert_int_equal(command("run tests/models/digits_qlinear.onnx --strict --check", "0 mismatches", &found), 0);
	assert_int_equal(found, 1);
	assert_int_equal(command("run tests/models/digits_float.onnx --strict", "strict: operator", &found), 2);
	assert_int_equal(found, 1);
}

/* ---- a bias of floats ---- */

static void biased(struct ob *model)
{
	const float sx = 0.0137f, sw = 0.0071f, sy = 0.031f, bias[2] = { 0.4321f, -0.1234f };
	const int8_t zero = 0, w[2] = { 101, -77 };
	struct ob g = { 0 };

	ob_port(&g, 11, "x", T_INT8, 4, (int64_t[]){ 1, 1, 16, 16 });
	ob_tensor(&g, "sx", T_FLOAT, 0, NULL, &sx, 4);
	ob_tensor(&g, "sw", T_FLOAT, 0, NULL, &sw, 4);
	ob_tensor(&g, "sy", T_FLOAT, 0, NULL, &sy, 4);
	ob_tensor(&g, "z", T_INT8, 0, NULL, &zero, 1);
	ob_tensor(&g, "w", T_INT8, 4, (int64_t[]){ 2, 1, 1, 1 }, w, 2);
	ob_tensor(&g, "b", T_FLOAT, 1, (int64_t[]){ 2 }, bias, sizeof bias);
	ob_node(&g, "DequantizeLinear", "x sx z", "xr", NULL);
	ob_node(&g, "DequantizeLinear", "w sw z", "wr", NULL);
	ob_node(&g, "Conv", "xr wr b", "c", NULL);
	ob_node(&g, "Relu", "c", "r", NULL);
	ob_node(&g, "QuantizeLinear", "r sy z", "y", NULL);
	ob_port(&g, 12, "y", T_INT8, 4, (int64_t[]){ 1, 2, 16, 16 });
	ob_model(model, &g, 13);
}

/* Exactly as floats on the host; with the option on the device, a few codes off by one. */
static void float_bias(void **state)
{
	int8_t x[256], y[2][512];
	uint64_t macs[2];
	int differ = 0;

	(void)state;
	for (int i = 0; i < 256; i++)
		x[i] = (int8_t)(i - 128);
	for (int rescale = 0; rescale < 2; rescale++) {
		struct weft_load_options lo = weft_load_options_default();
		struct weft_session_options o = weft_session_options_default();
		const weft_tensor in = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 1, 16, 16, 1, 1, 1, 1 }, .data = x };
		struct weft_report *report = NULL;
		weft_tensor out = { 0 };
		struct ob model = { 0 };
		char msg[WEFT_MSG_LEN] = "";
		weft_net *net = NULL;
		weft_session *s;

		biased(&model);
		lo.requant_rescale = rescale;
		o.check = true;
		if (weft_net_load_with(model.p, model.n, "biased", &lo, &net, msg) || weft_session_open(net, &o, &s, msg) ||
		    weft_session_run(s, &in, &out, &report, msg))
			fail_msg("%s", msg);
		macs[rescale] = report->macs;
		bool told = false;
		for (int i = 0; i < report->n_ops; i++)
			told |= strstr(report->ops[i].reason, "its bias is of floats; --requant rescale") != NULL;
		assert_int_equal(told, !rescale);
		memcpy(y[rescale], out.data, 512);
		weft_report_free(report);
		weft_tensor_release(&out);
		weft_session_close(s);
		weft_net_free(net);
		free(model.p);
	}
	for (int i = 0; i < 512; i++) {
		assert_true(abs(y[0][i] - y[1][i]) <= 1);
		differ += y[0][i] != y[1][i];
	}
	assert_true(differ < 10);
	assert_int_equal(macs[0], 0);
	assert_int_equal(macs[1], 512);
}

/* ---- Cast ---- */

static weft_net *load(struct ob *model, char *msg)
{
	weft_net *net = NULL;
	int err = weft_net_load(model->p, model->n, "cast", &net, msg);

	free(model->p);
	*model = (struct ob){ 0 };
	assert_true(!err == !!net);
	return net;
}

static void run(weft_net *net, const weft_tensor *x, weft_tensor *y)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;

	o.device = WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, x, y, NULL, msg))
		fail_msg("%s", msg);
	weft_session_close(s);
	weft_net_free(net);
}

static void float8_crcs(void **state)
{
	static const struct { int type; uint32_t crc[2]; } rows[] = {   /* saturate 0, 1 */
		{ T_E4M3, { 0x14606500, 0x5067a7ac } }, { T_E4M3Z, { 0x529ee546, 0x9cca927f } },
		{ T_E5M2, { 0x2edb1882, 0xb7a316b8 } }, { T_E5M2Z, { 0x353d3364, 0x52b70939 } },
	};
	static uint16_t all[65536];
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	for (int i = 0; i < 65536; i++)
		all[i] = (uint16_t)i;
	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
		for (int saturate = 0; saturate < 2; saturate++) {
			const weft_tensor x = { .dtype = WEFT_FP16, .rank = 1, .dim = { 65536, 1, 1, 1, 1, 1, 1, 1 }, .data = all };
			struct ob model = { 0 }, g = { 0 }, a = { 0 };
			weft_tensor y = { 0 };

			ob_port(&g, 11, "x", T_FLOAT16, 1, (int64_t[]){ 65536 });
			ob_attr_int(&a, "to", rows[r].type);
			ob_attr_int(&a, "saturate", saturate);
			ob_node(&g, "Cast", "x", "y", &a);
			ob_port(&g, 12, "y", rows[r].type, 1, (int64_t[]){ 65536 });
			ob_model(&model, &g, 23);
			weft_net *net = load(&model, msg);
			assert_non_null(net);
			run(net, &x, &y);
			assert_int_equal(weft_tensor_bytes(&y), 65536);
			uint32_t crc = (uint32_t)crc32(0, y.data, 65536);
			if (crc != rows[r].crc[saturate])
				fail_msg("type %d saturate %d: CRC-32 %08x, not %08x", rows[r].type, saturate, crc, rows[r].crc[saturate]);
			weft_tensor_release(&y);
		}
}

/* round_mode of Cast-24 to float8e8m0. */
static void scale_rounds(void **state)
{
	static const char *const modes[] = { NULL, "up", "down", "nearest", "sideways" };
	static const uint8_t want[4][4] = { { 128, 128, 129, 129 }, { 128, 128, 129, 129 }, { 127, 127, 128, 128 }, { 127, 128, 128, 129 } };
	static const float v[] = { 1.25f, 1.5f, 2.5f, 3.5f };
	const weft_tensor x = { .dtype = WEFT_FP32, .rank = 1, .dim = { 4, 1, 1, 1, 1, 1, 1, 1 }, .data = (void *)(uintptr_t)v };
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct ob model = { 0 }, g = { 0 }, a = { 0 };
		weft_tensor y = { 0 };

		ob_port(&g, 11, "x", T_FLOAT, 1, (int64_t[]){ 4 });
		ob_attr_int(&a, "to", T_E8M0);
		if (modes[i])
			ob_attr_text(&a, "round_mode", modes[i]);
		ob_node(&g, "Cast", "x", "y", &a);
		ob_port(&g, 12, "y", T_E8M0, 1, (int64_t[]){ 4 });
		ob_model(&model, &g, 25);
		weft_net *net = load(&model, msg);
		if (i == 4) {
			assert_null(net);
			assert_non_null(strstr(msg, "round_mode"));
			continue;
		}
		assert_non_null(net);
		run(net, &x, &y);
		assert_memory_equal(y.data, want[i], 4);
		weft_tensor_release(&y);
	}
}

/* A constant of strings. */
static void texts(struct ob *g, const char *name, int n, const char *const *v)
{
	struct ob t = { 0 };

	ob_int(&t, 1, n);
	ob_int(&t, 2, T_STRING);
	for (int i = 0; i < n; i++)
		ob_text(&t, 6, v[i]);
	ob_text(&t, 8, name);
	ob_sub(g, 5, &t);
}

static void cast_to(struct ob *g, const char *x, const char *y, int type)
{
	struct ob a = { 0 };

	ob_attr_int(&a, "to", type);
	ob_node(g, "Cast", x, y, &a);
}

/* x + constants that were strings; then x + constants that became strings and numbers again. */
static void strings(void **state)
{
	static const char *const v[] = { "3.14", "1e-5", "-INF", "1000" };
	static const float third[] = { 1.0f / 3, 1e20f, -7, 0.1f };
	const float zeros[4] = { 0 };
	const weft_tensor x = { .dtype = WEFT_FP32, .rank = 1, .dim = { 4, 1, 1, 1, 1, 1, 1, 1 }, .data = (void *)(uintptr_t)zeros };
	char msg[WEFT_MSG_LEN] = "";

	(void)state;
	for (int pass = 0; pass < 2; pass++) {
		struct ob model = { 0 }, g = { 0 };
		weft_tensor y = { 0 };

		ob_port(&g, 11, "x", T_FLOAT, 1, (int64_t[]){ 4 });
		if (pass) {
			ob_tensor(&g, "n", T_FLOAT, 1, (int64_t[]){ 4 }, third, sizeof third);
			cast_to(&g, "n", "s", T_STRING);
		} else {
			texts(&g, "s", 4, v);
		}
		cast_to(&g, "s", "f", T_FLOAT);
		ob_node(&g, "Add", "x f", "y", NULL);
		ob_port(&g, 12, "y", T_FLOAT, 1, (int64_t[]){ 4 });
		ob_model(&model, &g, 13);
		weft_net *net = load(&model, msg);
		if (!net)
			fail_msg("%s", msg);
		run(net, &x, &y);
		for (int i = 0; i < 4; i++)
			assert_true(((float *)y.data)[i] == (pass ? third[i] : strtof(v[i], NULL)));
		weft_tensor_release(&y);
	}
}

/* Each is one line that names what it is about. */
static void refused(void **state)
{
	static const char *const words[] = { "one", "2" };
	char msg[WEFT_MSG_LEN];

	(void)state;
	for (int i = 0; i < 6; i++) {
		static const char *const says[] = { "\"one\" is no number", "strings of what is not constant", "type string", "output \"y\": strings",
		                                    "\"s\": strings", "to type 14 (complex64)" };
		struct ob model = { 0 }, g = { 0 };

		ob_port(&g, 11, "x", i == 2 ? T_STRING : T_FLOAT, 1, (int64_t[]){ 2 });
		if (i == 0 || i == 4)
			texts(&g, "s", 2, words);
		if (i == 0)
			cast_to(&g, "s", "y", T_FLOAT);
		else if (i == 1)
			cast_to(&g, "x", "y", T_STRING);
		else if (i == 2)
			cast_to(&g, "x", "y", T_FLOAT);
		else if (i == 3)
			texts(&g, "y", 2, words);
		else if (i == 4)
			ob_node(&g, "Add", "x s", "y", NULL);
		else
			cast_to(&g, "x", "y", T_COMPLEX64);
		ob_port(&g, 12, "y", T_FLOAT, 1, (int64_t[]){ 2 });
		ob_model(&model, &g, 13);
		*msg = 0;
		assert_null(load(&model, msg));
		if (!strstr(msg, says[i]) || strchr(msg, '\n'))
			fail_msg("%d: %s", i, msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rescale_counts), cmocka_unit_test(strict), cmocka_unit_test(float_bias), cmocka_unit_test(float8_crcs), cmocka_unit_test(scale_rounds), cmocka_unit_test(strings),
		cmocka_unit_test(refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
