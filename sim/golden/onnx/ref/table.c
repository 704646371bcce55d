/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators, their attributes, and the two ways to call one.
 *
 * Attributes are listed as NAME:TYPE=DEFAULT, in the order in which kernels
 * number them; a list takes nine places of integers. Types are weft_onnx_slot_type.
 * Rows are only ever added at the end: a saved network (.weft) holds their numbers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/golden/onnx/ref/window.h"
#include "sim/golden/onnx/ort/ops.h"
#include "sim/golden/onnx/tfl/ops.h"
#include "sim/golden/ops.h"

#define MS "com.microsoft"
#define ML "ai.onnx.ml"
#define TFL "tflite"           /* TensorFlow Lite's, sim/golden/onnx/tfl */
#define ORT "onnxruntime"      /* its own order of additions, chain.c and sim/golden/onnx/ort */
#define AVX2 "onnxruntime.avx2" /* its sums on x86-64 without VNNI, sim/golden/onnx/ort/pairs.c */
#define TRAIN "ai.onnx.preview.training"
#define MANY WEFT_ONNX_MAX_IN
#define WINDOW "auto_pad:e=NOTSET,SAME_UPPER,SAME_LOWER,VALID kernel_shape:I strides:I dilations:I pads:I "
#define RNN "direction:e=forward,reverse,bidirectional layout:i=0 linear_before_reset:i=0 input_forget:i=0 activations:E=" \
	"Sigmoid,Tanh,Relu,Affine,LeakyRelu,ThresholdedRelu,ScaledTanh,HardSigmoid,Elu,Softsign,Softplus " \
	"activation_alpha:F activation_beta:F clip:f=0"
#define REDUCE "axes:I keepdims:i=1 noop_with_empty_axes:i=0"

