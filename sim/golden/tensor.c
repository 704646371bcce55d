/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and names of tensors.
 *
 * Shapes may come from a hostile file, so products saturate instead of
 * overflowing: an impossible tensor is too large to allocate, never too small.
 */
#include <weft/tensor.h>

static const struct {
	const char *name;
	size_t bytes;
} dtypes[WEFT_N_DTYPES] = {
	[WEFT_BOOL] = { "bool", 1 },
	[WEFT_INT4] = { "int4", 1 },
	[WEFT_INT8] = { "int8", 1 },
	[WEFT_UINT8] = { "uint8", 1 },
	[WEFT_INT16] = { "int16", 2 },
	[WEFT_UINT16] = { "uint16", 2 },
	[WEFT_INT32] = { "int32", 4 },
	[WEFT_INT48] = { "int48", 8 },
	[WEFT_INT64] = { "int64", 8 },
	[WEFT_FP8E4M3] = { "float8e4m3fn", 1 },
	[WEFT_FP8E5M2] = { "float8e5m2", 1 },
	[WEFT_FP8E4M3FNUZ] = { "float8e4m3fnuz", 1 },
	[WEFT_FP8E5M2FNUZ] = { "float8e5m2fnuz", 1 },
	[WEFT_FP16] = { "float16", 2 },
	[WEFT_BF16] = { "bfloat16", 2 },
	[WEFT_FP32] = { "float32", 4 },
	[WEFT_FP64] = { "float64", 8 },
	[WEFT_UINT32] = { "uint32", 4 },
	[WEFT_UINT64] = { "uint64", 8 },
	[WEFT_UINT4] = { "uint4", 1 },
	[WEFT_INT2] = { "int2", 1 },
	[WEFT_UINT2] = { "uint2", 1 },
	[WEFT_FP4E2M1] = { "float4e2m1", 1 },
	[WEFT_FP8E8M0] = { "float8e8m0", 1 },
};

static int known(weft_dtype t)
{
	return (int)t >= WEFT_BOOL && (int)t < WEFT_N_DTYPES;
}

size_t weft_dtype_bytes(weft_dtype t)
{
	return known(t) ? dtypes[t].bytes : 0;
}

const char *weft_dtype_name(weft_dtype t)
{
	return known(t) ? dtypes[t].name : "?";
}

int64_t weft_tensor_elements(const weft_tensor *t)
{
	int64_t n = 1;

	if (t->rank < 0 || t->rank > WEFT_MAX_RANK)
		return INT64_MAX;
	for (int i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0)
			return INT64_MAX;
		if (t->dim[i] == 0)
			return 0;
	}
	for (int i = 0; i < t->rank; i++) {
		if (n > INT64_MAX / t->dim[i])
			return INT64_MAX;
		n *= t->dim[i];
	}
	return n;
}

size_t weft_tensor_bytes(const weft_tensor *t)
{
	int64_t n = weft_tensor_elements(t);
	size_t size = weft_dtype_bytes(t->dtype);

	if (size == 0)
		return 0;
	if ((uint64_t)n > SIZE_MAX / size)
		return SIZE_MAX;
	return (size_t)n * size;
}
