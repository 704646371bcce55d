/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's .npy files: versions 1 to 3, C order, little-endian.
 *
 * Types map by width and kind: b1, i1..i8, u1..u8, f2, f4, f8. What NumPy has no
 * name for is written as the integer that holds it: float8 as uint8, bfloat16
 * as uint16, int48 as int64, int4 and int2 as int8, uint4, uint2 and float4 as
 * uint8.
 */
#ifndef WEFT_NPY_H
#define WEFT_NPY_H

#include <weft/api.h>
#include <weft/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_NPY_MSG 256

/**
 * Parse a file held in memory.
 *
 * @param[out] t  Set only on success; t->data is from malloc, the caller's.
 * @param msg     WEFT_NPY_MSG bytes; one line on failure.
 * @return 0, -EINVAL (not such a file), -ENOTSUP (a type or order that we do
 *         not have), -ENOMEM
 */
WEFT_API int weft_npy_parse(const void *bytes, size_t len, weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG));

/** Read a file. As weft_npy_parse(), and -EIO or what open() says. */
WEFT_API int weft_npy_read(const char *path, weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG));

/**
 * Texts (NumPy's U and S): one after the other, each in *each bytes with a zero
 * at its end, from malloc; t gets the shape, and no type.
 */
WEFT_API int weft_npy_parse_text(const void *bytes, size_t len, weft_tensor *t, char **text, size_t *each, char msg WEFT_ROOM(WEFT_NPY_MSG));
WEFT_API int weft_npy_read_text(const char *path, weft_tensor *t, char **text, size_t *each, char msg WEFT_ROOM(WEFT_NPY_MSG));
WEFT_API int weft_npy_write_text(const char *path, const weft_tensor *t, const char *text, size_t each, char msg WEFT_ROOM(WEFT_NPY_MSG));

/** The type that stands for t in files: uint8 for float8, int64 for int48, mostly t itself. */
WEFT_API weft_dtype weft_npy_stored(weft_dtype t);

/** Write a tensor. @return 0, -EINVAL (bad type or no data), or as weft_file_write() */
WEFT_API int weft_npy_write(const char *path, const weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG));

#ifdef __cplusplus
}
#endif
#endif