static const struct row {
	const char *domain, *name;
	ref_kernel *run;
	signed char least, most, out;
	const char *attributes;
} table[] = {
	{ "", "Add", ref_binary, 2, 2, 1, "" }, { "", "Sub", ref_binary, 2, 2, 1, "" }, { "", "Mul", ref_binary, 2, 2, 1, "" },
	{ "", "Div", ref_binary, 2, 2, 1, "" }, { "", "Pow", ref_binary, 2, 2, 1, "" }, { "", "Mod", ref_binary, 2, 2, 1, "fmod:i=0" },
	{ "", "And", ref_binary, 2, 2, 1, "" }, { "", "Or", ref_binary, 2, 2, 1, "" }, { "", "Xor", ref_binary, 2, 2, 1, "" },
	{ "", "BitwiseAnd", ref_binary, 2, 2, 1, "" }, { "", "BitwiseOr", ref_binary, 2, 2, 1, "" }, { "", "BitwiseXor", ref_binary, 2, 2, 1, "" },
	{ "", "BitShift", ref_bit_shift, 2, 2, 1, "direction:e=LEFT,RIGHT" },
	{ "", "Equal", ref_compare, 2, 2, 1, "" }, { "", "Greater", ref_compare, 2, 2, 1, "" }, { "", "GreaterOrEqual", ref_compare, 2, 2, 1, "" },
	{ "", "Less", ref_compare, 2, 2, 1, "" }, { "", "LessOrEqual", ref_compare, 2, 2, 1, "" },
	{ "", "Max", ref_variadic, 1, MANY, 1, "" }, { "", "Min", ref_variadic, 1, MANY, 1, "" }, { "", "Sum", ref_variadic, 1, MANY, 1, "" },
	{ "", "Mean", ref_variadic, 1, MANY, 1, "" },
	{ "", "Where", ref_where, 3, 3, 1, "" }, { "", "Clip", ref_clip, 1, 3, 1, "min:f=-inf max:f=inf" }, { "", "PRelu", ref_prelu, 2, 2, 1, "" },
	{ "", "Abs", ref_unary, 1, 1, 1, "" }, { "", "Acos", ref_unary, 1, 1, 1, "" }, { "", "Acosh", ref_unary, 1, 1, 1, "" },
	{ "", "Asin", ref_unary, 1, 1, 1, "" }, { "", "Asinh", ref_unary, 1, 1, 1, "" }, { "", "Atan", ref_unary, 1, 1, 1, "" },
	{ "", "Atanh", ref_unary, 1, 1, 1, "" }, { "", "BitwiseNot", ref_unary, 1, 1, 1, "" }, { "", "Ceil", ref_unary, 1, 1, 1, "" },
	{ "", "Cos", ref_unary, 1, 1, 1, "" }, { "", "Cosh", ref_unary, 1, 1, 1, "" }, { "", "Erf", ref_unary, 1, 1, 1, "" },
	{ "", "Exp", ref_unary, 1, 1, 1, "" }, { "", "Floor", ref_unary, 1, 1, 1, "" }, { "", "IsNaN", ref_unary, 1, 1, 1, "" },
	{ "", "IsInf", ref_unary, 1, 1, 1, "detect_negative:i=1 detect_positive:i=1" }, { "", "Log", ref_unary, 1, 1, 1, "" },
	{ "", "Neg", ref_unary, 1, 1, 1, "" }, { "", "Not", ref_unary, 1, 1, 1, "" }, { "", "Reciprocal", ref_unary, 1, 1, 1, "" },
	{ "", "Relu", ref_unary, 1, 1, 1, "" }, { "", "Round", ref_unary, 1, 1, 1, "" }, { "", "Sigmoid", ref_unary, 1, 1, 1, "" },
	{ "", "Sign", ref_unary, 1, 1, 1, "" }, { "", "Sin", ref_unary, 1, 1, 1, "" }, { "", "Sinh", ref_unary, 1, 1, 1, "" },
	{ "", "Softplus", ref_unary, 1, 1, 1, "" }, { "", "Softsign", ref_unary, 1, 1, 1, "" }, { "", "Sqrt", ref_unary, 1, 1, 1, "" },
	{ "", "Tan", ref_unary, 1, 1, 1, "" }, { "", "Tanh", ref_unary, 1, 1, 1, "" }, { "", "Mish", ref_unary, 1, 1, 1, "" },
	{ "", "HardSwish", ref_unary, 1, 1, 1, "" },
	{ "", "Elu", ref_param_unary, 1, 1, 1, "alpha:f=1" }, { "", "Celu", ref_param_unary, 1, 1, 1, "alpha:f=1" },
	{ "", "Selu", ref_param_unary, 1, 1, 1, "alpha:f=1.67326319217681884765625 gamma:f=1.05070102214813232421875" },
	{ "", "LeakyRelu", ref_param_unary, 1, 1, 1, "alpha:f=0.01" }, { "", "ThresholdedRelu", ref_param_unary, 1, 1, 1, "alpha:f=1" },
	{ "", "HardSigmoid", ref_param_unary, 1, 1, 1, "alpha:f=0.2 beta:f=0.5" }, { "", "Swish", ref_param_unary, 1, 1, 1, "alpha:f=1" },
	{ "", "Shrink", ref_param_unary, 1, 1, 1, "lambd:f=0.5 bias:f=0" }, { "", "Gelu", ref_param_unary, 1, 1, 1, "approximate:e=none,tanh" },
	{ "", "ReduceL1", ref_reduce, 1, 2, 1, REDUCE }, { "", "ReduceL2", ref_reduce, 1, 2, 1, REDUCE },
	{ "", "ReduceLogSum", ref_reduce, 1, 2, 1, REDUCE }, { "", "ReduceLogSumExp", ref_reduce, 1, 2, 1, REDUCE },
	{ "", "ReduceMax", ref_reduce, 1, 2, 1, REDUCE }, { "", "ReduceMean", ref_reduce, 1, 2, 1, REDUCE },
	{ "", "ReduceMin", ref_reduce, 1, 2, 1, REDUCE }, { "", "ReduceProd", ref_reduce, 1, 2, 1, REDUCE },
	{ "", "ReduceSum", ref_reduce, 1, 2, 1, REDUCE }, { "", "ReduceSumSquare", ref_reduce, 1, 2, 1, REDUCE },
	{ "", "ArgMax", ref_arg, 1, 1, 1, "axis:i=0 keepdims:i=1 select_last_index:i=0" },
	{ "", "ArgMin", ref_arg, 1, 1, 1, "axis:i=0 keepdims:i=1 select_last_index:i=0" },
	{ "", "CumSum", ref_cumsum, 2, 2, 1, "exclusive:i=0 reverse:i=0" }, { "", "CumProd", ref_cumsum, 2, 2, 1, "exclusive:i=0 reverse:i=0" },
	{ "", "Softmax", ref_softmax, 1, 1, 1, "axis:i" }, { "", "LogSoftmax", ref_softmax, 1, 1, 1, "axis:i" },
	{ "", "Hardmax", ref_softmax, 1, 1, 1, "axis:i" },
	{ "", "TopK", ref_top_k, 1, 2, 2, "axis:i=-1 largest:i=1 sorted:i=1 k:i" },
	{ "", "NonZero", ref_non_zero, 1, 1, 1, "" }, { "", "Unique", ref_unique, 1, 1, 4, "axis:i sorted:i=1" },
	{ "", "Compress", ref_compress, 2, 2, 1, "axis:i" },
	{ "", "Gather", ref_gather, 2, 2, 1, "axis:i=0" }, { "", "GatherElements", ref_gather_elements, 2, 2, 1, "axis:i=0" },
	{ "", "GatherND", ref_gather_nd, 2, 2, 1, "batch_dims:i=0" },
	{ "", "ScatterElements", ref_scatter_elements, 3, 3, 1, "axis:i=0 reduction:e=none,add,mul,max,min" },
	{ "", "Scatter", ref_scatter_elements, 3, 3, 1, "axis:i=0 reduction:e=none" },
	{ "", "ScatterND", ref_scatter_nd, 3, 3, 1, "reduction:e=none,add,mul,max,min" },
	{ "", "TensorScatter", ref_tensor_scatter, 2, 3, 1, "axis:i=-2 mode:e=linear,circular" },
	{ "", "OneHot", ref_one_hot, 3, 3, 1, "axis:i=-1" },
	{ "", "ReverseSequence", ref_reverse_sequence, 2, 2, 1, "batch_axis:i=1 time_axis:i=0" },
	{ "", "Reshape", ref_reshape, 1, 2, 1, "allowzero:i=0 shape:I" }, { "", "Transpose", ref_transpose, 1, 1, 1, "perm:I" },
	{ "", "Concat", ref_concat, 1, MANY, 1, "axis:i=1" }, { "", "Slice", ref_slice, 1, 5, 1, "starts:I ends:I axes:I" },
	{ "", "Split", ref_split_node, 1, 2, 64, "axis:i=0 num_outputs:i split:I" },
	{ "", "Pad", ref_pad, 1, 4, 1, "mode:e=constant,reflect,edge,wrap pads:I value:f=0" },
	{ "", "Tile", ref_tile, 2, 2, 1, "" }, { "", "Expand", ref_expand, 2, 2, 1, "" }, { "", "Flatten", ref_flatten, 1, 1, 1, "axis:i=1" },
	{ "", "Squeeze", ref_squeeze, 1, 2, 1, "axes:I" }, { "", "Unsqueeze", ref_squeeze, 1, 2, 1, "axes:I" },
	{ "", "Identity", ref_identity, 1, 1, 1, "" }, { "", "Dropout", ref_identity, 1, 3, 2, "" },
	{ "", "Cast", ref_cast, 1, 1, 1, "to:i saturate:i=1 round_mode:e=up,down,nearest" },
	{ "", "CastLike", ref_cast, 2, 2, 1, "to:i saturate:i=1 round_mode:e=up,down,nearest" },
	{ "", "ConstantOfShape", ref_constant_of_shape, 1, 2, 1, "value:t" }, { "", "Range", ref_range, 3, 3, 1, "" },
	{ "", "EyeLike", ref_eye_like, 1, 1, 1, "dtype:i k:i=0" }, { "", "Trilu", ref_trilu, 1, 2, 1, "upper:i=1" },
	{ "", "CenterCropPad", ref_center_crop_pad, 2, 2, 1, "axes:I" },
	{ "", "Shape", ref_shape_node, 1, 1, 1, "start:i=0 end:i" }, { "", "Size", ref_shape_node, 1, 1, 1, "" },
	{ "", "DepthToSpace", ref_depth_space, 1, 1, 1, "blocksize:i=1 mode:e=DCR,CRD" }, { "", "SpaceToDepth", ref_depth_space, 1, 1, 1, "blocksize:i=1" },
	{ "", "MaxPool", ref_pool, 1, 1, 2, WINDOW "ceil_mode:i=0 storage_order:i=0" },
	{ "", "AveragePool", ref_pool, 1, 1, 1, WINDOW "ceil_mode:i=0 count_include_pad:i=0" },
	{ "", "LpPool", ref_pool, 1, 1, 1, WINDOW "ceil_mode:i=0 p:i=2" },
	{ "", "GlobalMaxPool", ref_global_pool, 1, 1, 1, "" }, { "", "GlobalAveragePool", ref_global_pool, 1, 1, 1, "" },
	{ "", "GlobalLpPool", ref_global_pool, 1, 1, 1, "p:i=2" },
	{ "", "MaxUnpool", ref_max_unpool, 2, 3, 1, "kernel_shape:I strides:I pads:I" },
	{ "", "Col2Im", ref_col2im, 3, 3, 1, "dilations:I pads:I strides:I" },
	{ "", "LRN", ref_lrn, 1, 1, 1, "alpha:f=0.0001 beta:f=0.75 bias:f=1 size:i=1" },
	{ "", "LayerNormalization", ref_layer_norm, 2, 3, 3, "axis:i=-1 stash_type:i=1 epsilon:f=1e-5" },
	{ "", "RMSNormalization", ref_rms_norm, 2, 2, 1, "axis:i=-1 stash_type:i=1 epsilon:f=1e-5" },
	{ "", "BatchNormalization", ref_batch_norm, 5, 5, 3, "training_mode:i=0 epsilon:f=1e-5 momentum:f=0.9" },
	{ "", "InstanceNormalization", ref_group_norm, 3, 3, 1, "epsilon:f=1e-5 num_groups:i=0" },
	{ "", "GroupNormalization", ref_group_norm, 3, 3, 1, "epsilon:f=1e-5 num_groups:i=0" },
	{ "", "MeanVarianceNormalization", ref_mean_variance, 1, 1, 1, "axes:I" }, { "", "LpNormalization", ref_lp_norm, 1, 1, 1, "axis:i=-1 p:i=2" },
	{ "", "MatMul", ref_matmul, 2, 2, 1, "" }, { "", "Gemm", ref_gemm, 2, 3, 1, "transA:i=0 transB:i=0 alpha:f=1 beta:f=1" },
	{ "", "Einsum", ref_einsum, 1, MANY, 1, "equation:s" },
	{ "", "Conv", ref_conv, 2, 3, 1, WINDOW "group:i=1" },
	{ "", "ConvTranspose", ref_conv_transpose, 2, 3, 1, WINDOW "group:i=1 output_padding:I output_shape:I" },
	{ "", "DeformConv", ref_deform_conv, 3, 5, 1, WINDOW "group:i=1 offset_group:i=1" }, { "", "Det", ref_det, 1, 1, 1, "" },
	{ "", "LSTM", ref_lstm, 3, 8, 3, RNN }, { "", "GRU", ref_gru, 3, 6, 2, RNN }, { "", "RNN", ref_rnn, 3, 6, 2, RNN },
	{ "", "Attention", ref_attention, 3, 7, 4, "is_causal:i=0 q_num_heads:i=0 kv_num_heads:i=0 qk_matmul_output_mode:i=0 softmax_precision:i=0 scale:f=nan softcap:f=0" },
	{ "", "RotaryEmbedding", ref_rotary, 3, 4, 1, "interleaved:i=0 num_heads:i=0 rotary_embedding_dim:i=0" },
	{ "", "NegativeLogLikelihoodLoss", ref_nll_loss, 2, 3, 1, "reduction:e=mean,sum,none ignore_index:i" },
	{ "", "SoftmaxCrossEntropyLoss", ref_softmax_loss, 2, 3, 2, "reduction:e=mean,sum,none ignore_index:i" },
	{ "", "GridSample", ref_grid_sample, 2, 2, 1, "mode:e=linear,bilinear,nearest,cubic,bicubic padding_mode:e=zeros,border,reflection align_corners:i=0" },
	{ "", "AffineGrid", ref_affine_grid, 2, 2, 1, "align_corners:i=0" },
	{ "", "RoiAlign", ref_roi_align, 3, 3, 1, "mode:e=avg,max coordinate_transformation_mode:e=half_pixel,output_half_pixel output_height:i=1 output_width:i=1 sampling_ratio:i=0 spatial_scale:f=1" },
	{ "", "NonMaxSuppression", ref_nms, 2, 5, 1, "center_point_box:i=0" },
	{ "", "DFT", ref_dft, 1, 3, 1, "axis:i inverse:i=0 onesided:i=0" }, { "", "STFT", ref_stft, 2, 4, 1, "onesided:i=1" },
	{ "", "HannWindow", ref_window, 1, 1, 1, "periodic:i=1 output_datatype:i=1" }, { "", "HammingWindow", ref_window, 1, 1, 1, "periodic:i=1 output_datatype:i=1" },
	{ "", "BlackmanWindow", ref_window, 1, 1, 1, "periodic:i=1 output_datatype:i=1" }, { "", "MelWeightMatrix", ref_mel, 5, 5, 1, "output_datatype:i=1" },
	{ TRAIN, "Adagrad", ref_adagrad, 5, MANY, 64, "decay_factor:f=0 epsilon:f=1e-6 norm_coefficient:f=0" },
	{ TRAIN, "Adam", ref_adam, 6, MANY, 64, "alpha:f=0.9 beta:f=0.999 epsilon:f=1e-6 norm_coefficient:f=0 norm_coefficient_post:f=0" },
	{ TRAIN, "Momentum", ref_momentum, 5, MANY, 64, "alpha:f=0 beta:f=0 norm_coefficient:f=0 mode:e=standard,nesterov" },
	{ "", "QuantizeLinear", ref_quantize, 2, 3, 1, "axis:i=1 block_size:i=0 saturate:i=1 output_dtype:i=0 precision:i=0" },
	{ "", "DequantizeLinear", ref_dequantize, 2, 3, 1, "axis:i=1 block_size:i=0 output_dtype:i=0" },
	{ "", "DynamicQuantizeLinear", ref_dynamic_quantize, 1, 1, 3, "" },
	{ "", "MatMulInteger", ref_matmul_integer, 2, 4, 1, "" }, { "", "ConvInteger", ref_conv_integer, 2, 4, 1, WINDOW "group:i=1" },
	{ "", "QLinearMatMul", ref_qlinear_matmul, 8, 8, 1, "" },
	{ "", "TfIdfVectorizer", ref_tfidf, 1, 1, 1, "mode:e=TF,IDF,TFIDF max_gram_length:i=1 max_skip_count:i=0 min_gram_length:i=1 ngram_counts:t ngram_indexes:t pool_int64s:t weights:t" },
	{ ML, "Binarizer", ref_binarizer, 1, 1, 1, "threshold:f=0" }, { ML, "ArrayFeatureExtractor", ref_feature_extractor, 2, 2, 1, "" },
	{ MS, "MatMulNBits", ref_matmul_nbits, 3, 6, 1, "K:i=0 N:i=0 bits:i=4 block_size:i=0 accuracy_level:i=0" },
	{ MS, "SkipLayerNormalization", ref_skip_layer_norm, 3, 5, 4, "epsilon:f=1e-12" },
	{ MS, "SkipSimplifiedLayerNormalization", ref_skip_layer_norm, 3, 4, 4, "epsilon:f=1e-12" },
	{ "", "SimplifiedLayerNormalization", ref_rms_norm, 2, 2, 2, "axis:i=-1 stash_type:i=1 epsilon:f=1e-5" },
	{ MS, "RotaryEmbedding", ref_rotary, 4, 4, 1, "interleaved:i=0 num_heads:i=0 rotary_embedding_dim:i=0" },
	{ ML, "TreeEnsemble", ref_tree_ensemble, 1, 1, 1, "aggregate_function:i=1 n_targets:i=1 post_transform:i=0 leaf_targetids:t leaf_weights:t membership_values:t "
	  "nodes_falseleafs:t nodes_falsenodeids:t nodes_featureids:t nodes_missing_value_tracks_true:t nodes_modes:t nodes_splits:t nodes_trueleafs:t nodes_truenodeids:t tree_roots:t" },
	{ MS, "BiasGelu", ref_gelu, 2, 2, 1, "" }, { MS, "FastGelu", ref_gelu, 1, 2, 1, "" }, { MS, "QuickGelu", ref_gelu, 1, 1, 1, "alpha:f=1.702" },
	{ TFL, "SequenceLSTM", tfl_sequence_lstm, 1, 30, 2, "time_major:i=0 reverse:i=0 activation:i=4 symmetric:i=1 cell_clip:f=0 proj_clip:f=0" },
	{ TFL, "SequenceRNN", tfl_sequence_rnn, 4, 8, 1, "time_major:i=0 reverse:i=0 activation:i=4 symmetric:i=1" },
	{ TFL, "NonMaxSuppression", tfl_non_max_suppression, 5, 6, 3, "scores:i=1" },
	{ TFL, "Bitcast", tfl_bitcast, 1, 1, 1, "to:i=0 flip_x:i=0 flip_y:i=0" },
	{ TFL, "EmbeddingSparse", tfl_embedding_sparse, 5, 5, 1, "combiner:i=0" },
	{ TFL, "Gather", tfl_gather, 2, 2, 1, "window:I left_out:I map:I size:I index_dim:i=0" },
	{ TFL, "Scatter", tfl_scatter, 3, 3, 1, "window:I left_out:I map:I index_dim:i=0 how:i=0" },
	{ TFL, "ReduceWindow", tfl_reduce_window, 2, 2, 1, "size:I strides:I base:I dilations:I low:I high:I how:i=1" },
	{ TFL, "SequenceLSTM8", tfl_sequence_lstm8, 1, 25, 2, "time_major:i=0" },
	{ ORT, "MatMul", ref_chain_matmul, 2, 2, 1, "" }, { ORT, "Gemm", ref_chain_gemm, 2, 3, 1, "transA:i=0 transB:i=0 alpha:f=1 beta:f=1" },
	{ ORT, "Conv", ref_chain_conv, 2, 3, 1, WINDOW "group:i=1" },
	{ ORT, "LayerNormalization", ref_chain_layer_norm, 2, 3, 3, "axis:i=-1 stash_type:i=1 epsilon:f=1e-5" }, { ORT, "Erf", ref_chain_erf, 1, 1, 1, "" },
	{ TFL, "ReduceProd", tfl_reduce_prod, 1, 1, 1, "axes:I keepdims:i=0 x_zp:i=0 y_zp:i=0 multiplier:i=0 shift:i=31" },
	{ ORT, "AveragePool", ref_chain_average, 1, 1, 1, WINDOW "ceil_mode:i=0 count_include_pad:i=0" }, { ORT, "GlobalAveragePool", ref_chain_average_all, 1, 1, 1, "" },
	{ ORT, "Resize", ref_chain_resize, 1, 4, 1, "mode:e=nearest,linear,cubic coordinate_transformation_mode:e=half_pixel,asymmetric,align_corners,pytorch_half_pixel "
	  "antialias:i=0 keep_aspect_ratio_policy:e=stretch,not_larger,not_smaller axes:I" },
	{ TFL, "StepLSTM8", tfl_step_lstm8, 13, 13, 1, "" },
	{ MS, "DynamicQuantizeLSTM", ort_dynamic_lstm, 3, 12, 3, RNN },
	{ ORT, "Sigmoid", ort_sigmoid, 1, 1, 1, "" }, { ORT, "Tanh", ort_tanh_node, 1, 1, 1, "" },
	{ ORT, "ConvTranspose", ref_chain_conv_transpose, 2, 3, 1, WINDOW "group:i=1 output_padding:I output_shape:I" },
	{ ORT, "Softmax", ort_softmax, 1, 1, 1, "axis:i" }, { ORT, "LogSoftmax", ort_softmax, 1, 1, 1, "axis:i" },
	{ ORT, "BatchNormalization", ort_batch_norm, 5, 5, 1, "training_mode:i=0 epsilon:f=1e-5 momentum:f=0.9" },
	{ ORT, "InstanceNormalization", ort_instance_norm, 3, 3, 1, "epsilon:f=1e-5" },
	{ ORT, "ReduceMean", ort_reduce, 1, 2, 1, REDUCE }, { ORT, "ReduceSum", ort_reduce, 1, 2, 1, REDUCE },
	{ ORT, "LSTM", ort_lstm, 3, 8, 3, RNN },
	{ AVX2, "MatMulInteger", ort_pairs_matmul, 2, 4, 1, "" }, { AVX2, "ConvInteger", ort_pairs_conv, 2, 4, 1, WINDOW "group:i=1" },
	{ AVX2, "DynamicQuantizeLSTM", ort_dynamic_lstm_pairs, 3, 12, 3, RNN },
	{ TFL, "Atan2", tfl_atan2, 2, 2, 1, "" }, { TFL, "Pow", tfl_pow, 2, 2, 1, "" }, { TFL, "Div", tfl_div, 2, 2, 1, "" },
	{ TFL, "TopK", tfl_top_k, 1, 1, 2, "k:i=1" }, { TFL, "Bucketize", tfl_bucketize, 2, 2, 1, "" },
	{ TFL, "Gelu", tfl_gelu, 1, 1, 1, "approximate:i=0" }, { TFL, "Softmax", tfl_softmax, 1, 1, 1, "beta:f=1" },
	{ TFL, "HybridMatMul", tfl_hybrid_matmul, 3, 3, 1, "asymmetric:i=0 fold:i=0" },
};
#define N_ROWS ((int)(sizeof table / sizeof table[0]))

