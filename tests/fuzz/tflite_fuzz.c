/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a .tflite file. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_net("fuzz.tflite", data, size);
	return 0;
}
