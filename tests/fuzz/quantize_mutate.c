/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutated float .onnx files through weft_quantize(), with one sample of zeros:
 * 0, and then a file that loads; or a negative errno with one line.
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(own_network) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