int weft_onnx_ref_find(const char *domain, const char *name)
{
	if (!strcmp(domain, "ai.onnx"))
		domain = "";
	for (int i = 0; i < N_ROWS; i++)
		if (!strcmp(table[i].name, name) && !strcmp(table[i].domain, domain))
			return i;
	return -1;
}

const char *weft_onnx_ref_name(int kind)
{
	return kind >= 0 && kind < N_ROWS ? table[kind].name : "?";
}

void weft_onnx_ref_arity(int kind, int *least, int *most, int *n_out)
{
	*least = table[kind].least;
	*most = table[kind].most;
	*n_out = table[kind].out;
}

static int places_i(enum weft_onnx_slot_type t)
{
	return t == WEFT_ONNX_INTS || t == WEFT_ONNX_ENUMS ? 1 + WEFT_ONNX_LIST : t == WEFT_ONNX_FLOAT || t == WEFT_ONNX_STRING || t == WEFT_ONNX_TENSOR ? 0 : 1;
}

static int places_f(enum weft_onnx_slot_type t)
{
	return t == WEFT_ONNX_FLOATS ? WEFT_ONNX_FLOAT_LIST : t == WEFT_ONNX_FLOAT ? 1 : 0;
}

int weft_onnx_ref_slot(int kind, int k, struct weft_onnx_slot *s)
{
	const char *p = table[kind].attributes;

	*s = (struct weft_onnx_slot){ 0 };
	for (; *p; k--) {
		const char *colon = strchr(p, ':'), *end = p + strcspn(p, " ");
		s->i += s->type ? places_i(s->type) : 0;
		s->f += s->type ? places_f(s->type) : 0;
		s->type = (enum weft_onnx_slot_type)colon[1];
		s->otherwise = colon[2] == '=' && s->type != WEFT_ONNX_ENUM ? strtod(colon + 3, NULL) : s->type == WEFT_ONNX_INT ? WEFT_ONNX_ABSENT : 0;
		s->choices = colon[2] == '=' ? colon + 3 : "";
		snprintf(s->name, sizeof s->name, "%.*s", (int)(colon - p), p);
		if (!k)
			return 1;
		p = *end ? end + 1 : end;
	}
	return 0;
}

