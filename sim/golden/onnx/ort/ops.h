/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with ONNX Runtime's own arithmetic, for the table of ONNX_NODE (sim/golden/onnx/ref/table.c). */
#ifndef WEFT_GOLDEN_ONNX_ORT_OPS_H
#define WEFT_GOLDEN_ONNX_ORT_OPS_H

#include "sim/golden/onnx/ref/ref.h"

ref_kernel ort_dynamic_lstm, ort_dynamic_lstm_pairs, ort_lstm;
ref_kernel ort_pairs_matmul, ort_pairs_conv;
ref_kernel ort_sigmoid, ort_tanh_node, ort_softmax, ort_batch_norm, ort_instance_norm, ort_reduce;

#endif
