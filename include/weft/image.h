/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PNG and JPEG files as network inputs.
 *
 * The image must have the input's height and width; nothing is resized. Inputs are
 * [1,H,W,C], or [1,C,H,W] where the last dimension is no number of channels. One
 * channel and three convert into each other: gray is repeated, colour becomes
 * (19595 R + 38470 G + 7471 B + 2^15) >> 16. Alpha is dropped, 16 bits become 8,
 * stored values are taken as they are (no gamma).
 *
 * Quantisation of a pixel p, 0..255, for int8 and uint8 inputs:
 *   - Where the quantised range is a usual pixel range, p goes to the p-th
 *     value of the type: p - 128 in int8, p in uint8. That is when 255 * scale is
 *     within 3 % of 1 and the zero point is the type's least value (0..1); within
 *     3 % of 2 and the zero point is within 1 of the middle (-1..1); or from 100
 *     on (0..255 or -128..127).
 *   - Otherwise the real value is p / 255: round(p / 255 / scale) + zero point,
 *     half away from zero, saturated.
 * Without a scale an 8-bit input gets the first rule.
 *
 * int16 inputs: the real value is p where the positive half of the range is 100
 * or more wide (or there is no scale), otherwise p / 255; it is quantised as
 * above. A range of -1..1 cannot be told from one of 0..1, and counts as the
 * latter. fp32, fp16, bf16, E4M3 and E5M2 inputs get p / 255, rounded once to
 * nearest even. The functions are thread-safe and touch nothing but their arguments and files.
 */
#ifndef WEFT_IMAGE_H
#define WEFT_IMAGE_H

#include <weft/api.h>
#include <weft/tensor.h>

#define WEFT_IMAGE_MSG 256     /* bytes of a message buffer */

#ifdef __cplusplus
extern "C" {
#endif

/** Says whether a file of len bytes begins like a PNG or a JPEG. */
WEFT_API bool weft_image_is(const void *bytes, size_t len);

/**
 * Says whether an input of that type can take 8-bit pixels: int8, uint8, int16, fp32, fp16, bf16, E4M3,
 * E5M2.
 */
WEFT_API bool weft_image_type(weft_dtype t);

/**
 * Fill an input tensor from 8-bit pixels. Each pixel p becomes: for floats p / 255; for 8-bit integers
 * the least value + p, or p / 255 quantised if the quantisation's range is none of pixels (see above);
 * for int16 p / 255 or p quantised.
 *
 * @param t  A tensor of a type that weft_image_type() knows, with memory to write to.
 * @param q  Its quantisation.
 * @param p  One value, 0..255, for every element of t.
 */
WEFT_API void weft_image_values(const weft_tensor *t, const struct weft_quant *q, const uint8_t *p);

/**
 * Decode and quantise a file held in memory.
 *
 * @param want  Type (of weft_image_type()) and shape of the input: [1,H,W,C],
 *              [H,W,C], [1,C,H,W] or [C,H,W], where C is 1 or 3.
 * @param q     The input's quantisation.
 * @param[out] t  The input tensor, set only on success; t->data is from malloc, and the caller frees it.
 * @param msg   WEFT_IMAGE_MSG bytes; one line on failure.
 * @return 0; -EINVAL (a bad file, or another size than the input's); -ENOTSUP (the input is no
 *         image, or the file has a form that is not read); -ENOMEM
 */
WEFT_API int weft_image_decode(const void *bytes, size_t len, const weft_tensor *want, const struct weft_quant *q,
                      weft_tensor *t, char msg WEFT_ROOM(WEFT_IMAGE_MSG));

/**
 * Read a picture from a file of at most 1 GiB, as weft_image_decode() does from memory. The line in msg
 * begins with the path. @return as weft_image_decode(), or as weft_file_read()
 */
WEFT_API int weft_image_read(const char *path, const weft_tensor *want, const struct weft_quant *q, weft_tensor *t, char msg WEFT_ROOM(WEFT_IMAGE_MSG));

#ifdef __cplusplus
}
#endif
#endif