/* ---- calls ---- */

static int start(struct ref *r, const struct weft_attr_onnx_node *a, const weft_tensor *const *x, int n_x, int n_y, char *msg)
{
	int have = 0;

	*r = (struct ref){ .a = a, .name = weft_onnx_ref_name(a->kind), .msg = msg, .which = -1, .n_y = n_y };
	if (a->kind < 0 || a->kind >= N_ROWS)
		return ref_fail(r, -EINVAL, "operator %d is unknown", (int)a->kind);
	if (a->n_in < 0 || a->n_in > WEFT_ONNX_MAX_IN || n_y < 1 || n_y > table[a->kind].out)
		return ref_fail(r, -EINVAL, "%d inputs, %d results", (int)a->n_in, n_y);
	for (int k = 0; k < a->n_in; k++) {
		if (k < 64 && ((uint64_t)a->absent >> k & 1))
			continue;
		if (have == n_x)
			return ref_fail(r, -EINVAL, "%d inputs are not enough", n_x);
		r->place[k] = have;
		r->x[k] = x[have++];
		r->n_x = k + 1;
	}
	for (int k = 0; k < table[a->kind].least; k++)
		if (ref_need(r, k))
			return -EINVAL;
	return have == n_x ? 0 : ref_fail(r, -EINVAL, "%d inputs, %d expected", n_x, have);
}

