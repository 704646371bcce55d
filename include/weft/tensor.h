/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors: a type, a shape and plain memory.
 *
 * Layout in memory is dense, row-major, little-endian. An element of a type that C does not have is
 * held in the next larger C type, sign-extended, so that golden code never unpacks: BOOL in 1 byte (0
 * or 1); INT4 in int8_t, -8..7; INT48 in int64_t; float8, float16 and bfloat16 as bit patterns in
 * uint8_t and uint16_t; INT2, UINT2, UINT4 and FP4E2M1 (a bit pattern) in a byte each. These last
 * four, FP8E8M0, UINT32 and UINT64 exist for conversion (weft/convert.h) and data layout only. The functions are thread-safe and touch nothing but their arguments.
 */
#ifndef WEFT_TENSOR_H
#define WEFT_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_MAX_RANK 8

typedef enum weft_dtype {
	WEFT_BOOL = 1,
	WEFT_INT4,
	WEFT_INT8,
	WEFT_UINT8,
	WEFT_INT16,
	WEFT_UINT16,
	WEFT_INT32,
	WEFT_INT48,
	WEFT_INT64,
	WEFT_FP8E4M3,
	WEFT_FP8E5M2,
	WEFT_FP8E4M3FNUZ,
	WEFT_FP8E5M2FNUZ,
	WEFT_FP16,
	WEFT_BF16,
	WEFT_FP32,
	WEFT_FP64,
	WEFT_UINT32,
	WEFT_UINT64,
	WEFT_UINT4,
	WEFT_INT2,
	WEFT_UINT2,
	WEFT_FP4E2M1,
	WEFT_FP8E8M0,
	WEFT_N_DTYPES
} weft_dtype;

typedef struct weft_tensor {
	weft_dtype dtype;
	int rank;                     /* 0..WEFT_MAX_RANK */
	int64_t dim[WEFT_MAX_RANK];   /* extent of each dimension in elements; those behind the rank are 1 */
	void *data;                   /* weft_tensor_bytes() bytes, or NULL: only type and shape are given */
} weft_tensor;

/* The quantisation that a network's file states for a tensor: the real number is scale * (value - zp). */
struct weft_quant {
	bool present;                 /* the file states one; otherwise scale and zp mean nothing */
	double scale;
	int64_t zp;                   /* the zero point */
};

/** Returns the bytes that one element takes in memory (see above); 0 for a number that is no type. */
WEFT_API size_t weft_dtype_bytes(weft_dtype t);

/** Returns a type's name in small letters, as ONNX and NumPy write it: "int8", "float16". */
WEFT_API const char *weft_dtype_name(weft_dtype t);

/**
 * Returns the number of elements: the product of dim[0..rank-1], 1 for rank 0. INT64_MAX if the
 * rank or a dimension is out of range, or the product is too large.
 */
WEFT_API int64_t weft_tensor_elements(const weft_tensor *t);

/** Returns the bytes of a tensor's data; SIZE_MAX if that is no possible number; 0 if its type is none. */
WEFT_API size_t weft_tensor_bytes(const weft_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
