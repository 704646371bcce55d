/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion between number formats: float8 in its four encodings and E8M0, fp16,
 * bf16, fp32, fp64, float4e2m1 and integers.
 *
 * Every conversion rounds once, from the exact value. Four descriptions of the
 * same conversions differ in what happens at the edges; enum weft_cast_rules
 * says which of them to follow. All functions are thread-safe and touch nothing but
 * their arguments.
 *
 *	struct weft_cast_options o = weft_cast_options_default(WEFT_CAST_ONNX);
 *	o.saturate = false;
 *	err = weft_cast(&x, &y, &o, msg);
 */
#ifndef WEFT_CONVERT_H
#define WEFT_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/api.h>
#include <weft/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_CONVERT_MSG 160   /* bytes of a message buffer */

enum weft_cast_rules {
	/*
	 * ONNX Cast-25, every pair of types. float8 by its two tables; other floats
	 * round to nearest even and overflow to infinity. float to integer: towards
	 * zero, then the low bits (ONNX leaves what does not fit undefined); NaN and
	 * infinity give 0. Integers keep the low bits. To bool: not zero.
	 */
	WEFT_CAST_ONNX = 0,
	/*
	 * TOSA 1.0 CAST, the rows of its table. Rounds to nearest even; float8
	 * overflow is OCP's non-saturating one; float to integer rounds to nearest
	 * even and saturates, NaN gives 0.
	 */
	WEFT_CAST_TOSA,
	/*
	 * PopXL's pow2scale casts, between float8_143 or float8_152 (FNUZ) and fp16,
	 * fp32, fp64: to float8 is cast(x * 2^log2_scale), from float8 is
	 * cast(x) * 2^log2_scale, the scaling exact. saturate is the opposite of
	 * nan_on_overflow; infinity gives NaN in both.
	 */
	WEFT_CAST_POPXL,
	/*
	 * OpenVINO's f8e4m3 and f8e5m2, to and from fp16, bf16, fp32: nearest even,
	 * saturating, NaN kept. FakeConvert is weft_fake_convert().
	 */
	WEFT_CAST_OPENVINO,
};

/* ONNX's round_mode: how a number between two powers of two becomes float8e8m0. */
enum weft_scale_round {
	WEFT_SCALE_UP = 0,
	WEFT_SCALE_DOWN,
	WEFT_SCALE_NEAREST,        /* 1.5 times a power of two: up */
};

struct weft_cast_options {
	enum weft_cast_rules rules;
	bool saturate;             /* float8: what is too large becomes the largest finite value */
	/*
	 * ONNX with saturate: infinity to FNUZ float8 gives the largest finite value,
	 * as ONNX's published node tests have it, and not NaN, as Cast's text says.
	 */
	bool fnuz_inf_max;
	int32_t log2_scale;        /* PopXL only: -32..31; 0 with other rules */
	uint8_t scale_round;       /* enum weft_scale_round, for float8e8m0 with ONNX's rules */
	uint8_t reserved[15];      /* zero */
};

/**
 * Returns the usual options for these rules: ONNX and OpenVINO saturate, TOSA and PopXL
 * (nan_on_overflow) do not.
 */
WEFT_API struct weft_cast_options weft_cast_options_default(enum weft_cast_rules rules);

/**
 * Convert a tensor.
 *
 * @param x       The tensor, of any shape; data in the layout of weft/tensor.h.
 * @param[out] y  The result: the caller sets type, x's shape and data with room for it; the data
 *                are written only on success. They may overlap x's only if elements have the same
 *                width and both begin at the same place.
 * @param msg     WEFT_CONVERT_MSG bytes; one line on failure.
 * @return 0; -EINVAL: the shapes differ, or the rules do not have this pair of types or option
 */
WEFT_API int weft_cast(const weft_tensor *x, weft_tensor *y, const struct weft_cast_options *o, char msg WEFT_ROOM(WEFT_CONVERT_MSG));

/**
 * OpenVINO FakeConvert-13: y = (f8(x * scale - shift) + shift) / scale.
 *
 * Each of the four operations and the conversion rounds once in x's type.
 * Conversion to `type` is to nearest even and saturates; NaN stays NaN.
 *
 * @param x      fp16, bf16 or fp32
 * @param[out] y x's type and shape; may be x
 * @param type   WEFT_FP8E4M3 (f8e4m3) or WEFT_FP8E5M2 (f8e5m2)
 * @param scale  x's type; broadcasts to x as NumPy does
 * @param shift  x's type, scale's shape; or NULL, which leaves out both steps
 * @return 0, -EINVAL
 */
WEFT_API int weft_fake_convert(const weft_tensor *x, weft_tensor *y, weft_dtype type,
                      const weft_tensor *scale, const weft_tensor *shift, char msg WEFT_ROOM(WEFT_CONVERT_MSG));

/**
 * Find the type of a name: what weft_dtype_name() gives, ONNX's "float" and "double",
 * PopXL's "half", "float8_143" and "float8_152", OpenVINO's "f8e4m3" and
 * "f8e5m2", TOSA's "fp8e4m3" and "fp8e5m2".
 *
 * @return 0 with the type in *t; -EINVAL: no type has this name, *t is untouched
 */
WEFT_API int weft_dtype_of_name(const char *name, weft_dtype *t);

/**
 * Returns the value of a code of float type t, in the low bits of `bits`. It is exact, since fp64
 * holds every value of every format. NaN for an integer type.
 */
WEFT_API double weft_float_decode(weft_dtype t, uint64_t bits);

/* Bytes of room that are enough for any number of weft_number_format(). */
#define WEFT_NUMBER_TEXT 400

/**
 * Read a number of type t from a text, as ONNX's Cast from string does: plain or scientific
 * notation, INF, +INF, -INF and NaN in upper or lower case. Floats are rounded once, to nearest
 * even (float8 saturates); for integers the digits behind the point are dropped and the low bits kept.
 *
 * @param[out] bits  The number's code, in the low bits.
 * @return 0; -EINVAL: the text is no number; -ENOMEM
 */
WEFT_API int weft_number_parse(const char *text, weft_dtype t, uint64_t *bits);

/**
 * Write a number of type t, whose code is in the low bits of `bits`, as text, as ONNX's Cast to
 * string does: plain notation with the fewest digits that read back as the same fp16, fp32 or fp64
 * (smaller floats: as the same fp32); INF, -INF, NaN; a bool as 0 or 1.
 *
 * @param text  Room for n bytes, of which the last used is 0.
 * @return 0; -ERANGE: the text does not fit
 */
WEFT_API int weft_number_format(weft_dtype t, uint64_t bits, char *text, size_t n);

/**
 * Returns the code of float type t that is nearest to v, ties to even; float8e8m0 rounds up. With
 * saturate, a float8 too large becomes the greatest finite value (but infinity becomes NaN in the
 * FNUZ types in any case). 0 for an integer type.
 */
WEFT_API uint64_t weft_float_encode(weft_dtype t, double v, bool saturate);

#ifdef __cplusplus
}
#endif
#endif