int weft_onnx_ref_shapes(const struct weft_attr_onnx_node *a, const weft_tensor *const *x, int n_x, weft_tensor *y, int n_y,
                         int *which, char *msg)
{
	struct ref r;
	int err = start(&r, a, x, n_x, n_y, msg);

	r.shapes = true;
	for (int k = 0; k < n_y && k < WEFT_ONNX_MAX_OUT; k++) {
		y[k] = (weft_tensor){ .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
		r.y[k] = &y[k];
	}
	if (!err)
		err = table[a->kind].run(&r);
	for (int k = 0; k < n_y && !err; k++)
		if (!y[k].dtype)
			err = ref_fail(&r, -ENOTSUP, "result %d", k);
	*which = r.which;
	return err;
}

int weft_onnx_ref_run(const struct weft_attr_onnx_node *a, const weft_tensor *const *x, int n_x, weft_tensor *const *y, int n_y,
                      char *msg)
{
	struct ref r;
	int err = start(&r, a, x, n_x, n_y, msg);

	for (int k = 0; k < n_y && k < WEFT_ONNX_MAX_OUT; k++)
		r.y[k] = y[k];
	return err ? err : table[a->kind].run(&r);
}

/* ---- work ---- */

/* What a kernel reads more than once. */
enum again {
	NOTHING,
	LINES,          /* for each element of the results a line of operand 0 */
	ALL,            /* for each element of operands and results all of the largest operand, or a window */
	PRODUCT,        /* each element of an operand with each of all others */
	PAIRS,          /* each element with each, also to know the shape */
};

/* Returns what that kernel reads more than once. */
static enum again again_of(ref_kernel *run)
{
	static const struct { ref_kernel *run; enum again again; } list[] = {
		{ ref_matmul, LINES }, { ref_gemm, LINES }, { ref_matmul_integer, LINES }, { ref_qlinear_matmul, LINES }, { ref_matmul_nbits, LINES }, { ort_pairs_matmul, LINES },
		{ ref_chain_matmul, LINES }, { ref_chain_gemm, LINES }, { ref_top_k, LINES }, { tfl_top_k, LINES }, { tfl_hybrid_matmul, LINES },
		{ ref_einsum, PRODUCT },
		{ ref_conv, ALL }, { ref_conv_transpose, ALL }, { ref_deform_conv, ALL }, { ref_conv_integer, ALL }, { ort_pairs_conv, ALL }, { ref_chain_conv, ALL }, { ref_chain_conv_transpose, ALL }, { ref_pool, ALL },
		{ ref_chain_average, ALL }, { ref_lrn, ALL }, { ref_det, ALL }, { ref_col2im, ALL }, { ref_chain_resize, ALL }, { ref_roi_align, ALL },
		{ ref_lstm, ALL }, { ref_gru, ALL }, { ref_rnn, ALL }, { ort_dynamic_lstm, ALL }, { ort_dynamic_lstm_pairs, ALL }, { ort_lstm, ALL }, { ref_attention, ALL }, { ref_dft, ALL }, { ref_stft, ALL }, { ref_tfidf, ALL },
		{ ref_tree_ensemble, ALL }, { tfl_sequence_lstm, ALL }, { tfl_sequence_rnn, ALL }, { tfl_sequence_lstm8, ALL }, { tfl_reduce_window, ALL },
		{ tfl_non_max_suppression, ALL }, { ref_unique, PAIRS }, { ref_nms, PAIRS },
	};

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
		if (list[i].run == run)
			return list[i].again;
	return NOTHING;
}

/* Places of the window among the node's attributes, 1 if it has none. */
static double window_places(const struct weft_attr_onnx_node *a)
{
	double n = 1;

	if (strncmp(table[a->kind].attributes, WINDOW, sizeof WINDOW - 1))
		return n;
	for (int d = 0; d < a->i[KERNEL] && d < WEFT_ONNX_LIST; d++)
		n *= (double)a->i[KERNEL + 1 + d];
	return n;
}

double weft_onnx_ref_work(const struct weft_attr_onnx_node *a, const weft_tensor *const *x, int n_x, const weft_tensor *y, int n_y)
{
	const enum again again = a->kind < 0 || a->kind >= N_ROWS ? NOTHING : again_of(table[a->kind].run);
	double in = 0, out = 0, most = 1, all = 1, line = 1;

	for (int k = 0; k < n_x; k++) {
		const double n = (double)REF_N(x[k]);
		if (!n_y && (again != PAIRS || !x[k]->data))
			return 0;
		in += n;
		all *= n;
		most = fmax(most, n);
	}
	for (int k = 0; k < n_y; k++)
		out += (double)REF_N(&y[k]);
	for (int d = 0; n_x && d < x[0]->rank; d++)
		line = fmax(line, (double)x[0]->dim[d]);
	switch (again) {
	case LINES: return in + out * line;
	case ALL: return (in + out) * fmax(most, window_places(a));
	case PRODUCT: return in + out + all;
	case PAIRS: return out + in * most;
	default: return in + out;
	}
}

int weft_golden_onnx_node(const struct weft_call *c)
{
	int err = weft_onnx_ref_run(&c->attr->onnx_node, c->x, c->n_x, c->y, c->n_y, c->msg);

	return err == -EAGAIN ? -EINVAL : err;
}
