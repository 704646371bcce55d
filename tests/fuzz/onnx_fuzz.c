/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .onnx file. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_net("fuzz.onnx", data, size);
	return 0;
}
