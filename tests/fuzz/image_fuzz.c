/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a picture (PNG, JPEG) for an input of 8 x 8 pixels of three colours, and of one. */
#include <weft/image.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct weft_quant q = { true, 1.0 / 255, -128 };

	for (int colours = 1; colours <= 3; colours += 2) {
		const weft_tensor want = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 8, 8, colours, 1, 1, 1, 1 } };
		char msg[WEFT_IMAGE_MSG] = "";
		weft_tensor t = { 0 };
		int err = weft_image_decode(data, size, &want, &q, &t, msg);

		fuzz_judge(err, msg);
		if (!err)
			free(t.data);
	}
	return 0;
}
