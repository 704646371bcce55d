/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other configurations: random graphs and three networks, compiled for
 * them, on the model and, where it is built (make sim CONFIGS="w4 w8 w8b w16 w32";
 * make test-full does), on the RTL. Random streams: cosim/stream_random.
 */
#include "compare_net.h"

#include <sys/stat.h>

static const char *const others[] = { "w4", "w8", "w8b", "w32" };
#define N_OTHERS (sizeof(others) / sizeof(*others))

static void graphs(const char *config, enum weft_device device)
{
	struct compare_total total = { 0 };
	uint64_t first = test_seed(1);
	long n = test_count(10, 60, 1000);

	printf("%s: ", config);
	for (long i = 0; i < n; i++) {
		struct compare_case c = compare_case_of(first + (uint64_t)i, i % 4 == 3 ? WEFT_INT16 : WEFT_INT8);
		c.config = config;
		compare_net(&c, device, &total);
	}
	compare_print(&total, n);
	assert_true(n == 0 || total.elements > 0);
}

static void network(const char *path, const char *config, enum weft_device device)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *r = NULL;
	struct weft_port p;
	weft_session *s;
	weft_net *net;
	weft_tensor in = { 0 }, out[4];

	if (weft_net_load_file(path, &net, msg))
		fail_msg("%s", msg);
	o.device = device;
	o.config = config;
	o.check = true;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s: %s", path, msg);
	assert_int_equal(weft_net_n_inputs(net), 1);
	weft_net_input(net, 0, &p);
	in.dtype = p.dtype;
	in.rank = p.rank;
	memcpy(in.dim, p.dim, sizeof(in.dim));
	size_t n = weft_tensor_bytes(&in);
	uint8_t *x = in.data = malloc(n);
	uint32_t r32 = 1;
	for (size_t i = 0; i < n; i++)
		x[i] = (uint8_t)((r32 = r32 * 1664525 + 1013904223) >> 24);
	if (weft_session_run(s, &in, out, &r, msg))
		fail_msg("%s, %s: %s", path, config, msg);
	printf("%s, %s: %llu elements, %llu cycles\n", path, config, (unsigned long long)r->elements, (unsigned long long)r->cycles);
	assert_true(r->checked && r->elements > 0 && !r->mismatches);
	for (int i = 0; i < weft_net_n_outputs(net); i++)
		weft_tensor_release(&out[i]);
	weft_tensor_release(&in);
	weft_report_free(r);
	weft_session_close(s);
	weft_net_free(net);
}

static void networks(const char *config, enum weft_device device)
{
	static const char *const files[] = { "mlperf_tiny/kws_ref_model.tflite", "mlperf_tiny/ad01_int8.tflite" };
	struct stat st;
	char path[4096];

	network("tests/models/digits_int8.tflite", config, device);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", test_data(), files[i]);
		if (!stat(path, &st))
			network(path, config, device);
	}
}

static void on_model(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OTHERS; i++) {
		graphs(others[i], WEFT_DEVICE_MODEL);
		networks(others[i], WEFT_DEVICE_MODEL);
	}
}

static void on_rtl(void **state)
{
	int found = 0;

	(void)state;
	for (size_t i = 0; i < N_OTHERS; i++) {
		if (!test_have_rtl(others[i]))
			continue;
		found++;
		graphs(others[i], WEFT_DEVICE_RTL);
		networks(others[i], WEFT_DEVICE_RTL);
	}
	if (test_level() == 2)
		assert_int_equal(found, N_OTHERS);
	if (!found) {
		printf("none of them is built: make sim CONFIGS=\"w4 w8 w8b w16 w32\", or make test-full\n");
		skip();
	}
}

/* What a configuration has no mode for runs on the host, which says so. */
static void lacks(const char *path, const char *config, const char *why, int times)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *r;
	weft_session *s;
	weft_net *net;
	int said = 0;

	if (weft_net_load_file(path, &net, msg))
		fail_msg("%s", msg);
	o.config = config;
	if (weft_session_open(net, &o, &s, msg) || weft_session_plan(s, &r, msg))
		fail_msg("%s: %s", path, msg);
	for (int i = 0; i < r->n_ops; i++) {
		assert_int_equal(r->ops[i].unit, WEFT_RUN_HOST);
		said += strstr(r->ops[i].reason, why) != NULL;
	}
	assert_int_equal(said, times);
	weft_report_free(r);
	weft_session_close(s);
	o.strict = true;
	assert_int_not_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_non_null(strstr(msg, why));
	weft_net_free(net);
}

static void without_modes(void **state)
{
	(void)state;
	lacks("tests/models/digits_int16x8.tflite", "w8b", "no int16", 3);
	lacks("tests/models/digits_fp8.tosa", "w8b", "not a mode of the array in w8b", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(on_model), cmocka_unit_test(on_rtl), cmocka_unit_test(without_modes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
