#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the networks of one operator that `make bench-speed` times beside other runtimes.

usage: speed_nets.py FOLDER

FOLDER gets NAME.tflite for operators of the host and NAME.onnx for convolutions. Weights are random, inputs are the
measurer's. Every run writes the same bytes. Standard library only.

The convolutions stand as exporters write them: float operators between DequantizeLinear and QuantizeLinear, activations
uint8 and weights int8, which is the form in which ONNX Runtime on x86 is fast.
"""

import os
import struct
import sys
from random import Random

import onnx_writer as onnx
import tflite_writer as tfl
from flatbuffer import Table, scalars

FLOAT32, INT32, INT8 = 0, tfl.INT32, tfl.INT8
SCALE, ZERO = 0.05, 3                           # of int8 inputs

# Operators by name: BuiltinOperator, version, type of its options. Numbers: TensorFlow Lite's public schema.
OPS = {
    "AVERAGE_POOL_2D": (1, 2, 5), "MAX_POOL_2D": (17, 2, 5), "SOFTMAX": (25, 2, 9), "TANH": (28, 2, 0), "LOGISTIC": (14, 2, 0),
    "TRANSPOSE": (39, 2, 26), "MEAN": (40, 2, 27), "RESIZE_BILINEAR": (23, 3, 15), "RESIZE_NEAREST_NEIGHBOR": (97, 3, 74),
    "SQUARED_DIFFERENCE": (99, 1, 76), "RSQRT": (76, 1, 0), "ADD": (0, 1, 11), "SUB": (41, 1, 28), "MUL": (18, 1, 21),
    "GELU": (150, 2, 116), "HARD_SWISH": (117, 1, 91),
}


class Net:
    """A network of one type of activations."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.model = tfl.Model("one operator", dtype)
        self.codes = []

    def tensor(self, name, shape, scale=SCALE, zero=ZERO):
        if self.dtype == INT8:
            return self.model.add_tensor(name, shape, INT8, None, [scale], [zero])
        return self.model.add_tensor(name, shape, FLOAT32)

    def constant(self, name, shape, dtype, values):
        return self.model.add_tensor(name, shape, dtype, struct.pack("<%d%s" % (len(values), "f" if dtype == FLOAT32 else "i"), *values))

    def add(self, op, inputs, output, options=None):
        code, version, options_type = OPS[op]
        tfl.OP_VERSION.setdefault(self.dtype, {})[code] = version
        tfl.OPTIONS_TYPE[code] = options_type
        self.model.add_operator(code, inputs, [output], Table(options or {}))
        return output

    def write(self, path, inputs, outputs):
        with open(path, "wb") as f:
            f.write(self.model.to_bytes(inputs, outputs))


def unary(path, dtype, op, shape, out_shape=None, out=(SCALE, ZERO), constants=(), options=None):
    """One operator with one input, and int32 constants behind it."""
    net = Net(dtype)
    x = net.tensor("x", shape)
    rest = [net.constant("constant %d" % i, [len(c)], INT32, c) for i, c in enumerate(constants)]
    y = net.tensor("y", out_shape or shape, *out)
    net.add(op, [x] + rest, y, options)
    net.write(path, [x], [y])


def layer_norm(path, tokens, width):
    """As converters write it for float networks: mean, variance, reciprocal root, scale, offset."""
    net, full, one = Net(FLOAT32), [1, tokens, width], [1, tokens, 1]
    axis = net.constant("axis", [1], INT32, [2])
    keep = {0: ("B", 1)}
    x = net.tensor("x", full)
    mean = net.add("MEAN", [x, axis], net.tensor("mean", one), keep)
    square = net.add("SQUARED_DIFFERENCE", [x, mean], net.tensor("square", full))
    variance = net.add("MEAN", [square, axis], net.tensor("variance", one), keep)
    safe = net.add("ADD", [variance, net.constant("epsilon", [1], FLOAT32, [1e-5])], net.tensor("safe", one))
    root = net.add("RSQRT", [safe], net.tensor("root", one))
    centred = net.add("SUB", [x, mean], net.tensor("centred", full))
    normal = net.add("MUL", [centred, root], net.tensor("normal", full))
    rng = Random(1)
    gamma = net.constant("gamma", [width], FLOAT32, [rng.uniform(0.5, 1.5) for _ in range(width)])
    beta = net.constant("beta", [width], FLOAT32, [rng.uniform(-1, 1) for _ in range(width)])
    scaled = net.add("MUL", [normal, gamma], net.tensor("scaled", full))
    y = net.add("ADD", [scaled, beta], net.tensor("y", full))
    net.write(path, [x], [y])


