/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of inputs whose types have fewer values than the bytes that hold them: bool, the types of 2 and
 * 4 bits, int48. Golden and devices assume that such elements are in range, and would compute
 * different results from one that is not.
 */
#include "userlib/run/internal.h"

/*
 * Sets *least and *most to the least and greatest value of a type and returns true. Returns false,
 * without setting them, if every bit pattern of its bytes is a value of the type.
 */
static bool limits(weft_dtype t, int64_t *least, int64_t *most)
{
	static const struct { weft_dtype t; int64_t least, most; } narrow[] = {
		{ WEFT_BOOL, 0, 1 }, { WEFT_INT2, -2, 1 }, { WEFT_UINT2, 0, 3 }, { WEFT_INT4, -8, 7 }, { WEFT_UINT4, 0, 15 },
		{ WEFT_FP4E2M1, 0, 15 }, { WEFT_INT48, -(INT64_C(1) << 47), (INT64_C(1) << 47) - 1 },
	};

	for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++) {
		if (narrow[i].t != t)
			continue;
		*least = narrow[i].least;
		*most = narrow[i].most;
		return true;
	}
	return false;
}

int64_t weft_beyond_type(const weft_tensor *t, int64_t *value)
{
	const int64_t n = weft_tensor_elements(t);
	int64_t least, most;

	if (!limits(t->dtype, &least, &most))
		return -1;
	for (int64_t i = 0; i < n; i++) {
		const int8_t *byte = t->data;
		*value = t->dtype == WEFT_INT48 ? ((const int64_t *)t->data)[i] : least < 0 ? byte[i] : (uint8_t)byte[i];
		if (*value < least || *value > most)
			return i;
	}
	return -1;
}
