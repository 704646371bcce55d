/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's .npy files: versions 1 to 3, C order, little-endian.
 *
 * NumPy's types b1, i1..i8, u1..u8, f2, f4 and f8 are ours of the same kind and width. Types for
 * which NumPy has no name are written as the integer that holds them: float8 as uint8, bfloat16
 * as uint16, int48 as int64, int4 and int2 as int8, uint4, uint2 and float4 as
 * uint8. The functions are thread-safe and touch nothing but their arguments and files.
 */
#ifndef WEFT_NPY_H
#define WEFT_NPY_H

#include <weft/api.h>
#include <weft/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_NPY_MSG 256       /* bytes of a message buffer */

/**
 * Parse an array of numbers in a file of len bytes that is held in memory. The values must fill the rest
 * of the file behind the header exactly. In an array of bool, every byte other than 0 becomes 1.
 *
 * @param[out] t  The array, set only on success; t->data is from malloc, and the caller frees it.
 * @param msg     WEFT_NPY_MSG bytes; one line on failure.
 * @return 0; -EINVAL (not such a file, or a broken one); -ENOTSUP (a type, order, rank or size that is
 *         not read; texts); -ENOMEM
 */
WEFT_API int weft_npy_parse(const void *bytes, size_t len, weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG));

/** Read an array of numbers from a file. @return as weft_npy_parse(), or a negative errno of the file */
WEFT_API int weft_npy_read(const char *path, weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG));

/**
 * Does the same with a file of at most so many bytes of values; what is larger is not read, and -EFBIG
 * says so.
 */
WEFT_API int weft_npy_read_within(const char *path, size_t most_bytes, weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG));

/**
 * Parse, read and write an array of texts (NumPy's types U and S). *text (from malloc when reading)
 * has the texts one after the other in `each` bytes, with a zero byte behind each; t has the
 * shape and no type. Characters that are not ASCII are read as '?'.
 *
 * @return as weft_npy_parse(), weft_npy_read() and weft_npy_write(); -ENOTSUP: an array of numbers
 */
WEFT_API int weft_npy_parse_text(const void *bytes, size_t len, weft_tensor *t, char **text, size_t *each, char msg WEFT_ROOM(WEFT_NPY_MSG));
WEFT_API int weft_npy_read_text(const char *path, weft_tensor *t, char **text, size_t *each, char msg WEFT_ROOM(WEFT_NPY_MSG));
WEFT_API int weft_npy_write_text(const char *path, const weft_tensor *t, const char *text, size_t each, char msg WEFT_ROOM(WEFT_NPY_MSG));

/**
 * Returns the type with which an array written from a tensor of type t is read again: uint8 for all 8-bit
 * floats, FP4E2M1, UINT2 and UINT4; int8 for INT2 and INT4; int64 for INT48; uint16 for BF16; t itself
 * for all others, also for a type that cannot be written.
 */
WEFT_API weft_dtype weft_npy_stored(weft_dtype t);

/**
 * Write a tensor to a file (version 1, little-endian, C order). @return 0; -EINVAL: its type cannot be
 * written, it has no data, or its rank is not 0..WEFT_MAX_RANK; or as weft_file_write(); a failure leaves
 * one line with the path in msg
 */
WEFT_API int weft_npy_write(const char *path, const weft_tensor *t, char msg WEFT_ROOM(WEFT_NPY_MSG));

#ifdef __cplusplus
}
#endif
#endif
