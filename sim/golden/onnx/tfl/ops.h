/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of TensorFlow Lite's operators, for the table of ONNX_NODE (sim/golden/onnx/ref/table.c). */
#ifndef WEFT_GOLDEN_ONNX_TFL_OPS_H
#define WEFT_GOLDEN_ONNX_TFL_OPS_H

#include "sim/golden/onnx/ref/ref.h"

ref_kernel tfl_sequence_lstm, tfl_sequence_lstm8, tfl_step_lstm8, tfl_sequence_rnn, tfl_non_max_suppression;
ref_kernel tfl_bitcast, tfl_embedding_sparse, tfl_gather, tfl_scatter, tfl_reduce_window, tfl_reduce_prod;
ref_kernel tfl_atan2, tfl_pow, tfl_div, tfl_top_k, tfl_bucketize, tfl_gelu, tfl_softmax, tfl_hybrid_matmul;

/*
 * Checks that operand k, one that the call has, is there and of type t with dimensions a and b (0: a vector of a). Returns 0 or -EINVAL.
 */
int tfl_need(struct ref *r, int k, weft_dtype t, int64_t a, int64_t b);

/*
 * Sets *first to operand k, the state of a recurrent layer before its first step, of type t and dimensions [1,batch,n]; to NULL if
 * the call does not have it. Returns 0 or -EINVAL.
 */
int tfl_find_state_operand(struct ref *r, int k, weft_dtype t, int64_t batch, int64_t n, const weft_tensor **first);

#endif
