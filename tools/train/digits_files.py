# SPDX-License-Identifier: Apache-2.0
"""The demo network's layers as a .tflite or a .tosa file."""

import numpy as np

import fp8_net
import tflite_writer as tfl
import tosa_writer as tosa
from float_net import CONVS, N_CLASSES, N_FLAT, same_pad


def add_weights(model, name, layer):
    """The weight and bias tensors; returns their numbers."""
    n = len(layer["scale_w"])
    wide = layer["b"].dtype == np.int64
    w = model.add_tensor(name + "/weights", layer["w"].shape, tfl.INT8, layer["w"].tobytes(),
                         layer["scale_w"], [0] * n)
    b = model.add_tensor(name + "/bias", layer["b"].shape, tfl.INT64 if wide else tfl.INT32,
                         layer["b"].astype("<i8" if wide else "<i4").tobytes(), layer["scale_b"], [0] * n)
    return [w, b]


def add_activation(model, name, shape, qparams):
    return model.add_tensor(name, shape, model.dtype, None, [qparams[0]], [qparams[1]])


def tflite_bytes(description, dtype, layers, last_qparams):
    """dtype: of the activations; the first layer's x has the input's scale."""
    model = tfl.Model(description, dtype)
    first = at = add_activation(model, "image", [1, 8, 8, 1], layers[0]["x"])
    size = 8
    for i, (_, co, stride) in enumerate(CONVS):
        name = "conv%d" % (i + 1)
        weights = add_weights(model, name, layers[i])
        size = same_pad(size, stride)[2]
        y = add_activation(model, name, [1, size, size, co], layers[i]["y"])
        model.add_operator(tfl.CONV_2D, [at] + weights, [y], tfl.conv_options(stride, tfl.RELU))
        at = y
    shape = model.add_tensor("flat/shape", [2], tfl.INT32, np.array([-1, N_FLAT], "<i4").tobytes())
    flat = add_activation(model, "flat", [1, N_FLAT], layers[-1]["x"])
    model.add_operator(tfl.RESHAPE, [at, shape], [flat], tfl.reshape_options([-1, N_FLAT]))
    weights = add_weights(model, "dense", layers[-1])
    logits = add_activation(model, "logits", [1, N_CLASSES], layers[-1]["y"])
    model.add_operator(tfl.FULLY_CONNECTED, [flat] + weights, [logits],
                       tfl.fully_connected_options())
    last = add_activation(model, "probabilities", [1, N_CLASSES], last_qparams)
    model.add_operator(tfl.SOFTMAX, [logits], [last], tfl.softmax_options(1.0))
    return model.to_bytes([first], [last])


def add_conv(graph, name, x, zero, layer, shape, pad, stride):
    """CONV2D of float8 to fp16. shape: of the result."""
    w = layer["w"].reshape(len(layer["w"]), *([1, 1] if layer["w"].ndim == 2 else layer["w"].shape[1:3]), -1)
    weights = graph.add_tensor(name + "/weights", w.shape, tosa.FP8E4M3, fp8_net.codes(w).tobytes())
    bias = graph.add_tensor(name + "/bias", layer["b"].shape, tosa.FP16, layer["b"].astype("<f2").tobytes())
    y = graph.add_tensor(name, shape, tosa.FP16)
    graph.add_operator(tosa.CONV2D, [x, weights, bias, zero, zero], [y],
                       tosa.conv_attribute(pad, stride, tosa.FP16))
    return y


def add_reshape(graph, name, x, shape, dtype):
    y = graph.add_tensor(name, shape, dtype)
    graph.add_operator(tosa.RESHAPE, [x, graph.add_shape(name + "/shape", shape)], [y])
    return y


def add_relu(graph, name, x, shape):
    """CLAMP in fp16, so that the CAST that follows cannot overflow."""
    y = graph.add_tensor(name + "/relu", shape, tosa.FP16)
    graph.add_operator(tosa.CLAMP, [x], [y], tosa.clamp_attribute(0, fp8_net.MOST))
    z = graph.add_tensor(name + "/fp8", shape, tosa.FP8E4M3)
    graph.add_operator(tosa.CAST, [y], [z])
    return z


def tosa_bytes(layers):
    graph = tosa.Graph()
    first = at = graph.add_tensor("image", [1, 8, 8, 1], tosa.FP8E4M3)
    zero = graph.add_tensor("zero", [1], tosa.FP8E4M3, bytes(1))
    size = 8
    for i, (_, co, stride) in enumerate(CONVS):
        name = "conv%d" % (i + 1)
        before, after, size = same_pad(size, stride)
        shape = [1, size, size, co]
        y = add_conv(graph, name, at, zero, layers[i], shape, [before, after] * 2, stride)
        at = add_relu(graph, name, y, shape)
    flat = add_reshape(graph, "flat", at, [1, 1, 1, N_FLAT], tosa.FP8E4M3)
    dense = add_conv(graph, "dense", flat, zero, layers[-1], [1, 1, 1, N_CLASSES], [0] * 4, 1)
    last = add_reshape(graph, "logits", dense, [1, N_CLASSES], tosa.FP16)
    return graph.to_bytes([first], [last])
