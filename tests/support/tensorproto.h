/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ONNX's TensorProto, as far as node tests' input_<n>.pb and output_<n>.pb need
 * it: shape, type and raw_data (or int32_data, which small types may use).
 */
#ifndef WEFT_TESTS_TENSORPROTO_H
#define WEFT_TESTS_TENSORPROTO_H

#include <weft/tensor.h>

/* NULL: not there, not such a message, or a type that weft/tensor.h has not. */
weft_tensor *tensorproto_load(const char *path);

#endif
