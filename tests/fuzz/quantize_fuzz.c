/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a float .onnx file to be quantised; what comes out loads. The first byte chooses type and range. */
#include <errno.h>

#include "fuzz.h"

static int sample(void *user, int i, weft_tensor *inputs, int n, char *msg)
{
	(void)user, (void)msg;
	if (i)
		return 0;
	for (int k = 0; k < n; k++) {
		const size_t bytes = weft_tensor_bytes(&inputs[k]);
		if (bytes > 1 << 20)
			return -ENOTSUP;
		inputs[k].data = calloc(1, bytes + 1);
		for (size_t j = 0; j < bytes / sizeof(float) && inputs[k].dtype == WEFT_FP32; j++)
			((float *)inputs[k].data)[j] = (float)(j % 17) - 8;
	}
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_quantize_options o = weft_quantize_options_default();
	char msg[WEFT_MSG_LEN] = "a sample that is not taken";
	uint8_t *out = NULL;
	weft_net *net = NULL;
	size_t n = 0;

	if (!size)
		return 0;
	o.sample = sample;
	o.type = data[0] % 3 == 0 ? WEFT_QUANTIZE_INT8 : data[0] % 3 == 1 ? WEFT_QUANTIZE_INT16X8 : WEFT_QUANTIZE_FP8;
	int err = weft_quantize(data + 1, size - 1, &o, &out, &n, msg);
	fuzz_judge(err, msg);
	if (!err) {
		err = weft_net_load(out, n, "quantised.onnx", &net, msg);
		if (err)
			fprintf(stderr, "%s\n", msg);
		fuzz_require(!err, "what the quantiser writes loads");
	}
	free(out);
	weft_net_free(net);
	return 0;
}
