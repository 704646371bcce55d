/* Generated from include/spec/attr.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../attr.h"

static const struct attr_saved conv2d_saved[] = {
	{ offsetof(weft_attr, conv.pad), ATTR_I32, 4 },
	{ offsetof(weft_attr, conv.stride), ATTR_I32, 2 },
	{ offsetof(weft_attr, conv.dilation), ATTR_I32, 2 },
	{ offsetof(weft_attr, conv.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.w_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.acc), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.local_bound), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, conv.log2_scale), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.chain), ATTR_BOOL, 1 },
};

static const struct attr_limit conv2d_limit[] = {
	{ "padding", offsetof(weft_attr, conv.pad), ATTR_I32, 4, 4, 0, INT64_MAX },
};

static const struct attr_zero_point conv2d_zero_point[] = {
	{ "input", offsetof(weft_attr, conv.x_zp), ATTR_NONE, 0 },
	{ "weight", offsetof(weft_attr, conv.w_zp), ATTR_NONE, 1 },
};

static const struct attr_tosa_field conv2d_tosa_field[] = {
	{ "pad", ATTR_LIST, 0, 4, ATTR_NO_TENSOR, offsetof(weft_attr, conv.pad), ATTR_NONE, 0, 0 },
	{ "stride", ATTR_LIST, 1, 2, ATTR_NO_TENSOR, offsetof(weft_attr, conv.stride), ATTR_NONE, 0, 0 },
	{ "dilation", ATTR_LIST, 2, 2, ATTR_NO_TENSOR, offsetof(weft_attr, conv.dilation), ATTR_NONE, 0, 0 },
	{ "local_bound", ATTR_FLAG, 3, 1, ATTR_NO_TENSOR, offsetof(weft_attr, conv.local_bound), ATTR_NONE, 0, 0 },
	{ "acc", ATTR_TYPE, 4, 1, ATTR_NO_TENSOR, offsetof(weft_attr, conv.acc), ATTR_NONE, 0, 0 },
};

static const struct attr_tosa_arg conv2d_tosa_arg[] = {
	{ "input_zp", ATTR_ZERO_POINT, 3, 1, 0, offsetof(weft_attr, conv.x_zp), ATTR_NONE },
	{ "weight_zp", ATTR_ZERO_POINT, 4, 1, 1, offsetof(weft_attr, conv.w_zp), ATTR_NONE },
};

static const struct attr_saved transpose_conv2d_saved[] = {
	{ offsetof(weft_attr, conv.pad), ATTR_I32, 4 },
	{ offsetof(weft_attr, conv.stride), ATTR_I32, 2 },
	{ offsetof(weft_attr, conv.dilation), ATTR_I32, 2 },
	{ offsetof(weft_attr, conv.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.w_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.acc), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.local_bound), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, conv.log2_scale), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.chain), ATTR_BOOL, 1 },
};

static const struct attr_zero_point transpose_conv2d_zero_point[] = {
	{ "input", offsetof(weft_attr, conv.x_zp), ATTR_NONE, 0 },
	{ "weight", offsetof(weft_attr, conv.w_zp), ATTR_NONE, 1 },
};

static const struct attr_tosa_field transpose_conv2d_tosa_field[] = {
	{ "out_pad", ATTR_LIST, 0, 4, ATTR_NO_TENSOR, offsetof(weft_attr, conv.pad), ATTR_NONE, 0, 0 },
	{ "stride", ATTR_LIST, 1, 2, ATTR_NO_TENSOR, offsetof(weft_attr, conv.stride), ATTR_NONE, 0, 0 },
	{ "local_bound", ATTR_FLAG, 2, 1, ATTR_NO_TENSOR, offsetof(weft_attr, conv.local_bound), ATTR_NONE, 0, 0 },
	{ "acc", ATTR_TYPE, 3, 1, ATTR_NO_TENSOR, offsetof(weft_attr, conv.acc), ATTR_NONE, 0, 0 },
	{ "dilation", ATTR_ONES, 4, 2, ATTR_NO_TENSOR, offsetof(weft_attr, conv.dilation), ATTR_NONE, 0, 0 },
};

static const struct attr_tosa_arg transpose_conv2d_tosa_arg[] = {
	{ "input_zp", ATTR_ZERO_POINT, 3, 1, 0, offsetof(weft_attr, conv.x_zp), ATTR_NONE },
	{ "weight_zp", ATTR_ZERO_POINT, 4, 1, 1, offsetof(weft_attr, conv.w_zp), ATTR_NONE },
};

static const struct attr_saved popxl_conv_pow2scaled_saved[] = {
	{ offsetof(weft_attr, conv.pad), ATTR_I32, 4 },
	{ offsetof(weft_attr, conv.stride), ATTR_I32, 2 },
	{ offsetof(weft_attr, conv.dilation), ATTR_I32, 2 },
	{ offsetof(weft_attr, conv.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.w_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.acc), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.local_bound), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, conv.log2_scale), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv.chain), ATTR_BOOL, 1 },
};

static const struct attr_limit popxl_conv_pow2scaled_limit[] = {
	{ "padding", offsetof(weft_attr, conv.pad), ATTR_I32, 4, 4, 0, INT64_MAX },
};

static const struct attr_zero_point popxl_conv_pow2scaled_zero_point[] = {
	{ "input", offsetof(weft_attr, conv.x_zp), ATTR_NONE, 0 },
	{ "weight", offsetof(weft_attr, conv.w_zp), ATTR_NONE, 1 },
};

static const struct attr_saved conv3d_saved[] = {
	{ offsetof(weft_attr, conv3d.pad), ATTR_I32, 6 },
	{ offsetof(weft_attr, conv3d.stride), ATTR_I32, 3 },
	{ offsetof(weft_attr, conv3d.dilation), ATTR_I32, 3 },
	{ offsetof(weft_attr, conv3d.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv3d.w_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv3d.acc), ATTR_I32, 1 },
	{ offsetof(weft_attr, conv3d.local_bound), ATTR_BOOL, 1 },
};

static const struct attr_zero_point conv3d_zero_point[] = {
	{ "input", offsetof(weft_attr, conv3d.x_zp), ATTR_NONE, 0 },
	{ "weight", offsetof(weft_attr, conv3d.w_zp), ATTR_NONE, 1 },
};

static const struct attr_tosa_field conv3d_tosa_field[] = {
	{ "pad", ATTR_LIST, 0, 6, ATTR_NO_TENSOR, offsetof(weft_attr, conv3d.pad), ATTR_NONE, 0, 0 },
	{ "stride", ATTR_LIST, 1, 3, ATTR_NO_TENSOR, offsetof(weft_attr, conv3d.stride), ATTR_NONE, 0, 0 },
	{ "dilation", ATTR_LIST, 2, 3, ATTR_NO_TENSOR, offsetof(weft_attr, conv3d.dilation), ATTR_NONE, 0, 0 },
	{ "local_bound", ATTR_FLAG, 3, 1, ATTR_NO_TENSOR, offsetof(weft_attr, conv3d.local_bound), ATTR_NONE, 0, 0 },
	{ "acc", ATTR_TYPE, 4, 1, ATTR_NO_TENSOR, offsetof(weft_attr, conv3d.acc), ATTR_NONE, 0, 0 },
};

static const struct attr_tosa_arg conv3d_tosa_arg[] = {
	{ "input_zp", ATTR_ZERO_POINT, 3, 1, 0, offsetof(weft_attr, conv3d.x_zp), ATTR_NONE },
	{ "weight_zp", ATTR_ZERO_POINT, 4, 1, 1, offsetof(weft_attr, conv3d.w_zp), ATTR_NONE },
};

static const struct attr_saved avg_pool2d_saved[] = {
	{ offsetof(weft_attr, pool.kernel), ATTR_I32, 2 },
	{ offsetof(weft_attr, pool.stride), ATTR_I32, 2 },
	{ offsetof(weft_attr, pool.pad), ATTR_I32, 4 },
	{ offsetof(weft_attr, pool.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, pool.y_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, pool.acc), ATTR_I32, 1 },
	{ offsetof(weft_attr, pool.nan), ATTR_I32, 1 },
	{ offsetof(weft_attr, pool.chain), ATTR_BOOL, 1 },
};

static const struct attr_limit avg_pool2d_limit[] = {
	{ "NaN mode", offsetof(weft_attr, pool.nan), ATTR_I32, 1, 4, 0, 3 },
};

static const struct attr_zero_point avg_pool2d_zero_point[] = {
	{ "input", offsetof(weft_attr, pool.x_zp), ATTR_NONE, 0 },
	{ "result", offsetof(weft_attr, pool.y_zp), ATTR_NONE, ATTR_RESULT },
};

static const struct attr_tosa_field avg_pool2d_tosa_field[] = {
	{ "kernel", ATTR_LIST, 0, 2, ATTR_NO_TENSOR, offsetof(weft_attr, pool.kernel), ATTR_NONE, 0, 0 },
	{ "stride", ATTR_LIST, 1, 2, ATTR_NO_TENSOR, offsetof(weft_attr, pool.stride), ATTR_NONE, 0, 0 },
	{ "pad", ATTR_LIST, 2, 4, ATTR_NO_TENSOR, offsetof(weft_attr, pool.pad), ATTR_NONE, 0, 0 },
	{ "acc", ATTR_TYPE, 3, 1, ATTR_NO_TENSOR, offsetof(weft_attr, pool.acc), ATTR_NONE, 0, 0 },
};

static const struct attr_tosa_arg avg_pool2d_tosa_arg[] = {
	{ "input_zp", ATTR_ZERO_POINT, 1, 1, 0, offsetof(weft_attr, pool.x_zp), ATTR_NONE },
	{ "output_zp", ATTR_ZERO_POINT, 2, 1, ATTR_RESULT, offsetof(weft_attr, pool.y_zp), ATTR_NONE },
};

static const struct attr_saved max_pool2d_saved[] = {
	{ offsetof(weft_attr, pool.kernel), ATTR_I32, 2 },
	{ offsetof(weft_attr, pool.stride), ATTR_I32, 2 },
	{ offsetof(weft_attr, pool.pad), ATTR_I32, 4 },
	{ offsetof(weft_attr, pool.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, pool.y_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, pool.acc), ATTR_I32, 1 },
	{ offsetof(weft_attr, pool.nan), ATTR_I32, 1 },
	{ offsetof(weft_attr, pool.chain), ATTR_BOOL, 1 },
};

static const struct attr_limit max_pool2d_limit[] = {
	{ "NaN mode", offsetof(weft_attr, pool.nan), ATTR_I32, 1, 4, 0, 3 },
};

static const struct attr_tosa_field max_pool2d_tosa_field[] = {
	{ "kernel", ATTR_LIST, 0, 2, ATTR_NO_TENSOR, offsetof(weft_attr, pool.kernel), ATTR_NONE, 0, 0 },
	{ "stride", ATTR_LIST, 1, 2, ATTR_NO_TENSOR, offsetof(weft_attr, pool.stride), ATTR_NONE, 0, 0 },
	{ "pad", ATTR_LIST, 2, 4, ATTR_NO_TENSOR, offsetof(weft_attr, pool.pad), ATTR_NONE, 0, 0 },
	{ "nan", ATTR_NAN, 3, 1, ATTR_NO_TENSOR, offsetof(weft_attr, pool.nan), ATTR_NONE, 0, 0 },
};

static const struct attr_saved fft2d_saved[] = {
	{ offsetof(weft_attr, fft.inverse), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, fft.local_bound), ATTR_BOOL, 1 },
};

static const struct attr_tosa_field fft2d_tosa_field[] = {
	{ "inverse", ATTR_FLAG, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, fft.inverse), ATTR_NONE, 0, 0 },
	{ "local_bound", ATTR_FLAG, 1, 1, ATTR_NO_TENSOR, offsetof(weft_attr, fft.local_bound), ATTR_NONE, 0, 0 },
};

static const struct attr_saved rfft2d_saved[] = {
	{ offsetof(weft_attr, fft.inverse), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, fft.local_bound), ATTR_BOOL, 1 },
};

static const struct attr_tosa_field rfft2d_tosa_field[] = {
	{ "local_bound", ATTR_FLAG, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, fft.local_bound), ATTR_NONE, 0, 0 },
};

static const struct attr_saved argmax_saved[] = {
	{ offsetof(weft_attr, axis.axis), ATTR_I32, 1 },
	{ offsetof(weft_attr, axis.nan), ATTR_I32, 1 },
	{ offsetof(weft_attr, axis.chain), ATTR_BOOL, 1 },
};

static const struct attr_limit argmax_limit[] = {
	{ "NaN mode", offsetof(weft_attr, axis.nan), ATTR_I32, 1, 4, 0, 3 },
};

static const struct attr_tosa_field argmax_tosa_field[] = {
	{ "axis", ATTR_NUMBER, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, axis.axis), ATTR_NONE, 0, 0 },
	{ "nan", ATTR_NAN, 1, 1, ATTR_NO_TENSOR, offsetof(weft_attr, axis.nan), ATTR_NONE, 0, 0 },
};

static const struct attr_saved reduce_all_saved[] = {
	{ offsetof(weft_attr, axis.axis), ATTR_I32, 1 },
	{ offsetof(weft_attr, axis.nan), ATTR_I32, 1 },
	{ offsetof(weft_attr, axis.chain), ATTR_BOOL, 1 },
};

static const struct attr_limit reduce_all_limit[] = {
	{ "NaN mode", offsetof(weft_attr, axis.nan), ATTR_I32, 1, 4, 0, 3 },
};

static const struct attr_tosa_field reduce_all_tosa_field[] = {
	{ "axis", ATTR_NUMBER, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, axis.axis), ATTR_NONE, 0, 0 },
};

static const struct attr_saved maximum_saved[] = {
	{ offsetof(weft_attr, nan.nan), ATTR_I32, 1 },
};

static const struct attr_limit maximum_limit[] = {
	{ "NaN mode", offsetof(weft_attr, nan.nan), ATTR_I32, 1, 4, 0, 3 },
};

static const struct attr_tosa_field maximum_tosa_field[] = {
	{ "nan", ATTR_NAN, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, nan.nan), ATTR_NONE, 0, 0 },
};

static const struct attr_saved arithmetic_right_shift_saved[] = {
	{ offsetof(weft_attr, shift.round), ATTR_BOOL, 1 },
};

static const struct attr_tosa_field arithmetic_right_shift_tosa_field[] = {
	{ "round", ATTR_FLAG, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, shift.round), ATTR_NONE, 0, 0 },
};

static const struct attr_saved negate_saved[] = {
	{ offsetof(weft_attr, negate.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, negate.y_zp), ATTR_I32, 1 },
};

static const struct attr_zero_point negate_zero_point[] = {
	{ "input", offsetof(weft_attr, negate.x_zp), ATTR_NONE, 0 },
	{ "result", offsetof(weft_attr, negate.y_zp), ATTR_NONE, ATTR_RESULT },
};

static const struct attr_tosa_arg negate_tosa_arg[] = {
	{ "input1_zp", ATTR_ZERO_POINT, 1, 1, 0, offsetof(weft_attr, negate.x_zp), ATTR_NONE },
	{ "output_zp", ATTR_ZERO_POINT, 2, 1, ATTR_RESULT, offsetof(weft_attr, negate.y_zp), ATTR_NONE },
};

static const struct attr_saved tile_saved[] = {
	{ offsetof(weft_attr, tile.multiple), ATTR_I32, WEFT_MAX_RANK },
};

static const struct attr_tosa_arg tile_tosa_arg[] = {
	{ "multiples", ATTR_SHAPE, 1, ATTR_RANK, ATTR_NO_TENSOR, offsetof(weft_attr, tile.multiple), ATTR_NONE },
};

static const struct attr_tosa_arg reshape_tosa_arg[] = {
	{ "shape", ATTR_RESULT_SHAPE, 1, ATTR_RANK, ATTR_RESULT, ATTR_NONE, ATTR_NONE },
};

static const struct attr_saved resize_saved[] = {
	{ offsetof(weft_attr, resize.scale_y_n), ATTR_I32, 1 },
	{ offsetof(weft_attr, resize.scale_y_d), ATTR_I32, 1 },
	{ offsetof(weft_attr, resize.scale_x_n), ATTR_I32, 1 },
	{ offsetof(weft_attr, resize.scale_x_d), ATTR_I32, 1 },
	{ offsetof(weft_attr, resize.offset_y), ATTR_I32, 1 },
	{ offsetof(weft_attr, resize.offset_x), ATTR_I32, 1 },
	{ offsetof(weft_attr, resize.border_y), ATTR_I32, 1 },
	{ offsetof(weft_attr, resize.border_x), ATTR_I32, 1 },
	{ offsetof(weft_attr, resize.mode), ATTR_I32, 1 },
};

static const struct attr_limit resize_limit[] = {
	{ "mode", offsetof(weft_attr, resize.mode), ATTR_I32, 1, 4, 1, 2 },
};

static const struct attr_tosa_field resize_tosa_field[] = {
	{ "mode", ATTR_ENUM, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, resize.mode), ATTR_NONE, 1, 2 },
};

static const struct attr_tosa_arg resize_tosa_arg[] = {
	{ "scale", ATTR_SHAPE, 1, 4, ATTR_NO_TENSOR, offsetof(weft_attr, resize.scale_y_n), ATTR_NONE },
	{ "offset", ATTR_SHAPE, 2, 2, ATTR_NO_TENSOR, offsetof(weft_attr, resize.offset_y), ATTR_NONE },
	{ "border", ATTR_SHAPE, 3, 2, ATTR_NO_TENSOR, offsetof(weft_attr, resize.border_y), ATTR_NONE },
};

static const struct attr_saved matmul_saved[] = {
	{ offsetof(weft_attr, matmul.a_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, matmul.b_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, matmul.log2_scale), ATTR_I32, 1 },
	{ offsetof(weft_attr, matmul.chain), ATTR_BOOL, 1 },
};

static const struct attr_zero_point matmul_zero_point[] = {
	{ "a", offsetof(weft_attr, matmul.a_zp), ATTR_NONE, 0 },
	{ "b", offsetof(weft_attr, matmul.b_zp), ATTR_NONE, 1 },
};

static const struct attr_tosa_arg matmul_tosa_arg[] = {
	{ "A_zp", ATTR_ZERO_POINT, 2, 1, 0, offsetof(weft_attr, matmul.a_zp), ATTR_NONE },
	{ "B_zp", ATTR_ZERO_POINT, 3, 1, 1, offsetof(weft_attr, matmul.b_zp), ATTR_NONE },
};

static const struct attr_saved clamp_saved[] = {
	{ offsetof(weft_attr, clamp.min), ATTR_I64, 1 },
	{ offsetof(weft_attr, clamp.max), ATTR_I64, 1 },
	{ offsetof(weft_attr, clamp.fmin), ATTR_F64, 1 },
	{ offsetof(weft_attr, clamp.fmax), ATTR_F64, 1 },
	{ offsetof(weft_attr, clamp.nan), ATTR_I32, 1 },
};

static const struct attr_limit clamp_limit[] = {
	{ "NaN mode", offsetof(weft_attr, clamp.nan), ATTR_I32, 1, 4, 0, 3 },
};

static const struct attr_tosa_field clamp_tosa_field[] = {
	{ "min_val", ATTR_VALUE, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, clamp.min), offsetof(weft_attr, clamp.fmin), 0, 0 },
	{ "max_val", ATTR_VALUE, 1, 1, ATTR_NO_TENSOR, offsetof(weft_attr, clamp.max), offsetof(weft_attr, clamp.fmax), 0, 0 },
	{ "nan", ATTR_NAN, 2, 1, ATTR_NO_TENSOR, offsetof(weft_attr, clamp.nan), ATTR_NONE, 0, 0 },
};

static const struct attr_saved mul_saved[] = {
	{ offsetof(weft_attr, mul.shift), ATTR_I32, 1 },
};

static const struct attr_tosa_arg mul_tosa_arg[] = {
	{ "shift", ATTR_SCALAR, 2, 1, ATTR_NO_TENSOR, offsetof(weft_attr, mul.shift), ATTR_NONE },
};

static const struct attr_saved pad_saved[] = {
	{ offsetof(weft_attr, pad.before), ATTR_I32, WEFT_MAX_RANK },
	{ offsetof(weft_attr, pad.after), ATTR_I32, WEFT_MAX_RANK },
	{ offsetof(weft_attr, pad.value), ATTR_I64, 1 },
	{ offsetof(weft_attr, pad.fvalue), ATTR_F64, 1 },
};

static const struct attr_tosa_arg pad_tosa_arg[] = {
	{ "padding", ATTR_PADS, 1, ATTR_RANK, ATTR_NO_TENSOR, offsetof(weft_attr, pad.before), offsetof(weft_attr, pad.after) },
	{ "pad_const", ATTR_FILL, 2, 1, ATTR_NO_TENSOR, offsetof(weft_attr, pad.value), offsetof(weft_attr, pad.fvalue) },
};

static const struct attr_saved slice_saved[] = {
	{ offsetof(weft_attr, slice.start), ATTR_I64, WEFT_MAX_RANK },
};

static const struct attr_tosa_arg slice_tosa_arg[] = {
	{ "start", ATTR_PART, 1, ATTR_RANK, ATTR_NO_TENSOR, offsetof(weft_attr, slice.start), ATTR_NONE },
};

static const struct attr_saved transpose_saved[] = {
	{ offsetof(weft_attr, perm.perm), ATTR_I32, WEFT_MAX_RANK },
};

static const struct attr_tosa_field transpose_tosa_field[] = {
	{ "perms", ATTR_LIST, 0, ATTR_RANK, ATTR_NO_TENSOR, offsetof(weft_attr, perm.perm), ATTR_NONE, 0, 0 },
};

static const struct attr_saved rescale_saved[] = {
	{ offsetof(weft_attr, rescale.scale32), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, rescale.rounding), ATTR_I32, 1 },
	{ offsetof(weft_attr, rescale.per_channel), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, rescale.x_unsigned), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, rescale.y_unsigned), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, rescale.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, rescale.y_zp), ATTR_I32, 1 },
};

static const struct attr_zero_point rescale_zero_point[] = {
	{ "input", offsetof(weft_attr, rescale.x_zp), offsetof(weft_attr, rescale.x_unsigned), 0 },
	{ "result", offsetof(weft_attr, rescale.y_zp), offsetof(weft_attr, rescale.y_unsigned), ATTR_RESULT },
};

static const struct attr_tosa_field rescale_tosa_field[] = {
	{ "scale32", ATTR_FLAG, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, rescale.scale32), ATTR_NONE, 0, 0 },
	{ "rounding mode", ATTR_ENUM, 1, 1, ATTR_NO_TENSOR, offsetof(weft_attr, rescale.rounding), ATTR_NONE, 1, 3 },
	{ "per_channel", ATTR_FLAG, 2, 1, ATTR_NO_TENSOR, offsetof(weft_attr, rescale.per_channel), ATTR_NONE, 0, 0 },
	{ "x_unsigned", ATTR_FLAG, 3, 1, 0, offsetof(weft_attr, rescale.x_unsigned), ATTR_NONE, 0, 0 },
	{ "y_unsigned", ATTR_FLAG, 4, 1, ATTR_RESULT, offsetof(weft_attr, rescale.y_unsigned), ATTR_NONE, 0, 0 },
};

static const struct attr_tosa_arg rescale_tosa_arg[] = {
	{ "input_zp", ATTR_ZERO_POINT, 3, 1, 0, offsetof(weft_attr, rescale.x_zp), offsetof(weft_attr, rescale.x_unsigned) },
	{ "output_zp", ATTR_ZERO_POINT, 4, 1, ATTR_RESULT, offsetof(weft_attr, rescale.y_zp), offsetof(weft_attr, rescale.y_unsigned) },
};

static const struct attr_tosa_field cond_if_tosa_field[] = {
	{ "graph", ATTR_BLOCK, 0, 1, ATTR_NO_TENSOR, offsetof(weft_attr, flow.graph[0]), ATTR_NONE, 0, 0 },
	{ "graph", ATTR_BLOCK, 1, 1, ATTR_NO_TENSOR, offsetof(weft_attr, flow.graph[1]), ATTR_NONE, 0, 0 },
};

static const struct attr_saved variable_read_saved[] = {
	{ offsetof(weft_attr, variable.id), ATTR_I32, 1 },
};

static const struct attr_saved tfl_softmax_saved[] = {
	{ offsetof(weft_attr, tfl_softmax.x_scale), ATTR_F32, 1 },
	{ offsetof(weft_attr, tfl_softmax.beta), ATTR_F32, 1 },
	{ offsetof(weft_attr, tfl_softmax.wide), ATTR_BOOL, 1 },
};

static const struct attr_saved tfl_function_saved[] = {
	{ offsetof(weft_attr, tfl_function.function), ATTR_I32, 1 },
};

static const struct attr_limit tfl_function_limit[] = {
	{ "function", offsetof(weft_attr, tfl_function.function), ATTR_I32, 1, 4, 0, 7 },
};

static const struct attr_saved tfl_hybrid_saved[] = {
	{ offsetof(weft_attr, tfl_hybrid.symmetric), ATTR_BOOL, 1 },
};

static const struct attr_saved tfl_quotient_saved[] = {
	{ offsetof(weft_attr, tfl_quotient.a_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_quotient.b_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_quotient.y_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_quotient.multiplier), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_quotient.shift), ATTR_I32, 1 },
};

static const struct attr_limit tfl_quotient_limit[] = {
	{ "multiplier", offsetof(weft_attr, tfl_quotient.multiplier), ATTR_I32, 1, 4, 0, INT64_MAX },
	{ "shift", offsetof(weft_attr, tfl_quotient.shift), ATTR_I32, 1, 4, -31, 30 },
};

static const struct attr_zero_point tfl_quotient_zero_point[] = {
	{ "operand 0", offsetof(weft_attr, tfl_quotient.a_zp), ATTR_NONE, 0 },
	{ "operand 1", offsetof(weft_attr, tfl_quotient.b_zp), ATTR_NONE, 1 },
	{ "result", offsetof(weft_attr, tfl_quotient.y_zp), ATTR_NONE, ATTR_RESULT },
};

static const struct attr_saved tfl_log_softmax_saved[] = {
	{ offsetof(weft_attr, tfl_softmax.x_scale), ATTR_F32, 1 },
};

static const struct attr_saved tfl_l2_normalization_saved[] = {
	{ offsetof(weft_attr, tfl_norm.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_norm.left), ATTR_I32, 1 },
};

static const struct attr_zero_point tfl_l2_normalization_zero_point[] = {
	{ "operand 0", offsetof(weft_attr, tfl_norm.x_zp), ATTR_NONE, 0 },
};

static const struct attr_saved tfl_resize_bilinear_saved[] = {
	{ offsetof(weft_attr, tfl_resize.align_corners), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, tfl_resize.half_pixel), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, tfl_resize.raw_uint8), ATTR_BOOL, 1 },
};

static const struct attr_saved tfl_lstm_saved[] = {
	{ offsetof(weft_attr, tfl_lstm.time_major), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, tfl_lstm.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_lstm.y_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_lstm.cell_power), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_lstm.cell_clip), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_lstm.x_gate), ATTR_I32, 8 },
	{ offsetof(weft_attr, tfl_lstm.h_gate), ATTR_I32, 8 },
	{ offsetof(weft_attr, tfl_lstm.forget_cell), ATTR_I32, 2 },
	{ offsetof(weft_attr, tfl_lstm.input_cell), ATTR_I32, 2 },
	{ offsetof(weft_attr, tfl_lstm.hidden), ATTR_I32, 2 },
};

static const struct attr_limit tfl_lstm_limit[] = {
	{ "cell_power", offsetof(weft_attr, tfl_lstm.cell_power), ATTR_I32, 1, 4, -30, 0 },
	{ "cell_clip", offsetof(weft_attr, tfl_lstm.cell_clip), ATTR_I32, 1, 4, 0, 32767 },
	{ "x_gate's multiplier", offsetof(weft_attr, tfl_lstm.x_gate), ATTR_I32, 4, 8, 0, 2147483647 },
	{ "x_gate's shift", offsetof(weft_attr, tfl_lstm.x_gate) + 4, ATTR_I32, 4, 8, -31, 30 },
	{ "h_gate's multiplier", offsetof(weft_attr, tfl_lstm.h_gate), ATTR_I32, 4, 8, 0, 2147483647 },
	{ "h_gate's shift", offsetof(weft_attr, tfl_lstm.h_gate) + 4, ATTR_I32, 4, 8, -31, 30 },
	{ "forget_cell's multiplier", offsetof(weft_attr, tfl_lstm.forget_cell), ATTR_I32, 1, 8, 0, 2147483647 },
	{ "forget_cell's shift", offsetof(weft_attr, tfl_lstm.forget_cell) + 4, ATTR_I32, 1, 8, -31, 30 },
	{ "input_cell's multiplier", offsetof(weft_attr, tfl_lstm.input_cell), ATTR_I32, 1, 8, 0, 2147483647 },
	{ "input_cell's shift", offsetof(weft_attr, tfl_lstm.input_cell) + 4, ATTR_I32, 1, 8, -31, 30 },
	{ "hidden's multiplier", offsetof(weft_attr, tfl_lstm.hidden), ATTR_I32, 1, 8, 0, 2147483647 },
	{ "hidden's shift", offsetof(weft_attr, tfl_lstm.hidden) + 4, ATTR_I32, 1, 8, -31, 30 },
};

static const struct attr_zero_point tfl_lstm_zero_point[] = {
	{ "input", offsetof(weft_attr, tfl_lstm.x_zp), ATTR_NONE, 0 },
	{ "result", offsetof(weft_attr, tfl_lstm.y_zp), ATTR_NONE, ATTR_RESULT },
};

static const struct attr_saved tfl_logistic_saved[] = {
	{ offsetof(weft_attr, quant.x_scale), ATTR_F32, 1 },
	{ offsetof(weft_attr, quant.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, quant.y_scale), ATTR_F32, 1 },
	{ offsetof(weft_attr, quant.y_zp), ATTR_I32, 1 },
};

static const struct attr_zero_point tfl_logistic_zero_point[] = {
	{ "operand 0", offsetof(weft_attr, quant.x_zp), ATTR_NONE, 0 },
	{ "result", offsetof(weft_attr, quant.y_zp), ATTR_NONE, ATTR_RESULT },
};

static const struct attr_saved tfl_tanh_saved[] = {
	{ offsetof(weft_attr, quant.x_scale), ATTR_F32, 1 },
	{ offsetof(weft_attr, quant.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, quant.y_scale), ATTR_F32, 1 },
	{ offsetof(weft_attr, quant.y_zp), ATTR_I32, 1 },
};

static const struct attr_zero_point tfl_tanh_zero_point[] = {
	{ "operand 0", offsetof(weft_attr, quant.x_zp), ATTR_NONE, 0 },
};

static const struct attr_saved tfl_quantize_saved[] = {
	{ offsetof(weft_attr, quant.x_scale), ATTR_F32, 1 },
	{ offsetof(weft_attr, quant.x_zp), ATTR_I32, 1 },
	{ offsetof(weft_attr, quant.y_scale), ATTR_F32, 1 },
	{ offsetof(weft_attr, quant.y_zp), ATTR_I32, 1 },
};

static const struct attr_zero_point tfl_quantize_zero_point[] = {
	{ "result", offsetof(weft_attr, quant.y_zp), ATTR_NONE, ATTR_RESULT },
};

static const struct attr_saved tfl_custom_saved[] = {
	{ offsetof(weft_attr, tfl_custom.n_in), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_custom.absent), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_custom.unsigned_in), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_custom.unsigned_out), ATTR_I32, 1 },
	{ offsetof(weft_attr, tfl_custom.x_scale), ATTR_F32, 16 },
	{ offsetof(weft_attr, tfl_custom.x_zp), ATTR_I32, 16 },
	{ offsetof(weft_attr, tfl_custom.y_scale), ATTR_F32, 8 },
	{ offsetof(weft_attr, tfl_custom.y_zp), ATTR_I32, 8 },
};

static const struct attr_limit tfl_custom_limit[] = {
	{ "n_in", offsetof(weft_attr, tfl_custom.n_in), ATTR_I32, 1, 4, 0, 16 },
	{ "absent", offsetof(weft_attr, tfl_custom.absent), ATTR_I32, 1, 4, 0, 65535 },
	{ "unsigned_in", offsetof(weft_attr, tfl_custom.unsigned_in), ATTR_I32, 1, 4, 0, 65535 },
	{ "unsigned_out", offsetof(weft_attr, tfl_custom.unsigned_out), ATTR_I32, 1, 4, 0, 255 },
};

static const struct attr_saved onnx_requant_saved[] = {
	{ offsetof(weft_attr, onnx.saturate), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, onnx.type), ATTR_I32, 1 },
};

static const struct attr_saved onnx_cast_saved[] = {
	{ offsetof(weft_attr, onnx.saturate), ATTR_BOOL, 1 },
	{ offsetof(weft_attr, onnx.scale_round), ATTR_I32, 1 },
};

static const struct attr_limit onnx_cast_limit[] = {
	{ "scale_round", offsetof(weft_attr, onnx.scale_round), ATTR_I32, 1, 4, 0, 2 },
};

static const struct attr_saved onnx_node_saved[] = {
	{ offsetof(weft_attr, onnx_node.kind), ATTR_I32, 1 },
	{ offsetof(weft_attr, onnx_node.opset), ATTR_I32, 1 },
	{ offsetof(weft_attr, onnx_node.n_in), ATTR_I32, 1 },
	{ offsetof(weft_attr, onnx_node.absent), ATTR_I64, 1 },
	{ offsetof(weft_attr, onnx_node.i), ATTR_I32, 60 },
	{ offsetof(weft_attr, onnx_node.f), ATTR_F32, 14 },
};

static const struct attr_limit onnx_node_limit[] = {
	{ "kind", offsetof(weft_attr, onnx_node.kind), ATTR_I32, 1, 4, 0, INT64_MAX },
	{ "opset", offsetof(weft_attr, onnx_node.opset), ATTR_I32, 1, 4, 1, INT64_MAX },
	{ "n_in", offsetof(weft_attr, onnx_node.n_in), ATTR_I32, 1, 4, 0, 65 },
};

static const struct attr_saved onnx_requant_shift_saved[] = {
	{ offsetof(weft_attr, requant_shift.shift), ATTR_I32, 1 },
	{ offsetof(weft_attr, requant_shift.min), ATTR_I32, 1 },
	{ offsetof(weft_attr, requant_shift.max), ATTR_I32, 1 },
};

static const struct attr_limit onnx_requant_shift_limit[] = {
	{ "shift", offsetof(weft_attr, requant_shift.shift), ATTR_I32, 1, 4, 0, 62 },
};

static const struct attr_saved pact_div_saved[] = {
	{ offsetof(weft_attr, pact_div.delta), ATTR_I32, 1 },
	{ offsetof(weft_attr, pact_div.eps), ATTR_I32, 1 },
	{ offsetof(weft_attr, pact_div.eta), ATTR_I32, 1 },
	{ offsetof(weft_attr, pact_div.truncate), ATTR_BOOL, 1 },
};

static const struct attr_limit pact_div_limit[] = {
	{ "delta", offsetof(weft_attr, pact_div.delta), ATTR_I32, 1, 4, 1, INT64_MAX },
	{ "eps", offsetof(weft_attr, pact_div.eps), ATTR_I32, 1, 4, 0, INT64_MAX },
	{ "eta", offsetof(weft_attr, pact_div.eta), ATTR_I32, 1, 4, 1, INT64_MAX },
};

static const struct attr_saved pact_softmax_saved[] = {
	{ offsetof(weft_attr, pact_softmax.a), ATTR_I32, 1 },
	{ offsetof(weft_attr, pact_softmax.b), ATTR_I32, 1 },
	{ offsetof(weft_attr, pact_softmax.log2), ATTR_I32, 1 },
	{ offsetof(weft_attr, pact_softmax.n_levels), ATTR_I32, 1 },
	{ offsetof(weft_attr, pact_softmax.c), ATTR_I64, 1 },
};

static const struct attr_limit pact_softmax_limit[] = {
	{ "a", offsetof(weft_attr, pact_softmax.a), ATTR_I32, 1, 4, 1, 32768 },
	{ "b", offsetof(weft_attr, pact_softmax.b), ATTR_I32, 1, 4, 1, 32768 },
	{ "log2", offsetof(weft_attr, pact_softmax.log2), ATTR_I32, 1, 4, 1, 32768 },
	{ "n_levels", offsetof(weft_attr, pact_softmax.n_levels), ATTR_I32, 1, 4, 2, 32768 },
	{ "c", offsetof(weft_attr, pact_softmax.c), ATTR_I64, 1, 8, 0, 70368744177664 },
};

static const struct attr_saved pact_ita_max_saved[] = {
	{ offsetof(weft_attr, pact_ita_max.group), ATTR_I32, 1 },
	{ offsetof(weft_attr, pact_ita_max.most), ATTR_I32, 1 },
};

static const struct attr_limit pact_ita_max_limit[] = {
	{ "group", offsetof(weft_attr, pact_ita_max.group), ATTR_I32, 1, 4, 1, INT64_MAX },
	{ "most", offsetof(weft_attr, pact_ita_max.most), ATTR_I32, 1, 4, 1, 255 },
};

#define ROWS(kind, rows) .kind = rows, .n_##kind = sizeof rows / sizeof *rows

const struct attr_op attr_ops[WEFT_N_OPS] = {
	[WEFT_OP_CONV2D] = { ROWS(saved, conv2d_saved), ROWS(limit, conv2d_limit), ROWS(zero_point, conv2d_zero_point), ROWS(tosa_field, conv2d_tosa_field), ROWS(tosa_arg, conv2d_tosa_arg) },
	[WEFT_OP_DEPTHWISE_CONV2D] = { ROWS(saved, conv2d_saved), ROWS(limit, conv2d_limit), ROWS(zero_point, conv2d_zero_point), ROWS(tosa_field, conv2d_tosa_field), ROWS(tosa_arg, conv2d_tosa_arg) },
	[WEFT_OP_TRANSPOSE_CONV2D] = { ROWS(saved, transpose_conv2d_saved), ROWS(zero_point, transpose_conv2d_zero_point), ROWS(tosa_field, transpose_conv2d_tosa_field), ROWS(tosa_arg, transpose_conv2d_tosa_arg) },
	[WEFT_OP_POPXL_CONV_POW2SCALED] = { ROWS(saved, popxl_conv_pow2scaled_saved), ROWS(limit, popxl_conv_pow2scaled_limit), ROWS(zero_point, popxl_conv_pow2scaled_zero_point) },
	[WEFT_OP_CONV3D] = { ROWS(saved, conv3d_saved), ROWS(zero_point, conv3d_zero_point), ROWS(tosa_field, conv3d_tosa_field), ROWS(tosa_arg, conv3d_tosa_arg) },
	[WEFT_OP_AVG_POOL2D] = { ROWS(saved, avg_pool2d_saved), ROWS(limit, avg_pool2d_limit), ROWS(zero_point, avg_pool2d_zero_point), ROWS(tosa_field, avg_pool2d_tosa_field), ROWS(tosa_arg, avg_pool2d_tosa_arg) },
	[WEFT_OP_MAX_POOL2D] = { ROWS(saved, max_pool2d_saved), ROWS(limit, max_pool2d_limit), ROWS(tosa_field, max_pool2d_tosa_field) },
	[WEFT_OP_FFT2D] = { ROWS(saved, fft2d_saved), ROWS(tosa_field, fft2d_tosa_field) },
	[WEFT_OP_RFFT2D] = { ROWS(saved, rfft2d_saved), ROWS(tosa_field, rfft2d_tosa_field) },
	[WEFT_OP_ARGMAX] = { ROWS(saved, argmax_saved), ROWS(limit, argmax_limit), ROWS(tosa_field, argmax_tosa_field) },
	[WEFT_OP_REDUCE_MAX] = { ROWS(saved, argmax_saved), ROWS(limit, argmax_limit), ROWS(tosa_field, argmax_tosa_field) },
	[WEFT_OP_REDUCE_MIN] = { ROWS(saved, argmax_saved), ROWS(limit, argmax_limit), ROWS(tosa_field, argmax_tosa_field) },
	[WEFT_OP_REDUCE_ALL] = { ROWS(saved, reduce_all_saved), ROWS(limit, reduce_all_limit), ROWS(tosa_field, reduce_all_tosa_field) },
	[WEFT_OP_REDUCE_ANY] = { ROWS(saved, reduce_all_saved), ROWS(limit, reduce_all_limit), ROWS(tosa_field, reduce_all_tosa_field) },
	[WEFT_OP_REDUCE_PRODUCT] = { ROWS(saved, reduce_all_saved), ROWS(limit, reduce_all_limit), ROWS(tosa_field, reduce_all_tosa_field) },
	[WEFT_OP_REDUCE_SUM] = { ROWS(saved, reduce_all_saved), ROWS(limit, reduce_all_limit), ROWS(tosa_field, reduce_all_tosa_field) },
	[WEFT_OP_CONCAT] = { ROWS(saved, reduce_all_saved), ROWS(limit, reduce_all_limit), ROWS(tosa_field, reduce_all_tosa_field) },
	[WEFT_OP_REVERSE] = { ROWS(saved, reduce_all_saved), ROWS(limit, reduce_all_limit), ROWS(tosa_field, reduce_all_tosa_field) },
	[WEFT_OP_MAXIMUM] = { ROWS(saved, maximum_saved), ROWS(limit, maximum_limit), ROWS(tosa_field, maximum_tosa_field) },
	[WEFT_OP_MINIMUM] = { ROWS(saved, maximum_saved), ROWS(limit, maximum_limit), ROWS(tosa_field, maximum_tosa_field) },
	[WEFT_OP_ARITHMETIC_RIGHT_SHIFT] = { ROWS(saved, arithmetic_right_shift_saved), ROWS(tosa_field, arithmetic_right_shift_tosa_field) },
	[WEFT_OP_NEGATE] = { ROWS(saved, negate_saved), ROWS(zero_point, negate_zero_point), ROWS(tosa_arg, negate_tosa_arg) },
	[WEFT_OP_TILE] = { ROWS(saved, tile_saved), ROWS(tosa_arg, tile_tosa_arg) },
	[WEFT_OP_RESHAPE] = { ROWS(tosa_arg, reshape_tosa_arg) },
	[WEFT_OP_RESIZE] = { ROWS(saved, resize_saved), ROWS(limit, resize_limit), ROWS(tosa_field, resize_tosa_field), ROWS(tosa_arg, resize_tosa_arg) },
	[WEFT_OP_MATMUL] = { ROWS(saved, matmul_saved), ROWS(zero_point, matmul_zero_point), ROWS(tosa_arg, matmul_tosa_arg) },
	[WEFT_OP_CLAMP] = { ROWS(saved, clamp_saved), ROWS(limit, clamp_limit), ROWS(tosa_field, clamp_tosa_field) },
	[WEFT_OP_MUL] = { ROWS(saved, mul_saved), ROWS(tosa_arg, mul_tosa_arg) },
	[WEFT_OP_PAD] = { ROWS(saved, pad_saved), ROWS(tosa_arg, pad_tosa_arg) },
	[WEFT_OP_SLICE] = { ROWS(saved, slice_saved), ROWS(tosa_arg, slice_tosa_arg) },
	[WEFT_OP_TRANSPOSE] = { ROWS(saved, transpose_saved), ROWS(tosa_field, transpose_tosa_field) },
	[WEFT_OP_RESCALE] = { ROWS(saved, rescale_saved), ROWS(zero_point, rescale_zero_point), ROWS(tosa_field, rescale_tosa_field), ROWS(tosa_arg, rescale_tosa_arg) },
	[WEFT_OP_COND_IF] = { ROWS(tosa_field, cond_if_tosa_field) },
	[WEFT_OP_WHILE_LOOP] = { ROWS(tosa_field, cond_if_tosa_field) },
	[WEFT_OP_VARIABLE_READ] = { ROWS(saved, variable_read_saved) },
	[WEFT_OP_VARIABLE_WRITE] = { ROWS(saved, variable_read_saved) },
	[WEFT_OP_TFL_SOFTMAX] = { ROWS(saved, tfl_softmax_saved) },
	[WEFT_OP_TFL_FUNCTION] = { ROWS(saved, tfl_function_saved), ROWS(limit, tfl_function_limit) },
	[WEFT_OP_TFL_HYBRID] = { ROWS(saved, tfl_hybrid_saved) },
	[WEFT_OP_TFL_QUOTIENT] = { ROWS(saved, tfl_quotient_saved), ROWS(limit, tfl_quotient_limit), ROWS(zero_point, tfl_quotient_zero_point) },
	[WEFT_OP_TFL_LOG_SOFTMAX] = { ROWS(saved, tfl_log_softmax_saved) },
	[WEFT_OP_TFL_L2_NORMALIZATION] = { ROWS(saved, tfl_l2_normalization_saved), ROWS(zero_point, tfl_l2_normalization_zero_point) },
	[WEFT_OP_TFL_RESIZE_BILINEAR] = { ROWS(saved, tfl_resize_bilinear_saved) },
	[WEFT_OP_TFL_LSTM] = { ROWS(saved, tfl_lstm_saved), ROWS(limit, tfl_lstm_limit), ROWS(zero_point, tfl_lstm_zero_point) },
	[WEFT_OP_TFL_LOGISTIC] = { ROWS(saved, tfl_logistic_saved), ROWS(zero_point, tfl_logistic_zero_point) },
	[WEFT_OP_TFL_TANH] = { ROWS(saved, tfl_tanh_saved), ROWS(zero_point, tfl_tanh_zero_point) },
	[WEFT_OP_TFL_DEQUANTIZE] = { ROWS(saved, tfl_tanh_saved), ROWS(zero_point, tfl_tanh_zero_point) },
	[WEFT_OP_TFL_QUANTIZE] = { ROWS(saved, tfl_quantize_saved), ROWS(zero_point, tfl_quantize_zero_point) },
	[WEFT_OP_TFL_REQUANTIZE] = { ROWS(saved, tfl_quantize_saved), ROWS(zero_point, tfl_quantize_zero_point) },
	[WEFT_OP_TFL_CUSTOM] = { ROWS(saved, tfl_custom_saved), ROWS(limit, tfl_custom_limit) },
	[WEFT_OP_ONNX_REQUANT] = { ROWS(saved, onnx_requant_saved) },
	[WEFT_OP_ONNX_QUANTIZE] = { ROWS(saved, onnx_requant_saved) },
	[WEFT_OP_ONNX_FAKE_CONVERT] = { ROWS(saved, onnx_requant_saved) },
	[WEFT_OP_ONNX_CAST] = { ROWS(saved, onnx_cast_saved), ROWS(limit, onnx_cast_limit) },
	[WEFT_OP_ONNX_NODE] = { ROWS(saved, onnx_node_saved), ROWS(limit, onnx_node_limit) },
	[WEFT_OP_ONNX_REQUANT_SHIFT] = { ROWS(saved, onnx_requant_shift_saved), ROWS(limit, onnx_requant_shift_limit) },
	[WEFT_OP_PACT_LAYER_NORM] = { ROWS(saved, onnx_requant_shift_saved), ROWS(limit, onnx_requant_shift_limit) },
	[WEFT_OP_PACT_DIV] = { ROWS(saved, pact_div_saved), ROWS(limit, pact_div_limit) },
	[WEFT_OP_PACT_SOFTMAX] = { ROWS(saved, pact_softmax_saved), ROWS(limit, pact_softmax_limit) },
	[WEFT_OP_PACT_ITA_MAX] = { ROWS(saved, pact_ita_max_saved), ROWS(limit, pact_ita_max_limit) },
};
