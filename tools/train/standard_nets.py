#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks of well-known shape with random weights, for measuring.

usage: standard_nets.py [--tiny] FOLDER

FOLDER gets resnet50_v1.5_224_int8.tflite and mobilenet_v1_1.0_224_int8.tflite;
with --tiny resnet_tiny_int8.tflite and mobilenet_tiny_int8.tflite, which have
the same operators and few MACs. What they compute means nothing. Cycles do not
depend on values, and the quantisation is that of a trained network: scales per
output channel, and every tensor fills its int8 range. Every run writes the
same bytes. Standard library only.

Shapes: He et al., "Deep Residual Learning for Image Recognition", table 1, with
the stride of a bottleneck in its 3x3 layer (v1.5); Howard et al., "MobileNets",
table 1. Padding is SAME throughout.

How the range is filled: weights are uniform in -127..127 with mean 0, so an
output of K products has mean 0 and the variance K E[x^2] E[w^2]. Each activation
carries its expected mean and variance, as of a normal distribution after the
rectifier, and takes its scale from them; weight scales make every layer's
deviation what the builder asks for.
"""

import math
import os
import struct
import sys
from random import Random

import tflite_writer as tfl

NO_MINUS_128 = bytes(0x81 if v == 0x80 else v for v in range(256))  # weights are symmetric
DEVIATION_W = 127 / math.sqrt(3)                # of a uniform weight, in steps
SIGMAS = 3.5                                    # deviations that the int8 range covers


class Activation:
    """A tensor with what is expected of its real values."""

    def __init__(self, index, shape, scale, zero_point, mean, variance):
        self.index, self.shape = index, shape
        self.scale, self.zero_point = scale, zero_point
        self.mean, self.variance = mean, variance


def rectified(mean, variance, limit):
    """Mean and variance of a normal variable clamped to 0..limit, by summing."""
    deviation, n = math.sqrt(variance), 400
    total = first = second = 0.0
    for i in range(n):
        z = -5 + 10 * (i + 0.5) / n
        p, x = math.exp(-z * z / 2), min(max(mean + z * deviation, 0.0), limit)
        total, first, second = total + p, first + p * x, second + p * x * x
    return first / total, second / total - (first / total) ** 2


class Network:
    def __init__(self, name, size):
        self.name = name
        self.model = tfl.Model("%s, random weights" % name, tfl.INT8)
        self.count = 0
        scale, zero_point = 1 / 127.5, -1
        shape = [1, size, size, 3]
        index = self.model.add_tensor("input", shape, tfl.INT8, None, [scale], [zero_point])
        self.input = Activation(index, shape, scale, zero_point, 0.0, 1 / 3)

    def activation(self, what, shape, function, mean, variance):
        """The range of a rectified tensor starts at 0, that of another is symmetric."""
        top = mean + SIGMAS * math.sqrt(variance)
        if function == tfl.NO_ACTIVATION:
            scale, zero_point = max(top, SIGMAS * math.sqrt(variance) - mean) / 127, 0
        else:
            top = 6.0 if function == tfl.RELU6 else top
            scale, zero_point = top / 255, -128
            mean, variance = rectified(mean, variance, top)
        return self.tensor(what, shape, scale, zero_point, mean, variance)

    def tensor(self, what, shape, scale, zero_point, mean, variance):
        self.count += 1
        name = "%s_%d" % (what, self.count)
        index = self.model.add_tensor(name, shape, tfl.INT8, None, [scale], [zero_point])
        return Activation(index, shape, scale, zero_point, mean, variance)

    def constants(self, x, shape, channels, dimension, products, deviation, per_channel=True):
        """Random weights and bias; outputs of this standard deviation. Their tensors."""
        random = Random("%s %d" % (self.name, self.count))
        weights = random.randbytes(math.prod(shape)).translate(NO_MINUS_128)
        step = deviation / (DEVIATION_W * math.sqrt(products * (x.variance + x.mean ** 2)))
        n = channels if per_channel else 1
        scales = [step * random.uniform(0.8, 1.25) for _ in range(n)]
        bias = [round(random.uniform(-0.2, 0.2) * deviation / (x.scale * scales[c % n])) for c in range(channels)]
        at = self.model.add_tensor("weights_%d" % (self.count + 1), shape, tfl.INT8, weights, scales, [0] * n,
                                   dimension if per_channel else 0)
        bias_at = self.model.add_tensor("bias_%d" % (self.count + 1), [channels], tfl.INT32,
                                        struct.pack("<%di" % channels, *bias), [x.scale * s for s in scales], [0] * n)
        return [x.index, at, bias_at]

    def conv(self, x, channels, kernel=1, stride=1, function=tfl.RELU, deviation=1.0):
        _, height, width, depth = x.shape
        shape = [1, -(-height // stride), -(-width // stride), channels]
        inputs = self.constants(x, [channels, kernel, kernel, depth], channels, 0, kernel * kernel * depth, deviation)
        y = self.activation("conv", shape, function, 0.0, deviation ** 2)
        self.model.add_operator(tfl.CONV_2D, inputs, [y.index], tfl.conv_options(stride, function))
        return y

    def depthwise(self, x, stride=1, function=tfl.RELU6, deviation=2.0):
        _, height, width, depth = x.shape
        shape = [1, -(-height // stride), -(-width // stride), depth]
        inputs = self.constants(x, [1, 3, 3, depth], depth, 3, 9, deviation)
        y = self.activation("depthwise", shape, function, 0.0, deviation ** 2)
        self.model.add_operator(tfl.DEPTHWISE_CONV_2D, inputs, [y.index], tfl.depthwise_options(stride, function))
        return y

    def add(self, a, b):
        y = self.activation("add", a.shape, tfl.RELU, a.mean + b.mean, a.variance + b.variance)
        self.model.add_operator(tfl.ADD, [a.index, b.index], [y.index], tfl.add_options(tfl.RELU))
        return y

    def max_pool(self, x, size, stride):
        _, height, width, depth = x.shape
        y = self.tensor("max_pool", [1, -(-height // stride), -(-width // stride), depth],
                        x.scale, x.zero_point, x.mean + 1.2 * math.sqrt(x.variance), x.variance)
        self.model.add_operator(tfl.MAX_POOL_2D, [x.index], [y.index], tfl.pool_options(size, stride, tfl.SAME))
        return y

    def average_pool(self, x):
        y = self.tensor("average_pool", [1, 1, 1, x.shape[3]], x.scale, x.zero_point, x.mean, x.variance / 4)
        self.model.add_operator(tfl.AVERAGE_POOL_2D, [x.index], [y.index],
                                tfl.pool_options(x.shape[1], 1, tfl.VALID))
        return y

    def mean(self, x):
        axes = self.model.add_tensor("axes", [2], tfl.INT32, struct.pack("<2i", 1, 2))
        y = self.tensor("mean", [1, x.shape[3]], x.scale, x.zero_point, x.mean, x.variance / 4)
        self.model.add_operator(tfl.MEAN, [x.index, axes], [y.index], tfl.mean_options(False))
        return y

    def dense(self, x, units):
        inputs = self.constants(x, [units, x.shape[1]], units, 0, x.shape[1], 3.0, per_channel=False)
        y = self.activation("dense", [1, units], tfl.NO_ACTIVATION, 0.0, 9.0)
        self.model.add_operator(tfl.FULLY_CONNECTED, inputs, [y.index], tfl.fully_connected_options())
        return y

    def flatten(self, x):
        shape = [1, x.shape[3]]
        wanted = self.model.add_tensor("shape", [2], tfl.INT32, struct.pack("<2i", *shape))
        y = self.tensor("flat", shape, x.scale, x.zero_point, x.mean, x.variance)
        self.model.add_operator(tfl.RESHAPE, [x.index, wanted], [y.index], tfl.reshape_options(shape))
        return y

    def finish(self, x, folder):
        y = self.tensor("softmax", x.shape, 1 / 256, -128, 0.0, 0.0)
        self.model.add_operator(tfl.SOFTMAX, [x.index], [y.index], tfl.softmax_options(1.0))
        path = os.path.join(folder, self.name + ".tflite")
        with open(path + ".part", "wb") as f:
            f.write(self.model.to_bytes([self.input.index], [y.index]))
        os.replace(path + ".part", path)


def bottleneck(net, x, width, stride):
    """1x1, 3x3, 1x1 to four times the width, and the way around them."""
    y = net.conv(x, width)
    y = net.conv(y, width, 3, stride)
    y = net.conv(y, 4 * width, function=tfl.NO_ACTIVATION, deviation=0.5)
    if stride != 1 or x.shape[3] != 4 * width:
        x = net.conv(x, 4 * width, 1, stride, tfl.NO_ACTIVATION)
    return net.add(y, x)


def resnet(name, folder, size, width, blocks, classes):
    net = Network(name, size)
    x = net.max_pool(net.conv(net.input, width, 7, 2), 3, 2)
    for stage, n in enumerate(blocks):
        for i in range(n):
            x = bottleneck(net, x, width << stage, 2 if stage and not i else 1)
    net.finish(net.dense(net.mean(x), classes), folder)


MOBILENET_V1 = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1),
                (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1))


def mobilenet_v1(name, folder, size, eighths, layers, classes):
    """eighths: the width multiplier times 8."""
    net = Network(name, size)
    x = net.conv(net.input, 32 * eighths // 8, 3, 2, tfl.RELU6, 2.0)
    for channels, stride in layers:
        x = net.depthwise(x, stride)
        x = net.conv(x, channels * eighths // 8, 1, 1, tfl.RELU6, 2.0)
    x = net.conv(net.average_pool(x), classes, function=tfl.NO_ACTIVATION, deviation=3.0)
    net.finish(net.flatten(x), folder)


def main(arguments):
    tiny = "--tiny" in arguments
    folders = [a for a in arguments if a != "--tiny"]
    if len(folders) != 1 or folders[0].startswith("-"):
        sys.exit("usage: standard_nets.py [--tiny] FOLDER")
    os.makedirs(folders[0], exist_ok=True)
    if tiny:
        resnet("resnet_tiny_int8", folders[0], 40, 8, (2, 1), 10)
        mobilenet_v1("mobilenet_tiny_int8", folders[0], 32, 1, MOBILENET_V1[:4], 10)
    else:
        resnet("resnet50_v1.5_224_int8", folders[0], 224, 64, (3, 4, 6, 3), 1000)
        mobilenet_v1("mobilenet_v1_1.0_224_int8", folders[0], 224, 8, MOBILENET_V1, 1001)


if __name__ == "__main__":
    main(sys.argv[1:])
