/* SPDX-License-Identifier: Apache-2.0 */
/* Element types of tensors that ONNX Runtime and the library exchange. */
#include "ep.h"

weft_dtype dtype_of(int element_type)
{
	/* By ONNX Runtime's number. Strings, complex numbers and packed 4 bits are not exchanged. */
	static const weft_dtype types[] = {
		[1] = WEFT_FP32, [2] = WEFT_UINT8, [3] = WEFT_INT8, [4] = WEFT_UINT16, [5] = WEFT_INT16, [6] = WEFT_INT32,
		[7] = WEFT_INT64, [9] = WEFT_BOOL, [10] = WEFT_FP16, [16] = WEFT_BF16, [17] = WEFT_FP8E4M3,
		[18] = WEFT_FP8E4M3FNUZ, [19] = WEFT_FP8E5M2, [20] = WEFT_FP8E5M2FNUZ,
	};

	return element_type > 0 && element_type < (int)(sizeof(types) / sizeof(types[0])) ? types[element_type] : 0;
}
