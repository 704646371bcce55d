/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single operators against ONNX Runtime's results: those of 8 bits bit for bit, on golden and
 * model; floats, whose sums and exponentials ONNX does not order, within 2^-18.
 *
 * tests/models/onnx_ops.gz: tools/train/record_onnx_ops.py wrote it.
 */
#include "tests/support/recorded.h"

#include <math.h>
#include <string.h>

#include <weft/weft.h>

#include "tests/support/short_of_memory.h"

#define FILE_NAME "tests/models/onnx_ops.gz"
#define MAX_PORTS 4

/* The data stays the file's. */
static weft_tensor read_tensor(struct reader *r)
{
	static const weft_dtype types[] = { 0, WEFT_FP32, WEFT_UINT8, WEFT_INT8 };
	uint32_t type = number(r, 1);

	assert_in_range(type, 1, 3);
	weft_tensor t = { .dtype = types[type], .rank = (int)number(r, 1) };
	assert_in_range(t.rank, 0, WEFT_MAX_RANK);
	for (int i = 0; i < WEFT_MAX_RANK; i++)
		t.dim[i] = i < t.rank ? number(r, 4) : 1;
	t.data = (void *)(uintptr_t)take(r, weft_tensor_bytes(&t));
	return t;
}

static float real(const weft_tensor *t, int64_t i)
{
	float v;

	memcpy(&v, (const char *)t->data + 4 * i, 4);
	return v;
}

static bool same(const weft_tensor *y, const weft_tensor *want)
{
	int64_t n = weft_tensor_elements(want);

	if (y->dtype != want->dtype || y->rank != want->rank || memcmp(y->dim, want->dim, (size_t)y->rank * sizeof y->dim[0]))
		return false;
	if (want->dtype != WEFT_FP32)
		return !memcmp(y->data, want->data, (size_t)n);
	for (int64_t i = 0; i < n; i++) {
		const float a = real(y, i), b = real(want, i);
		const bool close = isfinite(b) ? fabsf(a - b) <= 0x1p-18f * (1 + fabsf(b)) : isnan(b) ? isnan(a) : isinf(a) && signbit(a) == signbit(b);
		if (!close)
			return false;
	}
	return true;
}

/* Outputs that differ. */
static int on_device(const weft_net *net, const char *name, enum weft_device device, const weft_tensor *in, const weft_tensor *want, int n_out)
{
	struct weft_session_options o = weft_session_options_default();
	weft_tensor y[MAX_PORTS] = { 0 };
	struct weft_report *rep = NULL;
	char msg[WEFT_MSG_LEN] = "";
	weft_session *s;
	int bad = 0;

	o.device = device;
	o.check = device != WEFT_DEVICE_GOLDEN;
	if (weft_session_open(net, &o, &s, msg) || weft_session_run(s, in, y, &rep, msg))
		fail_msg("%s: %s", name, msg);
	for (int i = 0; i < n_out; i++) {
		bad += !same(&y[i], &want[i]);
		weft_tensor_release(&y[i]);
	}
	/* None is on the host; a change of sign at the network's edge is another's. */
	for (int i = 0; i < rep->n_ops && device == WEFT_DEVICE_MODEL && !strncmp(name, "QLinear", 7); i++)
		if (strstr(rep->ops[i].op, "QLinear") && rep->ops[i].unit == WEFT_RUN_HOST)
			fail_msg("%s is on the host: %s", name, rep->ops[i].reason);
	if (!strncmp(name, "int4", 4) && device == WEFT_DEVICE_MODEL)
		assert_true(rep->macs > 0);
	if (bad)
		print_error("%s differs on %s\n", name, device == WEFT_DEVICE_GOLDEN ? "golden" : "the model");
	weft_report_free(rep);
	weft_session_close(s);
	return bad;
}

static struct short_of_memory shortage = { .every = 7 };

static int one(struct reader *r)
{
	weft_tensor in[MAX_PORTS], want[MAX_PORTS];
	char name[64] = "", msg[WEFT_MSG_LEN] = "";
	uint32_t n = number(r, 2), bytes;
	weft_net *net;

	assert_true(n < sizeof name);
	memcpy(name, take(r, n), n);
	bytes = number(r, 4);
	const uint8_t *file = take(r, bytes);
	int n_in = (int)number(r, 1), n_out = (int)number(r, 1);
	assert_in_range(n_in, 1, MAX_PORTS);
	assert_in_range(n_out, 1, MAX_PORTS);
	for (int i = 0; i < n_in; i++)
		in[i] = read_tensor(r);
	for (int i = 0; i < n_out; i++)
		want[i] = read_tensor(r);
	if (weft_net_load(file, bytes, name, &net, msg))
		fail_msg("%s: %s", name, msg);
	assert_int_equal(weft_net_n_inputs(net), n_in);
	short_of_memory(&shortage, file, bytes, name, NULL);
	int bad = on_device(net, name, WEFT_DEVICE_GOLDEN, in, want, n_out) + on_device(net, name, WEFT_DEVICE_MODEL, in, want, n_out);
	weft_net_free(net);
	return bad;
}

static void onnx_runtime(void **state)
{
	struct reader r = open_recorded(FILE_NAME, "ONNXOPS1");
	int n = 0, bad = 0;

	(void)state;
	for (; r.at < r.n; n++)
		bad += one(&r);
	free(r.p);
	print_message("%d cases\n", n);
	assert_in_range(n, 70, 1000);
	assert_int_equal(bad, 0);
}

/* What the networks of the tests above gave while memory ended. */
static void no_memory(void **state)
{
	(void)state;
	short_of_memory_judge(&shortage, 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(onnx_runtime), cmocka_unit_test(no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
