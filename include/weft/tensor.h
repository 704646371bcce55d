/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors: a type, a shape and plain memory.
 *
 * Layout in memory is dense, row-major, little-endian. Types narrower or odder
 * than C's are held in the next C type, sign-extended, so that golden code
 * never unpacks:
 *   BOOL 1 byte (0 or 1); INT4 int8_t, -8..7; INT48 int64_t; float8 and float16
 *   and bfloat16 as bit patterns in uint8_t and uint16_t. INT2, UINT2, UINT4 and
 *   FP4E2M1 (a bit pattern) take a byte each. These four, FP8E8M0, UINT32 and UINT64
 *   exist for conversion (weft/convert.h) and data layout only.
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
	int64_t dim[WEFT_MAX_RANK];   /* elements; unused ones are 1 */
	void *data;                   /* weft_tensor_bytes() bytes, or NULL */
} weft_tensor;

/* What the network's file says of a tensor's values: the real number is scale * (value - zp). */
struct weft_quant {
	bool present;                 /* else the rest means nothing */
	double scale;
	int64_t zp;
};

/** Bytes that one element takes in memory (see above), 0 for a bad type. */
WEFT_API size_t weft_dtype_bytes(weft_dtype t);

/** Name in small letters, as ONNX and NumPy write it: "int8", "float16". */
WEFT_API const char *weft_dtype_name(weft_dtype t);

/** Count of elements: the product of dim[0..rank-1]; 1 for rank 0; INT64_MAX if impossible. */
WEFT_API int64_t weft_tensor_elements(const weft_tensor *t);

/** Bytes of data; SIZE_MAX if impossible, 0 for a bad type. */
WEFT_API size_t weft_tensor_bytes(const weft_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
