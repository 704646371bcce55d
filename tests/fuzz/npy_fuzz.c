/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .npy file, of numbers and of texts. */
#include <weft/npy.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char msg[WEFT_NPY_MSG] = "", *text = NULL;
	weft_tensor t = { 0 };
	size_t each = 0;
	int err = weft_npy_parse(data, size, &t, msg);

	fuzz_judge(err, msg);
	if (!err) {
		fuzz_require(weft_tensor_bytes(&t) < size, "values are bytes of the file");
		free(t.data);
	}
	err = weft_npy_parse_text(data, size, &t, &text, &each, msg);
	fuzz_judge(err, msg);
	for (int64_t i = 0; !err && i < weft_tensor_elements(&t); i++)
		fuzz_require(strlen(text + (size_t)i * each) < each, "texts end");
	if (!err)
		free(text);
	return 0;
}
