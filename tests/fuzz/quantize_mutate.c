/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutated float .onnx files through weft_quantize(), with one sample of zeros:
 * 0, and then a file that loads; or a negative errno with one line. And what it
 * writes in float8 and int16, mutated, into the device's nearest forms.
 */
#include "fuzz_file.h"

/* A sample for small inputs only: a mutated shape may ask for a gigabyte, which a run may take. */
static int zeros(void *user, int i, weft_tensor *inputs, int n, char *msg)
{
	(void)user;
	for (int k = 0; k < n && !i; k++) {
		if (weft_tensor_bytes(&inputs[k]) > 1 << 16) {
			snprintf(msg, WEFT_MSG_LEN, "too large");
			return -EINVAL;
		}
		inputs[k].data = calloc(1, weft_tensor_bytes(&inputs[k]) + 1);
	}
	return i == 0;
}

static const char *quantise(const struct bytes *b, int *accepted)
{
	struct weft_quantize_options o = weft_quantize_options_default();
	char msg[WEFT_MSG_LEN] = "", why[WEFT_MSG_LEN] = "";
	static char told[WEFT_MSG_LEN + 64];
	uint8_t *out = NULL;
	weft_net *net = NULL;
	size_t len = 0;

	o.sample = zeros;
	int err = weft_quantize(b->p, b->n, &o, &out, &len, msg);
	*accepted = err == -ENOTSUP || !err;
	if (!err) {
		int again = weft_net_load(out, len, "quantised", &net, why);
		weft_net_free(net);
		free(out);
		if (again) {
			snprintf(told, sizeof told, "what it writes does not load: %s", why);
			return told;
		}
	}
	return fuzz_judge(err, msg);
}

static void own_network(void **state)
{
	struct bytes b = bytes_read("tests/models/digits_float.onnx");

	(void)state;
	assert_non_null(b.p);
	fuzz_file("quantize_mutate", "digits_float.onnx", &b, test_count(100, 1000, 20000), quantise);
	free(b.p);
}

static const char *load_nearest(const struct bytes *b, int *accepted)
{
	struct weft_load_options o = weft_load_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net = NULL;

	o.requant_rescale = true;
	int err = weft_net_load_with(b->p, b->n, "mutated", &o, &net, msg);
	*accepted = !err || err == -ENOTSUP;
	weft_net_free(net);
	return fuzz_judge(err, msg);
}

static void own_results(void **state)
{
	struct bytes b = bytes_read("tests/models/digits_float.onnx");

	(void)state;
	assert_non_null(b.p);
	for (int type = WEFT_QUANTIZE_INT16X8; type <= WEFT_QUANTIZE_FP8; type++) {
		struct weft_quantize_options o = weft_quantize_options_default();
		char msg[WEFT_MSG_LEN] = "";
		struct bytes q = { 0 };

		o.type = (enum weft_quantize_type)type;
		o.sample = zeros;
		assert_int_equal(weft_quantize(b.p, b.n, &o, &q.p, &q.n, msg), 0);
		fuzz_file("quantize_mutate", type == WEFT_QUANTIZE_FP8 ? "digits in float8" : "digits in int16", &q, test_count(50, 500, 20000),
		          load_nearest);
		free(q.p);
	}
	free(b.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(own_network), cmocka_unit_test(own_results) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