def convolution(path, size, channels, group):
    g, rng = onnx.Graph("convolution"), Random(1)
    each = channels // group
    g.add_input("x", onnx.UINT8, [1, channels, size, size])
    g.add_float("x_scale", SCALE)
    g.add_constant("x_zero", onnx.UINT8, [], bytes([ZERO]))
    g.add_constant("w", onnx.INT8, [channels, each, 3, 3], bytes(rng.choice(range(-127, 128)) & 255 for _ in range(channels * each * 9)))
    scales = struct.pack("<%df" % channels, *([0.01] * channels))
    g.add_constant("w_scale", onnx.FLOAT, [channels], scales)
    g.add_constant("w_zero", onnx.INT8, [channels], bytes(channels))
    g.add_constant("b", onnx.INT32, [channels], struct.pack("<%di" % channels, *(rng.randrange(-1000, 1000) for _ in range(channels))))
    g.add_constant("b_scale", onnx.FLOAT, [channels], struct.pack("<%df" % channels, *([SCALE * 0.01] * channels)))
    g.add_constant("b_zero", onnx.INT32, [channels], bytes(4 * channels))
    g.add_float("y_scale", 4.0)
    g.add_constant("y_zero", onnx.UINT8, [], bytes([128]))
    g.add_node("DequantizeLinear", ["x", "x_scale", "x_zero"], "xf")
    g.add_node("DequantizeLinear", ["w", "w_scale", "w_zero"], "wf", axis=0)
    g.add_node("DequantizeLinear", ["b", "b_scale", "b_zero"], "bf", axis=0)
    g.add_node("Conv", ["xf", "wf", "bf"], "yf", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=group)
    g.add_node("QuantizeLinear", ["yf", "y_scale", "y_zero"], "y")
    g.add_output("y", onnx.UINT8, [1, channels, size, size])
    with open(path, "wb") as f:
        f.write(g.to_bytes(13))


def pool(size, stride):
    return {0: ("b", tfl.SAME), 1: ("i", stride), 2: ("i", stride), 3: ("i", size), 4: ("i", size)}


def write_all(folder):
    def name(stem):
        return os.path.join(folder, stem)

    os.makedirs(folder, exist_ok=True)
    convolution(name("conv_56x56x64.onnx"), 56, 64, 1)
    convolution(name("conv_14x14x256.onnx"), 14, 256, 1)
    convolution(name("depthwise_56x56x64.onnx"), 56, 64, 64)
    convolution(name("depthwise_14x14x256.onnx"), 14, 256, 256)
    for dtype, t in ((INT8, "int8"), (FLOAT32, "float")):
        unary(name("softmax_%s.tflite" % t), dtype, "SOFTMAX", [12, 197, 197], out=(1 / 256, -128), options={0: ("f", 1.0)})
        unary(name("tanh_%s.tflite" % t), dtype, "TANH", [1, 197, 768], out=(1 / 128, 0))
        unary(name("logistic_%s.tflite" % t), dtype, "LOGISTIC", [1, 197, 768], out=(1 / 256, -128))
        unary(name("gelu_%s.tflite" % t), dtype, "GELU", [1, 197, 3072], options={0: ("b", 0)})
        unary(name("transpose_0213_%s.tflite" % t), dtype, "TRANSPOSE", [1, 197, 12, 64], [1, 12, 197, 64], constants=[[0, 2, 1, 3]])
        unary(name("transpose_0312_%s.tflite" % t), dtype, "TRANSPOSE", [1, 56, 56, 64], [1, 64, 56, 56], constants=[[0, 3, 1, 2]])
        unary(name("max_pool_3x3_%s.tflite" % t), dtype, "MAX_POOL_2D", [1, 112, 112, 64], [1, 56, 56, 64], options=pool(3, 2))
        unary(name("average_pool_3x3_%s.tflite" % t), dtype, "AVERAGE_POOL_2D", [1, 56, 56, 64], options=pool(3, 1))
        unary(name("mean_%s.tflite" % t), dtype, "MEAN", [1, 56, 56, 64], [1, 64], constants=[[1, 2]])
        unary(name("resize_bilinear_%s.tflite" % t), dtype, "RESIZE_BILINEAR", [1, 28, 28, 64], [1, 56, 56, 64],
              constants=[[56, 56]], options={3: ("b", 1)})
        unary(name("resize_nearest_%s.tflite" % t), dtype, "RESIZE_NEAREST_NEIGHBOR", [1, 28, 28, 64], [1, 56, 56, 64], constants=[[56, 56]])
        unary(name("hard_swish_%s.tflite" % t), dtype, "HARD_SWISH", [1, 56, 56, 64])
    layer_norm(name("layer_norm_float.tflite"), 197, 768)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.split("\n\n")[1])
    write_all(sys.argv[1])
